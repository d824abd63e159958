//! Rules of values by lane: `1000..1024 (+1)` or `0..12 (+0.5)` in lanes 0-24.
//!
//! A run is a series of neighbouring lanes whose numbers grow by a constant step from lane to lane; step 0 is a
//! constant. Runs by the same rule are one rule, whatever is between them. All functions take at most 64 lanes, which
//! bounds their work.

use std::collections::HashMap;

use super::range;
use crate::units::{LaneId, LaneSet};

/// Least number of lanes of a run whose values differ: any two values are linear.
const MIN_RUN: usize = 3;
/// Maximum number of rules, and of their ranges of lanes, that are easier to read than a list of the values.
const MAX_RULES: usize = 8;
const MAX_RANGES: usize = 16;
/// Least number of lanes of a series with gaps: `0, 2, ..., 8` is not longer than its lanes.
const MIN_SERIES: usize = 5;
/// Maximum number of numbers, and of bytes, of a text with a rule. A longer text is only equal to another or not.
const MAX_NUMBERS: usize = 32;
const MAX_BYTES: usize = 4096;
/// Further digits for the steps of lanes at a distance: a step of 0.5 every 32 lanes needs six.
const STEP_DIGITS: u32 = 6;
/// Maximum number of digits after the point: 10^38 is the last power of ten below 2^127.
const MAX_DIGITS: u32 = 38;

/// The numbers of some lanes: `base + step * lane`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    /// The lanes; at least one.
    pub(crate) lanes: LaneSet,
    /// The number that the rule gives for lane 0.
    pub(crate) base: i128,
    /// The difference between neighbouring lanes; 0 for a constant.
    pub(crate) step: i128,
}

impl Rule {
    /// Returns the number of a lane by the rule.
    #[must_use]
    pub(crate) fn value(&self, lane: LaneId) -> i128 {
        self.base.wrapping_add(self.step.wrapping_mul(lane.0.into()))
    }

    /// Formats the numbers: `7`, or `1000..1024 (+1)` from the lowest to the highest lane with the step of a lane.
    #[must_use]
    pub(crate) fn text(&self, number: impl Fn(i128) -> String) -> String {
        self.with_step(number, |step| step.to_string())
    }

    /// The same; `magnitude`: the text of a positive number as a step.
    fn with_step(&self, number: impl Fn(i128) -> String, magnitude: impl Fn(u128) -> String) -> String {
        let (first, last) = (self.lanes.first(), self.lanes.iter().last());
        let [first, last] = [first, last].map(|lane| self.value(lane.unwrap_or_default()));
        if first == last {
            return number(first);
        }
        let sign = if self.step < 0 { '-' } else { '+' };
        format!("{}..{} ({sign}{})", number(first), number(last), magnitude(self.step.unsigned_abs()))
    }

    /// Formats the rule as a term of the lane: `7`, `lane`, `1000 + lane`, `4 * lane - 8`, `63 - lane`.
    #[must_use]
    #[allow(dead_code, reason = "the terms of the analysis of faults use it")]
    pub(crate) fn term(&self) -> String {
        let lane = match self.step.unsigned_abs() {
            0 => return self.base.to_string(),
            1 => "lane".to_owned(),
            step => format!("{step} * lane"),
        };
        match (self.base, self.step > 0) {
            (0, true) => lane,
            (0, false) => format!("-{lane}"),
            (base, true) if base < 0 => format!("{lane} - {}", base.unsigned_abs()),
            (base, true) => format!("{base} + {lane}"),
            (base, false) => format!("{base} - {lane}"),
        }
    }
}

/// Returns the rules of numbers by lane, the rule of the lowest lane first; each lane is in one rule. Lanes are
/// ascending; lanes without a number are left out.
pub(crate) fn rules(numbers: impl IntoIterator<Item = (LaneId, i128)>) -> Vec<Rule> {
    let number = |value| vec![Number { value, unit: 1 }];
    let items = numbers.into_iter().map(|(lane, value)| Item { lane, shape: (), numbers: number(value) });
    let parts = parts(&items.collect::<Vec<_>>());
    let rule = |part: Part<()>| {
        part.numbers.first().map(|(base, step)| Rule { lanes: part.lanes, base: *base, step: *step })
    };
    parts.into_iter().filter_map(rule).collect()
}

/// Lanes with one text, in which a number may stand for a rule: `{x = 0..24 (+1), y = 7}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Texts {
    /// The lanes.
    pub(crate) lanes: LaneSet,
    /// The text.
    pub(crate) text: String,
}

