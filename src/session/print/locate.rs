//! The location of a variable by its DIE, for clients that read variables one by one as memory.

use super::Unwinder;
use super::eval::{PathEvaluator, Scene};
use super::names::words;
use super::object::{Answer, Object, error, moved};
use super::typed::{Shape, Ty};
use crate::debuginfo::{TypeId, VariableAt};
use crate::dwarf::{CapturedLane, Location, Storage};
use crate::session::changes::draft;
use crate::session::error::SourceError;
use crate::session::reading::address::GLOBAL;
use crate::session::stack::activations::Spot;
use crate::session::stack::backtrace::Frames;
use crate::session::values::{Byte, ValueState, bytes};
use crate::session::variables::pointers::Pointers;
use crate::session::variables::{Found, found};
use crate::session::{ChangeError, MemoryAddress, ReadError, Reader};
use crate::units::{Address, AddressSpace, BitSize, DieOffset, LaneId, LaneSet, WaveId};

/// Size limit in bytes of an object assembled from outside of memory: no composite of registers is larger.
pub const MAX_COMPOSED_BYTES: u64 = 1 << 16;

/// A variable in a physical frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VariableIn {
    /// The wave.
    pub wave: WaveId,
    /// The lane.
    pub lane: LaneId,
    /// Whether `level` counts the frames of the lane's own stack, and not the wave's.
    pub own_stack: bool,
    /// The physical frame, 0 innermost.
    pub level: usize,
    /// The DIE of the variable, in `.debug_info` of the frame's code object.
    pub variable: DieOffset,
}

/// The location of a variable.
#[derive(Clone, Debug)]
pub enum Whereabouts {
    /// All of it in memory, from this place on.
    Memory(MemoryAddress),
    /// Not in memory: in registers, in pieces, in the debug information. Its bytes, lowest address first.
    Composed(Vec<Byte>),
    /// No location: the target of a null pointer.
    Null,
    /// No location, with the reason.
    Nowhere(ValueState),
}

/// Locates a variable.
///
/// # Errors
/// There is no such frame, or no debug information for it.
pub(in crate::session) fn locate(reader: &Reader, of: VariableIn) -> Result<Whereabouts, ReadError> {
    let answer = asked(reader, of, |walk, object| walk.whereabouts(&object))?;
    Ok(answer.unwrap_or_else(|why| Whereabouts::Nowhere(*why)))
}

/// Locates the target of a pointer or reference variable, with apertures resolved; a null pointer has none.
///
/// # Errors
/// The errors of [`locate`].
pub(in crate::session) fn leads_to(reader: &Reader, of: VariableIn) -> Result<Whereabouts, ReadError> {
    let answer = asked(reader, of, |walk, object| match walk.shape(&object)? {
        Shape::Pointer { to, space } | Shape::Reference { to, space } => {
            if walk.is_null(&object, space)? {
                return Ok(Whereabouts::Null);
            }
            let target = walk.through(&object, to, space)?;
            walk.in_memory(&target.location)
        }
        _ => error("it is no pointer"),
    })?;
    Ok(answer.unwrap_or_else(|why| Whereabouts::Nowhere(*why)))
}

/// An object in memory with its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectAt {
    /// Its first byte.
    pub place: MemoryAddress,
    /// The code object of its type: an index into the capture's list.
    pub code_object: usize,
    /// Its type.
    pub type_id: TypeId,
    /// Its size in bytes.
    pub size: u64,
}

/// Maximum number of variables of a stack that are evaluated for their pointers.
const MAX_WITH_POINTERS: usize = 4096;

