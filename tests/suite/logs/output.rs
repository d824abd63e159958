//! Logs inside other output, as people post them.
