//! Samples of what is tried in full by `scripts/test --long`: cases that differ in a number, a place or a processor.

/// Whether everything is tried: only 1 counts, as `scripts/test --long` sets it.
pub(crate) fn is_long() -> bool {
    std::env::var_os("LANESCOPE_LONG").is_some_and(|value| value == "1")
}

/// The first case, and each so many cases a further one; all of them in `scripts/test --long`.
pub(crate) fn sampled<T>(cases: impl IntoIterator<Item = T>, each: usize) -> impl Iterator<Item = T> {
    cases.into_iter().step_by(if is_long() { 1 } else { each })
}

/// The least number that a test must reach: of all cases, or of the sample.
pub(crate) fn least(of_all: usize, of_sample: usize) -> usize {
    if is_long() { of_all } else { of_sample }
}
