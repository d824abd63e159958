//! Arguments that commands share: dump, wave, lanes.

use std::io::Write;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Failure;
use super::choice::choice;
use crate::arch::Targets;
use crate::clean::clean_lines;
use crate::disassembler::Disassembler;
use crate::dwarf::Dialect;
use crate::import::objects::Debuginfod;
use crate::import::{self, LocalFiles, Options, Supplied};
use crate::session::work_item::{self, GridPlace, WorkItemError};
use crate::session::{Dump, Inspect, Session, is_kind};
use crate::units::{LaneId, LaneSet, WaveId};

/// The embedded demo.
static DEMO: &[u8] = include_bytes!("../../tests/fixtures/demo.zip");

/// The dump and its options.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct DumpArgs {
    /// The dump: a folder, a .zip or a manifest, a ROCm core, a log of ROCm's debug agent, or umr's waves (text, JSON, RADV's hang
    /// folder) [default: the embedded demo]
    #[arg(value_name = "DUMP")]
    pub dump: Option<PathBuf>,
    /// Serve waves of that kind where the dump mixes kinds: gfx1100, wave32 or gfx1100:wave32
    #[arg(long, value_name = "KIND")]
    pub kind: Option<String>,
    /// Read all debug information in this dialect [default: chosen for each unit]
    #[arg(long, value_name = "DIALECT", value_parser = super::dialect::parser())]
    pub dialect: Option<Dialect>,
    /// Folders of separate debug information, given once for all commands.
    #[arg(skip)]
    pub debug_dirs: Vec<PathBuf>,
    /// Supplements of the dump.
    #[command(flatten)]
    pub with: CaptureArgs,
    /// The dump's name in messages if that differs from its path.
    #[arg(skip)]
    pub called: Option<String>,
    /// The disassembler, given once for all commands.
    #[arg(skip)]
    pub disassembler: Option<PathBuf>,
}

/// A user's supplements to an incomplete capture.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct CaptureArgs {
    /// The core of the host process, beside a GPU core
    #[arg(long, value_name = "FILE", help_heading = CAPTURES)]
    pub host_core: Option<PathBuf>,
    /// A code object, with its load address if the dump does not give it; may be repeated
    #[arg(long = "code-object", value_name = "FILE[@ADDRESS]", value_parser = supplied, help_heading = CAPTURES)]
    pub code_objects: Vec<Supplied>,
    /// A folder in which code objects are looked for, by build id or content; may be repeated
    #[arg(long, value_name = "DIR", help_heading = CAPTURES)]
    pub symbols: Vec<PathBuf>,
    /// Take code objects that do not match the captured memory or the processor
    #[arg(long, help_heading = CAPTURES)]
    pub force: bool,
    /// Use of files on this machine that the dump names, by file:// or path: auto (for a core of yours, files that
    /// the core proves), yes (files that match) or no
    #[arg(long, value_name = "WHEN", value_parser = choice(LOCAL_FILES), default_value = "auto", help_heading = CAPTURES)]
    pub local_files: LocalFiles,
    /// The version of the ROCm runtime's debugger interface, where a core lacks the memory that holds it
    #[arg(long, value_name = "N", help_heading = CAPTURES)]
    pub r_version: Option<u32>,
    /// The processor, where the dump does not name it: gfx90a
    #[arg(long, value_name = "NAME", help_heading = CAPTURES)]
    pub processor: Option<String>,
}

pub(super) const CAPTURES: &str = "Captures that do not say everything";

/// The servers of the environment variable, separated by spaces like in debuginfod's own clients.
fn servers() -> Vec<String> {
    let servers = std::env::var("DEBUGINFOD_URLS").unwrap_or_default();
    servers.split_whitespace().map(str::to_owned).collect()
}

impl CaptureArgs {
    /// Folders to search for separate debug information: also beside code objects, and in debuginfod's cache.
    fn debug_folders(&self, chosen: &[PathBuf]) -> Vec<PathBuf> {
        let servers = servers();
        let cache = (!servers.is_empty()).then(|| Debuginfod::new(&servers).cache).flatten();
        chosen.iter().chain(&self.symbols).cloned().chain(cache).collect()
    }

