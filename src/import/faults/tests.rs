//! Each form of a report, by the literal texts of its writers, and reports of one fault by several writers.

use std::fmt::Write as _;

use super::merge::Merged;
use super::{Own, Reader, Reported, read};
use crate::capture::{
    Agent, AgentInference, Capture, FailedAssertion, Fault, FaultAccess, FaultAddress, FaultKind,
    FaultReason, FaultReport, FaultSource, FileLocation, Hardware, MAX_FAULTS, PAGE,
};
use crate::import::text::Line;
use crate::work::{Count, done};

/// The faults of a text, with their places apart from the lines.
fn placed(text: &str) -> Vec<Fault> {
    let mut capture = Capture::default();
    let left_out = read("run.log", text.as_bytes(), Own::default()).unwrap().into_capture(&mut capture);
    assert_eq!(left_out, None);
    capture.faults
}

/// The faults of a text without places, statuses and devices, which `reports` has.
fn faults(text: &str) -> Vec<Fault> {
    let mut faults = placed(text);
    for fault in &mut faults {
        assert!(fault.place.is_some(), "{fault:?}");
        (fault.place, fault.status, fault.device) = (None, None, None);
        fault.also.iter_mut().for_each(|also| also.place = None);
    }
    faults
}

/// The only fault of a text, without places.
#[track_caller]
fn one(text: &str) -> Fault {
    let mut all = faults(text);
    assert_eq!(all.len(), 1, "{text}: {all:#?}");
    all.remove(0)
}

fn at(line: usize) -> Option<FileLocation> {
    Some(FileLocation { file: "run.log".to_owned(), line: Some(line), ..FileLocation::default() })
}

fn page(start: u64) -> Option<FaultAddress> {
    Some(FaultAddress { start, bytes: PAGE, is_inexact: false })
}

/// A page fault of ROCm's runtime.
fn runtime() -> Fault {
    Fault { source: FaultSource::Runtime, ..Fault::default() }
}

fn offload() -> Fault {
    Fault { source: FaultSource::Offload, ..Fault::default() }
}

fn agent() -> Fault {
    Fault { source: FaultSource::DebugAgent, ..Fault::default() }
}

fn of(kind: FaultKind, source: FaultSource) -> Fault {
    Fault { kind, source, ..Fault::default() }
}

use FaultReason::{DramEcc, HangRecovery, HostOnly, NoExecute, NotPresent, ReadOnly, SramEcc};

#[test]
fn rocms_line_in_every_version() {
    let line = |rest: &str| one(&format!("Memory access fault by GPU node-{rest}\n"));
    let absent = Fault { address: page(0x7fbe_4cc0_1000), reasons: vec![NotPresent], ..runtime() };
    // ROCm 1.x names no agent.
    assert_eq!(
        line("1 on address 0x7fbe4cc01000. Reason: Page not present or supervisor privilege."),
        Fault { node: Some(1), ..absent.clone() }
    );
    assert_eq!(
        line(
            "4 (Agent handle: 0x152e220) on address 0x7fbe4cc01000. Reason: Page not present or supervisor privilege."
        ),
        Fault { node: Some(4), ..absent.clone() }
    );
    assert_eq!(
        line(
            "4 (Agent handle: 0x152e220) on address (nil). Reason: Page not present or supervisor privilege."
        ),
        Fault { node: Some(4), address: page(0), ..absent.clone() }
    );
    let inexact = FaultAddress { start: 0x1000, bytes: PAGE, is_inexact: true };
    assert_eq!(
        line("2 (Agent handle: 0x1) on address 0x1000 (may not be exact address). Reason: Unknown."),
        Fault { node: Some(2), address: Some(inexact), ..runtime() }
    );
    // Future drivers may report exact addresses.
    assert_eq!(
        line("2 on address 0x1008.").address,
        Some(FaultAddress { bytes: 1, start: 0x1008, ..inexact_not() })
    );
    for (words, kind, reasons, access) in [
        ("Write access to a read-only page", FaultKind::Page, vec![ReadOnly], Some(FaultAccess::Write)),
        ("Execute access to a page marked NX", FaultKind::Page, vec![NoExecute], Some(FaultAccess::Execute)),
        ("Host access only", FaultKind::Page, vec![HostOnly], None),
        ("DRAM ECC failure", FaultKind::Ecc, vec![DramEcc], None),
        ("ECC failure (if supported by HW)", FaultKind::Ecc, vec![DramEcc], None),
        ("SRAM ECC failure", FaultKind::Ecc, vec![SramEcc], None),
        ("Generic hang recovery", FaultKind::Hang, vec![HangRecovery], None),
        ("Unknown", FaultKind::Page, vec![], None),
    ] {
        let wanted = Fault { kind, reasons, access, node: Some(3), address: page(0x2000), ..runtime() };
        assert_eq!(line(&format!("3 (Agent handle: 0x1) on address 0x2000. Reason: {words}.")), wanted);
    }
    // Other output follows on the same line, or the line was cut.
    let glued = "4 on address 0x7fbe4cc01000. Reason: Unknown.[rank1] Write access to a read-only page";
    assert_eq!(line(glued), Fault { node: Some(4), address: page(0x7fbe_4cc0_1000), ..runtime() });
    assert_eq!(line("4 (Agent han"), Fault { node: Some(4), ..runtime() });
}

