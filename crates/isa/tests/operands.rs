//! Operands and effects of instructions, as the manuals of the architecture describe them.
#![allow(clippy::unwrap_used, reason = "a test fails by panics")]

use amdgpu_isa::{Decoder, Encoding, File, Flags, Implicit, Instruction, Op, Role, Value};

fn decode(processor: &str, words: &[u32]) -> Instruction {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let instruction =
        Decoder::new(processor, if processor.len() == 6 { 64 } else { 32 }).unwrap().decode(&bytes);
    assert_eq!(instruction.size(), bytes.len(), "{instruction}");
    instruction
}

/// Each operand as `role=value`, with `>` where it is written and `=` and a number where it is tied.
fn shape(instruction: &Instruction) -> String {
    let operands = instruction.operands().filter(|operand| !operand.role.name().is_empty());
    let texts = operands.map(|operand| {
        let value = match operand.value {
            Value::None => "-".to_owned(),
            Value::Immediate(number) => number.to_string(),
            Value::Literal(number) => format!("literal {number:#x}"),
            Value::Register(register) => {
                format!("{:?} {}+{}", register.file, register.number, register.dwords)
            }
        };
        let written = if operand.is_written { ">" } else { "" };
        let tied = operand.tied.map_or(String::new(), |to| format!(" tied {to}"));
        format!("{written}{} {value}{tied}", operand.role.name())
    });
    texts.collect::<Vec<_>>().join(", ")
}

#[test]
fn operands_have_roles_registers_and_directions() {
    let cases: [(&str, &[u32], &str, &str); 14] = [
        ("gfx90a", &[0x8006_0504], "s_add_u32 s6, s4, s5", ">sdst Sgpr 6+1, src0 Sgpr 4+1, src1 Sgpr 5+1"),
        (
            "gfx90a",
            &[0xbe80_00ff, 0x1234_5678],
            "s_mov_b32 s0, 0x12345678",
            ">sdst Sgpr 0+1, src0 literal 0x12345678",
        ),
        ("gfx90a", &[0xbe80_1e06], "s_swappc_b64 s[0:1], s[6:7]", ">sdst Sgpr 0+2, src0 Sgpr 6+2"),
        ("gfx90a", &[0xbe80_206a], "s_and_saveexec_b64 s[0:1], vcc", ">sdst Sgpr 0+2, src0 Special 106+2"),
        (
            "gfx90a",
            &[0xc00a_0103, 0x0000_0010],
            "s_load_dwordx4 s[4:7], s[6:7], 0x10",
            ">sdst Sgpr 4+4, sbase Sgpr 6+2, offset 16, cpol 0",
        ),
        (
            "gfx90a",
            &[0x0200_02f2],
            "v_add_f32_e32 v0, 1.0, v1",
            ">vdst Vgpr 0+1, src0 1065353216, src1 Vgpr 1+1",
        ),
        (
            "gfx90a",
            &[0x7602_0501],
            "v_fmac_f32_e32 v1, v1, v2",
            ">vdst Vgpr 1+1, src0 Vgpr 1+1, src1 Vgpr 2+1, src2 Vgpr 1+1 tied 0",
        ),
        (
            "gfx90a",
            &[0xdc51_8008, 0x0502_0003],
            "global_load_dword v5, v3, s[2:3] offset:8 glc",
            ">vdst Vgpr 5+1, saddr Sgpr 2+2, vaddr Vgpr 3+1, offset 8, cpol 1",
        ),
        (
            "gfx90a",
            &[0xd86c_0010, 0x0300_0001],
            "ds_read_b32 v3, v1 offset:16",
            ">vdst Vgpr 3+1, addr Vgpr 1+1, offset 16, gds 0",
        ),
        (
            "gfx90a",
            &[0xd81a_0000, 0x0000_0201],
            "ds_write_b32 v1, v2",
            "addr Vgpr 1+1, data0 Vgpr 2+1, offset 0, gds 0",
        ),
        (
            "gfx1100",
            &[0xd501_0006, 0x0012_0501],
            "v_cndmask_b32_e64 v6, v1, v2, s4",
            ">vdst Vgpr 6+1, src0_modifiers 0, src0 Vgpr 1+1, src1_modifiers 0, src1 Vgpr 2+1, src2 Sgpr 4+1",
        ),
        (
            "gfx1100",
            &[0xca10_0101, 0x0002_0102],
            "v_dual_mov_b32 v0, v1 :: v_dual_mov_b32 v3, v2",
            ">vdstX Vgpr 0+1, >vdstY Vgpr 3+1, src0X Vgpr 1+1, src0Y Vgpr 2+1",
        ),
        (
            "gfx1200",
            &[0xd0c0_0001, 0, 0x0000_0201],
            "image_load v[0:1], [v1, v2], s[0:7] dmask:0x3 dim:SQ_RSRC_IMG_2D",
            ">vdata Vgpr 0+2, vaddr0 Vgpr 1+1, vaddr1 Vgpr 2+1, vaddr2 -, vaddr3 -, srsrc Sgpr 0+8, dmask 3, dim 1, cpol 0, r128 0, a16 0, tfe 0, d16 0",
        ),
        (
            "gfx1100",
            &[0x3800_0501],
            "v_or_b32_e32 v0, v1, v2",
            ">vdst Vgpr 0+1, src0 Vgpr 1+1, src1 Vgpr 2+1",
        ),
    ];
    for (processor, words, text, expected) in cases {
        let instruction = decode(processor, words);
        assert_eq!((instruction.to_string().as_str(), shape(&instruction).as_str()), (text, expected));
    }
}

