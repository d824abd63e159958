//! Parsed paths: a tree that prints as text which parses to the same tree.

use std::fmt;

/// A path, or a part of one, with its column in the text.
#[derive(Clone, Debug)]
pub struct Path {
    /// Column of the part that its errors are about, from 1.
    pub column: usize,
    /// The expression.
    pub node: Node,
}

impl Path {
    /// The parts of a path, in the order of the text. The parser bounds their nesting.
    pub(super) fn parts(&self) -> Vec<&Self> {
        match &self.node {
            Node::Name(_)
            | Node::Integer { .. }
            | Node::Float { .. }
            | Node::Character(_)
            | Node::Register(_)
            | Node::Address { .. } => Vec::new(),
            Node::Unary(_, of) | Node::Cast(_, of) | Node::Member { object: of, .. } => vec![of],
            Node::Element(object, indexes) => std::iter::once(&**object).chain(indexes).collect(),
            Node::Binary(_, one, other)
            | Node::Index(one, other)
            | Node::Repeat(one, other)
            | Node::MemberPointer { object: one, member: other, .. } => vec![one, other],
        }
    }
}

/// Columns depend on the text, and are no part of a path's identity.
impl PartialEq for Path {
    fn eq(&self, other: &Self) -> bool {
        self.node == other.node
    }
}

/// A node of a path's tree.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// A variable, enumerator or function, perhaps qualified: `x`, `ns::x`, `this`.
    Name(String),
    /// An integer; its suffix or its size determines `long` and `unsigned`.
    Integer {
        /// Its value.
        value: u64,
        /// Whether it is 64 bits wide.
        long: bool,
        /// Whether it is unsigned.
        unsigned: bool,
        /// Whether its text is hexadecimal.
        hex: bool,
    },
    /// A floating-point number, `14.25`.
    Float {
        /// Its finite value.
        value: f64,
        /// Whether its type is `float` and not `double`.
        single: bool,
    },
    /// A character, `'a'`.
    Character(u8),
    /// A register, without its `$`; `lane`: the number of the lane.
    Register(String),
    /// An address in the printed form, `local#0x10`.
    Address {
        /// Name of the address space.
        space: String,
        /// The address in it.
        address: u64,
    },
    /// `*x`, `&x`, `-x`.
    Unary(Unary, Box<Path>),
    /// `x + y`.
    Binary(Binary, Box<Path>, Box<Path>),
    /// `x.y`, `p->y`, `x%y`.
    Member {
        /// The object, or a pointer to it.
        object: Box<Path>,
        /// The member.
        name: String,
        /// The sign before the member.
        sign: MemberSign,
    },
    /// `x[i]`.
    Index(Box<Path>, Box<Path>),
    /// `x(i, j)` of Fortran.
    Element(Box<Path>, Vec<Path>),
    /// `x @ n`: n objects in a row, starting with x.
    Repeat(Box<Path>, Box<Path>),
    /// `(T) x`.
    Cast(TypeName, Box<Path>),
    /// `x.*m`, `p->*m`.
    MemberPointer {
        /// The object, or a pointer to it.
        object: Box<Path>,
        /// The pointer to a member.
        member: Box<Path>,
        /// Whether the access is through a pointer.
        arrow: bool,
    },
}

/// The sign between an object and its member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemberSign {
    /// `.`
    Dot,
    /// `->`, through a pointer.
    Arrow,
    /// `%` of Fortran.
    Percent,
}

/// Operators before an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// `*`
    Deref,
    /// `&`
    Address,
    /// `-`
    Minus,
    /// `+`
    Plus,
    /// `~`
    Not,
    /// `!`
    IsZero,
}

/// Operators between operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Remainder,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
    /// `&`
    And,
    /// `|`
    Or,
    /// `^`
    Xor,
}

/// The type in a cast: `unsigned long`, `struct S *`, `local int *`, `int (*)[4]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeName {
    /// The words before the first `*`, without qualifiers: an address space's name may be the first.
    pub words: Vec<String>,
    /// Number of `*` after the words.
    pub pointers: usize,
    /// A pointer to arrays of that: the number of `*` in brackets, and the lengths after them, at least one.
    pub to_arrays: Option<(usize, Vec<u64>)>,
}

impl TypeName {
    /// Number of pointers around the type of the words.
    pub(super) fn depth(&self) -> usize {
        self.pointers + self.to_arrays.as_ref().map_or(0, |(pointers, _)| *pointers)
    }
}

impl MemberSign {
    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Dot => ".",
            Self::Arrow => "->",
            Self::Percent => "%",
        }
    }
}

