//! Options mean the same in every command (docs/commands.md), and statuses without an answer.

use crate::cli::{json, run, text};
use crate::support::{least, sample::sampled};

/// The commands of docs/commands.md with the name of the value of `--wave` and of `--lane`.
pub(crate) fn commands() -> Vec<(&'static str, &'static str, &'static str)> {
    let page = include_str!("../../docs/commands.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` | "));
    let rows = rows.filter(|(name, _)| !name.starts_with('-'));
    let cells = |cells: &'static str| cells.split(" | ").take(2).collect::<Vec<_>>();
    rows.map(|(name, rest)| (name, cells(rest)[0], cells(rest)[1])).collect()
}

/// Every command with a choice of waves or lanes takes each notation and refuses a missing wave or lane.
#[test]
fn every_command_chooses_waves_and_lanes_alike() {
    let dump = concat!(env!("LANESCOPE_ROOT"), "tests/fixtures/dumps/saxpy-gfx90a-O0");
    let scratch = crate::slim::Scratch::new("cli-alike");
    let mut count = 0;
    let mut made = 0;
    for (index, (name, wave, lane)) in commands().into_iter().enumerate() {
        if wave != "IDS" || name == "serve" {
            continue;
        }
        let mut of = |more: &[&str]| {
            made += 1;
            let to = scratch.path(&format!("{name}-{made}"));
            let rest: Vec<&str> = match name {
                "memory" => vec!["--at", "private_lane#0x10"],
                "eval" => vec!["DW_OP_lit4"],
                "print" | "explain" => vec!["first"],
                "slim" | "view" => vec!["--output", to.to_str().unwrap()],
                _ => Vec::new(),
            };
            run(&[&[name, dump], &*rest, more].concat())
        };
        let mut passes = |more: &[&str]| {
            let output = of(more);
            assert!(output.status.success(), "{name} {more:?}: {}", text(&output.stderr));
            count += 1;
        };
        // Some notations of each command, by turns.
        let notations: [&[&str]; 6] = [
            &["--wave", "1-2,4"],
            &["--wave", "all"],
            &["--work-item", "70,0,0"],
            &["--wave", "1-2", "--wave", "4"],
            &["--wave", "faulted"],
            &["--workgroup", "(1,0,0)/1"],
        ];
        for waves in sampled(notations.into_iter().cycle().skip(index).take(6), 3) {
            passes(waves);
        }
        if lane == "LANES" {
            let notations = ["3", "0x3", "0,8-15", "active", "all"];
            for lanes in sampled(notations.into_iter().cycle().skip(index).take(5), 3) {
                passes(&["--lane", lanes]);
            }
        }
        if lane == "LANE" {
            passes(&["--lane", "3"]);
            let several = of(&["--lane", "3,5"]);
            assert_eq!(several.status.code(), Some(1), "{name}");
            assert!(
                text(&several.stderr).contains("--lane takes one lane here"),
                "{}",
                text(&several.stderr)
            );
        }
        let missing = of(&["--wave", "99"]);
        assert_eq!(missing.status.code(), Some(1), "{name}");
        let words = text(&missing.stderr);
        assert!(
            words.contains("wave with the id 99") || words.contains("no waves of these ids"),
            "{name}: {words}"
        );
        if lane != "-" {
            let missing = of(&["--wave", "1", "--lane", "64"]);
            assert_eq!(missing.status.code(), Some(1), "{name}");
            assert!(text(&missing.stderr).contains("no lane 64 in a 64-lane wave"), "{name}");
        }
    }
    assert!(count > least(60, 50), "{count}");
}

