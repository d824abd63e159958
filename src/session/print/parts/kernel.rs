//! Arguments of the wave's kernel, from their segment in memory.

use std::sync::Arc;

use super::{Collector, Owner, PartOwner, PartSort, PartValue, Pointee};
use crate::debuginfo::{DebugInfo, TypeId};
use crate::session::dispatches::arguments::{self, Raw};
use crate::session::print::eval::{PathEvaluator, Scene};
use crate::session::print::object::Object;
use crate::session::print::typed::Ty;
use crate::session::reading::address::GLOBAL;
use crate::session::{Byte, Inferred, ReadError};

/// An argument with its bytes.
struct Argument {
    name: String,
    typed: Option<(Arc<DebugInfo>, TypeId)>,
    bytes: Vec<u8>,
    is_pointer: bool,
}

impl Collector<'_> {
    /// Adds the arguments of the wave's kernel that no variable gives. `scene`: of a frame, with the number of its
    /// calls and its code object; `None`: without types.
    pub(super) fn kernel(&mut self, scene: Option<(&Scene<'_, '_>, usize, usize)>) -> Result<(), ReadError> {
        let capture = self.reader.dump().capture();
        let wave = self.reader.wave(self.asked.wave)?;
        let Some(dispatch) = capture.dispatch_of(wave) else { return Ok(()) };
        let mut all = Vec::new();
        arguments::of(self.reader, dispatch, &mut |raw: &Raw<'_>| all.extend(argument(raw)));
        for argument in all {
            if !self.is_asked(&argument.name) || self.has_values(&argument.name) {
                continue;
            }
            let (call, code_object) = scene.map_or((0, 0), |(_, calls, code_object)| (calls, code_object));
            let (owner, inferred) = (PartOwner::KernelArgument, Inferred::NONE);
            let owner = Owner { name: &argument.name, owner, call, code_object, inferred };
            match (&argument.typed, scene) {
                (Some((debug, id)), Some((scene, ..))) if std::ptr::eq(&raw const **debug, scene.debug()) => {
                    let object = Object::value(Ty::Die(*id), &argument.bytes);
                    for lane in self.lanes.iter() {
                        self.object(&PathEvaluator::new(scene, lane), &owner, &object);
                    }
                }
                _ => self.untyped(&owner, &argument),
            }
        }
        Ok(())
    }

    /// An argument by its metadata alone.
    fn untyped(&mut self, owner: &Owner<'_>, argument: &Argument) {
        let mut wide = [0; 8];
        let Some(to) = wide.get_mut(..argument.bytes.len()) else { return };
        to.copy_from_slice(&argument.bytes);
        let value = u64::from_le_bytes(wide);
        let sort = match argument.is_pointer {
            true => PartSort::Pointer(Pointee::default()),
            false => PartSort::Integer,
        };
        for lane in self.lanes.iter() {
            let value = PartValue { lane, value, space: GLOBAL, address: value };
            self.add(owner, owner.name, &sort, value);
        }
    }
}

/// An argument of the source whose bytes are all captured.
fn argument(raw: &Raw<'_>) -> Option<Argument> {
    if raw.argument.hidden {
        return None;
    }
    let known = |byte: &Byte| match byte {
        Byte::Known(byte) => Some(*byte),
        _ => None,
    };
    Some(Argument {
        name: raw.argument.name.clone()?,
        typed: raw.typed.map(|(debug, id)| (Arc::clone(debug), id)),
        bytes: raw.argument.bytes.iter().map(known).collect::<Option<_>>()?,
        is_pointer: raw.argument.kind == "global_buffer",
    })
}
