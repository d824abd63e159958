//! A report as text for logs: 80 columns, the fault first. [`sections`] are the parts that the Markdown form folds.

use std::fmt::Write as _;

use super::model::{
    FrameRow, LaneMark, Launch, MemoryPicture, Model, ShownWave, StackGroup, ValueMark, VariableStrip,
    WaveRow,
};
use crate::notation::{counted, lanes, plural};
use crate::report::{Style, Table};
use crate::triage::page::wrapped;
use crate::units::{LaneId, LaneSet};

/// Columns of a line, and those of labels.
const COLUMNS: usize = 80;
const LABEL: usize = 10;
/// Rows of the evidence on the first screen, and lines of each.
const FIRST: [&str; 5] = ["Access", "Address", "Report", "Barriers", "Waves"];
const FIRST_LINES: usize = 2;
/// Maximum number of variables, stacks, waves and problems in text.
const MAX_VARIABLES: usize = 24;
/// Maximum number of lines of the values of some lanes, and of signatures on the first screen.
const MAX_LINES: usize = 3;
const MAX_STACKS: usize = 8;
const MAX_FRAMES: usize = 6;
const MAX_WAVES: usize = 32;
const MAX_PROBLEMS: usize = 16;

/// A part of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// The heading.
    pub title: &'static str,
    /// The lines, each with a line feed.
    pub text: String,
}

/// The report as text.
#[must_use]
pub fn text(model: &Model, style: Style) -> String {
    let mut text = first_screen(model, style);
    for section in sections(model) {
        let _ = write!(text, "\n{}\n{}", style.heading(section.title), section.text);
    }
    text
}

/// The fault with its lanes: what fits a screen.
#[must_use]
pub fn first_screen(model: &Model, style: Style) -> String {
    let mut page = String::new();
    for line in wrapped(&model.fault.sentence, COLUMNS) {
        let line = if model.fault.cause.is_some() { style.alarm(&line) } else { style.heading(&line) };
        let _ = writeln!(page, "{line}");
    }
    if let Some(source) = &model.fault.source_line {
        let _ = writeln!(page, "    {}", one_line(source, COLUMNS - 4));
    }
    page.push('\n');
    let mut rows = Rows { page, style };
    for label in FIRST {
        let Some(evidence) = model.fault.evidence.iter().find(|evidence| evidence.label == label) else {
            continue;
        };
        let lines = evidence.texts.iter().flat_map(|text| wrapped(text, COLUMNS - LABEL));
        rows.add(label, lines.take(FIRST_LINES));
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
        [only] => rows.add("Signature", wrapped(only, COLUMNS - LABEL).into_iter().take(FIRST_LINES)),
        several => {
            let lines = several.iter().take(MAX_LINES).map(|text| one_line(text, COLUMNS - LABEL));
            let more = several.len().saturating_sub(MAX_LINES);
            rows.add("Signature", lines.chain((more > 0).then(|| format!("and {more} more"))));
        }
    }
    rows.add("Dump", std::iter::once(one_line(&origin(model), COLUMNS - LABEL)));
    rows.add("Missing", model.missing.iter().take(2).flat_map(|text| wrapped(text, COLUMNS - LABEL)));
    rows.page
}

/// Labelled rows.
struct Rows {
    page: String,
    style: Style,
}

impl Rows {
    fn add(&mut self, label: &str, lines: impl Iterator<Item = String>) {
        let mut label = label;
        for line in lines {
            let pad = " ".repeat(LABEL.saturating_sub(label.len()));
            let _ = writeln!(self.page, "{}{pad}{}", self.style.heading(label), line.trim_end());
            label = "";
        }
    }
}

/// `crash.zip (lanescope dump 1), gfx90a, 8 waves of gfx90a:wave64`
fn origin(model: &Model) -> String {
    let of = &model.dump;
    format!("{} ({}), {}", of.name, of.format, of.kinds.join(", "))
}

