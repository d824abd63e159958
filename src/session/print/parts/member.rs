//! The path from an object to the member or element at an offset.

use crate::bounds::MAX_MEMBER_DEPTH;
use crate::debuginfo::{DebugInfo, Dimension, Member, Number, TypeId, TypeKind};

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
            TypeKind::Array { element: Some(element), dimensions, stride: None, rank: None, .. } => {
                let size = debug.byte_size(*element).ok()??;
                let index = offset.checked_div(size)?;
                path.push_str(&subscript(dimensions, index)?);
                (id, offset) = (*element, offset % size);
            }
            _ => return (offset == 0).then_some(path),
        }
    }
    None
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
