//! The disassembly in waves' reports: functions with the instructions that any report lists.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::line::SourceRow;
use crate::capture::{CodeText, MAX_CODE_TEXTS, MAX_TEXT_INSTRUCTIONS, TextInstruction};
use crate::clean::clean;

/// Maximum bytes of an instruction's text, and of a name.
const MAX_TEXT: usize = 256;
const MAX_NAME: usize = 4096;

/// The position in a disassembly during reading.
#[derive(Clone, Debug, Default)]
pub(super) struct ListingPosition {
    function: Option<Arc<str>>,
    /// Index of the code object.
    object: Option<usize>,
    file: Option<Arc<str>>,
    line: Option<u64>,
}

impl ListingPosition {
    /// The start of a function's disassembly.
    pub(super) fn of(function: Option<&[u8]>) -> Self {
        Self { function: function.map(name), ..Self::default() }
    }

    /// The function.
    pub(super) fn function(&self) -> Option<&str> {
        self.function.as_deref()
    }

    /// Notes the function's code object.
    pub(super) fn is_in(&mut self, object: usize) {
        self.object = Some(object);
    }

    /// Notes the source of the next instructions.
    pub(super) fn source(&mut self, row: SourceRow<'_>) {
        match row {
            SourceRow::File(file) => (self.file, self.line) = (Some(name(file)), None),
            SourceRow::Line(line) => self.line = Some(line),
        }
    }
}

/// Sanitized, bounded text.
fn name(text: &[u8]) -> Arc<str> {
    let text = text.get(..text.len().min(MAX_NAME)).unwrap_or_default();
    Arc::from(clean(String::from_utf8_lossy(text)))
}

/// Code object, function and its start.
type Key = (Option<usize>, Arc<str>, Option<u64>);

/// The disassembly of all reports.
#[derive(Debug, Default)]
pub(super) struct RawListings {
    functions: HashMap<Key, BTreeMap<u64, TextInstruction>>,
    count: usize,
    /// Whether instructions are left out.
    pub(super) is_full: bool,
}

impl RawListings {
    /// Adds an instruction of a function that begins at `start`; several waves list the same ones.
    pub(super) fn add(
        &mut self,
        at: &ListingPosition,
        start: Option<u64>,
        address: u64,
        text: &[u8],
        target: Option<u64>,
    ) {
        let Some(function) = &at.function else { return };
        let key = (at.object, Arc::clone(function), start);
        if self.functions.get(&key).is_some_and(|known| known.contains_key(&address)) {
            return;
        }
        let is_new = !self.functions.contains_key(&key);
        if self.count >= MAX_TEXT_INSTRUCTIONS || (is_new && self.functions.len() >= MAX_CODE_TEXTS) {
            self.is_full = true;
            return;
        }
        self.count += 1;
        let text = text.get(..text.len().min(MAX_TEXT)).unwrap_or_default();
        let instruction = TextInstruction {
            address,
            text: clean(String::from_utf8_lossy(text)).into(),
            target,
            file: at.file.clone(),
            line: at.line,
        };
        self.functions.entry(key).or_default().insert(address, instruction);
    }

    /// The functions by address; `agents`: the agent of each code object.
    pub(super) fn into_capture(self, agents: &[Option<usize>]) -> Vec<CodeText> {
        let text = |((object, function, start), rows): (Key, BTreeMap<u64, TextInstruction>)| CodeText {
            agent: object.and_then(|object| agents.get(object).copied().flatten()),
            function,
            start,
            instructions: rows.into_values().collect(),
        };
        let mut texts: Vec<CodeText> = self.functions.into_iter().map(text).collect();
        texts.sort_by(|one, other| {
            (one.agent, one.start, &one.function).cmp(&(other.agent, other.start, &other.function))
        });
        texts
    }
}
