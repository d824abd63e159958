//! Arguments that commands share: dump, wave, lanes.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::choice::choice;
use super::value::{ValueError, whole};
use super::wave_choice::{WaveChoice, WaveChoices, wave_choices};
use super::{Failure, capture};
use super::{standard_error, standard_input, warnings};
use crate::arch::{Targets, WaveArch};
use crate::capture::{FaultAddress, PAGE, Wave};
use crate::clean::{clean, clean_lines};
use crate::dwarf::Dialect;
use crate::import::objects::Debuginfod;
use crate::import::{self, LocalFiles, Options, Supplied};
use crate::notation;
use crate::questions::Focus;
use crate::session::work_item::{self, GridPlace, WorkItemError};
use crate::session::{
    Dump, IdRanges, Inspect, Session, Waves as _, has_faulted, id_ranges, is_kind, range_without,
};
use crate::triage::{self, Scene, Triage};
use crate::units::WaveId;

/// The embedded demo.
static DEMO: &[u8] = include_bytes!("../../tests/fixtures/demo.zip");

/// The dump and its options.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct DumpArgs {
    /// The dump: a folder, a .zip or a manifest, a ROCm core, a log of ROCm's debug agent, or umr's waves (text, JSON, RADV's hang
    /// folder); - for standard input [default: the embedded demo]
    #[arg(value_name = "DUMP")]
    pub(crate) dump: Option<PathBuf>,
    /// Waves of that kind, where the dump mixes kinds: gfx1100, wave32 or gfx1100:wave32
    #[arg(long, value_name = "KIND", help_heading = CAPTURES)]
    pub(crate) kind: Option<String>,
    /// Read all debug information in this dialect [default: chosen for each unit]
    #[arg(long, value_name = "DIALECT", value_parser = super::dialect::parser(), help_heading = CAPTURES)]
    pub(crate) dialect: Option<Dialect>,
    /// Folders of separate debug information, given once for all commands.
    #[arg(skip)]
    pub(crate) debug_dirs: Vec<PathBuf>,
    /// Supplements of the dump.
    #[command(flatten)]
    pub(crate) with: CaptureArgs,
    /// The dump's name in messages if that differs from its path.
    #[arg(skip)]
    pub(crate) called: Option<String>,
    /// The sentence about a stream of the dump that ended too early.
    #[arg(skip)]
    pub(crate) truncated: Option<String>,
    /// Whether all warnings are printed whole, given once for all commands.
    #[arg(skip)]
    pub(crate) is_verbose: bool,
    /// The words of the dump and its options for the next command.
    #[arg(skip)]
    pub(super) typed: String,
}

/// A user's supplements to an incomplete capture.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct CaptureArgs {
    /// The core of the host process, beside a GPU core
    #[arg(long, value_name = "FILE", help_heading = CAPTURES)]
    pub(crate) host_core: Option<PathBuf>,
    /// A code object, with its load address if the dump does not give it; may be repeated
    #[arg(long = "code-object", value_name = "FILE[@ADDRESS]", value_parser = supplied, help_heading = CAPTURES)]
    pub(crate) code_objects: Vec<Supplied>,
    /// A folder in which code objects are looked for, by build id or content; may be repeated
    #[arg(long, value_name = "DIR", help_heading = CAPTURES)]
    pub(crate) symbols: Vec<PathBuf>,
    /// Take code objects that do not match the captured memory or the processor
    #[arg(long, help_heading = CAPTURES)]
    pub(crate) force: bool,
    /// Use of files on this machine that the dump names, by file:// or path: auto (for a core of yours, files that
    /// the core proves), yes (files that match) or no
    #[arg(long, value_name = "WHEN", value_parser = choice(LOCAL_FILES), default_value = "auto", help_heading = CAPTURES)]
    pub(crate) local_files: LocalFiles,
    /// The version of the ROCm runtime's debugger interface, where a core lacks the memory that holds it
    #[arg(long, value_name = "N", help_heading = CAPTURES, value_parser = whole::<u32>(0))]
    pub(crate) r_version: Option<u32>,
    /// The processor, where the dump does not name it: gfx90a
    #[arg(long, value_name = "NAME", help_heading = CAPTURES)]
    pub(crate) processor: Option<String>,
    /// A text that reports the fault: a program's output or a kernel log, a file, a pipe, or - for standard input; may be
    /// repeated
    #[arg(long = "log", value_name = "FILE", help_heading = CAPTURES)]
    pub(crate) logs: Vec<PathBuf>,
    /// The address of the fault: 0x7f0000201008 is a byte, 0x7f0000201xxx or 0x7f0000201000 a page, and +N adds the
    /// number of bytes
    #[arg(long, value_name = "ADDRESS[+N]", value_parser = fault_address, help_heading = CAPTURES)]
    pub(crate) fault_address: Option<FaultAddress>,
}

