//! Lines about values: `frame 0 lane 17 i == 1017`.

use super::super::file::{Comparator, FrameNumber, Lanes, Operand, Right, StateName, ValueLine};
use super::super::similar::{folded, similar};
use super::operand::{Scan, list, operand, path, scalar, slashed};
use super::part::{Part, Wrong};
use crate::units::LaneId;

/// The expected form of a line.
const FORM: &str = "write PATH OPERATOR VALUE with one of == != < <= > >= ~= in is";
/// Maximum number of operators of a line that are tried: names such as `in` and bits of paths look like operators.
const MAX_TRIED: usize = 8;

/// An operator between a path and a value.
#[derive(Clone, Copy)]
enum Operator {
    Compare(Comparator),
    Near,
    In,
    Is,
}

/// Operators besides comparisons.
const OTHERS: [(&str, Operator); 3] = [("~=", Operator::Near), ("in", Operator::In), ("is", Operator::Is)];

/// The operators with their signs, longer ones first.
fn signs() -> impl Iterator<Item = (&'static str, Operator)> {
    let comparisons = Comparator::ALL.into_iter().map(|sign| (sign.sign(), Operator::Compare(sign)));
    OTHERS.into_iter().chain(comparisons)
}

/// Signs of paths that contain an operator.
const OTHER_SIGNS: &[&str] = &["->*", "->", "<<", ">>"];

/// Operators of other languages, with the operator to write instead.
const FOREIGN: &[(&str, &str)] = &[
    ("===", "=="),
    ("=~", "~="),
    ("=<", "<="),
    ("=>", ">="),
    ("<>", "!="),
    ("=", "=="),
    ("≈", "~="),
    ("≠", "!="),
    ("≤", "<="),
    ("≥", ">="),
];

/// A line about a value.
pub(super) fn value(part: Part<'_>) -> Result<ValueLine, Wrong> {
    let mut rest = part;
    let mut frame = 0;
    let frame_is_given = keyword(rest, "frame").is_some();
    if let Some(after) = keyword(rest, "frame") {
        let (number, after) = after.word();
        frame = number.number().and_then(|number| FrameNumber::try_from(number).ok()).ok_or_else(|| {
            if let Some(wrong) = number.leading_zero() {
                return wrong;
            }
            let wrong = Wrong::new(number.span(), format!("`{}` is not the number of a frame", number.text));
            wrong.hint("write `frame 1` with a number of `lanescope backtrace`, or `(frame)` for a variable of that name")
        })?;
        rest = after;
    }
    if frame_is_given
        && rest.take(|c| c.is_alphanumeric() || c == '_').0.text == "lane"
        && keyword(rest, "lane").is_none()
    {
        let wrong = Wrong::new(rest.slice(0..4).span(), "expected a space after the keyword `lane`");
        return Err(wrong.hint("write `(lane)` for a variable of that name"));
    }
    let mut on = None;
    if let Some(after) = keyword(rest, "lane") {
        let (found, after) = lanes(after)?;
        (on, rest) = (Some(found), after);
    }
    if keyword(rest, "frame").is_some_and(|after| after.text.starts_with(|c: char| c.is_ascii_digit())) {
        let problem = match frame_is_given {
            true => "a second `frame`",
            false => "`frame` follows `lane`",
        };
        return Err(Wrong::new(rest.slice(0..5).span(), problem).hint("write `frame 0 lane 3 PATH`"));
    }
    let found = operators(rest);
    let mut first: Option<Wrong> = None;
    for (at, length, operator) in &found {
        let left = rest.split(*at).0.trim();
        // The text of an error has any numbers.
        let numbers = if matches!(operator, Operator::Is) { left } else { rest };
        if let Some(wrong) = leading_zero(numbers) {
            return Err(wrong);
        }
        let path = match path(left) {
            Ok(path) => path,
            Err(wrong) => {
                first.get_or_insert(wrong);
                continue;
            }
        };
        match right(rest.after(at + length).trim(), *operator) {
            Ok(right) => {
                let right_span = rest.after(*at).trim().span();
                return Ok(ValueLine { frame, lanes: on, path, path_span: left.span(), right, right_span });
            }
            // The path is right: the error is behind the operator.
            Err(wrong) => {
                return Err(first.filter(|_| found.len() > 1 && is_word(*operator)).unwrap_or(wrong));
            }
        }
    }
    Err(match first {
        Some(wrong) => wrong.maybe_hint(rest),
        None => without_operator(rest),
    })
}

