//! Virtual functions and pointers to members: output of gdb 13.1 for members/members.cpp, built for its machine by
//! the same clang, except addresses; by the text of DWARF 5 and the C++ ABI for cases that gdb answers wrongly.

use std::path::Path;
use std::process::Command;

use super::Maker;
use crate::codeobject::newest_llvm;
use crate::session::print::Query;
use crate::session::{Session, ValueState, Variables as _};
use crate::units::{LaneId, LaneSet, WaveId, WaveSize};

/// The source compiled for a GPU, with data as loaded at address 0.
pub(super) fn compiled(source: &str, test: &str) -> Vec<u8> {
    let folder = std::env::temp_dir().join(format!("lanescope-members-{}-{test}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/session/tests/members").join(source);
    let flags = "-x c++ -std=c++20 -g -O0 -w -fno-rtti --target=amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib \
                 -fvisibility=hidden -Wl,--apply-dynamic-relocs -Wl,-Bsymbolic -o";
    let mut command = Command::new(newest_llvm("clang"));
    let output = folder.join("members.hsaco");
    let done = command.args(flags.split_whitespace()).arg(&output).arg(source).output().expect("clang");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let bytes = std::fs::read(&output).expect("an object");
    std::fs::remove_dir_all(folder).expect("removed");
    bytes
}

fn session(object: &[u8], sections: &[&str]) -> Session {
    stopped(object, sections, "f")
}

/// A wave in a function, after its first instruction, with those sections in memory.
pub(super) fn stopped(object: &[u8], sections: &[&str], function: &str) -> Session {
    let elf = crate::codeobject::CodeObject::parse(object.to_vec()).unwrap();
    let mut maker = Maker::new("gfx90a");
    maker.code_object(object, 0);
    let pieces: Vec<(u64, Vec<u8>)> = sections
        .iter()
        .map(|name| {
            let section = elf.section(name).expect(name);
            let bytes = elf.section_bytes(name).expect("sound").map(|bytes| bytes.to_vec());
            let bytes = bytes.filter(|bytes| !bytes.is_empty());
            (section.address, bytes.unwrap_or_else(|| vec![0; section.size as usize]))
        })
        .collect();
    let pieces: Vec<(u64, &[u8])> = pieces.iter().map(|(at, bytes)| (*at, &bytes[..])).collect();
    maker.capture.global = maker.map(&pieces);
    let pc = elf.symbol(function).unwrap().value + 4;
    maker.wave(WaveSize::W64, None, &[("exec", &[0xff; 8], 3), ("pc", &pc.to_le_bytes(), 3)]);
    Session::new(maker.finish(), None).unwrap()
}

/// Type and value of a path, addresses as `0x`.
pub(super) fn shown(session: &Session, path: &str) -> (String, String) {
    let query = Query { path: path.to_owned(), letter: None };
    let printed = session.print(WaveId(0), LaneSet::one(LaneId(1)), 0, &query).expect(path);
    let text = match &printed.lanes[0].value.state {
        ValueState::Value(text) => text.to_string(),
        ValueState::OptimizedOut(why) => format!("optimized out: {why}"),
        ValueState::Unavailable(why) => format!("unavailable: {why}"),
        ValueState::Error(why) => format!("error: {why}"),
    };
    (printed.type_name.unwrap_or_default(), without_addresses(&text))
}

fn without_addresses(text: &str) -> String {
    let mut parts = text.split("0x");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push_str("0x");
        plain.push_str(part.trim_start_matches(|c: char| c.is_ascii_hexdigit()));
    }
    plain
}

const ALL: [&str; 3] = [".data.rel.ro", ".data", ".bss"];

