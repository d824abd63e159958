//! Names and dereferences in a line of source text.

/// The use of a path in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Use {
    /// The line lacks one of its names.
    Absent,
    /// The line has its names.
    Named,
    /// `*p`, `p->m`.
    Dereferenced,
    /// `p[i]`, `p(i)`.
    Indexed,
}

/// The names of a line, and its text without spaces.
#[derive(Clone, Debug, Default)]
pub(in crate::triage) struct Line<'t> {
    names: Vec<&'t str>,
    dense: String,
}

impl<'t> Line<'t> {
    pub(in crate::triage) fn new(text: &'t str) -> Self {
        // A comment of the line names nothing.
        let text = text.split_once("//").map_or(text, |(code, _)| code);
        let dense = text.chars().filter(|symbol| !symbol.is_whitespace()).collect();
        Self { names: names(text).collect(), dense }
    }

    /// Whether the line has all names of a path: `body.at`, `list->next`.
    pub(in crate::triage) fn has(&self, path: &str) -> bool {
        self.use_of(path) > Use::Absent
    }

    /// The use of a path. Members of `this` need no `this`.
    pub(super) fn use_of(&self, path: &str) -> Use {
        let mut last = None;
        for name in names(path).filter(|name| *name != "this") {
            if !self.names.contains(&name) {
                return Use::Absent;
            }
            last = Some(name);
        }
        let Some(last) = last else { return Use::Absent };
        let uses = self.dense.match_indices(last).map(|(at, _)| {
            let before = self.dense.get(..at).unwrap_or_default();
            let after = self.dense.get(at + last.len()..).unwrap_or_default();
            if before.ends_with(is_part) || after.starts_with(is_part) {
                Use::Absent
            } else if after.starts_with(['[', '(']) {
                Use::Indexed
            } else if after.starts_with("->") || before.ends_with('*') {
                Use::Dereferenced
            } else {
                Use::Named
            }
        });
        uses.max().unwrap_or(Use::Named).max(Use::Named)
    }
}

fn is_part(symbol: char) -> bool {
    symbol.is_alphanumeric() || symbol == '_'
}

/// The names in a text.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|symbol: char| !is_part(symbol));
    words.filter(|word| word.starts_with(|first: char| first.is_alphabetic() || first == '_'))
}
