//! The facts of a signature: cause, functions, access and position of waves.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

use super::DIGITS;
use super::names::{folded, with_arguments};
use super::rules::{Rules, Sort};
use crate::codeobject::{CodeObject, ElfAddress, Segment, hex};
use crate::isa::Direction;
use crate::session::{Dump, Inspect, Stack, StackFrame, WaveInfo};
use crate::triage::{self, Cause, Confidence, Hang, MissingData, Question, Suspect, Triage, WaveState};
use crate::units::{Pc, WaveId};

/// Maximum number of groups of waves whose cause is analysed: those of most waves.
const MAX_GROUPS: usize = 512;
/// Maximum number of the program's functions.
const MAX_FUNCTIONS: usize = 3;
/// Maximum number of bytes of code that are hashed. Of larger code the first bytes count.
const MAX_HASHED: u64 = 64 << 20;
/// Maximum number of steps in an explanation.
const MAX_STEPS: usize = 64;

/// The facts of a signature.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Parts {
    /// `memory violation`
    pub(super) cause: String,
    /// The kernel, folded; empty if unknown.
    pub(super) kernel: String,
    /// Folded functions, innermost first; empty without debug information.
    pub(super) functions: Vec<String>,
    /// The file of the innermost function of the program, without folders.
    pub(super) file: Option<String>,
    /// Its line.
    pub(super) line: Option<u64>,
    /// The effect of the instruction: `load`, `store`, `atomic`, `trap`; of a hang the state. Empty if unknown.
    pub(super) action: String,
    /// The build of the code object: its build id in hexadecimal, else `code` and the hash of its code.
    pub(super) build: Option<String>,
    /// The address of the instruction in the code object's file.
    pub(super) offset: Option<u64>,
    /// The effect of each rule.
    pub(super) steps: Vec<String>,
    /// The reason that there are no functions; `None`: there are some, or the reason is unknown.
    pub(super) without_functions: Option<String>,
}

/// The facts of a dump.
pub(super) struct Found {
    /// The facts of groups of waves, with the number of waves.
    pub(super) groups: Vec<(Parts, usize)>,
    /// Number of waves beyond [`MAX_GROUPS`] groups.
    pub(super) left_out: usize,
    /// The reason that the code is not decoded.
    pub(super) undecoded: Option<String>,
}

/// The facts of all waves that faulted, else of a hang or of a report, with the number of waves.
/// `found`: the analysis of all waves.
pub(super) fn of(dump: &Dump, sessions: &[&dyn Inspect], found: &Triage, rules: &Rules) -> Found {
    let undecoded = RefCell::new(undecoded(found));
    let mut scene = Scene { dump, rules, access: None, builds: RefCell::default(), undecoded };
    sessions.iter().for_each(|session| session.next_question());
    let (faulted, mut left_out) = faulted(sessions);
    let groups = match (&faulted[..], &found.cause, &found.hang) {
        ([], Some(Cause::Hang), Some(hang)) => {
            let (groups, waves) = scene.of_hang(sessions, hang);
            left_out = waves;
            groups
        }
        ([], Some(cause), _) => vec![(scene.of_report(cause, found, sessions), 0)],
        ([], None, _) => Vec::new(),
        // The analysis of all waves is the one of the only group.
        ([group], ..) => vec![(scene.of_fault(group, found), group.waves)],
        (groups, ..) => {
            let best = found.suspects.first().filter(|suspect| suspect.confidence > Confidence::Possible);
            scene.access = best.map(|suspect| suspect.instruction);
            groups.iter().map(|group| (scene.of_group(group), group.waves)).collect()
        }
    };
    Found { groups, left_out, undecoded: scene.undecoded.into_inner() }
}

/// The reason that the code of an analysis is not decoded.
fn undecoded(found: &Triage) -> Option<String> {
    found.missing.iter().find_map(|missing| match missing {
        MissingData::Instructions(why) => Some(why.clone()),
        _ => None,
    })
}

/// Session, PC and stop reasons of a wave.
type GroupKey = (usize, Option<Pc>, Option<Vec<String>>);

/// Waves that faulted at one PC for the same reasons.
struct Group<'a> {
    session: &'a dyn Inspect,
    info: WaveInfo,
    waves: usize,
}

/// The waves that faulted, in groups, whose order does not depend on that of the waves, and the number of waves beyond
/// [`MAX_GROUPS`] groups.
fn faulted<'a>(sessions: &[&'a dyn Inspect]) -> (Vec<Group<'a>>, usize) {
    let mut known: BTreeMap<GroupKey, Group<'a>> = BTreeMap::new();
    for (index, session) in sessions.iter().copied().enumerate() {
        for wave in session.waves().iter().copied() {
            let Ok(info) = session.wave(wave) else { continue };
            if info.has_faulted() != Some(true) {
                continue;
            }
            let (key, count) = ((index, info.pc, info.stop.clone()), info.count());
            known.entry(key).or_insert(Group { session, info, waves: 0 }).waves += count;
        }
    }
    let mut groups: Vec<Group<'a>> = known.into_values().collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.waves));
    let left_out = groups.drain(MAX_GROUPS.min(groups.len())..).map(|group| group.waves).sum();
    (groups, left_out)
}

