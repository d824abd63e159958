//! Captured bytes in one file of the dump: each is written once, even if several extents contain it.
//!
//! Many waves of a capture may share one range of a file: without this a dump of some kilobytes would become terabytes.

use std::collections::BTreeMap;
use std::io::{self, Write as _};

use super::Written;
use super::sink::Sink;
use crate::capture::{Capture, Extent, distinct};

/// Bytes of one copy step.
const CHUNK: usize = 1 << 20;

/// The contents of one file of the dump.
#[derive(Debug, Default)]
pub(super) struct Stored {
    /// By store and first offset: the offset after the last byte, and the place in the file.
    runs: BTreeMap<(u32, u64), (u64, u64)>,
}

/// Maximum bytes of a file with those extents.
pub(super) fn size(extents: Vec<Extent>) -> u64 {
    distinct(extents).iter().map(|extent| extent.length).fold(0, u64::saturating_add)
}

impl Stored {
    /// Writes the captured bytes of those extents to the present file of the sink.
    pub(super) fn write(
        capture: &Capture,
        extents: Vec<Extent>,
        sink: &mut Sink<'_>,
        written: &mut Written,
    ) -> io::Result<Self> {
        let mut starts: Vec<(u32, u64)> =
            extents.iter().map(|extent| (extent.backing.0, extent.offset)).collect();
        starts.sort_unstable();
        let mut stored = Self::default();
        let mut buffer = Vec::new();
        for run in distinct(extents) {
            let mut next = Some(run.offset);
            while let Some(at) = next.filter(|at| *at < run.end()) {
                let end = stored.copy(
                    capture,
                    Extent { offset: at, length: run.end() - at, ..run },
                    &mut buffer,
                    sink,
                    written,
                )?;
                // After a gap, continue at the next start.
                let behind = starts.partition_point(|start| *start <= (run.backing.0, end));
                let start = starts.get(behind).filter(|(backing, _)| *backing == run.backing.0);
                next = start.map(|(_, start)| *start);
            }
        }
        Ok(stored)
    }

    /// Copies a run up to the first gap; returns its end.
    fn copy(
        &mut self,
        capture: &Capture,
        run: Extent,
        buffer: &mut Vec<u8>,
        sink: &mut Sink<'_>,
        written: &mut Written,
    ) -> io::Result<u64> {
        let Some(backing) = capture.backing(run.backing) else { return Ok(run.offset) };
        let position = sink.position();
        let mut at = run.offset;
        while at < run.end() {
            let want = usize::try_from(run.end() - at).unwrap_or(CHUNK).min(CHUNK);
            buffer.resize(want, 0);
            let got = match backing.read_at(at, buffer) {
                Ok(got) => got,
                Err(error) => {
                    written.lose(format_args!("{} at offset {at:#x}: {error}", backing.name()));
                    break;
                }
            };
            sink.write_all(buffer.get(..got).unwrap_or_default())?;
            at = at.saturating_add(got as u64);
            if got < want {
                break;
            }
        }
        if at > run.offset {
            self.runs.insert((run.backing.0, run.offset), (at, position));
        }
        Ok(at)
    }

    /// Place of an extent's first byte in the file, and the number of its bytes there.
    pub(super) fn find(&self, extent: &Extent) -> (u64, u64) {
        let before = self.runs.range(..=(extent.backing.0, extent.offset)).next_back();
        match before {
            Some(((backing, first), (end, position)))
                if *backing == extent.backing.0 && *end > extent.offset =>
            {
                (position + (extent.offset - first), extent.length.min(end - extent.offset))
            }
            _ => (0, 0),
        }
    }
}
