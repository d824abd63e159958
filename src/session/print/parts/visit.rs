//! The parts of an object in one lane.

use std::borrow::Cow;

use super::{ArrayDimension, Collector, Owner, PartSort, PartValue, Pointee};
use crate::debuginfo::{DebugInfo, Dimension, Number, Qualifier, Type, TypeId, TypeKind};
use crate::dwarf::Storage;
use crate::session::MemoryAddress;
use crate::session::print::eval::PathEvaluator;
use crate::session::print::object::Object;
use crate::session::print::typed::{Shape, Sort, Ty};
use crate::session::reading::address::{GENERIC, GLOBAL};
use crate::session::values::LaneObject;
use crate::units::{Address, AddressSpace};

/// Maximum depth of members and elements.
const MAX_DEPTH: usize = 6;
/// Maximum number of elements of an array whose parts count.
const MAX_ELEMENTS: u64 = 16;
/// Maximum number of members of a record whose parts count.
const MAX_MEMBERS: usize = 64;

/// A position in a variable.
struct At<'p> {
    path: &'p str,
    depth: usize,
    /// Whether a pointer leads here: its target's pointers are not followed.
    is_target: bool,
}

impl Collector<'_> {
    /// Adds the parts of an object in the evaluator's lane.
    pub(super) fn object(&mut self, walk: &PathEvaluator<'_, '_, '_>, owner: &Owner<'_>, object: &Object) {
        self.visit(walk, owner, object, &At { path: owner.name, depth: 0, is_target: false });
    }

    /// A part without a value is no part.
    fn visit(&mut self, walk: &PathEvaluator<'_, '_, '_>, owner: &Owner<'_>, object: &Object, at: &At<'_>) {
        if at.depth > MAX_DEPTH || self.parts.is_cut || self.reader.budget().take_values(1).is_err() {
            self.parts.is_cut = true;
            return;
        }
        let debug = walk.scene.debug();
        if let Some((ty, TypeKind::Array { element: Some(element), .. })) =
            stripped(debug, &object.ty).as_deref().map(|found| (found, &found.kind))
        {
            return self.array(walk, owner, object, ty, *element, at);
        }
        let shape = walk.shape(object);
        if self.asked.has_places && matches!(shape, Ok(Shape::Number(_) | Shape::Pointer { .. })) {
            return self.place(walk, owner, object, at);
        }
        match shape {
            Ok(Shape::Number(sort)) if sort != Sort::Float => {
                if let Ok(number) = walk.integer(object) {
                    let value = number.wide() as u64;
                    let value = PartValue { lane: walk.lane, value, space: GLOBAL, address: value };
                    self.add(owner, at.path, &PartSort::Integer, value);
                }
            }
            Ok(Shape::Pointer { to, space }) => self.pointer(walk, owner, object, &to, space, at),
            Ok(Shape::Reference { .. }) => {
                if let Ok(target) = walk.followed(object.clone()) {
                    self.visit(walk, owner, &target, &At { depth: at.depth + 1, ..*at });
                }
            }
            Ok(Shape::Record(record)) => {
                let TypeKind::Record(members) = &record.kind else { return };
                for member in members.members.iter().take(MAX_MEMBERS) {
                    let Ok(inner) = walk.member(object, member) else { continue };
                    let path = match &member.name {
                        Some(name) if !member.is_base => format!("{}.{name}", at.path),
                        _ => at.path.to_owned(),
                    };
                    self.visit(walk, owner, &inner, &At { path: &path, depth: at.depth + 1, ..*at });
                }
            }
            _ => {}
        }
    }

    /// A number or pointer by its place in memory.
    fn place(&mut self, walk: &PathEvaluator<'_, '_, '_>, owner: &Owner<'_>, object: &Object, at: &At<'_>) {
        let Ok(Some(bytes)) = object.ty.size(walk.scene.debug()) else { return };
        let Ok(data) = walk.data_of(object) else { return };
        if let (true, Storage::Memory { space, .. }) = (data.in_memory(), &data.location.storage)
            && let Ok(address) = walk.place_address(&data)
        {
            self.add(owner, at.path, &PartSort::Place { bytes }, resolved(walk, address, *space));
        }
    }

    fn pointer(
        &mut self,
        walk: &PathEvaluator<'_, '_, '_>,
        owner: &Owner<'_>,
        object: &Object,
        to: &Ty,
        space: AddressSpace,
        at: &At<'_>,
    ) {
        let Ok(value) = walk.address(object) else { return };
        let sort = PartSort::Pointer(pointee(walk, owner, to, true));
        self.add(owner, at.path, &sort, resolved(walk, value, space));
        if at.is_target {
            return;
        }
        let Ok(Shape::Record(record)) = to.shape(walk.scene.debug()) else {
            // A pointer to a pointer: the first target.
            if let Ok(Shape::Pointer { .. }) = to.shape(walk.scene.debug())
                && let Ok(target) = walk.through(object, to.clone(), space)
            {
                let path = format!("*{}", at.path);
                self.visit(walk, owner, &target, &At { path: &path, depth: at.depth + 1, is_target: true });
            }
            return;
        };
        let TypeKind::Record(members) = &record.kind else { return };
        let Ok(target) = walk.through(object, to.clone(), space) else { return };
        for member in members.members.iter().take(MAX_MEMBERS) {
            let Ok(inner) = walk.member(&target, member) else { continue };
            let path = match &member.name {
                Some(name) => format!("{}->{name}", at.path),
                None => at.path.to_owned(),
            };
            self.visit(walk, owner, &inner, &At { path: &path, depth: at.depth + 1, is_target: true });
        }
    }

    fn array(
        &mut self,
        walk: &PathEvaluator<'_, '_, '_>,
        owner: &Owner<'_>,
        object: &Object,
        ty: &Type,
        element: TypeId,
        at: &At<'_>,
    ) {
        let Some(dimensions) = dimensions(walk, object, ty, element) else { return };
        let Ok(data) = walk.data_of(object) else { return };
        if let (true, Storage::Memory { space, .. }) = (data.in_memory(), &data.location.storage)
            && let Ok(address) = walk.place_address(&data)
        {
            let element = pointee(walk, owner, &Ty::Die(element), true);
            let sort = PartSort::Array { element, dimensions: dimensions.clone() };
            let value = PartValue { lane: walk.lane, value: address, space: *space, address };
            self.add(owner, at.path, &sort, value);
        }
        let is_scalar =
            Ty::Die(element).shape(walk.scene.debug()).is_ok_and(|shape| matches!(shape, Shape::Number(_)));
        if let ([ArrayDimension { first, count: Some(count @ ..=MAX_ELEMENTS), .. }], false) =
            (dimensions.as_slice(), is_scalar)
        {
            for index in 0..*count {
                let index = i128::from(*first) + i128::from(index);
                let Ok(inner) = walk.element(object, index) else { continue };
                let path = format!("{}[{index}]", at.path);
                self.visit(walk, owner, &inner, &At { path: &path, depth: at.depth + 1, ..*at });
            }
        }
    }
}

