//! Linked structures in private memory and in LDS. One object has one address for any path and any selection. In
//! private memory the address has wave and lane; in LDS all waves and lanes of the work-group share it. The expected
//! values are the model's (tests/fixtures/models/chain.py).

use serde_json::{Value, json};

use super::dap;
use super::harness::{Server, lldb_name};
use super::lldb::MONITOR;
use super::mi::Mi;
use super::model::{Fixture, Wave, named};
use super::script::{Debugger, Script, gdbs};

pub(super) const DUMP: &str = "chain-gfx90a-O0";
/// Bytes of a node.
const NODE: u64 = 16;
/// Base of private memory in generic addresses.
pub(super) const PRIVATE_BASE: u64 = 2 << 48;
/// Base of LDS in generic addresses.
const LDS_BASE: u64 = 1 << 48;

/// Model of one lane of a wave.
pub(super) struct Chain<'a> {
    pub(super) wave: &'a Wave,
    pub(super) lane: usize,
    model: &'a Value,
    shared: &'a Value,
}

impl<'a> Chain<'a> {
    pub(super) fn all(fixture: &'a Fixture) -> Vec<Self> {
        let of_wave = |wave: &'a Wave| {
            let each = wave.shown_lanes().into_iter().zip(wave.expected["linked"].as_array().unwrap());
            each.map(move |(lane, model)| Chain { wave, lane, model, shared: &wave.expected["shared"] })
        };
        fixture.waves.iter().flat_map(of_wave).collect()
    }

    /// Whether the wave is in the kernel, the only function with nodes.
    pub(super) fn is_kernel(&self) -> bool {
        self.wave.expected["function"] == "chain"
    }

    /// A member of one of the lane's own nodes.
    pub(super) fn own(&self, index: usize, member: &str) -> i64 {
        self.model["private"][index][member].as_i64().unwrap()
    }

    /// A member of one of the work-group's nodes.
    pub(super) fn shared(&self, index: usize, member: &str) -> i64 {
        self.shared[index][member].as_i64().unwrap()
    }

    /// Offset of a node in private memory.
    pub(super) fn offset(&self, index: usize) -> u64 {
        self.model["nodes"].as_u64().unwrap() + NODE * index as u64
    }

    /// Address of a node in the form for clients: space, wave number, lane (docs/protocol.md).
    pub(super) fn address(&self, index: usize) -> u64 {
        5 << 56 | self.wave.thread << 39 | (self.lane as u64) << 32 | self.offset(index)
    }

    /// Paths with the number at the end of each, in syntax of both debuggers.
    fn numbers(&self) -> Vec<(&'static str, i64)> {
        let mut all = vec![
            ("cursor->id", self.own(1, "id")),
            ("cursor->next->id", self.own(2, "id")),
            ("cursor->next->weight", self.own(2, "weight")),
            ("(**handle).weight", self.own(1, "weight")),
            ("(*handle)->next->id", self.own(2, "id")),
        ];
        if self.is_kernel() {
            all.extend([
                ("nodes[0].next->next->id", self.own(2, "id")),
                ("pool->id", self.shared(0, "id")),
                ("pool->next->next->id", self.shared(2, "id")),
                ("table[0]->weight", self.own(2, "weight")),
                ("table[1]->weight", self.shared(1, "weight")),
                ("table[1]->next->id", self.shared(2, "id")),
                ("first.id", self.own(0, "id")),
                ("first.next->id", self.own(1, "id")),
                ("(*add.cursor)->next->id", self.own(2, "id")),
                ("add.first.next->weight", self.own(1, "weight")),
                ("cursor - nodes", 1),
                ("table[0] - cursor", 1),
            ]);
        }
        all
    }

    /// Expressions that are true.
    fn equal(&self) -> Vec<&'static str> {
        let mut all = vec!["*handle == cursor", "cursor->next == &cursor[1]"];
        if self.is_kernel() {
            all.extend([
                "cursor == &nodes[1]",
                "&nodes[1] == cursor",
                "nodes[0].next == cursor",
                "handle == &cursor",
                "table[0] == &nodes[2]",
                "table[1] == pool->next",
                "&first == nodes",
            ]);
        }
        all
    }

    /// Numbers like pointers, which must stay unchanged.
    fn lookalikes(&self) -> Vec<(&'static str, u64)> {
        let pointer = PRIVATE_BASE | self.offset(1);
        vec![("lookalike", pointer), ("pair[0]", pointer & 0xffff_ffff), ("pair[1]", pointer >> 32)]
    }
}