    /// Options of the importers, with the environment's.
    fn options(&self) -> Options {
        Options {
            name: None,
            host_core: self.host_core.clone(),
            code_objects: self.code_objects.clone(),
            symbols: self.symbols.clone(),
            debuginfod: servers(),
            force: self.force,
            local_files: self.local_files,
            r_version: self.r_version,
            target: self.processor.clone(),
        }
    }
}

/// Values of `--local-files`.
const LOCAL_FILES: [(&str, LocalFiles); 3] =
    [("auto", LocalFiles::Auto), ("yes", LocalFiles::Yes), ("no", LocalFiles::No)];

/// `FILE` or `FILE@ADDRESS`; an `@` without a number after it is part of the name.
pub(super) fn supplied(text: &str) -> Result<Supplied, String> {
    let number = |text: &str| match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    let at = text.rsplit_once('@').and_then(|(file, address)| Some((file, number(address)?)));
    let (file, address) = at.map_or((text, None), |(file, address)| (file, Some(address)));
    if file.is_empty() {
        return Err("expected FILE or FILE@ADDRESS".to_owned());
    }
    Ok(Supplied { file: PathBuf::from(file), address })
}

/// A work-item or a wave by its position in the grid.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub struct PlaceArgs {
    /// The work-item by its id in the grid, or with --workgroup in its work-group; selects its wave and lane. Also
    /// (X,Y,Z), and `(X,Y,Z)[X,Y,Z]` for work-group and place in it. --wave chooses the dispatch where several have it
    #[arg(long, value_name = "X,Y,Z", value_parser = work_item)]
    pub work_item: Option<GridPlace>,
    /// The work-group by its place in the grid, and a wave of it: 2,0,0 or (2,0,0)/1 [default: its first captured wave]
    #[arg(long, value_name = "X,Y,Z[/N]", value_parser = workgroup)]
    pub workgroup: Option<GridPlace>,
}

/// A work-item's position: `70,0,0`, `(70,0,0)` or `(1,0,0)[6,0,0]`.
fn work_item(text: &str) -> Result<GridPlace, String> {
    match text.parse() {
        Ok(place @ (GridPlace::WorkItem(_) | GridPlace::InGroup { .. })) => Ok(place),
        _ => Err("expected X,Y,Z, (X,Y,Z) or (X,Y,Z)[X,Y,Z]".to_owned()),
    }
}

/// A work-group's position, with or without the number of a wave: `2,0,0`, `(2,0,0)/1`.
fn workgroup(text: &str) -> Result<GridPlace, String> {
    match text.parse() {
        Ok(GridPlace::WorkItem(group)) => Ok(GridPlace::Wave { group, number: None }),
        Ok(place @ GridPlace::Wave { .. }) => Ok(place),
        _ => Err("expected X,Y,Z or X,Y,Z/N, also with parentheses: (X,Y,Z)/N".to_owned()),
    }
}

impl PlaceArgs {
    /// The position from the options; `None` without them.
    fn place(&self) -> Result<Option<GridPlace>, Failure> {
        Ok(Some(match (self.work_item, self.workgroup) {
            (None, place) => return Ok(place),
            (Some(item), None) => item,
            (Some(GridPlace::WorkItem(local)), Some(GridPlace::Wave { group, number: None })) => {
                GridPlace::InGroup { group, local }
            }
            (Some(GridPlace::InGroup { .. }), Some(_)) => {
                return Err(
                    "--work-item names a work-group, and so does --workgroup. Leave --workgroup out".into()
                );
            }
            (Some(_), Some(_)) => {
                return Err("with --work-item a --workgroup is X,Y,Z without a wave".into());
            }
        }))
    }

