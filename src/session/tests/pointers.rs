//! Pointers of union members in the same bytes.

use crate::debuginfo::TypeId;
use crate::session::reading::address::GLOBAL;
use crate::session::variables::pointers::{PointerAt, agreed};
use crate::units::DieOffset;

#[test]
fn members_in_the_same_bytes_lead_to_one_type_or_to_none() {
    let (node, edge) = ((TypeId(DieOffset(0x10)), 16), (TypeId(DieOffset(0x20)), 24));
    let pointer = |offset, is_shared, to| PointerAt { offset, bytes: 8, space: GLOBAL, is_shared, to };
    let found = [
        // Not in a union.
        pointer(0, false, Some(node)),
        // `Node *` and `void *`, in both orders.
        pointer(8, true, Some(node)),
        pointer(8, true, None),
        pointer(16, true, None),
        pointer(16, true, Some(edge)),
        // `Node *`, `Edge *` and `Node *` again.
        pointer(24, true, Some(node)),
        pointer(24, true, Some(edge)),
        pointer(24, true, Some(node)),
    ];
    let targets: Vec<_> = agreed(&found).into_iter().map(|pointer| pointer.to).collect();
    let expected = [Some(node), Some(node), Some(node), Some(edge), Some(edge), None, None, None];
    assert_eq!(targets, expected);
}
