//! Truncated or damaged files: errors and partial answers, never a panic, and never unbounded work.

use std::sync::Arc;

use super::scopes::objects;
use crate::codeobject::{CodeObject, ElfAddress};
use crate::debuginfo::contents::Contents;
use crate::debuginfo::format::Options;
use crate::debuginfo::{
    DebugInfo, DynamicAttribute, DynamicError, Object, OwnedContents, TypeId, UnitId, Variable,
};
use crate::sample::sampled;
use crate::units::DieOffset;
use crate::work::{Count, done};

/// Asks every question; ignores the answers.
fn ask_everything(bytes: Vec<u8>) {
    let Ok(code_object) = CodeObject::parse(bytes) else { return };
    let code_object = Arc::new(code_object);
    let _ =
        (code_object.metadata(), code_object.build_id(), code_object.kernels().count(), code_object.text());
    let _ = (code_object.image(), code_object.symbol_at(ElfAddress(0x1a00)), code_object.symbols().len());
    let Ok(info) = DebugInfo::new(code_object) else { return };
    let _ = (info.problems(), info.frame_section(), info.name_indexes(), info.globals_named("n"));
    let _ = info.code_object().map(|object| (object.debug_link().is_ok(), object.debug_alt_link().is_some()));
    for unit in (0..info.unit_count().min(16)).map(UnitId) {
        let _ = (info.unit(unit), info.files(unit), info.indexed_address(unit, 1));
        for function in info.functions(unit).unwrap_or_default() {
            ask_function(&info, function);
        }
        for global in info.globals(unit).unwrap_or_default() {
            ask_variable(&info, &global);
        }
        let _ = info.base_type(unit, 0x2b);
        let _ = info.expressions(unit, |found| {
            let _ = found.map(|expression| info.object_map(expression.die));
        });
    }
    for pc in (0x1800..0x2800).step_by(0x80).map(ElfAddress) {
        let _ = (info.line_at(pc), info.variables_at(pc), info.unit_at(pc));
    }
    for die in (0..0x400).step_by(7).map(DieOffset) {
        let _ = info.referenced_die(die, ElfAddress(0x1900));
        ask_type(&info, TypeId(die));
    }
}

fn ask_function(info: &DebugInfo, die: DieOffset) {
    let Ok(function) = info.function(die) else { return };
    let _ = (info.dialect_hint(&function), function.subprogram.display_name());
    for scope in &function.scopes {
        for variable in &scope.variables {
            ask_variable(info, variable);
        }
        for pc in scope.ranges.iter().take(4).map(|range| range.start) {
            let Ok(Some(at)) = info.function_at(pc) else { continue };
            for frame in 0..at.frames.len() {
                let _ = (info.frame_variables(&at, frame, pc), at.simd(frame));
            }
        }
    }
}

fn ask_variable(info: &DebugInfo, variable: &Variable) {
    let _ = info.location_at(variable.unit, &variable.location, ElfAddress(0x1900));
    variable.type_id.into_iter().for_each(|id| ask_type(info, id));
}

fn ask_type(info: &DebugInfo, id: TypeId) {
    let bytes = [0x41; 64];
    let contents = Contents { bytes: &bytes, undefined: &[0; 8], unavailable: &[0x0f; 24] };
    for options in [Options::gdb(), Options::machine()] {
        let text = info.value(id, contents, &options).map(|value| value.to_string()).unwrap_or_default();
        assert!(text.len() < 1 << 24, "{} characters", text.len());
    }
    let _ = (info.type_name(Some(id)), info.byte_size(id));
    for number in [0, 3, -7, i64::MAX, i64::MIN] {
        let liar = Liar(number);
        let _ = (info.byte_size_of(id, &liar), info.has_data_elsewhere(id));
        let text = info.value_of(id, contents, &liar, &Options::gdb()).map(|value| value.to_string());
        assert!(text.unwrap_or_default().len() < 1 << 24);
    }
}

/// An object that answers every question with one number, and refers to itself.
#[derive(Debug)]
struct Liar(i64);

