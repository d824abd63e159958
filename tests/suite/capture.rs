//! `lanescope capture`: a program in place of one with kernels writes cores and logs as ROCm's runtimes and the driver do.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use crate::cli::{on_terminal, text};
use crate::cores::{core, part};
use crate::support::{self, lanescope, program, root};

/// A folder of a program with the samples `gpu`, `host` and `unified`; its script begins with the limits of a user.
struct Machine(tempfile::TempDir);

impl Machine {
    fn new(script: &str) -> Self {
        let machine = Self(tempfile::Builder::new().prefix("100% of a crash").tempdir().unwrap());
        let file = fs::read(core("gfx90a-unified")).unwrap();
        machine.write("unified", &file);
        machine.write("gpu", part("gfx90a-unified", &file, false));
        machine.write("host", part("gfx90a-unified", &file, true));
        machine.write("kernel", "[    1.000000] Linux version\n");
        machine.write("app", format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(machine.path("app"), fs::Permissions::from_mode(0o755)).unwrap();
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    /// `lanescope capture --kernel-log kernel WORDS` below a soft limit of 0, without the user's settings.
    fn command(&self, words: &[&str]) -> Command {
        let mut command = lanescope();
        command.args(["capture", "--kernel-log", "kernel"]).args(words).current_dir(self.0.path());
        command.env_remove("HSA_COREDUMP_PATTERN").stdin(Stdio::null());
        command
    }

    fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    /// The names in a folder, in their order.
    fn names(&self, folder: &str) -> Vec<String> {
        let Ok(entries) = fs::read_dir(self.path(folder)) else { return Vec::new() };
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The first line of `triage`, which is the cause.
    fn cause(&self, words: &[&str]) -> String {
        let output = lanescope().arg("triage").args(words).current_dir(self.0.path()).output().unwrap();
        text(&output.stdout).lines().next().unwrap().to_owned()
    }
}

/// The file that the runtime writes, in a shell.
const PATTERN: &str = "$(printf %s \"$HSA_COREDUMP_PATTERN\" | sed \"s/%p/$$/; s/%%/%/g\")";
/// ROCm's message and the kernel's row, as public reports have them.
const MESSAGE: &str = "Memory access fault by GPU node-1 (Agent handle: 0x55d0c8a4e0f0) on address 0x7f0000201000. \
                       Reason: Page not present or supervisor privilege.";
const ROW: &str = "[ 1234.567890] amdgpu 0000:c3:00.0: amdgpu: [gfxhub0] no-retry page fault (src_id:0 ring:24 \
                   vmid:3 pasid:32771, for process app pid 4321 thread app pid 4321)";
/// The end of a program that the runtime aborts.
const ABORT: &str = "ulimit -c 0; kill -ABRT $$";

#[test]
fn a_crash_leaves_its_core_and_logs_and_prints_its_cause() {
    let machine = Machine::new(&format!(
        "printf 'loss 0.5\\n\\033[1mdone\\033[m'; [ \"$(ulimit -c)\" != 0 ] || exit 9; echo '{MESSAGE}' >&2\n\
         echo '{ROW}' >> kernel; cp unified \"{PATTERN}\"; {ABORT}"
    ));
    let output = machine.run(&["--", "./app"]);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(128 + 6), "{told}");
    assert_eq!(text(&output.stdout), "loss 0.5\n\u{1b}[1mdone\u{1b}[m");
    let names = machine.names("gpu-crashes/app-1");
    assert!(names[0].starts_with("gpucore.") && names[1..] == ["kernel.log", "run.log"], "{names:?}");
    let kept = |name: &str| fs::read_to_string(machine.path("gpu-crashes/app-1").join(name)).unwrap();
    assert_eq!(kept("kernel.log"), format!("{ROW}\n"));
    // Lines of both streams are whole, in any order.
    let log = kept("run.log");
    assert!(log.lines().any(|line| line == MESSAGE) && log.contains("loss 0.5\n"), "{log}");
    assert!(told.contains("./app was ended by SIGABRT") && told.contains(MESSAGE), "{told}");
    let (core, log, kernel_log) = (
        format!("gpu-crashes/app-1/{}", names[0]),
        "gpu-crashes/app-1/run.log",
        "gpu-crashes/app-1/kernel.log",
    );
    let typed = format!("  lanescope triage {core} --log {log} --log {kernel_log}\n");
    assert!(told.replace(" \\\n    ", " ").contains(&typed), "{told}");
    let cause = machine.cause(&["unified", "--log", log, "--log", kernel_log]);
    assert!(told.lines().any(|line| line == cause), "{cause}: {told}");
    // The folder is a dump, with its logs.
    assert_eq!(machine.cause(&["gpu-crashes/app-1"]), cause);
    // A dump holds data of the program.
    let mode = fs::metadata(machine.path("gpu-crashes/app-1")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    // The next crash has the next folder.
    assert_eq!(machine.run(&["./app"]).status.code(), Some(134));
    assert_eq!(machine.names("gpu-crashes"), ["app-1", "app-2"]);
}

/// Runtimes before November 2025 write `gpucore.PID` into the working folder; the kernel writes the host's core there.
#[test]
fn cores_of_the_working_folder_are_moved_and_older_ones_stay() {
    let script = format!("echo '{MESSAGE}' >&2; cp gpu gpucore.$$; cp host core.$$; {ABORT}");
    let machine = Machine::new(&script);
    machine.write("gpucore.1", fs::read(machine.path("gpu")).unwrap());
    let output = machine.run(&["--dir", "all of them", "--", "./app"]);
    let told = text(&output.stderr);
    let names = machine.names("all of them/app-1");
    let [host, gpu, log] = &names[..] else { panic!("{names:?}") };
    assert!(host.starts_with("core.") && gpu.starts_with("gpucore.") && log == "run.log", "{names:?}");
    assert!(told.contains(&format!("--host-core 'all of them/app-1/{host}'")), "{told}");
    let cause = machine.cause(&["unified", "--log", "all of them/app-1/run.log"]);
    assert!(told.lines().any(|line| line == cause), "{cause}: {told}");
    // The folder has the host's core and the log.
    assert_eq!(machine.cause(&["all of them/app-1"]), cause);
    assert!(machine.path("gpucore.1").exists() && !told.contains("gpucore.1 "), "{told}");
}

#[test]
fn without_a_crash_nothing_is_kept() {
    let machine = Machine::new("echo text; exit $1");
    machine.write("other", "#!/bin/sh\necho text >&2; exit $1\n");
    fs::set_permissions(machine.path("other"), fs::Permissions::from_mode(0o755)).unwrap();
    let before = machine.names(".");
    let output = machine.run(&["--", "./app", "0"]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), "text\n".to_owned()));
    let output = machine.run(&["--", "./other", "3"]);
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(3));
    assert!(told.contains("text\n") && told.contains("./other ended with the status 3"), "{told}");
    assert!(told.contains("No core of a GPU was found, and no log reports a fault"), "{told}");
    assert_eq!(machine.names("."), before);
    // Statuses of a program that does not start are those of shells.
    for (words, status) in [(&["--", "./missing"], 127), (&["--", "./gpu"], 126)] {
        assert_eq!(machine.run(words).status.code(), Some(status), "{words:?}");
    }
    assert_eq!(machine.run(&["--dir", "gpu/x", "--", "./app"]).status.code(), Some(125));
    // A log that is none costs no status.
    let mut command = lanescope();
    let output =
        command.args(["capture", "--kernel-log", ".", "./app", "5"]).current_dir(machine.0.path()).output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(5));
    assert!(text(&output.stderr).contains("the kernel log .: neither a file nor"), "{output:?}");
    assert_eq!(machine.names("."), before);
}

