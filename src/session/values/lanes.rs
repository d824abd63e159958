//! The values of one object in several lanes.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::lane_value::{Byte, LaneValue, ObjectBytes, ObjectLocation, ValueState, bytes, nowhere};
use super::{LaneObject, ValueBudget, failed, undefined};
use crate::debuginfo::format::{Absence, Contents, KnownTypes, Options, Value};
use crate::debuginfo::{self, DebugInfo, TypeId};
use crate::dwarf::{self, Bits, Fetcher, LaneNeed, Location, Machine as _, Storage, clang_xderef};
use crate::session::Provenance;
use crate::session::answers::NO_PRIVATE_MEMORY;
use crate::session::stack::frame::FrameContext;
use crate::units::{AddressSpace, BitSize, LaneId, LaneSet};

/// A type of an object.
#[derive(Clone, Copy)]
pub(in crate::session) struct TypedObject {
    pub(in crate::session) type_id: TypeId,
    /// Bytes; `None` if the type leaves the size to the object.
    pub(in crate::session) size: Option<u64>,
    /// Maximum number of printed values of an object.
    pub(in crate::session) max_values: usize,
}

/// Values of a frame's variables, which share types and a budget.
#[derive(Default)]
pub(in crate::session) struct Values {
    pub(in crate::session) budget: ValueBudget,
    types: KnownTypes,
}

impl Values {
    /// Adds the values of an object at a location, lane by lane.
    pub(in crate::session) fn add_lanes(
        &self,
        context: &FrameContext<'_>,
        debug: &DebugInfo,
        located: ObjectLocation,
        lanes: LaneSet,
        object: TypedObject,
        to: &mut Vec<LaneValue>,
    ) {
        // The object at the location is a descriptor of unknown size; the data come through it.
        let size = if debug.has_data_elsewhere(object.type_id) { Some(0) } else { object.size };
        let located = Arc::new(located);
        let mut reader = LanesReader {
            values: self,
            context,
            debug,
            object: TypedObject { size, ..object },
            is_uniform: located.location().is_uniform(),
            common_space: common_space(context, located.location()),
            provenance: located.provenance(),
            fetcher: Fetcher::new(context),
            last: Bits::default(),
            next: Bits::default(),
            place: None,
            bytes: Vec::new(),
            range: 0..0,
            is_shared: false,
        };
        let (first, mut ranges) = (to.len(), Vec::with_capacity(lanes.count() as usize));
        for lane in lanes.iter() {
            let last = to.last().map(|last| &last.state);
            let (value, range) = reader.lane(&located, lane, last);
            to.push(value);
            ranges.push(range);
        }
        let bytes: Arc<[Byte]> = reader.bytes.into();
        for (value, range) in to.iter_mut().skip(first).zip(ranges) {
            value.bytes = ObjectBytes::new(&bytes, range);
        }
    }
}

/// The address space of a location, if all lanes have the same bytes at an address of it.
fn common_space(context: &FrameContext<'_>, at: &Location) -> Option<AddressSpace> {
    let Storage::Memory { space, .. } = at.storage else { return None };
    context.level.space(space).filter(|info| info.lane == LaneNeed::None).map(|_| space)
}

/// Reader of an object's lanes, one after another. A lane shares the previous lane's bytes and text if they are equal.
struct LanesReader<'f> {
    values: &'f Values,
    context: &'f FrameContext<'f>,
    debug: &'f DebugInfo,
    object: TypedObject,
    /// Whether the location is the same for all lanes.
    is_uniform: bool,
    /// The location's address space, if it has no lanes.
    common_space: Option<AddressSpace>,
    provenance: Provenance,
    fetcher: Fetcher<'f>,
    /// The object of the last lane.
    last: Bits,
    /// Capacity for the object of the next lane.
    next: Bits,
    /// First bit and length of the last lane's object, if it is in `common_space`.
    place: Option<(u128, u64)>,
    /// The bytes of all lanes.
    bytes: Vec<Byte>,
    /// Those of the last lane.
    range: Range<usize>,
    /// Whether the state of the last lane depends on its bytes alone.
    is_shared: bool,
}

