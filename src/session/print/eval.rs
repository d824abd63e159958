//! The walk over a path, for one lane.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::MAX_REPEAT;
use super::arith::{self, Integer};
use super::cast::CastTo;
use super::names::{Named, words};
use super::object::{Answer, Object, error, memory, moved, narrowed, unavailable};
use super::path::{Binary, Node, Path, Unary};
use super::typed::{Basic, Shape, Sort, Ty};
use crate::debuginfo::{Function, Member, Type, TypeKind, VariableKind};
use crate::dwarf::{
    Bits, Context, Entry, Evaluator, Focus, Frame, ImplicitPointer, Lanes, Location, Offset, Program, Storage,
    explain, fetch, print,
};
use crate::session::address::{GENERIC, GLOBAL};
use crate::session::variables::{Found, failed};
use crate::session::{Place, Reader, ValueState};
use crate::units::{Address, AddressSpace, BitSize, LaneId, LaneSet, WaveId};

/// References that lead to references.
const MAX_REFERENCES: usize = 8;
/// How deep a member is looked for in unnamed members and base classes.
const MAX_MEMBER_DEPTH: usize = 32;
/// How many members are looked at for one name.
const MAX_MEMBERS: usize = 1 << 16;

/// A frame that a path is asked of, with what was looked up already.
pub(super) struct Scene<'s, 'f> {
    pub(super) reader: &'s Reader,
    pub(super) wave: WaveId,
    pub(super) found: &'s Found<'f>,
    pub(super) lanes: LaneSet,
    names: RefCell<HashMap<String, Rc<Answer<Named>>>>,
    casts: RefCell<HashMap<String, Answer<CastTo>>>,
}

impl<'s, 'f> Scene<'s, 'f> {
    pub(super) fn new(reader: &'s Reader, wave: WaveId, found: &'s Found<'f>, lanes: LaneSet) -> Self {
        Self { reader, wave, found, lanes, names: RefCell::default(), casts: RefCell::default() }
    }

    /// What a name means.
    pub(super) fn named(&self, name: &str) -> Rc<Answer<Named>> {
        if let Some(known) = self.names.borrow().get(name) {
            return Rc::clone(known);
        }
        let found = Rc::new(self.find(name));
        self.names.borrow_mut().insert(name.to_owned(), Rc::clone(&found));
        found
    }

    /// Whether an object of a type, or what it points to, has a member of that name.
    pub(super) fn has_member(&self, ty: &Ty, name: &str) -> Answer<bool> {
        let mut shape = ty.shape(self.debug()).map_err(words)?;
        if let Shape::Pointer { to, .. } | Shape::Reference { to, .. } = &shape {
            shape = to.shape(self.debug()).map_err(words)?;
        }
        let Shape::Record(record) = shape else { return Ok(false) };
        Ok(self.member_steps(&record, name, 0, &mut 0)?.is_some())
    }

