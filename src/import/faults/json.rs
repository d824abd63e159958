//! Messages in JSON, as collectors of logs write it: journald, Loki, Kubernetes' operators, programs' own loggers; and in
//! the values of JSON and Python that are no whole text.

use std::borrow::Cow;

use serde_json::{Deserializer, Map, Value};

use super::lead::{has_words, is_prefix};
use super::line::{after, from, people_from};
use super::references::resolved;
use super::time::Time;
use crate::import::text::{find, shown};

/// Maximum number of JSON texts in one another.
const MAX_NESTED: usize = 8;

/// Maximum bytes of a clock.
const MAX_CLOCK: usize = 48;

/// Maximum number of strings of an entry with which another one is compared.
const MAX_SEEN: usize = 32;

/// Least bytes of a string that repeats another one.
const MIN_REPEATED: usize = 16;

/// Maximum number of tries to find the beginning of JSON in a line, and of signs that may begin it.
const MAX_TRIES: usize = 4;
const MAX_STARTS: usize = 64;

/// The messages of a line.
#[derive(Debug)]
pub(super) struct Messages {
    /// The strings by lines, each behind its entry's clock, or else the text before the entry.
    pub(super) texts: Vec<Vec<Vec<u8>>>,
    /// The text outside of them.
    pub(super) outside: Vec<u8>,
}

/// The messages of a line with the clock of its container; `None`: it has no JSON.
pub(super) fn messages(line: &[u8], clock: &str) -> Option<Messages> {
    let mut found = Collected::default();
    let outside = match parse(line) {
        Some(parsed) => {
            found.parsed(&parsed, clock, 0);
            [parsed.before, b" ", parsed.behind].concat()
        }
        None => found.literals(line, clock),
    };
    Some(Messages { texts: found.texts, outside }).filter(|found| !found.texts.is_empty())
}

/// Whether a line may have journald's messages as lists of bytes, which hide their text.
pub(super) fn has_bytes(line: &[u8]) -> bool {
    let value = after(line, "\"MESSAGE\"").and_then(|text| text.trim_ascii_start().strip_prefix(b":"));
    value.is_some_and(|value| value.trim_ascii_start().starts_with(b"["))
}

/// Objects and lists of a line.
struct Parsed<'l> {
    before: &'l [u8],
    values: Vec<Value>,
    behind: &'l [u8],
}

fn parse(line: &[u8]) -> Option<Parsed<'_>> {
    let people = people_from(line, false).unwrap_or(usize::MAX);
    let begins = |at: &usize| {
        let before = line.get(..*at).unwrap_or_default();
        let first = from(line, at + 1).trim_ascii_start().first();
        match line.get(*at) {
            Some(b'{') => first == Some(&b'"') && is_prefix(before) && *at < people,
            // Source code has lists, too.
            _ => {
                before.is_empty()
                    && line.ends_with(b"]")
                    && first.is_some_and(|first| b"{[\"".contains(first))
            }
        }
    };
    let mut starts = memchr::memchr2_iter(b'{', b'[', line).take(MAX_STARTS).filter(begins).take(MAX_TRIES);
    starts.find_map(|start| {
        let (mut values, mut at) = (Vec::new(), start);
        while from(line, at).first().is_some_and(|first| b"{[".contains(first)) {
            let mut stream = Deserializer::from_slice(from(line, at)).into_iter::<Value>();
            let Some(Ok(value)) = stream.next() else { break };
            values.push(value);
            at += stream.byte_offset();
            at += from(line, at).iter().take_while(|byte| b", \t".contains(byte)).count();
        }
        let behind = from(line, at);
        (!values.is_empty()).then(|| Parsed { before: line.get(..start).unwrap_or_default(), values, behind })
    })
}

#[derive(Default)]
struct Collected {
    texts: Vec<Vec<Vec<u8>>>,
    /// The strings of the entry: collectors repeat its message in other fields.
    seen: Vec<Vec<u8>>,
}

impl Collected {
    fn parsed(&mut self, parsed: &Parsed<'_>, clock: &str, nested: usize) {
        let lead = match std::str::from_utf8(parsed.before).unwrap_or_default() {
            "" if !clock.is_empty() => format!("{clock} "),
            before => before.to_owned(),
        };
        for value in &parsed.values {
            self.seen.clear();
            self.value(value, &lead, nested);
        }
    }

