//! Output of `monitor locals`, parsed and compared with the model.

use std::collections::BTreeMap;

use serde_json::Value;

use super::model::Wave;
use super::script::unfolded;

/// Four times the focused lane, in the dialect of the wave's code: the separators reach the server, too.
pub(crate) fn four_lanes(wave: &Wave) -> &'static str {
    match wave.expected["locals"][0]["form"].as_str() {
        Some("draft") => "DW_OP_push_lane; DW_OP_lit4; DW_OP_mul",
        _ => "DW_OP_LLVM_push_lane; DW_OP_lit4; DW_OP_mul",
    }
}

/// A printed variable: `argument int n`, and its text in each lane.
struct Printed {
    head: String,
    /// State of the lane, such as `inactive`, and value.
    lanes: BTreeMap<usize, (Option<String>, String)>,
}

/// Compares the printed values of these lanes with the model. The text of one lane has its own form.
pub(crate) fn compare(wave: &Wave, lanes: &[usize], text: &str) -> Result<(), String> {
    let variables = wave.expected["locals"].as_array().unwrap();
    if wave.pc().is_none() {
        let says_why = text.contains("No variables") && text.contains("not captured");
        return if says_why { Ok(()) } else { Err(format!("expected why there are none, got {text:?}")) };
    }
    let text = unfolded(text);
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let mut wrong = Vec::new();
    let mut first = lines.next().unwrap_or("");
    // The owner of the variables: clients do not always report the selected thread.
    if first.starts_with("Thread ") {
        // The number is the client's; the wave's id is in the name.
        let name = first.split_once(": AMDGPU Wave ").and_then(|(_, name)| name.split(' ').next());
        let id = name.and_then(|ids| ids.rsplit(':').next());
        if id != Some(&wave.expected["id"].to_string()) {
            return Err(format!("expected wave {}, got `{first}`", wave.expected["id"]));
        }
        first = lines.next().unwrap_or("");
    }
    wrong.extend(heading(wave, first));
    let printed = match lanes {
        [lane] => one_lane(*lane, lines),
        _ => all_lanes(lines),
    };
    // The models classify a static local as a local.
    let heads: Vec<&str> = printed.iter().map(|one| one.head.trim_start_matches("static ")).collect();
    let mark = |variable: &Value| if is_inferred(wave, variable) { INFERRED } else { "" };
    let wanted: Vec<String> = variables.iter().map(|of| head(of) + mark(of)).collect();
    if heads != wanted {
        return Err(format!("expected {wanted:?}, got {heads:?}"));
    }
    for (variable, one) in variables.iter().zip(&printed) {
        for lane in lanes {
            let Some((mark, got)) = one.lanes.get(lane) else {
                wrong.push(format!("{}: lane {lane} is not printed", one.head));
                continue;
            };
            // A static variable has no lane.
            let mismarked = match (one.head.starts_with("static "), mark) {
                (true, mark) => mark.as_ref().map(|mark| format!("lane {lane}: unexpected {mark:?}")),
                (false, mark) => mismarked(wave, *lane, mark.as_deref()),
            };
            wrong.extend(mismarked.map(|text| format!("{}: {text}", one.head)));
            wrong.extend(
                differs(wave, variable, *lane, got).map(|text| format!("{} lane {lane}: {text}", one.head)),
            );
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("; ")) }
}

/// The mark of values: behind the name of several, behind the value of one.
const INFERRED: &str = " (inferred: kernel's frame at 0)";

/// `FUNCTION (PC) at FILE:LINE`
fn heading(wave: &Wave, line: &str) -> Option<String> {
    let word = |key: &str| wave.expected[key].as_str().unwrap_or_default().to_owned();
    let pc = format!(" (0x{:x}) at ", wave.pc()?);
    let place = format!("{}:{}", word("file"), wave.expected["line"]);
    // The model has the declared name, the server the qualified name.
    let function = line.split_once(&pc).map_or("", |(function, _)| function);
    let named = function == word("function") || function.ends_with(&format!("::{}", word("function")));
    let right = named && line.ends_with(&place);
    (!right).then(|| format!("expected `{}{pc}.../{place}`, got `{line}`", word("function")))
}

/// Whether a variable with a value is at a frame offset in a kernel without a frame base.
fn is_inferred(wave: &Wave, variable: &Value) -> bool {
    let is_in_frame =
        variable["location"].as_str().is_some_and(|location| location.starts_with("DW_OP_fbreg"));
    wave.is_optimised && wave.expected["function"] == "call" && is_in_frame && variable["state"] == "ok"
}

/// Text before a variable's value.
fn head(variable: &Value) -> String {
    let word = |key: &str| variable[key].as_str().unwrap();
    let scope = if word("scope") == "argument" { "argument " } else { "" };
    format!("{scope}{} {}", word("type"), word("name"))
}