/// The error for the first number with a leading 0 in a path or value: C's octal notation.
fn leading_zero(part: Part<'_>) -> Option<Wrong> {
    let (mut last, mut before) = (' ', ' ');
    for (at, c) in Scan::new(part.text) {
        // `x0`, `1.05`, but `0..07`.
        let is_inside = last.is_alphanumeric() || matches!(last, '_' | '$') || last == '.' && before != '.';
        let after = part.after(at).take(|c| c.is_ascii_digit()).1.text;
        let is_fraction = after.starts_with('.') && !after.starts_with("..") || after.starts_with(['e', 'E']);
        if c == '0' && !is_inside && !is_fraction {
            let wrong = part.after(at).leading_zero();
            if wrong.is_some() {
                return wrong;
            }
        }
        (before, last) = (last, c);
    }
    None
}

fn is_word(operator: Operator) -> bool {
    matches!(operator, Operator::In | Operator::Is)
}

/// The rest after a keyword.
fn keyword<'t>(part: Part<'t>, keyword: &str) -> Option<Part<'t>> {
    let (word, rest) = part.word();
    (word.text == keyword).then_some(rest)
}

/// The error of a line without an operator.
fn without_operator(part: Part<'_>) -> Wrong {
    match path(part) {
        Ok(_) => Wrong::new(part.end().span(), "expected an operator after the path").hint(FORM),
        Err(wrong) => {
            if let Some(wrong) = unclosed(part) {
                return wrong;
            }
            let at = wrong.span.start.saturating_sub(part.start);
            wrong_operator(part.after(at)).unwrap_or(wrong).or_hint(FORM)
        }
    }
}

/// The error for a bracket without an end, which hides operators.
fn unclosed(part: Part<'_>) -> Option<Wrong> {
    let mut opened = Vec::new();
    for (at, c) in Scan::new(part.text) {
        match c {
            '(' | '[' | '{' => opened.push((at, c)),
            ')' | ']' | '}' => drop(opened.pop()),
            _ => {}
        }
    }
    let (at, bracket) = opened.pop()?;
    Some(Wrong::new(part.slice(at..at + 1).span(), format!("this `{bracket}` is not closed")))
}

/// The error for an operator of another language at the start.
fn wrong_operator(part: Part<'_>) -> Option<Wrong> {
    if part.text.starts_with("==") && !part.text.starts_with("===") {
        return None;
    }
    let (foreign, meant) = FOREIGN.iter().find(|(foreign, _)| part.text.starts_with(foreign))?;
    let wrong = Wrong::new(part.split(foreign.len()).0.span(), format!("unknown operator `{foreign}`"));
    Some(wrong.hint(format!("did you mean `{meant}`?")))
}

impl Wrong {
    fn or_hint(self, hint: &str) -> Self {
        if self.hint.is_some() { self } else { self.hint(hint) }
    }

    /// The error of a path, or that of an operator of another language at its place.
    fn maybe_hint(self, line: Part<'_>) -> Self {
        wrong_operator(line.after(self.span.start.saturating_sub(line.start))).unwrap_or(self)
    }
}

/// Operators outside of brackets: position, length, operator.
fn operators(part: Part<'_>) -> Vec<(usize, usize, Operator)> {
    let mut found = Vec::new();
    let mut depth = 0usize;
    let mut scan = Scan::new(part.text);
    let mut last = ' ';
    while let Some((at, c)) = scan.next() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ if depth == 0 => {
                let rest = part.text.get(at..).unwrap_or_default();
                if let Some(sign) = OTHER_SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
                    scan.advance(sign.len() - c.len_utf8());
                } else if let Some((sign, operator)) = signs().find(|(sign, operator)| {
                    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '.' | '$');
                    let after = rest.get(sign.len()..).unwrap_or_default();
                    let is_alone =
                        !is_name(last) && after.starts_with(|c: char| c.is_whitespace() || c == '{');
                    rest.starts_with(sign) && (!is_word(*operator) || is_alone)
                }) {
                    scan.advance(sign.len() - c.len_utf8());
                    if part.split(at).0.trim().is_empty() {
                        last = c;
                        continue;
                    }
                    found.push((at, sign.len(), operator));
                    if found.len() == MAX_TRIED {
                        break;
                    }
                }
            }
            _ => {}
        }
        last = c;
    }
    found
}

