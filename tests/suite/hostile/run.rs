//! Commands over hostile files, each in a process with limited memory, whose work is counted.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use memchr::memmem;

use crate::support::limits;

/// Load address of a dump's code object.
pub(super) const LOADED: u64 = 0x7f00_0010_0000;

/// KiB of memory per process: RLIMIT_DATA counts private writable memory, and no mapped file.
const MEMORY: u32 = 1 << 20;
/// Seconds of processor time, as a last stop on any machine.
const TIME: u32 = 60;

/// The most work of a command, by the names of `LANESCOPE_STATS`, from docs/security.md, "Memory and work".
const LIMITS: [(&str, u64); 6] = [
    // A DIE has at least a byte: code objects of 16 MiB beyond the four times of their file, read for the index and for a
    // scope.
    ("dies", 1 << 25),
    ("rows", 1 << 24),
    // A question's, and the own shares of rows and expressions in 18,000 waves.
    ("units", 1 << 29),
    // For the bodies of loops; for overwritten registers; for all PCs; for segments.
    ("steps", (1 << 24) + (1 << 21) + (1 << 20) + (1 << 18)),
    // Two for each entry of a zip without a directory.
    ("reads", 1 << 21),
    // An export reads private memory once for each lane.
    ("bytes", 1 << 31),
];

/// All commands that open a dump, including every question. `OUT` is a path that does not exist, `DUMP` the dump, `CODE`
/// its code object, `SCOPE` a file of expectations about the dump.
const OVER_DUMPS: [&str; 41] = [
    "info DUMP",
    "info --json DUMP",
    "triage DUMP",
    "triage --wave 1 DUMP",
    "triage --hang DUMP",
    "triage --json DUMP",
    "waves DUMP",
    "lanes DUMP",
    "lane-pc DUMP",
    "objects DUMP",
    "faults DUMP",
    "registers -r pc DUMP",
    "memory --at 0x7f0000101000 DUMP",
    "backtrace DUMP",
    "backtrace --lane all DUMP",
    "groups DUMP",
    "groups --lanes DUMP",
    "locals DUMP",
    "locals --json DUMP",
    "locals --lane all DUMP",
    "disassemble DUMP",
    "dispatches DUMP",
    "arguments DUMP",
    "print DUMP v",
    "explain DUMP v",
    "eval DUMP DW_OP_lit0",
    "export DUMP",
    "report DUMP",
    "report --format html DUMP",
    "report --format markdown DUMP",
    "check SCOPE",
    "check --report OUT SCOPE",
    "signature --explain DUMP",
    "signature --level exact --json DUMP",
    "bucket DUMP",
    "diff DUMP DUMP",
    "slim DUMP -o OUT",
    "view DUMP -o OUT",
    "view --view all DUMP -o OUT",
    "dwarf DUMP",
    "dwarf --json DUMP",
];

/// A line of each kind about a dump.
const EXPECTED: &str = "fault none\nat v v.hip:1\nstack v < ... < w\naccess lane 0 v load\nwaves 1, stacks 1\n\
    hang none\nsignature ls1:00000000\nwave every\nexec 0xff\nstate faulted\nlane all v == 1\n\
    lane all v == {0, ...}\nlane active v is unavailable\nframe 1 lane 0 v ~= 1\n";

/// All commands that open a code object.
const OVER_CODE: [&str; 3] = ["code-object CODE", "code-object --json CODE", "dwarf CODE"];

/// A folder with a dump.
pub(super) struct Hostile {
    folder: tempfile::TempDir,
    /// Name of the dump in it; empty: the folder itself.
    dump: &'static str,
    /// Whether commands find LLVM's tools.
    has_tools: bool,
}

impl Hostile {
    fn new(dump: &'static str) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), dump, has_tools: true }
    }

    /// A wave in the code of a code object.
    pub(super) fn with_code(object: &[u8]) -> Self {
        Self::with_waves(object, 1)
    }

    /// Waves in the code of a code object, each at a different instruction.
    pub(super) fn with_waves(object: &[u8], count: u64) -> Self {
        Self::with_waves_at(object, count, count)
    }

    /// Waves in the code of a code object, at `instructions` instructions in turn.
    pub(super) fn with_waves_at(object: &[u8], count: u64, instructions: u64) -> Self {
        Self::with_pcs(object, (0..count).map(|wave| 0x10 + 4 * (wave % instructions)))
    }

