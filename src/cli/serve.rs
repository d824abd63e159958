//! `lanescope serve [DUMP]`: serves a dump to gdb and lldb until an interrupt.
//!
//! Listens on 127.0.0.1:1234 by default. Clients may connect one after another or several at once; each has a session
//! of its own over the one dump. `--stdio` serves one client at the other end of a pipe: `target remote | lanescope
//! serve --stdio DUMP`. `--port 0` takes a free port and prints it.
//!
//! Threads are waves. With `--threads lanes` each active lane of each wave is a thread, at most 20,000; with
//! `--threads focus` the lanes of the faulted wave are threads, beside the other waves. `--wave 3,7-9` serves those
//! waves only; `--work-item X,Y,Z` selects that work-item's wave and lane first.

use std::io::{BufRead as _, BufReader, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::Child;
use std::sync::Arc;
use std::time::Duration;

use super::choice::choice;
use super::doctor::Brand;
use super::sources::SourceArgs;
use super::value::{ip_address, whole};
use super::{DumpArgs, Failure, WaveArgs, dump, shell, standard_input};
use crate::arch::Targets;
use crate::notation::plural;
use crate::report::Style;
use crate::server::{Endpoint, Facade, Listen, ServeOptions, Threads, ThreadsAs, triage_hint};
use crate::session::{DumpFacts as _, Inspect, Session, Waves as _, problem_notice};
use crate::triage;
use crate::view::{Extent, Views};

/// The port in the examples of the debuggers' manuals.
const PORT: u16 = 1234;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) from: DumpArgs,
    #[command(flatten)]
    sources: SourceArgs,
    /// The address to listen on; another one than this machine's own is open to everybody who reaches it
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["unix", "stdio"], value_parser = ip_address)]
    listen: Option<IpAddr>,
    /// The port to listen on; 0 takes a free one and prints it [default: 1234]
    #[arg(long, short, value_name = "PORT", conflicts_with_all = ["unix", "stdio"], value_parser = whole::<u16>(0))]
    port: Option<u16>,
    /// A unix socket to listen on instead
    #[arg(long, value_name = "PATH", conflicts_with = "stdio")]
    unix: Option<PathBuf>,
    /// Serve one client on standard input and output: `target remote | lanescope serve --stdio DUMP`
    #[arg(long)]
    stdio: bool,
    /// End when the first client leaves
    #[arg(long)]
    once: bool,
    /// Seconds after which a client without a packet is disconnected; after its first packet it may be silent for ever
    /// [default: 60]
    #[arg(long, value_name = "SECONDS", value_parser = whole::<u64>(0))]
    silence: Option<u64>,
    /// Type of all clients [default: auto, by their handshake]
    #[arg(long, value_name = "CLIENT", value_parser = choice(clients()))]
    client: Option<Taken>,
    /// Functions with variables in stock debuggers: stack (functions on stacks of waves), unit (all of their units),
    /// all or off
    #[arg(long, value_name = "EXTENT", default_value = "stack", value_parser = choice(views()))]
    view: Shown,
    /// Meaning of threads: waves, lanes (the active ones of every wave) or focus (the lanes of the wave that faulted,
    /// beside the other waves)
    #[arg(long, value_name = "WHAT", default_value = "waves", value_parser = choice(ThreadsAs::NAMES))]
    threads: ThreadsAs,
    /// Maximum number of threads [default: 20000 where lanes are threads]
    #[arg(long, value_name = "N", value_parser = whole::<usize>(0))]
    max_threads: Option<usize>,
    #[command(flatten)]
    waves: WaveArgs,
}

/// The extent of the code objects in a stock debugger's view; `None`: no view.
#[derive(Clone, Copy, Debug)]
struct Shown(Option<Extent>);

impl Default for Shown {
    fn default() -> Self {
        Self(Some(Extent::default()))
    }
}

/// Values of `--view`.
fn views() -> impl Iterator<Item = (&'static str, Shown)> {
    let extents = super::view::EXTENTS.into_iter().map(|(name, extent)| (name, Shown(Some(extent))));
    extents.chain([("off", Shown(None))])
}

/// The type of all clients; `None`: by their handshake.
#[derive(Clone, Copy, Debug)]
struct Taken(Option<Facade>);

/// Values of `--client`.
fn clients() -> impl Iterator<Item = (&'static str, Taken)> {
    let known = Facade::NAMES.into_iter().map(|(name, facade)| (name, Taken(Some(facade))));
    [("auto", Taken(None))].into_iter().chain(known)
}

