//! Types by signature. The contents of type units (DWARF 5 section 3.1.4, and `.debug_types` of DWARF 4 section 3.1.3)
//! are copied into each unit that refers to them; a view has no type units.
//!
//! A unit refers to such a type by `DW_FORM_ref_sig8`, or by a declaration with `DW_AT_signature`, which the copy
//! completes. Only referenced types are copied, each DIE once for a unit. A list holds the remaining DIEs: types that
//! refer to one another need no recursion.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use gimli::write::{AttributeValue, ConvertResult, ConvertUnitEntry, UnitEntryId};
use gimli::{DwTag, UnitOffset, UnitRef, constants};

use super::entry::{Conversion, is_left_out};
use super::{Slice, location};
use crate::bounds::MAX_DEPTH;
use crate::debuginfo::{DebugInfo, Dies, UnitId};
use crate::units::DieOffset;

/// Maximum DIEs copied into one view, a bound on the growth of a small file. Units on stacks of a library refer to
/// fewer.
pub(super) const MAX_COPIED_DIES: usize = 1 << 20;

/// The type units from the view of one unit.
pub(super) struct Signed<'d> {
    debug: &'d DebugInfo,
    /// All sections; the converted unit may see fewer.
    dwarf: &'d gimli::Dwarf<Slice<'d>>,
    /// The unit's declarations with a signature.
    declarations: Declarations,
    units: HashMap<UnitId, Option<Rc<TypeUnit<'d>>>>,
    /// The copies of DIEs.
    copies: HashMap<DieOffset, UnitEntryId>,
    /// The copies with contents, as opposed to reservations.
    there: HashSet<UnitEntryId>,
    waiting: Vec<Waiting<'d>>,
    /// The unit under copy.
    copied_from: Option<Rc<TypeUnit<'d>>>,
}

/// Declarations with a signature, and the first declaration of each.
#[derive(Debug, Default)]
pub(super) struct Declarations {
    by_place: HashMap<UnitOffset, u64>,
    by_signature: HashMap<u64, UnitOffset>,
}

/// A type unit.
struct TypeUnit<'d> {
    unit: gimli::Unit<Slice<'d>>,
    start: DieOffset,
    /// The index of the type with the signature, among the DIEs.
    signed: usize,
    /// All DIEs of up to [`MAX_DEPTH`] levels, in the file's order.
    dies: Vec<TypeDie>,
    /// The first DIE that lies deeper.
    too_deep: Option<DieOffset>,
}

/// A DIE of a type unit.
struct TypeDie {
    at: UnitOffset,
    tag: DwTag,
    /// Its parent's index in the list; the root has none.
    parent: Option<usize>,
    /// The index of the first DIE after its descendants.
    end: usize,
    /// The index of the outermost enclosing DIE that is copied as a whole: a child of the unit, of a namespace or of
    /// a type in another type unit, or the type of the signature.
    top: usize,
    /// The signature, for a declaration of a type in another type unit.
    signature: Option<u64>,
}

/// A DIE to copy with its descendants.
struct Waiting<'d> {
    unit: Rc<TypeUnit<'d>>,
    top: usize,
    /// The declaration that it completes.
    declaration: Option<UnitOffset>,
}

impl Declarations {
    /// Records a declaration.
    pub(super) fn add(&mut self, at: UnitOffset, signature: u64) {
        self.by_place.insert(at, signature);
        self.by_signature.entry(signature).or_insert(at);
    }
}

impl<'d> Signed<'d> {
    pub(super) fn new(
        debug: &'d DebugInfo,
        dwarf: &'d gimli::Dwarf<Slice<'d>>,
        declarations: Declarations,
    ) -> Self {
        let (units, copies, there) = (HashMap::new(), HashMap::new(), HashSet::new());
        Self { debug, dwarf, declarations, units, copies, there, waiting: Vec::new(), copied_from: None }
    }

