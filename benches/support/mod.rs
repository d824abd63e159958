//! Shared parts of the benches: one core for all processes, servers on free ports, a raw client, and limits.
//!
//! A wake-up on another core costs more than most answers here, and varies between runs by a factor of ten. So client
//! and servers share one core, A and B alternate in one run, and the worst ratio counts.

pub(crate) mod large;
pub(crate) mod table;

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::time::{ClockId, clock_gettime};

/// Any error ends a bench.
pub(crate) type Failure = Box<dyn Error>;

/// Number of alternations of A and B.
pub(crate) const TURNS: usize = 3;

/// Pins this process and its children to one core.
pub(crate) fn pin_to_one_core() -> Result<(), Failure> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let allowed = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap_or("0");
    // The last core: interrupts tend to go to the first.
    let core = allowed.trim().rsplit([',', '-']).next().unwrap_or("0");
    let pid = std::process::id().to_string();
    let status = Command::new("taskset").args(["-cp", core, &pid]).stdout(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(format!("taskset: {status}").into()) }
}

/// Temporary folder of this run, which main removes.
pub(crate) fn scratch(name: &str) -> Result<PathBuf, Failure> {
    let folder =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("bench-{}", std::process::id())).join(name);
    std::fs::create_dir_all(&folder)?;
    Ok(folder)
}

/// This program as the part of a bench that needs a process of its own.
pub(crate) fn this_program(bench: &str) -> Result<Command, Failure> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg(bench);
    Ok(command)
}

/// Usual number of waves in a large dump.
pub(crate) const MANY: usize = 10_000;

/// Writes a dump of that many waves of optimized code.
pub(crate) fn many(waves: usize, dump: PathBuf) -> Result<PathBuf, Failure> {
    let maker = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/models/many.py");
    let made = Command::new("python3").args([maker, &waves.to_string()]).arg(&dump).status()?;
    if made.success() { Ok(dump) } else { Err(format!("many.py: {made}").into()) }
}

/// Megabytes of anonymous memory of a process, by its number or as `self`.
pub(crate) fn anonymous_megabytes(process: &str) -> Result<f64, Failure> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let anonymous = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kilobytes: f64 =
        anonymous.and_then(|line| line.split_whitespace().next()).ok_or("no RssAnon")?.parse()?;
    Ok(kilobytes / 1024.0)
}

/// Seconds of this thread's processor time: wall time depends on other work.
pub(crate) fn processor_seconds() -> Result<f64, Failure> {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)?;
    Ok(time.tv_sec() as f64 + time.tv_nsec() as f64 / 1e9)
}

/// Seconds of processor time that the children take which end in `work`, and their children.
pub(crate) fn children_seconds<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<f64, Failure> {
    let spent = || -> Result<f64, Failure> {
        let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
        Ok([usage.user_time(), usage.system_time()]
            .iter()
            .map(|time| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6)
            .sum())
    };
    let before = spent()?;
    work()?;
    Ok(spent()? - before)
}

/// A server process, killed on drop.
pub(crate) struct Server {
    pub(crate) child: Child,
    /// `127.0.0.1:PORT`
    pub(crate) address: String,
}

