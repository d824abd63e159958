//! Enumerators by name, flags as a union of names, and plain numbers for other values, as in gdb.

use std::fmt::Write as _;

use crate::debuginfo::types::Enumerator;

/// The notation of an enumeration's value: `RED`, `ns::Shade::DARK`, `(A | B)`, `(A | unknown: 0x8)`, `77`.
pub(super) fn enumerator(value: i128, enumerators: &[Enumerator], scope: Option<&str>) -> String {
    let named = |name: &str| match scope {
        Some(scope) => format!("{scope}::{name}"),
        None => name.to_owned(),
    };
    if let Some(found) = enumerators.iter().find(|enumerator| enumerator.value == value) {
        return named(&found.name);
    }
    if value < 0 || !is_flags(enumerators) {
        return value.to_string();
    }
    let mut left = value;
    let mut parts = Vec::new();
    for flag in enumerators {
        if left & flag.value != 0 {
            parts.push(named(&flag.name));
            left &= !flag.value;
        }
    }
    if left != 0 {
        let mut unknown = String::from("unknown: ");
        let _ = write!(unknown, "{left:#x}");
        parts.push(unknown);
    }
    if parts.is_empty() { "0".to_owned() } else { format!("({})", parts.join(" | ")) }
}

/// Whether every enumerator is zero or one bit: values are sums of them. As in gdb, bit 63 does not count.
fn is_flags(enumerators: &[Enumerator]) -> bool {
    let is_flag = |value: i128| (0..=i128::from(i64::MAX)).contains(&value) && value.count_ones() <= 1;
    enumerators.iter().all(|enumerator| is_flag(enumerator.value))
}
