//! An evaluation told operation by operation, and why its result is what it is.
//!
//! [`Explainer`] listens as a [`Tracer`]; expressions that an operation runs are told under it. [`undefined`] and
//! [`error`] say where and why an object became undefined or its expression failed. For one lane or the wave: a trace
//! of many lanes at once would have to tell them apart in every line.

use std::fmt::Write as _;

use super::error::{Cause, Class, Error, innermost};
use super::limits::{MAX_ENTRIES_SHOWN, MAX_PARTS_SHOWN, MAX_TOLD_FIRST, MAX_TOLD_LAST};
use super::location::{Location, Storage};
use super::machine::{Entry, Failure, Step, Tracer};
use super::operation::{Binary, Operation, Unary};
use super::origin::Origin;
use super::print::{self, Names};
use super::value::Type;
use crate::units::LaneId;

/// Keeps what happened in words: the first [`MAX_TOLD_FIRST`] operations and the last [`MAX_TOLD_LAST`].
///
/// Which are the last is not known while they run, so an evaluation of many operations runs again after
/// [`Explainer::again`].
pub struct Explainer<'n> {
    names: &'n dyn Names,
    /// Told, but not yet under the operation that ran it.
    told: Vec<Told>,
    /// Operations that ran, and those of them since the last one told.
    seen: usize,
    left_out: usize,
    /// How many there are in all, once they ran before.
    total: Option<usize>,
}

/// One operation and what it ran.
struct Told {
    depth: u32,
    within: Option<&'static str>,
    head: String,
    before: String,
    inner: Vec<Told>,
    after: String,
    /// Operations before it that are not told.
    left_out: usize,
}

impl std::fmt::Debug for Explainer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Explainer").field("told", &self.told.len()).finish_non_exhaustive()
    }
}

impl<'n> Explainer<'n> {
    /// Nothing told yet.
    #[must_use]
    pub fn new(names: &'n dyn Names) -> Self {
        Self { names, told: Vec::new(), seen: 0, left_out: 0, total: None }
    }

    /// Forgets what it was told if the same evaluation must run again for the last operations; `false` if nothing was
    /// left out of this one, or if it ran again already.
    pub fn again(&mut self) -> bool {
        if self.left_out == 0 || self.total.is_some() {
            return false;
        }
        self.told.clear();
        (self.total, self.seen, self.left_out) = (Some(self.seen), 0, 0);
        true
    }

    /// Counts an operation; whether it is told.
    fn counts(&mut self) -> bool {
        let tells = self.listens();
        self.seen += 1;
        self.left_out += usize::from(!tells);
        tells
    }

    /// What was told, a line each.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        write_all(&self.told, &mut lines);
        if self.left_out > 0 {
            lines.push(left_out(self.left_out));
        }
        lines
    }

    fn stack(&self, stack: &[Entry], lane: LaneId) -> String {
        if stack.is_empty() {
            return "empty".to_owned();
        }
        let hidden = stack.len().saturating_sub(MAX_ENTRIES_SHOWN);
        let below = (hidden > 0).then(|| format!("({hidden} more below)"));
        let entries = stack.iter().skip(hidden).map(|entry| abridged(entry, lane, self.names));
        below.into_iter().chain(entries).collect::<Vec<_>>().join(" | ")
    }

    fn tell(&mut self, told: Told) {
        let first = self.told.iter().rposition(|other| other.depth <= told.depth).map_or(0, |last| last + 1);
        let inner = self.told.split_off(first);
        let left_out = std::mem::take(&mut self.left_out);
        self.told.push(Told { inner, left_out, ..told });
    }
}

impl Tracer for Explainer<'_> {
    fn listens(&self) -> bool {
        self.seen < MAX_TOLD_FIRST || self.total.is_some_and(|total| self.seen + MAX_TOLD_LAST >= total)
    }

    fn step(&mut self, step: &Step<'_>) {
        if !self.counts() {
            return;
        }
        let lane = step.lanes.first().unwrap_or_default();
        let operation = print::operation(step.placed, self.names);
        let head = format!("{:>4} {operation}: {}", step.placed.at.0, meaning(&step.placed.operation));
        let (before, after) = (self.stack(step.before, lane), self.stack(step.stack, lane));
        let (depth, within) = (step.depth, step.within);
        self.tell(Told { depth, within, head, before, inner: Vec::new(), after, left_out: 0 });
    }

    fn failed(&mut self, failure: &Failure<'_>) {
        if !self.counts() {
            return;
        }
        let lane = failure.lanes.first().unwrap_or_default();
        let after = match failure.cause {
            Cause::Inside { what, .. } => format!("fails in {what}"),
            cause => format!("fails: {cause}"),
        };
        let head = format!("{:>4} {}", failure.at.0, failure.op);
        let before = self.stack(failure.stack, lane);
        let (depth, within) = (failure.depth, failure.within);
        self.tell(Told { depth, within, head, before, inner: Vec::new(), after, left_out: 0 });
    }
}

