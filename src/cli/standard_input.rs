//! Standard input of commands: a terminal shows that a command waits for it.

use std::io::{self, IsTerminal as _, Write as _};

/// Prints a note on standard error if standard input is a terminal: otherwise the command seems to hang. `what`: the
/// data that the command reads.
///
/// # Errors
/// The error of standard error.
pub(super) fn announce(what: &str) -> io::Result<()> {
    match io::stdin().is_terminal() {
        true => writeln!(anstream::stderr(), "note: reading {what} from standard input; Ctrl-D ends it"),
        false => Ok(()),
    }
}
