//! Conversion DIE by DIE: kept, changed and removed ones.
//!
//! Measured limits of stock debuggers: gdb runs its own x86 analysis unless `DW_AT_producer` is GCC; after a pointer of
//! 4 bytes gdb assumes that size for all pointers to the type; LLDB prints nothing of OpenCL; address classes are not
//! x86's; call site parameters use registers that x86 lacks.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use gimli::write::{
    Address, AttributeValue, ConvertResult, ConvertUnit, ConvertUnitEntry, Expression, UnitEntryId,
};
use gimli::{DwAt, DwTag, constants};

use super::context::Unit;
use super::filter::{Outline, TypeRef, has_code, own};
use super::group::Others;
use super::helpers::Kernel;
use super::ranges::{self, Places};
use super::signed::{Signed, signature_of};
use super::sources::RenamedUnit;
use super::texts::Texts;
use super::types::SmallPointers;
use super::{MAX_ROWS, Plans, Slice, lines, location, outline, texts, types};
use crate::bounds::MAX_DEPTH;
use crate::clean::clean;
use crate::dwarf::draft;
use crate::units::{BitSize, DieOffset};
use crate::view::layout::Planner;

/// The start of `DW_AT_producer`, which makes gdb trust the call frame information of an epilogue.
const PRODUCER: &str = "GNU C++14 13.0.0 (lanescope; ";
/// `DW_LANG_C_plus_plus_14`, which both debuggers know.
const CPP: constants::DwLang = constants::DW_LANG_C_plus_plus_14;
/// `DW_LANG_LLVM_HIP` of the 2020 proposal.
const LLVM_HIP: u16 = 0x8100;
/// `DW_LANG_HIP`, as registered.
const HIP: u16 = 0x30;
/// The first vendor attribute.
const VENDORS: u16 = 0x2000;

/// Attributes that locate code.
const CODE: [DwAt; 8] = [
    constants::DW_AT_low_pc,
    constants::DW_AT_high_pc,
    constants::DW_AT_ranges,
    constants::DW_AT_entry_pc,
    constants::DW_AT_call_pc,
    constants::DW_AT_call_return_pc,
    constants::DW_AT_call_target,
    constants::DW_AT_call_target_clobbered,
];

/// Ranges of location lists, by the lists' offsets and the size of a number.
type Lists = HashMap<(usize, Option<BitSize>), Rc<[Range<u64>]>>;

/// The state of a unit's conversion.
pub(super) struct Conversion<'c, 'u, 'a, 'r> {
    pub(super) unit: &'c Unit<'u>,
    pub(super) others: &'c Others<'r>,
    pub(super) to: &'c mut ConvertUnit<'a, Slice<'r>>,
    pub(super) plans: &'c mut Plans,
    pub(super) small: SmallPointers,
    pub(super) signed: Signed<'r>,
    pub(super) lists: Lists,
    pub(super) kernel: Kernel,
}

/// The surroundings of a DIE.
#[derive(Clone, Copy)]
struct Around {
    depth: isize,
    /// `None`: the DIE and its descendants are left out.
    function: Option<DieOffset>,
}

