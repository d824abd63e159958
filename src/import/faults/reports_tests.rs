//! Reports as public threads have them: of other devices and processes, cut, wrapped, reversed, and prose about reports.

use std::collections::HashMap;

use super::{Own, read};
use crate::arch::Targets;
use crate::capture::{
    Agent, Capture, Fault, FaultAccess, FaultKind, FaultReason, Foreign, Hardware, MAX_FAULTS, Provenance,
};
use crate::report::fault::sentence;

/// The faults of a text, for a capture of a process.
fn faults_of(text: &str, process: Option<u32>) -> Vec<Fault> {
    let mut capture =
        Capture { provenance: Provenance { process, ..Provenance::default() }, ..Capture::default() };
    let own = Own::of(&capture);
    let _ = read("log", text.as_bytes(), own).unwrap().into_capture(&mut capture);
    super::identify(&mut capture);
    capture.faults
}

fn faults(text: &str) -> Vec<Fault> {
    faults_of(text, None)
}

/// The facts of faults: kind, first address, and the words of their sentences.
#[track_caller]
fn check(text: &str, wanted: &[(FaultKind, Option<u64>, &[&str])]) {
    let found = faults(text);
    let facts: Vec<_> = found.iter().map(|fault| (fault.kind, fault.address.map(|at| at.start))).collect();
    let expected: Vec<_> = wanted.iter().map(|(kind, at, _)| (*kind, *at)).collect();
    assert_eq!(facts, expected, "{text}\n{found:#?}");
    for (fault, (.., words)) in found.iter().zip(wanted) {
        let sentence = sentence(fault);
        for word in *words {
            assert!(sentence.contains(word), "{word} in {sentence}\nof {text}");
        }
    }
}

use FaultKind::{Aperture, Assertion, Exception, Hang, InUse, Launch, Page, Queue};

const PAGE: u64 = 0x7f00_0020_1000;

