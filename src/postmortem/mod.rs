//! The report of a dump: one model, rendered as HTML, Markdown and text.
//!
//! Input: sessions over a dump, with the results of `triage` and `signature`. Output: [`Model`], which each renderer
//! prints; the forms agree because no renderer asks the dump.

use serde::Serialize;

/// The contents of a report.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Model {
    /// The dump's name.
    pub name: String,
}
