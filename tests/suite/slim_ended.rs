//! `lanescope slim` leaves no partial output after a signal.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::slim::{Scratch, listed, words};

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
        // The test process may ignore some of them.
        let mut child = Command::new("env")
            .args([
                "--default-signal=TERM,INT,HUP,QUIT",
                env!("CARGO_BIN_EXE_lanescope"),
                "slim",
                words(&dump),
            ])
            .args(["--whole", "-o", words(&folder.join(name))])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let begun = Instant::now();
        while listed(&folder).is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(60), "nothing is written");
            std::thread::sleep(Duration::from_millis(5));
        }
        let partial = listed(&folder);
        assert!(words(&partial[0]).ends_with(&format!("{name}.{}.partial", child.id())), "{partial:?}");
        let kill = Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status();
        assert!(kill.unwrap().success());
        let status = child.wait().unwrap();
        // The parent sees the signal.
        assert_eq!(status.signal(), Some(number), "{signal}: {status}");
        assert_eq!(listed(&folder), Vec::<std::path::PathBuf>::new(), "{signal}");
    }
}
