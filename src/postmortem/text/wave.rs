//! The wave of the fault: its variables, source, instructions, memory and stack.

use std::fmt::Write as _;

use super::super::model::{FrameRow, MemoryPicture, ShownWave, ValueMark, VariableStrip};
use super::{COLUMNS, MAX_LINES, fold, note, rule_text};
use crate::notation::counted;
use crate::report::fold::{shortened, wrapped};
use crate::session::Scope;

/// Maximum number of variables, and of frames of a stack.
const MAX_VARIABLES: usize = 24;
const MAX_FRAMES: usize = 6;

pub(super) fn variables(wave: &ShownWave) -> String {
    let mut text = String::new();
    let has_value = |of: &&VariableStrip| of.is_on_line || of.lanes.iter().any(|cell| cell.value.is_some());
    for variable in wave.variables.iter().filter(has_value).take(MAX_VARIABLES) {
        let mark = if variable.is_on_line { "*" } else { " " };
        let scope = match variable.scope {
            Scope::Local => String::new(),
            scope => format!("{} ", scope.name()),
        };
        let inferred = variable.inferred.as_ref().map_or(String::new(), |words| format!(" ({words})"));
        let head = format!("{scope}{} {}", variable.type_name, variable.name);
        let is_short = head.chars().count() + inferred.chars().count() + 2 <= COLUMNS;
        let inferred = if is_short { inferred } else { format!("\n     {inferred}") };
        let head = match head.chars().count() + 2 <= COLUMNS {
            true => head,
            false => wrapped(&head, COLUMNS - 6).join("\n      "),
        };
        let _ = writeln!(text, "{mark} {head}{inferred}");
        for rule in &variable.rules {
            let inactive = if rule.state == ValueMark::Inactive { " (inactive)" } else { "" };
            let value = rule_text(rule.state, rule.text.as_deref());
            let outlier = if rule.state == ValueMark::Outlier { "  <- differs" } else { "" };
            // The value stays readable behind a long list of lanes.
            let lines = wrapped(&format!("lanes {}{inactive}: {value}{outlier}", rule.lanes), COLUMNS - 8);
            for (index, line) in lines.iter().take(MAX_LINES).enumerate() {
                let indent = if index == 0 { 4 } else { 8 };
                let more = if index + 1 == MAX_LINES && lines.len() > MAX_LINES { " ..." } else { "" };
                let _ =
                    writeln!(text, "{:indent$}{}", "", shortened(&format!("{line}{more}"), COLUMNS - indent));
            }
        }
    }
    let absent: Vec<&str> = wave.variables.iter().filter(|of| !has_value(of)).map(|of| &*of.name).collect();
    if !absent.is_empty() {
        let words = format!("without a value: {}", absent.join(", "));
        text.extend(wrapped(&words, COLUMNS - 2).iter().map(|line| format!("  {line}\n")));
    }
    let with_value = wave.variables.len() - absent.len();
    let more = with_value.saturating_sub(MAX_VARIABLES) + wave.variables_left_out;
    note(&mut text, more, "more variable");
    if let Some(problem) = &wave.variables_problem {
        fold(&mut text, problem, 2, 4);
    }
    text
}

pub(super) fn source(wave: &ShownWave) -> String {
    let Some(source) = &wave.source else { return String::new() };
    let mut text = format!("  {}\n", source.file);
    for line in &source.lines {
        let mark = if line.is_current { "=>" } else { "  " };
        let waves = if line.waves > 0 { counted(line.waves, "wave") } else { String::new() };
        let line = format!("{mark} {:>5}  {waves:>9}  {}", line.number, line.text.trim_end());
        let _ = writeln!(text, "{}", shortened(&line, COLUMNS));
    }
    text
}