/// The letter of a lane's state in a strip of text, and its words.
#[must_use]
pub fn letter(mark: LaneMark) -> (char, &'static str) {
    match mark {
        LaneMark::Faulting => ('X', "faulting"),
        LaneMark::PossiblyFaulting => ('X', "at most faulting"),
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
    rows.add("Lanes", std::iter::once(strip).chain(legend));
}

/// `i = 1000..1024 (+1)  lanes 0-24`
fn brief(variable: &VariableStrip) -> Option<String> {
    let rule = variable.rules.iter().find(|rule| rule.state != ValueMark::Inactive)?;
    let text = rule_text(rule.state, rule.text.as_deref());
    Some(one_line(&format!("{} = {text}  lanes {}", variable.name, rule.lanes), COLUMNS - LABEL))
}

/// A rule, or the state of a missing value.
#[must_use]
pub fn rule_text(state: ValueMark, text: Option<&str>) -> String {
    let absent = |name: &str| format!("<{name}> {}", text.unwrap_or_default()).trim_end().to_owned();
    match state {
        ValueMark::NotCaptured => absent("not captured"),
        ValueMark::OptimizedOut => absent("optimized out"),
        ValueMark::Error => absent("error"),
        ValueMark::LeftOut => absent("left out"),
        ValueMark::Unused => absent("unused"),
        _ => text.unwrap_or_default().to_owned(),
    }
}

/// The parts below the first screen; parts without contents are left out.
#[must_use]
pub fn sections(model: &Model) -> Vec<Section> {
    let wave = model.wave.as_ref();
    let all = [
        ("Evidence", evidence(model)),
        ("Variables", wave.map(variables).unwrap_or_default()),
        ("Source", wave.map(source).unwrap_or_default()),
        ("Instructions", wave.map(instructions).unwrap_or_default()),
        ("Memory", model.memory.iter().map(memory).collect()),
        ("Stack", wave.map(stack).unwrap_or_default()),
        ("Waves by call stack", stacks(model)),
        ("Waves", waves(model)),
        ("Kernel launches", launches(model)),
        ("Code objects", code_objects(model)),
        ("Problems", problems(model)),
        ("Contents of this report", contents(model)),
        ("Next", model.next.iter().map(|command| format!("  {command}\n")).collect()),
    ];
    let section = |(title, text): (&'static str, String)| Section { title, text };
    all.into_iter().map(section).filter(|section| !section.text.is_empty()).collect()
}

fn evidence(model: &Model) -> String {
    let mut rows = Rows { page: String::new(), style: Style::Plain };
    for evidence in &model.fault.evidence {
        rows.add(&evidence.label, evidence.texts.iter().flat_map(|text| wrapped(text, COLUMNS - LABEL)));
    }
    rows.page
}

fn variables(wave: &ShownWave) -> String {
    let mut text = String::new();
    let has_value = |of: &&VariableStrip| of.is_on_line || of.lanes.iter().any(|cell| cell.value.is_some());
    for variable in wave.variables.iter().filter(has_value).take(MAX_VARIABLES) {
        let mark = if variable.is_on_line { "*" } else { " " };
        let scope = if variable.scope == "local" { String::new() } else { format!("{} ", variable.scope) };
        let inferred = variable.inferred.as_ref().map_or(String::new(), |words| format!(" ({words})"));
        let head = format!("{scope}{} {}", variable.type_name, variable.name);
        let is_short = head.chars().count() + inferred.chars().count() + 2 <= COLUMNS;
        let inferred = if is_short { inferred } else { format!("\n     {inferred}") };
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
                    writeln!(text, "{:indent$}{}", "", one_line(&format!("{line}{more}"), COLUMNS - indent));
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
        let _ = writeln!(text, "  {problem}");
    }
    text
}

fn source(wave: &ShownWave) -> String {
    let Some(source) = &wave.source else { return String::new() };
    let mut text = format!("  {}\n", source.file);
    for line in &source.lines {
        let mark = if line.is_current { "=>" } else { "  " };
        let waves = if line.waves > 0 { counted(line.waves, "wave") } else { String::new() };
        let line = format!("{mark} {:>5}  {waves:>9}  {}", line.number, line.text.trim_end());
        let _ = writeln!(text, "{}", one_line(&line, COLUMNS));
    }
    text
}

fn instructions(wave: &ShownWave) -> String {
    let Some(code) = &wave.code else {
        return wave.code_problem.as_ref().map_or(String::new(), |problem| format!("  {problem}\n"));
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
    for problem in &code.problems {
        let _ = writeln!(text, "  {problem}");
    }
    text
}

fn memory(picture: &MemoryPicture) -> String {
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
        let _ = writeln!(text, "    {}-{}{name}{pointer}", span.start, span.last);
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

fn frames(frames: &[FrameRow], left_out: usize, end: Option<&str>) -> String {
    let mut text = String::new();
    for of in frames.iter().take(MAX_FRAMES) {
        let line = frame(of);
        let is_long = line.chars().count() + 4 > COLUMNS;
        // The mark has a line of its own where it does not fit.
        let line = match of.inferred.as_ref().filter(|_| is_long) {
            Some(words) => format!("{}\n         ({words})", placed(of)),
            None => line,
        };
        let _ = writeln!(text, "    {line}");
    }
    note(&mut text, frames.len().saturating_sub(MAX_FRAMES) + left_out, "more frame");
    if let Some(end) = end {
        for line in wrapped(&format!("the stack ends here: {end}"), COLUMNS - 4) {
            let _ = writeln!(text, "    {line}");
        }
    }
    text
}

fn stack(wave: &ShownWave) -> String {
    let mut text = format!("  {}: {}\n", wave.name, wave.state);
    for line in wave.doubts.iter().flat_map(|doubt| wrapped(doubt, COLUMNS - 4)) {
        let _ = writeln!(text, "  {line}");
    }
    text + &frames(&wave.stack, 0, wave.stack_end.as_deref())
}

/// `1 wave: 1 memory violation`
#[must_use]
pub fn causes(of: &StackGroup) -> String {
    let causes: Vec<String> = of.causes.iter().map(|(cause, count)| format!("{count} {cause}")).collect();
    format!("{}: {}", counted(of.count, "wave"), causes.join(", "))
}

fn stacks(model: &Model) -> String {
    let mut text = String::new();
    for group in model.stacks.iter().take(MAX_STACKS) {
        let causes = causes(group);
        let waves = format!("{} {}", plural(group.count, "wave", "waves"), some_ids(&group.waves, 40));
        let is_short = causes.chars().count() + waves.chars().count() + 5 <= COLUMNS;
        let waves = if is_short { format!(" ({waves})") } else { format!("\n    {waves}") };
        let _ = writeln!(text, "  {causes}{waves}");
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

fn waves(model: &Model) -> String {
    let mut table = Table::new(["Wave", "Group", "Lanes", "State", "Place"]);
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
                |wait| format!("{}, {}", row.state, wait.replace('_', " ")),
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
pub fn argument(of: &super::ArgumentRow) -> String {
    match (&of.value, of.captured) {
        (Some(value), _) => value.clone(),
        (None, true) => "<left out>".to_owned(),
        (None, false) => "<not captured>".to_owned(),
    }
}

fn launch(of: &Launch) -> String {
    let kernel = of.kernel.as_deref().unwrap_or("an unknown kernel");
    let (grid, group) = (size(of.grid), size(of.workgroup));
    let mut text = format!(
        "  dispatch {}: {kernel}, grid {grid}, work-group {group}, {}\n",
        of.id,
        counted(of.waves, "wave")
    );
    for argument in &of.arguments {
        let name = argument.name.as_deref().unwrap_or("?");
        let type_name = argument.type_name.as_ref().map_or(String::new(), |name| format!("{name} "));
        let _ = writeln!(text, "    {type_name}{name} = {}", self::argument(argument));
    }
    if let Some(problem) = &of.problem {
        let _ = writeln!(text, "    {problem}");
    }
    text
}

fn launches(model: &Model) -> String {
    let mut text: String = model.dispatches.iter().take(MAX_STACKS).map(launch).collect();
    note(
        &mut text,
        model.dispatches.len().saturating_sub(MAX_STACKS) + model.dispatches_left_out,
        "more kernel launch",
    );
    text
}

fn code_objects(model: &Model) -> String {
    let mut text = String::new();
    for object in model.code_objects.iter().take(MAX_STACKS) {
        let id = object.build_id.as_ref().map_or("no build id".to_owned(), |id| format!("build id {id}"));
        let facts = [format!("{}  {}, {id}", object.address, object.name)].into_iter();
        let lines = facts.chain(object.problem.clone()).flat_map(|fact| wrapped(&fact, COLUMNS - 4));
        for (index, line) in lines.enumerate() {
            let indent = if index == 0 { 2 } else { 4 };
            let _ = writeln!(text, "{:indent$}{line}", "");
        }
    }
    note(
        &mut text,
        model.code_objects.len().saturating_sub(MAX_STACKS) + model.code_objects_left_out,
        "more code object",
    );
    text
}

fn problems(model: &Model) -> String {
    let mut text = String::new();
    for problem in model.problems.iter().take(MAX_PROBLEMS) {
        let problem = wrapped(&format!("{}: {}", problem.severity, problem.text), COLUMNS - 4);
        text.extend(problem.iter().map(|line| format!("  {line}\n")));
    }
    note(
        &mut text,
        model.problems.len().saturating_sub(MAX_PROBLEMS) + model.problems_left_out,
        "more problem",
    );
    text
}

fn contents(model: &Model) -> String {
    let line = |of: &super::Content| {
        let mark = if of.is_included { "has" } else { "lacks" };
        let secret = if of.is_data && of.is_included { " (data of the program)" } else { "" };
        let lines = wrapped(&format!("{}{secret}", of.text), COLUMNS - LABEL);
        let line =
            |(index, line): (usize, &String)| format!("  {:<7} {line}\n", if index == 0 { mark } else { "" });
        lines.iter().enumerate().map(line).collect::<String>()
    };
    model.contents.iter().map(line).collect()
}

/// `  and 3 more waves`, if there are more.
fn note(text: &mut String, count: usize, noun: &str) {
    if count > 0 {
        let _ = writeln!(text, "  and {}", counted(count, noun));
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

/// The first columns of a text.
fn one_line(text: &str, width: usize) -> String {
    match text.chars().count() > width {
        true => text.chars().take(width.saturating_sub(3)).chain("...".chars()).collect(),
        false => text.to_owned(),
    }
}
