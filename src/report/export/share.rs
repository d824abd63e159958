//! Limit of the captured state in a document: waves can claim one range of a file ten thousand times.

use std::collections::HashMap;

use crate::capture::{Capture, Extent, MemoryMap, RegisterBlock, Wave, distinct};
use crate::report::stack::Frame;
use crate::units::WaveId;

/// Limit of captured bytes: this multiple of the claims of waves and work-groups, each byte once, plus [`MORE`].
const MAX_CLAIMED: u64 = 2;
const MORE: u64 = 16 << 20;

/// Bytes of frames in a document; each wave adds [`FRAMES_OF_WAVE`]. Further stacks have only their innermost frames.
const MAX_FRAMES: u64 = 64 << 20;
const FRAMES_OF_WAVE: u64 = 1 << 11;
/// Number of frames that each stack has.
const FIRST_FRAMES: usize = 8;

/// Remaining capacity of a document, in bytes.
#[derive(Debug)]
pub(super) struct Share {
    /// Captured bytes.
    captured: u64,
    /// Bytes of frames.
    frames: u64,
}

impl Share {
    /// The limit of a document over all work-groups and those waves.
    pub(super) fn of(capture: &Capture, waves: &[WaveId]) -> Self {
        let mut extents = Vec::new();
        let mut layouts = HashMap::new();
        let lds = capture.workgroups.iter().map(|group| &group.lds);
        let waves = || waves.iter().filter_map(|wave| capture.wave(*wave));
        for map in lds.chain(waves().map(|wave| &wave.private)) {
            extents.extend(map.segments().iter().map(|segment| segment.extent));
        }
        for registers in waves().map(|wave| &wave.registers) {
            extents.extend(registers.own.iter().map(|(backing, block)| Extent {
                backing: *backing,
                offset: block.offset,
                length: length(block),
            }));
            if let (Some(image), Some(layout)) = (registers.image, &registers.layout) {
                // Waves share layouts: the extent of each is computed once.
                let end = layouts.entry(layout.as_ptr()).or_insert_with(|| {
                    layout.iter().map(|block| block.offset.saturating_add(length(block))).max().unwrap_or(0)
                });
                extents.push(Extent { length: image.length.min(*end), ..image });
            }
        }
        let bytes = distinct(extents).iter().map(|extent| extent.length).fold(0, u64::saturating_add);
        Self { captured: bytes.saturating_mul(MAX_CLAIMED).saturating_add(MORE), frames: MAX_FRAMES }
    }

    /// Takes captured bytes from the limit.
    ///
    /// # Errors
    /// The number, if fewer bytes are left.
    pub(super) fn take(&mut self, bytes: u64) -> Result<(), u64> {
        self.captured = self.captured.checked_sub(bytes).ok_or(bytes)?;
        Ok(())
    }

    /// Leaves out the outer frames of the next wave that the limit has no capacity for; returns their number.
    pub(super) fn cut_frames(&mut self, frames: &mut Vec<Frame>) -> usize {
        self.frames = self.frames.saturating_add(FRAMES_OF_WAVE);
        let mut left = self.frames;
        let fits = frames.iter().take_while(|frame| {
            let text = serde_json::to_string(frame).unwrap_or_default();
            let rest = left.checked_sub(text.len() as u64);
            left = rest.unwrap_or(left);
            rest.is_some()
        });
        let (count, all) = (fits.count(), frames.len());
        self.frames = left;
        frames.truncate(count.max(FIRST_FRAMES));
        all - frames.len()
    }
}

/// Number of bytes that a map holds.
pub(super) fn bytes_of(map: &MemoryMap) -> u64 {
    map.captured()
}

/// Number of bytes of a wave's vector registers.
pub(super) fn registers_of(wave: &Wave) -> u64 {
    let is_vector =
        |block: &&RegisterBlock| wave.kind.register(block.first).is_some_and(|register| register.is_vector());
    let layout = wave.registers.layout.iter().flat_map(|layout| layout.iter());
    let own = wave.registers.own.iter().map(|(_, block)| block);
    let image = wave.registers.image.map_or(0, |image| image.length);
    let of_image = layout.filter(is_vector).map(length).fold(0, u64::saturating_add).min(image);
    own.filter(is_vector).map(length).fold(of_image, u64::saturating_add)
}

fn length(block: &RegisterBlock) -> u64 {
    u64::from(block.count) * u64::from(block.width)
}
