//! `-gline-tables-only` of clang: functions and lines as with all debug information, and a remedy in place of variables.

use std::fs;

use serde_json::Value;

use crate::fixtures::{fixtures, one_line};
use crate::slim::{Scratch, answer, said, words};

/// The dump of call.hip with that code object in place of its own, whose code is the same.
fn dump(scratch: &Scratch, gpu: &str, level: &str) -> String {
    let name = format!("call-{gpu}-O0");
    let to = scratch.path(&format!("{gpu}-{level}"));
    fs::create_dir_all(&to).unwrap();
    for file in fs::read_dir(fixtures().join("dumps").join(&name)).unwrap() {
        let file = file.unwrap();
        fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
    fs::copy(fixtures().join(format!("code/call-{gpu}-{level}.hsaco")), to.join(format!("{name}.hsaco")))
        .unwrap();
    words(&to).to_owned()
}

fn asked(arguments: &[&str]) -> Value {
    serde_json::from_str(&answer(arguments)).unwrap()
}

#[test]
fn stacks_are_those_of_all_debug_information() {
    let scratch = Scratch::new("lines-stacks");
    for gpu in ["gfx90a", "gfx1100"] {
        let (lines, all) = (dump(&scratch, gpu, "lines"), dump(&scratch, gpu, "O0"));
        let mut deepest = 0;
        let [lines, all] = [&lines, &all].map(|dump| {
            let stacks = asked(&["backtrace", dump, "--wave", "1-3", "--json"]);
            stacks["answers"].as_array().unwrap().clone()
        });
        assert_eq!((lines.len(), all.len()), (3, 3), "{gpu}");
        for (wave, (lines, all)) in (1..).zip(lines.iter().zip(&all)) {
            let frames = |stack: &Value| -> Vec<[Value; 4]> {
                let frames = stack["frames"].as_array().unwrap().iter();
                frames.map(|frame| ["pc", "file", "line", "problem"].map(|key| frame[key].clone())).collect()
            };
            assert_eq!(frames(lines), frames(all), "{gpu} wave {wave}");
            assert_eq!(lines["end"], all["end"], "{gpu} wave {wave}");
            deepest = deepest.max(frames(lines).len());
            for (lines, all) in
                lines["frames"].as_array().unwrap().iter().zip(all["frames"].as_array().unwrap())
            {
                // The symbol also has parameters, and a template's the type of its result.
                let (symbol, name) = (lines["function"].as_str().unwrap(), all["function"].as_str().unwrap());
                assert!(symbol.contains(name), "{symbol} {name}");
            }
        }
        assert_eq!(deepest, 3, "{gpu}");
    }
}

#[test]
fn locals_name_the_remedy_and_what_needs_none() {
    let scratch = Scratch::new("lines-locals");
    let lines = dump(&scratch, "gfx90a", "lines");
    for frame in ["0", "1", "2"] {
        let text = one_line(&answer(&["locals", &lines, "--wave", "1", "--frame", frame]));
        for part in ["call.hip:", "No variables: ", "compile with `-g`", "`arguments`"] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
        let json = asked(&["locals", &lines, "--wave", "1", "--frame", frame, "--json"]);
        assert_eq!(json["variables"], serde_json::json!([]), "{json}");
        assert!(json["note"].as_str().unwrap().contains("-g"), "{json}");
    }
    // The commands of the text.
    assert!(answer(&["arguments", &lines]).contains("global_buffer"));
    assert!(answer(&["disassemble", &lines, "--wave", "1"]).contains("call.hip:"));
    let printed = asked(&["print", &lines, "--wave", "1", "*(int *) $pc", "--lane", "0", "--json"]);
    assert_eq!(printed["lanes"][0]["state"], "ok", "{printed}");
    let (unknown, _) = said(&["print", &lines, "--wave", "1", "body", "--lane", "0"]);
    assert!(one_line(&unknown).contains("compile with `-g`"), "{unknown}");
    // With variables nothing is missing.
    let all = asked(&["locals", &dump(&scratch, "gfx90a", "O0"), "--wave", "1", "--json"]);
    assert!(all["note"].is_null() && !all["variables"].as_array().unwrap().is_empty(), "{all}");
}