/// By the manifest, waves 1, 5 and 9 of three kinds faulted.
#[test]
fn words_choose_waves_by_their_stops() {
    let mixed = concat!(env!("LANESCOPE_ROOT"), "tests/fixtures/dumps/mixed-kinds");
    let ids = |more: &[&str]| -> Vec<u64> {
        let list = json(&[&["waves", mixed, "--json"], more].concat());
        list["waves"].as_array().unwrap().iter().map(|wave| wave["id"].as_u64().unwrap()).collect()
    };
    assert_eq!(ids(&["--wave", "all"]), (1..=11).collect::<Vec<u64>>());
    assert_eq!(ids(&["--wave", "faulted"]), [1, 5, 9]);
    assert_eq!(ids(&["--wave", "2,faulted"]), [1, 2, 5, 9]);
    assert_eq!(ids(&["--wave", "all", "--kind", "wave32"]), [5, 6, 7, 8]);
    assert_eq!(ids(&["--wave", "faulted", "--kind", "gfx1100"]), [5, 9]);
    // A server has one kind, that of the first fault.
    for choice in ["all", "faulted"] {
        let served = run(&["serve", mixed, "--stdio", "--wave", choice]);
        assert!(served.status.success(), "{choice}: {}", text(&served.stderr));
    }
    // One wave, without a fault and with an unknown stop.
    let folder = tempfile::tempdir().unwrap();
    let manifest = "format = 1\n[[agent]]\nid = 1\ntarget = \"gfx90a\"\n[[wave]]\nid = 3\nagent = 1\n";
    let [running, unknown] = [("running.toml", "stop = []\n"), ("unknown.toml", "")].map(|(name, stop)| {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("{manifest}{stop}")).unwrap();
        path.display().to_string()
    });
    let reason = "has no wave that is known to have faulted; the stop reason of 1 wave was not captured";
    for (dump, reason) in [(&running, "running.toml has no wave that faulted"), (&unknown, reason)] {
        for command in [&["locals"][..], &["waves"], &["triage"], &["export"], &["serve", "--stdio"]] {
            let refused = run(&[command, &[dump, "--wave", "faulted"]].concat());
            assert_eq!(refused.status.code(), Some(1), "{command:?}");
            assert!(text(&refused.stderr).contains(reason), "{command:?}: {}", text(&refused.stderr));
        }
        assert_eq!(json(&["waves", dump, "--json", "--wave", "all"])["waves"][0]["id"], 3);
    }
    let neither = run(&["diff", &running, &unknown, "--wave", "faulted"]);
    let words = crate::fixtures::one_line(&text(&neither.stderr));
    assert_eq!(neither.status.code(), Some(2), "{words}");
    assert!(words.contains("1 of their 2 waves have no captured stop reason"), "{words}");
}

/// Of the five waves of three functions the first two have `y`, the model's variable of `leaf` (models/calls.py).
#[test]
fn a_value_of_one_wave_of_several_is_an_answer() {
    let dump = concat!(env!("LANESCOPE_ROOT"), "tests/fixtures/dumps/calls-gfx90a");
    for (command, waves, name, status) in [
        ("print", "all", "y", 0),
        ("print", "faulted", "y", 0),
        ("print", "3-4", "y", 1),
        ("print", "all", "nothing", 1),
        ("explain", "all", "y", 0),
        ("explain", "3-5", "y", 1),
    ] {
        for form in [&[][..], &["--json"]] {
            let output = run(&[&[command, dump, name, "--wave", waves, "--lane", "0"], form].concat());
            assert_eq!(output.status.code(), Some(status), "{command} {name} {waves} {form:?}");
        }
    }
}

/// Work-item 70 is in wave 2: the small dump and the view have that wave, and the list its dispatch.
#[test]
fn a_work_item_chooses_the_wave_of_a_small_dump() {
    let dump = concat!(env!("LANESCOPE_ROOT"), "tests/fixtures/dumps/saxpy-gfx90a-O0");
    let scratch = crate::slim::Scratch::new("cli-place");
    let small = scratch.path("small.zip");
    let small = small.to_str().unwrap();
    assert!(run(&["slim", dump, "--work-item", "70,0,0", "-o", small]).status.success());
    let waves = json(&["waves", small, "--json"]);
    assert_eq!(waves["waves"].as_array().unwrap().len(), 1);
    assert_eq!(waves["waves"][0]["id"], 2);
    for more in ["--all-waves", "--whole"] {
        let other = scratch.path("other.zip");
        let refused = run(&["slim", dump, "--work-item", "70,0,0", more, "-o", other.to_str().unwrap()]);
        assert_eq!(refused.status.code(), Some(2), "{more}");
    }
}

