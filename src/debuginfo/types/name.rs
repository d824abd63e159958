//! Type names in the notation of gdb's `whatis`: `float *`, `int [4]`, `const int *`, `void (*)(int)`.
//!
//! A declarator starts empty and grows by `*`, `[4]` or `(int)` until the type has a name, which then precedes it.

use crate::bounds::MAX_TYPE_CHAIN;
use crate::debuginfo::DebugInfo;
use crate::debuginfo::error::{DebugInfoError, Result};
use crate::debuginfo::types::{Dimension, Number, Qualifier, RecordKind, Type, TypeId, TypeKind};

/// Maximum types in one name: parameters of parameters may double them at every step.
const MAX_PARTS: usize = 1024;

/// Maximum bytes of a composed name.
pub(in crate::debuginfo) const MAX_NAME: usize = 1 << 16;

impl DebugInfo {
    /// The name of a type in the notation of gdb's `whatis`; `void` for `None`.
    ///
    /// # Errors
    /// A type is unreadable, or types form a cycle.
    pub fn type_name(&self, id: Option<TypeId>) -> Result<String> {
        self.declared(id, String::new())
    }

    /// Whether a type is of a unit of Fortran.
    pub(crate) fn is_fortran(&self, id: TypeId) -> bool {
        let unit = self.type_of(id).and_then(|found| self.unit(found.unit));
        unit.is_ok_and(|facts| facts.language.is_fortran())
    }

    pub(in crate::debuginfo) fn declared(&self, id: Option<TypeId>, declarator: String) -> Result<String> {
        self.declare(id, declarator, &mut Budget { parts: MAX_PARTS, depth: 0 })
    }

    fn declare(&self, id: Option<TypeId>, declarator: String, budget: &mut Budget) -> Result<String> {
        let Some(id) = id else { return Ok(spaced("void", &declarator)) };
        budget.spend(id, declarator.len())?;
        let named = self.declare_inner(id, declarator, budget);
        budget.depth -= 1;
        named
    }

    fn declare_inner(&self, id: TypeId, declarator: String, budget: &mut Budget) -> Result<String> {
        let (qualifiers, found) = self.unqualified(id)?;
        let Some(found) = found else { return Ok(spaced(&qualifiers.before("void"), &declarator)) };
        let around = |to: Option<TypeId>, mark: &str, budget: &mut Budget| -> Result<String> {
            let marked = format!("{mark}{}", qualifiers.after(&declarator));
            let marked = if self.needs_parentheses(to)? { format!("({marked})") } else { marked };
            self.declare(to, marked, budget)
        };
        if self.unit(found.unit)?.language.is_fortran()
            && let Some(name) = self.fortran_name(&found, budget)?
        {
            return Ok(spaced(&qualifiers.before(&name), &declarator));
        }
        match &found.kind {
            TypeKind::Pointer { to, .. } => around(*to, "*", budget),
            TypeKind::Reference { to, is_rvalue, .. } => {
                around(*to, if *is_rvalue { "&&" } else { "&" }, budget)
            }
            TypeKind::PointerToMember { to, class, .. } => {
                let class = self.declare(*class, String::new(), budget)?;
                around(*to, &format!("{class}::*"), budget)
            }
            TypeKind::Array { element, dimensions, is_vector, .. } => {
                let mut declarator = declarator;
                for dimension in dimensions {
                    let count = match dimension.count() {
                        Some(count) => count.to_string(),
                        None if dimension.is_dynamic() => "variable length".to_owned(),
                        None => String::new(),
                    };
                    let part = match is_vector {
                        true if declarator.is_empty() => format!("__attribute__ ((vector_size({count})))"),
                        true => format!(" __attribute__ ((vector_size({count})))"),
                        false => format!("[{count}]"),
                    };
                    declarator.push_str(&part);
                }
                // A qualifier of an array applies to its elements.
                let named = self.declare(*element, declarator, budget)?;
                Ok(qualifiers.before(&named))
            }
            TypeKind::Subroutine { returns, parameters, this, is_variadic, is_prototyped, .. } => {
                let mut names = Vec::new();
                for (index, parameter) in parameters.iter().enumerate() {
                    // `this` is constant in C++; compilers omit the qualifier.
                    let constant = if *this == Some(index) { " const" } else { "" };
                    names.push(self.declare(*parameter, constant.to_owned(), budget)?);
                }
                match (names.is_empty(), is_variadic, is_prototyped) {
                    (_, true, _) => names.push("...".to_owned()),
                    (true, false, true) => names.push("void".to_owned()),
                    _ => {}
                }
                self.declare(*returns, format!("{declarator}({})", names.join(", ")), budget)
            }
            // A dynamic type has the name of its data's type.
            TypeKind::Typedef { of } if found.name.is_none() => {
                Ok(qualifiers.before(&self.declare(*of, declarator, budget)?))
            }
            TypeKind::String { length, .. } if found.name.is_none() => {
                let length = match (length, found.byte_size) {
                    (Some(Number::Dynamic(_)), _) => "variable length".to_owned(),
                    (Some(Number::Constant(length)), _) => length.to_string(),
                    (None, Some(size)) => size.to_string(),
                    (None, None) => String::new(),
                };
                Ok(spaced(&qualifiers.before("character"), &format!("{declarator}[{length}]")))
            }
            _ => Ok(spaced(&qualifiers.before(&self.spelled(&found)?), &declarator)),
        }
    }