impl Server {
    /// Runs lanescope.
    pub(crate) fn lanescope(dump: &Path) -> Result<Self, Failure> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lanescope"));
        command.args(["serve", "--port", "0"]).arg(dump).env_remove("RUST_LOG").stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let mut lines = BufReader::new(child.stdout.take().ok_or("no output")?).lines();
        while let Some(line) = lines.next() {
            if let Some(address) = line?.strip_prefix("Listening on ") {
                let address = address.trim().to_owned();
                // Later output must not fill the pipe.
                std::thread::spawn(move || lines.for_each(drop));
                return Ok(Self { child, address });
            }
        }
        Err("the server never listened".into())
    }

    /// Runs gdbserver on a program that has not started and uses no processor time.
    pub(crate) fn gdbserver(program: &str) -> Result<Self, Failure> {
        let mut command = Command::new("gdbserver");
        command
            .args(["127.0.0.1:0", program])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child =
            command.spawn().map_err(|error| format!("gdbserver: {error}; scripts/setup installs it"))?;
        let mut lines = BufReader::new(child.stderr.take().ok_or("no output")?).lines();
        while let Some(line) = lines.next() {
            if let Some(port) = line?.strip_prefix("Listening on port ") {
                let address = format!("127.0.0.1:{}", port.trim());
                std::thread::spawn(move || lines.for_each(drop));
                return Ok(Self { child, address });
            }
        }
        Err("gdbserver never listened".into())
    }

    /// Runs a part of a bench, which must begin with [`listen`].
    pub(crate) fn part(bench: &str, arguments: &[&str]) -> Result<Self, Failure> {
        let mut child = this_program(bench)?.args(arguments).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut line)?;
        Ok(Self { child, address: line.trim().to_owned() })
    }

    /// Seconds of processor time, ended threads included.
    pub(crate) fn processor_time(&self) -> Result<f64, Failure> {
        const TICKS: f64 = 100.0; // unit of the kernel's interface, independent of the clock rate
        let status = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        let (_, fields) = status.rsplit_once(')').ok_or("no status")?;
        // `utime` and `stime` (proc_pid_stat(5)).
        let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<f64>);
        Ok(ticks.sum::<Result<f64, _>>()? / TICKS)
    }

    /// Child process of gdbserver.
    pub(crate) fn inferior(&self) -> Result<u32, Failure> {
        let children = format!("/proc/{0}/task/{0}/children", self.child.id());
        let children = std::fs::read_to_string(children)?;
        Ok(children.split_whitespace().next().ok_or("gdbserver has no child")?.parse()?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let inferior = self.inferior().ok();
        let _ = self.child.kill();
        let _ = self.child.wait();
        // The program outlives a killed gdbserver.
        if let Some(pid) = inferior {
            let pid = nix::unistd::Pid::from_raw(pid as i32);
            let _ = nix::sys::signal::kill(pid, nix::sys::signal::Signal::SIGKILL);
        }
    }
}

/// Prints the address of a part and listens for clients.
pub(crate) fn listen() -> Result<TcpListener, Failure> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("{}", listener.local_addr()?);
    Ok(listener)
}

/// Answers each request of one size by a reply of one size until the client disconnects: the lower bound of any server.
pub(crate) fn ping_pong(stream: &mut TcpStream, request: usize, reply: usize) -> Result<(), Failure> {
    stream.set_nodelay(true)?;
    let (mut from, to) = (vec![0; request], vec![b'0'; reply]);
    while stream.read_exact(&mut from).is_ok() {
        stream.write_all(&to)?;
    }
    Ok(())
}

/// A client that sends packets and counts bytes.
pub(crate) struct Raw {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Raw {
    /// Connects. Unless the server is a ping-pong, turns acknowledgements off as debuggers do.
    pub(crate) fn connect(address: &str, protocol: bool) -> Result<Self, Failure> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let mut raw = Self { stream, buffer: vec![0; 1 << 20] };
        if protocol {
            raw.ask(&packet("qSupported:xmlRegisters=i386;qRelocInsn+"))?;
            raw.stream.write_all(b"+")?;
            raw.ask(&packet("QStartNoAckMode"))?;
            raw.stream.write_all(b"+")?;
            // gdbserver has no current thread before this packet.
            raw.ask(&packet("?"))?;
        }
        Ok(raw)
    }

    /// Sends a packet and returns the whole length of the reply.
    pub(crate) fn ask(&mut self, request: &[u8]) -> Result<usize, Failure> {
        self.stream.write_all(request)?;
        let mut length = 0;
        loop {
            let got = self.stream.read(self.buffer.get_mut(length..).ok_or("too long a reply")?)?;
            if got == 0 {
                return Err("the server closed the connection".into());
            }
            length += got;
            if length > 3 && self.buffer[length - 3] == b'#' {
                return Ok(length);
            }
        }
    }

    /// Number of digits in the reply. gdbserver run-length encodes: the digit, `*` and a count.
    pub(crate) fn digits(&mut self, request: &[u8]) -> Result<usize, Failure> {
        let length = self.ask(request)?;
        let mut body = self.buffer[1..length - 3].iter();
        let mut digits = 0;
        while let Some(byte) = body.next() {
            digits += match (byte, body.as_slice()) {
                (b'*', [count, ..]) => {
                    let count = usize::from(*count - 29);
                    body.next();
                    count
                }
                _ => 1,
            };
        }
        Ok(digits)
    }

