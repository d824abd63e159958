//! Compares gdb over lanescope with gdb over a server that answers the same bytes from a table: gdb's own time.
//!
//! Processor time of gdb and server together, alternating on one core: the waiting time of a user on an idle machine,
//! independent of other work. The table is recorded in a session of gdb with lanescope. The table's server requires the
//! same questions in the same order.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use super::{Failure, Server, TURNS, listen, scratch};

/// Task of gdb.
pub(crate) struct Task<'a> {
    /// Whether the measured time includes `target remote`.
    pub(crate) attaching: bool,
    pub(crate) command: &'a str,
    /// Checks gdb's output.
    pub(crate) check: &'a dyn Fn(&str) -> Result<(), Failure>,
}

/// The table's server, which [`times_a_table`] starts as a process of its own.
pub(crate) fn serve(arguments: Vec<String>) -> Result<ExitCode, Failure> {
    let table = read_table(&fs::read(arguments.first().ok_or("no table")?)?)?;
    answer_from(&table, listen()?)?;
    // The bench reads its processor time before it ends the process.
    std::thread::sleep(std::time::Duration::from_secs(60));
    Ok(ExitCode::SUCCESS)
}

/// Ratio of the task's time over lanescope to its time over the table, per turn.
pub(crate) fn times_a_table(dump: &Path, task: &Task<'_>) -> Result<Vec<f64>, Failure> {
    let server = Server::lanescope(dump)?;
    let table = record(&server, task)?;
    let path = scratch("")?.join("table");
    fs::write(&path, write_table(&table))?;
    println!("{} questions of gdb", table.len());
    let mut turns = Vec::new();
    for turn in 1..=TURNS {
        let ours = gdb(&server, &server.address, task)?;
        let replay = Server::part("table", &[&path.to_string_lossy()])?;
        let least = gdb(&replay, &replay.address, task)?;
        for (who, spent) in [("the server", &ours), ("the table's server", &least)] {
            println!("turn {turn}: gdb {:.0} ms, {who} {:.0} ms", spent.client * 1e3, spent.server * 1e3);
        }
        turns.push((ours, least));
    }
    // gdb's part is the same to the byte in all six runs: more than the minimum is noise of the machine.
    let clients = turns.iter().flat_map(|(ours, least)| [ours.client, least.client]);
    let gdb = clients.fold(f64::INFINITY, f64::min);
    Ok(turns.iter().map(|(ours, least)| (gdb + ours.server) / (gdb + least.server)).collect())
}

/// Seconds of processor time.
struct Spent {
    client: f64,
    server: f64,
}

/// Processor time of gdb and its server for the task, without gdb's start.
fn gdb(server: &Server, address: &str, task: &Task<'_>) -> Result<Spent, Failure> {
    const BEGIN: &str = "python begin = spent()";
    // Same fields as `Server::processor_time`, sampled by gdb itself.
    let clock = format!(
        "python import time; spent = lambda: (time.process_time(), sum(map(int, open('/proc/{}/stat').read()\
         .rsplit(')', 1)[1].split()[11:13])) / 100)",
        server.child.id()
    );
    let attach = format!("target remote {address}");
    let first = if task.attaching { [BEGIN, &attach] } else { [&attach, BEGIN] };
    let end = "python print('seconds', *(now - then for now, then in zip(spent(), begin)))";
    let mut command = Command::new("gdb");
    command.args(["-nx", "-q", "-batch", "-ex", "set pagination off", "-ex", &clock]);
    command.args(["-ex", first[0], "-ex", first[1], "-ex", task.command, "-ex", end]);
    let output = command.stdin(Stdio::null()).env_remove("DEBUGINFOD_URLS").stderr(Stdio::null()).output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    (task.check)(&text)?;
    let line = text.lines().find_map(|line| line.strip_prefix("seconds ")).ok_or("gdb has no Python")?;
    let (client, server) = line.split_once(' ').ok_or("no seconds of the server")?;
    Ok(Spent { client: client.trim().parse()?, server: server.trim().parse()? })
}

/// One question and all bytes that follow until the next one.
struct Exchange {
    question: Vec<u8>,
    answer: Vec<u8>,
}

/// Runs gdb over the server with this process as a proxy, and records the packets.
fn record(server: &Server, task: &Task<'_>) -> Result<Vec<Exchange>, Failure> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let between = listener.local_addr()?.to_string();
    let address = server.address.clone();
    let listening = std::thread::spawn(move || {
        let (client, _) = listener.accept()?;
        listen_in(client, TcpStream::connect(address)?)
    });
    gdb(server, &between, task)?;
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
            // An acknowledgement belongs to the next question.
            continue;
        }
        // gdb waits for the whole answer, which may have packets of text before the last one.
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
    // The connection is already closed if gdb has ended.
    let _ = server.shutdown(Shutdown::Both);
    Ok(table)
}

/// Whether the bytes contain a whole packet, after any prefix.
fn is_packet(bytes: &[u8]) -> bool {
    bytes.contains(&b'$') && bytes.len() > 3 && bytes[bytes.len() - 3] == b'#'
}

/// Whether the last packet of an answer is complete and is not console text.
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
