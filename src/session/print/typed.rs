//! Types of objects on a path: those of the code object's DWARF, and those that a path creates.

use std::sync::Arc;

pub(super) use crate::debuginfo::NumberSort as Sort;
use crate::debuginfo::format::Scalar;
use crate::debuginfo::{Base, DebugInfo, Number, Result, Type, TypeId, TypeKind};
use crate::units::AddressSpace;

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Ty {
    /// `void`.
    Void,
    /// A type of the code object.
    Die(TypeId),
    /// A type of C; the code object may lack it.
    Basic(Basic),
    /// A pointer, made by `&`, a cast or arithmetic.
    Pointer { to: Arc<Ty>, space: AddressSpace, bytes: u8 },
    /// Objects in a row, made by `@`, or the inner dimensions of an array.
    Array { element: Arc<Ty>, count: u64 },
    /// A function; `this`: the index of a member function's object parameter.
    Function { returns: Option<TypeId>, parameters: Arc<[Option<TypeId>]>, this: Option<usize> },
}

/// A type of C, for amdgcn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Basic {
    pub(super) name: &'static str,
    pub(super) bytes: u8,
    pub(super) sort: Sort,
}

/// C's types with one name each; [`canonical`] maps every other name to it.
const BASICS: &[Basic] = &[
    Basic { name: "bool", bytes: 1, sort: Sort::Boolean },
    Basic { name: "char", bytes: 1, sort: Sort::Character },
    Basic { name: "signed char", bytes: 1, sort: Sort::Character },
    Basic { name: "unsigned char", bytes: 1, sort: Sort::Unsigned },
    Basic { name: "short", bytes: 2, sort: Sort::Signed },
    Basic { name: "unsigned short", bytes: 2, sort: Sort::Unsigned },
    Basic { name: "int", bytes: 4, sort: Sort::Signed },
    Basic { name: "unsigned int", bytes: 4, sort: Sort::Unsigned },
    Basic { name: "long", bytes: 8, sort: Sort::Signed },
    Basic { name: "unsigned long", bytes: 8, sort: Sort::Unsigned },
    Basic { name: "long long", bytes: 8, sort: Sort::Signed },
    Basic { name: "unsigned long long", bytes: 8, sort: Sort::Unsigned },
    Basic { name: "__int128", bytes: 16, sort: Sort::Signed },
    Basic { name: "unsigned __int128", bytes: 16, sort: Sort::Unsigned },
    Basic { name: "float", bytes: 4, sort: Sort::Float },
    Basic { name: "double", bytes: 8, sort: Sort::Float },
    Basic { name: "_Float16", bytes: 2, sort: Sort::Float },
];

/// Names of base types by headers and OpenCL; a type of the code object hides them.
const ALIASES: &[Basic] = &[
    Basic { name: "int8_t", bytes: 1, sort: Sort::Character },
    Basic { name: "uint8_t", bytes: 1, sort: Sort::Unsigned },
    Basic { name: "int16_t", bytes: 2, sort: Sort::Signed },
    Basic { name: "uint16_t", bytes: 2, sort: Sort::Unsigned },
    Basic { name: "int32_t", bytes: 4, sort: Sort::Signed },
    Basic { name: "uint32_t", bytes: 4, sort: Sort::Unsigned },
    Basic { name: "int64_t", bytes: 8, sort: Sort::Signed },
    Basic { name: "uint64_t", bytes: 8, sort: Sort::Unsigned },
    Basic { name: "size_t", bytes: 8, sort: Sort::Unsigned },
    Basic { name: "ptrdiff_t", bytes: 8, sort: Sort::Signed },
    Basic { name: "intptr_t", bytes: 8, sort: Sort::Signed },
    Basic { name: "uintptr_t", bytes: 8, sort: Sort::Unsigned },
    Basic { name: "uchar", bytes: 1, sort: Sort::Unsigned },
    Basic { name: "ushort", bytes: 2, sort: Sort::Unsigned },
    Basic { name: "uint", bytes: 4, sort: Sort::Unsigned },
    Basic { name: "ulong", bytes: 8, sort: Sort::Unsigned },
    Basic { name: "half", bytes: 2, sort: Sort::Float },
];

impl Basic {
    /// The type of that canonical name.
    pub(super) fn named(name: &str) -> Option<Self> {
        BASICS.iter().copied().find(|basic| basic.name == name)
    }

