//! The text form of differences: bounded, with a count of the items beyond the bounds.

use std::fmt::Write as _;
use std::io::Write;

use super::wave::{
    DifferentRegister, DifferentVariable, FrameDifference, LaneDifference, UnprintedDifference,
    WaveDifference,
};
use super::{Alone, Diff, DiffError, Lacks, LeftOut};
use crate::notation::{counted, plural, range, ranges};
use crate::report::text::lane_list;
use crate::report::{Style, stack};
use crate::units::LaneSet;

/// Maximum of printed items of each list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Most {
    items: usize,
    lanes: usize,
}

const FEW: Most = Most { items: 20, lanes: 4 };
const EVERYTHING: Most = Most { items: usize::MAX, lanes: usize::MAX };

/// Writes the differences; `all`: without bounds.
///
/// # Errors
/// The errors of [`Diff::next_difference`], and [`DiffError::Output`].
pub(crate) fn text(diff: &mut Diff, all: bool, style: Style, out: &mut dyn Write) -> Result<(), DiffError> {
    let most = if all { EVERYTHING } else { FEW };
    let mut head = String::new();
    let [a, b] = &diff.names;
    let _ = writeln!(head, "{}\n{}", style.heading(&format!("--- {a}")), style.heading(&format!("+++ {b}")));
    for (mark, (name, alone)) in ["-", "+"].into_iter().zip(diff.names.iter().zip(&diff.alone)) {
        list(&mut head, alone, most.items, |text, alone| lonely(text, mark, name, alone, style));
    }
    let mut print = |text: &str| out.write_all(style.folded(text).as_bytes());
    if diff.alone.iter().any(|alone| !alone.is_empty()) {
        print(&std::mem::take(&mut head))?;
    }
    while let Some(pair) = diff.next_difference()? {
        print(&std::mem::take(&mut head))?;
        if diff.differing <= most.items {
            let mut text = String::new();
            wave(&mut text, &pair, most, style);
            print(&text)?;
        }
    }
    let mut text = String::new();
    if let Some(more) = diff.differing.checked_sub(most.items).filter(|more| *more > 0) {
        let _ = writeln!(text, "... and {more} more (--all shows all)");
    }
    let pairs = counted(diff.pairs, "pair");
    let _ = match (diff.is_same(), diff.pairs, diff.differing) {
        (true, ..) => writeln!(text, "No differences in {pairs}."),
        (false, 0, _) => {
            writeln!(text, "No wave of one has a counterpart in the other: nothing was compared.")
        }
        (false, _, differing) => writeln!(text, "{differing} of {pairs} compared differ."),
    };
    let LeftOut { variables, frames, unknown, pairs } = diff.left_out;
    if unknown > 0 {
        let frames = counted(unknown as usize, "frame");
        let _ = writeln!(text, "Not compared: the variables of {frames}, which neither dump knows.");
    }
    let pairs = counted(pairs, "pair");
    if frames > 0 {
        let frames = counted(frames as usize, "frame");
        let _ = writeln!(
            text,
            "Left out: the variables of {frames}, in {pairs}: their functions do not fit memory together. Compare single \
             pairs with --wave"
        );
    }
    if variables > 0 {
        let (variables, limit) = (counted(variables as usize, "variable"), diff.values);
        let _ = writeln!(
            text,
            "Left out: {variables} of {pairs}, beyond {limit} values of variables. Raise the bound with --most-values, or \
             compare single pairs with --wave"
        );
    }
    Ok(print(&text)?)
}

/// Items up to a bound, and the number of items beyond it.
fn list<T>(text: &mut String, items: &[T], most: usize, mut each: impl FnMut(&mut String, &T)) {
    for item in items.iter().take(most) {
        each(text, item);
    }
    if items.len() > most {
        let _ = writeln!(text, "... and {} more (--all shows all)", items.len() - most);
    }
}

fn lonely(text: &mut String, mark: &str, name: &str, alone: &Alone, style: Style) {
    let why = match &alone.lacks {
        Lacks::Kind(kind) => format!("of {kind}, a kind of wave that the other dump lacks"),
        Lacks::Stack => "with a stack that the other dump lacks".to_owned(),
        Lacks::Counterpart => "without a counterpart in the other dump".to_owned(),
    };
    let head =
        format!("{mark} {} of {name} {why} ({})", counted(alone.waves.len(), "wave"), ids(&alone.waves));
    let _ = writeln!(text, "{}", style.heading(&head));
    text.push_str(&stack::text(&alone.stack, style));
}