#[test]
fn pointers_to_members_are_gdbs() {
    let session = session(&compiled("members.cpp", "pointers"), &ALL);
    let expected = [
        ("circle.*id", "3"),
        ("circle.*radius", "7"),
        ("both.*mark", "5"),
        ("(both.*z)[1]", "2"),
        ("both.*inherited", "3"),
        ("shape->*id", "3"),
        // `.*` also follows a pointer, like `.`.
        ("shape.*id", "3"),
        ("shape->*area", "{int (const Shape * const)} 0x <Circle::area() const>"),
        ("circle.*area", "{int (const Shape * const)} 0x <Circle::area() const>"),
        ("shape->*sides", "{int (const Shape * const)} 0x <Shape::sides() const>"),
        ("shape->*plain", "{int (const Shape * const)} 0x <Shape::plain() const>"),
        ("both.*tagged", "{int (Both * const, int)} 0x <non-virtual thunk to Both::tag(int)>"),
        ("id", "&Shape::id"),
        ("radius", "&Circle::radius"),
        ("mark", "&Tag::mark"),
        ("z", "&Both::z"),
        ("inherited", "&Shape::id"),
        ("none", "NULL"),
        ("area", "&virtual Shape::area() const"),
        ("plain", "(int (Shape::*)(const Shape * const)) 0x <Shape::plain() const>"),
    ];
    for (path, value) in expected {
        assert_eq!(shown(&session, path).1, value, "{path}");
    }
    assert_eq!(shown(&session, "circle.*id").0, "int");
    assert_eq!(shown(&session, "circle.*area").0, "int (const Shape * const)");
    assert_eq!(shown(&session, "id").0, "int Shape::*");
    // A member forty classes deep still exists, but is too deep to name.
    assert_eq!(
        (shown(&session, "levels.*far").1, shown(&session, "far").1),
        ("8".to_owned(), "0".to_owned())
    );
    // Cases in which gdb reads outside of the object.
    let errors = [
        ("circle.*none", "error: the pointer to a member is NULL (-1)"),
        ("circle.*nowhere", "error: the pointer to a member function is NULL"),
        ("other.*id", "error: `Other` is no `Shape`, whose member is pointed to"),
        ("circle->*id", "error: `->*` needs a pointer; `Circle` is a struct or class: write `.*`"),
        ("circle.*other", "error: `.*` needs a pointer to a member; `Other` is a struct or class"),
        ("levels.*first", "error: more than 65536 members or 32 base classes inside one another"),
        ("other.x.*id", "error: `*` needs a struct or class; `int` is a number"),
    ];
    for (path, why) in errors {
        assert_eq!(shown(&session, path).1, why, "{path}");
    }
}

/// The target functions of calls: gdb's answers for the object's own class. For `shape->area` gdb prints
/// `Shape::area`, which the call does not reach.
#[test]
fn virtual_calls_go_through_the_objects_table() {
    let session = session(&compiled("members.cpp", "calls"), &ALL);
    let expected = [
        ("circle.area", "{int (const Circle * const)} 0x <Circle::area() const>"),
        ("shape->area", "{int (const Shape * const)} 0x <Circle::area() const>"),
        ("shape->sides", "{int (const Shape * const)} 0x <Shape::sides() const>"),
        ("shape->plain", "{int (const Shape * const)} 0x <Shape::plain() const>"),
        ("both.tag", "{int (Both * const, int)} 0x <Both::tag(int)>"),
        ("both.sides", "{int (const Shape * const)} 0x <Shape::sides() const>"),
        ("tag->tag", "{int (Tag * const, int)} 0x <non-virtual thunk to Both::tag(int)>"),
        ("tag->twice", "error: `twice` is the name of Tag::twice(int), Tag::twice(float)"),
        ("nobody->area", "error: the pointer is NULL: generic#0x is the null address of generic memory"),
        (
            "((Shape *) raw)->area",
            "error: its pointer to the table of virtual functions is 0: the object was not constructed",
        ),
        ("circle.volume", "error: `Circle` has no member `volume`"),
        ("Shape::plain", "{int (const Shape * const)} 0x <Shape::plain() const>"),
    ];
    for (path, value) in expected {
        assert_eq!(shown(&session, path).1, value, "{path}");
    }
}

/// Without the tables' memory there is no answer.
#[test]
fn absent_tables_are_reported() {
    let session = session(&compiled("members.cpp", "absent"), &[".data", ".bss"]);
    let words = shown(&session, "circle.area").1;
    let start =
        "unavailable: the entry of `area` in the table of virtual functions: global+0x was not captured";
    assert_eq!(words, start);
    assert!(shown(&session, "circle.*area").1.starts_with("unavailable: its entry in the table"));
    // These paths use no table.
    assert_eq!(shown(&session, "circle.*id").1, "3");
    assert_eq!(shown(&session, "circle.plain").1, "{int (const Shape * const)} 0x <Shape::plain() const>");
}