fn write_all(all: &[Told], lines: &mut Vec<String>) {
    for (index, told) in all.iter().enumerate() {
        let indent = "    ".repeat(told.depth as usize);
        let opened = index == 0 || all.get(index - 1).is_some_and(|other| other.within != told.within);
        if let Some(within) = told.within.filter(|_| opened) {
            lines.push(format!("{indent}  {within}:"));
        }
        if told.left_out > 0 && told.inner.is_empty() {
            lines.push(left_out(told.left_out));
        }
        lines.push(format!("{indent}{}", told.head));
        lines.push(format!("{indent}       before: {}", told.before));
        write_all(&told.inner, lines);
        if told.left_out > 0 && !told.inner.is_empty() {
            lines.push(left_out(told.left_out));
        }
        lines.push(format!("{indent}       after:  {}", told.after));
    }
}

fn left_out(count: usize) -> String {
    format!("     ... {count} operations are left out")
}

/// [`entry`] without all of what is long.
fn abridged(entry: &Entry, lane: LaneId, names: &dyn Names) -> String {
    format!("{} {}", kind(entry), print::entry_up_to(entry, lane, names, MAX_PARTS_SHOWN))
}

/// An entry of the stack with what it is, as one lane has it: `value 0x3`, `location v0 lane 3`.
#[must_use]
pub fn entry(entry: &Entry, lane: LaneId, names: &dyn Names) -> String {
    format!("{} {}", kind(entry), print::entry(entry, lane, names))
}

fn kind(entry: &Entry) -> &'static str {
    match entry {
        Entry::Number(number) if number.ty() == Type::Generic => "value",
        Entry::Number(_) => "typed value",
        Entry::Pointer(_) => "implicit pointer",
        Entry::Location(_) => "location",
        Entry::Incomplete(_) => "unfinished composite",
    }
}

/// What is undefined of a location as one lane has it, and since which operation: a line for each run of bits, one for
/// a location that is undefined as a whole, none where all of it is somewhere.
#[must_use]
pub fn undefined(location: &Location, lane: LaneId) -> Vec<String> {
    let since = |origin: &Option<Origin>| match origin {
        Some(origin) => format!(" since {origin}"),
        None => String::new(),
    };
    let Storage::Composite(composite) = &location.storage else {
        return match &location.storage {
            Storage::Undefined(origin) => vec![format!("optimized out{}", since(origin))],
            _ => Vec::new(),
        };
    };
    let mut lines = Vec::new();
    let skip = location.offset.get(lane);
    let mut start = 0u128;
    let mut run: Option<(u128, u128, Option<Origin>)> = None;
    let tell = |run: Option<(u128, u128, Option<Origin>)>, lines: &mut Vec<String>| {
        if let Some((first, end, origin)) = run {
            let all =
                if first == 0 && end + skip >= u128::from(composite.size().0) { "all of it: " } else { "" };
            lines.push(format!("{all}bits {first} to {} optimized out{}", end - 1, since(&origin)));
        }
    };
    for part in composite.parts() {
        let (from, end) = (start.max(skip), start + u128::from(part.size.0));
        start = end;
        match &part.location.storage {
            Storage::Undefined(origin) if from < end => match &mut run {
                Some((_, until, same)) if same == origin => *until = end - skip,
                _ => tell(run.replace((from - skip, end - skip, *origin)), &mut lines),
            },
            _ => tell(run.take(), &mut lines),
        }
    }
    tell(run, &mut lines);
    lines
}

/// Where and why an expression failed: the operation of the caller's own expression, then those within it, outermost
/// first.
#[must_use]
pub fn error(error: &Error, names: &dyn Names) -> Vec<String> {
    let class = match error.class() {
        Class::Decode => "cannot be decoded",
        Class::IllFormed => "ill-formed",
        Class::Limit => "beyond a bound of this evaluator",
        Class::Unavailable => "sound, but not answered by the capture",
    };
    let mut lines = vec![format!("{class}: {} at {}", error.op, error.at)];
    let mut cause = &error.cause;
    loop {
        let indent = "  ".repeat(lines.len());
        match cause {
            Cause::Inside { what, error } => {
                let (depth, error) = innermost(what, error);
                let depth = if depth > 1 { format!(", {depth} inside one another") } else { String::new() };
                lines.push(format!("{indent}in {what}{depth}: {} at {}", error.op, error.at));
                cause = &error.cause;
            }
            Cause::Missing(super::error::Missing::Failed(error)) => {
                lines.push(format!("{indent}in what it needs: {} at {}", error.op, error.at));
                cause = &error.cause;
            }
            last => {
                if let Some(line) = lines.last_mut() {
                    let _ = write!(line, ": {}", last.named(names));
                }
                return lines;
            }
        }
    }
}

