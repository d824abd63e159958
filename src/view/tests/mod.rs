//! The view's own parts, one by one; tests/suite/view.rs tests whole views.

mod files;
mod frames;
mod places;
mod pointers;
