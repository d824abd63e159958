//! ROCm core files: GPU cores, host cores with GPU waves, and the two side by side (docs/captures.md).

mod memory;

use std::sync::Arc;

use super::problem::ImportError;
use super::{Opened, Options};
use crate::arch::Targets;
use crate::capture::Backing;

/// Opens a core.
pub(super) fn open(
    core: Arc<dyn Backing>,
    _targets: &Targets,
    _options: &Options,
) -> Result<Opened, ImportError> {
    let found = "an ELF core, which is not read yet".to_owned();
    Err(ImportError::NotADump { file: core.name().to_owned(), found })
}
