//! Lexer of paths.

use super::parse::ParseError;

/// A word with its column, from 1.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) column: usize,
    pub(super) word: Word,
}

/// A kind of word with its value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Word {
    /// `x`, `ns::x`, `Window<float, 2>::total`.
    Name(String),
    Integer {
        value: u64,
        long: bool,
        unsigned: bool,
        hex: bool,
    },
    /// `14.25`, `1e-3f`.
    Float {
        value: f64,
        single: bool,
    },
    Character(u8),
    /// Without its `$`.
    Register(String),
    Address {
        space: String,
        address: u64,
    },
    Sign(&'static str),
    End,
}

impl Word {
    /// The word's description, for errors.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Name(name) => format!("`{name}`"),
            Self::Integer { value, hex: true, .. } => format!("`{value:#x}`"),
            Self::Integer { value, .. } => format!("`{value}`"),
            Self::Float { value, .. } => format!("`{value:?}`"),
            Self::Character(_) => "a character".to_owned(),
            Self::Register(name) => format!("`${name}`"),
            Self::Address { space, address } => format!("`{space}#{address:#x}`"),
            Self::Sign(sign) => format!("`{sign}`"),
            Self::End => "the end".to_owned(),
        }
    }
}

/// Longer signs first.
const SIGNS: &[&str] = &[
    "->*", "->", "<<", ">>", ".*", ".", "[", "]", "(", ")", ",", ":", "@", "*", "&", "+", "-", "/", "%", "~",
    "!", "|", "^",
];

/// Operators of C whose first characters begin others.
const FOREIGN: &[&str] = &["&&", "||", "==", "!=", "<=", ">="];

/// The unnamed namespace in the notation of C++ users and gdb.
const ANONYMOUS: &str = "(anonymous namespace)";

/// Splits a path into words; the last one is [`Word::End`].
pub(super) fn words(text: &str) -> Result<(Vec<Token>, Token), ParseError> {
    let characters: Vec<char> = text.chars().collect();
    let mut lexer = Lexer { characters: &characters, at: 0 };
    let mut tokens = Vec::new();
    loop {
        while lexer.peek(0).is_some_and(char::is_whitespace) {
            lexer.at += 1;
        }
        let column = lexer.at + 1;
        let word = lexer.word()?;
        if word == Word::End {
            return Ok((tokens, Token { column, word }));
        }
        tokens.push(Token { column, word });
    }
}

struct Lexer<'a> {
    characters: &'a [char],
    at: usize,
}

