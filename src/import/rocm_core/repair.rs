//! Repairs damaged control stacks: contradictory flags, and the waves of records that do not fill their area.

use super::area::Area;
use super::block::{Block, BlockReader, Record, Stack};
use super::doubt::Doubt;
use crate::arch::save_area::SaveArea;

/// Maximum number of flag contradictions for a repair: one damaged dword causes two.
const MAX_BREAKS: usize = 4;

/// Ordinals of the blocks whose first flag contradicts the last flag of the block before; also the number of blocks if
/// the last one leaves its work-group open.
pub(super) fn breaks(row: &SaveArea, blocks: &[Block]) -> Vec<usize> {
    let mut is_open = false;
    let mut found = Vec::new();
    for (ordinal, block) in blocks.iter().enumerate() {
        let (is_first, is_last) = flags(row, block);
        if is_first == is_open {
            found.push(ordinal);
        }
        is_open = !is_last;
    }
    if is_open {
        found.push(blocks.len());
    }
    found
}

/// Marks the work-groups on both sides of a contradiction of flags.
pub(super) fn doubt_groups(row: &SaveArea, blocks: &mut [Block], at: usize) {
    let (before, behind) = blocks.split_at_mut(at.min(blocks.len()));
    for block in before.iter_mut().rev() {
        block.doubt.get_or_insert(Doubt::Flags);
        if flags(row, block).0 {
            break;
        }
    }
    for block in behind {
        block.doubt.get_or_insert(Doubt::Flags);
        if flags(row, block).1 {
            break;
        }
    }
}

/// First and last flag of a wave.
pub(super) fn flags(row: &SaveArea, block: &Block) -> (bool, bool) {
    (row.wave.first.of(block.word) != 0, row.wave.last.of(block.word) != 0)
}

/// The readings of an area with the flags of one wave restored from its neighbours that fill the area without
/// contradictions. `blocks`: those of the unchanged records.
pub(super) fn with_flags(row: &SaveArea, records: &[u32], area: &Area, blocks: &[Block]) -> Vec<Vec<Block>> {
    let mut found: Vec<Vec<Block>> = Vec::new();
    for at in breaks(row, blocks).into_iter().take(MAX_BREAKS) {
        for ordinal in [Some(at), at.checked_sub(1)].into_iter().flatten() {
            let Some(block) = blocks.get(ordinal) else { continue };
            let before = ordinal.checked_sub(1).and_then(|before| blocks.get(before));
            let first = before.is_none_or(|block| flags(row, block).1);
            let last = blocks.get(ordinal + 1).is_none_or(|block| flags(row, block).0);
            let mut restored = records.to_vec();
            let Some(word) = restored.get_mut(block.record) else { continue };
            *word = row.wave.last.with(row.wave.first.with(*word, first.into()), last.into());
            let Some(mut blocks) = BlockReader::closed(row, &restored, area) else { continue };
            if let Some(block) = blocks.get_mut(ordinal) {
                block.doubt = Some(Doubt::Record);
            }
            if breaks(row, &blocks).is_empty() && !found.contains(&blocks) {
                found.push(blocks);
            }
        }
    }
    found
}

/// The remaining waves of an area whose records do not fill it: those at its ends, while `is_sound` accepts their
/// blocks.
///
/// Records before the damage place their blocks from the area's end down, records after it from its start up. A
/// neighbour confirms a block: only the block below confirms a size from the end, and only the block above the LDS of a
/// block from the start. Records that fit from both ends have no certain end.
pub(super) fn remains(
    row: &SaveArea,
    records: &[u32],
    area: &Area,
    is_sound: impl Fn(&Block) -> bool,
) -> Remains {
    let waves: Vec<Record> = Stack::new(row, records).collect();
    let count = waves.len();
    let is_inside = |block: &Block| block.bottom >= area.begin && block.top <= area.end;
    let down =
        BlockReader::new(row, records, area.end).take_while(|block| is_inside(block) && is_sound(block));
    let mut upper: Vec<Block> = down.collect();
    let mut lower = Vec::new();
    let mut reached = area.begin;
    for record in waves.iter().rev() {
        let Some((block, next)) = record.above(row, reached) else { break };
        if !is_inside(&block) || !is_sound(&block) {
            break;
        }
        reached = next;
        lower.push(block);
    }
    lower.reverse();
    // Counts of records: fitting from above; before those from below; uncontradicted by blocks from below.
    let (above, below) = (upper.len(), count - lower.len());
    let clear = upper.iter().take_while(|block| block.bottom >= reached).count();
    let is_confirmed =
        |ordinal: usize| (ordinal + 1 < clear && ordinal + 1 < below) || (ordinal > below && ordinal > above);
    upper.truncate(below);
    // Blocks from the start confirm their own size.
    if let Some(first) = lower.first() {
        upper.retain(|block| block.bottom >= first.top);
    }
    if let Some(first) = lower.first_mut() {
        first.follows_gap = true;
    }
    let mut blocks: Vec<Block> = Vec::with_capacity(upper.len() + lower.len());
    for (ordinal, mut block) in (0..).zip(upper).chain((below..).zip(lower)) {
        block.doubt = (!is_confirmed(ordinal)).then_some(Doubt::Block);
        blocks.push(block);
    }
    Remains { blocks, listed: count }
}

/// Waves of a damaged area.
#[derive(Debug)]
pub(super) struct Remains {
    /// Their blocks, in the order of the control stack.
    pub(super) blocks: Vec<Block>,
    /// Number of waves in the damaged records.
    pub(super) listed: usize,
}

#[cfg(test)]
#[path = "tests/repair.rs"]
mod tests;
