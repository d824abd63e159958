//! Conversion of DIEs to functions.
//!
//! The first PC in a function reads all of it into the cache; later PCs only visit the tree.

use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use crate::codeobject::ElfAddress;
use crate::debuginfo::diagnostics::Diagnostics;
use crate::debuginfo::error::{DebugInfoError, Result};
use crate::debuginfo::scope::function::{Function, Scope, ScopeKind};
use crate::debuginfo::scope::simd::{addresses, attribute, simd};
use crate::debuginfo::scope::subprogram::Subprogram;
use crate::debuginfo::scope::tree::Tree;
use crate::debuginfo::unit::die::Reading;
use crate::debuginfo::unit::index::is_function;
use crate::debuginfo::unit::location::LocationAttribute;
use crate::units::DieOffset;

impl Function {
    pub(in crate::debuginfo) fn read(reading: Reading<'_>, offset: DieOffset) -> Result<Self> {
        let die = reading.die(offset)?;
        if !is_function(die.tag()) {
            let (expected, found) = ("DW_TAG_subprogram", die.tag_name());
            return Err(DebugInfoError::Tag { die: offset, expected, found });
        }
        let is_entry = die.tag() == gimli::DW_TAG_entry_point;
        let view = Rc::clone(&die.view);
        let mut damage = Diagnostics::default();
        let mut capacity = view.ranges_capacity();
        let ranges = addresses(damage.or_none(view.ranges(&die.entry, &mut capacity)).unwrap_or_default());
        let low = die.entry.attr_value(gimli::DW_AT_low_pc);
        let low = low.map(|value| view.dwarf.attr_address(&view.unit, value)).transpose();
        let low = low.map_err(|why| view.unreadable(&die.entry, gimli::DW_AT_low_pc, why));
        let low = damage.absent(low.map(Option::flatten));
        let base = low.or_else(|| Some(ranges.first()?.start.0));
        let entry = match die.entry.attr_value(gimli::DW_AT_entry_pc) {
            None => low,
            Some(value) => {
                // A constant is an offset from the base address.
                let entry = match value.udata_value() {
                    Some(offset) => Ok(base.and_then(|base| base.checked_add(offset))),
                    None => view.dwarf.attr_address(&view.unit, value),
                };
                let entry = entry.map_err(|why| view.unreadable(&die.entry, gimli::DW_AT_entry_pc, why));
                damage.absent(entry).or(low)
            }
        };
        let around = |die| {
            let around = view.index().around(die).next()?;
            view.entry(around).is_ok_and(|entry| is_function(entry.tag())).then_some(around)
        };
        let outside = around(offset);
        // An entry point inherits absent attributes from its function, with which it shares a frame.
        let (entry_of, enclosing) = match outside.filter(|_| is_entry) {
            Some(function) => (Some(function), around(function)),
            None => (None, outside),
        };
        let function = entry_of.and_then(|function| damage.or_none(reading.die_near(&view, function)));
        let function = function.map(|function| reading.with_sound_origins(function, &mut damage));
        let origins = reading.with_sound_origins(die, &mut damage);
        let inherited = |name| match (attribute(reading, &origins, name), &function) {
            (LocationAttribute::Missing, Some(function)) => attribute(reading, function, name),
            (own, _) => own,
        };
        let frame_base = inherited(gimli::DW_AT_frame_base);
        let static_link = inherited(gimli::DW_AT_static_link);
        let return_addr = inherited(gimli::DW_AT_return_addr);
        let subprogram = Arc::new(Subprogram::read(reading, &origins, offset, &mut damage));
        let simd = simd(reading, &origins);
        let attributes = [&frame_base, &static_link, &return_addr, &simd.lane_pc, &simd.active_lane];
        damage.extend(attributes.into_iter().filter_map(LocationAttribute::problem).cloned());
        let body = Scope {
            die: offset,
            kind: ScopeKind::Function,
            ranges,
            variables: Vec::new(),
            imports: Vec::new(),
            parent: None,
            children: Vec::new(),
        };
        let mut tree = Tree::new(reading, Rc::clone(&view), body, capacity, damage);
        // An entry point has its function's variables, then its own parameters.
        if let (Some(function), Some(around)) = (&function, entry_of) {
            tree.read_or_end(around, function);
        }
        tree.read_or_end(offset, &origins);
        let (scopes, problems) = tree.finish();
        let (unit, entry) = (view.facts().id, entry.map(ElfAddress));
        Ok(Self {
            unit,
            subprogram,
            enclosing,
            entry_of,
            entry,
            frame_base,
            static_link,
            return_addr,
            simd,
            scopes,
            problems,
            has_llvm_user: OnceLock::new(),
        })
    }
}