    /// The reply's text.
    pub(crate) fn text(&mut self, request: &str) -> Result<String, Failure> {
        let length = self.ask(&packet(request))?;
        let text = String::from_utf8_lossy(&self.buffer[..length]).into_owned();
        Ok(text
            .trim_start_matches('+')
            .trim_start_matches('$')
            .split('#')
            .next()
            .unwrap_or_default()
            .to_owned())
    }

    /// Sends a request and waits for a reply of `reply` bytes.
    pub(crate) fn exchange(&mut self, request: &[u8], reply: usize) -> Result<(), Failure> {
        self.stream.write_all(request)?;
        self.stream.read_exact(&mut self.buffer[..reply])?;
        Ok(())
    }
}

/// A packet with its checksum.
pub(crate) fn packet(body: &str) -> Vec<u8> {
    let sum = body.bytes().fold(0u8, u8::wrapping_add);
    format!("${body}#{sum:02x}").into_bytes()
}

/// Seconds of one call: the minimum of batches, so many that they take a good part of a second. Other work interrupts
/// some of them.
pub(crate) fn seconds_each(mut call: impl FnMut() -> Result<(), Failure>) -> Result<f64, Failure> {
    const FILL: Duration = Duration::from_millis(400);
    /// Longer than the clock's own time, shorter than the time between two interruptions.
    const BATCH: Duration = Duration::from_micros(200);
    const WARM: u32 = 20;
    let mut batch = |calls: u32| -> Result<f64, Failure> {
        let start = Instant::now();
        for _ in 0..calls {
            call()?;
        }
        Ok(start.elapsed().as_secs_f64() / f64::from(calls))
    };
    let calls = (BATCH.as_secs_f64() / batch(WARM)?).ceil() as u32;
    let (start, mut least) = (Instant::now(), f64::INFINITY);
    while start.elapsed() < FILL {
        least = least.min(batch(calls)?);
    }
    Ok(least)
}

/// Minimum of each measurement. They alternate: other work disturbs all of them, and the minimum least.
pub(crate) fn least<const N: usize>(
    runs: usize,
    all: [&dyn Fn() -> Result<f64, Failure>; N],
) -> Result<[f64; N], Failure> {
    let mut least = [f64::INFINITY; N];
    for _ in 0..runs {
        for (least, measure) in least.iter_mut().zip(all) {
            *least = least.min(measure()?);
        }
    }
    Ok(least)
}

/// Limits of a bench. Each result is printed at once.
#[derive(Default)]
pub(crate) struct Promises {
    missed: usize,
}

impl Promises {
    /// A ratio with a lower limit: the worst is the smallest.
    pub(crate) fn at_least(&mut self, promise: &str, ratios: &[f64], limit: f64) {
        let worst = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        self.line(promise, ratios, worst, &format!(">= {limit}"), worst >= limit);
    }

    /// A ratio with an upper limit: the worst is the largest.
    pub(crate) fn at_most(&mut self, promise: &str, ratios: &[f64], limit: f64) {
        let worst = ratios.iter().copied().fold(0.0, f64::max);
        self.line(promise, ratios, worst, &format!("<= {limit}"), worst <= limit);
    }

    fn line(&mut self, promise: &str, ratios: &[f64], worst: f64, limit: &str, kept: bool) {
        let all: Vec<String> = ratios.iter().map(|ratio| format!("{ratio:.2}")).collect();
        let kept = kept && ratios.iter().all(|ratio| ratio.is_finite());
        let word = if kept { "ok" } else { "MISSED" };
        println!("{promise} | {worst:.2} (of {}) | {limit} | {word}", all.join(", "));
        self.missed += usize::from(!kept);
    }

    /// Success, unless a limit is exceeded and LANESCOPE_BENCH_STRICT is set.
    pub(crate) fn end(&self) -> ExitCode {
        let strict = std::env::var_os("LANESCOPE_BENCH_STRICT").is_some_and(|value| value == "1");
        if self.missed > 0 && strict { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }
}
