//! All waves and the dump: stacks, launches, code objects, problems, and the data of the report.

use super::super::model::{ArgumentRow, Content, Launch, Model, StackGroup, WaveRow};
use super::wave::frames;
use super::{COLUMNS, INDENT, LABEL, MAX_STACKS, fold, indented, note};
use crate::notation::{counted, plural};
use crate::report::fold::wrapped;
use crate::report::{Style, Table};

/// Maximum number of waves and problems.
const MAX_WAVES: usize = 32;
const MAX_PROBLEMS: usize = 16;

/// `1 wave: 1 memory violation`
#[must_use]
pub fn causes(of: &StackGroup) -> String {
    let causes: Vec<String> = of.causes.iter().map(|(cause, count)| format!("{count} {cause}")).collect();
    format!("{}: {}", counted(of.count, "wave"), causes.join(", "))
}

pub(super) fn stacks(model: &Model) -> String {
    let mut text = String::new();
    for group in model.stacks.iter().take(MAX_STACKS) {
        let causes = causes(group);
        let waves = format!("{} {}", plural(group.count, "wave", "waves"), some_ids(&group.waves, 40));
        let line = format!("{causes} ({waves})");
        match line.chars().count() + 2 <= COLUMNS {
            true => fold(&mut text, &line, 2, 4),
            false => {
                fold(&mut text, &causes, 2, 4);
                fold(&mut text, &waves, 4, 4);
            }
        }
        text += &frames(&group.frames, group.frames_left_out, group.end.as_deref());
    }
    note(&mut text, model.stacks.len().saturating_sub(MAX_STACKS) + model.stacks_left_out, "more stack");
    text
}

/// The first ids of a list: `4, 8, 12, ...`
#[must_use]
pub fn some_ids(ids: &str, width: usize) -> String {
    if ids.len() <= width {
        return ids.to_owned();
    }
    let end = ids.get(..width).and_then(|first| first.rfind(", ")).unwrap_or(0);
    format!("{}, ...", ids.get(..end).unwrap_or_default())
}

/// `(1,0,0)/3`
#[must_use]
pub fn position(of: &WaveRow) -> String {
    let place = of.workgroup.map_or_else(|| "?".to_owned(), |[x, y, z]| format!("({x},{y},{z})"));
    of.wave_in_group.map_or(place.clone(), |number| format!("{place}/{number}"))
}

pub(super) fn waves(model: &Model) -> String {
    let columns = COLUMNS - INDENT.len();
    let mut table = Table::new(["Wave", "Group", "Lanes", "State", "Place"]).within(columns);
    let rows =
        || model.waves.iter().filter(|row| row.faulted).chain(model.waves.iter().filter(|row| !row.faulted));
    for row in rows().take(MAX_WAVES) {
        let active = row.active.map_or("?".to_owned(), |active| active.to_string());
        let place = row.place.clone().or_else(|| row.function.clone()).or_else(|| Some(row.pc?.to_string()));
        table.row(vec![
            row.id.to_string(),
            position(row),
            format!("{active}/{}", row.lanes),
            row.wait.map_or_else(
                || row.state.clone(),
                |wait| format!("{}, {}", row.state, wait.name().replace('_', " ")),
            ),
            place.unwrap_or_else(|| "?".to_owned()),
        ]);
    }
    let mut text = if model.waves.is_empty() { String::new() } else { indented(&table.render(Style::Plain)) };
    note(&mut text, model.waves.len().saturating_sub(MAX_WAVES) + model.waves_left_out, "more wave");
    text
}

/// `[500,1,1]`, `?`
#[must_use]
pub fn size(of: Option<[u32; 3]>) -> String {
    of.map_or("?".to_owned(), |[x, y, z]| format!("[{x},{y},{z}]"))
}

/// The value of an argument, or the reason for its absence.
#[must_use]
pub fn argument(of: &ArgumentRow) -> String {
    match (&of.value, of.captured) {
        (Some(value), _) => value.clone(),
        (None, true) => "<left out>".to_owned(),
        (None, false) => "<not captured>".to_owned(),
    }
}

/// `3 waves, 5 more left out`
#[must_use]
pub fn waves_of(of: &Launch) -> String {
    let more = match of.waves_left_out {
        0 => String::new(),
        more => format!(", {more} more left out"),
    };
    counted(of.waves, "wave") + &more
}

fn launch(of: &Launch) -> String {
    let kernel = of.kernel.as_deref().unwrap_or("an unknown kernel");
    let (grid, group) = (size(of.grid), size(of.workgroup));
    let mut text = String::new();
    let waves = waves_of(of);
    let head = format!("dispatch {}: {kernel}, grid {grid}, work-group {group}, {waves}", of.id);
    fold(&mut text, &head, 2, 4);
    for argument in &of.arguments {
        let name = argument.name.as_deref().unwrap_or("?");
        let type_name = argument.type_name.as_ref().map_or(String::new(), |name| format!("{name} "));
        fold(&mut text, &format!("{type_name}{name} = {}", self::argument(argument)), 4, 8);
    }
    of.problem.iter().for_each(|problem| fold(&mut text, problem, 4, 4));
    text
}

pub(super) fn launches(model: &Model) -> String {
    let mut text: String = model.dispatches.iter().take(MAX_STACKS).map(launch).collect();
    note(
        &mut text,
        model.dispatches.len().saturating_sub(MAX_STACKS) + model.dispatches_left_out,
        "more kernel launch",
    );
    text
}

pub(super) fn code_objects(model: &Model) -> String {
    let mut text = String::new();
    for object in model.code_objects.iter().take(MAX_STACKS) {
        let id = object.build_id.as_ref().map_or("no build id".to_owned(), |id| format!("build id {id}"));
        fold(&mut text, &format!("{}  {}, {id}", object.address, object.name), 2, 4);
        object.problem.iter().for_each(|problem| fold(&mut text, problem, 4, 4));
    }
    note(
        &mut text,
        model.code_objects.len().saturating_sub(MAX_STACKS) + model.code_objects_left_out,
        "more code object",
    );
    text
}

pub(super) fn problems(model: &Model) -> String {
    let mut text = String::new();
    for problem in model.problems.iter().take(MAX_PROBLEMS) {
        fold(&mut text, &format!("{}: {}", problem.severity, problem.text), 2, 2);
    }
    note(
        &mut text,
        model.problems.len().saturating_sub(MAX_PROBLEMS) + model.problems_left_out,
        "more problem",
    );
    text
}

pub(super) fn contents(model: &Model) -> String {
    let line = |of: &Content| {
        let mark = if of.is_included { "has" } else { "lacks" };
        let secret = if of.is_data && of.is_included { " (data of the program)" } else { "" };
        let lines = wrapped(&format!("{}{secret}", of.text), COLUMNS - LABEL);
        let line =
            |(index, line): (usize, &String)| format!("  {:<7} {line}\n", if index == 0 { mark } else { "" });
        lines.iter().enumerate().map(line).collect::<String>()
    };
    model.contents.iter().map(line).collect()
}
