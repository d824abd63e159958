//! Names of processors in text, and the target that describes one.

use std::sync::Arc;

use super::find;
use crate::arch::{Processor, Target, Targets};

/// Processors that a text names: `gfx90a` in `libfoo_gfx90a.co`.
pub(in crate::import) fn processors_in(text: &[u8]) -> impl Iterator<Item = Processor> {
    let mut rest = text;
    std::iter::from_fn(move || {
        while let Some(at) = find(rest, "gfx") {
            let name = rest.get(at..).unwrap_or_default();
            let end = 3 + name.iter().skip(3).take_while(|byte| byte.is_ascii_hexdigit()).count();
            let (name, after) = name.split_at(end.min(name.len()));
            rest = after;
            let found = std::str::from_utf8(name).ok().and_then(Processor::named);
            if found.is_some() {
                return found;
            }
        }
        None
    })
}

/// The target of a processor, or where no file describes it the one of its generation whose name begins as its does: such
/// have the same registers. `None`: no target is of its generation.
pub(in crate::import) fn nearest(targets: &Targets, processor: Processor) -> Option<Arc<Target>> {
    if let Ok(target) = targets.target(processor.name) {
        return Some(target);
    }
    let alike = |name: &str| name.bytes().zip(processor.name.bytes()).take_while(|(a, b)| a == b).count();
    let same = targets
        .names()
        .filter(|name| Processor::named(name).is_some_and(|other| other.generation == processor.generation));
    // The first of those that are alike the most; max_by_key would take the last.
    let mut best: Option<(&str, usize)> = None;
    for name in same {
        if best.is_none_or(|(_, most)| alike(name) > most) {
            best = Some((name, alike(name)));
        }
    }
    targets.target(best?.0).ok()
}
