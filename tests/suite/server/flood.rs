//! Clients that take more than they should: bursts, answers that nobody reads, silence, and a system that has nothing left.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, Uid};

use super::served::{SOON, Served, ask, packet};

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
    std::thread::sleep(Duration::from_millis(500));
    let more = served.anonymous().saturating_sub(before);
    assert!(more < 4 * 4096, "{more} kB for four clients");
    let idle = served.processor();
    std::thread::sleep(Duration::from_millis(500));
    assert!(served.processor() - idle < Duration::from_millis(100), "it works on though nobody reads");
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
    let bytes = fs::read(folder.path().join("memory.bin")).unwrap();
    let mut reader = BufReader::new(&mut client);
    for at in requests {
        let (mut reply, mut sum) = (Vec::new(), [0; 2]);
        reader.read_until(b'#', &mut reply).unwrap();
        reader.read_exact(&mut sum).unwrap();
        let start = (at - ADDRESS) as usize;
        let expected: String =
            bytes[start..start + 0x8000].iter().map(|byte| format!("{byte:02x}")).collect();
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
    // One answer that is being made may be finished.
    std::thread::sleep(Duration::from_secs(2));
    let before = served.processor();
    std::thread::sleep(Duration::from_millis(500));
    let work = served.processor() - before;
    assert!(work < Duration::from_millis(100), "{work:?} of work in half a second for nobody");
    served.end();
}

#[test]
fn sigterm_ends_the_server_while_a_client_is_answered() {
    let folder = dump(10_000);
    for body in ["qRcmd,7761766573", "qlanescope.Groups:lanes:1;", "qRcmd,67726f757073206c616e6573"] {
        let served = Served::start(folder.path(), &[]);
        let mut client = served.connect();
        let mut reader = client.try_clone().unwrap();
        // Read, so that the server is never held up by its client.
        std::thread::spawn(move || {
            let mut bytes = vec![0; 1 << 20];
            while matches!(reader.read(&mut bytes), Ok(count) if count > 0) {}
        });
        client.write_all(packet(body).repeat(1000).as_bytes()).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        served.end();
    }
}