fn right(part: Part<'_>, operator: Operator) -> Result<Right, Wrong> {
    if let Some(wrong) = wrong_operator(part.take(|c| c == '=').0) {
        return Err(wrong);
    }
    // `4 +- 1` would be the path `4 + -1`.
    if !matches!(operator, Operator::Near | Operator::Is)
        && let Some(at) = tolerance(part)
    {
        let wrong = Wrong::new(part.slice(at..at + 2).span(), "`+-` follows a value after `~=` alone");
        return Err(wrong.hint("write `PATH ~= VALUE +- TOLERANCE`, or `+ -` for a sum"));
    }
    match operator {
        Operator::Compare(comparator) => {
            let value = operand(part, 0)?;
            let is_ordered = !matches!(comparator, Comparator::Equal | Comparator::NotEqual);
            if is_ordered && !matches!(value, Operand::Path(_)) {
                let wrong = Wrong::new(part.span(), "texts and aggregates have no order");
                return Err(wrong.hint("compare them with == or !="));
            }
            Ok(Right::Compare(comparator, value))
        }
        Operator::Near => near(part),
        Operator::In => range(part),
        Operator::Is => state(part).map(Right::Is),
    }
}

/// The position of `+-` outside of texts.
fn tolerance(part: Part<'_>) -> Option<usize> {
    Scan::new(part.text).find(|(at, c)| *c == '+' && part.after(*at).text.starts_with("+-")).map(|(at, _)| at)
}

/// `27.5 +- 1e-3`, `27.5 +- 0.1%`, `27.5`
fn near(part: Part<'_>) -> Result<Right, Wrong> {
    let Some(at) = part.text.rfind("+-") else {
        return Ok(Right::Near { value: scalar(part)?, tolerance: None, is_percent: false });
    };
    let (value, tolerance) = part.split(at);
    let tolerance = tolerance.after("+-".len()).trim();
    let is_percent = tolerance.text.ends_with('%');
    let number = tolerance.text.trim_end_matches('%').trim_end();
    let parsed = number.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    let Some(parsed) = parsed.filter(|_| tolerance.text.len() - number.len() <= 2) else {
        let wrong = Wrong::new(tolerance.span(), format!("`{}` is not a tolerance", tolerance.text));
        return Err(wrong.hint("write `+- 1e-3` or `+- 0.1%`"));
    };
    Ok(Right::Near { value: scalar(value.trim())?, tolerance: Some(parsed), is_percent })
}

/// `0..1023`, `{1, 2, 3}`
fn range(part: Part<'_>) -> Result<Right, Wrong> {
    const FORM: &str = "write `in 0..1023` or `in {1, 2, 3}`";
    if part.text.starts_with('{') {
        let in_set = |wrong: Wrong| match part.text.replace("...", "   ").find("..") {
            Some(at) => {
                Wrong::new(part.slice(at..at + 2).span(), "a set has single values, and no ranges").hint(FORM)
            }
            None => wrong,
        };
        let (elements, is_open) = list(part, 0).map_err(in_set)?;
        if elements.is_empty() || is_open || elements.iter().any(|element| element.member.is_some()) {
            return Err(Wrong::new(part.span(), "expected values in braces").hint(FORM));
        }
        return Ok(Right::OneOf(elements.into_iter().map(|element| element.value).collect()));
    }
    match part.text.find("..") {
        Some(at) => {
            let (first, last) = (part.split(at).0.trim(), part.after(at + 2).trim());
            let end = |part| scalar(part).map_err(|wrong| wrong.or_hint(FORM));
            let ends = (end(first)?, end(last)?);
            if let (Some(one), Some(other)) = (number(&ends.0), number(&ends.1))
                && other < one
            {
                let wrong =
                    Wrong::new(part.span(), "no value is in this range: its last one is before the first");
                return Err(wrong.hint(format!("write `in {}..{}`", ends.1, ends.0)));
            }
            Ok(Right::Between(ends.0, ends.1))
        }
        None => Err(Wrong::new(part.span(), "expected a range").hint(FORM)),
    }
}

