//! `lanescope slim` leaves no partial output after a signal.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::slim::{Scratch, listed, words};
use crate::support::{ended, until};

/// A dump that takes longer to write than the test takes to look.
fn large(scratch: &Scratch) -> std::path::PathBuf {
    const SIZE: u64 = 1 << 38;
    let dump = scratch.path("large");
    fs::create_dir(&dump).unwrap();
    fs::File::create(dump.join("memory.bin")).unwrap().set_len(SIZE).unwrap();
    let manifest = json!({
        "format": 1,
        "agent": [{"id": 1, "target": "gfx90a"}],
        "wave": [{"id": 7, "agent": 1, "wave_size": 64}],
        "memory": [{"address": "0x10000", "file": "memory.bin"}],
    });
    fs::write(dump.join("manifest.json"), manifest.to_string()).unwrap();
    dump
}

#[test]
#[cfg(target_os = "linux")]
fn a_signal_takes_away_what_is_half_written() {
    let scratch = Scratch::new("slim-ended");
    let dump = large(&scratch);
    for (signal, number, name) in [("TERM", 15, "a.zip"), ("INT", 2, "b"), ("HUP", 1, "c")] {
        let folder = scratch.path(signal);
        fs::create_dir(&folder).unwrap();
        let mut child = crate::support::lanescope()
            .args(["slim", words(&dump)])
            .args(["--whole", "-o", words(&folder.join(name))])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let partial = until("a file", || Some(listed(&folder)).filter(|files| !files.is_empty()));
        assert!(words(&partial[0]).ends_with(&format!("{name}.{}.partial", child.id())), "{partial:?}");
        let kill = Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status();
        assert!(kill.unwrap().success());
        let status = ended(&mut child, format!("the end after {signal}"));
        // The parent sees the signal.
        assert_eq!(status.signal(), Some(number), "{signal}: {status}");
        assert_eq!(listed(&folder), Vec::<std::path::PathBuf>::new(), "{signal}");
    }
}
