//! Explanations of an evaluation, operation by operation, and of its result.
//!
//! [`Explainer`] is a [`Tracer`] that writes lines; nested expressions are indented under their operation.
//! [`undefined`] and [`error`] explain an undefined object or a failed expression. All are for one lane or the wave.

use std::fmt::{self, Write as _};

use super::error::{Cause, Class, Error, innermost, place};
use super::limits::{MAX_ENTRIES_SHOWN, MAX_EXPLAINED_FIRST, MAX_EXPLAINED_LAST, MAX_PARTS_SHOWN};
use super::location::{Location, Storage};
use super::machine::{Entry, Failure, Step, Tracer};
use super::operation::{Binary, Operation, Unary};
use super::origin::Origin;
use super::print::{self, Names};
use super::value::Type;
use crate::units::LaneId;

/// Writes lines about the first [`MAX_EXPLAINED_FIRST`] operations and the last [`MAX_EXPLAINED_LAST`].
///
/// A running evaluation does not know its last operations: if [`Explainer::again`] is true the caller runs it again.
pub struct Explainer<'n> {
    names: &'n dyn Names,
    /// Operations not yet attached to the operation that ran them.
    steps: Vec<Explained>,
    /// Number of operations, and how many of them were omitted since the last kept one.
    seen: usize,
    left_out: usize,
    /// Total number of operations, known after the first run.
    total: Option<usize>,
}

/// An operation and its nested ones.
struct Explained {
    depth: u32,
    within: Option<&'static str>,
    head: String,
    before: String,
    inner: Vec<Explained>,
    after: String,
    /// Number of omitted operations before it.
    left_out: usize,
}

impl std::fmt::Debug for Explainer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Explainer").field("steps", &self.steps.len()).finish_non_exhaustive()
    }
}

impl<'n> Explainer<'n> {
    /// Creates an explainer without operations.
    #[must_use]
    pub fn new(names: &'n dyn Names) -> Self {
        Self { names, steps: Vec::new(), seen: 0, left_out: 0, total: None }
    }

    /// Whether the same evaluation must run again for its last operations; drops those of the first run if so. `false`
    /// if nothing was omitted, or after the second run.
    pub fn again(&mut self) -> bool {
        if self.left_out == 0 || self.total.is_some() {
            return false;
        }
        self.steps.clear();
        (self.total, self.seen, self.left_out) = (Some(self.seen), 0, 0);
        true
    }

    /// Counts an operation; returns whether it is kept.
    fn counts(&mut self) -> bool {
        let kept = self.listens();
        self.seen += 1;
        self.left_out += usize::from(!kept);
        kept
    }

    /// Returns the explanation, line by line.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        write_all(&self.steps, &mut lines);
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

    fn keep(&mut self, step: Explained) {
        let first = self.steps.iter().rposition(|other| other.depth <= step.depth).map_or(0, |last| last + 1);
        let inner = self.steps.split_off(first);
        let left_out = std::mem::take(&mut self.left_out);
        self.steps.push(Explained { inner, left_out, ..step });
    }
}

impl Tracer for Explainer<'_> {
    fn listens(&self) -> bool {
        self.seen < MAX_EXPLAINED_FIRST
            || self.total.is_some_and(|total| self.seen + MAX_EXPLAINED_LAST >= total)
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
        self.keep(Explained { depth, within, head, before, inner: Vec::new(), after, left_out: 0 });
    }

    fn failed(&mut self, failure: &Failure<'_>) {
        if !self.counts() {
            return;
        }
        let lane = failure.lanes.first().unwrap_or_default();
        let after = match failure.cause {
            Cause::Inside { what, .. } => format!("fails in {what}"),
            cause => format!("fails: {}", cause.named(self.names)),
        };
        let head = format!("{:>4} {}", failure.at.0, failure.op);
        let before = self.stack(failure.stack, lane);
        let (depth, within) = (failure.depth, failure.within);
        self.keep(Explained { depth, within, head, before, inner: Vec::new(), after, left_out: 0 });
    }
}

fn write_all(all: &[Explained], lines: &mut Vec<String>) {
    for (index, step) in all.iter().enumerate() {
        let indent = "    ".repeat(step.depth as usize);
        let opened = index == 0 || all.get(index - 1).is_some_and(|other| other.within != step.within);
        if let Some(within) = step.within.filter(|_| opened) {
            lines.push(format!("{indent}  {within}:"));
        }
        if step.left_out > 0 && step.inner.is_empty() {
            lines.push(left_out(step.left_out));
        }
        lines.push(format!("{indent}{}", step.head));
        lines.push(format!("{indent}       before: {}", step.before));
        write_all(&step.inner, lines);
        if step.left_out > 0 && !step.inner.is_empty() {
            lines.push(left_out(step.left_out));
        }
        lines.push(format!("{indent}       after:  {}", step.after));
    }
}