#[test]
fn gdb_follows_pointers_of_each_wave_and_lane() {
    let fixture = named(DUMP);
    for name in gdbs() {
        let server = Server::start(&fixture.dump, &[]);
        let mut script = Script::new(DUMP);
        script.say(format!("target remote {}", server.address));
        for chain in Chain::all(&fixture) {
            script.say(format!("thread {}", chain.wave.number));
            script.say(format!("set var $lane = {}", chain.lane));
            for (path, number) in chain.numbers() {
                script.expect(format!("p {path}"), format!(" = {number}\n"));
            }
            for comparison in chain.equal() {
                script.expect(format!("p {comparison}"), " = true\n");
            }
            script.expect("p/x (long)cursor", format!(" = {:#x}\n", chain.address(1)));
            if chain.is_kernel() {
                script.expect("p/x (long)&nodes[1]", format!(" = {:#x}\n", chain.address(1)));
                for (path, number) in chain.lookalikes() {
                    script.expect(format!("p {path}"), format!(" = {number}\n"));
                }
            }
        }
        script.must_pass(&Debugger::Gdb(name));
        server.finish();
    }
}

#[test]
fn lldb_follows_pointers_of_each_wave_and_lane() {
    let fixture = named(DUMP);
    let server = Server::start(&fixture.dump, &[]);
    let mut script = Script::new(DUMP);
    script.say(format!("gdb-remote {}", server.address));
    for chain in Chain::all(&fixture) {
        script.say(format!("thread select {}", chain.wave.number));
        script.say(format!("register write lane {}", chain.lane));
        for (path, number) in chain.numbers() {
            script.expect(format!("p {path}"), format!(") {number}\n"));
        }
        for (path, number) in chain.numbers().into_iter().filter(|(path, _)| !path.contains([' ', '('])) {
            script.expect(format!("frame variable {path}"), format!("{path} = {number}\n"));
        }
        for comparison in chain.equal() {
            script.expect(format!("p {comparison}"), "(bool) true\n");
        }
        script.expect("p cursor", format!("0x{:016x}\n", chain.address(1)));
        if chain.is_kernel() {
            for (path, number) in chain.lookalikes() {
                script.expect(format!("p {path}"), format!(") {number}\n"));
            }
        }
    }
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
}

/// Address in LDS, by a wave and a lane of the work-group (docs/protocol.md).
fn lds(thread: u64, lane: usize, offset: u64) -> u64 {
    3 << 56 | thread << 39 | (lane as u64) << 32 | offset
}

