//! A client's commands, each with the expected text of its output.

use super::harness::{Server, both_ends, lldb_name, run, scratch, tool};
use super::model::Fixture;
use crate::support::sample::{is_long, sampled};

/// Check of a command's output.
type Check = Box<dyn Fn(&str) -> Result<(), String>>;

struct Step {
    what: String,
    command: String,
    check: Option<Check>,
}

/// Commands for one client process.
pub(crate) struct Script {
    /// Prefix of every failure: the dump.
    subject: String,
    steps: Vec<Step>,
}

/// The debugger of a script.
#[derive(Clone, Debug)]
pub(crate) enum Debugger {
    /// gdb or gdb-multiarch by name.
    Gdb(&'static str),
    /// lldb by name.
    Lldb(String),
}

/// Runs commands in lldb, one thread for all.
const COMMANDS: &str = concat!(env!("LANESCOPE_ROOT"), "tests/clients/commands.py");

impl Script {
    pub(crate) fn new(subject: &str) -> Self {
        Self { subject: subject.to_owned(), steps: Vec::new() }
    }

    /// A command of the setup.
    pub(crate) fn say(&mut self, command: impl Into<String>) {
        self.steps.push(Step { what: String::new(), command: command.into(), check: None });
    }

    /// A command of the setup before all others.
    pub(crate) fn say_first(&mut self, command: impl Into<String>) {
        self.steps.insert(0, Step { what: String::new(), command: command.into(), check: None });
    }

    /// A command with a check of its output.
    pub(crate) fn check(
        &mut self,
        what: impl Into<String>,
        command: impl Into<String>,
        check: impl Fn(&str) -> Result<(), String> + 'static,
    ) {
        self.steps.push(Step { what: what.into(), command: command.into(), check: Some(Box::new(check)) });
    }

    /// A command whose output must contain the text; the server's lines may be folded.
    pub(crate) fn expect(&mut self, command: impl Into<String>, words: impl Into<String>) {
        let words = words.into();
        self.check("", command, move |text| {
            if text.contains(&words) || unfolded(text).contains(&words) {
                Ok(())
            } else {
                Err(format!("expected {words:?}, got {:?}", text.trim()))
            }
        });
    }

    /// A command whose output must not contain the text.
    pub(crate) fn never(&mut self, command: impl Into<String>, words: &'static str) {
        self.check("", command, move |text| {
            if text.contains(words) {
                Err(format!("unexpected {words:?} in {:?}", text.trim()))
            } else {
                Ok(())
            }
        });
    }

    /// Number of checked commands.
    pub(crate) fn checks(&self) -> usize {
        self.steps.iter().filter(|step| step.check.is_some()).count()
    }

    /// Runs the script in one process, and returns the errors.
    pub(crate) fn run(&self, debugger: &Debugger) -> Vec<String> {
        let commands: Vec<&str> = self.steps.iter().map(|step| step.command.as_str()).collect();
        let (name, transcript) = debugger.run(&commands);
        let answers = debugger.answers(&commands, &transcript);
        self.judge(&name, &transcript, &answers)
    }

    /// Compares the outputs; `answers` has one text per executed command.
    fn judge(&self, client: &str, transcript: &str, answers: &[String]) -> Vec<String> {
        let mut wrong = Vec::new();
        if answers.len() < self.steps.len() {
            let at = &self.steps[answers.len()].command;
            wrong.push(format!(
                "{} ({client}): ended before `{at}`; it said:\n{}",
                self.subject,
                both_ends(transcript)
            ));
        }
        for (step, answer) in self.steps.iter().zip(answers) {
            if let Some(Err(text)) = step.check.as_ref().map(|check| check(answer)) {
                let what = if step.what.is_empty() { String::new() } else { format!("{}: ", step.what) };
                wrong.push(format!("{} ({client}) `{}`: {what}{text}", self.subject, step.command));
            }
        }
        wrong
    }

