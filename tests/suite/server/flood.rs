//! Clients that take more than they should: bursts, answers that nobody reads, silence, and a system that has nothing left.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;

use lanescope::codeobject::hex;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, Uid};

use super::served::{Served, ask, packet};
use crate::support::{ended, lanescope, until};

/// Bytes of memory in the dump, from [`ADDRESS`] on.
const MEMORY: usize = 1 << 20;
const ADDRESS: u64 = 0x10_0000;

/// A dump of so many waves and of memory in a file.
fn dump(waves: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let bytes: Vec<u8> = (0..MEMORY as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    fs::write(folder.path().join("memory.bin"), bytes).unwrap();
    let mut manifest = "format = 1\n[[agent]]\nid = 1\ntarget = \"gfx90a\"\n".to_owned();
    for wave in 0..waves {
        manifest += &format!(
            "[[wave]]\nid = {wave}\nagent = 1\nstop = [\"breakpoint\"]\n[wave.registers]\npc = \"{:#x}\"\n\
             exec = \"0xffffffffffffffff\"\n",
            0x7f00_0010_0000u64 + 4 * wave as u64
        );
    }
    manifest += &format!("[[memory]]\naddress = \"{ADDRESS:#x}\"\nfile = \"memory.bin\"\n");
    fs::write(folder.path().join("manifest.toml"), manifest).unwrap();
    folder
}

/// Writes until nobody takes more.
fn flood(stream: &mut TcpStream, text: &str) {
    for _ in 0..64 {
        if stream.write_all(text.as_bytes()).is_err() {
            return;
        }
    }
}

#[test]
fn unread_answers_are_bounded() {
    let folder = dump(1);
    let served = Served::start(folder.path(), &[]);
    let before = served.anonymous();
    // The protocol's largest read, 4,600 of them in 64 KiB of requests: 600 MB of answers.
    let burst = packet(&format!("m{ADDRESS:x},10000")).repeat(4600);
    let mut clients: Vec<TcpStream> = (0..4).map(|_| served.connect()).collect();
    clients.iter_mut().for_each(|client| flood(client, &burst));
    served.idle();
    let more = served.anonymous().saturating_sub(before);
    assert!(more < 4 * 4096, "{more} kB for four clients");
    // Nobody else waits.
    assert_eq!(ask(&mut served.connect(), "qC").unwrap(), "QC1");
    served.end();
}

#[test]
fn a_burst_is_answered_whole_and_in_order() {
    let folder = dump(1);
    let served = Served::start(folder.path(), &[]);
    let mut client = served.connect();
    client.set_write_timeout(None).unwrap();
    let requests: Vec<u64> = (0..500).map(|n| ADDRESS + n * 16).collect();
    let burst: String = requests.iter().map(|at| packet(&format!("m{at:x},8000"))).collect();
    let mut sender = client.try_clone().unwrap();
    let sending = std::thread::spawn(move || sender.write_all(burst.as_bytes()).unwrap());
    let digits = hex(&fs::read(folder.path().join("memory.bin")).unwrap());
    let mut reader = BufReader::new(&mut client);
    for at in requests {
        let (mut reply, mut sum) = (Vec::new(), [0; 2]);
        reader.read_until(b'#', &mut reply).unwrap();
        reader.read_exact(&mut sum).unwrap();
        let start = 2 * (at - ADDRESS) as usize;
        let expected = &digits[start..start + 2 * 0x8000];
        assert_eq!(reply, format!("+${expected}#").into_bytes(), "{at:#x}");
    }
    sending.join().unwrap();
    served.end();
}

#[test]
fn work_stops_when_its_client_leaves() {
    let folder = dump(10_000);
    let served = Served::start(folder.path(), &[]);
    let waves = packet("qRcmd,7761766573").repeat(4000);
    let mut client = served.connect();
    flood(&mut client, &waves[..64 << 10]);
    drop(client);
    let answers = served.answers();
    assert!(answers < 1000, "{answers} answers to nobody");
    served.idle();
    served.end();
}

#[test]
fn sigterm_ends_the_server_while_a_client_is_answered() {
    let folder = dump(10_000);
    // The commands `waves` and `groups lanes`, whose answers end with OK, and a packet.
    for (body, end) in [
        ("qRcmd,7761766573", "$OK#"),
        ("qlanescope.Groups:lanes:1;", "#"),
        ("qRcmd,67726f757073206c616e6573", "$OK#"),
    ] {
        let served = Served::start(folder.path(), &[]);
        let mut client = served.connect();
        let mut reader = client.try_clone().unwrap();
        let (begun, is_answered) = mpsc::channel();
        // Read, so that the server is never held up by its client.
        let reading = std::thread::spawn(move || {
            let (mut bytes, mut text) = (vec![0; 1 << 20], Vec::new());
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                text.extend_from_slice(&bytes[..count]);
                let _ = begun.send(());
            }
            String::from_utf8_lossy(&text).matches(end).count()
        });
        client.write_all(packet(body).repeat(1000).as_bytes()).unwrap();
        is_answered.recv().unwrap();
        served.end();
        let answers = reading.join().unwrap();
        assert!(answers < 1000, "{body}: all {answers} answers");
    }
}

