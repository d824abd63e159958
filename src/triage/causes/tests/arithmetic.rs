//! Arithmetic exceptions: expected values by IEEE 754 and the registers that the test gives.

use super::{CODE, Wave, address, found, found_on};
use crate::codeobject::{assembled, assembled_for};
use crate::triage::{Arithmetic, Cause, Confidence};
use crate::units::{LaneId, WaveId};

#[test]
fn arithmetic_exceptions_have_instruction_and_operands() {
    let code = assembled(CODE);
    let raised = |stop: &str, label: &str, registers: String| {
        let wave = Wave { stop, pc: address(&code, label), registers: &registers };
        match found(&code, &[wave], 0, &[]) {
            Some(Cause::Arithmetic(Arithmetic { kinds, instruction, operands, wave: WaveId(0), .. })) => {
                (kinds, instruction.map(|(_, text)| text), operands)
            }
            other => panic!("{other:?}"),
        }
    };
    let one = 0x3f80_0000u32;
    let vector = |register: &str, values: [u32; 3]| {
        let mut all = values.to_vec();
        all.resize(64, one);
        format!("{register} = {all:?}")
    };
    assert_eq!(
        raised("stop = [\"fp_divide_by_0\"]", "divided", vector("v0", [one, 0, one])),
        (
            vec!["FP_DIVIDE_BY_0".to_owned()],
            Some("v_rcp_f32_e32 v1, v0".to_owned()),
            vec![(Some(LaneId(1)), "v0 = 0".to_owned())]
        )
    );
    assert_eq!(
        raised("stop = [\"int_divide_by_0\"]", "int_divided", vector("v3", [0, one, 0])),
        (
            vec!["INT_DIVIDE_BY_0".to_owned()],
            Some("v_rcp_iflag_f32_e32 v1, v3".to_owned()),
            vec![(Some(LaneId(0)), "v3 = 0".to_owned()), (Some(LaneId(2)), "v3 = 0".to_owned())]
        )
    );
    // A signaling NaN, and the difference of infinities; a quiet NaN and one infinity are valid.
    let nan = vector("v5", [0x7fc0_0000, 0x7f80_0001, 0xff80_0000])
        + "\n"
        + &vector("v6", [0x7f80_0000, one, 0x7f80_0000]);
    assert_eq!(
        raised("stop = [\"fp_invalid_operation\"]", "invalid", nan),
        (
            vec!["FP_INVALID_OPERATION".to_owned()],
            Some("v_add_f32_e32 v4, v5, v6".to_owned()),
            vec![
                (Some(LaneId(1)), "v5 = NaN".to_owned()),
                (Some(LaneId(2)), "v5 = -inf, v6 = inf".to_owned())
            ]
        )
    );
    // The integer 14 is no denormal, and 1.0 of 16 bits is none: 2^-24 is.
    let halves = vector("v8", [14, 14, 14]) + "\n" + &vector("v10", [0x3c00, 0x3c00, 1]);
    assert_eq!(
        raised("stop = [\"fp_input_denormal\"]", "converted", halves + "\n" + &vector("v11", [0x3c00; 3])),
        (
            vec!["FP_INPUT_DENORMAL".to_owned()],
            Some("v_add_f16_e32 v9, v10, v11".to_owned()),
            vec![(Some(LaneId(2)), "v10 = 0.00000005960464477539063".to_owned())]
        )
    );
    // A conversion of an integer can be inexact.
    let (_, instruction, operands) =
        raised("stop = [\"fp_inexact\"]", "converted", vector("v8", [0x0100_0001; 3]));
    assert_eq!((instruction.as_deref(), operands), (Some("v_cvt_f32_u32_e32 v7, v8"), Vec::new()));
    // The exponent of `v_ldexp_f32` is an integer.
    let exponents = vector("v13", [one, 0x7f80_0001, one]) + "\n" + &vector("v14", [0x7f80_0001; 3]);
    let (.., operands) = raised("stop = [\"fp_invalid_operation\"]", "scaled", exponents);
    assert_eq!(operands, [(Some(LaneId(1)), "v13 = NaN".to_owned())]);
    // The source of a conversion has the last format of the name: 0x7c01 of 16 bits is NaN.
    let (.., operands) =
        raised("stop = [\"fp_invalid_operation\"]", "widened", vector("v16", [0x3c00, 0x7c01, 0x3c00]));
    assert_eq!(operands, [(Some(LaneId(1)), "v16 = NaN".to_owned())]);
    // The operand is not captured.
    let (.., operands) = raised("stop = [\"fp_divide_by_0\"]", "divided", String::new());
    assert_eq!(operands, []);
}