/// For all waves and lanes an LDS address has lane 0 of the work-group's first wave. Addresses with another one lead to
/// the same memory, and writes of them store the program's number.
fn lds_is_one_memory(debugger: &Debugger) {
    let fixture = named(DUMP);
    let server = Server::start(&fixture.dump, &[]);
    let is_lldb = matches!(debugger, Debugger::Lldb(_));
    let either = |gdb: &'static str, lldb: &'static str| if is_lldb { lldb } else { gdb };
    let [connect, set, equals, monitor] = [
        either("target remote", "gdb-remote"),
        either("set var", "expr"),
        either("= ", ") "),
        either("monitor", MONITOR),
    ];
    let mut script = Script::new(DUMP);
    script.say(format!("{connect} {}", server.address));
    script.say(either("set $first = pool", "expr Node *$first = pool"));
    for chain in Chain::all(&fixture) {
        let Chain { wave, lane, .. } = chain;
        script.say(format!("{} {}", either("thread", "thread select"), wave.number));
        script.say(format!("{} {lane}", either("set var $lane =", "register write lane")));
        let own = lds(wave.thread, lane, NODE);
        script.expect(format!("p *(int *){own:#x}"), format!("{equals}{}\n", chain.shared(1, "id")));
        if !chain.is_kernel() {
            continue;
        }
        for (text, expected) in [
            ("pool == $first", "true".to_owned()),
            ("pool - $first", "0".to_owned()),
            ("pool->next - $first", "1".to_owned()),
            ("table[1] == $first + 1", "true".to_owned()),
            ("(long)pool", lds(1, 0, 0).to_string()),
            ("(long)$first[0].next", lds(1, 0, NODE).to_string()),
        ] {
            script.expect(format!("p {text}"), format!("{equals}{expected}\n"));
        }
        script.say(format!("{set} table[0] = (Node *){own:#x}"));
        script.expect("p table[0] == pool->next", format!("{equals}true\n"));
        script.expect(format!("{monitor} print table[0]"), format!("{:#x}", LDS_BASE | NODE));
    }
    // All waves read one wave's writes, also through pointers in LDS.
    script.say(either("thread 1", "thread select 1"));
    script.say(format!("{set} pool->weight = 4242"));
    script.say(format!("{set} pool->next->next = pool"));
    script.say(either("thread 2", "thread select 2"));
    script.expect("p pool->weight", format!("{equals}4242\n"));
    script.expect("p pool->next->next == $first", format!("{equals}true\n"));
    script.expect(format!("{monitor} print pool->next->next"), format!("{LDS_BASE:#x}"));
    script.must_pass(debugger);
    server.finish();

    // The work-group's first wave is not served.
    let server = Server::start(&fixture.dump, &["--wave", "2-3"]);
    let mut script = Script::new(DUMP);
    script.say(format!("{connect} {}", server.address));
    script.expect("p (long)pool", format!("{equals}{}\n", lds(2, 0, 0)));
    script.expect("p pool->next->id", format!("{equals}1001\n"));
    script.must_pass(debugger);
    server.finish();

    // Two work-groups, of one wave each.
    let fixture = named("lds-gfx90a-O0");
    let server = Server::start(&fixture.dump, &[]);
    let mut script = Script::new(&fixture.name);
    script.say(format!("{connect} {}", server.address));
    let thread = either("thread", "thread select --thread-id");
    script.say(format!("{thread} 1"));
    script.say(either("set $first = tile", "expr int *$first = tile"));
    for wave in &fixture.waves {
        script.say(format!("{thread} {}", wave.thread));
        for lane in wave.shown_lanes() {
            script.say(format!("{} {lane}", either("set var $lane =", "register write lane")));
            let is_first = wave.thread == 1;
            // gdb has a C type here.
            let is_first = if is_lldb { is_first.to_string() } else { u8::from(is_first).to_string() };
            script.expect("p tile == $first", format!("{equals}{is_first}\n"));
            script.expect("p (long)best", format!("{equals}{}\n", lds(wave.thread, 0, 0x100)));
        }
    }
    script.must_pass(debugger);
    server.finish();
}

#[test]
fn gdb_has_one_address_for_lds_of_all_waves_and_lanes() {
    for name in gdbs() {
        lds_is_one_memory(&Debugger::Gdb(name));
    }
}

#[test]
fn lldb_has_one_address_for_lds_of_all_waves_and_lanes() {
    lds_is_one_memory(&Debugger::Lldb(lldb_name()));
}

/// A pointer from LDS to private memory: each lane reads its own node through it, so its address has no lane.
#[test]
fn a_pointer_in_lds_to_private_memory_names_no_lane() {
    let fixture = named(DUMP);
    let chains = Chain::all(&fixture);
    let number = chains[0].offset(1) | PRIVATE_BASE;
    for name in gdbs() {
        let server = Server::start(&fixture.dump, &[]);
        let mut script = Script::new(DUMP);
        script.say(format!("target remote {}", server.address));
        script.say("set var $lane = 17");
        script.say("set var pool->next = &nodes[1]");
        script.expect("monitor print pool->next", format!("{number:#x}"));
        for chain in chains.iter().filter(|chain| chain.is_kernel()) {
            script.say(format!("thread {}", chain.wave.number));
            script.say(format!("set var $lane = {}", chain.lane));
            script.expect("p/x (long)pool->next", format!(" = {number:#x}\n"));
            script.expect("p pool->next->id", format!(" = {}\n", chain.own(1, "id")));
        }
        script.must_pass(&Debugger::Gdb(name));
        server.finish();
    }
    let server = Server::start(&fixture.dump, &[]);
    let mut script = Script::new(DUMP);
    script.say(format!("gdb-remote {}", server.address));
    script.say("register write lane 17");
    script.say("expr pool->next = &nodes[1]");
    script.expect("p (long)pool->next", format!(") {number}\n"));
    script.expect("p pool->next->id", "couldn't read its memory");
    let lane_17 = chains.iter().find(|chain| (chain.wave.thread, chain.lane) == (1, 17)).unwrap();
    script
        .expect(format!("{MONITOR} print pool->next->id"), format!(" = {}  [private", lane_17.own(1, "id")));
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
}

