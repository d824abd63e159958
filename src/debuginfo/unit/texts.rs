//! Names and other text of DIEs: DWARF 5 section 7.5.5, class string.
//!
//! Any number of DIEs may refer to one text, or to parts of it. A long text is read once for each of its starts, and
//! all long texts of a file are bounded together.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use gimli::{Reader as _, Section as _};

use crate::clean::clean;
use crate::debuginfo::unit::sections::{AttributeValue, Dwarf, GimliUnit, Slice};

/// Maximum bytes of a text that does not count, and bytes kept of a text beyond the bound.
const SHORT: usize = 64;
/// Maximum reads of the sections' bytes as long texts, and bytes that every file may read.
const MAX_READS: usize = 4;
const MIN_READ: usize = 1 << 20;

/// The long texts of a file.
pub(in crate::debuginfo) struct Texts(Mutex<Known>);

struct Known {
    /// By the address of the first byte.
    by_start: HashMap<usize, Arc<str>>,
    /// Remaining bytes to read.
    left: usize,
}

impl Texts {
    /// No texts yet.
    pub(in crate::debuginfo) fn new(dwarf: &Dwarf<'_>) -> Self {
        let sections = [
            dwarf.debug_str.reader().len(),
            dwarf.debug_line_str.reader().len(),
            dwarf.debug_info.reader().len(),
            dwarf.debug_types.reader().len(),
        ];
        let bytes = sections.into_iter().fold(0, usize::saturating_add);
        let left = bytes.saturating_mul(MAX_READS).saturating_add(MIN_READ);
        Self(Mutex::new(Known { by_start: HashMap::new(), left }))
    }

    /// The text of an attribute, cleaned; beyond the bound its first bytes and `...`.
    ///
    /// # Errors
    /// The value is not a string, or is outside of its section.
    pub(in crate::debuginfo) fn get(
        &self,
        dwarf: &Dwarf<'_>,
        unit: &GimliUnit<'_>,
        value: AttributeValue<'_>,
    ) -> gimli::Result<Arc<str>> {
        let (rest, has_end) = match value {
            AttributeValue::DebugStrRef(offset) => (from(dwarf.debug_str.reader(), offset.0)?, true),
            AttributeValue::DebugLineStrRef(offset) => (from(dwarf.debug_line_str.reader(), offset.0)?, true),
            AttributeValue::DebugStrOffsetsIndex(index) => {
                (from(dwarf.debug_str.reader(), dwarf.string_offset(unit, index)?.0)?, true)
            }
            value => (dwarf.attr_string(unit, value)?, false),
        };
        let start = rest.slice();
        let length = |most: usize| start.iter().take(most).position(|byte| *byte == 0);
        let text = |length: usize| {
            let bytes = start.get(..length).unwrap_or(start);
            Arc::<str>::from(clean(String::from_utf8_lossy(bytes)))
        };
        let short =
            if has_end { length(SHORT + 1) } else { Some(start.len()).filter(|length| *length <= SHORT) };
        if let Some(length) = short {
            return Ok(text(length));
        }
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = start.as_ptr() as usize;
        if let Some(known) = known.by_start.get(&key) {
            return Ok(Arc::clone(known));
        }
        let most = known.left.min(start.len());
        let end = if has_end { length(most) } else { Some(start.len()).filter(|length| *length <= most) };
        let Some(end) = end else {
            if has_end && most == start.len() {
                return Err(gimli::Error::UnexpectedEof(rest.offset_id()));
            }
            // Examined bytes count as well.
            known.left = 0;
            return Ok(format!("{}...", text(SHORT)).into());
        };
        known.left = known.left.saturating_sub(end);
        let text = text(end);
        known.by_start.insert(key, Arc::clone(&text));
        Ok(text)
    }
}

/// A section from an offset on.
fn from<'a>(section: &Slice<'a>, offset: usize) -> gimli::Result<Slice<'a>> {
    let mut rest = *section;
    rest.skip(offset)?;
    Ok(rest)
}

impl fmt::Debug for Texts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Texts").finish_non_exhaustive()
    }
}
