//! `lanescope --version --verbose`: the build, and what this machine and the program know of GPUs.

use std::io::Write;
use std::process::ExitCode;

use super::Failure;
use crate::arch::Targets;
use crate::report::Style;

/// The facts of a build.
#[derive(Clone, Copy, Debug)]
pub(super) struct Build {
    /// The package's version.
    pub(super) version: &'static str,
    /// The commit of the sources; `None`: the build did not name it.
    pub(super) commit: Option<&'static str>,
    /// The target in Rust's notation.
    pub(super) target: &'static str,
    /// Cargo's profile.
    pub(super) profile: &'static str,
}

/// This build. scripts/release names commit, target and profile by environment variables of the compiler.
pub(super) const BUILD: Build = Build {
    version: env!("CARGO_PKG_VERSION"),
    commit: option_env!("LANESCOPE_COMMIT"),
    target: match option_env!("LANESCOPE_TARGET") {
        Some(target) => target,
        None => HERE,
    },
    profile: match option_env!("LANESCOPE_PROFILE") {
        Some(profile) => profile,
        None if cfg!(debug_assertions) => "dev",
        None => "release",
    },
};

const HERE: &str = if cfg!(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu")) {
    "x86_64-unknown-linux-gnu"
} else if cfg!(all(target_arch = "aarch64", target_os = "linux", target_env = "gnu")) {
    "aarch64-unknown-linux-gnu"
} else {
    std::env::consts::OS
};

/// Whether the words of a command line ask for details of the version.
pub(super) fn is_verbose(words: &[std::ffi::OsString]) -> bool {
    words.iter().any(|word| word == "--verbose")
}

/// Prints the version and its details, a fact in a line.
pub(super) fn print(out: &mut dyn Write) -> Result<ExitCode, Failure> {
    let targets = Targets::builtin();
    let gpus: Vec<&str> = targets.names().collect();
    writeln!(out, "lanescope {}", BUILD.version)?;
    for (name, fact) in [
        ("commit", BUILD.commit.unwrap_or("unknown (built without LANESCOPE_COMMIT)")),
        ("target", BUILD.target),
        ("profile", BUILD.profile),
        ("GPUs", &gpus.join(", ")),
    ] {
        writeln!(out, "{}", Style::Coloured.folded(&format!("{name}: {fact}")))?;
    }
    Ok(ExitCode::SUCCESS)
}
