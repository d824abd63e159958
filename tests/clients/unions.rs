//! Pointers that share their bytes with other members of a union: in unions, in arrays of them, within other types and
//! without a name. One object has one address here, too; a number that is not a pointer stays unchanged. The expected
//! values are the model's (tests/fixtures/models/chain.py).

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::dap;
use super::harness::{Server, lanescope};
use super::linked::{Chain, DUMP, PRIVATE_BASE, id_in};
use super::lldb::MONITOR;
use super::mi::Mi;
use super::model::{Fixture, copy_dump, fixtures_folder, named};
use super::script::{Debugger, Script, debuggers, gdbs};
use super::sources::Folder;
use crate::support::newest;

const REFUSED_WRITE: &str = "the last refused write: ";

/// Requires these words in the answer to `monitor notices`, whose long lines are wrapped between words.
fn noted(script: &mut Script, monitor: &str, words: &'static str) {
    script.check("", format!("{monitor} notices"), move |text| {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.contains(words) { Ok(()) } else { Err(format!("{words:?} is not in {text:?}")) }
    });
}

/// The dump over a code object whose unions have more members. The machine code is the fixture's.
fn with_more_members(folder: &Folder) -> PathBuf {
    let kernels = fixtures_folder().join("kernels");
    let source = fs::read_to_string(kernels.join("chain.hip")).unwrap();
    let replaced = [
        (
            "union Word {\n  Node *node;\n  unsigned long bits;\n};",
            "struct Word { union { Node *node; const Node *other; unsigned long bits; struct { int low, high; } halves[1]; struct { unsigned long low : 48, tag : 16; } parts; }; };\
             struct Slot { union { Node *node; int number; void *any; }; };",
        ),
        ("Node *table[2] = {&nodes[2], &shared[1]};", "Slot table[2] = {{{&nodes[2]}}, {{&shared[1]}}};"),
        ("table[0]->weight", "table[0].node->weight"),
    ];
    let source = replaced.iter().fold(source, |source, (from, to)| {
        assert_eq!(source.matches(from).count(), 1, "{from}");
        source.replace(from, to)
    });
    let (kernel, code) = (folder.path("chain.hip"), folder.path("dump").join(format!("{DUMP}.hsaco")));
    fs::write(&kernel, source).unwrap();
    copy_dump(DUMP, &folder.path("dump"));
    let mut clang = Command::new(newest("clang"));
    clang.args(["-x", "hip", "-fuse-cuid=none", "--cuda-device-only", "--no-gpu-bundle-output"]);
    clang.args(["--offload-arch=gfx90a", "-nogpuinc", "-nogpulib", "-O0", "-g", "-I"]).arg(kernels);
    let output = clang.arg(kernel).arg("-o").arg(code).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    folder.path("dump")
}

fn in_kernel(fixture: &Fixture) -> Vec<Chain<'_>> {
    Chain::all(fixture).into_iter().filter(Chain::is_kernel).collect()
}

/// Paths through `word`, with the number at the end of each.
fn through_word(chain: &Chain<'_>) -> Vec<(&'static str, i64)> {
    vec![
        ("word.node->id", chain.own(1, "id")),
        ("word.node->next->weight", chain.own(2, "weight")),
        ("(*word.node).weight", chain.own(1, "weight")),
        ("word.node - nodes", 1),
    ]
}

/// The same through unnamed members and through an array of unions.
fn through_more(chain: &Chain<'_>) -> Vec<(&'static str, i64)> {
    vec![
        ("word.other->id", chain.own(1, "id")),
        ("word.halves[0].low", i64::try_from(chain.offset(1)).unwrap()),
        ("table[0].node->id", chain.own(2, "id")),
        ("table[0].number", i64::try_from(chain.offset(2)).unwrap()),
        ("table[1].node->weight", chain.shared(1, "weight")),
    ]
}