/// The arithmetic exception of a wave at `pc` in code of its own. `values`: registers with their values by lane.
fn exception(stop: &str, text: &str, values: &[(&str, &dyn Fn(u32) -> u32)]) -> Arithmetic {
    exception_on("gfx90a", stop, text, values)
}

fn exception_on(gpu: &str, stop: &str, text: &str, values: &[(&str, &dyn Fn(u32) -> u32)]) -> Arithmetic {
    let lanes = if gpu.starts_with("gfx1") { 32 } else { 64 };
    let code = assembled_for(
        gpu,
        &format!(
            ".text\n.globl kernel\n.type kernel,@function\nkernel:\n{text}\n s_endpgm\nend:\n.size kernel, end-kernel\n"
        ),
    );
    let registers = values.iter().map(|(name, of)| match name.starts_with('v') && *name != "vcc" {
        true => format!("{name} = {:?}\n", (0..lanes).map(of).collect::<Vec<_>>()),
        false => format!("{name} = {}\n", of(0)),
    });
    let registers: String = registers.collect();
    let stop = format!("stop = [\"{stop}\"]");
    let wave = Wave { stop: &stop, pc: address(&code, "pc"), registers: &registers };
    match found_on(gpu, &code, &[wave], 0, &[]) {
        Some(Cause::Arithmetic(of)) => of,
        other => panic!("{other:?}"),
    }
}

const ONE: u32 = 0x3f80_0000;

fn zero_in(lanes: &'static [u32]) -> impl Fn(u32) -> u32 {
    move |lane| if lanes.contains(&lane) { 0 } else { ONE }
}

fn lanes_of(of: &Arithmetic) -> Vec<u8> {
    of.operands.iter().filter_map(|(lane, _)| lane.map(|lane| lane.0)).collect()
}

fn text_of(of: &Arithmetic) -> Option<&str> {
    of.instruction.as_ref().map(|(_, text)| text.as_str())
}

/// The code between a branch and the PC did not run.
#[test]
fn code_behind_a_branch_raises_nothing() {
    let text = "
 v_rcp_f32 v1, v0
 s_cbranch_scc1 there
 v_rcp_f32 v2, v3
 s_branch after
there:
 v_add_u32 v4, v4, v4
pc:
 s_nop 0
after:";
    let of = exception("fp_divide_by_0", text, &[("v0", &zero_in(&[1])), ("v3", &zero_in(&[2]))]);
    assert_eq!((text_of(&of), lanes_of(&of)), (Some("v_rcp_f32_e32 v1, v0"), vec![1]));
    assert_eq!((of.confidence, of.doubt, of.others), (Confidence::Likely, None, Vec::new()));
}

/// The wave came from the end of the loop: the operands before it divide no zero.
#[test]
fn known_operands_exclude_an_instruction() {
    let text = "
 v_rcp_f32 v1, v0
top:
 s_nop 0
pc:
 v_add_f32 v5, v5, v5
 v_rcp_f32 v2, v3
 s_cbranch_scc1 top";
    let of = exception("fp_divide_by_0", text, &[("v0", &zero_in(&[])), ("v3", &zero_in(&[2]))]);
    assert_eq!((text_of(&of), lanes_of(&of)), (Some("v_rcp_f32_e32 v2, v3"), vec![2]));
    // Another path leads to the PC.
    assert_eq!(of.confidence, Confidence::Possible);
}

