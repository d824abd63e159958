//! The text of a fit: `x[i]`, `x[1000 + lane]`, `p->m`, `grid[i][3].at`.

use super::fit::Fit;
use super::rule;
use crate::session::print::{PartSort, VariablePart};
use crate::units::LaneId;

/// Whether the source writes indexes in parentheses, the fastest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notation {
    C,
    Fortran,
}

/// The expression of a fit. `names`: variables with the values of the indexes, one for each dimension.
pub(super) fn text(fit: &Fit<'_>, names: &[Option<&str>], notation: Notation, is_subscript: bool) -> String {
    let texts: Vec<String> = (0..fit.dimensions.len())
        .map(|number| match names.get(number).copied().flatten() {
            Some(name) => name.to_owned(),
            None => rule::text(&rule::rule(&values(fit, number))),
        })
        .collect();
    let path = &fit.part.path;
    let path = if path.starts_with('*') { format!("({path})") } else { path.clone() };
    let is_pointer = matches!(fit.part.sort, PartSort::Pointer(_));
    let is_first = fit.lanes.iter().all(|lane| lane.index() == 0);
    let mut text = path;
    let mut parts = texts.iter().zip(&fit.members).peekable();
    if is_pointer && is_first && !is_subscript && notation == Notation::C {
        let member = parts.next().map_or("", |(_, member)| member.as_str());
        text = match member.strip_prefix('.') {
            Some(member) => format!("{text}->{member}"),
            None if member.is_empty() && parts.peek().is_none() => format!("*{text}"),
            None => format!("(*{text}){member}"),
        };
    }
    while let Some((index, mut member)) = parts.next() {
        let mut list = vec![index.as_str()];
        while let (Notation::Fortran, true, Some((index, next))) = (notation, member.is_empty(), parts.peek())
        {
            list.push(index);
            member = next;
            parts.next();
        }
        list.reverse();
        let list = list.join(", ");
        text += &match notation {
            Notation::C => format!("[{list}]{member}"),
            Notation::Fortran => format!("({list}){member}"),
        };
    }
    text
}

/// The index of a dimension by lane.
pub(super) fn values(fit: &Fit<'_>, dimension: usize) -> Vec<(Option<LaneId>, i64)> {
    let of = |lane: &super::fit::LaneFit| Some((lane.lane, *lane.indexes.get(dimension)?));
    fit.lanes.iter().filter_map(of).collect()
}

/// Whether an integer has the index of a dimension in all lanes of the access.
pub(super) fn is_index(part: &VariablePart, fit: &Fit<'_>, dimension: usize) -> bool {
    !fit.lanes.is_empty()
        && fit.lanes.iter().all(|lane| {
            let value = match lane.lane {
                Some(of) => part.values.iter().find(|value| value.lane == of),
                None => part.values.first(),
            };
            let index = lane.indexes.get(dimension);
            value.is_some_and(|value| Some(&value.value.cast_signed()) == index)
        })
}

/// Whether an integer has the index of a dimension in other lanes of the access, too; `None`: no other lane is known.
pub(super) fn is_index_elsewhere(part: &VariablePart, fit: &Fit<'_>, dimension: usize) -> Option<bool> {
    let mut known = fit.others.iter().filter_map(|other| {
        let value = part.values.iter().find(|value| Some(value.lane) == other.lane)?;
        Some(Some(&value.value.cast_signed()) == other.indexes.get(dimension))
    });
    let first = known.next()?;
    Some(first && known.all(|is_same| is_same))
}
