//! `lanescope demo`: serves the embedded demo and opens gdb or lldb on it, with a tour of five steps.
//!
//! `tour` in the debugger runs the next step: the stack, the variables, a lane, a what-if change, the cause. Without a
//! terminal, and with `--print`, the command prints the steps. The debugger reads its own settings files.

use std::fmt::Write as _;
use std::io::{IsTerminal as _, Write};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use super::choice::choice;
use super::doctor::Brand;
use super::{Failure, serve};
use crate::report::Style;
use crate::signals::Signals;

/// Options of the command.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Print the steps, and start nothing
    #[arg(long)]
    print: bool,
    /// The debugger [default: gdb, else lldb]
    #[arg(long, value_name = "DEBUGGER", value_parser = choice([("gdb", Brand::Gdb), ("lldb", Brand::Lldb)]))]
    debugger: Option<Brand>,
}

/// A step of the tour.
struct TourStep {
    title: &'static str,
    /// Sentences of at most 76 columns.
    text: &'static [&'static str],
    gdb: &'static [&'static str],
    lldb: &'static [&'static str],
}

const STEPS: [TourStep; 5] = [
    TourStep {
        title: "the stack",
        text: &[
            "A thread is a wave of 64 lanes. Thread 1 faulted in the kernel saxpy.",
            "`info threads` (lldb: `thread list`) lists all waves.",
        ],
        gdb: &["backtrace"],
        lldb: &["thread backtrace"],
    },
    TourStep {
        title: "the variables",
        text: &["These are the values of one lane. A variable has a value in each lane."],
        gdb: &["info locals"],
        lldb: &["frame variable"],
    },
    TourStep {
        title: "another lane",
        text: &["The register `lane` chooses the lane. i is 1017 in lane 17."],
        gdb: &["set var $lane = 17", "print i", "print x[i]"],
        lldb: &["register write lane 17", "frame variable i", "frame variable x[1017]"],
    },
    TourStep {
        title: "a what-if change",
        text: &["A change belongs to this session. The dump keeps its values."],
        gdb: &["set var i = 5", "print x[i]", "monitor changes", "set var i = 1017"],
        lldb: &[
            "process plugin packet monitor thread 1 set lane 17 i = 5",
            "process plugin packet monitor thread 1 print lane 17 x[i]",
            "process plugin packet monitor changes",
            "process plugin packet monitor reset",
        ],
    },
    TourStep {
        title: "the fault",
        text: &["The cause, with its lane, line, pointer and index."],
        gdb: &["monitor triage"],
        lldb: &["process plugin packet monitor triage"],
    },
];

/// The sentence behind a step.
const NEXT: &str = "Type `tour` for the next step.";
/// The sentence behind the last step.
const END: &str = "This was the tour. `lanescope DUMP` names the cause of your own dump.";

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<u8, Failure> {
    let found = match args.debugger {
        Some(brand) => brand.program().map(|path| (brand, path)),
        None => [Brand::Gdb, Brand::Lldb].into_iter().find_map(|brand| Some((brand, brand.program()?))),
    };
    let has_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    match (found, args.debugger) {
        (Some((brand, path)), _) if has_terminal && !args.print => Ok(open(brand, &path)?),
        (None, Some(brand)) if !args.print => {
            let name = brand.name();
            Err(format!("{name} is not on the PATH; `lanescope doctor` lists what is missing").into())
        }
        (found, _) => {
            let brand = args.debugger.or(found.as_ref().map(|(brand, _)| *brand)).unwrap_or(Brand::Gdb);
            let mut text = match found.is_some() && !args.print {
                true => "Without a terminal no debugger starts. These are the steps to type.\n\n".to_owned(),
                false => String::new(),
            };
            text += &printed(brand);
            if found.is_none() {
                let none = args.debugger.map_or_else(|| "gdb and no lldb".to_owned(), Brand::name);
                text += &format!("\nNo {none} is on the PATH: `lanescope doctor` prints what to install.\n");
            }
            out.write_all(Style::Coloured.folded(&text).as_bytes())?;
            Ok(0)
        }
    }
}

fn commands(step: &TourStep, brand: Brand) -> &'static [&'static str] {
    match brand {
        Brand::Gdb => step.gdb,
        Brand::Lldb => step.lldb,
    }
}

fn heading(index: usize, step: &TourStep) -> String {
    format!("Step {} of {}: {}", index + 1, STEPS.len(), step.title)
}

/// The steps as text.
fn printed(brand: Brand) -> String {
    let (start, prompt) = match brand {
        Brand::Gdb => (format!("{} -ex 'target remote :1234'", brand.name()), "(gdb)"),
        Brand::Lldb => (format!("{} -o 'gdb-remote 1234'", brand.name()), "(lldb)"),
    };
    let mut text = format!(
        "The demo is a wave state of a saxpy kernel that ran past the end of its input.\n\n  lanescope serve\n  {start}\n\n\
         The first command serves it; type the second one in another terminal.\n"
    );
    for (index, step) in STEPS.iter().enumerate() {
        let _ = writeln!(text, "\n{}", Style::Coloured.heading(&heading(index, step)));
        for line in step.text {
            let _ = writeln!(text, "  {line}");
        }
        for command in commands(step, brand) {
            let _ = writeln!(text, "    {prompt} {command}");
        }
    }
    text
}