#[test]
fn reports_without_a_core_are_listed_with_possible_reasons() {
    let machine = Machine::new(&format!("echo '{MESSAGE}' >&2; exit 1"));
    let script = format!("ulimit -c 0; exec '{}' capture --kernel-log nowhere -- ./app", program());
    let mut limited = Command::new("sh");
    limited.args(["-c", &script]).current_dir(machine.0.path()).env("COLUMNS", "100000");
    limited.env("HSA_COREDUMP_PATTERN", "/dev/null").env("HSA_DISABLE_COREDUMP_ON_EXCEPTION", "1");
    let output = limited.output().unwrap();
    let told = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{told}");
    let (_, after) = told.split_once("No core of a GPU was found").unwrap();
    for words in [
        "gpu-crashes/app-1/run.log reports:\n  line 1, ROCm's runtime: Memory access fault by GPU node-1",
        "limit of core files (ulimit -c): 0: ROCm's runtime writes no GPU core; the hard limit is 0, too",
        "the kernel log nowhere: No such file or directory",
        "HSA_COREDUMP_PATTERN=/dev/null is replaced",
        "HSA_DISABLE_COREDUMP_ON_EXCEPTION is removed",
        "`lanescope capture --debug-agent -- PROGRAM`",
    ] {
        assert!(after.contains(words), "{words}: {told}");
    }
    assert_eq!(machine.names("gpu-crashes/app-1"), ["run.log"]);
    let none =
        lanescope().args(["triage", "gpu-crashes/app-1"]).current_dir(machine.0.path()).output().unwrap();
    let none = text(&none.stderr);
    assert!(none.contains("gpu-crashes/app-1/run.log: text without a report on waves"), "{none}");
    // The last program of a pipeline succeeds.
    let told = text(&machine.run(&["sh", "-c", "./app 2>&1 | cat"]).stderr);
    assert!(told.contains("sh ended with the status 0. No core of a GPU was found"), "{told}");
    assert!(told.contains("sh-1/run.log reports:\n  line 1, ROCm's runtime"), "{told}");
}

