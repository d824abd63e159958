//! Logs of the debug agent and texts of umr: an unlimited number of rows, and an endless line.

use std::fs::OpenOptions;
use std::io::Write as _;

use super::run::Hostile;
use crate::support::sample::sampled;

const ROWS: usize = 100_000;

const COMMANDS: [&str; 2] = ["info --processor gfx90a DUMP", "waves --processor gfx90a DUMP"];

/// The first lines that identify the formats.
fn starts() -> [(&'static str, String); 2] {
    let logs = crate::fixtures::fixtures().join("logs");
    let first = |name: &str, lines: usize| {
        let text = std::fs::read_to_string(logs.join(name)).unwrap();
        text.lines().take(lines).collect::<Vec<_>>().join("\n") + "\n"
    };
    [("agent", first("agent-plain.log", 22)), ("umr", first("umr-columns.txt", 5))]
}

#[test]
fn many_short_rows() {
    for (format, start) in starts() {
        let rows = ["0\n", "\n", "[0] 0\n", "v0: [0] 0\n", ">SGPRS[0..3] = { 0 }\n", "    0x0000: 0\n"];
        for row in sampled(rows, 2) {
            let text = start.clone() + &row.repeat(ROWS);
            let said = Hostile::with_file("log", text.as_bytes()).each(&COMMANDS);
            said.prints("waves", if format == "agent" { "7" } else { "se0" });
        }
    }
}

#[test]
fn a_line_without_end() {
    for (format, start) in starts() {
        for part in sampled(["0 ", "x", "v0: [0] 00000000 ", "[0] 00000000 "], 2) {
            // 100 MB in memory would cost the test more than the program's read.
            let hostile = Hostile::with_file("log", start.as_bytes());
            let mut log = OpenOptions::new().append(true).open(hostile.folder().join("log")).unwrap();
            let megabyte = part.repeat((1 << 20) / part.len());
            (0..100).for_each(|_| log.write_all(megabyte.as_bytes()).unwrap());
            log.write_all(b"\n").unwrap();
            let said = hostile.each(&COMMANDS);
            said.prints("waves", if format == "agent" { "7" } else { "se0" });
        }
    }
}

/// Waves of umr's columns, the shortest that are waves, and waves with few registers: `export` takes a bounded output for each.
#[test]
fn an_export_of_many_waves() {
    const WAVES: usize = 20_000;
    let header = "SE SH CU SIMD WAVE# WAVE_STATUS PC_HI PC_LO\n";
    for (row, most) in [("0 0 0 0 0\n", 1 << 10), ("0 0 0 0 0 00000000 00000001 000e10cc\n", 1 << 10)] {
        let text = header.to_owned() + &row.repeat(WAVES);
        let said = Hostile::with_file("log", text.as_bytes()).each(&["export --processor gfx90a DUMP"]);
        said.is_shorter("export", WAVES * most).counts(
            "export --processor gfx90a DUMP",
            "\"ordinal\"",
            WAVES,
        );
    }
}
