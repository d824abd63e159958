//! Names of processors in text.

use super::find;
use crate::arch::Processor;

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
