//! The program from a user's command line.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read as _};
use std::process::{Child, Command, Output, Stdio};

use crate::fixtures::{fixtures, one_line};

pub(crate) fn program() -> Command {
    let mut command = crate::support::lanescope();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

pub(crate) fn run(arguments: &[&str]) -> Output {
    program().args(arguments).output().unwrap()
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a program on a terminal of its own, with that many columns; prints what it shows, and ends with its status.
const TERMINAL: &str = "
import fcntl, os, pty, struct, sys, termios
pid, master = pty.fork()
if pid == 0:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack('HHHH', 24, int(sys.argv[1]), 0, 0))
    os.execvp(sys.argv[2], sys.argv[2:])
text = b''
while True:
    try:
        part = os.read(master, 65536)
    except OSError:
        break
    if not part:
        break
    text += part
sys.stdout.buffer.write(text)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
";

/// A program on a terminal, whose output is what that shows.
pub(crate) fn on_terminal(columns: usize, words: &[&str]) -> Command {
    let mut python = Command::new("python3");
    python.args(["-c", TERMINAL, &columns.to_string()]).args(words).stdin(Stdio::null());
    python
}

/// Kills the server on drop.
pub(crate) struct Ending(pub(crate) Child);

impl Drop for Ending {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The program alone serves the demo on gdb's usual port, or says that another process has it.
#[test]
fn without_words_the_demo_is_served() {
    let mut server = Ending(program().spawn().unwrap());
    let (out, errors) = (server.0.stdout.take().unwrap(), server.0.stderr.take().unwrap());
    let lines = BufReader::new(out.chain(errors)).lines().map_while(Result::ok);
    let lines: Vec<String> = lines.take_while(|line| !line.contains("gdb-remote 1234")).collect();
    let said = lines.join("\n");
    // Another program may have the port.
    let is_served =
        said.starts_with("Serving the embedded demo: 8 waves") && said.contains("target remote :1234");
    assert!(is_served || said.contains("127.0.0.1:1234: Address already in use"), "{said}");
}

#[test]
fn every_client_can_be_chosen() {
    for client in ["auto", "gdb", "lldb", "amdgcn-gdb", "amdgcn-lldb"] {
        let child = program().args(["serve", "--port", "0", "--client", client]).spawn().unwrap();
        let mut server = Ending(child);
        let lines = BufReader::new(server.0.stdout.take().unwrap()).lines();
        let listening = lines.map_while(Result::ok).any(|line| line.starts_with("Listening on 127.0.0.1:"));
        assert!(listening, "--client {client}");
    }
    let refused = run(&["serve", "--port", "0", "--client", "windbg"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("amdgcn-lldb"), "{}", text(&refused.stderr));
}

/// A regular file at the path of a unix socket is kept: it belongs to another program.
#[test]
fn a_file_is_not_taken_for_an_abandoned_socket() {
    let path = crate::support::own_folder().join("precious.toml");
    std::fs::write(&path, "format = 1\n").unwrap();
    let refused = run(&["serve", "--unix", path.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("exists and is not a socket"), "{}", text(&refused.stderr));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "format = 1\n");
}

/// Prints only the requested parts, and does not take the dump for a register.
#[test]
fn registers_are_chosen_by_name_and_range() {
    let dump = concat!(env!("LANESCOPE_ROOT"), "tests/fixtures/demo.zip");
    let output = run(&["registers", "-r", "pc,s0-s1", "-r", "exec", dump]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    let names: Vec<&str> = said.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, ["pc", "s0", "s1", "exec"]);
    // Each register once, in the order of the first mention.
    let output = run(&["registers", "-r", "s1,s0-s3,scalar,s2,exec", "-r", "exec", dump]);
    let said = text(&output.stdout);
    let names: Vec<&str> = said
        .lines()
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(names[..4], ["s1", "s0", "s2", "s3"]);
    let distinct: HashSet<&&str> = names.iter().collect();
    assert!(distinct.len() == names.len() && names.len() > 8 && names.contains(&"exec"), "{names:?}");
    let unknown = run(&["registers", "-r", "v300", dump]);
    assert!(text(&unknown.stderr).contains("v300"), "{}", text(&unknown.stderr));
}

#[test]
fn a_missing_dump_is_reported() {
    for command in ["info", "waves", "lanes", "registers", "locals", "export", "serve"] {
        let output = run(&[command, "/nowhere/dump"]);
        assert_eq!(output.status.code(), Some(1), "{command}");
        assert!(text(&output.stderr).contains("/nowhere/dump"), "{command}: {}", text(&output.stderr));
    }
}

/// An error names its option, and the remedy.
#[test]
fn errors_name_the_option_and_the_remedy() {
    let fixture = |name: &str| {
        let path = crate::fixtures::fixtures().join("dumps").join(name);
        path.to_str().unwrap().to_owned()
    };
    let (lds, saxpy) = (fixture("lds-gfx90a-O0"), fixture("saxpy-gfx90a-O0"));
    let folder = tempfile::tempdir().unwrap();
    let manifest = folder.path().join("manifest.toml");
    std::fs::write(&manifest, "format = 1\nx = 1\nx = 2\n").unwrap();
    let broken = folder.path().to_str().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let of_manifest =
        format!("{broken}: manifest.toml: line 3, column 1: duplicate key `x` (expected a TOML");
    for (arguments, words) in [
        (vec!["triage", "--targets", "/nowhere"], "--targets /nowhere: No such file"),
        (vec!["triage", "--draft", "/nowhere"], "--draft /nowhere: No such file"),
        (vec!["triage", "-"], "standard input is empty; expected a dump"),
        (vec!["triage", "-", "--log", "-"], "standard input is either DUMP or --log"),
        (vec!["serve", "--stdio", "-"], "with --stdio standard input is the debugger's"),
        (vec!["check", "--new", "-"], "a file of expectations needs a dump in a file"),
        (vec!["triage", pipe.to_str().unwrap()], "a pipe: `lanescope triage - < PIPE` reads a dump from one"),
        (vec!["triage", broken], &of_manifest),
        (vec!["memory", "--at", "local#0x200", &lds], "the work-group's LDS has 512 bytes"),
        (vec!["memory", "--at", "local#0", &saxpy], "the work-group has no LDS"),
        (vec!["registers", "-r", "nothing", &saxpy], "scalar, vector, accumulator"),
        (vec!["arguments", "--dispatch", "4", &saxpy], "`dispatches` lists them"),
        (vec!["eval", &saxpy, "foo"], "expected an operation of the"),
        (vec!["eval", &saxpy, "lit"], "`DW_OP_lit0`"),
    ] {
        let refused = run(&arguments);
        let error = one_line(&text(&refused.stderr));
        assert!(error.contains(words), "{arguments:?}: {error}");
        assert!(matches!(refused.status.code(), Some(1 | 2)), "{arguments:?}: {refused:?}");
        assert!(error.matches("(expected").count() <= 1, "{error}");
    }
    let listed = text(&run(&["disassemble", "--address", "0x10", &saxpy]).stdout);
    assert!(listed.contains("there are no instructions") && !listed.contains("32 instructions"), "{listed}");
}

/// A name with control characters affects neither the terminal nor the list of threads.
#[test]
fn control_characters_are_shown_escaped() {
    let path = crate::support::own_folder().join("control.toml");
    let manifest = r#"
format = 1
agent = [{ id = 1, target = "gfx90a" }]
queue = [{ id = 1, agent = 1 }]
dispatch = [{ id = 1, queue = 1, kernel = "a\u0000\u001b[31mb" }]
workgroup = [{ id = 1, dispatch = 1 }]
wave = [{ id = 1, workgroup = 1 }]
"#;
    std::fs::write(&path, manifest).unwrap();
    let output = run(&["waves", "--verbose", path.to_str().unwrap()]);
    let said = text(&output.stdout);
    assert!(said.contains(r"a\0\u{1b}[31mb"), "{said}");
    assert!(!said.contains('\u{1b}') && !said.contains('\0'), "{said:?}");
    assert!(text(&output.stderr).contains("without control characters"), "{}", text(&output.stderr));
}

/// An address with a lane is of that lane: the model's `i` of lane 17 is 1017 (tests/fixtures/expected/demo.json).
#[test]
fn an_address_that_names_its_lane_keeps_it() {
    let address = format!("{:#x}", 5u64 << 56 | 1 << 39 | 17 << 32 | 0xa8);
    let i = text(&run(&["memory", "--at", &address, "-n", "4"]).stdout);
    assert!(i.ends_with("f9 03 00 00\n"), "{i}");
    let focused = text(&run(&["memory", "--at", "private_lane#0xa8", "-n", "4", "--lane", "17"]).stdout);
    assert!(focused.ends_with("f9 03 00 00\n"), "{focused}");
    assert_eq!(run(&["memory", "--at", "private_lane#0", "--lane", "all"]).status.code(), Some(1));
}

/// A filter that matches several kinds keeps all of them.
#[test]
fn a_kind_may_be_a_gpu_alone() {
    let dump = concat!(env!("LANESCOPE_ROOT"), "tests/fixtures/dumps/mixed-kinds");
    let all = text(&run(&["waves", "--kind", "gfx1100", dump]).stdout);
    assert!(all.contains("gfx1100:wave32") && all.contains("gfx1100:wave64"), "{all}");
    assert!(!all.contains("gfx90a"), "{all}");
}

/// Packets are counted by queue; the dump's own numbers stand for missing packets.
#[test]
fn an_export_names_a_dispatch_by_one_number_everywhere() {
    // Queue, id, packet, and the expected number.
    let dispatches = [
        (2, 5, Some(9), Some(9)),
        (2, 6, None, Some(6)),
        (2, 9, None, None),
        (3, 7, Some(9), Some(9)),
        (3, 8, Some(1 << 40), Some(1u64 << 40)),
    ];
    let mut manifest = String::from(
        "format = 1\n[[agent]]\nid = 1\ntarget = \"gfx90a\"\n[[queue]]\nid = 2\nagent = 1\n[[queue]]\nid = 3\nagent = 1\n",
    );
    for (queue, id, packet, _) in dispatches {
        let packet = packet.map_or(String::new(), |packet: u64| format!("packet = {packet}\n"));
        manifest += &format!(
            "[[dispatch]]\nid = {id}\nqueue = {queue}\n{packet}[[workgroup]]\nid = {id}\ndispatch = {id}\n[[wave]]\nid = {id}\nworkgroup = {id}\n"
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("manifest.toml");
    std::fs::write(&path, manifest).unwrap();
    let output = run(&["export", path.to_str().unwrap()]);
    let export: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(export["problems"], serde_json::json!([]), "{}", text(&output.stderr));
    let expected: Vec<_> =
        dispatches.iter().map(|(queue, .., named)| serde_json::json!([queue, named])).collect();
    for table in ["dispatches", "workgroups", "waves"] {
        let rows = export[table].as_array().unwrap().iter();
        let named: Vec<_> = rows.map(|row| serde_json::json!([row["queue_id"], row["packet_id"]])).collect();
        assert_eq!(named, expected, "{table}");
    }
}

/// A dump whose work-group has 512 MiB of LDS, in a sparse file: its digits are streamed.
#[cfg(target_os = "linux")]
#[test]
fn an_export_holds_no_memory_as_a_whole() {
    use std::io::Read as _;

    let folder = tempfile::tempdir().unwrap();
    let lds = std::fs::File::create(folder.path().join("lds.bin")).unwrap();
    lds.set_len(512 << 20).unwrap();
    let manifest = "format = 1\n[[agent]]\nid = 1\ntarget = \"gfx90a\"\n[[queue]]\nid = 1\nagent = 1\n[[workgroup]]\nid = 1\n\
        queue = 1\nlds = [{ file = \"lds.bin\" }]\n";
    std::fs::write(folder.path().join("manifest.toml"), manifest).unwrap();
    let mut child = Ending(program().arg("export").arg(folder.path()).spawn().unwrap());
    let mut begun = vec![0; 64 << 20];
    child.0.stdout.take().unwrap().read_exact(&mut begun).unwrap();
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.0.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < 200 << 10, "{peak} kB");
}

/// docs/export-format.md: the limit of 262,144 packets is reached by four rings of 65,536 each.
#[test]
fn an_export_bounds_packets_and_counts_those_that_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::File::create(folder.path().join("ring.bin")).unwrap().set_len(4 << 20).unwrap();
    let mut manifest = String::from(
        "format = 1\n[[agent]]\nid = 1\ntarget = \"gfx90a\"\n[[memory]]\naddress = 0\nfile = \"ring.bin\"\n",
    );
    let packets = [65536, 65536, 65536, 65535, 2, 1, 1, 65537];
    for (queue, packets) in packets.iter().enumerate() {
        let ring = format!("address = 0, size = {}, read = 5, write = {}", 4 << 20, 5 + packets);
        manifest += &format!("[[queue]]\nid = {queue}\nagent = 1\nring = {{ {ring} }}\n");
    }
    std::fs::write(folder.path().join("manifest.toml"), manifest).unwrap();
    let output = run(&["export", folder.path().to_str().unwrap()]);
    let export: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let told: Vec<_> = export["queues"]
        .as_array()
        .unwrap()
        .iter()
        .map(|queue| {
            let bytes = queue["packet_bytes"].as_str().map(|digits| digits.len() / 2);
            (bytes, queue["packets_left_out"].as_u64())
        })
        .collect();
    let (ring, all) = (65536 * 64, Some(65535 * 64));
    // One packet is left after the fourth queue: too few for the fifth. The last index is wrong: the ring is smaller.
    let few = [(None, Some(2)), (Some(64), None), (None, Some(1)), (None, None)];
    assert_eq!(told[..4], [(Some(ring), None), (Some(ring), None), (Some(ring), None), (all, None)]);
    assert_eq!(told[4..], few);
}

/// docs/export-format.md: missing digits of a scalar are `x`, and null is a missing value. umr prints `bebebeef` for
/// unreadable registers: here for the lower half of vcc.
#[test]
fn half_a_scalar_is_shown_by_programs_as_by_people() {
    const WAVE: &str = "------------------------------------------------------
se0.sa0.wgp0.simd1.wave0
Main Registers:
\t              status: 00012061 |                pc_lo: 00100000 |                pc_hi: 00008000 |              exec_lo: 00000f0f |
\t             exec_hi: 00000001 |               hw_id1: 00000000 |               hw_id2: 00000000 |             inst_dw0: bf800000 |
\t           gpr_alloc: 00000300 |            lds_alloc: 00000000 |              trapsts: 00000000 |               ib_sts: 00000000 |
\t             ib_sts2: 00000800 |              ib_dbg1: 00000000 |                   m0: 00000005 |                 mode: 000003c0 |
SGPRS:
\t[   0..   3] = { 73cf256d, dda1494c, 8f4d3e27, db5b5fab }
\t[ 104.. 107] = { e90794df, 0d650372, bebebeef, 601e5b45 }
";
    let scratch = crate::slim::Scratch::new("cli-half");
    let dump = scratch.path("wave.txt");
    std::fs::write(&dump, WAVE).unwrap();
    let dump = dump.to_str().unwrap();
    let line = run(&["registers", "-r", "vcc", "--processor", "gfx1030", dump]).stdout;
    assert_eq!(text(&line), "vcc           0x601e5b45xxxxxxxx\n");
    let json = |arguments: &[&str]| -> serde_json::Value {
        let all = [arguments, &["--processor", "gfx1030", dump]].concat();
        serde_json::from_slice(&run(&all).stdout).unwrap()
    };
    let registers = json(&["registers", "--json", "-r", "vcc,s0,s9"]);
    let expected = serde_json::json!({"vcc": "xxxxxxxx455b1e60", "s0": "6d25cf73", "s9": null});
    assert_eq!(registers["registers"], expected);
    assert_eq!(json(&["export"])["waves"][0]["registers"]["vcc"], expected["vcc"]);
}

/// A GPU that does not answer reads as all ones: STATUS has bits that are zero in every wave. Ones are values elsewhere.
#[test]
fn registers_of_ones_were_not_read() {
    let wave = |status: &str| {
        format!(
            "{0}\nse0.sa0.wgp0.simd1.wave0\nMain Registers:\n\t status: {status} | pc_lo: ffffffff | pc_hi: 00008000 | \
             exec_lo: ffffffff |\n\t exec_hi: 00000001 | hw_id1: 00000000 | gpr_alloc: 00000300 | ib_sts2: 00000800 |\n\
             SGPRS:\n\t[   0..   3] = {{ ffffffff, 00000002, ffffffff, 00000000 }}\n",
            "-".repeat(54)
        )
    };
    let scratch = crate::slim::Scratch::new("cli-ones");
    let dump = scratch.path("wave.txt");
    for (status, wanted) in [
        (
            "00012061",
            [Some("ffffffff00800000"), Some("ffffffff01000000"), Some("ffffffff"), Some("02000000")],
        ),
        ("ffffffff", [None, Some("xxxxxxxx01000000"), None, Some("02000000")]),
    ] {
        std::fs::write(&dump, wave(status)).unwrap();
        let found = run(&["export", "--processor", "gfx1030", dump.to_str().unwrap()]);
        let export: serde_json::Value = serde_json::from_slice(&found.stdout).unwrap();
        let registers = &export["waves"][0]["registers"];
        let shown = ["pc", "exec", "s0", "s1"].map(|name| registers[name].as_str());
        assert_eq!(shown, wanted, "{status}");
        let problems = export["problems"].to_string();
        assert_eq!(problems.contains("read as all ones"), status == "ffffffff", "{problems}");
    }
}

/// saxpy-gfx90a-O0: `first` of the kernel is the work-item's id in the grid, `lane_item` the id in its work-group of
/// 128.
#[test]
fn a_work_item_chooses_wave_and_lane() {
    let dump = concat!(env!("LANESCOPE_ROOT"), "tests/fixtures/dumps/saxpy-gfx90a-O0");
    let print = |place: &[&str], path| text(&run(&[&["print", dump, path], place].concat()).stdout);
    for (place, grid, local) in [
        (&["--work-item", "70"][..], 70, 70),
        (&["--work-item", "130,0,0"], 130, 2),
        (&["--workgroup", "1", "--work-item", "3"], 131, 3),
        // The first active lane of both waves is lane 0.
        (&["--workgroup", "2,0,0"], 256, 0),
        (&["--workgroup", "2,0,0/1"], 320, 64),
    ] {
        let shown = print(place, "first");
        assert!(shown.contains(&format!("first = {grid}  [")), "{place:?}: {shown}");
        let shown = print(place, "lane_item");
        assert!(shown.contains(&format!("lane_item = {local}  [")), "{place:?}: {shown}");
    }
    let place = ["--work-item", "70"];
    let of = |command: &[&str]| text(&run(&[command, &[dump], &place].concat()).stdout);
    assert!(of(&["locals"]).contains("int first = 70\n"));
    assert!(of(&["locals", "--explain"]).contains("int first = 70  ["));
    assert!(of(&["eval"]).is_empty(), "an expression is missing");
    assert!(
        text(&run(&["eval", dump, "DW_OP_LLVM_push_lane", "--value", "--work-item", "70"]).stdout)
            .contains("lane 6: 0x6")
    );
    assert!(of(&["lanes"]).contains("* lane 6 is in focus\n"), "{}", of(&["lanes"]));
    assert!(of(&["lanes", "--full"]).contains("*  6 "), "{}", of(&["lanes", "--full"]));
    assert_eq!(
        of(&["registers", "-r", "pc"]),
        text(&run(&["registers", "-r", "pc", "--wave", "2", dump]).stdout)
    );
    assert_eq!(of(&["backtrace"]), text(&run(&["backtrace", "--wave", "2", "--lane", "6", dump]).stdout));
    let memory = ["memory", "--at", "private_lane#0x30", "-n", "4"];
    assert!(of(&memory).contains(": 46 00 00 00"), "{}", of(&memory));
    for (wrong, status, words) in [
        (&["--work-item", "500"][..], 1, "the grid of AMDGPU Dispatch 1:1:1 is [500,1,1]"),
        (
            &["--workgroup", "0", "--work-item", "128"],
            1,
            "the work-groups of AMDGPU Dispatch 1:1:1 are [128,1,1]",
        ),
        (&["--workgroup", "0", "--work-item", "(0)[1]"], 1, "names a work-group, and so does --workgroup"),
        (&["--workgroup", "0/1", "--work-item", "0"], 1, "a --workgroup is X,Y,Z without a wave"),
        (&["--work-item", "70", "--lane", "6"], 2, "cannot be used with"),
        (&["--work-item", "x"], 2, "expected X,Y,Z"),
        (&["--workgroup", "1/x"], 2, "expected X,Y,Z or X,Y,Z/N"),
    ] {
        let refused = run(&[&["locals", dump], wrong].concat());
        assert_eq!(refused.status.code(), Some(status), "{wrong:?}");
        let unfolded = one_line(&text(&refused.stderr));
        assert!(unfolded.contains(words), "{wrong:?}: {}", text(&refused.stderr));
    }
}

/// Lists print positions with parentheses: every option and command accepts them with and without.
#[test]
fn places_are_taken_as_lists_write_them() {
    let demo = concat!(env!("LANESCOPE_ROOT"), "tests/fixtures/demo.zip");
    let of = |option: &str, place: &str| {
        let found = run(&["print", "--json", option, place, demo, "i"]);
        assert!(found.status.success(), "{option} {place}: {}", text(&found.stderr));
        text(&found.stdout)
    };
    // Work-groups of 128 in waves of 64: work-item 134 is number 6 in work-group 1, in its first wave.
    let expected = of("--work-item", "134,0,0");
    for place in ["134", "134,0", "(134,0,0)", "(134)", " ( 134, 0 ) ", "(1,0,0)[6,0,0]", "1,0,0[6,0,0]"] {
        assert_eq!(of("--work-item", place), expected, "{place}");
    }
    let expected = of("--workgroup", "1,0,0/1");
    for place in ["1/1", "(1,0,0)/1", "(1)/1"] {
        assert_eq!(of("--workgroup", place), expected, "{place}");
    }
    assert_eq!(of("--workgroup", "(1,0,0)"), of("--workgroup", "1"));
    let refused = run(&["serve", "--port", "0", "--wave", "2", "--work-item", "5", demo]);
    let words = text(&refused.stderr);
    assert!(
        words.contains("work-item (5,0,0) is in wave 1 (gfx90a:wave64), which --wave or --kind leaves out"),
        "{words}"
    );
}

/// docs/export-format.md: a listed wave without captured registers has no list of them.
#[test]
fn a_wave_without_registers_has_no_list_of_them() {
    let log = std::fs::read_to_string(crate::fixtures::fixtures().join("logs/umr-columns.txt")).unwrap();
    let scratch = crate::slim::Scratch::new("cli-no-registers");
    let dump = scratch.path("waves.txt");
    let start: Vec<&str> = log.lines().take(5).collect();
    // Only the position of a wave.
    std::fs::write(&dump, start.join("\n") + "\n0 0 2 0 0\n").unwrap();
    let export = run(&["export", "--processor", "gfx90a", dump.to_str().unwrap()]).stdout;
    let export: serde_json::Value = serde_json::from_slice(&export).unwrap();
    let registers = |index: usize| &export["waves"][index]["registers"];
    assert_eq!((registers(0)["s0"].as_str(), registers(0)["s99"].is_null()), (Some("000080bf"), true));
    assert_eq!((registers(1), &export["waves"][2]), (&serde_json::Value::Null, &serde_json::Value::Null));
}

/// `info` lists a dump's source files. `view` writes the server's files for debuggers: views, lldb's stub, source
/// files.
#[test]
fn source_files_are_listed_and_written_beside_the_views() {
    let demo = concat!(env!("LANESCOPE_ROOT"), "tests/fixtures/demo.zip");
    let source = std::fs::read(crate::fixtures::fixtures().join("kernels/saxpy.hip")).unwrap();
    let listed = text(&run(&["info", demo]).stdout);
    let row =
        format!("1 source file, {0} bytes:\n  tests/fixtures/kernels/saxpy.hip ({0} bytes)\n", source.len());
    assert!(listed.contains(&row), "{listed}");
    let json: serde_json::Value = serde_json::from_slice(&run(&["info", "--json", demo]).stdout).unwrap();
    let expected = serde_json::json!([{ "path": "tests/fixtures/kernels/saxpy.hip", "bytes": source.len() }]);
    assert_eq!(json["sources"], expected);
    let scratch = crate::slim::Scratch::new("cli-view-sources");
    let folder = scratch.path("views");
    let written = run(&["view", demo, "-o", folder.to_str().unwrap()]);
    assert!(written.status.success(), "{}", text(&written.stderr));
    let path = folder.join("sources/tests/fixtures/kernels/saxpy.hip");
    assert_eq!(std::fs::read(&path).unwrap(), source);
    // First address of the view's unit.
    let dwarf = crate::dwarf::ran(
        Command::new(crate::support::newest("llvm-dwarfdump"))
            .arg("--debug-info")
            .arg(folder.join("saxpy.hsaco")),
    );
    let there = format!("DW_AT_comp_dir\t(\"{}\")", folder.join("sources").display());
    assert!(dwarf.contains(&there), "{there}: {dwarf:.2000}");
    // An ELF file for lldb, without code sections.
    assert!(std::fs::read(folder.join("lanescope")).unwrap().starts_with(b"\x7fELF"));
    let words = text(&written.stdout);
    for command in ["set substitute-path ", "settings set target.source-map "] {
        assert!(words.contains(command), "{words}");
    }
    for taken in ["sources", "lanescope", "saxpy.hsaco"] {
        let folder = scratch.path(taken);
        std::fs::create_dir_all(folder.join(taken)).unwrap();
        // No output is written, and a second try fails for the same reason.
        for _ in 0..2 {
            let refused = run(&["view", demo, "-o", folder.to_str().unwrap()]);
            let why = format!("{taken} exists; choose another folder");
            assert!(text(&refused.stderr).contains(&why), "{}", text(&refused.stderr));
            assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
        }
    }
}

/// A code object with the name of the source folder gets another name. A failed write of a source file is reported.
#[test]
fn a_view_named_sources_is_written_and_missing_source_files_are_reported() {
    let scratch = crate::slim::Scratch::new("cli-view-names");
    let dump = scratch.path("dump");
    crate::fixtures::copy_dump("calls-gfx90a", &dump);
    let manifest = std::fs::read_to_string(dump.join("manifest.toml")).unwrap();
    let mut manifest = manifest.replace("[[code_object]]", "[[code_object]]\nname = \"sources\"");
    // No folder can have a file and a folder of one name.
    for path in ["a", "a/b", "c"] {
        manifest.push_str(&format!("\n[[source]]\npath = {path:?}\nhex = \"0a\"\n"));
    }
    std::fs::write(dump.join("manifest.toml"), manifest).unwrap();
    let folder = scratch.path("views");
    let written = run(&["view", dump.to_str().unwrap(), "-o", folder.to_str().unwrap()]);
    let error = text(&written.stderr);
    assert!(written.status.success(), "{error}");
    assert!(error.contains("warning: source file a/b: "), "{error}");
    assert_eq!(error.matches("source file ").count(), 1, "{error}");
    assert!(folder.join("sources/a").is_file() && folder.join("sources/c").is_file());
    assert!(folder.join("0-sources").is_file(), "{}", text(&written.stdout));
}

pub(crate) fn json(arguments: &[&str]) -> serde_json::Value {
    let output = run(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A list of waves returns a list of answers in the dump's order; one id returns one answer.
#[test]
fn several_waves_are_answered_one_after_the_other() {
    let dump = concat!(env!("LANESCOPE_ROOT"), "tests/fixtures/dumps/saxpy-gfx90a-O0");
    let commands: [&[&str]; 7] = [
        &["lanes"],
        &["registers", "-r", "pc,v0"],
        &["backtrace", "--lane", "active"],
        &["locals", "--lane", "0,3-5"],
        &["print", "first"],
        &["explain", "first"],
        &["eval", "DW_OP_lit4"],
    ];
    for command in commands {
        let (name, rest) = command.split_first().unwrap();
        let of = |more: &[&str]| run(&[&[*name, dump], rest, more].concat());
        let parsed = |ids: &str| -> serde_json::Value {
            let output = of(&["--json", "--wave", ids]);
            assert!(output.status.success(), "{name}: {}", text(&output.stderr));
            serde_json::from_slice(&output.stdout).unwrap()
        };
        let all = parsed("7,1");
        let each = [parsed("1"), parsed("7")];
        assert_eq!(all, serde_json::json!({ "schema": "lanescope.answers/1", "answers": each }), "{name}");
        let words = text(&of(&["--wave", "1-2"]).stdout);
        let (first, second) = (text(&of(&["--wave", "1"]).stdout), text(&of(&["--wave", "2"]).stdout));
        let mut at = 0;
        // A heading with the wave's name precedes each answer.
        for part in ["AMDGPU Wave 1:1:1:1 (0,0,0)/0: ", &first, "\nAMDGPU Wave 1:1:1:2 (0,0,0)/1: ", &second]
        {
            at +=
                words[at..].find(part).unwrap_or_else(|| panic!("{name}: {part:?} in {words}")) + part.len();
        }
        assert_eq!(at, words.len(), "{name}");
    }
    for (ids, status, words) in [
        ("99", 1, "has no wave with the id 99; `lanescope waves` lists the ids"),
        ("1,98-99", 1, "has no wave with the id 98-99; `lanescope waves` lists the ids"),
        ("2-1", 2, "2 is above 1"),
        ("x", 2, "expected ids of waves: 3 or 3,7-9"),
    ] {
        let refused = run(&["locals", dump, "--wave", ids]);
        assert_eq!(refused.status.code(), Some(status), "{ids}");
        assert!(text(&refused.stderr).contains(words), "{ids}: {}", text(&refused.stderr));
    }
}

/// A wave without an answer has the reason in its place, and the exit status is 1.
#[test]
fn a_wave_without_an_answer_has_the_reason_in_its_place() {
    let dump = concat!(env!("LANESCOPE_ROOT"), "tests/fixtures/dumps/calls-gfx90a");
    let frames =
        |wave: &str| json(&["backtrace", dump, "--json", "--wave", wave])["frames"].as_array().unwrap().len();
    let waves = json(&["waves", dump, "--json"])["waves"].as_array().unwrap().len();
    let depths: Vec<usize> = (1..=waves).map(|wave| frames(&wave.to_string())).collect();
    let most = *depths.iter().max().unwrap();
    assert!(depths.iter().any(|depth| *depth < most), "{depths:?}");
    let deep = (most - 1).to_string();
    let all = format!("1-{waves}");
    let output = run(&["backtrace", dump, "--wave", &all, "--frame", &deep, "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let answers: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for (answer, depth) in answers["answers"].as_array().unwrap().iter().zip(&depths) {
        let error = answer["error"].as_str().unwrap_or_default();
        assert_eq!(answer["frames"].is_array(), *depth == most, "{answer}");
        assert_eq!(error.contains(&format!("there is no frame {deep}")), *depth < most, "{answer}");
    }
    let output = run(&["backtrace", dump, "--wave", &all, "--frame", &deep]);
    assert_eq!(output.status.code(), Some(1));
    let reasons = text(&output.stdout).matches(&format!("there is no frame {deep}")).count();
    assert_eq!(reasons, depths.iter().filter(|depth| **depth < most).count());
}

/// Lists are of the selected waves; `lanes` of the selected lanes.
#[test]
fn lists_are_of_the_chosen_waves_and_lanes() {
    let dump = concat!(env!("LANESCOPE_ROOT"), "tests/fixtures/dumps/saxpy-gfx90a-O0");
    let ids = |list: &serde_json::Value| -> Vec<u64> {
        list.as_array().unwrap().iter().map(|wave| wave["id"].as_u64().unwrap()).collect()
    };
    assert_eq!(ids(&json(&["waves", dump, "--json", "--wave", "2-3,7"])["waves"]), [2, 3, 7]);
    // Work-groups of 128 in waves of 64: work-item 70 is in wave 2.
    assert_eq!(ids(&json(&["waves", dump, "--json", "--work-item", "70"])["waves"]), [2]);
    assert_eq!(ids(&json(&["export", dump, "--wave", "2-3", "--wave", "7"])["waves"]), [2, 3, 7]);
    let groups = json(&["groups", dump, "--json", "--wave", "3,5-6"]);
    let mut waves: Vec<u64> = Vec::new();
    for group in groups["kinds"][0]["groups"].as_array().unwrap() {
        for run in group["waves"].as_array().unwrap() {
            waves.extend(run[0].as_u64().unwrap()..=run[1].as_u64().unwrap());
        }
    }
    waves.sort_unstable();
    assert_eq!(waves, [3, 5, 6]);
    let lanes = json(&["lanes", dump, "--json", "--wave", "1", "--lane", "3,8-9"]);
    let lanes: Vec<_> = lanes["lanes"].as_array().unwrap().iter().map(|lane| lane["lane"].clone()).collect();
    assert_eq!(lanes, [3, 8, 9]);
    let mixed = concat!(env!("LANESCOPE_ROOT"), "tests/fixtures/dumps/mixed-kinds");
    let all = json(&["waves", mixed, "--json"]);
    let kinds = |list: &serde_json::Value| -> Vec<String> {
        list.as_array()
            .unwrap()
            .iter()
            .map(|wave| format!("{}:{}", wave["architecture"], wave["lanes"]))
            .collect()
    };
    let all = (ids(&all["waves"]), kinds(&all["waves"]));
    assert!(all.1.iter().any(|kind| *kind != all.1[0]), "{all:?}");
    let text_of = |id: &u64| id.to_string();
    let list = all.0.iter().map(text_of).collect::<Vec<_>>().join(",");
    let lanes = json(&["lanes", mixed, "--json", "--wave", &list]);
    assert_eq!(lanes["answers"].as_array().unwrap().len(), all.0.len(), "waves of every kind are answered");
}

/// A dump without a subcommand is listed. A subcommand's name is the subcommand, and with `./` before it the file.
#[test]
fn a_dump_without_a_subcommand_prints_its_cause() {
    let demo = concat!(env!("LANESCOPE_ROOT"), "tests/fixtures/demo.zip");
    for more in [&[][..], &["--json"]] {
        let triage = run(&[&["triage", demo], more].concat());
        let alone = run(&[&[demo], more].concat());
        assert!(alone.status.success() && alone.stdout == triage.stdout, "{}", text(&alone.stderr));
    }
    let scratch = crate::slim::Scratch::new("cli-alone");
    std::fs::copy(demo, scratch.path("waves")).unwrap();
    std::fs::copy(demo, scratch.path("plain")).unwrap();
    let folder = scratch.path("waves");
    let within = |arguments: &[&str]| {
        program().current_dir(folder.parent().unwrap()).args(arguments).output().unwrap()
    };
    assert!(text(&within(&["./waves"]).stdout).starts_with("saxpy reads x[1024]"));
    assert!(text(&within(&["plain"]).stdout).starts_with("saxpy reads x[1024]"));
    assert!(text(&within(&["waves"]).stdout).starts_with("Id  Wave"));
    let refused = within(&["wavs"]);
    assert_eq!(refused.status.code(), Some(2));
    let error = "no command and no file has the name `wavs`";
    assert!(text(&refused.stderr).contains(error), "{}", text(&refused.stderr));
}

/// Absent memory is named once, with the other missing data.
#[test]
fn info_has_one_line_about_absent_memory() {
    let log = fixtures().join("logs/agent-plain.log");
    let info = text(&run(&["info", log.to_str().unwrap()]).stdout);
    let lines = info.lines().filter(|line| line.trim_start_matches("no ").starts_with("global memory"));
    assert_eq!(lines.collect::<Vec<_>>(), ["no global memory"], "{info}");
}

/// Help lists the command's own options, then the dump's, then the common ones.
#[test]
fn help_describes_each_question() {
    let all = text(&run(&["--help"]).stdout);
    let all: Vec<&str> = all.split_whitespace().collect();
    for question in lanescope::questions::QUESTIONS {
        let summary = question.summary.trim_end_matches('.');
        let help = text(&run(&[question.name, "--help"]).stdout);
        let first: Vec<&str> = help.split("Usage:").next().unwrap().split_whitespace().collect();
        let words: Vec<&str> = summary.split_whitespace().collect();
        assert_eq!(first, words, "{}", question.name);
        assert!(all.windows(words.len()).any(|part| part == words), "{}: {summary}", question.name);
    }
}

#[test]
fn help_lists_a_commands_own_options_first() {
    for (command, own) in
        [("locals", "--frame"), ("slim", "--follow"), ("serve", "--port"), ("eval", "--cases")]
    {
        let help = text(&run(&[command, "--help"]).stdout);
        let at = |words: &str| help.find(words).unwrap_or_else(|| panic!("{command}: {words}: {help}"));
        let places = [
            at("\nOptions:"),
            at(own),
            at("\nOptions of the dump:"),
            at("--kind"),
            at("\nOptions of all commands:"),
        ];
        assert!(places.is_sorted(), "{command}: {help}");
        assert!(at("--debug-dir") > places[4], "{command}");
    }
}
