//! `lanescope code-object FILE [--entry E] [--json]`: the contents of a code object, a bundle of them or a host
//! program.
//!
//! FILE is an AMDGPU ELF file, an offload bundle (compressed or not, several in a row), an offload binary of LLVM, a
//! host file with a section `.hip_fatbin` or `.llvm.offloading`, or a URI in the loaders' form:
//! `file:///tmp/a.out#offset=4096&size=8192`.
//!
//! If FILE holds several code objects, the command lists the entries with index, place, size and target ID. `--entry`
//! takes an index, a bundle entry ID or a target ID and prints that one. For one code object it prints the header,
//! segments, sections, kernels with their resources, the fields of their descriptors and their arguments, symbols,
//! relocations, notes, whether it has DWARF, and its problems. Types and names of arguments that the metadata lacks
//! come from the DWARF. Without it, types come from the kernel's mangled name.
//!
//! `--json` prints the same as JSON: `entries`, or `header`, `segments`, `sections`, `kernels`, `symbols`,
//! `relocations`, `notes`, `dwarf` and `problems`.
//!
//! ```text
//! $ lanescope code-object saxpy.hsaco
//! $ lanescope code-object a.out --entry gfx90a --json | jq '.kernels[].descriptor'
//! ```

mod describe;
mod elf;
mod kernels;
mod text;

#[cfg(test)]
pub(super) use describe::{Entries, Object};

use std::ffi::OsString;
use std::fs::File;
use std::io::Write;
use std::os::unix::ffi::OsStringExt as _;
use std::sync::Arc;

use super::{Failure, print_json};
use crate::codeobject::{Bytes, CodeObject, Entry, FatFile, Uri, UriPlace};
use crate::mapping;
use crate::report::schema::Document;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The file, or a file:// URI
    #[arg(value_name = "FILE")]
    file: String,
    /// One of several code objects: an index, a bundle entry ID or a target ID
    #[arg(long, short, value_name = "ENTRY")]
    entry: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args, out: &mut dyn Write) -> Result<(), Failure> {
    let name = &args.file;
    let bytes = bytes(name)?;
    let read = match &args.entry {
        Some(asked) => FatFile::read_up_to(&bytes, asked),
        None => FatFile::read(&bytes),
    };
    let fat = read.map_err(|error| format!("{name}: {error}"))?;
    let entry = match (&args.entry, &fat.entries[..]) {
        (Some(asked), _) => {
            let found = fat.entry(asked);
            Some(found.ok_or_else(|| format!("{name}: no entry {asked}; without --entry they are listed"))?)
        }
        (None, [only @ Entry { id: None, .. }]) => Some(only),
        (None, _) => None,
    };
    let Some(entry) = entry else {
        if args.json {
            let problems = fat.problems.iter().map(ToString::to_string).collect();
            let entries = fat.entries.iter().map(describe::entry).collect();
            return print_json(out, &Document::new(describe::Entries { entries, problems }));
        }
        out.write_all(text::STYLE.folded(&text::entries(&fat)).as_bytes())?;
        return Ok(());
    };
    let object = CodeObject::parse(entry.bytes.clone()).map_err(|error| {
        let id = entry.id.as_deref().map_or_else(String::new, |id| format!(" entry {id}:"));
        format!("{name}:{id} {error}")
    })?;
    let described = describe::object(&Arc::new(object));
    if args.json {
        return print_json(out, &Document::new(&described));
    }
    out.write_all(text::STYLE.folded(&text::object(&described)).as_bytes())?;
    Ok(())
}

/// The bytes that FILE names.
pub(super) fn bytes(name: &str) -> Result<Bytes, Failure> {
    let fail = |error: &dyn std::fmt::Display| format!("{name}: {error}");
    let (mut path, mut offset, mut size) = (OsString::from(name), 0, None);
    if Uri::is_uri(name) {
        let uri = Uri::parse(name).map_err(|error| fail(&error))?;
        path = match uri.place {
            UriPlace::File(path) => OsString::from_vec(path),
            UriPlace::Memory { pid } => {
                return Err(fail(&format!("names memory of process {pid}, which no file holds")).into());
            }
        };
        (offset, size) = (uri.offset.unwrap_or(0), uri.size);
    }
    let file = File::open(path).map_err(|error| fail(&error))?;
    let metadata = file.metadata().map_err(|error| fail(&error))?;
    if !metadata.is_file() {
        return Err(fail(&"not a regular file").into());
    }
    let whole = metadata.len();
    let size = size.unwrap_or(whole.saturating_sub(offset));
    if offset.checked_add(size).is_none_or(|end| end > whole) {
        return Err(fail(&format!("the range leaves the file, which has {whole} bytes")).into());
    }
    if size == 0 {
        return Ok(Bytes::empty());
    }
    let mapped = mapping::map(&file, offset, size).map_err(|error| fail(&error))?;
    Ok(Bytes::new(Arc::new(mapped)))
}