/// A write to a pointer stores the program's own bits. A value outside of the lane's pointers is rejected.
#[test]
fn gdb_writes_pointers_as_the_program_has_them() {
    let fixture = named(DUMP);
    let chains = Chain::all(&fixture);
    let find = |thread: u64, lane: usize| {
        chains.iter().find(|chain| (chain.wave.thread, chain.lane) == (thread, lane)).unwrap()
    };
    let (here, other) = (find(1, 1), find(1, 17));
    for name in gdbs() {
        let server = Server::start(&fixture.dump, &[]);
        let mut script = Script::new(DUMP);
        script.say(format!("target remote {}", server.address));
        script.say("set var $lane = 1");
        script.say("set var cursor = &nodes[2]");
        script.expect("p cursor->id", format!(" = {}\n", here.own(2, "id")));
        script.expect("p cursor == &nodes[2]", " = true\n");
        script.expect("monitor print cursor", format!("{:#x}", PRIVATE_BASE | here.offset(2)));
        script.say("set var nodes[2].next = nodes");
        script.expect("p cursor->next->id", format!(" = {}\n", here.own(0, "id")));
        script.expect("monitor print nodes[2].next", format!("{:#x}", PRIVATE_BASE | here.offset(0)));
        script.say("set var table[0] = pool");
        script.expect("p table[0]->next->id", format!(" = {}\n", here.shared(1, "id")));
        script.expect("monitor print table[0]", "0x1000000000000");
        script.say("set var cursor = 0");
        script.expect("p cursor", " = (Node *) 0x0\n");
        let refused = "Cannot access memory at address";
        script.expect(format!("set var cursor = (Node *){:#x}", other.address(1)), refused);
        script.expect("p cursor", " = (Node *) 0x0\n");
        script.expect("set var *(long *)out = (long)&nodes[0]", refused);
        // A pointer of another lane points to that lane.
        script.say("set var $lane = 17");
        script.expect("p cursor->id", format!(" = {}\n", other.own(1, "id")));
        script.must_pass(&Debugger::Gdb(name));
        server.finish();
    }
}

#[test]
fn lldb_writes_pointers_as_the_program_has_them() {
    let fixture = named(DUMP);
    let chains = Chain::all(&fixture);
    let here = chains.iter().find(|chain| (chain.wave.thread, chain.lane) == (1, 1)).unwrap();
    let server = Server::start(&fixture.dump, &[]);
    let mut script = Script::new(DUMP);
    script.say(format!("gdb-remote {}", server.address));
    script.say("register write lane 1");
    script.say("expr cursor = &nodes[2]");
    script.expect("p cursor->id", format!("(int) {}\n", here.own(2, "id")));
    script.expect("p cursor == &nodes[2]", "(bool) true\n");
    script.expect(format!("{MONITOR} print cursor"), format!("{:#x}", PRIVATE_BASE | here.offset(2)));
    script.say("expr table[0] = pool");
    script.expect("p table[0]->next->id", format!("(int) {}\n", here.shared(1, "id")));
    script.expect(format!("{MONITOR} print table[0]"), "0x1000000000000");
    script.must_pass(&Debugger::Lldb(lldb_name()));
    server.finish();
}