#[test]
fn sigterm_ends_a_server_on_standard_input_that_is_at_work() {
    let folder = dump(10_000);
    let mut server = lanescope()
        .args(["serve", "--stdio"])
        .arg(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    // Nobody reads the answers.
    let mut input = server.stdin.take().unwrap();
    input.write_all(packet("qRcmd,7761766573").repeat(500).as_bytes()).unwrap();
    let mut first = [0];
    server.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    kill(Pid::from_raw(server.id().try_into().unwrap()), Signal::SIGTERM).unwrap();
    assert!(ended(&mut server, "the end of the server after SIGTERM").success());
}

/// Limits a resource of a running process: util-linux' `prlimit`.
fn limit(served: &Served, what: &str) {
    let done =
        Command::new("prlimit").args(["--pid", &served.child.id().to_string(), what]).status().unwrap();
    assert!(done.success(), "prlimit {what}");
}

#[test]
fn clients_without_a_descriptor_are_turned_away() {
    let folder = dump(1);
    let served = Served::start(folder.path(), &[]);
    let mut first = served.connect();
    assert_eq!(ask(&mut first, "qC").unwrap(), "QC1");
    let open = fs::read_dir(format!("/proc/{}/fd", served.child.id())).unwrap().count();
    limit(&served, &format!("--nofile={}", open + 3));
    let mut others: Vec<TcpStream> = (0..40).map(|_| served.connect()).collect();
    let answers: Vec<_> = others.iter_mut().map(|other| ask(other, "qC")).collect();
    let served_too = answers.iter().filter(|answer| matches!(answer, Ok(text) if text == "QC1")).count();
    assert!((1..10).contains(&served_too), "{answers:?}");
    let told =
        |answer: &std::io::Result<String>| matches!(answer, Ok(text) if text.contains("no descriptor left"));
    // A client that has sent its packet before it is turned away may lose the words to a reset.
    assert!(answers.iter().any(told), "{answers:?}");
    served.idle();
    // The warnings are ten seconds apart.
    let warnings = served.logged("could not connect");
    assert!(warnings.len() < 10, "{warnings:#?}");
    // Who is connected notices nothing, and places become free.
    assert_eq!(ask(&mut first, "qC").unwrap(), "QC1");
    drop(others);
    until("a free place", || ask(&mut served.connect(), "qC").ok().filter(|answer| answer == "QC1"));
    served.end();
}

#[test]
fn clients_without_a_thread_are_turned_away() {
    let folder = dump(1);
    let program = folder.path().join("lanescope");
    // A superuser has no limit of processes: then the server runs as a user without any other process.
    crate::install(Path::new(crate::support::program()), &program);
    fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let is_root = Uid::effective().is_root();
    let mut command = Command::new("prlimit");
    if is_root {
        // The listening thread, and one for a client. Another run of the tests has another user.
        command.arg("--nproc=2:2").uid(20_000 + std::process::id() % 40_000);
    }
    command.args(["env", "--default-signal"]).arg(&program).args(["serve", "--port", "0"]).arg(folder.path());
    let served = Served::spawn(&mut command);
    let mut first = served.connect();
    assert_eq!(ask(&mut first, "qC").unwrap(), "QC1");
    if !is_root {
        limit(&served, "--nproc=1:1");
    }
    let mut others: Vec<TcpStream> = (0..40).map(|_| served.connect()).collect();
    let answers: Vec<String> = others
        .iter_mut()
        .map(|other| {
            let mut text = String::new();
            let _ = other.read_to_string(&mut text);
            text
        })
        .collect();
    assert!(answers.iter().all(|text| text.contains("cannot start a thread")), "{answers:?}");
    served.idle();
    let warnings = served.logged("turned away");
    assert!(warnings.len() < 10, "{warnings:#?}");
    assert_eq!(ask(&mut first, "qC").unwrap(), "QC1");
    served.end();
}

/// [`super::sockets`] has clients that spoke in time.
#[test]
fn a_silent_client_is_disconnected() {
    let folder = dump(1);
    let served = Served::start(folder.path(), &["--silence", "1"]);
    let mut silent = served.connect();
    let mut junk = served.connect();
    junk.write_all(b"$qC#00+++GET / HTTP/1.0\r\n\r\n").unwrap();
    assert_eq!(silent.read(&mut [0]).unwrap(), 0, "the connection ends");
    let mut rest = Vec::new();
    junk.read_to_end(&mut rest).unwrap();
    assert_eq!(rest, b"-", "no packet has a right checksum");
    served.idle();
    served.end();
}

/// Two hundred silent clients hold up no other one, and take little memory.
#[test]
fn many_silent_clients() {
    let folder = dump(100);
    let served = Served::start(folder.path(), &["--silence", "3600"]);
    let mut works = served.connect();
    assert_eq!(ask(&mut works, "qC").unwrap(), "QC1");
    let before = served.anonymous();
    let _silent: Vec<TcpStream> = (0..200).map(|_| served.connect()).collect();
    for _ in 0..100 {
        assert!(ask(&mut works, &format!("m{ADDRESS:x},1000")).unwrap().len() == 0x2000);
    }
    let more = served.anonymous().saturating_sub(before);
    assert!(more < 64 * 1024, "{more} kB");
    served.idle();
    served.end();
}

/// Clients that read a large answer byte by byte hold up nobody else.
#[test]
fn clients_that_read_slowly() {
    let folder = dump(1);
    let served = Served::start(folder.path(), &[]);
    let before = served.anonymous();
    let mut slow: Vec<TcpStream> = (0..10).map(|_| served.connect()).collect();
    for client in &mut slow {
        flood(client, &packet(&format!("m{ADDRESS:x},10000")).repeat(4600));
    }
    let mut works = served.connect();
    for _ in 0..5 {
        slow.iter_mut().for_each(|client| client.read_exact(&mut [0]).unwrap());
        assert_eq!(ask(&mut works, &format!("m{ADDRESS:x},1000")).unwrap().len(), 0x2000);
    }
    served.idle();
    let more = served.anonymous().saturating_sub(before);
    assert!(more < 10 * 8192, "{more} kB for 10 clients");
    served.end();
}

/// Small stacks of new threads by the environment: a client's thread has its own size.
#[test]
fn the_environment_does_not_shrink_a_clients_stack() {
    let folder = dump(1);
    let mut command = lanescope();
    let command = command.args(["serve", "--port", "0"]).arg(folder.path()).env("RUST_MIN_STACK", "16384");
    let served = Served::spawn(command);
    let mut client = served.connect();
    let path: String = format!("print {}1{}", "(".repeat(60), ")".repeat(60));
    let hex: String = path.bytes().map(|byte| format!("{byte:02x}")).collect();
    client.write_all(packet(&format!("qRcmd,{hex}")).as_bytes()).unwrap();
    // Output and end of the command, or an error: any answer.
    let mut answer = [0; 3];
    client.read_exact(&mut answer).unwrap();
    assert!(answer.starts_with(b"+$"), "{answer:?}");
    assert_eq!(ask(&mut served.connect(), "qC").unwrap(), "QC1");
    served.end();
}
