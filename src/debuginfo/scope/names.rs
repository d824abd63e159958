//! Qualified names: the enclosing namespaces and classes of a DIE.

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::Arc;

use crate::bounds::MAX_TEMPLATE_DEPTH;
use crate::debuginfo::error::Result;
use crate::debuginfo::scope::cpp_name::without_folders;
use crate::debuginfo::types::TypeId;
use crate::debuginfo::types::children::{children, children_while};
use crate::debuginfo::types::name::MAX_NAME;
use crate::debuginfo::unit::die::{Die, Reading};
use crate::debuginfo::unit::sections::AttributeValue;
use crate::debuginfo::unit::sections::unsigned;

impl<'a> Reading<'a> {
    /// A name with the enclosing namespaces and classes of its DIE: `ns::Vec::x`.
    ///
    /// The rules are gdb's: an unnamed namespace is `(anonymous namespace)`; an unnamed class, or a function, ends the
    /// qualification.
    pub(in crate::debuginfo) fn qualified(self, die: &Die<'a>, name: &Arc<str>) -> Result<Arc<str>> {
        Ok(match self.scope(die)? {
            Some(scope) if name.len() <= MAX_NAME => Arc::from(format!("{scope}::{name}")),
            Some(_) | None => Arc::clone(name),
        })
    }

    /// The enclosing namespaces and classes of a DIE, joined by `::`.
    pub(in crate::debuginfo) fn scope(self, die: &Die<'a>) -> Result<Option<Arc<str>>> {
        let Some(innermost) = die.view.index().around(die.offset()).next() else { return Ok(None) };
        // The name of a class requires a read of its contents, and each type in the class has the name as a part.
        let (cache, key) = (&self.info.functions.scopes, (self.info.owner, innermost));
        if let Some(known) = cache.get(&key) {
            return Ok(known);
        }
        let scope = self.read_scope(die)?;
        // Names within template arguments may be cut.
        if NESTED.get().0 == 0 {
            let text = scope.as_ref().map_or(0, |scope| scope.len());
            return Ok(cache.keep(key, scope, text, MAX_CACHED_SCOPES));
        }
        Ok(scope)
    }

    fn read_scope(self, die: &Die<'a>) -> Result<Option<Arc<str>>> {
        let mut parts = Vec::new();
        for around in die.view.index().around(die.offset()) {
            // In a type unit the class around a type may be only a reference to the unit that defines it.
            let around = self.defined(self.die_near(&die.view, around)?)?;
            let own = self.template_name(&around)?;
            match (around.tag(), own) {
                (gimli::DW_TAG_subprogram | gimli::DW_TAG_entry_point, _) => break,
                (gimli::DW_TAG_enumeration_type, _) => {}
                (_, Some(own)) => parts.push(own),
                (gimli::DW_TAG_namespace, None) => parts.push(Arc::from("(anonymous namespace)")),
                (_, None) => break,
            }
        }
        parts.reverse();
        if parts.iter().map(|part| part.len()).sum::<usize>() > MAX_NAME {
            parts = vec![Arc::from("...")];
        }
        Ok((!parts.is_empty()).then(|| Arc::from(parts.join("::"))))
    }

    /// `DW_AT_name` without folders of the machine that compiled, with template arguments that compilers omit (`-gsimple-template-names`): they are children of the
    /// DIE.
    pub(in crate::debuginfo) fn template_name(self, die: &Die<'a>) -> Result<Option<Arc<str>>> {
        let Some(name) = die.string(gimli::DW_AT_name)?.map(without_folders_shared) else { return Ok(None) };
        let may_be = matches!(
            die.tag(),
            gimli::DW_TAG_structure_type
                | gimli::DW_TAG_class_type
                | gimli::DW_TAG_union_type
                | gimli::DW_TAG_subprogram
                | gimli::DW_TAG_template_alias
        );
        if !may_be || !die.entry.has_children() || name.contains('<') || name.len() > MAX_NAME {
            return Ok(Some(name));
        }
        let Some(nested) = Nested::enter() else { return Ok(Some(name)) };
        let mut arguments = Vec::new();
        let mut is_template = false;
        for parameter in template_parameters(die)? {
            is_template = true;
            match parameter.tag() {
                gimli::DW_TAG_GNU_template_parameter_pack => {
                    for member in children(&parameter)? {
                        arguments.push(self.template_argument(&member)?);
                    }
                }
                _ => arguments.push(self.template_argument(&parameter)?),
            }
        }
        if !is_template {
            return Ok(Some(name));
        }
        let mut arguments = arguments.join(", ");
        drop(nested);
        // Names of arguments are cached with their own arguments: each may double the text.
        if arguments.len() > MAX_NAME {
            arguments = "...".to_owned();
        }
        // clang's spelling in full names.
        let gap = if arguments.ends_with('>') { " " } else { "" };
        Ok(Some(Arc::from(format!("{name}<{arguments}{gap}>"))))
    }

