//! Views on another machine: unchanged commands of `lanescope view`, the folder for lldb, and LDS per work-group.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::sys::signal::Signal;

use super::harness::{Server, lanescope, lldb_name, run, scratch, tool};
use super::model::{Fixture, copy_dump, fixtures_folder, named};
use super::script::{Debugger, Script, gdbs};
use crate::support::{GDB_PATIENCE, LLDB_PATIENCE};

/// Three code objects; the second is the default one.
const SEVERAL: &str = "mixed-vgprs";

/// Writes the views of a dump, and returns the folder with the output.
fn written(dump: &Path) -> (PathBuf, String) {
    let folder = scratch("views");
    let output = Command::new(lanescope()).arg("view").arg(dump).arg("-o").arg(&folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    (folder, String::from_utf8(output.stdout).unwrap())
}

/// The printed command for a client, with the server's address and further commands at its end.
fn printed(text: &str, client: &str, program: &str, address: &str, more: &str) -> Command {
    // A long command continues behind a backslash.
    let text = text.replace("\\\n", "");
    let line = text.lines().find_map(|line| line.trim().strip_prefix(&format!("{client} ")));
    let line = line.unwrap_or_else(|| panic!("no line for {client} in {text}"));
    assert!(line.contains("HOST:1234"), "{line}");
    let mut shell = tool("sh");
    // A folder without sources: LLDB prints a source line if it finds the file.
    shell.current_dir(crate::support::own_folder());
    shell.args(["-c", &format!("{program} {} {more}", line.replace("HOST:1234", address))]);
    shell
}

/// Requires the function and line of every wave.
fn places(fixture: &Fixture, client: &str, said: &str) {
    for wave in &fixture.waves {
        let word = |key: &str| wave.expected[key].as_str().unwrap();
        let place = format!("{}:{}", word("file"), wave.expected["line"]);
        let name = format!(":{} {}", wave.expected["id"], wave.name_suffix().unwrap());
        // Each thread's part begins with its name, or has it in its first line.
        let part = said.rsplit_once(name.as_str()).map_or("", |(_, rest)| rest);
        let frame = part.lines().find(|line| line.contains("#0")).unwrap_or_default();
        let is_named = frame.contains(word("function").rsplit("::").next().unwrap());
        assert!(is_named && frame.contains(&place), "{client}: {name} is at {place}, not {frame}:\n{said}");
    }
}

#[test]
fn printed_commands_find_every_code_object() {
    let fixture = named(SEVERAL);
    let server = Server::start(&fixture.dump, &[]);
    let (folder, text) = written(&fixture.dump);
    for name in gdbs() {
        let program = format!("{name} -nx -q -batch -ex 'set width 0' -ex '{}'", GDB_PATIENCE[1]);
        let said = run(&mut printed(&text, "gdb", &program, &server.address, "-ex 'thread apply all bt 1'"));
        places(&fixture, name, &said);
    }
    let program = format!("{} --no-lldbinit --batch -O '{}'", lldb_name(), LLDB_PATIENCE[1]);
    let here =
        run(&mut printed(&text, &lldb_name(), &program, &server.address, "-o 'thread backtrace all -c 1'"));
    assert!(!here.contains("error:") && !here.contains("warning:"), "{here}");
    places(&fixture, "lldb", &here);
    // Another machine has only the copies: the test removes the server's files.
    let announced = folder_of(&server);
    assert!(here.contains(announced.to_str().unwrap()) || announced.exists());
    for file in fs::read_dir(&announced).unwrap().flatten() {
        fs::remove_file(file.path()).unwrap();
    }
    let more = "-o 'thread backtrace all -c 1' -o 'image list -f'";
    let there = run(&mut printed(&text, &lldb_name(), &program, &server.address, more));
    assert!(!there.contains("error:") && !there.contains("warning:"), "{there}");
    places(&fixture, "lldb elsewhere", &there);
    let own = fs::canonicalize(&folder).unwrap();
    // The views and the stub, which is the first file of the server's list.
    assert_eq!(there.matches(&format!("] {}/", own.display())).count(), 4, "{there}");
    server.finish();
    fs::remove_dir_all(folder).unwrap();
}

/// The folder of a dump may be the target: the dump's code object has the name of an output file.
#[test]
fn views_overwrite_nothing() {
    let dump = scratch("own");
    copy_dump("lds-gfx90a-O2", &dump);
    let code = dump.join("lds-gfx90a-O2.hsaco");
    let before = fs::read(&code).unwrap();
    let mut command = Command::new(lanescope());
    // Folds depend on the lengths of folders.
    command.env("COLUMNS", "100000").arg("view").arg(&dump).arg("-o").arg(&dump);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        !output.status.success() && said.contains("lds-gfx90a-O2.hsaco exists; choose another folder"),
        "{said}"
    );
    assert_eq!(fs::read(&code).unwrap(), before);
    fs::remove_dir_all(dump).unwrap();
}

