//! Sizes and effects of instructions, against LLVM's disassembler and assembler.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use crate::arch::instruction::{Arithmetic, Effect, Encoding, Operand};
use crate::arch::{
    CodePart, FrameCode, FrameStart, FunctionCode, FunctionExit, Processor, Targets, ends_with_call,
    function_exit,
};
use crate::codeobject::{CodeObject, ElfAddress, newest_llvm};
use crate::sample::{least, sampled};

fn encoding(name: &str) -> Encoding {
    let processor = Processor::named(name).unwrap_or_else(|| panic!("processor.rs lacks {name}"));
    Encoding::of(processor).unwrap_or_else(|| panic!("instruction.rs has no encoding for {name}"))
}

/// Instruction sizes in every compiled or assembled object, against llvm-objdump.
#[test]
fn instructions_are_as_long_as_llvm_objdump_prints_them() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let parsed = |path: &str| CodeObject::parse(std::fs::read(path).unwrap()).unwrap();
    // llvm-objdump takes the processor of the first file for all.
    let mut of_processors: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for folder in ["code", "compilers"] {
        let files = std::fs::read_dir(fixtures.join(folder)).unwrap().map(|file| file.unwrap().path());
        let code = files.filter(|path| path.extension().is_some_and(|extension| extension == "hsaco"));
        for path in sampled(code.collect::<BTreeSet<_>>(), 3) {
            let path = path.into_os_string().into_string().unwrap();
            let processor = Processor::of_mach(parsed(&path).header().mach()).unwrap();
            of_processors.entry(processor.name).or_default().push(path);
        }
    }
    for (name, paths) in of_processors {
        let (processor, encoding) = (Processor::named(name).unwrap(), encoding(name));
        let output =
            Command::new(newest_llvm("llvm-objdump")).args(["-d", "-z"]).args(&paths).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let mut file = None;
        for line in text.lines() {
            if let Some((path, _)) = line.split_once(":\tfile format ") {
                file = Some((path, parsed(path)));
            }
            if !line.starts_with('\t') || line.contains(".long") {
                continue;
            }
            let (path, object) = file.as_ref().unwrap();
            // A comment of the text may end right before: `/*v300*/// 1234:`.
            let (_, comment) = line.rsplit_once("//").unwrap();
            let (address, rest) = comment.trim().split_once(':').unwrap();
            let words = rest.split('<').next().unwrap().split_whitespace().count();
            let address = u64::from_str_radix(address, 16).unwrap();
            let longest = object.bytes_at(ElfAddress(address), words as u64 * 4).unwrap();
            let found = encoding.decode(&longest);
            assert_eq!(found.map(|found| usize::from(found.size)), Some(words * 4), "{path} {line}");
            let is_call = ["s_swappc_b64", "s_swap_pc_i64", "s_call_b64", "s_call_i64"];
            let is_call = is_call.iter().any(|call| line.contains(call));
            assert_eq!(ends_with_call(processor, &longest), Some(is_call), "{path} {line}");
            *counts.entry(name).or_default() += 1;
        }
    }
    assert!(counts.len() >= 6 && counts.values().all(|count| *count > least(800, 200)), "{counts:?}");
}

