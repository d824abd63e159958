//! References, contradictions and types: each error has its key path, and the rest loads.

use super::{Folder, HEAD, check, check_whole, lines, open_text, show};
use crate::arch::Targets;
use crate::capture::{Hardware, MAX_SOURCE, MAX_SOURCE_FILES, Ring};
use crate::units::Address;

#[test]
fn a_sound_manifest_has_no_problems() {
    let capture = check(
        r#"
        [provenance]
        producer = "hand"
        created = 2026-11-20T10:00:00Z
        [[wave]]
        id = 1
        workgroup = 2
        wave_in_group = 3
        stop = ["memory_violation", "fp_overflow"]
        x-mine = { anything = 1 }
        "#,
        &[],
    );
    assert_eq!(capture.provenance.created.as_deref(), Some("2026-11-20T10:00:00Z"));
    assert_eq!(capture.provenance.format, "lanescope dump 1");
    let wave = &capture.waves[0];
    assert_eq!((wave.workgroup, wave.agent, wave.wave_in_group), (Some(1), 0, Some(3)));
    let names: Vec<_> =
        wave.stop.iter().flatten().map(|n| wave.kind.target.stop_reasons[*n].name.as_str()).collect();
    assert_eq!(names, ["memory_violation", "fp_overflow"]);
    assert_eq!(capture.dispatches[0].grid, Some([512, 1, 1]));
    assert_eq!(capture.workgroups[1].position, Some([1, 0, 0]));
}

#[test]
fn sources_have_one_path_each_below_a_root() {
    let capture = check(
        r#"
        [[source]]
        path = "/src/app/../lib/k.hip"
        hex = "61 62"
        [[source]]
        path = "./k.hip"
        hex = "63"
        [[source]]
        path = "/src/lib//k.hip"
        hex = "64"
        [[source]]
        path = "../../etc/passwd"
        hex = "65"
        [[source]]
        hex = "66"
        [[source]]
        path = "a\u001bb.hip"
        hex = "67"
        [[source]]
        path = "none.hip"
        "#,
        &[
            "source[2].path: the path of an earlier entry, too (expected each path once)",
            "source[3].path: leads to no file (expected a file's name, without `..` in front)",
            "source[4].path: is missing; the entry is left out (expected a string)",
            "source[6]: there is no data; the entry is left out (expected one of file, hex and u32)",
        ],
    );
    let found: Vec<_> = capture.sources.iter().map(|source| (&*source.path, source.extent.length)).collect();
    assert_eq!(found, [("/src/lib/k.hip", 2), ("k.hip", 1), ("a\\u{1b}b.hip", 1)]);
}

#[test]
fn sources_are_bounded_in_size_and_number() {
    let folder = Folder::new().with("most.txt", b"").with("more.txt", b"");
    for (name, size) in [("most.txt", MAX_SOURCE), ("more.txt", MAX_SOURCE + 1)] {
        let file = std::fs::File::options().write(true).open(folder.as_ref().join(name)).unwrap();
        file.set_len(size).unwrap();
    }
    let entry = |index: usize| format!("[[source]]\npath = \"{index}.hip\"\nfile = \"most.txt\"\n");
    let many: String = (0..=MAX_SOURCE_FILES).map(entry).collect();
    let text = format!("{HEAD}\n[[source]]\npath = \"more.hip\"\nfile = \"more.txt\"\n{many}");
    let opened = folder.with("manifest.toml", text).open().unwrap();
    let problems: Vec<String> = opened.problems.iter().map(ToString::to_string).collect();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(
        problems[0].contains("source[0]: 16777217 bytes (expected at most 16777216 bytes of text)"),
        "{problems:?}"
    );
    let last = format!("source[{}]: this and those after it are left out", MAX_SOURCE_FILES + 1);
    assert!(problems[1].contains(&last), "{problems:?}");
    assert_eq!(opened.capture.sources.len(), MAX_SOURCE_FILES);
}