pub(super) const CAPTURES: &str = "Options of the dump";

/// Servers of the environment variable, separated by spaces as in debuginfod's own clients.
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

    /// The first given option.
    fn given(&self) -> Option<&'static str> {
        let given = [
            ("--log", !self.logs.is_empty()),
            ("--fault-address", self.fault_address.is_some()),
            ("--host-core", self.host_core.is_some()),
            ("--code-object", !self.code_objects.is_empty()),
            ("--symbols", !self.symbols.is_empty()),
            ("--processor", self.processor.is_some()),
            ("--r-version", self.r_version.is_some()),
            ("--local-files", self.local_files != LocalFiles::Auto),
            ("--force", self.force),
        ];
        given.into_iter().find_map(|(option, is_given)| is_given.then_some(option))
    }

    /// Options of the importers, including those of the environment.
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
            logs: self.logs.clone(),
            fault_address: self.fault_address,
        }
    }
}

/// Values of `--local-files`.
const LOCAL_FILES: [(&str, LocalFiles); 3] =
    [("auto", LocalFiles::Auto), ("yes", LocalFiles::Yes), ("no", LocalFiles::No)];

/// `FILE` or `FILE@ADDRESS`; an `@` without a number after it is part of the name.
pub(super) fn supplied(text: &str) -> Result<Supplied, ValueError> {
    let number = |text: &str| match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    let at = text.rsplit_once('@').and_then(|(file, address)| Some((file, number(address)?)));
    let (file, address) = at.map_or((text, None), |(file, address)| (file, Some(address)));
    if file.is_empty() {
        return Err(ValueError::Form("FILE or FILE@ADDRESS"));
    }
    Ok(Supplied { file: PathBuf::from(file), address })
}

/// An error of a dump for an answer that has the dump's name before it: without a path of its own at the start, and
/// without advice in further lines.
pub(super) fn error_of(path: &Path, error: &Failure) -> String {
    let error = clean_lines(error.to_string());
    let mut lines = error.lines();
    let first = lines.next().unwrap_or_default();
    // A list begins in the next line.
    let entry = lines.next().filter(|_| first.ends_with(':'));
    let error = entry.map_or_else(|| first.to_owned(), |entry| format!("{first} {}", entry.trim()));
    let own = format!("{}: ", standard_input::name_of(path));
    error.strip_prefix(&own).unwrap_or(&error).to_owned()
}

/// `0x7f0000201008`: a byte; `0x7f0000201xxx`, `0x7f0000201000`: a page, as reports print it; `0x7f0000201000+8`.
fn fault_address(text: &str) -> Result<FaultAddress, ValueError> {
    let wrong = || ValueError::Form("0xADDRESS, 0xPAGExxx or 0xADDRESS+BYTES");
    let hex = |text: &str| u64::from_str_radix(text.strip_prefix("0x")?, 16).ok();
    let (start, bytes) = match text.split_once('+') {
        Some((address, bytes)) => {
            let bytes = hex(bytes).or_else(|| bytes.parse().ok()).ok_or_else(wrong)?;
            (hex(address).ok_or_else(wrong)?, bytes)
        }
        None => {
            let page = text.strip_suffix("xxx").map(|digits| format!("{digits}000"));
            let start = hex(page.as_deref().unwrap_or(text)).ok_or_else(wrong)?;
            (start, if start.is_multiple_of(PAGE) { PAGE } else { 1 })
        }
    };
    let Some(rest) = bytes.checked_sub(1) else { return Err(ValueError::NoBytes(text.to_owned())) };
    let left = u128::from(u64::MAX - start) + 1;
    let past = || ValueError::PastMemory { text: text.to_owned(), first: start, left };
    start.checked_add(rest).ok_or_else(past)?;
    Ok(FaultAddress { start, bytes, is_inexact: false })
}

