//! Member functions and pointers to members: the target function of a virtual call of an object, and the value of
//! `x.*m`.
//!
//! The table of virtual functions is read from memory: the answer depends on the captured object, not on its static
//! type. DWARF 5 sections 5.7.8 (`DW_AT_vtable_elem_location`) and 5.14 (`DW_AT_use_location`). For the parts that
//! DWARF leaves to the ABI: Itanium C++ ABI 2.3 (pointers to members) and 2.5 (tables).

use std::sync::Arc;

use super::eval::{PathEvaluator, Scene};
use super::names::words;
use super::object::{Answer, Object, error};
use super::part::MAX_MEMBERS;
use super::typed::{Shape, Ty};
use super::upcast::is_same;
use crate::bounds::MAX_MEMBER_DEPTH;
use crate::debuginfo::{Member, MemberFunction, Type, TypeId, TypeKind, demangle};
use crate::dwarf::Location;
use crate::session::reading::address::GLOBAL;
use crate::session::{Provenance, ValueState};
use crate::units::{Address, BitSize};

/// Bytes of an entry of a table of virtual functions, and of each half of a pointer to a member function.
const ENTRY_BYTES: u64 = 8;
/// Maximum number of functions of one name in an error.
const MAX_LISTED: usize = 8;

/// The member functions of a name in a class: the path to the base class that has them, and the functions.
type Functions = (Vec<Member>, Vec<MemberFunction>);

impl PathEvaluator<'_, '_, '_> {
    /// The target of a call of a member function; `None` if the class has none of that name.
    pub(super) fn member_function(
        &self,
        object: &Object,
        class: &Arc<Type>,
        name: &str,
    ) -> Answer<Option<Object>> {
        let Some((steps, functions)) = self.scene.functions_named(class, name, 0, &mut 0)? else {
            return Ok(None);
        };
        let function = match functions.as_slice() {
            [one] => one,
            several => {
                let spelled = |one: &MemberFunction| {
                    let demangled = one.linkage_name.as_deref().and_then(demangle);
                    demangled.unwrap_or_else(|| name.to_owned())
                };
                let listed: Vec<String> = several.iter().take(MAX_LISTED).map(spelled).collect();
                let more = if several.len() > MAX_LISTED { ", ..." } else { "" };
                return error(format!("`{name}` is the name of {}{more}", listed.join(", ")));
            }
        };
        if !function.is_virtual {
            return self.direct(function, class, name).map(Some);
        }
        let mut object = object.clone();
        for member in &steps {
            object = self.member(&object, member)?;
        }
        let ty = Ty::Die(TypeId(function.die));
        let entry = match (&function.element, function.slot) {
            (_, Some(slot)) => self.table_entry(&object, slot.saturating_mul(ENTRY_BYTES))?,
            (Some(element), None) => self.stated(&object, element, None)?,
            (None, None) => {
                return error(format!("`{name}` is virtual and has no DW_AT_vtable_elem_location"));
            }
        };
        self.called(&entry, ty, &format!("the entry of `{name}` in the table of virtual functions")).map(Some)
    }

    /// A non-virtual member function: its code.
    fn direct(&self, function: &MemberFunction, class: &Type, name: &str) -> Answer<Object> {
        let plain = || format!("{}::{name}", class.name.as_deref().unwrap_or(""));
        match function.linkage_name.as_deref() {
            Some(symbol) => self.name(symbol),
            None => self.name(&plain()),
        }
        .or_else(|_| error(format!("the member function `{}` has no code in this code object", plain())))
    }

    /// The entry of the object's table at an offset in bytes.
    fn table_entry(&self, object: &Object, offset: u64) -> Answer<Location> {
        let what = "its pointer to the table of virtual functions";
        let table = self.word(&object.location, what)?;
        if table == 0 {
            return error(format!("{what} is 0: the object was not constructed"));
        }
        Ok(Location::memory(GLOBAL, 64, Address(table.wrapping_add(offset))))
    }

    /// A 64-bit word without missing bits.
    fn word(&self, location: &Location, what: &str) -> Answer<u64> {
        let bits = self.bits(location, BitSize(ENTRY_BYTES * 8))?;
        bits.number().ok_or_else(|| {
            Box::new(match self.absence(location, &bits) {
                ValueState::Unavailable(why) => ValueState::Unavailable(format!("{what}: {why}").into()),
                ValueState::OptimizedOut(why) => ValueState::OptimizedOut(format!("{what}: {why}").into()),
                other => other,
            })
        })
    }

    /// The function at an entry's address.
    fn called(&self, entry: &Location, ty: Ty, what: &str) -> Answer<Object> {
        let address = self.word(entry, what)?;
        if address == 0 {
            return error(format!("{what} is 0"));
        }
        Ok(Object::at(ty, Location::memory(GLOBAL, 64, Address(address)), Provenance::default()))
    }

    /// `x.*m`, `p->*m`.
    pub(super) fn member_pointed(&self, object: &Object, pointer: &Object, arrow: bool) -> Answer<Object> {
        let sign = if arrow { "->*" } else { ".*" };
        let member = match self.shape(pointer)? {
            Shape::MemberPointer(member) => member,
            other => {
                let ty = self.type_name(&pointer.ty);
                return error(format!("`{sign}` needs a pointer to a member; `{ty}` is {}", other.words()));
            }
        };
        let TypeKind::PointerToMember { to, class, use_location } = &member.kind else {
            return error(format!("`{sign}` needs a pointer to a member"));
        };
        let (object, record) = self.record_of(object, "*", arrow)?;
        let class =
            class.map(|class| self.scene.debug().stripped(class)).transpose().map_err(words)?.flatten();
        let Some(class) = class else {
            return error("the pointer to a member has no class (DW_AT_containing_type)");
        };
        let object = self.as_class(object, &record, &class)?;
        let Some(to) = *to else { return error("the pointer to a member has no member type") };
        let ty = Ty::Die(to);
        if matches!(ty.shape(self.scene.debug()).map_err(words)?, Shape::Function) {
            return self.function_pointed(&object, pointer, ty);
        }
        let value = self.read(pointer)?;
        if value == u64::MAX {
            return error("the pointer to a member is NULL (-1)");
        }
        match use_location {
            Some(place) => {
                let location = self.stated(&object, place, Some(value))?;
                Ok(object.part(ty, location, None))
            }
            None => {
                let size = self.size(&ty)?.saturating_mul(8);
                self.moved(&object, ty, i128::from(value as i64) * 8, size, None)
            }
        }
    }

    /// The target of a pointer to a member function: an address, or 1 plus an offset into the object's table. For a
    /// table the second word, in bytes, adjusts the object's place.
    fn function_pointed(&self, object: &Object, pointer: &Object, ty: Ty) -> Answer<Object> {
        let what = "the pointer to a member function";
        let at = |bits| super::object::moved(&pointer.location, bits, self.lane);
        let Some(second) = at(64) else { return error(format!("{what} ends after 64 bits")) };
        let address = self.word(&pointer.location, what)?;
        if address == 0 {
            return error(format!("{what} is NULL"));
        }
        if address & 1 == 0 {
            return Ok(Object::at(ty, Location::memory(GLOBAL, 64, Address(address)), Provenance::default()));
        }
        let adjustment = self.word(&second, what)? as i64;
        let moved = super::object::moved(&object.location, i128::from(adjustment) * 8, self.lane);
        let Some(location) = moved else { return error(format!("{what} adjusts `this` beyond the object")) };
        let entry = self.table_entry(&Object { location, ..object.clone() }, address - 1)?;
        self.called(&entry, ty, "its entry in the table of virtual functions")
    }

    /// The part of an object that belongs to a class: its own or one of its bases.
    fn as_class(&self, object: Object, record: &Arc<Type>, class: &Type) -> Answer<Object> {
        match self.scene.base_steps(record, class, 0, &mut 0)? {
            Some(steps) => steps.iter().try_fold(object, |object, member| self.member(&object, member)),
            None => error(format!(
                "`{}` is no `{}`, whose member is pointed to",
                self.type_name(&object.ty),
                class.name.as_deref().unwrap_or("<unnamed class>")
            )),
        }
    }
}

