//! Cores of tests/cores, compared with their plans; and the writer, compared with cores that AMD's library read.

mod compare;
mod damage;
mod described;
mod generations;
mod hangs;
mod layout;
mod one_word;
mod samples;
mod slimmed;
mod spooled;
mod wire;
