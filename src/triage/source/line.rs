//! Names and dereferences in a line of source text.

use crate::isa::Direction;

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
        let mut names = names(path).filter(|name| *name != "this").peekable();
        names.peek().is_some() && names.all(|name| self.names.contains(&name))
    }

    /// Names that are not among those known.
    pub(super) fn further<'l>(
        &'l self,
        is_known: impl Fn(&str) -> bool + 'l,
    ) -> impl Iterator<Item = &'l str> {
        self.names.iter().copied().filter(move |name| !is_known(name))
    }

    /// The indexes and members after each use of a path; those of uses in that direction, if there are any.
    pub(super) fn chains(&self, path: &str, direction: Direction) -> Vec<Chain> {
        let uses = self.uses(path);
        let is_used = |at: &UseAt<'_>| at.is_used(direction);
        let has_own = uses.iter().any(is_used);
        let own = uses.iter().filter(|at| !has_own || is_used(at));
        own.filter_map(|at| match at.after.strip_prefix(')').filter(|_| at.before.ends_with("(*")) {
            Some(after) => chain(after, true),
            None => chain(at.after, false),
        })
        .collect()
    }

    /// Whether the line has an access through a path in that direction.
    pub(super) fn has_side(&self, path: &str, direction: Direction) -> bool {
        self.uses(path).iter().any(|at| at.is_used(direction))
    }

    /// The use of a path. Members of `this` need no `this`. A path whose names the line has, but not in this form, is
    /// only named: `*rows` in `rows[r][i]`.
    pub(super) fn use_of(&self, path: &str) -> Use {
        let uses = self.uses(path);
        let greatest = uses.iter().map(|at| {
            if at.is_loose {
                Use::Named
            } else if at.after.starts_with(['[', '(']) {
                Use::Indexed
            } else if at.after.starts_with("->") || at.before.ends_with('*') {
                Use::Dereferenced
            } else {
                Use::Named
            }
        });
        greatest.max().unwrap_or(if self.has(path) { Use::Named } else { Use::Absent })
    }

    /// The uses of a path as it is; if there are none, those of its last name.
    fn uses(&self, path: &str) -> Vec<UseAt<'_>> {
        let (own, is_target) = match path.strip_prefix('*') {
            Some(own) => (own, true),
            None => (path, false),
        };
        let own = own.strip_prefix("this->").unwrap_or(own);
        let Some(first) = names(own).next().filter(|_| own.starts_with(is_part)) else {
            return Vec::new();
        };
        let exact = self.places(first).filter_map(|(before, after)| {
            let after = self.rest(after, own.get(first.len()..)?)?;
            Some(match is_target {
                false => UseAt { before, after, is_loose: false },
                // `*p` and `(*p)[i]`.
                true => match (before.strip_suffix("(*"), after.strip_prefix(')')) {
                    (Some(before), Some(after)) => UseAt { before, after, is_loose: false },
                    _ => UseAt { before: before.strip_suffix('*')?, after, is_loose: false },
                },
            })
        });
        let exact: Vec<UseAt<'_>> = exact.collect();
        if !exact.is_empty() || !self.has(path) {
            return exact;
        }
        let is_loose = is_target || own.contains(['.', '>', '%', '[']);
        let last = names(own).last().map(|last| self.places(last));
        let uses = last.into_iter().flatten();
        uses.map(|(before, after)| UseAt { before, after, is_loose }).collect()
    }

    /// The text before and after each place of a name.
    fn places(&self, name: &str) -> impl Iterator<Item = (&str, &str)> {
        self.dense.match_indices(name).filter_map(|(at, name)| {
            let (before, after) = (self.dense.get(..at)?, self.dense.get(at + name.len()..)?);
            (!before.ends_with(is_part) && !after.starts_with(is_part)).then_some((before, after))
        })
    }

    /// Whether an index of an array in the line, if there is one, may be that of a variable or work-item.
    pub(super) fn may_have(&self, path: &str, index: &str) -> bool {
        let uses = self.uses(path);
        let indexes = uses.iter().filter_map(|at| {
            let inner = at.after.strip_prefix('[')?;
            inner.get(..closing(inner)?)
        });
        let indexes: Vec<&str> = indexes.collect();
        indexes.is_empty() || indexes.into_iter().any(|own| own == index || may_be_item(own))
    }

    /// The text after the rest of a path: members and indexes. An index by the number of the lane is any index of the
    /// line.
    fn rest<'d>(&self, mut text: &'d str, mut path: &str) -> Option<&'d str> {
        while !path.is_empty() {
            if let Some(inner) = path.strip_prefix('[') {
                let end = closing(inner)?;
                let index = inner.get(..end)?;
                let found = text.strip_prefix('[')?;
                let close = closing(found)?;
                let is_lane = names(index).any(|name| name == "lane" && !self.names.contains(&name));
                let own = found.get(..close)?;
                if own != index && !(is_lane && may_be_item(own)) {
                    return None;
                }
                (path, text) = (inner.get(end + 1..)?, found.get(close + 1..)?);
                continue;
            }
            path = member(path)?;
            text = member(text)?;
            let end = path.find(|symbol| !is_part(symbol)).unwrap_or(path.len());
            text = text.strip_prefix(path.get(..end).filter(|name| !name.is_empty())?)?;
            path = path.get(end..)?;
            if text.starts_with(is_part) {
                return None;
            }
        }
        Some(text)
    }
}

/// A place of a path in a line without spaces.
#[derive(Clone, Copy, Debug)]
struct UseAt<'d> {
    before: &'d str,
    after: &'d str,
    /// Whether only the names are those of the path.
    is_loose: bool,
}

