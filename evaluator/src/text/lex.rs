//! Tokens of an expression's text, with their positions.

use super::error::AssembleError;

/// A piece of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    Word(&'t str),
    /// A number with its sign.
    Number {
        negative: bool,
        magnitude: u64,
    },
    /// Bytes between brackets, not parsed yet.
    Bytes(&'t str),
    Open,
    Close,
    Colon,
    /// A semicolon or the end of a line.
    End,
}

/// A token and the byte offset of its start.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spot<'t> {
    pub(super) token: Token<'t>,
    pub(super) at: usize,
}

/// Whether a name may appear in the text unquoted.
pub(super) fn is_word(name: &str) -> bool {
    name.starts_with(begins_word) && name.chars().all(within_word)
}

fn begins_word(char: char) -> bool {
    char.is_ascii_alphabetic() || char == '_'
}

fn within_word(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '_' | '.' | '$')
}

/// Creates an error at a byte offset of the text.
pub(super) fn error(text: &str, at: usize, what: String, expected: String) -> AssembleError {
    let before = text.get(..at).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    AssembleError { line, column, what, expected }
}

/// Splits a text into tokens.
pub(super) fn tokens(text: &str) -> Result<Vec<Spot<'_>>, AssembleError> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(char) = rest.chars().next() {
        let at = text.len() - rest.len();
        let mut length = char.len_utf8();
        let fail = |what: String, expected: &str| error(text, at, what, expected.to_owned());
        let token = match char {
            '\n' | ';' => Some(Token::End),
            ' ' | '\t' | '\r' | ',' => None,
            '#' => {
                length = rest.find('\n').unwrap_or(rest.len());
                None
            }
            '(' => Some(Token::Open),
            ')' => Some(Token::Close),
            ':' => Some(Token::Colon),
            '[' => {
                let close = rest.find(']');
                let inside = close.and_then(|close| rest.get(1..close));
                let inside = inside.ok_or_else(|| fail("a block without its end".to_owned(), "`]`"))?;
                length = inside.len() + 2;
                Some(Token::Bytes(inside))
            }
            '+' | '-' | '0'..='9' => {
                let digits = rest.trim_start_matches(['+', '-']);
                let signs = rest.len() - digits.len();
                let digits = digits.split(|char| !within_word(char)).next().unwrap_or_default();
                length = signs + digits.len();
                let magnitude = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
                    Some(hex) if !hex.starts_with('+') => u64::from_str_radix(hex, 16),
                    _ => digits.parse(),
                };
                let word = rest.get(..length).unwrap_or_default();
                let magnitude = magnitude.ok().filter(|_| signs <= 1);
                let magnitude = magnitude.ok_or_else(|| {
                    fail(format!("`{word}` is no number of 64 bits"), "a decimal or 0x number")
                })?;
                Some(Token::Number { negative: char == '-', magnitude })
            }
            _ if begins_word(char) => {
                let word = rest.split(|char| !within_word(char)).next().unwrap_or_default();
                length = word.len();
                Some(Token::Word(word))
            }
            _ => return Err(fail(format!("unexpected `{char}`"), "an operation or an operand")),
        };
        tokens.extend(token.map(|token| Spot { token, at }));
        rest = rest.get(length..).unwrap_or_default();
    }
    Ok(tokens)
}