    /// All sections.
    pub(super) fn dwarf(&self) -> &'d gimli::Dwarf<Slice<'d>> {
        self.dwarf
    }

    /// The signature of the declaration at an offset of the converted unit.
    pub(super) fn declared(&self, at: UnitOffset) -> Option<u64> {
        self.declarations.by_place.get(&at).copied()
    }

    /// Records that the view has the contents of a DIE.
    pub(super) fn is_there(&mut self, id: UnitEntryId) {
        self.there.insert(id);
    }

    /// The first DIE of the type units that lies deeper than [`MAX_DEPTH`] levels.
    pub(super) fn too_deep(&self) -> Option<DieOffset> {
        self.units.values().flatten().filter_map(|unit| unit.too_deep).min()
    }

    /// Whether the conversion currently copies DIEs of a type unit.
    pub(super) fn is_copying(&self) -> bool {
        self.copied_from.is_some()
    }

    /// The DIE at an offset of the type unit under copy.
    pub(super) fn die(&self, at: UnitOffset) -> Option<DieOffset> {
        self.copied_from.as_ref().map(|unit| unit.die(at))
    }

    /// The DIE of the type with a signature.
    pub(super) fn type_die(&self, signature: u64) -> Option<DieOffset> {
        self.debug.signed_type(signature)
    }

    /// Whether the view has, or will have, the type with a signature.
    pub(super) fn has(&self, signature: u64) -> bool {
        self.type_die(signature).is_some_and(|die| self.copies.contains_key(&die))
    }

    /// The signature with the tag of its type, if a type unit has it.
    pub(super) fn tag(&mut self, signature: u64) -> Option<(u64, DwTag)> {
        let die = self.type_die(signature)?;
        let unit = self.unit(self.debug.unit_holding(die)?)?;
        Some((signature, unit.dies.get(unit.signed)?.tag))
    }

    fn unit(&mut self, id: UnitId) -> Option<Rc<TypeUnit<'d>>> {
        if let Some(known) = self.units.get(&id) {
            return known.clone();
        }
        let read = TypeUnit::read(self.debug, self.dwarf, id).map(Rc::new);
        self.units.insert(id, read.clone());
        read
    }
}

impl<'d> TypeUnit<'d> {
    fn read(debug: &'d DebugInfo, dwarf: &'d gimli::Dwarf<Slice<'d>>, id: UnitId) -> Option<Self> {
        let (unit, start) = debug.read_unit(dwarf, id).ok()?;
        let signed = debug.type_of_unit(id)?;
        let mut dies: Vec<TypeDie> = Vec::new();
        let mut around: Vec<(isize, usize)> = Vec::new();
        let mut too_deep = None;
        let mut entries = Dies::of(&unit, None).ok()?;
        let mut entry = gimli::DebuggingInformationEntry::null();
        while !entries.is_empty() {
            if !entries.read_entry(&mut entry).ok()? {
                continue;
            }
            if entry.depth() > MAX_DEPTH as isize {
                let die = || DieOffset(start.0.saturating_add(entry.offset().0 as u64));
                too_deep.get_or_insert_with(die);
                continue;
            }
            while around.pop_if(|(depth, _)| *depth >= entry.depth()).is_some() {}
            let parent = around.last().map(|(_, index)| *index);
            around.push((entry.depth(), dies.len()));
            let signature = signature_of(&entry);
            let (at, tag) = (entry.offset(), entry.tag());
            dies.push(TypeDie { at, tag, parent, end: 0, top: 0, signature });
        }
        // In reverse order: a DIE's descendants are complete before it.
        for index in (0..dies.len()).rev() {
            let end = dies.get(index)?.end.max(index + 1);
            let parent = dies.get_mut(index).and_then(|die| {
                die.end = end;
                die.parent
            });
            if let Some(parent) = parent.and_then(|parent| dies.get_mut(parent)) {
                parent.end = parent.end.max(end);
            }
        }
        let at = UnitOffset(usize::try_from(signed.0.checked_sub(start.0)?).ok()?);
        let signed = dies.binary_search_by_key(&at, |die| die.at).ok()?;
        for index in 0..dies.len() {
            let above = dies.get(index)?.parent.and_then(|parent| dies.get(parent));
            let is_in_type = |above: &&TypeDie| {
                index != signed
                    && above.parent.is_some()
                    && above.tag != constants::DW_TAG_namespace
                    && above.signature.is_none()
            };
            let top = above.filter(is_in_type).map_or(index, |above| above.top);
            if let Some(die) = dies.get_mut(index) {
                die.top = top;
            }
        }
        Some(Self { unit, start, signed, dies, too_deep })
    }

