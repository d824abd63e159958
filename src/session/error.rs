//! Reasons for missing code objects, missing source-level state of frames, and unknown positions of lanes.

use std::fmt;
use std::sync::Arc;

use thiserror::Error;

use super::ValueState;
use super::stack::StackEnd;
use crate::codeobject::{CodeObjectError, ElfAddress};
use crate::debuginfo::DebugInfoError;
use crate::dwarf::{self, ContextError};
use crate::session::objects::entry::BundleError;
use crate::session::objects::files::MAX_OVERLAP;
use crate::units::Pc;

/// The reason that a code object, or its debug information, is unavailable.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{name}: {cause}")]
pub struct ObjectError {
    /// The code object's name in the dump.
    pub name: Arc<str>,
    /// The reason.
    pub cause: Arc<ObjectCause>,
}

impl ObjectError {
    pub(super) fn new(name: &str, cause: impl Into<ObjectCause>) -> Self {
        Self { name: name.into(), cause: Arc::new(cause.into()) }
    }
}

/// The cause of an [`ObjectError`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ObjectCause {
    /// The dump has no code object of that index.
    #[error("the dump has no such code object")]
    NoSuchObject,
    /// The capture has no bytes of it.
    #[error("its bytes are not available")]
    NoBytes,
    /// Its bytes overlap those of others.
    #[error("code objects overlap in their files by more than {MAX_OVERLAP} times the bytes of the files")]
    Overlaps,
    /// The operating system's error.
    #[error("it cannot be read: {0}")]
    Io(String),
    /// The file is no code object, or an unreadable one.
    #[error(transparent)]
    File(#[from] CodeObjectError),
    /// A bundle or host program has no entry for the GPU, or several.
    #[error(transparent)]
    Entry(#[from] BundleError),
    /// It is another build, whose variables have other locations.
    #[error("it has build id {found}, expected {expected}")]
    BuildId {
        /// The file's build id, in hex.
        found: String,
        /// The build id of the loaded code object, in hex.
        expected: String,
    },
    /// Its code is for another processor.
    #[error("it is {0}; --force takes it anyway")]
    Foreign(Foreign),
    /// The dump's own file of its debug information is unreadable or wrong.
    #[error("its file of debug information: {0}")]
    DebugFile(Box<ObjectCause>),
    /// Only its image in memory was captured.
    #[error(
        "only its image in memory is available, which has no debug information: name its file with --code-object or --symbols"
    )]
    ImageOnly,
    /// Its debug information is missing or unreadable.
    #[error("{error}{}", damage.as_ref().map_or_else(String::new, |damage| format!("; the file is damaged: {damage}")))]
    Debug {
        /// The reason.
        error: Box<DebugInfoError>,
        /// The first damage of the file: a truncated file lacks its sections.
        damage: Option<Box<CodeObjectError>>,
    },
}

/// The processors of a code object and of its GPUs, which differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// The code object's processor.
    pub processor: &'static str,
    /// The GPUs' processors.
    pub gpus: Vec<String>,
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "for {}, and the GPU is {}", self.processor, self.gpus.join(", "))
    }
}