    fn template_argument(self, parameter: &Die<'a>) -> Result<String> {
        if !Nested::spend() {
            return Ok("...".to_owned());
        }
        let type_id = parameter.reference(self.units, gimli::DW_AT_type)?.map(TypeId);
        if parameter.tag() == gimli::DW_TAG_GNU_template_template_param {
            let name = parameter.string(gimli::DW_AT_GNU_template_name)?;
            return Ok(name.map_or_else(String::new, |name| name.to_string()));
        }
        if parameter.tag() != gimli::DW_TAG_template_value_parameter {
            return self.info.type_name(type_id);
        }
        let Some(value) = parameter.entry.attr_value(gimli::DW_AT_const_value) else {
            return Ok(String::new());
        };
        let number = match &value {
            AttributeValue::Sdata(number) => i128::from(*number),
            value => unsigned(value).map_or(0, i128::from),
        };
        let spelled = self.info.type_name(type_id)?;
        Ok(match spelled.as_str() {
            "bool" => (number != 0).to_string(),
            "unsigned int" => format!("{number}U"),
            "long" => format!("{number}L"),
            "unsigned long" => format!("{number}UL"),
            "long long" => format!("{number}LL"),
            "unsigned long long" => format!("{number}ULL"),
            "int" => number.to_string(),
            other => format!("({other}){number}"),
        })
    }
}
/// [`without_folders`] of a shared name.
fn without_folders_shared(name: Arc<str>) -> Arc<str> {
    match without_folders(&name) {
        Cow::Borrowed(_) => name,
        Cow::Owned(text) => text.into(),
    }
}

/// Maximum cached names of scopes; a full cache drops all.
const MAX_CACHED_SCOPES: usize = 1 << 14;
/// Maximum arguments in one name: depth alone does not bound their number.
const MAX_ARGUMENTS: usize = 256;

thread_local! {
    /// The depth of nested arguments in this thread, and the remaining number of arguments. Type names pass through
    /// several independent caches, and a hostile type can be its own argument.
    static NESTED: Cell<(usize, usize)> = const { Cell::new((0, MAX_ARGUMENTS)) };
}

/// One level of template arguments, ended by drop.
struct Nested;

impl Nested {
    fn enter() -> Option<Self> {
        let (depth, left) = NESTED.get();
        if depth >= MAX_TEMPLATE_DEPTH {
            return None;
        }
        NESTED.set((depth + 1, if depth == 0 { MAX_ARGUMENTS } else { left }));
        Some(Self)
    }

    fn spend() -> bool {
        let (depth, left) = NESTED.get();
        NESTED.set((depth, left.saturating_sub(1)));
        left > 0
    }
}

impl Drop for Nested {
    fn drop(&mut self) {
        let (depth, left) = NESTED.get();
        NESTED.set((depth.saturating_sub(1), left));
    }
}

/// The children that are template parameters. In a function the first child other than a parameter ends them: it begins
/// the body.
fn template_parameters<'a>(die: &Die<'a>) -> Result<Vec<Die<'a>>> {
    let is_function = die.tag() == gimli::DW_TAG_subprogram;
    let wanted = |tag| match tag {
        gimli::DW_TAG_template_type_parameter
        | gimli::DW_TAG_template_value_parameter
        | gimli::DW_TAG_GNU_template_template_param
        | gimli::DW_TAG_GNU_template_parameter_pack => Some(true),
        gimli::DW_TAG_formal_parameter => Some(false),
        _ => (!is_function).then_some(false),
    };
    children_while(die, wanted)
}