/// Returns texts by lane as rules, the rule of the lowest lane first. Rules hold between numbers of a text, in decimal
/// with or without a fraction, or after `0x`; the rest of the texts of a rule is equal. A rule gives the text of each of
/// its lanes exactly. Numbers in quotes and with an exponent have no rules.
pub(crate) fn texts<'t>(texts: impl IntoIterator<Item = (LaneId, &'t str)>) -> Vec<Texts> {
    let texts: Vec<(LaneId, &str)> = texts.into_iter().collect();
    // The common case, without a look for numbers.
    if let Some(((_, first), others)) = texts.split_first()
        && others.iter().all(|(_, text)| text == first)
    {
        let lanes = texts.iter().map(|(lane, _)| *lane).collect();
        return vec![Texts { lanes, text: (*first).to_owned() }];
    }
    let split: Vec<_> =
        texts.into_iter().map(|(lane, text)| (lane, [Piece::Words(text)], split(text))).collect();
    // Digits after the point of each number of a shape: those of its lanes, and further ones for steps.
    let mut digits: HashMap<&[Piece<'_>], Vec<u32>> = HashMap::new();
    for (.., (shape, numbers)) in &split {
        let of_shape = digits.entry(shape).or_insert_with(|| vec![0; numbers.len()]);
        for (digits, number) in of_shape.iter_mut().zip(numbers).filter(|(_, number)| number.digits > 0) {
            *digits = (*digits).max(number.digits.saturating_add(STEP_DIGITS).min(MAX_DIGITS));
        }
    }
    let items = split.iter().map(|(lane, whole, (shape, numbers))| {
        let digits = digits.get(&**shape).into_iter().flatten();
        let scaled: Option<Vec<Number>> =
            numbers.iter().zip(digits).map(|(number, digits)| number.scaled(*digits)).collect();
        let shape = if scaled.is_some() { shape.as_slice() } else { whole.as_slice() };
        Item { lane: *lane, shape, numbers: scaled.unwrap_or_default() }
    });
    let part = |part: Part<&[Piece<'t>]>| {
        let digits = digits.get(part.shape).into_iter().flatten();
        let mut numbers = part.numbers.iter().zip(digits);
        let mut text = String::new();
        for piece in part.shape {
            match piece {
                Piece::Words(words) => text.push_str(words),
                Piece::Number(notation) => {
                    let Some(((base, step), digits)) = numbers.next() else { continue };
                    let rule = Rule { lanes: part.lanes, base: *base, step: *step };
                    let number = |number| notation.text(number, *digits);
                    text.push_str(&rule.with_step(number, |step| decimal(step, *digits)));
                }
            }
        }
        Texts { lanes: part.lanes, text }
    };
    parts(&items.collect::<Vec<_>>()).into_iter().map(part).collect()
}

/// Whether rules of these lanes are easier to read than a list of the values.
pub(crate) fn are_readable(rules: impl IntoIterator<Item = LaneSet>) -> bool {
    let (mut count, mut ranges) = (0usize, 0usize);
    for lanes in rules {
        count += 1;
        ranges += series(lanes).len();
    }
    count <= MAX_RULES && ranges <= MAX_RANGES
}

/// Formats lanes as ranges, and as series of equal distances: `0-24, 26`, `0, 2, ..., 62`.
pub(crate) fn ranges(lanes: LaneSet) -> String {
    listed(lanes).join(", ")
}

/// The ranges and series of [`ranges`].
pub(crate) fn listed(lanes: LaneSet) -> Vec<String> {
    let part = |part: &Series| match part {
        Series { first, last, distance: 0..=1 } => range(&(*first, *last)),
        Series { first, last, distance } => {
            format!("{first}, {}, ..., {last}", first.saturating_add(*distance))
        }
    };
    series(lanes).iter().map(part).collect()
}

/// Lanes at equal distances.
struct Series {
    first: u8,
    last: u8,
    distance: u8,
}

/// The ranges of a set, and series of at least [`MIN_SERIES`] lanes at a larger distance.
fn series(lanes: LaneSet) -> Vec<Series> {
    let all: Vec<u8> = lanes.iter().map(|lane| lane.0).collect();
    let (mut found, mut left) = (Vec::new(), all.as_slice());
    while let [first, after @ ..] = left {
        let distance = after.first().map_or(1, |next| next.saturating_sub(*first));
        let is_next = |one: &u8, next: &u8| next.checked_sub(*one) == Some(distance);
        let length = left.chunk_by(is_next).next().map_or(1, <[u8]>::len);
        let length = if distance == 1 || length >= MIN_SERIES { length } else { 1 };
        let (taken, rest) = left.split_at_checked(length).unwrap_or((left, &[]));
        let last = taken.last().copied().unwrap_or(*first);
        found.push(Series { first: *first, last, distance: if length == 1 { 0 } else { distance } });
        left = rest;
    }
    found
}

/// A number of a lane.
#[derive(Clone, Copy)]
struct Number {
    value: i128,
    /// The value that stands for 1; a fraction is no multiple of it.
    unit: i128,
}

/// The numbers of a lane, and all else that lanes of a rule have in common.
struct Item<S> {
    lane: LaneId,
    shape: S,
    numbers: Vec<Number>,
}

/// Lanes by one rule: base and step of each number.
struct Part<S> {
    lanes: LaneSet,
    shape: S,
    numbers: Vec<(i128, i128)>,
}

impl<S: PartialEq> Part<S> {
    fn has(&self, item: &Item<S>) -> bool {
        let of_lane = |(base, step): &(i128, i128)| {
            step.checked_mul(item.lane.0.into()).and_then(|grown| base.checked_add(grown))
        };
        self.shape == item.shape
            && self.numbers.len() == item.numbers.len()
            && self
                .numbers
                .iter()
                .zip(&item.numbers)
                .all(|(rule, number)| of_lane(rule) == Some(number.value))
    }
}

/// The rules of items in ascending order of their lanes.
fn parts<S: Clone + PartialEq>(items: &[Item<S>]) -> Vec<Part<S>> {
    let mut parts: Vec<Part<S>> = Vec::new();
    let mut alone = Vec::new();
    let mut left = items;
    while let [first, after @ ..] = left {
        let run = after.first().and_then(|second| through(first, second)).and_then(|rule| {
            let length = left.iter().take_while(|item| rule.has(item)).count();
            let is_constant = rule.numbers.iter().all(|(_, step)| *step == 0);
            (length >= MIN_RUN || is_constant).then_some((rule, length))
        });
        let Some((mut rule, length)) = run else {
            alone.push(first);
            left = after;
            continue;
        };
        let (taken, rest) = left.split_at_checked(length).unwrap_or((left, &[]));
        rule.lanes = taken.iter().map(|item| item.lane).collect();
        let same = |known: &&mut Part<S>| known.shape == rule.shape && known.numbers == rule.numbers;
        match parts.iter_mut().find(same) {
            Some(known) => known.lanes = LaneSet(known.lanes.0 | rule.lanes.0),
            None => parts.push(rule),
        }
        left = rest;
    }
    // A lane between two runs may be part of a rule.
    for item in alone {
        match parts.iter_mut().find(|part| part.has(item)) {
            Some(part) => part.lanes = LaneSet(part.lanes.0 | LaneSet::one(item.lane).0),
            None => parts.push(Part {
                lanes: LaneSet::one(item.lane),
                shape: item.shape.clone(),
                numbers: item.numbers.iter().map(|number| (number.value, 0)).collect(),
            }),
        }
    }
    parts.sort_by_key(|part| part.lanes.first());
    parts
}

/// The rule through two lanes, without its lanes.
fn through<S: Clone + PartialEq>(one: &Item<S>, next: &Item<S>) -> Option<Part<S>> {
    if one.shape != next.shape || one.numbers.len() != next.numbers.len() {
        return None;
    }
    let distance = i128::from(next.lane.0).checked_sub(one.lane.0.into()).filter(|distance| *distance > 0)?;
    let line = |(one_number, next_number): (&Number, &Number)| {
        let grown = next_number.value.checked_sub(one_number.value)?;
        let step = (grown % distance == 0).then(|| grown / distance)?;
        // Whole numbers have whole steps.
        let is_whole = |value: i128| value % one_number.unit == 0;
        if !is_whole(step) && is_whole(one_number.value) && is_whole(next_number.value) {
            return None;
        }
        Some((one_number.value.checked_sub(step.checked_mul(one.lane.0.into())?)?, step))
    };
    let numbers: Option<Vec<_>> = one.numbers.iter().zip(&next.numbers).map(line).collect();
    Some(Part { lanes: LaneSet::EMPTY, shape: one.shape.clone(), numbers: numbers? })
}

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Piece<'t> {
    Words(&'t str),
    Number(Notation),
}

/// The notation of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Notation {
    Decimal,
    /// After `0x`; the least number of digits.
    Hex(usize),
}

