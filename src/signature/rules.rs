//! Rules about functions: frames that do not count, and frames of libraries.

use serde::Deserialize;

/// Functions of runtimes and compilers that no crash is about.
const IRRELEVANT: &[&str] = &[
    "__assert_fail",
    "__assertfail",
    "__assert*",
    "abort",
    "__cxa_*",
    "__device_trap",
    "__builtin_trap",
    "__trap",
    "__clang_*",
    "__hip_*",
    "__ockl_*",
    "__ocml_*",
    "__llvm_*",
    "llvm.*",
    "__kmpc_*",
    "__omp_*",
    "_omp_*",
    "ompx::*",
    "omp_get_*",
    "omp_set_*",
    "omp_in_*",
    "omp_is_*",
    "hip_impl::*",
    // Wrappers of HIP's headers: amd_hip_atomic.h, amd_hip_unsafe_atomics.h, amd_device_functions.h.
    "atomicAdd*",
    "atomicSub*",
    "atomicExch*",
    "atomicMin*",
    "atomicMax*",
    "atomicInc*",
    "atomicDec*",
    "atomicAnd*",
    "atomicOr*",
    "atomicXor*",
    "atomicCAS*",
    "unsafeAtomic*",
    "safeAtomic*",
    "__syncthreads*",
    "__shfl*",
    "__threadfence*",
    "__half*",
    "std::*",
    "operator new",
    "operator delete",
];
/// Functions of libraries: the innermost one counts beside the program's.
const PREFIX: &[&str] = &[
    "rocprim::*",
    "hipcub::*",
    "cub::*",
    "thrust::*",
    "ck::*",
    "ck_tile::*",
    "Kokkos::*",
    "desul::*",
    "RAJA::*",
    "rocblas*",
    "rocwmma::*",
    "triton::*",
    "tl.*",
    "libdevice.*",
    "at::native::*",
    "c10::*",
    "hip::*",
];

/// Rules about functions. A pattern is a folded name; `*` at its end stands for any rest.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rules {
    /// Frames that never count.
    pub irrelevant: Vec<String>,
    /// Frames of libraries: the innermost one counts if it is inner to the program's.
    pub prefix: Vec<String>,
    /// The program's frames; empty: all that no other pattern matches.
    pub in_app: Vec<String>,
    /// Whether the built-in patterns apply, too.
    pub built_in: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Self { irrelevant: Vec::new(), prefix: Vec::new(), in_app: Vec::new(), built_in: true }
    }
}

/// The text of a file of rules is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct RulesError(String);

/// The rule that matches a function, with its pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sort<'r> {
    Irrelevant(&'r str),
    Prefix(&'r str),
    InApp,
}

impl Rules {
    /// Parses a file of rules: TOML with `irrelevant`, `prefix`, `in_app` and `built_in`.
    ///
    /// # Errors
    /// [`RulesError`].
    pub fn parse(text: &str) -> Result<Self, RulesError> {
        let rules: Self = toml::from_str(text).map_err(|error| RulesError(error.to_string()))?;
        for pattern in rules.irrelevant.iter().chain(&rules.prefix).chain(&rules.in_app) {
            if pattern.strip_suffix('*').unwrap_or(pattern).contains('*') {
                return Err(RulesError(format!("`{pattern}`: `*` is possible at the end of a pattern only")));
            }
        }
        Ok(rules)
    }

    /// The rule for a folded name. The user's patterns are first.
    pub(super) fn sort(&self, function: &str) -> Sort<'_> {
        if first(&self.in_app, function).is_some() {
            return Sort::InApp;
        }
        if let Some(pattern) = first(&self.irrelevant, function) {
            return Sort::Irrelevant(pattern);
        }
        if let Some(pattern) = first(&self.prefix, function) {
            return Sort::Prefix(pattern);
        }
        if self.built_in {
            if let Some(pattern) = first(IRRELEVANT, function) {
                return Sort::Irrelevant(pattern);
            }
            if let Some(pattern) = first(PREFIX, function) {
                return Sort::Prefix(pattern);
            }
        }
        if self.in_app.is_empty() { Sort::InApp } else { Sort::Prefix("in_app") }
    }
}

/// The first pattern that matches.
fn first<'p>(patterns: &'p [impl AsRef<str>], function: &str) -> Option<&'p str> {
    patterns.iter().map(AsRef::as_ref).find(|pattern| fits(pattern, function))
}

fn fits(pattern: &str, function: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => function.starts_with(start),
        None => function == pattern,
    }
}