/// Dispatches 1 and 2 have waves 1 and 2: the list has those of the chosen waves, and counts these waves.
#[test]
fn dispatches_are_those_of_the_chosen_waves() {
    let scratch = crate::slim::Scratch::new("cli-dispatches");
    let file = scratch.path("two.toml");
    let mut manifest =
        "format = 1\n[[agent]]\nid = 1\ntarget = \"gfx90a\"\n[[queue]]\nid = 1\nagent = 1\n".to_owned();
    for id in 1..=3 {
        manifest += &format!("[[dispatch]]\nid = {id}\nqueue = 1\n");
    }
    for id in 1..=2 {
        manifest +=
            &format!("[[workgroup]]\nid = {id}\ndispatch = {id}\n[[wave]]\nid = {id}\nworkgroup = {id}\n");
    }
    std::fs::write(&file, manifest).unwrap();
    let file = file.to_str().unwrap();
    let ids = |more: &[&str]| -> Vec<u64> {
        let list = json(&[&["dispatches", file, "--json"], more].concat());
        list["dispatches"].as_array().unwrap().iter().map(|one| one["id"].as_u64().unwrap()).collect()
    };
    assert_eq!(ids(&[]), [1, 2, 3]);
    assert_eq!(ids(&["--wave", "1-2"]), [1, 2]);
    assert_eq!(ids(&["--wave", "2"]), [2]);
}

/// `--lane` chooses the lanes of vectors; scalars stay whole.
#[test]
fn registers_are_printed_for_the_chosen_lanes() {
    let dump = concat!(env!("LANESCOPE_ROOT"), "tests/fixtures/dumps/saxpy-gfx90a-O0");
    let whole = json(&["registers", dump, "--json", "-r", "v0,pc"]);
    let digits = whole["registers"]["v0"].as_str().unwrap();
    let lane = |lane: usize| &digits[lane * 8..lane * 8 + 8];
    let chosen = json(&["registers", dump, "--json", "-r", "v0,pc", "--lane", "3,8-9"]);
    assert_eq!(chosen["registers"]["v0"], serde_json::json!([lane(3), lane(8), lane(9)]));
    assert_eq!(chosen["registers"]["pc"], whole["registers"]["pc"]);
    assert_eq!(chosen["lanes"], serde_json::json!([3, 8, 9]));
    // A dword is printed with its highest digits first.
    let shown = |number: usize| {
        let bytes: Vec<&str> = (0..4).rev().map(|at| &lane(number)[at * 2..at * 2 + 2]).collect();
        bytes.concat()
    };
    let lines = text(&run(&["registers", dump, "-r", "v0", "--lane", "3,8-9", "--full"]).stdout);
    assert_eq!(lines, format!("v0  [ 3] {}\n    [ 8] {} {}\n", shown(3), shown(8), shown(9)));
    let all = text(&run(&["registers", dump, "-r", "v0", "--lane", "all"]).stdout);
    assert_eq!(all, text(&run(&["registers", dump, "-r", "v0"]).stdout));
}

/// A blank stands behind the longest names, and eight lanes beside them still fit 80 columns.
#[test]
fn names_of_registers_do_not_touch_their_values() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.toml");
    let dwords =
        |text: &dyn Fn(u32) -> u32| (0..32).map(|lane| text(lane).to_string()).collect::<Vec<_>>().join(", ");
    let manifest = format!(
        "format = 1\n[[agent]]\nid = 1\ntarget = \"gfx1200\"\n[[wave]]\nid = 1\nagent = 1\nwave_size = 32\n[wave.registers]\n\
         excp_flag_priv = 0x10\nv100 = [{}]\nv101 = [{}]\n",
        dwords(&|_| 7),
        dwords(&|lane| lane * lane)
    );
    std::fs::write(&path, manifest).unwrap();
    let lines = |words: &[&str]| {
        let output = run(&[&["registers", path.to_str().unwrap()], words].concat());
        assert!(output.status.success(), "{}", text(&output.stderr));
        text(&output.stdout).lines().map(str::to_owned).collect::<Vec<String>>()
    };
    let scalars = lines(&["-r", "excp_flag_priv,excp_flag_user,mode"]);
    assert!(scalars[0].starts_with("excp_flag_priv 0x00000010  ["), "{scalars:?}");
    assert_eq!(scalars[1..], ["excp_flag_user not captured", "mode          not captured"]);
    assert_eq!(lines(&["-r", "v100"]), ["v100 [0-31] 00000007"]);
    let dword = " 00000007".repeat(8);
    let rows = |words: &[&str]| lines(words).into_iter().take(2).collect::<Vec<_>>();
    assert_eq!(rows(&["-r", "v100", "--full"]), ["v100".to_owned(), format!("    [ 0]{dword}")]);
    assert_eq!(
        rows(&["-r", "v100", "--full", "--lane", "3,5"]),
        ["v100 [ 3] 00000007", "     [ 5] 00000007"]
    );
    assert_eq!(
        rows(&["-r", "v101"])[1],
        "    [ 0] 00000000 00000001 00000004 00000009 00000010 00000019 00000024 00000031"
    );
}

