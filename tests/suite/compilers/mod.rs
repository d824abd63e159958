//! Code as compilers and linkers write it.

mod containers;
mod release;
mod shared;
mod triton;
