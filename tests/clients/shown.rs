//! Unusual views: type units, bytes that are another instruction in x86, several code objects, small pointers in
//! structs, missing memory. The expected values are the models'.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::harness::{Server, lldb_name, run, scratch, tool};
use super::lldb::choose;
use super::model::{Fixture, copy_dump, fixtures_folder, named};
use super::script::{Debugger, Script, gdbs};
use super::view::{gdb_script, lldb_script};
use crate::support::{newest, sample::sampled};

/// A fixture's dump with another code object of the same code.
struct Over {
    folder: PathBuf,
    fixture: Fixture,
}

impl Over {
    /// `code` maps the fixture's code object to the bytes of the new one.
    fn new(name: &str, code: impl FnOnce(&Fixture, Vec<u8>) -> Vec<u8>) -> Self {
        let mut fixture = named(name);
        let folder = scratch(name);
        let dump = folder.join("dumps").join(name);
        copy_dump(name, &dump);
        let file = format!("{name}.hsaco");
        let bytes = code(&fixture, fs::read(fixtures_folder().join("code").join(&file)).unwrap());
        fs::write(dump.join(file), bytes).unwrap();
        fixture.dump = dump;
        Self { folder, fixture }
    }

    /// Runs the debugger's script for all values of the model.
    fn must_pass(&self, debugger: &Debugger, script: fn(&Fixture, &str) -> Script) {
        let server = Server::start(&self.fixture.dump, &[]);
        script(&self.fixture, &server.address).must_pass(debugger);
        server.finish();
    }
}

impl Drop for Over {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Kernels and versions of DWARF.
const TYPE_UNITS: [(&str, u8); 4] = [("call", 4), ("call", 5), ("saxpy", 4), ("saxpy", 5)];

/// clang's `-fdebug-types-section`: `.debug_types` of DWARF 4, and type units of DWARF 5.
fn with_type_units(kernel: &str, version: u8) -> Over {
    Over::new(&format!("{kernel}-gfx90a-O0"), |_, _| {
        let name = format!("code/{kernel}-gfx90a-types{version}.hsaco");
        fs::read(fixtures_folder().join(name)).unwrap()
    })
}

#[test]
fn gdb_shows_members_of_types_by_signature() {
    for (kernel, version) in sampled(TYPE_UNITS, 3) {
        let over = with_type_units(kernel, version);
        gdbs().for_each(|name| over.must_pass(&Debugger::Gdb(name), gdb_script));
    }
}

#[test]
fn lldb_shows_members_of_types_by_signature() {
    for (kernel, version) in sampled(TYPE_UNITS, 3) {
        let over = with_type_units(kernel, version);
        over.must_pass(&Debugger::Lldb(lldb_name()), lldb_script);
        over.must_pass(&Debugger::Lldb(lldb_name()), lldb_structs);
    }
}

/// All numbers in all structs of the waves.
fn lldb_structs(fixture: &Fixture, address: &str) -> Script {
    let mut script = Script::new(&fixture.name);
    script.say(format!("gdb-remote {address}"));
    let mut structs = 0;
    for wave in &fixture.waves {
        script.say(format!("thread select --thread-id {}", wave.thread));
        let lane = wave.shown_lanes()[1];
        script.say(format!("register write lane {lane}"));
        for variable in wave.expected["locals"].as_array().unwrap() {
            let (name, value) = (variable["name"].as_str().unwrap(), variable["values"][1].as_str());
            let Some(value) = value.filter(|value| value.starts_with("{") && value.contains(" = ")) else {
                continue;
            };
            structs += 1;
            let wanted = members(value);
            script.check(name, format!("frame variable {name}"), move |text| {
                let got = members(text.split_once(" = ").map_or("", |(_, value)| value));
                let wrong = wanted.iter().find(|one| !got.contains(one));
                wrong.map_or(Ok(()), |(name, value)| Err(format!("no {name} = {value} in {text}")))
            });
        }
    }
    assert!(structs >= 2, "{} has {structs} structs", fixture.name);
    script
}

/// The members `NAME = NUMBER` in a struct's text.
fn members(text: &str) -> Vec<(String, f64)> {
    let parts = text.split(|c: char| ",{}()\n".contains(c)).filter_map(|part| part.split_once(" = "));
    parts.filter_map(|(name, value)| Some((name.trim().to_owned(), value.trim().parse().ok()?))).collect()
}

/// gdb takes a byte 0xC3 at the PC for x86-64's `ret`, and finds the caller in `rsp`, unless GCC compiled the unit.
#[test]
fn what_x86_would_return_at_ends_no_stack() {
    let patched = |fixture: &Fixture, mut code: Vec<u8>| {
        let mut patched = 0;
        for pc in fixture.waves.iter().filter_map(super::model::Wave::pc) {
            let at = file_offset(&code, pc - 0x7f00_0010_0000);
            code[at] = 0xc3;
            patched += 1;
        }
        assert!(patched >= 2);
        code
    };
    for name in ["calls-gfx90a", "call-gfx90a-O0"] {
        let over = Over::new(name, patched);
        gdbs().for_each(|name| over.must_pass(&Debugger::Gdb(name), gdb_script));
        over.must_pass(&Debugger::Lldb(lldb_name()), lldb_script);
    }
}

/// File offset of an ELF address, by the program headers (gABI, 64-bit).
fn file_offset(elf: &[u8], address: u64) -> usize {
    let number = |at: usize, size: usize| {
        elf[at..at + size].iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte))
    };
    let (first, size, count) = (number(0x20, 8) as usize, number(0x36, 2) as usize, number(0x38, 2) as usize);
    let headers = (0..count).map(|index| first + index * size).filter(|at| number(*at, 4) == 1);
    let found = headers.into_iter().find_map(|at| {
        let (offset, start, length) = (number(at + 8, 8), number(at + 16, 8), number(at + 32, 8));
        (start..start + length).contains(&address).then(|| (offset + address - start) as usize)
    });
    found.unwrap()
}

