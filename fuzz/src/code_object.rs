//! Code objects, bundles and host programs: arbitrary bytes, and mutations of a fixture. The first bytes choose the
//! fixture and the offset of the mutation. The target asks every question about a code object.

use std::sync::{Arc, LazyLock};

use lanescope::arch::Processor;
use lanescope::codeobject::{Bytes, CodeObject, ElfAddress, FatFile, Uri};
use lanescope::debuginfo::{DebugInfo, UnitId};

use crate::shared::{code_objects, mutated};

/// Code objects of every version.
static SOUND: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    code_objects(&["tests/fixtures/code", "src/codeobject/tests/objects", "src/debuginfo/tests/objects"])
});

pub fn run(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = Uri::parse(text);
    }
    look(bytes.to_vec());
    if let Some(mutated) = mutated(&SOUND, bytes) {
        look(mutated);
    }
}

fn look(bytes: Vec<u8>) {
    let Ok(fat) = FatFile::read(&Bytes::from(bytes)) else { return };
    for entry in fat.entries.iter().take(4) {
        let _ = (entry.target_id(), entry.processor(), entry.offload_kind());
        if let Ok(object) = CodeObject::parse(entry.bytes.clone()) {
            ask(&Arc::new(object));
        }
    }
}

fn ask(object: &Arc<CodeObject>) {
    let _ = (object.image(), object.text(), object.build_id(), object.metadata(), object.problems());
    for note in object.notes() {
        let _ = (note.type_name(), note.text());
    }
    for section in object.sections() {
        let _ = object.section_bytes(&section.name);
    }
    for problem in object.all_relocation_problems() {
        assert!(!problem.to_string().is_empty());
    }
    let processor = Processor::of_mach(object.header().mach());
    let mut places = vec![ElfAddress(0), ElfAddress(u64::MAX)];
    for kernel in object.kernels().take(16) {
        places.extend(kernel.entry);
        let (Some(words), Some(processor)) = (object.kernel_descriptor(&kernel.name), processor) else {
            continue;
        };
        assert!(words.facts(processor.generation).vgprs > 0);
    }
    places.extend(object.text().map(|text| ElfAddress(text.start.0.wrapping_add(0x40))));
    let Ok(debug) = DebugInfo::new(Arc::clone(object)) else { return };
    for unit in 0..debug.unit_count().min(8) {
        let _ = debug.unit(UnitId(unit));
    }
    for place in places {
        let _ = (object.symbol_at(place), debug.line_at(place));
        for at in debug.variables_at(place).unwrap_or_default().iter().take(64) {
            let _ = debug.type_name(at.variable.type_id);
        }
    }
}
