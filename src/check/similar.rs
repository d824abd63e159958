//! Similar names: "did you mean".

/// Maximum length of a name, in bytes, that is compared: the distance takes time proportional to the product of both.
const MAX_NAME: usize = 256;

/// The known name with the smallest distance to a name, if that is at most a third of its length, or one that begins
/// with it. A name of one letter is similar to itself alone.
///
/// Case, `-`, `_` and spaces do not count.
pub(crate) fn similar<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let name = folded(name);
    let letters = name.chars().count();
    let limit = (letters / 3).max(1).min(letters.saturating_sub(1));
    let distance = |known: &str| {
        let known = folded(known);
        let is_start = name.len() > 2 && known.starts_with(&name);
        if is_start { 1 } else { strsim::osa_distance(&name, &known) }
    };
    let near = known.into_iter().filter(|known| known.len() <= MAX_NAME && name.len() <= MAX_NAME);
    let near = near.map(|known| (distance(known), known)).filter(|(distance, _)| *distance <= limit);
    near.min_by_key(|(distance, _)| *distance).map(|(_, known)| known)
}

/// A name without the differences between notations: `Memory_Violation`, `memory-violation`, `memory violation`.
pub(super) fn folded(name: &str) -> String {
    let is_letter = |c: &char| !matches!(c, '-' | '_') && !c.is_whitespace();
    name.chars().filter(is_letter).flat_map(char::to_lowercase).collect()
}
