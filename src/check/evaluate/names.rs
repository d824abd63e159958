//! Hints about names.

use crate::check::similar::similar;

/// `did you mean ...`, if one of the names is similar.
pub(super) fn similar_names(name: &str, known: impl IntoIterator<Item = String>) -> Option<String> {
    let known: Vec<String> = known.into_iter().collect();
    let found = similar(name, known.iter().map(String::as_str)).filter(|found| *found != name)?;
    Some(format!("did you mean `{found}`?"))
}