fn left_out(count: usize) -> String {
    format!("     ... {count} operations are left out")
}

/// [`entry`], abridged if it is long.
fn abridged(entry: &Entry, lane: LaneId, names: &dyn Names) -> String {
    format!("{} {}", kind(entry), print::entry_up_to(entry, lane, names, MAX_PARTS_SHOWN))
}

/// Formats a stack entry with its kind for one lane: `value 0x3`, `location v0 lane 3`.
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

/// Undefined bits of a location, and the operation that made them undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Undefined {
    /// The bits; `None`: the location is undefined as a whole.
    pub bits: Option<UndefinedBits>,
    /// The operation; `None`: unknown.
    pub origin: Option<Origin>,
}

/// A run of undefined bits of a composite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UndefinedBits {
    /// The first bit.
    pub first: u128,
    /// The last bit.
    pub last: u128,
    /// Whether these are all bits of the composite.
    pub is_all: bool,
}

impl fmt::Display for Undefined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.named(&print::NoNames))
    }
}

impl Undefined {
    /// Formats the bits and the operation with names of registers from `names`.
    #[must_use]
    pub fn named(&self, names: &dyn Names) -> String {
        let bits = self.bits.map_or_else(String::new, |UndefinedBits { first, last, is_all }| {
            format!("{}bits {first} to {last} ", if is_all { "all of it: " } else { "" })
        });
        let since = self.origin.map_or_else(String::new, |origin| format!(" since {}", origin.named(names)));
        format!("{bits}optimized out{since}")
    }
}

/// Returns a location's undefined bits for one lane: an item per run of bits, or one for an undefined location.
#[must_use]
pub fn undefined(location: &Location, lane: LaneId) -> Vec<Undefined> {
    let Storage::Composite(composite) = &location.storage else {
        return match &location.storage {
            Storage::Undefined(origin) => vec![Undefined { bits: None, origin: *origin }],
            _ => Vec::new(),
        };
    };
    let mut found = Vec::new();
    let skip = location.offset.get(lane);
    let mut start = 0u128;
    let mut run: Option<(u128, u128, Option<Origin>)> = None;
    let finish = |run: Option<(u128, u128, Option<Origin>)>, found: &mut Vec<Undefined>| {
        found.extend(run.map(|(first, end, origin)| {
            let is_all = first == 0 && end + skip >= u128::from(composite.size().0);
            Undefined { bits: Some(UndefinedBits { first, last: end - 1, is_all }), origin }
        }));
    };
    for part in composite.parts() {
        let (from, end) = (start.max(skip), start + u128::from(part.size.0));
        start = end;
        match &part.location.storage {
            Storage::Undefined(origin) if from < end => match &mut run {
                Some((_, until, same)) if same == origin => *until = end - skip,
                _ => finish(run.replace((from - skip, end - skip, *origin)), &mut found),
            },
            _ => finish(run.take(), &mut found),
        }
    }
    finish(run, &mut found);
    found
}

/// Explains a failed expression: the operation of the caller's expression, then the nested ones, outermost first.
#[must_use]
pub fn error(error: &Error, names: &dyn Names) -> Vec<String> {
    let class = match error.class() {
        Class::Decode => "cannot be decoded",
        Class::IllFormed => "ill-formed",
        Class::Limit => "beyond a bound of this evaluator",
        Class::Unavailable => "sound, but not answered by the capture",
    };
    let mut lines = vec![format!("{class}: {}", place(error.op, error.at))];
    let mut cause = &error.cause;
    loop {
        let indent = "  ".repeat(lines.len());
        match cause {
            Cause::Inside { what, error } => {
                let (depth, error) = innermost(what, error);
                let depth = if depth > 1 { format!(", {depth} inside one another") } else { String::new() };
                lines.push(format!("{indent}in {what}{depth}: {}", place(error.op, error.at)));
                cause = &error.cause;
            }
            Cause::Context(super::error::ContextError::Failed(error)) => {
                lines.push(format!("{indent}in what it needs: {}", place(error.op, error.at)));
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

/// Describes the effect of an operation in a few words.
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
        Operation::Undefined => "leaves the object without a location",
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