impl LanesReader<'_> {
    /// The value of a lane, and the range of its bytes. `last`: the state of the last lane.
    fn lane(
        &mut self,
        located: &Arc<ObjectLocation>,
        lane: LaneId,
        last: Option<&ValueState>,
    ) -> (LaneValue, Range<usize>) {
        let last = last.filter(|_| std::mem::take(&mut self.is_shared));
        let (context, type_id, location) = (self.context, self.object.type_id, located.location());
        let object = LaneObject::new(context, self.debug, lane, Cow::Borrowed(location));
        let missing = |state| (nowhere(lane, state), 0..0);
        // Parts that the type leaves to the object, for example the length of an array, differ by lane.
        let size = match self.object.size {
            Some(size) => size,
            None => match self.debug.byte_size_of(type_id, &object) {
                Ok(Some(size)) => size,
                Ok(None) => return missing(self.unsized_object(&object)),
                Err(error) => return missing(ValueState::Error(error.to_string().into())),
            },
        };
        let read = self.read(location, lane, size);
        let (is_same, settled) = match read.and_then(|same| Ok((same, self.settled(located, lane, size)?))) {
            Ok(read) => read,
            Err(error) => return missing(failed(&error, context)),
        };
        let (at, bits) = (settled.location(), &self.last);
        if at.is_undefined() || (size > 0 && bits.is_undefined()) {
            return missing(ValueState::OptimizedOut(undefined(&at.at(lane), lane, context).into()));
        }
        let not_captured = |part: &str| {
            let place = settled.text(lane);
            let reason = match context.lacks_private(at, lane) {
                true => format!("{place}: {NO_PRIVATE_MEMORY}"),
                false => format!("{part}{place} was not captured"),
            };
            ValueState::Unavailable(reason.into())
        };
        let known = self.bytes.get(self.range.clone()).unwrap_or_default();
        let state = if size > 0 && known.iter().all(|byte| *byte == Byte::NotCaptured) {
            not_captured("")
        } else if let Some(last) = last.filter(|_| is_same) {
            self.is_shared = true;
            last.clone()
        } else {
            match self.shown(&object) {
                // A scalar with missing bits has no value; the reasons differ by lane.
                Ok(Value::Absent { absent: Absence::OptimizedOut }) => {
                    ValueState::OptimizedOut(undefined(&at.at(lane), lane, context).into())
                }
                Ok(Value::Absent { absent: Absence::Unavailable }) => not_captured(match self.object.size {
                    Some(0) => "the data of the descriptor at ",
                    _ => "part of ",
                }),
                shown => {
                    let state = match shown {
                        Ok(value) => match self.values.budget.text(&value) {
                            Ok(text) => ValueState::Value(text),
                            Err(error) => failed(&error, context),
                        },
                        Err(error) => ValueState::Error(error.to_string().into()),
                    };
                    self.is_shared = !object.was_asked();
                    state
                }
            }
        };
        let state = self.values.budget.print(state).unwrap_or_else(|error| {
            self.is_shared = false;
            failed(&error, context)
        });
        // A location shared by all lanes may name one lane's storage, a spill slot of the compiler's choice.
        let of = match self.is_uniform && !object.was_asked() {
            true => LaneSet::EMPTY,
            false => LaneSet::one(lane),
        };
        let inferred = self.provenance.inferred;
        let located = Some(settled.into_owned());
        (LaneValue { lane, located, bytes: ObjectBytes::default(), state, of, inferred }, self.range.clone())
    }

    /// The location of an object in terms of the innermost frame: a caller's registers at their current place.
    fn settled<'l>(
        &self,
        located: &'l Arc<ObjectLocation>,
        lane: LaneId,
        size: u64,
    ) -> Result<Cow<'l, Arc<ObjectLocation>>, dwarf::Error> {
        let level = &self.context.level;
        if level.is_innermost() {
            return Ok(Cow::Borrowed(located));
        }
        let settled = level.settled(located.location(), lane, BitSize(size.saturating_mul(8)))?;
        Ok(Cow::Owned(Arc::new(ObjectLocation::new(settled, self.provenance, self.context.kind()))))
    }

    /// Reads the object of a lane; returns whether it equals the last lane's.
    fn read(&mut self, at: &Location, lane: LaneId, size: u64) -> Result<bool, dwarf::Error> {
        let wanted = BitSize(size.saturating_mul(8));
        if self.provenance.idiom.is_some() {
            clang_xderef::check_size(at, lane, wanted)?;
        }
        // Shared data counts, too: each lane's bytes are printed.
        self.values.budget.take_bytes(size)?;
        let place = self.common_space.map(|_| (at.offset.get(lane), size));
        if place.is_some() && self.place == place {
            return Ok(true);
        }
        self.place = None;
        self.fetcher.fetch_into(at, Some(lane), wanted, &mut self.next)?;
        self.place = place;
        let is_same = self.next == self.last;
        if !is_same {
            std::mem::swap(&mut self.last, &mut self.next);
            let start = self.bytes.len();
            self.bytes.extend(bytes(&self.last, usize::try_from(size).unwrap_or(usize::MAX)));
            self.range = start..self.bytes.len();
        }
        Ok(is_same)
    }

    /// The reason that an object has no size, from the failed evaluation.
    fn unsized_object(&self, object: &LaneObject<'_>) -> ValueState {
        let options = Options::machine();
        match self.debug.value_of(self.object.type_id, Contents::default(), object, &options) {
            Ok(Value::Unknown { why }) => ValueState::Unavailable(why.to_string().into()),
            _ => ValueState::Error("the size of its type is not known".into()),
        }
    }

    /// The value of the last lane's object in C++ notation.
    fn shown(&self, object: &LaneObject<'_>) -> debuginfo::Result<Value> {
        let Self { values, context, last: bits, .. } = self;
        let contents =
            Contents { bytes: bits.bytes(), undefined: bits.undefined(), unavailable: bits.not_captured() };
        let space_name = |space| context.kind().target.segment(space);
        let symbol_name = |address| context.symbol(address);
        let options = Options { space_name: &space_name, symbol_name: &symbol_name, ..Options::machine() };
        let max_values = options.max_values.min(self.object.max_values).min(values.budget.values());
        let options = Options { max_values, ..options };
        self.debug.value_among(self.object.type_id, contents, object, &values.types, &options)
    }
}
