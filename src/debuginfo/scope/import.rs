//! Names that `using` imports into a scope: imported declarations and modules. DWARF 5 sections 3.2.3 to 3.2.5.

use std::sync::Arc;

use crate::bounds::MAX_IMPORTS;
use crate::debuginfo::DebugInfo;
use crate::debuginfo::error::Result;
use crate::debuginfo::facts::UnitId;
use crate::debuginfo::unit::die::Reading;
use crate::units::DieOffset;

/// A name, or the names of a namespace, visible outside of their own scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The full name of the target: `ns::x`, `outer::ns`.
    pub of: Arc<str>,
    /// The imported entity.
    pub kind: ImportKind,
}

/// The entity of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImportKind {
    /// All names of a namespace: `using namespace ns`.
    Namespace,
    /// One name, the target's last part or the import's own: `using ns::x`, `namespace other = ns`.
    Name(Arc<str>),
}

impl Import {
    /// The full name of a name's target through this import.
    #[must_use]
    pub fn meant(&self, name: &str) -> Option<String> {
        match &self.kind {
            ImportKind::Namespace => Some(format!("{}::{name}", self.of)),
            ImportKind::Name(own) => {
                let rest = name.strip_prefix(&**own)?;
                (rest.is_empty() || rest.starts_with("::")).then(|| format!("{}{rest}", self.of))
            }
        }
    }
}

impl DebugInfo {
    /// The import of a DIE; `None` if its target has no name.
    ///
    /// # Errors
    /// The DIE is unreadable.
    pub fn import(&self, die: DieOffset) -> Result<Option<Import>> {
        let dwarf = self.sections.dwarf();
        read(self.reading(&dwarf), die)
    }

    /// The imports of a unit outside of functions, each with its enclosing namespace or class (`""`: none). Unreadable
    /// ones are omitted.
    ///
    /// # Errors
    /// The unit is unreadable.
    pub fn imports(&self, unit: UnitId) -> Result<Vec<(Arc<str>, Import)>> {
        let dwarf = self.sections.dwarf();
        let reading = self.reading(&dwarf);
        let view = reading.view(unit)?;
        let each = view.index().imports.iter().filter_map(|die| {
            let scope = reading.scope(&reading.die(*die).ok()?).ok()?;
            Some((scope.unwrap_or_else(|| Arc::from("")), read(reading, *die).ok()??))
        });
        Ok(each.collect())
    }
}

fn read(reading: Reading<'_>, die: DieOffset) -> Result<Option<Import>> {
    let mut die = reading.die(die)?;
    let is_namespace = die.tag() == gimli::DW_TAG_imported_module;
    let mut alias = die.string(gimli::DW_AT_name)?;
    for _ in 0..MAX_IMPORTS {
        let Some(target) = die.reference(reading.units, gimli::DW_AT_import)? else { return Ok(None) };
        die = reading.die_near(&die.view, target)?;
        if die.tag() == gimli::DW_TAG_imported_declaration {
            alias = alias.or(die.string(gimli::DW_AT_name)?);
            continue;
        }
        let origins = reading.with_origins(die)?;
        let named = origins.having(gimli::DW_AT_name);
        let Some(own) = named.map(|named| reading.template_name(named)).transpose()?.flatten() else {
            return Ok(None);
        };
        let Some(declaration) = origins.last() else { return Ok(None) };
        let of = reading.qualified(declaration, &own)?;
        let kind = match is_namespace {
            true => ImportKind::Namespace,
            false => ImportKind::Name(alias.unwrap_or(own)),
        };
        return Ok(Some(Import { of, kind }));
    }
    Ok(None)
}