struct Scene<'a> {
    dump: &'a Dump,
    rules: &'a Rules,
    /// The instruction of the fault, by all waves: a report has the page of one wave only.
    access: Option<u64>,
    /// The builds of code objects by their indexes.
    builds: RefCell<HashMap<usize, Option<String>>>,
    /// The reason that code is not decoded.
    undecoded: RefCell<Option<String>>,
}

impl Scene<'_> {
    /// The facts of one of several groups of waves that faulted.
    fn of_group(&self, group: &Group<'_>) -> Parts {
        group.session.next_question();
        let question = Question { wave: Some(group.info.wave), wants_hang: false };
        let found = triage::triage(&[group.session], &question);
        if self.undecoded.borrow().is_none() {
            self.undecoded.replace(undecoded(&found));
        }
        self.of_fault(group, &found)
    }

    /// The facts of waves that faulted, by their analysis.
    fn of_fault(&self, group: &Group<'_>, found: &Triage) -> Parts {
        let is_shared = |suspect: &&Suspect| Some(suspect.instruction) == self.access;
        let suspect = found.suspects.iter().find(is_shared).or(found.suspects.first());
        let mut parts = self.of_wave(group.session, &group.info, suspect);
        parts.cause = match &found.cause {
            Some(cause) => cause_text(cause),
            None => group
                .info
                .stop
                .as_ref()
                .and_then(|stop| stop.first())
                .map_or("fault".to_owned(), |stop| stop.replace('_', " ")),
        };
        parts.action = action(found.cause.as_ref(), suspect);
        parts
    }

    /// The facts of a report without a wave.
    fn of_report(&self, cause: &Cause, found: &Triage, sessions: &[&dyn Inspect]) -> Parts {
        let wave = found.suspects.first().map(|suspect| suspect.wave).or(found.waves.chosen);
        let session = wave.and_then(|wave| triage::Scene::new(sessions).session(wave));
        let mut parts = match session.zip(wave).and_then(|(of, wave)| Some((of, of.wave(wave).ok()?))) {
            Some((session, info)) => self.of_wave(session, &info, found.suspects.first()),
            None => Parts { without_functions: Some("no wave is known".to_owned()), ..Parts::default() },
        };
        if let (Cause::Queue(error), true) = (cause, parts.kernel.is_empty()) {
            parts.kernel = error.kernel.as_deref().map(|symbol| self.kernel(symbol)).unwrap_or_default();
        }
        parts.cause = cause_text(cause);
        // A wave without a stop reason has the signature of one with it.
        parts.action = action(Some(cause), found.suspects.first());
        parts
    }

    /// The facts of each group of waves that wait, by stack and state, and the number of waves beyond [`MAX_GROUPS`].
    fn of_hang(&self, sessions: &[&dyn Inspect], hang: &Hang) -> (Vec<(Parts, usize)>, usize) {
        let scene = triage::Scene::new(sessions);
        let mut groups: Vec<(WaveId, WaveState, Option<Pc>, usize)> = Vec::new();
        let mut known: HashMap<(WaveState, Option<Pc>), usize> = HashMap::new();
        for wait in &hang.waves {
            if !wait.state.is_halted_or_waiting() {
                continue;
            }
            let info = scene.info(wait.wave);
            let (pc, count) = info.map_or((None, 1), |info| (info.pc, info.count()));
            let index = *known.entry((wait.state, pc)).or_insert_with(|| {
                groups.push((wait.wave, wait.state, pc, 0));
                groups.len() - 1
            });
            if let Some((.., waves)) = groups.get_mut(index) {
                *waves += count;
            }
        }
        groups.sort_by_key(|(_, state, pc, waves)| (std::cmp::Reverse(*waves), *pc, state.name()));
        let left_out = groups.iter().skip(MAX_GROUPS).map(|(.., waves)| waves).sum();
        let found = groups.into_iter().take(MAX_GROUPS).filter_map(|(wave, state, _, waves)| {
            let session = scene.session(wave)?;
            let mut parts = self.of_wave(session, &session.wave(wave).ok()?, None);
            parts.cause = "hang".to_owned();
            parts.action = state.name().to_owned();
            Some((parts, waves))
        });
        (commonest(found.collect()), left_out)
    }

    /// Functions, file, line and position of a wave.
    fn of_wave(&self, session: &dyn Inspect, info: &WaveInfo, suspect: Option<&Suspect>) -> Parts {
        let stack = session.backtrace(info.wave, None).ok();
        let kernel = info.kernel.as_deref().map(|symbol| self.kernel(symbol));
        let outermost = || {
            let function = stack.as_ref()?.frames.iter().rev().find_map(StackFrame::full_name)?;
            Some(self.kernel(&function))
        };
        let mut parts = Parts { kernel: kernel.or_else(outermost).unwrap_or_default(), ..Parts::default() };
        let address = suspect.map(|suspect| suspect.instruction).or(info.pc.map(|pc| pc.0));
        if let Some((object, address)) = address.and_then(|address| self.object(session, address)) {
            parts.offset = Some(address);
            let mut builds = self.builds.borrow_mut();
            let known = builds.entry(object);
            let found = || build(&*self.dump.code_object(object).ok()?, address);
            parts.build.clone_from(known.or_insert_with(found));
        }
        if let Some(stack) = &stack {
            let mut frames = taken(&stack.frames);
            if let Some(suspect) = suspect {
                enter(&mut frames, access(session, info.wave, suspect));
            }
            self.functions(frames, &mut parts);
        }
        if parts.functions.is_empty() {
            parts.without_functions = Some(without_functions(stack.as_ref(), &parts.steps));
        }
        parts
    }

    /// The index of the code object at an address, and the address in its file.
    fn object(&self, session: &dyn Inspect, address: u64) -> Option<(usize, u64)> {
        session.code_objects().iter().enumerate().find_map(|(index, object)| {
            let offset = address.checked_sub(object.address.0)?;
            object.size.filter(|size| offset < *size).map(|_| (index, offset))
        })
    }

    /// The folded name of a kernel. All kernels of a library have few names: their template arguments count.
    fn kernel(&self, symbol: &str) -> String {
        let name = folded(symbol);
        if matches!(self.rules.sort(&name), Sort::Prefix(_)) { with_arguments(symbol) } else { name }
    }

    /// Selects the functions of a stack by the rules.
    fn functions(&self, mut frames: Vec<Taken>, parts: &mut Parts) {
        let mut steps = Vec::new();
        let mut own = 0;
        // Recursion, and the body of a kernel of OpenCL, which clang calls from one of the same name.
        frames.dedup_by(|outer, inner| outer.function == inner.function);
        for Taken { function, file, line, .. } in frames {
            if own == MAX_FUNCTIONS {
                break;
            }
            let step = match self.rules.sort(&function) {
                Sort::Irrelevant(pattern) => format!("{function}: left out by `{pattern}`"),
                Sort::Prefix(pattern) if parts.functions.is_empty() => {
                    (parts.file, parts.line) = (last_part(&file), line);
                    parts.functions.push(function.clone());
                    format!("{function}: the innermost function of a library, by `{pattern}`")
                }
                Sort::Prefix(pattern) => format!("{function}: left out, a library's by `{pattern}`"),
                Sort::InApp => {
                    if own == 0 {
                        (parts.file, parts.line) = (last_part(&file), line);
                    }
                    own += 1;
                    parts.functions.push(function.clone());
                    format!("{function}: taken")
                }
            };
            steps.push(step);
        }
        // A library has the same functions in all programs.
        if own == 0 && !parts.functions.is_empty() && !parts.kernel.is_empty() {
            parts.functions.pop_if(|last| *last == folded(&parts.kernel));
            parts.functions.push(parts.kernel.clone());
            steps.push(format!("{}: the kernel, for want of a function of the program", parts.kernel));
        }
        steps.truncate(MAX_STEPS);
        parts.steps = steps;
    }
}

