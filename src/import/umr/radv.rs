//! The folder that RADV writes on a GPU hang (`RADV_DEBUG=hang`): umr's text and the driver's facts about the GPU.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use super::build;
use super::family::Families;
use super::text::{self, MAX_CODE};
use crate::arch::{Processor, Targets};
use crate::clean::clean;
use crate::import::beneath::Beneath;
use crate::import::faults::{self, Reported};
use crate::import::problem::{ImportError, Problems};
use crate::import::text::{Kept, Lines, processors_in};
use crate::import::{Opened, Options};

/// umr's text, which identifies such a folder.
pub(in crate::import) const WAVES: &str = "umr_waves.log";

/// The driver's file about the GPU.
const GPU: &str = "gpu_info.log";

/// Files that name the GPU, most specific first.
const NAMING: &[&str] = &[GPU, "pipeline.log", "app_info.log"];

/// The driver's reports on faults: RADV's own and the kernel log.
const FAULTS: [&str; 2] = ["vm_fault.log", "dmesg.log"];

/// Files that RADV writes into each such folder, with or without umr.
const OTHERS: &[&str] =
    &["gpu_info.log", "app_info.log", "trace.log", "registers.log", "umr_ring.log", "bo_ranges.log"];

/// Maximum bytes read of those files; the relevant text is at their start.
pub(super) const MOST: u64 = 1 << 20;

/// Maximum bytes of a GPU's name.
const MAX_NAME: usize = 64;

/// Mesa's names of GPUs (`name = ` in gpu_info.log), including earlier ones. GPUs before gfx9, and those whose
/// processor LLVM does not list, are left out.
const NAMES: &[(&str, &str)] = &[
    ("VEGA10", "gfx900"),
    ("RAVEN", "gfx902"),
    ("VEGA12", "gfx904"),
    ("VEGA20", "gfx906"),
    ("MI100", "gfx908"),
    ("RAVEN2", "gfx909"),
    ("RENOIR", "gfx90c"),
    ("MI200", "gfx90a"),
    ("GFX940", "gfx942"),
    ("NAVI10", "gfx1010"),
    ("NAVI12", "gfx1011"),
    ("NAVI14", "gfx1012"),
    ("NAVI21", "gfx1030"),
    ("NAVI22", "gfx1031"),
    ("NAVI23", "gfx1032"),
    ("VANGOGH", "gfx1033"),
    ("NAVI24", "gfx1034"),
    ("REMBRANDT", "gfx1035"),
    ("RAPHAEL_MENDOCINO", "gfx1036"),
    ("NAVI31", "gfx1100"),
    ("NAVI32", "gfx1101"),
    ("NAVI33", "gfx1102"),
    ("PHOENIX", "gfx1103"),
    ("PHOENIX2", "gfx1103"),
    ("GFX1103_R1", "gfx1103"),
    ("GFX1103_R2", "gfx1103"),
    ("STRIX1", "gfx1150"),
    ("STRIX_HALO", "gfx1151"),
    ("KRACKAN1", "gfx1152"),
    ("NAVI44", "gfx1200"),
    ("NAVI48", "gfx1201"),
    ("ARCTURUS", "gfx908"),
    ("ALDEBARAN", "gfx90a"),
    ("SIENNA_CICHLID", "gfx1030"),
    ("NAVY_FLOUNDER", "gfx1031"),
    ("DIMGREY_CAVEFISH", "gfx1032"),
    ("BEIGE_GOBY", "gfx1034"),
    ("YELLOW_CARP", "gfx1035"),
    ("GFX1037", "gfx1036"),
];

/// Whether RADV wrote a folder.
pub(in crate::import) fn is_folder(path: &Path) -> bool {
    Beneath::new(path).is_ok_and(|folder| folder.size(Path::new(WAVES)).is_ok())
}

/// The description of RADV's folder without umr's text; `None`: no folder of RADV's.
pub(in crate::import) fn without_waves(path: &Path) -> Option<String> {
    let folder = Beneath::new(path).ok()?;
    let found = OTHERS.iter().find(|name| folder.size(Path::new(name)).is_ok())?;
    Some(without(found))
}

fn without(found: &str) -> String {
    format!(
        "a hang folder of RADV ({found} is in it) without {WAVES}: RADV could not run umr, and waves are in no other file"
    )
}

