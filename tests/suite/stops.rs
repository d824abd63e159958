//! Stop reasons over all commands: each takes the same waves for faulted.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::cli::{json, run, text};
use crate::fixtures::{fixtures, one_line};
use crate::slim::{Scratch, words};

/// The reasons of `amd_dbgapi_wave_stop_reasons_t` (amd-dbgapi.h) and two of a user's target, with a signal in gdb's
/// numbering. The signal decides for a user's reason: 5 is that of a debugger's stop.
const REASONS: [(&str, bool); 20] = [
    ("breakpoint", false),
    ("watchpoint", false),
    ("single_step", false),
    ("fp_input_denormal", true),
    ("fp_divide_by_0", true),
    ("fp_overflow", true),
    ("fp_underflow", true),
    ("fp_inexact", true),
    ("fp_invalid_operation", true),
    ("int_divide_by_0", true),
    ("debug_trap", false),
    ("assert_trap", true),
    ("trap", true),
    ("memory_violation", true),
    ("address_error", true),
    ("illegal_instruction", true),
    ("ecc_error", true),
    ("fatal_halt", true),
    ("wedged", true),
    ("paused", false),
];
const OWN: [(&str, u8); 2] = [("wedged", 6), ("paused", 5)];

/// Writes a target with further reasons, and a dump with a wave for each reason and a running one.
fn write(scratch: &Scratch) -> [String; 2] {
    let (targets, dump) = (scratch.path("targets"), scratch.path("dump"));
    fs::create_dir(&targets).unwrap();
    fs::create_dir(&dump).unwrap();
    let built_in = concat!(env!("LANESCOPE_ROOT"), "targets/gfx90a.toml");
    let mut target = fs::read_to_string(built_in).unwrap();
    for (name, signal) in OWN {
        target += &format!(
            "\n[[stop_reason]]\nname = \"{name}\"\nwords = \"{name}\"\nsignal = {signal}\nsource = \"a test\"\n"
        );
    }
    fs::write(targets.join("gfx90a.toml"), target).unwrap();
    let mut manifest = "format = 1\nagent = [{ id = 1, target = \"gfx90a\" }]\n".to_owned();
    let stops = REASONS.iter().map(|(name, _)| format!("[\"{name}\"]")).chain(["[]".to_owned()]);
    for (id, stop) in (1..).zip(stops) {
        let pc = 0x1000 * id;
        manifest += &format!(
            "[[wave]]\nid = {id}\nagent = 1\nstop = {stop}\n[wave.registers]\npc = \"{pc:#x}\"\nexec = \"0xff\"\n"
        );
    }
    fs::write(dump.join("manifest.toml"), manifest).unwrap();
    [words(&targets).to_owned(), words(&dump).to_owned()]
}

/// Ids of the elements with a property.
fn ids(all: &Value, is_faulted: impl Fn(&Value) -> bool, id: impl Fn(&Value) -> u64) -> Vec<u64> {
    let mut found: Vec<u64> = all.as_array().unwrap().iter().filter(|one| is_faulted(one)).map(id).collect();
    found.sort_unstable();
    found
}