/// The lanes are those of EXEC before the instruction: the even ones of 0 to 2.
#[test]
fn lanes_are_those_that_executed_the_instruction() {
    let text = "
 v_and_b32 v9, 1, v10
 v_cmp_eq_u32 vcc, 0, v9
 s_and_saveexec_b64 s[8:9], vcc
 v_rcp_f32 v1, v0
 s_or_b64 exec, exec, s[8:9]
pc:
 s_nop 0";
    let values: [(&str, &dyn Fn(u32) -> u32); 5] = [
        ("v0", &zero_in(&[0, 1, 5])),
        ("v10", &|lane| lane),
        ("s8", &|_| 7),
        ("s9", &|_| 0),
        ("vcc", &|_| 5),
    ];
    let of = exception("fp_divide_by_0", text, &values);
    assert_eq!((lanes_of(&of), of.is_bound), (vec![0], false), "{of:?}");
    // Without the saved mask the lanes are a bound.
    let of = exception("fp_divide_by_0", text, &values[..2]);
    assert_eq!(
        (lanes_of(&of), of.is_bound, of.confidence),
        (vec![0, 1, 5], true, Confidence::Possible),
        "{of:?}"
    );
}

/// IEEE 754: a quiet NaN is no invalid operand; the root of -1 is.
#[test]
fn a_quiet_nan_raises_no_exception() {
    let text = "\n v_sqrt_f32 v3, v2\n v_add_f32 v4, v5, v6\npc:\n s_nop 0";
    let nan = |lane: u32| if lane == 2 { 0x7fc0_0000 } else { ONE };
    let of = exception(
        "fp_invalid_operation",
        text,
        &[("v2", &|lane| if lane == 1 { 0xbf80_0000 } else { ONE }), ("v5", &nan), ("v6", &|_| ONE)],
    );
    assert_eq!(text_of(&of), Some("v_sqrt_f32_e32 v3, v2"));
    assert_eq!(of.operands, [(Some(LaneId(1)), "v2 = -1".to_owned())]);
}

/// LLVM's division of integers replaces the converted divisor by its reciprocal.
#[test]
fn a_divisor_is_that_of_the_conversion() {
    let text = "
 v_cvt_f32_u32 v4, v3
 v_rcp_iflag_f32 v4, v4
 v_mul_f32 v4, 0x4f7ffffe, v4
pc:
 s_nop 0";
    let of = exception("int_divide_by_0", text, &[("v3", &|lane| lane)]);
    assert_eq!((text_of(&of), of.confidence), (Some("v_rcp_iflag_f32_e32 v4, v4"), Confidence::Likely));
    assert_eq!(of.operands, [(Some(LaneId(0)), "v3 = 0".to_owned())]);
    // The divisor is lost, too.
    let lost = text.replace(" v_mul_f32", " v_mov_b32 v3, v8\n v_mul_f32");
    let of = exception("int_divide_by_0", &lost, &[("v3", &|_| 5), ("v4", &|_| ONE)]);
    assert_eq!((text_of(&of), of.operands.len()), (Some("v_rcp_iflag_f32_e32 v4, v4"), 0));
    assert_eq!(of.confidence, Confidence::Possible);
    assert_eq!(of.doubt.as_deref(), Some("its operand v4 was overwritten after it"));
}

/// Two instructions with such operands: one of them.
#[test]
fn several_instructions_with_such_operands_are_candidates() {
    let text = "\n v_rcp_f32 v1, v0\n v_rcp_f32 v2, v3\npc:\n s_nop 0";
    let of = exception("fp_divide_by_0", text, &[("v0", &zero_in(&[1])), ("v3", &zero_in(&[2]))]);
    assert_eq!((text_of(&of), lanes_of(&of)), (Some("v_rcp_f32_e32 v2, v3"), vec![2]));
    let others: Vec<&str> = of.others.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!((others, of.confidence), (vec!["v_rcp_f32_e32 v1, v0"], Confidence::Possible));
}

/// Each half of a dual instruction is an operation of its own, with the operands before both.
#[test]
fn halves_of_a_dual_instruction_are_operations() {
    let text = "
 v_dual_mov_b32 v2, v6 :: v_dual_mul_f32 v5, v4, v7
pc:
 s_nop 0";
    let infinite = |lane: u32| if lane == 1 { 0x7f80_0000 } else { ONE };
    let values: [(&str, &dyn Fn(u32) -> u32); 4] =
        [("v4", &zero_in(&[1])), ("v7", &infinite), ("v6", &|_| ONE), ("v9", &|_| ONE)];
    let of = exception_on("gfx1100", "fp_invalid_operation", text, &values);
    assert_eq!(of.operands, [(Some(LaneId(1)), "v4 = 0, v7 = inf".to_owned())]);
    assert_eq!((of.confidence, of.doubt), (Confidence::Likely, None));
    // The first half could have raised it, but its operands exclude it.
    let both = text.replace("v_dual_mov_b32 v2, v6", "v_dual_add_f32 v2, v6, v9");
    let of = exception_on("gfx1100", "fp_invalid_operation", &both, &values);
    assert_eq!(of.operands, [(Some(LaneId(1)), "v4 = 0, v7 = inf".to_owned())]);
}