/// The reason that a frame has no source-level state, or only parts of it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The wave's PC was not captured: it has no frame.
    #[error("the PC of wave {wave} was not captured")]
    NoPc {
        /// The dump's id of the wave.
        wave: u32,
    },
    /// The stack has no frame of that number.
    #[error("there is no frame {frame}{}{}", ends(*count), because(end.as_deref()))]
    NoFrame {
        /// The number.
        frame: usize,
        /// The number of frames, if known.
        count: Option<usize>,
        /// The reason for the stack's end, if known.
        end: Option<Box<StackEnd>>,
    },
    /// No readable code object holds the PC.
    #[error("no code object that can be read holds the PC {pc}{}", before.as_ref().map_or_else(String::new, |why| {
        format!("; the one loaded before it cannot be read: {why}")
    }))]
    NoCode {
        /// The PC.
        pc: Pc,
        /// The reason that the code object at the next lower address is unreadable.
        before: Option<ObjectError>,
    },
    /// The code object or its debug information is unavailable.
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// The debug information of the code is unreadable.
    #[error(transparent)]
    Debug(#[from] DebugInfoError),
    /// Debug information has no function there.
    #[error("no function with debug information holds the {0}")]
    NoFunction(CodePlace),
    /// The function and line are those of the capture's own disassembly.
    #[error("function and line by the capture's text{}", .0.as_ref().map_or_else(String::new, |why| format!(": {why}")))]
    ByText(Option<Box<SourceError>>),
    /// Number of outer frames left out, for lack of capacity in an answer.
    #[error("outer frames left out: {0}: the stacks of all groups take more than 96 MiB")]
    LeftOut(usize),
    /// The lane's position in the frame is unknown.
    #[error(transparent)]
    Position(#[from] PositionError),
    /// No variable at that offset of a frame's window.
    #[error("no variable is {offset:#x} bytes into the window of frame {frame}")]
    NothingInWindow {
        /// Bytes from its start.
        offset: u32,
        /// The frame's number.
        frame: usize,
    },
    /// The object has no value.
    #[error("{}", .0.words())]
    Value(ValueState),
}

/// A place in code, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodePlace {
    /// An address of the code object's file.
    File(ElfAddress),
    /// A run-time PC.
    At(Pc),
    /// The PC of the question.
    Pc,
}

impl fmt::Display for CodePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(at) => write!(f, "address {at}"),
            Self::At(pc) => write!(f, "PC {pc}"),
            Self::Pc => f.write_str("PC"),
        }
    }
}

impl SourceError {
    /// The reason with a place that the user knows, instead of an address of the file.
    pub(super) fn seen_at(self, place: CodePlace) -> Self {
        match self {
            Self::NoFunction(_) => Self::NoFunction(place),
            other => other,
        }
    }
}

fn ends(count: Option<usize>) -> String {
    match count.map(|count| count.checked_sub(1)) {
        None => String::new(),
        Some(None) => "; the stack has none".to_owned(),
        Some(Some(last)) => format!("; the stack ends with frame {last}"),
    }
}

fn because(end: Option<&StackEnd>) -> String {
    end.map_or_else(String::new, |end| format!(": {end}"))
}

/// The reason that a lane's position in a frame, or the set of active lanes there, is unknown.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PositionError {
    /// The wave's PC was not captured.
    #[error("the PC was not captured")]
    NoPc,
    /// EXEC was not captured.
    #[error("EXEC was not captured")]
    NoExec,
    /// No rule recovers EXEC in a caller's frame.
    #[error("EXEC is not known in this frame")]
    NoExecInFrame,
    /// The lane is inactive, and nothing gives its position.
    #[error("the lane is inactive, and the function has no DW_AT_LLVM_lane_pc for this PC")]
    Inactive,
    /// The lane is in no function of the call stack.
    #[error("the lane entered none of the functions of the call stack")]
    NotEntered,
    /// An attribute of the function cannot be evaluated.
    #[error("{attribute}: {cause}")]
    Attribute {
        /// The attribute's name.
        attribute: &'static str,
        /// The reason.
        cause: Arc<AttributeCause>,
    },
}

impl PositionError {
    pub(super) fn of(attribute: &'static str, cause: impl Into<AttributeCause>) -> Self {
        Self::Attribute { attribute, cause: Arc::new(cause.into()) }
    }
}

/// The reason that an attribute of a function cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum AttributeCause {
    /// It is a constant, expected an expression.
    #[error("a constant")]
    Constant,
    /// Its location list or expression is unreadable.
    #[error(transparent)]
    Debug(#[from] DebugInfoError),
    /// The frame lacks required data.
    #[error(transparent)]
    Context(#[from] ContextError),
    /// Its evaluation fails.
    #[error(transparent)]
    Expression(#[from] dwarf::Error),
}
