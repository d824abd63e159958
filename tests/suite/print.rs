//! Paths, compared with the models: every variable, member and element of every fixture in every lane, by the model's
//! text of the value; pointers, by the session's memory; and absent values, with their reasons.

use lanescope::debuginfo::format::Letter;
use lanescope::report::print;
use lanescope::session::print::{PrintError, Query};
use lanescope::session::{Session, Storage as _, Variables as _, Waves as _};
use lanescope::units::{LaneId, LaneSet, WaveId};
use serde_json::Value;

use crate::fixtures::{each_wave, each_wave_of, few_expected, fixtures, open, session};
use crate::json_of;
use crate::support::least;

fn ask(
    session: &Session,
    wave: WaveId,
    lanes: LaneSet,
    frame: usize,
    path: &str,
) -> Result<Value, PrintError> {
    let query = Query { path: path.to_owned(), letter: None };
    session.print(wave, lanes, frame, &query).map(|printed| json_of(print::json(&printed, query.letter)))
}

/// A value in the models' notation: gdb's text, parsed without a type.
#[derive(Debug)]
enum Tree {
    Leaf,
    Members(Vec<(String, String)>),
    Elements(Vec<String>),
    Characters(String),
}

/// Splits `a, {b, c}, "d, e"` at the commas outside of brackets and quotes.
fn split(text: &str) -> Vec<String> {
    let (mut parts, mut depth, mut quote, mut escaped) = (vec![String::new()], 0, None, false);
    for c in text.chars() {
        match (c, quote) {
            _ if escaped => escaped = false,
            ('\\', Some(_)) => escaped = true,
            (_, Some(open)) if c == open => quote = None,
            (_, Some(_)) => {}
            ('"' | '\'', None) => quote = Some(c),
            ('{' | '<' | '(', None) => depth += 1,
            ('}' | '>' | ')', None) => depth -= 1,
            (',', None) if depth == 0 => {
                parts.push(String::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().unwrap().push(c);
    }
    parts.iter().map(|part| part.trim().to_owned()).collect()
}

fn tree(text: &str) -> Tree {
    let plain = |inner: &str| !inner.contains('\\') && !inner.contains('"');
    if let Some(inner) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'))
        && plain(inner)
    {
        return Tree::Characters(inner.to_owned());
    }
    let Some(inner) = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) else {
        return Tree::Leaf;
    };
    let parts = split(inner);
    let member = |part: &String| {
        let (name, value) = part.split_once(" = ")?;
        let is_name = name.chars().all(|c| c.is_alphanumeric() || c == '_');
        is_name.then(|| (name.to_owned(), value.to_owned()))
    };
    let members: Option<Vec<(String, String)>> = parts.iter().map(member).collect();
    match members {
        Some(members) => Tree::Members(members),
        None if parts.iter().any(|part| part.ends_with("...")) => Tree::Leaf,
        None => Tree::Elements(parts),
    }
}

/// Every path below one with its value, both as texts.
fn below(path: &str, text: &str, found: &mut Vec<(String, String)>) {
    found.push((path.to_owned(), text.to_owned()));
    match tree(text) {
        Tree::Leaf => {}
        Tree::Members(members) => {
            members.iter().for_each(|(name, value)| below(&format!("{path}.{name}"), value, found));
        }
        Tree::Elements(elements) => {
            let each = elements.iter().enumerate();
            each.for_each(|(index, value)| below(&format!("{path}[{index}]"), value, found));
        }
        Tree::Characters(text) => {
            for (index, c) in text.chars().enumerate() {
                found.push((format!("{path}[{index}]"), format!("{} '{c}'", c as u32)));
            }
        }
    }
}

/// The innermost variable of each name: the others cannot be named.
fn named(locals: &[Value]) -> impl Iterator<Item = &Value> {
    locals.iter().enumerate().filter_map(|(index, variable)| {
        let later = &locals[index + 1..];
        (!later.iter().any(|other| other["name"] == variable["name"])).then_some(variable)
    })
}

fn columns(expected: &Value) -> Vec<u64> {
    match expected["lanes"].as_array() {
        Some(lanes) => lanes.iter().filter_map(Value::as_u64).collect(),
        None => (0..64).collect(),
    }
}

/// Compares a variable and all paths below it with the model; returns the number of values.
fn variable_below(
    session: &Session,
    wave: WaveId,
    frame: usize,
    variable: &Value,
    columns: &[u64],
    wrong: &mut dyn FnMut(String),
) -> usize {
    let mut compared = 0;
    let all = session.kind().wave_size.all();
    let name = variable["name"].as_str().unwrap();
    let is_reference = variable["type"].as_str().is_some_and(|ty| ty.ends_with('&'));
    let whole = match ask(session, wave, all, frame, name) {
        Ok(whole) => whole,
        Err(error) => {
            wrong(format!("{name}: {error}"));
            return 0;
        }
    };
    let state = variable["state"].as_str().unwrap();
    let wanted = if state.starts_with("partly_") { "ok" } else { state };
    if !is_reference && wanted == "ok" && whole["type"] != variable["type"] {
        wrong(format!("{name}: type {}, expected {}", whole["type"], variable["type"]));
    }
    for (index, lane) in columns.iter().enumerate().filter(|(_, lane)| **lane < u64::from(all.count())) {
        let known = !variable["bytes"][index].is_null() || !variable["values"][index].is_null();
        let got = &whole["lanes"][*lane as usize];
        if !is_reference && (wanted != "ok" || known) && got["state"] != wanted {
            wrong(format!("{name} lane {lane}: expected {wanted}, got {got}"));
        }
    }
    if is_reference {
        return 0;
    }
    // Paths of one lane equal those of all lanes.
    let mut by_path: std::collections::BTreeMap<String, Vec<(u64, String)>> = Default::default();
    for (index, lane) in columns.iter().enumerate().filter(|(_, lane)| **lane < u64::from(all.count())) {
        let Some(text) = variable["values"][index].as_str() else { continue };
        let mut found = Vec::new();
        below(name, text, &mut found);
        for (path, value) in found {
            by_path.entry(path).or_default().push((*lane, value));
        }
    }
    for (path, lanes) in by_path {
        let set = lanes.iter().map(|(lane, _)| LaneId(*lane as u8)).collect();
        let printed = match ask(session, wave, set, frame, &path) {
            Ok(printed) => printed,
            Err(error) => {
                wrong(format!("{path}: {error}"));
                return compared;
            }
        };
        compared += lanes.len();
        for ((lane, value), got) in lanes.iter().zip(printed["lanes"].as_array().unwrap()) {
            let text = got["value"].as_str();
            let absent = matches!(
                (value.as_str(), got["state"].as_str()),
                ("<unavailable>", Some("unavailable")) | ("<optimized out>", Some("optimized_out"))
            );
            // A reference member: the model has the object's address in the private aperture, and the path names it.
            let referred = value.strip_prefix("@0x").is_some_and(|address| {
                let low = u64::from_str_radix(address, 16).unwrap() as u32;
                got["location"] == format!("private_lane[{lane}]+{low:#x}")
            });
            if got["lane"] != *lane || (text != Some(value) && !absent && !referred) {
                wrong(format!("{path} lane {lane}: expected {value}, got {got}"));
            }
            if absent && got["why"].as_str().is_none_or(str::is_empty) {
                wrong(format!("{path} lane {lane}: no reason: {got}"));
            }
        }
    }
    compared
}

#[test]
fn every_member_of_every_variable_agrees_with_the_models() {
    let paths = std::cell::Cell::new(0usize);
    each_wave_of(few_expected(), |session, wave, expected, wrong| {
        let callers = expected["callers"].as_array().map_or(&[][..], Vec::as_slice);
        for (frame, of) in std::iter::once(expected).chain(callers).enumerate() {
            let Some(locals) = of["locals"].as_array() else { continue };
            let columns = columns(expected);
            for variable in named(locals) {
                let mut say = |text: String| wrong(format!("frame {frame}: {text}"));
                paths.set(paths.get() + variable_below(session, wave, frame, variable, &columns, &mut say));
            }
        }
    });
    assert!(paths.get() > least(10_000, 2_500), "only {} values were compared", paths.get());
}

/// `&x` has the address of the variable, and `*&x` is the variable. Bytes through a pointer equal the session's bytes
/// at the address in the pointer's text.
#[test]
fn addresses_and_what_they_point_to() {
    let checked = std::cell::Cell::new([0usize; 3]);
    each_wave_of(few_expected(), |session, wave, expected, wrong| {
        let Some(locals) = expected["locals"].as_array() else { return };
        let lanes: LaneSet = columns(expected).into_iter().take(4).map(|lane| LaneId(lane as u8)).collect();
        for variable in named(locals).filter(|variable| variable["state"] == "ok") {
            let name = variable["name"].as_str().unwrap();
            let ty = variable["type"].as_str().unwrap();
            if ty.ends_with('&') {
                continue;
            }
            let whole = ask(session, wave, lanes, 0, name).unwrap();
            let address = ask(session, wave, lanes, 0, &format!("&{name}")).unwrap();
            let again = ask(session, wave, lanes, 0, &format!("*&{name}")).unwrap();
            for (index, lane) in whole["lanes"].as_array().unwrap().iter().enumerate() {
                let place = lane["location"].as_str().unwrap_or_default();
                let number = lane["lane"].as_u64().unwrap();
                if let Some(offset) = place.strip_prefix(&format!("private_lane[{number}]+")) {
                    let offset = offset.split(' ').next().unwrap();
                    let got = &address["lanes"][index];
                    if got["value"] != format!("private_lane#{offset}") {
                        wrong(format!("&{name} lane {number}: expected {offset}, got {got}"));
                    }
                    if again["lanes"][index]["value"] != lane["value"] {
                        wrong(format!("*&{name} lane {number}: {}", again["lanes"][index]));
                    }
                    let [one, ..] = checked.get();
                    checked.set([one + 1, checked.get()[1], checked.get()[2]]);
                } else if !place.contains('+') && !lane["value"].is_null() {
                    let why = address["lanes"][index]["why"].as_str().unwrap_or_default();
                    if !why.contains("has no address") {
                        wrong(format!("&{name} lane {number}: {}", address["lanes"][index]));
                    }
                    checked.set([checked.get()[0], checked.get()[1] + 1, checked.get()[2]]);
                }
                let Some(text) = lane["value"].as_str().filter(|_| ty.ends_with('*')) else { continue };
                let one = LaneSet::one(LaneId(number as u8));
                let byte = ask(session, wave, one, 0, &format!("*(unsigned char *) {name}")).unwrap();
                let byte = &byte["lanes"][0];
                let place =
                    lanescope::report::spaces::parse_word(session, wave, Some(LaneId(number as u8)), text);
                let mut read = [0];
                match place.map(|place| session.read(place, &mut read)) {
                    Ok(Ok(_)) => {
                        if byte["bytes"] != format!("{:02x}", read[0]) {
                            wrong(format!("*{name} lane {number} at {text}: expected {read:?}, got {byte}"));
                        }
                        checked.set([checked.get()[0], checked.get()[1], checked.get()[2] + 1]);
                    }
                    _ if byte["state"] == "ok" => {
                        wrong(format!("*{name} lane {number}: not captured, got {byte}"))
                    }
                    _ => {}
                }
            }
        }
    });
    let counts = checked.get();
    assert!(counts.iter().all(|count| *count > least(50, 20)), "only {counts:?} were checked");
}

struct Case {
    session: Session,
    wave: WaveId,
}

impl Case {
    fn of(dump: &str, wave: u64) -> Self {
        let dump = open(&fixtures().join("dumps").join(dump));
        let (session, wave) = session(&dump, wave);
        Self { session, wave }
    }

    fn lane(&self, frame: usize, lane: u8, path: &str) -> Value {
        let printed = ask(&self.session, self.wave, LaneSet::one(LaneId(lane)), frame, path);
        let printed = printed.unwrap_or_else(|error| panic!("{path}: {error}"));
        let mut answer = printed["lanes"][0].clone();
        answer["type"] = printed["type"].clone();
        answer
    }

    fn value(&self, frame: usize, lane: u8, path: &str) -> String {
        let answer = self.lane(frame, lane, path);
        answer["value"].as_str().unwrap_or_else(|| panic!("{path}: {answer}")).to_owned()
    }

    fn why(&self, frame: usize, lane: u8, path: &str) -> String {
        let answer = self.lane(frame, lane, path);
        answer["why"].as_str().unwrap_or_else(|| panic!("{path}: {answer}")).to_owned()
    }
}

/// The kernel's source defines the values: gains, visits, and the members.
#[test]
fn names_outside_of_the_function() {
    let case = Case::of("call-gfx90a-O0", 1);
    for (path, value) in [
        ("sky::gains[2]", "4"),
        ("gains[3]", "8"),
        ("::sky::visits", "7"),
        ("visits + 1", "8"),
        ("*gains", "1"),
        ("*(gains + 1)", "2"),
        ("&gains[3] - gains", "3"),
        ("gains[1]@2", "{2, 4}"),
        ("body.id * 2 + 1", "11"),
        ("(char) (body.id + 'A')", "70 'F'"),
        ("(unsigned) -1", "4294967295"),
        ("(float) body.id", "5"),
        ("(int) body.speed.x", "0"),
        ("-5 / 2", "-2"),
        ("body.tag[0]@3", "\"bod\""),
        ("(&body)->tag", "\"bod\""),
        ("*&body.at.z", "2"),
        ("((sky::Vec3 *) &body.at)->z", "2"),
        ("*(struct Vec3 *) &body.at", "{x = 8, y = 31, z = 2}"),
    ] {
        assert_eq!(case.value(0, 5, path), value, "{path}");
    }
    let symbol = case.value(0, 0, "&gains[1]");
    assert!(symbol.starts_with("0x7f") && symbol.ends_with(" <sky::gains+4>"), "{symbol}");
    let kernel = case.value(0, 0, "&call");
    assert!(kernel.ends_with(" <call>"), "{kernel}");
    let function = case.lane(0, 0, "energy<float>");
    assert_eq!(function["type"], "float (sky::Body, float)");
    assert!(function["value"].as_str().unwrap().starts_with("{float (sky::Body, float)} 0x7f"), "{function}");
}

/// A member function: members through `this`, a reference; both are generic pointers into private memory.
#[test]
fn this_and_references() {
    for dump in ["call-gfx90a-O0", "call-gfx1100-O0"] {
        let case = Case::of(dump, 2);
        for (path, value) in [
            ("steps", "3"),
            ("dt", "2"),
            ("this->steps", "3"),
            ("this->dt", "2"),
            ("(*this).steps", "3"),
            ("body.tag", "\"bod\""),
            ("upto", "3"),
            ("before.z", "2"),
        ] {
            assert_eq!(case.value(0, 5, path), value, "{dump} {path}");
        }
        let body = case.value(0, 5, "&body.id");
        assert!(body.starts_with("private_lane#0x"), "{body}");
        assert_eq!(case.lane(0, 5, "steps")["type"], "int");
        // Each lane follows its own pointer: the kernel numbers its work-items.
        let first: u32 = case.value(0, 0, "body.id").parse().unwrap();
        for lane in [1, 17, 31] {
            assert_eq!(case.value(0, lane, "body.id"), (first + u32::from(lane)).to_string());
        }
    }
}

/// Registers of callers, by the model of the calling convention.
#[test]
fn registers_of_callers() {
    let compared = std::cell::Cell::new(0);
    each_wave(|session, wave, expected, wrong| {
        let callers = expected["callers"].as_array().map_or(&[][..], Vec::as_slice);
        for (index, caller) in callers.iter().enumerate() {
            let registers = caller["registers"].as_object().unwrap();
            for (name, lanes) in registers.iter().filter(|(name, _)| name.starts_with('v')) {
                let Some(lanes) = lanes.as_array() else { continue };
                let all = session.kind().wave_size.all();
                let query = Query { path: format!("${name}"), letter: Letter::of("z") };
                let printed = session
                    .print(wave, all, index + 1, &query)
                    .map(|printed| json_of(print::json(&printed, query.letter)));
                let printed = printed.unwrap_or_else(|error| panic!("{name}: {error}"));
                for (lane, expected) in printed["lanes"].as_array().unwrap().iter().zip(lanes) {
                    let got = lane["bytes"].as_str();
                    if expected.is_string() && got != expected.as_str() {
                        wrong(format!("{name} of caller {index}: expected {expected}, got {lane}"));
                    }
                    compared.set(compared.get() + usize::from(expected.is_string()));
                }
            }
        }
    });
    assert!(compared.get() > 100, "only {} were compared", compared.get());
}

/// Pointers of every space of the OpenCL kernel, compared with its results through them.
#[test]
fn pointers_into_every_space() {
    for dump in ["lds-gfx90a-O0", "lds-gfx1100-O0"] {
        let case = Case::of(dump, 1);
        for lane in [0, 1, 17, 31] {
            let value = |path: &str| case.value(0, lane, path);
            assert_eq!(value("*slot"), value("other"), "{dump} lane {lane}");
            assert_eq!(value("slot[0]"), value("other"));
            assert_eq!(value("tile[item ^ 1]"), value("other"));
            assert_eq!(value("((local int *) 0)[item ^ 1]"), value("other"));
            assert_eq!(value("*(int *) (tile + (item ^ 1))"), value("other"));
            assert_eq!(value("*own"), value("keep[0]"));
            assert_eq!(value("own[1]"), value("pair[1]"));
            assert_eq!(value("*mine"), value("keep[item & 1]"));
            assert_eq!(value("best->weight"), "0.75");
            assert_eq!(value("(*best).key"), value("group"));
            assert_eq!(value("in[index]"), value("*(in + index)"));
            assert_eq!(value("bias[item & 3] + in[index]"), value("tile[item]"));
            assert_eq!(value("*(generic int *) slot"), value("other"));
            assert_eq!(value("(local int *) (generic int *) slot"), value("slot"));
            assert_eq!(value("&*slot"), value("slot"));
            assert_eq!(value("&tile[1]"), "local#0x4");
            assert_eq!(value("local#0x10"), "local#0x10");
            assert_eq!(value("*(float *) (local#0x100 + 4)"), "0.75");
            assert_eq!(value("&keep[1] - keep"), "1");
        }
    }
}

#[test]
fn registers_by_name() {
    let case = Case::of("saxpy-gfx90a-O0", 1);
    let register = |name: &str| {
        let kind = case.session.kind();
        case.session.register(case.wave, kind.named(name).unwrap().id).unwrap()
    };
    let mut known = 0;
    for vector in ["v0", "v1", "v40"] {
        for lane in [0u16, 3, 63] {
            let expected = register(vector).dword(lane);
            let own = case.lane(0, lane as u8, &format!("${vector}"));
            let indexed = case.lane(0, 0, &format!("${vector}[{lane}]"));
            match expected {
                Some(dword) => {
                    known += 1;
                    assert_eq!(own["value"], dword.to_string());
                    assert_eq!(indexed["value"], dword.to_string());
                }
                None => assert_eq!(
                    own["why"],
                    format!("{} lane {lane} was not captured", vector.replace('v', "VGPR"))
                ),
            }
        }
    }
    assert!(known > 0);
    assert_eq!(case.value(0, 0, "$exec"), register("exec").scalar().unwrap().to_string());
    assert!(case.value(0, 0, "$pc").starts_with(&format!("{:#x}", register("pc").scalar().unwrap())));
    assert_eq!(case.why(0, 0, "$v0[64]"), "there is no lane 64 in `$v0`: it has 64");
    assert_eq!(case.why(0, 0, "$x7"), "gfx90a has no register `x7`");
}

/// C's conversions of values, and the bits of registers, which have no type. The halves are of IEEE 754's tables.
#[test]
fn casts_to_base_types() {
    let case = Case::of("call-gfx90a-O0", 1);
    for (path, value) in [
        ("(float) 3", "3"),
        ("(int) -2.75", "-2"),
        ("(unsigned char) 321", "65 'A'"),
        ("(uint8_t) 321", "65 'A'"),
        ("(int8_t) 0xff", "-1 '\\377'"),
        ("(int16_t) 0x18000", "-32768"),
        ("(uint16_t) -1", "65535"),
        ("(uint) -1", "4294967295"),
        ("(uint64_t) -1", "18446744073709551615"),
        ("(half) 1", "1"),
        ("(_Float16) 65519.5", "65504"),
        ("(half) 65520", "inf"),
        ("(half) 2049", "2048"),
        ("(half) 2051", "2052"),
        ("(half) 5.9604644775390625e-8", "5.9605e-08"),
        ("(bool) 0.5", "true"),
        ("(long long) 1", "1"),
    ] {
        assert_eq!(case.value(0, 5, path), value, "{path}");
    }
    let dword: u32 = case.value(0, 5, "$v0[17]").parse().unwrap();
    let exec: u64 = case.value(0, 5, "$exec").parse().unwrap();
    let float: f32 = case.value(0, 5, "(float) $v0[17]").parse().unwrap();
    assert_eq!(float, f32::from_bits(dword));
    let number: f32 = case.value(0, 5, "(float) ($v0[17] + 0)").parse().unwrap();
    assert_eq!(number, dword as f32);
    assert_eq!((exec, &*case.value(0, 5, "(double) $exec")), (u64::MAX, "-nan(0xfffffffffffff)"));
    assert_eq!(case.value(0, 5, "(int) $v0[17]"), (dword as i32).to_string());
    assert_eq!(case.value(0, 5, "(short) $v0[17]"), (dword as i16).to_string());
}

/// Every reason for an absent value.
#[test]
fn values_that_cannot_be_printed_have_a_reason() {
    let call = Case::of("call-gfx90a-O0", 1);
    let lds = Case::of("lds-gfx90a-O0", 1);
    let saxpy = Case::of("saxpy-gfx90a-O0", 1);
    let cases: &[(&Case, &str, &str)] = &[
        (&call, "nothing", "there is no `nothing` in this frame or its code object"),
        (&call, "body.mass", "`sky::Body` has no member `mass`"),
        (&call, "body->at", "`->at` needs a pointer; `sky::Body` is a struct or class: write `.at`"),
        (&call, "scale.x", "`x` needs a struct or class; `float` is a floating-point number"),
        (&call, "*scale", "`*` needs a pointer; `float` is a floating-point number"),
        (&call, "body[0]", "`[]` needs an array or a pointer; `sky::Body` is a struct or class"),
        (&call, "scale & 1", "`&` is not defined for floating-point numbers"),
        (&call, "~scale", "needs an integer; `float` is a floating-point number"),
        (&call, "gains[scale]", "needs an integer; `float` is a floating-point number"),
        (&call, "$lane[1]", "gfx90a has no register `lane`"),
        (&call, "1 / 0", "`/` divides by 0"),
        (&call, "&5", "a computed value has no address"),
        (&call, "5@2", "only objects in memory can be extended with `@`; this one is a computed value"),
        (&call, "gains@0", "`@` makes 1 to 65536 objects, not 0"),
        (&call, "gains@65537", "`@` makes 1 to 65536 objects, not 65537"),
        (
            &call,
            "gains@65536",
            "`float [65536][4]` has 1048576 bytes, and 65536 are printed at a time: print a part of it",
        ),
        (&call, "(double) $v0", "`$v0` has 4 bytes and `double` 8: a cast of a register takes its bits"),
        (&call, "(sky::Body) 5", "`int` cannot be cast to `sky::Body`, which is a struct or class"),
        (&call, "*(int *) 0", "the pointer is NULL: 0x0 is the null address of global memory"),
        (&call, "*local#0x10", "`void` has no value: cast it to the type of the data there"),
        (&call, "*(int *) 0x10", "global+0x10 was not captured"),
        (&call, "&$v0", "it has no address: it is not in memory but in VGPR0 lane 5"),
        (
            &lds,
            "*(local int *) 0xffffffff",
            "the pointer is NULL: local#0xffffffff is the null address of local memory",
        ),
        (&lds, "*(local int *) 0xfffffff0", "local+0xfffffff0 was not captured"),
        (&lds, "tile - in", "`-` needs two pointers to the same type in the same address space"),
        (&lds, "nowhere#0x10", "there is no address space `nowhere`"),
    ];
    for (case, path, expected) in cases {
        assert_eq!(case.why(0, 5, path), *expected, "{path}");
    }
    let bit_field = saxpy.why(0, 5, "&sample.high");
    assert!(
        bit_field.starts_with("a bit-field has no address; this one is 11 bits at private_lane[5]+0x"),
        "{bit_field}"
    );
    // C++ [conv.prom]/5: bit-fields of `unsigned` that `int` can represent are `int`. `first` is 5.
    for (path, value) in [
        ("sample.low - 6", "-1"),
        ("(long) -sample.high", "-5"),
        ("(sample.low - 7) / 2", "-1"),
        ("~sample.high", "-6"),
    ] {
        assert_eq!(saxpy.value(0, 5, path), value, "{path}");
    }
    assert_eq!(saxpy.value(0, 5, "$lane"), "5");
    assert_eq!(saxpy.value(0, 63, "$lane - 64"), "-1");
    for (path, value) in [
        ("14.25", "14.25"),
        ("1e-3 * 4", "0.0040000000000000001"),
        ("2.5f + 1", "3.5"),
        ("-0.5", "-0.5"),
        ("!0.0", "1"),
        ("1 / 4.0", "0.25"),
        ("-inf", "-inf"),
        ("true", "true"),
        ("nullptr", "0x0"),
    ] {
        assert_eq!(saxpy.value(0, 5, path), value, "{path}");
    }
    assert_eq!(saxpy.value(0, 5, "Pass::Later"), "demo::Pass::Later");
    assert_eq!(saxpy.value(0, 5, "demo::BLUE"), "demo::BLUE");
    assert_eq!(saxpy.value(0, 5, "demo::Colour::BLUE"), "demo::BLUE");
    assert_eq!(saxpy.value(0, 5, "GREEN + 0"), "1");
}

/// Out of scope and optimized out, with the PCs of their locations: llvm-dwarfdump's plus the load address.
#[test]
fn elsewhere_in_the_function() {
    let case = Case::of("diverge-gfx90a-O0", 1);
    let why = ["doubled", "quarter", "precise", "large"].map(|name| case.lane(0, 0, name));
    let outside: Vec<&str> = why.iter().filter_map(|answer| answer["why"].as_str()).collect();
    assert!(!outside.is_empty(), "all blocks at once: {why:?}");
    for words in outside {
        assert!(
            words.contains("` is not in scope at PC 0x7f") && words.contains("; it is at 0x7f"),
            "{words}"
        );
    }
    let optimized = Case::of("saxpy-gfx1100-O2", 1);
    assert_eq!(optimized.why(0, 0, "half"), "`half` was optimized out: it has no DW_AT_location");
    let list = ["first", "lane_item", "bits"].map(|name| optimized.lane(0, 0, name)["why"].to_string());
    let known = list.iter().filter(|why| {
        why.contains("its location list has no entry for this PC 0x7f") && why.contains(", but for 0x7f")
    });
    assert!(known.count() > 0, "{list:?}");
}

/// Format letters: gdb 13's output for the same bits, in a host program.
#[test]
fn formats_are_those_of_gdb() {
    let case = Case::of("call-gfx90a-O0", 1);
    for (letter, path, expected) in [
        ("x", "-1", "0xffffffff"),
        ("d", "4000000000u", "-294967296"),
        ("u", "-1", "4294967295"),
        ("t", "5", "101"),
        ("o", "65", "0101"),
        ("z", "5", "0x00000005"),
        ("c", "65", "65 'A'"),
        ("c", "-1", "-1 '\\377'"),
        ("f", "5", "7.00649232e-45"),
        ("a", "-1", "0xffffffffffffffff"),
        ("x", "body.tag", "{0x62, 0x6f, 0x64, 0x0}"),
        ("d", "body.tag", "{98, 111, 100, 0}"),
        ("s", "body.tag", "\"bod\""),
        ("s", "(char *) &body.tag", "private_lane"),
        ("x", "body.at", "{x = 0x41000000, y = 0x41f80000, z = 0x40000000}"),
        ("f", "body.at", "{x = 8, y = 31, z = 2}"),
        ("x", "scale", "0x3f000000"),
        ("d", "scale", "1056964608"),
        ("c", "scale", "0 '\\000'"),
        ("a", "&gains", "<sky::gains>"),
    ] {
        let query = Query { path: path.to_owned(), letter: Letter::of(letter) };
        let printed = case.session.print(case.wave, LaneSet::one(LaneId(5)), 0, &query).unwrap();
        let answer = json_of(print::json(&printed, query.letter))["lanes"][0].clone();
        let value = answer["value"].as_str().unwrap_or_else(|| panic!("/{letter} {path}: {answer}"));
        match path {
            "(char *) &body.tag" => {
                assert!(value.starts_with("private_lane#") && value.ends_with(" \"bod\""), "{value}")
            }
            "&gains" => assert!(value.ends_with(expected), "{value}"),
            _ => assert_eq!(value, expected, "/{letter} {path}"),
        }
    }
}

#[test]
fn what_is_no_path_is_refused_with_a_column() {
    let case = Case::of("call-gfx90a-O0", 1);
    let refused = ask(&case.session, case.wave, LaneSet::one(LaneId(0)), 0, "body.").unwrap_err();
    assert_eq!(refused.to_string(), "column 6: expected a member's name, found the end");
    let refused =
        ask(&case.session, case.wave, LaneSet::one(LaneId(0)), 0, "1 + (sky::Nowhere *) 0").unwrap_err();
    assert_eq!(refused.to_string(), "column 5: there is no type `sky::Nowhere` in this code object");
    let refused = ask(&case.session, case.wave, LaneSet::one(LaneId(0)), 0, "(local int) 5").unwrap_err();
    let space = "`local` is the address space of a pointer, and `local int` is none";
    assert_eq!(refused.to_string(), format!("column 1: {space}"));
    let no_frame = ask(&case.session, case.wave, LaneSet::one(LaneId(0)), 99, "body").unwrap_err();
    assert!(no_frame.to_string().contains("there is no frame 99"), "{no_frame}");
}

/// The path as the only argument prints from the demo, whose kernel was started with 1024 elements.
#[test]
fn the_command_takes_a_path_alone() {
    let run = |arguments: &[&str]| {
        let mut command = crate::support::lanescope();
        command.arg("print").args(arguments).output().unwrap()
    };
    let output = run(&["n"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && text.starts_with("int n = 1024 "), "{text}");
    let output = run(&[]);
    let words = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && words.contains("what to print?"), "{words}");
}
