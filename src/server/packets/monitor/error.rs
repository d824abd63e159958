//! The reasons that a user's command has no answer, as sentences.

use super::sentence;
use super::words::{attempt, reason};
use crate::questions::QuestionError;
use crate::server::error::PacketError;
use crate::session::work_item::WorkItemError;
use crate::session::{ChangeError, ReadError};
use crate::units::LaneId;

/// The reason that a command has no answer.
#[derive(Debug, thiserror::Error)]
pub(in crate::server::packets) enum CommandError {
    /// The words do not fit the command; with a sentence about its form.
    #[error("{0}")]
    Usage(&'static str),
    /// An argument of a question is wrong or missing; with an example.
    #[error("{}{}", reason(error), attempt(example))]
    Argument { error: QuestionError, example: &'static str },
    /// A name of a parameter without its value.
    #[error("`{word}` needs a value: {shown}.{}", attempt(example))]
    NoValue { word: String, shown: &'static str, example: &'static str },
    /// A word fits no parameter.
    #[error("`{word}` is no argument of `{name}`.{}", attempt(example))]
    Unfit { word: String, name: &'static str, example: &'static str },
    /// No command has the name; with all names.
    #[error("No command \"{name}\". There are: {}. Try `monitor help`.\n", names.join(", "))]
    Unknown { name: String, names: Vec<&'static str> },
    /// Several names begin with the word.
    #[error("`{name}` is the beginning of several commands: {}.\n", names.join(", "))]
    Ambiguous { name: String, names: Vec<&'static str> },
    /// A thread before a command about the whole dump.
    #[error("`monitor {0}` is about the whole dump and takes no thread.")]
    WholeDump(&'static str),
    /// A thread before a question that is not about one wave with these arguments.
    #[error("`monitor {name} {arguments}` takes no thread.")]
    NoThread { name: &'static str, arguments: String },
    /// A word after a command without arguments.
    #[error("`monitor {0}` takes no argument.")]
    NoArgument(&'static str),
    /// More words than the command takes; with its usage.
    #[error("Too many arguments: monitor {0}.")]
    TooMany(String),
    /// A second wave in one line.
    #[error("`{0}` names a second wave. Name one: `monitor thread N COMMAND`.")]
    SecondWave(&'static str),
    /// gdb selects threads itself; with its number of the thread.
    #[error(
        "gdb chooses the wave itself: type `thread {0}`, or `monitor thread {0} COMMAND` for one command."
    )]
    ChosenByGdb(u64),
    /// The command changes values of one wave, and the client does not report its selected thread.
    #[error(
        "{client} does not report which thread is selected now. Name the wave: `monitor thread N {command} ...`, N as in `{list}`{more}."
    )]
    NoWave { client: &'static str, command: &'static str, list: &'static str, more: &'static str },
    /// The lane is no thread of its own.
    #[error(
        "Lane {0} of this wave is no thread: it has no work-item, or its PC is not known. List the lanes with `monitor lanes`."
    )]
    NotAThread(LaneId),
    /// A place of a wave where the command needs a work-item.
    #[error("A work-item is (X,Y,Z) of the grid, or (X,Y,Z)[X,Y,Z]: work-group and place in it.")]
    NotAWorkItem,
    /// The question has no answer.
    #[error("{}", reason(.0))]
    Question(#[from] QuestionError),
    /// No wave or lane has the place.
    #[error("{}", sentence(&.0.to_string()))]
    Place(#[from] WorkItemError),
    /// The session cannot read.
    #[error("{}", sentence(&.0.to_string()))]
    Read(#[from] ReadError),
    /// The session cannot write.
    #[error("{}", sentence(&.0.to_string()))]
    Change(#[from] ChangeError),
    /// The client has no such thread, or cannot show the lane.
    #[error("{}", sentence(&.0.words))]
    Client(#[from] PacketError),
    /// The answer has no form as JSON.
    #[error("{}", sentence(&.0.to_string()))]
    Json(#[from] serde_json::Error),
}