    /// Runs the script, and fails with all errors.
    pub(crate) fn must_pass(&self, debugger: &Debugger) {
        fail_with(self.run(debugger));
    }
}

/// The text without the folds of a console's lines: a line that begins with four blanks or more continues the one before it.
/// A gap precedes locations in brackets and the states of lanes.
pub(crate) fn unfolded(text: &str) -> String {
    let parts = text.split("\n    ").map(str::trim_start);
    let is_after_gap = |part: &str| part.starts_with('[') || part.starts_with("(lane");
    let join = |part: &str| if is_after_gap(part) { format!("  {part}") } else { format!(" {part}") };
    let mut joined: String = parts.map(join).collect();
    joined.drain(..if is_after_gap(text) { 2 } else { 1 });
    joined
}

/// Runs each fixture's script over its own server. Fails with all errors, or if at most `least` answers were checked.
pub(crate) fn in_each(
    fixtures: impl IntoIterator<Item = Fixture>,
    options: &[&str],
    debugger: &Debugger,
    script: fn(&Fixture, &str) -> Script,
    least: usize,
) {
    let (mut wrong, mut checks) = (Vec::new(), 0);
    for fixture in fixtures {
        let options: Vec<&str> = fixture.options().into_iter().chain(options.iter().copied()).collect();
        let server = Server::start(&fixture.dump, &options);
        let script = script(&fixture, &server.address);
        checks += script.checks();
        wrong.extend(script.run(debugger));
        server.finish();
    }
    fail_with(wrong);
    assert!(checks > least, "only {checks} answers were judged");
}

/// Half of the cases: gdb has every second one, and lldb the others. In `scripts/test --long` all of them.
pub(crate) fn half<T>(cases: impl IntoIterator<Item = T>, debugger: &Debugger) -> impl Iterator<Item = T> {
    let is_lldb = matches!(debugger, Debugger::Lldb(_));
    sampled(cases.into_iter().skip(usize::from(is_lldb && !is_long())), 2)
}

/// gdb, and in `scripts/test --long` gdb-multiarch: the same program with more processors. What differs is how it takes to a
/// new target; the tests of attaching always have both, and those of all dumps have it on a few.
pub(crate) fn gdbs() -> impl Iterator<Item = &'static str> {
    sampled(["gdb", "gdb-multiarch"], 2)
}

/// [`gdbs`] and lldb.
pub(crate) fn debuggers() -> Vec<Debugger> {
    gdbs().map(Debugger::Gdb).chain([Debugger::Lldb(lldb_name())]).collect()
}

/// Fails with the first error, if any.
pub(crate) fn fail_with(mut wrong: Vec<String>) {
    let count = wrong.len();
    wrong.truncate(40);
    assert!(wrong.is_empty(), "{count} differences:\n{}", wrong.join("\n"));
}

impl Debugger {
    pub(crate) fn run(&self, commands: &[&str]) -> (String, String) {
        match self {
            Self::Gdb(name) => {
                let mut command = tool(name);
                command.args(["-nx", "-q", "-batch", "-ex", "set pagination off", "-ex", "set confirm off"]);
                command.args(["-ex", "set width 0", "-ex", "set print elements unlimited"]);
                command.args(["-ex", "set print repeats unlimited"]);
                for (number, line) in commands.iter().enumerate() {
                    command.args(["-ex", &format!("echo \\n{}\\n", mark(number)), "-ex", line]);
                }
                ((*name).to_owned(), run(&mut command))
            }
            Self::Lldb(name) => {
                let path = scratch("commands.lldb");
                std::fs::write(&path, commands.join("\n")).unwrap();
                let mut command = tool(name);
                command.args(["--no-lldbinit", "--batch"]).env("LANESCOPE_COMMANDS", &path);
                command.args(["-O", &format!("command script import {COMMANDS}")]);
                let transcript = run(&mut command);
                std::fs::remove_file(&path).unwrap();
                (name.clone(), transcript)
            }
        }
    }

    /// The part of the transcript of each command.
    pub(crate) fn answers(&self, commands: &[&str], transcript: &str) -> Vec<String> {
        let marks: Vec<String> = match self {
            // gdb prints the requested echo, lldb repeats each command.
            Self::Gdb(_) => (0..commands.len()).map(|number| format!("\n{}\n", mark(number))).collect(),
            Self::Lldb(_) => commands.iter().map(|command| format!("(lldb) {command}\n")).collect(),
        };
        let mut answers = Vec::new();
        let mut rest = transcript;
        for (number, mark) in marks.iter().enumerate() {
            let Some(at) = rest.find(mark.as_str()) else { break };
            if number > 0 {
                answers.push(rest[..at].to_owned());
            }
            rest = &rest[at + mark.len()..];
        }
        if answers.len() + 1 == marks.len() {
            answers.push(rest.to_owned());
        }
        answers
    }
}

fn mark(number: usize) -> String {
    format!("@@{number}@@")
}
