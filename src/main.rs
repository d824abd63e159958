//! Starts lanescope: logging, the command line, the exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("warn")).init();
    lanescope::cli::main()
}
