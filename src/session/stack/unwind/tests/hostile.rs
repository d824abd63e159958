//! Tables with deliberate errors, in an otherwise valid code object.

use std::sync::Arc;

use crate::bounds::MAX_FRAMES;
use crate::capture::CodeObject;
use crate::codeobject;
use crate::dwarf::{Class, Frame, Machine as _, RegisterBytes};
use crate::session::stack::unwind::unwinder::Unwinder;
use crate::session::stack::{BadPc, StackEnd};
use crate::session::tests::Maker;
use crate::session::{Dump, Reader, Session, Stack, Stacks as _};
use crate::units::{Address, DwarfReg, WaveId, WaveSize};

pub(in crate::session) const OBJECT: &[u8] =
    include_bytes!("../../../../../tests/fixtures/code/calls-gfx90a.hsaco");
const LOADED: u64 = 0x7f00_0010_0000;
/// Addresses of `leaf`, `middle` and `launch` in the object.
const LEAF: u64 = 0x1500;
const MIDDLE: u64 = 0x1600;

/// A CIE of version 4, DWARF32, code and data factor 4, return address in register 16.
fn cie(instructions: &[u8]) -> Vec<u8> {
    entry(&[&[0xff; 4][..], &[4, 0, 8, 0, 4, 4, 16], instructions].concat())
}

/// An FDE of the CIE at offset 0.
fn fde(start: u64, size: u64, instructions: &[u8]) -> Vec<u8> {
    entry(&[&[0; 4][..], &start.to_le_bytes(), &size.to_le_bytes(), instructions].concat())
}

fn entry(body: &[u8]) -> Vec<u8> {
    [&(body.len() as u32).to_le_bytes()[..], body].concat()
}

/// The object with another `.debug_frame`; the rest of the old one becomes padding.
pub(in crate::session) fn patched(table: &[u8]) -> Vec<u8> {
    let mut bytes = OBJECT.to_vec();
    let object = codeobject::CodeObject::parse(codeobject::Bytes::from(bytes.clone())).unwrap();
    let section = object.section(".debug_frame").unwrap();
    let (offset, size) = (section.offset as usize, section.size as usize);
    // A larger table goes to the end of the file, where only the header refers to it.
    if table.len() > size {
        let end = bytes.len() as u64;
        bytes.extend_from_slice(table);
        let header = bytes.len();
        let headers = u64::from_le_bytes(bytes[0x28..0x30].try_into().unwrap()) as usize;
        let index = object.sections().iter().position(|one| one.name == ".debug_frame").unwrap();
        let at = headers + index * 64;
        bytes[at + 24..at + 32].copy_from_slice(&end.to_le_bytes());
        bytes[at + 32..at + 40].copy_from_slice(&(header as u64 - end).to_le_bytes());
        return bytes;
    }
    bytes[offset..offset + size].fill(0);
    bytes[offset..offset + table.len()].copy_from_slice(table);
    bytes
}

/// A wave in `leaf`, 16 bytes from its start, with 4096 bytes of private memory. s30 and s31 have an address in
/// `middle`, s32 has 0x100.
fn dump(table: &[u8], return_address: u64) -> Arc<Dump> {
    dump_of(&patched(table), return_address)
}

/// [`dump`] with that code object.
pub(in crate::session) fn dump_of(object: &[u8], return_address: u64) -> Arc<Dump> {
    let mut maker = Maker::new("gfx90a");
    let low = (return_address as u32).to_le_bytes();
    let high = ((return_address >> 32) as u32).to_le_bytes();
    let registers: &[(&str, &[u8], u64)] = &[
        ("pc", &(LOADED + LEAF + 0x10).to_le_bytes(), 3),
        ("exec", &u64::MAX.to_le_bytes(), 3),
        ("s30", &low, 1),
        ("s31", &high, 1),
        ("s32", &0x100u32.to_le_bytes(), 1),
    ];
    maker.wave(WaveSize::W64, None, registers);
    let counting: Vec<u8> = (0..0x10000u32).map(|byte| (byte / 4) as u8).collect();
    maker.private(0, &[(0, &counting)]);
    let extent = Some(maker.extent(object));
    maker.capture.code_objects.push(CodeObject {
        address: Address(LOADED),
        extent,
        uri: None,
        entry: None,
        build_id: None,
        agent: None,
        name: "patched".to_owned(),
        ..Default::default()
    });
    maker.finish()
}

fn stack(table: &[Vec<u8>], return_address: u64) -> Stack {
    let session = Session::new(dump(&table.concat(), return_address), None).unwrap();
    session.backtrace(WaveId(0), None).unwrap()
}

