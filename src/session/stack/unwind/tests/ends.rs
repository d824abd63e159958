//! A table that has no rules for the start and the end of a function, as LLVM's tables have none.

use std::sync::Arc;

use crate::codeobject::{CodeObject, assembled};
use crate::dwarf::{Frame, Machine as _, RegisterBytes};
use crate::session::stack::StackEnd;
use crate::session::stack::unwind::Unwinder;
use crate::session::tests::Maker;
use crate::session::{Dump, Reader, Session, Stack, Stacks as _};
use crate::units::{WaveId, WaveSize};

const LOADED: u64 = 0x7f00_0010_0000;
const CALLERS_FRAME: u32 = 0x80;
/// The numbers of instructions of `f`: behind that which sets the frame pointer, and the last one.
const SET: usize = 2;
const LAST: usize = 7;

/// The table has the return address in lanes 0 and 1 of v40, also at the return, and no rule for the frame pointer. `EXIT`:
/// the registers of the last jump; `MIDDLE`: code on another path.
const SOURCE: &str = "
  .amdgcn_target \"amdgcn-amd-amdhsa--gfx90a\"
  .cfi_sections .debug_frame
  .type f,@function
f:
  .cfi_startproc
  .cfi_escape 0x30, 64, 0, 6
  .cfi_escape 0x10, 16, 12, 0x90, 0xa8, 0x14, 0x9d, 32, 0, 0x90, 0xa8, 0x14, 0x9d, 32, 32
  s_mov_b32 s8, s33
  s_mov_b32 s33, s32
  s_cbranch_scc0 1f
  s_addk_i32 s32, 0x100
  MIDDLE
  s_addk_i32 s32, 0xff00
1:
  s_mov_b32 s33, s8
  s_setpc_b64 EXIT
  .cfi_endproc
  .size f, .-f
  .type g,@function
g:
  s_swappc_b64 s[30:31], s[4:5]
  s_nop 0
  s_swappc_b64 s[30:31], s[4:5]
  s_endpgm
  .size g, .-g
";

/// A wave at that instruction of `f`, with the return addresses of two calls of `g` in s[30:31] and in v40.
fn dump(at: usize, middle: &str, exit: &str, calls: [usize; 2]) -> (Arc<Dump>, [u64; 2]) {
    let object = assembled(&SOURCE.replace("MIDDLE", middle).replace("EXIT", exit));
    let parsed = CodeObject::parse(object.clone()).unwrap();
    let [f, g] = ["f", "g"].map(|name| parsed.symbols().iter().find(|symbol| symbol.name == name).unwrap());
    let returns = [4, 12].map(|offset| LOADED + g.value + offset);
    let [link, saved] = calls.map(|call| returns[call].to_le_bytes());
    let mut maker = Maker::new("gfx90a");
    maker.code_object(&object, LOADED);
    let lanes: Vec<u8> = saved.into_iter().cycle().take(256).collect();
    let pc = (LOADED + f.value + at as u64 * 4).to_le_bytes();
    let registers: &[(&str, &[u8], u64)] = &[
        ("pc", &pc, 3),
        ("exec", &[0xff; 8], 3),
        ("s30", &link[..4], 1),
        ("s31", &link[4..], 1),
        ("s8", &CALLERS_FRAME.to_le_bytes(), 1),
        ("s32", &0x100u32.to_le_bytes(), 1),
        ("s33", &0x100u32.to_le_bytes(), 1),
        ("v40", &lanes, u64::MAX),
    ];
    maker.wave(WaveSize::W64, None, registers);
    (maker.finish(), returns)
}

/// The stack before the last jump of `f`.
fn stack(middle: &str, exit: &str, calls: [usize; 2]) -> (Stack, [u64; 2]) {
    let (dump, returns) = dump(LAST, middle, exit, calls);
    (Session::new(dump, None).unwrap().backtrace(WaveId(0), None).unwrap(), returns)
}

/// The caller's PC, and whether it is inferred.
fn caller(middle: &str, exit: &str, calls: [usize; 2]) -> (Option<usize>, bool) {
    let (stack, returns) = stack(middle, exit, calls);
    let caller = stack.frames.get(1).unwrap_or_else(|| panic!("{}", stack.end));
    (
        returns.iter().position(|address| Some(*address) == caller.pc.map(|pc| pc.0)),
        !caller.inferred.is_none(),
    )
}

const RETURN: &str = "s[30:31]";
/// A jump out of a frame that is not left.
const JUMP: &str = "s_setpc_b64 s[8:9]";

#[test]
fn the_code_decides_where_the_table_differs() {
    assert_eq!(caller("s_nop 0", RETURN, [0, 1]), (Some(0), true));
    // A tail call.
    assert_eq!(caller("s_nop 0", "s[6:7]", [0, 1]), (Some(0), true));
    for middle in ["s_nop 0", JUMP] {
        assert_eq!(caller(middle, RETURN, [0, 0]), (Some(0), false));
    }
}

#[test]
fn a_return_that_contradicts_the_table_ends_the_stack_without_the_code() {
    let (stack, _) = stack(JUMP, RETURN, [0, 1]);
    assert_eq!(stack.frames.len(), 1);
    let StackEnd::NoUnwindInformation { why, .. } = &stack.end else { panic!("{}", stack.end) };
    assert!(why.contains("has the rules of the function's body at its end; "), "{why}");
    assert!(why.contains("jumps to a computed address"), "{why}");
    // A jump through other registers may stay in the function.
    assert_eq!(caller(JUMP, "s[6:7]", [0, 1]), (Some(1), false));
}

/// Without a rule the caller would have the frame pointer of `f`.
#[test]
fn the_callers_frame_pointer_is_that_of_the_code_or_unknown() {
    for (middle, known) in [("s_nop 0", Some(CALLERS_FRAME)), (JUMP, None)] {
        let (dump, _) = dump(SET, middle, RETURN, [0, 0]);
        let reader = Reader::new(dump);
        let mut walk = Unwinder::new(&reader, WaveId(0)).unwrap();
        assert!(walk.step());
        let register = walk.kind.named("s33").unwrap().dwarf.unwrap();
        let mut found = RegisterBytes::unknown();
        walk.level(1).read_register(register, Frame::Current, &mut found);
        let value = u32::from_le_bytes(found.bytes[..4].try_into().unwrap());
        assert_eq!((found.known & 1 == 1).then_some(value), known, "{middle}");
        assert_eq!(walk.frames()[1].is_inferred, known.is_some(), "{middle}");
    }
}
