//! The integration tests as one program: it links faster than a dozen.

mod capture;
mod check;
mod ci;
mod clean;
mod cli;
mod cli_options;
mod code_object;
mod code_stacks;
mod compilers;
mod cores;
mod diff;
mod disassemble;
mod draft;
mod dwarf;
mod evaluate;
mod expectations;
mod faults;
mod fixtures;
mod frames;
mod fuzzed;
mod hostile;
mod lane_states;
mod lanes;
mod layering;
mod leak;
mod logs;
mod machine;
mod operations;
mod optimized;
mod page;
mod page_inputs;
mod pages;
mod print;
mod processors;
mod release;
mod report;
mod schemas;
mod scope_files;
mod scopes;
mod separate;
mod server;
mod shared_files;
mod signatures;
mod slim;
mod slim_bounds;
mod slim_ended;
mod slim_hung;
mod slim_images;
mod slim_kept;
mod slim_messages;
mod slim_shared;
mod slim_sources;
mod slim_streams;
mod spec_coverage;
mod standard_output;
mod stops;
mod triage;
mod truncated;
mod user_actions;
mod variables;
mod view;
mod view_hostile;
mod view_linked;
mod view_types;
mod wide;
mod width;
mod words;
mod written_cores;

/// Copies a program that the test then starts.
///
/// Another process writes it: a program that another test starts at this moment would inherit the open file, and an
/// executable that is open for writing does not start.
fn install(from: &std::path::Path, to: &std::path::Path) {
    let status = std::process::Command::new("install").args(["-m", "755"]).args([from, to]).status().unwrap();
    assert!(status.success(), "{}", to.display());
}

/// The members of an answer.
fn json_of(answer: impl serde::Serialize) -> serde_json::Value {
    serde_json::to_value(answer).unwrap()
}

/// An export in the notation of the expected files of the samples: numbers for addresses, AMD's names of stop reasons.
fn in_samples_notation(mut export: serde_json::Value) -> serde_json::Value {
    fn convert(value: &mut serde_json::Value, is_address: bool) {
        match value {
            serde_json::Value::Object(members) => {
                for (key, value) in members {
                    match key.as_str() {
                        "frames" | "registers" => {}
                        "stop_reasons" => {
                            for name in value.as_array_mut().into_iter().flatten() {
                                *name = name.as_str().unwrap().to_uppercase().into();
                            }
                        }
                        key => convert(
                            value,
                            is_address
                                || ["pc", "exec", "apertures"].contains(&key)
                                || key.ends_with("address"),
                        ),
                    }
                }
            }
            serde_json::Value::Array(values) => values.iter_mut().for_each(|value| convert(value, false)),
            serde_json::Value::String(text) if is_address => {
                *value = u64::from_str_radix(text.strip_prefix("0x").unwrap(), 16).unwrap().into();
            }
            _ => {}
        }
    }
    for (key, value) in export.as_object_mut().unwrap() {
        if !["faults", "problems"].contains(&key.as_str()) {
            convert(value, false);
        }
    }
    export
}

/// Text form of a problem in JSON.
fn problem_text(problem: &serde_json::Value) -> String {
    let (place, text) = (&problem["where"], |value: &serde_json::Value| value.as_str().map(str::to_owned));
    assert!(["error", "warning"].contains(&problem["severity"].as_str().unwrap()), "{problem}");
    let line = place["line"].as_u64().map(|line| format!("line {line}"));
    let offset = place["offset"].as_u64().map(|offset| format!("offset {offset:#x}"));
    let parts = [text(&place["file"]), line, offset, text(&place["key"]), text(&problem["what"])];
    let hint = problem["hint"].as_str().map_or_else(String::new, |hint| format!(" ({hint})"));
    parts.into_iter().flatten().collect::<Vec<_>>().join(": ") + &hint
}

/// The writer of cores, shared with the benches.
#[allow(dead_code, reason = "some of it is for the benches alone")]
#[path = "../cores/mod.rs"]
mod core_writer;

#[path = "../support/mod.rs"]
mod support;
