//! Source text in debuggers on another machine than the compiler's: from the demo, from dumps, and from `--source-map`.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::harness::{Server, lanescope, run, scratch, tool};
use super::model::{copy_dump, fixtures_folder, named};
use super::script::{Debugger, Script, debuggers, gdbs};
use super::{dap, mi};
use crate::support::newest;

/// Kernel of a fixture's code object and dump.
const KERNEL: &str = "saxpy.hip";
const DUMP: &str = "saxpy-gfx90a-O0";
/// The debugger of what depends on the server alone.
const GDB: [Debugger; 1] = [Debugger::Gdb("gdb")];

/// Folder of the test, removed at its end.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new(name: &str) -> Self {
        let folder = scratch(name);
        fs::create_dir_all(&folder).unwrap();
        Self(folder.canonicalize().unwrap())
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn source() -> String {
    fs::read_to_string(fixtures_folder().join("kernels").join(KERNEL)).unwrap()
}

/// The first wave's line of the file, in the form of both debuggers' lists and stops.
fn line_of_first_wave(text: &str) -> (usize, String) {
    let line = named(DUMP).waves[0].expected["line"].as_u64().unwrap() as usize;
    (line, text.lines().nth(line - 1).unwrap().to_owned())
}

/// Requires the first wave's line in a session from the root folder, which has no file of the repository.
fn is_read(debugger: &Debugger, server: &Server, text: &str) {
    let (line, words) = line_of_first_wave(text);
    let mut script = Script::new(&words);
    match debugger {
        Debugger::Gdb(_) => {
            script.say("cd /");
            script.expect(format!("target remote {}", server.address), format!("\n{line}\t{words}\n"));
            script.expect("frame", format!("\n{line}\t{words}\n"));
            script.expect(format!("list {line},{line}"), format!("{line}\t{words}\n"));
            script.never("info source", "No such file");
        }
        Debugger::Lldb(_) => {
            script.say("script import os; os.chdir('/')");
            script.expect(format!("gdb-remote {}", server.address), format!("-> {line}  \t{words}\n"));
            script.expect(format!("source list -f {KERNEL} -l {line} -c 1"), format!("{line}  \t{words}"));
        }
    }
    script.must_pass(debugger);
}

fn is_read_by_all(dump: &Path, options: &[&str], text: &str) {
    is_read_by(&debuggers(), dump, options, text);
}

fn is_read_by(debuggers: &[Debugger], dump: &Path, options: &[&str], text: &str) {
    let server = Server::start(dump, options);
    debuggers.iter().for_each(|debugger| is_read(debugger, &server, text));
    server.finish();
}

/// A small dump; returns the command's output.
fn slimmed(from: &Path, to: &Path, options: &[&str]) -> String {
    let mut command = Command::new(lanescope());
    command.arg("slim").arg(from).arg("-o").arg(to).args(options).env_remove("RUST_LOG");
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    said
}

/// The fixture's dump over its kernel, recompiled from a folder of the test by an absolute name.
fn compiled(folder: &Folder, options: &[&str]) -> PathBuf {
    compiled_with(folder, options, "")
}

/// The same with more source text after the kernel's.
fn compiled_with(folder: &Folder, options: &[&str], more: &str) -> PathBuf {
    let project = folder.path("project");
    fs::create_dir_all(&project).unwrap();
    for name in [KERNEL, "device.h"] {
        fs::copy(fixtures_folder().join("kernels").join(name), project.join(name)).unwrap();
    }
    fs::write(project.join(KERNEL), source() + more).unwrap();
    let dump = folder.path("dump");
    copy_dump(DUMP, &dump);
    let mut clang = Command::new(newest("clang"));
    clang.args(["-x", "hip", "-fuse-cuid=none", "--cuda-device-only", "--no-gpu-bundle-output"]);
    clang.args(["--offload-arch=gfx90a", "-nogpuinc", "-nogpulib", "-O0", "-g"]);
    clang.args(["-fdebug-compilation-dir=/nowhere/build"]).args(options);
    clang.arg(project.join(KERNEL)).arg("-o").arg(dump.join(format!("{DUMP}.hsaco")));
    let output = clang.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    dump
}

/// gdb makes a system call for each byte from a pipe, so that large code objects take seconds. The server warns and
/// prints the faster alternative; over a socket, and with a small code object, the warning is absent.
#[test]
fn gdb_reads_why_a_pipe_is_slow() {
    const WORDS: &str = "gdb reads a pipe byte by byte";
    let folder = Folder::new("pipe");
    let long = "name_".repeat(80);
    let functions = (0..1000).map(|number| {
        format!("__attribute__((device, used)) static int {long}{number}(int n) {{ return n + {number}; }}\n")
    });
    let large = compiled_with(&folder, &[], &functions.collect::<String>());
    for name in gdbs() {
        for (dump, is_slow) in [(&large, true), (&named(DUMP).dump, false)] {
            let mut script = Script::new(name);
            let serve = format!("exec '{}' serve --stdio '{}'", lanescope(), dump.display());
            script.check("pipe", format!("target remote | {serve}"), move |text| {
                if text.contains(WORDS) == is_slow { Ok(()) } else { Err(text.to_owned()) }
            });
            script.expect("bt", "saxpy (");
            script.must_pass(&Debugger::Gdb(name));
        }
        let server = Server::start(&large, &[]);
        let mut script = Script::new(name);
        script.never(format!("target remote {}", server.address), WORDS);
        script.must_pass(&Debugger::Gdb(name));
        server.finish();
    }
}

