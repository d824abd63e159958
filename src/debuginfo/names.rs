//! Qualified names: which namespaces and classes a DIE stands in.

use std::sync::Arc;

use super::die::{Die, Reading};
use super::error::Result;

impl<'a> Reading<'a> {
    /// A name with the namespaces and classes around its DIE: `ns::Vec::x`.
    ///
    /// As gdb does: the namespace without a name is `(anonymous namespace)`; a class without a name, and a function,
    /// end the qualification.
    pub(super) fn qualified(self, die: &Die<'a>, name: &Arc<str>) -> Result<Arc<str>> {
        Ok(match self.scope(die)? {
            Some(scope) => Arc::from(format!("{scope}::{name}")),
            None => Arc::clone(name),
        })
    }

    /// The namespaces and classes around a DIE, joined by `::`.
    pub(super) fn scope(self, die: &Die<'a>) -> Result<Option<Arc<str>>> {
        let mut parts = Vec::new();
        for around in die.view.index().around(die.offset()) {
            let around = self.die_near(&die.view, around)?;
            let own = around.string(gimli::DW_AT_name)?;
            match (around.tag(), own) {
                (gimli::DW_TAG_subprogram, _) => break,
                (gimli::DW_TAG_enumeration_type, _) => {}
                (_, Some(own)) => parts.push(own),
                (gimli::DW_TAG_namespace, None) => parts.push(Arc::from("(anonymous namespace)")),
                (_, None) => break,
            }
        }
        parts.reverse();
        Ok((!parts.is_empty()).then(|| Arc::from(parts.join("::"))))
    }
}
