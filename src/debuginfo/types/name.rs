//! Type names in the notation of gdb's `whatis`: `float *`, `int [4]`, `const int *`, `void (*)(int)`.
//!
//! A declarator starts empty and grows by `*`, `[4]` or `(int)` until the type has a name, which then precedes it.

use crate::bounds::MAX_TYPE_CHAIN;
use crate::debuginfo::DebugInfo;
use crate::debuginfo::error::{DebugInfoError, Result};
use crate::debuginfo::types::{Number, Qualifier, RecordKind, Type, TypeId, TypeKind};

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
            // gdb's notation of Fortran strings.
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
