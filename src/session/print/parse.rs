//! Parser of paths: the subset of C's expressions that names objects, with gdb's `@`.
//!
//! Precedence is gdb's (its manual, "Artificial Arrays", and the order of its grammar): `@` binds weaker than `+` and
//! stronger than `<<`, so `p[1]@n+1` is `p[1] @ (n+1)`. C needs the set of types to decide whether `(a) * b` is a
//! cast: the caller answers that. In a frame of Fortran `%` is the sign of a member and `x(i, j)` an element. The text
//! alone determines everything else.

use super::lex::{Token, Word, words};
use super::path::{Binary, MemberSign, Node, Path, TypeName, Unary};

/// Maximum length of a path, in characters.
pub const MAX_PATH: usize = 1024;
/// Maximum nesting of a path: brackets, operators, members of members.
pub const MAX_NESTING: usize = crate::bounds::MAX_PATH_DEPTH;

/// The reason that a text is no path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {words}")]
pub struct ParseError {
    /// The column in the text, from 1, in characters.
    pub column: usize,
    /// The error.
    pub words: String,
}

/// Words that occur only in types.
const TYPE_WORDS: &[&str] = &[
    "void", "bool", "_Bool", "char", "short", "int", "long", "float", "double", "signed", "unsigned",
    "struct", "class", "union", "enum", "__int128",
];

/// Words of a type without effect on a value.
const QUALIFIERS: &[&str] = &["const", "volatile", "restrict", "__restrict__", "_Atomic"];

/// Parses a path in the notation of C. `is_type` answers whether a name is a type's and not a variable's.
///
/// # Errors
/// The text is no path; with the column and the reason.
pub fn parse(text: &str, is_type: &dyn Fn(&str) -> bool) -> Result<Path, ParseError> {
    parse_in(false, text, is_type)
}

/// [`parse`] for a frame of Fortran, or of another language.
///
/// # Errors
/// As [`parse`].
pub fn parse_in(is_fortran: bool, text: &str, is_type: &dyn Fn(&str) -> bool) -> Result<Path, ParseError> {
    if text.chars().nth(MAX_PATH).is_some() {
        return Err(ParseError {
            column: MAX_PATH + 1,
            words: format!("a path of more than {MAX_PATH} characters"),
        });
    }
    let (tokens, end) = words(text)?;
    let mut parser = Parser { tokens: &tokens, end: &end, at: 0, is_type, is_fortran };
    let found = parser.binary(0, 0)?;
    match parser.word() {
        Word::End => Ok(found.0),
        other => Err(parser.error(format!("expected an operator or the end, found {}", other.describe()))),
    }
}

/// An operator between two operands.
#[derive(Clone, Copy)]
enum Between {
    Operator(Binary),
    Repeat,
    MemberPointer { arrow: bool },
}

/// Binary operators, the weakest first.
const LEVELS: &[&[(&str, Between)]] = &[
    &[("|", Between::Operator(Binary::Or))],
    &[("^", Between::Operator(Binary::Xor))],
    &[("&", Between::Operator(Binary::And))],
    &[("<<", Between::Operator(Binary::ShiftLeft)), (">>", Between::Operator(Binary::ShiftRight))],
    &[("@", Between::Repeat)],
    &[("+", Between::Operator(Binary::Add)), ("-", Between::Operator(Binary::Subtract))],
    &[
        ("*", Between::Operator(Binary::Multiply)),
        ("/", Between::Operator(Binary::Divide)),
        ("%", Between::Operator(Binary::Remainder)),
    ],
    &[(".*", Between::MemberPointer { arrow: false }), ("->*", Between::MemberPointer { arrow: true })],
];

struct Parser<'a> {
    tokens: &'a [Token],
    /// The last word, which the parser never passes.
    end: &'a Token,
    at: usize,
    is_type: &'a dyn Fn(&str) -> bool,
    is_fortran: bool,
}

/// A path with its depth, which bounds the recursion of functions over it.
type Deep = (Path, usize);

