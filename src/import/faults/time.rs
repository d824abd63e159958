//! The time stamps of a log's lines, to tell rows of one report from those of another.

use std::cmp::Ordering;

use crate::capture::agree;
use crate::import::text::{Cursor, find};

/// Maximum milliseconds between the rows of a report: a console at 9,600 bits a second needs one for a row.
const NEAR: u64 = 5_000;

/// Milliseconds of a day.
const DAY: u64 = 86_400_000;

/// Maximum bytes before a time stamp.
const MAX_BEFORE: usize = 80;

/// A time stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Time {
    /// Milliseconds since the kernel's start: `[ 6512.000001]`.
    SinceStart(u64),
    /// The day of the month, if the stamp has one, and milliseconds of the day: `Jul 23 06:38:28`,
    /// `2025-03-04T12:00:01,123`.
    OfDay(Option<u8>, u64),
}

impl Time {
    /// The stamp of a line; the kernel's own before others.
    pub(super) fn of(line: &[u8]) -> Option<Self> {
        let line = line.get(..line.len().min(MAX_BEFORE))?;
        since_start(line).map(Self::SinceStart).or_else(|| of_day(line))
    }

    /// The order of two times of one clock.
    pub(super) fn compared(one: Option<Self>, other: Option<Self>) -> Option<Ordering> {
        match (one?, other?) {
            (Self::SinceStart(one), Self::SinceStart(other)) => Some(one.cmp(&other)),
            (Self::OfDay(day, one), Self::OfDay(other_day, other)) => {
                match agree(day.as_ref(), other_day.as_ref()) {
                    true => Some(one.cmp(&other)),
                    // A month may end between them.
                    false => day.zip(other_day).map(|(day, other)| match day.abs_diff(other) < 15 {
                        true => day.cmp(&other),
                        false => other.cmp(&day),
                    }),
                }
            }
            _ => None,
        }
    }

    /// Whether rows of both times may be of one report. Unknown times say nothing.
    pub(super) fn are_near(one: Option<Self>, other: Option<Self>) -> bool {
        match (one, other) {
            (Some(Self::SinceStart(one)), Some(Self::SinceStart(other))) => one.abs_diff(other) <= NEAR,
            (Some(Self::OfDay(day, one)), Some(Self::OfDay(other_day, other))) => {
                let apart = one.abs_diff(other);
                let is_other_day = !agree(day.as_ref(), other_day.as_ref());
                apart <= NEAR && !is_other_day || DAY - apart <= NEAR
            }
            _ => true,
        }
    }
}

/// `[ 6512.000001]`
fn since_start(line: &[u8]) -> Option<u64> {
    let mut rest = line;
    while let Some(open) = find(rest, "[") {
        rest = rest.get(open + 1..)?;
        let mut cursor = Cursor::new(rest);
        cursor.spaces();
        if let Some(seconds) = cursor.decimal()
            && cursor.take(".")
            && let Some(milliseconds) = fraction(&mut cursor)
            && cursor.take("]")
        {
            return seconds.checked_mul(1000)?.checked_add(milliseconds);
        }
    }
    None
}

/// `06:38:28`, with a fraction or without.
fn of_day(line: &[u8]) -> Option<Time> {
    let mut at = 0;
    while let Some(colon) = find(line.get(at..)?, ":").map(|colon| at + colon) {
        at = colon + 1;
        let Some(start) = colon.checked_sub(2) else { continue };
        // `0000:03:00.0` is no time.
        if start.checked_sub(1).and_then(|at| line.get(at)).is_some_and(u8::is_ascii_digit) {
            continue;
        }
        let Some(Some(digits)) = line.get(start..colon + 6).map(|text| std::str::from_utf8(text).ok()) else {
            continue;
        };
        let number = |range: std::ops::Range<usize>| {
            let digits = digits.get(range)?;
            digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<u64>().ok())?
        };
        let is_time = digits.as_bytes().get(5) == Some(&b':');
        if let (Some(hours @ ..24), Some(minutes @ ..60), Some(seconds @ ..61)) =
            (number(0..2), number(3..5), number(6..8))
            && is_time
        {
            let mut cursor = Cursor::new(line.get(colon + 6..)?);
            let has_fraction = cursor.take(".") || cursor.take(",");
            let milliseconds = if has_fraction { fraction(&mut cursor).unwrap_or(0) } else { 0 };
            let of_day = (((hours * 60 + minutes) * 60 + seconds) * 1000 + milliseconds) % DAY;
            return Some(Time::OfDay(day_before(line.get(..start)?), of_day));
        }
    }
    None
}

/// The day of the month before a time: `Jul 23 `, `Mar  4 `, `2025-03-04T`.
fn day_before(text: &[u8]) -> Option<u8> {
    let date = text.strip_suffix(b" ").or_else(|| text.strip_suffix(b"T"))?;
    let day = date.get(date.len().checked_sub(2)?..)?;
    std::str::from_utf8(day).ok()?.trim_start().parse().ok()
}

/// Milliseconds of a fraction of a second.
fn fraction(cursor: &mut Cursor<'_>) -> Option<u64> {
    let digits = cursor.run(|byte| byte.is_ascii_digit());
    let digit = |index: usize| digits.get(index).map_or(0, |digit| u64::from(digit - b'0'));
    (!digits.is_empty()).then(|| digit(0) * 100 + digit(1) * 10 + digit(2))
}
