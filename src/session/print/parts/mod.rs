//! Parts of variables from which code computes addresses: pointers, arrays in memory, and integers.
//!
//! A question names an instruction. The parts are those of the variables in scope there, evaluated with the wave's
//! present registers: a register that code wrote since the instruction gives another value. Kernel arguments come from
//! memory, by the metadata of the code object, for variables that are optimized out.

mod kernel;
mod member;
mod visit;

use std::collections::HashMap;

pub use member::ElementPath;
pub(in crate::session) use member::{element_paths, member_path};

use super::eval::{PathEvaluator, Scene};
use super::object::Object;
use super::typed::Ty;
use crate::arch::RegId;
use crate::debuginfo::{DebugInfo, TypeId, Variable, VariableAt, VariableKind};
use crate::dwarf::{Frame, Location, Storage};
use crate::notation::names;
use crate::session::stack::backtrace::Frames;
use crate::session::stack::unwind::Code;
use crate::session::variables::{Found, found};
use crate::session::{Inferred, ReadError, Reader};
use crate::units::{AddressSpace, LaneId, LaneSet, Pc, WaveId};

/// Maximum number of parts of one question.
pub const MAX_PARTS: usize = 512;
/// Maximum number of variables of one question.
const MAX_VARIABLES: usize = 512;

/// A question for the parts of variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartsQuery {
    /// The wave.
    pub wave: WaveId,
    /// The lanes.
    pub lanes: LaneSet,
    /// Address of the instruction.
    pub at: Pc,
    /// The variables, by name; empty: all.
    pub names: Vec<String>,
    /// Whether variables outside of functions count, too.
    pub has_globals: bool,
    /// Whether numbers and pointers count by their own places in memory, and not by their values.
    pub has_places: bool,
    /// Registers of the innermost frame that code wrote since the instruction: variables in them have no value.
    pub written: Vec<RegId>,
}

/// The parts of variables.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// The parts, of the innermost call first.
    pub parts: Vec<VariablePart>,
    /// Whether a limit cut the list.
    pub is_cut: bool,
    /// Whether the source indexes arrays with parentheses, the first index running fastest.
    pub is_fortran: bool,
}

/// A part of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariablePart {
    /// The path: `x`, `body.at`, `list->next`.
    pub path: String,
    /// The variable's name.
    pub variable: String,
    /// The kind of the variable.
    pub owner: PartOwner,
    /// The inlined call with the variable; 0 is the innermost.
    pub call: usize,
    /// The inferences behind the variable's place.
    pub inferred: Inferred,
    /// The sort.
    pub sort: PartSort,
    /// The known values, lowest lane first.
    pub values: Vec<PartValue>,
}

/// The value of a part in a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartValue {
    /// The lane.
    pub lane: LaneId,
    /// A pointer's value, the address of an array's first element, or an integer, sign-extended.
    pub value: u64,
    /// The address space of the address, with apertures resolved; of integers global.
    pub space: AddressSpace,
    /// The address in that space.
    pub address: u64,
}

/// The kind of a part's variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PartOwner {
    /// A parameter.
    Argument,
    /// A local, also a static one.
    Local,
    /// A variable outside of functions.
    Global,
    /// An argument of the kernel, from its segment in memory.
    KernelArgument,
}

names!(PartOwner {
    Self::Argument => "argument",
    Self::Local => "local",
    Self::Global => "global",
    Self::KernelArgument => "kernel_argument",
});

impl PartOwner {
    /// The kind as text: `kernel argument`.
    #[must_use]
    pub fn words(self) -> String {
        self.name().replace('_', " ")
    }
}

/// The sort of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartSort {
    /// An integer.
    Integer,
    /// A pointer.
    Pointer(Pointee),
    /// A number or pointer in memory, whose address is the part's value.
    Place {
        /// Its size.
        bytes: u64,
    },
    /// An array in memory.
    Array {
        /// The element.
        element: Pointee,
        /// The dimensions, the outermost first; never empty.
        dimensions: Vec<ArrayDimension>,
    },
}

