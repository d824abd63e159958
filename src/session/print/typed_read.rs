//! Objects on a path as typed values.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use super::eval::{PathEvaluator, Scene};
use super::names::words;
use super::object::{Answer, Object, error, moved};
use super::typed::{Shape, Sort, Ty};
use super::typed_value::{
    EnumValue, FloatFormat, MAX_TYPED_TEXT, MAX_TYPED_VALUES, PointerValue, TypedAddress, TypedField,
    TypedLane, TypedQuery, TypedValue, TypedValues,
};
use super::{ParseError, Path};
use crate::bounds::MAX_VALUE_DEPTH;
use crate::debuginfo::{Base, Record, Type, TypeKind};
use crate::session::reading::address::{GENERIC, GLOBAL};
use crate::session::stack::backtrace::Frames;
use crate::session::variables::with_frame;
use crate::session::{LaneStates, MemoryAddress, ReadError, Reader, ValueState};
use crate::units::{Address, AddressSpace, BitSize, LaneId, LaneSet, WaveId};

/// Reads paths in a frame of a wave as typed values.
///
/// # Errors
/// There is no frame. A text that is no path has its own error.
pub(in crate::session) fn typed(
    reader: &Reader,
    wave: WaveId,
    frame: usize,
    asked: &[TypedQuery],
) -> Result<Vec<Result<TypedValues, ParseError>>, ReadError> {
    with_frame(reader, wave, frame, |found| {
        let all = found.frame.context.kind().wave_size.all();
        let states = crate::session::waves::lanes::in_frame(&Frames::near(reader, wave, frame)?, frame)?;
        let lanes = asked.iter().fold(LaneSet::EMPTY, |lanes, one| lanes.or(one.lanes));
        let scene = Scene::new(reader, wave, &found, lanes.and(all));
        let shared = RefCell::default();
        let each = asked.iter().map(|query| {
            let path = scene.parsed(&query.path)?;
            let lanes = query.lanes.and(all).iter();
            let lanes =
                lanes.map(|lane| scene.typed(&path, lane, query.wants_text, &states, &shared)).collect();
            Ok(TypedValues { lanes })
        });
        Ok(each.collect())
    })
}

impl Scene<'_, '_> {
    fn typed(
        &self,
        path: &Path,
        lane: LaneId,
        wants_text: bool,
        states: &LaneStates,
        shared: &RefCell<Option<SharedArray>>,
    ) -> TypedLane {
        let walk = PathEvaluator::new(self, lane);
        let read = TypedReader { walk: &walk, wants_text, left: Cell::new(MAX_TYPED_VALUES), shared };
        let value = match walk.object_of_path(path) {
            Ok(object) => read.value(&object, 0),
            Err(why) => TypedValue::Missing(*why),
        };
        TypedLane { lane, state: states.of(lane), value, inferred: walk.inferred() }
    }
}

/// The elements of an array of numbers in global memory: lanes and paths that lead to it share them.
#[derive(Debug)]
struct SharedArray {
    element: Ty,
    address: u64,
    count: u64,
    elements: Vec<TypedValue>,
}

/// A conversion of objects of one lane.
struct TypedReader<'r, 'w, 's, 'f> {
    walk: &'r PathEvaluator<'w, 's, 'f>,
    wants_text: bool,
    /// The remaining number of values.
    left: Cell<usize>,
    /// The last array that lanes can share.
    shared: &'r RefCell<Option<SharedArray>>,
}

impl TypedReader<'_, '_, '_, '_> {
    /// The value of an object; a part without one has its reason.
    fn value(&self, object: &Object, depth: usize) -> TypedValue {
        self.known(object, depth).unwrap_or_else(|why| TypedValue::Missing(*why))
    }

