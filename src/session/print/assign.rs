//! Writes to the object that a path names: bytes, or the number of another path.

use super::cast::CastTo;
use super::eval::{LANE, PathEvaluator, Scene};
use super::object::{Answer, Object, error};
use super::parse::parse;
use super::path::{Node, Path, Unary};
use super::typed::{Shape, Sort};
use crate::arch::Register;
use crate::dwarf::Storage;
use crate::session::changes::{Batch, draft};
use crate::session::reading::address;
use crate::session::variables::with_frame;
use crate::session::{ChangeError, ReadError, Reader, ValueState};
use crate::units::{BitSize, LaneId, LaneSet, WaveId};

/// Writes the bytes of the object that a path names in a lane of a frame.
///
/// # Errors
/// [`ChangeError`]; nothing was written.
pub(in crate::session) fn write_variable(
    reader: &mut Reader,
    wave: WaveId,
    lane: LaneId,
    frame: usize,
    path: &str,
    bytes: &[u8],
) -> Result<(), ChangeError> {
    let lanes = LaneSet::one(lane);
    if !reader.wave(wave)?.kind.wave_size.has(lane) {
        let lanes = reader.wave(wave)?.kind.wave_size.lanes();
        return Err(ReadError::NoSuchLane { lane, lanes }.into());
    }
    let batch = with_frame(reader, wave, frame, |found| {
        let scene = Scene::new(reader, wave, &found, lanes);
        let parsed = scene.parsed(path)?;
        PathEvaluator::new(&scene, lane).batch(&parsed, |_, _| Ok(bytes.to_vec()))
    })?;
    reader.commit(&batch)
}

/// Writes a number to the object that a path names, in all of those lanes or in none.
///
/// # Errors
/// [`ChangeError`]; nothing was written.
pub(in crate::session) fn assign(
    reader: &mut Reader,
    wave: WaveId,
    lanes: LaneSet,
    frame: usize,
    path: &str,
    value: &str,
) -> Result<(), ChangeError> {
    let lanes = lanes.and(reader.wave(wave)?.kind.wave_size.all());
    // Registers of the wave need no debug information.
    if frame == 0
        && let Some(batch) = plain_register(reader, wave, lanes, path, value)?
    {
        return reader.commit(&batch);
    }
    let batch = with_frame(reader, wave, frame, |found| {
        let scene = Scene::new(reader, wave, &found, lanes);
        let parsed = scene.parsed(path)?;
        let mut all = Batch::default();
        for lane in lanes.iter() {
            let walk = PathEvaluator::new(&scene, lane);
            let batch = walk.batch(&parsed, |walk, object| walk.bytes_of(object, value))?;
            merged(&mut all, batch, path)?;
        }
        Ok::<_, ChangeError>(all)
    })?;
    reader.commit(&batch)
}

fn merged(all: &mut Batch, batch: Batch, path: &str) -> Result<(), ChangeError> {
    if all.merge(batch) {
        let why = "in one place for several of the lanes, which would need several values there";
        return Err(ChangeError::Nowhere { what: format!("`{path}`"), why });
    }
    Ok(())
}

/// A register with an integer value: `$v3[5] = 77`.
fn plain_register(
    reader: &Reader,
    wave: WaveId,
    lanes: LaneSet,
    path: &str,
    value: &str,
) -> Result<Option<Batch>, ChangeError> {
    let (Ok(path_of), Ok(number)) = (parse(path, &|_| false), parse(value, &|_| false)) else {
        return Ok(None);
    };
    let (number, wide) = match &number.node {
        Node::Integer { value, .. } => (*value, i128::from(*value)),
        Node::Unary(Unary::Minus, operand) => match operand.node {
            Node::Integer { value, .. } => (value.wrapping_neg(), -i128::from(value)),
            _ => return Ok(None),
        },
        _ => return Ok(None),
    };
    let (name, index) = match &path_of.node {
        Node::Register(name) => (name, None),
        Node::Index(of, index) => match (&of.node, &index.node) {
            (Node::Register(name), Node::Integer { value, .. }) => (name, Some(*value)),
            _ => return Ok(None),
        },
        _ => return Ok(None),
    };
    if name == LANE {
        return Ok(None);
    }
    let kind = &reader.wave(wave)?.kind;
    let Some(register) = kind.named(name) else {
        let words = format!("{} has no register `{name}`", kind.target.name);
        return Err(ChangeError::State(ValueState::Error(words.into())));
    };
    let mut batch = Batch::default();
    for lane in lanes.iter() {
        let slot = slot(register, index, lane)?;
        let bytes = number.to_le_bytes();
        let count = if register.is_vector() { 4 } else { register.bytes().min(bytes.len()) };
        let bytes = bytes.get(..count).unwrap_or_default();
        let what = if register.is_vector() { "a lane" } else { "all" };
        fits(wide, count as u64 * 8).map_err(|why| {
            ChangeError::State(ValueState::Error(format!("{why} of {what} of `${}`", register.name).into()))
        })?;
        let mut alone = Batch::default();
        reader.add_register(&mut alone, wave, register.id, slot * 4, bytes, &vec![0xff; count])?;
        merged(&mut batch, alone, path)?;
    }
    Ok(Some(batch))
}