/// CFA: byte s32 of the wave's private memory.
const CFA: [u8; 4] = [0x30, 64, 0, 6];
/// The return address is in s30 and s31.
const PAIR: [u8; 11] = [0x10, 16, 8, 0x90, 62, 0x93, 4, 0x90, 63, 0x93, 4];
const OUTERMOST: [u8; 2] = [0x07, 16];

/// Return address of the call in `middle`.
fn code() -> u64 {
    LOADED + MIDDLE + 0xac
}

#[test]
fn two_frames_and_the_outermost() {
    let leaf = fde(LEAF, 0x100, &[&CFA[..], &PAIR].concat());
    let stack = stack(&[cie(&[]), leaf, fde(MIDDLE, 0x100, &[&CFA[..], &OUTERMOST].concat())], code());
    assert_eq!(stack.end, StackEnd::Outermost);
    let functions: Vec<_> = stack.frames.iter().map(|frame| frame.function.as_deref().unwrap()).collect();
    assert_eq!(functions, ["leaf", "middle"]);
    assert_eq!(stack.frames[1].pc.unwrap().0, code());
}

#[test]
fn the_same_frame_again_is_a_cycle() {
    // s30 and s31 keep their values, and so does s32: the caller is its own caller.
    let table = fde(LEAF, 0x200, &[&CFA[..], &PAIR].concat());
    let stack = stack(&[cie(&[]), table], code());
    assert!(matches!(stack.end, StackEnd::Cycle { frame: 1, .. }), "{:?}", stack.end);
    assert_eq!(stack.frames.len(), 3);
    // A PC that keeps its value is equally wrong: `leaf` calls nothing.
    let table = fde(LEAF, 0x200, &[&CFA[..], &[0x08, 16]].concat());
    let stack = crate::session::stack::unwind::tests::hostile::stack(&[cie(&[]), table], code());
    assert!(matches!(stack.end, StackEnd::BadCallerPc { why: BadPc::NoCall, .. }), "{:?}", stack.end);
}

#[test]
fn depth_is_bounded_however_the_frames_ask_for_one_another() {
    // Each caller's s32 is 16 more: an expression that reads the register of the inner frame.
    let deeper = [0x16, 64, 6, 0x90, 64, 0x94, 4, 0x23, 16];
    let table = fde(LEAF, 0x200, &[&CFA[..], &PAIR, &deeper].concat());
    // A server thread has 2 MiB of stack, and an unoptimised program needs most of it.
    let run = move || stack(&[cie(&[]), table], code());
    let stack = std::thread::Builder::new().stack_size(2 << 20).spawn(run).unwrap().join().unwrap();
    assert_eq!(stack.end, StackEnd::TooDeep { limit: MAX_FRAMES });
    assert_eq!(stack.frames.len(), MAX_FRAMES);
    let last = 0x100 + 16 * (MAX_FRAMES as u64 - 1);
    assert_eq!(stack.frames[MAX_FRAMES - 1].cfa, Some(format!("private_wave+{last:#x}")));
}

#[test]
fn rules_that_ask_four_times_for_one_another_end() {
    // The caller's s16 is four times the caller's s17, added, and so on to s30, which is kept; the PC asks for s16.
    let four = |register: u8| {
        let next = [0xe9, 7, register + 1, 0x94, 4].repeat(4);
        [&[0x16, register, 23][..], &next, &[0x22; 3]].concat()
    };
    let chain: Vec<u8> = (48..62).flat_map(four).collect();
    let pc = [0x10, 16, 9, 0xe9, 7, 48, 0x93, 4, 0x90, 63, 0x93, 4];
    let table = [cie(&[]), fde(LEAF, 0x200, &[&CFA[..], &pc, &chain].concat())];
    let end = stack(&table, code()).end;
    let product = (code() as u32).wrapping_mul(1 << 28);
    let StackEnd::BadCallerPc { pc, .. } = end else { panic!("{end:?}") };
    assert_eq!(pc.0, u64::from(product) | code() >> 32 << 32);
}

#[test]
fn a_rule_that_asks_for_itself_ends() {
    // The caller's s30 is saved at an address in the caller's s30.
    let own = [0x10, 62, 3, 0xe9, 7, 62];
    let table = fde(LEAF, 0x200, &[&CFA[..], &PAIR, &own].concat());
    let end = stack(&[cie(&[]), table], code()).end;
    assert!(matches!(end, StackEnd::CallerPcUnknown { .. }), "{end:?}");
    // The CFA is saved at an address in the caller's PC, which is saved at the CFA.
    let cfa = [0x0f, 3, 0xe9, 7, 16];
    let table = fde(LEAF, 0x200, &[&cfa[..], &[0x90, 0]].concat());
    let end = stack(&[cie(&[]), table], code()).end;
    assert!(matches!(end, StackEnd::CallFrame { .. }), "{end:?}");
}