pub(super) fn run(args: Args, targets: &Targets, out: &mut dyn Write) -> Result<(), Failure> {
    args.waves.check()?;
    if args.stdio && args.from.dump.as_deref().is_some_and(standard_input::is_meant) {
        return Err("-: with --stdio standard input is the debugger's; expected a dump in a file".into());
    }
    let map = args.sources.map()?;
    let opened = dump::open(&args.from, targets)?;
    let ids = |kind: Option<&str>| args.waves.ids(&opened, kind);
    // An error of the dump appears here, not in a client's thread.
    let first = dump::served(&opened, args.from.kind.as_deref(), ids)?;
    let near = first.first_wave();
    let first = args.waves.at.in_session(first, near)?;
    let mut threads = Threads::new(&first, args.threads, args.max_threads)?;
    if args.waves.at.work_item.is_some() {
        let wave = first.first_wave();
        let inactive =
            "the work-item of --work-item is not active, and lanes are threads: serve waves as threads";
        threads = threads.starting_at(wave, first.focus(wave)).ok_or(inactive)?;
    }
    let threads = Arc::new(threads);
    let listen = if args.stdio {
        Listen::Stdio
    } else if let Some(path) = &args.unix {
        Listen::Unix(path.clone())
    } else {
        let address = args.listen.unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
        Listen::Tcp(SocketAddr::from((address, args.port.unwrap_or(PORT))))
    };
    // A remote client has no files of this machine.
    let is_local = args.listen.is_none_or(|address| address.to_canonical().is_loopback());
    let client = args.client.and_then(|taken| taken.0);
    // A gdb with amdgcn gets no view; it reads the code objects' files from the same place.
    let extent = args.view.0.or((client == Some(Facade::AmdgcnGdb)).then(Extent::default));
    let views = extent.map(|extent| {
        Arc::new(Views::new(opened.clone(), first.another(), extent).with_sources(map, is_local))
    });
    let options = ServeOptions {
        views,
        threads: Some(Arc::clone(&threads)),
        listen: vec![listen],
        client,
        once: args.once,
        silence: args.silence.map_or(ServeOptions::default().silence, Duration::from_secs),
        ..ServeOptions::default()
    };
    let other = first.another();
    let make_session = move |interrupt| -> Box<dyn Inspect> { Box::new(other.another().ended_by(interrupt)) };
    let ready = |endpoints: &[Endpoint]| {
        // With --stdio the protocol owns standard output.
        if args.stdio {
            return Ok(());
        }
        match announce(&first, &threads, client, endpoints, out) {
            // A closed pipe does not stop the server.
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error),
            _ => Ok(()),
        }
    };
    crate::server::serve(&options, make_session, ready).map_err(|error| -> Failure {
        let in_use = error.kind() == std::io::ErrorKind::AddrInUse && args.unix.is_none();
        let hint = if in_use { "; --port 0 takes a free port" } else { "" };
        format!("{error}{hint}").into()
    })
}

/// The line with the address of a server, in front of the address.
const LISTENING: &str = "Listening on ";

/// Waits until a server, whose standard output is a pipe, listens; returns its address. `None`: it ended before.
pub(super) fn address_of(server: &mut Child) -> Option<String> {
    let output = BufReader::new(server.stdout.take()?);
    // An address in bytes that are no UTF-8 is that of a socket, whose name the caller knows.
    let mut lines = output.split(b'\n').map_while(Result::ok);
    lines
        .find_map(|line| Some(String::from_utf8_lossy(line.strip_prefix(LISTENING.as_bytes())?).into_owned()))
}

/// Prints the served dump, the address and the commands to type.
fn announce(
    session: &Session,
    threads: &Threads,
    client: Option<Facade>,
    endpoints: &[Endpoint],
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let (waves, counts) = (session.waves().len(), session.stop_counts());
    let kind = session.kind();
    let word = plural(waves, "wave", "waves");
    let lanes = match threads.lanes() {
        0 => String::new(),
        lanes => format!(", {lanes} lanes as threads"),
    };
    let (name, target) = (session.name(), &kind.target.name);
    let served = format!("Serving {name}: {waves} {word} of {target}:{}{lanes}", kind.wave_size);
    writeln!(out, "{}", Style::Coloured.folded(&served))?;
    writeln!(
        out,
        "{}\n{}",
        Style::Coloured.folded(&triage::summary(counts, session.faulted_outside(), &session.faults())),
        triage_hint(counts)
    )?;
    let note = client.and_then(|client| client.note(&kind.target));
    // Standard error has their number.
    let problems = problem_notice(session.problems().len());
    let notices = session.notices().into_iter().filter(|notice| Some(notice) != problems.as_ref());
    for notice in notices.chain(note) {
        writeln!(out, "{}", Style::Coloured.folded(&format!("Note: {notice}")))?;
    }
    for endpoint in endpoints {
        writeln!(out, "{LISTENING}{endpoint}")?;
    }
    writeln!(out)?;
    for endpoint in endpoints {
        if let Some(command) = endpoint.gdb_command().map(|command| command.replace("127.0.0.1:", ":")) {
            let command = format!("{} -ex {}", Brand::Gdb.name(), shell::word(&command));
            out.write_all(shell::indented(&command).as_bytes())?;
        }
        if let Some(command) = endpoint.lldb_command().map(|command| command.replace("127.0.0.1:", "")) {
            let command = format!("{} -o {}", Brand::Lldb.name(), shell::word(&command));
            out.write_all(shell::indented(&command).as_bytes())?;
        }
    }
    writeln!(
        out,
        "\nThen: info threads, monitor triage, monitor locals, monitor lane 17,\n    \
         monitor help (in lldb: process plugin packet monitor ...)"
    )?;
    out.flush()
}