impl Notation {
    /// A number with so many digits after the point, without the last zeros among them.
    fn text(self, number: i128, digits: u32) -> String {
        match self {
            Self::Decimal if number < 0 => format!("-{}", decimal(number.unsigned_abs(), digits)),
            Self::Decimal => decimal(number.unsigned_abs(), digits),
            Self::Hex(digits) => format!("{number:#0width$x}", width = digits.saturating_add(2)),
        }
    }
}

/// `0.5`, `1.25`, `12`: a number with so many digits after the point, without the last zeros among them.
fn decimal(number: u128, digits: u32) -> String {
    let digits = digits as usize;
    let text = format!("{number:0>width$}", width = digits.saturating_add(1));
    let (whole, fraction) = text.split_at_checked(text.len().saturating_sub(digits)).unwrap_or((&text, ""));
    match fraction.trim_end_matches('0') {
        "" => whole.to_owned(),
        fraction => format!("{whole}.{fraction}"),
    }
}

/// A number as a text has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Written {
    notation: Notation,
    /// The number without its point.
    value: i128,
    /// Number of digits after the point.
    digits: u32,
}

impl Written {
    /// `None` for a name, a number with an exponent and a number in another notation.
    fn of(word: &str) -> Option<Self> {
        let (notation, value, digits) = match word.strip_prefix("0x") {
            Some(hex) => {
                let least = if hex.starts_with('0') && hex.len() > 1 { hex.len() } else { 1 };
                (Notation::Hex(least), i128::from_str_radix(hex, 16).ok()?, 0)
            }
            None => match word.split_once('.') {
                Some((whole, fraction)) => {
                    let digits = u32::try_from(fraction.len()).ok()?;
                    (Notation::Decimal, format!("{whole}{fraction}").parse().ok()?, digits)
                }
                None => (Notation::Decimal, word.parse().ok()?, 0),
            },
        };
        // The text of the number is the word: no leading zero, no last zero of a fraction, no capital digit.
        (notation.text(value, digits) == word).then_some(Self { notation, value, digits })
    }

