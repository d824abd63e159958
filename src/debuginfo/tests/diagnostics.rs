//! DWARF with single errors, assembled by hand: each affects only the object that it describes.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use super::debug_info;
use crate::codeobject::{CodeObject, ElfAddress, newest_llvm};
use crate::debuginfo::contents::Contents;
use crate::debuginfo::diagnostics::MAX_PROBLEMS;
use crate::debuginfo::format::Options;
use crate::debuginfo::{DebugInfo, DebugInfoError, Location, MAX_CHECKED_BYTES, TypeId, UnitId};
use crate::units::DieOffset;

const ABBREVIATIONS: &str = r#"
.section .debug_abbrev,"",@progbits
.byte 1, 0x11, 1, 0, 0                                          # unit
.byte 2, 0x01, 1, 0x49, 0x13, 0, 0                              # array: type
.byte 3, 0x21, 0, 0x37, 0x07, 0, 0                              # subrange: count
.byte 4, 0x24, 0, 0x03, 0x08, 0x3e, 0x0b, 0x0b, 0x0b, 0, 0      # base type: name, encoding, size
.byte 5, 0x13, 1, 0x03, 0x08, 0x0b, 0x0b, 0, 0                  # struct: name, size
.byte 6, 0x0d, 0, 0x03, 0x08, 0x49, 0x13, 0x38, 0x0d, 0, 0      # member: name, type, place (sdata)
.byte 7, 0x0d, 0, 0x03, 0x08, 0x49, 0x13, 0x38, 0x08, 0, 0      # member: name, type, place (a string)
.byte 8, 0x2e, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x06, 0, 0      # function: name, low, high
.byte 9, 0x34, 0, 0x03, 0x0e, 0x49, 0x13, 0x02, 0x18, 0, 0      # variable: name (strp), type, expression
.byte 10, 0x34, 0, 0x03, 0x08, 0x49, 0x13, 0x02, 0x17, 0, 0     # variable: name, type, location list
.byte 11, 0x34, 0, 0x03, 0x08, 0x49, 0x13, 0x3a, 0x0b, 0x3b, 0x0b, 0x02, 0x18, 0, 0 # variable: with file and line
.byte 12, 0x11, 1, 0x10, 0x17, 0, 0                             # unit with a line table
.byte 13, 0x2e, 1, 0x03, 0x08, 0x55, 0x17, 0, 0                 # function: name, ranges
.byte 0
.section .debug_str,"MS",@progbits,1
.asciz "sound"
.section .debug_info,"",@progbits
"#;

/// An object file with these DIEs.
fn assembled(dies: &str) -> Vec<u8> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = format!("lanescope-damage-{}-{}.o", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let output = std::env::temp_dir().join(name);
    let mut command = Command::new(newest_llvm("llvm-mc"));
    command.args(["-triple=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-filetype=obj", "-o"]).arg(&output);
    let mut child = command.stdin(Stdio::piped()).spawn().expect("llvm-mc runs");
    let lines = ABBREVIATIONS.lines().chain(dies.lines());
    let source: String = lines.map(|line| format!("{}\n", line.split('#').next().unwrap_or(""))).collect();
    child.stdin.take().expect("its input").write_all(source.as_bytes()).expect("written");
    assert!(child.wait().expect("it ends").success());
    let bytes = std::fs::read(&output).expect("its output");
    std::fs::remove_file(output).expect("removed");
    bytes
}

/// A unit with a root of that abbreviation and the given DIEs.
fn unit(label: &str, root: &str, dies: &str) -> String {
    format!(
        "{label}:\n.long {label}_end - {label}_start\n{label}_start:\n.short 5\n.byte 1, 8\n.long 0\n.byte {root}\n\
         {dies}\n.byte 0\n{label}_end:\n"
    )
}

struct Object {
    info: DebugInfo,
    symbols: CodeObject,
}

impl Object {
    fn new(dies: &str) -> Self {
        let bytes = assembled(dies);
        Self { info: debug_info(bytes.clone()), symbols: CodeObject::parse(bytes).unwrap() }
    }

    fn die(&self, label: &str) -> DieOffset {
        DieOffset(self.symbols.symbol(label).unwrap().value)
    }

    fn shown(&self, label: &str, bytes: &[u8]) -> Result<String, DebugInfoError> {
        let id = TypeId(self.die(label));
        self.info.value(id, Contents::known(bytes), &Options::machine()).map(|value| value.to_string())
    }
}

