//! Units: their DIEs, attributes, lines and location lists.

pub(super) mod abbreviations;
pub(super) mod attr;
pub(super) mod die;
pub(super) mod dies;
pub(super) mod index;
pub(super) mod index_pass;
pub(super) mod line;
pub(super) mod line_table;
pub(super) mod location;
pub(super) mod sections;
pub(super) mod slot;
pub(super) mod texts;
pub(super) mod units;
pub(super) mod view;
