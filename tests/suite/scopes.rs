//! Facts at every PC of every fixture code object: functions, inlined calls and lines compared with llvm-symbolizer,
//! variables in scope with the tree of llvm-dwarfdump.

use std::collections::HashSet;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use lanescope::codeobject::{CodeObject, ElfAddress};
use lanescope::debuginfo::DebugInfo;
use serde_json::Value;

use crate::dwarf::{dumped, objects, ran};
use crate::support::{least, newest, some};

/// The code objects of [`some`] kernels.
fn some_objects() -> Vec<PathBuf> {
    some(objects(), |path| path.file_stem().unwrap().to_str().unwrap()).collect()
}

/// Number of sampled addresses per object, spread over its code.
const SAMPLES: u64 = 48;

fn debug_info(path: &Path) -> (DebugInfo, Vec<u64>) {
    let object = CodeObject::parse(fs::read(path).unwrap()).unwrap();
    let text = object.text().unwrap();
    let step = ((text.end.0 - text.start.0) / SAMPLES / 4 * 4).max(4);
    let samples = (text.start.0..text.end.0).step_by(step as usize).collect();
    (DebugInfo::new(Arc::new(object)).unwrap(), samples)
}

#[test]
fn functions_and_lines_are_those_of_llvm_symbolizer() {
    let (mut functions, mut inlined) = (0, 0);
    let mut command = Command::new(newest("llvm-symbolizer"));
    command.args(["--inlines", "--output-style=JSON", "--no-demangle"]);
    let mut all = Vec::new();
    for path in some_objects() {
        let (debug, samples) = debug_info(&path);
        command.args(samples.iter().map(|address| format!("{} {address:#x}", path.display())));
        all.push((path, debug, samples));
    }
    let answers: Value = serde_json::from_str(&ran(&mut command)).unwrap();
    let mut answers = answers.as_array().unwrap().iter();
    for (path, debug, samples) in all {
        for (address, answer) in samples.iter().zip(&mut answers) {
            let context = format!("{} {address:#x}: {answer}", path.display());
            let theirs = answer["Symbol"].as_array().unwrap();
            let row = debug.line_at(ElfAddress(*address)).unwrap();
            let function = debug.function_at(ElfAddress(*address)).unwrap();
            // Each call is at the call line of the next inner one; the tool's 0 means no line.
            let mut place = row.as_ref().map(|row| &row.place);
            let Some(function) = &function else {
                let line = place.map_or(0, |place| place.line);
                assert_eq!((theirs.len(), &Value::from(line)), (1, &theirs[0]["Line"]), "{context}");
                continue;
            };
            assert_eq!(function.frames.len(), theirs.len(), "{context}");
            for (frame, theirs) in function.frames.iter().zip(theirs) {
                let name = frame.subprogram.linkage_name.as_deref().or(frame.subprogram.name.as_deref());
                // The tool names the outermost function by its symbol, and a cold part has its own symbol.
                let named = theirs["FunctionName"].as_str().map(|name| name.trim_end_matches(".cold"));
                assert_eq!(name, named, "{context}");
                let (line, column) = place.map_or((0, 0), |place| (place.line, place.column));
                assert_eq!(Value::from(line), theirs["Line"], "{context}");
                assert_eq!(Value::from(column), theirs["Column"], "{context}");
                let declared = frame.subprogram.declared.as_ref().map_or(0, |place| place.line);
                assert!(declared == 0 || theirs["StartLine"] == declared, "{context}: {declared}");
                place = frame.call_site.as_ref();
            }
            functions += 1;
            inlined += theirs.len() - 1;
        }
    }
    assert!(answers.next().is_none());
    assert!(
        functions > 1000 && inlined > least(100, 30),
        "only {functions} addresses, {inlined} inlined calls"
    );
}

/// A DIE of llvm-dwarfdump's text, as far as scopes need it.
#[derive(Default)]
struct Die {
    offset: u64,
    tag: String,
    name: Option<String>,
    origin: Option<u64>,
    specification: Option<u64>,
    ranges: Vec<Range<u64>>,
    children: Vec<usize>,
}

fn hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok()
}

