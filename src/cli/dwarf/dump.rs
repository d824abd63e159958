//! The code objects of a dump.

use std::io::Write;
use std::path::PathBuf;

use serde::Serialize;

use super::super::{DumpArgs, Failure, Globals, dump, print_json, standard_error, steps};
use super::{Args, Expressions, Listing, no_function};
use crate::arch::Targets;
use crate::report::Style;
use crate::report::schema::{Document, Hex, Schema};

/// The expressions of a dump's code objects.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct DumpExpressions {
    /// The code objects.
    code_objects: Vec<ObjectJson>,
}

impl Schema for DumpExpressions {
    const NAME: &'static str = "dwarf-dump";
}

/// The expressions of a code object in a dump.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ObjectJson {
    /// File name or URI.
    name: String,
    /// Load address.
    address: Hex,
    /// The expressions.
    #[serde(flatten)]
    contents: ObjectExpressions,
}

/// The expressions, or the reason for their absence.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
enum ObjectExpressions {
    /// Expressions.
    Listed(Expressions),
    /// An unreadable code object.
    Unreadable {
        /// The reason.
        problem: String,
    },
}

/// Lists every code object of a dump.
pub(super) fn run(path: &str, args: &Args, targets: &Targets, out: &mut dyn Write) -> Result<(), Failure> {
    let debug_dirs = args.debug_dirs.clone();
    let file = Some(PathBuf::from(&args.file));
    let with = args.with.clone();
    let globals = Globals { debug_dirs: debug_dirs.clone(), ..Globals::default() };
    let typed = steps::of(&args.file, &with, &globals);
    let from = DumpArgs {
        dump: file,
        dialect: args.dialect,
        debug_dirs,
        with,
        is_verbose: args.is_verbose,
        typed,
        ..DumpArgs::default()
    };
    let dump = dump::open(&from, targets)?;
    let objects = &dump.capture().code_objects;
    if objects.is_empty() {
        return Err(format!("{path} holds no code objects").into());
    }
    let (mut rows, mut read, mut found) = (Vec::new(), false, false);
    for (index, object) in objects.iter().enumerate() {
        let code = dump.code_object(index).map_err(Failure::from);
        let listing = code.and_then(|code| Listing::read(&object.name, code, args, targets));
        let address = object.address.to_string();
        let contents = match listing {
            Ok(listing) => {
                (read, found) = (true, found | listing.found);
                let shown = args.function.is_none() || listing.found;
                if !args.json && shown {
                    let text = format!("code object {} at {address}\n\n{}", object.name, listing.text);
                    out.write_all(Style::Coloured.folded(&text).as_bytes())?;
                }
                ObjectExpressions::Listed(listing.json())
            }
            Err(problem) => {
                standard_error::warning(problem.to_string())?;
                ObjectExpressions::Unreadable { problem: problem.to_string() }
            }
        };
        rows.push(ObjectJson { name: object.name.clone(), address: Hex(object.address.0), contents });
    }
    match &args.function {
        _ if !read => return Err(format!("{path} holds no code object that can be read").into()),
        Some(function) if !found => return Err(no_function(path, function)),
        _ => {}
    }
    if args.json {
        return print_json(out, &Document::new(DumpExpressions { code_objects: rows }));
    }
    Ok(())
}
