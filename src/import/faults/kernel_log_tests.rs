//! Rows of the kernel log that belong together, and those that do not: repeats, orders, names of GPUs, floods.

use super::foreign::GPU;
use super::reports::{DEVICE_DUMP, PAGE, faults, faults_of, page_fault};
use super::{Own, read};
use crate::capture::FaultKind::Hang;
use crate::capture::{Capture, Fault, FaultAccess, FaultReason, Foreign, MAX_FAULTS, Provenance};
use crate::work::{Count, done};

use FaultReason::{NotPresent, ReadOnly};

/// A report with a status of 0, `time` in seconds.
fn without(time: u64, process: u32, page: u64) -> String {
    page_fault(&format!("[{time}.0] {GPU}"), process, page, "CB/DB (0x0)").replace("0x00801031", "0x00000000")
}

fn with(time: u64, process: u32, page: u64) -> String {
    page_fault(&format!("[{time}.0] {GPU}"), process, page, "TCP (0x8)")
}

fn processes(text: &str) -> Vec<u32> {
    faults(text).iter().filter_map(|fault| fault.process).collect()
}

/// Only a report of the same process, near in time, is repeated by one with a status of 0.
#[test]
fn a_status_of_zero_repeats_a_report_of_its_process() {
    const OTHER: u64 = PAGE + 0x1000;
    let no_clock = |text: String| text.replace("[1.0] ", "").replace("[2.0] ", "");
    for (text, wanted) in [
        (with(1, 111, PAGE) + &without(2, 222, OTHER), &[111, 222][..]),
        (without(1, 222, PAGE) + &with(2, 111, OTHER), &[222, 111]),
        (no_clock(with(1, 111, PAGE) + &without(2, 222, OTHER)), &[111, 222]),
        (with(1, 111, PAGE) + &without(2, 111, OTHER), &[111]),
        (without(1, 111, PAGE) + &with(2, 111, OTHER), &[111]),
        (no_clock(with(1, 111, PAGE) + &without(2, 111, OTHER)), &[111]),
        (with(1, 111, PAGE) + &without(20, 111, OTHER), &[111, 111]),
    ] {
        assert_eq!(processes(&text), wanted, "{text}");
    }
    // Each of many pairs, also of two processes by turns.
    let pairs: String = (0..100)
        .map(|index| {
            let (time, page) = (100 + 20 * index, PAGE + index * 0x2000);
            let (one, other) = (111 + (index % 2) as u32, 333);
            with(time, one, page) + &with(time, other, page) + &without(time + 1, one, page + 0x1000)
        })
        .collect();
    assert_eq!(processes(&pairs).len(), 200);
    let reversed: String = pairs.lines().rev().fold(String::new(), |text, line| text + line + "\n");
    assert_eq!(processes(&reversed).len(), 200);
}

/// Reports with a status of 0 are ranked, counted and left out like others.
#[test]
fn of_too_many_reports_with_a_status_of_zero_the_own_stays() {
    let text = |own: u64| -> String {
        let count = MAX_FAULTS as u64 + 44;
        (0..count)
            .map(|index| {
                let process = if index == own { 1299 } else { 1000 + (index % 200) as u32 };
                without(100 + 20 * index, process, PAGE + index * 0x1000)
            })
            .collect()
    };
    for own in [0, 150, MAX_FAULTS as u64 + 43] {
        let text = text(own);
        let reversed: String = text.lines().rev().fold(String::new(), |text, line| text + line + "\n");
        for text in [text, reversed] {
            let provenance = Provenance { process: Some(1299), ..Provenance::default() };
            let mut capture = Capture { provenance, ..Capture::default() };
            let of = Own::of(&capture);
            let left_out = read("log", text.as_bytes(), of).unwrap().into_capture(&mut capture).unwrap();
            assert!(left_out.to_string().contains("44 more reports of faults are left out"), "{left_out}");
            assert_eq!(capture.faults.len(), MAX_FAULTS);
            assert!(capture.faults.iter().any(|fault| fault.process == Some(1299)), "{own}");
        }
    }
}