#[test]
fn all_commands_agree_about_the_faulted_waves() {
    let scratch = Scratch::new("stop-reasons");
    let [targets, dump] = write(&scratch);
    let expected: Vec<u64> =
        (1..).zip(REASONS).filter(|(_, (_, is_fault))| *is_fault).map(|(id, _)| id).collect();
    let (count, all) = (expected.len() as u64, REASONS.len() + 1);
    let with = |arguments: &[&str]| json(&[arguments, &["--targets", &targets]].concat());

    assert_eq!(with(&["info", "--json", &dump])["faulted"], count);
    let summary = format!("{count} of {all} waves faulted");
    let info = run(&["info", &dump, "--targets", &targets]);
    assert!(text(&info.stdout).contains(&summary), "{info:?}");

    let triage = with(&["triage", "--hang", "--json", &dump]);
    assert_eq!(triage["waves"]["faulted"], count);
    let id = |one: &Value| one["wave"].as_u64().unwrap();
    assert_eq!(ids(&triage["hang"]["waves"], |one| one["state"] == "faulted", id), expected);

    let groups = with(&["groups", "--by", "pc", "--json", &dump]);
    let first = |one: &Value| one["waves"][0][0].as_u64().unwrap();
    assert_eq!(ids(&groups["kinds"][0]["groups"], |one| one["faulted"] == true, first), expected);

    let report = with(&["report", "--format", "json", &dump]);
    assert_eq!(report["dump"]["faulted"], count);
    let id = |one: &Value| one["id"].as_u64().unwrap();
    assert_eq!(ids(&report["waves"], |one| one["faulted"] == true, id), expected);

    let to = scratch.path("small");
    let slim = with(&["slim", "--json", &dump, "-o", words(&to)]);
    assert_eq!(ids(&slim["waves"], |one| one["why"] == "faulted", id), expected);

    let signatures = with(&["signature", "--json", &dump]);
    let waves = |one: &Value| one["waves"].as_u64().unwrap();
    let found = signatures["answers"][0]["signatures"].as_array().unwrap();
    assert_eq!(found.iter().map(waves).sum::<u64>(), count, "{signatures}");

    let scope = scratch.path("stops.scope");
    fs::write(&scope, format!("dump dump\nwaves {all}, faulted {count}\n")).unwrap();
    let check = run(&["check", words(&scope), "--targets", &targets]);
    assert_eq!(check.status.code(), Some(0), "{check:?}");

    let mut server = crate::support::lanescope()
        .args(["serve", "--port", "0", &dump, "--targets", &targets])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let banner: Vec<String> =
        lines.map_while(Result::ok).take_while(|line| !line.starts_with("Listening")).collect();
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(banner.iter().any(|line| line.contains(&summary)), "{banner:?}");
}

/// umr prints no stop reason of this wave: it may have faulted, and no command denies it.
#[test]
fn a_wave_without_a_stop_reason_may_have_faulted() {
    let dump = words(&fixtures().join("logs/umr-hardware.txt")).to_owned();
    let info = json(&["info", "--json", &dump]);
    assert_eq!((&info["faulted"], &info["unknown_stops"]), (&0.into(), &1.into()));
    let triage = json(&["triage", "--json", &dump]);
    assert_eq!((&triage["cause"], &triage["waves"]["unknown"]), (&Value::Null, &1.into()));
    assert_eq!(json(&["groups", "--json", &dump])["kinds"][0]["groups"][0]["unknown_stops"], 1);
    let report = json(&["report", "--format", "json", &dump]);
    let unknown = [&report["dump"]["unknown_stops"], &report["stacks"][0]["unknown_stops"]];
    assert_eq!((unknown, &report["waves"][0]["unknown_stop"]), ([&Value::from(1); 2], &Value::Bool(true)));

    let unknown = "hether a wave faulted";
    for command in ["info", "triage", "signature"] {
        let printed = one_line(&text(&run(&[command, &dump]).stdout));
        assert!(printed.contains(unknown) && !printed.contains("o wave faulted"), "{command}: {printed}");
        assert!(printed.contains("the stop reason of 1 wave was not captured"), "{command}: {printed}");
    }
    let scratch = Scratch::new("stop-unknown");
    let scope = scratch.path("unknown.scope");
    let lines = ["fault none", "faulted 0", "access load", "signature ls1:000000000000", "wave faulted"];
    fs::write(&scope, format!("dump {dump}\n{}\n", lines.join("\n"))).unwrap();
    let check = run(&["check", words(&scope), "--format", "json"]);
    assert_eq!(check.status.code(), Some(2), "{check:?}");
    let found: Value = serde_json::from_slice(&check.stdout).unwrap();
    for line in found["files"][0]["dumps"][0]["lines"].as_array().unwrap() {
        assert_eq!(line["verdict"]["result"], "not_checked", "{line}");
    }
}