pub(super) fn convert<'r>(
    unit: &Unit<'_>,
    others: &Others<'r>,
    outlines: &HashMap<DieOffset, Outline>,
    to: &mut ConvertUnit<'_, Slice<'r>>,
    root: &ConvertUnitEntry<'_, Slice<'r>>,
    plans: &mut Plans,
    signed: Signed<'r>,
) -> ConvertResult<()> {
    let name = unit.facts.name.as_deref().unwrap_or("without a name").to_owned();
    let problem = |plans: &mut Plans, words: String| plans.problems.insert(format!("unit {name}: {words}"));
    let mut renamed = RenamedUnit::default();
    let rows = if unit.is_only_referred_to { None } else { Some(&mut plans.rows) };
    let has_lines = match lines::convert(to, rows, &plans.sources) {
        Ok(Some(lines::Lines { program, files, left_out, is_cut, unit })) => {
            for path in &unit.differing {
                problem(
                    plans,
                    format!("source file {path}: the dump's text differs from what was compiled (MD5)"),
                );
            }
            plans.mapped.extend(&unit.mapped);
            renamed = unit;
            if is_cut {
                problem(
                    plans,
                    format!("line table: more than {MAX_ROWS} rows; those after them are left out"),
                );
            }
            if left_out > 0 {
                problem(plans, left_out_rows(left_out));
            }
            to.set_line_program(program, files);
            true
        }
        Ok(None) => false,
        Err(why) => {
            problem(plans, format!("it has no lines: {why}"));
            false
        }
    };
    let first = plans.code.len();
    let mut places = Places::new(plans.places);
    let (small, lists) = (SmallPointers::default(), HashMap::new());
    let kernel = Kernel::default();
    let mut conversion = Conversion { unit, others, to, plans, small, signed, lists, kernel };
    conversion.root(root, has_lines, renamed)?;
    let mut entry = conversion.to.null_entry();
    let mut around: Vec<Around> = Vec::new();
    let mut too_deep = None;
    while let Some(id) = conversion.to.read_entry(&mut entry)? {
        while around.pop_if(|outer| outer.depth >= entry.depth()).is_some() {}
        let outer = around.last().copied();
        let die = unit.die(entry.read_unit, entry.offset());
        let Some(id) = id else {
            if let Some(outline) = outlines.get(&die) {
                outline::convert(&mut conversion, &entry, outline)?;
            }
            continue;
        };
        let left_out = outer.is_some_and(|outer| outer.function.is_none());
        // gimli writes DIEs by recursion.
        let is_too_deep = entry.depth() > MAX_DEPTH as isize;
        if is_too_deep {
            too_deep.get_or_insert(die);
        }
        if left_out || is_too_deep || is_left_out(unit, &entry) {
            conversion.plans.has_gaps = true;
            around.push(Around { depth: entry.depth(), function: None });
            continue;
        }
        let is_function = is_function(entry.tag()) && has_code(&entry.read_entry);
        if !places.holds(&entry, is_function) {
            entry.read_entry.attrs.retain(|attribute| !ranges::PLACES.contains(&attribute.name()));
        }
        let function = if is_function { Some(die) } else { outer.and_then(|outer| outer.function) };
        conversion.entry(id, &entry, die, function)?;
        if let Some(function) = function {
            around.push(Around { depth: entry.depth(), function: Some(function) });
        }
    }
    conversion.copy_types()?;
    let Conversion { to, plans, signed, .. } = conversion;
    if ranges::hold(to, root, plans.code.get(first..).unwrap_or_default()) {
        problem(plans, "its code is not all within its ranges".to_owned());
    }
    for die in [too_deep, signed.too_deep()].into_iter().flatten() {
        problem(
            plans,
            format!("DIE {die} lies deeper than {MAX_DEPTH} levels; all DIEs as deep are left out"),
        );
    }
    if places.unread > 0 {
        let count = places.unread;
        problem(plans, format!("{count} blocks have more ranges than a view can hold; they have no place"));
    }
    if places.left_out > 0 {
        problem(plans, left_out_places(places.left_out));
    }
    Ok(())
}

fn left_out_rows(count: usize) -> String {
    let rows = if count == 1 { "row of its line table is" } else { "rows of its line table are" };
    format!("{count} {rows} left out, where no instruction can begin or the addresses go backwards")
}

fn left_out_places(count: usize) -> String {
    let (blocks, them) =
        if count == 1 { ("block lies", "it, and is") } else { ("blocks lie", "them, and are") };
    format!("{count} {blocks} outside of the code that holds {them} shown without a place")
}

pub(super) fn constant(address: u64) -> Option<Address> {
    Some(Address::Constant(address))
}

fn is_function(tag: DwTag) -> bool {
    matches!(tag, constants::DW_TAG_subprogram | constants::DW_TAG_entry_point)
}

/// DIEs that a stock debugger would misread: a call's arguments in the target's registers, tags of the drafts, and
/// members whose position it cannot compute.
pub(super) fn is_left_out(unit: &Unit<'_>, entry: &ConvertUnitEntry<'_, Slice<'_>>) -> bool {
    let is_draft = unit.facts.is_draft() && draft::numbers().tag_named(entry.tag().0).is_some();
    is_draft
        || matches!(
            entry.tag(),
            constants::DW_TAG_call_site_parameter | constants::DW_TAG_GNU_call_site_parameter
        )
        || entry.tag() == constants::DW_TAG_member
            && entry.attrs.iter().any(|attribute| {
                attribute.name() == constants::DW_AT_data_member_location
                    && !location::is_readable(attribute, entry.read_unit)
            })
}

