//! The text before a message in its line. A program's message begins its line, or follows the prefix of a log; in a
//! sentence about it, words precede it.

use crate::import::text::find;

/// The beginning of a message, by the mark in it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Start {
    /// That many bytes before the mark.
    Before(usize),
    /// The name of the driver, anywhere before the mark; without it the words of the message itself.
    Driver,
    /// The rule finds it.
    Any,
}

/// Names with which the driver begins its lines.
const DRIVERS: [&str; 8] = ["amdgpu", "amdkfd", "kfd2kgd: ", "kfd: ", "drmn", "[drm", "[gfxhub", "[mmhub"];

/// Whether the driver printed a line: its name is before the message.
pub(super) fn is_of_driver(before: &[u8]) -> bool {
    driver(before).is_some()
}

/// The text before the driver's name.
pub(super) fn driver(text: &[u8]) -> Option<&[u8]> {
    text.get(..DRIVERS.iter().filter_map(|name| find(text, name)).min()?)
}

/// Words of the driver's messages before the word with the mark.
const WORDS: [&str; 2] = ["in ", "Faulty UTCL2 "];

impl Start {
    /// Whether a message with a mark at an offset is what a program prints.
    pub(super) fn is_led(self, text: &[u8], mark: usize) -> bool {
        let before = text.get(..mark).unwrap_or_default();
        match self {
            Self::Any => true,
            Self::Before(bytes) => is_prefix(text.get(..mark.saturating_sub(bytes)).unwrap_or_default()),
            Self::Driver => {
                let name = driver(before);
                let own = || {
                    let in_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
                    let start = before.iter().rposition(|byte| !in_word(byte)).map_or(0, |at| at + 1);
                    let before = before.get(..start).unwrap_or_default();
                    WORDS.iter().find_map(|word| before.strip_suffix(word.as_bytes())).unwrap_or(before)
                };
                // A commit's title has `drm/amdgpu:`.
                !name.is_some_and(|before| before.ends_with(b"drm/")) && is_prefix(name.unwrap_or_else(own))
            }
        }
    }
}

/// Whether a text before a message is that of a log: it ends neither in words nor in a quotation mark behind one.
pub(super) fn is_prefix(before: &[u8]) -> bool {
    let before = behind_header(before);
    if let Some(quoted) = unquoted(before) {
        // A value in JSON, Ruby or Python, or a whole line.
        let lead = quoted.trim_ascii_end();
        let is_value = lead.last().is_some_and(|last| matches!(last, b':' | b'=' | b',' | b'>'));
        return is_value && !is_compared(lead) || matches!(lead, b"" | b"[" | b"{" | b"``");
    }
    if before.last().is_none_or(|last| !last.is_ascii_whitespace()) {
        // A program's own output has no blank behind it.
        return true;
    }
    let mut words = before.split(u8::is_ascii_whitespace).rev().filter(|word| !word.is_empty());
    let (last, before) = (words.next(), words.next());
    // One word may be a level, a stream or a container; more are a sentence.
    match (last, before) {
        (Some(last), None) => !is_word(last) || LEVELS.contains(&&*last.to_ascii_lowercase()),
        (Some(last), Some(before)) => !is_word(last) || !is_word(before),
        (None, _) => true,
    }
}

/// The text behind a header of syslog (RFC 5424, 6): `<3>1 2024-09-10T09:37:08Z host app 110 - - `.
fn behind_header(text: &[u8]) -> &[u8] {
    const FIELDS: usize = 7;
    let mut fields = text.splitn(FIELDS + 1, |byte| *byte == b' ');
    let is_first = |first: &[u8]| {
        let number = first.strip_prefix(b"<").and_then(|first| first.strip_suffix(b">1"));
        number.is_some_and(|number| number.len() <= 3 && number.iter().all(u8::is_ascii_digit))
    };
    let is_header = fields.next().is_some_and(is_first);
    fields.nth(FIELDS - 1).filter(|_| is_header).unwrap_or(text)
}

/// Whether a text has two words in succession, as sentences have.
pub(super) fn has_words(text: &[u8]) -> bool {
    let text = behind_header(text);
    let words = || text.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    words().zip(words().skip(1)).any(|(one, other)| is_word(one) && is_word(other))
}

/// Whether source code compares with what follows a text.
fn is_compared(lead: &[u8]) -> bool {
    lead.ends_with(b"==") || lead.ends_with(b"!=")
}

/// Words of logs before a message.
const LEVELS: [&[u8]; 8] = [b"error", b"err", b"warning", b"warn", b"info", b"fatal", b"stderr", b"stdout"];

/// Whether a word is one of a sentence, not a number, level or name of a log.
fn is_word(word: &[u8]) -> bool {
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'\'' | b'-');
    let is_level = word.iter().all(u8::is_ascii_uppercase) && word != b"I" && word != b"A";
    word.iter().all(is_letter) && !is_level
}

/// The text before a quotation mark at its end; Python marks bytes with a letter.
fn unquoted(text: &[u8]) -> Option<&[u8]> {
    const MARKS: [&str; 8] = ["\\\"", "\"", "'", "`", "\u{201c}", "\u{201d}", "\u{2018}", "\u{2019}"];
    let before = MARKS.iter().find_map(|mark| text.strip_suffix(mark.as_bytes()))?;
    let bytes = before.strip_suffix(b"b");
    let is_bytes = |rest: &&[u8]| rest.last().is_none_or(|last| !last.is_ascii_alphanumeric());
    Some(bytes.filter(is_bytes).unwrap_or(before))
}

#[cfg(test)]
mod tests {
    use super::is_prefix;

    #[test]
    fn prefixes_of_logs_lead_and_words_of_people_do_not() {
        for prefix in [
            "",
            "   ",
            "[ 1234.567890] ",
            "Mar 04 12:00:01 host kernel: ",
            "2025-03-04T12:00:01.123456789Z ",
            "2025-03-04T12:00:01Z stderr F ",
            "12:00:01 AM UTC ",
            "app-1  | ",
            "stderr: ",
            "{\"log\":\"",
            "{\"log\": \"{\\\"message\\\":\\\"",
            "output = b'",
            "stderr=b'",
            "'",
            "\u{1b}[31m",
            "> ",
            "test_axpy.py::test_large ",
            "step 3: loss 0.3",
            "done",
            "2025-03-04T12:00:00Z error ",
            "app-0 main ",
            "ERROR ",
            "error ",
            "{\"priority\"=>3, \"msg\"=>\"",
            "[\"",
            "```",
            "<3>1 2024-09-10T09:37:08.000000Z host kernel - - - ",
        ] {
            assert!(is_prefix(prefix.as_bytes()), "{prefix:?}");
        }
        for prose in [
            "My colleague saw a ",
            "It prints \"",
            "the line `",
            "they read \u{201c}",
            "assert \"",
            "re.compile(r'",
            "if \"",
            "test_gpu_reset_begin ",
            "don't grep for ",
            "In 2024 we saw ",
            "on gpu01 I get ",
            "line == \"",
            "LINES = [\"",
            "match(\"",
        ] {
            assert!(!is_prefix(prose.as_bytes()), "{prose:?}");
        }
    }
}