    /// Adds the texts of a value behind a lead; `nested`: number of JSON texts around it. The parser bounds the nesting
    /// of one.
    fn value(&mut self, value: &Value, lead: &str, nested: usize) {
        match value {
            Value::String(text) => self.text(text.as_bytes(), lead, nested),
            Value::Array(items) => match bytes(items) {
                Some(text) => self.text(&text, lead, nested),
                None => {
                    // Loki: `["1725953828000000000", "text"]`.
                    let own = items.first().filter(|_| items.len() > 1).and_then(epoch);
                    let lead = own.map_or(Cow::Borrowed(lead), |clock| Cow::Owned(clock + " "));
                    let first = self.texts.len();
                    for item in items {
                        if items.len() > 1 {
                            self.seen.clear();
                        }
                        self.value(item, &lead, nested);
                    }
                    // The lines of a text.
                    if items.iter().all(Value::is_string) {
                        let lines = self.texts.split_off(first).concat();
                        self.texts.push(lines);
                    }
                }
            },
            Value::Object(fields) => {
                let (clock, lead) = match clock_of(fields) {
                    Some((name, clock)) => (name, Cow::Owned(clock + " ")),
                    None => ("", Cow::Borrowed(lead)),
                };
                let others = fields.iter().filter(|(name, _)| *name != clock);
                others.for_each(|(_, field)| self.value(field, &lead, nested));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Adds a string's lines, or the texts of JSON in it.
    fn text(&mut self, text: &[u8], lead: &str, nested: usize) {
        if nested < MAX_NESTED
            && let Some(parsed) = parse(text)
            && parsed.behind.trim_ascii().is_empty()
        {
            self.parsed(&parsed, lead.trim_end(), nested + 1);
            return;
        }
        let whole = text.trim_ascii();
        if whole.len() >= MIN_REPEATED {
            if self.seen.iter().any(|seen| seen.ends_with(whole) || whole.ends_with(seen)) {
                return;
            }
            if self.seen.len() < MAX_SEEN {
                self.seen.push(whole.to_vec());
            }
        }
        let text = resolved(text);
        let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let lines = lines.map(|line| {
            let lead = if Time::of(line).is_some() { "" } else { lead };
            [lead.as_bytes(), &shown(line)].concat()
        });
        self.texts.push(lines.collect());
    }

    /// Adds the texts of values in quotation marks that have escapes: `"stderr": "one\ntwo"`, `stderr=b'one\ntwo'`.
    /// Returns the rest of the line.
    fn literals(&mut self, line: &[u8], clock: &str) -> Vec<u8> {
        let people = people_from(line, false).unwrap_or(usize::MAX);
        let mut lead = if clock.is_empty() { String::new() } else { format!("{clock} ") };
        let mut outside = Vec::new();
        let mut rest = line;
        while let Some(at) = memchr::memchr2(b'"', b'\'', rest) {
            let (before, quoted) = rest.split_at(at);
            outside.extend_from_slice(before);
            let key = outside.strip_suffix(b"b").unwrap_or(&outside);
            // Source code has a blank before its texts, and names without quotation marks.
            let name = key.trim_ascii_end().strip_suffix(b":").unwrap_or_default().trim_ascii_end();
            let is_value = key.ends_with(b"=") && !key.ends_with(b" =")
                || name.last().is_some_and(|last| b"\"'".contains(last));
            let is_value = is_value && line.len() - rest.len() + at < people;
            if lead.is_empty() && Time::of(before).is_some() {
                lead = std::str::from_utf8(before).unwrap_or_default().to_owned();
            }
            let text = quoted.get(1..).unwrap_or_default();
            let literal = quoted.first().filter(|_| is_value).and_then(|quote| unquoted(text, *quote));
            rest = match literal {
                Some((plain, length)) => {
                    self.text(&plain, &lead, 0);
                    from(text, length)
                }
                None => {
                    outside.extend(quoted.first());
                    text
                }
            };
        }
        outside.extend_from_slice(rest);
        outside
    }
}

/// A literal without its escapes, up to its quotation mark, and its length with that; `None`: it has no escapes.
fn unquoted(text: &[u8], quote: u8) -> Option<(Vec<u8>, usize)> {
    let mut plain = Vec::new();
    let mut at = 0;
    while let Some(byte) = text.get(at).filter(|byte| **byte != quote) {
        at += 1;
        if *byte != b'\\' {
            plain.push(*byte);
            continue;
        }
        let hex = |digits: usize| {
            let digits = text.get(at + 1..at + 1 + digits)?;
            u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
        };
        let Some(escape) = text.get(at) else { break };
        let (code, length) = match escape {
            b'n' => (Some(u32::from(b'\n')), 1),
            b't' => (Some(u32::from(b'\t')), 1),
            b'r' => (Some(u32::from(b'\r')), 1),
            b'u' => (hex(4), 5),
            b'x' => (hex(2), 3),
            other => (Some(u32::from(*other)), 1),
        };
        let Some(code) = code else {
            // No escape, but a path's name.
            plain.push(b'\\');
            continue;
        };
        let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
        plain.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        at += length;
    }
    let end = at.min(text.len());
    let has_escapes = memchr::memchr(b'\\', text.get(..end)?).is_some();
    has_escapes.then_some((plain, end + usize::from(end < text.len())))
}

/// A text as a list of its bytes; `None`: another list.
fn bytes(items: &[Value]) -> Option<Vec<u8>> {
    let byte = |item: &Value| item.as_u64().and_then(|byte| u8::try_from(byte).ok());
    let bytes: Option<Vec<u8>> = items.iter().map(byte).collect();
    bytes.filter(|bytes| !bytes.is_empty())
}

/// The clock of an entry with its field's name, of the most exact field. Other fields of times are durations, or those of
/// other events.
fn clock_of(fields: &Map<String, Value>) -> Option<(&str, String)> {
    const NAMES: [&str; 13] = [
        "__realtime_timestamp",
        "@timestamp",
        "timestamp",
        "_time",
        "time",
        "ts",
        "@t",
        "t",
        "asctime",
        "datetime",
        "eventtime",
        "date",
        "instant",
    ];
    let named = |name: &str| fields.iter().find(|(field, _)| field.eq_ignore_ascii_case(name));
    NAMES.iter().find_map(|name| {
        let (name, value) = named(name)?;
        let clock = match value {
            // `{"$date": "..."}` of MongoDB, `{"epochSecond": 1, "nanoOfSecond": 2}` of Log4j.
            Value::Object(parts) => parts.values().take(2).find_map(clock),
            value => clock(value),
        };
        Some((name.as_str(), clock?))
    })
}

fn clock(value: &Value) -> Option<String> {
    let is_clock = |text: &&str| {
        text.len() <= MAX_CLOCK && !has_words(text.as_bytes()) && Time::of(text.as_bytes()).is_some()
    };
    value.as_str().filter(is_clock).map(str::to_owned).or_else(|| epoch(value))
}

/// An entry over several lines: `journalctl -o json-pretty`, `export` and `verbose`.
#[derive(Debug, Default)]
pub(super) struct Entry {
    clock: String,
}

impl Entry {
    /// Reads a line; the clock of its entry, empty: it has none.
    pub(super) fn line(&mut self, line: &[u8]) -> &str {
        let line = line.trim_ascii();
        let found = match line.first() {
            Some(b'"') => member(line).as_ref().and_then(clock_of).map(|(_, clock)| clock),
            Some(b'A'..=b'Z' | b'_') if is_field(line) => {
                let value = line.strip_prefix(b"__REALTIME_TIMESTAMP=");
                let value = value.and_then(|value| std::str::from_utf8(value).ok());
                value.and_then(|value| epoch(&Value::from(value)))
            }
            // `Tue 2024-09-10 09:37:08.000000 UTC [s=0123;i=1;...]`, or another line.
            _ => {
                let before = find(line, " [s=").and_then(|end| line.get(..end));
                let text = before.and_then(|text| std::str::from_utf8(text).ok());
                Some(text.and_then(|text| clock(&Value::from(text))).unwrap_or_default())
            }
        };
        self.clock = found.unwrap_or_else(|| std::mem::take(&mut self.clock));
        &self.clock
    }
}

/// Whether a line is `FIELD=value` of journald.
fn is_field(line: &[u8]) -> bool {
    let end =
        line.iter().position(|byte| !byte.is_ascii_uppercase() && !byte.is_ascii_digit() && *byte != b'_');
    end.and_then(|end| line.get(end)) == Some(&b'=')
}

/// `"name": value,`
fn member(line: &[u8]) -> Option<Map<String, Value>> {
    let line = line.strip_suffix(b",").unwrap_or(line);
    let is_short = line.len() <= 2 * MAX_CLOCK;
    is_short.then(|| serde_json::from_slice(&[b"{", line, b"}"].concat()).ok())?
}

/// Seconds, milliseconds, microseconds or nanoseconds since 1970, as the kernel's log has seconds.
fn epoch(value: &Value) -> Option<String> {
    let number = match value {
        Value::String(text) if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') => {
            text.parse().ok()?
        }
        Value::Number(number) => number.as_f64()?,
        _ => return None,
    };
    // The years 2001 to 2100.
    const YEARS: std::ops::Range<f64> = 978_307_200.0..4_102_444_800.0;
    let seconds = [1.0, 1e3, 1e6, 1e9].map(|unit| number / unit);
    seconds.into_iter().find(|seconds| YEARS.contains(seconds)).map(|seconds| format!("[{seconds:.6}]"))
}
