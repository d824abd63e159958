//! All expressions of a unit with their positions and PCs, for the listing of a code object.
//!
//! An expression is identified by the attribute's form, not its name: the list includes unknown attributes. Blocks of
//! DWARF 2 and 3 are expressions for the attributes that DWARF lists.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use crate::codeobject::{Bytes, ElfAddress};
use crate::debuginfo::DebugInfo;
use crate::debuginfo::attribute::AttributeName;
use crate::debuginfo::diagnostics::Diagnostics;
use crate::debuginfo::error::{DebugInfoError, Result};
use crate::debuginfo::facts::UnitId;
use crate::debuginfo::scope::subprogram::Subprogram;
use crate::debuginfo::unit::attr::Heterogeneous;
use crate::debuginfo::unit::die::{Die, Reading};
use crate::debuginfo::unit::index::is_function;
use crate::debuginfo::unit::location::LocationAttribute;
use crate::debuginfo::unit::sections::{AttributeValue, Entry};
use crate::units::DieOffset;

/// The PCs of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pcs {
    /// All PCs: the expression is outside of location lists.
    All,
    /// The PCs of an entry of a location list.
    Range(Range<ElfAddress>),
    /// The PCs that no other entry of the location list contains.
    Default,
}

/// An expression with its position.
#[derive(Clone, Debug)]
pub struct Expression {
    /// The DIE.
    pub die: DieOffset,
    /// The DIE's tag, `DW_TAG_variable`.
    pub tag: String,
    /// The name of the DIE or of its origin.
    pub name: Option<Arc<str>>,
    /// The innermost enclosing function or inlined call; the DIE itself if it is one.
    pub function: Option<Arc<Subprogram>>,
    /// The attribute.
    pub attribute: AttributeName,
    /// Its PCs.
    pub pcs: Pcs,
    /// The expression, undecoded.
    pub bytes: Bytes,
}

/// List entries that every unit may have, whatever the size of its sections.
const MIN_ENTRIES: usize = 1024;
const TOO_MANY: &str =
    "DIEs share lists, which have more entries in all than their section has bytes; the rest is left out";

/// Attributes whose blocks are expressions in DWARF 2 and 3, section 7.5.4.
const LOCATIONS: [gimli::DwAt; 9] = [
    gimli::DW_AT_location,
    gimli::DW_AT_string_length,
    gimli::DW_AT_return_addr,
    gimli::DW_AT_data_member_location,
    gimli::DW_AT_frame_base,
    gimli::DW_AT_segment,
    gimli::DW_AT_static_link,
    gimli::DW_AT_use_location,
    gimli::DW_AT_vtable_elem_location,
];

impl DebugInfo {
    /// Visits every expression of a unit, in the order of DIEs, attributes and list entries. An unreadable location
    /// list is an error in its position, and the visit continues.
    ///
    /// # Errors
    /// The unit does not exist, or a DIE is unreadable.
    pub fn expressions(&self, unit: UnitId, mut each: impl FnMut(Result<Expression>)) -> Result<()> {
        let dwarf = self.sections.dwarf();
        let reading = self.reading(&dwarf);
        let view = Rc::new(reading.view(unit)?);
        let mut raw = view.entries_from(view.die_offset(view.unit.header.root_offset()))?;
        // Lists without overlap have at most as many entries and bytes of expressions as their section has bytes.
        let mut capacity = Some(self.list_bytes().locations.saturating_add(MIN_ENTRIES));
        // Enclosing functions of the DIE, with the depth of their children.
        let mut functions: Vec<(isize, Arc<Subprogram>)> = Vec::new();
        while !raw.is_empty() {
            let (offset, depth) = (raw.next_offset(), raw.next_depth());
            let mut entry = Entry::null();
            let fail = |why| view.broken(view.die_offset(offset), why);
            if !raw.read_entry(&mut entry).map_err(fail)? {
                continue;
            }
            while functions.pop_if(|(children, _)| *children > depth).is_some() {}
            let die = Die { view: Rc::clone(&view), entry };
            if is_function(die.tag()) || die.tag() == gimli::DW_TAG_inlined_subroutine {
                let mut damage = Diagnostics::default();
                let origins = reading.with_sound_origins(die.clone(), &mut damage);
                let function = Subprogram::read(reading, &origins, die.offset(), &mut damage);
                damage.into_problems().into_iter().for_each(|problem| each(Err(problem)));
                functions.push((depth + 1, Arc::new(function)));
            }
            let function = functions.last().map(|(_, function)| function);
            self.of_die(reading, &die, function, &mut capacity, &mut each)?;
        }
        Ok(())
    }