/// No value is status 1 in text and JSON; an error of one of several waves has its place as data.
#[test]
fn no_value_is_a_status_of_its_own() {
    let dump = concat!(env!("LANESCOPE_ROOT"), "tests/fixtures/dumps/saxpy-gfx90a-O0");
    let of = |words: &[&str]| run(&[words, &["--wave", "1"]].concat());
    for form in [&[][..], &["--json"]] {
        let none: [&[&str]; 4] = [
            &["memory", dump, "--at", "0x10"],
            &["explain", dump, "1+1"],
            &["explain", dump, "no_such_name"],
            &["disassemble", dump, "-a", "0x10"],
        ];
        for words in none {
            let output = of(&[words, form].concat());
            assert_eq!(output.status.code(), Some(1), "{words:?} {form:?}: {}", text(&output.stdout));
        }
    }
    let output = run(&["eval", dump, "DW_OP_nothing", "--wave", "1-2", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    let answers: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for (answer, thread) in answers["answers"].as_array().unwrap().iter().zip(1..) {
        let error = answer["error"].as_str().unwrap();
        assert!(error.starts_with("the expression at 1:1: ") && !error.contains(['^', '\n']), "{error}");
        assert_eq!((&answer["line"], &answer["column"]), (&1.into(), &1.into()));
        assert_eq!((&answer["thread"], &answer["wave"]), (&thread.into(), &thread.into()));
    }
    let output = run(&["print", dump, "first.5", "--wave", "1-2", "--json"]);
    let answers: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answers["answers"][1]["column"], 7, "{answers}");
}

/// 400 waves claim one range of 64 KiB: the bound leaves the vectors of the last ones out, and no other register.
#[test]
fn a_bound_leaves_vector_registers_out_alone() {
    let scratch = crate::slim::Scratch::new("cli-vectors");
    let folder = scratch.path("dump");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("v"), vec![7; 64 << 10]).unwrap();
    let mut manifest = "format = 1\n[[agent]]\nid = 1\ntarget = \"gfx90a\"\n".to_owned();
    for id in 1..=400 {
        let pc = if id % 2 == 0 { "registers = { pc = 4096 }\n" } else { "" };
        manifest += &format!(
            "[[wave]]\nid = {id}\nagent = 1\n{pc}[[wave.bulk]]\nregisters = \"v0-v255\"\nfile = \"v\"\n"
        );
    }
    std::fs::write(folder.join("manifest.toml"), manifest).unwrap();
    let export = json(&["export", folder.to_str().unwrap()]);
    let waves = export["waves"].as_array().unwrap();
    let left_out: Vec<_> = waves.iter().filter(|wave| !wave["vectors_left_out"].is_null()).collect();
    assert!(!left_out.is_empty() && left_out.len() < waves.len(), "{}", left_out.len());
    for wave in left_out {
        assert_eq!(wave["vectors_left_out"], 64 << 10);
        let registers = wave["registers"].as_object().unwrap_or_else(|| panic!("{wave}"));
        let captured: &[&str] = if wave["id"].as_u64().unwrap() % 2 == 0 { &["pc"] } else { &[] };
        assert_eq!(registers.keys().collect::<Vec<_>>(), captured, "wave {}", wave["id"]);
    }
}