/// mixed-vgprs: waves 1 and 2 in one code object, 3 and 4 in another, 5 and 6 in a third, each with its variables.
#[test]
fn each_of_several_code_objects_has_its_variables() {
    let fixture = named("mixed-vgprs");
    let files = ["call-gfx90a-O0.hsaco", "saxpy-gfx90a-O2.hsaco", "lds-gfx90a-O2.hsaco"];
    let functions: Vec<&str> =
        fixture.waves.iter().map(|wave| wave.expected["function"].as_str().unwrap()).collect();
    assert_eq!(functions, ["energy<float>", "advance", "saxpy", "saxpy", "lds", "lds"]);
    for name in gdbs() {
        let server = Server::start(&fixture.dump, &[]);
        let mut script = gdb_script(&fixture, &server.address);
        script.must_pass(&Debugger::Gdb(name));
        script = Script::new("several code objects");
        script.say(format!("target remote {}", server.address));
        // The program is the code object of the faulting wave.
        script.expect("info files", "Symbols from \"target:/lanescope/1-saxpy-gfx90a-O2.hsaco\"");
        script.expect("info sharedlibrary", "target:/lanescope/0-call-gfx90a-O0.hsaco");
        script.expect("info sharedlibrary", "target:/lanescope/2-lds-gfx90a-O2.hsaco");
        script.expect("info line energy<float>", "call.hip");
        script.must_pass(&Debugger::Gdb(name));
        server.finish();
    }
    let server = Server::start(&fixture.dump, &[]);
    lldb_script(&fixture, &server.address).must_pass(&Debugger::Lldb(lldb_name()));
    let mut script = Script::new("several code objects");
    script.say(format!("gdb-remote {}", server.address));
    for (file, address) in
        files.into_iter().zip(["0x00007f0000100000", "0x00007f1000100000", "0x00007f2000100000"])
    {
        script.check("", "image list", move |text| {
            let found = text.lines().any(|line| line.contains(file) && line.contains(address));
            if found { Ok(()) } else { Err(format!("no {file} at {address} in {text}")) }
        });
    }
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
}

