//! Character references and lines of pages (HTML, 13.1.4).

use std::borrow::Cow;

use super::line::from;

/// Tags at the end of a shown line.
const ENDS: [&[u8]; 6] = [b"br>", b"br/>", b"br />", b"/div>", b"/p>", b"/tr>"];

/// A line without references. Those of line feeds, and tags, end one.
pub(super) fn resolved(text: &[u8]) -> Cow<'_, [u8]> {
    let mut plain = Vec::new();
    let (mut done, mut at) = (0, 0);
    while let Some(found) = memchr::memchr2(b'&', b'<', from(text, at)).map(|found| at + found) {
        at = found + 1;
        let rest = from(text, at);
        let sign = match text.get(found) {
            Some(b'<') => ENDS.iter().find(|end| rest.starts_with(end)).map(|end| ('\n', end.len())),
            _ => reference(rest),
        };
        if let Some((character, length)) = sign {
            plain.extend_from_slice(text.get(done..found).unwrap_or_default());
            plain.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            at += length;
            done = at;
        }
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    plain.extend_from_slice(from(text, done));
    Cow::Owned(plain)
}

/// The character of a reference behind its first sign, and the reference's length.
fn reference(text: &[u8]) -> Option<(char, usize)> {
    /// Maximum bytes of a reference.
    const MAX: usize = 10;
    let end = text.iter().take(MAX).position(|byte| *byte == b';')?;
    let name = std::str::from_utf8(text.get(..end)?).ok()?;
    let character = match name {
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "amp" => '&',
        name => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?).filter(|code| *code != '\0')?
        }
    };
    Some((character, end + 1))
}
