//! Code objects for a gdb with amdgcn: the captured files, without parts on which that gdb fails.
//!
//! Measured with GNU gdb 16.3: it aborts in call frame information of clang 22, and takes a file of an unknown
//! processor for another architecture. Its reader rejects code object version 2 (bfd/elf64-amdgcn.c). The served
//! files differ from the captured ones in the ELF header, and in zeroed section headers (`SHT_NULL`).

use std::collections::HashSet;
use std::sync::Arc;

use super::build::{ViewObject, file_name, free};
use super::file::ViewFile;
use crate::arch::{Processor, Target};
use crate::codeobject::{Bytes, CodeObject};
use crate::elf::{FileFlags, FileHeader, LE, SectionHeader, bytes_of, bytes_of_slice, read, write};
use crate::session::{Dump, Waves};

/// `ELFABIVERSION_AMDGPU_HSA_V3`: the oldest version that gdb reads.
const ABI_VERSION_3: u8 = 1;
/// The maximum of sections in a served file; linkers make some dozens.
const MAX_SECTIONS: usize = 1 << 14;
/// Name prefixes of sections to hide from gdb: call frame information, and scripts that gdb would run.
const HIDDEN: [&str; 6] = [
    ".debug_frame",
    ".zdebug_frame",
    ".eh_frame",
    ".rela.debug_frame",
    ".rela.eh_frame",
    ".debug_gdb_scripts",
];

/// The files of the capture's code objects, in the capture's order; `None` for an object that is damaged or only in
/// memory.
pub(super) fn all(dump: &Dump, session: &dyn Waves) -> Vec<Option<Arc<ViewObject>>> {
    let kind = session.kind();
    let mut taken = HashSet::new();
    let objects = dump.code_objects().into_iter().enumerate().map(|(index, info)| {
        let captured = dump.capture().code_objects.get(index)?;
        let object = dump.code_object(index).ok().filter(|_| !captured.image)?;
        let file = file(&object, machine(&object, &kind.target))?;
        let name = free(file_name(&info.name), &taken);
        taken.insert(name.clone());
        Some(Arc::new(ViewObject::without_windows(index, name, info.address, file)))
    });
    objects.collect()
}

/// The `EF_AMDGPU_MACH` known to gdb for an object of the served processor; other objects keep their own.
fn machine(object: &CodeObject, target: &Target) -> u8 {
    let own = object.processor().map_or(object.header().mach(), |processor| processor.mach);
    // Objects of gfx940 have a withdrawn number.
    let is_served = object.processor().is_none_or(|processor| processor.runs_on_target(target));
    let known = target.gdb.as_deref().filter(|_| is_served).and_then(Processor::named);
    known.map_or(own, |known| known.mach)
}

/// The file of a code object with that `EF_AMDGPU_MACH`; `None` if its section headers are unreadable.
pub(super) fn file(object: &CodeObject, machine: u8) -> Option<ViewFile> {
    let (bytes, sections) = (object.bytes(), object.sections());
    if !object.problems().is_empty() || sections.len() > MAX_SECTIONS {
        return None;
    }
    let mut header = *read::file_header(bytes).ok()?;
    header.e_ident.abi_version = header.e_ident.abi_version.max(ABI_VERSION_3);
    header.e_flags = FileFlags(header.e_flags.get(LE).0 & !0xff | u32::from(machine)).into();
    let start = usize::try_from(header.e_shoff.get(LE)).ok()?;
    let mut file = ViewFile::default();
    file.append(Bytes::from(bytes_of(&header).to_vec()), 1);
    let after = size_of::<FileHeader>();
    if start == 0 {
        file.append(bytes.slice(after..bytes.len())?, 1);
        return Some(file);
    }
    let end = start.checked_add(size_of::<SectionHeader>().checked_mul(sections.len())?)?;
    let mut table = read::records::<SectionHeader>(bytes.get(start..end)?).to_vec();
    for (header, section) in table.iter_mut().zip(sections) {
        if HIDDEN.iter().any(|name| section.name.starts_with(name)) {
            *header = write::null_section();
        }
    }
    file.append(bytes.slice(after..start)?, 1);
    file.append(Bytes::from(bytes_of_slice(&table).to_vec()), 1);
    file.append(bytes.slice(end..bytes.len())?, 1);
    Some(file)
}
