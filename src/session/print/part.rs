//! Parts of objects: members, elements, and objects in a row.

use std::borrow::Cow;
use std::sync::Arc;

use super::MAX_REPEAT;
use super::eval::{PathEvaluator, Scene};
use super::names::{Named, words};
use super::object::{Answer, Object, error, moved, narrowed};
use super::path::MemberSign;
use super::pointer::Pointer;
use super::typed::{Shape, Ty, shape_of};
use crate::bounds::MAX_MEMBER_DEPTH;
use crate::debuginfo::{DynamicAttribute, DynamicSource, Member, Type, TypeKind};
use crate::dwarf::{Location, Storage};
use crate::session::values::LaneObject;
use crate::units::{BitSize, LaneSet};

/// Maximum number of members visited for one name.
pub(super) const MAX_MEMBERS: usize = 1 << 16;

/// Words of the error about an unknown member, before its name in backquotes.
pub(crate) const NO_MEMBER: &str = "has no member";

impl PathEvaluator<'_, '_, '_> {
    pub(super) fn element(&self, object: &Object, index: i128) -> Answer<Object> {
        let shape = self.own_shape(object)?;
        let object = &self.data_of(object)?;
        match shape {
            Shape::Array { element, lower, count, stride, .. } => {
                self.check_bounds(&object.ty, None, index, lower, count)?;
                let index = index - i128::from(lower);
                let size = self.size(&element)?;
                let inside = count.is_some_and(|count| (0..i128::from(count)).contains(&index));
                if !object.in_memory() && !inside {
                    let count =
                        count.map_or_else(|| "no known number of".to_owned(), |count| count.to_string());
                    let place = self.whole_place(object);
                    return error(format!(
                        "there is no element {index}: it has {count} elements, in {place}"
                    ));
                }
                let bits = size.saturating_mul(8);
                let stride = stride.map_or(i128::from(bits), i128::from);
                // Elements closer than their type's size have as many bits as the stride.
                let packed =
                    u64::try_from(stride.unsigned_abs()).ok().filter(|step| (1..bits).contains(step));
                let by = index.saturating_mul(stride);
                self.moved(object, element, by, packed.unwrap_or(bits), packed)
            }
            Shape::Pointer { to, space } => {
                if matches!(object.location.storage, Storage::ImplicitPointer(_)) {
                    return self.through(&self.advanced(object, index)?, to, space);
                }
                let pointer = Pointer { to, space, address: self.address(object)? };
                let address = self.beyond(&pointer, index)?;
                // A null pointer has no elements either.
                self.target(pointer.to.clone(), space, pointer.address)?;
                self.target(pointer.to, space, address)
            }
            Shape::Other if self.is_array(&object.ty)? => {
                let ty = self.type_name(&object.ty);
                if self.scene.is_fortran() {
                    return error(format!("`[]` cannot take a row of `{ty}`: write all indexes, `(1, 2)`"));
                }
                error(format!(
                    "`[]` cannot take a row of `{ty}`: bounds or strides of the inner dimensions differ from C's. Print the whole array"
                ))
            }
            other => {
                let ty = self.type_name(&object.ty);
                error(format!("`[]` needs an array or a pointer; `{ty}` is {}", other.words()))
            }
        }
    }

    /// The shape of an object, with the numbers that the object determines: bounds and strides in a descriptor.
    pub(super) fn own_shape(&self, object: &Object) -> Answer<Shape> {
        match self.shape(object)? {
            shape @ (Shape::Other | Shape::Array { count: None, .. }) => {
                Ok(self.own_type(object)?.map_or(shape, |own| shape_of(&own)))
            }
            shape => Ok(shape),
        }
    }

    /// The type of an object with the numbers that the object determines; `None` without debug information.
    pub(super) fn own_type(&self, object: &Object) -> Answer<Option<Arc<Type>>> {
        let Ty::Die(id) = &object.ty else { return Ok(None) };
        let (context, debug) = (&self.scene.found.frame.context, self.scene.debug());
        let Some(found) = debug.stripped(*id).map_err(words)? else { return Ok(None) };
        if !matches!(found.kind, TypeKind::Array { .. }) {
            return Ok(Some(found));
        }
        let asked = LaneObject::new(context, debug, self.lane, Cow::Borrowed(&object.location));
        self.note(LaneSet::one(self.lane));
        match found.for_object(&asked) {
            Ok(own) => Ok(Some(Arc::new(own))),
            Err(why) => error(why.to_string()),
        }
    }

    /// Whether debug information describes a type as an array, in any form.
    fn is_array(&self, ty: &Ty) -> Answer<bool> {
        let Ty::Die(id) = ty else { return Ok(false) };
        let found = self.scene.debug().stripped(*id).map_err(words)?;
        Ok(found.is_some_and(|found| matches!(found.kind, TypeKind::Array { .. })))
    }

    /// A part of an object, moved by that number of bits.
    pub(super) fn moved(
        &self,
        object: &Object,
        ty: Ty,
        by: i128,
        size: u64,
        bits: Option<u64>,
    ) -> Answer<Object> {
        // Memory wraps around for the evaluator, by the DWARF text; no object of a program does.
        let at = i128::try_from(object.location.offset.get(self.lane)).ok();
        let at = at.and_then(|at| at.checked_add(by)).and_then(|at| u128::try_from(at).ok());
        let is_inside = at.is_some_and(|at| object.location.storage.size().is_none_or(|size| at < size));
        if object.in_memory() && !is_inside {
            return error(format!(
                "its part at bit {by} is beyond the addresses of {}",
                self.whole_place(object)
            ));
        }
        match moved(&object.location, by, self.lane) {
            Some(location) => Ok(object.part(ty, narrowed(location, BitSize(size), self.lane), bits)),
            None => error(format!("its part at bit {by} is beyond {}", self.whole_place(object))),
        }
    }

    /// The number of components of a vector type; `None`: another type.
    pub(super) fn components(&self, ty: &Ty) -> Answer<Option<u64>> {
        let Ty::Die(id) = ty else { return Ok(None) };
        let found = self.scene.debug().stripped(*id).map_err(words)?;
        Ok(found.and_then(|found| match &found.kind {
            TypeKind::Array { is_vector: true, dimensions, .. } => dimensions.first()?.count(),
            _ => None,
        }))
    }

    /// A component of a vector by its name in OpenCL and clang: `x` to `w`, `s0` to `sf`. `None`: it is no vector.
    pub(super) fn component(&self, object: &Object, name: &str) -> Answer<Option<Object>> {
        let (through, count) = match self.shape(object)? {
            Shape::Pointer { to, .. } => (true, self.components(&to)?),
            _ => (false, self.components(&object.ty)?),
        };
        let Some(count) = count else { return Ok(None) };
        let index = match name.as_bytes() {
            [letter @ b'x'..=b'z'] => Some(u64::from(letter - b'x')),
            b"w" => Some(3),
            [b's' | b'S', digit] => char::from(*digit).to_digit(16).map(u64::from),
            _ => None,
        };
        match index.filter(|index| *index < count) {
            Some(index) if through => self.element(&self.pointee(object)?, index.into()).map(Some),
            Some(index) => self.element(object, index.into()).map(Some),
            None => {
                let (ty, last) = (self.type_name(&object.ty), count.saturating_sub(1).min(15));
                let letters: Vec<&str> =
                    ["x", "y", "z", "w"].into_iter().take(count.min(4) as usize).collect();
                let letters = letters.join(", ");
                error(format!(
                    "`{ty}` has no component `{name}`: it has {count}, by name {letters} or s0 to s{last:x}, one at a time"
                ))
            }
        }
    }

    pub(super) fn named_member(&self, object: &Object, name: &str, sign: MemberSign) -> Answer<Object> {
        if let Some(found) = self.component(object, name)? {
            return Ok(found);
        }
        let (mut object, record) = self.record_of(object, name, sign == MemberSign::Arrow)?;
        let mut steps = self.scene.member_steps(&record, name, 0, &mut 0)?;
        if steps.is_none() && self.scene.is_fortran() {
            steps = self.scene.member_steps(&record, &name.to_ascii_lowercase(), 0, &mut 0)?;
        }
        let Some(steps) = steps else {
            // A static member is a variable of its own.
            if let Some(class) = &record.name
                && let Ok(Named::Variable(_)) = &*self.scene.named(&format!("{class}::{name}"))
            {
                return self.name(&format!("{class}::{name}"));
            }
            if let Some(function) = self.member_function(&object, &record, name)? {
                return Ok(function);
            }
            let known = if record.is_declaration { ", which is only declared here" } else { "" };
            return error(format!("`{}`{known} {NO_MEMBER} `{name}`", self.type_name(&object.ty)));
        };
        for member in &steps {
            object = self.member(&object, member)?;
        }
        Ok(object)
    }

    /// The object left of `.` or `->`, with its type. `name` is the word on the right.
    pub(super) fn record_of(&self, object: &Object, name: &str, arrow: bool) -> Answer<(Object, Arc<Type>)> {
        let mut object = object.clone();
        match self.shape(&object)? {
            // `.` follows a pointer, too, as in gdb.
            Shape::Pointer { .. } => object = self.pointee(&object)?,
            other if arrow => {
                let ty = self.type_name(&object.ty);
                let advice = match other {
                    Shape::Record(_) => format!(": write `.{name}`"),
                    _ => String::new(),
                };
                return error(format!("`->{name}` needs a pointer; `{ty}` is {}{advice}", other.words()));
            }
            _ => {}
        }
        object = self.followed(object)?;
        match self.shape(&object)? {
            Shape::Record(record) => Ok((object, record)),
            other => {
                let ty = self.type_name(&object.ty);
                error(format!("`{name}` needs a struct or class; `{ty}` is {}", other.words()))
            }
        }
    }

    pub(super) fn member(&self, object: &Object, member: &Member) -> Answer<Object> {
        let name = member.name.as_deref().unwrap_or("<unnamed>");
        let Some(id) = member.type_id else { return error(format!("the member `{name}` has no type")) };
        let ty = Ty::Die(id);
        let size = match member.bit_size {
            Some(bits) => bits,
            None => ty.size(self.scene.debug()).map_err(words)?.unwrap_or(0).saturating_mul(8),
        };
        let by = i128::from(member.bit_offset);
        match &member.place {
            None if member.is_virtual && member.bit_offset == 0 => {
                error(format!("the place of the virtual base class `{name}` is unknown"))
            }
            None => self.moved(object, ty, by, size, member.bit_size),
            // A virtual base class, for example: the object determines its place.
            Some(place) => {
                let location = self.stated(object, place, None)?;
                let at = Object { location, ..object.clone() };
                self.moved(&at, ty, by, size, member.bit_size)
            }
        }
    }

    /// The location of an object's data: elsewhere if its type, as of a descriptor, has `DW_AT_data_location`.
    ///
    /// # Errors
    /// It has no data: a Fortran variable that is not allocated, a pointer that is not associated.
    pub(super) fn data_of(&self, object: &Object) -> Answer<Object> {
        let Ty::Die(id) = object.ty else { return Ok(object.clone()) };
        let (context, debug) = (&self.scene.found.frame.context, self.scene.debug());
        let found = debug.stripped(id).map_err(words)?;
        let Some(indirect) = found.as_ref().and_then(|found| found.indirect.as_deref()) else {
            return Ok(object.clone());
        };
        let asked = LaneObject::new(context, debug, self.lane, Cow::Borrowed(&object.location));
        let absence = indirect.absence(&asked);
        if let Some(why) = absence.or_else(|why| error(why.to_string()))? {
            return error(format!("`{}` is {why}", self.type_name(&object.ty)));
        }
        match &indirect.data_location {
            Some(data) => Ok(Object { location: self.stated(object, data, None)?, ..object.clone() }),
            None => Ok(object.clone()),
        }
    }

    /// The location that an attribute of the object's type gives.
    ///
    /// `pointer`: the value of a pointer to a member, for its `DW_AT_use_location`.
    pub(super) fn stated(
        &self,
        object: &Object,
        attribute: &DynamicAttribute,
        pointer: Option<u64>,
    ) -> Answer<Location> {
        let DynamicSource::Location(location) = &attribute.source else {
            return error(format!("{} names a variable, expected a place", attribute.attribute));
        };
        let (context, debug) = (&self.scene.found.frame.context, self.scene.debug());
        let asked = LaneObject::new(context, debug, self.lane, Cow::Borrowed(&object.location));
        self.note(LaneSet::one(self.lane));
        asked.located(attribute, location, 0, pointer).or_else(|why| error(why.to_string()))
    }

    pub(super) fn repeated(&self, object: &Object, count: i128) -> Answer<Object> {
        let count = match u64::try_from(count) {
            Ok(count @ 1..=MAX_REPEAT) => count,
            _ => return error(format!("`@` makes 1 to {MAX_REPEAT} objects, not {count}")),
        };
        if object.bits.is_some() || !object.in_memory() {
            let place = self.whole_place(object);
            return error(format!("only objects in memory can be extended with `@`; this one is {place}"));
        }
        let element = Arc::new(object.ty.clone());
        Ok(Object { ty: Ty::Array { element, count }, ..object.clone() })
    }
}

