//! The kinds of data in a report: a reader decides by them whether the report may leave the company.

use super::Options;
use crate::notation::counted;
use crate::postmortem::{Content, Model, VariableStrip};

fn has_value(of: &VariableStrip) -> bool {
    of.lanes.iter().any(|cell| cell.value.is_some())
}

/// The kinds of data of a model, then those that were left out on request.
pub(super) fn of(model: &Model, options: Options) -> Vec<Content> {
    let mut contents = Vec::new();
    let mut add = |is_included: bool, is_data: bool, text: String| {
        contents.push(Content { text, is_included, is_data });
    };
    add(true, false, "names of functions, files, kernels, code objects and build ids".to_owned());
    add(true, false, "addresses and PCs".to_owned());
    let wave = model.wave.as_ref();
    if let Some(lines) = wave.and_then(|wave| wave.source.as_ref()).map(|source| source.lines.len()) {
        add(true, true, format!("{} of source text", counted(lines, "line")));
    } else if model.fault.source_line.is_some() {
        add(true, true, "1 line of source text".to_owned());
    }
    if let Some(count) = wave.and_then(|wave| wave.code.as_ref()).map(|code| code.instructions.len()) {
        add(true, true, counted(count, "instruction"));
    }
    let arguments = || model.dispatches.iter().flat_map(|launch| &launch.arguments);
    match (options.no_values, wave) {
        (true, _) => add(false, true, "values of variables, arguments and memory (--no-values)".to_owned()),
        (false, Some(wave)) if wave.variables.iter().any(has_value) => {
            let variables = counted(wave.variables.iter().filter(|of| has_value(of)).count(), "variable");
            add(
                true,
                true,
                format!("values of {variables} in {} of wave {}", counted(wave.lanes.len(), "lane"), wave.id),
            );
        }
        (false, _) => {}
    }
    let bytes = |is_lds: bool| -> usize {
        let pictures = model.memory.iter().filter(|picture| picture.is_lds() == is_lds);
        pictures
            .filter_map(|picture| picture.bytes.as_ref())
            .map(|of| of.bytes.iter().flatten().count())
            .sum()
    };
    if bytes(true) > 0 {
        add(true, true, format!("{} of LDS", counted(bytes(true), "byte")));
    }
    match options.no_global {
        true => add(false, true, "contents of global memory, arguments among them (--no-global)".to_owned()),
        false if !options.no_values => {
            let count = arguments().filter(|argument| argument.value.is_some()).count();
            if count > 0 {
                add(true, true, format!("values of {}", counted(count, "kernel argument")));
            }
            if bytes(false) > 0 {
                add(true, true, format!("{} of global memory", counted(bytes(false), "byte")));
            }
        }
        false => {}
    }
    match options.with_paths {
        true => add(true, true, "paths, host and command of the capture (--with-paths)".to_owned()),
        false => add(
            false,
            false,
            "folders of paths, host and command of the capture (--with-paths adds them)".to_owned(),
        ),
    }
    contents
}
