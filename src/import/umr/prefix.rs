//! What other programs put before each line of umr's text: quote signs, times, the name of a host or a container.
//!
//! The line that names a wave says what stands before it, as the header of an agent's report does; the lines after it have
//! the same before them but for their numbers. umr prints all at once, so that there is one such text at a time.

/// A longer text before a wave's name is a sentence, and no prefix.
pub(super) const MOST_PREFIX: usize = 160;

/// Whether a text may stand before each line: it has a number, or ends with a sign.
pub(super) fn is_prefix(text: &[u8]) -> bool {
    let sign = text.trim_ascii_end().last().is_none_or(|last| !last.is_ascii_alphanumeric());
    let apart = text.last().is_none_or(|last| !last.is_ascii_alphanumeric());
    text.len() <= MOST_PREFIX && apart && (sign || text.iter().any(u8::is_ascii_digit))
}

/// What follows the prefix in a line; numbers in it may be others, with more digits or fewer. `None`: it does not begin so.
pub(super) fn after<'l>(prefix: &[u8], line: &'l [u8]) -> Option<&'l [u8]> {
    let (mut prefix, mut line) = (prefix, line);
    while !prefix.is_empty() {
        let (of_prefix, of_line) = (number(prefix), number(line));
        if let (Some(one), Some(other)) = (of_prefix, of_line) {
            (prefix, line) = (one, other);
            continue;
        }
        let (one, other) = (prefix.split_first()?, line.split_first()?);
        if one.0 != other.0 {
            return None;
        }
        (prefix, line) = (one.1, other.1);
    }
    Some(line)
}

/// What follows a number with the blanks before it, if one comes next.
fn number(text: &[u8]) -> Option<&[u8]> {
    let digits = text.trim_ascii_start();
    let rest = digits.get(digits.iter().take_while(|byte| byte.is_ascii_digit()).count()..)?;
    (rest.len() < digits.len()).then_some(rest)
}

#[cfg(test)]
mod tests;