/// The description of a zip with a file of that path; `None`: the file is not RADV's.
pub(super) fn others_than_waves(path: &str) -> Option<String> {
    let name = path.rsplit('/').next()?;
    // Other programs also write an app_info.log.
    OTHERS
        .iter()
        .filter(|name| **name != "app_info.log")
        .find(|other| **other == name)
        .map(|found| without(found))
}

/// Opens a hang folder.
pub(in crate::import) fn open(
    path: &Path,
    targets: &Targets,
    options: &Options,
) -> Result<Opened, ImportError> {
    let file = path.join(WAVES);
    let name = file.display().to_string();
    let io = |source| ImportError::Io { file: name.clone(), source };
    let folder = Beneath::new(path).map_err(io)?;
    let source = folder.open(Path::new(WAVES)).map_err(|error| io(error.into()))?;
    let beside = Beside::of(path);
    let mut families = Families::new(targets, options, beside.processor)?;
    families.unknown.clone_from(&beside.unknown);
    let mut problems = Problems::new(&name);
    let read = text::read(BufReader::new(source), Kept::default(), MAX_CODE, &mut families, &mut problems);
    let format = "RADV hang folder (umr text)";
    let mut capture = build::build(&name, format, read, &mut families, &mut problems);
    capture.name = path.display().to_string();
    problems.extend(beside.faults.into_capture(&mut capture));
    Ok(Opened { capture, problems: problems.finish() })
}

/// The driver's files beside umr's text.
#[derive(Debug, Default)]
pub(super) struct Beside {
    pub(super) processor: Option<Processor>,
    /// The file and its name of an unknown GPU: `gpu_info.log names NAVI99`.
    pub(super) unknown: Option<String>,
    pub(super) faults: Reported,
}

impl Beside {
    /// Reads the files of a folder.
    pub(super) fn of(path: &Path) -> Self {
        let folder = Beneath::new(path);
        Self::read(|name| {
            let mut bytes = Vec::new();
            // A missing or unreadable file counts as empty.
            let file = folder.as_ref().ok()?.open(Path::new(name)).ok()?;
            file.take(MOST).read_to_end(&mut bytes).ok()?;
            Some(bytes)
        })
    }

    /// The facts in files; `file` returns the start of one, at most [`MOST`] bytes.
    pub(super) fn read(mut file: impl FnMut(&str) -> Option<Vec<u8>>) -> Self {
        let mut unknown = None;
        let mut named = |name: &&str| match named(Lines::new(file(name)?.as_slice()))? {
            Named::Known(processor) => Some(processor),
            // In other files the name may refer to something else.
            Named::Unknown(gpu) if *name == GPU => {
                unknown = Some(format!("{name} names {gpu}"));
                None
            }
            Named::Unknown(_) => None,
        };
        let processor = NAMING.iter().find_map(&mut named);
        let mut faults = Reported::default();
        for name in FAULTS {
            let bytes = file(name).unwrap_or_default();
            // Bytes in memory are always readable.
            faults.extend(faults::read(name, bytes.as_slice(), faults::Own::default()).unwrap_or_default());
        }
        Self { processor, unknown, faults }
    }
}

/// A file's name for the GPU.
enum Named {
    Known(Processor),
    Unknown(String),
}

fn named(mut lines: Lines<impl BufRead>) -> Option<Named> {
    let mut unknown = None;
    while let Ok(Some(line)) = lines.next() {
        if let Some(found) = processors_in(line.text).next() {
            return Some(Named::Known(found));
        }
        let text = line.text.trim_ascii();
        let Some(value) = text.strip_prefix(b"name = ") else { continue };
        let value = value.strip_prefix(b"CHIP_").unwrap_or(value).to_ascii_uppercase();
        // GPUs without another name have that of their processor.
        let small = String::from_utf8_lossy(&value).to_ascii_lowercase();
        let known = NAMES.iter().find(|(name, _)| name.as_bytes() == value).map(|(_, processor)| *processor);
        if let Some(found) = known.or(Some(small.as_str())).and_then(Processor::named) {
            return Some(Named::Known(found));
        }
        let name = value.get(..value.len().min(MAX_NAME)).unwrap_or_default();
        let is_name = !name.is_empty()
            && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-. ".contains(byte));
        if is_name {
            unknown.get_or_insert_with(|| clean(String::from_utf8_lossy(name)).into_owned());
        }
    }
    unknown.map(Named::Unknown)
}