/// The target of a pointer, or an element.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pointee {
    /// Its size in bytes; `None`: unknown.
    pub size: Option<u64>,
    /// Its type: the code object, an index into the capture's list, and the type.
    pub of: Option<(usize, TypeId)>,
    /// Whether it has members or elements.
    pub is_composite: bool,
    /// Whether the source forbids writes through the pointer.
    pub is_const: bool,
    /// The target of the elements, if they are pointers. Integers of 8 bytes count as pointers without a type.
    pub to: Option<Box<Pointee>>,
}

/// A dimension of an array in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayDimension {
    /// The first index.
    pub first: i64,
    /// Number of elements; `None`: unknown.
    pub count: Option<u64>,
    /// Bytes from an element to the next; not 0.
    pub stride: i64,
}

/// The parts of the variables in scope at an instruction. A variable without a value has none.
///
/// # Errors
/// [`ReadError::NoSuchWave`], or the operating system's error for a file.
pub(in crate::session) fn parts(reader: &Reader, asked: &PartsQuery) -> Result<Parts, ReadError> {
    let frames = Frames::first(reader, asked.wave)?;
    let lanes = asked.lanes.and(frames.walk.kind.wave_size.all());
    let (parts, by_path) = (Parts::default(), HashMap::new());
    let mut collector = Collector { asked, reader, lanes, level: 0, visited: 0, parts, by_path };
    match position(&frames, asked.at) {
        Some((level, code)) => {
            collector.level = level;
            collector.frame(&frames, level, code)?;
        }
        None => collector.kernel(None)?,
    }
    Ok(collector.parts)
}

/// The physical frame of the instruction's function, and the position to look variables up. An instruction of a
/// function that is not on the stack gives the innermost frame at its PC.
fn position<'f>(frames: &'f Frames<'_>, at: Pc) -> Option<(usize, Code<'f>)> {
    frames.level_of(at).or_else(|| Some((0, frames.walk.frames().first()?.code?)))
}

/// The parts found so far.
struct Collector<'a> {
    asked: &'a PartsQuery,
    reader: &'a Reader,
    lanes: LaneSet,
    /// The physical frame.
    level: usize,
    /// Number of visited variables.
    visited: usize,
    parts: Parts,
    /// Indexes of parts by call and path.
    by_path: HashMap<(usize, String), usize>,
}

/// A variable whose parts are collected.
struct Owner<'a> {
    name: &'a str,
    owner: PartOwner,
    call: usize,
    code_object: usize,
    inferred: Inferred,
}