/// A frame for a signature.
struct Taken {
    /// Its function, folded.
    function: String,
    file: String,
    line: Option<u64>,
    is_inlined: bool,
}

/// The frames with lines: a symbol alone is no debug information.
fn taken(frames: &[StackFrame]) -> Vec<Taken> {
    let of = |frame: &StackFrame| {
        let (function, file) = (folded(&frame.full_name()?), frame.file.clone()?);
        Some(Taken { function, file, line: frame.line, is_inlined: frame.inlined })
    };
    frames.iter().filter_map(of).collect()
}

/// The frames at the instruction of an access: the inlined calls, and the function.
fn access(session: &dyn Inspect, wave: WaveId, suspect: &Suspect) -> Vec<Taken> {
    let calls = session.calls_at(wave, suspect.instruction).map(|calls| taken(&calls)).unwrap_or_default();
    let at = &suspect.at;
    match (&at.function, &at.file) {
        // Only the text of the capture has this code.
        (Some(function), Some(file)) if calls.is_empty() => {
            let (function, file) = (folded(function), file.clone());
            vec![Taken { function, file, line: at.line, is_inlined: false }]
        }
        _ => calls,
    }
}

/// Replaces the frames of the function of an access by those at the access: faults are reported late, and the wave may
/// have left inlined calls, or the function.
fn enter(frames: &mut Vec<Taken>, access: Vec<Taken>) {
    let Some(function) = access.last() else { return };
    let is_same = |frame: &Taken| !frame.is_inlined && frame.function == function.function;
    let left = frames.iter().position(is_same).map_or(0, |at| at + 1);
    frames.splice(..left, access);
}

