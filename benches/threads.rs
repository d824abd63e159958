//! Limit: gdb takes at most 1.1 times as long as over a server that answers the same bytes from a table, which is gdb's
//! own time. The commands are `target remote` and `info threads` of 10,000 waves.
//!
//! `cargo bench --bench threads`. Method: benches/support/table.rs.

mod support;

use std::fs;
use std::process::ExitCode;

use support::table::{Task, part, times_a_table};
use support::{Failure, MANY, Promises, many, pin_to_one_core, scratch};

fn main() -> Result<ExitCode, Failure> {
    if let Some(done) = part() {
        return done;
    }
    pin_to_one_core()?;
    let dump = many()?;
    let check = |text: &str| {
        let rows = text.matches("\"AMDGPU Wave ").count();
        if rows == MANY { Ok(()) } else { Err(format!("gdb listed {rows} waves").into()) }
    };
    let ratios = times_a_table(&dump, &Task { attaching: true, command: "info threads", check: &check })?;
    let mut promises = Promises::default();
    promises.at_most("target remote and info threads of 10,000 waves, times a table", &ratios, 1.1);
    fs::remove_dir_all(scratch("")?)?;
    Ok(promises.end())
}