    /// The base type of an alias.
    pub(super) fn alias(name: &str) -> Option<Self> {
        ALIASES.iter().copied().find(|basic| basic.name == name)
    }

    /// The type of literals and arithmetic of that size and sign.
    pub(super) fn integer(bytes: u8, unsigned: bool) -> Self {
        let (name, bytes) = match (bytes > 4, unsigned) {
            (false, false) => ("int", 4),
            (false, true) => ("unsigned int", 4),
            (true, false) => ("long", 8),
            (true, true) => ("unsigned long", 8),
        };
        Self { name, bytes, sort: if unsigned { Sort::Unsigned } else { Sort::Signed } }
    }

    /// Whether gdb prints arrays of it as strings.
    pub(super) fn is_character(self) -> bool {
        self.bytes == 1 && matches!(self.sort, Sort::Character | Sort::Unsigned)
    }

    pub(super) fn scalar(self, bits: u128) -> Scalar {
        Scalar {
            bits,
            size: u32::from(self.bytes) * 8,
            is_signed: matches!(self.sort, Sort::Signed | Sort::Character),
            is_float: self.sort == Sort::Float,
        }
    }
}

/// The one name of a base type with several spellings in C: `long unsigned int` is `unsigned long`.
pub(super) fn canonical(words: &[&str]) -> String {
    let (mut longs, mut sign, mut int, mut core) = (0, None, false, Vec::new());
    for word in words {
        match *word {
            "long" => longs += 1,
            "signed" | "unsigned" => sign = Some(*word),
            "int" => int = true,
            "_Bool" => core.push("bool"),
            other => core.push(other),
        }
    }
    let mut parts = Vec::new();
    parts.extend(sign.filter(|sign| *sign == "unsigned" || core == ["char"]));
    if core.is_empty() && longs == 0 {
        parts.extend((int || sign.is_some()).then_some("int"));
    }
    parts.extend(std::iter::repeat_n("long", longs));
    parts.extend(core);
    parts.join(" ")
}

/// The operations that an object's type allows.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    Pointer {
        to: Ty,
        space: AddressSpace,
    },
    Reference {
        to: Ty,
        space: AddressSpace,
    },
    /// `lower` is the first index, which is not 0 in every language; `stride` is the distance of elements in bits if
    /// it differs from the element's size.
    Array {
        element: Ty,
        lower: i64,
        count: Option<u64>,
        stride: Option<i64>,
        is_vector: bool,
    },
    Record(Arc<Type>),
    Number(Sort),
    Function,
    /// A pointer to a member of a class.
    MemberPointer(Arc<Type>),
    Void,
    Other,
}

impl Shape {
    /// The type's name with an article, for messages.
    pub(super) fn words(&self) -> &'static str {
        match self {
            Self::Pointer { .. } => "a pointer",
            Self::Reference { .. } => "a reference",
            Self::Array { .. } => "an array",
            Self::Record(_) => "a struct or class",
            Self::Number(Sort::Float) => "a floating-point number",
            Self::Number(_) => "a number",
            Self::Function => "a function",
            Self::MemberPointer(_) => "a pointer to a member",
            Self::Void => "void",
            Self::Other => "something else",
        }
    }
}

fn of(id: Option<TypeId>) -> Ty {
    id.map_or(Ty::Void, Ty::Die)
}

impl Ty {
    pub(super) fn shape(&self, debug: &DebugInfo) -> Result<Shape> {
        Ok(match self {
            Self::Void => Shape::Void,
            Self::Basic(basic) => Shape::Number(basic.sort),
            Self::Pointer { to, space, .. } => Shape::Pointer { to: (**to).clone(), space: *space },
            Self::Array { element, count } => {
                let (element, count) = ((**element).clone(), Some(*count));
                Shape::Array { element, lower: 0, count, stride: None, is_vector: false }
            }
            Self::Function { .. } => Shape::Function,
            Self::Die(id) => match debug.stripped(*id)? {
                None => Shape::Void,
                Some(found) => shape_of(&found),
            },
        })
    }

    /// Size in bytes, if known.
    pub(super) fn size(&self, debug: &DebugInfo) -> Result<Option<u64>> {
        Ok(match self {
            Self::Void | Self::Function { .. } => None,
            Self::Die(id) => debug.byte_size(*id)?,
            Self::Basic(basic) => Some(u64::from(basic.bytes)),
            Self::Pointer { bytes, .. } => Some(u64::from(*bytes)),
            Self::Array { element, count } => element.size(debug)?.and_then(|size| size.checked_mul(*count)),
        })
    }