/// Whether a number has a fraction or exponent: `2.5`, `1e99`.
fn is_fraction(literal: &str) -> bool {
    literal.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.'))
        && literal.contains(['.', 'e', 'E'])
}

/// A number that an object has too few bits for.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("{number} does not fit {bits} bits, {least} to {most},")]
struct FitError {
    number: i128,
    bits: u32,
    least: i128,
    most: i128,
}

/// Whether that number of bits holds a number, signed or unsigned: `-1` and `0xffffffff` both fit 32.
fn fits(number: i128, bits: u64) -> Result<(), FitError> {
    let bits = bits.clamp(1, 64) as u32;
    let (least, most) = (-(1i128 << (bits - 1)), (1i128 << bits) - 1);
    if (least..=most).contains(&number) {
        return Ok(());
    }
    Err(FitError { number, bits, least, most })
}

/// The dword of a register that a path names.
fn slot(register: &Register, index: Option<u64>, lane: LaneId) -> Result<u64, ChangeError> {
    let refused = |words: String| Err(ChangeError::State(ValueState::Error(words.into())));
    let name = &register.name;
    match (index, register.is_vector()) {
        (None, true) => Ok(u64::from(lane.0)),
        (None, false) if register.bytes() <= 8 => Ok(0),
        (Some(index), true) if index < u64::from(register.dwords) => Ok(index),
        (Some(index), true) => {
            refused(format!("there is no lane {index} in `${name}`: it has {}", register.dwords))
        }
        (Some(_), false) => refused(format!("`[]` needs an array or a pointer; `${name}` is a number")),
        (None, false) => refused(format!("`${name}` is wider than 64 bits")),
    }
}