/// Without clocks all reports are near: the reports that wait are bounded, and none of a process is lost.
#[test]
fn reports_that_wait_are_bounded() {
    let text: String = (0..MAX_FAULTS as u64)
        .map(|index| without(1, 1000 + index as u32, PAGE + index * 0x1000).replace("[1.0] ", ""))
        .collect();
    assert_eq!(processes(&text).len(), MAX_FAULTS);
}

/// The host's name may be the driver's.
#[test]
fn the_gpu_is_named_by_a_pci_address_behind_any_name_of_the_driver() {
    for host in ["amdgpu", "my-amdgpu", "amdgpu kernel: amdgpu", "gpu01"] {
        let [one, other] = ["0000:8b:00.0", "0000:88:00.0"].map(|pci| {
            let device = format!("Mar 04 12:00:01 {host} kernel: amdgpu {pci}");
            page_fault(&device, 7, PAGE, "TCP (0x8)")
        });
        let rows = one.lines().zip(other.lines());
        let text = rows.fold(String::new(), |text, (one, other)| text + one + "\n" + other + "\n");
        let found = faults(&text);
        let devices: Vec<_> = found.iter().map(|fault| fault.device.as_deref()).collect();
        assert_eq!(devices, [Some("0000:8b:00.0"), Some("0000:88:00.0")], "{text}");
        assert!(found.iter().all(|fault| fault.client.as_deref() == Some("TCP")));
    }
}

/// gfx12.1 prints `GCVM_L2_PROTECTION_FAULT_STATUS_LO32` (`gfxhub_v12_1.c`), with wider fields (`gc_12_1_0_sh_mask.h`).
/// Both values are of public logs: TCP, VMID 3, PERMISSION_FAULTS 3 and RW 0; 5 and 1. `MMVM_L2_..._LO32` has the fields
/// of mmhub 4.1.0 or those of 4.2.0. `_HI32` (`mmhub_v4_2_0.c`) is another register.
#[test]
fn status_registers_of_every_generation() {
    let text = |rows: &str, hub: &str| {
        page_fault(GPU, 7, PAGE, "TCP (0x8)")
            .replace("GCVM_L2_PROTECTION_FAULT_STATUS:0x00801031", rows)
            .replace("[gfxhub]", hub)
    };
    const READ: Option<FaultAccess> = Some(FaultAccess::Read);
    const WRITE: Option<FaultAccess> = Some(FaultAccess::Write);
    for (rows, hub, access, reasons, foreign) in [
        ("GCVM_L2_PROTECTION_FAULT_STATUS_LO32:0x00C04061", "[gfxhub]", READ, &[NotPresent][..], None),
        ("GCVM_L2_PROTECTION_FAULT_STATUS_LO32:0x00D040A1", "[gfxhub]", WRITE, &[NotPresent, ReadOnly], None),
        ("VM_L2_PROTECTION_FAULT_STATUS:0x00C04061", "[gfxhub]", READ, &[ReadOnly], None),
        ("GCVM_L2_PROTECTION_FAULT_STATUS_LO32:0x00004061", "", READ, &[NotPresent], Some(Foreign::Driver)),
        ("MMVM_L2_PROTECTION_FAULT_STATUS_LO32:0x00301031", "[mmhub]", None, &[], Some(Foreign::Client)),
        ("MMVM_L2_PROTECTION_FAULT_STATUS_LO32:0x00301031", "", None, &[], Some(Foreign::Client)),
        ("GCVM_L2_PROTECTION_FAULT_STATUS_LO32:0x00000000", "[gfxhub]", None, &[], None),
        ("GCVM_L2_PROTECTION_FAULT_STATUS_LO32:0xFFFFFFFF", "[gfxhub]", None, &[], None),
    ] {
        let text = text(rows, hub);
        let [fault] = &*faults(&text) else { panic!("{text}") };
        assert_eq!((fault.access, &*fault.reasons, fault.foreign()), (access, reasons, foreign), "{text}");
        assert_eq!(fault.has_all_reasons, !reasons.is_empty(), "{text}");
    }
    let high = format!(
        "MMVM_L2_PROTECTION_FAULT_STATUS_HI32:0x00000000\n\
         {GPU}: amdgpu: GCVM_L2_PROTECTION_FAULT_STATUS:0x00801031"
    );
    assert_eq!(faults(&text(&high, "[gfxhub]"))[0].status.as_deref(), Some("0x00801031"));
}