/// Two GPUs report within one line: neither is lost. A report that another one cut has no address.
#[test]
fn several_reports_of_one_line_are_all_read() {
    let whole = |node: u32, at: &str| {
        format!(
            "Memory access fault by GPU node-{node} (Agent handle: 0x1) on address {at}. Reason: Page not present or supervisor privilege."
        )
    };
    let (first, second) = (whole(1, "0x7f0000201000"), whole(2, "0x7f1100403000"));
    let fault = |node, start| Fault {
        node: Some(node),
        address: page(start),
        reasons: vec![FaultReason::NotPresent],
        ..runtime()
    };
    let both = [fault(1, 0x7f00_0020_1000), fault(2, 0x7f11_0040_3000)];
    for text in [format!("{first}{second}\n"), format!("[rank 0] {first} {second}\n")] {
        assert_eq!(faults(&text), both, "{text}");
    }
    let cut = format!("Memory access fault by GPU node-1 (Agent han{second}\n");
    assert_eq!(faults(&cut), both[1..], "{cut}");
}

fn inexact_not() -> FaultAddress {
    FaultAddress { start: 0, bytes: 0, is_inexact: false }
}

#[test]
fn llvms_lines_in_every_version() {
    assert_eq!(
        one("[GPU Memory Error] Addr: 0x4100000000 Reason: Page not present or supervisor privilege. \n"),
        Fault { address: page(0x41_0000_0000), ..offload() },
        "the reasons of that version are unreliable"
    );
    let both = Fault {
        access: Some(FaultAccess::Write),
        reasons: vec![NotPresent, ReadOnly],
        has_all_reasons: true,
        node: Some(1),
        address: page(0),
        ..offload()
    };
    assert_eq!(
        one(
            "AMDGPU fatal error 1: Memory access fault by GPU 1 (agent 0x5600) at virtual address (nil). Reasons: \
             Page not present or supervisor privilege, Write access to a read-only page\n"
        ),
        both
    );
    let unknown = Fault { node: Some(8), address: page(0x7f00_0000_1000), ..offload() };
    for text in [
        "OFFLOAD ERROR: Memory access fault by GPU 8 (agent 0x55) at virtual address 0x7f0000001000. Reasons: Unknown (0)\n",
        "error: memory access fault by GPU 8 (agent 0x55) at virtual address 0x7f0000001000. Reasons: Unknown (0)\n",
    ] {
        assert_eq!(one(text), unknown);
    }
    let inexact = one(
        "OFFLOAD ERROR: memory access fault by GPU 8 (agent 0x1) at virtual address 0x1000. Reasons: Can't determine \
         the exact fault address\n",
    );
    assert!(inexact.address.unwrap().is_inexact && inexact.reasons.is_empty(), "{inexact:?}");
}

#[test]
fn the_debug_agents_lines_of_every_generation() {
    let old = "\nMemory access fault at GPU Node: 2\nAddress: 0x1502F3Cxxx (page not present;write access to a read-only page;)\n";
    let wanted = Fault {
        access: Some(FaultAccess::Write),
        reasons: vec![NotPresent, ReadOnly],
        has_all_reasons: true,
        node: Some(2),
        address: page(0x15_02f3_c000),
        ..agent()
    };
    assert_eq!(one(old), wanted);
    let three =
        "Memory access fault by GPU agent: AMD gfx900\nNode: 1\nAddress: 0x1502F3Cxxx (page not present;)\n";
    let wanted = Fault {
        reasons: vec![NotPresent],
        has_all_reasons: true,
        node: Some(1),
        address: page(0x15_02f3_c000),
        ..runtime()
    };
    assert_eq!(one(three), wanted);
    let event = "System event (HSA_AMD_GPU_MEMORY_FAULT_EVENT: page not present or supervisor privilege, write access to a \
                 read-only page)\nFaulting page: 0x7fbe4cc01000\n";
    let wanted = Fault {
        access: Some(FaultAccess::Write),
        reasons: vec![NotPresent, ReadOnly],
        has_all_reasons: true,
        address: page(0x7fbe_4cc0_1000),
        ..agent()
    };
    assert_eq!(one(event), wanted);
    let first = "System event (HSA_AMD_GPU_MEMORY_FAULT_EVENT)\nFaulting page: 0x7fbe4cc01000\n";
    assert_eq!(one(first), Fault { address: page(0x7fbe_4cc0_1000), ..agent() });
    // The address never came.
    assert_eq!(one("System event (HSA_AMD_GPU_MEMORY_FAULT_EVENT)\n"), agent());
    assert_eq!(
        one(
            "Queue error (HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION: The agent attempted to execute an illegal shader instruction.)\n"
        ),
        of(FaultKind::IllegalInstruction, FaultSource::DebugAgent)
    );
}

