//! Code as compilers and linkers write it.

mod containers;
mod offload;
mod openmp;
mod release;
mod shared;
mod triton;
