//! Paths from an object to its members and elements.

use super::ArrayDimension;
use crate::bounds::MAX_MEMBER_DEPTH;
use crate::debuginfo::{DebugInfo, Dimension, Member, Number, TypeId, TypeKind};

/// Maximum number of paths to elements of an object.
const MAX_PATHS: usize = 16;
/// Maximum number of members that are visited to find them.
const MAX_VISITED: usize = 256;

/// The path from an object to the scalars in an array within it: `.a[i]`, `[i].at[j].x`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementPath {
    /// Bytes from the object to the scalar with the first indexes.
    pub offset: u64,
    /// Bytes of the scalar.
    pub size: u64,
    /// The members before the first index, between two, and after the last one: one text more than dimensions.
    pub members: Vec<String>,
    /// The dimensions, the outermost first.
    pub dimensions: Vec<ArrayDimension>,
}

/// The paths to scalars in arrays of constant bounds, in the order of the members.
pub(in crate::session) fn element_paths(debug: &DebugInfo, id: TypeId) -> Vec<ElementPath> {
    let start = ElementPath { offset: 0, size: 0, members: vec![String::new()], dimensions: Vec::new() };
    let mut found = Vec::new();
    let mut stack = vec![(id, start, 0)];
    let mut visited = 0;
    while let Some((id, path, depth)) = stack.pop() {
        visited += 1;
        if found.len() >= MAX_PATHS || visited > MAX_VISITED {
            break;
        }
        let Ok(Some(ty)) = debug.stripped(id) else { continue };
        if ty.indirect.is_some() || depth > MAX_MEMBER_DEPTH {
            continue;
        }
        match &ty.kind {
            TypeKind::Record(record) => {
                let members = record.members.iter().take(MAX_VISITED).filter_map(|member| {
                    let is_plain = member.place.is_none() && member.bit_size.is_none();
                    let mut path = path.clone();
                    path.offset = path.offset.checked_add(member.bit_offset / 8)?;
                    if let Some(name) = member.name.as_deref().filter(|_| !member.is_base) {
                        path.members.last_mut()?.push_str(&format!(".{name}"));
                    }
                    Some((member.type_id.filter(|_| is_plain)?, path, depth + 1))
                });
                let members: Vec<_> = members.collect();
                stack.extend(members.into_iter().rev());
            }
            // Nothing indexes a vector past its length.
            TypeKind::Array {
                element: Some(element),
                dimensions,
                stride: None,
                rank: None,
                is_vector: false,
            } => {
                let inner = constant(debug, *element, dimensions);
                stack.extend(inner.map(|inner| {
                    let mut path = path;
                    path.members.extend(inner.iter().map(|_| String::new()));
                    path.dimensions.extend(inner);
                    (*element, path, depth + 1)
                }));
            }
            _ if path.dimensions.is_empty() => {}
            _ => {
                let size = debug.byte_size(id).ok().flatten().filter(|size| *size > 0);
                found.extend(size.map(|size| ElementPath { size, ..path }));
            }
        }
    }
    found
}

/// The dimensions of an array; `None`: one has no constant bounds.
fn constant(debug: &DebugInfo, element: TypeId, dimensions: &[Dimension]) -> Option<Vec<ArrayDimension>> {
    let mut stride = i64::try_from(debug.byte_size(element).ok()??).ok().filter(|size| *size > 0)?;
    let mut found = Vec::with_capacity(dimensions.len());
    for dimension in dimensions.iter().rev() {
        let (Number::Constant(first), None) = (&dimension.lower, &dimension.stride) else { return None };
        let count = dimension.count();
        found.push(ArrayDimension { first: *first, count, stride });
        stride = stride.checked_mul(i64::try_from(count.unwrap_or(1)).ok()?).filter(|stride| *stride > 0)?;
    }
    found.reverse();
    Some(found)
}

/// The path from an object of a type to its innermost part that begins at that byte: `.range.first`, `.taps[2]`; empty
/// for the object itself. `None`: no part begins there.
pub(in crate::session) fn member_path(debug: &DebugInfo, id: TypeId, offset: u64) -> Option<String> {
    let (mut id, mut offset, mut path) = (id, offset, String::new());
    for _ in 0..MAX_MEMBER_DEPTH {
        let found = debug.stripped(id).ok()??;
        if found.indirect.is_some() {
            return None;
        }
        match &found.kind {
            TypeKind::Record(record) => {
                let holds = |member: &&Member| {
                    let size = member.type_id.and_then(|id| debug.byte_size(id).ok().flatten()).unwrap_or(0);
                    let first = member.bit_offset / 8;
                    member.place.is_none()
                        && offset >= first
                        && offset - first < size
                        && member.bit_size.is_none()
                };
                let member = record.members.iter().find(holds)?;
                if let Some(name) = member.name.as_deref().filter(|_| !member.is_base) {
                    path.push('.');
                    path.push_str(name);
                }
                (id, offset) = (member.type_id?, offset - member.bit_offset / 8);
            }
            TypeKind::Array { element: Some(element), dimensions, is_vector, stride: None, rank: None } => {
                let size = debug.byte_size(*element).ok()??;
                let index = offset.checked_div(size)?;
                path.push_str(&match is_vector {
                    true => component(dimensions, index)?,
                    false => subscript(dimensions, index)?,
                });
                (id, offset) = (*element, offset % size);
            }
            _ => return (offset == 0).then_some(path),
        }
    }
    None
}

/// The name of a vector's component: `.y`; with more than 4 components `.s9`.
fn component(dimensions: &[Dimension], index: u64) -> Option<String> {
    let count = dimensions.first()?.count().filter(|count| index < *count)?;
    let names = ["x", "y", "z", "w"].into_iter().zip(0..);
    let name = names.filter(|_| count <= 4).find(|(_, number)| *number == index);
    Some(name.map_or_else(|| format!(".s{index:x}"), |(name, _)| format!(".{name}")))
}

/// The indexes of an element by its number in an array: `[2][1]`.
fn subscript(dimensions: &[Dimension], mut element: u64) -> Option<String> {
    let mut indexes = Vec::with_capacity(dimensions.len());
    for (number, dimension) in dimensions.iter().enumerate().rev() {
        let Number::Constant(lower) = dimension.lower else { return None };
        let index = match number {
            0 => element,
            _ => {
                let count = dimension.count()?;
                let index = element.checked_rem(count)?;
                element /= count;
                index
            }
        };
        indexes.push(i128::from(index) + i128::from(lower));
    }
    Some(indexes.iter().rev().map(|index| format!("[{index}]")).collect())
}

#[cfg(test)]
#[path = "member_tests.rs"]
mod tests;