/// The answer to a packet.
fn ask(stream: &mut TcpStream, body: &str) -> String {
    let sum = body.bytes().fold(0u8, |sum, byte| sum.wrapping_add(byte));
    stream.write_all(format!("${body}#{sum:02x}").as_bytes()).unwrap();
    let mut said = Vec::new();
    let mut byte = [0];
    while said.len() < 3 || said[said.len() - 3] != b'#' {
        stream.read_exact(&mut byte).unwrap();
        said.push(byte[0]);
    }
    stream.write_all(b"+").unwrap();
    String::from_utf8_lossy(&said).into_owned()
}

/// The paths of lldb's files.
fn folder_of(server: &Server) -> PathBuf {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    // Packets that only lldb sends.
    ask(&mut stream, "QEnableErrorStrings");
    ask(&mut stream, "qHostInfo");
    let list = ask(&mut stream, "qXfer:libraries-svr4:read::0,1000");
    let (_, rest) = list.split_once("name=\"").unwrap_or_else(|| panic!("no library in {list}"));
    Path::new(rest.split('"').next().unwrap()).parent().unwrap().to_owned()
}

#[test]
fn the_folder_is_the_servers_own_and_goes_with_it() {
    let dump = named("lds-gfx90a-O2").dump;
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP, Signal::SIGQUIT] {
        let server = Server::start(&dump, &[]);
        let folder = folder_of(&server);
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&folder), 0o700);
        let files: Vec<PathBuf> = fs::read_dir(&folder).unwrap().flatten().map(|file| file.path()).collect();
        assert_eq!(
            files.iter().map(|file| mode(file)).collect::<Vec<_>>(),
            [0o400; 2],
            "the view and the stub"
        );
        server.signal(signal);
        assert!(server.ended().success(), "{signal}");
        assert!(!folder.exists(), "{signal} leaves {}", folder.display());
    }
}

/// `tile` with work-groups of 64 numbers n + 100 * group in LDS, one wave per group.
fn groups() -> PathBuf {
    let folder = scratch("lds");
    fs::create_dir_all(&folder).unwrap();
    fs::copy(fixtures_folder().join("code/tile-gfx90a-O2.hsaco"), folder.join("code")).unwrap();
    let mut manifest = "format = 1\n[[agent]]\nid = 1\ntarget = \"gfx90a\"\n[[queue]]\nid = 1\nagent = 1\n\
         [[code_object]]\nfile = \"code\"\naddress = \"0x7f0000100000\"\n\
         [[dispatch]]\nid = 1\nqueue = 1\nkernel = \"tile\"\ngrid = [128]\nworkgroup = [64]\n"
        .to_owned();
    for group in 0..2 {
        let bytes = (0..64).flat_map(|n: i32| (n + 100 * group).to_le_bytes());
        let hex: String = bytes.map(|byte| format!("{byte:02x}")).collect();
        manifest += &format!(
            "[[workgroup]]\nid = {}\ndispatch = 1\nposition = [{group}, 0, 0]\nlds_size = 256\n\
             lds = [ {{ hex = \"{hex}\" }} ]\n",
            group + 1
        );
    }
    for group in 0..2 {
        manifest += &format!(
            "[[wave]]\nid = {0}\nworkgroup = {0}\nwave_in_group = 0\nstop = [\"breakpoint\"]\n\
             [wave.registers]\npc = \"0x7f00001016a8\"\nexec = \"0xffffffffffffffff\"\n",
            group + 1
        );
    }
    fs::write(folder.join("manifest.toml"), manifest).unwrap();
    folder
}

#[test]
fn lds_is_that_of_the_waves_group() {
    let dump = groups();
    let numbers = |group: i32| (0..64).map(|n| (n + 100 * group).to_string()).collect::<Vec<_>>().join(", ");
    for name in gdbs() {
        let server = Server::start(&dump, &[]);
        let mut script = Script::new("LDS");
        script.say(format!("target remote {}", server.address));
        for group in 0..2 {
            script.say(format!("thread {}", group + 1));
            script.expect("print cells", format!(" = {{{}}}\n", numbers(group)));
            script.expect("print cells[63]", format!(" = {}\n", 63 + 100 * group));
            script.expect("x/8dw &cells", format!("\t{}\t{}\t", 100 * group, 100 * group + 1));
            // The last byte, and the byte after it.
            script.expect("x/2dw &cells[63]", format!("\t{}\tCannot access memory at", 63 + 100 * group));
        }
        script.must_pass(&Debugger::Gdb(name));
        server.finish();
    }
    let server = Server::start(&dump, &[]);
    let mut script = Script::new("LDS");
    script.say(format!("gdb-remote {}", server.address));
    for group in 0..2 {
        script.say(format!("thread select --thread-id {}", group + 1));
        script.expect("frame variable cells[0]", format!(" = {}\n", 100 * group));
        script.expect("frame variable cells[63]", format!(" = {}\n", 63 + 100 * group));
        script.expect("expression cells[62]", format!(" = {}\n", 62 + 100 * group));
    }
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
    fs::remove_dir_all(dump).unwrap();
}
