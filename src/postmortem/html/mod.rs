//! A report as one HTML file: no request, readable without scripts, in black and white, and from the keyboard.
//!
//! askama's templates in `templates/report/` escape every text. Style and script are constants, and the policy of the
//! page allows exactly their hashes: markup in a name of the dump could not run even without escaping. Pictures are
//! inline SVG, whose shapes differ without colour.

mod memory;
mod strips;

use askama::Template;

use super::RenderError;
use super::model::{Barrier, FrameRow, LaneMark, Model, ShownWave, ValueMark, VariableStrip, WaveRow};
use super::text;
use crate::notation::{counted, list};
use memory::Map;
use strips::{Strip, lane_strip, value_strip};

/// The style of the page, and its hash for the page's policy. `tests/suite/report/forms.rs` checks both hashes.
pub const STYLE: &str = include_str!("../../../templates/report/report.css");
/// SHA-256 of [`STYLE`] in base64.
pub const STYLE_HASH: &str = "9IeenoC62F8ihFCUAK9C4o78HVa1+UJ5N+fRrdSDiwE=";
/// The script of the page: the lane cursor, and the table's order and filter.
pub const SCRIPT: &str = include_str!("../../../templates/report/report.js");
/// SHA-256 of [`SCRIPT`] in base64.
pub const SCRIPT_HASH: &str = "I6/m+RbRT9OGHj97xS59fgeXbo2B7Qo82/m42t1gV8o=";

/// Number of waves from which the table has a frame of its own to scroll in.
const MANY_WAVES: usize = 40;

/// Maximum number of waves of a work-group in a picture.
const MAX_WAITS: usize = 64;

/// The report as one HTML file.
///
/// # Errors
/// A formatting error of the template engine.
pub fn html(model: &Model) -> Result<String, RenderError> {
    let wave = model.wave.as_ref();
    let has_value = |of: &VariableStrip| of.is_on_line || of.lanes.iter().any(|cell| cell.value.is_some());
    let (variables, absent): (Vec<_>, Vec<_>) =
        wave.map(strips_of).unwrap_or_default().into_iter().partition(|(of, _)| has_value(of));
    let page = Page {
        model,
        style: STYLE,
        style_hash: STYLE_HASH,
        script: SCRIPT,
        script_hash: SCRIPT_HASH,
        lanes: wave.map(lane_strip),
        legend: wave.map(text::legend).unwrap_or_default(),
        legend_of_values: legend_of_values(&variables, &absent),
        variables,
        absent,
        maps: model.memory.iter().map(Map::of).collect(),
        has_waits: model.waves.iter().any(|row| row.wait.is_some()),
        has_many_waves: model.waves.len() > MANY_WAVES,
    };
    Ok(page.render()?)
}

/// The strips of a wave's variables.
fn strips_of(wave: &ShownWave) -> Vec<(&VariableStrip, Strip)> {
    wave.variables.iter().map(|of| (of, value_strip(of, wave))).collect()
}

/// The whole page.
#[derive(Template)]
#[template(path = "report/report.html")]
struct Page<'m> {
    model: &'m Model,
    style: &'static str,
    style_hash: &'static str,
    script: &'static str,
    script_hash: &'static str,
    lanes: Option<Strip>,
    legend: Vec<(LaneMark, String)>,
    variables: Vec<(&'m VariableStrip, Strip)>,
    /// Variables that no lane has a value of, but those of the line.
    absent: Vec<(&'m VariableStrip, Strip)>,
    legend_of_values: Vec<(&'static str, &'static str)>,
    maps: Vec<Map<'m>>,
    has_waits: bool,
    has_many_waves: bool,
}

impl Page<'_> {
    /// The waves in the order of a reader without scripts: faults first.
    fn rows(&self) -> impl Iterator<Item = &WaveRow> {
        let of = |faulted: bool| self.model.waves.iter().filter(move |row| row.faulted == faulted);
        of(true).chain(of(false))
    }
}

/// The shapes of the values of some strips, with their words.
fn legend_of_values(
    variables: &[(&VariableStrip, Strip)],
    absent: &[(&VariableStrip, Strip)],
) -> Vec<(&'static str, &'static str)> {
    let all = [
        ("vk", "constant"),
        ("l2", "linear in the lane"),
        ("vo", "against the rule"),
        ("v2", "without a rule"),
        ("si", "inactive lane"),
        ("vn", "not captured"),
        ("vz", "optimized out"),
        ("ve", "error"),
        ("vw", "left out"),
    ];
    let rules = || variables.iter().chain(absent).flat_map(|(of, _)| &of.rules);
    let is_used = |shape: &str| rules().any(|rule| strips::shape_of_rule(&rule.state) == shape);
    all.into_iter().filter(|(shape, _)| is_used(shape)).collect()
}

/// `3`, `?`
fn known<T: ToString>(value: &Option<T>) -> String {
    value.as_ref().map_or("?".to_owned(), ToString::to_string)
}

/// `and 3 more waves`
fn more(count: &usize, noun: &str) -> String {
    format!("and {}", counted(*count, noun))
}

/// `saxpy at saxpy.hip:54`: a frame without its number, which the list has.
fn frame_words(of: &FrameRow) -> String {
    let words = text::frame(of);
    words.split_once(' ').map_or(String::new(), |(_, words)| words.trim().to_owned())
}

/// Ids as ranges: `1-3, 7`.
fn ids(of: &[u32]) -> String {
    list(of.iter().copied())
}

/// The waves of a work-group as shapes with positions: those at the barrier, then the missing ones.
fn waits(of: &Barrier) -> Vec<(&'static str, usize, String)> {
    let waiting = of.waiting.iter().map(|id| ("sa", format!("wave {id}: at the barrier")));
    let missing = of.missing.iter().map(|id| ("sx", format!("wave {id}: missing")));
    let shapes = waiting.chain(missing).take(MAX_WAITS).enumerate();
    shapes.map(|(index, (shape, title))| (shape, index * 10, title)).collect()
}