/// In a struct, pointers of four bytes are structures with an offset, since gdb has one size for all pointers to a
/// type. Debuggers cannot follow, compare or assign them; the server's commands print their targets.
#[test]
fn small_pointers_within_structs_are_where_they_lead() {
    for (name, waves) in [("pointers-gfx90a-O0", 1), ("pointers-gfx1100-O0", 2)] {
        let fixture = named(name);
        assert_eq!(fixture.waves.len(), waves);
        for client in gdbs() {
            let server = Server::start(&fixture.dump, &[]);
            let script = pointers(&fixture, &server.address, false);
            script.must_pass(&Debugger::Gdb(client));
            server.finish();
        }
        let server = Server::start(&fixture.dump, &[]);
        pointers(&fixture, &server.address, true).must_pass(&Debugger::Lldb(lldb_name()));
        server.finish();
    }
}

fn pointers(fixture: &Fixture, address: &str, lldb: bool) -> Script {
    let mut script = Script::new(&fixture.name);
    let (attach, print) = if lldb { ("gdb-remote", "frame variable") } else { ("target remote", "p") };
    let monitor = if lldb { "process plugin packet monitor" } else { "monitor" };
    script.say(format!("{attach} {address}"));
    for wave in &fixture.waves {
        script.say(match lldb {
            true => format!("thread select --thread-id {}", wave.thread),
            false => format!("thread {}", wave.number),
        });
        if lldb {
            // lldb does not send the selected thread.
            script.say(choose(wave.thread));
        }
        for pointed in wave.expected["pointed"].as_array().unwrap() {
            let (lane, item) = (pointed["lane"].as_u64().unwrap(), item(wave, pointed));
            script.say(match lldb {
                true => format!("register write lane {lane}"),
                false => format!("set var $lane={lane}"),
            });
            // tests/fixtures/models/pointers.py: `slot` is &tile[item] of LDS from 0, `own` the lane's `keep` at 0x34.
            let offset = |number: u64| match lldb {
                true => format!(" = (offset = {number})\n"),
                false => format!(" = {{offset = {number}}}\n"),
            };
            script.expect(format!("{print} links.slot"), offset(item * 4));
            script.expect(format!("{print} links.own"), offset(0x34));
            let thread = wave.thread;
            script.expect(
                format!("{monitor} thread {thread} set lane {lane} links.own = &item"),
                "links.own = ",
            );
            script.expect(
                format!("{monitor} thread {thread} print lane {lane} *links.own"),
                format!(" = {item} "),
            );
            script.expect(
                format!("{monitor} thread {thread} set lane {lane} links.own = &keep"),
                "links.own = ",
            );
            script.expect(format!("{print} links.own.offset"), format!(" = {}\n", 0x34));
            script.expect(format!("{print} links.key"), format!(" = {item}\n"));
            script.expect(format!("{print} links.last"), format!(" = {}\n", -(item as i64)));
            script.expect(format!("{print} shared->own"), offset(0x34));
            let far = 0x7f00_0021_0000 + item * 4;
            script.expect(
                format!("{print} links.far"),
                format!("{far:0width$x}\n", width = if lldb { 16 } else { 0 }),
            );
            let (not_followed, set, not_set) = match lldb {
                true => ("dereference failed: not a pointer", "expr", "no viable overloaded '='"),
                false => ("Structure has no component named operator*.", "set var", "Invalid cast."),
            };
            script.expect(format!("{print} *links.slot"), not_followed);
            // Address of an object of the right space, of another space and of another lane.
            for assigned in
                ["links.own = &keep", "links.slot = &keep", "links.own = (int *)0x0500008200000034"]
            {
                script.expect(format!("{set} {assigned}"), not_set);
            }
            let compared =
                if lldb { "invalid operands to binary expression" } else { "no component named operator==" };
            script.expect("p links.own == &keep", compared);
            script.expect(format!("{print} links.own"), offset(0x34));
            for member in ["slot", "own"] {
                let value = pointed[member].as_i64().unwrap();
                script.expect(
                    format!("{monitor} print *links.{member}"),
                    format!("int *links.{member} = {value} "),
                );
            }
            // A pointer variable can be followed in the client, too.
            script.expect(format!("{print} tile[{item}]"), format!(" = {}\n", pointed["slot"]));
        }
    }
    script
}

fn item(wave: &super::model::Wave, pointed: &Value) -> u64 {
    let index = wave.shown_lanes().iter().position(|lane| Some(*lane as u64) == pointed["lane"].as_u64());
    let locals = wave.expected["locals"].as_array().unwrap();
    let item = locals.iter().find(|variable| variable["name"] == "item").unwrap();
    item["values"][index.unwrap()].as_str().unwrap().parse().unwrap()
}

