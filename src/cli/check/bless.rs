//! `lanescope check --bless`: right sides with the values of the dumps.

use std::io::Write;

use super::Bless;
use super::edit::Edited;
use super::plan::Plan;
use super::results::CheckedDump;
use crate::check::{Outcome, Verdict, bless};
use crate::cli::Failure;

/// Variables of CI systems.
const CI: &[&str] = &[
    "CI",
    "GITHUB_ACTIONS",
    "GITLAB_CI",
    "JENKINS_URL",
    "BUILDKITE",
    "CIRCLECI",
    "TRAVIS",
    "APPVEYOR",
    "TEAMCITY_VERSION",
    "TF_BUILD",
    "BITBUCKET_BUILD_NUMBER",
    "CODEBUILD_BUILD_ID",
    "DRONE",
    "CIRRUS_CI",
];

/// The files differ and stay as they are, because a variable of a CI system is set.
#[derive(Debug, thiserror::Error)]
#[error(
    "no file is changed in CI ({0} is set). Bless on your machine, or write FILE.new with --bless=review"
)]
pub(super) struct RefusedError(&'static str);

/// The set variable of a CI system.
fn ci() -> Option<&'static str> {
    CI.iter().copied().find(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

/// Rewrites the files of a plan by the results of their dumps, and prints the changes. Returns the exit status.
pub(super) fn run(
    plan: &Plan,
    mut results: impl Iterator<Item = CheckedDump>,
    mode: Bless,
    out: &mut dyn Write,
) -> Result<u8, Failure> {
    let refused = ci().filter(|_| mode == Bless::Write);
    let (mut status, mut changed) = (0, 0);
    for file in &plan.files {
        if !file.errors.is_empty() {
            for error in &file.errors {
                let line = error.line.map_or_else(String::new, |line| format!(":{line}"));
                writeln!(out, "{}{line}: {}", file.name, error.problem)?;
            }
            status = 2;
            continue;
        }
        let dumps: Vec<CheckedDump> = results.by_ref().take(file.dumps.len()).collect();
        if let Some((dump, error)) = dumps.iter().find_map(|dump| Some((dump, dump.error.as_ref()?))) {
            writeln!(out, "{}:{}: not changed: {}: {error}", file.name, dump.named_by.line, dump.dump)?;
            status = 2;
            continue;
        }
        let outcomes: Vec<Vec<Outcome>> =
            dumps.iter().map(|dump| dump.lines.iter().map(|line| line.outcome.clone()).collect()).collect();
        let edited = Edited::read(&file.path)?;
        let (Ok(scope), Ok(text)) = (&edited.parsed, std::str::from_utf8(&edited.bytes)) else {
            return Err(format!("{}: changed by another program, and not written", file.name).into());
        };
        if *scope != file.scope {
            return Err(format!("{}: changed by another program, and not written", file.name).into());
        }
        let slices: Vec<&[Outcome]> = outcomes.iter().map(Vec::as_slice).collect();
        let blessing = bless(text, scope, &slices);
        for line in &blessing.changed {
            writeln!(out, "{}:{}\n- {}\n+ {}", file.name, line.line, line.old, line.new)?;
        }
        for line in &blessing.unblessed {
            writeln!(out, "{}:{}: not changed: {}", file.name, line.line, line.reason)?;
            status = status.max(1);
        }
        let is_unchecked = |outcome: &Outcome| matches!(outcome.verdict, Verdict::NotChecked(_));
        if outcomes.iter().flatten().any(is_unchecked) {
            status = 2;
        }
        if blessing.changed.is_empty() {
            continue;
        }
        changed += blessing.changed.len();
        match (mode, refused) {
            (_, Some(_)) => {}
            (Bless::Review, None) => writeln!(out, "written: {}", edited.write_beside(&blessing.text)?)?,
            (Bless::Write, None) => edited.replace(&blessing.text)?,
        }
    }
    if let Some(variable) = refused.filter(|_| changed > 0) {
        out.flush()?;
        return Err(RefusedError(variable).into());
    }
    Ok(status)
}