    /// Waves in the code of a code object, at the given offsets in the code.
    pub(super) fn with_pcs(object: &[u8], pcs: impl Iterator<Item = u64>) -> Self {
        let hostile = Self::new("");
        fs::write(hostile.path("code.hsaco"), object).unwrap();
        let mut manifest = format!(
            "format = 1\n[[agent]]\nid = 1\ntarget = \"gfx90a\"\n\
             [[code_object]]\npath = \"code.hsaco\"\naddress = \"{LOADED:#x}\"\n"
        );
        for (wave, at) in (1..).zip(pcs) {
            let pc = LOADED + super::elf::TEXT + at;
            manifest.push_str(&format!(
                "[[wave]]\nid = {wave}\nagent = 1\n[wave.registers]\npc = \"{pc:#x}\"\nexec = \"0xff\"\n"
            ));
        }
        fs::write(hostile.path("manifest.toml"), manifest).unwrap();
        hostile
    }

    /// Waves in the code of each of many code objects, each at an instruction of its own. Each has a file of its own.
    pub(super) fn with_objects(object: &[u8], objects: u64, waves: u64) -> Self {
        let hostile = Self::with_objects_by(objects, waves, |index| format!("path = \"code{index}.hsaco\""));
        for index in 0..objects {
            fs::write(hostile.path(&format!("code{index}.hsaco")), object).unwrap();
        }
        hostile
    }

    /// The same over one file; `keys`: further keys of each code object.
    pub(super) fn with_objects_of_one_file(
        file: &[u8],
        objects: u64,
        waves: u64,
        keys: impl Fn(u64) -> String,
    ) -> Self {
        let keys = |index| format!("file = \"code.hsaco\"\n{}", keys(index));
        let hostile = Self::with_objects_by(objects, waves, keys);
        fs::write(hostile.path("code.hsaco"), file).unwrap();
        hostile
    }

    /// The same without LLVM's tools: a run takes 50 ms for each function without call frame information, and these
    /// files have hundreds of them. `large_functions_that_waves_stop_in_by_turns` and [`super::faults`] have the tools.
    pub(super) fn without_tools(mut self) -> Self {
        self.has_tools = false;
        self
    }

    /// Removes all waves but the last.
    pub(super) fn keep_last_wave(&self) {
        let manifest = fs::read_to_string(self.path("manifest.toml")).unwrap();
        let (head, _) = manifest.split_once("[[wave]]").unwrap();
        let (_, last) = manifest.rsplit_once("[[wave]]").unwrap();
        fs::write(self.path("manifest.toml"), format!("{head}[[wave]]{last}")).unwrap();
    }

    fn with_objects_by(objects: u64, waves: u64, file: impl Fn(u64) -> String) -> Self {
        let hostile = Self::new("");
        let mut manifest = "format = 1\n[[agent]]\nid = 1\ntarget = \"gfx90a\"\n".to_owned();
        for index in 0..objects {
            let loaded = LOADED + 0x10_0000 * index;
            let file = file(index);
            manifest.push_str(&format!("[[code_object]]\n{file}\naddress = \"{loaded:#x}\"\n"));
        }
        for (index, wave) in (0..objects).flat_map(|index| (1..=waves).map(move |wave| (index, wave))) {
            let pc = LOADED + 0x10_0000 * index + super::elf::TEXT + 0xc + 4 * wave;
            let id = index * waves + wave;
            manifest.push_str(&format!(
                "[[wave]]\nid = {id}\nagent = 1\n[wave.registers]\npc = \"{pc:#x}\"\nexec = \"0xff\"\n"
            ));
        }
        fs::write(hostile.path("manifest.toml"), manifest).unwrap();
        hostile
    }

    /// Adds captured global memory to the dump.
    pub(super) fn capture_global(&self, address: u64, bytes: &[u8]) {
        fs::write(self.path("global.bin"), bytes).unwrap();
        let memory = format!("[[memory]]\naddress = \"{address:#x}\"\nfile = \"global.bin\"\n");
        let manifest = fs::read_to_string(self.path("manifest.toml")).unwrap();
        fs::write(self.path("manifest.toml"), manifest + &memory).unwrap();
    }

    /// A dump of only a manifest with that name.
    pub(super) fn with_manifest(name: &str, manifest: &[u8]) -> Self {
        let hostile = Self::new("");
        fs::write(hostile.path(name), manifest).unwrap();
        hostile
    }

