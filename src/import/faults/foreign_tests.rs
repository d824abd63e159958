//! Reports that are not about the captured waves, by process, client, ring, hub and GPU, and reports among many.

use std::collections::HashMap;

use super::reports::{DEVICE_DUMP, PAGE, faults, faults_of, page_fault};
use super::{Own, read};
use crate::arch::Targets;
use crate::capture::FaultKind::Hang;
use crate::capture::{Agent, Capture, Fault, Foreign, Hardware, MAX_FAULTS};
use crate::report::fault::sentence;

pub(super) const GPU: &str = "amdgpu 0000:03:00.0";

/// A GPU; `location`: its PCI address, where the capture has the driver's facts.
pub(super) fn agent(id: u32, location: Option<u32>) -> Agent {
    let hardware = |location| Hardware {
        vendor: 0x1002,
        device: 0x740c,
        location,
        simds: 1,
        waves_per_simd: 1,
        xccs: 1,
    };
    Agent {
        id,
        target: Targets::builtin().target("gfx90a").unwrap(),
        name: None,
        apertures: HashMap::new(),
        hardware: location.map(hardware),
    }
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

/// A report that is not about the waves is removed before one that may be, whatever their number and order.
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
    let rows = |from: &str, status: &str| {
        format!("{GPU}:   in page starting at address 0x00007f0000201000 from {from}\n{GPU}: {status}\n")
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
    for (devices, expected) in [
        (&["0000:8b:00.0", "0000:88:00.0"][..], &[(Some(7), None), (None, Some(Foreign::Gpu))][..]),
        (&["0001:8b:00.0"], &[(None, None)]),
        (&["0000:8b:00.5"], &[(None, None)]),
        (&["0000:8b:08.0"], &[(None, Some(Foreign::Gpu))]),
    ] {
        let mut capture =
            Capture { agents: vec![agent(7, Some(0x8b00)), agent(9, Some(0x1100))], ..Capture::default() };
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
            assert_eq!(facts, [(Hang, Some(ring), foreign)], "{text}");
        }
        let dump = DEVICE_DUMP.replace("gfx_0.0.0", ring).replace("[gfxhub] Page", "No page");
        let dump = dump.replace("0x00007f0000201000", "0x0000000000000000").replace("0x301031", "0x0");
        assert_eq!(faults(&dump)[0].foreign(), foreign, "{dump}");
    }
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