#[test]
fn toml_and_json_are_one_schema() {
    let json = r#"{ "format": 1, "agent": [{"id": 7, "target": "gfx1100", "name": null}],
        "wave": [{"id": 1, "agent": 7, "wave_size": 32, "registers": {"exec": "0xff", "v1": [1, "xx", null, -1]}}] }"#;
    let capture = check_whole(json, &[]);
    assert_eq!(show(&capture, "v1"), "1 xx xx ffffffff");
    let toml = "format = 1\nagent = [{ id = 7, target = \"gfx1100\" }]\n[[wave]]\nid = 1\nagent = 7\nwave_size = 32\n\
        registers = { exec = \"0xff\", v1 = [1, \"xx\", \"xx\", -1] }";
    assert_eq!(show(&check_whole(toml, &[]), "v1"), "1 xx xx ffffffff");
}

#[test]
fn a_wrong_type_costs_its_own_entry() {
    let capture = check(
        r#"
        wave = [
          { id = 1, workgroup = 1, sgpr_count = "many" },
          { id = "two", workgroup = 1 },
          7,
          { id = 4, workgroup = 1, stop = "trap", registers = [1], wave_in_group = -1 },
          { id = 5, workgroup = 1.5 },
          { id = 6, workgroup = 1 },
        ]
        memory = { address = 0, hex = "00" }
        "#,
        &[
            "wave[2]: 7 (expected a table)",
            "wave[0].sgpr_count: \"many\" (expected a non-negative integer below 2^64 or a string \"0x...\")",
            "wave[1].id: \"two\"; the entry is left out (expected a non-negative integer below 2^64 or a string \"0x...\")",
            "wave[3].wave_in_group: -1 (expected a non-negative integer below 2^64 or a string \"0x...\")",
            "wave[3].stop: \"trap\" (expected an array)",
            "wave[3].registers: an array (expected a table of registers)",
            "wave[4].workgroup: 1.5 (expected a non-negative integer below 2^64 or a string \"0x...\")",
            "wave[4]: neither a work-group nor an agent is known; the wave is left out \
             (expected workgroup or agent)",
            "memory: a table (expected an array of tables)",
        ],
    );
    assert_eq!(capture.waves.iter().map(|wave| wave.id).collect::<Vec<_>>(), [1, 4, 6]);
}

#[test]
fn unknown_keys_are_reported_and_ignored() {
    check(
        r#"
        surprise = 1
        x-ours = 2
        [[wave]]
        id = 1
        workgroup = 1
        colour = "red"
        bulk = [{ registers = "s0", u32 = [1], lane = 3 }]
        "#,
        &[
            "surprise: is not a key of format 1; it is ignored (expected keys of format 1, or x-...)",
            "wave[0].colour: is not a key of format 1; it is ignored (expected keys of format 1, or x-...)",
            "wave[0].bulk[0].lane: is not a key of format 1; it is ignored (expected keys of format 1, or x-...)",
        ],
    );
    let twice = r#"{"format": 1, "agent": [{"id": 1, "id": 2, "target": "gfx90a"}]}"#;
    let capture =
        check_whole(twice, &["agent[0].id: is given twice; the first counts (expected each key once)"]);
    assert_eq!(capture.agents[0].id, 1);
}