impl Scene<'_, '_> {
    /// Whether an object of a type, or its target, has a member of that name.
    pub(super) fn has_member(&self, ty: &Ty, name: &str) -> Answer<bool> {
        let mut shape = ty.shape(self.debug()).map_err(words)?;
        if let Shape::Pointer { to, .. } | Shape::Reference { to, .. } = &shape {
            shape = to.shape(self.debug()).map_err(words)?;
        }
        let Shape::Record(record) = shape else { return Ok(false) };
        Ok(self.member_steps(&record, name, 0, &mut 0)?.is_some())
    }

    /// The members on the path to one of that name: through unnamed members and base classes. The object's own come
    /// first.
    pub(super) fn member_steps(
        &self,
        record: &Arc<Type>,
        name: &str,
        depth: usize,
        seen: &mut usize,
    ) -> Answer<Option<Vec<Member>>> {
        let TypeKind::Record(found) = &record.kind else { return Ok(None) };
        *seen += found.members.len();
        if depth > MAX_MEMBER_DEPTH || *seen > MAX_MEMBERS {
            return error(format!(
                "`{name}` is looked for in more than {MAX_MEMBERS} members or {MAX_MEMBER_DEPTH} classes inside one another"
            ));
        }
        let own = found.members.iter().find(|member| !member.is_base && member.name.as_deref() == Some(name));
        if let Some(own) = own {
            return Ok(Some(vec![own.clone()]));
        }
        let through = |base: bool| {
            found.members.iter().filter(move |member| {
                if base { member.is_base } else { !member.is_base && member.name.is_none() }
            })
        };
        for member in through(false).chain(through(true)) {
            let Some(id) = member.type_id else { continue };
            let Some(inner) = self.debug().stripped(id).map_err(words)? else { continue };
            if let Some(mut steps) = self.member_steps(&inner, name, depth + 1, seen)? {
                steps.insert(0, member.clone());
                return Ok(Some(steps));
            }
        }
        Ok(None)
    }
}
