//! Starts of frames in code by hand, from llvm-mc's encodings.

use super::instruction;
use crate::arch::Targets;
use crate::isa::{
    CodeTarget, FrameCode, FrameStart, FunctionCode, FunctionExit, Instruction, Machine, UndecidedError,
    function_exit,
};

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

fn machine(gpu: &str) -> Machine {
    let target = Targets::builtin().target(gpu).unwrap();
    Machine { processor: gpu.to_owned(), wave_size: target.wave_sizes[0] }
}

fn decoded(gpu: &str, address: u64, bytes: &[u8]) -> Vec<Instruction> {
    machine(gpu).decode(address, bytes, false).unwrap()
}

fn read(gpu: &str, code: &[Instruction], entry: u64, is_kernel: bool) -> Result<FrameCode, UndecidedError> {
    let known = Targets::builtin().target(gpu).unwrap();
    let target = CodeTarget {
        generation: crate::arch::Processor::named(gpu).unwrap().generation,
        buffer_scratch: known.buffer_scratch,
        lanes: known.wave_sizes[0].lanes(),
    };
    FrameCode::read(FunctionCode { code, entry, target, frame_register: 33, is_kernel })
}

/// The frame starts of code for gfx90a, given as dwords from llvm-mc 22.
fn frame(words: &[u32], is_kernel: bool) -> Vec<FrameStart> {
    let found = read("gfx90a", &decoded("gfx90a", 0x1000, &bytes(words)), 0x1000, is_kernel).unwrap();
    (0..words.len()).map(|index| found.at(0x1000 + index as u64 * 4)).collect()
}

const SET: u32 = 0xbea1_0020; // s_mov_b32 s33, s32
const RESTORE: u32 = 0xbea1_000c; // s_mov_b32 s33, s12
const BACK: u32 = 0xbea0_0021; // s_mov_b32 s32, s33
const GROW: u32 = 0xb720_0400; // s_addk_i32 s32, 0x400
const LOSE: u32 = 0xbea0_000c; // s_mov_b32 s32, s12
const RETURN: u32 = 0xbe80_1d1e; // s_setpc_b64 s[30:31]
const NOP: u32 = 0xbf80_0000;
const SKIP_ONE: u32 = 0xbf88_0001; // s_cbranch_execz 1

#[test]
fn paths_that_disagree_leave_the_frame_unknown() {
    use FrameStart::Register;
    let straight = frame(&[SET, GROW, NOP, BACK, RESTORE, RETURN], false);
    assert_eq!(
        straight,
        [Register(32), Register(33), Register(33), Register(33), Register(33), Register(32)]
    );
    // One path skips the instruction that restores the frame register: the stack pointer gives the frame.
    let parted = frame(&[SET, GROW, SKIP_ONE, RESTORE, NOP, RETURN], false);
    assert_eq!(parted[..4], [Register(32), Register(33), Register(33), Register(33)]);
    let moved = FrameStart::Rounded { register: 32, add: 0u32.wrapping_sub(0x400), mask: u32::MAX };
    assert_eq!(parted[4..], [moved, moved]);
    // The stack pointer is unknown, too.
    let lost = frame(&[SET, LOSE, SKIP_ONE, RESTORE, NOP, RETURN], false);
    assert_eq!(lost[..4], [Register(32), Register(33), Register(33), Register(33)]);
    assert!(lost[4..].iter().all(|found| matches!(found, FrameStart::Unknown(_))), "{lost:?}");
    // No path leads to the code after the return.
    let beyond = frame(&[SET, RETURN, NOP], false);
    assert!(matches!(beyond[2], FrameStart::Unknown(_)));
    // A function without frame register setup.
    assert!(frame(&[NOP, RETURN], false).iter().all(|found| matches!(found, FrameStart::Unknown(_))));
}

/// Code in two parts; the second has the lower address and continues past its end.
#[test]
fn branches_between_parts_of_a_function_are_followed() {
    use FrameStart::Register;
    // s_branch to 0x800 from 0x100c, and back to 0x100c from 0x804.
    let (main, cold) = (bytes(&[SET, GROW, 0xbf82_fdfd, RESTORE, RETURN]), bytes(&[NOP, 0xbf82_0201]));
    let code = [decoded("gfx90a", 0x800, &cold), decoded("gfx90a", 0x1000, &main)].concat();
    let found = read("gfx90a", &code, 0x1000, false).unwrap();
    for address in [0x800, 0x804, 0x1004, 0x1008, 0x100c] {
        assert_eq!(found.at(address), Register(33), "{address:#x}");
        assert!(found.is_held(address));
    }
    for outside in [0x7fc, 0x808, 0xffc, 0x1014] {
        assert!(
            matches!(found.at(outside), FrameStart::Unknown(why) if why.contains("outside")),
            "{outside:#x}"
        );
    }
}

