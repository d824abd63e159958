//! Messages in a line of JSON, as collectors of logs write it: journald, Docker, Loki, Kubernetes' operators, programs'
//! own loggers.

use std::borrow::Cow;

use memchr::{memchr, memmem, memrchr};
use serde_json::{Map, Value};

use super::shown;

/// Maximum number of JSON texts in one another.
const MAX_NESTED: usize = 4;

/// Maximum bytes of a clock.
const MAX_CLOCK: usize = 48;

/// The messages of a line.
#[derive(Debug)]
pub(in crate::import) struct Messages<'l> {
    /// The text before the JSON.
    pub(in crate::import) before: &'l [u8],
    /// The lines of all strings, each behind its entry's clock, if that has one.
    pub(in crate::import) lines: Vec<Vec<u8>>,
}

/// The messages of a line whose last part is JSON; `None`: it is none, or has no text.
pub(in crate::import) fn messages(line: &[u8]) -> Option<Messages<'_>> {
    let (start, end) = (memchr(b'{', line)?, memrchr(b'}', line)? + 1);
    let is_last = line.get(end..)?.iter().all(|byte| b",] \t\r\n".contains(byte));
    let mut found = Collected::default();
    let objects = line.get(start..end).filter(|_| is_last).and_then(objects)?;
    objects.iter().for_each(|object| found.value(object, None, 0));
    let lines = found.lines;
    (!lines.is_empty()).then(|| Messages { before: line.get(..start).unwrap_or_default(), lines })
}

/// Whether a line may have journald's messages as lists of bytes, which hide their text.
pub(in crate::import) fn has_bytes(line: &[u8]) -> bool {
    let behind = memmem::find(line, b"\"MESSAGE\"").and_then(|at| line.get(at + 9..));
    let value = behind.and_then(|text| text.trim_ascii_start().strip_prefix(b":"));
    value.is_some_and(|value| value.trim_ascii_start().starts_with(b"["))
}

/// One object, or several with commas between them.
fn objects(text: &[u8]) -> Option<Vec<Value>> {
    serde_json::from_slice(&[b"[", text, b"]"].concat()).ok()
}

#[derive(Default)]
struct Collected {
    lines: Vec<Vec<u8>>,
}

impl Collected {
    /// Adds the texts of a value; `nested`: number of JSON texts around it. The parser bounds the nesting of one.
    fn value(&mut self, value: &Value, clock: Option<&str>, nested: usize) {
        match value {
            Value::String(text) => self.text(text.as_bytes(), clock, nested),
            Value::Array(items) => match bytes(items) {
                Some(text) => self.text(&text, clock, nested),
                None => {
                    // Loki: `["1725953828000000000", "text"]`.
                    let own = items.first().filter(|_| items.len() > 1).and_then(epoch);
                    let clock = own.as_deref().or(clock);
                    items.iter().for_each(|item| self.value(item, clock, nested));
                }
            },
            Value::Object(fields) => {
                let own = clock_of(fields);
                let clock = own.as_deref().or(clock);
                fields.values().for_each(|field| self.value(field, clock, nested));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Adds a text's lines, or the texts of JSON in it.
    fn text(&mut self, text: &[u8], clock: Option<&str>, nested: usize) {
        let is_json = text.first() == Some(&b'{') && text.last() == Some(&b'}');
        if is_json
            && nested < MAX_NESTED
            && let Some(objects) = objects(text)
        {
            objects.iter().for_each(|object| self.value(object, clock, nested + 1));
            return;
        }
        let clock = clock.map_or(Cow::Borrowed(""), |clock| Cow::Owned(format!("{clock} ")));
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            self.lines.push([clock.as_bytes(), &shown(line), b"\n"].concat());
        }
    }
}

/// A text as a list of its bytes; `None`: another list.
fn bytes(items: &[Value]) -> Option<Vec<u8>> {
    let byte = |item: &Value| item.as_u64().and_then(|byte| u8::try_from(byte).ok());
    let bytes: Option<Vec<u8>> = items.iter().map(byte).collect();
    bytes.filter(|bytes| !bytes.is_empty())
}

/// The clock of an entry: of journald's fields the one that all entries have, else the first of a name for it.
fn clock_of(fields: &Map<String, Value>) -> Option<String> {
    let is_clock = |(name, _): &(&String, &Value)| {
        let name = name.to_ascii_lowercase();
        name.contains("time") || ["ts", "t", "date"].contains(&&*name)
    };
    let of = |value: &Value| {
        let text = value.as_str().filter(|text| text.len() <= MAX_CLOCK && text.contains(':'));
        text.map(str::to_owned).or_else(|| epoch(value))
    };
    let journal = fields.get("__REALTIME_TIMESTAMP").and_then(of);
    journal.or_else(|| fields.iter().filter(is_clock).find_map(|(_, value)| of(value)))
}

/// Seconds, milliseconds, microseconds or nanoseconds since the epoch, and seconds since a start, as the kernel's log has
/// them.
fn epoch(value: &Value) -> Option<String> {
    let number = match value {
        Value::String(text) if text.len() >= 10 && text.bytes().all(|byte| byte.is_ascii_digit()) => {
            text.parse().ok()?
        }
        Value::Number(number) => number.as_f64()?,
        _ => return None,
    };
    const UNITS: [(f64, f64); 3] = [(1e17, 1e9), (1e14, 1e6), (1e11, 1e3)];
    let unit = UNITS.iter().find(|(least, _)| number >= *least).map_or(1.0, |(_, unit)| *unit);
    (number >= 0.0).then(|| format!("[{:.6}]", number / unit))
}

/// A text without the character references that pages have for its signs (HTML 5, 13.5).
pub(in crate::import) fn unescaped(text: &[u8]) -> Cow<'_, [u8]> {
    const SIGNS: [(&[u8], u8); 8] = [
        (b"&lt;", b'<'),
        (b"&gt;", b'>'),
        (b"&quot;", b'"'),
        (b"&#34;", b'"'),
        (b"&#39;", b'\''),
        (b"&#x27;", b'\''),
        (b"&apos;", b'\''),
        (b"&amp;", b'&'),
    ];
    if memchr(b'&', text).is_none() {
        return Cow::Borrowed(text);
    }
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, behind)) = rest.split_first() {
        let sign = SIGNS.iter().find_map(|(name, sign)| Some((rest.strip_prefix(*name)?, *sign)));
        let (behind, byte) = sign.filter(|_| *first == b'&').unwrap_or((behind, *first));
        plain.push(byte);
        rest = behind;
    }
    Cow::Owned(plain)
}
