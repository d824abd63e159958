//! Hostile files: every command that opens a dump ends by itself, within 1 GiB of memory and a bound of processor time,
//! and reports omitted parts. docs/security.md, "Bounds". Five kinds of files pass through all commands
//! ([`run::Hostile::every`]), the others through those that read their expensive part.
//!
//! The files are assembled here, independent of the readers.

mod dies;
mod dwarf;
mod elf;
mod faults;
mod held;
mod manifests;
mod names;
mod run;
mod sections;
mod serve;
mod shared;
mod tables;
mod texts;
mod waves;
mod work;
mod zips;

/// The innermost frame of a stack, in the function [`dwarf::Dies::function`].
const FRAME: &str = "#0  f ";

/// Commands for files whose units, tables and DIEs cost much.
const SOME: [&str; 5] =
    ["info DUMP", "backtrace --lane all DUMP", "locals DUMP", "view DUMP -o OUT", "code-object CODE"];
