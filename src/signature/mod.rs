//! Signatures of crashes and hangs: equal for equal causes, over ids, addresses, lanes, grids and GPUs.
//!
//! Input: sessions over a dump, with the result of `triage`, and rules about functions. Output: [`Signature`], with the
//! version of its rules. docs/signatures.md has the rules.

use serde::Serialize;

/// The version of the rules, the prefix of every signature.
pub const VERSION: &str = "ls1";

/// A signature of some waves of a dump.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Signature {
    /// `ls1:3f9c2a71`
    pub id: String,
    /// The parts in words: `memory violation | saxpy @ saxpy.hip | load`.
    pub text: String,
    /// Whether it is made without debug information: kernel, offset, build id.
    pub is_weak: bool,
    /// Number of waves with it.
    pub waves: usize,
}
