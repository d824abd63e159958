//! Types of casts, and conversions of numbers and pointers.

use std::sync::Arc;

use super::arith::{Integer, to_half};
use super::eval::{LANE, PathEvaluator, Scene};
use super::names::words;
use super::object::{Answer, Object, error};
use super::path::{Node, Path, TypeName};
use super::typed::{Basic, Shape, Sort, Ty, canonical};
use crate::debuginfo::{Naming, Type, TypeKind};
use crate::dwarf::AMD_AUGMENTATION;
use crate::session::MemoryAddress;
use crate::session::reading::address::{GENERIC, GLOBAL};
use crate::units::{Address, AddressSpace};

/// A type with the address space written before it.
#[derive(Clone, Debug)]
pub(super) struct CastTo {
    ty: Ty,
    space: Option<AddressSpace>,
    pointers: usize,
    /// As in [`TypeName`]: the number of `*` in brackets, and the lengths after them.
    to_arrays: Option<(usize, Vec<u64>)>,
    /// Number of pointers in total.
    depth: usize,
}

impl CastTo {
    /// A type without further pointers.
    pub(super) fn of(ty: Ty) -> Self {
        Self { ty, space: None, pointers: 0, to_arrays: None, depth: 0 }
    }
}

impl Scene<'_, '_> {
    /// Whether a name is a type's and not an object's.
    pub(super) fn is_type(&self, name: &str) -> bool {
        (*self.named(name)).is_err() && matches!(self.type_of_words(&[name.to_owned()]), Ok(Some(_)))
    }

    /// The type of a cast.
    pub(super) fn cast_to(&self, name: &TypeName) -> Answer<CastTo> {
        let cast = |ty, space| {
            let (pointers, to_arrays, depth) = (name.pointers, name.to_arrays.clone(), name.depth());
            CastTo { ty, space, pointers, to_arrays, depth }
        };
        if let Some(ty) = self.type_of_words(&name.words)? {
            return Ok(cast(ty, None));
        }
        if let Some((first, rest)) = name.words.split_first()
            && let Some(space) = self.space_named(first)
            && !rest.is_empty()
        {
            if name.depth() == 0 {
                return error(format!("`{first}` is the address space of a pointer, and `{name}` is none"));
            }
            if let Some(ty) = self.type_of_words(rest)? {
                return Ok(cast(ty, Some(space)));
            }
            return self.no_type(rest);
        }
        self.no_type(&name.words)
    }

    fn no_type<T>(&self, words: &[String]) -> Answer<T> {
        let name = words.join(" ");
        match self.debug().unit_count() {
            0 => error(format!(
                "there is no type `{name}`: without debug information only C's base types are known"
            )),
            _ => error(format!("there is no type `{name}` in this code object")),
        }
    }

    /// An address space by the name of AMD, OpenCL or the project.
    pub(super) fn space_named(&self, name: &str) -> Option<AddressSpace> {
        let target = &self.found.frame.context.kind().target;
        let name = match name.trim_start_matches("__") {
            "private" => "private_lane",
            "constant" => "global",
            other => other,
        };
        target.space_named(name).map(|space| space.id)
    }

    fn type_of_words(&self, all: &[String]) -> Answer<Option<Ty>> {
        let spelled: Vec<&str> = all.iter().map(String::as_str).collect();
        let (keyword, name) = match spelled.as_slice() {
            ["void"] => return Ok(Some(Ty::Void)),
            [keyword @ ("struct" | "class" | "union" | "enum"), name] => (Some(*keyword), *name),
            [name] if Basic::named(&canonical(&[name])).is_none() => (None, *name),
            words => {
                let Some(basic) = Basic::named(&canonical(words)) else { return Ok(None) };
                return self.base_type(basic).map(Some);
            }
        };
        let fits = |found: &Type| match keyword {
            None => true,
            Some("enum") => matches!(found.kind, TypeKind::Enum { .. }),
            Some(_) => matches!(found.kind, TypeKind::Record(_)),
        };
        let full_names = self.full_names(name)?;
        let mut declared = None;
        for naming in [Naming::Whole, Naming::Ending] {
            for unit in self.units() {
                let types = self.debug().named_types(unit).map_err(words)?;
                for full in &full_names {
                    let is_it = |found: &&Arc<Type>| {
                        fits(found) && found.name.as_deref().is_some_and(|own| naming.matches(own, full))
                    };
                    for found in types.iter().filter(is_it) {
                        if !found.is_declaration {
                            return Ok(Some(Ty::Die(found.id)));
                        }
                        declared.get_or_insert(Ty::Die(found.id));
                    }
                }
            }
        }
        // `struct half` is no alias.
        let alias = || keyword.is_none().then(|| Basic::alias(name)).flatten().map(Ty::Basic);
        Ok(declared.or_else(alias))
    }

