//! Reports as public threads have them: of several devices, cut, wrapped, reversed, and prose about reports.

use super::{Own, read};
use crate::capture::{Capture, Fault, FaultAccess, FaultKind, FaultReason, Foreign, Provenance};
use crate::report::fault::sentence;

/// The faults of a text, for a capture of a process.
pub(super) fn faults_of(text: &str, process: Option<u32>) -> Vec<Fault> {
    let mut capture =
        Capture { provenance: Provenance { process, ..Provenance::default() }, ..Capture::default() };
    let own = Own::of(&capture);
    let _ = read("log", text.as_bytes(), own).unwrap().into_capture(&mut capture);
    super::identify(&mut capture);
    capture.faults
}

pub(super) fn faults(text: &str) -> Vec<Fault> {
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

pub(super) const PAGE: u64 = 0x7f00_0020_1000;

/// A report of the kernel log since Linux 6.9.
pub(super) fn page_fault(device: &str, process: u32, page: u64, client: &str) -> String {
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

/// Wherever a terminal or a pipe breaks a report, and into how many lines.
#[test]
fn reports_are_joined_from_each_break() {
    const AGENT: &str = "Memory access fault by GPU node-1 (Agent handle: 0x5635e3db2590) on address 0x7f0000201000. Reason: Page not present or supervisor privilege.";
    const INEXACT: &str = "Memory access fault by GPU node-1 on address 0x7f0000201000 (may not be exact address). Reason: Write access to a read-only page.";
    const OFFLOAD: &str = "Memory access fault by GPU 1 (agent 0x55) at virtual address 0x7f0000201000. Reasons: Page not present or supervisor privilege";
    let whole = |text: &str| {
        let [fault] = &*faults(text) else { panic!("{text}") };
        (fault.address, fault.node, fault.reasons.clone())
    };
    for report in [AGENT, INEXACT, OFFLOAD] {
        let expected = whole(&format!("{report}\n"));
        assert_eq!((expected.0.unwrap().start, expected.1), (PAGE, Some(1)));
        let first = "Memory access fault ".len();
        let last = report.find("Reasons: ").map_or(report.len(), |at| at + "Reasons: ".len());
        for end in first..last {
            for prefix in ["", "app-1  | "] {
                let (one, other) = report.split_at(end);
                let text = format!("{prefix}{one}\n{prefix}{other}\nAborted (core dumped)\n");
                assert_eq!(whole(&text), expected, "{text}");
            }
        }
        for [first, second] in [[20, 29], [28, 40], [45, 60], [30, 62]] {
            let (one, rest) = report.split_at(first);
            let (other, last) = rest.split_at(second - first);
            let text = format!("{one}\n{other}\n{last}\nAborted (core dumped)\n");
            assert_eq!(whole(&text), expected, "{text}");
        }
    }
    // At blanks, as in mail, and as a program rewrites it.
    for end in AGENT.match_indices(' ').map(|(at, _)| at).filter(|at| *at > "Memory access fault".len()) {
        let text = format!("{}\n{}\nAborted\n", &AGENT[..end], &AGENT[end + 1..]);
        assert_eq!(whole(&text), whole(&format!("{AGENT}\n")), "{text}");
    }
    let text = AGENT.replace(". Reason", "\nReason");
    assert_eq!(whole(&(text + "\n")), whole(&format!("{AGENT}\n")));
    // Lines that do not continue it are read by themselves.
    let row = page_fault("amdgpu 0000:03:00.0", 7, PAGE + 0x1000, "TCP (0x8)");
    for cut in [40, 70, AGENT.len() - 9] {
        let text = format!("{}\n{row}", &AGENT[..cut]);
        let found = faults(&text);
        assert_eq!(found.iter().filter_map(|fault| fault.process).collect::<Vec<_>>(), [7], "{text}");
    }
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

/// Names and sentences of errors in configuration, source code, names of tests and prose.
#[test]
fn names_of_errors_alone_are_none() {
    for text in [
        "config: retry_on = \"hipErrorIllegalAddress\"\n",
        "retry_on=hipErrorIllegalAddress\n",
        "error = hipErrorLaunchFailure\n",
        "message = \"HIP error: an illegal memory access was encountered\"\n",
        "std::cerr << \"HIP error: an illegal memory access was encountered\" << std::endl;\n",
        "os << \"hipErrorIllegalAddress\";\n",
        "    fprintf(stderr, \"HIP error: unspecified launch failure\\n\");\n",
        "log.error('HIP error: device-side assert triggered')\n",
        "ignoring errors with hipErrorIllegalAddress, hipErrorAssert\n",
        "skips launches with hipErrorLaunchFailure\n",
        "test/foo (hipErrorIllegalAddress) ... ok\n",
        "[  OK  ] Codes/Name.Of (hipErrorAssert)\n",
        "ENUM(HSA_STATUS_ERROR_EXCEPTION)\n",
        "HIP_NAME(hipErrorLaunchFailure),\n",
        "    \"hipErrorIllegalAddress\",\n",
        "CODES = [\"hipErrorIllegalAddress\", \"hipErrorAssert\"]\n",
        "handler registered for error hipErrorIllegalAddress\n",
        "the handler of status HSA_STATUS_ERROR_MEMORY_FAULT, too\n",
        "INFO: retry on errors: hipErrorIllegalAddress, hipErrorAssert\n",
        "INFO: retry on errors: hipErrorIllegalAddress\n",
        "known codes: hipErrorLaunchFailure (719), hipErrorAssert (710)\n",
        "hipErrorLaunchFailure: the kernel failed to launch (documentation)\n",
        "hipErrorAssert: a device-side assert, see above\n",
        "HSA_STATUS_ERROR_EXCEPTION: wave traps end with it\n",
        "hipErrorIllegalAddress, hipErrorAssert and others\n",
        "the docs explain that an illegal memory access was encountered.\n",
    ] {
        check(text, &[]);
    }
}

/// Forms of HIP's errors by HIP's log, RCCL, Kokkos, GROMACS, ROCm's examples, llama.cpp and programs.
#[test]
fn errors_behind_the_words_of_a_reporter_are_read() {
    use FaultKind::Memory;
    for (text, kind) in [
        (
            ":3:hip_device_runtime.cpp :620 : 1 us: [pid:1 tid:0x7f] hipDeviceSynchronize: Returned hipErrorIllegalAddress : \n",
            Memory,
        ),
        (
            "hipDeviceSynchronize() error( hipErrorIllegalAddress): an illegal memory access was encountered a.cpp:12\n",
            Memory,
        ),
        ("HIP error #700 (hipErrorIllegalAddress): an illegal memory access was encountered.\n", Memory),
        (
            "n1:7:9 [0] transport.cc:12 NCCL WARN HIP failure 700 'an illegal memory access was encountered'\n",
            Memory,
        ),
        ("error: 'unspecified launch failure'(719) at main.hip:7\n", Queue),
        ("ROCm error: unspecified launch failure\n", Queue),
        ("hipMemcpy failed with hipErrorIllegalAddress\n", Memory),
        ("hipMemcpy failed with error hipErrorLaunchFailure (719)\n", Queue),
        ("hipMemcpy failed with error code hipErrorLaunchFailure\n", Queue),
        ("kernel launch failed: hipErrorIllegalAddress (700)\n", Memory),
        ("hipErrorIllegalAddress\n", Memory),
        ("[rank3]: hipErrorIllegalAddress(700)\n", Memory),
        ("an illegal memory access was encountered\n", Memory),
        (
            "Caught RuntimeError('HIP error: an illegal memory access was encountered\\nHIP kernel errors')\n",
            Memory,
        ),
        ("time=12 level=error msg=\"HIP error: an illegal memory access was encountered\"\n", Memory),
        ("{\"level\": \"error\", \"error\": \"hipErrorIllegalAddress\", \"rank\": 3}\n", Memory),
        (
            "HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION: The agent attempted to access memory beyond the largest legal address.\n",
            Aperture,
        ),
        (
            "E1 could not synchronize on CUDA context: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered :: *** Begin\n",
            Memory,
        ),
        ("INTERNAL: Failed to launch: hipErrorLaunchFailure (719) in f\n", Queue),
        ("can't launch: HIP error: device-side assert triggered\n", Assertion),
    ] {
        check(text, &[(kind, None, &[])]);
    }
}

/// Words of commands count before the message, not in names within it.
#[test]
fn names_within_a_message_do_not_hide_it() {
    for process in ["zgrep", "grep x", "a.assert(b)", "pytest.raises("] {
        let text = page_fault("amdgpu 0000:03:00.0", 5, PAGE, "TCP (0x8)")
            .replace("pid:32770)", &format!("pid:32770, for process {process} pid 5 thread {process} pid 5)"))
            .replace("app pid 5", &format!("{process} pid 5"));
        let found = faults_of(&text, Some(4242));
        let facts: Vec<_> = found.iter().map(|fault| (fault.process, fault.foreign())).collect();
        assert_eq!(facts, [(Some(5), Some(Foreign::Process))], "{text}");
    }
    for text in [
        "/src/x.hip:12: void f(): Device-side assertion `t.assert_ok()' failed.\n",
        "/src/x.assert.hip:12: void f(): Device-side assertion `t' failed.\n",
        "/src/x.hip:12: void f(): Device-side assertion `grep (t)' failed.\n",
    ] {
        check(text, &[(Assertion, None, &[])]);
    }
    // Test protocols print a program's output as remarks.
    for text in [
        "# Memory access fault by GPU node-1 (Agent handle: 0x1) on address 0x7f0000201000. Reason: Unknown.\n",
        "    # Memory access fault by GPU node-1 on address 0x7f0000201000. Reason: Unknown.\n",
    ] {
        check(text, &[(Page, Some(PAGE), &[])]);
    }
    check(
        "# :0:rocdevice.cpp :2984: 1 us: Callback: Queue 0x7e aborting with error : HSA_STATUS_ERROR_EXCEPTION: An HSAIL. code: 0x1016\n",
        &[(Exception, None, &[])],
    );
    for text in [
        "# Memory access fault by GPU node-1 on address 0x7f0000201000. Reason: Unknown. is what it prints\n",
        "# HIP error: an illegal memory access was encountered\n",
        "# ring gfx_0.0.0 timeout, signaled seq=1, emitted seq=3\n",
        "        self.assertIn(\"HIP error: device-side assert triggered\", text)\n",
        "zgrep 'amdgpu: GPU reset begin!' log\n",
    ] {
        check(text, &[]);
    }
}

/// A kernel's name may be before the report in its line.
#[test]
fn a_kernel_s_name_does_not_hide_a_report_in_its_line() {
    const REPORT: &str =
        "Memory access fault by GPU 1 (agent 0x55) at virtual address 0x7f0000201000. Reasons: Unknown (0)";
    for text in [
        format!("AMDGPU error: Kernel 'x' : {REPORT}\n"),
        format!("OFFLOAD ERROR: Kernel 'omp target in main @ 7 (__omp_offloading_10_7_main_l7)': {REPORT}\n"),
    ] {
        check(&text, &[(Page, Some(PAGE), &[])]);
    }
    check(
        "Kernel 'x': HIP error: an illegal memory access was encountered\n",
        &[(FaultKind::Memory, None, &[])],
    );
    let apart = format!("OFFLOAD ERROR: Kernel 'x (y)' \r\nOFFLOAD ERROR: {REPORT}\n");
    assert_eq!(faults(&apart)[0].kernel.as_deref(), Some("y"));
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
pub(super) const DEVICE_DUMP: &str = "\
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

/// HIP names the kernels of all queues, then the queue that failed.
#[test]
fn the_kernel_is_that_of_the_failed_queue() {
    let block = |kernel: &str, queue: &str| {
        format!(
            "Kernel Name: {kernel}\nVGPU=0x5bae1d0e41e0 SWq=0x7929b05da000, HWq=0x{queue}, id=1\n\
             \tDispatch Header = 0xb02 (type=2)\n\tgrid=[1024, 1, 1], workgroup=[256, 1, 1]\n\trptr=1, wptr=2\n"
        )
    };
    let abort = |queue: &str| {
        format!(
            ":0:rocdevice.cpp :3587: 8 us:  Callback: Queue 0x{queue} aborting with error : HSA_STATUS_ERROR_EXCEPTION: An HSAIL. code: 0x1016\n"
        )
    };
    let (first, second) = (block("first", "792897b00000"), block("second", "792897c00000"));
    let many: String = (0..9).map(|index| block("other", &format!("79289800{index}000"))).collect();
    for (text, kernel) in [
        (first.clone() + &second + &abort("792897b00000"), Some("first")),
        (first.clone() + &second + &abort("792897c00000"), Some("second")),
        (first.clone() + &abort("792897d00000"), None),
        (first.clone() + &many + &abort("792897b00000"), Some("first")),
        (first.clone() + &"a line\n".repeat(17) + &abort("792897b00000"), None),
        ("Kernel Name: bare\n".to_owned() + &abort("792897b00000"), Some("bare")),
        (first + &second.replace("Kernel Name: second\n", "") + &abort("792897c00000"), None),
    ] {
        let found = faults(&text);
        assert_eq!(found[0].kernel.as_deref(), kernel, "{text}");
    }
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