/// Python reads a value when it prints it, possibly after a change of the lane.
#[test]
fn values_that_python_collects_over_lanes_are_each_lanes() {
    let fixture = named(DUMP);
    let chains: Vec<Chain<'_>> = Chain::all(&fixture).into_iter().filter(Chain::is_kernel).collect();
    for name in gdbs() {
        let server = Server::start(&fixture.dump, &[]);
        let mut script = Script::new(DUMP);
        script.say(format!("target remote {}", server.address));
        script.say("python seen = []");
        for chain in &chains {
            script.say(format!("thread {}", chain.wave.number));
            script.say(format!("set var $lane = {}", chain.lane));
            script.say(
                "python seen.append([gdb.parse_and_eval(path) for path in ('item', 'cursor', 'nodes', '*pool', 'add')])",
            );
        }
        script.say("thread 3");
        for (index, chain) in chains.iter().enumerate() {
            let item = chain.wave.expected["locals"]
                .as_array()
                .unwrap()
                .iter()
                .find(|local| local["name"] == "item");
            let at = chain.wave.shown_lanes().iter().position(|lane| *lane == chain.lane).unwrap();
            let item = item.unwrap()["values"][at].as_str().unwrap();
            for (path, expected) in [
                ("[0]", item.to_owned()),
                ("[1].dereference()['next']['id']", chain.own(2, "id").to_string()),
                ("[2][0]['next']['weight']", chain.own(1, "weight").to_string()),
                ("[3]['next']['id']", chain.shared(1, "id").to_string()),
                ("[4]['cursor'].referenced_value()['id']", chain.own(1, "id").to_string()),
            ] {
                script.expect(format!("python print(seen[{index}]{path})"), format!("{expected}\n"));
            }
        }
        script.must_pass(&Debugger::Gdb(name));
        server.finish();
    }
}

/// Variable objects of three threads and several lanes: created, opened, updated and read from another thread.
#[test]
fn a_front_end_of_gdb_opens_pointers_of_threads_that_are_not_selected() {
    let fixture = named(DUMP);
    let chains = Chain::all(&fixture);
    for (name, is_reversed) in [("gdb", false), ("gdb-multiarch", true)] {
        let server = Server::start(&fixture.dump, &[]);
        let mut mi = Mi::start(name);
        let (class, _, before) = mi.ask(&format!("-target-select remote {}", server.address));
        assert_eq!(class, "connected");
        mi.stopped_in(before);
        for lane in [0, 17] {
            let mut chains: Vec<&Chain<'_>> = chains.iter().filter(|chain| chain.lane == lane).collect();
            assert_eq!(chains.len(), 3);
            if is_reversed {
                chains.reverse();
            }
            for chain in &chains {
                let console = format!("\"set var $lane = {lane}\"");
                mi.done(&format!("-interpreter-exec --thread {} console {console}", chain.wave.number));
            }
            for chain in &chains {
                let thread = chain.wave.number;
                mi.done(&format!("-var-create --thread {thread} --frame 0 v{thread} * \"cursor\""));
            }
            for selected in 1..=3 {
                mi.done(&format!("-thread-select {selected}"));
                for chain in chains.iter().rev() {
                    let object = format!("v{}", chain.wave.number);
                    assert_eq!(id_in(&mut mi, &object), chain.own(1, "id"), "{object}, thread {selected}");
                    let next = format!("{object}.public.next");
                    assert_eq!(id_in(&mut mi, &next), chain.own(2, "id"), "{next}, thread {selected}");
                    let update = mi.done(&format!("-var-update --all-values {object}"));
                    assert_eq!(update["changelist"], json!([]), "{object}, thread {selected}");
                    let address = format!("{:#x}", chain.address(1));
                    let value = mi.done(&format!("-var-evaluate-expression {object}"))["value"].clone();
                    assert_eq!(value, address, "{object}, thread {selected}");
                    let place = format!("--thread {} --frame 0", chain.wave.number);
                    let value = mi.done(&format!("-data-evaluate-expression {place} cursor->next->weight"));
                    assert_eq!(value["value"], chain.own(2, "weight").to_string());
                }
            }
            for chain in &chains {
                mi.done(&format!("-var-delete v{}", chain.wave.number));
            }
        }
        mi.ask("-gdb-exit");
        mi.talk.ends();
        server.finish();
    }
}

