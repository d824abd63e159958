//! Replacement targets for processors without a target of their own.
//!
//! Cores have a number and texts a name; both give a version. The nearest version is the most similar one.

use std::cmp::Reverse;
use std::sync::Arc;

use super::{ImportError, Options};
use crate::arch::{Processor, Target, Targets};

/// Major, minor, stepping.
pub(super) type Version = (u32, u32, u32);

pub(super) fn version(number: u32) -> Version {
    (number / 10000, number / 100 % 100, number % 100)
}

/// `gfx90a`: the last two digits are hexadecimal, the rest is decimal.
pub(super) fn parse(name: &str) -> Option<Version> {
    let digits = name.strip_prefix("gfx")?;
    let (rest, stepping) = digits.split_at_checked(digits.len().checked_sub(1)?)?;
    let (major, minor) = rest.split_at_checked(rest.len().checked_sub(1)?)?;
    let hex = |digit| u32::from_str_radix(digit, 16).ok();
    Some((major.parse().ok()?, hex(minor)?, hex(stepping)?))
}

/// The user's processor.
///
/// # Errors
/// There is no such target.
pub(super) fn chosen(targets: &Targets, options: &Options) -> Result<Option<Arc<Target>>, ImportError> {
    let target = options.target.as_deref().map(|name| targets.target(name));
    target.transpose().map_err(|error| ImportError::Processor { what: error.to_string() })
}

/// Targets of the same major version, the nearest first.
pub(super) fn near(version: Version, targets: &Targets) -> Vec<String> {
    let mut near: Vec<(Version, &str)> = targets
        .names()
        .filter_map(|name| Some((parse(name)?, name)))
        .filter(|(of, _)| of.0 == version.0)
        .collect();
    near.sort_by_key(|(of, _)| {
        (Reverse(of.1 == version.1), of.1.abs_diff(version.1), of.2.abs_diff(version.2))
    });
    near.into_iter().map(|(_, name)| name.to_owned()).collect()
}

/// The target of a processor, else the nearest of its generation, else the first target that runs a generic processor's
/// code. `None`: no target is of its generation.
pub(super) fn nearest(targets: &Targets, processor: Processor) -> Option<Arc<Target>> {
    if let Ok(target) = targets.target(processor.name) {
        return Some(target);
    }
    let alike =
        |name: &&String| Processor::named(name).is_some_and(|other| other.generation == processor.generation);
    let near = parse(processor.name)
        .and_then(|version| near(version, targets).into_iter().find(|name| alike(&name)));
    let name = near.or_else(|| targets.names().find(|name| processor.runs_on(name)).map(str::to_owned))?;
    targets.target(&name).ok()
}

/// Whether a processor's data are read as a target's: they are the same, the target runs the generic code, or the
/// target is the replacement of a processor without a target.
pub(super) fn is_read_as(targets: &Targets, processor: Processor, target: &Target) -> bool {
    processor.runs_on(&target.name)
        || nearest(targets, processor).is_some_and(|nearest| nearest.name == target.name)
}

#[cfg(test)]
mod tests;
