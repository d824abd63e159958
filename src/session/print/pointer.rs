//! Pointers: their targets, addresses of objects, and moves by whole objects.

use super::eval::PathEvaluator;
use super::names::words;
use super::object::{Answer, Object, error, memory, narrowed};
use super::typed::{Shape, Ty};
use crate::bounds::MAX_REFERENCES;
use crate::dwarf::{Context, Entry, Evaluator, Focus, ImplicitPointer, Location, Offset, Program, Storage};
use crate::session::reading::address::{GENERIC, GLOBAL};
use crate::session::values::failed;
use crate::session::{MemoryAddress, Provenance, ValueState};
use crate::units::{Address, AddressSpace, BitSize, LaneSet};

/// An address with the type of its target.
#[derive(Clone, Debug)]
pub(super) struct Pointer {
    pub(super) to: Ty,
    pub(super) space: AddressSpace,
    pub(super) address: u64,
}

impl PathEvaluator<'_, '_, '_> {
    pub(super) fn followed(&self, mut object: Object) -> Answer<Object> {
        for _ in 0..=MAX_REFERENCES {
            let Shape::Reference { to, space } = self.shape(&object)? else { return Ok(object) };
            object = self.through(&object, to, space)?;
        }
        error(format!("more than {MAX_REFERENCES} references lead to one another"))
    }

    /// The target of a pointer or of an array's name.
    pub(super) fn pointee(&self, object: &Object) -> Answer<Object> {
        match self.shape(object)? {
            Shape::Pointer { to, space } => self.through(object, to, space),
            Shape::Array { is_vector: false, .. } => self.element(object, 0),
            Shape::Function => Ok(object.clone()),
            other => {
                error(format!("`*` needs a pointer; `{}` is {}", self.type_name(&object.ty), other.words()))
            }
        }
    }

    /// The target of a pointer or reference.
    pub(super) fn through(&self, object: &Object, to: Ty, space: AddressSpace) -> Answer<Object> {
        if let Storage::ImplicitPointer(pointer) = &object.location.storage {
            let location = self.implicit(pointer)?;
            let location = match to.size(self.scene.debug()).map_err(words)? {
                Some(size) => narrowed(location, BitSize(size.saturating_mul(8)), self.lane),
                None => location,
            };
            return Ok(Object::at(to, location, object.provenance));
        }
        let address = self.address(object)?;
        self.target(to, space, address)
    }

    /// The target of a pointer that exists only in the DWARF.
    pub(super) fn implicit(&self, pointer: &ImplicitPointer) -> Answer<Location> {
        let context = &self.scene.found.frame.context;
        let refused = |why: &crate::dwarf::Error| Box::new(failed(why, &**context.kind()));
        let program = Program::decode(&[], context.encoding).map_err(|why| refused(&why))?;
        let focus = Focus::Lanes(LaneSet::one(self.lane));
        let groups = Evaluator::new(context).location(&program, focus, &[Entry::Pointer(*pointer)]);
        match groups.into_iter().next().map(|group| group.result) {
            Some(Ok(location)) => Ok(location.at(self.lane)),
            Some(Err(why)) => Err(refused(&why)),
            None => error("the pointer leads nowhere"),
        }
    }

    /// The object at an address. A generic address, or a plain one in an aperture, leads to another space.
    pub(super) fn target(&self, to: Ty, space: AddressSpace, address: u64) -> Answer<Object> {
        let context = &self.scene.found.frame.context;
        let target = &context.kind().target;
        let Some(known) = target.space(space) else {
            return error(format!("{} has no address space {space}", target.name));
        };
        if self.scene.is_null(space, address) {
            let shown = if space == GLOBAL {
                format!("{address:#x}")
            } else {
                format!("{}#{address:#x}", known.name)
            };
            return error(format!(
                "the pointer is NULL: {shown} is the null address of {} memory",
                known.name
            ));
        }
        let mut place = MemoryAddress {
            space,
            address: Address(address),
            wave: Some(self.scene.wave),
            lane: Some(self.lane),
        };
        if space == GLOBAL || space == GENERIC {
            place = self
                .scene
                .reader
                .generic(place)
                .map_err(|why| Box::new(ValueState::Error(why.to_string().into())))?;
        }
        let Some(info) = context.machine().space(place.space) else {
            return error(format!("{} has no address space {}", target.name, place.space));
        };
        Ok(Object::at(to, memory(place.space, info, place.address.0, self.lane), Provenance::default()))
    }

    /// The space of the address of an array or function in memory.
    pub(super) fn decayed_space(&self, object: &Object) -> AddressSpace {
        match object.location.storage {
            Storage::Memory { space, .. } => space,
            _ => self.scene.default_space(),
        }
    }

    /// A pointer, or an operand that decays to one in arithmetic: arrays and functions in memory. `None` for other
    /// types, also for vectors.
    pub(super) fn pointer(&self, object: &Object) -> Answer<Option<Pointer>> {
        Ok(match self.shape(object)? {
            Shape::Pointer { to, space } => Some(Pointer { to, space, address: self.address(object)? }),
            Shape::Array { element, stride, is_vector: false, .. } => {
                if let Some(stride) = stride
                    && i128::from(stride) != i128::from(self.size(&element)?) * 8
                {
                    return error(format!(
                        "the elements of `{}` are {stride} bits apart, and no pointer has such steps: use `[]`",
                        self.type_name(&object.ty)
                    ));
                }
                let address = self.place_address(object)?;
                Some(Pointer { to: element, space: self.decayed_space(object), address })
            }
            Shape::Function => {
                let address = self.place_address(object)?;
                Some(Pointer { to: object.ty.clone(), space: self.decayed_space(object), address })
            }
            _ => None,
        })
    }

    /// The address of an object in memory, or the reason that it has none.
    pub(super) fn place_address(&self, object: &Object) -> Answer<u64> {
        let at = object.location.offset.get(self.lane);
        if object.is_value {
            return error("a computed value has no address");
        }
        if let Some(bits) = object.bits {
            let place = self.place_words(&object.location, BitSize(bits));
            return error(format!("a bit-field has no address; this one is {bits} bits at {place}"));
        }
        let size = object.ty.size(self.scene.debug()).map_err(words)?.unwrap_or(0);
        if !object.in_memory() || !at.is_multiple_of(8) {
            let place = self.place_words(&object.location, BitSize(size.saturating_mul(8)));
            return error(format!("it has no address: it is not in memory but in {place}"));
        }
        Ok((at / 8) as u64)
    }

    pub(super) fn address_of(&self, object: &Object) -> Answer<Object> {
        let address = self.place_address(object)?;
        let space = self.decayed_space(object);
        let bytes = u64::from(self.scene.address_bits(space) / 8);
        Ok(Object::number(self.scene.pointer_to(object.ty.clone(), space), address, bytes))
    }

    /// Step of a pointer in bytes: 1 for `void` and functions, as in GNU C.
    pub(super) fn step(&self, to: &Ty) -> Answer<u64> {
        match to.shape(self.scene.debug()).map_err(words)? {
            Shape::Void | Shape::Function => Ok(1),
            _ => self.size(to),
        }
    }

    /// A pointer moved by that number of objects.
    pub(super) fn advanced(&self, object: &Object, by: i128) -> Answer<Object> {
        if let (Storage::ImplicitPointer(pointer), Shape::Pointer { to, .. }) =
            (&object.location.storage, self.shape(object)?)
        {
            let step = i128::from(self.step(&to)?);
            let moved = by.checked_mul(step).and_then(|by| by.checked_add(i128::from(pointer.byte_offset)));
            let Some(byte_offset) = moved.and_then(|moved| i64::try_from(moved).ok()) else {
                return error(format!("{by} times {step} bytes are more than a pointer moves by"));
            };
            let storage = Storage::ImplicitPointer(ImplicitPointer { byte_offset, ..*pointer });
            return Ok(Object { location: Location { storage, offset: Offset::ZERO }, ..object.clone() });
        }
        let Some(pointer) = self.pointer(object)? else { return error("no pointer to move") };
        let address = self.beyond(&pointer, by)?;
        let bytes = u64::from(self.scene.address_bits(pointer.space) / 8);
        Ok(Object::number(self.scene.pointer_to(pointer.to, pointer.space), address, bytes))
    }

    /// The address moved by that number of objects, within the space.
    pub(super) fn beyond(&self, pointer: &Pointer, by: i128) -> Answer<u64> {
        let bits = self.scene.address_bits(pointer.space).clamp(1, 64);
        let step = self.step(&pointer.to)?;
        let at = by.checked_mul(i128::from(step)).and_then(|by| by.checked_add(i128::from(pointer.address)));
        let last = u64::MAX >> (64 - bits);
        match at.and_then(|at| u64::try_from(at).ok()).filter(|at| *at <= last) {
            Some(at) => Ok(at),
            None => error(format!(
                "{by} times {step} bytes from {:#x} is no address of {} memory: those have {bits} bits",
                pointer.address,
                self.scene.named_space(pointer.space)
            )),
        }
    }
}