/// The tree of a file: one line is a DIE, the following ones its attributes; ranges of a list are on separate lines.
fn tree(text: &str) -> Vec<Die> {
    let mut dies: Vec<Die> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut in_ranges = false;
    for line in text.lines() {
        let inner = line.trim_start();
        if let Some((offset, rest)) = line.split_once(": ").filter(|_| line.starts_with("0x")) {
            let tag = rest.trim_start();
            in_ranges = false;
            if !tag.starts_with("DW_TAG_") {
                continue;
            }
            open.truncate((rest.len() - tag.len()) / 2);
            let own = dies.len();
            if let Some(parent) = open.last() {
                dies[*parent].children.push(own);
            }
            open.push(own);
            dies.push(Die { offset: hex(offset).unwrap(), tag: tag.trim().to_owned(), ..Die::default() });
            continue;
        }
        let Some(die) = dies.last_mut() else { continue };
        if in_ranges && let Some((low, high)) = inner.trim_start_matches('[').split_once(", ") {
            let high = high.split(')').next().unwrap();
            die.ranges.push(hex(low).unwrap()..hex(high).unwrap());
        }
        let Some((attribute, value)) = inner.split_once('\t') else { continue };
        in_ranges = attribute == "DW_AT_ranges";
        let value = value.trim_start_matches('(');
        let number = || hex(value.split([' ', ')']).next().unwrap());
        match attribute {
            "DW_AT_name" => die.name = Some(value.trim_matches(['"', ')']).to_owned()),
            "DW_AT_abstract_origin" => die.origin = number(),
            "DW_AT_specification" => die.specification = number(),
            "DW_AT_low_pc" => die.ranges.push(number().unwrap()..0),
            "DW_AT_high_pc" => die.ranges[0].end = number().unwrap(),
            _ => {}
        }
    }
    dies
}

impl Die {
    fn is_variable(&self) -> bool {
        matches!(&*self.tag, "DW_TAG_variable" | "DW_TAG_formal_parameter")
    }
}

/// All DIEs, in file order.
struct Tree(Vec<Die>);

impl Tree {
    fn name(&self, die: &Die) -> String {
        let from = die.origin.or(die.specification);
        let origin = || self.0.iter().find(|other| Some(other.offset) == from);
        die.name.clone().or_else(|| Some(self.name(origin()?))).unwrap_or_default()
    }

    fn left_out(&self, origin: &Die, copied: &HashSet<u64>, names: &mut Vec<String>) {
        let children = origin.children.iter().map(|child| &self.0[*child]);
        for child in children.filter(|child| !copied.contains(&child.offset)) {
            match &*child.tag {
                "DW_TAG_lexical_block" => self.left_out(child, copied, names),
                _ if child.is_variable() => names.push(self.name(child)),
                _ => {}
            }
        }
    }

    /// Names of the variables in scope in the innermost call at a PC.
    fn variables(&self, scope: &Die, pc: u64, names: &mut Vec<String>) {
        let holds = |die: &Die| die.ranges.iter().any(|range| range.contains(&pc));
        let children = || scope.children.iter().map(|child| &self.0[*child]);
        let copied: HashSet<u64> = children().filter_map(|die| die.origin).collect();
        names.extend(children().filter(|die| die.is_variable()).map(|die| self.name(die)));
        // A copy may omit variables of the function.
        if let Some(origin) = self.0.iter().find(|die| Some(die.offset) == scope.origin) {
            self.left_out(origin, &copied, names);
        }
        for child in children() {
            match &*child.tag {
                "DW_TAG_lexical_block" if holds(child) || child.ranges.is_empty() => {
                    self.variables(child, pc, names)
                }
                "DW_TAG_inlined_subroutine" if holds(child) => {
                    // The call is a separate frame.
                    names.clear();
                    self.variables(child, pc, names);
                }
                _ => {}
            }
        }
    }
}

#[test]
fn variables_in_scope_are_those_of_llvm_dwarfdumps_tree() {
    let (mut places, mut variables) = (0, 0);
    let objects = some_objects();
    for (path, text) in objects.iter().zip(dumped(&["--debug-info"], &objects)) {
        let (debug, samples) = debug_info(path);
        let tree = Tree(tree(&text));
        for pc in samples {
            let holds = |die: &&Die| {
                die.tag == "DW_TAG_subprogram" && die.ranges.iter().any(|range| range.contains(&pc))
            };
            let mut names = Vec::new();
            if let Some(function) = tree.0.iter().find(holds) {
                tree.variables(function, pc, &mut names);
                places += 1;
            }
            names.sort();
            let found = debug.variables_at(ElfAddress(pc)).unwrap();
            let mut found: Vec<String> =
                found.iter().map(|at| at.variable.name.as_deref().unwrap_or_default().to_owned()).collect();
            found.sort();
            assert_eq!(found, names, "{} at {pc:#x}", path.display());
            variables += found.len();
        }
    }
    assert!(places > 1000 && variables > least(5000, 2000), "only {places} places, {variables} variables");
}
