//! Limit: gdb takes at most 2.5 times as long as over a server that answers the same bytes from a table, which is gdb's
//! own time. The command is `thread apply all bt 1` of 10,000 waves, with function arguments read through the view.
//!
//! Bench `stacks`. Method: benches/support/table.rs. The dumps have arguments that are optimized out, all
//! in memory, in memory with C++ classes, and in registers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::support::table::{Task, times_a_table};
use crate::support::{Failure, MANY, Promises, many, pin_to_one_core, scratch};

/// Fixtures whose waves a dump repeats, and part of gdb's output.
const FIXTURES: [(&str, &str); 3] = [
    ("saxpy-gfx90a-O0", "(n=1024, a=2, "),
    ("call-gfx90a-O0", "(body=..., scale="),
    ("call-gfx90a-O2", " ticket="),
];
const TIMES_A_TABLE: f64 = 2.5;

pub(crate) fn run(_: Vec<String>) -> Result<ExitCode, Failure> {
    pin_to_one_core()?;
    let mut promises = Promises::default();
    let mut measure = |name: &str, dump: &Path, word: &str| -> Result<(), Failure> {
        let check = |text: &str| {
            let stacks = text.lines().filter(|line| line.starts_with("#0 ")).count();
            // Attaching prints one stack, too.
            if stacks < MANY || !text.contains(word) || text.contains("<error") {
                return Err(format!("{name}: gdb printed {stacks} stacks").into());
            }
            Ok(())
        };
        let task = Task { attaching: false, command: "thread apply all bt 1", check: &check };
        let promise = format!("thread apply all bt 1 of 10,000 waves of {name}, times a table");
        promises.at_most(&promise, &times_a_table(dump, &task)?, TIMES_A_TABLE);
        Ok(())
    };
    measure("saxpy-gfx90a-O2", &many(MANY, scratch("many")?)?, "<optimized out>")?;
    for (name, word) in FIXTURES {
        measure(name, &repeated(name)?, word)?;
    }
    Ok(promises.end())
}

/// A dump that repeats a fixture's waves, each in its own work-group.
fn repeated(name: &str) -> Result<PathBuf, Failure> {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/dumps").join(name);
    let mut manifest: toml::Table = fs::read_to_string(fixture.join("manifest.toml"))?.parse()?;
    let folder = scratch(name)?;
    for entry in fs::read_dir(&fixture)? {
        let entry = entry?;
        if entry.file_name() != "manifest.toml" {
            fs::copy(entry.path(), folder.join(entry.file_name()))?;
        }
    }
    let few = manifest["wave"].as_array().ok_or("no waves")?.clone();
    let group = manifest["workgroup"][0].clone();
    let (mut waves, mut groups) = (Vec::new(), Vec::new());
    for (number, wave) in (0..MANY as i64).zip(few.iter().cycle()) {
        let (mut wave, mut group) = (wave.clone(), group.clone());
        group["id"] = (number + 1).into();
        group["position"] = vec![number, 0, 0].into();
        groups.push(group);
        wave["id"] = (number + 1).into();
        wave["workgroup"] = (number + 1).into();
        wave["wave_in_group"] = 0.into();
        waves.push(wave);
    }
    let width = manifest["dispatch"][0]["workgroup"][0].as_integer().ok_or("no size of work-groups")?;
    manifest["dispatch"][0]["grid"] = vec![width * MANY as i64].into();
    manifest["wave"] = waves.into();
    manifest["workgroup"] = groups.into();
    fs::write(folder.join("manifest.json"), serde_json::to_vec(&manifest)?)?;
    Ok(folder)
}
