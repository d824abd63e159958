//! Every wording of the writers of reports, plain and behind the prefixes of the tools that collect output.
//!
//! Sources: ROCr (`runtime.cpp`, `amd_aql_queue.cpp`), CLR (`rocdevice.cpp`), LLVM's offload plugin, rocm-debug-agent, and
//! Linux (`gmc_v9_0.c` to `gmc_v12_0.c`, Documentation/gpu/amdgpu/debugging.rst).

use super::{Own, read};
use crate::capture::{Capture, Fault, FaultAccess, FaultKind, FaultReason, FaultSource, PAGE};

use FaultKind::{Aperture, Assertion, Ecc, Exception, Hang, IllegalInstruction, Memory, Page, Queue};
use FaultReason::{HostOnly, NotPresent, ReadOnly};
use FaultSource::{DebugAgent, Hip, KernelLog, Offload, Runtime, Tinygrad};

/// The facts of a report: source, kind, page, node, access.
type Facts = (FaultSource, FaultKind, Option<u64>, Option<u32>, Option<FaultAccess>);

const AT: Option<u64> = Some(0x7f00_0020_1000);
const READ: Option<FaultAccess> = Some(FaultAccess::Read);
const WRITE: Option<FaultAccess> = Some(FaultAccess::Write);

/// One report a row; the lines of each are in the order of the writer.
const WORDINGS: [(&[&str], Facts, &[FaultReason]); 56] = [
    // ROCr 1.x, with an agent, and with address 0 as glibc prints it.
    (
        &[
            "Memory access fault by GPU node-1 on address 0x7f0000201000. Reason: Page not present or supervisor privilege.",
        ],
        (Runtime, Page, AT, Some(1), None),
        &[NotPresent],
    ),
    (
        &[
            "Memory access fault by GPU node-2 (Agent handle: 0x152e220) on address 0x7f0000201000. Reason: Write access to a read-only page.",
        ],
        (Runtime, Page, AT, Some(2), WRITE),
        &[ReadOnly],
    ),
    (
        &["Memory access fault by GPU node-2 (Agent handle: 0x152e220) on address (nil). Reason: Unknown."],
        (Runtime, Page, Some(0), Some(2), None),
        &[],
    ),
    (
        &[
            "Memory access fault by GPU node-4 (Agent handle: 0x1) on address 0x7f0000201000 (may not be exact address). Reason: Host access only.",
        ],
        (Runtime, Page, AT, Some(4), None),
        &[HostOnly],
    ),
    (
        &[
            "Memory access fault by GPU node-4 (Agent handle: 0x1) on address 0x7f0000201000. Reason: SRAM ECC failure.",
        ],
        (Runtime, Ecc, AT, Some(4), None),
        &[FaultReason::SramEcc],
    ),
    (
        &[
            "Memory access fault by GPU node-4 (Agent handle: 0x1) on address 0x7f0000201000. Reason: Generic hang recovery.",
            "GPU core dump failed",
        ],
        (Runtime, Hang, AT, Some(4), None),
        &[FaultReason::HangRecovery],
    ),
    // Its debug builds, and HSA_DEBUG_FAULT=analyze of old ones.
    (
        &[
            "Memory access fault by GPU node-4 (Agent handle: 0x1) on address 0x7f0000201000. Reason: Unknown.",
            "Nearby memory map:",
            "0x7f0000200000, 0x1000",
        ],
        (Runtime, Page, AT, Some(4), None),
        &[],
    ),
    (
        &[
            "Memory access fault by GPU agent: AMD gfx900",
            "Node: 1",
            "Address: 0x7F0000201xxx (page not present;)",
            "Wavefront found in XNACK error state",
        ],
        (Runtime, Page, AT, Some(1), None),
        &[NotPresent],
    ),
    // Queue errors by HIP, newest first.
    (
        &[
            ":0:rocdevice.cpp            :3020: 1500 us: [pid:7 tid:0x7f37] Callback: Queue 0x7ef728200000 aborting with error : HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION: The agent attempted to access memory beyond the largest legal address. code: 0x29 [host: node7, GPU index: 2, kernel: f]",
        ],
        (Hip, Aperture, None, None, None),
        &[],
    ),
    (
        &[
            ":0:rocdevice.cpp            :2984: 1500 us: [pid:7 tid:0x7f37] Callback: Queue 0x7ef728200000 aborting with error : HSA_STATUS_ERROR_EXCEPTION: An HSAIL operation resulted in a hardware exception. code: 0x1016",
        ],
        (Hip, Exception, None, None, None),
        &[],
    ),
    (
        &[
            ":0:rocdevice.cpp            :2614: 1500 us: 7: [tid:0x7f37] Device::callbackQueue aborting with error : HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION: The agent attempted to execute an illegal shader instruction. code: 0x2a",
        ],
        (Hip, IllegalInstruction, None, None, None),
        &[],
    ),
    (
        &[":0:rocdevice.cpp            :2303: 1500 us: Device::callbackQueue aborting with status: 0x2b"],
        (Hip, Memory, None, None, None),
        &[],
    ),
    (
        &[":0:rocdevice.cpp            :2303: 1500 us: Device::callbackQueue aborting with status: 0x1000"],
        (Hip, Queue, None, None, None),
        &[],
    ),
    // HIP's codes, and frameworks.
    (
        &["hipErrorIllegalAddress: an illegal memory access was encountered"],
        (Hip, Memory, None, None, None),
        &[],
    ),
    (&["Error: 'hipErrorLaunchFailure'(719) at main.hip:7"], (Hip, Queue, None, None, None), &[]),
    (
        &["torch.AcceleratorError: HIP error: an illegal memory access was encountered"],
        (Hip, Memory, None, None, None),
        &[],
    ),
    (&["RuntimeError: HIP error: unspecified launch failure"], (Hip, Queue, None, None, None), &[]),
    (&["xla: CUDA_ERROR_ILLEGAL_ADDRESS"], (Hip, Memory, None, None, None), &[]),
    // LLVM's offload runtime, oldest first. The reasons of the first are unreliable.
    (
        &["[GPU Memory Error] Addr: 0x7f0000201000 Reason: Page not present or supervisor privilege. "],
        (Offload, Page, AT, None, None),
        &[],
    ),
    (
        &[
            "AMDGPU fatal error 1: Memory access fault by GPU 1 (agent 0x55b0) at virtual address (nil). Reasons: Page not present or supervisor privilege, Write access to a read-only page",
        ],
        (Offload, Page, Some(0), Some(1), WRITE),
        &[NotPresent, ReadOnly],
    ),
    (
        &[
            "Kernel 'omp target in main @ 7 (__omp_offloading_10_7_main_l7)'",
            "OFFLOAD ERROR: Memory access fault by GPU 8 (agent 0x55b0) at virtual address 0x7f0000201000. Reasons: Unknown (0)",
        ],
        (Offload, Page, AT, Some(8), None),
        &[],
    ),
    (
        &[
            "OFFLOAD ERROR: memory access fault by GPU 8 (agent 0x55b0) at virtual address 0x7f0000201000. Reasons: Page not present or supervisor privilege",
        ],
        (Offload, Page, AT, Some(8), None),
        &[NotPresent],
    ),
    // rocm-debug-agent 1.x, 2.0, later ones of ROCm 4 and 5, and with queue events.
    (
        &[
            "Memory access fault at GPU Node: 2",
            "Address: 0x7F0000201xxx (page not present;write access to a read-only page;)",
        ],
        (DebugAgent, Page, AT, Some(2), WRITE),
        &[NotPresent, ReadOnly],
    ),
    (
        &["System event (HSA_AMD_GPU_MEMORY_FAULT_EVENT)", "Faulting page: 0x7f0000201000"],
        (DebugAgent, Page, AT, None, None),
        &[],
    ),
    (
        &[
            "System event (HSA_AMD_GPU_MEMORY_FAULT_EVENT: page not present or supervisor privilege, write access to a read-only page)",
            "Faulting page: 0x7f0000201000",
        ],
        (DebugAgent, Page, AT, None, WRITE),
        &[NotPresent, ReadOnly],
    ),
    (
        &[
            "Queue error (HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION: The agent attempted to access memory beyond the largest legal address.)",
        ],
        (DebugAgent, Aperture, None, None, None),
        &[],
    ),
    (
        &["Queue error (HSA_STATUS_ERROR_EXCEPTION: An HSAIL operation resulted in a hardware exception.)"],
        (DebugAgent, Exception, None, None, None),
        &[],
    ),
    // gfx9: without retry and with it, process in the parentheses up to Linux 6.8.
    (
        &[
            "amdgpu 0000:c3:00.0: amdgpu: [gfxhub0] no-retry page fault (src_id:0 ring:24 vmid:3 pasid:32771, for process app pid 4321 thread app pid 4321)",
            "amdgpu 0000:c3:00.0: amdgpu:   in page starting at address 0x00007f0000201000 from IH client 0x1b (UTCL2)",
            "amdgpu 0000:c3:00.0: amdgpu: VM_L2_PROTECTION_FAULT_STATUS:0x00301031",
            "amdgpu 0000:c3:00.0: amdgpu: \t Faulty UTCL2 client ID: TCP (0x8)",
            "amdgpu 0000:c3:00.0: amdgpu: \t RW: 0x0",
        ],
        (KernelLog, Page, AT, None, READ),
        &[NotPresent],
    ),
    (
        &[
            "amdgpu 0000:c3:00.0: amdgpu: [gfxhub0] retry page fault (src_id:0 ring:24 vmid:3 pasid:32771, for process app pid 4321 thread app pid 4321)",
            "amdgpu 0000:c3:00.0: amdgpu:   in page starting at address 0x00007f0000201000 from IH client 0x1b (UTCL2)",
            "amdgpu 0000:c3:00.0: amdgpu: VM_L2_PROTECTION_FAULT_STATUS:0x00000000",
            "amdgpu 0000:c3:00.0: amdgpu: \t Faulty UTCL2 client ID: CB (0x0)",
        ],
        (KernelLog, Page, AT, None, None),
        &[],
    ),
    // gfx10.
    (
        &[
            "amdgpu 0000:03:00.0: amdgpu: [gfxhub] page fault (src_id:0 ring:24 vmid:3 pasid:32771, for process app pid 4321 thread app pid 4321)",
            "amdgpu 0000:03:00.0: amdgpu:   in page starting at address 0x00007f0000201000 from client 0x1b (UTCL2)",
            "amdgpu 0000:03:00.0: amdgpu: GCVM_L2_PROTECTION_FAULT_STATUS:0x006C0071",
            "amdgpu 0000:03:00.0: amdgpu: \t Faulty UTCL2 client ID: TCP (0x0)",
        ],
        (KernelLog, Page, AT, None, WRITE),
        &[NotPresent, ReadOnly],
    ),
    // gfx11 and gfx12, since Linux 6.9 with the process on its own line.
    (
        &[
            "amdgpu 0000:03:00.0: amdgpu: [gfxhub] page fault (src_id:0 ring:24 vmid:3 pasid:32771)",
            "amdgpu 0000:03:00.0: amdgpu:  in process app pid 4321 thread app pid 4321)",
            "amdgpu 0000:03:00.0: amdgpu:   in page starting at address 0x00007f0000201000 from client 10",
            "amdgpu 0000:03:00.0: amdgpu: GCVM_L2_PROTECTION_FAULT_STATUS:0x00301031",
            "amdgpu 0000:03:00.0: amdgpu: \t Faulty UTCL2 client ID: TCP (0x8)",
        ],
        (KernelLog, Page, AT, None, READ),
        &[NotPresent],
    ),
    // A scalar or instruction fetch, the permission alone, and the memory hub.
    (
        &[
            "amdgpu 0000:03:00.0: amdgpu: [gfxhub] page fault (src_id:0 ring:24 vmid:3 pasid:32771)",
            "amdgpu 0000:03:00.0: amdgpu:   in page starting at address 0x00007f0000201000 from client 10",
            "amdgpu 0000:03:00.0: amdgpu: GCVM_L2_PROTECTION_FAULT_STATUS:0x00301431",
            "amdgpu 0000:03:00.0: amdgpu: \t Faulty UTCL2 client ID: SQC (data) (0xa)",
        ],
        (KernelLog, Page, AT, None, READ),
        &[NotPresent],
    ),
    (
        &[
            "amdgpu 0000:03:00.0: amdgpu: [mmhub] page fault (src_id:0 ring:40 vmid:3 pasid:32771)",
            "amdgpu 0000:03:00.0: amdgpu:   in page starting at address 0x00007f0000201000 from client 18",
            "amdgpu 0000:03:00.0: amdgpu: MMVM_L2_PROTECTION_FAULT_STATUS:0x00301031",
        ],
        (KernelLog, Page, AT, None, READ),
        &[NotPresent],
    ),
    // gfx942 counts its hubs: XCC and AID.
    (
        &[
            "amdgpu 0000:c3:00.0: amdgpu: [gfxhub7] no-retry page fault (src_id:0 ring:24 vmid:3 pasid:32771)",
            "amdgpu 0000:c3:00.0: amdgpu:   in page starting at address 0x00007f0000201000 from IH client 0x1b (UTCL2)",
            "amdgpu 0000:c3:00.0: amdgpu: VM_L2_PROTECTION_FAULT_STATUS:0x00341051",
        ],
        (KernelLog, Page, AT, None, WRITE),
        &[NotPresent, ReadOnly],
    ),
    // The first line was lost, and kernels before 5.1.
    (
        &[
            "amdgpu 0000:03:00.0: amdgpu:   in page starting at address 0x00007f0000201000 from client 10",
            "amdgpu 0000:03:00.0: amdgpu: GCVM_L2_PROTECTION_FAULT_STATUS:0x00301031",
        ],
        (KernelLog, Page, AT, None, READ),
        &[NotPresent],
    ),
    (
        &[
            "amdgpu 0000:03:00.0: [gfxhub] VMC page fault (src_id:0 ring:158 vmid:1 pas_id:0)",
            "amdgpu 0000:03:00.0:   at page 0x00007f0000201000 from 27",
            "amdgpu 0000:03:00.0: VM_L2_PROTECTION_FAULT_STATUS:0x00301031",
        ],
        (KernelLog, Page, AT, None, READ),
        &[NotPresent],
    ),
    // Statuses without a reporter's words: programs print them.
    (
        &["terminate called: HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION"],
        (Runtime, Aperture, None, None, None),
        &[],
    ),
    (&["hsa error: HSA_STATUS_ERROR_MEMORY_FAULT"], (Runtime, Memory, None, None, None), &[]),
    (
        &["hsa error: HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION"],
        (Runtime, IllegalInstruction, None, None, None),
        &[],
    ),
    (&["hsa error: HSA_STATUS_ERROR_EXCEPTION"], (Runtime, Exception, None, None, None), &[]),
    // HIP since ROCm 7, and the debug print of ROCr before it (`amd_aql_queue.cpp`).
    (
        &[
            ":0:rocdevice.cpp :3678: Memory Fault Error [GPU index: 0, faulting addr: 0x7f0000201000, kernel: f<A[2]>(int*)]",
        ],
        (Hip, Page, AT, None, None),
        &[],
    ),
    (
        &[":0:rocdevice.cpp :3905: Memory Fault Error [host: node7, GPU index: 0, kernel: f]"],
        (Hip, Page, None, None, None),
        &[],
    ),
    (&["Warning: Queue error - HSA_STATUS_ERROR_MEMORY_FAULT"], (Runtime, Memory, None, None, None), &[]),
    // KFD: `kfd_mqd_manager.c`, `amdgpu_amdkfd_gfx_v8.c` to `_v11.c`.
    (
        &["amdgpu 0000:7c:00.0: Queue preemption failed for queue with doorbell_id: 80004008"],
        (KernelLog, Hang, None, None, None),
        &[],
    ),
    (
        &["amdgpu 0000:7c:00.0: amdgpu: XCC 3: Queue preemption failed for queue with doorbell_id: 80004008"],
        (KernelLog, Hang, None, None, None),
        &[],
    ),
    (&["kfd2kgd: cp queue preemption time out."], (KernelLog, Hang, None, None, None), &[]),
    (&["kfd: cp queue preemption time out (20ms)"], (KernelLog, Hang, None, None, None), &[]),
    // Linux 4.20 to 5.0.
    (
        &[
            "amdgpu 0000:09:00.0: [gfxhub] VMC page fault (src_id:0 ring:24 vmid:5 pasid:32772, for process app pid 7 thread app pid 7",
            "amdgpu 0000:09:00.0:   at address 0x00007f0000201000 from 27",
            "amdgpu 0000:09:00.0: VM_L2_PROTECTION_FAULT_STATUS:0x00501031",
        ],
        (KernelLog, Page, AT, None, READ),
        &[NotPresent],
    ),
    // tinygrad; KFD_HW_EXCEPTION_GPU_HANG is 0, KFD_HW_EXCEPTION_ECC 1 (`kfd_ioctl.h`).
    (
        &["HW fault: reset_type=0 reset_cause=0 memory_lost=1 gpu_id=10727"],
        (Tinygrad, Hang, None, None, None),
        &[],
    ),
    (
        &["HW fault: reset_type=1 reset_cause=1 memory_lost=0 gpu_id=10727"],
        (Tinygrad, Ecc, None, None, None),
        &[],
    ),
    // Errors of waves (`kfd_int_process_v9.c`, `kfd_int_process_v11.c`), since Linux 6.15 with the device's name.
    (
        &[
            "amdgpu: sq_intr: error, se 0, data 0x80000, sh 1, priv 0, wave_id 3, simd_id 1, cu_id 2, err_type 1",
        ],
        (KernelLog, IllegalInstruction, None, None, None),
        &[],
    ),
    (
        &[
            "amdgpu 0000:03:00.0: amdgpu: sq_intr: error, detail 0x00000000, type 2, sh 0, priv 0, wave_id 3, simd_id 1, wgp_id 2",
        ],
        (KernelLog, Memory, None, None, None),
        &[],
    ),
    (
        &["amdgpu: sq_intr: error, detail 0x00000000, type 3, sh 0, priv 0, wave_id 3, simd_id 1, wgp_id 2"],
        (KernelLog, Ecc, None, None, None),
        &[],
    ),
    // A page fault ends the access of a wave, and then of its trap handler.
    (
        &[
            "amdgpu 0000:03:00.0: amdgpu: [gfxhub] page fault (src_id:0 ring:24 vmid:8 pasid:32775, for process app pid 7 thread app pid 7)",
            "amdgpu 0000:03:00.0: amdgpu:   in page starting at address 0x00007f0000201000 from client 10",
            "amdgpu 0000:03:00.0: amdgpu: GCVM_L2_PROTECTION_FAULT_STATUS:0x00801031",
            "amdgpu 0000:03:00.0: amdgpu: sq_intr: error, detail 0x00000000, type 2, sh 0, priv 0, wave_id 3, simd_id 1, wgp_id 2",
            "amdgpu 0000:03:00.0: amdgpu: sq_intr: error, detail 0x00000000, type 1, sh 0, priv 1, wave_id 3, simd_id 1, wgp_id 2",
        ],
        (KernelLog, Page, AT, None, READ),
        &[NotPresent],
    ),
    // Triton's `assertFail` for AMD's GPUs, PyTorch's CUDA_KERNEL_ASSERT_PRINTF.
    (
        &["device assertion failed: 'index out of range', in kernel at /src/my kernel.py:12"],
        (Hip, Assertion, None, None, None),
        &[],
    ),
    (
        &[
            "[CUDA_KERNEL_ASSERT] /src/Index.hip:94: index_kernel: block: [0,0,0], thread: [1,0,0]: Assertion failed: `i < n`: index 9",
        ],
        (Hip, Assertion, None, None, None),
        &[],
    ),
];