    /// The members that lead to one of that name: through unnamed members and base classes. The object's own come first.
    fn member_steps(
        &self,
        record: &Arc<Type>,
        name: &str,
        depth: usize,
        seen: &mut usize,
    ) -> Answer<Option<Vec<Member>>> {
        let TypeKind::Record(found) = &record.kind else { return Ok(None) };
        *seen += found.members.len();
        if depth > MAX_MEMBER_DEPTH || *seen > MAX_MEMBERS {
            return error(format!("`{name}` is looked for in more than {MAX_MEMBERS} members or {MAX_MEMBER_DEPTH} classes inside one another"));
        }
        let own = found.members.iter().find(|member| !member.is_base && member.name.as_deref() == Some(name));
        if let Some(own) = own {
            return Ok(Some(vec![own.clone()]));
        }
        let through = |base: bool| found.members.iter().filter(move |member| {
            if base { member.is_base } else { !member.is_base && member.name.is_none() }
        });
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

/// An address with what it points to.
#[derive(Clone, Debug)]
pub(super) struct Pointer {
    pub(super) to: Ty,
    pub(super) space: AddressSpace,
    pub(super) address: u64,
}

/// A scene as one lane sees it.
pub(super) struct Walk<'w, 's, 'f> {
    pub(super) scene: &'w Scene<'s, 'f>,
    pub(super) lane: LaneId,
}

impl Walk<'_, '_, '_> {
    /// The object that a path names; references are followed.
    pub(super) fn object(&self, path: &Path) -> Answer<Object> {
        let found = match &path.node {
            Node::Name(name) => self.name(name)?,
            Node::Integer { value, long, unsigned } => {
                let ty = Basic::integer(if *long { 8 } else { 4 }, *unsigned);
                self.made(Integer::new(*value, ty))
            }
            Node::Character(code) => {
                let ty = Basic { name: "char", bytes: 1, sort: Sort::Character };
                self.made(Integer::new(u64::from(*code), ty))
            }
            Node::Register(name) => self.register(name, None)?,
            Node::Address { space, address } => {
                let Some(space) = self.scene.space_named(space) else {
                    return error(format!("there is no address space `{space}`"));
                };
                let bytes = u64::from(self.scene.address_bits(space) / 8);
                Object::number(self.scene.pointer_to(Ty::Void, space), *address, bytes)
            }
            Node::Unary(Unary::Deref, operand) => self.pointee(&self.object(operand)?)?,
            Node::Unary(Unary::Address, operand) => self.address_of(&self.object(operand)?)?,
            Node::Unary(operator, operand) => {
                let operand = self.integer(&self.object(operand)?)?;
                self.made(arith::unary(*operator, operand))
            }
            Node::Binary(operator, left, right) => {
                self.binary(*operator, &self.object(left)?, &self.object(right)?)?
            }
            Node::Member { object, name, arrow } => self.named_member(&self.object(object)?, name, *arrow)?,
            Node::Index(object, index) => {
                let index = self.integer(&self.object(index)?)?.wide();
                match &object.node {
                    Node::Register(name) => self.register(name, Some(index))?,
                    _ => self.element(&self.object(object)?, index)?,
                }
            }
            Node::Repeat(object, count) => {
                let count = self.integer(&self.object(count)?)?.wide();
                self.repeated(&self.object(object)?, count)?
            }
            Node::Cast(to, operand) => {
                let to = self.cast_to(to)?;
                self.cast(&to, &self.object(operand)?)?
            }
        };
        self.followed(found)
    }

    fn cast_to(&self, to: &super::path::TypeName) -> Answer<CastTo> {
        let key = to.to_string();
        if let Some(known) = self.scene.casts.borrow().get(&key) {
            return known.clone();
        }
        let found = self.scene.cast_to(to);
        self.scene.casts.borrow_mut().insert(key, found.clone());
        found
    }

    /// A computed integer.
    fn made(&self, number: Integer) -> Object {
        Object::number(Ty::Basic(number.ty), number.bits, u64::from(number.ty.bytes))
    }

    pub(super) fn shape(&self, object: &Object) -> Answer<Shape> {
        object.ty.shape(self.scene.debug()).map_err(words)
    }

    pub(super) fn type_name(&self, ty: &Ty) -> String {
        ty.name(self.scene.debug()).unwrap_or_else(|why| format!("<{why}>"))
    }

    /// Bytes of a type.
    fn size(&self, ty: &Ty) -> Answer<u64> {
        match ty.size(self.scene.debug()).map_err(words)? {
            Some(size) => Ok(size),
            None => error(format!("the size of `{}` is not known", self.type_name(ty))),
        }
    }

    fn name(&self, name: &str) -> Answer<Object> {
        match &*self.scene.named(name) {
            Err(why) => Err(why.clone()),
            Ok(Named::Variable(placed)) => match placed.ty {
                Some(ty) => Ok(Object::at(Ty::Die(ty), placed.at(self.lane)?, placed.legacy)),
                None => error(format!("`{name}` has no type")),
            },
            Ok(Named::Member) => self.named_member(&self.name("this")?, name, true),
            Ok(Named::Enumerator { ty, value }) => {
                let ty = Ty::Die(*ty);
                let size = self.size(&ty)?;
                Ok(Object::number(ty, *value as u64, size))
            }
            Ok(Named::Function(function)) => self.function(function),
        }
    }

    fn function(&self, function: &Function) -> Answer<Object> {
        let Some(low) = function.low_pc() else { return error("the function has no code") };
        let address = self.scene.found.frame.context.loaded(low.0);
        let address = address.map_err(|why| Box::new(ValueState::Error(why.to_string())))?;
        let arguments = function.scopes.first().map_or(&[][..], |scope| &scope.variables);
        let arguments = arguments.iter().filter(|variable| variable.kind == VariableKind::Argument);
        let parameters = arguments.map(|variable| variable.type_id).collect();
        let ty = Ty::Function { returns: function.subprogram.return_type, parameters };
        Ok(Object::at(ty, Location::memory(GLOBAL, 64, Address(address)), false))
    }

