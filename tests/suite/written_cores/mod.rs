//! Cores that tests/cores writes, against their plans; and the writer against cores that AMD's library read.

mod compare;
mod damage;
mod described;
mod generations;
mod layout;
mod one_word;
mod samples;
mod slimmed;
mod spooled;
mod wire;