/// The choice of waves, the same in every command. `super::command` adds each command's default to the help.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct WaveArgs {
    /// Waves by their ids, the last number of `AMDGPU Wave 1:1:1:4`: 3 or 1-3,7; `all`; `faulted`, those that stopped
    /// for a fault
    #[arg(long, short, value_name = "IDS", value_parser = wave_choices)]
    wave: Vec<WaveChoices>,
    #[command(flatten)]
    pub(crate) at: PlaceArgs,
}

impl WaveArgs {
    /// The ids of `--wave`; `None` without it. `all` and `faulted` are waves of `kind`, if there is one.
    ///
    /// # Errors
    /// The dump has no waves of the kind, or none that faulted.
    pub(super) fn ids(
        &self,
        dump: &Arc<Dump>,
        kind: Option<&str>,
    ) -> Result<Option<Vec<RangeInclusive<u32>>>, Failure> {
        let mut ids = Vec::new();
        for choice in self.choices() {
            ids.extend(choice.ids(dump, kind)?);
        }
        Ok((!self.wave.is_empty()).then_some(ids))
    }

    fn choices(&self) -> impl Iterator<Item = &WaveChoice> {
        self.wave.iter().flat_map(|WaveChoices(choices)| choices)
    }

    /// Whether the options choose several waves, or may do so.
    pub(super) fn are_several(&self) -> Result<bool, Failure> {
        let several = self.choices().count() > 1 || self.choices().any(WaveChoice::is_of_several);
        Ok(several && self.at.place()?.is_none())
    }

    /// Checks the options against each other, before a dump is opened.
    ///
    /// # Errors
    /// Options of a place that contradict each other.
    pub(super) fn check(&self) -> Result<(), Failure> {
        self.at.place().map(drop)
    }

    /// The ids of the chosen waves, by `--wave` or by a place; `None`: no choice.
    pub(super) fn chosen(
        &self,
        dump: &Arc<Dump>,
        kind: Option<&str>,
    ) -> Result<Option<Vec<RangeInclusive<u32>>>, Failure> {
        let ids = self.ids(dump, kind)?;
        Waves { dump, kind, ids: ids.as_deref(), at: &self.at }.chosen()
    }
}

/// A work-item or a wave by its position in the grid.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct PlaceArgs {
    /// The work-item by its id in the grid, or with --workgroup in its work-group; selects its wave and lane. Also
    /// (X,Y,Z), and `(X,Y,Z)[X,Y,Z]` for work-group and place in it. --wave chooses the dispatch where several have it
    #[arg(long, value_name = "X,Y,Z", value_parser = work_item)]
    pub(crate) work_item: Option<GridPlace>,
    /// The work-group by its place in the grid, and a wave of it: 2,0,0 or (2,0,0)/1 [default: its first captured wave]
    #[arg(long, value_name = "X,Y,Z[/N]", value_parser = workgroup)]
    pub(crate) workgroup: Option<GridPlace>,
}

/// A work-item's position: `70,0,0`, `(70,0,0)` or `(1,0,0)[6,0,0]`.
fn work_item(text: &str) -> Result<GridPlace, ValueError> {
    match text.parse() {
        Ok(place @ (GridPlace::WorkItem(_) | GridPlace::InGroup { .. })) => Ok(place),
        _ => Err(ValueError::Form("X,Y,Z, (X,Y,Z) or (X,Y,Z)[X,Y,Z]")),
    }
}

