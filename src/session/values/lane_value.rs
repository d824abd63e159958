//! The value of an object in one lane. Lanes share equal parts.

use std::fmt::{self, Write as _};
use std::ops::{Deref, Range};
use std::sync::Arc;

use crate::arch::WaveArch;
use crate::dwarf::{Bits, Known, Location, print};
use crate::session::{Inferred, Provenance};
use crate::units::{LaneId, LaneSet};

/// An object in one lane.
#[derive(Clone, Debug)]
pub struct LaneValue {
    /// The lane.
    pub lane: LaneId,
    /// Its location, with those of other lanes; `None` without a location.
    pub located: Option<Arc<ObjectLocation>>,
    /// Its bytes, lowest address first.
    pub bytes: ObjectBytes,
    /// The state of its value.
    pub state: ValueState,
    /// The lanes whose registers, private memory or variables the value depends on. Empty: no lane matters, as for
    /// `$exec` and objects in global memory.
    pub of: LaneSet,
    /// The inferences behind it: those of its location, and of the variables that lead to it.
    pub inferred: Inferred,
}

impl LaneValue {
    /// Its location for programs, independent of the lane.
    #[must_use]
    pub fn place(&self) -> Option<Location> {
        self.located.as_ref().map(|located| located.location().at(self.lane))
    }

    /// Its location as text.
    #[must_use]
    pub fn location(&self) -> Option<String> {
        self.located.as_ref().map(|located| located.text(self.lane))
    }

    /// The way in which the location was found.
    #[must_use]
    pub fn provenance(&self) -> Provenance {
        self.located.as_ref().map_or_else(Provenance::default, |located| located.provenance())
    }
}

/// An object without a location.
pub(in crate::session) fn nowhere(lane: LaneId, state: ValueState) -> LaneValue {
    LaneValue {
        lane,
        located: None,
        bytes: ObjectBytes::default(),
        state,
        of: LaneSet::EMPTY,
        inferred: Inferred::NONE,
    }
}

/// The location of an object in a set of lanes.
#[derive(Clone, Debug)]
pub struct ObjectLocation {
    location: Location,
    provenance: Provenance,
    /// AMD's names of its registers and address spaces.
    kind: Arc<WaveArch>,
}

impl ObjectLocation {
    /// A location of a kind of wave.
    #[must_use]
    pub fn new(location: Location, provenance: Provenance, kind: &Arc<WaveArch>) -> Self {
        Self { location, provenance, kind: Arc::clone(kind) }
    }

    /// The location of all lanes.
    pub(super) fn location(&self) -> &Location {
        &self.location
    }

    /// The way in which the location was found.
    pub(super) fn provenance(&self) -> Provenance {
        self.provenance
    }

    /// The location in one lane, with the marks of its provenance.
    pub(super) fn text(&self, lane: LaneId) -> String {
        print::location(&self.location, lane, &*self.kind) + &self.provenance.suffix()
    }
}

/// The bytes of an object in one lane: a part of a buffer for all lanes.
#[derive(Clone, Default)]
pub struct ObjectBytes {
    all: Option<Arc<[Byte]>>,
    range: Range<usize>,
}

impl ObjectBytes {
    pub(super) fn new(all: &Arc<[Byte]>, range: Range<usize>) -> Self {
        Self { all: Some(Arc::clone(all)), range }
    }
}

impl Deref for ObjectBytes {
    type Target = [Byte];

    fn deref(&self) -> &[Byte] {
        self.all.as_ref().and_then(|all| all.get(self.range.clone())).unwrap_or_default()
    }
}

impl From<Vec<Byte>> for ObjectBytes {
    fn from(bytes: Vec<Byte>) -> Self {
        Self { range: 0..bytes.len(), all: Some(bytes.into()) }
    }
}

impl PartialEq for ObjectBytes {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for ObjectBytes {}

impl fmt::Debug for ObjectBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// A byte of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Byte {
    /// Its value.
    Known(u8),
    /// It exists and was not captured.
    NotCaptured,
    /// Optimized out by the compiler.
    OptimizedOut,
}

impl Byte {
    /// Two hex digits, `xx` for missing data, `..` for optimized-out bytes.
    #[must_use]
    pub fn digits(self) -> [char; 2] {
        let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or_default();
        match self {
            Self::Known(byte) => [digit(byte >> 4), digit(byte & 15)],
            Self::NotCaptured => ['x', 'x'],
            Self::OptimizedOut => ['.', '.'],
        }
    }
}

/// Its [`Byte::digits`].
impl fmt::Display for Byte {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.digits().iter().try_for_each(|digit| f.write_char(*digit))
    }
}

/// The first bytes of the fetched bits; a last one of fewer bits counts as one.
pub(in crate::session) fn bytes(bits: &Bits, count: usize) -> impl Iterator<Item = Byte> {
    let (whole, partial) = match bits.whole() {
        Some(whole) => (whole.get(..count).unwrap_or(whole), 0..0),
        None => (&[][..], 0..count),
    };
    let byte = |index| match bits.byte(index) {
        Ok(byte) => Byte::Known(byte),
        Err(Known::Undefined) => Byte::OptimizedOut,
        Err(_) => Byte::NotCaptured,
    };
    whole.iter().copied().map(Byte::Known).chain(partial.map(byte))
}

/// The state of an object's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueState {
    /// A value in C++ notation; parts of it may be `<unavailable>`.
    Value(Arc<str>),
    /// Optimized out at this PC, with the reason.
    OptimizedOut(Arc<str>),
    /// It has a location, but its data was not captured.
    Unavailable(Arc<str>),
    /// Its description cannot be evaluated.
    Error(Arc<str>),
}

impl ValueState {
    /// The value, or the reason for its absence.
    #[must_use]
    pub fn words(&self) -> &str {
        match self {
            Self::Value(words) => words,
            Self::OptimizedOut(words) | Self::Unavailable(words) | Self::Error(words) => words,
        }
    }
}