impl Parser<'_> {
    fn token(&self, ahead: usize) -> &Token {
        self.tokens.get(self.at + ahead).unwrap_or(self.end)
    }

    fn word(&self) -> &Word {
        &self.token(0).word
    }

    fn is(&self, sign: &str) -> bool {
        matches!(self.word(), Word::Sign(found) if *found == sign)
    }

    fn error(&self, words: impl Into<String>) -> ParseError {
        ParseError { column: self.token(0).column, words: words.into() }
    }

    fn expect(&mut self, sign: &str, opened: usize) -> Result<(), ParseError> {
        if self.is(sign) {
            self.at += 1;
            return Ok(());
        }
        let found = self.word().describe();
        Err(self.error(format!("expected `{sign}` for the bracket at column {opened}, found {found}")))
    }

    fn checked(&self, column: usize, node: Node, depth: usize) -> Result<Deep, ParseError> {
        if depth > MAX_NESTING {
            return Err(ParseError {
                column,
                words: format!("more than {MAX_NESTING} parts inside one another"),
            });
        }
        Ok((Path { column, node }, depth))
    }

    /// Binary operators from a level on; `open` is the nesting around it.
    fn binary(&mut self, level: usize, open: usize) -> Result<Deep, ParseError> {
        let Some(operators) = LEVELS.get(level) else { return self.unary(open) };
        let mut left = self.binary(level + 1, open)?;
        while let Some((_, operator)) = operators.iter().find(|(sign, _)| self.is(sign)) {
            let column = self.token(0).column;
            self.at += 1;
            let right = self.binary(level + 1, open)?;
            let depth = left.1.max(right.1) + 1;
            let (first, second) = (Box::new(left.0), Box::new(right.0));
            let node = match *operator {
                Between::Operator(operator) => Node::Binary(operator, first, second),
                Between::Repeat => Node::Repeat(first, second),
                Between::MemberPointer { arrow } => {
                    Node::MemberPointer { object: first, member: second, arrow }
                }
            };
            left = self.checked(column, node, depth)?;
        }
        Ok(left)
    }

    fn unary(&mut self, open: usize) -> Result<Deep, ParseError> {
        let column = self.token(0).column;
        if open >= MAX_NESTING {
            return Err(self.error(format!("more than {MAX_NESTING} parts inside one another")));
        }
        let operator = match self.word() {
            Word::Sign("*") => Unary::Deref,
            Word::Sign("&") => Unary::Address,
            Word::Sign("-") => Unary::Minus,
            Word::Sign("+") => Unary::Plus,
            Word::Sign("~") => Unary::Not,
            Word::Sign("!") => Unary::IsZero,
            Word::Sign("(") => match self.cast()? {
                Some(to) => {
                    let (operand, depth) = self.unary(open + 1)?;
                    return self.checked(column, Node::Cast(to, Box::new(operand)), depth + 1);
                }
                None => return self.postfix(open),
            },
            _ => return self.postfix(open),
        };
        self.at += 1;
        let (operand, depth) = self.unary(open + 1)?;
        self.checked(column, Node::Unary(operator, Box::new(operand)), depth + 1)
    }

    fn postfix(&mut self, open: usize) -> Result<Deep, ParseError> {
        let mut found = self.primary(open)?;
        loop {
            let column = self.token(0).column;
            if let Some(sign) = self.member_sign() {
                self.at += 1;
                let Word::Name(name) = self.word().clone() else {
                    let found = self.word().describe();
                    return Err(self.error(format!("expected a member's name, found {found}")));
                };
                let column = self.token(0).column;
                self.at += 1;
                let node = Node::Member { object: Box::new(found.0), name, sign };
                found = self.checked(column, node, found.1 + 1)?;
                continue;
            }
            let (node, depth) = match self.word() {
                Word::Sign("[") => {
                    self.at += 1;
                    let (index, inner) = self.binary(0, open + 1)?;
                    self.expect("]", column)?;
                    (Node::Index(Box::new(found.0), Box::new(index)), found.1.max(inner) + 1)
                }
                Word::Sign("(") if self.is_fortran => {
                    let (indexes, inner) = self.indexes(open, column)?;
                    (Node::Element(Box::new(found.0), indexes), found.1.max(inner) + 1)
                }
                _ => return Ok(found),
            };
            found = self.checked(column, node, depth)?;
        }
    }

    fn member_sign(&self) -> Option<MemberSign> {
        match self.word() {
            Word::Sign(".") => Some(MemberSign::Dot),
            Word::Sign("->") => Some(MemberSign::Arrow),
            Word::Sign("%") if self.is_fortran => Some(MemberSign::Percent),
            _ => None,
        }
    }

    /// The indexes in brackets, with their depth; `opened`: the column of the bracket.
    fn indexes(&mut self, open: usize, opened: usize) -> Result<(Vec<Path>, usize), ParseError> {
        let (mut indexes, mut depth) = (Vec::new(), 0);
        loop {
            self.at += 1;
            self.refuse_section()?;
            let (index, inner) = self.binary(0, open + 1)?;
            self.refuse_section()?;
            indexes.push(index);
            depth = depth.max(inner);
            if !self.is(",") {
                self.expect(")", opened)?;
                return Ok((indexes, depth));
            }
        }
    }

    fn refuse_section(&self) -> Result<(), ParseError> {
        match self.is(":") {
            true => {
                Err(self
                    .error("a path has no sections or substrings (`:`): write one index for each dimension"))
            }
            false => Ok(()),
        }
    }

    fn primary(&mut self, open: usize) -> Result<Deep, ParseError> {
        let column = self.token(0).column;
        let node = match self.word().clone() {
            Word::Name(name) if is_type_word(&name) || is_keyword_qualifier(&name) => {
                return Err(self.error(format!("expected an object, found the type `{name}`")));
            }
            Word::Name(name) => Node::Name(name),
            Word::Integer { value, long, unsigned, hex } => Node::Integer { value, long, unsigned, hex },
            Word::Float { value, single } => Node::Float { value, single },
            Word::Character(code) => Node::Character(code),
            Word::Register(name) => Node::Register(name),
            Word::Address { space, address } => Node::Address { space, address },
            Word::Sign("(") => {
                self.at += 1;
                let inner = self.binary(0, open + 1)?;
                self.expect(")", column)?;
                return Ok(inner);
            }
            other => {
                return Err(self.error(format!(
                    "expected a name, number, register or bracket, found {}",
                    other.describe()
                )));
            }
        };
        self.at += 1;
        self.checked(column, node, 1)
    }

    /// A type in brackets, if one is next; the parser moves past it.
    fn cast(&mut self) -> Result<Option<TypeName>, ParseError> {
        let start = self.at;
        let opened = self.token(0).column;
        self.at += 1;
        let mut words = Vec::new();
        let mut qualified = false;
        while let Word::Name(name) = self.word() {
            if QUALIFIERS.contains(&name.as_str()) {
                qualified |= is_keyword_qualifier(name);
            } else {
                words.push(name.clone())
            }
            self.at += 1;
        }
        let mut pointers = 0;
        loop {
            match self.word() {
                Word::Sign("*") => pointers += 1,
                Word::Name(name) if pointers > 0 && QUALIFIERS.contains(&name.as_str()) => {}
                _ => break,
            }
            self.at += 1;
        }
        let to_arrays = self.behind_brackets();
        let closes = self.is(")");
        let sure = to_arrays.is_some()
            || qualified
            || words.len() > 1
            || words.iter().any(|word| is_type_word(word));
        if sure && !closes {
            let found = self.word().describe();
            return Err(self.error(format!("expected `)` after the type at column {opened}, found {found}")));
        }
        if words.is_empty() || !closes || !(sure || pointers > 0 || self.casts(&words)) {
            self.at = start;
            return Ok(None);
        }
        let name = TypeName { words, pointers, to_arrays };
        let lengths = name.to_arrays.as_ref().map_or(0, |(_, lengths)| lengths.len());
        if name.depth() + lengths > MAX_NESTING {
            return Err(self.error(format!("more than {MAX_NESTING} parts inside one another")));
        }
        self.at += 1;
        Ok(Some(name))
    }

    /// `(*)[4]` of a type: the number of `*`, and the lengths. The parser moves past it, or stays at its position.
    fn behind_brackets(&mut self) -> Option<(usize, Vec<u64>)> {
        let start = self.at;
        let found = self.arrays();
        if found.is_none() {
            self.at = start;
        }
        found
    }

    fn arrays(&mut self) -> Option<(usize, Vec<u64>)> {
        let sign = |parser: &mut Self, sign| parser.is(sign).then(|| parser.at += 1);
        sign(self, "(")?;
        let (mut pointers, mut lengths) = (0, Vec::new());
        while sign(self, "*").is_some() {
            pointers += 1;
        }
        sign(self, ")")?;
        while sign(self, "[").is_some() {
            let Word::Integer { value, .. } = *self.word() else { return None };
            self.at += 1;
            sign(self, "]")?;
            lengths.push(value);
        }
        (pointers > 0 && !lengths.is_empty()).then_some((pointers, lengths))
    }

    /// Whether `(name)` is a cast: the next word begins an operand and cannot continue one, or the name is a type's.
    fn casts(&self, words: &[String]) -> bool {
        let is_type = || words.first().is_some_and(|name| (self.is_type)(name));
        // `(w)(2, 1)` is an element.
        if self.is_fortran {
            return is_type();
        }
        match &self.token(1).word {
            Word::Name(_)
            | Word::Integer { .. }
            | Word::Float { .. }
            | Word::Character(_)
            | Word::Register(_)
            | Word::Address { .. }
            | Word::Sign("(" | "~" | "!") => true,
            Word::Sign("*" | "&" | "-" | "+") => is_type(),
            _ => false,
        }
    }
}

fn is_type_word(name: &str) -> bool {
    TYPE_WORDS.contains(&name)
}

/// A qualifier that cannot name an object. `restrict` can: it is no keyword of C++.
fn is_keyword_qualifier(name: &str) -> bool {
    name != "restrict" && QUALIFIERS.contains(&name)
}
