//! Paths: their trees, their text form, and the columns of errors.

mod arithmetic;
mod parsing;
mod properties;
mod using;