impl Unary {
    fn sign(self) -> &'static str {
        match self {
            Self::Deref => "*",
            Self::Address => "&",
            Self::Minus => "-",
            Self::Plus => "+",
            Self::Not => "~",
            Self::IsZero => "!",
        }
    }
}

impl Binary {
    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
            Self::ShiftLeft => "<<",
            Self::ShiftRight => ">>",
            Self::And => "&",
            Self::Or => "|",
            Self::Xor => "^",
        }
    }
}

impl fmt::Display for TypeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words.join(" "))?;
        f.write_str(if self.pointers == 0 { "" } else { " " })?;
        f.write_str(&"*".repeat(self.pointers))?;
        if let Some((pointers, counts)) = &self.to_arrays {
            write!(f, " ({})", "*".repeat(*pointers))?;
            counts.iter().try_for_each(|count| write!(f, "[{count}]"))?;
        }
        Ok(())
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.node {
            Node::Name(name) => f.write_str(name),
            Node::Integer { value, long, unsigned, hex } => {
                // Suffixes that the digits do not imply: a decimal number is signed, a hexadecimal one need not be.
                let fits = if *unsigned || *hex { u64::from(u32::MAX) } else { i32::MAX as u64 };
                let signed = if *long { i64::MAX as u64 } else { i32::MAX as u64 };
                let long = if *long && *value <= fits { "l" } else { "" };
                let unsigned = if *unsigned && !(*hex && *value > signed) { "u" } else { "" };
                match hex {
                    true => write!(f, "{value:#x}{unsigned}{long}"),
                    false => write!(f, "{value}{unsigned}{long}"),
                }
            }
            Node::Float { value, single } => {
                // The shortest digits that are the same number again.
                match single {
                    true => write!(f, "{:?}f", *value as f32),
                    false => write!(f, "{value:?}"),
                }
            }
            Node::Character(code) => match code {
                b'\'' | b'\\' => write!(f, "'\\{}'", char::from(*code)),
                0x20..=0x7e => write!(f, "'{}'", char::from(*code)),
                _ => write!(f, "'\\{code:03o}'"),
            },
            Node::Register(name) => write!(f, "${name}"),
            Node::Address { space, address } => write!(f, "{space}#{address:#x}"),
            // Two signs side by side would read as another operator: `--`, `&&`.
            Node::Unary(operator @ (Unary::Minus | Unary::Plus | Unary::Address), operand) if matches!(operand.node, Node::Unary(inner, _) if inner == *operator) =>
            {
                write!(f, "{}({operand})", operator.sign())
            }
            Node::Unary(operator, operand) => write!(f, "{}{}", operator.sign(), Operand(operand)),
            Node::Binary(operator, left, right) => {
                write!(f, "{} {} {}", Operand(left), operator.sign(), Operand(right))
            }
            Node::Member { object, name, sign } => {
                write!(f, "{}{}{name}", Postfixed(object), sign.sign())
            }
            Node::Element(object, indexes) => {
                write!(f, "{}(", Postfixed(object))?;
                for (at, index) in indexes.iter().enumerate() {
                    write!(f, "{}{index}", if at == 0 { "" } else { ", " })?;
                }
                f.write_str(")")
            }
            Node::Index(object, index) => write!(f, "{}[{index}]", Postfixed(object)),
            Node::Repeat(object, count) => write!(f, "{}@{}", Operand(object), Operand(count)),
            Node::MemberPointer { object, member, arrow } => {
                let sign = if *arrow { "->*" } else { ".*" };
                write!(f, "{}{sign}{}", Operand(object), Operand(member))
            }
            // Brackets show that `(T) (-x)` is no subtraction.
            Node::Cast(to, operand) if matches!(operand.node, Node::Unary(..)) => {
                write!(f, "({to}) ({operand})")
            }
            Node::Cast(to, operand) => write!(f, "({to}) {}", Operand(operand)),
        }
    }
}

/// An operand of an operator: in brackets if it is a binary expression or a cast.
struct Operand<'a>(&'a Path);

impl fmt::Display for Operand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.node {
            Node::Binary(..) | Node::Repeat(..) | Node::MemberPointer { .. } => write!(f, "({})", self.0),
            _ => write!(f, "{}", self.0),
        }
    }
}

/// An operand of `.`, `->` or `[]`: in brackets unless it is a postfix expression itself.
struct Postfixed<'a>(&'a Path);

impl fmt::Display for Postfixed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.node {
            Node::Unary(..)
            | Node::Binary(..)
            | Node::Repeat(..)
            | Node::Cast(..)
            | Node::MemberPointer { .. } => write!(f, "({})", self.0),
            _ => write!(f, "{}", self.0),
        }
    }
}