pub(super) fn instructions(wave: &ShownWave) -> String {
    let Some(code) = &wave.code else {
        let mut text = String::new();
        wave.code_problem.iter().for_each(|problem| fold(&mut text, problem, 2, 4));
        return text;
    };
    let mut text = String::new();
    let mut line = None;
    for one in &code.instructions {
        if one.line.is_some() && one.line != line {
            let file = one.file.as_deref().unwrap_or_default();
            let _ = writeln!(text, "  {file}:{}", one.line.unwrap_or_default());
        }
        line = one.line.or(line);
        let mark = match (one.is_pc, one.is_access) {
            (true, _) => "=>",
            (false, true) => "X ",
            (false, false) => "  ",
        };
        let offset = one.offset.map_or(String::new(), |offset| format!(" <+{offset}>"));
        let lanes = one.lanes.as_ref().map_or(String::new(), |lanes| format!("  ; lanes {lanes}"));
        let start = format!("{mark} {}{offset}:  ", one.address);
        let indent = start.chars().count().min(COLUMNS / 2);
        let mut lines = wrapped(&format!("{}{lanes}", one.text), COLUMNS - indent).into_iter();
        let _ = writeln!(text, "{start}{}", lines.next().unwrap_or_default());
        lines.for_each(|line| text += &format!("{:indent$}{line}\n", ""));
    }
    code.problems.iter().for_each(|problem| fold(&mut text, problem, 2, 4));
    text
}

pub(super) fn memory(picture: &MemoryPicture) -> String {
    let mut text = match picture.is_lds() {
        true => format!("  offset {} in LDS\n", picture.address),
        false => format!("  address {} ({})\n", picture.address, picture.space),
    };
    for access in picture.accesses.iter().take(4) {
        let lane = access.lane.map_or_else(|| "scalar access".to_owned(), |lane| format!("lane {lane}"));
        let bytes = access.bytes.map_or(String::new(), |bytes| format!(", {}", counted(bytes, "byte")));
        let _ = writeln!(text, "    {lane}: {}{bytes}", access.address);
    }
    note(&mut text, picture.accesses.len().saturating_sub(4) + picture.accesses_left_out, "more access");
    for span in &picture.spans {
        let name = span.name.as_ref().map_or(String::new(), |name| format!("  {name}"));
        let pointer = span.pointer.as_ref().map_or(String::new(), |pointer| format!("  <- {pointer}"));
        fold(&mut text, &format!("{}-{}{name}{pointer}", span.start, span.last), 4, 8);
    }
    if let Some(window) = &picture.bytes {
        for (index, line) in window.bytes.chunks(16).enumerate() {
            let at = window.start.0.saturating_add(index as u64 * 16);
            let bytes = line.iter().map(|byte| byte.map_or("xx".to_owned(), |byte| format!("{byte:02x}")));
            let _ = writeln!(text, "    {at:#014x}  {}", bytes.collect::<Vec<_>>().join(" "));
        }
    }
    text
}

/// `#1 saxpy at saxpy.hip:54 (inferred: caller by code)`
#[must_use]
pub fn frame(of: &FrameRow) -> String {
    let inferred = of.inferred.as_ref().map_or_else(String::new, |words| format!(" ({words})"));
    placed(of) + &inferred
}

/// `#1 saxpy at saxpy.hip:54`
fn placed(of: &FrameRow) -> String {
    let function = of.function.as_deref().unwrap_or("??");
    let place = match (&of.file, of.line, &of.code_object) {
        (Some(file), Some(line), _) => format!(" at {file}:{line}"),
        (Some(file), None, _) => format!(" in {file}"),
        (None, _, Some(object)) => format!(" from {object}"),
        (None, _, None) => String::new(),
    };
    let inlined = if of.inlined { "  [inlined]" } else { "" };
    format!("#{:<2} {function}{place}{inlined}", of.level)
}

pub(super) fn frames(frames: &[FrameRow], left_out: usize, end: Option<&str>) -> String {
    let mut text = String::new();
    for of in frames.iter().take(MAX_FRAMES) {
        let (line, place) = (frame(of), placed(of));
        // The mark has a line of its own where it does not fit.
        match of.inferred.as_ref().filter(|_| line.chars().count() + 4 > COLUMNS) {
            Some(words) => {
                fold(&mut text, &place, 4, 9);
                fold(&mut text, &format!("({words})"), 9, 9);
            }
            None => fold(&mut text, &line, 4, 9),
        }
    }
    note(&mut text, frames.len().saturating_sub(MAX_FRAMES) + left_out, "more frame");
    if let Some(end) = end {
        fold(&mut text, &format!("the stack ends here: {end}"), 4, 4);
    }
    text
}

pub(super) fn stack(wave: &ShownWave) -> String {
    let mut text = String::new();
    fold(&mut text, &format!("{}: {}", wave.name, wave.state), 2, 4);
    wave.doubts.iter().for_each(|doubt| fold(&mut text, doubt, 2, 2));
    text + &frames(&wave.stack, 0, wave.stack_end.as_deref())
}