/// Lines of a command over the demo, whose EXEC is 0x1ffffff in wave 1. saxpy.hip: `i` is 1000 plus the lane, `v3` four
/// times that, `half` a half of the lane.
#[test]
fn lanes_with_one_rule_share_a_line() {
    let demo = concat!(env!("LANESCOPE_ROOT"), "tests/fixtures/demo.zip");
    let lines = |words: &[&str]| {
        let output = run(&[words, &["--wave", "1"]].concat());
        text(&output.stdout).lines().map(str::to_owned).collect::<Vec<String>>()
    };
    let i = ["print", demo, "i", "--lane", "all"];
    let rules = ["int i:", "  lanes 0-24: 1000..1024 (+1)", "  lanes 25-63 (inactive): 1025..1063 (+1)"];
    assert_eq!(lines(&i), rules);
    let half = lines(&["print", demo, "half", "--lane", "all"]);
    assert_eq!(
        half,
        ["double half:", "  lanes 0-24: 0..12 (+0.5)", "  lanes 25-63 (inactive): 12.5..31.5 (+0.5)"]
    );
    // n is 1024 in each lane.
    let n = lines(&["print", demo, "n", "--lane", "all"]);
    assert_eq!(n, ["int n:", "  lanes 0-63: 1024  (lanes 25-63: inactive)"]);
    let some = lines(&["print", demo, "n", "--lane", "20,23-26"]);
    assert_eq!(some[1..], ["  lanes 20, 23-26: 1024  (lanes 25-26: inactive)"]);
    let inactive = lines(&["print", demo, "n", "--lane", "40-50"]);
    assert_eq!(inactive[1..], ["  lanes 40-50 (inactive): 1024"]);
    let full = lines(&[&i[..], &["--full"]].concat());
    assert_eq!(full.len(), 65);
    assert_eq!(full[18], "  lane 17: 1017  [private_lane[17]+0xa8 (clang xderef)]");
    // Binary digits are no decimal ones.
    assert_eq!(lines(&[&i[..], &["--format", "t"]].concat()).len(), 65);
    let v3 = lines(&["registers", demo, "-r", "v3", "--lane", "active"]);
    assert_eq!(v3, ["v3  [0-24] 00000fa0..00001000 (+4)"]);
    assert_eq!(lines(&["registers", demo, "-r", "v3", "--full"]).len(), 8);
    let rows = lines(&["lanes", demo]);
    assert_eq!(rows.len(), 4, "{rows:?}");
    let words = |row: &str| row.split_whitespace().take(5).collect::<Vec<_>>().join(" ");
    assert_eq!(words(&rows[1]), "* 0-24 active (0..24,0,0) (0..24,0,0)");
    assert_eq!(words(&rows[2]), "25-63 inactive (25..63,0,0) (25..63,0,0) ?");
    assert_eq!(rows[3], "* lane 0 is in focus");
    assert_eq!(lines(&["lanes", demo, "--full"]).len(), 65);
}

/// Neighbours at the same PC with the same number of lanes share a row.
#[test]
fn waves_at_one_place_share_a_row() {
    let folder = tempfile::tempdir().unwrap();
    let mut manifest = "format = 1\n[[agent]]\nid = 1\ntarget = \"gfx90a\"\n".to_owned();
    for (id, pc, exec) in [(3, 0x1000, 1), (4, 0x1000, 2), (7, 0x1000, 4), (8, 0x1004, 4), (9, 0x1000, 3)] {
        manifest += &format!("[[wave]]\nid = {id}\nagent = 1\n[wave.registers]\npc = {pc}\nexec = {exec}\n");
    }
    let path = folder.path().join("lanescope.toml");
    std::fs::write(&path, manifest).unwrap();
    let rows = |more: &[&str]| -> Vec<String> {
        let output = run(&[&["waves", path.to_str().unwrap()], more].concat());
        let table = text(&output.stdout);
        let rows = table.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit()));
        rows.map(|line| line.split("  ").next().unwrap().to_owned()).collect()
    };
    assert_eq!(rows(&[]), ["3-4, 7", "8", "9"]);
    assert_eq!(rows(&["--full"]), ["3", "4", "7", "8", "9"]);
}

/// A file in place of a folder would be searched in vain: any command rejects it, as an unreadable folder.
#[test]
fn files_in_place_of_folders_are_rejected() {
    let dump = concat!(env!("LANESCOPE_ROOT"), "tests/fixtures/dumps/saxpy-gfx90a-O0");
    let file = concat!(env!("LANESCOPE_ROOT"), "tests/fixtures/code/masks-gfx90a.hsaco");
    for (command, option) in [("info", "--symbols"), ("waves", "--symbols"), ("triage", "--debug-dir")] {
        let output = run(&[command, dump, option, file]);
        let printed = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{command} {option}: {printed}");
        let expected = format!("lanescope: {option} {file}: not a folder (--code-object takes a file)");
        assert_eq!(crate::fixtures::one_line(&printed), expected, "{command}");
    }
}
