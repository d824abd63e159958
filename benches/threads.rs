//! The promise: `target remote` and `info threads` of 10,000 waves take gdb at most 1.1 times as long as over a server
//! that answers the same bytes from a table, which is gdb's own time.
//!
//! Processor time of gdb and server together: they take turns on one core, so that this is what a user waits for when the
//! machine does nothing else, and other work on the machine does not count.
//!
//! `cargo bench --bench threads`. The table is written down once, from a session of gdb with lanescope, and the table's
//! server holds gdb to the same questions in the same order.

mod support;

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use support::{Failure, Promises, Server, TURNS, pin_to_one_core, scratch};

const WAVES: usize = 10_000;

/// One question with all that was sent until the next one.
struct Exchange {
    question: Vec<u8>,
    answer: Vec<u8>,
}

fn main() -> Result<ExitCode, Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [part, table] = arguments.as_slice()
        && part == "table"
    {
        let table = read_table(&fs::read(table)?)?;
        answer_from(&table, support::listen()?)?;
        // What it took is read before it is ended.
        std::thread::sleep(std::time::Duration::from_secs(60));
        return Ok(ExitCode::SUCCESS);
    }
    pin_to_one_core()?;
    let dump = scratch("many")?;
    let maker = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/models/many.py");
    let made = Command::new("python3").arg(maker).arg(WAVES.to_string()).arg(&dump).status()?;
    if !made.success() {
        return Err(format!("many.py: {made}").into());
    }
    let server = Server::lanescope(&dump)?;
    let table = record(&server.address)?;
    let path = scratch("")?.join("table");
    fs::write(&path, write_table(&table))?;
    note(&format!("{} questions of gdb", table.len()));
    let mut turns = Vec::new();
    for turn in 1..=TURNS {
        let ours = both(&server)?;
        let replay = Server::part(&["table", &path.to_string_lossy()])?;
        let least = both(&replay)?;
        note(&format!("turn {turn}: gdb {:.0} ms, the server {:.0} ms", ours.0 * 1e3, ours.1 * 1e3));
        note(&format!(
            "turn {turn}: gdb {:.0} ms, the table's server {:.0} ms",
            least.0 * 1e3,
            least.1 * 1e3
        ));
        turns.push((ours, least));
    }
    // gdb's part is the same to the byte in all six; what it took more than the least is the machine's doing.
    let gdb = turns.iter().flat_map(|(ours, least)| [ours.0, least.0]).fold(f64::INFINITY, f64::min);
    let ratios: Vec<f64> = turns.iter().map(|(ours, least)| (gdb + ours.1) / (gdb + least.1)).collect();
    let mut promises = Promises::default();
    promises.at_most("target remote and info threads of 10,000 waves, times a table", &ratios, 1.1);
    fs::remove_dir_all(scratch("")?)?;
    Ok(promises.end())
}

/// Seconds of gdb, and of its server meanwhile.
fn both(server: &Server) -> Result<(f64, f64), Failure> {
    // The table's server has read its table before it listens.
    let before = server.processor_time()?;
    let client = gdb(&server.address)?;
    let spent = server.processor_time()? - before;
    Ok((client, spent))
}

/// Seconds that gdb computes for both commands: its start is not counted.
fn gdb(address: &str) -> Result<f64, Failure> {
    let mut command = Command::new("gdb");
    command.args(["-nx", "-q", "-batch", "-ex", "set pagination off"]);
    command.args(["-ex", "python import time; begin = time.process_time()"]);
    command.arg("-ex").arg(format!("target remote {address}"));
    command.args(["-ex", "info threads", "-ex", "python print('seconds', time.process_time() - begin)"]);
    let output = command.stdin(Stdio::null()).env_remove("DEBUGINFOD_URLS").stderr(Stdio::null()).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let rows = text.matches("\"AMDGPU Wave ").count();
    if rows != WAVES {
        return Err(format!("gdb listed {rows} waves").into());
    }
    let line = text.lines().find_map(|line| line.strip_prefix("seconds ")).ok_or("gdb has no Python")?;
    Ok(line.trim().parse()?)
}

