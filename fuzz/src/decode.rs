//! Arbitrary bytes as an expression of every dialect. Decoding ends, and its result is exact: printing and assembling,
//! or encoding, returns the same bytes.

use lanescope::dwarf::print::NoNames;
use lanescope::dwarf::{Dialect, Encoding, Program, print, text};

pub fn run(bytes: &[u8]) {
    let Some((mode, bytes)) = bytes.split_first() else { return };
    let dialect = Dialect::ALL[usize::from(mode & 3)];
    let encoding = Encoding { dialect, dwarf64: mode & 4 != 0 };
    match Program::decode(bytes, encoding) {
        Ok(program) => {
            assert_eq!(program.encode(), bytes, "encoding is exact");
            let words = print::program(&program, &NoNames);
            let again = text::assemble(&words, encoding, &NoNames);
            assert_eq!(again.as_deref(), Ok(bytes), "{words}");
        }
        Err(error) => assert!(error.at.0 <= bytes.len(), "an error is within the bytes"),
    }
    if let Ok(words) = std::str::from_utf8(bytes)
        && let Ok(bytes) = text::assemble(words, encoding, &NoNames)
    {
        Program::decode(&bytes, encoding).expect("what is assembled decodes");
    }
}
