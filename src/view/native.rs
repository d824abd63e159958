//! Code objects for a gdb with amdgcn: the captured files, without what makes that gdb fail.
//!
//! Measured with GNU gdb 16.3: it aborts in call frame information of clang 22, and takes a file of an unknown processor for
//! another architecture. Its reader rejects code object version 2 (bfd/elf64-amdgcn.c). The served files differ from the captured ones in
//! the ELF header, and in headers of sections that are zero (`SHT_NULL`).

use std::collections::HashSet;
use std::sync::Arc;

use super::build::{ViewObject, file_name, free};
use super::file::ViewFile;
use crate::arch::{Processor, Target};
use crate::codeobject::{Bytes, CodeObject};
use crate::session::{Dump, Inspect};

/// Bytes of an ELF header and of a section header, and offsets of their fields (gABI chapter 4, 64-bit).
const HEADER: usize = 64;
const ABI_VERSION: usize = 8;
const SECTION_TABLE: usize = 40;
const FLAGS: usize = 48;
const SECTION_HEADER: usize = 64;
/// `ELFABIVERSION_AMDGPU_HSA_V3`: the oldest version that gdb reads.
const ABI_VERSION_3: u8 = 1;
/// Sections of a served file; linkers make some dozens.
const MAX_SECTIONS: usize = 1 << 14;
/// Beginnings of names of sections that gdb must not see: call frame information, and scripts that gdb would run.
const HIDDEN: [&str; 6] = [
    ".debug_frame",
    ".zdebug_frame",
    ".eh_frame",
    ".rela.debug_frame",
    ".rela.eh_frame",
    ".debug_gdb_scripts",
];

/// The files of the capture's code objects, in the capture's order; `None` where only memory holds the object, or it is damaged.
pub(super) fn all(dump: &Dump, session: &dyn Inspect) -> Vec<Option<Arc<ViewObject>>> {
    let kind = session.kind();
    let mut taken = HashSet::new();
    let objects = session.code_objects().into_iter().enumerate().map(|(index, info)| {
        let captured = dump.capture().code_objects.get(index)?;
        let object = dump.code_object(index).ok().filter(|_| !captured.image)?;
        let file = file(&object, machine(&object, &kind.target))?;
        let name = free(file_name(&info.name), &taken);
        taken.insert(name.clone());
        Some(Arc::new(ViewObject::without_windows(index, name, info.address, file)))
    });
    objects.collect()
}

/// `EF_AMDGPU_MACH` that gdb knows for an object of the served processor; an object of another one keeps its own.
fn machine(object: &CodeObject, target: &Target) -> u8 {
    let own = object.processor().map_or(object.header().mach(), |processor| processor.mach);
    // Those of gfx940 have a number that was taken back.
    let is_served = object.processor().is_none_or(|processor| processor.runs_on_target(target));
    let known = target.gdb.as_deref().filter(|_| is_served).and_then(Processor::named);
    known.map_or(own, |known| known.mach)
}

/// The file of a code object for that `EF_AMDGPU_MACH`; `None` where its section headers cannot be read.
pub(super) fn file(object: &CodeObject, machine: u8) -> Option<ViewFile> {
    let (bytes, sections) = (object.bytes(), object.sections());
    if !object.problems().is_empty() || sections.len() > MAX_SECTIONS {
        return None;
    }
    let mut header = bytes.get(..HEADER)?.to_vec();
    let version = header.get_mut(ABI_VERSION)?;
    *version = (*version).max(ABI_VERSION_3);
    *header.get_mut(FLAGS)? = machine;
    let start = usize::try_from(u64::from_le_bytes(*header.get(SECTION_TABLE..)?.first_chunk()?)).ok()?;
    let mut file = ViewFile::default();
    file.append(Bytes::from(header), 1);
    if start == 0 {
        file.append(bytes.slice(HEADER..bytes.len())?, 1);
        return Some(file);
    }
    let end = start.checked_add(sections.len() * SECTION_HEADER)?;
    let mut table = bytes.get(start..end)?.to_vec();
    for (header, section) in table.chunks_exact_mut(SECTION_HEADER).zip(sections) {
        if HIDDEN.iter().any(|name| section.name.starts_with(name)) {
            header.fill(0);
        }
    }
    file.append(bytes.slice(HEADER..start)?, 1);
    file.append(Bytes::from(table), 1);
    file.append(bytes.slice(end..bytes.len())?, 1);
    Some(file)
}
