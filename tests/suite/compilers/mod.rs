//! Code as compilers and linkers write it.

mod containers;