/// A work-group's position, with or without the number of a wave: `2,0,0`, `(2,0,0)/1`.
fn workgroup(text: &str) -> Result<GridPlace, ValueError> {
    match text.parse() {
        Ok(GridPlace::WorkItem(group)) => Ok(GridPlace::Wave { group, number: None }),
        Ok(place @ GridPlace::Wave { .. }) => Ok(place),
        _ => Err(ValueError::Form("X,Y,Z or X,Y,Z/N, also with parentheses: (X,Y,Z)/N")),
    }
}

impl PlaceArgs {
    /// The position from the options; `None` without them.
    pub(super) fn place(&self) -> Result<Option<GridPlace>, Failure> {
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

/// The built-in targets and those of the user's folder.
pub(super) fn targets(folder: Option<&Path>) -> Result<Targets, Failure> {
    let builtin = Targets::builtin();
    Ok(match folder {
        Some(folder) => {
            let missing = |error| format!("--targets {}: {error}", clean(folder.to_string_lossy()));
            std::fs::metadata(folder).map_err(missing)?;
            builtin.with_dir(folder)?
        }
        None => builtin,
    })
}

/// Opens the dump and reports the number of its problems on standard error.
pub(super) fn open(args: &DumpArgs, targets: &Targets) -> Result<Arc<Dump>, Failure> {
    let dump = open_quietly(args, targets)?;
    warnings::count(dump.problems(), &args.typed, args.is_verbose)?;
    Ok(dump)
}

/// Opens the dump; the caller reports its problems.
pub(super) fn open_quietly(args: &DumpArgs, targets: &Targets) -> Result<Arc<Dump>, Failure> {
    let is_streamed = args.dump.as_deref().is_some_and(standard_input::is_meant);
    if args.with.logs.iter().any(|log| standard_input::is_meant(log)) {
        if is_streamed {
            return Err("-: standard input is either DUMP or --log".into());
        }
        standard_input::announce("a log")?;
    }
    let wrong = |option: &str, path: &Path, what: &dyn Display| {
        format!("{option} {}: {what}", clean(path.to_string_lossy()))
    };
    for Supplied { file, .. } in &args.with.code_objects {
        std::fs::metadata(file).map_err(|error| wrong("--code-object", file, &error))?;
    }
    let folders = args.with.symbols.iter().map(|path| ("--symbols", path));
    for (option, path) in folders.chain(args.debug_dirs.iter().map(|path| ("--debug-dir", path))) {
        if !std::fs::metadata(path).map_err(|error| wrong(option, path, &error))?.is_dir() {
            return Err(wrong(option, path, &"not a folder (--code-object takes a file)").into());
        }
    }
    let received = if is_streamed { Some(standard_input::dump()?) } else { None };
    let called = received.as_ref().map(|_| standard_input::NAME.to_owned());
    let mut options = Options { name: called.or_else(|| args.called.clone()), ..args.with.options() };
    let mut path = received.as_ref().map(standard_input::Received::path).or_else(|| args.dump.clone());
    if let Some(kept) = path.as_deref().and_then(|folder| capture::Kept::of(folder, targets)) {
        options.host_core = options.host_core.or(kept.host_core);
        options.logs.extend(kept.logs);
        path = Some(kept.capture);
    }
    let mut opened = match &path {
        Some(path) => import::open(path, targets, &options)?,
        None => match args.with.given() {
            None => import::open_zip_bytes("the embedded demo", DEMO, targets)?,
            Some(option) => {
                let demo = "without DUMP a command answers for the embedded demo";
                return Err(format!("{option} belongs to a dump: name the dump, too ({demo})").into());
            }
        },
    };
    if let Some(received) = &received {
        opened.problems.splice(0..0, received.problems());
    }
    let truncated = received.as_ref().and_then(standard_input::Received::truncated);
    let own = &mut opened.capture.provenance.truncated;
    *own = truncated.or_else(|| args.truncated.clone()).or(own.take());
    let folders = args.with.debug_folders(&args.debug_dirs);
    let dump = Dump::with_debug_folders(opened.capture, opened.problems, &folders);
    Ok(Arc::new(dump.in_dialect(args.dialect)))
}

/// A session for each kind of waves of a dump, or for the kind of `--kind`.
pub(super) fn sessions(dump: &Arc<Dump>, kind: Option<&str>) -> Result<Vec<Session>, Failure> {
    Waves { dump, kind, ids: None, at: &PlaceArgs::default() }.by_kind()
}

/// The first sentence of the analysis of a dump.
pub(super) fn sentence(sessions: &[Session]) -> String {
    sentence_of(&analysis(sessions), sessions)
}

/// The analysis of a dump.
pub(super) fn analysis(sessions: &[Session]) -> Triage {
    triage::triage(&inspected(sessions), &triage::Question::default())
}

/// The first sentence of an analysis of these sessions.
pub(super) fn sentence_of(found: &Triage, sessions: &[Session]) -> String {
    triage::sentence(found, &Scene::new(&inspected(sessions)))
}

/// The sessions as those that an analysis asks.
pub(super) fn inspected(sessions: &[Session]) -> Vec<&dyn Inspect> {
    sessions.iter().map(|session| -> &dyn Inspect { session }).collect()
}

/// The chosen waves of a dump.
pub(super) struct Waves<'a> {
    /// The dump.
    pub(super) dump: &'a Arc<Dump>,
    /// The kind of `--kind`.
    pub(super) kind: Option<&'a str>,
    /// The ids of `--wave`.
    pub(super) ids: Option<&'a [RangeInclusive<u32>]>,
    /// The place of `--work-item` and `--workgroup`.
    pub(super) at: &'a PlaceArgs,
}

/// A wave's kind as `--kind` takes it.
fn kind_name(kind: &WaveArch) -> String {
    format!("{}:{}", kind.target.name, kind.wave_size)
}

/// Sessions, and waves with the indices of their sessions.
type Focused = (Vec<Session>, Vec<(usize, Focus)>);

impl Waves<'_> {
    /// Sessions, and the waves of questions about one wave, with the indices of their sessions.
    ///
    /// Without `--wave` it is the wave that faulted, else the first one. `--work-item` chooses a wave and a lane, in the
    /// dispatch of that wave.
    pub(super) fn focused(&self) -> Result<Focused, Failure> {
        let (mut sessions, mut focused) = (Vec::new(), Vec::new());
        let focus = |session: &Session, wave| Focus { wave, lane: session.focus(wave), own: None };
        match self.ids {
            None => {
                let session = Session::new(Arc::clone(self.dump), self.kind)?;
                focused.push((0, focus(&session, session.first_wave())));
                sessions.push(session);
            }
            Some(ids) => {
                let mut kinds: Vec<String> = Vec::new();
                for (wave, name) in self.listed(ids)? {
                    let index = match kinds.iter().position(|kind| *kind == name) {
                        Some(index) => index,
                        None => {
                            sessions.push(Session::new(Arc::clone(self.dump), Some(&name))?);
                            kinds.push(name);
                            sessions.len() - 1
                        }
                    };
                    let session = sessions.get(index);
                    focused.extend(session.map(|session| (index, focus(session, wave))));
                }
            }
        }
        let (Some(place), Some((_, near))) = (self.at.place()?, focused.first()) else {
            return Ok((sessions, focused));
        };
        let first = sessions.into_iter().next().ok_or("the dump has no waves")?;
        let session = self.at.in_session(first, near.wave)?;
        let wave = session.first_wave();
        if self.ids.is_some() && wave != near.wave {
            // `--wave` chose the dispatch only: most output does not name the wave.
            standard_error::message(&format!("note: {place} is in wave {}", session.wave(wave)?.id))?;
        }
        let mut focus = focus(&session, wave);
        focus.own = self.at.work_item.map(|_| focus.lane);
        Ok((vec![session], vec![(0, focus)]))
    }

