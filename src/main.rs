//! Entry point of lanescope: logging, the command line, the exit code.

#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::panic_in_result_fn,
        clippy::unreachable,
        clippy::todo,
        clippy::unimplemented,
        clippy::indexing_slicing,
        clippy::string_slice
    )
)]

use std::io::Write as _;
use std::process::ExitCode;
use std::time::SystemTime;

use lanescope::clean_lines;

fn main() -> ExitCode {
    let environment = env_logger::Env::default().default_filter_or("warn");
    let mut logger = env_logger::Builder::from_env(environment);
    // Messages quote clients and captures.
    logger.format(|out, record| {
        let (level, words) = (record.level(), clean_lines(record.args().to_string()));
        let time = humantime::format_rfc3339_seconds(SystemTime::now());
        let style = out.default_level_style(level);
        writeln!(out, "[{time} {style}{level:<5}{style:#} {}] {words}", record.target())
    });
    logger.init();
    lanescope::run()
}