impl<'r> Conversion<'_, '_, '_, 'r> {
    fn root(
        &mut self,
        root: &ConvertUnitEntry<'_, Slice<'r>>,
        has_lines: bool,
        renamed: RenamedUnit,
    ) -> ConvertResult<()> {
        let id = self.to.unit.root();
        for attribute in &root.attrs {
            let name = attribute.name();
            let value = match name {
                constants::DW_AT_producer => continue,
                constants::DW_AT_stmt_list if !has_lines => continue,
                constants::DW_AT_language => match attribute.value() {
                    gimli::AttributeValue::Language(language) => {
                        AttributeValue::Language(client_language(language))
                    }
                    _ => continue,
                },
                _ if !self.is_kept(name) || !self.has_room_for_ranges(root.read_unit, attribute) => continue,
                _ => match as_it_is(self.to, &mut self.plans.texts, root.read_unit, attribute) {
                    Some(value) => value,
                    None => continue,
                },
            };
            self.to.unit.get_mut(id).set(name, value);
        }
        let producer = self.unit.facts.producer.as_deref().unwrap_or("unknown");
        let producer = AttributeValue::String(format!("{PRODUCER}{producer})").into_bytes());
        let unit = self.to.unit.get_mut(id);
        unit.set(constants::DW_AT_producer, producer);
        let RenamedUnit { name, directory, .. } = renamed;
        for (attribute, text) in [(constants::DW_AT_name, name), (constants::DW_AT_comp_dir, directory)] {
            if let Some(text) = text {
                unit.set(attribute, AttributeValue::String(text.into_bytes()));
            }
        }
        Ok(())
    }

    /// Whether an attribute has the same meaning for a stock debugger.
    fn is_kept(&self, name: DwAt) -> bool {
        let is_draft = || self.unit.facts.is_draft() && draft::numbers().attribute_named(name.0).is_some();
        match name {
            constants::DW_AT_address_class
            | constants::DW_AT_segment
            | constants::DW_AT_static_link
            | constants::DW_AT_return_addr
            | constants::DW_AT_calling_convention
            | constants::DW_AT_frame_base
            | constants::DW_AT_signature
            | constants::DW_AT_use_location
            | constants::DW_AT_GNU_locviews
            | constants::DW_AT_macros
            | constants::DW_AT_macro_info
            | constants::DW_AT_GNU_macros => false,
            _ if self.unit.is_only_referred_to && CODE.contains(&name) => false,
            // DWARF 4's mark for described calls; descriptions of calls are malformed without it.
            constants::DW_AT_GNU_vector
            | constants::DW_AT_GNU_all_call_sites
            | constants::DW_AT_GNU_all_tail_call_sites
            | constants::DW_AT_GNU_all_source_call_sites => true,
            _ => name.0 < VENDORS && !is_draft(),
        }
    }

    /// Converts a DIE.
    pub(super) fn entry(
        &mut self,
        id: UnitEntryId,
        entry: &ConvertUnitEntry<'_, Slice<'r>>,
        die: DieOffset,
        function: Option<DieOffset>,
    ) -> ConvertResult<()> {
        if entry.tag() == constants::DW_TAG_base_type
            && let Some(elements) = types::vector_elements(self.unit, die)
        {
            return types::vector(self, id, entry, elements);
        }
        let is_function = function == Some(die) && !self.unit.is_only_referred_to;
        let signed = signature_of(&entry.read_entry).and_then(|signature| self.signed.tag(signature));
        match signed.filter(|_| !self.signed.is_copying()) {
            // The type unit provides its attributes.
            Some((signature, tag)) => {
                let parent = entry.parent.unwrap_or(self.to.unit.root());
                self.to.unit.add_reserved(id, parent, tag);
                self.signed.is_there(id);
                self.signed_type(signature);
            }
            None => {
                self.to.add_entry(Some(id), entry);
            }
        }
        if is_function {
            self.function(id, entry);
        }
        self.attributes(id, entry, die, function)
    }

    /// Converts the attributes of a DIE.
    pub(super) fn attributes(
        &mut self,
        id: UnitEntryId,
        entry: &ConvertUnitEntry<'_, Slice<'r>>,
        die: DieOffset,
        function: Option<DieOffset>,
    ) -> ConvertResult<()> {
        let is_variable =
            matches!(entry.tag(), constants::DW_TAG_variable | constants::DW_TAG_formal_parameter);
        let is_signed = signature_of(&entry.read_entry).is_some_and(|signature| self.signed.has(signature));
        let is_helper = self.is_helper(entry, function);
        for attribute in &entry.attrs {
            let name = attribute.name();
            let value = match name {
                // A debugger would give the helper the kernel's variables, optimised away.
                constants::DW_AT_abstract_origin if is_helper => None,
                constants::DW_AT_location if self.unit.is_only_referred_to && function.is_some() => None,
                constants::DW_AT_location | constants::DW_AT_const_value if is_variable => {
                    location::rewrite(self, entry, attribute, die, function)?
                }
                constants::DW_AT_type if !is_variable => {
                    let replaced = self.pointed(entry, attribute);
                    replaced.or_else(|| self.converted(entry, attribute))
                }
                // gdb prints it as the name, but clang's linkage name of an OpenCL kernel is not in the source.
                constants::DW_AT_linkage_name | constants::DW_AT_MIPS_linkage_name
                    if !is_mangled(entry.read_unit, attribute) =>
                {
                    None
                }
                constants::DW_AT_declaration if is_signed => None,
                constants::DW_AT_byte_size if types::is_pointer(entry.tag()) => None,
                _ if !self.is_kept(name) => None,
                _ if !location::is_readable(attribute, entry.read_unit) => None,
                _ => self.converted(entry, attribute),
            };
            if let Some(value) = value {
                self.to.unit.get_mut(id).set(name, value);
            }
        }
        if is_helper {
            self.name_helper(id);
        }
        if is_optimized_out(entry) {
            let unit = self.to.unit.get_mut(id);
            if [constants::DW_AT_location, constants::DW_AT_const_value]
                .iter()
                .all(|name| unit.get(*name).is_none())
            {
                unit.set(constants::DW_AT_location, AttributeValue::Exprloc(Expression::raw(Vec::new())));
            }
        }
        Ok(())
    }

    /// An attribute of the same meaning; `None` if it is unreadable or refers to a DIE that the view lacks.
    pub(super) fn converted(
        &mut self,
        entry: &ConvertUnitEntry<'_, Slice<'r>>,
        attribute: &gimli::Attribute<Slice<'r>>,
    ) -> Option<AttributeValue> {
        match attribute.value() {
            gimli::AttributeValue::DebugTypesRef(signature) => {
                self.signed_type(signature.0).map(AttributeValue::UnitRef)
            }
            _ if self.signed.is_copying() => self.copied(entry, attribute),
            gimli::AttributeValue::UnitRef(at) => self.type_value(TypeRef::Own(at)),
            gimli::AttributeValue::DebugInfoRef(at) => self.type_value(own(entry.read_unit, at.0)),
            _ if !self.has_room_for_ranges(entry.read_unit, attribute) => None,
            _ => self.as_it_is(entry, attribute),
        }
    }

    /// The unchanged attribute; `None` if it is unreadable or refers to a DIE that the view lacks.
    pub(super) fn as_it_is(
        &mut self,
        entry: &ConvertUnitEntry<'_, Slice<'r>>,
        attribute: &gimli::Attribute<Slice<'r>>,
    ) -> Option<AttributeValue> {
        as_it_is(self.to, &mut self.plans.texts, entry.read_unit, attribute)
    }

    /// A reference to the view's DIE for the target of a reference in the converted unit.
    pub(super) fn type_value(&mut self, of: TypeRef) -> Option<AttributeValue> {
        match of {
            TypeRef::Signed(signature) => self.signed_type(signature).map(AttributeValue::UnitRef),
            TypeRef::Own(at) => {
                let signed = self.signed.declared(at).and_then(|signature| self.signed_type(signature));
                signed.or_else(|| self.to.convert_unit_ref(at).ok()).map(AttributeValue::UnitRef)
            }
            TypeRef::Other(at) => {
                let found = self.to.convert_debug_info_ref(gimli::DebugInfoOffset(at));
                found.ok().map(AttributeValue::DebugInfoRef)
            }
        }
    }

    /// Whether the view can hold an attribute's list of ranges, if the attribute names one.
    pub(super) fn has_room_for_ranges(
        &mut self,
        unit: gimli::UnitRef<'_, Slice<'r>>,
        attribute: &gimli::Attribute<Slice<'r>>,
    ) -> bool {
        let is_list = matches!(
            attribute.value(),
            gimli::AttributeValue::RangeListsRef(_) | gimli::AttributeValue::DebugRngListsIndex(_)
        );
        let Some(at) = unit.attr_ranges_offset(attribute.value()).ok().flatten().filter(|_| is_list) else {
            return true;
        };
        let Ok(mut ranges) = unit.raw_ranges(at) else { return true };
        while let Ok(Some(_)) = ranges.next() {
            if !self.plans.ranges.take() {
                let problem = "code is left out: its ranges are more than a view can hold";
                self.plans.problems.insert(problem.to_owned());
                return false;
            }
        }
        true
    }

    /// The code object's DIE that a DIE refers to.
    pub(super) fn die_of(&self, unit: gimli::UnitRef<'_, Slice<'r>>, of: TypeRef) -> Option<DieOffset> {
        match of {
            TypeRef::Signed(signature) => self.signed.type_die(signature),
            TypeRef::Own(at) if self.signed.is_copying() => self.signed.die(at),
            TypeRef::Own(at) => Some(self.unit.die(unit, at)),
            TypeRef::Other(at) => Some(self.unit.die_at(at)),
        }
    }

    /// Converts the code of a function.
    fn function(&mut self, id: UnitEntryId, entry: &ConvertUnitEntry<'_, Slice<'r>>) {
        self.code(entry);
        // Without a frame base gdb finds no frame for a variable of a function, whatever its location.
        let base = AttributeValue::Exprloc(Expression::raw(vec![constants::DW_OP_call_frame_cfa.0]));
        self.to.unit.get_mut(id).set(constants::DW_AT_frame_base, base);
        self.no_calls(id);
    }

    /// Marks a function as not callable, which keeps gdb from trying (DWARF 5 section 3.3.1.1).
    pub(super) fn no_calls(&mut self, id: UnitEntryId) {
        let convention = AttributeValue::CallingConvention(constants::DW_CC_nocall);
        self.to.unit.get_mut(id).set(constants::DW_AT_calling_convention, convention);
    }

    pub(super) fn code(&mut self, entry: &ConvertUnitEntry<'_, Slice<'r>>) {
        let die = self.unit.die(entry.read_unit, entry.offset());
        let plans = &mut *self.plans;
        let _ = ranges::visit(entry, |range| {
            if range.start >= range.end {
                return true;
            }
            let is_room = plans.code_ranges.take();
            if is_room {
                plans.code.push((die, range));
            }
            is_room
        });
    }

    /// The plan of a function's variables, or of the variables outside of functions.
    pub(super) fn plan(&mut self, function: Option<DieOffset>) -> &mut Planner {
        match function {
            Some(function) => {
                let before = self.plans.before.get(&function);
                let planner = || Planner::of_function(before);
                self.plans.functions.entry(function).or_insert_with(planner)
            }
            None => &mut self.plans.globals,
        }
    }
}

