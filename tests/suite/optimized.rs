//! Variables of optimised code: each one with a location for the PC, by llvm-dwarfdump, has a value in every active
//! lane. The values themselves are compared with the models (`variables.rs`).

use std::collections::BTreeMap;
use std::path::PathBuf;

use lanescope::session::{DumpFacts as _, Session, Stacks as _, ValueState, Variables as _, Waves as _};

use crate::dwarf::dumped;
use crate::fixtures::{fixtures, open};

/// A DIE of llvm-dwarfdump's text: its depth, its tag, and the text of each attribute.
struct Die {
    depth: usize,
    tag: String,
    attributes: BTreeMap<String, String>,
}

fn dies(text: &str) -> Vec<Die> {
    let mut all: Vec<Die> = Vec::new();
    let mut open = None;
    for line in text.lines() {
        let tag = line.starts_with("0x").then(|| line.split_once(':')).flatten();
        if let Some((_, rest)) = tag {
            let tag = rest.trim_start();
            let depth = rest.len() - tag.len();
            all.push(Die { depth, tag: tag.to_owned(), attributes: BTreeMap::new() });
            open = None;
            continue;
        }
        let Some(die) = all.last_mut() else { continue };
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        if let Some((name, value)) = line.split_once('\t').filter(|_| line.starts_with("DW_AT_")) {
            die.attributes.insert(name.to_owned(), value.to_owned());
            open = Some(name.to_owned());
        } else if let Some(text) = open.as_ref().and_then(|name| die.attributes.get_mut(name)) {
            text.push(' ');
            text.push_str(line);
        }
    }
    all
}

fn number(text: &str) -> u64 {
    u64::from_str_radix(text.trim_matches(['(', ')']).trim_start_matches("0x"), 16).unwrap()
}

/// The ranges `[0x1900, 0x1910)` in a text, each with the text behind it.
fn ranges(text: &str) -> Vec<(u64, u64, &str)> {
    let parts = text.split('[').skip(1).filter_map(|part| {
        let (range, rest) = part.split_once(')')?;
        let (start, end) = range.split_once(", ")?;
        start.starts_with("0x").then(|| (number(start), number(end), rest.trim_start_matches(": ")))
    });
    parts.collect()
}

impl Die {
    fn text(&self, name: &str) -> Option<&str> {
        self.attributes.get(name).map(String::as_str)
    }

    /// Whether its code has the address; a scope without addresses has those around it.
    fn covers(&self, pc: u64) -> bool {
        match (self.text("DW_AT_low_pc"), self.text("DW_AT_high_pc"), self.text("DW_AT_ranges")) {
            (Some(low), Some(high), _) => (number(low)..number(high)).contains(&pc),
            (_, _, Some(text)) => ranges(text).iter().any(|(start, end, _)| (*start..*end).contains(&pc)),
            _ => self.tag == "DW_TAG_lexical_block",
        }
    }

    /// The expression of a variable at an address: of its location, else the constant.
    fn location(&self, pc: u64) -> Option<String> {
        let Some(text) = self.text("DW_AT_location") else {
            return self.text("DW_AT_const_value").map(str::to_owned);
        };
        let list = ranges(text);
        if list.is_empty() {
            return Some(text.to_owned()).filter(|text| text != "(<empty>)");
        }
        let found = list.into_iter().find(|(start, end, _)| (*start..*end).contains(&pc));
        found.map(|(_, _, text)| text.to_owned()).filter(|text| text.starts_with("DW_OP"))
    }

    fn name(&self) -> Option<&str> {
        let text = self.text("DW_AT_name").or_else(|| self.text("DW_AT_abstract_origin"))?;
        text.split('"').nth(1)
    }
}

/// Names and expressions of the variables in scope at an address that have a location there.
fn located(dies: &[Die], pc: u64) -> Vec<(String, String)> {
    let mut found = Vec::new();
    // The depth of each open scope, innermost last.
    let mut scopes: Vec<usize> = Vec::new();
    for die in dies {
        while scopes.last().is_some_and(|depth| *depth >= die.depth) {
            scopes.pop();
        }
        let is_inside = scopes.last().is_some_and(|depth| die.depth == depth + 2);
        match die.tag.as_str() {
            "DW_TAG_subprogram" if scopes.is_empty() && die.covers(pc) => scopes.push(die.depth),
            "DW_TAG_lexical_block" | "DW_TAG_inlined_subroutine" if is_inside && die.covers(pc) => {
                scopes.push(die.depth);
            }
            "DW_TAG_variable" | "DW_TAG_formal_parameter" if is_inside => {
                if let Some((name, text)) = die.name().zip(die.location(pc)) {
                    found.push((name.to_owned(), text));
                }
            }
            _ => {}
        }
    }
    found
}

