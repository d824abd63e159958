//! Unit tests of the view's parts; tests/suite/view.rs tests whole views.

mod files;
mod frames;
mod places;
mod pointers;