/// absent-gfx90a: wave 1 without private memory, wave 2 with a hole in `history` of lanes 0 to 31, wave 3 without its
/// frame base register. The client has the variable, and the server reports the reason.
#[test]
fn missing_memory_is_reported_by_name() {
    let fixture = named("absent-gfx90a");
    let dump = &fixture.dump;
    for client in gdbs() {
        let server = Server::start(dump, &[]);
        let mut script = Script::new("unavailable");
        script.say(format!("target remote {}", server.address));
        script.say("thread 1");
        script.expect("info locals", "xi = <error reading variable xi (Cannot access memory at address 0x5");
        script.expect("info args", "n = <error reading variable n (Cannot access memory at address 0x5");
        script.expect("p sample", "Cannot access memory at address 0x5");
        script.expect("monitor print xi", "private_lane[0]+0xac was not captured");
        script.say("thread 2");
        script.say("set var $lane=0");
        script.expect("info locals", "history = <error reading variable history (Cannot access memory at");
        script.expect("info locals", "first = 64\n");
        script.expect("p history[0]", "= 64\n");
        script.expect("p history[1]", "Cannot access memory at address 0x5");
        script.expect("monitor print history", "<unavailable>");
        script.say("set var $lane=40");
        script.expect("p history", "= {104, 604, 1040, 7}");
        script.say("thread 3");
        // The frame of a kernel begins at 0 of private memory, with or without the frame register.
        script.expect("p $s33", "<unavailable>");
        script.expect("info locals", "xi = 0\n");
        script.say("set var $lane=17");
        script.expect("p xi", "= 4.25\n");
        script.must_pass(&Debugger::Gdb(client));
        server.finish();
    }
    let monitor = "process plugin packet monitor";
    let server = Server::start(dump, &[]);
    let mut script = Script::new("unavailable");
    script.say(format!("gdb-remote {}", server.address));
    script.say("thread select 1");
    script.expect("frame variable xi", "(float) xi = <read memory from 0x7");
    script.expect(format!("{monitor} print xi"), "private_lane[0]+0xac was not captured");
    script.say("thread select 2");
    script.say("register write lane 0");
    script.expect("frame variable first", "(int) first = 64");
    script.expect("frame variable history", "[1] = <read memory from 0x");
    script.say("register write lane 40");
    script.expect("frame variable history", "([0] = 104, [1] = 604, [2] = 1040, [3] = 7)");
    script.say("thread select 3");
    script.say(choose(3));
    script.expect("frame variable xi", "(float) xi = 0\n");
    script.expect(format!("{monitor} print xi"), "0");
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
}

/// `--wave` selects the wave whose stacks a view has: `energy<float>` in wave 1 of call-gfx90a-O0, `weigh` in wave 3.
/// Neither calls the other one (kernels/call.hip).
#[test]
fn only_the_stacks_of_served_waves_have_variables() {
    let fixture = named("call-gfx90a-O0");
    let both = [("sky::energy<float>", "Symbol body is"), ("sky::weigh", "Symbol first is")];
    for (wave, own, other) in [("1", both[0], both[1]), ("3", both[1], both[0])] {
        let server = Server::start(&fixture.dump, &["--wave", wave]);
        let mut script = Script::new("--wave");
        script.say(format!("target remote {}", server.address));
        script.expect("bt 1", own.0);
        script.expect(format!("info scope {}", own.0), own.1);
        script.expect(format!("info scope {}", other.0), "contains no locals or arguments");
        script.must_pass(&Debugger::Gdb("gdb"));
        server.finish();
    }
}

/// The line table's first address of a line, in llvm-dwarfdump's output, in the unit of a source.
fn address_of_line(code: &Path, source: &str, line: u64) -> u64 {
    let text = run(tool(newest("llvm-dwarfdump")).arg("--debug-line").arg(code));
    let unit = text.split("debug_line[").find(|unit| unit.contains(&format!("{source}\""))).unwrap();
    let mut rows = unit.lines().map(|row| row.split_whitespace().collect::<Vec<_>>());
    let row = rows.find(|row| row.len() > 1 && row[0].starts_with("0x") && row[1] == line.to_string());
    u64::from_str_radix(row.unwrap()[0].trim_start_matches("0x"), 16).unwrap()
}

