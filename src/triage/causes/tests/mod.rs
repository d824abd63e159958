//! Causes of stops over dumps of compiled code. The places follow from the code's bytes and the source's lines.

mod arithmetic;

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use super::{cause, reported};
use crate::arch::Targets;
use crate::capture::{Fault, FaultKind};
use crate::codeobject::{CodeObject, assembled, newest_llvm};
use crate::import::{self, Options};
use crate::session::{Dump, Session};
use crate::triage::listings::Listings;
use crate::triage::{Assertion, Cause, Foreign};
use crate::units::{LaneSet, WaveId};

const LOADED: u64 = 0x7f00_0010_0000;

/// A wave of a dump: its stop reasons, PC, and further registers in the form of a dump.
struct Wave<'a> {
    stop: &'a str,
    pc: u64,
    registers: &'a str,
}

/// The cause of wave `of` in a dump of gfx90a with a code object. `sources`: path and text.
fn found(code: &[u8], waves: &[Wave<'_>], of: u32, sources: &[(&str, &str)]) -> Option<Cause> {
    found_on("gfx90a", code, waves, of, sources)
}

fn found_on(gpu: &str, code: &[u8], waves: &[Wave<'_>], of: u32, sources: &[(&str, &str)]) -> Option<Cause> {
    found_in(("all_code_objects = true", ", kernel = \"kernel\""), gpu, code, waves, of, sources)
}

/// `keys` and `of_dispatch`: further keys of the dump, and of the dispatch.
fn found_in(
    (keys, of_dispatch): (&str, &str),
    gpu: &str,
    code: &[u8],
    waves: &[Wave<'_>],
    of: u32,
    sources: &[(&str, &str)],
) -> Option<Cause> {
    let folder = tempfile::tempdir().unwrap();
    let mut text = format!(
        "format = 1\n{keys}\nagent = [{{ id = 1, target = \"{gpu}\" }}]\nqueue = [{{ id = 1, agent = 1 }}]\n\
         dispatch = [{{ id = 1, queue = 1, grid = [256], workgroup = [256]{of_dispatch} }}]\n\
         workgroup = [{{ id = 1, dispatch = 1, position = [0] }}]\n\
         [[code_object]]\nfile = \"code.hsaco\"\naddress = {LOADED}\n"
    );
    for (path, source) in sources {
        let hex: String = source.bytes().map(|byte| format!("{byte:02x} ")).collect();
        let _ = write!(text, "[[source]]\npath = \"{path}\"\nhex = \"{hex}\"\n");
    }
    let size = if gpu.starts_with("gfx1") { 32 } else { 64 };
    for (number, Wave { stop, pc, registers }) in waves.iter().enumerate() {
        let _ = write!(
            text,
            "[[wave]]\nid = {}\nworkgroup = 1\nwave_in_group = {number}\nwave_size = {size}\n{stop}\n[wave.registers]\npc = {pc}\nexec = 7\n{registers}\n",
            number + 1
        );
    }
    std::fs::write(folder.path().join("manifest.toml"), text).unwrap();
    std::fs::write(folder.path().join("code.hsaco"), code).unwrap();
    let opened = import::open(folder.path(), &Targets::builtin(), &Options::default()).unwrap();
    assert!(opened.problems.is_empty(), "{:?}", opened.problems);
    let dump = Arc::new(Dump::new(opened.capture, opened.problems));
    let session = Session::new(dump, None).unwrap();
    cause(&session, WaveId(of), &mut Listings::default())
}

/// The run-time address of a symbol.
fn address(code: &[u8], symbol: &str) -> u64 {
    let object = CodeObject::parse(code.to_vec()).unwrap();
    let found = object.symbols().iter().find(|known| known.name == symbol);
    LOADED + found.unwrap_or_else(|| panic!("no {symbol}")).value
}

const CODE: &str = "
.text
.globl kernel
.type kernel,@function
kernel:
  s_nop 0
call:
  s_swappc_b64 s[30:31], s[0:1]
after:
  s_trap 2
trapped:
  s_trap 7
other:
  v_rcp_f32_e32 v1, v0
  v_mov_b32_e32 v2, 0
divided:
  s_nop 0
  v_rcp_iflag_f32_e32 v1, v3
int_divided:
  s_nop 0
  v_add_f32_e32 v4, v5, v6
invalid:
  s_nop 0
  v_add_f16_e32 v9, v10, v11
  v_cvt_f32_u32_e32 v7, v8
converted:
  s_nop 0
  v_ldexp_f32 v12, v13, v14
scaled:
  s_nop 0
  v_cvt_f32_f16_e32 v15, v16
widened:
  s_nop 0
illegal:
  .long 0xbfc00000
  s_endpgm
end:
.size kernel, end-kernel
";

#[test]
fn traps_have_their_number() {
    let code = assembled(CODE);
    let trap = |stop, label| {
        let wave = Wave { stop, pc: address(&code, label), registers: "" };
        match found(&code, &[wave], 0, &[]) {
            Some(Cause::Trap { at, id }) => (at.function.unwrap_or_default(), id),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(trap("stop = [\"assert_trap\"]", "after"), ("kernel".to_owned(), Some(2)));
    // Old trap handlers leave the PC behind the instruction.
    assert_eq!(trap("stop = [\"assert_trap\"]", "trapped"), ("kernel".to_owned(), Some(7)));
    assert_eq!(trap("stop = [\"trap\"]", "other"), ("kernel".to_owned(), Some(7)));
}

/// `s_wait_loadcnt 0x0` of GFX12 is no instruction of GFX9 to GFX11.
#[test]
fn an_illegal_instruction_is_one_of_another_processor() {
    let code = assembled(CODE);
    let pc = address(&code, "illegal");
    let wave = Wave { stop: "stop = [\"illegal_instruction\"]", pc, registers: "" };
    let Some(Cause::IllegalInstruction { at, address, bytes, legal, elsewhere, compiled_for }) =
        found(&code, &[wave], 0, &[])
    else {
        panic!("another cause")
    };
    assert_eq!((at.function.as_deref(), address, bytes), (Some("kernel"), pc, vec![0, 0, 0xc0, 0xbf]));
    let text = "s_wait_loadcnt 0x0".to_owned();
    assert!(elsewhere.contains(&Foreign { processor: "gfx1200".to_owned(), text }), "{elsewhere:?}");
    assert!(
        !elsewhere.iter().any(|found| ["gfx906", "gfx90a", "gfx1100"].contains(&found.processor.as_str()))
    );
    assert_eq!((compiled_for, legal), (None, None));
}

/// `s_trap 7` is legal on every processor: the report is of another instruction.
#[test]
fn a_legal_instruction_at_the_pc_is_not_called_illegal() {
    let code = assembled(CODE);
    let pc = address(&code, "trapped");
    let wave = Wave { stop: "stop = [\"illegal_instruction\"]", pc, registers: "" };
    let Some(Cause::IllegalInstruction { legal, elsewhere, .. }) = found(&code, &[wave], 0, &[]) else {
        panic!("another cause")
    };
    assert_eq!((legal.as_deref(), elsewhere), (Some("s_trap 7"), Vec::new()));
}

/// A call by a bad pointer, and a return to a bad address.
#[test]
fn a_pc_outside_all_code_is_the_cause() {
    let code = assembled(CODE);
    let (after, bad) = (address(&code, "after"), 0x1234_5670);
    let pair = |first: u32, value: u64| {
        format!("s{first} = {}\ns{} = {}\n", value & 0xffff_ffff, first + 1, value >> 32)
    };
    let at = |pc: u64, registers: String| {
        let wave = Wave { stop: "stop = [\"memory_violation\"]", pc, registers: &registers };
        found(&code, &[wave], 0, &[])
    };
    let Some(Cause::BadPc { pc, holders, caller }) = at(bad, pair(0, bad) + &pair(30, after)) else {
        panic!("another cause")
    };
    assert_eq!((pc, holders), (bad, vec!["s[0:1]".to_owned()]));
    assert_eq!(caller.unwrap().function.as_deref(), Some("kernel"));
    let Some(Cause::BadPc { holders, caller, .. }) = at(bad, pair(30, bad)) else { panic!("another cause") };
    assert_eq!((holders, caller), (vec!["s[30:31]".to_owned()], None));
    for pc in [0, after + 2, 1 << 47] {
        assert!(matches!(at(pc, String::new()), Some(Cause::BadPc { .. })), "{pc:#x}");
    }
    // A PC in code: the cause is an access to memory.
    assert_eq!(at(after, String::new()), None);
}

/// Other code may be loaded outside of the known code objects, unless their list is whole. The kernels of the runtime
/// itself are in no list. A report of a fetch shows that no code is on its page, and nothing is mapped below 64 KiB.
#[test]
fn one_known_code_object_is_no_list_of_all() {
    let code = assembled(CODE);
    let is_bad = |facts: (&str, &str), pc: u64| {
        let wave = Wave { stop: "stop = [\"memory_violation\"]", pc, registers: "" };
        let found = found_in(facts, "gfx90a", &code, &[wave], 0, &[]);
        assert!(matches!(found, None | Some(Cause::BadPc { .. })), "{found:?}");
        found.is_some()
    };
    let at = 0x7f00_0234_5678;
    let memory = format!("memory = [{{ address = {at}, u32 = [0] }}]");
    let report = |access: &str| {
        let page = "{ kind = \"page\", address = 0x7f0002345000, bytes = 4096, access = ";
        format!("fault = [{page}\"{access}\" }}]")
    };
    let with = |keys: &str| format!("all_code_objects = true\n{keys}");
    let kernel = ", kernel = \"kernel\"";
    for (keys, of_dispatch, pc, expected) in [
        ("", "", at, false),
        ("", kernel, at, false),
        ("all_code_objects = false", kernel, at, false),
        ("all_code_objects = true", "", at, false),
        ("all_code_objects = true", kernel, at, true),
        (&with(&memory), "", at, false),
        (&with(&memory), kernel, at, true),
        (&report("read"), "", at, false),
        (&report("execute"), "", at, true),
        (&report("execute"), "", at + 0x1000, false),
        ("", "", 0x40, true),
    ] {
        assert_eq!(is_bad((keys, of_dispatch), pc), expected, "{keys} {of_dispatch} {pc:#x}");
    }
    // An entry that is left out is missing in the list: `is_bad` would meet its problem.
    let text = "format = 1\nall_code_objects = true\n[[code_object]]\nname = \"without an address\"\n";
    let opened = import::open_bytes("m", text.into(), &Targets::builtin()).unwrap();
    assert!(!opened.capture.has_all_code_objects);
}

#[test]
fn memory_errors_bystanders_and_debugger_stops() {
    let code = assembled(CODE);
    let pc = address(&code, "after");
    let wave = |stop| Wave { stop, pc, registers: "" };
    let alone = |stop| found(&code, &[wave(stop)], 0, &[]);
    assert_eq!(alone("stop = [\"ecc_error\"]"), Some(Cause::Ecc));
    let debugger = |found: Option<Cause>| match found {
        Some(Cause::Breakpoint { reasons, .. }) => reasons,
        other => panic!("{other:?}"),
    };
    assert_eq!(debugger(alone("stop = [\"breakpoint\"]")), ["breakpoint"]);
    assert_eq!(alone("stop = []"), None);
    assert_eq!(alone(""), None);
    assert_eq!(alone("stop = [\"fatal_halt\"]"), None);
    let beside = |stop| found(&code, &[wave(stop), wave("stop = [\"memory_violation\"]")], 0, &[]);
    let bystander = Some(Cause::Bystander { faulted: WaveId(1) });
    assert_eq!(beside("stop = []"), bystander);
    // A debugger stopped it: the fault of another wave is no reason.
    for (stop, reason) in
        [("stop = [\"debug_trap\"]", "debug_trap"), ("stop = [\"breakpoint\"]", "breakpoint")]
    {
        assert_eq!(debugger(beside(stop)), [reason]);
    }
    // A wave of unknown reasons may have faulted itself.
    assert_eq!(beside(""), None);
}

/// The only reports of the wave's GPU are of a bad page: no access is the cause.
#[test]
fn a_report_of_a_memory_error_precedes_accesses() {
    let of = |fault: &str| {
        let code = assembled(CODE);
        let stop = "stop = [\"memory_violation\"]";
        let registers = fault.to_string();
        let wave = Wave { stop, pc: address(&code, "after"), registers: &registers };
        found(&code, &[wave], 0, &[])
    };
    let ecc = "[[fault]]\nkind = \"ecc\"\naddress = 0x7f0000201000\nbytes = 4096\n";
    let page = "[[fault]]\nkind = \"page\"\naddress = 0x7f0000201000\nbytes = 4096\n";
    assert_eq!(of(ecc), Some(Cause::Ecc));
    assert_eq!(of(&format!("{ecc}{page}")), None);
    assert_eq!(of("[[fault]]\nkind = \"ecc\"\n"), None);
}

/// Without lines the only printed assertion counts, with its place; marked if its function has another name.
#[test]
fn a_printed_assertion_of_another_function_is_marked() {
    let code = assembled(CODE);
    let of = |function: &str| {
        let registers = format!(
            "[[fault]]\nkind = \"assertion\"\nassertion = {{ condition = \"m == 3\", file = \"other.hip\", \
             line = 99, function = \"{function}\" }}\n"
        );
        let wave =
            Wave { stop: "stop = [\"assert_trap\"]", pc: address(&code, "after"), registers: &registers };
        match found(&code, &[wave], 0, &[]) {
            Some(Cause::Assertion(of)) => (of.condition.unwrap(), of.at.line, of.is_inferred),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(of("device-kernel"), ("m == 3".to_owned(), Some(99), true));
    assert_eq!(of("void kernel(int *)"), ("m == 3".to_owned(), Some(99), false));
}

#[test]
fn reports_alone_name_errors_of_queues() {
    let fault = |kind| Fault { kind, kernel: Some("k".to_owned()), ..Fault::default() };
    for kind in [FaultKind::Launch, FaultKind::Queue, FaultKind::Exception, FaultKind::IllegalInstruction] {
        let Some(Cause::Queue(error)) = reported(&[fault(kind)]) else { panic!("{kind:?}") };
        assert_eq!(error.kernel.as_deref(), Some("k"));
        assert!(!error.text.is_empty());
    }
    assert_eq!(reported(&[fault(FaultKind::Ecc)]), Some(Cause::Ecc));
    for kind in [FaultKind::Page, FaultKind::Aperture, FaultKind::Memory] {
        assert_eq!(reported(&[fault(FaultKind::Queue), fault(kind)]), None, "{kind:?}");
    }
    assert_eq!(reported(&[]), None);
    // The states of the waves decide.
    assert_eq!(reported(&[fault(FaultKind::Hang)]), None);
    assert!(reported(&[fault(FaultKind::Hang), fault(FaultKind::Launch)]).is_some());
}

const ASSERT: &str = "#define DEVICE __attribute__((device))
extern \"C\" DEVICE __attribute__((noinline)) void __assert_fail(const char *assertion, const char *file, unsigned line) {
  __builtin_trap();
}
#define assert(c) ((c) ? (void)0 : __assert_fail(#c, __FILE__, __LINE__))
DEVICE static inline int inner(const int *a, int n, int i) {
  assert(i < n && \"(\");
  return a[i];
}
__attribute__((global)) void check(const int *a, int n, int *out) {
  int i = __builtin_amdgcn_workitem_id_x();
  out[i] = inner(a, n, i);
}
";

fn compiled(folder: &Path, gpu: &str, level: &str, text: &str) -> Vec<u8> {
    let [source, output] = ["assert.hip", "code.hsaco"].map(|name| folder.join(name));
    std::fs::write(&source, text).unwrap();
    let mut command = Command::new(newest_llvm("clang"));
    let flags = "-x hip --cuda-device-only --no-gpu-bundle-output -nogpuinc -nogpulib -g -fuse-cuid=none";
    command
        .args(flags.split(' '))
        .arg(format!("--offload-arch={gpu}"))
        .arg(level)
        .arg("-o")
        .arg(&output)
        .arg(&source);
    let done = command.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    std::fs::read(&output).unwrap()
}

/// The return addresses of all `s_swappc_b64 s[30:31]`, an instruction of format SOP1.
fn calls(code: &[u8], opcode: u8) -> Vec<u64> {
    let object = CodeObject::parse(code.to_vec()).unwrap();
    let section = object.sections().iter().find(|section| section.name == ".text").unwrap();
    let (start, size) = (section.offset as usize, section.size as usize);
    let words = code[start..start + size].chunks_exact(4).enumerate();
    let is_call = |word: &[u8]| word[1] == opcode && word[2..] == [0x9e, 0xbe];
    let each = words.filter(|(_, word)| is_call(word));
    each.map(|(index, _)| LOADED + section.address + 4 * index as u64 + 4).collect()
}

/// Without the source file the condition is the string that the code passes to the reporter.
#[test]
fn a_condition_is_the_string_that_the_call_passes() {
    // The reporter uses its arguments, as that of HIP does; only the condition and the line differ between calls.
    let text = ASSERT
        .replace(
            "__builtin_trap",
            "*(const char *volatile *)assertion = file; *(volatile unsigned *)file = line; __builtin_trap",
        )
        .replace("return a[i];", "assert(a != 0);\n  return a[i];");
    // Opcodes of s_swappc_b64 by the ISA documents of CDNA2, RDNA3 and RDNA4.
    for (gpu, opcode) in [("gfx90a", 0x1e), ("gfx1100", 0x49), ("gfx1201", 0x49)] {
        let folder = tempfile::tempdir().unwrap();
        let code = compiled(folder.path(), gpu, "-O2", &text);
        let trap = address(&code, "__assert_fail") + 4;
        let each = calls(&code, opcode).into_iter().map(|after| {
            let registers = format!("s30 = {}\ns31 = {}", after & 0xffff_ffff, after >> 32);
            let wave = Wave { stop: "stop = [\"assert_trap\"]", pc: trap, registers: &registers };
            match found_on(gpu, &code, &[wave], 0, &[]) {
                Some(Cause::Assertion(Assertion { at, condition, .. })) => (at.line, condition),
                other => panic!("{other:?}"),
            }
        });
        let mut each: Vec<_> = each.collect();
        each.sort();
        let wanted = [(7, "i < n && \"(\""), (8, "a != 0")];
        assert_eq!(each, wanted.map(|(line, text)| (Some(line), Some(text.to_owned()))), "{gpu}");
    }
}

/// The line of the assertion is that of an inlined function; the library's function has trapped.
#[test]
fn an_assertion_has_the_line_and_condition_of_its_caller() {
    let folder = tempfile::tempdir().unwrap();
    let code = compiled(folder.path(), "gfx90a", "-O2", ASSERT);
    let reporter = address(&code, "__assert_fail");
    let [after] = calls(&code, 0x1e)[..] else { panic!("several calls") };
    let registers = format!("s30 = {}\ns31 = {}", after & 0xffff_ffff, after >> 32);
    let trap = reporter + 4;
    let wave = Wave { stop: "stop = [\"assert_trap\"]", pc: trap, registers: &registers };
    let path = folder.path().join("assert.hip");
    let Some(Cause::Assertion(Assertion { at, condition, lanes, wave, is_inferred: false })) =
        found(&code, &[wave], 0, &[(path.to_str().unwrap(), ASSERT)])
    else {
        panic!("another cause")
    };
    assert_eq!((at.line, lanes, wave), (Some(7), LaneSet(7), WaveId(0)));
    // clang 22 writes no call frame information for AMDGPU: the return address register leads to the call.
    assert!(at.function.unwrap().starts_with("check"));
    assert_eq!(at.text.as_deref(), Some("assert(i < n && \"(\");"));
    assert_eq!(condition.as_deref(), Some("i < n && \"(\""));
}

#[test]
fn conditions_of_source_lines() {
    use super::assertion::{condition, quoted};
    for (line, expected) in [
        ("assert(n > 0);", Some("n > 0")),
        ("  if (x) assert ( f(a, g(b)) ); // why", Some("f(a, g(b))")),
        ("assert(s[0] == ')' && t);", Some("s[0] == ')' && t")),
        ("assert(a); assert(b);", None),
        ("static_assert(n > 0);", None),
        ("assert(n >", None),
        ("assert();", None),
        ("x = 1;", None),
        ("my_assert(n > 0)", None),
    ] {
        assert_eq!(condition(line), expected, "{line}");
    }
    assert_eq!(quoted("0x7f00 \"i < n\"").as_deref(), Some("i < n"));
    assert_eq!(quoted("0x7f00 \"s == \\\"x\\\"\"").as_deref(), Some("s == \"x\""));
    assert_eq!(quoted("0x7f00"), None);
}
