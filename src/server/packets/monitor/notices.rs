//! The notices and the problems of the dump.

use super::super::super::state::State;
use crate::session::problem_notice;

/// Maximum number of listed problems.
pub(super) const MAX_PROBLEMS: usize = 64;

pub(super) fn notices(state: &State) -> String {
    let (mut lines, problems) = (state.notices(), state.session.problems());
    // This function lists the dump's problems one by one, without the summary.
    let summary = problem_notice(problems.len());
    lines.retain(|line| Some(line) != summary.as_ref());
    lines.extend(problems.iter().take(MAX_PROBLEMS).map(|problem| format!("problem: {problem}")));
    if let Some(more @ 1..) = problems.len().checked_sub(MAX_PROBLEMS) {
        lines.push(format!("and {more} more problems, which `lanescope info DUMP` lists"));
    }
    if lines.is_empty() { "Nothing to note.\n".to_owned() } else { lines.join("\n") }
}
