//! Tests of the module by subject.

mod address;
mod builtin;
mod checks;
mod docs;
mod dwarf;
mod families;
mod library;
mod llvm;
mod load;
mod names;
mod save_area;

use std::sync::Arc;

use super::{Targets, WaveArch};
use crate::units::WaveSize;

fn kind(name: &str, wave_size: WaveSize) -> Arc<WaveArch> {
    Targets::builtin().kind(name, wave_size).unwrap_or_else(|error| panic!("{error}"))
}

fn every_kind() -> Vec<Arc<WaveArch>> {
    let targets = Targets::builtin();
    let mut kinds = Vec::new();
    for name in targets.names() {
        let target = targets.target(name).unwrap_or_else(|error| panic!("{error}"));
        kinds.extend(target.wave_sizes.iter().map(|size| kind(name, *size)));
    }
    kinds
}