    /// The number with so many digits after the point; `None`: it is too large.
    fn scaled(&self, digits: u32) -> Option<Number> {
        if self.notation != Notation::Decimal {
            return Some(Number { value: self.value, unit: 1 });
        }
        let factor = 10i128.checked_pow(digits.checked_sub(self.digits)?)?;
        Some(Number { value: self.value.checked_mul(factor)?, unit: 10i128.checked_pow(digits)? })
    }
}

/// The parts of a text with its numbers.
type Split<'t> = (Vec<Piece<'t>>, Vec<Written>);

/// The numbers of a text, and its other parts.
fn split(text: &str) -> Split<'_> {
    if text.len() > MAX_BYTES {
        return (vec![Piece::Words(text)], Vec::new());
    }
    let (mut pieces, mut numbers) = (Vec::new(), Vec::new());
    let (mut rest, mut words, mut start) = (text, 0, 0);
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' | '\'' => quoted(rest, first),
            '-' if !is_part(before) && !matches!(before, ')' | ']') => 1 + word(rest.get(1..).unwrap_or("")),
            _ => word(rest).max(first.len_utf8()),
        };
        let (taken, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        if let Some(number) = Written::of(taken) {
            pieces.push(Piece::Words(text.get(words..start).unwrap_or_default()));
            pieces.push(Piece::Number(number.notation));
            numbers.push(number);
            words = start + taken.len();
        }
        before = taken.chars().next_back().unwrap_or(' ');
        start += taken.len();
        rest = after;
        if numbers.len() > MAX_NUMBERS {
            return (vec![Piece::Words(text)], Vec::new());
        }
    }
    pieces.push(Piece::Words(text.get(words..).unwrap_or_default()));
    (pieces, numbers)
}

/// Whether a character belongs to names, numbers and fractions.
fn is_part(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '.')
}

/// Length of the name, number or fraction at the start of a text, in bytes: also `1e-05`.
fn word(text: &str) -> usize {
    let mut before = ' ';
    let is_number = text.starts_with(|c: char| c.is_ascii_digit()) && !text.starts_with("0x");
    let end = text.find(|c: char| {
        let is_exponent = is_number && before == 'e' && matches!(c, '-' | '+');
        before = c;
        !is_part(c) && !is_exponent
    });
    end.unwrap_or(text.len())
}

/// Length of the text in quotes at the start of a text, in bytes.
fn quoted(text: &str, quote: char) -> usize {
    let mut is_escaped = true;
    let end = text.char_indices().find(|(_, c)| {
        let is_end = *c == quote && !is_escaped;
        is_escaped = !is_escaped && *c == '\\';
        is_end
    });
    end.map_or(text.len(), |(at, c)| at + c.len_utf8())
}

#[cfg(test)]
#[path = "lanes_tests.rs"]
mod tests;
