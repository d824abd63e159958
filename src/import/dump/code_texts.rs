//! `[[code_text]]`: disassembled code as text.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::build::Builder;
use super::key::Key;
use super::manifest;
use super::read::LEFT_OUT;
use crate::capture::{CodeText, MAX_CODE_TEXTS, MAX_TEXT_INSTRUCTIONS, TextInstruction};
use crate::clean::clean;
use crate::import::problem::Problems;

impl Builder<'_, '_> {
    pub(super) fn code_texts(&mut self) {
        let table = Key::Root.name("code_text");
        let mut left = MAX_TEXT_INSTRUCTIONS;
        for (index, entry) in self.problems.entries(&Key::Root, "code_text", &self.manifest.code_text) {
            let key = table.index(index);
            if self.capture.code_texts.len() >= MAX_CODE_TEXTS {
                let expected = format_args!("at most {MAX_CODE_TEXTS} functions");
                self.problems.report(key, "this and those after it are left out", expected);
                break;
            }
            self.problems.extra(&key, &entry.extra);
            if self.problems.required(&key, "function", &entry.function).is_none() {
                continue;
            }
            let function = self.problems.text(&key, "function", &entry.function);
            let Some(function) = function else { continue };
            let start = self.problems.number(&key, "start", &entry.start);
            let agent = self.agents.resolve(&mut self.problems, &key, "agent", &entry.agent);
            if agent.is_none() && entry.agent.is_given() {
                continue;
            }
            let instructions = self.problems.instructions(&key, entry, &mut left);
            self.capture.code_texts.push(CodeText { agent, function: function.into(), start, instructions });
        }
    }
}

impl Problems {
    /// The instructions of a function; `left`: the number that the dump may still have.
    fn instructions(
        &mut self,
        key: &Key<'_>,
        entry: &manifest::CodeText<'_>,
        left: &mut usize,
    ) -> Vec<TextInstruction> {
        let mut found: BTreeMap<u64, TextInstruction> = BTreeMap::new();
        // The instructions of a function name few files.
        let mut files: HashMap<&str, Arc<str>> = HashMap::new();
        let list = key.name("instructions");
        for (index, one) in self.entries(key, "instructions", &entry.instructions) {
            let key = list.index(index);
            if *left == 0 {
                let expected = format_args!("at most {MAX_TEXT_INSTRUCTIONS} instructions");
                self.report(key, "this and those after it are left out", expected);
                break;
            }
            self.extra(&key, &one.extra);
            let address = self.needed(&key, "address", &one.address, LEFT_OUT).copied();
            let is_given = self.needed(&key, "text", &one.text, LEFT_OUT).is_some();
            let text = if is_given { self.text(&key, "text", &one.text) } else { None };
            let (Some(address), Some(text)) = (address, text) else { continue };
            if found.contains_key(&address) {
                self.report(
                    key.name("address"),
                    "that of an earlier instruction; this one is left out",
                    "each once",
                );
                continue;
            }
            let file = self
                .given(&key, "file", &one.file)
                .map(|file| Arc::clone(files.entry(&file.0).or_insert_with(|| Arc::from(clean(&*file.0)))));
            let target = self.number(&key, "target", &one.target);
            let line = self.number(&key, "line", &one.line);
            *left -= 1;
            found.insert(address, TextInstruction { address, text: text.into(), target, file, line });
        }
        found.into_values().collect()
    }
}