#[test]
fn nothing_is_guessed_without_data() {
    let says = |table: &[Vec<u8>], words: &str| {
        let stack = stack(table, code());
        assert_eq!(stack.frames.len(), 1);
        assert!(matches!(stack.end, StackEnd::NoUnwindInformation { .. }), "{:?}", stack.end);
        assert!(stack.end.to_string().contains(words), "{}", stack.end);
    };
    says(&[cie(&[0; 4]), fde(LEAF, 0x100, &[0; 8])], "entry at 0x13 never defines a CFA");
    says(
        &[cie(&[0; 4]), fde(LEAF + 0x14, 0x100, &[0; 8])],
        "no entry of its call frame information holds the PC",
    );
    says(&[cie(&CFA), fde(LEAF, 0x100, &[0; 8])], "has no rule for the return address");
    says(&[], "the code object has no call frame information");
    // An unknown augmentation: its code is known, its instructions are not.
    let unknown = entry(&[&[0xff; 4][..], &[4], b"?x\0", &[8, 0, 4, 4, 16]].concat());
    says(&[unknown, fde(LEAF, 0x100, &CFA)], "has the unknown augmentation `?x`");
    let known = entry(&[&[0xff; 4][..], &[4], b"[llvm:v0.0][amd:v1.2]\0", &[8, 0, 4, 4, 16]].concat());
    let end = stack(&[known, fde(LEAF, 0x100, &[&CFA[..], &OUTERMOST].concat())], code()).end;
    assert_eq!(end, StackEnd::Outermost);
}

#[test]
fn the_dialect_is_that_of_the_augmentation() {
    // form_aspace_address by the 2020 text, whose code is DW_OP_LLVM_undefined in later ones, and by the draft's
    // table.
    for (augmentation, code_of) in [(&b"[amd:v0.0]\0"[..], 0xe7), (b"[draft:v0.0]\0", 0xe1)] {
        let cfa = [0x0f, 3, 0x38, 0x36, code_of];
        let cie = entry(&[&[0xff; 4][..], &[4], augmentation, &[8, 0, 4, 4, 16]].concat());
        let stack = stack(&[cie, fde(LEAF, 0x100, &[&cfa[..], &OUTERMOST].concat())], code());
        assert_eq!(stack.frames[0].cfa.as_deref(), Some("private_wave+0x8"));
    }
}

#[test]
fn return_addresses_that_cannot_be() {
    let table = [cie(&[]), fde(LEAF, 0x200, &[&CFA[..], &PAIR].concat())];
    let why = |address| match stack(&table, address).end {
        StackEnd::BadCallerPc { why, pc } if pc.0 == address => why,
        end => panic!("{end:?}"),
    };
    assert_eq!(why(0), BadPc::Zero);
    assert_eq!(why(code() + 2), BadPc::Unaligned);
    assert_eq!(why(0x1000), BadPc::NoCode);
    assert_eq!(why(u64::MAX - 3), BadPc::NoCode);
    // One instruction past the address after the call, one before it, and a function's first instruction.
    for address in [code() + 4, code() - 4, LOADED + MIDDLE] {
        assert_eq!(why(address), BadPc::NoCall, "{address:#x}");
    }
    // The ELF header is loaded, but is no code.
    assert_eq!(why(LOADED + 0x40), BadPc::NotExecutable);
}

#[test]
fn errors_have_their_place() {
    let cut = stack(&[cie(&[]), fde(LEAF, 0x100, &[&CFA[..], &[0x10, 16, 9, 0x90]].concat())], code());
    let StackEnd::CallFrame { section, entry, instruction, why } = &cut.end else { panic!("{:?}", cut.end) };
    assert_eq!((section.as_str(), *entry, *instruction), (".debug_frame", 0xf, 4));
    assert!(why.contains("DW_CFA_expression"), "{why}");
    // The CFA needs a register that was not captured; the error has its name.
    let lost = stack(&[cie(&[]), fde(LEAF, 0x100, &[&[0x30, 65, 0, 6][..], &PAIR].concat())], code());
    assert!(lost.end.to_string().contains("SGPR33 was not captured"), "{}", lost.end);
    // The return address is known to be in registers that were not captured.
    let pair = [0x10, 16, 8, 0x90, 72, 0x93, 4, 0x90, 73, 0x93, 4];
    let lost = stack(&[cie(&[]), fde(LEAF, 0x100, &[&CFA[..], &pair].concat())], code());
    let StackEnd::CallerPcUnknown { place, why } = &lost.end else { panic!("{:?}", lost.end) };
    assert_eq!(place, "[SGPR40 32 bits][SGPR41 32 bits]");
    assert!(why.contains("SGPR40 was not captured"), "{why}");
    // A column with an undefined expression does not mark the outermost frame.
    let undefined = [0x10, 16, 2, 0xe9, 8];
    let lost = stack(&[cie(&[]), fde(LEAF, 0x100, &[&CFA[..], &undefined].concat())], code());
    assert!(matches!(lost.end, StackEnd::CallerPcUnknown { .. }), "{:?}", lost.end);
}