/// The variables with pointers in private memory or LDS of a stack, for one lane; the outermost frame's first.
/// Variables without a location are left out.
pub(in crate::session) fn with_pointers(
    reader: &Reader,
    pointers: &mut Pointers,
    wave: WaveId,
    lane: LaneId,
    own_stack: bool,
) -> Result<Vec<ObjectAt>, ReadError> {
    let mut walked = Unwinder::new(reader, wave)?;
    while walked.step() {}
    let frames = Frames::along(walked);
    let (mut objects, mut evaluated) = (Vec::new(), 0);
    for spot in frames.spots(own_stack.then_some(lane))?.into_iter().rev() {
        let Some(code) = spot.code else { continue };
        let source = code.loaded.source(reader, code.elf);
        let calls = source.key().map_or(0, |key| key.frames.len());
        for inlined in (0..calls).rev() {
            let found = found(&frames.walk, spot.level, inlined, code, &source);
            let scene = Scene::new(reader, wave, &found, LaneSet::one(lane));
            let walk = PathEvaluator::new(&scene, lane);
            for variable in found.variables.iter().map(|at| &at.variable) {
                let Some(type_id) = variable.type_id else { continue };
                if pointers.of(&found.frame.debug, type_id).list.is_empty() {
                    continue;
                }
                evaluated += 1;
                if evaluated > MAX_WITH_POINTERS {
                    return Ok(objects);
                }
                let size = found.frame.debug.byte_size(type_id).ok().flatten();
                let at = walk.variable(variable.die).and_then(|object| walk.whereabouts(&object));
                if let (Ok(Whereabouts::Memory(place)), Some(size)) = (at, size)
                    && place.space != GLOBAL
                {
                    objects.push(ObjectAt { place, code_object: code.loaded.index(), type_id, size });
                }
            }
        }
    }
    Ok(objects)
}

/// Writes bytes of a variable from its byte `first` on.
///
/// # Errors
/// [`ChangeError`]; nothing was written.
pub(in crate::session) fn write_in(
    reader: &mut Reader,
    of: VariableIn,
    first: u64,
    bytes: &[u8],
) -> Result<(), ChangeError> {
    let answer = asked(reader, of, |walk, object| {
        let size = match object.ty.size(walk.scene.debug()).map_err(words)? {
            Some(size) => size,
            None => walk.stated_size(&object)?,
        };
        let given = bytes.len() as u64;
        let part = i128::from(first).saturating_mul(8);
        let inside = first.checked_add(given).is_some_and(|end| end <= size);
        Ok(match moved(&object.location, part, walk.lane).filter(|_| inside) {
            Some(location) => {
                let level = walk.scene.found.frame.context.level;
                draft(level, walk.lane, &location, BitSize(given.saturating_mul(8)), bytes)
            }
            None => {
                let what = "the variable".to_owned();
                Err(ChangeError::Size { what, expected: size, given: first.saturating_add(given) })
            }
        })
    })?;
    let batch = answer.map_err(|why| ChangeError::State(*why))??;
    reader.commit(&batch)
}

fn asked<T>(
    reader: &Reader,
    of: VariableIn,
    ask: impl FnOnce(&PathEvaluator<'_, '_, '_>, Object) -> Answer<T>,
) -> Result<Answer<T>, ReadError> {
    let mut walked = Unwinder::new(reader, of.wave)?;
    while (of.own_stack || walked.frames().len() <= of.level) && walked.step() {}
    let frames = Frames::along(walked);
    let spots = frames.spots(of.own_stack.then_some(of.lane))?;
    let spot = spots.get(of.level).copied().ok_or(SourceError::NoFrame {
        frame: of.level,
        count: None,
        end: None,
    })?;
    let found = in_frame(&frames, spot, of.variable)?;
    let scene = Scene::new(reader, of.wave, &found, LaneSet::one(of.lane));
    let walk = PathEvaluator::new(&scene, of.lane);
    Ok(walk.variable(of.variable).and_then(|object| ask(&walk, object)))
}

/// The frame with the variables around a variable's declaration; it may be that of an inlined call.
fn in_frame<'f>(frames: &'f Frames<'_>, spot: Spot<'f>, variable: DieOffset) -> Result<Found<'f>, ReadError> {
    let code = spot.code.ok_or(SourceError::NoCode { pc: spot.pc, before: None })?;
    let reader = frames.walk.reader;
    let source = code.loaded.source(reader, code.elf);
    let function = source.function(reader.rereads()).map_err(SourceError::from)?;
    let inlined = function.map_or(0, |(_, at)| {
        let declares = |frame: &usize| {
            at.scopes(*frame).any(|scope| scope.variables.iter().any(|known| known.die == variable))
        };
        (0..at.frames.len()).find(declares).unwrap_or(at.frames.len().saturating_sub(1))
    });
    Ok(found(&frames.walk, spot.level, inlined, code, &source))
}

