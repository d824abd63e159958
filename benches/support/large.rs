//! A code object with 100 MB of debug information, and a dump of one wave in it.
//!
//! `scripts/make-fixtures --big` makes the file in the target folder on the first run. LANESCOPE_BIG is another folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use lanescope::codeobject::CodeObject;

use super::Failure;

/// Load address in the dump.
const LOADED: u64 = 0x7f00_0010_0000;
/// The kernel of nine variables, in a copy far from both ends of the file.
const KERNEL: &str = "copy70__Z4ninePfS_i";

/// The code object, and an address in the kernel.
pub(crate) struct Large {
    pub(crate) file: PathBuf,
    pub(crate) object: CodeObject,
    /// ELF address in the kernel's body, after the prologue.
    pub(crate) pc: u64,
}

/// Makes the code object if it is missing.
///
/// # Errors
///
/// A file with less than 95 MB of debug information.
pub(crate) fn large() -> Result<Large, Failure> {
    let file = big()?;
    let object = CodeObject::parse(fs::read(&file)?)?;
    let symbol = object.symbol(KERNEL).ok_or_else(|| format!("{}: no {KERNEL}", file.display()))?;
    let pc = symbol.value + symbol.size / 2 / 4 * 4;
    let debug: u64 = object.sections().iter().filter(|s| s.name.starts_with(".debug_")).map(|s| s.size).sum();
    println!("{}: {} MB of debug information", file.display(), debug >> 20);
    if debug < 95 << 20 {
        return Err("that is less than 95 MB; make it anew".into());
    }
    Ok(Large { file, object, pc })
}

/// Path of the file, which is made if it is missing.
fn big() -> Result<PathBuf, Failure> {
    let given = std::env::var_os("LANESCOPE_BIG").map(PathBuf::from);
    let folder = given.unwrap_or_else(|| PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("big"));
    let file = folder.join("big.hsaco");
    if !file.exists() {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/make-fixtures");
        let made = Command::new(script).arg("--big").arg(&folder).status()?;
        if !made.success() {
            return Err(format!("scripts/make-fixtures --big: {made}").into());
        }
    }
    Ok(file.canonicalize()?)
}

/// A dump of one wave in that code object, with captured private memory.
pub(crate) fn dump_at(folder: &Path, file: &Path, pc: u64) -> Result<PathBuf, Failure> {
    fs::write(folder.join("private.bin"), vec![0x11; 64 * 512])?;
    let run_time = LOADED + pc;
    // A manifest cannot name a file outside of its folder.
    fs::hard_link(file, folder.join("code.hsaco"))?;
    fs::write(
        folder.join("manifest.toml"),
        format!(
            "format = 1\n[[agent]]\nid = 1\ntarget = \"gfx90a\"\n[[queue]]\nid = 1\nagent = 1\n\
             [[code_object]]\nfile = \"code.hsaco\"\naddress = \"{LOADED:#x}\"\n\
             [[dispatch]]\nid = 1\nqueue = 1\nkernel = \"nine\"\ngrid = [64]\nworkgroup = [64]\nprivate_segment_size = 512\n\
             [[workgroup]]\nid = 1\ndispatch = 1\nposition = [0, 0, 0]\n\
             [[wave]]\nid = 1\nworkgroup = 1\nwave_in_group = 0\nwave_size = 64\nprivate_size = 32768\n\
             private = [{{ file = \"private.bin\" }}]\n\
             [wave.registers]\npc = \"{run_time:#x}\"\nexec = \"0xffffffffffffffff\"\ns32 = 0\ns33 = 0\n"
        ),
    )?;
    Ok(folder.to_owned())
}