    fn followed(&self, mut object: Object) -> Answer<Object> {
        for _ in 0..MAX_REFERENCES {
            let Shape::Reference { to, space } = self.shape(&object)? else { return Ok(object) };
            object = self.through(&object, to, space)?;
        }
        error(format!("more than {MAX_REFERENCES} references lead to one another"))
    }

    /// What a pointer or an array's name leads to.
    pub(super) fn pointee(&self, object: &Object) -> Answer<Object> {
        match self.shape(object)? {
            Shape::Pointer { to, space } => self.through(object, to, space),
            Shape::Array { .. } => self.element(object, 0),
            Shape::Function => Ok(object.clone()),
            other => error(format!("`*` needs a pointer; `{}` is {}", self.type_name(&object.ty), other.words())),
        }
    }

    /// What a pointer or reference leads to.
    fn through(&self, object: &Object, to: Ty, space: AddressSpace) -> Answer<Object> {
        if let Storage::ImplicitPointer(pointer) = &object.location.storage {
            let location = self.implicit(pointer)?;
            let location = match to.size(self.scene.debug()).map_err(words)? {
                Some(size) => narrowed(location, BitSize(size.saturating_mul(8)), self.lane),
                None => location,
            };
            return Ok(Object::at(to, location, object.legacy));
        }
        let address = self.address(object)?;
        self.target(to, space, address)
    }

