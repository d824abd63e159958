//! Words of the shell, read back by a shell.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::process::Command;

use super::word_of;

/// A shell reads each word back as the name.
#[test]
fn words_are_those_of_the_shell() {
    for name in [&b"core.1"[..], b"a b", b"it's", b"a\nb", b"\x1b[31m", b"\xff'\\ x", b"$HOME", b""] {
        let name = OsString::from_vec(name.to_vec());
        let script = format!("printf %s {}", word_of(&name));
        let output = Command::new("bash").args(["-c", &script]).output().unwrap();
        assert_eq!(OsString::from_vec(output.stdout), name, "{script}");
    }
}