impl PathEvaluator<'_, '_, '_> {
    /// The object of a variable.
    fn variable(&self, die: DieOffset) -> Answer<Object> {
        let scene = self.scene;
        let here = scene.found.variables.iter().find(|at| at.variable.die == die);
        let placed = match here {
            Some(VariableAt { variable, location, .. }) => scene.place(variable, location),
            None => {
                let variable = scene.debug().variable(die).map_err(words)?;
                let pc = scene.found.frame.context.elf_pc;
                let said = scene.debug().location_at(variable.unit, &variable.location, pc).map_err(words)?;
                scene.place(&variable, &said)
            }
        };
        let Some(id) = placed.ty else { return error("it has no type") };
        Ok(Object::at(Ty::Die(id), placed.at(self.lane)?, placed.provenance))
    }

    fn whereabouts(&self, object: &Object) -> Answer<Whereabouts> {
        let context = &self.scene.found.frame.context;
        let size = match object.ty.size(self.scene.debug()).map_err(words)? {
            Some(size) => Ok(size),
            None => self.stated_size(object),
        };
        // An object of unknown size in memory has an address.
        let width = BitSize(size.as_ref().map_or(8, |size| size.saturating_mul(8)));
        let settled = context.level.settled(&object.location, self.lane, width);
        let location = settled.unwrap_or_else(|_| object.location.clone());
        if let Storage::Memory { .. } = location.storage
            && location.offset.get(self.lane).is_multiple_of(8)
        {
            return self.in_memory(&location);
        }
        let size = size?;
        if size > MAX_COMPOSED_BYTES {
            return error(format!("it has {size} bytes, and at most {MAX_COMPOSED_BYTES} are put together"));
        }
        let bits = self.bits(&object.location, BitSize(size.saturating_mul(8)))?;
        if object.location.is_undefined() || (size > 0 && bits.is_undefined()) {
            return Err(Box::new(self.absence(&object.location, &bits)));
        }
        let count = usize::try_from(size).unwrap_or(usize::MAX);
        let composed: Vec<Byte> = bytes(&bits, count).collect();
        if count > 0 && composed.iter().all(|byte| *byte == Byte::NotCaptured) {
            let why = self.first_missing(&object.location, &bits);
            return Err(Box::new(ValueState::Unavailable(
                why.unwrap_or_else(|| "it was not captured".to_owned()).into(),
            )));
        }
        Ok(Whereabouts::Composed(composed))
    }

    /// Whether a pointer is the null one of its address space.
    fn is_null(&self, pointer: &Object, space: AddressSpace) -> Answer<bool> {
        if matches!(pointer.location.storage, Storage::ImplicitPointer(_)) {
            return Ok(false);
        }
        Ok(self.scene.is_null(space, self.address(pointer)?))
    }

    /// A place in memory, with the generic space resolved.
    fn in_memory(&self, location: &Location) -> Answer<Whereabouts> {
        let Storage::Memory { space, lane, .. } = location.storage else {
            return error("its target is not in memory");
        };
        let lane = match lane {
            CapturedLane::Fixed(lane) => lane,
            _ => self.lane,
        };
        let place = self.place_in(space, (location.offset.get(self.lane) / 8) as u64, lane);
        if space != crate::session::reading::address::GENERIC {
            return Ok(Whereabouts::Memory(place));
        }
        let concrete = self.scene.reader.generic(place);
        concrete.map(Whereabouts::Memory).map_err(|why| Box::new(ValueState::Error(why.to_string().into())))
    }

    fn place_in(&self, space: AddressSpace, address: u64, lane: LaneId) -> MemoryAddress {
        MemoryAddress { space, address: Address(address), wave: Some(self.scene.wave), lane: Some(lane) }
    }
}