const TYPES: &str = r#"
integer:
.byte 4
.asciz "int"
.byte 5, 4
self_array:
.byte 2
.long self_array - cu
.byte 3
.quad 2
.byte 0
huge:
.byte 2
.long integer - cu
.byte 3
.quad 0x4000000000000000
.byte 0
holder:
.byte 5
.asciz "H"
.byte 8
.byte 6
.asciz "a"
.long integer - cu
.byte 0
.byte 6
.asciz "inner"
.long holders - cu
.byte 4
.byte 0
holders:
.byte 2
.long holder - cu
.byte 3
.quad 3
.byte 0
odd:
.byte 5
.asciz "O"
.byte 12
.byte 6
.asciz "a"
.long integer - cu
.byte 0
negative:
.byte 6
.asciz "negative"
.long integer - cu
.byte 0x7c
text:
.byte 7
.asciz "text"
.long integer - cu
.asciz "x"
.byte 6
.asciz "lost"
.long 0xfff0
.byte 0
.byte 6
.asciz "b"
.long integer - cu
.byte 8
.byte 0
nothing:
.byte 4
.asciz "nothing"
.byte 5, 0
unknown:
.byte 4
.asciz "unknown"
.byte 0x55, 4
"#;

#[test]
fn a_type_that_contains_itself_ends() {
    let object = Object::new(&unit("cu", "1", TYPES));
    let at = object.die("self_array");
    let size = object.info.byte_size(TypeId(at)).unwrap_err();
    assert!(matches!(size, DebugInfoError::TooDeep { die, .. } if die == at), "{size}");
    assert!(matches!(object.shown("self_array", &[1; 64]), Err(DebugInfoError::TooDeep { .. })));
    // Only the parts that contain the whole again have no value.
    let shown = object.shown("holder", &[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]).unwrap();
    let again = format!("<the type at DIE {} contains itself>", object.die("holder"));
    assert_eq!(shown, format!("{{a = 1, inner = {{{again}, {again}, {again}}}}}"));
}

#[test]
fn a_size_that_overflows_is_reported() {
    let object = Object::new(&unit("cu", "1", TYPES));
    let die = object.die("huge");
    assert_eq!(object.info.byte_size(TypeId(die)), Err(DebugInfoError::TooLarge { die }));
    assert_eq!(object.shown("huge", &[]), Err(DebugInfoError::TooLarge { die }));
}

#[test]
fn a_member_costs_itself() {
    let object = Object::new(&unit("cu", "1", TYPES));
    let shown = object.shown("odd", &[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]).unwrap();
    let of = |label| format!("DW_AT_data_member_location of DIE {} in the unit at 0x0", object.die(label));
    let negative = format!("<{} is -4, expected a number that is not negative>", of("negative"));
    let text = format!("<{} is DW_FORM_string, expected an expression or a location list>", of("text"));
    let lost = "<there is no unit at 0xfff0 of .debug_info>";
    assert_eq!(shown, format!("{{a = 1, negative = {negative}, text = {text}, lost = {lost}, b = 3}}"));
    assert_eq!(object.info.type_name(Some(TypeId(object.die("odd")))).unwrap(), "struct O");
}

#[test]
fn base_types_without_size_or_meaning_are_reported() {
    let object = Object::new(&unit("cu", "1", TYPES));
    let nothing = format!("<the base type at DIE {} has no size>", object.die("nothing"));
    assert_eq!(object.shown("nothing", &[]).unwrap(), nothing);
    let unknown = object.shown("unknown", &[1, 0, 0, 0x80]).unwrap();
    assert_eq!(unknown, "<a base type of unknown encoding 0x55: 0x80000001>");
}

/// Three variables, two of them damaged, and an unreadable DIE, in a unit without a line table.
const FUNCTIONS: &str = r#"
int:
.byte 4
.asciz "int"
.byte 5, 4
no_ranges:
.byte 13
.asciz "no_ranges"
.long 0x7777
.byte 0
f:
.byte 8
.asciz "f"
.quad 0x1000
.long 0x100
.byte 11
.asciz "v1"
.long int - cu
.byte 1, 7
.byte 1, 0x30
v2:
.byte 9
.long 0xffff
.long int - cu
.byte 1, 0x30
v3:
.byte 10
.asciz "v3"
.long int - cu
.long 0x7777
bad:
.byte 0x63
.byte 0
g:
.byte 8
.asciz "g"
.quad 0x2000
.long 0x100
.byte 0
"#;