    /// The type in C++ notation.
    pub(super) fn name(&self, debug: &DebugInfo) -> Result<String> {
        self.named_around(debug, String::new())
    }

    fn named_around(&self, debug: &DebugInfo, declarator: String) -> Result<String> {
        let spaced = |name: &str| match declarator.as_str() {
            "" => name.to_owned(),
            declarator => format!("{name} {declarator}"),
        };
        match self {
            Self::Void => Ok(spaced("void")),
            Self::Basic(basic) => Ok(spaced(basic.name)),
            Self::Die(id) => debug.type_name_around(Some(*id), &declarator),
            // gdb's notation in a unit of Fortran.
            Self::Pointer { to, .. } if matches!(&**to, Self::Die(id) if debug.is_fortran(*id)) => {
                Ok(spaced(&format!("PTR TO -> ( {} )", to.name(debug)?)))
            }
            Self::Pointer { to, .. } => {
                let binds = matches!(to.shape(debug)?, Shape::Array { .. } | Shape::Function);
                to.named_around(
                    debug,
                    if binds { format!("(*{declarator})") } else { format!("*{declarator}") },
                )
            }
            Self::Array { element, count } => element.named_around(debug, format!("{declarator}[{count}]")),
            Self::Function { returns, parameters, this } => {
                // `this` is constant in C++; compilers leave that out of the DWARF.
                let named = |(index, of): (usize, &Option<TypeId>)| {
                    debug.type_name_around(*of, if *this == Some(index) { " const" } else { "" })
                };
                let names: Result<Vec<String>> = parameters.iter().enumerate().map(named).collect();
                let names = names?;
                let names = if names.is_empty() { "void".to_owned() } else { names.join(", ") };
                debug.type_name_around(*returns, &format!("{declarator}({names})"))
            }
        }
    }

    /// The dimensions of nested arrays, and the innermost element.
    pub(super) fn flattened(&self) -> (Vec<u64>, &Self) {
        let (mut counts, mut ty) = (Vec::new(), self);
        while let Self::Array { element, count } = ty {
            counts.push(*count);
            ty = element;
        }
        (counts, ty)
    }
}

pub(super) fn shape_of(found: &Arc<Type>) -> Shape {
    match &found.kind {
        TypeKind::Pointer { to, address_space, .. } => Shape::Pointer { to: of(*to), space: *address_space },
        TypeKind::Reference { to, address_space, .. } => {
            Shape::Reference { to: of(*to), space: *address_space }
        }
        TypeKind::Array { element, dimensions, stride, rank: None, is_vector } => {
            let mut inner = of(*element);
            let Some((first, rest)) = dimensions.split_first() else { return Shape::Other };
            // The array's own stride is that of its innermost dimension.
            if stride.is_some() && !rest.is_empty() {
                return Shape::Other;
            }
            for dimension in rest.iter().rev() {
                match (dimension.count(), &dimension.lower, &dimension.stride) {
                    (Some(count), Number::Constant(0), None) => {
                        inner = Ty::Array { element: Arc::new(inner), count };
                    }
                    _ => return Shape::Other,
                }
            }
            let stride = match first.stride.as_ref().or(stride.as_ref()) {
                None => None,
                Some(Number::Constant(bits)) => Some(*bits),
                Some(Number::Dynamic(_)) => return Shape::Other,
            };
            match &first.lower {
                Number::Constant(lower) => {
                    let (lower, count, is_vector) = (*lower, first.count(), *is_vector);
                    Shape::Array { element: inner, lower, count, stride, is_vector }
                }
                Number::Dynamic(_) => Shape::Other,
            }
        }
        TypeKind::Record(_) => Shape::Record(Arc::clone(found)),
        TypeKind::Base(base) => sort(base).map_or(Shape::Other, Shape::Number),
        TypeKind::Enum { underlying: _, enumerators, .. } => {
            let signed = enumerators.iter().any(|enumerator| enumerator.value < 0);
            Shape::Number(if signed { Sort::Signed } else { Sort::Unsigned })
        }
        TypeKind::Subroutine { .. } => Shape::Function,
        TypeKind::PointerToMember { .. } => Shape::MemberPointer(Arc::clone(found)),
        _ => Shape::Other,
    }
}

fn sort(base: &Base) -> Option<Sort> {
    if base.vector_size.is_some() {
        return None;
    }
    base.encoding.number_sort()
}
