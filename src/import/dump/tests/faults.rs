//! `[[fault]]` and `[[code_text]]`: each key, and each error in it.

use super::check;
use crate::capture::{
    AgentInference, CodeText, FailedAssertion, Fault, FaultAccess, FaultAddress, FaultKind, FaultReason,
    FaultReport, FaultSource, FileLocation, MAX_FAULTS, TextInstruction,
};

/// A fault with each key.
const WHOLE: &str = include_str!("../../../../tests/fixtures/fault.toml");

fn at(file: &str, line: Option<usize>) -> Option<FileLocation> {
    Some(FileLocation { file: file.to_owned(), line, ..FileLocation::default() })
}

#[test]
fn each_key_of_a_fault_is_read() {
    let short = "[[fault]]\nkind = \"aperture\"\naddress = 16\n";
    let capture = check(&format!("{WHOLE}{short}"), &[]);
    let also = [
        FaultReport { source: FaultSource::Runtime, place: at("run.log", None) },
        FaultReport { source: FaultSource::Dump, place: None },
    ];
    let whole = Fault {
        kind: FaultKind::Page,
        address: Some(FaultAddress { start: 0x7f00_0020_1000, bytes: 4096, is_inexact: true }),
        access: Some(FaultAccess::Write),
        reasons: vec![FaultReason::NotPresent, FaultReason::ReadOnly],
        has_all_reasons: true,
        status: Some("0x00301031".to_owned()),
        node: Some(4),
        device: Some("0000:c3:00.0".to_owned()),
        agent: Some(1),
        agent_inferred: Some(AgentInference::OnlyGpu),
        client: Some("TCP".to_owned()),
        ring: Some("comp_1.0.0".to_owned()),
        kernel: Some("saxpy".to_owned()),
        process: Some(1234),
        is_of_other_process: false,
        is_of_other_gpu: false,
        outer_process: None,
        is_of_kernel_queue: false,
        assertion: Some(FailedAssertion {
            condition: "i < n".to_owned(),
            file: Some("a.hip".to_owned()),
            line: Some(12),
            function: Some("f(int)".to_owned()),
        }),
        source: FaultSource::KernelLog,
        place: at("dmesg.txt", Some(7)),
        also: also.to_vec(),
    };
    let address = Some(FaultAddress { start: 16, bytes: 1, is_inexact: false });
    let short = Fault { kind: FaultKind::Aperture, address, ..Fault::default() };
    assert_eq!(capture.faults, [whole, short]);
}

#[test]
fn errors_in_a_fault_have_their_keys() {
    let capture = check(
        r#"
        [[fault]]
        address = 0
        [[fault]]
        kind = "earthquake"
        [[fault]]
        kind = "page"
        address = "0xfffffffffffff000"
        bytes = 4097
        access = "load"
        reasons = ["read_only", "read_only", "bad luck", 3]
        node = 0x100000000
        agent = 7
        agent_inferred = "guess"
        source = "rumour"
        place = { line = 3 }
        also = [{ source = "me" }]
        assertion = { line = 3 }
        colour = "red"
        [[fault]]
        kind = "page"
        address = 1
        bytes = 0
        agent_inferred = "only_gpu"
        "#,
        &[
            "fault[0].kind: is missing; the entry is left out (expected a string)",
            "fault[1].kind: \"earthquake\"; the entry is left out (expected one of page, memory, aperture, \
             illegal_instruction, exception, ecc, assertion, launch, queue, hang, in_use)",
            "fault[2].colour: is not a key of format 1; it is ignored (expected keys of format 1, or x-...)",
            "fault[2].agent: no agent has the id 7 (expected the id of an entry of [[agent]])",
            "fault[2].agent_inferred: \"guess\"; ignored (expected one of only_gpu, same_node)",
            "fault[2].source: \"rumour\"; ignored (expected one of debug_agent, runtime, offload, hip, kernel_log, \
             device_dump, libhsakmt, tinygrad, dump, user)",
            "fault[2].place.file: is missing; `place` is unknown (expected a string)",
            "fault[2].bytes: 0x1001 bytes from 0xfffffffffffff000 on; the address is ignored (expected at least 1, and \
             an end within the address space)",
            "fault[2].access: \"load\"; ignored (expected one of read, write, execute)",
            "fault[2].reasons[2]: \"bad luck\"; ignored (expected one of not_present, read_only, no_execute, \
             host_only, dram_ecc, sram_ecc, hang_recovery, in_use)",
            "fault[2].reasons[3]: 3, ignored (expected a string)",
            "fault[2].node: 0x100000000 (expected a number below 2^32)",
            "fault[2].assertion.condition: is missing; `assertion` is unknown (expected a string)",
            "fault[2].also[0].source: \"me\"; ignored (expected one of debug_agent, runtime, offload, hip, kernel_log, \
             device_dump, libhsakmt, tinygrad, dump, user)",
            "fault[3].agent_inferred: there is no `agent`; ignored (expected it beside an `agent`)",
            "fault[3].bytes: 0x0 bytes from 0x1 on; the address is ignored (expected at least 1, and an end within the \
             address space)",
        ],
    );
    let also = vec![FaultReport::default()];
    let left = Fault { reasons: vec![FaultReason::ReadOnly], also, ..Fault::default() };
    assert_eq!(capture.faults, [left, Fault::default()]);
}