/// Prefixes of lines by collectors; `{}` has the line in JSON, `[]` as bytes in it.
const PREFIXES: [&str; 18] = [
    "",
    "[ 1234.567890] ",
    // dmesg -T, -x, --time-format iso
    "[Tue Mar  4 12:00:01 2025] ",
    "kern  :err   : [ 1234.567890] ",
    "2025-03-04T12:00:01,123456+01:00 ",
    // journalctl, also -o short-iso and with a process
    "Mar 04 12:00:01 host kernel: ",
    "2025-03-04T12:00:01+0100 host kernel: ",
    "Mar 04 12:00:01 host app[4321]: ",
    // RFC 5424
    "<3>1 2024-09-10T09:37:08.000000Z host kernel - - - ",
    // docker logs -t, docker compose, Kubernetes, Docker's file
    "2025-03-04T12:00:01.123456789Z ",
    "app-1  | ",
    "2025-03-04T12:00:01.123456789+01:00 stderr F ",
    "{}",
    "[]",
    // mpirun --tag-output, srun -l, torchrun, colours
    "[1,3]<stderr>:",
    " 3: ",
    "[rank3]: ",
    "\u{1b}[31m",
];

#[test]
fn each_wording_is_read_behind_each_prefix() {
    for (lines, facts, reasons) in WORDINGS {
        for prefix in PREFIXES {
            for end in ["\n", "\r\n"] {
                let line = |line: &&str| match prefix {
                    "{}" => {
                        let entry = serde_json::json!({ "log": format!("{line}\n"), "stream": "stderr" });
                        format!("{entry}{end}")
                    }
                    "[]" => {
                        let entry = serde_json::json!({ "MESSAGE": line.as_bytes(), "PRIORITY": "3" });
                        format!("{entry}{end}")
                    }
                    prefix => format!("{prefix}{line}{end}"),
                };
                let text: String = lines.iter().map(line).collect();
                let mut capture = Capture::default();
                let left_out =
                    read("run.log", text.as_bytes(), Own::default()).unwrap().into_capture(&mut capture);
                assert_eq!(left_out, None);
                let [fault] = capture.faults.as_slice() else { panic!("{text}{:#?}", capture.faults) };
                let Fault { source, kind, address, node, access, .. } = fault;
                let page = address.map(|at| at.start);
                assert!(address.is_none_or(|at| at.bytes == PAGE), "{text}");
                assert_eq!((*source, *kind, page, *node, *access), facts, "{text}");
                assert_eq!(fault.reasons, reasons, "{text}");
            }
        }
    }
}

