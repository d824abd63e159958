//! Expectations about a dump: parsed from a `.scope` file, evaluated over sessions, and compared by type.
//!
//! Input: the text of a file and an opened dump. Output: an [`Outcome`] for each expectation: it holds, it differs, or
//! it cannot be checked. docs/check.md has the grammar. Nothing here opens files or prints: `cli::check` does.

mod bless;
mod causes;
mod compare;
mod draft;
mod evaluate;
mod file;
mod format;
mod outcome;
mod similar;
mod snippet;
mod syntax;

pub use bless::{Blessing, Changed, Unblessed, bless};
pub use causes::unknown_names;
pub use draft::{DraftError, Head, NameError, draft};
pub use evaluate::{FactError, Subject, evaluate};
pub use file::{
    AccessLine, At, Comparator, Content, Count, Counted, Element, FaultLine, FrameNumber, HangLine, Lanes,
    Line, Operand, Right, ScopeFile, Selector, Setting, SourceRange, Span, StateName, ValueLine,
};
pub use format::format;
pub use outcome::{Difference, LaneDifference, NamedValue, Obstacle, Outcome, Verdict};
pub(crate) use similar::similar;
pub use snippet::{Snippet, syntax_errors};
pub use syntax::{MAX_FILE, MAX_LINE, MAX_LINES, SETTINGS, SyntaxError, parse, parse_all};