#[test]
fn sigterm_ends_a_server_on_standard_input_that_is_at_work() {
    let folder = dump(10_000);
    let mut server = Command::new(env!("CARGO_BIN_EXE_lanescope"))
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
    let start = Instant::now();
    while server.try_wait().unwrap().is_none() {
        assert!(start.elapsed() < SOON, "SIGTERM does not end it");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(server.wait().unwrap().success());
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
    let before = served.processor();
    let mut others: Vec<TcpStream> = (0..40).map(|_| served.connect()).collect();
    let answers: Vec<_> = others.iter_mut().map(|other| ask(other, "qC")).collect();
    let served_too = answers.iter().filter(|answer| matches!(answer, Ok(text) if text == "QC1")).count();
    assert!((1..10).contains(&served_too), "{answers:?}");
    let told =
        |answer: &std::io::Result<String>| matches!(answer, Ok(text) if text.contains("no descriptor left"));
    // A client that has sent its packet before it is turned away may lose the words to a reset.
    assert!(answers.iter().any(told), "{answers:?}");
    std::thread::sleep(Duration::from_secs(1));
    let work = served.processor() - before;
    assert!(work < Duration::from_millis(300), "{work:?} of work for clients that are turned away");
    assert_eq!(served.warnings("could not connect"), 1, "{}", served.log.lock().unwrap());
    // Who is connected notices nothing, and places become free.
    assert_eq!(ask(&mut first, "qC").unwrap(), "QC1");
    drop(others);
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(ask(&mut served.connect(), "qC").unwrap(), "QC1");
    served.end();
}

#[test]
fn clients_without_a_thread_are_turned_away() {
    let folder = dump(1);
    let program = folder.path().join("lanescope");
    // A superuser has no limit of processes: then the server runs as a user without any other process.
    crate::install(Path::new(env!("CARGO_BIN_EXE_lanescope")), &program);
    fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let is_root = Uid::effective().is_root();
    let mut command = Command::new("prlimit");
    if is_root {
        // The listening thread, and one for a client.
        command.arg("--nproc=2:2").uid(57_321);
    }
    command.arg(&program).args(["serve", "--port", "0"]).arg(folder.path());
    let served = Served::spawn(&mut command);
    let mut first = served.connect();
    assert_eq!(ask(&mut first, "qC").unwrap(), "QC1");
    if !is_root {
        limit(&served, "--nproc=1:1");
    }
    let before = served.processor();
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
    let work = served.processor() - before;
    assert!(work < Duration::from_millis(300), "{work:?} of work for clients that are turned away");
    assert_eq!(served.warnings("turned away"), 1, "{}", served.log.lock().unwrap());
    assert_eq!(ask(&mut first, "qC").unwrap(), "QC1");
    served.end();
}

#[test]
fn a_silent_client_is_disconnected() {
    let folder = dump(1);
    let served = Served::start(folder.path(), &["--silence", "1"]);
    let mut silent = served.connect();
    let mut junk = served.connect();
    junk.write_all(b"$qC#00+++GET / HTTP/1.0\r\n\r\n").unwrap();
    let mut speaks = served.connect();
    assert_eq!(ask(&mut speaks, "qC").unwrap(), "QC1");
    let start = Instant::now();
    assert_eq!(silent.read(&mut [0]).unwrap(), 0, "the connection ends");
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    let mut rest = Vec::new();
    junk.read_to_end(&mut rest).unwrap();
    assert_eq!(rest, b"-", "no packet has a right checksum");
    // One packet is enough to stay.
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(ask(&mut speaks, "qC").unwrap(), "QC1");
    let start = served.processor();
    std::thread::sleep(Duration::from_millis(300));
    assert!(served.processor() - start < Duration::from_millis(20), "it waits without working");
    served.end();
}

/// Two hundred idle clients take no time and no place of a working one; when their time is over others come in.
#[test]
fn many_silent_clients() {
    let folder = dump(100);
    let served = Served::start(folder.path(), &["--silence", "3"]);
    let mut works = served.connect();
    assert_eq!(ask(&mut works, "qC").unwrap(), "QC1");
    let before = served.anonymous();
    let silent: Vec<TcpStream> = (0..200).map(|_| served.connect()).collect();
    let start = Instant::now();
    let mut answers = 0;
    while start.elapsed() < Duration::from_secs(2) {
        let asked = Instant::now();
        assert!(ask(&mut works, &format!("m{ADDRESS:x},1000")).unwrap().len() == 0x2000);
        assert!(asked.elapsed() < Duration::from_secs(1), "{:?}", asked.elapsed());
        answers += 1;
    }
    assert!(answers > 20, "{answers}");
    let more = served.anonymous().saturating_sub(before);
    assert!(more < 64 * 1024, "{more} kB");
    std::thread::sleep(Duration::from_secs(3));
    assert_eq!(ask(&mut served.connect(), "qC").unwrap(), "QC1");
    assert_eq!(ask(&mut works, "qC").unwrap(), "QC1");
    drop(silent);
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
        let asked = Instant::now();
        assert_eq!(ask(&mut works, &format!("m{ADDRESS:x},1000")).unwrap().len(), 0x2000);
        assert!(asked.elapsed() < Duration::from_secs(2), "{:?}", asked.elapsed());
        std::thread::sleep(Duration::from_secs(1));
    }
    let more = served.anonymous().saturating_sub(before);
    assert!(more < 10 * 8192, "{more} kB for 10 clients");
    let idle = served.processor();
    std::thread::sleep(Duration::from_secs(1));
    assert!(
        served.processor() - idle < Duration::from_millis(200),
        "it works on though hardly anybody reads"
    );
    served.end();
}

/// Small stacks of new threads by the environment: a client's thread has its own size.
#[test]
fn the_environment_does_not_shrink_a_clients_stack() {
    let folder = dump(1);
    let mut command = Command::new(env!("CARGO_BIN_EXE_lanescope"));
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