    /// A type of C: the code object's own if it has one.
    fn base_type(&self, basic: Basic) -> Answer<Ty> {
        for unit in self.units() {
            for found in self.debug().named_types(unit).map_err(words)? {
                let name = found.name.as_deref().unwrap_or("");
                let spelled: Vec<&str> = name.split(' ').collect();
                if matches!(found.kind, TypeKind::Base(_)) && canonical(&spelled) == basic.name {
                    return Ok(Ty::Die(found.id));
                }
            }
        }
        Ok(Ty::Basic(basic))
    }

    /// The space of a pointer without one: by the unit's augmentation.
    pub(super) fn default_space(&self) -> AddressSpace {
        let context = &self.found.frame.context;
        let facts = self.found.unit().and_then(|unit| self.debug().unit(unit).ok());
        let augmentation = facts.filter(|facts| facts.is_amd_augmented()).map(|_| AMD_AUGMENTATION);
        context.kind().target.address_class(augmentation, None).map_or(GLOBAL, |space| space.id)
    }

    /// Bits of an address of a space.
    pub(super) fn address_bits(&self, space: AddressSpace) -> u8 {
        self.found.frame.context.kind().target.space(space).map_or(64, |space| space.address_bits)
    }

    /// Whether an address is the null one of its space.
    pub(super) fn is_null(&self, space: AddressSpace, address: u64) -> bool {
        let known = self.found.frame.context.kind().target.space(space);
        known.is_some_and(|known| known.null.0 == address)
    }

    /// A number as an address of a space; a negative one with its sign extended.
    pub(super) fn address_in(&self, space: AddressSpace, number: Integer) -> Answer<u64> {
        let bits = self.address_bits(space).clamp(1, 64);
        let unused = 64 - u32::from(bits);
        let address = number.bits << unused >> unused;
        let extended = ((address << unused) as i64 >> unused) as u64;
        let is_negative = number.wide() < 0;
        if address == number.bits || is_negative && extended == number.bits {
            return Ok(address);
        }
        error(format!(
            "{:#x} is no address of {} memory: those have {bits} bits",
            number.bits,
            self.named_space(space)
        ))
    }

    pub(super) fn named_space(&self, space: AddressSpace) -> String {
        let target = &self.found.frame.context.kind().target;
        target.space(space).map_or_else(|| format!("space {space}"), |space| space.name.clone())
    }

    pub(super) fn pointer_to(&self, to: Ty, space: AddressSpace) -> Ty {
        Ty::Pointer { to: Arc::new(to), space, bytes: self.address_bits(space) / 8 }
    }
}