fn follow(
    chains: &[Chain<'_>],
    server: &Server,
    debugger: &Debugger,
    numbers: impl Fn(&Chain<'_>) -> Vec<(&'static str, i64)>,
    equal: &[&str],
) {
    let lldb = matches!(debugger, Debugger::Lldb(_));
    let mut script = Script::new(DUMP);
    script.say(format!("{} {}", if lldb { "gdb-remote" } else { "target remote" }, server.address));
    for chain in chains {
        let (number, lane) = (chain.wave.number, chain.lane);
        if lldb {
            script.say(format!("thread select {number}"));
            script.say(format!("register write lane {lane}"));
        } else {
            script.say(format!("thread {number}"));
            script.say(format!("set var $lane = {lane}"));
        }
        for (path, number) in numbers(chain) {
            let before = if lldb { ')' } else { '=' };
            script.expect(format!("p {path}"), format!("{before} {number}\n"));
        }
        for comparison in equal {
            script.expect(format!("p {comparison}"), if lldb { "(bool) true\n" } else { " = true\n" });
        }
    }
    script.must_pass(debugger);
}

#[test]
fn a_pointer_in_a_union_has_the_address_of_its_object() {
    let fixture = named(DUMP);
    for debugger in debuggers() {
        let server = Server::start(&fixture.dump, &[]);
        let equal = ["word.node == cursor", "word.node == &nodes[1]", "word.node->next == &nodes[2]"];
        follow(&in_kernel(&fixture), &server, &debugger, through_word, &equal);
        server.finish();
    }
}

#[test]
fn pointers_in_unions_without_names_and_in_arrays_of_unions_lead_to_their_objects() {
    let (fixture, folder) = (named(DUMP), Folder::new("unions"));
    let dump = with_more_members(&folder);
    for debugger in debuggers() {
        let server = Server::start(&dump, &[]);
        let both = |chain: &Chain<'_>| [through_word(chain), through_more(chain)].concat();
        let equal = ["word.other == cursor", "table[0].any == &nodes[2]", "table[1].node == pool->next"];
        follow(&in_kernel(&fixture), &server, &debugger, both, &equal);
        server.finish();
    }
}

/// Bits that are not a pointer to the wave's memory stay unchanged.
#[test]
fn numbers_in_a_union_stay_as_they_are() {
    let fixture = named(DUMP);
    for debugger in debuggers() {
        let server = Server::start(&fixture.dump, &[]);
        let lldb = matches!(debugger, Debugger::Lldb(_));
        let mut script = Script::new(DUMP);
        script.say(format!("{} {}", if lldb { "gdb-remote" } else { "target remote" }, server.address));
        let (set, shown) = if lldb { ("expr", ')') } else { ("set var", '=') };
        // An address after private memory, an address of global memory, and a double's bits.
        for number in ["562954000000000", "139642272907264", "4611686018427387904", "42"] {
            script.say(format!("{set} word.bits = {number}ul"));
            script.expect("p word.bits", format!("{shown} {number}\n"));
            script.expect("p (unsigned long)word.node", format!("{shown} {number}\n"));
        }
        script.must_pass(&debugger);
        server.finish();
    }
}

/// A write to a union's pointer stores the program's own bits. The address of an object is never a number of the
/// program. The reason of a rejection is in the notices, at the next stop and in the log.
#[test]
fn addresses_of_objects_are_not_written_as_numbers() {
    let fixture = named(DUMP);
    let chains = in_kernel(&fixture);
    let find =
        |lane: usize| chains.iter().find(|chain| (chain.wave.thread, chain.lane) == (1, lane)).unwrap();
    let (here, other) = (find(1), find(17));
    for debugger in debuggers() {
        let server = Server::start(&fixture.dump, &[]);
        let lldb = matches!(debugger, Debugger::Lldb(_));
        let (monitor, set) = if lldb { (MONITOR, "expr") } else { ("monitor", "set var") };
        let (shown, stop) = if lldb { (')', "thread step-inst") } else { ('=', "stepi") };
        let refused = if lldb { "couldn't write to memory" } else { "Cannot access memory at address" };
        let mut script = Script::new(DUMP);
        script.say(format!("{} {}", if lldb { "gdb-remote" } else { "target remote" }, server.address));
        script.say(if lldb { "register write lane 1" } else { "set var $lane = 1" });
        script.say(format!("{set} word.node = &nodes[2]"));
        script.expect("p word.node->id", format!("{shown} {}\n", here.own(2, "id")));
        script.expect(format!("{monitor} print lane 1 word.node->id"), format!(" = {} ", here.own(2, "id")));
        let number = PRIVATE_BASE | here.offset(2);
        script.expect(format!("{monitor} print lane 1 word.bits"), format!(" = {number} "));
        // Another lane's object, a number, a variable in the window, more than one number, and a pointer to code.
        let foreign = format!("(Node *){:#x}", other.address(1));
        let whole = "is in memory of another wave or lane";
        let of_object = "is the address of an object as debuggers see it";
        let writes = [
            (format!("{set} word.node = {foreign}"), whole),
            (format!("{set} lookalike = (unsigned long)&nodes[0]"), of_object),
            (format!("{set} *(unsigned long *)pair = (unsigned long)&nodes[0]"), of_object),
            (format!("{set} *(unsigned long *)out = (unsigned long)&nodes[0]"), of_object),
        ];
        for (write, why) in writes {
            script.expect(write, refused);
            script.expect(format!("{monitor} notices"), REFUSED_WRITE);
            noted(&mut script, monitor, why);
            script.expect(stop, why);
            script.never(stop, REFUSED_WRITE);
        }
        let address = here.address(0);
        for path in ["lookalike", "word.bits", "cursor"] {
            script.expect(
                format!("{monitor} thread 1 set lane 1 {path} = {address:#x}"),
                of_object_as_reported(address),
            );
        }
        script.expect("p lookalike", format!("{shown} {}\n", PRIVATE_BASE | here.offset(1)));
        script.must_pass(&debugger);
        server.finish();
    }
    let server = Server::start(&fixture.dump, &[]);
    let mut script = Script::new(DUMP);
    script.say(format!("target remote {}", server.address));
    script.expect("set var $pc = (long)&nodes[0]", "and no address of code");
    script.expect("frame", "#0  chain");
    script.must_pass(&Debugger::Gdb("gdb"));
    server.finish();
}

fn of_object_as_reported(address: u64) -> String {
    format!("{address:#x} is the address of an object as debuggers see it, which the program does not have")
}

/// Parts of a union's pointer that are other members: numbers are written, parts of the address are not.
#[test]
fn parts_of_a_unions_pointer_are_written_as_the_program_has_them() {
    let (fixture, folder) = (named(DUMP), Folder::new("union-parts"));
    let dump = with_more_members(&folder);
    let chains = in_kernel(&fixture);
    let here = chains.iter().find(|chain| (chain.wave.thread, chain.lane) == (1, 1)).unwrap();
    for debugger in debuggers() {
        let server = Server::start(&dump, &[]);
        let lldb = matches!(debugger, Debugger::Lldb(_));
        let (monitor, set) = if lldb { (MONITOR, "expr") } else { ("monitor", "set var") };
        let shown = if lldb { ')' } else { '=' };
        let mut script = Script::new(DUMP);
        script.say(format!("{} {}", if lldb { "gdb-remote" } else { "target remote" }, server.address));
        script.say(if lldb { "register write lane 1" } else { "set var $lane = 1" });
        script.say(format!("{set} word.halves[0].low = {}", here.offset(2)));
        script.expect("p word.node->id", format!("{shown} {}\n", here.own(2, "id")));
        let number = PRIVATE_BASE | here.offset(2);
        script.expect(format!("{monitor} print lane 1 word.bits"), format!(" = {number} "));
        let refused = if lldb { "write to memory" } else { "Cannot access memory at address" };
        script.expect(format!("{set} word.parts.tag = 3"), refused);
        noted(&mut script, monitor, "a part of a pointer cannot be written");
        script.expect(format!("{monitor} print lane 1 word.bits"), format!(" = {number} "));
        script.say(format!("{set} word.halves[0].high = 7"));
        let number = 7 << 32 | here.offset(2);
        script.expect(format!("{monitor} print lane 1 word.bits"), format!(" = {number} "));
        script.expect("p word.bits", format!("{shown} {number}\n"));
        script.must_pass(&debugger);
        server.finish();
    }
}

/// A value in gdb's history or in Python keeps its wave and lane.
#[test]
fn values_of_a_unions_pointer_stay_with_their_lanes() {
    let fixture = named(DUMP);
    let chains = in_kernel(&fixture);
    let server = Server::start(&fixture.dump, &[]);
    let mut script = Script::new(DUMP);
    script.say(format!("target remote {}", server.address));
    script.say("python seen = []");
    for (index, chain) in chains.iter().enumerate() {
        script.say(format!("thread {}", chain.wave.number));
        script.say(format!("set var $lane = {}", chain.lane));
        script.say(format!("set $node{index} = word.node"));
        script.say("python seen.append(gdb.parse_and_eval('word'))");
    }
    script.say("thread 3");
    for (index, chain) in chains.iter().enumerate() {
        script.expect(format!("p $node{index}->id"), format!("= {}\n", chain.own(1, "id")));
        let id = chain.own(2, "id");
        script.expect(
            format!("python print(seen[{index}]['node'].dereference()['next']['id'])"),
            format!("{id}\n"),
        );
    }
    script.must_pass(&Debugger::Gdb("gdb"));
    server.finish();
}

#[test]
fn a_front_end_of_gdb_opens_a_unions_pointer_of_a_thread_that_is_not_selected() {
    let fixture = named(DUMP);
    let chains: Vec<Chain<'_>> = in_kernel(&fixture).into_iter().filter(|chain| chain.lane == 17).collect();
    assert_eq!(chains.len(), 2);
    for name in gdbs() {
        let server = Server::start(&fixture.dump, &[]);
        let mut mi = Mi::start(name);
        let (class, _, before) = mi.ask(&format!("-target-select remote {}", server.address));
        assert_eq!(class, "connected");
        mi.stopped_in(before);
        for chain in &chains {
            let thread = chain.wave.number;
            mi.done(&format!("-interpreter-exec --thread {thread} console \"set var $lane = 17\""));
            mi.done(&format!("-var-create --thread {thread} --frame 0 v{thread} * word.node"));
        }
        for selected in 1..=3 {
            mi.done(&format!("-thread-select {selected}"));
            for chain in &chains {
                let object = format!("v{}", chain.wave.number);
                assert_eq!(id_in(&mut mi, &object), chain.own(1, "id"), "{object}, thread {selected}");
                let next = format!("{object}.public.next");
                assert_eq!(id_in(&mut mi, &next), chain.own(2, "id"), "{next}, thread {selected}");
            }
        }
        mi.ask("-gdb-exit");
        mi.talk.ends();
        server.finish();
    }
}

#[test]
fn an_editor_opens_a_unions_pointer_through_lldb() {
    let fixture = named(DUMP);
    let server = Server::start(&fixture.dump, &[]);
    let attach = json!({ "attachCommands": [format!("gdb-remote {}", server.address)], "stopOnEntry": true });
    let mut dap = dap::attached(&fixture, &attach);
    for chain in in_kernel(&fixture).iter().filter(|chain| chain.lane == 0) {
        let frame = dap::frames(&mut dap, chain.wave)[0]["id"].clone();
        let scopes = dap.ask("scopes", &json!({ "frameId": frame }));
        let locals = scopes["scopes"].as_array().unwrap().iter().find(|scope| scope["name"] == "Locals");
        let mut reference = locals.unwrap()["variablesReference"].clone();
        let mut listed = Vec::new();
        for member in ["word", "node", "next"] {
            listed = opened(&mut dap, &reference);
            reference = found(&listed, member)["variablesReference"].clone();
        }
        assert_eq!(found(&listed, "id")["value"], chain.own(1, "id").to_string());
        let next = opened(&mut dap, &reference);
        assert_eq!(found(&next, "id")["value"], chain.own(2, "id").to_string());
    }
    dap.ask("disconnect", &json!({ "terminateDebuggee": false }));
    dap.talk.ends();
    server.finish();
}

fn opened(dap: &mut dap::Dap, reference: &Value) -> Vec<Value> {
    let listed = dap.ask("variables", &json!({ "variablesReference": reference }));
    listed["variables"].as_array().unwrap().clone()
}

fn found(listed: &[Value], name: &str) -> Value {
    let found = listed.iter().find(|variable| variable["name"] == name);
    found.unwrap_or_else(|| panic!("no {name} in {listed:?}")).clone()
}

#[test]
fn the_server_logs_why_a_write_is_refused() {
    let mut server = Command::new(lanescope());
    server.args(["serve", "--stdio"]).arg(named(DUMP).dump).env("RUST_LOG", "info");
    server.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut server = server.spawn().unwrap();
    let body = "M10,1:00";
    let sum = body.bytes().fold(0u8, u8::wrapping_add);
    server.stdin.take().unwrap().write_all(format!("${body}#{sum:02x}").as_bytes()).unwrap();
    let output = server.wait_with_output().unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(log.contains("a write of memory is refused: "), "{log}");
    assert!(log.contains("nothing was captured there"), "{log}");
}
