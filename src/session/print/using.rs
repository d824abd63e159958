//! The possible full names of a name at a frame: by the namespaces and classes around its function, and by imports of
//! `using` into its blocks and into those namespaces.

use super::eval::Scene;
use super::names::words;
use super::object::Answer;
use crate::debuginfo::{Import, ImportKind};

/// Maximum number of full names of one name: namespaces may import one another in cycles.
pub(super) const MAX_FULL_NAMES: usize = 64;

impl Scene<'_, '_> {
    /// The possible meanings of a name, hiding ones first.
    pub(super) fn full_names(&self, name: &str) -> Answer<Vec<String>> {
        if name.starts_with("::") {
            return Ok(vec![name.to_owned()]);
        }
        let imports = match self.found.unit() {
            Some(own) => self.debug().imports(own).map_err(words)?,
            None => Default::default(),
        };
        let in_blocks = self.block_imports();
        let is_namespace = |import: &Import| import.kind == ImportKind::Namespace;
        let mut found = Names::default();
        in_blocks.iter().filter(|import| !is_namespace(import)).for_each(|import| found.by(import, name));
        for prefix in self.around() {
            found.add(format!("{prefix}{name}"));
            let scope = prefix.trim_end_matches("::");
            let here = || imports.iter().filter(|(at, _)| **at == *scope).map(|(_, import)| import);
            here().filter(|import| !is_namespace(import)).for_each(|import| found.by(import, name));
            here().filter(|import| is_namespace(import)).for_each(|import| found.by(import, name));
        }
        in_blocks.iter().filter(|import| is_namespace(import)).for_each(|import| found.by(import, name));
        // A namespace's own imports come with it, and a name may be an alias of a namespace.
        let mut next = 0;
        while let Some(full) = found.0.get(next).cloned() {
            next += 1;
            let scopes = full.match_indices("::").filter_map(|(at, sign)| {
                let (scope, rest) = full.split_at_checked(at)?;
                Some((scope, rest.strip_prefix(sign)?))
            });
            for (scope, rest) in scopes {
                for (_, import) in imports.iter().filter(|(at, _)| **at == *scope) {
                    found.by(import, rest);
                }
            }
        }
        Ok(found.0)
    }

    /// Imports of `using` in the blocks of the frame, the innermost first; unreadable blocks import nothing.
    fn block_imports(&self) -> Vec<Import> {
        let Ok(function) = &self.found.function else { return Vec::new() };
        let scopes: Vec<_> = function.scopes(self.found.inlined).collect();
        let dies = scopes.iter().rev().flat_map(|scope| &scope.imports);
        dies.filter_map(|die| self.debug().import(*die).ok().flatten()).collect()
    }

    /// The namespaces and classes around the function from the inside out, with `::`; the last one is empty.
    pub(super) fn around(&self) -> Vec<String> {
        let frame = self.found.function.as_ref().ok();
        let frame = frame.and_then(|function| function.frames.get(self.found.inlined));
        let name = frame.and_then(|frame| frame.subprogram.qualified_name.clone());
        let mut prefixes = vec![String::new()];
        let (mut depth, mut end) = (0usize, 0);
        let name = name.as_deref().unwrap_or("");
        for (at, c) in name.char_indices() {
            match c {
                '<' => depth += 1,
                '>' => depth = depth.saturating_sub(1),
                ':' if depth == 0
                    && name.get(at..).is_some_and(|rest| rest.starts_with("::"))
                    && at >= end =>
                {
                    end = at + 2;
                    prefixes.extend(name.get(..end).map(str::to_owned));
                }
                _ => {}
            }
        }
        prefixes.reverse();
        prefixes
    }
}

/// Full names, each once.
#[derive(Default)]
pub(super) struct Names(pub(super) Vec<String>);

impl Names {
    pub(super) fn add(&mut self, name: String) {
        if self.0.len() < MAX_FULL_NAMES && !self.0.contains(&name) {
            self.0.push(name);
        }
    }

    fn by(&mut self, import: &Import, name: &str) {
        if let Some(full) = import.meant(name) {
            self.add(full);
        }
    }
}
