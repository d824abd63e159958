//! Long names and other text of a view's DIEs: DWARF 5 section 7.5.5, class string.
//!
//! Any number of DIEs may refer to one text, or to parts of it, and gimli copies each part. A long text is therefore
//! copied once for each of its starts, and all long texts of a view are bounded together.

use std::collections::HashMap;

use gimli::write::{AttributeValue, ConvertUnit, StringId};
use gimli::{Section as _, UnitRef};

use super::Slice;
use crate::clean::clean;

/// Maximum bytes of a text that does not count, and bytes kept of a text beyond the bound.
const SHORT: usize = 64;
/// Bytes of long texts that every view may have, in addition to those of the sections.
const MIN_TEXT: usize = 1 << 20;

/// The long texts of a view.
pub(super) struct Texts {
    /// By the address of the first byte.
    by_start: HashMap<usize, StringId>,
    /// Remaining bytes to read.
    left: usize,
    /// The number of attributes with a cut text.
    pub(super) cut: usize,
}

impl Texts {
    /// The capacity for the texts of these sections.
    pub(super) fn of(dwarf: &gimli::Dwarf<Slice<'_>>) -> Self {
        let bytes = dwarf.debug_str.reader().len().saturating_add(dwarf.debug_line_str.reader().len());
        Self { by_start: HashMap::new(), left: bytes.saturating_add(MIN_TEXT), cut: 0 }
    }

    /// The text of an attribute, if it is long and DIEs may share it; beyond the bound its first bytes and `...`.
    pub(super) fn long<'r>(
        &mut self,
        to: &mut ConvertUnit<'_, Slice<'r>>,
        unit: UnitRef<'_, Slice<'r>>,
        value: gimli::AttributeValue<Slice<'r>>,
    ) -> Option<AttributeValue> {
        let start = shared(unit, value)?;
        if start.iter().take(SHORT + 1).any(|byte| *byte == 0) {
            return None;
        }
        let key = start.as_ptr() as usize;
        if let Some(known) = self.by_start.get(&key) {
            return Some(AttributeValue::StringRef(*known));
        }
        let bytes = start.get(..self.left).unwrap_or(start);
        let text = match bytes.iter().position(|byte| *byte == 0) {
            Some(length) => {
                self.left -= length;
                clean(String::from_utf8_lossy(bytes.get(..length)?)).into_owned()
            }
            None => {
                // Examined bytes count as well.
                self.left = 0;
                self.cut += 1;
                format!("{}...", clean(String::from_utf8_lossy(start.get(..SHORT)?)))
            }
        };
        let id = to.strings.add(text.into_bytes());
        self.by_start.insert(key, id);
        Some(AttributeValue::StringRef(id))
    }
}

/// The rest of the section from a text on, for a text that DIEs may share.
pub(super) fn shared<'r>(
    unit: UnitRef<'_, Slice<'r>>,
    value: gimli::AttributeValue<Slice<'r>>,
) -> Option<&'r [u8]> {
    let (section, offset) = match value {
        gimli::AttributeValue::DebugStrRef(offset) => (unit.dwarf.debug_str.reader(), offset.0),
        gimli::AttributeValue::DebugLineStrRef(offset) => (unit.dwarf.debug_line_str.reader(), offset.0),
        gimli::AttributeValue::DebugStrOffsetsIndex(index) => {
            (unit.dwarf.debug_str.reader(), unit.string_offset(index).ok()?.0)
        }
        _ => return None,
    };
    section.slice().get(offset..)
}