#[test]
fn queue_errors_and_hips_errors() {
    let prefix = ":0:rocdevice.cpp            :2984: 159730272363 us: [pid:403868 tid:0x7f37b81ff640] ";
    for (words, kind) in [
        (
            "EXCEPTION: An HSAIL operation resulted in a hardware exception. code: 0x1016",
            FaultKind::Exception,
        ),
        (
            "ILLEGAL_INSTRUCTION: The agent attempted to execute an illegal shader instruction. code: 0x2a",
            FaultKind::IllegalInstruction,
        ),
        ("MEMORY_FAULT: Agent attempted to access an inaccessible address. code: 0x2b", FaultKind::Memory),
        (
            "MEMORY_APERTURE_VIOLATION: The agent attempted to access memory beyond the largest legal address. code: 0x29",
            FaultKind::Aperture,
        ),
        ("INVALID_PACKET_FORMAT: The AQL packet is malformed. code: 0x1009", FaultKind::Launch),
        ("INVALID_ISA: The instruction set architecture is invalid. code: 0x100f", FaultKind::Launch),
    ] {
        let text = format!(
            "{prefix}Callback: Queue 0x7ef728200000 aborting with error : HSA_STATUS_ERROR_{words}\n"
        );
        assert_eq!(one(&text), Fault { process: Some(403_868), ..of(kind, FaultSource::Hip) });
    }
    let generic = "Callback: Queue 0x7e aborting with error : HSA_STATUS_ERROR: A generic error has occurred. code: 0x1000\n";
    assert_eq!(one(generic), of(FaultKind::Queue, FaultSource::Hip));
    // Up to ROCm 5.
    for (words, kind) in [
        ("error : HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION: The agent attempted", FaultKind::Aperture),
        (
            "error : The agent attempted to access memory beyond the largest legal address. code: 0x29",
            FaultKind::Aperture,
        ),
        ("status: 0x100f", FaultKind::Launch),
        ("status: 0x1016", FaultKind::Exception),
    ] {
        let text = format!(
            ":0:rocdevice.cpp            :2303: 768423197593 us: Device::callbackQueue aborting with {words}\n"
        );
        assert_eq!(one(&text), of(kind, FaultSource::Hip));
    }
    let named = "Callback: Queue 0x7e aborting with error : HSA_STATUS_ERROR_EXCEPTION: An HSAIL operation resulted in a \
                 hardware exception. code: 0x1016 [host: node7, GPU index: 2, kernel: void f<A[2], B>(int*, float)]\n";
    let kernel = Some("void f<A[2], B>(int*, float)".to_owned());
    assert_eq!(one(named), Fault { kernel, ..of(FaultKind::Exception, FaultSource::Hip) });
    for text in [
        "RuntimeError: HIP error: an illegal memory access was encountered\n",
        "torch.AcceleratorError: CUDA error: an illegal memory access was encountered\n",
        "failed: hipErrorIllegalAddress (700)\n",
        "E0000 00:00:1732 cuda_executor.cc:1] CUDA_ERROR_ILLEGAL_ADDRESS\n",
    ] {
        assert_eq!(one(text), of(FaultKind::Memory, FaultSource::Hip));
    }
    assert_eq!(one("HIP error: unspecified launch failure\n"), of(FaultKind::Queue, FaultSource::Hip));
    // Texts of ROCm/ROCm issue 6137 and of a kernel log of a reset.
    let hang = "HW Exception by GPU node-1 (Agent handle: 0x1b0fc990) reason :GPU Hang\n";
    assert_eq!(one(hang), Fault { node: Some(1), ..of(FaultKind::Hang, FaultSource::Runtime) });
    let ecc = "HW Exception by GPU node-2 (Agent handle: 0x1b0fc990) reason :ECC\n";
    assert_eq!(one(ecc), Fault { node: Some(2), ..of(FaultKind::Ecc, FaultSource::Runtime) });
    let reset = "02:21:23 amdgpu 0000:08:00.0: GPU reset begin!. Source:  3\n";
    assert_eq!(one(reset), of(FaultKind::Hang, FaultSource::KernelLog));
    // Answers of interfaces, and other output.
    for text in [
        "HIP error: no kernel image is available for execution on the device\n",
        "hsa_queue_create: HSA_STATUS_ERROR_INVALID_ARGUMENT\n",
        "job aborting with error 7\n",
        "a page fault (soft) in process 7 pid 8\n",
    ] {
        assert_eq!(faults(text), []);
    }
}