#[test]
fn the_way_out_of_a_function_is_followed_without_choices() {
    const LINK: u32 = 0xbe9e_0004; // s_mov_b32 s30, s4
    const READ: u32 = 0xbe9e_0104; // s_mov_b64 s[30:31], s[4:5]
    const CALL: u32 = 0xbe8e_1e04; // s_swappc_b64 s[14:15], s[4:5]
    const TAIL: u32 = 0xbe80_1d04; // s_setpc_b64 s[4:5]
    const END: u32 = 0xbf81_0000; // s_endpgm
    const OVER_ONE: u32 = 0xbf82_0001; // s_branch 1
    const TO_ITSELF: u32 = 0xbf82_ffff; // s_branch -1
    let exit = |words: &[u32]| {
        let code = decoded("gfx90a", 0x1000, &bytes(words));
        function_exit(|at| code.iter().find(|one| one.address == at).cloned(), 0x1000)
    };
    for words in [&[RETURN][..], &[BACK, RESTORE, RETURN], &[OVER_ONE, LINK, RETURN]] {
        assert_eq!(exit(words), Some(FunctionExit::Return), "{words:x?}");
    }
    assert_eq!(exit(&[RESTORE, TAIL, LINK]), Some(FunctionExit::Jump));
    for words in [
        &[LINK, RETURN][..],
        &[READ, RETURN],
        &[CALL, RETURN],
        &[SKIP_ONE, NOP, RETURN],
        &[TO_ITSELF, RETURN],
        &[NOP, END],
        &[NOP],
        &[],
    ] {
        assert_eq!(exit(words), None, "{words:x?}");
    }
}

/// compiled-code.md, section 1: a kernel begins at 0, or above the trap handler's dynamic VGPRs (gfx1200, measured).
#[test]
fn a_kernel_begins_at_zero_unless_it_sets_its_frame_register_otherwise() {
    let zero = 0xbea1_0080; // s_mov_b32 s33, 0
    assert!(frame(&[zero, NOP, NOP], true).iter().all(|found| *found == FrameStart::Zero));
    let texts = [
        "s_getreg_b32 s33, hwreg(HW_REG_WAVE_HW_ID2, 8, 2)",
        "s_cmp_lg_u32 0, s33",
        "s_cmovk_i32 s33, 0x1c0",
        "s_cmovk_i32 s32, 0x210",
        "s_nop 0",
    ];
    let each = (0u64..).step_by(4).zip(texts);
    let code: Vec<_> = each.map(|(at, text)| instruction("gfx1200", text).moved(at, 4, None)).collect();
    let found = read("gfx1200", &code, 0, true).unwrap();
    assert!(found.reserves_memory());
    for address in [0, 4, 8] {
        assert!(matches!(found.at(address), FrameStart::Unknown(_)), "{address}");
    }
    assert_eq!((found.at(12), found.at(16)), (FrameStart::Register(33), FrameStart::Register(33)));
}

/// Random bytes, and code that ends within an instruction.
#[test]
fn code_that_is_damaged_is_followed_as_far_as_it_goes() {
    let mut seed = 0x1234_5678u32;
    let mut next = || {
        seed ^= seed << 13;
        seed ^= seed >> 17;
        seed ^= seed << 5;
        seed
    };
    for name in ["gfx900", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201", "gfx1250"] {
        for length in 0..200 {
            let bytes: Vec<u8> = (0..length).map(|_| next() as u8).collect();
            let code = [decoded(name, 0x800, &bytes), decoded(name, u64::MAX - 100, &bytes)].concat();
            for is_kernel in [false, true] {
                if let Ok(found) = read(name, &code, 0x800, is_kernel) {
                    (0x7f0..0x900).for_each(|address| drop(format!("{:?}", found.at(address))));
                }
            }
        }
    }
    // A branch to itself, and a branch out of the function.
    assert!(frame(&[0xbf82_ffff], false).iter().all(|found| matches!(found, FrameStart::Unknown(_))));
    assert!(frame(&[0xbf82_7fff, NOP], false).len() == 2);
    assert!(read("gfx90a", &[], 0, false).is_err());
}
