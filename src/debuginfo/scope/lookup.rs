//! Lookup of a typed name: types, enumerators and functions, in one unit or in all.
//!
//! There is no index by name: a lookup reads the units once, and they cache the results.

use std::sync::Arc;

use crate::debuginfo::DebugInfo;
use crate::debuginfo::error::Result;
use crate::debuginfo::facts::UnitId;
use crate::debuginfo::scope::function::Function;
use crate::debuginfo::scope::variable::{Variable, VariableKind};
use crate::debuginfo::types::{Type, TypeId, TypeKind};

/// The condition for a full name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// It equals the requested name.
    Whole,
    /// It ends with the requested name, after any namespaces and classes.
    Ending,
}

impl Naming {
    /// Whether a full name matches the requested one. The unnamed namespace may be omitted.
    #[must_use]
    pub fn matches(self, full: &str, asked: &str) -> bool {
        let asked = asked.strip_prefix("::").unwrap_or(asked);
        match asked.contains('<') {
            true => self.is_answered(&squeezed(full), &squeezed(asked)),
            false => self.is_answered(full, asked),
        }
    }

    fn is_answered(self, full: &str, asked: &str) -> bool {
        const ANONYMOUS: &str = "(anonymous namespace)::";
        let is_it = |full: &str| match self {
            Self::Whole => full == asked,
            Self::Ending => {
                full == asked || full.strip_suffix(asked).is_some_and(|rest| rest.ends_with("::"))
            }
        };
        is_it(full) || full.contains(ANONYMOUS) && is_it(&full.replace(ANONYMOUS, ""))
    }
}

/// A name without the optional spaces of template arguments, `Vec<float,3>`: compilers and users differ in them.
fn squeezed(name: &str) -> String {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut squeezed = String::with_capacity(name.len());
    let mut rest = name.chars().peekable();
    while let Some(c) = rest.next() {
        let between_words = squeezed.chars().next_back().is_some_and(is_word)
            && rest.peek().is_some_and(|next| is_word(*next));
        if !c.is_whitespace() || between_words {
            squeezed.push(c);
        }
    }
    squeezed
}

impl DebugInfo {
    /// The types of a unit with a name, in DIE order.
    ///
    /// # Errors
    /// The unit is unreadable. Unreadable types are omitted.
    pub fn named_types(&self, unit: UnitId) -> Result<Vec<Arc<Type>>> {
        let dwarf = self.sections.dwarf();
        let view = self.reading(&dwarf).view(unit)?;
        let types = view.index().types.iter().filter_map(|die| self.type_of(TypeId(*die)).ok());
        Ok(types.filter(|found| found.name.is_some()).collect())
    }

    /// The enumerator of a name in a unit, with its type: `RED`, `ns::RED`, `ns::Colour::RED`, `ns::Pass::First`.
    ///
    /// # Errors
    /// The unit is unreadable.
    pub fn enumerator_named(
        &self,
        unit: UnitId,
        name: &str,
        naming: Naming,
    ) -> Result<Option<(TypeId, i128)>> {
        let dwarf = self.sections.dwarf();
        let view = self.reading(&dwarf).view(unit)?;
        for die in &view.index().types {
            let Ok(found) = self.type_of(TypeId(*die)) else { continue };
            let TypeKind::Enum { scope, enumerators, .. } = &found.kind else { continue };
            for enumerator in enumerators.iter() {
                let own = &*enumerator.name;
                let is_in = |scope: &str| naming.matches(&format!("{scope}::{own}"), name);
                let is_it = match scope {
                    Some(scope) => is_in(scope),
                    None => naming.matches(own, name),
                };
                // C++ also takes the name of an `enum` as a qualifier.
                let is_it = is_it || found.name.as_deref().is_some_and(is_in);
                if is_it {
                    return Ok(Some((found.id, enumerator.value)));
                }
            }
        }
        Ok(None)
    }

    /// The function of a unit with code and a name: its source name, qualified or not, or its symbol.
    ///
    /// # Errors
    /// The unit is unreadable. Unreadable functions are omitted.
    pub fn function_named(&self, unit: UnitId, name: &str, naming: Naming) -> Result<Option<Arc<Function>>> {
        for die in self.functions(unit)? {
            let Ok(function) = self.function(die) else { continue };
            let is = |full: &Option<Arc<str>>| full.as_deref().is_some_and(|full| naming.matches(full, name));
            if is(&function.subprogram.qualified_name) || is(&function.subprogram.linkage_name) {
                return Ok(Some(function));
            }
        }
        Ok(None)
    }

    /// A variable of static storage within a unit's functions: `tile`, or `kernel::tile`.
    ///
    /// # Errors
    /// The unit is unreadable. Unreadable functions are omitted.
    pub fn static_named(&self, unit: UnitId, name: &str) -> Result<Option<Arc<Variable>>> {
        for die in self.functions(unit)? {
            let Ok(function) = self.function(die) else { continue };
            let variables = function.scopes.iter().flat_map(|scope| &scope.variables);
            for variable in variables.filter(|variable| variable.kind == VariableKind::Static) {
                let Some(own) = &variable.name else { continue };
                let full = match &function.subprogram.qualified_name {
                    Some(around) => format!("{around}::{own}"),
                    None => own.to_string(),
                };
                if Naming::Ending.matches(&full, name) {
                    return Ok(Some(Arc::clone(variable)));
                }
            }
        }
        Ok(None)
    }

    /// The name of a type around a declarator: `int (*)[4]` of `int` around `(*)[4]`.
    ///
    /// # Errors
    /// As [`Self::type_name`].
    pub fn type_name_around(&self, id: Option<TypeId>, declarator: &str) -> Result<String> {
        self.declared(id, declarator.to_owned())
    }
}