/// Linux before and after 6.9, gfx9 and gfx10 and later.
const KERNEL: [(&str, &str); 2] = [
    (
        "\
[ 1234.5] amdgpu 0000:c3:00.0: amdgpu: [gfxhub0] no-retry page fault (src_id:0 ring:24 vmid:3 pasid:32771, for process app pid 4321 thread app pid 4321)
[ 1234.5] amdgpu 0000:c3:00.0: amdgpu:   in page starting at address 0x00007f0000201000 from IH client 0x1b (UTCL2)
[ 1234.5] amdgpu 0000:c3:00.0: amdgpu: VM_L2_PROTECTION_FAULT_STATUS:0x00301031
[ 1234.5] amdgpu 0000:c3:00.0: amdgpu: \t Faulty UTCL2 client ID: TCP (0x8)
[ 1234.5] amdgpu 0000:c3:00.0: amdgpu: \t MORE_FAULTS: 0x1
[ 1234.5] amdgpu 0000:c3:00.0: amdgpu: \t PERMISSION_FAULTS: 0x3
[ 1234.5] amdgpu 0000:c3:00.0: amdgpu: \t RW: 0x0
",
        "read",
    ),
    (
        "\
[ 1234.5] amdgpu 0000:c3:00.0: amdgpu: [gfxhub] page fault (src_id:0 ring:24 vmid:3 pasid:32771)
[ 1234.5] amdgpu 0000:c3:00.0: amdgpu:  Process app pid 4321 thread app pid 4321
[ 1234.5] amdgpu 0000:c3:00.0: amdgpu:   in page starting at address 0x00007f0000201000 from client 10
[ 1234.5] amdgpu 0000:c3:00.0: amdgpu: GCVM_L2_PROTECTION_FAULT_STATUS:0x006C0071
[ 1234.5] amdgpu 0000:c3:00.0: amdgpu: \t Faulty UTCL2 client ID: TCP (0x8)
",
        "write",
    ),
];

#[test]
fn the_kernel_logs_sequences() {
    for (text, access) in KERNEL {
        let fault = one(text);
        assert_eq!(fault.access.map(|access| access.name()), Some(access));
        let reasons = if access == "read" { vec![NotPresent] } else { vec![NotPresent, ReadOnly] };
        let wanted = Fault {
            address: page(0x7f00_0020_1000),
            access: fault.access,
            reasons,
            has_all_reasons: true,
            client: Some("TCP".to_owned()),
            process: Some(4321),
            source: FaultSource::KernelLog,
            ..Fault::default()
        };
        assert_eq!(fault, wanted);
        assert_eq!(placed(text)[0].place, at(1));
    }
    // The hub of media and copies; before Linux 5.1; RADV's file.
    let media =
        KERNEL[1].0.replace("[gfxhub]", "[mmhub]").replace("\t Faulty UTCL2 client ID: TCP (0x8)", "");
    assert_eq!(one(&media).client.as_deref(), Some("mmhub"));
    let old = "amdgpu 0000:05:00.0: [gfxhub] VMC page fault (src_id:0 ring:158 vmid:1 pas_id:0)\n\
               amdgpu 0000:05:00.0:   at page 0x0000000100801000 from 27\n\
               amdgpu 0000:05:00.0: VM_L2_PROTECTION_FAULT_STATUS:0x00101031\n";
    let old = one(old);
    assert_eq!((old.address, old.access), (page(0x1_0080_1000), Some(FaultAccess::Read)));
    let radv = "VM fault report.\n\nFailing VM page: 0x800000200000\nGCVM_L2_PROTECTION_FAULT_STATUS: 0x301031\n\t CLIENT_ID: (TCP) 0x8\n";
    let radv = one(radv);
    assert_eq!((radv.address, radv.client.as_deref()), (page(0x8000_0020_0000), Some("TCP")));
}

