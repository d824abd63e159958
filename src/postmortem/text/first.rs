//! The first screen: the sentence of the fault, its evidence, the lanes, and the dump.

use std::fmt::Write as _;
use std::iter::once;

use super::super::model::{LaneMark, Model, ShownWave, ValueMark, VariableStrip};
use super::{COLUMNS, LABEL, MAX_LINES, Rows};
use crate::notation::{counted, lanes};
use crate::report::Style;
use crate::report::fold::{shortened, wrapped};
use crate::units::{LaneId, LaneSet};

/// Rows of the evidence on the first screen, and lines of each.
const FIRST: [&str; 5] = ["Access", "Address", "Report", "Barriers", "Waves"];
const FIRST_LINES: usize = 2;

/// The fault with its lanes: what fits a screen.
#[must_use]
pub fn first_screen(model: &Model, style: Style) -> String {
    let mut page = String::new();
    for line in wrapped(&model.fault.sentence, COLUMNS) {
        let line = if model.fault.cause.is_some() { style.alarm(&line) } else { style.heading(&line) };
        let _ = writeln!(page, "{line}");
    }
    if let Some(source) = &model.fault.source_line {
        let _ = writeln!(page, "    {}", shortened(source, COLUMNS - 4));
    }
    page.push('\n');
    let mut rows = Rows { page, style };
    for label in FIRST {
        let Some(evidence) = model.fault.evidence.iter().find(|evidence| evidence.label == label) else {
            continue;
        };
        // A report without a wave is the sentence.
        let texts = evidence.texts.iter().filter(|text| !model.fault.sentence.contains(text.as_str()));
        rows.add(label, cut(texts.flat_map(|text| wrapped(text, COLUMNS - LABEL))));
    }
    if let Some(wave) = &model.wave {
        lane_rows(wave, &mut rows);
        for variable in wave.variables.iter().filter(|variable| variable.is_on_line).take(3) {
            rows.add("Value", brief(variable).into_iter());
        }
    }
    let signatures: Vec<String> =
        model.signatures.iter().map(|of| format!("{}  {}", of.id, of.text)).collect();
    match &signatures[..] {
        [only] => rows.add("Signature", cut(wrapped(only, COLUMNS - LABEL).into_iter())),
        several => {
            let lines = several.iter().take(MAX_LINES).map(|text| shortened(text, COLUMNS - LABEL));
            let more = several.len().saturating_sub(MAX_LINES);
            rows.add("Signature", lines.chain((more > 0).then(|| format!("and {more} more"))));
        }
    }
    rows.add("Dump", wrapped(&origin(model), COLUMNS - LABEL).into_iter());
    rows.add("Missing", model.missing.iter().take(2).flat_map(|text| wrapped(text, COLUMNS - LABEL)));
    rows.page
}

/// The first lines. If there are more, the last one ends behind its last part, `; `, or before its last words.
fn cut(mut lines: impl Iterator<Item = String>) -> impl Iterator<Item = String> {
    const MORE: &str = " ...";
    let mut first: Vec<String> = lines.by_ref().take(FIRST_LINES).collect();
    if let Some(last) = first.last_mut().filter(|_| lines.next().is_some()) {
        let fits = |end: &usize| {
            last.get(..*end).is_some_and(|text| text.chars().count() + MORE.len() <= COLUMNS - LABEL)
        };
        let end = last.rfind("; ").map(|at| at + 1).filter(fits);
        let end =
            end.or_else(|| once(last.len()).chain(last.rmatch_indices(' ').map(|(at, _)| at)).find(fits));
        last.truncate(end.unwrap_or(0));
        last.push_str(MORE);
    }
    first.into_iter()
}

/// `crash.zip (lanescope dump 1), gfx90a, 8 waves of gfx90a:wave64`
fn origin(model: &Model) -> String {
    let of = &model.dump;
    once(format!("{} ({})", of.name, of.format))
        .chain(of.kinds.iter().cloned())
        .collect::<Vec<_>>()
        .join(", ")
}

/// The letter of a lane's state in a strip of text, and its words.
#[must_use]
pub fn letter(mark: LaneMark) -> (char, &'static str) {
    match mark {
        LaneMark::Faulting => ('X', "faulting"),
        LaneMark::PossiblyFaulting => ('X', "possible"),
        LaneMark::UnknownAddress => ('?', "unknown address"),
        LaneMark::Active => ('+', "active"),
        LaneMark::Inactive => ('.', "inactive"),
        LaneMark::NotEntered => (',', "not entered"),
        LaneMark::Unused => ('-', "unused"),
        LaneMark::Unknown => ('~', "unknown state"),
    }
}

/// The lanes of each state in the order of their first lanes: `faulting: 24`.
#[must_use]
pub fn legend(wave: &ShownWave) -> Vec<(LaneMark, String)> {
    let mut marks: Vec<(LaneMark, LaneSet)> = Vec::new();
    for cell in &wave.lanes {
        let lane = LaneSet::one(LaneId(cell.lane));
        match marks.iter_mut().find(|(mark, _)| *mark == cell.state) {
            Some((_, lanes)) => lanes.0 |= lane.0,
            None => marks.push((cell.state, lane)),
        }
    }
    let part =
        |(mark, set): (LaneMark, LaneSet)| (mark, format!("{}: {}", letter(mark).1, lanes::ranges(set)));
    marks.into_iter().map(part).collect()
}

/// Maximum number of ranges of lanes in the legend of the first screen.
const MAX_RANGES: usize = 3;

fn lane_rows(wave: &ShownWave, rows: &mut Rows) {
    let strip: String = wave.lanes.iter().map(|cell| letter(cell.state).0).collect();
    let count = |mark: LaneMark| wave.lanes.iter().filter(|cell| cell.state == mark).count();
    let short = |(mark, words): (LaneMark, String)| match words.matches(", ").count() {
        0..MAX_RANGES => format!("{} {words}", letter(mark).0),
        _ => format!("{} {}: {}", letter(mark).0, letter(mark).1, counted(count(mark), "lane")),
    };
    let legend: Vec<String> = legend(wave).into_iter().map(short).collect();
    let legend = wrapped(&legend.join("   "), COLUMNS - LABEL);
    rows.add("Lanes", once(strip).chain(legend));
}

/// `i = 1000..1024 (+1)  lanes 0-24`
fn brief(variable: &VariableStrip) -> Option<String> {
    let rule = variable.rules.iter().find(|rule| rule.state != ValueMark::Inactive)?;
    let text = rule_text(rule.state, rule.text.as_deref());
    Some(shortened(&format!("{} = {text}  lanes {}", variable.name, rule.lanes), COLUMNS - LABEL))
}

/// A rule, or the state of a missing value.
#[must_use]
pub fn rule_text(state: ValueMark, text: Option<&str>) -> String {
    let reason = text.map_or_else(String::new, |reason| format!(" [{reason}]"));
    let absent = |name: &str| format!("<{name}>{reason}");
    match state {
        ValueMark::NotCaptured => absent("not captured"),
        ValueMark::OptimizedOut => absent("optimized out"),
        ValueMark::Error => absent("error"),
        ValueMark::LeftOut => absent("left out"),
        ValueMark::Unused => absent("unused"),
        _ => text.unwrap_or_default().to_owned(),
    }
}