impl Collector<'_> {
    fn frame(&mut self, frames: &Frames<'_>, level: usize, code: Code<'_>) -> Result<(), ReadError> {
        let source = code.loaded.source(self.reader, code.elf);
        let calls = source.key().map_or(0, |key| key.frames.len());
        let mut has_kernel = false;
        for call in 0..calls {
            self.reader.goes_on()?;
            // A call without readable variables has no parts.
            let found = found(&frames.walk, level, call, code, &source);
            let scene = Scene::new(self.reader, self.asked.wave, &found, self.lanes);
            // Inner scopes come last and hide names of outer ones.
            for VariableAt { variable, location, .. } in found.variables.iter().rev() {
                self.variable(&scene, variable, location, call, code.loaded.index())?;
            }
            if call + 1 == calls {
                self.parts.is_fortran = scene.is_fortran();
                if self.asked.has_globals {
                    self.globals(&scene, &found, calls, code.loaded.index())?;
                }
                self.kernel(Some((&scene, calls, code.loaded.index())))?;
                has_kernel = true;
            }
        }
        if has_kernel { Ok(()) } else { self.kernel(None) }
    }

    fn globals(
        &mut self,
        scene: &Scene<'_, '_>,
        found: &Found<'_>,
        call: usize,
        code_object: usize,
    ) -> Result<(), ReadError> {
        let debug: &DebugInfo = &found.frame.debug;
        // The listing of globals reports an unreadable unit.
        let globals = found.unit().and_then(|unit| debug.globals(unit).ok()).unwrap_or_default();
        for variable in globals.iter().filter(|variable| !variable.is_declaration) {
            let pc = found.frame.context.elf_pc;
            let Ok(location) = debug.location_at(variable.unit, &variable.location, pc) else { continue };
            self.variable(scene, variable, &location, call, code_object)?;
        }
        Ok(())
    }

    fn variable(
        &mut self,
        scene: &Scene<'_, '_>,
        variable: &Variable,
        location: &crate::debuginfo::Location,
        call: usize,
        code_object: usize,
    ) -> Result<(), ReadError> {
        let (Some(name), Some(type_id)) = (variable.name.as_deref(), variable.type_id) else { return Ok(()) };
        if !self.is_asked(name) {
            return Ok(());
        }
        self.visited += 1;
        let budget = self.reader.budget().take_values(u64::from(self.lanes.count()));
        if self.visited > MAX_VARIABLES || budget.is_err() {
            self.parts.is_cut = true;
            return Ok(());
        }
        self.reader.goes_on()?;
        // An outer variable of that name is hidden, also by one without a value.
        if !self.reserve(call, name) {
            return Ok(());
        }
        let owner = match variable.kind {
            VariableKind::Argument => PartOwner::Argument,
            VariableKind::Local | VariableKind::Static => PartOwner::Local,
            VariableKind::Global => PartOwner::Global,
        };
        let placed = scene.place(variable, location);
        let owner = Owner { name, owner, call, code_object, inferred: placed.provenance.inferred };
        for lane in self.lanes.iter() {
            let Ok(at) = placed.at(lane) else { continue };
            if self.is_written(&at, lane) {
                continue;
            }
            let object = Object::at(Ty::Die(type_id), at, placed.provenance);
            self.object(&PathEvaluator::new(scene, lane), &owner, &object);
        }
        Ok(())
    }

    /// Whether a part of an object is in a register that code wrote since.
    fn is_written(&self, at: &Location, lane: LaneId) -> bool {
        if self.asked.written.is_empty() || self.level > 0 {
            return false;
        }
        let Ok(wave) = self.reader.wave(self.asked.wave) else { return false };
        let is_written = |storage: &Storage| match storage {
            Storage::Register { register, frame: Frame::Current, .. } => {
                wave.kind.dwarf(*register).is_ok_and(|register| self.asked.written.contains(&register.id))
            }
            _ => false,
        };
        let parts = at.canonical_from_offset(lane);
        is_written(&at.storage) || parts.iter().any(|part| is_written(&part.location.storage))
    }

    fn is_asked(&self, name: &str) -> bool {
        self.asked.names.is_empty() || self.asked.names.iter().any(|asked| asked == name)
    }

    /// Takes a name of a call; `false`: another variable has it.
    fn reserve(&mut self, call: usize, name: &str) -> bool {
        let key = (call, format!("{name} "));
        self.by_path.insert(key, usize::MAX).is_none()
    }

    /// Whether parts of a variable of that name have values in all lanes.
    fn has_values(&self, name: &str) -> bool {
        let lanes = self.lanes.count() as usize;
        self.parts.parts.iter().any(|part| part.variable == name && part.values.len() == lanes)
    }

    /// Adds the value of a part in a lane.
    fn add(&mut self, owner: &Owner<'_>, path: &str, sort: &PartSort, value: PartValue) {
        let key = (owner.call, path.to_owned());
        if let Some(part) = self.by_path.get(&key).and_then(|index| self.parts.parts.get_mut(*index)) {
            // A lane whose array has other bounds than the first lane's has no value.
            if part.sort == *sort && part.values.last().is_none_or(|last| last.lane < value.lane) {
                part.values.push(value);
            }
            return;
        }
        if self.parts.parts.len() >= MAX_PARTS {
            self.parts.is_cut = true;
            return;
        }
        self.by_path.insert(key, self.parts.parts.len());
        self.parts.parts.push(VariablePart {
            path: path.to_owned(),
            variable: owner.name.to_owned(),
            owner: owner.owner,
            call: owner.call,
            inferred: owner.inferred,
            sort: sort.clone(),
            values: vec![value],
        });
    }
}