/// Runs gdb over the server with this process between them, and keeps what was said.
fn record(address: &str) -> Result<Vec<Exchange>, Failure> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let between = listener.local_addr()?.to_string();
    let address = address.to_owned();
    let listening = std::thread::spawn(move || {
        let (client, _) = listener.accept()?;
        listen_in(client, TcpStream::connect(address)?)
    });
    gdb(&between)?;
    Ok(listening.join().map_err(|_| "the recorder failed")??)
}

fn listen_in(mut client: TcpStream, mut server: TcpStream) -> std::io::Result<Vec<Exchange>> {
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let mut table: Vec<Exchange> = Vec::new();
    let (mut question, mut chunk) = (Vec::new(), vec![0; 1 << 20]);
    loop {
        let got = client.read(&mut chunk)?;
        if got == 0 {
            break;
        }
        server.write_all(&chunk[..got])?;
        question.extend_from_slice(&chunk[..got]);
        if !is_packet(&question) {
            // An acknowledgement; it goes with the next question.
            continue;
        }
        // gdb waits for the answer before it asks on: text may come in packets of its own before the last one.
        let mut answer = Vec::new();
        while !is_answer(&answer) {
            let got = server.read(&mut chunk)?;
            if got == 0 {
                break;
            }
            client.write_all(&chunk[..got])?;
            answer.extend_from_slice(&chunk[..got]);
        }
        table.push(Exchange { question: std::mem::take(&mut question), answer });
    }
    // gdb may be gone already, and then there is nothing to shut down.
    let _ = server.shutdown(Shutdown::Both);
    Ok(table)
}

/// Whether a whole packet is there, whatever stands before it.
fn is_packet(bytes: &[u8]) -> bool {
    bytes.contains(&b'$') && bytes.len() > 3 && bytes[bytes.len() - 3] == b'#'
}

/// Whether the last packet of an answer is there and is not mere text.
fn is_answer(bytes: &[u8]) -> bool {
    let last = bytes.iter().rposition(|byte| *byte == b'$');
    let text = last.is_some_and(|at| bytes[at..].starts_with(b"$O") && !bytes[at..].starts_with(b"$OK#"));
    is_packet(bytes) && !text
}

/// Answers one client from a table.
fn answer_from(table: &[Exchange], listener: TcpListener) -> Result<(), Failure> {
    let (mut client, _) = listener.accept()?;
    client.set_nodelay(true)?;
    let (mut question, mut chunk) = (Vec::with_capacity(1 << 16), vec![0; 1 << 16]);
    for exchange in table {
        while !is_packet(&question) {
            let got = client.read(&mut chunk)?;
            if got == 0 {
                return Err("gdb left early".into());
            }
            question.extend_from_slice(&chunk[..got]);
        }
        if question != exchange.question {
            return Err(format!("gdb asks {} now", question.escape_ascii()).into());
        }
        question.clear();
        client.write_all(&exchange.answer)?;
    }
    Ok(())
}

fn write_table(table: &[Exchange]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in table.iter().flat_map(|exchange| [&exchange.question, &exchange.answer]) {
        bytes.extend_from_slice(&(part.len() as u64).to_le_bytes());
        bytes.extend_from_slice(part);
    }
    bytes
}

fn read_table(mut bytes: &[u8]) -> Result<Vec<Exchange>, Failure> {
    let mut table = Vec::new();
    while !bytes.is_empty() {
        let mut part = || -> Result<Vec<u8>, Failure> {
            let (length, rest) = bytes.split_at_checked(8).ok_or("the table is cut")?;
            let length = u64::from_le_bytes(length.try_into()?) as usize;
            let (part, rest) = rest.split_at_checked(length).ok_or("the table is cut")?;
            bytes = rest;
            Ok(part.to_vec())
        };
        table.push(Exchange { question: part()?, answer: part()? });
    }
    Ok(table)
}

#[allow(clippy::print_stdout, reason = "a bench prints what it measured")]
fn note(words: &str) {
    println!("{words}");
}