#[test]
fn faults_are_bounded_in_number() {
    let text = "[[fault]]\nkind = \"ecc\"\n".repeat(MAX_FAULTS + 2);
    let what = format!(
        "fault[{MAX_FAULTS}]: this and those after it are left out (expected at most {MAX_FAULTS} faults)"
    );
    assert_eq!(check(&text, &[&what]).faults.len(), MAX_FAULTS);
}

#[test]
fn code_as_text_is_sorted_and_checked() {
    let capture = check(
        r#"
        [[code_text]]
        function = "f(int)"
        start = "0x1000"
        agent = 1
        instructions = [
            { address = "0x1010", text = "s_endpgm" },
            { address = "0x1008", text = "s_cbranch_execz 1", target = "0x1010", file = "/f.hip", line = 7 },
            { address = "0x1008", text = "s_nop 0" },
            { address = "0x1018" },
            { text = "s_nop 1", size = 4 },
        ]
        [[code_text]]
        function = "g"
        start = 0
        [[code_text]]
        function = "h"
        [[code_text]]
        start = 1
        [[code_text]]
        function = "i"
        start = 2
        agent = 9
        "#,
        &[
            "code_text[0].instructions[2].address: that of an earlier instruction; this one is left out (expected each once)",
            "code_text[0].instructions[3].text: is missing; the entry is left out (expected a string)",
            "code_text[0].instructions[4].size: is not a key of format 1; it is ignored (expected keys of format 1, or x-...)",
            "code_text[0].instructions[4].address: is missing; the entry is left out (expected a non-negative integer below \
             2^64 or a string \"0x...\")",
            "code_text[3].function: is missing; the entry is left out (expected a string)",
            "code_text[4].agent: no agent has the id 9 (expected the id of an entry of [[agent]])",
        ],
    );
    let branch = TextInstruction {
        address: 0x1008,
        text: "s_cbranch_execz 1".into(),
        target: Some(0x1010),
        file: Some("/f.hip".into()),
        line: Some(7),
    };
    let end = TextInstruction { address: 0x1010, text: "s_endpgm".into(), ..TextInstruction::default() };
    let first = CodeText {
        agent: Some(0),
        function: "f(int)".into(),
        start: Some(0x1000),
        instructions: vec![branch, end],
    };
    let second = CodeText { function: "g".into(), start: Some(0), ..CodeText::default() };
    let third = CodeText { function: "h".into(), ..CodeText::default() };
    assert_eq!(capture.code_texts, [first, second, third]);
}
