//! Strips of lanes: cells of 10 by 20 units in blocks of 16 lanes, which a narrow page folds.

use super::super::model::{LaneMark, ShownWave, ValueCell, ValueMark, VariableStrip};
use super::super::text;

/// Lanes of a block.
const BLOCK: usize = 16;
/// Width of a cell.
const CELL: usize = 10;

/// A strip.
pub(super) struct Strip {
    /// Its name for the lane cursor.
    pub(super) name: String,
    /// Number of the last lane.
    pub(super) last: usize,
    /// The blocks.
    pub(super) blocks: Vec<Vec<Cell>>,
}

/// A cell of a strip.
pub(super) struct Cell {
    /// Position in the block.
    pub(super) x: usize,
    /// Id of the shape.
    pub(super) shape: &'static str,
    /// `lane 24: 1024`
    pub(super) title: String,
}

fn strip(name: String, cells: impl Iterator<Item = (&'static str, String)>) -> Strip {
    let mut blocks: Vec<Vec<Cell>> = Vec::new();
    let mut last = 0;
    for (lane, (shape, words)) in cells.enumerate() {
        if lane % BLOCK == 0 {
            blocks.push(Vec::with_capacity(BLOCK));
        }
        if let Some(block) = blocks.last_mut() {
            block.push(Cell { x: lane % BLOCK * CELL, shape, title: format!("lane {lane}: {words}") });
        }
        last = lane;
    }
    Strip { name, last, blocks }
}

/// The lanes of a wave by state.
pub(super) fn lane_strip(wave: &ShownWave) -> Strip {
    let cells = wave.lanes.iter().map(|cell| {
        let (_, words) = text::letter(cell.state);
        let item = cell.work_item.map_or(String::new(), |[x, y, z]| format!(", work-item ({x},{y},{z})"));
        let line = cell.line.map_or(String::new(), |line| format!(", line {line}"));
        (lane_shape(&cell.state), format!("{words}{item}{line}"))
    });
    strip("lanes".to_owned(), cells)
}

/// The shape of a lane's state.
pub(super) fn lane_shape(mark: &LaneMark) -> &'static str {
    match mark {
        LaneMark::Faulting | LaneMark::PossiblyFaulting => "sx",
        LaneMark::UnknownAddress => "sq",
        LaneMark::Active => "sa",
        LaneMark::Inactive => "si",
        LaneMark::NotEntered => "sj",
        LaneMark::Unused => "su",
        LaneMark::Unknown => "st",
    }
}

/// The values of a variable.
pub(super) fn value_strip(of: &VariableStrip, wave: &ShownWave) -> Strip {
    let cells = of.lanes.iter().zip(&wave.lanes).map(|(cell, lane)| {
        let inactive = if lane.state == LaneMark::Inactive { " (inactive)" } else { "" };
        let words = match cell.state {
            ValueMark::Inactive => format!("{} (inactive)", cell.value.as_deref().unwrap_or_default()),
            ValueMark::Unused => "unused".to_owned(),
            state => text::rule_text(state, cell.value.as_deref()) + inactive,
        };
        (value_shape(cell), words)
    });
    strip(of.name.clone(), cells)
}

/// The shape of a rule's state.
pub(super) fn shape_of_rule(state: &ValueMark) -> &'static str {
    value_shape(&ValueCell { state: *state, shade: 2, value: None })
}

fn value_shape(cell: &ValueCell) -> &'static str {
    const LINEAR: [&str; 4] = ["l0", "l1", "l2", "l3"];
    const VARIED: [&str; 4] = ["v0", "v1", "v2", "v3"];
    let shade = |of: [&'static str; 4]| of.get(usize::from(cell.shade)).copied().unwrap_or("v3");
    match cell.state {
        ValueMark::Constant => "vk",
        ValueMark::Linear => shade(LINEAR),
        ValueMark::Varied => shade(VARIED),
        ValueMark::Outlier => "vo",
        ValueMark::Inactive => "si",
        ValueMark::NotCaptured => "vn",
        ValueMark::OptimizedOut => "vz",
        ValueMark::Error => "ve",
        ValueMark::Unused => "su",
        ValueMark::LeftOut => "vw",
    }
}