/// Registers of a packed operation are known, but not its result: no register was overwritten.
#[test]
fn forms_that_are_not_computed_are_named() {
    for line in [
        "v_pk_mul_f16 v1, v2, v3",
        "v_add_f32_sdwa v1, v2, v3 dst_sel:DWORD src0_sel:DWORD src1_sel:DWORD",
        "v_mul_f32_dpp v1, v2, v3 quad_perm:[1,0,3,2] row_mask:0xf bank_mask:0xf",
    ] {
        let of = exception(
            "fp_invalid_operation",
            &format!("\n {line}\npc:\n s_nop 0"),
            &[("v2", &|_| ONE), ("v3", &|_| ONE)],
        );
        let doubt = "packed operands, and those of other lanes, are not computed";
        assert_eq!((of.doubt.as_deref(), of.operands.len()), (Some(doubt), 0), "{line}");
    }
}

/// 1e38 * 10 is beyond the numbers of 32 bits, 1e38 * 3 is not; 2^1023 * 2 is beyond those of 64.
#[test]
fn overflows_follow_from_the_operands() {
    let text = "\n v_mul_f32 v1, v2, v3\n v_add_f32 v5, v3, v3\npc:\n s_nop 0";
    let factor = |lane: u32| if lane == 2 { 10f32.to_bits() } else { 3f32.to_bits() };
    let of = exception("fp_overflow", text, &[("v2", &|_| 1e38f32.to_bits()), ("v3", &factor)]);
    assert_eq!(text_of(&of), Some("v_mul_f32_e32 v1, v2, v3"));
    let value = 1e38f32.to_string();
    assert_eq!(of.operands, [(Some(LaneId(2)), format!("v2 = {value}, v3 = 10"))]);
    assert_eq!((of.confidence, of.others), (Confidence::Likely, Vec::new()));
    // The sum of a product and a number, the bound of 16 bits, and a result that one mode of rounding brings beyond.
    let overflowing = |text: &str, values: &[(&str, &dyn Fn(u32) -> u32)]| {
        let of = exception("fp_overflow", &format!("\n {text}\npc:\n s_nop 0"), values);
        (lanes_of(&of), of.doubt)
    };
    let half = |lane: u32| if lane == 1 { 0x7bff } else { 0x3c00 };
    assert_eq!(overflowing("v_add_f16 v1, v2, v2", &[("v2", &half)]), (vec![1], None));
    let large = |lane: u32| if lane == 0 { f32::MAX.to_bits() } else { ONE };
    assert_eq!(overflowing("v_fma_f32 v1, v2, v2, v3", &[("v2", &large), ("v3", &|_| ONE)]), (vec![0], None));
    let high = |lane: u32| if lane == 2 { 0x7fe0_0000 } else { 0x3ff0_0000 };
    assert_eq!(
        overflowing("v_add_f64 v[0:1], v[2:3], v[2:3]", &[("v2", &|_| 0), ("v3", &high)]),
        (vec![2], None)
    );
    let (lanes, doubt) = overflowing("v_cvt_f16_f32 v1, v2", &[("v2", &|_| 65_520f32.to_bits())]);
    assert_eq!((lanes, doubt.as_deref()), (vec![], Some("its result is not computed")));
}

/// A scalar operation has no lane.
#[test]
fn operands_of_a_scalar_operation_have_no_lane() {
    let text = "\n s_mul_f32 s4, s5, s6\npc:\n s_nop 0";
    let of =
        exception_on("gfx1200", "fp_invalid_operation", text, &[("s5", &|_| 0), ("s6", &|_| 0x7f80_0000)]);
    assert_eq!(of.operands, [(None, "s5 = 0, s6 = inf".to_owned())]);
    assert!(!of.is_bound);
}
