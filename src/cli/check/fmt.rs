//! `lanescope check --fmt`: the canonical form of files.

use std::io::Write;
use std::path::PathBuf;

use super::edit::Edited;
use super::plan;
use crate::check::{format, syntax_errors};
use crate::cli::Failure;

/// Formats the files; with `only_lists` it prints the names of those that differ. Returns the exit status.
pub(super) fn run(paths: &[PathBuf], only_lists: bool, out: &mut dyn Write) -> Result<u8, Failure> {
    let mut status = 0;
    for path in plan::files(paths)? {
        let file = Edited::read(&path)?;
        let scope = match &file.parsed {
            Ok(scope) => scope,
            Err(errors) => {
                for error in syntax_errors(errors, &file.name, &file.bytes, true) {
                    writeln!(out, "{error}\n")?;
                }
                status = 2;
                continue;
            }
        };
        let mut text = format(scope);
        // The first line decides the line ends of all.
        if file.bytes.split(|byte| *byte == b'\n').next().is_some_and(|line| line.ends_with(b"\r")) {
            text = text.replace('\n', "\r\n");
        }
        if text.as_bytes() == file.bytes {
            continue;
        }
        writeln!(out, "{}", file.name)?;
        match only_lists {
            true => status = status.max(1),
            false => file.replace(&text)?,
        }
    }
    Ok(status)
}
