//! A parsed `.scope` file: every line, in order, with the columns of its parts.

use std::ops::Range;

use crate::units::LaneId;

/// A file of expectations about dumps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScopeFile {
    /// All lines, also blank ones and comments: line N of the file has index N - 1.
    pub lines: Vec<Line>,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// The text without its line end.
    pub text: String,
    /// The columns of the statement, without spaces around it and the comment; empty without a statement.
    pub span: Span,
    /// The column of the comment's `#`.
    pub comment: Option<usize>,
    /// The contents.
    pub content: Content,
}

/// Bytes of a line: the first one, and the one past the last.
pub type Span = Range<usize>;

/// The contents of a line.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Blank, or a comment alone.
    Empty,
    /// `dump FILE...`: the dumps, relative to the file; patterns with `*`, `?` and `**`.
    Dump(Vec<String>),
    /// An option of the command line by its name: `symbols build/`.
    Setting(Setting),
    /// `fault memory violation`, `fault none`.
    Fault(FaultLine),
    /// `at saxpy saxpy.hip:54`: the innermost frame of the faulted waves, or of the waves of the block.
    At(At),
    /// `stack leaf < middle < launch`: functions, the innermost first; `...` stands for any number of frames.
    Stack(Vec<String>),
    /// `access lane 24 x[i] not captured`.
    Access(AccessLine),
    /// `waves 8, faulted 1, stacks 8`.
    Waves(Vec<Count>),
    /// `hang none`, `hang deadlock`, `hang spinning 3`.
    Hang(HangLine),
    /// `signature ls1:3f9c2a71d0b4`.
    Signature(String),
    /// `wave SELECTOR`: the start of a block about the selected waves.
    Wave(Selector),
    /// `exec 0x1ffffff`.
    Exec(u64),
    /// `state faulted`: the state of the waves of the block, as `triage --hang` names it.
    State(String),
    /// `stop memory violation`: the stop reason of the waves of the block.
    Stop(String),
    /// `[frame N] lane LANES PATH OPERATOR VALUE`.
    Value(ValueLine),
}

/// An option of the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The name without dashes: `symbols`, `log`, `code-object`, `fault-address`, `wave-kind`.
    pub name: String,
    /// The value; `None`: a flag.
    pub value: Option<String>,
}

/// The expected cause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultLine {
    /// No wave faulted, and no fault is reported.
    None,
    /// Names of causes or of stop reasons, all that the faulted waves have: `memory violation`, `assertion`, with or
    /// without `_`; at least one.
    Causes(Vec<String>),
}

/// A place in the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct At {
    /// The function, if given; parameters and template arguments may be left out.
    pub function: Option<String>,
    /// The file by its last parts, with the lines.
    pub source: Option<SourceRange>,
}

/// A file, or a line or lines in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceRange {
    /// The last parts of the path: `saxpy.hip`, `src/saxpy.hip`.
    pub file: String,
    /// The first and the last line; `None`: any.
    pub lines: Option<(u64, u64)>,
}

/// The expected access of the faulting instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessLine {
    /// The lanes; `None`: a scalar access, or any.
    pub lanes: Option<Lanes>,
    /// `load`, `store` or `atomic`, if given.
    pub kind: Option<String>,
    /// The expression of the source: `x[i]`, `x[1024]`; `None`: any.
    pub expression: Option<String>,
    /// A state or pattern of the address by name: `not captured`, `past-end`, `null`.
    pub state: Option<String>,
}

/// A counted set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counted {
    /// All waves.
    Waves,
    /// Waves that faulted.
    Faulted,
    /// Distinct stacks.
    Stacks,
    /// Dispatches.
    Dispatches,
    /// Work-groups.
    WorkGroups,
}

impl Counted {
    /// All sets.
    pub const ALL: [Self; 5] = [Self::Waves, Self::Faulted, Self::Stacks, Self::Dispatches, Self::WorkGroups];

    /// The name in a file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Waves => "waves",
            Self::Faulted => "faulted",
            Self::Stacks => "stacks",
            Self::Dispatches => "dispatches",
            Self::WorkGroups => "work-groups",
        }
    }
}

/// An expected number of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// The set.
    pub of: Counted,
    /// The comparison.
    pub comparator: Comparator,
    /// The number.
    pub number: u64,
}