#[test]
fn ids_are_unique_and_references_mean_something() {
    let capture = check_whole(
        r#"
        format = 1
        agent = [{ id = 1, target = "gfx90a" }, { id = 1, target = "gfx942" }, { id = 2, target = "gfx9000" },
                 { id = 4294967296, target = "gfx90a" }, { target = "gfx90a" }, { id = 3 }]
        queue = [{ id = 1, agent = 9 }, { id = 2, agent = 2 }, { id = 3, agent = 1 }, { id = 4 }]
        dispatch = [{ id = 1, queue = 1 }, { id = 2, queue = 3 }]
        workgroup = [{ id = 1, dispatch = 1 }, { id = 2, dispatch = 2 }]
        wave = [{ id = 1, workgroup = 1 }, { id = 2, workgroup = 1, agent = 1 }, { id = 3, workgroup = 2 },
                { id = 3, workgroup = 2 }]
        code_object = [{ address = 0, agent = 5 }, { uri = "file:///a" }, { address = 0, uri = "file:///b", build_id = "0g" }]
        "#,
        &[
            "agent[1].id: 1 is taken by an earlier entry; this one is left out \
             (expected ids that are unique in their table)",
            &format!(
                "agent[2].target: there is no target \"gfx9000\"; there are {}; the agent and all that runs on it \
                 are left out (expected the name of a target)",
                Targets::builtin().names().collect::<Vec<_>>().join(", ")
            ),
            "agent[3].id: 0x100000000; the entry is left out (expected a number below 2^32)",
            "agent[4].id: is missing; the entry is left out \
             (expected a non-negative integer below 2^64 or a string \"0x...\")",
            "agent[5].target: is missing; the entry is left out (expected a string)",
            "queue[0].agent: no agent has the id 9 (expected the id of an entry of [[agent]])",
            "queue[1].agent: agent 2 was left out, with a problem of its own (expected a sound entry of [[agent]])",
            "queue[3].agent: is missing; the entry is left out \
             (expected a non-negative integer below 2^64 or a string \"0x...\")",
            "dispatch[0].queue: queue 1 was left out, with a problem of its own (expected a sound entry of [[queue]])",
            "workgroup[0].dispatch: dispatch 1 was left out, with a problem of its own \
             (expected a sound entry of [[dispatch]])",
            "wave[0].workgroup: workgroup 1 was left out, with a problem of its own \
             (expected a sound entry of [[workgroup]])",
            "wave[0]: neither a work-group nor an agent is known; the wave is left out \
             (expected workgroup or agent)",
            "wave[1].workgroup: workgroup 1 was left out, with a problem of its own \
             (expected a sound entry of [[workgroup]])",
            "wave[3].id: 3 is taken by an earlier entry; this one is left out \
             (expected ids that are unique in their table)",
            "code_object[0].agent: no agent has the id 5 (expected the id of an entry of [[agent]])",
            "code_object[1].address: is missing; the entry is left out \
             (expected a non-negative integer below 2^64 or a string \"0x...\")",
            "code_object[2].build_id: 'g' at character 1 (expected pairs of hex digits)",
        ],
    );
    assert_eq!(capture.waves.iter().map(|wave| wave.id).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(capture.waves[0].workgroup, None);
    assert_eq!(capture.code_objects[0].name, "file:///b");
    assert_eq!(capture.code_objects[0].extent, None);
}

#[test]
fn a_wave_is_of_a_size_that_its_target_has() {
    let capture = check_whole(
        r#"
        format = 1
        agent = [{ id = 1, target = "gfx90a" }, { id = 2, target = "gfx1100" }]
        wave = [{ id = 1, agent = 1 }, { id = 2, agent = 1, wave_size = 32 }, { id = 3, agent = 2 },
                { id = 4, agent = 2, wave_size = 64 }, { id = 5, agent = 2, wave_size = 48 }]
        "#,
        &[
            "wave[1].wave_size: 32; the wave is left out (expected 64 on gfx90a)",
            "wave[2].wave_size: is missing, and gfx1100 has more than one; the wave is left out (expected 32 or 64)",
            "wave[4].wave_size: 48; the wave is left out (expected 32 or 64 on gfx1100)",
        ],
    );
    assert_eq!(capture.waves.iter().map(|wave| wave.id).collect::<Vec<_>>(), [1, 4]);
}

#[test]
fn places_lie_within_the_grid_and_are_taken_once() {
    let capture = check_whole(
        r#"
        format = 1
        agent = [{ id = 1, target = "gfx90a" }]
        queue = [{ id = 1, agent = 1 }]
        dispatch = [{ id = 1, queue = 1, grid = [300, 2], workgroup = [128] },
                    { id = 2, queue = 1, grid = [1, 2, 3, 4], workgroup = [0, 1] },
                    { id = 3, queue = 1, grid = ["x"], workgroup = [] }]
        workgroup = [{ id = 1, dispatch = 1, position = [2, 1] }, { id = 2, dispatch = 1, position = [3] },
                     { id = 3, dispatch = 1, position = [2, 1, 0] }, { id = 4, dispatch = 2, position = [9, 9, 9] }]
        wave = [{ id = 1, workgroup = 1, wave_in_group = 1 }, { id = 2, workgroup = 1, wave_in_group = 2 },
                { id = 3, workgroup = 1, wave_in_group = 1 }, { id = 4, workgroup = 1, agent = 1, sgpr_count = 200 }]
        "#,
        &[
            "dispatch[1].grid: 4 numbers (expected one to three numbers)",
            "dispatch[1].workgroup: [0, 1, 1] (expected sizes of at least 1)",
            "dispatch[2].grid[0]: \"x\" (expected a number below 2^32)",
            "dispatch[2].workgroup: 0 numbers (expected one to three numbers)",
            "workgroup[1].position: [3, 0, 0], ignored \
             (expected a position within the 3 x 2 x 1 work-groups of the grid)",
            "workgroup[2].position: [2, 1, 0] is the place of an earlier entry, too \
             (expected one work-group at each place)",
            "wave[1].wave_in_group: 2, ignored (expected less than the 2 waves of a work-group)",
            "wave[2].wave_in_group: 1 is the place of an earlier wave of the work-group, too \
             (expected one wave at each place)",
            "wave[3].sgpr_count: 200, ignored (expected at most the 112 of gfx90a)",
        ],
    );
    assert_eq!(capture.workgroups[1].position, None);
    assert_eq!(capture.waves[1].wave_in_group, None);
}

#[test]
fn a_work_group_may_be_of_no_known_queue() {
    let capture = check_whole(
        r#"
        format = 1
        agent = [{ id = 1, target = "gfx90a" }, { id = 2, target = "gfx90a" }]
        workgroup = [{ id = 7, position = [3, 4, 5] }, { id = 8, position = [3, 4, 5], lds_size = 4, lds = [{ hex = "01020304" }] },
                     { id = 9, dispatch = 5 }, { id = 10, queue = "x" }]
        wave = [{ id = 1, workgroup = 7, agent = 1, wave_in_group = 2 }, { id = 2, workgroup = 8, agent = 2 },
                { id = 3, workgroup = 7 }, { id = 4, workgroup = 7, agent = 2 }, { id = 5, workgroup = 7, agent = 1 }]
        "#,
        &[
            "workgroup[2].dispatch: no dispatch has the id 5 (expected the id of an entry of [[dispatch]])",
            "workgroup[3].queue: \"x\" (expected a non-negative integer below 2^64 or a string \"0x...\")",
            "wave[2]: the agent of its work-group is unknown; the wave is left out \
             (expected agent, or a work-group of a dispatch or queue)",
            "wave[3].agent: not that of an earlier wave of the work-group, which it leaves (expected agent 1)",
        ],
    );
    assert_eq!(capture.workgroups.len(), 2);
    assert!(capture.workgroups.iter().all(|group| group.queue.is_none() && group.dispatch.is_none()));
    assert!(capture.workgroups.iter().all(|group| group.position == Some([3, 4, 5])));
    let places: Vec<_> = capture.waves.iter().map(|wave| (wave.id, wave.agent, wave.workgroup)).collect();
    assert_eq!(places, [(1, 0, Some(0)), (2, 1, Some(1)), (4, 1, None), (5, 0, Some(0))]);
    assert_eq!(capture.waves[0].wave_in_group, Some(2));
}

#[test]
fn facts_of_drivers_and_packets_are_read() {
    let capture = check_whole(
        r#"
        format = 1
        agent = [{ id = 1, target = "gfx942", hardware =
            { vendor = 4098, device = 0x74a1, location = 256, simds = 1216, waves_per_simd = 8, xccs = 8 } }]
        queue = [{ id = 1, agent = 1, ring = { address = "0x7f2000000000", size = 4096, read = 62, write = 66 } },
                 { id = 2, agent = 1, ring = { address = 4096, size = 0 } }]
        dispatch = [{ id = 1, queue = 1, entry = "0x7f1000001c00", dimensions = 0, completion = 0, grid = [64], workgroup = [64] },
                    { id = 2, queue = 1, dimensions = 3, completion = "0x7f3000000040" }]
        workgroup = [{ id = 1, dispatch = 1, recorded_position = [7, 0, 9] }, { id = 2, dispatch = 1, recorded_position = [7, 0, 9] }]
        wave = [{ id = 1, label = "se0.sh0.cu1", workgroup = 1 }]
        code_object = [{ address = 0, uri = "file:///a", origin = "memory" }]
        "#,
        &[],
    );
    let hardware =
        Hardware { vendor: 4098, device: 0x74a1, location: 256, simds: 1216, waves_per_simd: 8, xccs: 8 };
    assert_eq!(capture.agents[0].hardware, Some(hardware));
    let ring = Ring { address: 0x7f20_0000_0000, size: 4096, read: Some(62), write: Some(66) };
    assert_eq!(capture.queues[0].ring, Some(ring));
    // 64 packets of 64 bytes: the last two and the first two.
    let packets = [(0x7f20_0000_0f80, 0x7f20_0000_0fff), (0x7f20_0000_0000, 0x7f20_0000_007f)];
    assert_eq!(ring.packets(4), packets);
    assert_eq!(ring.packets(3), []);
    assert_eq!(capture.queues[1].ring, Some(Ring { address: 4096, size: 0, read: None, write: None }));
    let [first, second] = &capture.dispatches[..] else { panic!() };
    assert_eq!((first.entry, first.dimensions), (Some(Address(0x7f10_0000_1c00)), Some(0)));
    assert_eq!((first.completion, second.completion), (Some(Address(0)), Some(Address(0x7f30_0000_0040))));
    assert_eq!((second.entry, second.dimensions), (None, Some(3)));
    assert_eq!(capture.workgroups[0].position, Some([7, 0, 9]));
    assert_eq!(capture.waves[0].label.as_deref(), Some("se0.sh0.cu1"));
    assert_eq!(capture.code_objects[0].origin.as_deref(), Some("memory"));
}

#[test]
fn facts_missing_in_drivers_and_packets_are_unknown() {
    let number = "expected a non-negative integer below 2^64 or a string \"0x...\"";
    let capture = check_whole(
        r#"
        format = 1
        agent = [{ id = 1, target = "gfx942", hardware = { vendor = "x", device = 1, location = 4294967296, simds = 1, xccs = 8, x = 1 } },
                 { id = 2, target = "gfx942", hardware = 7 }]
        queue = [{ id = 1, agent = 1, ring = { address = "0xffffffffffffffc0", size = 65 } }, { id = 2, agent = 1, ring = { size = 64 } },
                 { id = 3, agent = 1, ring = { address = "0xffffffffffffffc0", size = 64, read = -1, write = 1 } }]
        dispatch = [{ id = 1, queue = 1, dimensions = 4, entry = "here", grid = [64], workgroup = [64] }]
        workgroup = [{ id = 1, dispatch = 1, position = [0], recorded_position = [5] },
                     { id = 2, dispatch = 1, position = [3], recorded_position = [5] }]
        "#,
        &[
            "agent[0].hardware.x: is not a key of format 1; it is ignored (expected keys of format 1, or x-...)",
            &format!("agent[0].hardware.vendor: \"x\"; `hardware` is unknown ({number})"),
            "agent[0].hardware.location: 0x100000000; `hardware` is unknown (expected a number below 2^32)",
            &format!("agent[0].hardware.waves_per_simd: is missing; `hardware` is unknown ({number})"),
            "agent[1].hardware: 7 (expected a table)",
            "queue[0].ring.size: 0x41 bytes from 0xffffffffffffffc0 on, ignored (expected an end within the address space)",
            &format!("queue[1].ring.address: is missing; `ring` is unknown ({number})"),
            &format!("queue[2].ring.read: -1 ({number})"),
            &format!("dispatch[0].entry: \"here\" ({number})"),
            "dispatch[0].dimensions: 4, ignored (expected at most 3)",
            "workgroup[0].recorded_position: beside a position, ignored (expected either of the two)",
            "workgroup[1].position: [3, 0, 0], ignored (expected a position within the 1 x 1 x 1 work-groups of the grid)",
        ],
    );
    assert_eq!((capture.agents[0].hardware, capture.agents[1].hardware), (None, None));
    assert_eq!((capture.queues[0].ring, capture.queues[1].ring), (None, None));
    assert_eq!(capture.queues[2].ring.map(|ring| (ring.read, ring.write)), Some((None, Some(1))));
    assert_eq!((capture.dispatches[0].dimensions, capture.dispatches[0].entry), (None, None));
    let positions: Vec<_> = capture.workgroups.iter().map(|group| group.position).collect();
    assert_eq!(positions, [Some([0, 0, 0]), Some([5, 0, 0])]);
}

#[test]
fn the_work_groups_agent_counts() {
    let capture = check_whole(
        r#"
        format = 1
        agent = [{ id = 1, target = "gfx90a" }, { id = 2, target = "gfx90a", apertures = { local = "0x1000000000000", x = 1 } }]
        queue = [{ id = 1, agent = 2 }]
        dispatch = [{ id = 1, queue = 1 }]
        workgroup = [{ id = 1, dispatch = 1 }]
        wave = [{ id = 1, workgroup = 1, agent = 1 }, { id = 2, workgroup = 1, agent = 2 }]
        "#,
        &[
            "agent[1].apertures.x: is not a key of format 1; it is ignored (expected keys of format 1, or x-...)",
            "wave[0].agent: not the work-group's; the work-group counts (expected agent 2, on which its work-group runs)",
        ],
    );
    assert_eq!(capture.waves[0].agent, 1);
    let local = capture.agents[1].target.space_named("local").unwrap().id;
    assert_eq!(capture.agents[1].apertures[&local].0, 1 << 48);
}

#[test]
fn an_unknown_stop_reason_does_not_mean_running() {
    let opened = open_text(&format!(
        "{}\nwave = [{{ id = 1, workgroup = 1, stop = [\"bored\"] }}, {{ id = 2, workgroup = 1, stop = [\"trap\", 1] }}, \
         {{ id = 3, workgroup = 1, stop = [] }}, {{ id = 4, workgroup = 1 }}]",
        super::HEAD
    ));
    let opened = opened.unwrap();
    assert!(lines(&opened)[0].starts_with(
        "wave[0].stop[0]: \"bored\" is no stop reason of gfx90a (expected one of breakpoint, watchpoint,"
    ));
    assert!(lines(&opened)[1].starts_with("wave[1].stop[1]: 1 is no name of gfx90a (expected one of"));
    let stops: Vec<_> = opened.capture.waves.iter().map(|wave| wave.stop.as_ref().map(Vec::len)).collect();
    assert_eq!(stops, [None, Some(1), Some(0), None]);
}

#[test]
fn problems_beyond_the_limit_are_counted() {
    let waves: Vec<_> = (0..3000).map(|id| format!("{{ id = {id}, workgroup = 9 }}")).collect();
    let opened = open_text(&format!("{}\nwave = [{}]", super::HEAD, waves.join(", "))).unwrap();
    assert_eq!(opened.problems.len(), crate::import::MAX_PROBLEMS + 1);
    assert_eq!(opened.problems.last().unwrap().to_string(), "m: 5000 more problems, not listed");
    assert_eq!(
        serde_json::to_string(&opened.problems[0]).unwrap(),
        r#"{"severity":"error","where":{"file":"m","key":"wave[0].workgroup"},"what":"no workgroup has the id 9","hint":"expected the id of an entry of [[workgroup]]"}"#
    );
}

/// Problems of entries of `wave` are the reason that a dump with such entries has no waves; others are warnings.
#[test]
fn problems_of_waves_are_errors_without_waves() {
    let severities = |text: &str| {
        let opened = open_text(text).unwrap();
        let each = opened.problems.iter().map(|problem| {
            (
                problem.place.key.clone().unwrap_or_default(),
                problem.severity == crate::capture::Severity::Error,
            )
        });
        (opened.capture.waves.len(), each.collect::<Vec<_>>())
    };
    let agent = "format = 1\nnonsense = 1\n[[agent]]\nid = 1\ntarget = \"gfx90a\"\n";
    let lost = "[[wave]]\nid = 1\n[[wave]]\nid = -1\nagent = 1\n";
    let of = |key: &str, is_error| (key.to_owned(), is_error);
    let without = (0, vec![of("nonsense", false), of("wave[0]", true), of("wave[1].id", true)]);
    assert_eq!(severities(&format!("{agent}{lost}")), without);
    let with = (1, vec![of("nonsense", false), of("wave[0]", false), of("wave[1].id", false)]);
    assert_eq!(severities(&format!("{agent}{lost}[[wave]]\nid = 2\nagent = 1\n")), with);
    assert_eq!(severities(agent), (0, vec![of("nonsense", false)]), "a dump without waves");
}

/// A rejected wave may belong to any work-group.
#[test]
fn a_work_group_has_all_waves_if_the_dump_states_it_and_no_wave_is_rejected() {
    let flags = |text: &str, expected: &[&str]| -> Vec<bool> {
        check_whole(text, expected).workgroups.iter().map(|group| group.has_all_waves).collect()
    };
    let text = r#"
        format = 1
        agent = [{ id = 1, target = "gfx90a" }]
        queue = [{ id = 1, agent = 1 }]
        workgroup = [{ id = 1, queue = 1, all_waves = true }, { id = 2, queue = 1 },
                     { id = 3, queue = 1, all_waves = false }]
        wave = [{ id = 1, workgroup = 1 }, { id = WAVE, workgroup = 2 }]
        "#;
    assert_eq!(flags(&text.replace("WAVE", "2"), &[]), [true, false, false]);
    let problem = "wave[1].id: 1 is taken by an earlier entry; this one is left out (expected ids that are unique in their table)";
    assert_eq!(flags(&text.replace("WAVE", "1"), &[problem]), [false, false, false]);
}

#[test]
fn lines_of_captured_sources() {
    let capture = check(
        r#"
        [[source]]
        path = "/src/lib/k.hip"
        hex = "20 61 09 62 0d 0a 0a 63 1b"
        "#,
        &[],
    );
    assert_eq!(capture.source_line("/src/app/../lib/k.hip", 1).as_deref(), Some("a    b"));
    assert_eq!(capture.source_line("/src/lib/k.hip", 2).as_deref(), Some(""));
    assert_eq!(capture.source_line("/src/lib/k.hip", 3).as_deref(), Some("c\\u{1b}"));
    for (file, line) in [("/src/lib/k.hip", 0), ("/src/lib/k.hip", 4), ("k.hip", 1), ("", 1)] {
        assert_eq!(capture.source_line(file, line), None, "{file} {line}");
    }
}

/// Claims count only if nothing is left out.
#[test]
fn memory_maps_and_waves_left_out_are_claims() {
    let map = |ranges: &str| format!("memory_map = {{ whole = true, ranges = [{ranges}] }}\n");
    let sound = "{ address = 0x1000, size = 0x2000, name = \"heap\" }, { address = 0x8000, size = 1 }";
    let opened = |text: &str, expected: &[&str]| check_whole(&format!("{text}{HEAD}"), expected);
    let capture = opened(&format!("{}memory = [{{ address = 0x1100, u32 = [1] }}]\n", map(sound)), &[]);
    let ranges = |capture: &crate::capture::Capture| -> Vec<(u64, u64)> {
        capture.listed().segments().iter().map(|of| (of.address, of.last())).collect()
    };
    assert_eq!(ranges(&capture), [(0x1000, 0x2fff), (0x8000, 0x8000)]);
    assert_eq!((capture.is_global_whole, capture.global.captured()), (true, 4));
    let mut bytes = [0; 8];
    assert_eq!(capture.read(&capture.global, 0x1100, &mut bytes).unwrap(), 4);
    // Captured memory outside of the ranges is mapped, too.
    let capture = opened(&format!("{}memory = [{{ address = 0x9000, u32 = [1] }}]\n", map(sound)), &[]);
    assert_eq!(ranges(&capture).last(), Some(&(0x9000, 0x9003)));
    for (range, problem) in [
        (
            "{ address = 0x2000, size = 1 }",
            "0x2000-0x2000 overlaps 0x1000-0x2fff of an earlier entry; it is left out (expected pieces that do not overlap)",
        ),
        (
            "{ address = 0x9000, size = 0 }",
            "0 bytes from 0x9000; it is left out (expected at least one byte, and an end at 2^64 or before)",
        ),
        (
            "{ address = 0x9000 }",
            "size: is missing; the entry is left out (expected a non-negative integer below 2^64 or a string \"0x...\")",
        ),
    ] {
        let dot = if problem.starts_with("size") { "." } else { ": " };
        let problem = format!("memory_map.ranges[2]{dot}{problem}");
        let capture = opened(&map(&format!("{sound}, {range}")), &[&problem]);
        assert!(!capture.is_global_whole, "{range}");
    }
    let objects = "code_object = [{ address = 0x10000, segments = [{ address = 0, size = 64, code = true }, { address = 0xffffffffffffffff, size = 2 }] }]\n";
    let objects = format!(
        "all_code_objects = true\n{}",
        objects.replace("0xffffffffffffffff", "\"0xffffffffffffffff\"")
    );
    let capture = opened(
        &objects,
        &[
            "code_object[0].segments[1]: 2 bytes from 0xffffffffffffffff; the entry is left out (expected an end below 2^64)",
        ],
    );
    let [segment] = &capture.code_objects[0].segments[..] else { panic!("{:?}", capture.code_objects) };
    assert_eq!((segment.start, segment.end, segment.is_code), (0, 64, true));
    assert!(capture.has_all_code_objects);
    // A wave that is left out is one that no other stands for.
    let waves = "[[wave]]\nid = 7\nworkgroup = 1\nstands_for = 5\n[[wave]]\nid = 8\nworkgroup = 1\n";
    let whole = HEAD.replace("grid = [512]", "all_waves = true, grid = [512]");
    let capture = check_whole(&format!("{whole}{waves}"), &[]);
    let left_out = |id| capture.left_out.of(crate::units::WaveId(id));
    assert_eq!((left_out(0), left_out(1), capture.left_out.whole_dispatches.len()), (5, 0, 1));
    let lacking = format!("{whole}{waves}[[wave]]\nid = 9\nworkgroup = 90\n");
    assert_eq!(open_text(&lacking).unwrap().capture.left_out.whole_dispatches.len(), 0);
}
