//! Limits of the most frequent packets, relative to gdbserver and to a bare ping-pong:
//!
//! * `m` of 64 KiB moves at least 8 times the bytes per second of gdbserver at its best size.
//! * `T`, and `p` of the PC, take at most 1.5 times as long as a ping-pong of the same sizes.
//!
//! Bench `protocol`

use std::path::PathBuf;
use std::process::ExitCode;

use crate::support::{
    Failure, Promises, Raw, Server, TURNS, listen, packet, pin_to_one_core, ping_pong, scratch, seconds_each,
};

/// Address of the dump's memory.
const ADDRESS: u64 = 0x7f00_0020_0000;
const MEMORY: usize = 1 << 20;
/// Bytes of one read, the maximum of gdb and lldb.
const READ: usize = 64 << 10;
/// Sizes for gdbserver. Its packets end at 0x47ff bytes: it answers a longer `m` short, and 13.1 crashes on 64 KiB.
const SIZES: [usize; 5] = [1024, 4096, 8000, 9000, 16384];
/// Minimum ratio to gdbserver's bytes per second.
const LEAST_SPEED: f64 = 8.0;
const MAX_TIMES_PING_PONG: f64 = 1.5;
/// A program with a large text section.
const PROGRAM: &str = "/bin/bash";

pub(crate) fn run(arguments: Vec<String>) -> Result<ExitCode, Failure> {
    if let [part, request, reply] = arguments.as_slice()
        && part == "ping-pong"
    {
        let (mut stream, _) = listen()?.accept()?;
        ping_pong(&mut stream, request.parse()?, reply.parse()?)?;
        return Ok(ExitCode::SUCCESS);
    }
    pin_to_one_core()?;
    let mut promises = Promises::default();
    let server = Server::lanescope(&dump()?)?;
    let mut ours = Raw::connect(&server.address, true)?;
    memory(&mut ours, &mut promises)?;
    let pc = pc_packet(&mut ours)?;
    for (name, body) in [("T", "T1".to_owned()), ("p of the PC", pc)] {
        small(&mut ours, &mut promises, name, &body)?;
    }
    Ok(promises.end())
}

/// A dump of one wave and a megabyte of memory in a file.
fn dump() -> Result<PathBuf, Failure> {
    let folder = scratch("memory")?;
    let bytes: Vec<u8> = (0..MEMORY as u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    std::fs::write(folder.join("memory.bin"), bytes)?;
    let manifest = format!(
        "format = 1\n\
         [[agent]]\nid = 1\ntarget = \"gfx90a\"\n\
         [[wave]]\nid = 1\nagent = 1\nstop = [\"breakpoint\"]\n\
         [wave.registers]\npc = \"0x7f0000100000\"\nexec = \"0xffffffffffffffff\"\n\
         [[memory]]\naddress = \"{ADDRESS:#x}\"\nfile = \"memory.bin\"\n"
    );
    std::fs::write(folder.join("manifest.toml"), manifest)?;
    Ok(folder)
}

/// Bytes of target memory per second, and bytes in one reply.
fn speed(raw: &mut Raw, address: u64, size: usize) -> Result<(f64, usize), Failure> {
    let request = packet(&format!("m{address:x},{size:x}"));
    let bytes = raw.digits(&request)? / 2;
    if bytes < size.min(1024) {
        return Err(format!("m of {size} bytes gave {bytes}").into());
    }
    let seconds = seconds_each(|| raw.ask(&request).map(drop))?;
    Ok((bytes as f64 / seconds, bytes))
}

fn memory(ours: &mut Raw, promises: &mut Promises) -> Result<(), Failure> {
    let gdbserver = Server::gdbserver(PROGRAM)?;
    let address = largest_mapping(gdbserver.inferior()?)?;
    let mut theirs = Raw::connect(&gdbserver.address, true)?;
    let mut ratios = Vec::new();
    for turn in 1..=TURNS {
        let (our_speed, bytes) = speed(ours, ADDRESS, READ)?;
        if bytes != READ {
            return Err(format!("m of {READ} bytes gave {bytes}").into());
        }
        let mut best = (0.0, 0);
        for size in SIZES {
            let (their_speed, bytes) = speed(&mut theirs, address, size)?;
            if their_speed > best.0 {
                best = (their_speed, bytes);
            }
        }
        ratios.push(our_speed / best.0);
        println!(
            "turn {turn}: m of 64 KiB {:.0} MB/s, gdbserver's best {:.0} MB/s with {} bytes",
            our_speed / 1e6,
            best.0 / 1e6,
            best.1
        );
    }
    promises.at_least("m of 64 KiB, times gdbserver's best size", &ratios, LEAST_SPEED);
    Ok(())
}

/// The largest readable piece of a process's memory.
fn largest_mapping(pid: u32) -> Result<u64, Failure> {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps"))?;
    let pieces = maps.lines().filter_map(|line| {
        let (range, rest) = line.split_once(' ')?;
        let (start, end) = range.split_once('-')?;
        let number = |digits| u64::from_str_radix(digits, 16).ok();
        let (start, end) = (number(start)?, number(end)?);
        rest.starts_with('r').then_some((end - start, start))
    });
    let (length, start) = pieces.max().ok_or("no memory to read from")?;
    if length < READ as u64 { Err("too little memory to read from".into()) } else { Ok(start) }
}

/// Read packet of the PC, with the register number of the target description.
fn pc_packet(ours: &mut Raw) -> Result<String, Failure> {
    let text = ours.text("qXfer:features:read:target.xml:0,3000")?;
    let register =
        text.split("<reg ").find(|element| element.contains("name=\"rip\"")).ok_or("no PC described")?;
    let number =
        register.split("regnum=\"").nth(1).and_then(|rest| rest.split('"').next()).ok_or("no number")?;
    Ok(format!("p{:x}", number.parse::<u32>()?))
}

/// Compares a small packet with a ping-pong of the same sizes.
fn small(ours: &mut Raw, promises: &mut Promises, name: &str, body: &str) -> Result<(), Failure> {
    let request = packet(body);
    let reply = ours.ask(&request)?;
    if ours.text(body)?.starts_with('E') {
        return Err(format!("{body} is answered by an error").into());
    }
    let floor = Server::part("protocol", &["ping-pong", &request.len().to_string(), &reply.to_string()])?;
    let mut pong = Raw::connect(&floor.address, false)?;
    let mut ratios = Vec::new();
    for turn in 1..=TURNS {
        let ours = seconds_each(|| ours.exchange(&request, reply))?;
        let least = seconds_each(|| pong.exchange(&request, reply))?;
        ratios.push(ours / least);
        println!("turn {turn}: {name} {:.2} us, ping-pong {:.2} us", ours * 1e6, least * 1e6);
    }
    promises.at_most(
        &format!("{name}, times a ping-pong of {} and {reply} bytes", request.len()),
        &ratios,
        MAX_TIMES_PING_PONG,
    );
    Ok(())
}