    /// The session with that position in focus.
    pub(super) fn in_session(&self, session: Session, near: WaveId) -> Result<Session, Failure> {
        match self.place()? {
            None => Ok(session),
            Some(place) => {
                let dump = Arc::clone(session.reader().dump());
                let left_out = |error: WorkItemError| {
                    left_out(&dump, &place).map_or(Failure::from(error), Failure::from)
                };
                session.starting_at(near, &place).map_err(left_out)
            }
        }
    }
}

/// A note that a position is in a wave of the dump outside the chosen ones; `None` if no wave has it.
fn left_out(dump: &Arc<Dump>, place: &GridPlace) -> Option<String> {
    let found = dump.kinds().find_map(|(kind, _)| {
        let kind = format!("{}:{}", kind.target.name, kind.wave_size);
        let session = Session::new(Arc::clone(dump), Some(&kind)).ok()?;
        let (wave, _) = work_item::find(&session, session.first_wave(), place).ok()?;
        session.wave(wave).ok()
    })?;
    let size = found.kind.wave_size;
    Some(format!(
        "{place} is in wave {} ({}:{size}), which --wave or --kind leaves out",
        found.id, found.kind.target.name
    ))
}

/// The dump and one of its waves.
#[derive(Clone, Debug, clap::Args)]
pub struct WaveArgs {
    #[command(flatten)]
    pub(super) from: DumpArgs,
    /// The wave's id, the last number of `AMDGPU Wave 1:1:1:4` [default: the one that faulted, else the first]
    #[arg(long, short, value_name = "ID")]
    pub wave: Option<u32>,
    #[command(flatten)]
    pub(super) at: PlaceArgs,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// The built-in targets and those of the user's folder.
pub(super) fn targets(folder: Option<&Path>) -> Result<Targets, Failure> {
    let builtin = Targets::builtin();
    Ok(match folder {
        Some(folder) => builtin.with_dir(folder)?,
        None => builtin,
    })
}

/// Opens the dump and reports its problems on standard error.
pub(super) fn open(args: &DumpArgs, targets: &Targets) -> Result<Arc<Dump>, Failure> {
    let dump = open_quietly(args, targets)?;
    for problem in dump.problems() {
        writeln!(anstream::stderr(), "{}: {}", problem.severity, clean_lines(problem.to_string()))?;
    }
    Ok(dump)
}

/// Opens the dump; the caller reports its problems.
pub(super) fn open_quietly(args: &DumpArgs, targets: &Targets) -> Result<Arc<Dump>, Failure> {
    let opened = match &args.dump {
        Some(path) => {
            let options = Options { name: args.called.clone(), ..args.with.options() };
            import::open(path, targets, &options)?
        }
        None => import::open_zip_bytes("the embedded demo", DEMO, targets)?,
    };
    let folders = args.with.debug_folders(&args.debug_dirs);
    let dump = Dump::with_debug_folders(opened.capture, opened.problems, &folders);
    let dump = dump.with_disassembler(Disassembler::new(args.disassembler.clone()));
    Ok(Arc::new(dump.in_dialect(args.dialect)))
}

/// A session over a dump's waves, with the user's wave in focus, and with `--work-item` its lane.
pub(super) fn session(args: &WaveArgs, targets: &Targets) -> Result<(Session, WaveId), Failure> {
    let (session, near) = session_near(args, targets)?;
    let session = args.at.in_session(session, near)?;
    let Some(place) = args.at.place()? else { return Ok((session, near)) };
    let wave = session.first_wave();
    if args.wave.is_some() && wave != near {
        // `--wave` chose the dispatch only: most output does not name the wave.
        writeln!(anstream::stderr(), "note: {place} is in wave {}", session.wave(wave)?.id)?;
    }
    Ok((session, wave))
}

/// A session with the wave of `--wave`; a wave of a kind other than the default is found by its id.
fn session_near(args: &WaveArgs, targets: &Targets) -> Result<(Session, WaveId), Failure> {
    let dump = open(&args.from, targets)?;
    let Some(id) = args.wave else {
        let session = Session::new(dump, args.from.kind.as_deref())?;
        let wave = session.first_wave();
        return Ok((session, wave));
    };
    let found = (0u32..).zip(&dump.capture().waves).find(|(_, wave)| wave.id == id);
    let Some((ordinal, wave)) = found else {
        return Err(format!("{} has no wave {id}; `lanescope waves` lists them", dump.capture().name).into());
    };
    let kind = format!("{}:{}", wave.kind.target.name, wave.kind.wave_size);
    if args.from.kind.as_deref().is_some_and(|asked| !is_kind(&wave.kind, asked)) {
        return Err(format!("wave {id} is a {kind} wave, not what --kind asks for").into());
    }
    let session = Session::new(dump, Some(&kind))?;
    let wave = WaveId(ordinal);
    Ok((session, wave))
}

/// Ids of waves in the form of `--wave 3,7-9`.
pub(super) fn wave_ids(text: &str) -> Result<Vec<RangeInclusive<u32>>, String> {
    let wrong = || format!("--wave takes ids of waves, 3 or 3,7-9, not `{text}`");
    let id = |word: &str| word.trim().parse::<u32>().map_err(|_| wrong());
    let ranges = text.split(',').map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (id(first)?, id(last)?);
        if first > last { Err(format!("--wave {text}: {first} is above {last}")) } else { Ok(first..=last) }
    });
    ranges.collect()
}

