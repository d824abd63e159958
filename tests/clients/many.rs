//! Thousands of waves, and in `scripts/test --long` ten thousand: every client lists them all and selects any of them.

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;

use super::harness::{Server, lldb_name, run, scratch, tool};
use super::lldb::choose;
use super::model::fixtures_folder;
use super::script::{Debugger, Script, gdbs};
use crate::support::least;

/// Waves of the dump.
fn waves() -> usize {
    least(10_000, 2_500)
}

/// The first faulting wave; one in a thousand faults.
const FAULTED: usize = 501;

/// Some waves, including the last.
fn some() -> [usize; 4] {
    [1, 501, 1777, waves()]
}

/// The dump, made once per test run.
pub(crate) fn dump() -> PathBuf {
    static DUMP: OnceLock<PathBuf> = OnceLock::new();
    let make = || {
        let folder = scratch("many");
        // Removes the dumps of earlier runs, which would fill the disk.
        for old in fs::read_dir(folder.parent().unwrap()).unwrap().flatten() {
            if old.file_name().to_string_lossy().ends_with("-many") {
                let _ = fs::remove_dir_all(old.path());
            }
        }
        let mut python = tool("python3");
        python.arg(fixtures_folder().join("models/many.py")).arg(waves().to_string()).arg(&folder);
        let said = run(&mut python);
        assert!(folder.join("manifest.json").exists(), "many.py made no dump: {said}");
        folder
    };
    DUMP.get_or_init(make).clone()
}

/// Name of a wave at the generator's position: four waves to a work-group.
fn name(wave: usize) -> String {
    let (group, in_group) = ((wave - 1) / 4, (wave - 1) % 4);
    format!("AMDGPU Wave 1:1:1:{wave} ({group},0,0)/{in_group}")
}

/// v0 of a wave: the work-item's number in the grid.
fn item(wave: usize, lane: usize) -> usize {
    (wave - 1) * 64 + lane
}

#[test]
fn gdb_lists_thousands_of_waves() {
    gdbs().for_each(in_gdb);
}

fn in_gdb(gdb: &'static str) {
    let server = Server::start(&dump(), &[]);
    let mut script = Script::new("many waves");
    script.expect(format!("target remote {}", server.address), format!("Thread {FAULTED} "));
    script.check("threads", "info threads", |text| {
        let mut rows = text.lines().filter(|line| line.contains("AMDGPU Wave "));
        for wave in 1..=waves() {
            let row = rows.next().unwrap_or_default();
            let state = if wave % 1000 == FAULTED { "memory violation" } else { "running" };
            if !(row.contains(&format!(" Thread {wave} \"{}\" ({state}", name(wave)))
                && row.contains(" saxpy ("))
            {
                return Err(format!("wave {wave}: got {row:?}"));
            }
        }
        rows.next().map_or(Ok(()), |row| Err(format!("one too many: {row}")))
    });
    script.expect("monitor wave", format!("Thread {FAULTED}: "));
    for wave in some() {
        script.expect(format!("thread {wave}"), format!("[Switching to thread {wave} (Thread {wave})]"));
        script.expect("p $v0[17]", format!(" = {}", item(wave, 17)));
        script.expect("monitor wave", format!("Thread {wave}: {}", name(wave)));
    }
    script.expect("detach", "detached");
    script.must_pass(&Debugger::Gdb(gdb));
    server.finish();
}

#[test]
fn lldb_lists_thousands_of_waves() {
    let server = Server::start(&dump(), &[]);
    let mut script = Script::new("many waves");
    script.say(format!("gdb-remote {}", server.address));
    script.check("threads", "thread list", |text| {
        let ids: std::collections::BTreeSet<usize> = text
            .lines()
            .filter_map(|line| line.split_once(": tid = ")?.1.split(',').next()?.parse().ok())
            .collect();
        let wanted: std::collections::BTreeSet<usize> = (1..=waves()).collect();
        if ids == wanted { Ok(()) } else { Err(format!("{} threads, not {}", ids.len(), waves())) }
    });
    for wave in some() {
        script.say(format!("thread select --thread-id {wave}"));
        script.expect("register read v0", format!("{{0x{:08x} 0x{:08x} ", item(wave, 0), item(wave, 1)));
        script.expect(choose(wave as u64), name(wave));
    }
    script.expect("detach", "Process 1 detached");
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
}
