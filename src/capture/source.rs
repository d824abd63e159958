//! Captured source files and their names.

use std::collections::BTreeSet;

use super::backing::Extent;

/// Maximum size of a captured source file in bytes; generated sources have some megabytes.
pub const MAX_SOURCE: u64 = 16 << 20;

/// Maximum number of source files in a capture.
pub const MAX_SOURCE_FILES: usize = 16_384;

/// A source file of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// Its [normal path](normal_path): the name in line tables, with their compilation directory.
    pub path: String,
    /// Its text.
    pub extent: Extent,
}

/// Normalises a path by its text alone: removes `.`, `..` and repeated slashes. `None` if it is empty or a relative
/// path that leaves its folder.
#[must_use]
pub fn normal_path(path: &str) -> Option<String> {
    let is_absolute = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            // `/..` is `/`.
            ".." if parts.pop().is_none() && !is_absolute => return None,
            ".." => {}
            part => parts.push(part),
        }
    }
    let root = if is_absolute { "/" } else { "" };
    (!parts.is_empty()).then(|| format!("{root}{}", parts.join("/")))
}

/// Replacements for prefixes of source paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceMap(Vec<(String, String)>);

/// An invalid prefix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no folder of source files")]
pub struct SourceMapError(pub String);

impl SourceMap {
    /// Adds a prefix; `.` matches all relative paths.
    ///
    /// # Errors
    /// `from` is empty, or a relative path that leaves its folder.
    pub fn add(&mut self, from: &str, to: &str) -> Result<(), SourceMapError> {
        let prefix = match from {
            "." | "./" => String::new(),
            "/" => "/".to_owned(),
            from => normal_path(from).ok_or_else(|| SourceMapError(from.to_owned()))?,
        };
        self.0.push((prefix, to.trim_end_matches('/').to_owned()));
        Ok(())
    }

    /// Whether it has no prefix.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Applies the first matching prefix to a [normal path](normal_path); returns the prefix's index and the result,
    /// `None` without a match.
    #[must_use]
    pub fn apply(&self, path: &str) -> Option<(usize, String)> {
        self.0.iter().enumerate().find_map(|(index, (from, to))| {
            let rest = match from.as_str() {
                "" => (!path.starts_with('/')).then_some(path)?,
                "/" => path.strip_prefix('/')?,
                from => path.strip_prefix(from)?.strip_prefix('/')?,
            };
            Some((index, format!("{to}/{rest}")))
        })
    }

    /// A message for each prefix that matched no path; `used`: the indexes of the others.
    #[must_use]
    pub fn unused(&self, used: &BTreeSet<usize>) -> Vec<String> {
        let unused = self.0.iter().enumerate().filter(|(index, _)| !used.contains(index));
        unused
            .map(|(_, (from, _))| match from.as_str() {
                "" => "--source-map .: no source file has a relative path".to_owned(),
                from => format!("--source-map {from}: no source file has a path that begins with it"),
            })
            .collect()
    }
}

#[cfg(test)]
#[path = "source_tests.rs"]
mod tests;
