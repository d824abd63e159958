//! The report of a dump: one model, rendered as HTML, Markdown and text.
//!
//! Input: a dump with its sessions. Output: [`Model`], which each renderer prints; the forms agree because no renderer
//! asks the dump. docs/report.md describes the sections.

mod build;
pub mod html;
pub mod markdown;
mod model;
mod paths;
pub mod text;

pub use build::{Options, model};
pub use model::*;

/// A report that could not be rendered.
#[derive(Debug, thiserror::Error)]
#[error("the report cannot be rendered: {0}")]
pub struct RenderError(#[from] askama::Error);
