//! Code objects against what readelf says of them.
