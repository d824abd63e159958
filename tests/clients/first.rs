//! Debugger sessions with a program before the connection: the user's application (`gdb ./app`), or the code object
//! itself. The debugger prints all variables of the models, and the program keeps its symbols.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::harness::{Server, lldb_name, scratch};
use super::mi;
use super::model::{Fixture, fixtures_folder, named};
use super::script::{Debugger, Script};
use super::view::{gdb_script, lldb_script};
use crate::support::{newest, sample::sampled};

const GDBS: [&str; 2] = ["gdb", "gdb-multiarch"];
/// A kernel without calls, functions that call each other, and several code objects.
const DUMPS: [&str; 3] = ["saxpy-gfx90a-O0", "calls-gfx90a", "mixed-vgprs"];
/// Link variants of applications: with a build id, which gdb compares with the view's, and without; at relocatable and
/// fixed addresses; smaller than a code object's image, and with code at all of its addresses.
const LINKED: [&[&str]; 3] = [
    &["-DFILLER=\"16\"", "-fPIE", "-pie", "-Wl,--build-id=sha1"],
    &["-DFILLER=\"0x100000\"", "-fPIE", "-pie", "-Wl,--build-id=none"],
    &["-DFILLER=\"16\"", "-fno-pie", "-no-pie", "-static", "-Wl,--build-id=sha1"],
];

/// A host application.
struct Application(PathBuf);

impl Application {
    fn linked(options: &[&str]) -> Self {
        let source = scratch("app.c");
        fs::write(
            &source,
            "__attribute__((naked)) void filler(void) { __asm__(\".zero \" FILLER); }\n\
             __attribute__((used)) const int table[4] = {1, 2, 3, 4};\n\
             int on_the_host(int n) { int twice = 2 * n; return twice; }\n\
             void _start(void) { for (;;) on_the_host(21); }\n",
        )
        .unwrap();
        let program = scratch("app");
        let mut clang = Command::new(newest("clang"));
        clang
            .args(["-g", "-O0", "-ffreestanding", "-nostdlib", "-o"])
            .arg(&program)
            .args(options)
            .arg(&source);
        let output = clang.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        fs::remove_file(source).unwrap();
        Self(program)
    }
}

impl Drop for Application {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// The models' script in a session that begins with a program.
fn program_first(
    debugger: &Debugger,
    fixture: &Fixture,
    program: &Path,
    script: fn(&Fixture, &str) -> Script,
    more: impl FnOnce(&mut Script),
) {
    let server = Server::start(&fixture.dump, &[]);
    let mut script = script(fixture, &server.address);
    let command = if matches!(debugger, Debugger::Gdb(_)) { "file" } else { "target create" };
    script.say_first(format!("{command} {}", program.display()));
    more(&mut script);
    script.must_pass(debugger);
    server.finish();
}

#[test]
fn gdb_shows_variables_with_an_application_as_its_program() {
    let applications = LINKED.map(|options| (options, Application::linked(options)));
    let pairs = GDBS.into_iter().flat_map(|name| DUMPS.map(|dump| (name, dump)));
    let all = applications.iter().flat_map(|one| pairs.clone().map(move |(name, dump)| (one, name, dump)));
    // Each program, each gdb and each dump.
    for ((options, application), name, dump) in sampled(all, 4) {
        program_first(&Debugger::Gdb(name), &named(dump), &application.0, gdb_script, |script| {
            // If build ids differ, gdb may take another program.
            if options.contains(&"-Wl,--build-id=none") {
                script.expect("info line on_the_host", "app.c\" starts at address 0x");
            }
        });
    }
}

#[test]
fn lldb_shows_variables_with_an_application_as_its_program() {
    let lldb = Debugger::Lldb(lldb_name());
    let applications = LINKED.map(Application::linked);
    let all = applications.iter().flat_map(|application| DUMPS.map(|dump| (application, dump)));
    // Each program, and each dump.
    for (application, dump) in sampled(all, 4) {
        program_first(&lldb, &named(dump), &application.0, lldb_script, |_| {});
    }
}

/// gdb 13 crashes when it applies AMDGPU's call frame information. Here it does not: the code object stays at its link
/// address, and the view is at the waves' addresses.
#[test]
fn gdb_survives_a_code_object_as_its_program() {
    let all = GDBS.into_iter().flat_map(|name| ["saxpy-gfx90a-O0", "calls-gfx90a"].map(|dump| (name, dump)));
    for (name, dump) in sampled(all, 3) {
        let program = fixtures_folder().join(format!("code/{dump}.hsaco"));
        program_first(&Debugger::Gdb(name), &named(dump), &program, gdb_script, |_| {});
    }
}

/// The command `-file-exec-and-symbols` of Visual Studio Code's extension.
#[test]
fn a_front_end_of_gdb_takes_an_application_as_its_program() {
    let application = Application::linked(LINKED[0]);
    mi::with_program(&named("calls-gfx90a"), &application.0);
}

/// A program that is loaded after connecting relocates nothing.
#[test]
fn gdb_takes_an_application_while_it_is_connected() {
    let application = Application::linked(LINKED[0]);
    for name in GDBS {
        let fixture = named("saxpy-gfx90a-O0");
        let server = Server::start(&fixture.dump, &[]);
        let mut script = Script::new(&fixture.name);
        script.say(format!("target remote {}", server.address));
        script.say(format!("add-symbol-file {}", application.0.display()));
        script.expect("info line on_the_host", "app.c\" starts at address 0x");
        script.expect("bt", "saxpy (");
        script.must_pass(&Debugger::Gdb(name));
        server.finish();
    }
}
