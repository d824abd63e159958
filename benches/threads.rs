//! Limit: gdb takes at most 1.3 times as long as over a server that answers the same bytes from a table, which is
//! gdb's own time. The commands are `target remote` and `info threads` of 10,000 waves.
//!
//! Bench `threads`. Method: benches/support/table.rs.

use std::process::ExitCode;

use crate::support::table::{Task, times_a_table};
use crate::support::{Failure, MANY, Promises, many, pin_to_one_core, scratch};

const TIMES_A_TABLE: f64 = 1.3;

pub(crate) fn run(_: Vec<String>) -> Result<ExitCode, Failure> {
    pin_to_one_core()?;
    let dump = many(MANY, scratch("many")?)?;
    let check = |text: &str| {
        let rows = text.matches("\"AMDGPU Wave ").count();
        if rows == MANY { Ok(()) } else { Err(format!("gdb listed {rows} waves").into()) }
    };
    let ratios = times_a_table(&dump, &Task { attaching: true, command: "info threads", check: &check })?;
    let mut promises = Promises::default();
    promises.at_most("target remote and info threads of 10,000 waves, times a table", &ratios, TIMES_A_TABLE);
    Ok(promises.end())
}
