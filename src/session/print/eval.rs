//! Evaluation of a path, for one lane.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use super::arith::{self, Integer};
use super::cast::CastTo;
use super::explain::collect;
use super::names::{Constant, Named, Placed, words};
use super::object::{Answer, Object, error, unavailable};
use super::parse::{ParseError, parse_in};
use super::path::{Binary, MemberSign, Node, Path, Unary};
use super::typed::{Basic, Shape, Sort, Ty};
use crate::debuginfo::format::Value;
use crate::debuginfo::{Function, VariableKind};
use crate::dwarf::{Context, Frame, Lanes, Location, Offset, Storage};
use crate::session::reading::address::GLOBAL;
use crate::session::variables::Found;
use crate::session::{Inferred, Provenance, ReadError, Reader, ValueState};
use crate::units::{Address, BitSize, LaneId, LaneSet, WaveId};

/// A frame for a path, with a cache of lookups.
pub(super) struct Scene<'s, 'f> {
    pub(super) reader: &'s Reader,
    pub(super) wave: WaveId,
    pub(super) found: &'s Found<'f>,
    pub(super) lanes: LaneSet,
    names: RefCell<HashMap<String, Rc<Answer<Named>>>>,
    casts: RefCell<HashMap<String, Answer<CastTo>>>,
    /// Remaining bytes of text for the values of all lanes.
    text: Cell<usize>,
}

/// The name of the lane's number, `$lane`.
pub(super) const LANE: &str = "lane";
/// Maximum bytes of text of a path's values, all lanes together.
const MAX_TEXT: usize = 8 << 20;
/// Bytes of a lane's text that are always shown: a scalar.
const FREE_TEXT: usize = 64;

impl<'s, 'f> Scene<'s, 'f> {
    pub(super) fn new(reader: &'s Reader, wave: WaveId, found: &'s Found<'f>, lanes: LaneSet) -> Self {
        let (names, casts, text) = (RefCell::default(), RefCell::default(), Cell::new(MAX_TEXT));
        Self { reader, wave, found, lanes, names, casts, text }
    }

    /// A value's text, and whether it is whole: at the limit it ends with `...`.
    pub(super) fn text(&self, value: &Value) -> (String, bool) {
        let left = self.text.get().max(FREE_TEXT);
        let (text, is_whole) = value.limited(left);
        let text = text.into_owned();
        self.text.set(self.text.get().saturating_sub(text.len()));
        (text, is_whole)
    }

    /// A path in the notation of the frame's language.
    pub(super) fn parsed(&self, text: &str) -> Result<Path, ParseError> {
        parse_in(self.is_fortran(), text, &|name| self.is_type(name))
    }

    /// Refuses names without a meaning in a frame without debug information, with the reason for its absence.
    pub(super) fn check_names(&self, path: &Path) -> Result<(), ReadError> {
        let Err(why) = &self.found.function else { return Ok(()) };
        // A name's own error has the remedy.
        if self.found.note().is_some() {
            return Ok(());
        }
        let mut names = Vec::new();
        collect(path, &mut names);
        match names.into_iter().any(|name| self.named(name).is_err()) {
            true => Err(why.clone()),
            false => Ok(()),
        }
    }

    /// Refuses casts to unknown types, with their column.
    pub(super) fn check_casts(&self, path: &Path) -> Result<(), ParseError> {
        if let Node::Cast(to, _) = &path.node
            && let Err(why) = self.cast_to(to)
        {
            return Err(ParseError { column: path.column, words: why.words().to_owned() });
        }
        path.parts().into_iter().try_for_each(|part| self.check_casts(part))
    }

    /// The meaning of a name.
    pub(super) fn named(&self, name: &str) -> Rc<Answer<Named>> {
        if let Some(known) = self.names.borrow().get(name) {
            return Rc::clone(known);
        }
        let found = Rc::new(self.find(name));
        self.names.borrow_mut().insert(name.to_owned(), Rc::clone(&found));
        found
    }
}