    fn known(&self, object: &Object, depth: usize) -> Answer<TypedValue> {
        let walk = self.walk;
        let budget = walk.scene.reader.budget();
        if let Err(why) = budget.take_values(1) {
            return error(why.to_string());
        }
        self.left.set(self.left.get().saturating_sub(1));
        if depth > MAX_VALUE_DEPTH {
            return error(format!("more than {MAX_VALUE_DEPTH} parts inside one another"));
        }
        let found = self.stripped(&object.ty)?;
        let enumeration = || found.as_deref().and_then(|found| found.name.clone());
        match found.as_deref().map(|found| &found.kind) {
            Some(TypeKind::Record(record)) => return self.record(object, record, depth),
            Some(TypeKind::Enum { enumerators, scope, .. }) => {
                let value = walk.integer(object)?.wide();
                let (enumerators, scope) = (enumerators.clone().into(), scope.clone());
                return Ok(TypedValue::Enumerator(EnumValue {
                    value,
                    enumerators,
                    scope,
                    enumeration: enumeration(),
                }));
            }
            Some(TypeKind::Base(base)) => {
                if let Some(value) = self.base(object, base)? {
                    return Ok(value);
                }
            }
            Some(TypeKind::String { width: 1, .. }) => return self.language_text(object),
            _ => {}
        }
        match walk.own_shape(object)? {
            Shape::Number(Sort::Float) => self.float(object),
            Shape::Number(Sort::Boolean) => Ok(TypedValue::Truth(walk.integer(object)?.bits)),
            Shape::Number(sort) => {
                let value = walk.integer(object)?.wide();
                Ok(TypedValue::Integer { value, is_character: sort == Sort::Character })
            }
            Shape::Pointer { to, space } => self.pointer(object, &to, space),
            Shape::Reference { .. } => self.known(&walk.followed(object.clone())?, depth + 1),
            Shape::Array { element, lower, count, .. } => self.array(object, &element, lower, count, depth),
            Shape::Function => {
                let address = walk.place_address(object)?;
                let to = self.address(walk.decayed_space(object), address);
                Ok(TypedValue::Pointer(PointerValue { to, is_null: false, text: None }))
            }
            Shape::Void => error("`void` has no value: cast it to the type of the data there"),
            Shape::Record(_) | Shape::MemberPointer(_) | Shape::Other => {
                Ok(TypedValue::Other { type_name: walk.type_name(&object.ty) })
            }
        }
    }

    /// The type of an object, without typedefs and qualifiers.
    fn stripped(&self, ty: &Ty) -> Answer<Option<Arc<Type>>> {
        match ty {
            Ty::Die(id) => self.walk.scene.debug().stripped(*id).map_err(words),
            _ => Ok(None),
        }
    }

    /// Numbers that paths do not compute with; `None`: all others.
    fn base(&self, object: &Object, base: &Base) -> Answer<Option<TypedValue>> {
        let walk = self.walk;
        let size = walk.size(&object.ty)?;
        if base.vector_size.is_some() || !base.encoding.is_integer() {
            return Ok(None);
        }
        let is_signed = base.encoding.is_signed();
        let bits = object.bits.unwrap_or_else(|| size.saturating_mul(8));
        let used = base.bit_size.filter(|used| (1..bits).contains(used)).unwrap_or(bits);
        if used == bits && bits <= 64 {
            return Ok(None);
        }
        if !(1..=128).contains(&used) {
            return Ok(Some(TypedValue::Other { type_name: walk.type_name(&object.ty) }));
        }
        let found = walk.bits(&object.location, BitSize(used))?;
        let Some(bytes) = found.whole() else {
            return Err(Box::new(walk.absence(&object.location, &found)));
        };
        let number = bytes.iter().rev().fold(0u128, |all, byte| all << 8 | u128::from(*byte));
        let unused = 128 - used as u32;
        let number = match is_signed {
            true => Some((number << unused) as i128 >> unused),
            false => i128::try_from(number << unused >> unused).ok(),
        };
        Ok(Some(match number {
            Some(value) => TypedValue::Integer { value, is_character: false },
            None => TypedValue::Other { type_name: walk.type_name(&object.ty) },
        }))
    }

    fn float(&self, object: &Object) -> Answer<TypedValue> {
        let walk = self.walk;
        let format = match walk.size(&object.ty)? {
            2 if walk.is_bfloat(&object.ty)? => FloatFormat::BFloat,
            2 => FloatFormat::Half,
            4 => FloatFormat::Single,
            8 => FloatFormat::Double,
            _ => return Ok(TypedValue::Other { type_name: walk.type_name(&object.ty) }),
        };
        Ok(TypedValue::Float { value: walk.float(object)?, format })
    }

    fn address(&self, space: AddressSpace, address: u64) -> TypedAddress {
        let scene = self.walk.scene;
        let space_name = scene.found.frame.context.kind().target.segment(space);
        let place = match space {
            GLOBAL | GENERIC => {
                let (wave, lane) = (Some(scene.wave), Some(self.walk.lane));
                let place = MemoryAddress { space, address: Address(address), wave, lane };
                scene.reader.generic(place).map_or((GLOBAL, address), |place| (place.space, place.address.0))
            }
            _ => (space, address),
        };
        TypedAddress { space, space_name, address, place }
    }

    fn pointer(&self, object: &Object, to: &Ty, space: AddressSpace) -> Answer<TypedValue> {
        let address = self.walk.address(object)?;
        let is_null = self.walk.scene.is_null(space, address);
        let is_narrow = to.size(self.walk.scene.debug()).map_err(words)? == Some(1);
        let text = (self.wants_text && is_narrow && !is_null).then(|| self.text_at(object));
        Ok(TypedValue::Pointer(PointerValue { to: self.address(space, address), is_null, text }))
    }