/// What an operation does, in a few words.
#[must_use]
#[allow(clippy::too_many_lines, reason = "one arm for each operation")]
pub fn meaning(operation: &Operation) -> &'static str {
    match operation {
        Operation::Addr(_) => "pushes that address of the file, where it was loaded",
        Operation::Addrx(_) => "pushes the address at that index of .debug_addr, where it was loaded",
        Operation::Constx(_) => "pushes the constant at that index of .debug_addr",
        Operation::Constant(_) => "pushes a constant",
        Operation::ConstType { .. } => "pushes a constant of that base type",
        Operation::Pick(_) => "pushes a copy of an entry",
        Operation::Drop => "drops the top",
        Operation::Swap => "swaps the two top entries",
        Operation::Rot => "moves the top below the two entries under it",
        Operation::Deref { .. } => "reads bytes at the location into a generic value",
        Operation::DerefType { .. } => "reads bytes at the location into a value of that type",
        Operation::Xderef { .. } => "reads bytes at the address on top in the address space under it",
        Operation::XderefType { .. } => {
            "reads a value of that type at the address on top in the address space under it"
        }
        Operation::Unary(Unary::Abs) => "takes the absolute value",
        Operation::Unary(Unary::Neg) => "negates",
        Operation::Unary(Unary::Not) => "inverts all bits",
        Operation::Binary(op) => binary(*op),
        Operation::PlusUconst(_) => "adds that number",
        Operation::Convert(_) => "converts the value to that type",
        Operation::Reinterpret(_) => "takes the bits as that type",
        Operation::Bra(_) => "branches if the top is not 0",
        Operation::Skip(_) => "goes on elsewhere",
        Operation::Nop => "does nothing",
        Operation::Register(_) => "pushes the register as a location",
        Operation::RegvalType { .. } => "pushes the contents of the register as that type",
        Operation::BaseRegister { .. } => "pushes the memory at the register's contents plus a displacement",
        Operation::AspaceBregx { .. } => {
            "pushes the memory at the register's contents plus a displacement, in the address space on top"
        }
        Operation::FrameBase(_) => "pushes the frame base plus a displacement",
        Operation::CallFrameCfa => "pushes the canonical frame address",
        Operation::CallFrameEntryReg(_) => "pushes where the caller's value of the register is",
        Operation::PushObjectAddress => "pushes the location of the object",
        Operation::FormTlsAddress => "would form an address of thread-local storage",
        Operation::Call(_) => "runs the location of that entry",
        Operation::EntryValue(_) => "computes a value as of the entry of the function",
        Operation::ImplicitValue(_) => "pushes a constant object",
        Operation::StackValue => "makes the value itself the object",
        Operation::ImplicitPointer { .. } => "pushes a pointer that exists only here",
        Operation::AspaceImplicitPointer { .. } => {
            "pushes a pointer into the address space on top that exists only here"
        }
        Operation::Piece(_) => "adds the location as a part of that many bytes to the composite",
        Operation::BitPiece { .. } => "adds the location as a part of that many bits to the composite",
        Operation::PieceEnd => "finishes the composite",
        Operation::Undefined => "says that the object is nowhere",
        Operation::FormAspaceAddress => {
            "makes the address under the top a location in the address space on top"
        }
        Operation::PushLane => "pushes the lane in focus",
        Operation::Offset => "moves the location under the top by that many bytes",
        Operation::OffsetUconst(_) => "moves the location by that many bytes",
        Operation::BitOffset => "moves the location under the top by that many bits",
        Operation::Extend { .. } => "makes a vector of the same part over and over",
        Operation::SelectBitPiece { .. } => {
            "makes a vector whose parts come from one location or the other, by the bits of the mask on top"
        }
        Operation::Composite => "pushes an empty composite",
        Operation::Overlay => "lays a location over bytes of another",
        Operation::BitOverlay => "lays a location over bits of another",
        Operation::ObjectMap(_) => "finds the element in memory, or in registers while its chunk is there",
    }
}

fn binary(op: Binary) -> &'static str {
    match op {
        Binary::And => "ands",
        Binary::Div => "divides, signed if generic",
        Binary::Minus => "subtracts the top from the entry under it",
        Binary::Mod => "takes the remainder, unsigned if generic",
        Binary::Mul => "multiplies",
        Binary::Or => "ors",
        Binary::Plus => "adds",
        Binary::Shl => "shifts left by the top",
        Binary::Shr => "shifts right by the top, filling with 0",
        Binary::Shra => "shifts right by the top, filling with the sign",
        Binary::Xor => "xors",
        Binary::Eq => "compares: equal",
        Binary::Ge => "compares: greater or equal",
        Binary::Gt => "compares: greater",
        Binary::Le => "compares: less or equal",
        Binary::Lt => "compares: less",
        Binary::Ne => "compares: not equal",
    }
}