#[test]
fn a_rule_that_cannot_be_decoded_costs_its_register_only() {
    // s33 by an operation that does not exist, s34 at the CFA, s35 without a rule.
    let rules = [&CFA[..], &PAIR, &[0x10, 65, 1, 0xff, 0x05, 66, 0]].concat();
    let middle = fde(MIDDLE, 0x100, &[&CFA[..], &OUTERMOST].concat());
    let table = [cie(&[]), fde(LEAF, 0x100, &rules), middle].concat();
    let reader = Reader::new(dump(&table, code()));
    let mut walk = Unwinder::new(&reader, WaveId(0)).unwrap();
    while walk.step() {}
    assert_eq!((walk.frames().len(), walk.end()), (2, Some(&StackEnd::Outermost)));
    let caller = |register| {
        let mut contents = RegisterBytes::unknown();
        walk.level(1).read_register(DwarfReg(register), Frame::Current, &mut contents);
        (contents.known != 0).then(|| contents.extract(0, 32))
    };
    // The first byte of each dword at 0x100 is 0x100 / 4; s32 keeps its value.
    assert_eq!([64, 65, 66, 67].map(caller), [Some(0x100), None, Some(0x4040_4040), None]);
    let answer = walk.level(0).unwind().unwrap().register(DwarfReg(65)).unwrap_err();
    assert_eq!((answer.class(), answer.op), (Class::Decode, "DW_CFA_expression"));
}

/// `leaf` loses s33, by which `middle` finds s34 of its caller.
#[test]
fn a_register_by_a_lost_one_is_lost_with_the_frame_that_lost_it() {
    let by_33 = [0x10, 66, 7, 0x90, 65, 0x94, 4, 0x36, 0xe9, 2];
    let leaf = fde(LEAF, 0x100, &[&CFA[..], &PAIR, &[0x07, 65]].concat());
    let middle = fde(MIDDLE, 0x100, &[&CFA[..], &PAIR, &by_33].concat());
    let reader = Reader::new(dump(&[cie(&[]), leaf, middle].concat(), code()));
    let mut walk = Unwinder::new(&reader, WaveId(0)).unwrap();
    while walk.step() {}
    assert_eq!(walk.frames().len(), 3, "{:?}", walk.end());
    for (level, register) in [(1, 65), (2, 65), (2, 66)] {
        let mut contents = RegisterBytes::unknown();
        walk.level(level).read_register(DwarfReg(register), Frame::Current, &mut contents);
        assert_eq!((contents.known, contents.undefined & 1), (0, 1), "{level} {register}");
        assert_eq!(
            contents.origin.unwrap().named(&*walk.kind),
            "the function of frame 0 does not preserve SGPR33 for its caller"
        );
    }
}

#[test]
fn bad_entries_cost_themselves() {
    let good = fde(LEAF, 0x100, &[&CFA[..], &OUTERMOST].concat());
    let bad: [Vec<u8>; 7] = [
        // Version 9; an address size of 3; an address size of 4 and a segment selector, which would change the meaning
        // of the same bytes; code that wraps around; an invalid CIE; a truncated CIE.
        entry(&[&[0xff; 4][..], &[9, 0, 8, 0, 4, 4, 16]].concat()),
        entry(&[&[0xff; 4][..], &[4, 0, 3, 0, 4, 4, 16]].concat()),
        entry(&[&[0xff; 4][..], &[4, 0, 4, 0, 4, 4, 16]].concat()),
        entry(&[&[0xff; 4][..], &[4, 0, 8, 1, 4, 4, 16]].concat()),
        fde(u64::MAX - 8, 0x100, &CFA),
        entry(&[&0x1000u32.to_le_bytes()[..], &[0; 16]].concat()),
        entry(&[0xff, 0xff, 0xff, 0xff, 4]),
    ];
    let mut table = vec![cie(&[])];
    table.extend(bad);
    table.push(good.clone());
    assert_eq!(stack(&table, code()).end, StackEnd::Outermost);
    // A length beyond the section hides the entries after it, and a lookup of a hidden entry reports that.
    let table = [cie(&[]), vec![0xf0, 0xff, 0, 0, 1, 2, 3], good];
    let end = stack(&table, code()).end;
    assert!(end.to_string().contains(".debug_frame entry at 0xf"), "{end}");
}

