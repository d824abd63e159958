//! DWARF assembled from arbitrary bytes: nested DIEs, as deep as the bytes lead, and units that share abbreviation
//! tables. The target asks every question of a debugger and builds the view.

use std::sync::Arc;

use lanescope::codeobject::{CodeObject, ElfAddress};
use lanescope::debuginfo::{DebugInfo, TypeId, UnitId};
use lanescope::import;
use lanescope::session::{Dump, DumpFacts as _, Session, Stacks as _};
use lanescope::units::{DieOffset, WaveId};
use lanescope::view::{Extent, View};

#[allow(dead_code, reason = "the suite uses all of it")]
#[path = "../../tests/suite/hostile/dwarf.rs"]
mod dwarf;
#[allow(dead_code, reason = "the suite uses all of it")]
#[path = "../../tests/suite/hostile/elf.rs"]
mod elf;

use dwarf::{
    BLOCK, Dies, HIGH, INLINE, INLINED, LOW, NAME, NAMESPACE, ORIGIN, POINTER, SIZE, STRUCTURE, SUBPROGRAM,
    TEMPLATE_TYPE, TYPE, place, unit,
};
use elf::{Section, code_object};

use crate::shared::TARGETS;

/// Maximum repetitions of DIEs in one step, as a power of two.
const MOST: u8 = 14;

pub fn run(bytes: &[u8]) {
    let (object, types) = put_together(bytes);
    let parsed = Arc::new(CodeObject::parse(object.clone()).expect("an ELF file"));
    let debug = DebugInfo::new(parsed).expect("sections");
    assert!(debug.check().problems.iter().all(|problem| !problem.to_string().is_empty()));
    let pc = ElfAddress(elf::TEXT + 0x10);
    let _ = (debug.line_at(pc), debug.function_at(pc), debug.globals(UnitId(0)));
    for at in debug.variables_at(pc).unwrap_or_default().iter().take(64) {
        let _ = debug.type_name(at.variable.type_id);
    }
    for at in types.iter().take(64) {
        let id = TypeId(DieOffset(u64::from(*at)));
        let _ = (debug.type_name(Some(id)), debug.byte_size(id));
    }
    let hex: String = object.iter().map(|byte| format!("{byte:02x}")).collect();
    let manifest = format!(
        r#"{{"format":1,"agent":[{{"id":1,"target":"gfx90a"}}],"wave":[{{"id":1,"agent":1,"registers":{{"pc":"0x7f0000101010","exec":255}}}}],
           "code_object":[{{"address":"0x7f0000100000","hex":"{hex}"}}]}}"#
    );
    let opened = import::open_bytes("fuzz", manifest.into_bytes(), &TARGETS).expect("a manifest");
    let dump = Arc::new(Dump::new(opened.capture, Vec::new()));
    let session = Session::new(Arc::clone(&dump), None).expect("a wave");
    let _ = (session.backtrace(WaveId(0), None), session.code_objects());
    for extent in [Extent::Stacks, Extent::All] {
        let _ = View::new(&dump, &session, extent).objects();
    }
}

/// The object, and offsets of types in its first unit.
fn put_together(bytes: &[u8]) -> (Vec<u8>, Vec<u32>) {
    let mut dies = Dies::new();
    dies.declare(5, BLOCK, true, &[]);
    dies.declare(6, BLOCK, true, &[LOW, HIGH]);
    dies.declare(7, INLINED, true, &[ORIGIN, LOW, HIGH]);
    dies.declare(8, SUBPROGRAM, true, &[NAME, INLINE]);
    dies.declare(9, SUBPROGRAM, true, &[NAME, LOW, HIGH]);
    dies.declare(10, STRUCTURE, true, &[NAME, SIZE]);
    dies.declare(11, NAMESPACE, true, &[NAME]);
    dies.declare(12, POINTER, false, &[TYPE]);
    dies.declare(13, TEMPLATE_TYPE, false, &[TYPE]);
    let mut types = vec![dies.int()];
    let mut functions = vec![dies.function()];
    let mut open = 2usize;
    let mut units = 1;
    for step in bytes.chunks_exact(2) {
        let (what, how) = (step[0], step[1]);
        let last = |of: &[u32]| {
            of.get(of.len().wrapping_sub(1 + usize::from(how >> 4)) % of.len()).copied().unwrap_or(0)
        };
        let (of, origin) = (last(&types), last(&functions));
        for _ in 0..1u32 << (how % (MOST + 1)).min(how & 0xf) {
            match what % 11 {
                0 => drop(dies.die(5, &[])),
                1 => drop(dies.die(6, &[&place()])),
                2 => drop(dies.die(7, &[&origin.to_le_bytes(), &place()])),
                3 => functions.push(dies.die(8, &[b"g\0", &[1]])),
                4 => functions.push(dies.die(9, &[b"h\0", &place()])),
                5 => types.push(dies.die(10, &[b"T\0", &[4]])),
                6 => drop(dies.die(11, &[b"n\0"])),
                7 => types.push(dies.die(12, &[&of.to_le_bytes()])),
                8 => drop(dies.die(13, &[&of.to_le_bytes()])),
                9 => drop(dies.variable("v", of)),
                _ => {
                    let closed = usize::from(open > 1);
                    dies.close(closed);
                    open -= closed;
                    units += usize::from(how & 1);
                }
            }
            open += usize::from(matches!(what % 11, 0..=6));
            if dies.bytes.len() > 1 << 20 {
                break;
            }
        }
    }
    dies.close(open);
    let info = unit(0, &dies.bytes);
    let more: Vec<u8> =
        (1..units.min(64)).flat_map(|_| unit(0, b"\x01b.cpp\0\0\0\0\0\0\0\0\0\0\0\0\0\0")).collect();
    let table = [dies.table, vec![0]].concat();
    let sections =
        vec![Section::new(".debug_info", [info, more].concat()), Section::new(".debug_abbrev", table)];
    (code_object(sections), types)
}