/// The debug agent is loaded by these variables (its README), and prints the waves.
#[test]
fn the_debug_agents_log_is_a_capture() {
    let log = root().join("tests/fixtures/logs/agent-plain.log");
    let script = format!(
        "[ \"$HSA_TOOLS_LIB$HSA_ENABLE_DEBUG\" = librocm-debug-agent.so.21 ] && cat '{}'; {ABORT}",
        log.display()
    );
    let machine = Machine::new(&script);
    let output = machine.run(&["--debug-agent", "./app"]);
    let told = text(&output.stderr);
    let cause = machine.cause(&[log.to_str().unwrap()]);
    assert!(told.lines().any(|line| line == cause), "{cause}: {told}");
}

/// A full disk, or a runtime that was ended, leaves a file without waves: it is named, with its error.
#[test]
fn cores_that_cannot_be_read_are_named() {
    for content in [": >", "head -c 100 unified >"] {
        let machine = Machine::new(&format!("{content} \"{PATTERN}\"; {ABORT}"));
        let told = text(&machine.run(&["./app"]).stderr);
        assert!(told.contains("A core cannot be read: gpu-crashes/app-1/gpucore."), "{told}");
        assert!(!told.contains("No core") && machine.names("gpu-crashes/app-1").len() == 2, "{told}");
    }
    // A core of the host alone is no crash on a GPU, and stays where the kernel writes it.
    let machine = Machine::new("cp host core.5; exit 3");
    let told = text(&machine.run(&["./app"]).stderr);
    assert!(told.contains("No core of a GPU was found") && machine.path("core.5").exists(), "{told}");
    assert!(machine.names("gpu-crashes").is_empty());
}

/// A terminal's programs see a terminal, with its bytes unchanged.
#[test]
fn a_program_on_a_terminal_sees_one() {
    let machine = Machine::new("[ -t 1 ] && [ -t 2 ] && stty size <&1; printf 'a\\r50%%\\rb\\n'");
    let shown = |words: &[&str]| {
        let mut terminal = on_terminal(101, &[&[program(), "capture"], words].concat());
        text(&terminal.current_dir(machine.0.path()).output().unwrap().stdout)
    };
    let found = shown(&["./app"]);
    assert!(found.ends_with("24 101\r\na\r50%\rb\r\n"), "{found:?}");
    // The program has no more of the terminal than its streams, which keep their order.
    let script = "import os\n\
                  for n in range(50): os.write(1, b'o%d ' % n); os.write(2, b'e%d ' % n)\n\
                  paths = [os.path.realpath('/proc/self/fd/' + n) for n in os.listdir('/proc/self/fd')]\n\
                  print(len([path for path in paths if 'pt' in path]))";
    let found = shown(&["python3", "-c", script]);
    let expected: String = (0..50).map(|n| format!("o{n} e{n} ")).collect();
    assert!(found.ends_with(&format!("{expected}3\r\n")), "{found:?}");
}

/// The command ends with its program: what that left behind keeps the streams open. A signal reaches the program.
#[test]
fn the_end_of_the_program_is_the_end() {
    let machine = Machine::new("sleep 1000 & echo $!; exit 4");
    let output = machine.run(&["./app"]);
    assert_eq!(output.status.code(), Some(4));
    let sleeper = text(&output.stdout).trim().to_owned();
    assert!(Command::new("kill").arg(sleeper).status().unwrap().success());

    // Shells unblock signals; other programs have those that they were started with.
    let script = "import signal; print(open('ready', 'w').write('x'), flush=True); signal.pause()";
    let mut capture = machine.command(&["python3", "-c", script]).stderr(Stdio::null()).spawn().unwrap();
    support::until("the program runs", || machine.path("ready").exists().then_some(()));
    assert!(Command::new("kill").arg(capture.id().to_string()).status().unwrap().success());
    assert_eq!(support::ended(&mut capture, "the program's end").code(), Some(128 + 15));
}

/// A reader that ends early ends the program, as without a log.
#[test]
fn a_closed_output_ends_the_program() {
    let machine = Machine::new("exec yes");
    let shell = format!(
        "'{}' capture --kernel-log kernel ./app 2> told | head -n 1; echo ${{PIPESTATUS[0]}}",
        program()
    );
    let output = Command::new("bash").args(["-c", &shell]).current_dir(machine.0.path()).output().unwrap();
    assert_eq!(text(&output.stdout), format!("y\n{}\n", 128 + 13));
    // Without a reader of its messages the crash is kept, and the status is the program's.
    let machine = Machine::new(&format!("cp unified \"{PATTERN}\"; {ABORT}"));
    let mut command = machine.command(&["./app"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    assert_eq!(command.stderr(writer).stdout(Stdio::null()).status().unwrap().code(), Some(128 + 6));
    assert_eq!(machine.names("gpu-crashes/app-1").len(), 2);
}