/// The type of an object without typedefs and qualifiers.
fn stripped(debug: &DebugInfo, ty: &Ty) -> Option<std::sync::Arc<Type>> {
    match ty {
        Ty::Die(id) => debug.stripped(*id).ok().flatten(),
        _ => None,
    }
}

/// The dimensions of an array, with the numbers of this object; `None`: they are unknown.
fn dimensions(
    walk: &PathEvaluator<'_, '_, '_>,
    object: &Object,
    ty: &Type,
    element: TypeId,
) -> Option<Vec<ArrayDimension>> {
    let (context, debug) = (&walk.scene.found.frame.context, walk.scene.debug());
    let asked = LaneObject::new(context, debug, walk.lane, Cow::Borrowed(&object.location));
    let own = ty.for_object(&asked).ok()?;
    let TypeKind::Array { dimensions, stride, .. } = &own.kind else { return None };
    let constant = |number: &Number| match number {
        Number::Constant(number) => Some(*number),
        Number::Dynamic(_) => None,
    };
    // The array's own stride is that of its innermost dimension.
    let mut inner = match stride {
        Some(stride) => constant(stride)?.checked_div(8)?,
        None => i64::try_from(debug.byte_size(element).ok()??).ok()?,
    };
    let mut found = Vec::with_capacity(dimensions.len());
    for dimension in dimensions.iter().rev() {
        let Dimension { lower, stride, .. } = dimension;
        let stride = match stride {
            Some(stride) => constant(stride)?.checked_div(8)?,
            None => inner,
        };
        if stride == 0 {
            return None;
        }
        let count = dimension.count();
        found.push(ArrayDimension { first: constant(lower)?, count, stride });
        inner = match count {
            Some(count) => stride.checked_mul(i64::try_from(count).ok()?)?,
            // Only the outermost dimension can lack its length.
            None => 0,
        };
    }
    found.reverse();
    Some(found).filter(|found| !found.is_empty())
}

/// `is_outer`: the targets of its elements count, too.
fn pointee(walk: &PathEvaluator<'_, '_, '_>, owner: &Owner<'_>, to: &Ty, is_outer: bool) -> Pointee {
    let debug = walk.scene.debug();
    let size = to.size(debug).ok().flatten().filter(|size| *size > 0);
    let shape = to.shape(debug);
    let is_composite = matches!(shape, Ok(Shape::Record(_) | Shape::Array { .. } | Shape::Other));
    let of = match to {
        Ty::Die(id) => Some((owner.code_object, *id)),
        _ => None,
    };
    let is_const = of.is_some_and(|(_, id)| is_const(debug, id));
    let to = match &shape {
        Ok(Shape::Pointer { to, .. }) if is_outer => Some(Box::new(pointee(walk, owner, to, false))),
        Ok(Shape::Number(Sort::Unsigned | Sort::Signed)) if is_outer && size == Some(8) => {
            Some(Box::default())
        }
        _ => None,
    };
    Pointee { size, of, is_composite, is_const, to }
}

fn is_const(debug: &DebugInfo, mut id: TypeId) -> bool {
    for _ in 0..crate::bounds::MAX_TYPE_CHAIN {
        match debug.type_of(id).as_deref().map(|found| &found.kind) {
            Ok(TypeKind::Qualified { qualifier: Qualifier::Const, .. }) => return true,
            Ok(TypeKind::Qualified { of: Some(of), .. } | TypeKind::Typedef { of: Some(of) }) => id = *of,
            _ => return false,
        }
    }
    false
}

/// A pointer's value with its target. An address in an aperture leads to another space.
fn resolved(walk: &PathEvaluator<'_, '_, '_>, value: u64, space: AddressSpace) -> PartValue {
    let (lane, wave) = (walk.lane, Some(walk.scene.wave));
    let place = MemoryAddress { space, address: Address(value), wave, lane: Some(lane) };
    let place = match space {
        GLOBAL | GENERIC => {
            walk.scene.reader.generic(place).unwrap_or(MemoryAddress { space: GLOBAL, ..place })
        }
        _ => place,
    };
    PartValue { lane, value, space: place.space, address: place.address.0 }
}
