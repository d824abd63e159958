//! The code objects of a dump.

use std::io::Write;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::super::{DumpArgs, Failure, dump, print_json};
use super::{Args, Listing, no_function};
use crate::arch::Targets;
use crate::clean::clean_lines;
use crate::report::json::set;

/// Lists every code object of a dump.
pub(super) fn run(path: &str, args: &Args, targets: &Targets, out: &mut dyn Write) -> Result<(), Failure> {
    let debug_dirs = args.debug_dirs.clone();
    let file = Some(PathBuf::from(&args.file));
    let with = args.with.clone();
    let from = DumpArgs {
        dump: file,
        kind: None,
        dialect: args.dialect,
        debug_dirs,
        with,
        disassembler: None,
        is_verbose: args.is_verbose,
        called: None,
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
        let mut row = json!({"name": object.name, "address": address});
        match listing {
            Ok(listing) => {
                (read, found) = (true, found | listing.found);
                let shown = args.function.is_none() || listing.found;
                if !args.json && shown {
                    write!(out, "code object {} at {address}\n\n{}", object.name, listing.text)?;
                }
                let Value::Object(mut parts) = listing.json() else { continue };
                row.as_object_mut().into_iter().for_each(|row| row.append(&mut parts));
            }
            Err(problem) => {
                writeln!(anstream::stderr(), "warning: {}", clean_lines(problem.to_string()))?;
                set(&mut row, "problem", problem.to_string());
            }
        }
        rows.push(row);
    }
    match &args.function {
        _ if !read => return Err(format!("{path} holds no code object that can be read").into()),
        Some(function) if !found => return Err(no_function(path, function)),
        _ => {}
    }
    if args.json {
        return print_json(out, &json!({"code_objects": rows}));
    }
    Ok(())
}
