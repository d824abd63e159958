//! The settings by which a crash leaves a capture, and those that cannot be made.

use std::io;
use std::path::Path;
use std::process::Command;

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use super::Args;
use crate::clean::clean;
use crate::cli::Failure;
use crate::cli::doctor::Check;
use crate::cli::doctor::crashes::{self, PATTERN};

/// The variables of ROCm's runtime that switch cores off, and load the debug agent.
const DISABLED: &str = "HSA_DISABLE_COREDUMP_ON_EXCEPTION";
const AGENT: [(&str, &str); 2] = [("HSA_TOOLS_LIB", "librocm-debug-agent.so.2"), ("HSA_ENABLE_DEBUG", "1")];

/// Applies the settings to the program, and the limit to this process, whose children inherit it; returns the sentences
/// about what is not as it should be.
pub(super) fn apply(program: &mut Command, args: &Args, folder: &Path) -> Result<Vec<String>, Failure> {
    let limit = getrlimit(Resource::RLIMIT_CORE).and_then(|(_, hard)| {
        setrlimit(Resource::RLIMIT_CORE, hard, hard)?;
        Ok((hard, hard))
    });
    let checks = [crashes::driver(), crashes::size(limit.map_err(io::Error::from))];
    let mut unset: Vec<String> = checks.iter().filter_map(Check::limit).collect();
    let agent = AGENT.iter().map(|(name, _)| *name).filter(|_| args.debug_agent);
    for name in std::iter::once(PATTERN).chain(agent) {
        if let Ok(value) = std::env::var(name) {
            unset.push(format!("{name}={} is replaced for this run", clean(value)));
        }
    }
    if std::env::var_os(DISABLED).is_some() {
        unset.push(format!("{DISABLED} is removed for this run"));
        program.env_remove(DISABLED);
    }
    program.env(PATTERN, pattern(&std::path::absolute(folder)?)?);
    if args.debug_agent {
        program.envs(AGENT);
    }
    Ok(unset)
}

/// The pattern of the runtime: `%p` is the number of the process, `%%` a percent sign.
fn pattern(folder: &Path) -> Result<String, Failure> {
    let folder = folder.to_str().ok_or("the path of the folder is no UTF-8; --dir names another")?;
    Ok(format!("{}/gpucore.%p", folder.replace('%', "%%")))
}
