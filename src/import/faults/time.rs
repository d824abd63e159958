//! The time stamps of a log's lines, to tell rows of one report from those of another.

use std::cmp::Ordering;

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
    /// Milliseconds of the day: `Jul 23 06:38:28`, `2025-03-04T12:00:01,123`.
    OfDay(u64),
}

impl Time {
    /// The stamp of a line; the kernel's own before others.
    pub(super) fn of(line: &[u8]) -> Option<Self> {
        let line = line.get(..line.len().min(MAX_BEFORE))?;
        since_start(line).map(Self::SinceStart).or_else(|| of_day(line).map(Self::OfDay))
    }

    /// The order of two times of one clock.
    pub(super) fn compared(one: Option<Self>, other: Option<Self>) -> Option<Ordering> {
        match (one?, other?) {
            (Self::SinceStart(one), Self::SinceStart(other)) | (Self::OfDay(one), Self::OfDay(other)) => {
                Some(one.cmp(&other))
            }
            _ => None,
        }
    }

    /// Whether rows of both times may be of one report. Unknown times say nothing.
    pub(super) fn are_near(one: Option<Self>, other: Option<Self>) -> bool {
        match (one, other) {
            (Some(Self::SinceStart(one)), Some(Self::SinceStart(other))) => one.abs_diff(other) <= NEAR,
            (Some(Self::OfDay(one)), Some(Self::OfDay(other))) => {
                let apart = one.abs_diff(other);
                apart.min(DAY - apart) <= NEAR
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
fn of_day(line: &[u8]) -> Option<u64> {
    let mut at = 0;
    while let Some(colon) = find(line.get(at..)?, ":").map(|colon| at + colon) {
        at = colon + 1;
        let Some(start) = colon.checked_sub(2) else { continue };
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
            return Some((((hours * 60 + minutes) * 60 + seconds) * 1000 + milliseconds) % DAY);
        }
    }
    None
}

/// Milliseconds of a fraction of a second.
fn fraction(cursor: &mut Cursor<'_>) -> Option<u64> {
    let digits = cursor.run(|byte| byte.is_ascii_digit());
    let digit = |index: usize| digits.get(index).map_or(0, |digit| u64::from(digit - b'0'));
    (!digits.is_empty()).then(|| digit(0) * 100 + digit(1) * 10 + digit(2))
}