#[test]
fn repeated_reports_and_several_gpus_in_the_kernel_log() {
    let (first, _) = KERNEL[0];
    // Rate limiting drops lines, and repeats have a status of 0 and its client.
    let repeat = first.replace("0x00301031", "0x00000000").replace("TCP (0x8)", "CB/DB (0x0)");
    let other = repeat.replace("201000", "202000");
    assert_eq!(faults(&format!("{first}{repeat}{other}")), faults(first));
    assert_eq!(faults(&format!("{repeat}{other}{first}")), faults(first));
    // Without any status they are all there is.
    let alone = faults(&format!("{repeat}{other}"));
    let pages: Vec<_> =
        alone.iter().map(|fault| (fault.address, fault.access, fault.client.clone())).collect();
    assert_eq!(pages, [(page(0x7f00_0020_1000), None, None), (page(0x7f00_0020_2000), None, None)]);
    // The lines of two GPUs alternate.
    let second = first.replace("c3:00", "c6:00").replace("201000", "909000").replace("pid 4321", "pid 99");
    let mixed: String =
        first.lines().zip(second.lines()).flat_map(|(one, other)| [one, "\n", other, "\n"]).collect();
    let mixed = faults(&mixed);
    assert_eq!(mixed.iter().map(|fault| fault.process).collect::<Vec<_>>(), [Some(4321), Some(99)]);
    assert_eq!(mixed[1].address, page(0x7f00_0090_9000));
    // A report without its header.
    let (_, rest) = first.split_once('\n').unwrap();
    assert_eq!(one(rest).address, page(0x7f00_0020_1000));
    // The next process is not that of the fault.
    assert_eq!(
        one(&format!("{rest}amdgpu 0000:c3:00.0: Process other pid 77 thread other pid 77\n")).process,
        None
    );
}

#[test]
fn the_pci_address_finds_the_agent() {
    let hardware = |location| {
        Some(Hardware { vendor: 0x1002, device: 0x740c, location, simds: 1, waves_per_simd: 1, xccs: 1 })
    };
    let targets = crate::arch::Targets::builtin();
    let agent = |id, location| Agent {
        id,
        target: targets.target("gfx90a").unwrap(),
        name: None,
        apertures: std::collections::HashMap::new(),
        hardware: hardware(location),
    };
    let agents = |capture: &mut Capture| capture.agents = vec![agent(7, 0xc300), agent(8, 0xc600)];
    for (pci, wanted) in [("c3:00.0", Some(7)), ("c6:00.0", Some(8)), ("c3:00.1", None), ("c9:00.0", None)] {
        let mut capture = Capture::default();
        agents(&mut capture);
        let text = KERNEL[0].0.replace("c3:00.0", pci);
        let _ = read("dmesg", text.as_bytes(), Own::default()).unwrap().into_capture(&mut capture);
        assert_eq!(capture.faults[0].agent, wanted, "{pci}");
    }
}

#[test]
fn several_reports_of_one_fault_are_one() {
    let runtime = "Memory access fault by GPU node-4 (Agent handle: 0x1) on address 0x7f0000201000. Reason: Page not present or \
                   supervisor privilege.\n";
    let event = "System event (HSA_AMD_GPU_MEMORY_FAULT_EVENT)\nFaulting page: 0x7f0000201000\n";
    let hip = "HIP error: an illegal memory access was encountered\n";
    let text = format!("{hip}{event}{runtime}{runtime}{hip}{}", KERNEL[1].0);
    let also = |source, line| FaultReport { source, place: at(line) };
    let wanted = Fault {
        kind: FaultKind::Page,
        address: page(0x7f00_0020_1000),
        access: Some(FaultAccess::Write),
        reasons: vec![NotPresent, ReadOnly],
        has_all_reasons: true,
        status: Some("0x006c0071".to_owned()),
        node: Some(4),
        device: Some("0000:c3:00.0".to_owned()),
        agent: None,
        agent_inferred: None,
        client: Some("TCP".to_owned()),
        ring: None,
        kernel: None,
        process: Some(4321),
        is_of_other_process: false,
        is_of_other_gpu: false,
        outer_process: None,
        is_of_kernel_queue: false,
        assertion: None,
        source: FaultSource::DebugAgent,
        place: at(2),
        also: vec![also(FaultSource::Runtime, 4), also(FaultSource::KernelLog, 7), also(FaultSource::Hip, 1)],
    };
    assert_eq!(placed(&text), [wanted]);
    // Other pages, GPUs, processes, accesses and kinds stay apart, and HIP's error belongs to none of two for certain.
    for other in [
        runtime.replace("0x7f0000201000", "0x7f0000202000"),
        runtime.replace("node-4", "node-5"),
        runtime.replace("Page not present or supervisor privilege", "DRAM ECC failure"),
    ] {
        assert_eq!(faults(&format!("{runtime}{other}")).len(), 2, "{other}");
        let three = faults(&format!("{runtime}{other}{hip}{hip}"));
        let joined = if other.contains("ECC") { 2 } else { 3 };
        assert_eq!(three.len(), joined, "{other}");
    }
    assert_eq!(faults(&format!("{}{}", KERNEL[0].0, KERNEL[1].0)).len(), 2, "a read and a write");
    let aperture = "Queue error (HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION: ...)\n";
    assert_eq!(faults(&format!("{runtime}{aperture}")).len(), 2);
    assert_eq!(faults(&format!("{hip}{aperture}")).len(), 1);
}

