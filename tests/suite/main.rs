//! The integration tests as one program: it links faster than a dozen.

mod ci;
mod clean;
mod cli;
mod cli_options;
mod code_object;
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
mod hostile;
mod lane_states;
mod lanes;
mod layering;
mod leak;
mod logs;
mod operations;
mod page;
mod pages;
mod print;
mod processors;
mod report;
mod scope_files;
mod scopes;
mod separate;
mod server;
mod shared_files;
mod slim;
mod slim_bounds;
mod slim_ended;
mod slim_images;
mod slim_kept;
mod slim_messages;
mod slim_shared;
mod slim_sources;
mod slim_streams;
mod spec_coverage;
mod triage;
mod user_actions;
mod variables;
mod view;
mod view_hostile;
mod view_linked;
mod view_types;
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