impl Object for Liar {
    fn number(&self, _: &DynamicAttribute, _: i64) -> Result<i64, DynamicError> {
        Ok(self.0)
    }

    fn part(&self, _: &DynamicAttribute, _: i64) -> Result<Box<dyn Object + '_>, DynamicError> {
        Ok(Box::new(Self(self.0)))
    }

    fn fetch(&self, _: i64, size: u64) -> Result<OwnedContents, DynamicError> {
        // Same limit as in `dwarf::fetch`.
        let size = usize::try_from(size).ok().filter(|size| *size <= 1 << 20);
        let size = size.ok_or(DynamicError::PastStorage)?;
        Ok(OwnedContents { bytes: vec![1; size], ..OwnedContents::default() })
    }
}

/// A small generator (splitmix64), so that failures are reproducible.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ *state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// Asks every question; the DIEs that are read for it are bounded.
fn ask_within_bounds(bytes: Vec<u8>, what: &str) {
    let before = done(Count::Dies);
    ask_everything(bytes);
    let read = done(Count::Dies) - before;
    assert!(read < MAX_DIES, "{what}: {read} DIEs");
}

/// Limit of the DIEs read for all questions about one damaged file.
const MAX_DIES: u64 = 10_000_000;

fn own_objects() -> impl Iterator<Item = Vec<u8>> {
    let own = objects().into_iter().filter(|path| path.to_string_lossy().contains("debuginfo/tests/objects"));
    let dynamic = include_bytes!("../../session/tests/dynamic/dynamic.hsaco").to_vec();
    let draft = include_bytes!("../../../tests/fixtures/code/draft_ops-gfx1100.hsaco").to_vec();
    own.map(|path| std::fs::read(path).expect("an object")).chain([dynamic, draft])
}

#[test]
fn survives_being_cut() {
    for object in own_objects() {
        for length in sampled((0..object.len()).step_by(211), 9) {
            ask_within_bounds(object[..length].to_vec(), &format!("cut at {length}"));
        }
    }
}

#[test]
fn survives_a_section_being_cut() {
    for object in own_objects() {
        let code_object = CodeObject::parse(object.clone()).expect("a code object");
        let headers = u64::from_le_bytes(object[40..48].try_into().expect("e_shoff")) as usize;
        for (index, section) in code_object.sections().iter().enumerate() {
            if !section.name.starts_with(".debug") {
                continue;
            }
            for part in sampled(0..12, 7) {
                let mut damaged = object.clone();
                let size = headers + index * 64 + 32;
                damaged[size..size + 8].copy_from_slice(&(section.size * part / 12).to_le_bytes());
                ask_within_bounds(damaged, &format!("{} part {part}", section.name));
            }
        }
    }
}

#[test]
fn survives_flipped_bytes() {
    let mut state = 1;
    for object in own_objects() {
        for round in sampled(0..120, 25) {
            let mut damaged = object.clone();
            for _ in 0..1 + round % 8 {
                let at = random(&mut state) as usize % damaged.len();
                damaged[at] = match round % 3 {
                    0 => damaged[at] ^ 1 << (random(&mut state) % 8),
                    1 => random(&mut state) as u8,
                    _ => [0x00, 0x01, 0x7f, 0x80, 0xff][random(&mut state) as usize % 5],
                };
            }
            ask_within_bounds(damaged, &format!("round {round}"));
        }
    }
}

#[test]
fn survives_flipped_debug_bytes() {
    let mut state = 2;
    for object in own_objects() {
        let code_object = CodeObject::parse(object.clone()).expect("a code object");
        let sections = code_object.sections().iter().filter(|section| section.name.starts_with(".debug"));
        for (index, section) in sections.enumerate() {
            // Other numbers of bytes in each section.
            for round in sampled((0..30).cycle().skip(index).take(30), 30) {
                let mut damaged = object.clone();
                for _ in 0..1 + round % 4 {
                    let at = section.offset + random(&mut state) % section.size.max(1);
                    damaged[at as usize] = random(&mut state) as u8;
                }
                ask_within_bounds(damaged, &format!("{} round {round}", section.name));
            }
        }
    }
}
