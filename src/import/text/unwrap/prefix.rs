//! Prefixes: the text that another program puts before each line of a log.
//!
//! A clock differs from line to line, also in length; a rank, a process or a node does not. [`Keyed`] removes clocks by
//! their shape and keeps all other digits: the rest is the prefix's key, which distinguishes interleaved programs.
//! [`end`] accepts other different numbers too, such as line counters.

/// Maximum length of a prefix in bytes; a longer text is a program's unterminated line.
pub(in crate::import) const MAX_PREFIX: usize = 160;

/// Maximum number of blanks that align a clock.
const MAX_BLANKS: usize = 32;

/// Placeholder of a clock in a key; no text contains it.
const CLOCK: u8 = 0;

/// A line's beginning without its clocks.
#[derive(Debug, Default)]
pub(in crate::import) struct Keyed {
    /// The key's bytes; each clock is one of them.
    pub(in crate::import) key: Vec<u8>,
    /// For each length of `key`, the corresponding offset in the line; one more than `key` has bytes.
    ends: Vec<usize>,
}

impl Keyed {
    /// Reads the start of a line without clocks; `most`: maximum length of the key.
    pub(in crate::import) fn read(&mut self, line: &[u8], most: usize) {
        self.key.clear();
        self.ends.clear();
        self.ends.push(0);
        let mut at = 0;
        while self.key.len() < most
            && let Some(byte) = line.get(at)
        {
            let length = clock_at(line, at);
            self.key.push(if length.is_some() { CLOCK } else { *byte });
            at += length.unwrap_or(1);
            self.ends.push(at);
        }
    }

    /// Offset in the line of that length of the key.
    pub(in crate::import) fn end(&self, length: usize) -> Option<usize> {
        self.ends.get(length).copied()
    }
}

/// Whether a text may be a prefix: it ends with a sign, or has a number and ends with a blank.
pub(in crate::import) fn is_prefix(text: &[u8]) -> bool {
    let sign = text.trim_ascii_end().last().is_none_or(|last| !last.is_ascii_alphanumeric());
    let apart = text.last().is_none_or(|last| !last.is_ascii_alphanumeric());
    text.len() <= MAX_PREFIX && apart && (sign || text.iter().any(u8::is_ascii_digit))
}

/// Length of a line's start that repeats a prefix; clocks and other numbers may differ. `None`: it does not repeat it.
pub(in crate::import) fn end(prefix: &[u8], line: &[u8]) -> Option<usize> {
    let (mut at, mut end) = (0, 0);
    while at < prefix.len() {
        let (one, other) = (prefix.get(at..)?, line.get(end..)?);
        let clocks = clock_at(prefix, at).zip(clock_at(line, end));
        let (length, found) = match clocks.or_else(|| number(one).zip(number(other))) {
            Some(lengths) => lengths,
            None if one.first() == other.first() => (1, 1),
            None => return None,
        };
        (at, end) = (at + length, end + found);
    }
    Some(end)
}

/// Length of a number at the start of a text, with leading blanks.
fn number(text: &[u8]) -> Option<usize> {
    let blanks = text.len() - text.trim_ascii_start().len();
    let digits = digits(text, blanks);
    (digits > 0).then_some(blanks + digits)
}

/// Length of the clock at an offset of a line, outside of words.
fn clock_at(line: &[u8], at: usize) -> Option<usize> {
    let is_inside =
        at.checked_sub(1).and_then(|before| line.get(before)).is_some_and(u8::is_ascii_alphanumeric);
    if is_inside { None } else { clock(line.get(at..)?) }
}

/// Length of the clock at the start of a text, with the blanks that align it: date and time of day in the usual forms,
/// a date with a month's name, seconds with a fraction.
fn clock(text: &[u8]) -> Option<usize> {
    let blanks = text.iter().take(MAX_BLANKS).take_while(|byte| **byte == b' ').count();
    let rest = text.get(blanks..)?;
    let length = match rest.first()? {
        b'0'..=b'9' => date(rest).or_else(|| time(rest)).or_else(|| seconds(rest)),
        b'A'..=b'Z' if blanks == 0 => month(rest),
        _ => None,
    }?;
    Some(blanks + length)
}

fn digits(text: &[u8], at: usize) -> usize {
    text.get(at..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Whether a word ends at an offset.
fn ends(text: &[u8], at: usize) -> bool {
    !text.get(at).is_some_and(u8::is_ascii_alphanumeric)
}

/// `2026-11-20`, `2026/11/20`, with a time of day after `T` or a blank, or without.
fn date(text: &[u8]) -> Option<usize> {
    let mark = *text.get(4).filter(|mark| matches!(mark, b'-' | b'/'))?;
    let shape =
        digits(text, 0) == 4 && digits(text, 5) == 2 && text.get(7) == Some(&mark) && digits(text, 8) == 2;
    if !shape {
        return None;
    }
    match text.get(10) {
        Some(b'T' | b' ') => Some(time(text.get(11..)?).map_or(10, |length| 11 + length)),
        _ => ends(text, 10).then_some(10),
    }
}

/// `9:00:01`, `09:00:01.25`, `09:00:01,250`, `09:00:01Z`, `09:00:01+02:00`.
fn time(text: &[u8]) -> Option<usize> {
    let hours = digits(text, 0);
    let colon = |at: usize| text.get(at) == Some(&b':') && digits(text, at + 1) == 2;
    if !(1..=2).contains(&hours) || !colon(hours) || !colon(hours + 3) {
        return None;
    }
    let mut at = hours + 6;
    if matches!(text.get(at), Some(b'.' | b',')) && digits(text, at + 1) > 0 {
        at += 1 + digits(text, at + 1);
    }
    if text.get(at) == Some(&b'Z') {
        at += 1;
    } else if matches!(text.get(at), Some(b'+' | b'-')) && digits(text, at + 1) >= 2 {
        at += 1 + digits(text, at + 1);
        at += if colon(at) { 3 } else { 0 };
    }
    ends(text, at).then_some(at)
}

/// `999.5`, `10.0s`; `10.0.0.1` is an address.
fn seconds(text: &[u8]) -> Option<usize> {
    let whole = digits(text, 0);
    let fraction = digits(text, whole + 1);
    if whole == 0 || text.get(whole) != Some(&b'.') || fraction == 0 {
        return None;
    }
    let at = whole + 1 + fraction;
    if text.get(at) == Some(&b'.') && digits(text, at + 1) > 0 {
        return None;
    }
    let at = at + usize::from(text.get(at) == Some(&b's'));
    ends(text, at).then_some(at)
}

/// `Jan  9 09:00:01`, with the year or without a time.
fn month(text: &[u8]) -> Option<usize> {
    const MONTHS: [&[u8]; 12] =
        [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];
    MONTHS.contains(&text.get(..3)?).then_some(())?;
    let blanks = text.iter().skip(3).take_while(|byte| **byte == b' ').count();
    let day = digits(text, 3 + blanks);
    if blanks == 0 || !(1..=2).contains(&day) {
        return None;
    }
    let at = 3 + blanks + day;
    let of_day = text.get(at).filter(|byte| **byte == b' ').and_then(|_| time(text.get(at + 1..)?));
    of_day.map(|length| at + 1 + length).or_else(|| ends(text, at).then_some(at))
}

#[cfg(test)]
mod tests;
