#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lanescope_fuzz::isa::run(bytes));
