//! The view's own parts, one by one; whole views are tests/suite/view.rs.

mod files;
mod frames;
mod places;
