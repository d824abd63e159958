//! Code as compilers and linkers write it.

mod computed;
mod containers;
mod dynamic_vgprs;
mod fortran;
mod lines;
mod moved;
mod offload;
mod openmp;
mod release;
mod shared;
mod triton;