#[test]
fn an_exact_address_of_the_user_is_more_than_the_page() {
    let address = |start| FaultAddress { start, bytes: 1, is_inexact: false };
    let text = "Memory access fault by GPU node-4 on address 0x7f0000201000. Reason: Unknown.\n";
    for (start, count) in
        [(0x7f00_0020_1008, 1), (0x7f00_0020_1fff, 1), (0x7f00_0020_2000, 2), (0x7f00_0020_0fff, 2)]
    {
        let mut capture = Capture::default();
        let _ = read("run.log", text.as_bytes(), Own::default()).unwrap().into_capture(&mut capture);
        let _ = Reported::by_user(address(start)).into_capture(&mut capture);
        assert_eq!(capture.faults.len(), count, "{start:#x}");
        if count == 1 {
            assert_eq!(
                (capture.faults[0].kind, capture.faults[0].address),
                (FaultKind::Page, Some(address(start)))
            );
        }
    }
}

/// Names of foreign text are sanitized and bounded.
#[test]
fn hostile_lines_cost_nothing() {
    let long = "A".repeat(1 << 20);
    for text in [
        format!(
            "Callback: Queue 0x7e aborting with error : HSA_STATUS_ERROR_EXCEPTION: x [host: a, kernel: {long}]\n"
        ),
        format!("Memory access fault by GPU node-{} on address 0x{}\n", "9".repeat(50), "f".repeat(50)),
        format!("Memory access fault by GPU node-1 on address 0x1. Reason: {long}\n"),
        format!("{} 0x{}xxx (page not present;)\n", long, "f".repeat(16)),
        format!("VM page: 0x0\nFaulty UTCL2 client ID: {long}\n"),
        "kernel: \u{1b}[31m, kernel: \u{1b}]\n".to_owned(),
    ] {
        for fault in faults(&text) {
            let names = [&fault.kernel, &fault.client];
            assert!(names.into_iter().flatten().all(|name| name.len() <= 512), "{}", text.len());
        }
    }
    let name = "Callback: Queue 0x7e aborting with error : HSA_STATUS_ERROR_EXCEPTION: x [host: a, kernel: f\u{202e}g]\n";
    assert_eq!(one(name).kernel.as_deref(), Some("f\\u{202e}g"));
    // Every prefix of every report, and every byte changed.
    for text in [KERNEL[0].0, "Memory access fault by GPU node-4 on address 0x12345xxx (page not present;)\n"]
    {
        for end in 0..text.len() {
            let mut reader = Reader::new("x");
            reader.line(&Line {
                number: 1,
                text: text.get(..end).unwrap_or_default().as_bytes(),
                ended: false,
                cut: false,
                clock: "",
            });
            let _ = reader.finish().into_capture(&mut Capture::default());
        }
        for index in 0..text.len() {
            for byte in [0, b'0', b'(', b' ', 0xff] {
                let mut changed = text.as_bytes().to_vec();
                changed[index] = byte;
                let _ = read("x", changed.as_slice(), Own::default())
                    .unwrap()
                    .into_capture(&mut Capture::default());
            }
        }
    }
}

#[test]
fn faults_beyond_the_bound_are_counted() {
    let mut text = String::new();
    for index in 0..MAX_FAULTS + 3 {
        let _ = writeln!(
            text,
            "Memory access fault by GPU node-4 on address {:#x}. Reason: Unknown.",
            index * 4096
        );
    }
    let mut capture = Capture::default();
    let left_out =
        read("run.log", text.as_bytes(), Own::default()).unwrap().into_capture(&mut capture).unwrap();
    assert_eq!(capture.faults.len(), MAX_FAULTS);
    assert_eq!(
        left_out.to_string(),
        format!("run.log: 3 more reports of faults are left out (expected at most {MAX_FAULTS} faults)")
    );
}