impl PathEvaluator<'_, '_, '_> {
    /// The batch that gives the object that a path names the bytes from `bytes`.
    fn batch(
        &self,
        path: &Path,
        bytes: impl FnOnce(&Self, &Object) -> Answer<Vec<u8>>,
    ) -> Result<Batch, ChangeError> {
        let state = |why: Box<ValueState>| ChangeError::State(*why);
        let object = self.object(path).map_err(state)?;
        let what = format!("`{path}`");
        if object.is_value {
            if let Some(batch) = self.unnumbered(path, &object, &bytes(self, &object).map_err(state)?)? {
                return Ok(batch);
            }
            return Err(ChangeError::Nowhere { what, why: "a computed value" });
        }
        let size = match object.bits {
            Some(bits) => bits,
            None => self.size(&object.ty).map_err(state)?.saturating_mul(8),
        };
        // The storage kind is a better reason than a missing number.
        if matches!(object.location.storage, Storage::Implicit(_)) {
            return Err(ChangeError::Nowhere { what, why: "a constant that the compiler folded" });
        }
        let bytes = bytes(self, &object).map_err(state)?;
        self.refuse_address(&bytes)?;
        let (expected, given) = (size.div_ceil(8), bytes.len() as u64);
        if expected != given {
            return Err(ChangeError::Size { what, expected, given });
        }
        let level = self.scene.found.frame.context.level;
        draft(level, self.lane, &object.location, BitSize(size), &bytes).map_err(|why| match why {
            ChangeError::Nowhere { why, .. } => ChangeError::Nowhere { what, why },
            other => other,
        })
    }

    /// Rejects a number that a client copied from an object's address: the program has another number for it.
    fn refuse_address(&self, bytes: &[u8]) -> Result<(), ChangeError> {
        let Ok(bytes) = <[u8; 8]>::try_from(bytes) else { return Ok(()) };
        let number = u64::from_le_bytes(bytes);
        let reader = self.scene.reader;
        let Some((wave, lane)) = address::object(number) else { return Ok(()) };
        let wave = reader.wave(wave.unwrap_or(self.scene.wave));
        if wave.is_err() || wave.is_ok_and(|wave| lane.is_some_and(|lane| !wave.kind.wave_size.has(lane))) {
            return Ok(());
        }
        let why = format!(
            "{number:#x} is the address of an object as debuggers see it, which the program does not have; write a path with `&`, or \
             the program's number"
        );
        Err(ChangeError::State(ValueState::Error(why.into())))
    }

    /// A register without a DWARF number reads as a value, but is writable.
    fn unnumbered(&self, path: &Path, object: &Object, bytes: &[u8]) -> Result<Option<Batch>, ChangeError> {
        let (name, index) = match &path.node {
            Node::Register(name) => (name, None),
            Node::Index(of, index) => match &of.node {
                Node::Register(name) => {
                    let index = self.object(index).and_then(|index| self.integer(&index));
                    let index = index.map_err(|why| ChangeError::State(*why))?;
                    (name, u64::try_from(index.wide()).ok())
                }
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        let context = &self.scene.found.frame.context;
        let Some(register) = context.kind().named(name) else { return Ok(None) };
        let slot = slot(register, index, self.lane)?;
        let size = self.size(&object.ty).map_err(|why| ChangeError::State(*why))?;
        let given = bytes.len() as u64;
        if size != given {
            return Err(ChangeError::Size { what: format!("`{path}`"), expected: size, given });
        }
        let mut batch = Batch::default();
        let all = vec![0xff; bytes.len()];
        let (reader, wave) = (self.scene.reader, self.scene.wave);
        reader.add_register(&mut batch, wave, register.id, slot * 4, bytes, &all)?;
        Ok(Some(batch))
    }

    /// The bytes of an object after the assignment of a value, with C's conversion.
    fn bytes_of(&self, object: &Object, value: &str) -> Answer<Vec<u8>> {
        let value = value.trim();
        let shape = self.shape(object)?;
        let size = self.size(&object.ty)?;
        let floating = matches!(shape, Shape::Number(Sort::Float));
        let truth = matches!(shape, Shape::Number(Sort::Boolean));
        let written = match (value, value.parse::<f64>()) {
            (_, Ok(number)) if floating && size == 4 => u64::from((number as f32).to_bits()),
            (_, Ok(number)) if floating && size == 8 => number.to_bits(),
            ("true", _) if truth => 1,
            ("false", _) if truth => 0,
            (literal, Ok(_)) if is_fraction(literal) => {
                let ty = self.type_name(&object.ty);
                return error(format!("`{literal}` is no whole number, and `{ty}` holds no other"));
            }
            _ => {
                let parsed = self.scene.parsed(value);
                let parsed = parsed.or_else(|why| error(format!("the value is wrong at {why}")))?;
                let given = self.object(&parsed)?;
                let to = match &shape {
                    Shape::Number(_) | Shape::Pointer { .. } => CastTo::of(object.ty.clone()),
                    other => {
                        let ty = self.type_name(&object.ty);
                        return error(format!(
                            "only numbers and pointers can be set; `{ty}` is {}",
                            other.words()
                        ));
                    }
                };
                if let (Shape::Number(_), Ok(number)) = (&shape, self.integer(&given))
                    && !truth
                    && !floating
                {
                    let bits = object.bits.unwrap_or_else(|| size.saturating_mul(8));
                    let ty = self.type_name(&object.ty);
                    fits(number.wide(), bits).or_else(|why| error(format!("{why} of `{ty}`")))?;
                }
                self.read(&self.cast(&to, &given)?)?
            }
        };
        let bits = object.bits.unwrap_or_else(|| size.saturating_mul(8));
        if bits > 64 {
            return error(format!("`{}` is wider than 64 bits", self.type_name(&object.ty)));
        }
        let bytes = written.to_le_bytes();
        Ok(bytes.get(..bits.div_ceil(8) as usize).unwrap_or_default().to_vec())
    }
}