/// The dumps with optimised code, by the compiler's mark in the debug information.
fn optimized() -> Vec<(String, PathBuf, Vec<Die>)> {
    let (mut all, mut paths, mut files) = (Vec::new(), Vec::new(), Vec::new());
    for entry in std::fs::read_dir(fixtures().join("dumps")).unwrap() {
        let path = entry.unwrap().path();
        if !path.is_dir() {
            continue;
        }
        let objects = std::fs::read_dir(&path).unwrap().map(|file| file.unwrap().path());
        let objects: Vec<PathBuf> =
            objects.filter(|file| file.extension().is_some_and(|extension| extension == "hsaco")).collect();
        let [object] = &objects[..] else { continue };
        files.push(object.clone());
        paths.push(path);
    }
    for (path, text) in paths.into_iter().zip(dumped(&["--debug-info"], &files)) {
        let dies = dies(&text);
        if dies.iter().any(|die| die.text("DW_AT_call_all_calls").is_some()) {
            all.push((path.file_name().unwrap().to_string_lossy().into_owned(), path, dies));
        }
    }
    all.sort_by(|one, other| one.0.cmp(&other.0));
    all
}

#[test]
fn every_variable_with_a_location_has_a_value() {
    let (mut wrong, mut compared, mut dumps) = (Vec::new(), 0, 0);
    for (name, path, dies) in optimized() {
        dumps += 1;
        let dump = open(&path);
        let session = Session::new(dump, None).unwrap();
        let load = session.code_objects()[0].address.0;
        for wave in session.waves().iter().copied() {
            let stack = session.backtrace(wave, None).unwrap();
            let mut frames = (0..stack.frames.len()).peekable();
            let mut level = 0;
            while let Some(first) = frames.next() {
                let pc = stack.frames[first].pc;
                let mut numbers = vec![first];
                // Calls that are inlined into a function have its PC.
                while let Some(next) = frames.next_if(|next| stack.frames[*next].pc == pc) {
                    numbers.push(next);
                }
                let Some(pc) = pc else { continue };
                // A return address belongs to the call before it.
                let at = pc.0 - load - u64::from(level > 0);
                level += 1;
                let mut shown: Vec<(String, Vec<ValueState>)> = Vec::new();
                for number in numbers {
                    // A call may leave the caller's EXEC unknown; the lanes of the call are active in its caller.
                    let lanes = session.active_lanes(wave, number);
                    let lanes = lanes.unwrap_or_else(|_| session.active_lanes(wave, 0).unwrap());
                    let locals = session.locals(wave, lanes, number).unwrap();
                    let each = locals.variables.into_iter().map(|variable| {
                        (variable.name, variable.lanes.into_iter().map(|lane| lane.state).collect())
                    });
                    shown.extend(each);
                }
                for (variable, text) in located(&dies, at) {
                    compared += 1;
                    // Each variable of the list needs one of its own.
                    // The dumps with missing data miss a part of a register.
                    let is_whole = |states: &[ValueState]| {
                        states.iter().all(|state| match state {
                            ValueState::Value(text) => !text.contains("<unavailable>"),
                            ValueState::Unavailable(why) => {
                                name.starts_with("absent-") && why.contains("was not captured")
                            }
                            _ => false,
                        })
                    };
                    let found = shown.iter().position(|(name, states)| *name == variable && is_whole(states));
                    match found {
                        Some(index) => drop(shown.remove(index)),
                        None => {
                            let states = shown.iter().find(|(name, _)| *name == variable);
                            let why = states.and_then(|(_, states)| {
                                states.iter().find(|state| !is_whole(&[(*state).clone()]))
                            });
                            wrong.push(format!(
                                "{name} wave {} at {at:#x}: {variable} by {text}: {why:?}",
                                wave.0
                            ));
                        }
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {compared}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(dumps >= 20 && compared >= 300, "{dumps} dumps, {compared} variables");
}