    fn die(&self, at: UnitOffset) -> DieOffset {
        DieOffset(self.start.0.saturating_add(at.0 as u64))
    }

    fn parent(&self, index: usize) -> Option<(usize, &TypeDie)> {
        let parent = self.dies.get(index)?.parent?;
        Some((parent, self.dies.get(parent)?))
    }
}

/// The signature of a declaration's type.
pub(super) fn signature_of(entry: &gimli::DebuggingInformationEntry<Slice<'_>>) -> Option<u64> {
    match entry.attr_value(constants::DW_AT_signature) {
        Some(gimli::AttributeValue::DebugTypesRef(signature)) => Some(signature.0),
        _ => None,
    }
}

impl<'d> Conversion<'_, '_, '_, 'd> {
    /// The copy of the type with a signature, or the declaration that becomes the copy.
    pub(super) fn signed_type(&mut self, signature: u64) -> Option<UnitEntryId> {
        let die = self.signed.type_die(signature)?;
        if let Some(known) = self.signed.copies.get(&die) {
            return Some(*known);
        }
        let unit = self.signed.unit(self.signed.debug.unit_holding(die)?)?;
        let at = self.signed.declarations.by_signature.get(&signature).copied();
        let declaration = at.and_then(|at| Some((at, self.to.convert_unit_ref(at).ok()?)));
        let top = unit.signed;
        self.reserve(unit, top, declaration);
        self.signed.copies.get(&die).copied()
    }

    /// The copy of a DIE of the type unit under copy.
    pub(super) fn copy_of(&mut self, at: UnitOffset) -> Option<UnitEntryId> {
        let unit = self.signed.copied_from.clone()?;
        let index = unit.dies.binary_search_by_key(&at, |die| die.at).ok()?;
        let TypeDie { signature, top, .. } = *unit.dies.get(index)?;
        if let Some(signature) = signature {
            return self.signed_type(signature);
        }
        let die = unit.die(at);
        if !self.signed.copies.contains_key(&die) {
            self.reserve(Rc::clone(&unit), top, None);
        }
        self.signed.copies.get(&die).copied()
    }

    /// Reserves ids for a DIE and its descendants, and adds the DIE to the list.
    fn reserve(
        &mut self,
        unit: Rc<TypeUnit<'d>>,
        top: usize,
        declaration: Option<(UnitOffset, UnitEntryId)>,
    ) {
        let Some(dies) = unit.dies.get(top).and_then(|die| unit.dies.get(top..die.end)) else { return };
        if self.plans.copied.saturating_add(dies.len()) > MAX_COPIED_DIES {
            let problem = "types of type units are left out: there are more than a view can hold";
            self.plans.problems.insert(problem.to_owned());
            return;
        }
        self.plans.copied += dies.len();
        for (index, die) in dies.iter().enumerate() {
            let id = match declaration {
                Some((_, id)) if index == 0 => id,
                _ => self.to.unit.reserve(),
            };
            self.signed.copies.insert(unit.die(die.at), id);
        }
        let declaration = declaration.map(|(at, _)| at);
        self.signed.waiting.push(Waiting { unit, top, declaration });
    }

    /// Copies all referenced types.
    pub(super) fn copy_types(&mut self) -> ConvertResult<()> {
        let mut postponed: Vec<Waiting<'d>> = Vec::new();
        let mut progress = true;
        loop {
            while let Some(next) = self.signed.waiting.pop() {
                self.signed.copied_from = Some(Rc::clone(&next.unit));
                match self.parent_of(&next, !progress) {
                    Some(parent) => {
                        self.copy(&next, parent)?;
                        progress = true;
                    }
                    // Its parent is not copied yet.
                    None => postponed.push(next),
                }
            }
            self.signed.copied_from = None;
            if postponed.is_empty() {
                break;
            }
            // In a cycle of nested types one of them becomes a child of the unit.
            if !progress && let Some(one) = postponed.pop() {
                self.signed.waiting.push(one);
            } else {
                self.signed.waiting.append(&mut postponed);
                progress = false;
            }
        }
        self.fill_gaps();
        Ok(())
    }

    /// The parent of a copy; `None` if the view does not have it yet. With `anywhere`, always some parent.
    fn parent_of(&mut self, waiting: &Waiting<'d>, anywhere: bool) -> Option<UnitEntryId> {
        let root = self.to.unit.root();
        let unit = &waiting.unit;
        let Some((parent, die)) = unit.parent(waiting.top) else { return Some(root) };
        if waiting.declaration.is_some() || die.parent.is_none() {
            return Some(root);
        }
        let Some(signature) = die.signature else { return Some(self.namespace(unit, parent)) };
        let Some(found) = self.signed_type(signature) else { return Some(root) };
        match self.signed.there.contains(&found) {
            true if self.is_deep(found) => Some(root),
            true => Some(found),
            false => anywhere.then_some(root),
        }
    }

    /// Whether a DIE of the view is too deep for a type below it: types of one unit may be nested in types of
    /// another, and those in types of a third.
    fn is_deep(&self, die: UnitEntryId) -> bool {
        let around = std::iter::successors(Some(die), |die| self.to.unit.get(*die).parent());
        around.take(MAX_DEPTH / 2).count() == MAX_DEPTH / 2
    }

    /// The copy of a namespace, without its contents.
    fn namespace(&mut self, unit: &Rc<TypeUnit<'d>>, index: usize) -> UnitEntryId {
        let mut missing = Vec::new();
        let mut at = Some(index);
        let mut parent = self.to.unit.root();
        while let Some(index) = at
            && let Some(die) = unit.dies.get(index).filter(|die| die.parent.is_some())
        {
            if let Some(known) = self.signed.copies.get(&unit.die(die.at)) {
                parent = *known;
                break;
            }
            missing.push(die);
            at = die.parent;
        }
        for die in missing.into_iter().rev() {
            parent = self.to.unit.add(parent, constants::DW_TAG_namespace);
            self.signed.copies.insert(unit.die(die.at), parent);
            self.signed.there.insert(parent);
            let Ok(entry) = ConvertUnitEntry::read(UnitRef::new(self.signed.dwarf, &unit.unit), die.at)
            else {
                continue;
            };
            for attribute in entry.attrs.iter().filter(|attribute| {
                matches!(attribute.name(), constants::DW_AT_name | constants::DW_AT_export_symbols)
            }) {
                if let Some(value) = self.converted(&entry, attribute) {
                    self.to.unit.get_mut(parent).set(attribute.name(), value);
                }
            }
        }
        parent
    }

    /// Copies a DIE and its descendants.
    fn copy(&mut self, waiting: &Waiting<'d>, parent: UnitEntryId) -> ConvertResult<()> {
        let Waiting { unit, top, declaration } = waiting;
        let has_already = declaration.map(|at| self.functions_below(at)).unwrap_or_default();
        let mut index = *top;
        let end = unit.dies.get(index).map_or(index, |die| die.end);
        while let Some(die) = unit.dies.get(index).filter(|_| index < end) {
            let read = UnitRef::new(self.signed.dwarf, &unit.unit);
            let Some(id) = self.signed.copies.get(&unit.die(die.at)).copied() else { break };
            let mut entry = ConvertUnitEntry::read(read, die.at)?;
            let is_top = index == *top;
            let is_had =
                || function_name(read, &entry.read_entry).is_some_and(|name| has_already.contains(&name));
            // A type of another type unit comes from there; a function of the declaration is not copied again.
            if !is_top && (die.signature.is_some() || is_had() || is_left_out(self.unit, &entry)) {
                index = die.end;
                continue;
            }
            if is_top && declaration.is_some() {
                self.attributes(id, &entry, unit.die(die.at), None)?;
            } else {
                let above = unit.parent(index).map(|(_, above)| unit.die(above.at));
                let above = above.and_then(|above| self.signed.copies.get(&above)).copied();
                entry.parent = if is_top { Some(parent) } else { above };
                self.signed.is_there(id);
                self.entry(id, &entry, unit.die(die.at), None)?;
            }
            index += 1;
        }
        Ok(())
    }

    /// The symbols of the functions in a declaration of the converted unit.
    fn functions_below(&self, declaration: UnitOffset) -> HashSet<Vec<u8>> {
        let read = self.to.read_unit;
        let mut found = HashSet::new();
        let Ok(mut entries) = Dies::of(read.unit, Some(declaration)) else { return found };
        let mut entry = gimli::DebuggingInformationEntry::null();
        while let Ok(is_die) = entries.read_entry(&mut entry) {
            if is_die && entry.depth() <= 0 && entry.offset() != declaration || entries.is_empty() {
                break;
            }
            found.extend(function_name(read, &entry).filter(|_| is_die));
        }
        found
    }

    /// Reserved DIEs without contents, because they are unreadable or a stock debugger would misread them: they
    /// become unspecified types for the DIEs that refer to them.
    fn fill_gaps(&mut self) {
        let root = self.to.unit.root();
        for id in self.signed.copies.values() {
            if self.signed.there.insert(*id) {
                self.to.unit.add_reserved(*id, root, constants::DW_TAG_unspecified_type);
            }
        }
    }

    /// An attribute of a DIE under copy, if it means the same in the converted unit.
    pub(super) fn copied(
        &mut self,
        entry: &ConvertUnitEntry<'_, Slice<'d>>,
        attribute: &gimli::Attribute<Slice<'d>>,
    ) -> Option<AttributeValue> {
        match attribute.value() {
            gimli::AttributeValue::UnitRef(at) => self.copy_of(at).map(AttributeValue::UnitRef),
            // The unit's line table has other files.
            _ if matches!(
                attribute.name(),
                constants::DW_AT_decl_file | constants::DW_AT_decl_line | constants::DW_AT_decl_column
            ) =>
            {
                None
            }
            gimli::AttributeValue::Exprloc(_) => location::copied(attribute, entry.read_unit),
            gimli::AttributeValue::DebugInfoRef(_)
            | gimli::AttributeValue::LocationListsRef(_)
            | gimli::AttributeValue::DebugLocListsIndex(_)
            | gimli::AttributeValue::RangeListsRef(_)
            | gimli::AttributeValue::DebugRngListsIndex(_) => None,
            _ => self.as_it_is(entry, attribute),
        }
    }
}

/// The symbol of a function, or its name if it has none.
fn function_name<'r>(
    unit: UnitRef<'_, Slice<'r>>,
    entry: &gimli::DebuggingInformationEntry<Slice<'r>>,
) -> Option<Vec<u8>> {
    if entry.tag() != constants::DW_TAG_subprogram {
        return None;
    }
    let names = [constants::DW_AT_linkage_name, constants::DW_AT_name];
    let value = names.into_iter().find_map(|name| entry.attr_value(name))?;
    unit.attr_string(value).ok().map(|name| name.slice().to_vec())
}