/// units-gfx90a-O0 has `pointers` and `lds` in two units. The test moves its wave into `lds`, and a user's write moves
/// it back to the position in the model of `pointers`: a function of a unit that no stack had at the connection.
#[test]
fn a_unit_that_comes_onto_a_stack_comes_as_a_further_file() {
    let code = fixtures_folder().join("code/units-gfx90a-O0.hsaco");
    let over = Over::new("pointers-gfx90a-O0", |_, _| fs::read(&code).unwrap());
    let own_line = over.fixture.waves[0].expected["line"].as_u64().unwrap();
    let there = 0x7f00_0010_0000 + address_of_line(&code, "pointers.cl", own_line);
    let lds = 0x7f00_0010_0000 + address_of_line(&code, "lds.cl", 19);
    let manifest = over.fixture.dump.join("manifest.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    let moved = text.replace("pc = \"0x7f0000101de8\"", &format!("pc = \"{lds:#x}\""));
    assert_ne!(moved, text);
    fs::write(&manifest, moved).unwrap();
    let wave = &over.fixture.waves[0];
    for client in gdbs() {
        let server = Server::start(&over.fixture.dump, &[]);
        let mut script = Script::new("a further unit");
        script.say(format!("target remote {}", server.address));
        script.expect("bt 1", "#0  lds (");
        script.say(format!("set var $pc = {there:#x}"));
        script.expect("stepi", "nothing can run");
        script.expect("info sharedlibrary", "target:/lanescope/pointers-gfx90a-O0.hsaco.2");
        model_has(&mut script, wave, false);
        script.expect("p/x $pc", format!("{there:#x}"));
        // And back, where the first file is unchanged: no further file is needed.
        script.say(format!("set var $pc = {lds:#x}"));
        script.say("stepi");
        script.expect("bt 1", "#0  lds (");
        script.never("info sharedlibrary", "hsaco.3");
        script.expect("detach", "detached");
        script.must_pass(&Debugger::Gdb(client));
        server.finish();
    }
    let server = Server::start(&over.fixture.dump, &[]);
    let mut script = Script::new("a further unit");
    script.say(format!("gdb-remote {}", server.address));
    script.expect("frame variable item", "(int) item = ");
    script.say(format!("register write pc {there:#x}"));
    script.expect("thread step-inst", "nothing can run");
    script.expect("image list", "pointers-gfx90a-O0.hsaco.2");
    model_has(&mut script, wave, true);
    script.say(format!("register write pc {lds:#x}"));
    script.say("thread step-inst");
    script.expect("bt", "`lds(");
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
}

/// linked-gfx90a-O0: `later` is on no stack at first. The variable `turns` of the function inlined in it is in the unit
/// before that of `after`. It must not replace a variable that the client already has.
#[test]
fn what_comes_onto_a_stack_moves_no_variable() {
    let fixture = named("linked-gfx90a-O0");
    let code = fixtures_folder().join("code/linked-gfx90a-O0.hsaco");
    let later = 0x7f00_0010_0000 + address_of_line(&code, "linked.hip", 21);
    for client in gdbs() {
        let server = Server::start(&fixture.dump, &[]);
        let mut script = Script::new("globals that stay");
        script.say(format!("target remote {}", server.address));
        script.expect("p after", " = 22\n");
        script.say(format!("set var $pc = {later:#x}"));
        script.expect("stepi", "later was on no stack when its unit was loaded");
        script.expect("bt 1", "later (");
        script.expect("p after", " = 22\n");
        script.expect("p *&after", " = 22\n");
        script.expect("detach", "detached");
        script.must_pass(&Debugger::Gdb(client));
        server.finish();
    }
    let server = Server::start(&fixture.dump, &[]);
    let mut script = Script::new("globals that stay");
    script.say(format!("gdb-remote {}", server.address));
    script.expect("target variable after", " = 22\n");
    script.say(format!("register write pc {later:#x}"));
    script.expect("thread step-inst", "later was on no stack");
    script.expect("bt", "`later(");
    script.expect("target variable after", " = 22\n");
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
}