/// A scene for one lane.
pub(super) struct PathEvaluator<'w, 's, 'f> {
    pub(super) scene: &'w Scene<'s, 'f>,
    pub(super) lane: LaneId,
    /// The lanes that own the data read so far.
    of: Cell<LaneSet>,
    /// The inferences behind the variables read so far.
    inferred: Cell<Inferred>,
}

impl<'w, 's, 'f> PathEvaluator<'w, 's, 'f> {
    pub(super) fn new(scene: &'w Scene<'s, 'f>, lane: LaneId) -> Self {
        Self { scene, lane, of: Cell::new(LaneSet::EMPTY), inferred: Cell::default() }
    }

    /// Records lanes that own read data.
    pub(super) fn note(&self, lanes: LaneSet) {
        self.of.set(self.of.get().or(lanes));
    }

    /// The lanes that own the data read so far.
    pub(super) fn of(&self) -> LaneSet {
        self.of.get()
    }

    /// The inferences behind the variables read so far.
    pub(super) fn inferred(&self) -> Inferred {
        self.inferred.get()
    }
}

impl PathEvaluator<'_, '_, '_> {
    /// The object that a path names; references are followed.
    pub(super) fn object(&self, path: &Path) -> Answer<Object> {
        let found = match &path.node {
            Node::Name(name) => self.name(name)?,
            Node::Integer { value, long, unsigned, .. } => {
                let ty = Basic::integer(if *long { 8 } else { 4 }, *unsigned);
                self.made(Integer::new(*value, ty))
            }
            Node::Float { value, single } => self.made_float(*value, *single),
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
                let number = Integer::new(*address, Basic::integer(8, true));
                let address = self.scene.address_in(space, number)?;
                Object::number(self.scene.pointer_to(Ty::Void, space), address, bytes)
            }
            Node::Unary(Unary::Deref, operand) => self.pointee(&self.object(operand)?)?,
            Node::Unary(Unary::Address, operand) => self.address_of(&self.object(operand)?)?,
            Node::Unary(operator, operand) => self.unary(*operator, &self.object(operand)?)?,
            Node::Binary(operator, left, right) => {
                self.binary(*operator, &self.object(left)?, &self.object(right)?)?
            }
            Node::Member { object, name, sign } => self.named_member(&self.object(object)?, name, *sign)?,
            Node::Element(object, indexes) => {
                // `size(w)`: the wrong name is that of the function.
                let object = self.object(object)?;
                let index = |index| Ok(self.integer(&self.object(index)?)?.wide());
                let indexes = indexes.iter().map(index).collect::<Answer<Vec<i128>>>()?;
                self.element_at(&object, &indexes)?
            }
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
            Node::MemberPointer { object, member, arrow } => {
                self.member_pointed(&self.object(object)?, &self.object(member)?, *arrow)?
            }
            Node::Cast(to, operand) => {
                let (to, object) = (self.cast_to(to)?, self.object(operand)?);
                match self.register_as(&to, operand, &object)? {
                    Some(number) => number,
                    None => self.cast(&to, &object)?,
                }
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
    pub(super) fn made(&self, number: Integer) -> Object {
        Object::number(Ty::Basic(number.ty), number.bits, u64::from(number.ty.bytes))
    }

    /// A computed floating-point number.
    fn made_float(&self, value: f64, single: bool) -> Object {
        let (name, bytes, bits) = match single {
            true => ("float", 4, u64::from((value as f32).to_bits())),
            false => ("double", 8, value.to_bits()),
        };
        Object::number(Ty::Basic(Basic { name, bytes, sort: Sort::Float }), bits, u64::from(bytes))
    }

    fn unary(&self, operator: Unary, operand: &Object) -> Answer<Object> {
        if !self.is_float(operand)? {
            return Ok(self.made(arith::unary(operator, self.integer(operand)?)));
        }
        let (value, single) = (self.float(operand)?, self.size(&operand.ty)? < 8);
        match operator {
            Unary::Minus => Ok(self.made_float(-value, single)),
            Unary::Plus => Ok(self.made_float(value, single)),
            Unary::IsZero => Ok(self.made(Integer::new(u64::from(value == 0.0), Basic::integer(4, false)))),
            _ => error(format!(
                "needs an integer; `{}` is a floating-point number",
                self.type_name(&operand.ty)
            )),
        }
    }

    fn is_float(&self, object: &Object) -> Answer<bool> {
        Ok(matches!(self.shape(object)?, Shape::Number(Sort::Float)))
    }

    /// Arithmetic with a floating-point operand: as `double` if an operand is a `double`, else as `float`.
    fn float_binary(&self, operator: Binary, left: &Object, right: &Object) -> Answer<Object> {
        let operand = |object: &Object| -> Answer<(f64, bool)> {
            Ok(match self.is_float(object)? {
                true => (self.float(object)?, self.size(&object.ty)? < 8),
                false => (self.integer(object)?.wide() as f64, true),
            })
        };
        let ((left, narrow), (right, other)) = (operand(left)?, operand(right)?);
        match arith::float(operator, left, right, narrow && other) {
            Some(value) => Ok(self.made_float(value, narrow && other)),
            None => error(format!("`{}` is not defined for floating-point numbers", operator.sign())),
        }
    }

    pub(super) fn shape(&self, object: &Object) -> Answer<Shape> {
        object.ty.shape(self.scene.debug()).map_err(words)
    }

    pub(super) fn type_name(&self, ty: &Ty) -> String {
        ty.name(self.scene.debug()).unwrap_or_else(|why| format!("<{why}>"))
    }

    /// Bytes of a type.
    pub(super) fn size(&self, ty: &Ty) -> Answer<u64> {
        match ty.size(self.scene.debug()).map_err(words)? {
            Some(size) => Ok(size),
            None => error(format!("the size of `{}` is not known", self.type_name(ty))),
        }
    }

    pub(super) fn name(&self, name: &str) -> Answer<Object> {
        match &*self.scene.named(name) {
            Err(why) => Err(why.clone()),
            Ok(Named::Variable(placed)) => self.placed(placed),
            Ok(Named::UpLevel(found)) => self.placed(&found.placed),
            Ok(Named::Member) => self.named_member(&self.name("this")?, name, MemberSign::Arrow),
            Ok(Named::Enumerator { ty, value }) => {
                let ty = Ty::Die(*ty);
                let size = self.size(&ty)?;
                Ok(Object::number(ty, *value as u64, size))
            }
            Ok(Named::Function(function)) => self.function(function),
            Ok(Named::Constant(constant)) => Ok(match constant {
                Constant::Truth(truth) => {
                    let ty = Basic { name: "bool", bytes: 1, sort: Sort::Boolean };
                    self.made(Integer::new(u64::from(*truth), ty))
                }
                Constant::Null => {
                    let ty = self.scene.pointer_to(Ty::Void, GLOBAL);
                    Object::number(ty, 0, u64::from(self.scene.address_bits(GLOBAL) / 8))
                }
                Constant::Float(value) => self.made_float(*value, false),
            }),
        }
    }

    fn placed(&self, placed: &Placed) -> Answer<Object> {
        if placed.is_of_lane() {
            self.note(LaneSet::one(self.lane));
        }
        self.inferred.set(self.inferred.get().or(placed.provenance.inferred));
        match placed.ty {
            Some(ty) => Ok(Object::at(Ty::Die(ty), placed.at(self.lane)?, placed.provenance)),
            None => error(format!("`{}` has no type", placed.name())),
        }
    }

    fn function(&self, function: &Function) -> Answer<Object> {
        let Some(low) = function.low_pc() else { return error("the function has no code") };
        let address = self.scene.found.frame.context.call_frame().loaded(low.0);
        let address = address.map_err(|why| Box::new(ValueState::Error(why.to_string().into())))?;
        let arguments = function.scopes.first().map_or(&[][..], |scope| &scope.variables);
        let arguments = arguments.iter().filter(|variable| variable.kind == VariableKind::Argument);
        let arguments: Vec<_> = arguments.collect();
        let is_this = |variable: &&&Arc<crate::debuginfo::Variable>| {
            variable.is_artificial && variable.name.as_deref() == Some("this")
        };
        let this = arguments.first().filter(is_this).map(|_| 0);
        let parameters = arguments.iter().map(|variable| variable.type_id).collect();
        let ty = Ty::Function { returns: function.subprogram.return_type, parameters, this };
        let space = function.subprogram.address_space.unwrap_or(GLOBAL);
        let bits = self.scene.address_bits(space);
        Ok(Object::at(ty, Location::memory(space, bits, Address(address)), Provenance::default()))
    }

    fn binary(&self, operator: Binary, left: &Object, right: &Object) -> Answer<Object> {
        let is_address = |object: &Object| -> Answer<bool> {
            let shape = self.shape(object)?;
            Ok(matches!(
                shape,
                Shape::Pointer { .. } | Shape::Array { is_vector: false, .. } | Shape::Function
            ))
        };
        match (is_address(left)?, is_address(right)?, operator) {
            (false, false, _) if self.is_float(left)? || self.is_float(right)? => {
                self.float_binary(operator, left, right)
            }
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
                let apart = i128::from(left.address.wrapping_sub(right.address) as i64);
                // It fits: the dividend has 64 bits and a sign, and the divisor is at least 1.
                let count = apart / i128::from(size.max(1));
                let number = Integer::new(count as u64, Basic::integer(8, false));
                Ok(self.made(number))
            }
            _ => {
                let (left, right) = (self.type_name(&left.ty), self.type_name(&right.ty));
                error(format!("`{}` is not defined for `{left}` and `{right}`", operator.sign()))
            }
        }
    }

    /// A register: for a vector the slot of this lane, or of the index.
    fn register(&self, name: &str, index: Option<i128>) -> Answer<Object> {
        let context = &self.scene.found.frame.context;
        let kind = context.kind();
        if (name, index) == (LANE, None) {
            return Ok(self.made(Integer::new(u64::from(self.lane.0), Basic::integer(4, false))));
        }
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
        if register.is_vector() {
            self.note(u8::try_from(slot).map_or(LaneSet::EMPTY, |slot| LaneSet::one(LaneId(slot))));
        }
        if let Some(number) = kind.dwarf_of(register.id) {
            let (walk, level) = (context.level.walk(), context.level.number());
            if walk.is_uncertain(level, number) {
                return unavailable(format!(
                    "the function of an inner frame called others, which may have changed ${name}"
                ));
            }
            self.inferred.set(self.inferred.get().or(context.unwound()));
            let storage = Storage::Register {
                register: number,
                frame: Frame::Current,
                size: BitSize(slots.saturating_mul(32)),
            };
            let offset = Offset { bytes: Lanes::Uniform(slot * 4), bits: Lanes::Uniform(0) };
            return Ok(Object::at(ty, Location { storage, offset }, Provenance::default()));
        }
        let value = self.scene.reader.register(self.scene.wave, register.id);
        let value = value.map_err(|why| Box::new(ValueState::Error(why.to_string().into())))?;
        let captured = value.dword(u16::try_from(slot).unwrap_or(u16::MAX));
        match (register.is_vector(), captured, value.is_whole()) {
            (true, Some(dword), _) => Ok(Object::number(ty, u64::from(dword), 4)),
            (false, _, true) => Ok(Object::value(ty, value.bytes())),
            _ => unavailable(format!("{name} was not captured")),
        }
    }
}