/// A hub of media has no client of waves, whatever the name of the client's number is in another hub.
#[test]
fn the_hub_overrules_each_client_of_waves() {
    for client in ["TCP (0x8)", "SQC (data) (0xa)", "SQC (inst) (0x9)", "SQC (0xb)", "unknown (0x1f)"] {
        let text = page_fault(GPU, 7, PAGE, client);
        for media in [
            text.replace("[gfxhub]", "[mmhub]"),
            text.replace("GCVM_", "MMVM_"),
            text.replace("from client 10", "from client 0x12 (VMC)"),
        ] {
            let found = faults(&media);
            assert_eq!(
                found.iter().map(Fault::foreign).collect::<Vec<_>>(),
                [Some(Foreign::Client)],
                "{media}"
            );
            assert_ne!(found[0].access, Some(FaultAccess::Execute));
        }
    }
    let dump = DEVICE_DUMP.replace("[gfxhub]", "[mmhub]");
    assert_eq!(faults(&dump)[0].foreign(), Some(Foreign::Client));
}

/// Rows of hangs in one second, oldest and newest first: ring, process, reset.
#[test]
fn resets_show_the_order_of_a_log() {
    let line = |time: &str, text: &str| format!("Mar 04 12:00:{time} host kernel: {GPU}: amdgpu: {text}\n");
    let ring =
        |time: &str, ring: &str| line(time, &format!("ring {ring} timeout, signaled seq=1, emitted seq=3"));
    let process = |time: &str| line(time, " Process app pid 77 thread app:cs0 pid 78");
    let reset = |time: &str| line(time, "GPU reset begin!");
    for (lines, wanted) in [
        (vec![ring("01", "sdma0"), reset("01")], &[("sdma0", None)][..]),
        (vec![ring("01", "sdma0"), process("01"), reset("01")], &[("sdma0", Some(77))]),
        (vec![ring("01", "sdma0"), process("01"), reset("02")], &[("sdma0", Some(77))]),
        (
            vec![ring("01", "sdma0"), reset("01"), ring("31", "vcn_dec_0"), reset("31")],
            &[("sdma0", None), ("vcn_dec_0", None)],
        ),
    ] {
        for text in [lines.concat(), lines.iter().rev().map(String::as_str).collect()] {
            let found = faults(&text);
            let facts: Vec<_> =
                found.iter().map(|fault| (fault.ring.as_deref().unwrap_or("none"), fault.process)).collect();
            assert_eq!(facts, wanted, "{text}");
            assert!(found.iter().all(|fault| fault.foreign() == Some(Foreign::Ring)), "{text}");
        }
    }
    // The clock decides before the order of rows.
    let later =
        line("01", "MES failed to respond to msg=REMOVE_QUEUE") + &reset("01") + &ring("59", "gfx_0.0.0");
    let found = faults(&later);
    assert_eq!(
        found.iter().map(|fault| fault.ring.as_deref()).collect::<Vec<_>>(),
        [None, Some("gfx_0.0.0")]
    );
}

/// A failure of the queues of waves names no ring: it is no report of a ring's hang, at any time.
#[test]
fn a_hang_without_a_ring_is_not_that_of_a_ring() {
    let ring = format!(
        "[1.0] {GPU}: amdgpu: ring gfx_0.0.0 timeout, signaled seq=1, emitted seq=3\n\
         [1.0] {GPU}: amdgpu:  Process Xorg pid 99 thread Xorg pid 99\n"
    );
    for own in [
        format!("[900.0] {GPU}: amdgpu: MES failed to respond to msg=REMOVE_QUEUE\n"),
        "[900.0] amdgpu: qcm fence wait loop timeout expired\n".to_owned(),
        format!("[900.0] {GPU}: amdgpu: GPU reset begin!\n"),
        "[900.0] amdgpu: HIQ MQD's queue_doorbell_id0 is not 0, Queue preemption time out\n".to_owned(),
    ] {
        for text in [
            ring.clone() + &own,
            own.replace("[900.0]", "[0.5]").replace("reset begin!", "reset begin!. x") + &ring,
        ] {
            let found = faults(&text);
            let mut facts: Vec<_> =
                found.iter().map(|fault| (fault.kind, fault.ring.as_deref(), fault.process)).collect();
            facts.sort_by_key(|(_, ring, _)| *ring);
            assert_eq!(facts, [(Hang, None, None), (Hang, Some("gfx_0.0.0"), Some(99))], "{text}");
        }
    }
    // The runtime's own report of the hang joins one of them.
    let runtime = "HW Exception by GPU node-1 (Agent handle: 0x1) reason :GPU Hang\n";
    assert_eq!(faults(&format!("{ring}{runtime}")).len(), 1);
}