fn wave(text: &mut String, pair: &WaveDifference, most: Most, style: Style) {
    let [a, b] = pair.ids;
    let which = if a == b { format!("wave {a}") } else { format!("wave {a} and wave {b}") };
    let function = pair.function.as_deref().unwrap_or("an unnamed function");
    let _ = writeln!(text, "{}", style.heading(&format!("{which}, in {function}:")));
    let doubts = match &pair.unconfirmed {
        [Some(first), Some(second)] if first == second => vec![("both dumps", first)],
        [first, second] => {
            let each = [("the first dump", first), ("the second dump", second)];
            each.into_iter().filter_map(|(dump, reason)| Some((dump, reason.as_ref()?))).collect()
        }
    };
    for (dump, reason) in doubts {
        let _ = writeln!(text, "  {}", style.alarm(&format!("unconfirmed in {dump}: {reason}")));
    }
    if let Some(stop) = &pair.stop {
        let words = stop.each_ref().map(|stop| match stop {
            None => "not captured".to_owned(),
            Some(reasons) if reasons.is_empty() => "running".to_owned(),
            Some(reasons) => reasons.join(", "),
        });
        let _ = writeln!(text, "  stopped for: {}", arrow(&words));
    }
    let mut registers = String::new();
    list(&mut registers, &pair.registers, most.items, |text, of| register(text, of, most.lanes));
    indent(text, &registers, 2);
    for frame in &pair.frames {
        frame_lines(text, frame, most);
    }
}

fn register(text: &mut String, of: &DifferentRegister, most: usize) {
    if let (false, [only]) = (of.is_vector, of.lanes.as_slice()) {
        let _ = writeln!(text, "{}: {}", of.name, arrow(&only.values.each_ref().map(captured)));
        return;
    }
    let count = counted(of.lanes.len(), "lane");
    let verb = plural(of.lanes.len(), "differs", "differ");
    let list = lane_list(of.lanes.iter().map(|lane| lane.lane));
    let list = list.split_once(' ').map_or("", |(_, list)| list);
    let _ = writeln!(text, "{}: {count} {verb}: {list}", of.name);
    lanes(text, &of.lanes, most, captured);
}

/// Merges neighbours with the same two values.
fn lanes(
    text: &mut String,
    each: &[LaneDifference<Option<String>>],
    most: usize,
    words: fn(&Option<String>) -> String,
) {
    let is_next = |one: &LaneDifference<_>, next: &LaneDifference<_>| {
        one.values == next.values && u16::from(one.lane.0) + 1 == u16::from(next.lane.0)
    };
    let runs: Vec<&[LaneDifference<Option<String>>]> = each.chunk_by(is_next).collect();
    list(text, &runs, most, |text, run| {
        let Some(first) = run.first() else { return };
        let which = lane_list(run.iter().map(|lane| lane.lane));
        let _ = writeln!(text, "  {which}: {}", arrow(&first.values.each_ref().map(words)));
    });
}

fn frame_lines(text: &mut String, frame: &FrameDifference, most: Most) {
    let head = format!("frame {}", frame.frame);
    if let Some(functions) = &frame.functions {
        let words = functions.each_ref().map(|name| name.clone().unwrap_or_else(|| "no function".to_owned()));
        let _ = writeln!(text, "  {head} is in: {}", arrow(&words));
    }
    if let Some(lines) = &frame.lines {
        let words = lines.each_ref().map(|line| line.clone().unwrap_or_else(|| "no line".to_owned()));
        let _ = writeln!(text, "  {head} is at: {}", arrow(&words));
    }
    if let Some(problems) = &frame.problems {
        let words = problems.each_ref().map(|why| why.clone().unwrap_or_else(|| "known".to_owned()));
        let _ = writeln!(text, "  variables of {head}: {}", arrow(&words));
    }
    let mut variables = String::new();
    list(&mut variables, &frame.variables, most.items, |text, of| variable(text, of, most.lanes));
    if !variables.is_empty() {
        let _ = writeln!(text, "  variables of {head}:");
        indent(text, &variables, 4);
    }
}

fn variable(text: &mut String, of: &DifferentVariable, most: usize) {
    let _ = write!(text, "{} {}{}:", of.type_name, of.name, of.inferred.suffix());
    let unprinted = of.unprinted.as_ref().map_or(LaneSet::EMPTY, |of| of.lanes);
    let printed = of.lanes.iter().filter(|lane| !unprinted.contains(lane.lane)).cloned();
    let printed: Vec<_> = printed.collect();
    let fold = of.unprinted.as_ref().map(|UnprintedDifference { lanes, offset, bytes }| {
        let which = lane_list(lanes.iter());
        format!("{which}: same text, other bytes; byte {offset} of the first: {}", arrow(bytes))
    });
    match fold {
        Some(fold) if printed.is_empty() => _ = writeln!(text, " {fold}"),
        fold => {
            text.push('\n');
            lanes(text, &printed, most, |value| {
                value.clone().unwrap_or_else(|| "no such variable".to_owned())
            });
            text.extend(fold.map(|fold| format!("  {fold}\n")));
        }
    }
}

fn captured(value: &Option<String>) -> String {
    value.clone().unwrap_or_else(|| "not captured".to_owned())
}

fn arrow([a, b]: &[String; 2]) -> String {
    format!("{a} -> {b}")
}

fn indent(text: &mut String, lines: &str, by: usize) {
    for line in lines.lines() {
        let _ = writeln!(text, "{:by$}{line}", "");
    }
}

/// `waves 1-3, 7`; a long list is cut.
fn ids(ids: &[u32]) -> String {
    let runs = ranges(ids.iter().copied());
    let shown: Vec<String> = runs.iter().take(FEW.items).map(range).collect();
    let more = if runs.len() > FEW.items { ", ..." } else { "" };
    format!("{} {}{more}", plural(ids.len(), "wave", "waves"), shown.join(", "))
}