#[test]
fn the_demo_has_its_source() {
    // Without a dump the server serves the demo: an option replaces the dump.
    is_read_by_all(Path::new("--silence=600"), &[], &source());
}

#[test]
fn front_ends_open_the_demos_source() {
    let server = Server::start(Path::new("--silence=600"), &[]);
    for path in
        [mi::source_of_first_frame("gdb", &server.address), dap::source_of_first_frame(&server.address)]
    {
        assert_eq!(fs::read_to_string(&path).unwrap(), source(), "{path}");
        let folder = Path::new(&path).parent().unwrap().to_owned();
        assert!(folder.starts_with(std::env::temp_dir()), "{path} is the repository's");
    }
    server.finish();
}

/// Files with relative names, below a folder of the user's; debuggers get the server's folder.
#[test]
fn a_small_dump_holds_the_sources_below_a_folder() {
    let folder = Folder::new("relative");
    let dump = folder.path("small.zip");
    let said = slimmed(&named(DUMP).dump, &dump, &["--sources", env!("LANESCOPE_ROOT")]);
    assert!(said.contains("source files   1 ("), "{said}");
    is_read_by_all(&dump, &[], &source());
    // A dump of that dump holds them too.
    let again = folder.path("again");
    slimmed(&dump, &again, &["--whole"]);
    let file = again.join("sources/tests/fixtures/kernels").join(KERNEL);
    assert_eq!(fs::read_to_string(file).unwrap(), source());
    is_read_by(&GDB, &again, &[], &source());
    let server = Server::start(&dump, &[]);
    let path = mi::source_of_first_frame("gdb", &server.address);
    assert!(Path::new(&path).exists());
    let own = Path::new(&path).ancestors().find(|folder| {
        folder.file_name().is_some_and(|name| name.to_string_lossy().starts_with("lanescope-"))
    });
    let mode = fs::metadata(own.expect("a folder of the server's")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "others look into {path}");
    server.finish();
    assert!(!Path::new(&path).exists(), "{path} outlives the server");
}

/// Files with absolute names, which no longer exist when the dump is read.
#[test]
fn a_small_dump_holds_sources_by_their_absolute_names() {
    for options in [&["-gdwarf-5"][..], &["-gdwarf-4"]] {
        let folder = Folder::new("absolute");
        let dump = compiled(&folder, options);
        let small = folder.path("small");
        slimmed(&dump, &small, &["--sources", folder.path("project").to_str().unwrap()]);
        fs::remove_dir_all(folder.path("project")).unwrap();
        is_read_by_all(&small, &[], &source());
    }
}

/// The folder now has another text than the compiled one: the dump omits it, and the report has the reason.
#[test]
fn changed_sources_stay_out_of_a_dump() {
    let folder = Folder::new("changed");
    let dump = compiled(&folder, &["-gdwarf-5"]);
    let project = folder.path("project");
    fs::write(project.join(KERNEL), source().replace("float xi", "double xi")).unwrap();
    let small = folder.path("small");
    let said = slimmed(&dump, &small, &["--sources", project.to_str().unwrap()]);
    assert!(said.contains("differs from the file that was compiled (MD5)"), "{said}");
    assert!(!said.contains("source files   "), "{said}");
}

/// No name of a line table leads out of the user's folder, neither by a link nor by its own parts.
#[test]
fn no_source_outside_of_the_folder_goes_into_a_dump() {
    let folder = Folder::new("outside");
    let dump = compiled(&folder, &["-gdwarf-5"]);
    let (project, elsewhere) = (folder.path("project"), folder.path("elsewhere"));
    let small = folder.path("other");
    fs::create_dir_all(&elsewhere).unwrap();
    let said = slimmed(&dump, &small, &["--sources", elsewhere.to_str().unwrap()]);
    assert!(said.contains("lie below no folder of --sources"), "{said}");
    fs::rename(project.join(KERNEL), elsewhere.join(KERNEL)).unwrap();
    symlink(elsewhere.join(KERNEL), project.join(KERNEL)).unwrap();
    let small = folder.path("link");
    let said = slimmed(&dump, &small, &["--sources", project.to_str().unwrap()]);
    assert!(!said.contains("source files   ") && !small.join("sources").exists(), "{said}");
}

#[test]
fn a_source_map_leads_debuggers_to_the_users_files() {
    let folder = Folder::new("mapped");
    let text = source().replace("float xi", "/* mine */ float xi");
    fs::write(folder.path(KERNEL), &text).unwrap();
    let map = format!("tests/fixtures/kernels={}", folder.0.display());
    is_read_by_all(&named(DUMP).dump, &["--source-map", &map], &text);
    // It takes precedence over the dump's own sources.
    is_read_by(&GDB, Path::new("--silence=600"), &["--source-map", &map], &text);
    // The dump's files are found in their current folder.
    let small = folder.path("small");
    fs::write(folder.path(KERNEL), source()).unwrap();
    slimmed(&named(DUMP).dump, &small, &["--sources", folder.0.to_str().unwrap(), "--source-map", &map]);
    is_read_by(&GDB, &small, &[], &source());
}