impl PathEvaluator<'_, '_, '_> {
    /// A register as a floating-point number: its bits, since a register has no type; `None`: another cast.
    pub(super) fn register_as(&self, to: &CastTo, path: &Path, object: &Object) -> Answer<Option<Object>> {
        let register = match &path.node {
            Node::Index(of, _) | Node::Element(of, _) => &of.node,
            node => node,
        };
        let is_register = matches!(register, Node::Register(name) if name != LANE);
        let shape = to.ty.shape(self.scene.debug()).map_err(words)?;
        if !is_register || to.depth > 0 || !matches!(shape, Shape::Number(Sort::Float)) {
            return Ok(None);
        }
        let (wanted, size) = (self.size(&to.ty)?, self.size(&object.ty)?);
        if wanted > size {
            let ty = self.type_name(&to.ty);
            return error(format!(
                "`{path}` has {size} bytes and `{ty}` {wanted}: a cast of a register takes its bits"
            ));
        }
        Ok(Some(Object { ty: to.ty.clone(), ..object.clone() }))
    }

    pub(super) fn cast(&self, to: &CastTo, object: &Object) -> Answer<Object> {
        let debug = self.scene.debug();
        if to.depth > 0 {
            let from = self.shape(object)?;
            // A pointer stays in its space unless the cast names another.
            let kept = match from {
                Shape::Pointer { space, .. } => space,
                Shape::Array { .. } | Shape::Function => self.decayed_space(object),
                _ => self.scene.default_space(),
            };
            let target = to.space.unwrap_or(kept);
            // `local int **` is a pointer to a pointer to local memory.
            let mut ty = to.ty.clone();
            for level in 0..to.depth {
                let last = level + 1 == to.depth;
                if level == to.pointers
                    && let Some((_, lengths)) = &to.to_arrays
                {
                    let array =
                        |element, count: &u64| Ty::Array { element: Arc::new(element), count: *count };
                    ty = lengths.iter().rev().fold(ty, array);
                }
                let space = match (level, last) {
                    (0, _) if to.space.is_some() => target,
                    (_, true) => kept,
                    _ => self.scene.default_space(),
                };
                ty = self.scene.pointer_to(ty, space);
            }
            let Ty::Pointer { space, bytes, .. } = ty else { return error("a cast to no type") };
            return match self.pointer(object)? {
                Some(pointer) => {
                    let moved = match to.depth {
                        1 if to.to_arrays.is_none() => self.across(&pointer, &to.ty)?,
                        _ => pointer.address,
                    };
                    let address = self.carried(pointer.space, moved, space)?;
                    Ok(Object::number(ty, address, bytes.into()))
                }
                None => {
                    let address = self.scene.address_in(space, self.integer(object)?)?;
                    Ok(Object::number(ty, address, bytes.into()))
                }
            };
        }
        let shape = to.ty.shape(debug).map_err(words)?;
        let size = to.ty.size(debug).map_err(words)?;
        match (shape, size) {
            (Shape::Number(sort), Some(size @ 1..=8)) => {
                let bits = self.converted(object, &to.ty, sort, size)?;
                Ok(Object::number(to.ty.clone(), bits, size))
            }
            (Shape::Pointer { space, to: pointee }, Some(size)) => {
                // A typedef of a pointer names its space itself.
                let address = match self.pointer(object)? {
                    Some(pointer) => self.carried(pointer.space, self.across(&pointer, &pointee)?, space)?,
                    None => self.scene.address_in(space, self.integer(object)?)?,
                };
                Ok(Object::number(to.ty.clone(), address, size))
            }
            _ if self.same_type(&object.ty, &to.ty)? => Ok(object.clone()),
            (Shape::Number(_), Some(size)) => {
                let to = self.type_name(&to.ty);
                error(format!("`{to}` has {size} bytes, and a path computes with at most 8"))
            }
            (shape, _) => {
                let (from, to) = (self.type_name(&object.ty), self.type_name(&to.ty));
                error(format!("`{from}` cannot be cast to `{to}`, which is {}", shape.words()))
            }
        }
    }

    fn same_type(&self, one: &Ty, other: &Ty) -> Answer<bool> {
        let stripped = |ty: &Ty| match ty {
            Ty::Die(id) => {
                self.scene.debug().stripped(*id).map(|found| found.map(|found| found.id)).map_err(words)
            }
            _ => Ok(None),
        };
        let (one, other) = (stripped(one)?, stripped(other)?);
        Ok(one.is_some() && one == other)
    }

    /// A number or address as a number of another sort.
    fn converted(&self, object: &Object, to: &Ty, sort: Sort, size: u64) -> Answer<u64> {
        let (is_bfloat, to) = (self.is_bfloat(to)?, sort);
        let from = self.shape(object)?;
        if let Shape::Number(Sort::Float) = from {
            let number = self.float(object)?;
            return Ok(match (to, size) {
                (Sort::Float, 4) => u64::from((number as f32).to_bits()),
                (Sort::Float, 8) => number.to_bits(),
                (Sort::Float, 2) if !is_bfloat => u64::from(to_half(number)),
                (Sort::Float, _) => return error("only float, double and _Float16 can be computed"),
                (Sort::Boolean, _) => u64::from(number != 0.0),
                (Sort::Unsigned, _) if number >= 0.0 => number as u64,
                _ => number as i64 as u64,
            });
        }
        let number = match self.pointer(object)? {
            Some(pointer) => Integer::new(pointer.address, Basic::integer(8, true)),
            None => self.integer(object)?,
        };
        Ok(match (to, size) {
            (Sort::Float, 4) => u64::from((number.wide() as f32).to_bits()),
            (Sort::Float, 8) => (number.wide() as f64).to_bits(),
            (Sort::Float, 2) if !is_bfloat => u64::from(to_half(number.wide() as f64)),
            (Sort::Float, _) => return error("only float, double and _Float16 can be computed"),
            (Sort::Boolean, _) => u64::from(number.bits != 0),
            _ => number.bits,
        })
    }

    /// The address of the same place in another space: generic addresses reach others through apertures.
    fn carried(&self, from: AddressSpace, address: u64, to: AddressSpace) -> Answer<u64> {
        let target = &self.scene.found.frame.context.kind().target;
        let (Some(known), Some(wanted)) = (target.space(from), target.space(to)) else { return Ok(address) };
        if from == to || [from, to].iter().all(|space| *space == GLOBAL || *space == GENERIC) {
            return Ok(address);
        }
        if self.scene.is_null(from, address) {
            return Ok(wanted.null.0);
        }
        let apertures = self.scene.reader.apertures(self.scene.wave);
        if wanted.address_bits > 32 {
            let base = apertures.iter().find(|(space, _)| *space == from);
            return match base {
                Some((_, base)) => Ok(base | address),
                None => error(format!("{} memory has no generic addresses here", known.name)),
            };
        }
        let place = MemoryAddress {
            space: GENERIC,
            address: Address(address),
            wave: Some(self.scene.wave),
            lane: Some(self.lane),
        };
        match self.scene.reader.generic(place) {
            _ if known.address_bits <= 32 => {
                error(format!("an address of {} memory is none of {} memory", known.name, wanted.name))
            }
            Ok(found) if found.space == to => Ok(found.address.0),
            Ok(_) => error(format!("{address:#x} is not in the aperture of {} memory", wanted.name)),
            Err(why) => error(why.to_string()),
        }
    }
}