/// A report of the kernel log since Linux 6.9.
fn page_fault(device: &str, process: u32, page: u64, client: &str) -> String {
    format!(
        "\
{device}: amdgpu: [gfxhub] page fault (src_id:0 ring:24 vmid:8 pasid:32770)
{device}: amdgpu:  Process app pid {process} thread app pid {process}
{device}: amdgpu:   in page starting at address {page:#018x} from client 10
{device}: amdgpu: GCVM_L2_PROTECTION_FAULT_STATUS:0x00801031
{device}: amdgpu: \t Faulty UTCL2 client ID: {client}
"
    )
}

#[test]
fn a_report_of_another_process_or_client_is_foreign() {
    for (process, client, foreign) in [
        (4242, "TCP (0x8)", None),
        (4242, "SQC (data) (0xa)", None),
        (9214, "TCP (0x8)", Some(Foreign::Process)),
        (4242, "CPC (0x5)", Some(Foreign::Client)),
        (4242, "CPF (0x4)", Some(Foreign::Client)),
        (4242, "CPG (0x6)", Some(Foreign::Client)),
        (4242, "SDMA0 (0xd)", Some(Foreign::Client)),
        (4242, "CB/DB (0x0)", Some(Foreign::Client)),
        (4242, "VCN0 (0x7)", Some(Foreign::Client)),
    ] {
        let text = page_fault("amdgpu 0000:03:00.0", process, PAGE, client);
        let found = faults_of(&text, Some(4242));
        assert_eq!(found.iter().map(Fault::foreign).collect::<Vec<_>>(), [foreign], "{text}");
        assert_eq!(sentence(&found[0]).contains("not of these waves"), foreign.is_some());
    }
    let text = page_fault("amdgpu 0000:03:00.0", 7, PAGE, "TCP (0x8)");
    assert_eq!(faults(&text)[0].foreign(), None, "the capture's process is unknown");
    let driver = text.replace("vmid:8", "vmid:0");
    assert_eq!(faults(&driver)[0].foreign(), Some(Foreign::Driver));
    let media = text.replace("[gfxhub]", "[mmhub]");
    assert_eq!(faults(&media)[0].foreign(), Some(Foreign::Client));
}

/// On one page, too, a report that is not about the waves says nothing about one that may be: in any order.
#[test]
fn foreign_reports_join_no_other() {
    const GPU: &str = "amdgpu 0000:03:00.0";
    let runtime =
        "Memory access fault by GPU node-1 (Agent handle: 0x1) on address 0x7f0000201000. Reason: Unknown.\n";
    let own = page_fault(GPU, 4242, PAGE, "TCP (0x8)");
    for foreign in [
        page_fault(GPU, 9214, PAGE, "TCP (0x8)"),
        page_fault(GPU, 4242, PAGE, "CPC (0x5)"),
        page_fault(GPU, 4242, PAGE, "VCN0 (0x7)"),
        page_fault(GPU, 4242, PAGE, "TCP (0x8)").replace("vmid:8", "vmid:0"),
        page_fault(GPU, 4242, PAGE, "TCP (0x8)").replace("[gfxhub]", "[mmhub]"),
    ] {
        let foreign = foreign.replace("amdgpu 0000", "[90.0] amdgpu 0000");
        for text in [
            [runtime, &*foreign, &*own].concat(),
            [&*foreign, &*own, runtime].concat(),
            [&*own, runtime, &*foreign].concat(),
        ] {
            let found = faults_of(&text, Some(4242));
            let (waves, others): (Vec<_>, Vec<_>) = found.iter().partition(|fault| fault.is_of_waves());
            let facts = |fault: &&Fault| (fault.client.clone(), fault.process, fault.also.len());
            assert_eq!(
                waves.iter().map(facts).collect::<Vec<_>>(),
                [(Some("TCP".to_owned()), Some(4242), 1)],
                "{text}\n{found:#?}"
            );
            assert_eq!(others.iter().map(|fault| fault.also.len()).collect::<Vec<_>>(), [0], "{text}");
        }
    }
}

/// Reports that are not about the waves make room for those that may be, whatever their number and order.
#[test]
fn foreign_reports_push_none_out() {
    let flood: String = (0..2 * MAX_FAULTS as u64)
        .map(|index| {
            let device = format!("[{}.0] amdgpu 0000:03:00.0", 1000 + 10 * index);
            page_fault(&device, 4242, 0x8001_0000_0000 + index * 4096, "CPC (0x5)")
                .replace("vmid:8", "vmid:0")
        })
        .collect();
    let own = page_fault("[50.0] amdgpu 0000:03:00.0", 4242, PAGE, "TCP (0x8)");
    let late = own.replace("[50.0]", "[90000.0]");
    let reversed = |text: &str| text.lines().rev().fold(String::new(), |text, line| text + line + "\n");
    let runtime =
        "Memory access fault by GPU node-1 (Agent handle: 0x1) on address 0x7f0000201000. Reason: Unknown.\n";
    for text in [
        format!("{own}{flood}"),
        format!("{flood}{late}"),
        reversed(&format!("{own}{flood}")),
        format!("{runtime}{flood}"),
    ] {
        let found = faults(&text);
        assert_eq!(found.len(), MAX_FAULTS);
        let own: Vec<_> = found.iter().filter(|fault| fault.is_of_waves()).collect();
        assert_eq!(own.iter().map(|fault| fault.address.unwrap().start).collect::<Vec<_>>(), [PAGE]);
    }
    let rings: String = (0..2 * MAX_FAULTS)
        .map(|index| format!("[{index}0.0] amdgpu 0000:03:00.0: amdgpu: ring vcn_dec_{index} timeout, signaled seq=1, emitted seq=3\n"))
        .collect();
    let hang = "[1.0] amdgpu 0000:03:00.0: amdgpu: ring comp_1.0.0 timeout, signaled seq=1, emitted seq=3\n";
    let found = faults(&format!("{hang}{rings}"));
    assert_eq!(found.iter().filter(|fault| fault.is_of_waves()).count(), 1);
}

/// A status of 0 repeats a report of the same GPU near in time, not one of another time, hub or GPU.
#[test]
fn a_status_of_zero_repeats_a_report_of_the_waves_near_it() {
    let own = page_fault("[90000.0] amdgpu 0000:03:00.0", 7, PAGE, "CB/DB (0x0)")
        .replace("0x00801031", "0x00000000");
    let known = |device: &str| page_fault(device, 7, 0x1_0040_0000, "TCP (0x8)");
    for (before, is_kept) in [
        (String::new(), true),
        (known("[10.0] amdgpu 0000:03:00.0"), true),
        (known("[90000.0] amdgpu 0000:88:00.0"), true),
        (known("[90000.0] amdgpu 0000:03:00.0").replace("[gfxhub]", "[mmhub]"), true),
        (known("[90000.0] amdgpu 0000:03:00.0").replace("vmid:8", "vmid:0"), true),
        (known("[90000.0] amdgpu 0000:03:00.0"), false),
    ] {
        let found = faults(&format!("{before}{own}"));
        let pages: Vec<u64> = found.iter().filter_map(|fault| Some(fault.address?.start)).collect();
        assert_eq!(pages.contains(&PAGE), is_kept, "{before}");
    }
}

/// The memory hub and the driver's address space are known by the first row, by the interrupt's client and by the register.
#[test]
fn hub_and_address_space_are_known_by_each_row() {
    const GPU: &str = "amdgpu 0000:03:00.0: amdgpu:";
    let rows = |from: &str, status: &str| {
        format!("{GPU}   in page starting at address 0x00007f0000201000 from {from}\n{GPU} {status}\n")
    };
    for (text, foreign) in [
        (rows("client 10", "GCVM_L2_PROTECTION_FAULT_STATUS:0x00301031"), None),
        (rows("IH client 0x1b (UTCL2)", "VM_L2_PROTECTION_FAULT_STATUS:0x00301031"), None),
        (rows("client 10", "GCVM_L2_PROTECTION_FAULT_STATUS:0x00041051"), Some(Foreign::Driver)),
        (rows("client 10", "MMVM_L2_PROTECTION_FAULT_STATUS:0x00301031"), Some(Foreign::Client)),
        (rows("client 0x12 (VMC)", "VM_L2_PROTECTION_FAULT_STATUS:0x00301031"), Some(Foreign::Client)),
        (rows("client 18", "GCVM_L2_PROTECTION_FAULT_STATUS:0x00301031"), Some(Foreign::Client)),
        (
            "amdgpu 0000:03:00.0: [gfxhub] VMC page fault (src_id:0 ring:158 vm_id:0 pas_id:0)\n\
             amdgpu 0000:03:00.0:   at page 0x00007f0000201000 from 27\n\
             amdgpu 0000:03:00.0: VM_L2_PROTECTION_FAULT_STATUS:0x00341031\n"
                .to_owned(),
            Some(Foreign::Driver),
        ),
        (DEVICE_DUMP.replace("0x301031", "0x41031"), Some(Foreign::Driver)),
        (DEVICE_DUMP.to_owned(), None),
    ] {
        let found = faults(&text);
        assert_eq!(found.iter().map(Fault::foreign).collect::<Vec<_>>(), [foreign], "{text}");
    }
}

/// A reset belongs to the ring before it; a failure of KFD's or MES's queues is one of its own.
#[test]
fn a_reset_is_of_its_ring_and_other_failures_are_not() {
    const GPU: &str = "amdgpu 0000:03:00.0: amdgpu:";
    const OLD: &str = "[10.0] [drm:amdgpu_job_timedout [amdgpu]] *ERROR*";
    let old = format!(
        "{OLD} ring vcn_unified_0 timeout, signaled seq=1, emitted seq=3\n\
         {OLD} Process information: process vlc pid 12 thread vlc pid 12\n[10.1] {GPU} GPU reset begin!\n"
    );
    let [fault] = &*faults(&old) else { panic!("{old}") };
    assert_eq!((fault.foreign(), fault.process), (Some(Foreign::Ring), Some(12)));
    let freebsd = "[drm ERROR :amdgpu_job_timedout] ring sdma0 timeout, signaled seq=1, emitted seq=3\n\
                   drmn0: GPU reset begin!\n";
    assert_eq!(faults(freebsd).iter().map(Fault::foreign).collect::<Vec<_>>(), [Some(Foreign::Ring)]);
    let ring = format!("[10.0] {GPU} ring sdma0 timeout, signaled seq=1, emitted seq=3\n");
    for own in [
        format!("[12.0] {GPU} MES failed to respond to msg=REMOVE_QUEUE\n"),
        "[12.0] amdgpu: qcm fence wait loop timeout expired\n".to_owned(),
        format!("[12.0] {GPU} failed to remove hardware queue from MES, doorbell=0x1806\n"),
        "[12.0] [drm ERROR :mes_v11_0_submit_pkt_and_poll_completion] MES failed to response msg=3\n"
            .to_owned(),
        format!("[90.0] {GPU} GPU reset begin!\n"),
    ] {
        let found = faults(&format!("{ring}{own}"));
        let found: Vec<_> = found.iter().map(|fault| (fault.kind, fault.foreign())).collect();
        assert_eq!(found, [(Hang, Some(Foreign::Ring)), (Hang, None)], "{own}");
    }
}

/// `journalctl -r` of hangs alone, with times in seconds: a process follows its ring.
#[test]
fn processes_of_rings_show_the_order() {
    const ROW: &str = "Mar 04 12:00:01 host kernel: [drm:amdgpu_job_timedout [amdgpu]] *ERROR*";
    let rows = [
        format!("{ROW} ring comp_1.0.0 timeout, signaled seq=1, emitted seq=2\n"),
        format!("{ROW} Process information: process own pid 4242 thread own pid 4242\n"),
        format!("{ROW} ring gfx_0.0.0 timeout, signaled seq=5, emitted seq=7\n"),
        format!("{ROW} Process information: process Xorg pid 99 thread Xorg pid 99\n"),
    ];
    for text in [rows.concat(), rows.iter().rev().map(String::as_str).collect()] {
        let found = faults(&text);
        let facts: Vec<_> = found.iter().map(|fault| (fault.ring.as_deref(), fault.process)).collect();
        assert_eq!(facts, [(Some("comp_1.0.0"), Some(4242)), (Some("gfx_0.0.0"), Some(99))], "{text}");
    }
}

/// A core lists the GPUs of its process by bus and device; the function may be a part of a GPU.
#[test]
fn a_report_of_another_gpu_than_those_of_a_core_is_foreign() {
    let hardware =
        |location| Hardware { vendor: 0x1002, device: 0, location, simds: 1, waves_per_simd: 1, xccs: 1 };
    let agent = |id, location| Agent {
        id,
        target: Targets::builtin().target("gfx942").unwrap(),
        name: None,
        apertures: HashMap::new(),
        hardware: Some(hardware(location)),
    };
    for (devices, expected) in [
        (&["0000:8b:00.0", "0000:88:00.0"][..], &[(Some(7), None), (None, Some(Foreign::Gpu))][..]),
        (&["0001:8b:00.0"], &[(None, None)]),
        (&["0000:8b:00.5"], &[(None, None)]),
        (&["0000:8b:08.0"], &[(None, Some(Foreign::Gpu))]),
    ] {
        let mut capture = Capture { agents: vec![agent(7, 0x8b00), agent(9, 0x1100)], ..Capture::default() };
        let reports =
            devices.iter().map(|device| page_fault(&format!("amdgpu {device}"), 7, PAGE, "TCP (0x8)"));
        let text: String = reports.collect();
        let own = Own::of(&capture);
        let _ = read("log", text.as_bytes(), own).unwrap().into_capture(&mut capture);
        super::identify(&mut capture);
        let found: Vec<_> = capture.faults.iter().map(|fault| (fault.agent, fault.foreign())).collect();
        assert_eq!(found, expected, "{devices:?}");
    }
}

#[test]
fn rings_without_waves_are_foreign() {
    let log = |ring: &str, next: &str| {
        format!(
            "[5.0] amdgpu 0000:06:00.0: amdgpu: ring {ring} timeout, signaled seq=1, emitted seq=3\n{next}"
        )
    };
    for (ring, foreign) in [
        ("sdma0", Some(Foreign::Ring)),
        ("page1", Some(Foreign::Ring)),
        ("vcn_dec_0", Some(Foreign::Ring)),
        ("vcn_unified_1", Some(Foreign::Ring)),
        ("jpeg_dec", Some(Foreign::Ring)),
        ("uvd_enc_0.1", Some(Foreign::Ring)),
        ("vce1", Some(Foreign::Ring)),
        ("vpe", Some(Foreign::Ring)),
        ("gfx_0.0.0", None),
        ("gfx", None),
        ("comp_1.0.0", None),
        ("kiq_0.2.1.0", None),
        ("mes_kiq_3.1.0", None),
    ] {
        // The reset is that of the ring, in both orders of a log.
        let reset = "[5.2] amdgpu 0000:06:00.0: amdgpu: GPU reset begin!\n";
        let text = log(ring, reset);
        let reversed = [reset, &*log(ring, "")].concat() + "[4.0] host: another line\n";
        for text in [text, reversed] {
            let found = faults(&text);
            let facts: Vec<_> =
                found.iter().map(|fault| (fault.kind, fault.ring.as_deref(), fault.foreign())).collect();
            let is_first = text.find("ring") < text.find("reset");
            if is_first {
                assert_eq!(facts, [(Hang, Some(ring), foreign)], "{text}");
            } else {
                assert!(facts.contains(&(Hang, Some(ring), foreign)), "{text}\n{facts:?}");
            }
        }
        let dump = DEVICE_DUMP.replace("gfx_0.0.0", ring).replace("[gfxhub] Page", "No page");
        let dump = dump.replace("0x00007f0000201000", "0x0000000000000000").replace("0x301031", "0x0");
        assert_eq!(faults(&dump)[0].foreign(), foreign, "{dump}");
    }
}

#[test]
fn clients_are_named_whole() {
    for (client, access) in [
        ("SQC (inst)", Some(FaultAccess::Execute)),
        ("SQC (data)", Some(FaultAccess::Read)),
        ("CB/DB", Some(FaultAccess::Read)),
    ] {
        let text = page_fault("amdgpu 0000:03:00.0", 7, PAGE, &format!("{client} (0x9)"));
        let [fault] = &*faults(&text) else { panic!("{text}") };
        assert_eq!((fault.client.as_deref(), fault.access), (Some(client), access));
    }
    let radv = "Failing VM page: 0x7f0000201000\nCLIENT_ID: (SQC (inst)) 0x9\n";
    assert_eq!(faults(radv)[0].client.as_deref(), Some("SQC (inst)"));
}

/// The newest reports and those of the capture's process stay, in both orders of a log.
#[test]
fn of_too_many_reports_the_newest_and_the_own_stay() {
    let each = |index: u64| {
        let page = 0x8001_0000_0000 + index * 4096;
        // Times differ, so that rows of two reports are apart.
        page_fault(&format!("[{}.0] amdgpu 0000:03:00.0", 100 + 10 * index), 2914, page, "TCP (0x8)")
    };
    let own = page_fault("[50.0] amdgpu 0000:03:00.0", 4376, PAGE, "TCP (0x8)");
    let others: String = (0..MAX_FAULTS as u64 + 40).map(each).collect();
    let last = 0x8001_0000_0000 + (MAX_FAULTS as u64 + 39) * 4096;
    let pages = |text: &str, process| -> Vec<u64> {
        let found = faults_of(text, process);
        assert_eq!(found.len(), MAX_FAULTS);
        found.iter().filter_map(|fault| Some(fault.address?.start)).collect()
    };
    // The own report is the oldest.
    let oldest = format!("{own}{others}");
    assert!(!pages(&oldest, None).contains(&PAGE));
    let kept = pages(&oldest, Some(4376));
    assert!(kept.contains(&PAGE) && kept.contains(&last));
    // It is the newest.
    let kept = pages(&format!("{others}{}", own.replace("[50.0]", "[90000.0]")), None);
    assert_eq!(kept.last(), Some(&PAGE));
    // The same log, newest first.
    let reversed: String = oldest.lines().rev().fold(String::new(), |text, line| text + line + "\n");
    assert!(pages(&reversed, None).contains(&last));
    let kept = pages(&reversed, Some(4376));
    assert!(kept.contains(&PAGE) && kept.contains(&last));
}

#[test]
fn a_value_at_the_end_is_not_known_whole() {
    let runtime = "Memory access fault by GPU node-1 (Agent handle: 0x5635e3db2590) on address 0x7f00002";
    check(runtime, &[(Page, None, &["unknown memory"])]);
    check(&format!("{runtime}\nAborted (core dumped)\n"), &[(Page, None, &["unknown memory"])]);
    check("Faulting page: 0x7f00002", &[]);
    check("Faulting page: 0x7f0000201000\n", &[(Page, Some(PAGE), &[])]);
    let reason =
        "Memory access fault by GPU node-1 on address 0x7f0000201000. Reason: Write access to a read-only";
    assert_eq!(faults(reason)[0].reasons, []);
    assert_eq!(faults(&format!("{reason} page.\n"))[0].reasons, [FaultReason::ReadOnly]);
    let whole = page_fault("amdgpu 0000:03:00.0", 7, PAGE, "TCP (0x8)");
    let status = whole.find("0x0080103").unwrap() + "0x0080103".len();
    assert_eq!(faults(&whole[..status])[0].status, None);
    assert_eq!(faults(&whole)[0].status.as_deref(), Some("0x00801031"));
    let abort = ":0:rocdevice.cpp :2984: Callback: Queue 0x7e aborting with error : HSA_STATUS_ERROR_MEMORY";
    check(abort, &[(Queue, None, &["queue error"])]);
    check(&format!("{abort}_FAULT: Agent\n"), &[(FaultKind::Memory, None, &[])]);
}

/// The driver pads addresses and registers with zeros, and has a thread behind a process: a line with less was cut, also
/// where others follow.
#[test]
fn values_of_lines_that_were_cut_are_not_known() {
    let whole = page_fault("amdgpu 0000:03:00.0", 4242, PAGE, "TCP (0x8)");
    let cut = |value: &str, digits: usize| {
        let rest = whole.split(value).nth(1).unwrap().split('\n').next().unwrap();
        whole.replace(&format!("{value}{rest}"), &value[..digits])
    };
    for digits in 3..18 {
        let text = cut("0x00007f0000201000", digits);
        let [fault] = &*faults(&text) else { panic!("{text}") };
        assert_eq!(fault.address, None, "{text}");
        assert!(sentence(fault).contains("or its address is cut"), "{}", sentence(fault));
        let dump = DEVICE_DUMP.replace("0x00007f0000201000", &"0x00007f0000201000"[..digits]);
        assert!(faults(&dump).iter().all(|fault| fault.address.is_none()), "{dump}");
    }
    assert_eq!(faults(&cut("0x00007f0000201000", 18))[0].address.unwrap().start, PAGE);
    for digits in 3..10 {
        let text = cut("0x00801031", digits);
        let [fault] = &*faults(&text) else { panic!("{text}") };
        assert_eq!((fault.status.as_deref(), fault.access, fault.reasons.len()), (None, None, 0), "{text}");
    }
    assert_eq!(faults(&cut("0x00801031", 10))[0].status.as_deref(), Some("0x00801031"));
    for end in ["Process app pid 4", "Process app pid 4242", "Process app pid 4242 thr"] {
        let text = whole.replace("Process app pid 4242 thread app pid 4242", end);
        assert_eq!(faults(&text)[0].process, None, "{text}");
    }
}

#[test]
fn wrapped_lines_are_joined() {
    let at = |page| (Page, Some(page), &["not present"][..]);
    check(
        "Memory access fault by GPU node-2 (Agent handle: 0x56468ab3bb50) on address 0x7f\n\
         e55fb03000. Reason: Page not present or supervisor privilege.\nAborted (core dumped)\n",
        &[at(0x7fe5_5fb0_3000)],
    );
    // In the reason, behind a prefix of both lines, and split by containers' runtimes.
    check(
        "app-1  | Memory access fault by GPU node-2 (Agent handle: 0x1) on address 0x7f0000201000. Reason: Page not\n\
         app-1  |  present or supervisor privilege.\n",
        &[at(PAGE)],
    );
    check(
        "2025-03-04T12:00:01.1Z stderr P Memory access fault by GPU node-2 (Agent handle: 0x1) on address 0x7f0000\n\
         2025-03-04T12:00:01.1Z stdout F step 12\n\
         2025-03-04T12:00:01.2Z stderr F 201000. Reason: Page not present or supervisor privilege.\n",
        &[at(PAGE)],
    );
    check(
        "{\"log\":\"Memory access fault by GPU node-2 on address 0x7f0000\",\"stream\":\"stderr\"}\n\
         {\"log\":\"201000. Reason: Page not present or supervisor privilege.\\n\",\"stream\":\"stderr\"}\n",
        &[at(PAGE)],
    );
    // The next line is another report.
    check(
        "Memory access fault by GPU node-2 (Agent handle: 0x1) on address 0x7f\n\
         Memory access fault by GPU node-3 (Agent handle: 0x1) on address 0x7f0000201000. Reason: Page not present.\n",
        &[(Page, None, &["node 2"]), at(PAGE)],
    );
    check(
        ":0:rocdevice.cpp :4212: Callback: Queue 0x78af77e60000 aborting with error :\n  \
         HSA_STATUS_ERROR_INVALID_ARGUMENT ... kernel: cross_entropy_loss_fwd\n",
        &[(Launch, None, &["invalid argument", "kernel cross_entropy_loss_fwd"])],
    );
}

#[test]
fn a_register_of_ones_was_not_read() {
    let text =
        page_fault("amdgpu 0000:03:00.0", 7, PAGE, "unknown (0x1ff)").replace("0x00801031", "0xFFFFFFFF");
    let found = faults(&text);
    let facts =
        |fault: &Fault| (fault.access, fault.reasons.len(), fault.client.clone(), fault.status.clone());
    assert_eq!(found.iter().map(facts).collect::<Vec<_>>(), [(None, 0, None, None)]);
    let named = text.replace("unknown (0x1ff)", "TCP (0x8)");
    assert_eq!(faults(&named)[0].client, None, "the client is a field of the register");
    let dump = DEVICE_DUMP.replace("0x301031", "0xffffffff");
    assert_eq!((faults(&dump)[0].access, faults(&dump)[0].status.clone()), (None, None));
}

/// `journalctl -r`.
#[test]
fn a_log_may_have_the_newest_line_first() {
    let hub = |time, vmid, process, page, status, rw| {
        let line = |text: &str| format!("Jul 23 {time} host kernel: amdgpu 0000:04:00.0: amdgpu: {text}\n");
        [
            format!("[gfxhub0] no-retry page fault (src_id:0 ring:24 vmid:{vmid} pasid:32771, for process app pid {process} thread app pid {process})"),
            format!("  in page starting at address {page:#018x} from IH client 0x1b (UTCL2)"),
            format!("VM_L2_PROTECTION_FAULT_STATUS:{status:#010x}"),
            "\t Faulty UTCL2 client ID: TCP (0x8)".to_owned(),
            format!("\t RW: {rw:#x}"),
        ]
        .map(|text| line(&text))
    };
    let first = hub("05:38:28", 3, 1111, 0x7f00_0010_0000_u64, 0x30_1031, 0);
    let second = hub("06:38:28", 4, 2222, 0x7f00_0020_0000, 0x44_1051, 1);
    let timed_out = |time| {
        [
            format!(
                "Jul 23 {time} host kernel: amdgpu 0000:04:00.0: amdgpu: ring comp_1.0.0 timeout, signaled seq=1, emitted seq=3\n"
            ),
            format!(
                "Jul 23 {time} host kernel: amdgpu 0000:04:00.0: amdgpu:  Process app pid 3333 thread app pid 3333\n"
            ),
        ]
    };
    let lines: Vec<String> = first.into_iter().chain(second).chain(timed_out("07:38:28")).collect();
    let forward = lines.concat();
    let reversed: String = lines.iter().rev().map(String::as_str).collect();
    for text in [forward, reversed] {
        let facts = |fault: &Fault| (fault.address.map(|at| at.start), fault.process, fault.access);
        let found = faults(&text);
        let wanted = [
            (Some(0x7f00_0010_0000), Some(1111), Some(FaultAccess::Read)),
            (Some(0x7f00_0020_0000), Some(2222), Some(FaultAccess::Write)),
            (None, Some(3333), None),
        ];
        assert_eq!(found.iter().map(facts).collect::<Vec<_>>(), wanted, "{text}");
    }
}

#[test]
fn rows_belong_to_the_report_of_their_device_and_time() {
    // Two GPUs by turns, one page; names of FreeBSD.
    for devices in [["amdgpu 0000:8b:00.0", "amdgpu 0000:88:00.0"], ["drmn0", "drmn1"]] {
        let [one, other] = devices.map(|device| page_fault(device, 7, PAGE, "TCP (0x8)"));
        let mixed: String = one
            .lines()
            .zip(other.lines())
            .fold(String::new(), |text, (one, other)| text + one + "\n" + other + "\n");
        let found = faults(&mixed);
        let names: Vec<_> = found.iter().map(|fault| fault.device.clone().unwrap()).collect();
        assert_eq!(names, devices.map(|device| device.trim_start_matches("amdgpu ").to_owned()), "{mixed}");
        assert!(found.iter().all(|fault| fault.address.is_some() && fault.client.is_some()));
    }
    // A status of a later report, whose first rows were lost.
    let header = "[10.0] amdgpu 0000:03:00.0: amdgpu: [gfxhub] page fault (src_id:0 ring:24 vmid:8 pasid:32770)\n\
                  [10.0] amdgpu 0000:03:00.0: amdgpu:   in page starting at address 0x00007f0000201000 from client 10\n";
    let status = "[99.0] amdgpu 0000:03:00.0: amdgpu: GCVM_L2_PROTECTION_FAULT_STATUS:0x00801031\n";
    assert_eq!(faults(&format!("{header}{status}"))[0].access, None);
    assert_eq!(
        faults(&format!("{header}{}", status.replace("[99.0]", "[10.1]")))[0].access,
        Some(FaultAccess::Read)
    );
    // Two reports in one line.
    let glued =
        "Memory access fault by GPU node-6 (Agent handle: 0x5) on address 0x7f5e50c00000. Reason: Unknown.";
    let other = glued.replace("node-6", "node-2").replace("0x7f5e50c00000", "0x7f46e0400000");
    check(
        &format!("{glued}{other}\n"),
        &[(Page, Some(0x7f5e_50c0_0000), &["node 6"]), (Page, Some(0x7f46_e040_0000), &["node 2"])],
    );
}

#[test]
fn words_about_reports_are_none() {
    for text in [
        "+ FAULT_PATTERN='stopped, reason|MEMORY_VIOLATION|ASSERT_TRAP|Memory access fault by GPU'\n",
        "+ grep -cE 'Memory access fault by GPU node-|HSA_STATUS_ERROR_MEMORY_FAULT' server.log\n",
        "dmesg | grep -c 'Memory access fault by GPU node-1'\n",
        ":3:hip_error.cpp            :27  : 0893897962 us: [pid:110   tid:0x7f5fe9669740]  hipGetErrorName ( 700 ) \n",
        "-- tests: assert hipErrorIllegalAddress == 700\n",
        "# GPU reset begin! is printed by amdgpu\n",
        "    case hipErrorIllegalAddress: return 1;\n",
        "the runtime prints HSA_STATUS_ERROR_EXCEPTION when a wave traps\n",
        "if an illegal memory access was encountered, the context is lost\n",
        "PASSED tests/test_errors.py::test_illegal_memory_access_was_encountered\n",
        "a GPU reset begin! line means that amdgpu gave up\n",
        "lines with \"MES might be in unrecoverable state\" are from boot\n",
        "job aborting with error 7, HSA_STATUS_ERROR_EXCEPTION in its log\n",
        "prog: vector.h:7: int f(): Assertion 'p' failed.\n",
        "My colleague saw a Memory access fault by GPU node-1 (Agent handle: 0x1) on address 0x7f0000201000 last week.\n",
        "A Memory access fault by GPU node-1 (Agent handle: 0x1) on address 0x7f0000201000 ended the job.\n",
        "A Memory access fault by GPU node-1 (Agent handle: 0x1) killed it\n",
        "the line \"Memory access fault by GPU node-1 on address 0x7f0000201000. Reason: Unknown.\" is from HSA\n",
        "I read `Memory access fault by GPU node-1 on address 0x7f0000201000. Reason: Unknown.`\n",
        "assert \"Memory access fault by GPU node-1 on address 0x7f0000201000. Reason: Unknown.\" in log\n",
        "F = re.compile(r'Memory access fault by GPU node-1 on address 0x7f0000201000. Reason: Unknown.')\n",
        "if 'Memory access fault by GPU node-1 on address 0x7f0000201000. Reason: Unknown.' in text:\n",
        "an OFFLOAD message like Memory access fault by GPU 1 (agent 0x55) at virtual address 0x7f0000201000. Reasons: Unknown\n",
        "test_gpu_reset_begin amdgpu: GPU reset begin!\n",
        "the log has \"amdgpu 0000:08:00.0: amdgpu: GPU reset begin!\" twice\n",
        "we saw amdgpu 0000:08:00.0: amdgpu: ring gfx_0.0.0 timeout, signaled seq=1, emitted seq=3 on that host\n",
        "people with page faults in page starting at address 0x00007f0000201000 from client 27 should update\n",
        "what does the amdgpu 0000:03:00.0: amdgpu: [gfxhub] page fault (src_id:0 ring:24 vmid:8 pasid:32770) mean\n",
        "it printed Memory exception on virtual address 0x800008000, node id 1 : Page not present\n",
        "with Memory critical error by agent node-0 (Agent handle: 0x1) on address 0x7f3c19800000. Reason: Memory in use. it ends\n",
        "an HW Exception by GPU node-1 (Agent handle: 0x1) reason :GPU Hang happened\n",
        "the agent prints Queue error (HSA_STATUS_ERROR_EXCEPTION: it) then\n",
        "he got Faulting page: 0x7f0000201000\n",
        "        with self.assertRaisesRegex(RuntimeError, \"HIP error: device-side assert triggered\"):\n",
        "    raise RuntimeError(\"HIP error: an illegal memory access was encountered\")\n",
        "if (err == hipErrorIllegalAddress)\n",
        "while (hipGetLastError() != hipErrorIllegalAddress)\n",
        "rg \"HIP error: an illegal memory access was encountered\" logs/\n",
        "[PATCH 1/2] drm/amdgpu: MES failed to respond to msg=REMOVE_QUEUE\n",
        "drm/amdgpu: qcm fence wait loop timeout expired\n",
        "Re: qcm fence wait loop timeout expired\n",
        "In dmesg: amdgpu 0000:03:00.0: amdgpu: GPU reset begin! and then nothing.\n",
        "LINES = [\"Faulting page: 0x7f0000300000\", \"x\"]\n",
        "assert line == \"amdgpu 0000:03:00.0: in page starting at address 0x00007f0000300000 from client 0x1b\"\n",
        "if (status == HSA_STATUS_ERROR_MEMORY_FAULT) {\n",
        "assert(err != hipErrorIllegalAddress);\n",
        "with pytest.raises(RuntimeError, match=\"HIP error: an illegal memory access was encountered\"):\n",
        "#define hipError_t(700)\n",
        "Explanation of hipError_t(719)\n",
        "sed -n '/amdgpu: GPU reset begin!/p' log\n",
        "\"Callback: Queue %p aborting with error : %s code: 0x%x\", queue\n",
        "[9.0] amdgpu 0000:03:00.0: amdgpu: 2 uncorrectable hardware errors detected in total in gfx block\n",
    ] {
        check(text, &[]);
    }
}

/// A program's words without a line's end, and the values of other programs' logs.
#[test]
fn reports_behind_other_words_are_read() {
    const REPORT: &str =
        "Memory access fault by GPU node-1 (Agent handle: 0x1) on address 0x7f0000201000. Reason: Unknown.";
    for text in [
        format!("Running kernel {REPORT}\n"),
        format!("epoch 3 loss 0.1 {REPORT} step\n"),
        format!("tests/test_axpy.py::test_large {REPORT}\n"),
        format!(" 50%|#####     | 5/10 [00:01<00:01]{REPORT}Aborted\n"),
        format!("{{\"level\": \"error\", \"message\": \"{REPORT}\"}}\n"),
        format!("CalledProcessError(-6, ['app'], output=b'', stderr=b'{REPORT}\\n')\n"),
        format!("subprocess stderr: '{REPORT}'\n"),
        format!("# | {REPORT}\n"),
        format!("2025-03-04T12:00:00Z error {REPORT} in a job\n"),
        format!("app-0 main {REPORT} in a job\n"),
        format!("{{\"priority\"=>3, \"msg\"=>\"{REPORT}\"}}\n"),
    ] {
        check(&text, &[(Page, Some(PAGE), &["node 1"])]);
    }
    for text in [
        "{\"PRIORITY\":\"3\",\"MESSAGE\":\"amdgpu 0000:06:00.0: amdgpu: ring gfx_0.0.0 timeout, signaled seq=1, emitted seq=3\"}\n",
        "Jul 23 06:38:28 amdgpu-box kernel: amdgpu 0000:06:00.0: amdgpu: ring gfx_0.0.0 timeout, signaled seq=1, emitted seq=3\n",
        "ring gfx_0.0.0 of the host gpu01 kernel: [drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring gfx_0.0.0 timeout, signaled seq=1, emitted seq=3\n",
    ] {
        check(text, &[(Hang, None, &["ring gfx_0.0.0"])]);
    }
}

#[test]
fn further_forms_of_messages_are_read() {
    for line in ["{\"MESSAGE\":\"LINE\"}", "stderr: \"LINE\"", "LINE"] {
        let text = line
            .replace("LINE", "scale.hip:12: void scale(int *, int): Device-side assertion `i < n' failed.");
        check(&format!("{text}\n"), &[(Assertion, None, &["i < n", ":12"])]);
    }
    check(
        "NCCL WARN HIP failure 'an illegal memory access was encountered'\n",
        &[(FaultKind::Memory, None, &["HIP"])],
    );
    check(
        "[9.0] amdgpu 0000:03:00.0: amdgpu: socket: 0, die: 1, 2 new uncorrectable hardware errors detected in gfx block\n",
        &[(FaultKind::Ecc, None, &["0000:03:00.0"])],
    );
    let hip = ":0:rocdevice.cpp            :2614: 12399104736 us: 7098 : [tid:0x7f8b2f7fe700] Device::callbackQueue aborting \
               with error : HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION: The agent. code: 0x29\n";
    for text in [hip.to_owned(), hip.replace("7098 :", "7098:")] {
        let found = faults_of(&text, Some(4242));
        assert_eq!((found[0].process, found[0].foreign()), (Some(7098), Some(Foreign::Process)), "{text}");
    }
    let cut =
        "Memory access fault by GPU node-1 (Agent handle: 0x1) on address 0x7f0000201000 (may not\nAborted\n";
    assert!(faults(cut)[0].address.is_none_or(|at| at.is_inexact));
}

/// The device core dump of the kernel's documentation patch, with a page.
const DEVICE_DUMP: &str = "\
**** AMDGPU Device Coredump ****
version: 1
kernel: 6.7.0-amd-staging-drm-next
module: amdgpu
time: 29.725011811
process_name: soft_recovery_p PID: 1720

Ring timed out details
IP Type: 0 Ring Name: gfx_0.0.0

[gfxhub] Page fault observed
Faulty page starting at address: 0x00007f0000201000
Protection fault status register: 0x301031

VRAM is lost due to GPU reset!
";

#[test]
fn device_core_dumps_are_read() {
    let words: &[&str] = &["ring gfx_0.0.0", "process 1720", "status 0x00301031", "device core dump"];
    check(DEVICE_DUMP, &[(Page, Some(PAGE), words)]);
    // The first version has other signs.
    let first = DEVICE_DUMP.replace("address: ", "address ").replace("register: ", "register:");
    check(&first, &[(Page, Some(PAGE), words)]);
    // The driver prints zeros without a fault of a page.
    let hang = DEVICE_DUMP.replace("0x00007f0000201000", "0x0000000000000000").replace("0x301031", "0x0");
    check(&hang, &[(Hang, None, &["ring gfx_0.0.0", "process 1720"])]);
    let null = DEVICE_DUMP.replace("0x00007f0000201000", "0x0000000000000000");
    check(&null, &[(Page, Some(0), &[])]);
    check("process_name: app PID: 7\nIP Type: 0 Ring Name: gfx\n", &[]);
}

#[test]
fn hangs_have_ring_and_process() {
    let log = |lines: &[&str]| -> String {
        lines.iter().map(|line| format!("[1.0] amdgpu 0000:06:00.0: amdgpu: {line}\n")).collect()
    };
    check(
        &log(&[
            "Dumping IP State",
            "ring gfx_0.1.0 timeout, signaled seq=679043, emitted seq=679047",
            " Process cosmic-comp pid 2914 thread cosmic-com:cs0 pid 2929",
            "Starting gfx_0.1.0 ring reset",
            "Ring gfx_0.1.0 reset succeeded",
        ]),
        &[(Hang, None, &["ring gfx_0.1.0", "process 2914"])],
    );
    check(
        "[5.0] [drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring sdma0 timeout, signaled seq=16060, emitted seq=16062\n\
         [5.0] [drm:amdgpu_job_timedout [amdgpu]] *ERROR* Process information: process app pid 77 thread app:cs0 pid 78\n",
        &[(Hang, None, &["ring sdma0", "process 77"])],
    );
    check(
        "[5.0] [drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring gfx timeout, but soft recovered\n",
        &[(Hang, None, &["ring gfx"])],
    );
    for text in [
        "[ 4210.220078] qcm fence wait loop timeout expired\n\
         [ 4210.220081] The cp might be in an unrecoverable state due to an unsuccessful queues preemption\n\
         [ 4210.220083] Pasid 32780 DQM create queue 0 failed. ret -62\n",
        "[9.0] amdgpu: qcm fence wait loop timeout expired\n",
        "[9.0] amdgpu 0000:c5:00.0: amdgpu: MES failed to respond to msg=REMOVE_QUEUE\n\
         [9.0] amdgpu 0000:c5:00.0: amdgpu: failed to remove hardware queue from MES, doorbell=0x1806\n\
         [9.0] amdgpu 0000:c5:00.0: amdgpu: MES might be in unrecoverable state, issue a GPU reset\n",
        "[9.0] [drm:mes_v11_0_submit_pkt_and_poll_completion.constprop.0 [amdgpu]] *ERROR* MES failed to response msg=3\n",
        "[9.0] amdgpu 0000:c5:00.0: amdgpu: MES(0,0) failed to respond to msg=SUSPEND\n",
        "[9.0] amdgpu: HIQ MQD's queue_doorbell_id0 is not 0, Queue preemption time out\n",
    ] {
        check(text, &[(Hang, None, &["the kernel log"])]);
    }
}

#[test]
fn a_page_fault_without_its_page_names_the_row() {
    let text = page_fault("amdgpu 0000:03:00.0", 7, PAGE, "TCP (0x8)");
    let without: String = text
        .lines()
        .filter(|line| !line.contains("in page"))
        .fold(String::new(), |text, line| text + line + "\n");
    check(&without, &[(Page, None, &["read of unknown memory", "`in page starting at address` is missing"])]);
}

#[test]
fn queues_abort_with_any_status() {
    let hip = |rest: &str| {
        format!(
            ":0:rocdevice.cpp            :2652: 42 us: 48946: [tid:0x7f] Device::callbackQueue aborting with {rest}\n"
        )
    };
    for (rest, kind, words) in [
        (
            "error : HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to allocate. code: 0x1008",
            Queue,
            "queue error: out of resources",
        ),
        ("status: 0x1008", Queue, "queue error: out of resources"),
        ("error : HSA_STATUS_ERROR_INVALID_QUEUE: it. code: 0x1007", Queue, "queue error: invalid queue"),
        ("status: 0x1007", Queue, "status 0x1007"),
        ("status: 0x2d", Queue, "out of registers"),
    ] {
        check(&hip(rest), &[(kind, None, &[words])]);
    }
    let block = "Kernel Name: _Z10gridreducePfS_i\n\
                 VGPU=0x5bae1d0e41e0 SWq=0x7929b05da000, HWq=0x792897b00000, id=1\n\
                 \tgrid=[1024, 1, 1], workgroup=[256, 1, 1]\n\
                 :0:rocdevice.cpp :3587: 8 us:  Callback: Queue 0x792897b00000 aborting with error : HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION: The agent. code: 0x29\n";
    check(block, &[(Aperture, None, &["kernel gridreduce"])]);
}

/// The debug agent of 2018 names each status by words of its own.
#[test]
fn the_first_debug_agents_queue_errors() {
    for (words, kind, sentence) in [
        ("Debug trap;", Exception, "hardware exception: debug trap"),
        ("Out of scratch;", Queue, "queue error: out of scratch"),
        ("Invalid dim;", Launch, "failed kernel launch: invalid dim"),
        ("Group is too large;", Launch, "group is too large"),
        ("Out of VGPRs;", Launch, "out of vgprs"),
        ("Undefined code;", Queue, "queue error: undefined code"),
    ] {
        let text = format!(
            "[rocr debug agent]:\nQueue error state in GPU agent: AMD gfx900\nNode: 2\nQueue ID: 140068470472704 ({words})\n"
        );
        check(&text, &[(kind, None, &["node 2", "the debug agent", sentence])]);
    }
}

#[test]
fn further_writers() {
    check(
        "Memory critical error by agent node-0 (Agent handle: 0x10a3dc10) on address 0x7f3c19800000. Reason: Memory in use. \n",
        &[(InUse, Some(0x7f3c_1980_0000), &["release of page 0x7f3c19800000: memory in use;"])],
    );
    check(
        "RuntimeError: MMU fault: 0x7B4F50DC3000 | NotPresent=1 ReadOnly=1 NoExecute=0 imprecise=0\n\
         HW fault: reset_type=0 reset_cause=0 memory_lost=1 gpu_id=10727\n",
        &[
            (Page, Some(0x7b4f_50dc_3000), &["write to", "not present", "read-only", "tinygrad"]),
            (Hang, None, &["tinygrad"]),
        ],
    );
    // Of another company's GPU.
    check("RuntimeError: MMU fault: 0xDEAD0000 | FAULT_PDE | ACCESS_READ\n", &[]);
    check(
        "Memory exception on virtual address 0x800008000, node id 1 : Page not present\n\
         Address does not belong to a known buffer\n",
        &[(Page, Some(0x8_0000_8000), &["not present", "node 1", "libhsakmt"])],
    );
    check(
        "Memory exception on virtual address 0x7f32775e8000, node id 4 : Writing to readonly page\n",
        &[(Page, Some(0x7f32_775e_8000), &["write to"])],
    );
    for (number, kind) in [(700, FaultKind::Memory), (719, Queue), (710, Assertion)] {
        check(&format!("GPUassert: hipError_t({number}) main.cpp 12\n"), &[(kind, None, &["HIP"])]);
    }
    check("status = hipError_t(1)\n", &[]);
}

/// Hosts print these, too: a GPU's abort ends its queue.
#[test]
fn assertions_of_libraries_are_of_a_gpu_beside_its_abort() {
    let abort = ":0:rocdevice.cpp :2984: 1 us: Callback: Queue 0x7e aborting with error : HSA_STATUS_ERROR_EXCEPTION: An \
                 HSAIL operation resulted in a hardware exception. code: 0x1016\n";
    for (line, condition, words) in [
        (
            "/usr/include/c++/13/bits/stl_vector.h:1125: reference std::vector<int>::operator[](size_type): Assertion '__n < this->size()' failed.\n",
            "__n < this->size()",
            "stl_vector.h:1125",
        ),
        (
            "/usr/include/c++/v1/vector:1393: assertion __n < size() failed: vector[] index out of bounds\n",
            "__n < size()",
            "v1/vector:1393",
        ),
        (
            "/usr/include/c++/v1/span:330: assertion __idx < size() failed: span<T>::operator[](index): index out of range\n",
            "__idx < size()",
            "span:330",
        ),
    ] {
        check(line, &[]);
        check(&format!("{line}{abort}"), &[(Assertion, None, &[condition, words])]);
    }
}

/// A log of a known program without a report: what was looked for.
#[test]
fn a_log_without_reports_names_the_lines_looked_for() {
    for (text, program, line) in [
        (
            "[1.0] amdgpu 0000:03:00.0: amdgpu: Fetched VBIOS from VFCT\n",
            "the kernel log of amdgpu",
            "in page starting at address",
        ),
        (
            ":3:hip_module.cpp :679 : 08 us: [pid:1 tid:0x7f] hipLaunchKernel: Returned hipSuccess\n:3:rocdevice.cpp :1: x\n",
            "HIP's log",
            "aborting with error",
        ),
        ("[hsaKmtAllocMemoryAlign] node 1\n", "libhsakmt", "Memory exception on virtual address"),
    ] {
        let wanted = read("log", text.as_bytes(), Own::default()).unwrap().writers.wanted().unwrap();
        assert!(wanted.contains(program) && wanted.contains(line), "{wanted}");
    }
    assert_eq!(read("log", &b"hello\n"[..], Own::default()).unwrap().writers.wanted(), None);
}