/// linked-gfx90a-O0, wave 1: `shared` of `inner` is a generic pointer into private memory. As a variable its address
/// has wave and lane for lldb. The number itself differs per lane, and lldb would show one place for all.
#[test]
fn lldb_gets_no_bytes_of_a_place_that_each_lane_has() {
    let fixture = named("linked-gfx90a-O0");
    let private = 0x0002_0000_0000_0030u64;
    let server = Server::start(&fixture.dump, &[]);
    let mut script = Script::new("apertures");
    // A lane's memory is smaller than LLDB's line.
    script.say("settings set target.process.disable-memory-cache true");
    script.say(format!("gdb-remote {}", server.address));
    for lane in [1u64, 17] {
        script.say(format!("register write lane {lane}"));
        // The model: `one` is item * 3 + 3 * 5 + 5 by now, and `two` is 5.
        script.expect("frame variable shared->two", " = 5\n");
        script.expect("frame variable shared->one", format!(" = {}\n", 3 * (lane + 5) + 5));
        script.expect(format!("memory read {private:#x}"), "error: ");
    }
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
    // gdb prints the focused values, and caches none across a change of focus.
    let server = Server::start(&fixture.dump, &[]);
    let mut script = Script::new("apertures");
    script.say(format!("target remote {}", server.address));
    for lane in [1u64, 17] {
        script.say(format!("set var $lane = {lane}"));
        script.expect(format!("p *(int *) {private:#x}"), format!(" = {}\n", 3 * (lane + 5) + 5));
    }
    script.expect("detach", "detached");
    script.must_pass(&Debugger::Gdb("gdb"));
    server.finish();
}

/// The model of a wave's lanes.
fn model_has(script: &mut Script, wave: &super::model::Wave, lldb: bool) {
    let line = wave.expected["line"].as_u64().unwrap();
    script.expect("bt", format!("pointers.cl:{line}"));
    for (index, lane) in wave.shown_lanes().into_iter().enumerate() {
        script.say(if lldb {
            format!("register write lane {lane}")
        } else {
            format!("set var $lane={lane}")
        });
        for name in ["item", "keep", "sum"] {
            let locals = wave.expected["locals"].as_array().unwrap();
            let variable = locals.iter().find(|variable| variable["name"] == name).unwrap();
            let value = variable["values"][index].as_str().unwrap();
            let print = if lldb { "frame variable" } else { "p" };
            script.expect(format!("{print} {name}"), format!(" = {value}\n"));
        }
    }
}

/// gdb keeps its state of a function in a loaded unit: the user gets a notice, with the command for more.
#[test]
fn a_function_of_a_loaded_unit_is_reported_without_variables() {
    let fixture = named("call-gfx90a-O0");
    // tests/fixtures/expected/call-gfx90a-O0.json: wave 3 is in `weigh`, wave 1 in `energy<float>`. Neither calls the
    // other one (kernels/call.hip).
    let pc = fixture.waves[2].pc().unwrap();
    let words = "sky::weigh was on no stack when its unit was loaded";
    for client in gdbs() {
        let server = Server::start(&fixture.dump, &["--wave", "1"]);
        let mut script = Script::new("no variables");
        script.say(format!("target remote {}", server.address));
        script.say(format!("set var $pc = {pc:#x}"));
        script.expect("stepi", words);
        script.expect("bt 1", "sky::weigh (");
        script.expect("info locals", "No locals.");
        script.never("stepi", "was on no stack");
        script.expect("monitor locals", "double first = ");
        script.expect("detach", "detached");
        script.must_pass(&Debugger::Gdb(client));
        server.finish();
        let server = Server::start(&fixture.dump, &["--wave", "1", "--view", "unit"]);
        let mut script = Script::new("the unit's variables");
        script.say(format!("target remote {}", server.address));
        script.say(format!("set var $pc = {pc:#x}"));
        script.never("stepi", "was on no stack");
        script.expect("info locals", "first = ");
        script.must_pass(&Debugger::Gdb(client));
        server.finish();
    }
    let server = Server::start(&fixture.dump, &["--wave", "1"]);
    let mut script = Script::new("no variables");
    script.say(format!("gdb-remote {}", server.address));
    script.say(format!("register write pc {pc:#x}"));
    script.expect("thread step-inst", words);
    script.expect("bt", "sky::weigh");
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
}