/// The reason that a stack gives no function to a signature. `steps`: the effect of each rule.
fn without_functions(stack: Option<&Stack>, steps: &[String]) -> String {
    let Some(stack) = stack else { return "the stack cannot be read".to_owned() };
    match stack.frames.first() {
        _ if !steps.is_empty() => "the rules leave out all functions".to_owned(),
        Some(frame) => match &frame.problem {
            Some(why) => why.to_string(),
            None => "no frame has debug information".to_owned(),
        },
        None => stack.end.to_string(),
    }
}

/// The build id of a code object, else the hash of the executable segment at an address: compilers write build ids on
/// request only. `None`: it has no build id, and its file lacks a part of the segment.
fn build(object: &CodeObject, address: u64) -> Option<String> {
    if let Some(id) = object.build_id() {
        return Some(hex(&id));
    }
    let is_code = |segment: &&Segment| segment.is_loaded() && segment.is_executable();
    let mut code = object.segments().iter().filter(is_code);
    let segment = code.find(|segment| segment.addresses.contains(&address))?;
    let start = ElfAddress(segment.addresses.start);
    let bytes = object.bytes_at(start, segment.file_size.min(MAX_HASHED))?;
    let mut hash = format!("{:x}", md5::compute(bytes));
    hash.truncate(DIGITS);
    Some(format!("code {hash}"))
}

/// The waves of the commonest stack and wait. The others wait for them, or with them; their numbers depend on the grid.
fn commonest(found: Vec<(Parts, usize)>) -> Vec<(Parts, usize)> {
    type Key<'p> = (&'p str, &'p [String], &'p str);
    fn key(parts: &Parts) -> Key<'_> {
        (&parts.kernel, &parts.functions, &parts.action)
    }
    let mut counts: BTreeMap<Key<'_>, usize> = BTreeMap::new();
    for (parts, waves) in &found {
        *counts.entry(key(parts)).or_default() += waves;
    }
    let most = counts.values().copied().max().unwrap_or(0);
    let Some((kernel, functions, action)) =
        counts.iter().find(|(_, waves)| **waves == most).map(|(key, _)| key)
    else {
        return Vec::new();
    };
    let (kernel, functions, action) = (String::from(*kernel), functions.to_vec(), String::from(*action));
    let is_kept = |parts: &Parts| key(parts) == (&*kernel, &*functions, &*action);
    found.into_iter().filter(|(parts, _)| is_kept(parts)).collect()
}

/// The last part of a path, also of Windows.
fn last_part(path: &str) -> Option<String> {
    path.rsplit(['/', '\\']).next().filter(|part| !part.is_empty()).map(str::to_owned)
}

/// The effect of the instruction of a fault; empty: unknown, or the cause has none.
fn action(cause: Option<&Cause>, suspect: Option<&Suspect>) -> String {
    match (cause, suspect) {
        (Some(Cause::Memory), Some(suspect)) => direction(suspect.access.direction).to_owned(),
        (Some(Cause::Assertion(_) | Cause::Trap { .. }), _) => "trap".to_owned(),
        _ => String::new(),
    }
}

fn direction(direction: Direction) -> &'static str {
    match direction {
        Direction::Load => "load",
        Direction::Store => "store",
        Direction::Atomic { .. } => "atomic",
    }
}

/// The name of a cause, of an arithmetic exception with its kinds: `arithmetic (int divide by 0)`.
fn cause_text(cause: &Cause) -> String {
    match cause {
        Cause::Arithmetic(of) if !of.kinds.is_empty() => {
            format!("{} ({})", name(cause), of.kinds.join(", ").replace('_', " ").to_lowercase())
        }
        _ => name(cause).to_owned(),
    }
}

/// The name of a cause.
fn name(cause: &Cause) -> &'static str {
    match cause {
        Cause::Memory => "memory violation",
        Cause::BadPc { .. } => "bad pc",
        Cause::Assertion(_) => "assertion",
        Cause::Trap { .. } => "trap",
        Cause::IllegalInstruction { .. } => "illegal instruction",
        Cause::Arithmetic(_) => "arithmetic",
        Cause::Ecc => "ecc",
        Cause::Bystander { .. } => "bystander",
        Cause::Queue(_) => "queue error",
        Cause::Breakpoint { .. } => "breakpoint",
        Cause::Hang => "hang",
    }
}