/// The server, `monitor notices`, `lanescope view` and `lanescope slim` report exactly the prefixes without a file.
#[test]
fn a_source_map_without_a_file_is_reported() {
    const WORDS: &str = "--source-map /nowhere: no source file has a path that begins with it";
    let dump = named(DUMP).dump;
    let folder = Folder::new("unused");
    let used = format!("tests/fixtures/kernels={}", folder.0.display());
    let options = ["--source-map", &used, "--source-map", "/nowhere=/elsewhere"];
    for debugger in debuggers() {
        let server = Server::start(&dump, &options);
        let mut script = Script::new("unused");
        let monitor = match debugger {
            Debugger::Gdb(_) => {
                script.say(format!("target remote {}", server.address));
                "monitor notices"
            }
            Debugger::Lldb(_) => {
                script.say(format!("gdb-remote {}", server.address));
                "process plugin packet monitor notices"
            }
        };
        script.expect(monitor, WORDS);
        script.never(monitor, "source-map tests");
        script.must_pass(&debugger);
        assert_eq!(server.output().matches(WORDS).count(), 1, "{}", server.output());
        server.finish_after(&[WORDS]);
    }
    let mut command = Command::new(lanescope());
    command.arg("view").arg(&dump).arg("-o").arg(folder.path("views")).args(options);
    let said = run(command.env_remove("RUST_LOG").stdin(std::process::Stdio::null()));
    assert!(said.contains(WORDS) && !said.contains("source-map tests"), "{said}");
    let sources = ["--sources", folder.0.to_str().unwrap()];
    let said = slimmed(&dump, &folder.path("small"), &[&sources[..], &options[..]].concat());
    assert!(
        said.contains("--source-map /nowhere: no source file") && !said.contains("source-map tests"),
        "{said}"
    );
}

/// A map's files for an lldb on another machine, in the files of `lanescope view`.
#[test]
fn written_views_have_the_users_places() {
    let folder = Folder::new("views");
    let text = source().replace("float xi", "/* mine */ float xi");
    fs::write(folder.path(KERNEL), &text).unwrap();
    let views = folder.path("views");
    let map = format!("tests/fixtures/kernels={}", folder.0.display());
    let mut command = Command::new(lanescope());
    command.arg("view").arg(named(DUMP).dump).arg("-o").arg(&views).args(["--source-map", &map]);
    let said = run(command.env_remove("RUST_LOG").stdin(std::process::Stdio::null()));
    let view = views.join(format!("{DUMP}.hsaco"));
    assert!(view.exists(), "{said}");
    let mut dwarfdump = tool(newest("llvm-dwarfdump"));
    let lines = run(dwarfdump.args(["--debug-line", "--debug-info"]).arg(&view));
    assert!(lines.contains(&format!("\"{}\"", folder.0.display())), "{lines}");
}

/// Terminal control sequences are escaped before a debugger prints them, and keep their lines.
#[test]
fn debuggers_print_no_controls_of_a_dumps_sources() {
    let folder = Folder::new("hostile");
    // Version 4 has no checksums: any text matches.
    let dump = compiled(&folder, &["-gdwarf-4"]);
    let project = folder.path("project");
    let (line, _) = line_of_first_wave(&source());
    let mut lines: Vec<String> = source().lines().map(str::to_owned).collect();
    lines[line - 1] = "\t\u{1b}]0;evil\u{7}\u{202e}text\u{9b}31m".to_owned();
    fs::write(project.join(KERNEL), lines.join("\r\n")).unwrap();
    let small = folder.path("small");
    slimmed(&dump, &small, &["--sources", project.to_str().unwrap()]);
    let escaped = r"\u{1b}]0;evil\u{7}\u{202e}text\u{9b}31m";
    lines[line - 1] = format!("\t{escaped}");
    let server = Server::start(&small, &[]);
    for debugger in debuggers() {
        let mut script = Script::new("escapes");
        script.say(match debugger {
            Debugger::Gdb(_) => format!("target remote {}", server.address),
            Debugger::Lldb(_) => format!("gdb-remote {}", server.address),
        });
        let list = match debugger {
            Debugger::Gdb(_) => format!("list {line},{line}"),
            Debugger::Lldb(_) => format!("source list -f {KERNEL} -l {line} -c 1"),
        };
        script.expect(list.clone(), escaped);
        script.check("controls", list, |text| {
            let obeyed = text.chars().find(|char| matches!(char, '\u{1b}' | '\u{7}' | '\u{202e}' | '\u{9b}'));
            obeyed.map_or(Ok(()), |char| Err(format!("{char:?} in {text:?}")))
        });
        script.must_pass(&debugger);
    }
    server.finish();
}