/// chain.hip: the compiler has put `shared` into a structure of LDS variables, and its own DIE has no location. lanescope
/// infers the address from the size of the kernel's LDS; stock debuggers have no value. It is external, and gdb looks for
/// a symbol of such a variable.
#[test]
fn external_variables_without_a_location_are_optimized_out() {
    let fixture = named("chain-gfx90a-O0");
    let server = Server::start(&fixture.dump, &[]);
    for name in gdbs() {
        let mut script = Script::new("shared");
        script.say(format!("target remote {}", server.address));
        for expression in ["shared", "shared[1]", "shared[1].id"] {
            script.expect(format!("print {expression}"), " = <optimized out>\n");
        }
        script.expect("print sizeof shared", " = 48\n");
        script.expect("print &shared", "isn't an lvalue");
        // `pool`, which is `&shared[0]`, is 0 of LDS by the model.
        script.expect(
            "monitor print shared[1].id",
            "int shared[1].id = 1001  [local+0x10 (inferred: LDS by size)]",
        );
        script.must_pass(&Debugger::Gdb(name));
    }
    let mut script = Script::new("shared");
    script.say(format!("gdb-remote {}", server.address));
    for command in ["target variable shared", "frame variable shared", "expr shared"] {
        script.expect(command, "no location, value may have been optimized out");
    }
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
}

/// The location of `nothing` is only `DW_OP_LLVM_undefined` (tests/fixtures/kernels/user_ops.s, draft_ops.s), in LLVM's
/// encoding and in the draft's: the compiler keeps the variable nowhere.
#[test]
fn variables_that_the_compiler_keeps_nowhere_are_optimized_out() {
    for dump in ["user-ops-gfx90a", "user-ops-gfx1100", "draft-ops-gfx1100"] {
        let fixture = named(dump);
        let server = Server::start(&fixture.dump, &[]);
        for name in gdbs() {
            let mut script = Script::new(dump);
            script.say(format!("target remote {}", server.address));
            script.say("thread 1");
            script.expect("print nothing", " = <optimized out>\n");
            script.expect("info locals", "nothing = <optimized out>\n");
            script.expect("monitor thread 1 print nothing", "<optimized out>");
            script.must_pass(&Debugger::Gdb(name));
        }
        let mut script = Script::new(dump);
        script.say(format!("gdb-remote {}", server.address));
        script.say("script lldb.process.SetSelectedThreadByID(1)");
        script.expect("frame variable nothing", "may have been optimized out");
        script.must_pass(&Debugger::Lldb(lldb_name()));
        server.finish();
    }
}

/// lds.cl at -O2, by llvm-dwarfdump-22: `in` has both halves from 0x181c on, and from 0x1844 on the upper one alone.
#[test]
fn a_pointer_with_a_missing_half_is_optimized_out() {
    let fixture = named("lds-gfx90a-O2");
    let (whole, half) = ("0x7f0000101820", "0x7f0000101850");
    for name in gdbs() {
        let server = Server::start(&fixture.dump, &["--wave", "1", "--view", "unit"]);
        let mut script = Script::new("half a pointer");
        script.say(format!("target remote {}", server.address));
        script.say(format!("set var $pc = {whole}"));
        script.expect("print in", " = (const int *) 0x");
        script.say(format!("set var $pc = {half}"));
        script.expect("print in", " = <optimized out>\n");
        script.expect(
            "monitor print in",
            "in = <optimized out>\n    [[undefined 32 bits][VGPR1 lane 0 32 bits]",
        );
        script.must_pass(&Debugger::Gdb(name));
        server.finish();
    }
    let server = Server::start(&fixture.dump, &["--wave", "1", "--view", "unit"]);
    let mut script = Script::new("half a pointer");
    script.say(format!("gdb-remote {}", server.address));
    script.say(format!("register write pc {whole}"));
    script.expect("frame variable in", "in = 0x");
    script.say(format!("register write pc {half}"));
    script.expect("frame variable in", "in = <variable not available>");
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
}
