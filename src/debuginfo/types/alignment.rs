//! Alignment of types.

use crate::debuginfo::DebugInfo;
use crate::debuginfo::types::{TypeId, TypeKind};

/// Maximum number of types read for one.
const MAX_READS: usize = 256;
/// Maximum alignment of a number or pointer: that of a 128-bit integer.
const MAX_SCALAR: u64 = 16;

impl DebugInfo {
    /// An upper bound of a type's alignment in bytes: a packed struct has less. `None`: a part is unreadable or of
    /// unknown size, or there are too many parts.
    #[must_use]
    pub fn max_alignment(&self, id: TypeId) -> Option<u64> {
        let (mut left, mut max, mut parts) = (MAX_READS, 1, vec![id]);
        while let Some(id) = parts.pop() {
            left = left.checked_sub(1)?;
            let found = self.type_of(id).ok()?;
            max = max.max(found.alignment.unwrap_or(1));
            let power = || self.byte_size(id).ok()??.checked_next_power_of_two();
            match &found.kind {
                TypeKind::Base(_)
                | TypeKind::Enum { .. }
                | TypeKind::Pointer { .. }
                | TypeKind::Reference { .. }
                | TypeKind::PointerToMember { .. } => max = max.max(power()?.min(MAX_SCALAR)),
                TypeKind::Array { is_vector: true, .. } => max = max.max(power()?),
                TypeKind::Array { element: Some(of), .. }
                | TypeKind::Typedef { of: Some(of) }
                | TypeKind::Qualified { of: Some(of), .. } => parts.push(*of),
                TypeKind::Record(record) if record.problems.is_empty() && record.variants.is_empty() => {
                    for member in &record.members {
                        max = max.max(member.alignment.unwrap_or(1));
                        parts.push(member.type_id?);
                    }
                }
                _ => return None,
            }
        }
        Some(max)
    }

    /// Whether a type is a number, an enumeration or a pointer.
    #[must_use]
    pub fn is_scalar(&self, id: TypeId) -> bool {
        let found = self.stripped(id).ok().flatten();
        found.is_some_and(|found| {
            matches!(found.kind, TypeKind::Base(_) | TypeKind::Enum { .. } | TypeKind::Pointer { .. })
        })
    }

    /// Whether a type is an array, no vector.
    #[must_use]
    pub fn is_array(&self, id: TypeId) -> bool {
        let found = self.stripped(id).ok().flatten();
        found.is_some_and(|found| matches!(found.kind, TypeKind::Array { is_vector: false, .. }))
    }

    /// Whether a type has members or elements: a struct, class, union or array.
    #[must_use]
    pub fn is_aggregate(&self, id: TypeId) -> bool {
        let found = self.stripped(id).ok().flatten();
        found.is_some_and(|found| {
            matches!(found.kind, TypeKind::Record(_) | TypeKind::Array { is_vector: false, .. })
        })
    }
}