/// Runs the debugger on a server of its own; the debugger's exit status.
fn open(brand: Brand, program: &Path) -> Result<u8, Failure> {
    // lldb prints the path.
    let folder = tempfile::Builder::new().prefix("lanescope-demo-").tempdir()?;
    let script = match brand {
        Brand::Gdb => gdb_script(folder.path())?,
        Brand::Lldb => lldb_scripts(folder.path())?,
    };
    let (mut server, port) = started()?;
    let status = debug(brand, program, &script, &port);
    // It ended with its client, unless the debugger never connected.
    let _ = server.kill();
    let _ = server.wait();
    Ok(status?.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}

/// Starts the debugger, and waits for its end. Signals of the terminal are the debugger's.
fn debug(brand: Brand, program: &Path, script: &Path, port: &str) -> Result<ExitStatus, Failure> {
    let mut command = Command::new(program);
    match brand {
        Brand::Gdb => {
            let settings = ["set confirm off", "set pagination off"];
            command.arg("-q").args(settings.iter().flat_map(|setting| ["-iex", setting]));
            command.arg("-ex").arg(format!("target remote :{port}")).arg("-x").arg(script);
            command.args(["-ex", "tour"])
        }
        Brand::Lldb => {
            // Otherwise lldb asks at its end whether to kill the process.
            command.args(["-o", "settings set auto-confirm true"]);
            command.arg("-o").arg(format!("gdb-remote {port}"));
            command.arg("-o").arg(format!("command source -s 1 \"{}\"", script.display()))
        }
    };
    // gdb 13 asks about them before it connects.
    command.env_remove("DEBUGINFOD_URLS");
    let mut child = command.spawn().map_err(|error| format!("{}: {error}", program.display()))?;
    let _blocked = Signals::block()?;
    Ok(child.wait()?)
}

/// A server on a free port, which ends with its first client.
fn started() -> Result<(Child, String), Failure> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["serve", "--port", "0", "--once"]).stdin(Stdio::null()).stdout(Stdio::piped());
    // An interrupt of the terminal is for the debugger.
    let mut server = command.process_group(0).spawn()?;
    let address = serve::address_of(&mut server);
    match address.as_deref().and_then(|address| address.strip_prefix("127.0.0.1:")) {
        Some(port) => Ok((server, port.to_owned())),
        None => Err(format!("the server ended with {}", server.wait()?).into()),
    }
}

/// A command `tour` for gdb, which counts its steps.
fn gdb_script(folder: &Path) -> std::io::Result<PathBuf> {
    let mut text = String::from("set $tour = 0\ndefine tour\n  set $tour = $tour + 1\n");
    for (index, step) in STEPS.iter().enumerate() {
        let _ = writeln!(text, "  if $tour == {}", index + 1);
        let _ = writeln!(text, "    echo \\n{}\\n", heading(index, step));
        for line in step.text {
            let _ = writeln!(text, "    echo {line}\\n");
        }
        for command in step.gdb {
            let _ = writeln!(text, "    echo (gdb) {command}\\n\n    {command}");
        }
        let last = if index + 1 == STEPS.len() { END } else { NEXT };
        let _ = writeln!(text, "    echo \\n{last}\\n\n  end");
    }
    let _ = writeln!(text, "  if $tour == {}\n    set $tour = 0\n  end", STEPS.len());
    text += "end\ndocument tour\nThe next step of lanescope's tour.\nend\n";
    let path = folder.join("tour.gdb");
    std::fs::write(&path, text)?;
    Ok(path)
}

/// Files of lldb commands: one a step, and one that runs it silently and makes `tour` the next one.
fn lldb_scripts(folder: &Path) -> std::io::Result<PathBuf> {
    let path = |name: &str, index: usize| folder.join(format!("{name}-{}", index % STEPS.len()));
    for (index, step) in STEPS.iter().enumerate() {
        let mut text = format!("# {}\n", heading(index, step));
        for line in step.text {
            let _ = writeln!(text, "# {line}");
        }
        for command in step.lldb {
            let _ = writeln!(text, "{command}");
        }
        let last = if index + 1 == STEPS.len() { END } else { NEXT };
        let _ = writeln!(text, "# {last}");
        std::fs::write(path("step", index), text)?;
        let next = path("tour", index + 1);
        let source = format!("command source -s 0 \"{}\"\n", path("step", index).display());
        let alias = format!("command alias tour command source -s 1 \"{}\"\n", next.display());
        std::fs::write(path("tour", index), alias + &source)?;
    }
    Ok(path("tour", 0))
}