    /// The name of a Fortran type in gdb's notation, in which an array's bounds follow its type; `None`: as in C. A
    /// bound that an object determines is `:`.
    fn fortran_name(&self, found: &Type, budget: &mut Budget) -> Result<Option<String>> {
        Ok(Some(match &found.kind {
            TypeKind::Pointer { to, .. } => {
                format!("PTR TO -> ( {} )", self.declare(*to, String::new(), budget)?)
            }
            TypeKind::Array { element, dimensions, rank, is_vector: false, .. } => {
                let element = self.declare(*element, String::new(), budget)?;
                let indirect = found.indirect.as_ref();
                let allocatable = match indirect.is_some_and(|indirect| indirect.allocated.is_some()) {
                    true => ", allocatable",
                    false => "",
                };
                let bounds = match rank {
                    Some(_) => "..".to_owned(),
                    None => {
                        let each: Vec<String> = dimensions.iter().rev().map(fortran_bounds).collect();
                        each.join(",")
                    }
                };
                format!("{element}{allocatable} ({bounds})")
            }
            TypeKind::Record(_) => match &found.name {
                // As in gdb, without the module.
                Some(name) => format!("Type {}", name.rsplit("::").next().unwrap_or(name)),
                None => return Ok(None),
            },
            TypeKind::String { length, .. } => match (length, found.byte_size) {
                (Some(Number::Constant(length)), _) => format!("character*{length}"),
                (None, Some(size)) => format!("character*{size}"),
                _ => "character*(*)".to_owned(),
            },
            _ => return Ok(None),
        }))
    }

    /// A type without its qualifiers, and the qualifiers.
    fn unqualified(&self, id: TypeId) -> Result<(Qualifiers, Option<std::sync::Arc<Type>>)> {
        let mut qualifiers = Qualifiers::default();
        let mut found = self.type_of(id)?;
        for _ in 0..MAX_TYPE_CHAIN {
            let TypeKind::Qualified { qualifier, of } = found.kind else {
                return Ok((qualifiers, Some(found)));
            };
            qualifiers.add(qualifier, self.unit(found.unit)?.language.is_c());
            let Some(of) = of else { return Ok((qualifiers, None)) };
            found = self.type_of(of)?;
        }
        Err(DebugInfoError::TooDeep { die: id.0, what: "qualifiers", limit: MAX_TYPE_CHAIN })
    }