#[test]
fn other_addresses_than_the_targets_are_refused() {
    let end = |sizes: [u8; 2]| {
        let cie = entry(&[&[0xff; 4][..], &[4, 0], &sizes, &[4, 4, 16]].concat());
        let end = stack(&[cie, fde(LEAF, 0x100, &[&CFA[..], &OUTERMOST].concat())], code()).end;
        end.to_string()
    };
    assert!(end([4, 0]).contains(".debug_frame entry at 0x0: address size 4, expected 8"), "{}", end([4, 0]));
    assert!(end([8, 1]).contains("segment selector size 1, expected 0"), "{}", end([8, 1]));
}

#[test]
fn rules_of_other_sizes_name_their_registers() {
    // DW_CFA_register: the PC (64 bits) is in s33.
    let end = stack(&[cie(&[]), fde(LEAF, 0x100, &[&CFA[..], &[0x09, 16, 65]].concat())], code()).end;
    assert!(end.to_string().contains("SGPR33 has 32 bits, PC_64 has 64"), "{end}");
}

#[test]
fn of_overlapping_entries_the_later_start_counts() {
    let wide = fde(0, 0x10_0000, &[&CFA[..], &PAIR].concat());
    let text = fde(LEAF - 0x100, 0x10_0000, &[&CFA[..], &PAIR].concat());
    let narrow = fde(LEAF, 0x100, &[&[0x30, 64, 8, 6][..], &OUTERMOST].concat());
    let stack = stack(&[cie(&[]), wide, narrow, text], code());
    assert_eq!(stack.end, StackEnd::Outermost);
    assert_eq!(stack.frames[0].cfa.as_deref(), Some("private_wave+0x108"));
}

#[test]
fn rows_far_beyond_the_code_and_long_tables() {
    // Advances past the end of the range make rows that no PC has; past the end of the address space they are wrong.
    let table = |more: &[u8]| vec![cie(&[]), fde(LEAF, 0x100, &[&CFA[..], &OUTERMOST, more].concat())];
    assert_eq!(stack(&table(&[0x04, 0xff, 0xff, 0xff, 0xff, 0x07, 1]), code()).end, StackEnd::Outermost);
    let start = entry(&[&[0xff; 4][..], &[4, 0, 8, 0], &[0xff; 9], &[0x01, 4, 16]].concat());
    let wraps = [start, fde(LEAF, 0x100, &[0x42])];
    let end = stack(&wraps, code()).end;
    assert!(end.to_string().contains("advances beyond the address space"), "{end}");
    // A hundred thousand instructions, and a row with hundreds of rules.
    let mut long: Vec<u8> = CFA.to_vec();
    long.extend((0..500u32).flat_map(|register| {
        let number = 2560 + register % 256;
        [0x07, (number & 0x7f) as u8 | 0x80, (number >> 7) as u8]
    }));
    long.extend([0x0a, 0x0b].repeat(4_000));
    long.extend([0x00].repeat(92_000));
    long.extend(OUTERMOST);
    assert_eq!(stack(&[cie(&[]), fde(LEAF, 0x100, &long)], code()).end, StackEnd::Outermost);
}

#[test]
fn what_is_remembered_is_restored() {
    // The return address is undefined between remember and restore only.
    let nested = [&CFA[..], &PAIR, &[0x0a], &OUTERMOST, &[0x0b]].concat();
    let stack = stack(
        &[cie(&[]), fde(LEAF, 0x100, &nested), fde(MIDDLE, 0x100, &[&CFA[..], &OUTERMOST].concat())],
        code(),
    );
    assert_eq!(stack.frames.len(), 2);
    // Restoring a register gives it the CIE's rule again.
    let restored = [&[0xd0][..]].concat();
    let outermost = cie(&[&CFA[..], &OUTERMOST].concat());
    let stack = crate::session::stack::unwind::tests::hostile::stack(
        &[outermost, fde(LEAF, 0x100, &[&PAIR[..], &restored].concat())],
        code(),
    );
    assert_eq!(stack.end, StackEnd::Outermost);
}