/// A session over the waves of a kind, or over waves by id, whose kind applies if the user gives none.
pub(super) fn served(
    dump: &Arc<Dump>,
    kind: Option<&str>,
    chosen: Option<&[RangeInclusive<u32>]>,
) -> Result<Session, Failure> {
    let of_chosen = || kind_of(dump, chosen?);
    let kind = kind.map(str::to_owned).or_else(of_chosen);
    let session = Session::new(Arc::clone(dump), kind.as_deref())?;
    Ok(match chosen {
        Some(ids) => session.of_waves(ids)?,
        None => session,
    })
}

/// The kind of the first of those waves; `None` without a wave.
fn kind_of(dump: &Dump, ids: &[RangeInclusive<u32>]) -> Option<String> {
    let is_chosen = |id: u32| ids.iter().any(|ids| ids.contains(&id));
    let wave = dump.capture().waves.iter().find(|wave| is_chosen(wave.id))?;
    Some(format!("{}:{}", wave.kind.target.name, wave.kind.wave_size))
}

/// The lanes of `--lane`: numbers and ranges, `active`, `all`, or the focused one.
///
/// `frame`: the frame whose active lanes apply.
pub(super) fn lanes(
    session: &Session,
    wave: WaveId,
    asked: Option<&str>,
    frame: usize,
) -> Result<LaneSet, Failure> {
    let all = session.kind().wave_size.all();
    match asked {
        None => Ok(LaneSet::one(session.focus(wave))),
        Some("all") => Ok(all),
        Some("active") => match session.active_lanes(wave, frame)? {
            LaneSet::EMPTY => Err("no lane of the wave is active".into()),
            active => Ok(active),
        },
        Some(text) => {
            let mut lanes = LaneSet::EMPTY;
            for part in text.split(',') {
                let (first, last) = part.split_once('-').unwrap_or((part, part));
                let (first, last) = (lane(first, text, all)?, lane(last, text, all)?);
                if first > last {
                    return Err(format!("--lane {text}: {first} is above {last}").into());
                }
                lanes = LaneSet(lanes.0 | (first.0..=last.0).map(LaneId).collect::<LaneSet>().0);
            }
            Ok(lanes)
        }
    }
}

/// One lane in the list of `--lane`.
fn lane(number: &str, list: &str, all: LaneSet) -> Result<LaneId, Failure> {
    let wrong = |_| format!("--lane takes lanes, 3 or 0,8-15, `active` or `all`, not `{list}`");
    let number: u32 = number.trim().parse().map_err(wrong)?;
    let lane = u8::try_from(number).ok().map(LaneId).filter(|lane| all.contains(*lane));
    Ok(lane.ok_or_else(|| format!("no lane {number}: the wave has {}", all.count()))?)
}