/// Whether a DIE without a location is a variable that the compiler has removed. gdb takes the address of an external
/// one from its symbol, and reports `Missing ELF symbol` without one. An empty location is "optimized out" (DWARF 5
/// section 2.6.1.1.4).
fn is_optimized_out(entry: &ConvertUnitEntry<'_, Slice<'_>>) -> bool {
    entry.tag() == constants::DW_TAG_variable
        && !entry.has_attr(constants::DW_AT_declaration)
        && [constants::DW_AT_external, constants::DW_AT_specification]
            .into_iter()
            .any(|name| entry.has_attr(name))
}

/// Whether a symbol is a mangled name that demangles.
pub(super) fn is_mangled<'r>(
    unit: gimli::UnitRef<'_, Slice<'r>>,
    attribute: &gimli::Attribute<Slice<'r>>,
) -> bool {
    match texts::shared(unit, attribute.value()) {
        Some(name) => name.starts_with(b"_Z"),
        None => unit.attr_string(attribute.value()).is_ok_and(|name| name.slice().starts_with(b"_Z")),
    }
}

/// The unchanged attribute, with a cleaned name; `None` if it is unreadable or refers to a DIE that the view lacks.
pub(super) fn as_it_is<'r>(
    to: &mut ConvertUnit<'_, Slice<'r>>,
    texts: &mut Texts,
    unit: gimli::UnitRef<'_, Slice<'r>>,
    attribute: &gimli::Attribute<Slice<'r>>,
) -> Option<AttributeValue> {
    if let Some(long) = texts.long(to, unit, attribute.value()) {
        return Some(long);
    }
    let name = unit.attr_string(attribute.value()).ok();
    if let Some(Cow::Owned(clean)) = name.map(|name| clean(name.to_string_lossy())) {
        return Some(AttributeValue::String(clean.into_bytes()));
    }
    to.convert_attribute_value(unit, attribute, &constant).ok()
}

/// A language that stock debuggers know, for an unknown one.
fn client_language(language: constants::DwLang) -> constants::DwLang {
    match language {
        constants::DW_LANG_OpenCL => constants::DW_LANG_C99,
        constants::DwLang(HIP | LLVM_HIP) => CPP,
        // gdb 13 knows C++ up to 14.
        constants::DW_LANG_C_plus_plus_17 | constants::DW_LANG_C_plus_plus_20 => CPP,
        other => other,
    }
}