/// Sizes of the forms that gfx12.5 added, against llvm-mc-22: literals of 64 bits, VOPD3, VOP3PX2.
#[test]
fn instructions_of_gfx125_are_as_long_as_llvm_mc_encodes_them() {
    let cases: [(&[u32], u8); 14] = [
        (&[0xbe80_01fe, 0x90ab_cdef, 0x1234_5678], 12), // s_mov_b64 s[0:1], 0x1234567890abcdef
        (&[0xa980_fe02, 0x90ab_cdef, 0x1234_5678], 12), // s_add_nc_u64 s[0:1], s[2:3], the same
        (&[0xbf10_fe02, 0x90ab_cdef, 0x1234_5678], 12), // s_cmp_eq_u64 s[2:3], the same
        (&[0xbe80_4bfe, 0x3456_7890, 0x12], 12),        // s_add_pc_i64 0x1234567890
        (&[0xbe80_4b02], 4),                            // s_add_pc_i64 s[2:3]
        (&[0x7e00_3afe, 0x90ab_cdef, 0x1234_5678], 12), // v_mov_b64 v[0:1], 0x1234567890abcdef
        (&[0x0400_04fe, 0x90ab_cdef, 0x1234_5678], 12), // v_add_f64 v[0:1], the same, v[2:3]
        (&[0x7cb4_00fe, 0x90ab_cdef, 0x1234_5678], 12), // v_cmp_eq_u64 vcc_lo, the same, v[0:1]
        (&[0x4600_0902, 0x90ab_cdef, 0x1234_5678], 12), // v_fmamk_f64
        (&[0x4800_0902, 0x90ab_cdef, 0x1234_5678], 12), // v_fmaak_f64
        (&[0xcf4c_3101, 0x0201_0108, 0x0700_0900], 12), // v_dual_fma_f32 :: v_dual_mul_f32
        (&[0xcc35_0000, 0x0402_0501, 0xcc33_0000, 0], 16), // v_wmma_scale_f32_16x16x128_f8f6f4
        (&[0xcc3a_0000, 0x0402_0902, 0xcc33_0000, 0], 16), // v_wmma_scale16_f32_16x16x128_f8f6f4
        (&[0xd071_0001, 0x7c00_0000, 0x7c7c_0400], 12), // tensor_load_to_lds s[0:3], s[4:11]
    ];
    for (code, size) in cases {
        let bytes: Vec<u8> = code.iter().flat_map(|dword| dword.to_le_bytes()).collect();
        let found = encoding("gfx1250").decode(&bytes).unwrap();
        assert_eq!(found.size, size, "{code:x?}");
    }
    // A branch to an unknown place.
    assert_eq!(encoding("gfx1250").decode(&0xbe80_4b02u32.to_le_bytes()).unwrap().effect, Effect::Unknown);
}

/// The effect of a frame setup instruction, from its text.
fn effect_of(mnemonic: &str, operands: &[&str]) -> Effect {
    let register = |text: &str| text.strip_prefix('s').and_then(|number| number.parse::<u8>().ok());
    let operand = |text: &str| match (register(text), text.strip_prefix("0x"), text.parse::<i64>()) {
        (Some(register), ..) => Operand::Sgpr(register),
        (_, Some(hex), _) => Operand::Constant(u32::from_str_radix(hex, 16).unwrap()),
        (_, _, Ok(number)) => Operand::Constant(number as u32),
        _ => Operand::Other,
    };
    let to = register(operands[0]).unwrap();
    let how = match mnemonic {
        "s_mov_b32" | "s_movk_i32" => return Effect::Move { to, from: operand(operands[1]) },
        "s_add_u32" | "s_add_i32" | "s_addk_i32" => Arithmetic::Add,
        "s_sub_u32" | "s_sub_i32" => Arithmetic::Sub,
        "s_and_b32" => Arithmetic::And,
        "s_andn2_b32" => Arithmetic::AndNot,
        other => panic!("{other}"),
    };
    let (left, right) = match operands {
        [_, left, right] => (operand(left), operand(right)),
        _ => (Operand::Sgpr(to), operand(operands[1])),
    };
    Effect::Compute { to, how, left, right }
}