/// A kernel log repeats reports for as long as it runs: each costs a bounded number of comparisons.
#[test]
fn floods_of_reports_cost_bounded_work() {
    const REPORTS: u64 = 2_000;
    // Read in the wrong order, first rows alone are compared with those of the other GPUs.
    for (gpus, most) in [(1, 8), (64, 80)] {
        let text: String = (0..REPORTS)
            .map(|index| {
                let device = format!("[{}.0] amdgpu 0000:{:02x}:00.0", 10 * index, index % gpus);
                page_fault(&device, 1000 + index as u32, PAGE + index * 0x1000, "TCP (0x8)")
            })
            .collect();
        let before = done(Count::Steps);
        assert_eq!(faults_of(&text, Some(4242)).len(), MAX_FAULTS);
        let steps = done(Count::Steps) - before;
        assert!(steps < most * REPORTS, "{steps} comparisons of {REPORTS} reports");
    }
}

/// Rows of one report are at most 5 s apart; a clock may restart, and have days.
#[test]
fn rows_far_apart_are_of_different_reports() {
    for [first, later] in [
        ["[ 100.0]", "[ 9000.0]"],
        ["[ 9000.0]", "[ 12.0]"],
        ["Sep 10 09:37:08 host kernel:", "Sep 12 09:37:08 host kernel:"],
        ["[Wed Sep  9 09:37:08 2026]", "[Thu Sep 10 09:37:08 2026]"],
        ["2026-09-10T09:37:08,5+02:00", "2026-09-11T09:37:08,5+02:00"],
    ] {
        let text = page_fault(&format!("{first} {GPU}"), 9214, PAGE, "TCP (0x8)");
        let rows: Vec<_> = text.lines().collect();
        let [head, rest] = [&rows[..2], &rows[2..]].map(|rows| rows.join("\n") + "\n");
        for text in [head.clone() + &rest.replace(first, later), rest.replace(first, later) + &head] {
            let found = faults(&text);
            let mut facts: Vec<_> =
                found.iter().map(|fault| (fault.process, fault.address.is_some())).collect();
            facts.sort_unstable();
            assert_eq!(facts, [(None, true), (Some(9214), false)], "{text}");
        }
        assert_eq!(faults(&(head + &rest)).len(), 1);
    }
    let text = page_fault(&format!("Sep 10 23:59:59 host kernel: {GPU}"), 7, PAGE, "TCP (0x8)");
    let midnight = text.replacen("Sep 10 23:59:59", "Sep 11 00:00:01", 5).replacen(
        "Sep 11 00:00:01",
        "Sep 10 23:59:59",
        2,
    );
    assert_eq!(faults(&midnight).len(), 1, "{midnight}");
}

/// HIP's and the runtime's rows of one fault are one: the page, its reason and the kernel.
#[test]
fn the_runtimes_of_rocm_7_report_one_fault() {
    let text = "Warning: Queue error - HSA_STATUS_ERROR_MEMORY_FAULT\n\
                :0:rocdevice.cpp :3678: 8 us:  Memory Fault Error [host: node7, GPU index: 0, faulting addr: 0x7f0000201000, kernel: f(int*)]\n\
                Memory access fault by GPU node-1 (Agent handle: 0x1) on address 0x7f0000201000. Reason: Page not present or supervisor privilege.\n";
    let [fault] = &*faults(text) else { panic!("{text}") };
    assert_eq!(
        (fault.kernel.as_deref(), fault.node, &*fault.reasons),
        (Some("f(int*)"), Some(1), &[NotPresent][..])
    );
}