    /// Whether `*` before the type needs parentheses: arrays and functions bind tighter.
    fn needs_parentheses(&self, to: Option<TypeId>) -> Result<bool> {
        let Some(to) = to else { return Ok(false) };
        let (_, found) = self.unqualified(to)?;
        Ok(found
            .is_some_and(|found| matches!(found.kind, TypeKind::Array { .. } | TypeKind::Subroutine { .. })))
    }

    /// The name of a type, or a keyword without one.
    fn spelled(&self, found: &Type) -> Result<String> {
        let keyword = match &found.kind {
            TypeKind::Record(record) => match record.kind {
                RecordKind::Struct => "struct",
                RecordKind::Class => "class",
                RecordKind::Union => "union",
            },
            TypeKind::Enum { .. } => "enum",
            _ => "",
        };
        Ok(match &found.name {
            Some(name) if !keyword.is_empty() && self.unit(found.unit)?.language.is_c() => {
                format!("{keyword} {name}")
            }
            Some(name) => name.to_string(),
            None if keyword.is_empty() => "<unnamed type>".to_owned(),
            None => format!("{keyword} {{...}}"),
        })
    }
}

/// The remaining budget of one name.
struct Budget {
    parts: usize,
    depth: usize,
}

impl Budget {
    /// `bytes`: those of the declarator around the type.
    fn spend(&mut self, id: TypeId, bytes: usize) -> Result<()> {
        self.depth += 1;
        match self.parts.checked_sub(1) {
            Some(parts) if self.depth <= MAX_TYPE_CHAIN && bytes <= MAX_NAME => {
                self.parts = parts;
                Ok(())
            }
            _ => Err(DebugInfoError::TooDeep { die: id.0, what: "types", limit: MAX_TYPE_CHAIN }),
        }
    }
}

/// The bounds of a dimension: the last index, after the first one if that is not 1.
fn fortran_bounds(dimension: &Dimension) -> String {
    let lower = match dimension.lower {
        Number::Constant(lower) => lower,
        Number::Dynamic(_) => return ":".to_owned(),
    };
    let first = if lower == 1 { String::new() } else { format!("{lower}:") };
    match dimension.count().and_then(|count| i64::try_from(count).ok()) {
        Some(count) => format!("{first}{}", lower.saturating_add(count).saturating_sub(1)),
        None if dimension.is_dynamic() => ":".to_owned(),
        None => format!("{first}*"),
    }
}

fn spaced(name: &str, declarator: &str) -> String {
    if declarator.is_empty() { name.to_owned() } else { format!("{name} {declarator}") }
}

/// The qualifiers of one type, in gdb's order.
#[derive(Debug, Default)]
struct Qualifiers {
    is_const: bool,
    is_volatile: bool,
    is_atomic: bool,
    restrict: Option<&'static str>,
}

impl Qualifiers {
    fn add(&mut self, qualifier: Qualifier, is_c: bool) {
        match qualifier {
            Qualifier::Const => self.is_const = true,
            Qualifier::Volatile => self.is_volatile = true,
            Qualifier::Atomic => self.is_atomic = true,
            Qualifier::Restrict => self.restrict = Some(if is_c { "restrict" } else { "__restrict__" }),
            Qualifier::Silent => {}
        }
    }

    fn words(&self) -> impl Iterator<Item = &'static str> {
        let word = |is: bool, word| is.then_some(word);
        let (first, second) = (word(self.is_const, "const"), word(self.is_volatile, "volatile"));
        [first, second, self.restrict, word(self.is_atomic, "_Atomic")].into_iter().flatten()
    }

    /// `const int`.
    fn before(&self, name: &str) -> String {
        self.words().flat_map(|word| [word, " "]).collect::<String>() + name
    }

    /// ` const` after a `*`, with the declared part.
    fn after(&self, declarator: &str) -> String {
        let words: String = self.words().flat_map(|word| [" ", word]).collect();
        // gdb separates two stars, `* const *`, but not a bracket, `* const[3]`.
        let gap = if !words.is_empty() && declarator.starts_with('*') { " " } else { "" };
        format!("{words}{gap}{declarator}")
    }
}