    fn of_die<'a>(
        &self,
        reading: Reading<'a>,
        die: &Die<'a>,
        function: Option<&Arc<Subprogram>>,
        capacity: &mut Option<usize>,
        each: &mut impl FnMut(Result<Expression>),
    ) -> Result<()> {
        let mut named = None;
        let unit = die.view.facts().id;
        for (name, value) in locations(die) {
            let found = die.location_attribute(&self.sections, name, value);
            let entries = found.and_then(|found| match found {
                LocationAttribute::Expression(bytes) => Ok(vec![(Pcs::All, bytes)]),
                LocationAttribute::List(_) if capacity.is_none() => Ok(Vec::new()),
                LocationAttribute::List(list) => {
                    let entries = self.location_list(unit, list)?;
                    let bytes: usize = entries.iter().map(|entry| entry.expression.len()).sum();
                    *capacity = capacity
                        .and_then(|capacity| capacity.checked_sub(entries.len().saturating_add(bytes)));
                    if capacity.is_none() {
                        let (unit, what) = (die.view.facts().offset, "location lists");
                        return Err(DebugInfoError::Bound { unit, what, why: TOO_MANY });
                    }
                    let entries = entries.into_iter();
                    let pcs = |range: Option<_>| range.map_or(Pcs::Default, Pcs::Range);
                    Ok(entries.map(|entry| (pcs(entry.range), entry.expression)).collect())
                }
                LocationAttribute::Missing | LocationAttribute::Constant(_) => Ok(Vec::new()),
                LocationAttribute::Broken(why) => Err(*why),
            });
            let entries = match entries {
                Ok(entries) => entries,
                Err(problem) => {
                    each(Err(problem));
                    continue;
                }
            };
            let own = match &named {
                Some(own) => Option::clone(own),
                None => {
                    let mut damage = Diagnostics::default();
                    let origins = reading.with_sound_origins(die.clone(), &mut damage);
                    let own = damage.absent(origins.string(gimli::DW_AT_name));
                    damage.into_problems().into_iter().for_each(|problem| each(Err(problem)));
                    named.insert(own).clone()
                }
            };
            for (pcs, bytes) in entries {
                each(Ok(Expression {
                    die: die.offset(),
                    tag: die.tag_name(),
                    name: own.clone(),
                    function: function.cloned(),
                    attribute: AttributeName::of(name, die.view.facts()),
                    pcs,
                    bytes,
                }));
            }
        }
        Ok(())
    }
}

/// The attributes of a DIE that are expressions or lists of expressions.
fn locations<'a>(die: &Die<'a>) -> Vec<(gimli::DwAt, AttributeValue<'a>)> {
    /// Attributes that can be location lists; gimli recognizes only DWARF 5 names.
    const EXTENSIONS: [Heterogeneous; 8] = [
        Heterogeneous::ActiveLane,
        Heterogeneous::LanePc,
        Heterogeneous::Lanes,
        Heterogeneous::MemLocation,
        Heterogeneous::CntlOrdinal,
        Heterogeneous::VecLocation,
        Heterogeneous::ElementSize,
        Heterogeneous::ElementCount,
    ];
    let extensions = EXTENSIONS.map(|wanted| die.extension(wanted));
    let value = |attribute: &gimli::Attribute<_>| {
        let name = attribute.name();
        let known = extensions.iter().flatten().find(|(extension, _)| *extension == name);
        let value = known.map_or_else(|| attribute.value(), |(_, value)| *value);
        let is_location = match &value {
            AttributeValue::Exprloc(_)
            | AttributeValue::LocationListsRef(_)
            | AttributeValue::DebugLocListsIndex(_) => true,
            AttributeValue::Block(_) => LOCATIONS.contains(&name),
            _ => false,
        };
        is_location.then_some((name, value))
    };
    die.entry.attrs().iter().filter_map(value).collect()
}