    /// The ids of the chosen waves: that at the place, else those of `--wave`; `None`: no choice.
    fn chosen(&self) -> Result<Option<Vec<RangeInclusive<u32>>>, Failure> {
        if self.at.place()?.is_none() {
            return Ok(self.ids.map(<[_]>::to_vec));
        }
        let (sessions, focused) = self.focused()?;
        let wave = focused.first().map(|(_, focus)| focus.wave);
        let found = sessions.first().zip(wave).and_then(|(session, wave)| session.wave(wave).ok());
        Ok(found.map(|info| vec![info.id..=info.id]))
    }

    /// A session for each kind of waves, over the chosen ones.
    pub(super) fn by_kind(&self) -> Result<Vec<Session>, Failure> {
        let chosen = self.chosen()?;
        let listed = chosen.as_deref().map(|ids| self.listed(ids)).transpose()?;
        let mut sessions = Vec::new();
        for (kind, _) in self.dump.kinds() {
            let name = kind_name(kind);
            if self.kind.is_some_and(|asked| !is_kind(kind, asked)) {
                continue;
            }
            let session = Session::new(Arc::clone(self.dump), Some(&name))?;
            match &listed {
                Some(listed) => {
                    let of_kind = listed.iter().filter(|(_, kind)| *kind == name);
                    let ids = of_kind.filter_map(|(wave, _)| Some(self.dump.capture().wave(*wave)?.id));
                    let ids = id_ranges(ids);
                    if !ids.is_empty() {
                        sessions.push(session.of_waves(&ids)?);
                    }
                }
                None => sessions.push(session),
            }
        }
        if let (true, Some(_)) = (sessions.is_empty(), self.kind) {
            // The session reports an unknown kind.
            Session::new(Arc::clone(self.dump), self.kind)?;
        }
        Ok(sessions)
    }