/// A log that ends within an address has no address.
#[test]
fn a_cut_address_is_none() {
    const LINE: &str =
        "Memory access fault by GPU node-4 (Agent handle: 0x1) on address 0x7f0000201000. Reason: Unknown.";
    let digits = LINE.find("0x7f").unwrap() + 2;
    for end in digits..=LINE.len() {
        let found = read("log", &LINE.as_bytes()[..end], Own::default()).unwrap();
        let mut capture = Capture::default();
        let _ = found.into_capture(&mut capture);
        let expected = (end > digits + 12).then_some(AT.unwrap());
        let address = capture.faults[0].address.map(|at| at.start);
        assert_eq!(address, expected, "{}", &LINE[..end]);
    }
}

/// A line that was cut, in the middle of a log or at its end, leaves facts out, and has no other ones. A value that ends
/// its line cannot be known as cut.
#[test]
fn a_cut_line_has_no_other_facts() {
    const ENDS: [&str; 4] =
        ["Faulting page: ", "Failing VM page: ", "Node: ", "Memory access fault at GPU Node: "];
    fn is_less<T: PartialEq>(cut: &Option<T>, whole: &Option<T>) -> bool {
        cut.is_none() || cut == whole
    }
    let faults = |lines: &mut dyn Iterator<Item = &str>, end| {
        let text = lines.fold(String::new(), |text, line| text + line + "\n");
        let mut capture = Capture::default();
        let _ = read("log", text.strip_suffix(end).unwrap().as_bytes(), Own::default())
            .unwrap()
            .into_capture(&mut capture);
        (text, capture.faults)
    };
    for (lines, ..) in WORDINGS {
        // Two digits, which a cut may part.
        let two = |line: &&str| {
            line.replace("node-", "node-1").replace("by GPU 8", "by GPU 18").replace("Node: ", "Node: 1")
        };
        let lines: Vec<String> = lines.iter().map(two).collect();
        let (_, whole) = faults(&mut lines.iter().map(String::as_str), "");
        let [whole] = &*whole else { panic!("{lines:?}") };
        for (index, line) in lines.iter().enumerate() {
            let ends = (0..line.len()).filter(|end| line.is_char_boundary(*end));
            let may_end =
                ENDS.iter().any(|start| line.starts_with(start)) || line.contains("with status: 0x");
            // LLVM's runtime ends its line with the reasons.
            let ends_in_reasons = line.contains("Reasons: ");
            for end in ends.filter(|_| !may_end) {
                let before = || lines.iter().take(index).map(String::as_str).chain([&line[..end]]);
                let after = lines.iter().skip(index + 1).map(String::as_str);
                let middle = faults(&mut before().chain(after).chain(["a line of another program"]), "");
                for (text, cut) in [middle, faults(&mut before(), "\n")] {
                    for fault in &cut {
                        let page =
                            |fault: &Fault| fault.address.map(|at| (at.start, at.bytes, at.is_inexact));
                        let is_less = is_less(&page(fault), &page(whole))
                            && is_less(&fault.node, &whole.node)
                            && is_less(&fault.access, &whole.access)
                            && is_less(&fault.client, &whole.client)
                            && is_less(&fault.device, &whole.device)
                            && is_less(&fault.kernel, &whole.kernel)
                            && is_less(&fault.process, &whole.process)
                            && is_less(&fault.status, &whole.status)
                            && fault.reasons.iter().all(|reason| whole.reasons.contains(reason))
                            && (!fault.has_all_reasons || fault.reasons == whole.reasons || ends_in_reasons);
                        assert!(is_less, "{text}{fault:#?}");
                    }
                }
            }
        }
    }
}