#[test]
fn a_die_of_a_function_costs_itself() {
    let object = Object::new(&unit("cu", "12\n.long 0x5000", FUNCTIONS));
    let (info, pc) = (&object.info, ElfAddress(0x1010));
    let variables = info.variables_at(pc).unwrap();
    let names: Vec<_> = variables.iter().map(|at| at.variable.name.as_deref()).collect();
    assert_eq!(names, [Some("v1"), None, Some("v3")]);
    let declared = variables[0].variable.declared.as_ref().unwrap();
    assert_eq!((declared.line, &declared.file), (7, &None));
    assert!(matches!(variables[1].location, Location::Expression(_)));
    let Location::Broken(why) = &variables[2].location else { panic!("{:?}", variables[2]) };
    let words =
        format!("DW_AT_location of DIE {}: the location list at 0x7777 of the unit at 0x0", object.die("v3"));
    assert!(why.to_string().starts_with(&words), "{why}");
    // The function names its missing parts.
    let function = info.function_at(pc).unwrap().unwrap().function;
    let said: Vec<String> = function.problems.iter().map(ToString::to_string).collect();
    let [name, end] = &said[..] else { panic!("{said:?}") };
    assert!(
        name.starts_with(&format!("DW_AT_name of DIE {} in the unit at 0x0", object.die("v2"))),
        "{name}"
    );
    assert!(end.contains(&format!("DIE {} in the unit at 0x0", object.die("bad"))), "{end}");
    // Objects after the unreadable DIE are missing, and that DIE is the reason.
    let lost = info.function_at(ElfAddress(0x2010)).unwrap_err().to_string();
    assert!(lost.contains("DIE"), "{lost}");
    assert!(info.line_at(pc).unwrap_err().to_string().starts_with("line table of the unit at 0x0"));
}

#[test]
fn a_check_reports_all_of_it() {
    let first = unit("cu", "12\n.long 0x5000", FUNCTIONS);
    let sound = unit("sound", "1", ".byte 4\n.asciz \"char\"\n.byte 6, 1");
    let broken = unit("broken", "0x70", "");
    let object = Object::new(&format!("{first}{sound}{broken}"));
    let checked = object.info.check();
    assert_eq!(checked.unread, 0);
    let said: Vec<String> = checked.problems.iter().map(ToString::to_string).collect();
    let has =
        |words: String| assert!(said.iter().any(|problem| problem.contains(&words)), "{words}: {said:?}");
    has(format!("DW_AT_ranges of DIE {}", object.die("no_ranges")));
    has(format!("DW_AT_name of DIE {}", object.die("v2")));
    has(format!("DW_AT_location of DIE {}", object.die("v3")));
    has(format!("DIE {} in the unit at 0x0", object.die("bad")));
    has("line table of the unit at 0x0".to_owned());
    has(format!("abbreviations of the unit at {}", object.die("broken")));
    assert_eq!(said.len(), 6, "{said:?}");
    assert!(object.info.unit_problems(UnitId(1)).is_empty());
    // A PC outside of all units may belong to the broken unit.
    assert!(object.info.function_at(ElfAddress(0x9000)).is_err());
}

#[test]
fn problems_and_bytes_that_are_checked_are_bounded() {
    let bad = ".byte 9\n.long 0xffff\n.long 0\n.byte 1, 0x30\n".repeat(MAX_PROBLEMS + 8);
    let function = format!(".byte 8\n.asciz \"f\"\n.quad 0x1000\n.long 0x100\n{bad}.byte 0");
    let large = unit("large", "1", &format!(".zero {MAX_CHECKED_BYTES}"));
    let object = Object::new(&format!("{}{large}", unit("cu", "1", &function)));
    let function = object.info.function_at(ElfAddress(0x1000)).unwrap().unwrap().function;
    assert_eq!(function.scopes[0].variables.len(), MAX_PROBLEMS + 8);
    assert_eq!(function.problems.len(), MAX_PROBLEMS);
    let checked = object.info.check();
    assert_eq!((checked.problems.len(), checked.unread), (MAX_PROBLEMS, 1));
    assert!(checked.unread_words().is_some());
}