    /// The object that a pointer which exists only in the DWARF leads to.
    fn implicit(&self, pointer: &ImplicitPointer) -> Answer<Location> {
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

    /// The object at an address. Generic addresses, and plain ones that lie in an aperture, name another space.
    fn target(&self, to: Ty, space: AddressSpace, address: u64) -> Answer<Object> {
        let context = &self.scene.found.frame.context;
        let target = &context.kind().target;
        let Some(known) = target.space(space) else {
            return error(format!("{} has no address space {space}", target.name));
        };
        if known.null.0 == address {
            let shown = if space == GLOBAL { format!("{address:#x}") } else { format!("{}#{address:#x}", known.name) };
            return error(format!("the pointer is NULL: {shown} is the null address of {} memory", known.name));
        }
        let mut place =
            Place { space, address: Address(address), wave: Some(self.scene.wave), lane: Some(self.lane) };
        if space == GLOBAL || space == GENERIC {
            place = self.scene.reader.generic(place).map_err(|why| Box::new(ValueState::Error(why.to_string())))?;
        }
        let Some(info) = Context::space(context, place.space) else {
            return error(format!("{} has no address space {}", target.name, place.space));
        };
        Ok(Object::at(to, memory(place.space, info, place.address.0, self.lane), false))
    }

    /// The space that the address of an array or function in memory is in.
    pub(super) fn decayed_space(&self, object: &Object) -> AddressSpace {
        match object.location.storage {
            Storage::Memory { space, .. } => space,
            _ => self.scene.default_space(),
        }
    }

    /// A pointer, or what becomes one in arithmetic: arrays and functions in memory. `None` for other types.
    pub(super) fn pointer(&self, object: &Object) -> Answer<Option<Pointer>> {
        Ok(match self.shape(object)? {
            Shape::Pointer { to, space } => Some(Pointer { to, space, address: self.address(object)? }),
            Shape::Array { element, .. } => {
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

    /// Where an object in memory is, or why it has no address.
    fn place_address(&self, object: &Object) -> Answer<u64> {
        let at = object.location.offset.get(self.lane);
        if object.is_value {
            return error("a computed value has no address");
        }
        if let Some(bits) = object.bits {
            let place = self.place_words(&object.location, BitSize(bits));
            return error(format!("a bit-field has no address; this one is {bits} bits at {place}"));
        }
        let size = object.ty.size(self.scene.debug()).map_err(words)?.unwrap_or(0);
        if !object.in_memory() || at % 8 != 0 {
            let place = self.place_words(&object.location, BitSize(size.saturating_mul(8)));
            return error(format!("it has no address: it is not in memory but in {place}"));
        }
        Ok((at / 8) as u64)
    }

    fn address_of(&self, object: &Object) -> Answer<Object> {
        let address = self.place_address(object)?;
        let space = self.decayed_space(object);
        let bytes = u64::from(self.scene.address_bits(space) / 8);
        Ok(Object::number(self.scene.pointer_to(object.ty.clone(), space), address, bytes))
    }

    fn binary(&self, operator: Binary, left: &Object, right: &Object) -> Answer<Object> {
        let is_address = |object: &Object| -> Answer<bool> {
            Ok(matches!(self.shape(object)?, Shape::Pointer { .. } | Shape::Array { .. } | Shape::Function))
        };
        match (is_address(left)?, is_address(right)?, operator) {
            (false, false, _) => {
                let result = arith::binary(operator, self.integer(left)?, self.integer(right)?);
                match result {
                    Ok(number) => Ok(self.made(number)),
                    Err(why) => error(format!("`{}` {why}", operator.sign())),
                }
            }
            (true, false, Binary::Add) => self.advanced(left, self.integer(right)?.wide()),
            (true, false, Binary::Subtract) => self.advanced(left, -self.integer(right)?.wide()),
            (false, true, Binary::Add) => self.advanced(right, self.integer(left)?.wide()),
            (true, true, Binary::Subtract) => {
                let (Some(left), Some(right)) = (self.pointer(left)?, self.pointer(right)?) else {
                    return error("`-` needs two pointers");
                };
                let (size, other) = (self.step(&left.to)?, self.step(&right.to)?);
                if left.space != right.space || size != other {
                    return error("`-` needs two pointers to the same type in the same address space");
                }
                let apart = left.address.wrapping_sub(right.address) as i64;
                let number = Integer::new((apart / size.max(1) as i64) as u64, Basic::integer(8, false));
                Ok(self.made(number))
            }
            _ => {
                let (left, right) = (self.type_name(&left.ty), self.type_name(&right.ty));
                error(format!("`{}` is not defined for `{left}` and `{right}`", operator.sign()))
            }
        }
    }

    /// Bytes that a pointer moves by: 1 for `void` and functions, as GNU C has it.
    fn step(&self, to: &Ty) -> Answer<u64> {
        match to.shape(self.scene.debug()).map_err(words)? {
            Shape::Void | Shape::Function => Ok(1),
            _ => self.size(to),
        }
    }

    /// A pointer so many objects further.
    fn advanced(&self, object: &Object, by: i128) -> Answer<Object> {
        if let (Storage::ImplicitPointer(pointer), Shape::Pointer { to, .. }) =
            (&object.location.storage, self.shape(object)?)
        {
            let by = i64::try_from(by).unwrap_or(0).wrapping_mul(self.step(&to)? as i64);
            let byte_offset = pointer.byte_offset.wrapping_add(by);
            let storage = Storage::ImplicitPointer(ImplicitPointer { byte_offset, ..*pointer });
            return Ok(Object { location: Location { storage, offset: Offset::ZERO }, ..object.clone() });
        }
        let Some(pointer) = self.pointer(object)? else { return error("no pointer to move") };
        let address = self.beyond(&pointer, by)?;
        let bytes = u64::from(self.scene.address_bits(pointer.space) / 8);
        Ok(Object::number(self.scene.pointer_to(pointer.to, pointer.space), address, bytes))
    }

    /// The address so many objects further, in as many bits as addresses of the space have.
    fn beyond(&self, pointer: &Pointer, by: i128) -> Answer<u64> {
        let by = (by as u64).wrapping_mul(self.step(&pointer.to)?);
        let unused = 64 - u32::from(self.scene.address_bits(pointer.space).clamp(1, 64));
        Ok(pointer.address.wrapping_add(by) << unused >> unused)
    }

    fn element(&self, object: &Object, index: i128) -> Answer<Object> {
        match self.shape(object)? {
            Shape::Array { element, count } => {
                let size = self.size(&element)?;
                let inside = count.is_some_and(|count| (0..i128::from(count)).contains(&index));
                if !object.in_memory() && !inside {
                    let count = count.map_or_else(|| "no known number of".to_owned(), |count| count.to_string());
                    let place = self.whole_place(object);
                    return error(format!("there is no element {index}: it has {count} elements, in {place}"));
                }
                let by = index.saturating_mul(i128::from(size)).saturating_mul(8);
                self.moved(object, element, by, size.saturating_mul(8), None)
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
            other => {
                let ty = self.type_name(&object.ty);
                error(format!("`[]` needs an array or a pointer; `{ty}` is {}", other.words()))
            }
        }
    }

    /// A part of an object, so many bits on.
    fn moved(&self, object: &Object, ty: Ty, by: i128, size: u64, bits: Option<u64>) -> Answer<Object> {
        match moved(&object.location, by, self.lane) {
            Some(location) => Ok(object.part(ty, narrowed(location, BitSize(size), self.lane), bits)),
            None => error(format!("its part at bit {by} is beyond {}", self.whole_place(object))),
        }
    }

    fn named_member(&self, object: &Object, name: &str, arrow: bool) -> Answer<Object> {
        let mut object = object.clone();
        match self.shape(&object)? {
            // As gdb, `.` goes through a pointer too.
            Shape::Pointer { .. } => object = self.pointee(&object)?,
            other if arrow => {
                let ty = self.type_name(&object.ty);
                return error(format!("`->{name}` needs a pointer; `{ty}` is {}: write `.{name}`", other.words()));
            }
            _ => {}
        }
        object = self.followed(object)?;
        let record = match self.shape(&object)? {
            Shape::Record(record) => record,
            other => {
                let ty = self.type_name(&object.ty);
                return error(format!("`{name}` needs a struct or class; `{ty}` is {}", other.words()));
            }
        };
        let Some(steps) = self.scene.member_steps(&record, name, 0, &mut 0)? else {
            // A static member is a variable of its own.
            if let Some(class) = &record.name
                && let Ok(Named::Variable(_)) = &*self.scene.named(&format!("{class}::{name}"))
            {
                return self.name(&format!("{class}::{name}"));
            }
            let known = if record.is_declaration { ", which is only declared here" } else { "" };
            return error(format!("`{}`{known} has no member `{name}`", self.type_name(&object.ty)));
        };
        for member in &steps {
            object = self.member(&object, member)?;
        }
        Ok(object)
    }

    fn member(&self, object: &Object, member: &Member) -> Answer<Object> {
        let name = member.name.as_deref().unwrap_or("<unnamed>");
        let Some(id) = member.type_id else { return error(format!("the member `{name}` has no type")) };
        if member.is_dynamic {
            return error(format!("the place of `{name}` is known at run time only"));
        }
        let ty = Ty::Die(id);
        let size = match member.bit_size {
            Some(bits) => bits,
            None => ty.size(self.scene.debug()).map_err(words)?.unwrap_or(0).saturating_mul(8),
        };
        self.moved(object, ty, i128::from(member.bit_offset), size, member.bit_size)
    }

    fn repeated(&self, object: &Object, count: i128) -> Answer<Object> {
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

    /// A register: of a vector the slot of this lane, or of the one that the index says.
    fn register(&self, name: &str, index: Option<i128>) -> Answer<Object> {
        let context = &self.scene.found.frame.context;
        let kind = context.kind();
        let Some(register) = kind.named(name) else {
            return error(format!("{} has no register `{name}`", kind.target.name));
        };
        let dword = Ty::Basic(Basic::integer(4, true));
        let slots = u64::from(register.dwords);
        let slot = match (index, register.is_vector()) {
            (Some(index), true) => match u64::try_from(index).ok().filter(|index| *index < slots) {
                Some(slot) => slot,
                None => return error(format!("there is no lane {index} in `${name}`: it has {slots}")),
            },
            (None, true) => u64::from(self.lane.0),
            (Some(index), false) => return self.element(&self.register(name, None)?, index),
            (None, false) => 0,
        };
        let ty = match (register.is_vector(), name, slots) {
            (true, ..) | (_, _, 1) => dword,
            (_, "pc", _) => self.scene.pointer_to(Ty::Void, GLOBAL),
            (_, _, 2) => Ty::Basic(Basic::integer(8, true)),
            (_, _, count) => Ty::Array { element: Arc::new(dword), count },
        };
        if let Some(number) = kind.dwarf_of(register.id) {
            let storage = Storage::Register {
                register: number,
                frame: Frame::Current,
                size: BitSize(slots.saturating_mul(32)),
            };
            let offset = Offset { bytes: Lanes::Uniform(slot * 4), bits: Lanes::Uniform(0) };
            return Ok(Object::at(ty, Location { storage, offset }, false));
        }
        let value = self.scene.reader.register(self.scene.wave, register.id);
        let value = value.map_err(|why| Box::new(ValueState::Error(why.to_string())))?;
        let captured = value.dword(u16::try_from(slot).unwrap_or(u16::MAX));
        match (register.is_vector(), captured, value.is_whole()) {
            (true, Some(dword), _) => Ok(Object::number(ty, u64::from(dword), 4)),
            (false, _, true) => Ok(Object::value(ty, value.bytes())),
            _ => unavailable(format!("{name} was not captured")),
        }
    }

    /// The bits of an object, some of which may be missing.
    pub(super) fn bits(&self, location: &Location, size: BitSize) -> Answer<Bits> {
        let context = &self.scene.found.frame.context;
        fetch(context, location, Some(self.lane), size).map_err(|why| Box::new(failed(&why, &**context.kind())))
    }

    /// The bits of an object as a number, all of which must be there.
    fn read(&self, object: &Object) -> Answer<u64> {
        let size = match object.bits {
            Some(bits) => bits,
            None => self.size(&object.ty)?.saturating_mul(8),
        };
        if size > 64 {
            return error(format!("`{}` is wider than 64 bits", self.type_name(&object.ty)));
        }
        let bits = self.bits(&object.location, BitSize(size))?;
        match bits.number() {
            Some(number) => Ok(number),
            None => Err(Box::new(self.absence(&object.location, &bits))),
        }
    }

    /// Why not all bits of an object are there.
    pub(super) fn absence(&self, location: &Location, bits: &Bits) -> ValueState {
        match self.first_missing(location, bits) {
            Some(missing) => ValueState::Unavailable(missing),
            None => {
                let why = explain::undefined(location, self.lane).join("; ");
                let why = why.strip_prefix("optimized out since ").unwrap_or(&why).to_owned();
                ValueState::OptimizedOut(format!("its location is undefined at this PC: {why}"))
            }
        }
    }

    /// The place of the first byte that was not captured.
    pub(super) fn first_missing(&self, location: &Location, bits: &Bits) -> Option<String> {
        let at = bits.not_captured().iter().position(|mask| *mask != 0)?;
        let place = moved(location, at as i128 * 8, self.lane).unwrap_or_else(|| location.clone());
        let place = narrowed(place, BitSize(8), self.lane);
        Some(format!("{} was not captured", self.place_words(&place, BitSize(8))))
    }

    fn whole_place(&self, object: &Object) -> String {
        if object.is_value {
            return "a computed value".to_owned();
        }
        let size = object.ty.size(self.scene.debug()).ok().flatten().unwrap_or(0);
        self.place_words(&object.location, BitSize(size.saturating_mul(8)))
    }

    /// A place in words; a caller's registers where they are now.
    pub(super) fn place_words(&self, location: &Location, size: BitSize) -> String {
        let context = &self.scene.found.frame.context;
        let settled = context.level.settled(location, self.lane, size);
        print::location(settled.as_ref().unwrap_or(location), self.lane, &**context.kind())
    }

    fn address(&self, object: &Object) -> Answer<u64> {
        self.read(object)
    }

    /// An integer, character, truth value or enumerator.
    pub(super) fn integer(&self, object: &Object) -> Answer<Integer> {
        let sort = match self.shape(object)? {
            Shape::Number(sort) if sort != Sort::Float => sort,
            other => {
                let ty = self.type_name(&object.ty);
                return error(format!("needs an integer; `{ty}` is {}", other.words()));
            }
        };
        let size = self.size(&object.ty)?;
        let Some(bytes) = u8::try_from(size).ok().filter(|bytes| (1..=8).contains(bytes)) else {
            return error(format!("`{}` is wider than 64 bits", self.type_name(&object.ty)));
        };
        let mut number = self.read(object)?;
        if let (Some(bits @ 1..=63), Sort::Signed | Sort::Character) = (object.bits, sort) {
            let unused = 64 - bits as u32;
            number = ((number << unused) as i64 >> unused) as u64;
        }
        Ok(Integer::new(number, Basic { name: "", bytes, sort }))
    }

    /// A floating-point number of 2, 4 or 8 bytes.
    pub(super) fn float(&self, object: &Object) -> Answer<f64> {
        let bits = self.read(object)?;
        match self.size(&object.ty)? {
            4 => Ok(f64::from(f32::from_bits(bits as u32))),
            8 => Ok(f64::from_bits(bits)),
            size => error(format!("a floating-point number of {size} bytes cannot be computed with")),
        }
    }
}