/// The member `id` of a variable object's target.
pub(super) fn id_in(mi: &mut Mi, object: &str) -> i64 {
    mi.done(&format!("-var-list-children {object}"));
    let members = mi.done(&format!("-var-list-children --all-values {object}.public"));
    let members = members["children"].as_array().unwrap();
    let id = members.iter().find(|member| member["exp"] == "id").expect("a member id");
    id["value"].as_str().unwrap().parse().unwrap()
}

#[test]
fn an_editor_opens_pointers_through_lldb() {
    let fixture = named(DUMP);
    let server = Server::start(&fixture.dump, &[]);
    let attach = json!({ "attachCommands": [format!("gdb-remote {}", server.address)], "stopOnEntry": true });
    let mut dap = dap::attached(&fixture, &attach);
    for chain in Chain::all(&fixture).iter().filter(|chain| [0, 17].contains(&chain.lane)) {
        let top = dap::frames(&mut dap, chain.wave)[0]["id"].clone();
        dap.ask("scopes", &json!({ "frameId": top }));
        let command = format!("`register write lane {}", chain.lane);
        dap.ask("evaluate", &json!({ "expression": command, "frameId": top, "context": "repl" }));
        dap::resume(&mut dap, chain.wave, "next");
        let frame = dap::frames(&mut dap, chain.wave)[0]["id"].clone();
        let scopes = dap.ask("scopes", &json!({ "frameId": frame }));
        let locals = scopes["scopes"].as_array().unwrap().iter().find(|scope| scope["name"] == "Locals");
        let mut reference = locals.unwrap()["variablesReference"].clone();
        // cursor, then its target, and so on.
        for (member, index) in [("cursor", 1), ("next", 2)] {
            let listed = dap.ask("variables", &json!({ "variablesReference": reference }));
            let listed = listed["variables"].as_array().unwrap().clone();
            let found = |name: &str, listed: &[Value]| {
                let found = listed.iter().find(|variable| variable["name"] == name);
                found.unwrap_or_else(|| panic!("no {name} in {listed:?}")).clone()
            };
            reference = found(member, &listed)["variablesReference"].clone();
            let within = dap.ask("variables", &json!({ "variablesReference": reference }));
            let within = within["variables"].as_array().unwrap().clone();
            assert_eq!(found("id", &within)["value"], chain.own(index, "id").to_string(), "{member}");
        }
        for (path, number) in chain.numbers() {
            // The text under the mouse cannot be arithmetic.
            for context in ["watch", "hover"].into_iter().take(if path.contains(" - ") { 1 } else { 2 }) {
                let asked = json!({ "expression": path, "frameId": frame, "context": context });
                assert_eq!(dap.ask("evaluate", &asked)["result"], number.to_string(), "{path}");
            }
        }
        if !chain.is_kernel() {
            continue;
        }
        // lldb 22 has no comparisons in the language of the text under the mouse, that of `frame variable`.
        let compared = |context: &str| json!({ "expression": "cursor == &nodes[1]", "frameId": frame, "context": context });
        assert_eq!(dap.ask("evaluate", &compared("watch"))["result"], "true");
        assert!(dap.refused("evaluate", &compared("hover")).contains("unrecognized token"));
    }
    dap.ask("disconnect", &json!({ "terminateDebuggee": false }));
    dap.talk.ends();
    server.finish();
}

/// First read of a 512-byte line that contains the end of memory.
#[test]
fn lldb_reads_the_last_line_of_memory_at_the_first_try() {
    let fixture = named(DUMP);
    let chains = Chain::all(&fixture);
    let chain = chains.iter().find(|chain| (chain.wave.thread, chain.lane) == (1, 17)).unwrap();
    let server = Server::start(&fixture.dump, &[]);
    let of_group = lds(chain.wave.thread, 0, 0);
    for (address, number) in [(chain.address(2), chain.own(2, "id")), (of_group, chain.shared(0, "id"))] {
        let mut script = Script::new(DUMP);
        script.say(format!("gdb-remote {}", server.address));
        script.expect(format!("p *(int *){address:#x}"), format!("(int) {number}\n"));
        script.must_pass(&Debugger::Lldb(lldb_name()));
    }
    server.finish();
}
