//! Options with fixed values: one list for the parser, the help and the errors.

use clap::builder::{PossibleValuesParser, TypedValueParser};

/// The parser of an option that accepts these names.
pub(super) fn choice<T: Clone + Send + Sync + 'static>(
    values: impl IntoIterator<Item = (&'static str, T)>,
) -> impl TypedValueParser<Value = T> {
    let values: Vec<(&'static str, T)> = values.into_iter().collect();
    let names: Vec<&'static str> = values.iter().map(|(name, _)| *name).collect();
    PossibleValuesParser::new(names).try_map(move |name| {
        let found = values.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| value.clone()).ok_or("no such value")
    })
}

#[cfg(test)]
#[path = "choice_tests.rs"]
mod tests;