    /// A dump of one file.
    pub(super) fn with_file(name: &'static str, bytes: &[u8]) -> Self {
        let hostile = Self::new(name);
        fs::write(hostile.path(name), bytes).unwrap();
        hostile
    }

    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs every command over the dump and its code object.
    pub(super) fn every(&self) -> Said {
        let commands = OVER_DUMPS.iter().chain(&OVER_CODE);
        self.each(&commands.copied().collect::<Vec<_>>())
    }

    /// Runs commands.
    pub(super) fn each(&self, commands: &[&str]) -> Said {
        Said(commands.iter().map(|command| self.run(command)).collect())
    }

    /// Runs a command, which must end by itself with one of its own exit statuses, within [`LIMITS`].
    fn run(&self, command: &str) -> Run {
        let out = tempfile::tempdir().unwrap();
        let words = command.split(' ').map(|word| match word {
            "DUMP" => self.path(self.dump),
            "CODE" => self.path("code.hsaco"),
            "OUT" => out.path().join("out"),
            "SCOPE" => {
                let scope = out.path().join("dump.scope");
                fs::write(&scope, format!("dump {}\n{EXPECTED}", self.path(self.dump).display())).unwrap();
                scope
            }
            word => PathBuf::from(word),
        });
        let words: Vec<PathBuf> = words.collect();
        let mut program = bounded(&words);
        if !self.has_tools {
            program.env("PATH", out.path()).env("ROCM_PATH", out.path());
        }
        let output = program.output().unwrap();
        let (stdout, stderr) = (utf8(output.stdout), utf8(output.stderr));
        assert!(
            matches!(output.status.code(), Some(0..=2)),
            "{command}: code {:?}, signal {:?}: {}",
            output.status.code(),
            output.status.signal(),
            stderr.get(..2000).unwrap_or(&stderr)
        );
        let (stderr, work) = work_of(command, &stderr);
        assert!(!stdout.is_empty() || !stderr.is_empty(), "{command} says nothing");
        assert!(!stderr.contains("Usage:"), "{command}: {stderr}");
        Run { command: command.to_owned(), said: stdout + &stderr, work }
    }
}

/// The output of a command without its lines of work, and the sums of these.
struct Run {
    command: String,
    said: String,
    work: BTreeMap<String, u64>,
}

/// The output of commands.
pub(super) struct Said(Vec<Run>);

impl Said {
    /// The runs of the commands with this prefix: one or more.
    fn of(&self, command: &str) -> Vec<&Run> {
        let runs: Vec<&Run> = self.0.iter().filter(|run| run.command.starts_with(command)).collect();
        assert!(!runs.is_empty(), "no {command}");
        runs
    }

    /// The run of the only command with this prefix.
    fn one(&self, command: &str) -> &Run {
        let runs = self.of(command);
        assert_eq!(runs.len(), 1, "{command}");
        runs[0]
    }

    /// Requires that the commands with this prefix print a text.
    pub(super) fn prints(&self, command: &str, text: &str) -> &Self {
        for Run { said, .. } in self.of(command) {
            assert!(contains(said, text), "{command} lacks \"{text}\": {}", end(said));
        }
        self
    }

    /// That the output of a command, as far as it is given, has fewer bytes.
    pub(super) fn is_shorter(&self, command: &str, bytes: usize) -> &Self {
        let said = &self.one(command).said;
        assert!(said.len() < bytes, "{command}: {} bytes, expected fewer than {bytes}", said.len());
        self
    }

    /// That a command prints a text so many times.
    pub(super) fn counts(&self, command: &str, text: &str, count: usize) -> &Self {
        let said = &self.one(command).said;
        assert_eq!(memmem::find_iter(said.as_bytes(), text).count(), count, "{command}: {text}");
        self
    }

    /// Requires that no command prints a text.
    pub(super) fn lacks(&self, text: &str) -> &Self {
        for Run { command, said, .. } in &self.0 {
            assert!(!contains(said, text), "{command} prints \"{text}\"");
        }
        self
    }

    /// A count of a command's work.
    pub(super) fn work(&self, command: &str, name: &str) -> u64 {
        self.one(command).work[name]
    }
}