impl Scene<'_, '_> {
    /// The member functions of a name in a class, else in its bases.
    fn functions_named(
        &self,
        class: &Arc<Type>,
        name: &str,
        depth: usize,
        seen: &mut usize,
    ) -> Answer<Option<Functions>> {
        self.through_bases(class, depth, seen, &|class| {
            let TypeKind::Record(record) = &class.kind else { return None };
            let named = record.functions.iter().filter(|one| one.name.as_deref() == Some(name));
            let named: Vec<MemberFunction> = named.cloned().collect();
            (!named.is_empty()).then_some(named)
        })
    }

    /// The base classes on the path from a class to another; empty if it is the same.
    fn base_steps(
        &self,
        from: &Arc<Type>,
        class: &Type,
        depth: usize,
        seen: &mut usize,
    ) -> Answer<Option<Vec<Member>>> {
        let found = self.through_bases(from, depth, seen, &|found| is_same(found, class).then_some(()))?;
        Ok(found.map(|(steps, ())| steps))
    }

    /// A value of a class or of one of its bases, with the path there: the class itself first, then base by base.
    fn through_bases<T>(
        &self,
        class: &Arc<Type>,
        depth: usize,
        seen: &mut usize,
        find: &dyn Fn(&Type) -> Option<T>,
    ) -> Answer<Option<(Vec<Member>, T)>> {
        if let Some(found) = find(class) {
            return Ok(Some((Vec::new(), found)));
        }
        let TypeKind::Record(record) = &class.kind else { return Ok(None) };
        *seen += record.members.len() + record.functions.len();
        if depth > MAX_MEMBER_DEPTH || *seen > MAX_MEMBERS {
            return error(format!(
                "more than {MAX_MEMBERS} members or {MAX_MEMBER_DEPTH} base classes inside one another"
            ));
        }
        for base in record.members.iter().filter(|member| member.is_base) {
            let Some(id) = base.type_id else { continue };
            let Some(inner) = self.debug().stripped(id).map_err(words)? else { continue };
            if let Some((mut steps, found)) = self.through_bases(&inner, depth + 1, seen, find)? {
                steps.insert(0, base.clone());
                return Ok(Some((steps, found)));
            }
        }
        Ok(None)
    }
}