fn begins_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.characters.get(self.at + ahead).copied()
    }

    fn begins(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(ahead, c)| self.peek(ahead) == Some(c))
    }

    fn error(&self, words: impl Into<String>) -> ParseError {
        ParseError { column: self.at + 1, words: words.into() }
    }

    fn word(&mut self) -> Result<Word, ParseError> {
        let Some(first) = self.peek(0) else { return Ok(Word::End) };
        // `w(::2)` is a section of Fortran.
        let is_global = self.begins("::") && !self.peek(2).is_some_and(|c| c.is_ascii_digit());
        if begins_name(first) || is_global || self.begins(&format!("{ANONYMOUS}::")) {
            let name = self.name()?;
            return if self.peek(0) == Some('#') { self.address(name) } else { Ok(Word::Name(name)) };
        }
        if first.is_ascii_digit() {
            return self.number();
        }
        match first {
            '\'' => self.character(),
            '$' => {
                self.at += 1;
                let name = self.identifier();
                if name.is_empty() {
                    Err(self.error("expected a register's name after `$`"))
                } else {
                    Ok(Word::Register(name))
                }
            }
            _ => {
                if let Some(sign) = FOREIGN.iter().find(|sign| self.begins(sign)) {
                    return Err(self.error(format!(
                        "unexpected `{sign}`: paths compute, and do not compare (`lanescope check` compares)"
                    )));
                }
                let found = SIGNS.iter().find(|sign| self.begins(sign));
                let sign = found.ok_or_else(|| self.error(format!("unexpected `{first}`")))?;
                self.at += sign.len();
                Ok(Word::Sign(sign))
            }
        }
    }

    fn identifier(&mut self) -> String {
        let rest = self.characters.get(self.at..).unwrap_or_default();
        let name: String = rest.iter().take_while(|c| is_name(**c)).collect();
        self.at += name.chars().count();
        name
    }

    /// A name with its namespaces and template arguments.
    fn name(&mut self) -> Result<String, ParseError> {
        let mut name = String::new();
        loop {
            if self.begins("::") {
                name.push_str("::");
                self.at += 2;
            }
            if self.begins(ANONYMOUS) {
                name.push_str(ANONYMOUS);
                self.at += ANONYMOUS.len();
            } else {
                let part = self.identifier();
                if part.is_empty() {
                    return Err(self.error("expected a name after `::`"));
                }
                name.push_str(&part);
                self.template(&mut name)?;
            }
            if !self.begins("::") {
                return Ok(name);
            }
        }
    }

    /// `<float, 2>` after a name; there are no comparison operators to confuse it with.
    fn template(&mut self, name: &mut String) -> Result<(), ParseError> {
        if self.peek(0) != Some('<') || self.peek(1) == Some('<') {
            return Ok(());
        }
        let (start, mut depth) = (self.at, 0usize);
        while let Some(c) = self.peek(0) {
            match c {
                '<' => depth += 1,
                '>' => depth -= 1,
                _ => {}
            }
            name.push(c);
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
        self.at = start;
        Err(self.error("this `<` has no `>`"))
    }

    /// `local#0x10`, from the `#` on.
    fn address(&mut self, space: String) -> Result<Word, ParseError> {
        self.at += 1;
        if !self.peek(0).is_some_and(|c| c.is_ascii_digit()) {
            return Err(self.error(format!("expected an address after `{space}#`")));
        }
        match self.integer()? {
            Word::Integer { value, .. } => Ok(Word::Address { space, address: value }),
            other => Err(self.error(format!("expected an address, found {}", other.describe()))),
        }
    }

    /// An integer, or a floating-point number: digits with a fraction or an exponent, and the suffix `f`.
    fn number(&mut self) -> Result<Word, ParseError> {
        let start = self.at;
        let Some(end) = self.end_of_float() else { return self.integer() };
        let digits: String = self.characters.get(start..end).unwrap_or_default().iter().collect();
        self.at = end;
        let suffix = self.identifier();
        let fail = |words: String| Err(ParseError { column: start + 1, words });
        let single = match suffix.as_str() {
            "" => false,
            "f" | "F" => true,
            _ => return fail(format!("`{digits}{suffix}` is not a number: its suffix is not f")),
        };
        let value = match single {
            true => digits.parse::<f32>().map(f64::from),
            false => digits.parse::<f64>(),
        };
        match value {
            Ok(value) if value.is_finite() => Ok(Word::Float { value, single }),
            Ok(_) => fail(format!("`{digits}` does not fit its type")),
            Err(_) => fail(format!("`{digits}` is not a number: write 14.25 or 1e-3")),
        }
    }

    /// The end of the digits of a floating-point number; `None`: it is an integer.
    fn end_of_float(&self) -> Option<usize> {
        let digits = |from: usize| {
            let rest = self.characters.get(from..).unwrap_or_default();
            rest.iter().take_while(|c| c.is_ascii_digit()).count()
        };
        let at = |index: usize| self.characters.get(index).copied();
        let whole = self.at + digits(self.at);
        let fraction = if at(whole) == Some('.') { digits(whole + 1) } else { 0 };
        let end = if fraction > 0 { whole + 1 + fraction } else { whole };
        let exponent = matches!(at(end), Some('e' | 'E')).then(|| {
            let sign = usize::from(matches!(at(end + 1), Some('+' | '-')));
            (end + 1 + sign, digits(end + 1 + sign))
        });
        match exponent {
            Some((from, count @ 1..)) => Some(from + count),
            _ => (fraction > 0).then_some(end),
        }
    }

    /// An integer in C's notation: `0x` for hexadecimal, `0` for octal, suffixes `u` and `l`. A decimal one without
    /// suffix is signed.
    fn integer(&mut self) -> Result<Word, ParseError> {
        let start = self.at;
        let text = self.identifier().to_ascii_lowercase();
        let hex = text.strip_prefix("0x");
        let (is_hex, suffix) = (hex.is_some(), hex.unwrap_or(&text));
        let digits = suffix.trim_end_matches(['u', 'l']);
        let letters = suffix.strip_prefix(digits).unwrap_or_default();
        let (radix, digits) = match (is_hex, digits.strip_prefix('0')) {
            (true, _) => (16, digits),
            (false, Some(octal)) if !octal.is_empty() => (8, octal),
            (false, _) => (10, digits),
        };
        let fail = |words: String| Err(ParseError { column: start + 1, words });
        if !matches!(letters, "" | "u" | "l" | "ul" | "lu" | "ll" | "ull" | "llu") {
            return fail(format!("`{text}` is not a number: its suffix is none of u, l, ul"));
        }
        let Ok(value) = u64::from_str_radix(digits, radix) else {
            let too_large = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
            let why = if too_large { "does not fit 64 bits" } else { "is not a number: write 64 or 0x40" };
            return fail(format!("`{text}` {why}"));
        };
        let said_unsigned = letters.contains('u');
        let said_long = letters.contains('l');
        let decimal = radix == 10;
        // The first of int, unsigned, long, unsigned long that holds it; a decimal one never becomes unsigned.
        let (long, unsigned) = match value {
            _ if !said_long && !said_unsigned && value <= i32::MAX as u64 => (false, false),
            _ if !said_long && (said_unsigned || !decimal) && value <= u64::from(u32::MAX) => (false, true),
            _ if !said_unsigned && value <= i64::MAX as u64 => (true, false),
            _ => (true, true),
        };
        Ok(Word::Integer { value, long, unsigned, hex: is_hex })
    }

    fn character(&mut self) -> Result<Word, ParseError> {
        let start = self.at;
        self.at += 1;
        let code = match self.peek(0) {
            Some('\\') => {
                self.at += 1;
                self.escape()?
            }
            Some(c) if c.is_ascii() && c != '\'' && !c.is_control() => {
                self.at += 1;
                c as u8
            }
            _ => return Err(self.error("expected an ASCII character or an escape")),
        };
        if self.peek(0) != Some('\'') {
            return Err(ParseError {
                column: start + 1,
                words: "this `'` has no other behind one character".to_owned(),
            });
        }
        self.at += 1;
        Ok(Word::Character(code))
    }

    fn escape(&mut self) -> Result<u8, ParseError> {
        let Some(letter) = self.peek(0) else { return Err(self.error("expected an escape")) };
        let digits = |lexer: &mut Self, radix: u32, most: usize| {
            let mut text = String::new();
            while text.len() < most && lexer.peek(0).is_some_and(|c| c.is_digit(radix)) {
                text.extend(lexer.peek(0));
                lexer.at += 1;
            }
            let code = u32::from_str_radix(&text, radix).ok().and_then(|code| u8::try_from(code).ok());
            code.ok_or_else(|| lexer.error("the character's code is not one of 0 to 255"))
        };
        if letter.is_digit(8) {
            return digits(self, 8, 3);
        }
        self.at += 1;
        Ok(match letter {
            'n' => b'\n',
            't' => b'\t',
            'r' => b'\r',
            'a' => 7,
            'b' => 8,
            'f' => 12,
            'v' => 11,
            'e' => 27,
            '\\' | '\'' | '"' => letter as u8,
            'x' => return digits(self, 16, 2),
            _ => return Err(self.error(format!("there is no escape `\\{letter}`"))),
        })
    }
}