    /// The waves with these ids, in the dump's order, each with its kind.
    fn listed(&self, ids: &[RangeInclusive<u32>]) -> Result<Vec<(WaveId, String)>, Failure> {
        let capture = self.dump.capture();
        if let Some(ids) = range_without(ids, capture.waves.iter().map(|wave| wave.id)) {
            let ids = notation::range(&(ids.start(), ids.end()));
            return Err(format!(
                "{} has no wave with the id {ids}; `lanescope waves` lists the ids",
                capture.name
            )
            .into());
        }
        let is_of_kind = |wave: &Wave| self.kind.is_none_or(|asked| is_kind(&wave.kind, asked));
        let of_kind = capture.waves.iter().filter(|wave| is_of_kind(wave)).map(|wave| wave.id);
        if let Some(ids) = range_without(ids, of_kind)
            && let Some(Wave { id, kind, .. }) = capture.waves.iter().find(|wave| ids.contains(&wave.id))
        {
            let kind = kind_name(kind);
            return Err(format!("wave {id} is a {kind} wave, not what --kind asks for").into());
        }
        let ids = IdRanges::new(ids);
        let all = (0u32..).zip(&capture.waves);
        let chosen = all.filter(|(_, wave)| ids.contains(wave.id) && is_of_kind(wave));
        Ok(chosen.map(|(ordinal, wave)| (WaveId(ordinal), kind_name(&wave.kind))).collect())
    }
}

/// A session over the waves of a kind, or over chosen waves, whose kind applies if the user gives none. `chosen`: the
/// chosen waves, those of a kind if there is one.
pub(super) fn served(
    dump: &Arc<Dump>,
    kind: Option<&str>,
    chosen: impl Fn(Option<&str>) -> Result<Option<Vec<RangeInclusive<u32>>>, Failure>,
) -> Result<Session, Failure> {
    let kind = match kind {
        Some(kind) => Some(kind.to_owned()),
        None => chosen(None)?.and_then(|ids| kind_of(dump, &ids)),
    };
    let session = Session::new(Arc::clone(dump), kind.as_deref())?;
    Ok(match chosen(kind.as_deref())? {
        Some(ids) => session.of_waves(&ids)?,
        None => session,
    })
}

/// The kind of the first of those waves that faulted, else of the first one; `None` without a wave.
fn kind_of(dump: &Dump, ids: &[RangeInclusive<u32>]) -> Option<String> {
    let ids = IdRanges::new(ids);
    let chosen = || dump.capture().waves.iter().filter(|wave| ids.contains(wave.id));
    let wave = chosen().find(|wave| has_faulted(wave)).or_else(|| chosen().next())?;
    Some(kind_name(&wave.kind))
}