/// Requires a mark for exactly the lanes without a bit in EXEC.
fn mismarked(wave: &Wave, lane: usize, mark: Option<&str>) -> Option<String> {
    // If an attribute defines the active lanes, the model has the state of each lane.
    if let Some(states) = wave.expected["lane_states"].as_array() {
        let wanted = states[lane][0].as_str().filter(|state| *state != "active");
        return (mark != wanted).then(|| format!("lane {lane}: expected {wanted:?}, got {mark:?}"));
    }
    let exec = wave.expected["exec"].as_str()?.strip_prefix("0x")?;
    let is_active = u64::from_str_radix(exec, 16).unwrap() >> lane & 1 == 1;
    (is_active == mark.is_some()).then(|| format!("lane {lane}: active {is_active}, got {mark:?}"))
}

/// `TYPE NAME = VALUE`, or `TYPE NAME = VALUE  (lane N: MARK)`, with the mark of an inference behind it
fn one_lane<'a>(lane: usize, lines: impl Iterator<Item = &'a str>) -> Vec<Printed> {
    let parts = lines.filter_map(|line| line.split_once(" = "));
    let said = format!("  (lane {lane}: ");
    let printed = parts.map(|(head, value)| {
        let value = without_reason(value);
        let (value, inferred) = match value.strip_suffix(INFERRED) {
            Some(value) => (value, INFERRED),
            None => (value, ""),
        };
        let marked = value.strip_suffix(')').and_then(|value| value.rsplit_once(&said));
        let (value, mark) = marked.map_or((value, None), |(value, mark)| (value, Some(mark.to_owned())));
        Printed {
            head: head.to_owned() + inferred,
            lanes: BTreeMap::from([(lane, (mark, value.to_owned()))]),
        }
    });
    printed.collect()
}

/// `TYPE NAME:`, then `  lane N: VALUE` and `  lanes A-B, C (MARK): VALUE`
fn all_lanes<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<Printed> {
    let mut printed: Vec<Printed> = Vec::new();
    for line in lines {
        let run = line.strip_prefix("  lane").and_then(|rest| rest.split_once(": "));
        match (run, printed.last_mut()) {
            (Some((numbers, value)), Some(variable)) => {
                let numbers = numbers.trim_start_matches('s').trim();
                let marked = numbers.strip_suffix(')').and_then(|numbers| numbers.split_once(" ("));
                let (numbers, mark) =
                    marked.map_or((numbers, None), |(numbers, mark)| (numbers, Some(mark.to_owned())));
                for run in whole(numbers).split(", ") {
                    let (first, last) = run.split_once('-').unwrap_or((run, run));
                    let (Ok(first), Ok(last)) = (first.parse::<usize>(), last.parse::<usize>()) else {
                        continue;
                    };
                    for lane in first..=last {
                        let text = (mark.clone(), without_reason(value).to_owned());
                        variable.lanes.insert(lane, text);
                    }
                }
            }
            _ => {
                printed.push(Printed { head: line.trim_end_matches(':').to_owned(), lanes: BTreeMap::new() })
            }
        }
    }
    printed
}

/// The text of an optimized-out value without the reason. A value has nothing in brackets behind it.
fn without_reason(value: &str) -> &str {
    let cut = value.rfind("  [").filter(|_| value.starts_with("<optimized out>") && value.ends_with(']'));
    &value[..cut.unwrap_or(value.len())]
}

/// The error of a variable's text in a lane.
fn differs(wave: &Wave, variable: &Value, lane: usize, got: &str) -> Option<String> {
    let state = variable["state"].as_str().unwrap();
    let index = wave.shown_lanes().iter().position(|shown| *shown == lane);
    let value = index.and_then(|index| variable["values"][index].as_str());
    let right = match (state, value) {
        ("ok" | "partly_unavailable" | "partly_optimized_out", Some(value)) => got == value,
        ("partly_unavailable", None) => index.is_none() || got.contains("<unavailable"),
        // A model may only require a value: the filler's, in a lane that was never active.
        ("ok" | "partly_optimized_out", None) => !got.is_empty(),
        ("optimized_out", _) => got == "<optimized out>",
        ("unavailable", _) => got.starts_with("<unavailable"),
        ("error", _) => got.starts_with("<error: "),
        _ => panic!("the model says {state}"),
    };
    (!right).then(|| format!("expected {state} {}, got {got:?}", value.unwrap_or_default()))
}

/// Lanes at equal distances one by one: `0, 2, ..., 6` as `0, 2, 4, 6`.
fn whole(numbers: &str) -> String {
    let mut lanes: Vec<String> = Vec::new();
    let mut words = numbers.split(", ");
    while let Some(word) = words.next() {
        if word != "..." {
            lanes.push(word.to_owned());
            continue;
        }
        let [.., first, second] = lanes.as_slice() else { panic!("{numbers}") };
        let (first, second): (usize, usize) = (first.parse().unwrap(), second.parse().unwrap());
        let last = words.next().unwrap().parse().unwrap();
        lanes.extend((second..=last).step_by(second - first).skip(1).map(|lane| lane.to_string()));
    }
    lanes.join(", ")
}