#[test]
fn effects_name_implicit_registers_flow_and_memory() {
    let effects = |processor, words: &[u32]| decode(processor, words).effects().unwrap();
    let add = effects("gfx90a", &[0x8006_0504]);
    assert!(
        add.writes.contains(Implicit::SCC)
            && add.encoding == Encoding::Sop2
            && !add.reads.contains(Implicit::EXEC)
    );
    let compare = effects("gfx90a", &[0x7c82_0501]);
    assert!(
        compare.writes.contains(Implicit::VCC) && compare.reads.contains(Implicit::EXEC),
        "v_cmp_lt_f32_e32"
    );
    let call = effects("gfx90a", &[0xbe80_1e02]);
    assert!(call.flags.contains(Flags::CALL), "s_swappc_b64");
    let end = effects("gfx90a", &[0xbf81_0000]);
    assert!(end.flags.contains(Flags::RETURN | Flags::STOPS | Flags::TERMINATOR), "s_endpgm");
    let load = effects("gfx90a", &[0xdc51_8008, 0x0502_0003]);
    assert!(load.flags.contains(Flags::LOAD | Flags::VM_COUNT) && load.encoding == Encoding::Global);
    let atomic = effects("gfx90a", &[0xdd09_8000, 0x0502_0003]);
    assert!(
        atomic.flags.contains(Flags::LOAD | Flags::STORE | Flags::ATOMIC_RETURN),
        "global_atomic_add with a result"
    );
    assert!(
        effects("gfx90a", &[0xd86c_0010, 0x0300_0001]).flags.contains(Flags::LOAD | Flags::LGKM_COUNT),
        "ds_read_b32"
    );
}

#[test]
fn targets_of_branches_are_relative_to_the_next_instruction() {
    let back = decode("gfx90a", &[0xbf82_fffe]);
    assert_eq!((back.to_string().as_str(), back.target(0x100)), ("s_branch 65534", Some(0xfc)));
    let execz = decode("gfx1100", &[0xbfa5_0004]);
    assert_eq!((execz.to_string().as_str(), execz.target(0x100)), ("s_cbranch_execz 4", Some(0x114)));
    assert_eq!(decode("gfx90a", &[0xbe80_1e02]).target(0), None);
}

#[test]
fn operations_and_roles_are_constants() {
    const ADD: Op = Op::named("v_add_f32");
    const SRC1: Role = Role::named("src1");
    let short = decode("gfx90a", &[0x0200_02f2]);
    let long = decode("gfx90a", &[0xd101_0000, 0x0002_02f2]);
    assert_eq!((short.op(), long.op()), (Some(ADD), Some(ADD)), "{long}");
    let register = short.operand_of(SRC1).unwrap().register().unwrap();
    assert_eq!((register.file, register.number, register.dwords), (File::Vgpr, 1, 1));
    let texts: Vec<String> = (0..3).map(|at| short.operand_text(at).to_string()).collect();
    assert_eq!(texts, ["v0", "1.0", "v1"]);
}
