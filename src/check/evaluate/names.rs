//! Hints about names.

use super::facts::Wave;
use crate::check::similar::similar;
use crate::session::print::{NO_MEMBER, TypedField, TypedQuery, TypedValue};
use crate::units::{LaneId, LaneSet};

/// `did you mean ...`, if one of the names is similar.
pub(super) fn similar_names(name: &str, known: impl IntoIterator<Item = String>) -> Option<String> {
    let known: Vec<String> = known.into_iter().collect();
    let found = similar(name, known.iter().map(String::as_str)).filter(|found| *found != name)?;
    Some(format!("did you mean `{found}`?"))
}

/// `did you mean ...` for the unknown member of a problem, by the members of its object in one of the paths.
pub(super) fn similar_member(
    wave: &Wave<'_>,
    lane: LaneId,
    frame: usize,
    paths: &[String],
    problem: &str,
) -> Option<String> {
    let (_, behind) = problem.split_once(NO_MEMBER)?;
    let name = behind.trim_start().strip_prefix('`')?.split('`').next()?;
    let object = paths.iter().find_map(|path| object_of(path, name))?;
    let query = |path: String| TypedQuery { path, lanes: LaneSet::one(lane), wants_text: false };
    // `.` follows a pointer, too.
    let asked = [query(object.to_owned()), query(format!("*({object})"))];
    wave.session.next_question();
    let answers = wave.session.typed(wave.id(), frame, &asked).ok()?;
    let mut values = answers.iter().flatten().filter_map(|values| Some(&values.lanes.first()?.value));
    let fields = values.find_map(|value| match value {
        TypedValue::Record { fields } => Some(fields),
        _ => None,
    })?;
    let mut members = Vec::new();
    collect(fields, &mut members);
    similar_names(name, members)
}

/// The text before a member with its sign.
fn object_of<'p>(path: &'p str, member: &str) -> Option<&'p str> {
    let before = path.match_indices(member).find_map(|(at, _)| {
        let (before, after) = path.split_at_checked(at)?;
        let after = after.get(member.len()..)?;
        let is_whole = !after.starts_with(|c: char| c.is_alphanumeric() || c == '_');
        let before = before.trim_end();
        before.strip_suffix("->").or(before.strip_suffix('.')).filter(|_| is_whole)
    })?;
    let before = before.trim_end();
    let is_part = |c: char| c.is_alphanumeric() || "_.$:[]".contains(c);
    let start = before
        .rfind(|c: char| !is_part(c))
        .and_then(|at| Some(at + before.get(at..)?.chars().next()?.len_utf8()));
    // A bracket needs its whole text.
    let is_open = before.ends_with(')');
    if is_open { Some(before) } else { before.get(start.unwrap_or(0)..) }
}

/// The names of members, also of base classes and unnamed members. The reader bounds the nesting.
fn collect(fields: &[TypedField], names: &mut Vec<String>) {
    for field in fields {
        match (&field.name, &field.value) {
            (Some(name), _) if !field.is_base => names.push(name.to_string()),
            (_, TypedValue::Record { fields }) => collect(fields, names),
            _ => {}
        }
    }
}