/// A report without an address joins the only one that fits. The list keeps its full length: its length alone shows that
/// reports may lack.
#[test]
fn a_cut_list_has_the_maximum_length() {
    let mut merged = Merged::default();
    let mut add = |node: u32, address| {
        let fault = Fault { node: Some(node), address, ..Fault::default() };
        merged.add(fault);
    };
    for index in 1..MAX_FAULTS as u64 - 1 {
        add(4, page(index * PAGE));
    }
    add(5, page(PAGE));
    add(5, None);
    add(4, page(0x1000_0000));
    add(4, page(0x2000_0000));
    let found = merged.finish();
    assert_eq!((found.faults.len(), found.more), (MAX_FAULTS, 1));
}

/// The output of a long run: 65,000 lines with one report.
#[test]
fn a_report_is_found_in_65000_lines_with_bounded_work() {
    let mut text = String::new();
    for step in 0..65_000 {
        let _ = writeln!(
            text,
            "[INFO] step {step}: loss = 0.{step:05}, rank 3 of 8, memory 12.5 GiB, error 1e-7, page 12"
        );
        if step == 64_000 {
            text.push_str("Memory access fault by GPU node-4 on address 0x7f0000201000. Reason: Unknown.\n");
        }
    }
    let found = placed(&text);
    assert_eq!(
        found,
        [Fault { node: Some(4), address: page(0x7f00_0020_1000), place: at(64_002), ..runtime() }]
    );
    // Each line is searched for the marks of reports: so many words in it.
    let passed = done(Count::Bytes);
    assert!(passed < 40 * text.len() as u64, "{passed} bytes for {}", text.len());
}

/// Texts by `amd_device_functions.h` of HIP, and by `Debug.cpp` of LLVM's device library.
#[test]
fn failed_assertions_have_condition_and_place() {
    let failed = |condition: &str, file: &str, line, function: &str, source| Fault {
        assertion: Some(FailedAssertion {
            condition: condition.to_owned(),
            file: Some(file.to_owned()),
            line: Some(line),
            function: Some(function.to_owned()),
        }),
        ..of(FaultKind::Assertion, source)
    };
    let hip = "/src/scale.hip:12: void scale<A::B>(int *, int): Device-side assertion `i < n && \"it's\"' failed.\n";
    let wanted =
        failed("i < n && \"it's\"", "/src/scale.hip", 12, "void scale<A::B>(int *, int)", FaultSource::Hip);
    assert_eq!(one(hip), wanted);
    // Each lane prints the line; then the queue stops, and HIP returns its error 710.
    let stop = ":0:rocdevice.cpp :2984: 1 us: Callback: Queue 0x7e aborting with error : HSA_STATUS_ERROR_EXCEPTION: An \
                HSAIL operation resulted in a hardware exception. code: 0x1016\n";
    let error = "HIP error: device-side assert triggered\n";
    assert_eq!(one(&format!("{}{stop}{error}", hip.repeat(64))), wanted);
    assert_eq!(one(&format!("[rank 3] 10:22:01 {hip}")), wanted);
    let blanks = hip.replace("/src/scale.hip", "/src/my kernels/a scale.hip");
    let file = |text: &str| one(text).assertion.and_then(|of| of.file).unwrap_or_default();
    for prefix in ["", "[rank 3] 10:22:01 ", "Nov 23 10:22:01 host prog[7]: ", "job step "] {
        assert_eq!(file(&format!("{prefix}{blanks}")), "/src/my kernels/a scale.hip", "{prefix}");
    }
    // Words before a relative name may be a prefix.
    for prefix in ["", "[rank 3] ", "0: ", "2026-11-23T10:22:01Z ", "pod container "] {
        assert_eq!(file(&format!("{prefix}{}", hip.replace("/src/", "src/"))), "src/scale.hip", "{prefix}");
    }
    let openmp = "a.c:7: void f(void): Assertion `p != NULL` failed.\r\n";
    assert_eq!(one(openmp), failed("p != NULL", "a.c", 7, "void f(void)", FaultSource::Offload));
    // `ASSERT` of the device library itself has a message.
    let place = "/llvm/State.cpp:101: void *alloc(unsigned long): Assertion ";
    for message in ["unexpected team state", "a (nested) size (`bytes`) ends: bad"] {
        let text = format!("{place}{message} (`Size <= (4 * kMax)`) failed.\n");
        let wanted = failed(
            "Size <= (4 * kMax)",
            "/llvm/State.cpp",
            101,
            "void *alloc(unsigned long)",
            FaultSource::Offload,
        );
        assert_eq!(one(&text), wanted, "{message}");
    }
    for error in [error, "hipErrorAssert (710)\n", "CUDA error: device-side assert triggered\n"] {
        assert_eq!(one(error), of(FaultKind::Assertion, FaultSource::Hip));
    }
    let unplaced = "(unknown): Device-side assertion `x' failed.\n";
    let assertion = FailedAssertion {
        condition: "x".to_owned(),
        function: Some("(unknown)".to_owned()),
        ..FailedAssertion::default()
    };
    assert_eq!(
        one(unplaced),
        Fault { assertion: Some(assertion), ..of(FaultKind::Assertion, FaultSource::Hip) }
    );
    let two = format!("{hip}{openmp}{hip}");
    assert_eq!(faults(&two).len(), 2);
    // A program of the host, and other output.
    for text in [
        "prog: a.c:7: f: Assertion `p' failed.\n",
        "a.c:7: f: Assertion `p\n",
        "a.c:7: f: Assertion (`p`) failed.\n",
        "a.c:7: f: Assertion m (`p`) succeeded.\n",
        "a.c:7: f: Assertion m (`p') failed.\n",
        "FAILED assert x == 1\n",
        "Compile with `TORCH_USE_HIP_DSA` to enable device-side assertions.\n",
    ] {
        assert_eq!(faults(text), [], "{text}");
    }
}