impl UseAt<'_> {
    /// Whether the source has an access in that direction here: `x[i] = y[i]` writes x and reads y. It reads the
    /// pointers in a written path, too. An atomic can be any.
    fn is_used(&self, direction: Direction) -> bool {
        let pointee = self.after.strip_prefix(')').filter(|_| self.before.ends_with("(*"));
        let Some((count, after)) = operator(pointee.unwrap_or(self.after)) else { return true };
        let is_set = after.starts_with('=') && !after.starts_with("==");
        let is_step = |text: &str| text.starts_with("++") || text.starts_with("--");
        let is_changed = is_step(after)
            || self.before.ends_with("++")
            || self.before.ends_with("--")
            || CHANGES.iter().any(|operator| after.starts_with(operator));
        match direction {
            Direction::Load => !is_set || count > 1,
            Direction::Store => is_set || is_changed,
            Direction::Atomic { .. } => true,
        }
    }
}

/// Whether an index may be that of the work-item: `i`, `blockIdx.x * blockDim.x + threadIdx.x`, but not `i & 3`.
fn may_be_item(index: &str) -> bool {
    !index.contains(['&', '%', '/', '^', '<', '>', '|', '-', '?', '[']) && names(index).next().is_some()
}

/// The operators that read and write.
const CHANGES: [&str; 10] = ["+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="];

/// The text after the sign of a member.
fn member(text: &str) -> Option<&str> {
    text.strip_prefix("->").or_else(|| text.strip_prefix(['.', '%']))
}

/// The text after the indexes and members of a path, and the number of its indexes and dereferences.
fn operator(mut text: &str) -> Option<(usize, &str)> {
    let mut count = 0;
    loop {
        if let Some(inner) = text.strip_prefix(['[', '(']) {
            text = inner.get(closing(inner)? + 1..)?;
            count += 1;
        } else if let Some(name) = member(text) {
            count += usize::from(text.starts_with('-'));
            text = name.trim_start_matches(is_part);
        } else {
            return Some((count, text));
        }
    }
}

/// The indexes after a name with the members after each: `t` and `i`, `.a` and nothing of `s[t].a[i]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Chain {
    pub(super) indexes: Vec<String>,
    pub(super) members: Vec<String>,
}

impl Chain {
    /// Whether the source reads these members on the way: a pointer that it follows further, or a vector of which it
    /// names components.
    pub(super) fn leads_to(&self, members: &[String]) -> bool {
        let Some((last, outer)) = members.split_last() else { return false };
        let Some((own, rest)) = self.members.get(outer.len()..).and_then(<[String]>::split_first) else {
            return false;
        };
        let is_further = rest.is_empty() || !last.is_empty();
        let components = own.strip_prefix(last.as_str());
        self.members.starts_with(outer)
            && (own == last && is_further || components.is_some_and(|of| !last.is_empty() && is_swizzle(of)))
    }
}

/// Whether a text names components of a vector: `.x`, `.xyz`, `.s0`.
fn is_swizzle(text: &str) -> bool {
    let Some(names) = text.strip_prefix('.').filter(|names| !names.is_empty()) else { return false };
    let numbers = names.strip_prefix(['s', 'S']).filter(|numbers| !numbers.is_empty());
    names.chars().all(|name| "xyzw".contains(name))
        || numbers.is_some_and(|numbers| numbers.chars().all(|digit| digit.is_ascii_hexdigit()))
}

/// The chain at the start of a text without spaces. `is_pointee`: it follows `(*p)`.
fn chain(mut text: &str, is_pointee: bool) -> Option<Chain> {
    let mut found = Chain::default();
    let pointee = if is_pointee { Some(text) } else { text.strip_prefix("->") };
    if let Some(rest) = pointee {
        found.indexes.push("0".to_owned());
        found.members.push(String::new());
        if !is_pointee {
            let end = rest.find(|symbol| !is_part(symbol)).unwrap_or(rest.len());
            found.members.last_mut()?.push_str(&format!(".{}", rest.get(..end)?));
            text = rest.get(end..)?;
        }
    }
    loop {
        if let Some(inner) = text.strip_prefix('[') {
            let end = closing(inner)?;
            found.indexes.push(inner.get(..end)?.to_owned());
            found.members.push(String::new());
            text = inner.get(end + 1..)?;
        } else if let (Some(inner), true) = (text.strip_prefix('('), found.indexes.is_empty()) {
            // Fortran's fastest index is the first.
            let end = closing(inner)?;
            found.indexes = inner.get(..end)?.split(',').rev().map(str::to_owned).collect();
            found.members = vec![String::new(); found.indexes.len()];
            text = inner.get(end + 1..)?;
        } else if let (Some(inner), Some(last)) = (text.strip_prefix(['.', '%']), found.members.last_mut()) {
            let end = inner.find(|symbol| !is_part(symbol)).unwrap_or(inner.len());
            last.push_str(&format!(".{}", inner.get(..end)?));
            text = inner.get(end..)?;
        } else {
            return (!found.indexes.is_empty()).then_some(found);
        }
    }
}

/// The place of the bracket that closes the text.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0u32;
    for (at, symbol) in text.char_indices() {
        match symbol {
            '[' | '(' => depth += 1,
            ']' | ')' if depth == 0 => return Some(at),
            ']' | ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn is_part(symbol: char) -> bool {
    symbol.is_alphanumeric() || symbol == '_'
}

/// The names in a text.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|symbol: char| !is_part(symbol));
    words.filter(|word| word.starts_with(|first: char| first.is_alphabetic() || first == '_'))
}