/// A decimal or hexadecimal number; `None`: the text is another path. Wide integers are rounded.
fn number(text: &str) -> Option<f64> {
    let (sign, digits) = text.strip_prefix('-').map_or((1.0, text), |rest| (-1.0, rest));
    let value = match digits.strip_prefix("0x") {
        Some(hex) => u64::from_str_radix(hex, 16).ok()? as f64,
        None => {
            digits.parse().ok().filter(|_| digits.starts_with(|c: char| c.is_ascii_digit() || c == '.'))?
        }
    };
    Some(sign * value)
}

/// States by name.
const STATES: &[&str] = &["unavailable", "optimized out", "inactive", "available", "nan", "inf", "error"];

/// `unavailable`, `optimized out`, `error /text/`.
fn state(part: Part<'_>) -> Result<StateName, Wrong> {
    let (word, text) = part.word();
    if folded(word.text) == "error" {
        if text.is_empty() {
            return Ok(StateName::Error(String::new()));
        }
        if !text.text.starts_with('/') || slashed(text.text) != Some(text.text.len()) {
            let wrong = Wrong::new(text.span(), "expected a part of the error between slashes");
            return Err(wrong.hint("write `is error /not captured/`, with \\/ for a slash"));
        }
        let inner = text.slice(1..text.text.len() - 1).text;
        return Ok(StateName::Error(inner.replace("\\/", "/").replace("\\\\", "\\")));
    }
    Ok(match folded(part.text).as_str() {
        "unavailable" => StateName::Unavailable,
        "optimizedout" => StateName::OptimizedOut,
        "inactive" => StateName::Inactive,
        "available" => StateName::Available,
        "nan" => StateName::Nan,
        "inf" => StateName::Infinite,
        _ => {
            let hint = match similar(part.text, STATES.iter().copied()) {
                Some(state) => format!("did you mean `{state}`?"),
                None => "expected unavailable, optimized out, inactive, available, nan, inf, error or error /text/"
                    .to_owned(),
            };
            let problem = if part.is_empty() {
                "expected a state".to_owned()
            } else {
                format!("unknown state `{}`", part.text)
            };
            return Err(Wrong::new(part.span(), problem).hint(hint));
        }
    })
}

/// `17`, `0-3,24`, `active`, `all` at the start, and the trimmed rest.
pub(super) fn lanes(part: Part<'_>) -> Result<(Lanes, Part<'_>), Wrong> {
    let (word, rest) = part.word();
    match word.text {
        "active" => return Ok((Lanes::Active, rest)),
        "all" => return Ok((Lanes::All, rest)),
        _ => {}
    }
    let mut listed = Vec::new();
    let mut rest = part;
    loop {
        let (first, after) = lane(rest)?;
        let (last, after) = match after.strip("-") {
            Some(after) => lane(after)?,
            None => (first, after),
        };
        if last < first {
            let span = rest.start..after.start;
            return Err(Wrong::new(span, "the last lane is before the first"));
        }
        listed.push((first, last));
        match after.trim_start().strip(",") {
            Some(after) => rest = after.trim_start(),
            None if after.is_empty() || after.text.starts_with(char::is_whitespace) => {
                return Ok((Lanes::Listed(listed), after.trim()));
            }
            None => {
                let (word, _) = part.word();
                return Err(
                    Wrong::new(word.span(), format!("`{}` is not a list of lanes", word.text)).hint(LANES)
                );
            }
        }
    }
}

/// The expected form of lanes.
const LANES: &str =
    "write `lane 17`, `lane 0-15,24`, `lane active` or `lane all`; `(lane)` is a variable of that name";

fn lane(part: Part<'_>) -> Result<(LaneId, Part<'_>), Wrong> {
    let (digits, rest) = part.take(|c| c.is_ascii_digit());
    if digits.is_empty() {
        let (word, _) = part.word();
        let problem = match similar(word.text, ["active", "all"]) {
            Some(name) => format!("unknown lanes `{}`, did you mean `{name}`?", word.text),
            None => "expected lanes".to_owned(),
        };
        return Err(Wrong::new(word.span(), problem).hint(LANES));
    }
    if let Some(wrong) = digits.leading_zero() {
        return Err(wrong);
    }
    let lane = digits.text.parse::<u8>().ok().filter(|lane| *lane < 64);
    let lane = lane.ok_or_else(|| {
        Wrong::new(digits.span(), format!("there is no lane {}", digits.text))
            .hint("a wave has at most the lanes 0-63")
    })?;
    Ok((LaneId(lane), rest))
}