/// An inferred agent contradicts nothing, and gives way to the agent of a report.
#[test]
fn a_reported_agent_replaces_an_inferred_one() {
    let at = page(0x7f00_0020_1000);
    let inferred = Fault {
        address: at,
        agent: Some(1),
        agent_inferred: Some(AgentInference::OnlyGpu),
        ..Fault::default()
    };
    let reported = Fault { address: at, agent: Some(2), ..Fault::default() };
    for pair in [[&inferred, &reported], [&reported, &inferred]] {
        let mut merged = Merged::default();
        pair.into_iter().for_each(|fault| merged.add(fault.clone()));
        assert_eq!(merged.finish().faults, std::slice::from_ref(&reported));
    }
}

/// LLVM's runtime names the kernel in the line before its report.
#[test]
fn the_line_before_an_offload_report_names_the_kernel() {
    let report = "OFFLOAD ERROR: memory access fault by GPU 4 (agent 0x55) at virtual address 0x7f0000201000. \
                  Reasons: Unknown (0)\n";
    let kernel = "Kernel 'omp target in foo @ 12 (__omp_offloading_10303_b_foo_l12)'\n";
    let expected = Some("__omp_offloading_10303_b_foo_l12");
    assert_eq!(one(&format!("{kernel}{report}")).kernel.as_deref(), expected);
    assert_eq!(one(&format!("Kernel 'foo'\n{report}")).kernel.as_deref(), Some("foo"));
    let prefixed = format!("OFFLOAD ERROR: Kernel 'foo (__omp_offloading_1_b_foo_l12)'\n{report}");
    assert_eq!(one(&prefixed).kernel.as_deref(), Some("__omp_offloading_1_b_foo_l12"));
    assert_eq!(one(&format!("{kernel}another line\n{report}")).kernel, None);
    assert_eq!(one(report).kernel, None);
}

/// Lines of amdgpu's RAS and scheduler.
#[test]
fn the_kernel_log_has_memory_errors_and_hangs() {
    let log = |text: &str| format!("[1.0] amdgpu 0000:c3:00.0: amdgpu: {text}\n");
    let errors = |count| log(&format!("{count} uncorrectable hardware errors detected in umc block"));
    let ecc = Fault { kind: FaultKind::Ecc, source: FaultSource::KernelLog, ..Fault::default() };
    assert_eq!(one(&errors(1)), ecc);
    assert_eq!(faults(&errors(0)), []);
    let hang = Fault { kind: FaultKind::Hang, source: FaultSource::KernelLog, ..Fault::default() };
    let timeout = log("ring gfx_0.0.0 timeout, signaled seq=1, emitted seq=3");
    assert_eq!(one(&timeout), Fault { ring: Some("gfx_0.0.0".to_owned()), ..hang });
    assert_eq!(one(&format!("{timeout}{}", log("GPU reset begin!"))).kind, FaultKind::Hang);
}

/// Two processes write into one line: the second report is whole.
#[test]
fn the_second_of_two_interleaved_reports_counts() {
    let cut = "Memory access fault by GPU node-4 (Agent handle: 0x1) on address ";
    let whole =
        "Memory access fault by GPU node-5 (Agent handle: 0x2) on address 0x7f0000201000. Reason: Unknown.\n";
    let found = one(&format!("{cut}{whole}"));
    assert_eq!((found.node, found.address), (Some(5), page(0x7f00_0020_1000)));
    // A hostile line.
    assert_eq!(one(&format!("{}{whole}", cut.repeat(10_000))).node, Some(5));
}
