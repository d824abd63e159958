//! Kernel launches with their arguments.

use std::collections::HashMap;

use super::{Source, bounded, cut};
use crate::debuginfo::source_name;
use crate::postmortem::{ArgumentRow, Launch};
use crate::session::{Byte, DispatchArguments, KernelArgument, dispatches_of};

/// Maximum number of kernel launches.
const MAX_LAUNCHES: usize = 100;
/// Maximum number of kernel launches whose arguments are listed.
const MAX_ARGUED: usize = 16;
/// Maximum number of arguments of a launch.
const MAX_ARGUMENTS: usize = 64;

impl Source<'_> {
    pub(super) fn launches(&self) -> (Vec<Launch>, usize) {
        let mut found = dispatches_of(self.dump);
        // Launches with waves are the ones that ran.
        found.sort_by_key(|launch| launch.waves.is_empty());
        let (found, left_out) = bounded(found, MAX_LAUNCHES);
        let arguments = self.sessions.first().map(|session| session.arguments()).unwrap_or_default();
        let mut arguments: HashMap<u32, DispatchArguments> =
            arguments.into_iter().map(|of| (of.dispatch, of)).collect();
        let row = |(index, of): (usize, crate::session::DispatchInfo)| {
            let known = arguments.remove(&of.id).filter(|_| index < MAX_ARGUED);
            Launch {
                id: of.id,
                kernel: of.kernel.map(|kernel| cut(&source_name(&kernel))),
                grid: of.grid,
                workgroup: of.workgroup,
                lds: of.group_segment_size,
                private: of.private_segment_size,
                waves: of.waves.len(),
                waves_left_out: of.left_out,
                problem: known
                    .as_ref()
                    .and_then(|of| Some(cut(&self.paths.text(&of.problem.as_ref()?.to_string())))),
                arguments: known.map_or_else(Vec::new, |of| self.arguments(&of)),
            }
        };
        (found.into_iter().enumerate().map(row).collect(), left_out)
    }

    fn arguments(&self, of: &DispatchArguments) -> Vec<ArgumentRow> {
        let visible = of.arguments.iter().filter(|argument| !argument.hidden).take(MAX_ARGUMENTS);
        visible.map(|argument| self.argument(argument)).collect()
    }

    fn argument(&self, of: &KernelArgument) -> ArgumentRow {
        // Arguments are in global memory.
        let is_left_out = self.options.no_values || self.options.no_global;
        let is_known = |byte: &Byte| matches!(byte, Byte::Known(_));
        let hex = || {
            of.bytes.iter().take(super::MAX_TEXT / 3).map(ToString::to_string).collect::<Vec<_>>().join(" ")
        };
        let captured = of.bytes.iter().any(is_known);
        let value = of.value.as_deref().map(cut).or_else(|| captured.then(hex));
        ArgumentRow {
            name: of.name.as_deref().map(cut),
            type_name: of.type_name.as_deref().map(cut),
            offset: of.offset,
            size: of.size,
            captured,
            value: value.filter(|_| !is_left_out),
        }
    }
}