/// The errors of a command without its lines of work, and the sums of these, which must be within [`LIMITS`]. A worker of
/// `check` has a line of its own.
fn work_of(command: &str, stderr: &str) -> (String, BTreeMap<String, u64>) {
    let (lines, others): (Vec<&str>, Vec<&str>) = stderr.lines().partition(|line| line.starts_with("work: "));
    assert!(!lines.is_empty(), "{command} prints no work: {stderr}");
    let mut work = BTreeMap::new();
    let counts = lines.iter().flat_map(|line| line["work: ".len()..].split(", "));
    for (name, count) in counts.map(|count| count.split_once(' ').unwrap()) {
        *work.entry(name.to_owned()).or_default() += count.parse::<u64>().unwrap();
    }
    assert_eq!(work.len(), LIMITS.len(), "{lines:?}");
    for (name, most) in LIMITS {
        assert!(work[name] <= most, "{command}: {name} {} of {most}", work[name]);
    }
    (others.iter().map(|line| format!("{line}\n")).collect(), work)
}

/// Whether a text that may be folded contains another one: blanks are equal to line ends. `str::contains` is compiled
/// with the tests, without optimization: outputs have up to 100 MB.
fn contains(said: &str, text: &str) -> bool {
    let is_blank = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_whitespace);
    let words: Vec<&[u8]> = text.split_ascii_whitespace().map(str::as_bytes).collect();
    let (said, text) = (said.as_bytes(), text.as_bytes());
    memmem::find_iter(said, words[0]).any(|at| {
        let (before, mut rest) = said.split_at(at);
        for (index, word) in words.iter().enumerate() {
            let trimmed = rest.trim_ascii_start();
            let Some(after) = trimmed.strip_prefix(*word) else { return false };
            if index > 0 && trimmed.len() == rest.len() {
                return false;
            }
            rest = after;
        }
        (!is_blank(text.first()) || is_blank(before.last()))
            && (!is_blank(text.last()) || is_blank(rest.first()))
    })
}

/// The last 3,000 characters.
fn end(said: &str) -> String {
    let end: Vec<char> = said.chars().rev().take(3000).collect();
    end.into_iter().rev().collect()
}

fn utf8(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// The program with these arguments; the shell sets the limits and becomes the program.
pub(super) fn bounded(words: &[PathBuf]) -> Command {
    let script = format!("{} && exec \"$0\" \"$@\"", limits(MEMORY, TIME));
    let mut command = Command::new("/bin/sh");
    command.arg("-c").arg(script).arg(Path::new(crate::support::program())).args(words);
    command.env_remove("DEBUGINFOD_URLS").env("LANESCOPE_STATS", "1").env("COLUMNS", "100000");
    command.stdin(Stdio::null());
    command
}

/// The limits work: more memory or time ends a process.
#[test]
fn a_process_past_its_bounds_is_ended() {
    let sh = |time, script: &str| {
        let script = format!("{} && {script}", limits(MEMORY, time));
        Command::new("sh").arg("-c").arg(script).output().unwrap().status
    };
    // Memory counts before it is used.
    let private =
        |mib| format!("exec python3 -c 'import mmap; mmap.mmap(-1, {mib} << 20, mmap.MAP_PRIVATE)'");
    assert!(!sh(TIME, &private(1100)).success());
    assert!(sh(TIME, &private(900)).success());
    assert!(sh(1, "while :; do :; done").signal().is_some());
}

/// The commands of `lanescope --help`: those that open a dump or a code object, and seven that open neither here.
/// `serve` has tests with a client of its own.
#[test]
fn every_command_is_run() {
    let output = crate::support::lanescope().arg("--help").output().unwrap();
    let help = utf8(output.stdout);
    let rows = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let rows = rows.take_while(|line| !line.is_empty());
    // Names have two spaces before them, and the text of a name has more.
    let rows = rows.filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    let listed: BTreeSet<&str> = rows.map(first_word).collect();
    let (dumps, code) = (OVER_DUMPS.map(first_word), OVER_CODE.map(first_word));
    let run = dumps.into_iter().chain(code).chain([
        "serve",
        "targets",
        "help",
        "completions",
        "man",
        "demo",
        "doctor",
        "capture",
    ]);
    assert_eq!(listed, run.collect::<BTreeSet<&str>>());
    let only_code: BTreeSet<&str> = code.into_iter().filter(|name| !dumps.contains(name)).collect();
    assert_eq!(only_code, BTreeSet::from(["code-object"]), "a command over dumps is not in OVER_DUMPS");
    for question in lanescope::questions::QUESTIONS {
        assert!(dumps.contains(&question.name), "OVER_DUMPS lacks the question {}", question.name);
    }
}

fn first_word(line: &str) -> &str {
    line.split(' ').next().unwrap_or_default()
}