/// Instructions that move stack registers, with every register and many constants, in llvm-mc's encoding.
#[test]
fn moves_of_stack_registers_have_the_codes_of_llvm_mc() {
    let mut texts = Vec::new();
    let sources = (0..102).map(|register| format!("s{register}"));
    let constants = (-16..=64).map(|number| number.to_string());
    let other = ["exec_lo", "vcc_lo", "0x1fc0", "0xffffe000", "0x12345678", "m0"].map(str::to_owned);
    let operands: Vec<String> = sources.chain(constants).chain(other).collect();
    for to in [30, 31, 32, 33, 34, 35] {
        for operand in &operands {
            texts.push(("s_mov_b32", vec![format!("s{to}"), operand.clone()]));
            for mnemonic in ["s_add_i32", "s_add_u32", "s_sub_i32", "s_sub_u32", "s_and_b32", "s_andn2_b32"] {
                texts.push((mnemonic, vec![format!("s{to}"), "s32".to_owned(), operand.clone()]));
            }
        }
        for number in [0, 1, 0x1b0, 0x400, 0x6c00, 0x7fff] {
            texts.push(("s_movk_i32", vec![format!("s{to}"), format!("{number:#x}")]));
            texts.push(("s_addk_i32", vec![format!("s{to}"), format!("{number:#x}")]));
        }
    }
    let source: String =
        texts.iter().map(|(mnemonic, operands)| format!("{mnemonic} {}\n", operands.join(", "))).collect();
    let folder = std::env::temp_dir().join(format!("lanescope-moves-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("moves.s");
    std::fs::write(&file, source).unwrap();
    let names: Vec<String> = Targets::builtin().names().map(str::to_owned).collect();
    assert!(names.len() >= 14);
    for name in &names {
        let mut command = Command::new(newest_llvm("llvm-mc"));
        command.args(["-triple=amdgcn-amd-amdhsa", "-show-encoding"]).arg(format!("-mcpu={name}"));
        let output = command.arg(&file).output().unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let output = String::from_utf8(output.stdout).unwrap();
        let codes = output.lines().filter_map(|line| line.split_once("encoding: [")?.1.strip_suffix(']'));
        let codes: Vec<Vec<u8>> = codes
            .map(|code| {
                code.split(',').map(|byte| u8::from_str_radix(byte.trim_start_matches("0x"), 16).unwrap())
            })
            .map(Iterator::collect)
            .collect();
        assert_eq!(codes.len(), texts.len(), "{name}");
        for (code, (mnemonic, operands)) in codes.iter().zip(&texts) {
            let operands: Vec<&str> = operands.iter().map(String::as_str).collect();
            let found = encoding(name).decode(code).unwrap();
            assert_eq!(usize::from(found.size), code.len(), "{name} {mnemonic} {operands:?}");
            assert_eq!(
                found.effect,
                effect_of(mnemonic, &operands),
                "{name} {mnemonic} {operands:?} {code:x?}"
            );
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// The frame starts of code for gfx90a, given as dwords from llvm-mc 22.
fn frame(words: &[u32], is_kernel: bool) -> Vec<FrameStart> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let processor = Processor::named("gfx90a").unwrap();
    let parts = [CodePart { start: 0x1000, bytes: &bytes }];
    let code = FunctionCode { processor, entry: 0x1000, parts: &parts, frame_register: 33, is_kernel };
    let found = FrameCode::read(code).unwrap();
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
    let words = |words: &[u32]| -> Vec<u8> { words.iter().flat_map(|word| word.to_le_bytes()).collect() };
    // s_branch to 0x800 from 0x100c, and back to 0x100c from 0x804.
    let (main, cold) = (words(&[SET, GROW, 0xbf82_fdfd, RESTORE, RETURN]), words(&[NOP, 0xbf82_0201]));
    let processor = Processor::named("gfx90a").unwrap();
    let parts = [CodePart { start: 0x1000, bytes: &main }, CodePart { start: 0x800, bytes: &cold }];
    let code = FunctionCode { processor, entry: 0x1000, parts: &parts, frame_register: 33, is_kernel: false };
    let found = FrameCode::read(code).unwrap();
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

/// No path leads from a part that ends within an instruction to the next part.
#[test]
fn a_part_that_is_cut_leads_nowhere() {
    let cut: Vec<u8> = SET.to_le_bytes().into_iter().chain([0, 0]).collect();
    let (next, processor) = (NOP.to_le_bytes(), Processor::named("gfx90a").unwrap());
    let parts = [CodePart { start: 0x900, bytes: &cut }, CodePart { start: 0x1000, bytes: &next }];
    let code = FunctionCode { processor, entry: 0x900, parts: &parts, frame_register: 33, is_kernel: false };
    let found = FrameCode::read(code).unwrap();
    assert!(matches!(found.at(0x1000), FrameStart::Unknown(why) if why.contains("no path")));
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
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        function_exit(Processor::named("gfx90a").unwrap(), CodePart { start: 0x1000, bytes: &bytes }, 0x1000)
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
    let source = "s_getreg_b32 s33, hwreg(HW_REG_WAVE_HW_ID2, 8, 2)\ns_cmp_lg_u32 0, s33\ns_cmovk_i32 s33, 0x1c0\n\
                  s_cmovk_i32 s32, 0x210\ns_nop 0\n";
    let folder = std::env::temp_dir().join(format!("lanescope-dynamic-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (file, object) = (folder.join("dynamic.s"), folder.join("dynamic.o"));
    std::fs::write(&file, source).unwrap();
    let mut command = Command::new(newest_llvm("llvm-mc"));
    command
        .args(["-triple=amdgcn-amd-amdhsa", "-mcpu=gfx1200", "-filetype=obj"])
        .arg(&file)
        .arg("-o")
        .arg(&object);
    assert!(command.status().unwrap().success());
    let object = CodeObject::parse(std::fs::read(&object).unwrap()).unwrap();
    let bytes = object.section_bytes(".text").unwrap().unwrap();
    std::fs::remove_dir_all(folder).unwrap();
    let processor = Processor::named("gfx1200").unwrap();
    let parts = [CodePart { start: 0, bytes: &bytes }];
    let code = FunctionCode { processor, entry: 0, parts: &parts, frame_register: 33, is_kernel: true };
    let found = FrameCode::read(code).unwrap();
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
    for name in ["gfx900", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"] {
        let processor = Processor::named(name).unwrap();
        for length in 0..200 {
            let bytes: Vec<u8> = (0..length).map(|_| next() as u8).collect();
            for (frame_register, is_kernel) in [(32, false), (33, false), (33, true)] {
                // Overlapping parts, and a part that leaves the address space.
                let parts = [
                    CodePart { start: u64::MAX - 100, bytes: &bytes },
                    CodePart { start: u64::MAX - 120, bytes: bytes.get(..40).unwrap_or_default() },
                    CodePart { start: u64::MAX - 110, bytes: bytes.get(..40).unwrap_or_default() },
                    CodePart { start: u64::MAX - 60, bytes: bytes.get(..7).unwrap_or_default() },
                ];
                let code = FunctionCode {
                    processor,
                    entry: u64::MAX - 100,
                    parts: &parts,
                    frame_register,
                    is_kernel,
                };
                if let Ok(found) = FrameCode::read(code) {
                    (u64::MAX - 110..u64::MAX).for_each(|address| drop(format!("{:?}", found.at(address))));
                }
            }
        }
    }
    // A branch to itself, and a branch out of the function.
    assert!(frame(&[0xbf82_ffff], false).iter().all(|found| matches!(found, FrameStart::Unknown(_))));
    assert!(frame(&[0xbf82_7fff, NOP], false).len() == 2);
    let processor = Processor::named("gfx803").unwrap();
    let parts = [CodePart { start: 0, bytes: &[0; 8] }];
    let code = FunctionCode { processor, entry: 0, parts: &parts, frame_register: 33, is_kernel: false };
    assert!(FrameCode::read(code).is_err());
}

/// AMDGPUUsage, "Generic Processors": compatible processors.
#[test]
fn code_runs_on_its_own_processor_and_generic_code_on_its_family() {
    let fits = |code: &str, gpu: &str| {
        let target = Targets::builtin().target(gpu).unwrap();
        Processor::named(code).unwrap().runs_on_target(&target)
    };
    let families: [(&str, &[&str]); 7] = [
        ("gfx9-generic", &["gfx900", "gfx906"]),
        ("gfx9-4-generic", &["gfx942", "gfx950"]),
        ("gfx10-1-generic", &["gfx1010"]),
        ("gfx10-3-generic", &["gfx1030"]),
        ("gfx11-generic", &["gfx1100", "gfx1101", "gfx1102", "gfx1151"]),
        ("gfx12-generic", &["gfx1200", "gfx1201"]),
        ("gfx12-5-generic", &["gfx1250", "gfx1251"]),
    ];
    let targets = Targets::builtin();
    for gpu in targets.names() {
        for code in targets.names() {
            assert_eq!(fits(code, gpu), code == gpu, "{code} on {gpu}");
        }
        for (generic, members) in families {
            assert_eq!(fits(generic, gpu), members.contains(&gpu), "{generic} on {gpu}");
        }
    }
    // Steppings are separate processors.
    assert!(!fits("gfx1036", "gfx1030") && fits("gfx1036", "gfx1036") && fits("gfx10-3-generic", "gfx1036"));
    assert!(fits("gfx9-4-generic", "gfx940") && fits("gfx9-generic", "gfx90c"));
}