    /// The bytes at a pointer up to the first 0.
    fn text_at(&self, pointer: &Object) -> Result<Vec<u8>, ValueState> {
        let walk = self.walk;
        let first = walk.pointee(pointer).map_err(|why| *why)?;
        let mut bytes = Vec::new();
        while bytes.len() < MAX_TYPED_TEXT {
            let Some(at) = moved(&first.location, bytes.len() as i128 * 8, walk.lane) else { break };
            let bits = walk.bits(&at, BitSize(8)).map_err(|why| *why)?;
            match bits.number() {
                Some(0) => break,
                Some(byte) => bytes.push(byte as u8),
                None => return Err(walk.absence(&at, &bits)),
            }
        }
        Ok(bytes)
    }

    fn language_text(&self, object: &Object) -> Answer<TypedValue> {
        let walk = self.walk;
        let size = match object.ty.size(walk.scene.debug()).map_err(words)? {
            Some(size) => size,
            None => walk.stated_size(object)?,
        };
        if size > MAX_TYPED_TEXT as u64 {
            return error(format!("it has {size} bytes, and texts of at most {MAX_TYPED_TEXT} are compared"));
        }
        let bits = walk.bits(&walk.data_of(object)?.location, BitSize(size * 8))?;
        match bits.whole() {
            Some(bytes) => Ok(TypedValue::Text(bytes.to_vec())),
            None => Err(Box::new(walk.absence(&object.location, &bits))),
        }
    }

    fn record(&self, object: &Object, record: &Record, depth: usize) -> Answer<TypedValue> {
        if !record.variants.is_empty() || !record.problems.is_empty() {
            return Ok(TypedValue::Other { type_name: self.walk.type_name(&object.ty) });
        }
        let mut fields = Vec::new();
        for member in record.members.iter().filter(|member| !member.is_artificial) {
            if self.left.get() == 0 {
                return error(format!("it has more than {MAX_TYPED_VALUES} values: name a part of it"));
            }
            let value = match self.walk.member(object, member) {
                Ok(part) => self.value(&part, depth + 1),
                Err(why) => TypedValue::Missing(*why),
            };
            fields.push(TypedField { name: member.name.clone(), is_base: member.is_base, value });
        }
        Ok(TypedValue::Record { fields })
    }

    fn array(
        &self,
        object: &Object,
        element: &Ty,
        lower: i64,
        count: Option<u64>,
        depth: usize,
    ) -> Answer<TypedValue> {
        let walk = self.walk;
        let Some(count) = count else {
            return error(format!("the length of `{}` is unknown: use `@`", walk.type_name(&object.ty)));
        };
        let found = self.stripped(element)?;
        let is_text = match (found.as_deref(), element) {
            (Some(Type { byte_size: Some(1), kind: TypeKind::Base(base), .. }), _) => {
                base.encoding.is_character()
            }
            (_, Ty::Basic(basic)) => basic.is_character(),
            _ => false,
        };
        let data = walk.data_of(object)?;
        let address = walk.place_address(&data).ok();
        let address = address.map(|address| self.address(walk.decayed_space(&data), address));
        // Numbers in global memory are those of all lanes; pointers may lead to memory of their own.
        let is_number = matches!(found.as_deref(), Some(Type { kind: TypeKind::Base(_), .. }));
        let is_fresh = lower == 0 && self.left.get() + 1 == MAX_TYPED_VALUES;
        let place = address.as_ref().filter(|_| is_number && is_fresh).map(|address| address.place);
        let place = place.filter(|(space, _)| *space == GLOBAL).map(|(_, address)| address);
        if let Some(shared) = self.shared.borrow().as_ref()
            && Some(shared.address) == place
            && shared.count == count
            && shared.element == *element
        {
            let budget = walk.scene.reader.budget();
            if let Err(why) = budget.take_values(shared.elements.len() as u64) {
                return error(why.to_string());
            }
            let elements = shared.elements.clone();
            return Ok(TypedValue::Array { elements, count, is_text, address });
        }
        let mut elements = Vec::new();
        for index in 0..count {
            if self.left.get() == 0 {
                break;
            }
            let index = i128::from(lower) + i128::from(index);
            elements.push(match walk.element(object, index) {
                Ok(part) => self.value(&part, depth + 1),
                Err(why) => TypedValue::Missing(*why),
            });
        }
        if let Some(address) = place {
            let (element, elements) = (element.clone(), elements.clone());
            *self.shared.borrow_mut() = Some(SharedArray { element, address, count, elements });
        }
        Ok(TypedValue::Array { elements, count, is_text, address })
    }
}
