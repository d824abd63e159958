//! The questions of a debugger about a dump, in one table.
//!
//! A question is one module: its parameters once, and its answer as text and as JSON. The command line, `monitor`, the
//! packets `qlanescope.NAME` and the documents `qXfer:lanescope-NAME:read` are generated from [`QUESTIONS`]. A front
//! end parses its notation into [`Arguments`], picks the waves, and prints the [`Answer`]; a question knows no front
//! end.

mod answer;
mod arguments;
mod asked;
mod dispatches;
mod evaluate;
mod faults;
mod groups;
mod instructions;
mod lanes;
mod memory;
mod objects;
mod parameter;
mod paths;
mod registers;
mod stacks;
mod triage;
mod variables;
mod waves;

pub use answer::{Answer, Body, QuestionError};
pub use arguments::{ArgumentError, Arguments, Lanes, Value};
pub use asked::{Asked, Focus, Form, Numbering};
pub(crate) use parameter::{HexError, WHOLE_LINES, hex_bytes};
pub use parameter::{Parameter, Takes, Words};
#[cfg(test)]
pub(crate) use {memory::MemoryBytes, registers::RegisterValues};

/// A question: a subcommand, a `monitor` command, and optionally a packet and a document.
#[derive(Debug)]
pub struct Question {
    /// The name of the subcommand and of the `monitor` command.
    pub name: &'static str,
    /// The packet: `qlanescope.Locals`.
    pub packet: Option<&'static str>,
    /// The document for answers that do not fit a packet.
    pub document: Option<Document>,
    /// A sentence for the help of every front end; it names no notation.
    pub summary: &'static str,
    /// A line of `monitor` for its help and its errors; empty if typed lines take no argument.
    pub example: &'static str,
    /// The subject.
    pub subject: Subject,
    /// The parameters, apart from the choice of the wave.
    pub parameters: &'static [Parameter],
    /// Computes the answer.
    pub answer: for<'a> fn(&Asked<'a>) -> Result<Answer<'a>, QuestionError>,
}

/// The document of a question: `qXfer:lanescope-locals:read:ANNEX:OFFSET,LENGTH`.
#[derive(Clone, Copy, Debug)]
pub struct Document {
    /// The packet: `qXfer:lanescope-locals:read`.
    pub packet: &'static str,
    /// The parameters in the annex, separated by `.`; those of a wave follow the thread.
    pub annex: &'static [&'static str],
}

/// The subject of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// The whole dump.
    Dump,
    /// The whole dump; the row of the focused wave has a mark.
    Marked,
    /// All served waves, kind by kind.
    Waves,
    /// One wave.
    Wave,
    /// The focused wave, unless one of these arguments names another subject; the whole dump without a focus.
    WaveUnless(&'static [&'static str]),
    /// The wave that the user names; the whole dump otherwise.
    NamedWave,
}

pub use paths::PRINT;

/// All questions, in the order of help texts.
pub const QUESTIONS: &[Question] = &[
    triage::TRIAGE,
    waves::WAVES,
    lanes::LANES,
    lanes::LANE_PC,
    groups::GROUPS,
    dispatches::DISPATCHES,
    dispatches::ARGUMENTS,
    instructions::DISASSEMBLE,
    registers::REGISTERS,
    memory::MEMORY,
    variables::LOCALS,
    stacks::BACKTRACE,
    evaluate::EVAL,
    PRINT,
    paths::EXPLAIN,
    objects::OBJECTS,
    faults::FAULTS,
];

impl Question {
    /// Whether an answer to these arguments is about the focused wave; of [`Subject::NamedWave`] about the named one.
    #[must_use]
    pub fn is_about_wave(&self, arguments: &Arguments) -> bool {
        match self.subject {
            Subject::Wave | Subject::NamedWave => true,
            Subject::WaveUnless(names) => !names.iter().any(|name| arguments.has(name)),
            Subject::Dump | Subject::Marked | Subject::Waves => false,
        }
    }
}

#[cfg(test)]
mod tests;