/// The expected result of the analysis of a hang.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HangLine {
    /// Nothing hangs.
    None,
    /// The waves hang.
    Hang,
    /// A proven deadlock.
    Deadlock,
    /// A number of waves in a state: `spinning 3`.
    State(String, Comparator, u64),
}

/// A choice of waves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    /// Each wave that faulted; there must be one.
    Faulted,
    /// Each wave.
    Every,
    /// At least one wave.
    Some,
    /// By the id in the dump.
    Id(u32),
    /// By work-group, and number in it: `(1,0,0)/1`.
    Position([u32; 3], Option<u32>),
    /// By kernel.
    Kernel(String),
    /// By the place of the innermost frame.
    At(At),
}

/// Lanes of a wave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// The active lanes of the frame.
    Active,
    /// All lanes.
    All,
    /// Ranges, first and last.
    Listed(Vec<(LaneId, LaneId)>),
}

/// The number of a frame as `backtrace` numbers them, with its default 0.
pub type FrameNumber = usize;

/// An expected value of a path.
#[derive(Clone, Debug, PartialEq)]
pub struct ValueLine {
    /// The frame.
    pub frame: FrameNumber,
    /// The lanes; `None`: the lane of the fault, else the first active one.
    pub lanes: Option<Lanes>,
    /// The path, in the grammar of `print`.
    pub path: String,
    /// Its columns in the line.
    pub path_span: Span,
    /// The expected value.
    pub right: Right,
    /// The columns of operator and value, which `--bless` replaces.
    pub right_span: Span,
}

/// An operator between a path and a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparator {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    AtMost,
    /// `>`
    Greater,
    /// `>=`
    AtLeast,
}

impl Comparator {
    /// All operators, longer signs first.
    pub const ALL: [Self; 6] =
        [Self::Equal, Self::NotEqual, Self::AtMost, Self::AtLeast, Self::Less, Self::Greater];

    /// The sign in a file.
    #[must_use]
    pub fn sign(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Greater => ">",
            Self::AtLeast => ">=",
        }
    }
}

/// The expected value of a path.
///
/// The texts of paths are evaluated lane by lane in the frame of the left side; `$lane` is the lane's number. They may
/// be floating-point numbers: `14.25`, `-1e-3`, `inf`, `nan`.
#[derive(Clone, Debug, PartialEq)]
pub enum Right {
    /// A comparison. The order of texts and aggregates does not count: they have `==` and `!=` only.
    Compare(Comparator, Operand),
    /// `~= 27.5 +- 1e-3`, `~= 27.5 +- 0.1%`.
    Near {
        /// The expected number: a path.
        value: String,
        /// The largest difference, finite and at least 0; `None`: 1e-6 of the expected number.
        tolerance: Option<f64>,
        /// Whether `tolerance` is in percent of the expected number.
        is_percent: bool,
    },
    /// `in 0..1023`: both ends, paths, belong to it.
    Between(String, String),
    /// `in {1, 2, 3}`: one of them, at least one.
    OneOf(Vec<Operand>),
    /// `is unavailable`, `is optimized out`, `is inactive`, `is error /text/`, `is nan`, `is inf`.
    Is(StateName),
}

/// An expected value, or an element of one.
#[derive(Clone, Debug, PartialEq)]
pub enum Operand {
    /// A path or number.
    Path(String),
    /// `"text"`: its bytes without quotes and escapes.
    Text(Vec<u8>),
    /// `{0, 500, ...}`: a constant of an aggregate.
    List {
        /// The elements in order.
        elements: Vec<Element>,
        /// Whether `...` stands for further elements at the end.
        is_open: bool,
    },
}

/// An element of an aggregate.
#[derive(Clone, Debug, PartialEq)]
pub struct Element {
    /// The member's name, of `.x = 1`.
    pub member: Option<String>,
    /// The value.
    pub value: Operand,
}

/// A state of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateName {
    /// Not captured.
    Unavailable,
    /// No location at the PC.
    OptimizedOut,
    /// The lane is inactive in the frame.
    Inactive,
    /// An error whose text contains this one; empty: any.
    Error(String),
    /// There is a value.
    Available,
    /// A floating-point number that is not a number.
    Nan,
    /// An infinity of either sign.
    Infinite,
}
