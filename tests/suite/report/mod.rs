//! `lanescope report`: the model and its forms. Expected values come from the fixtures' models and from texts of the
//! fixtures' sources.

mod browser;
mod forms;
mod lanes;
mod memory;
mod page;
mod webdriver;

use std::fs;
use std::sync::Arc;

use lanescope::postmortem::{self, Model, Options};
use lanescope::session::{Dump, Inspect, Session};
use lanescope::signature::Rules;
use lanescope::triage::Step;

use crate::clean::hostile_code;
use crate::fixtures::{copy_dump, open};
use crate::support::sample::is_long;
use crate::triage::cases::{Cases, load_where};

/// The report of a dump, with commands of no dump.
fn model(dump: &Arc<Dump>) -> Model {
    model_with(dump, Options::default())
}

/// A session for each kind of waves.
fn sessions(dump: &Arc<Dump>) -> Vec<Session> {
    let kind = |kind: &lanescope::arch::WaveArch| format!("{}:{}", kind.target.name, kind.wave_size);
    dump.kinds().map(|(of, _)| Session::new(Arc::clone(dump), Some(&kind(of))).unwrap()).collect()
}

fn model_with(dump: &Arc<Dump>, options: Options) -> Model {
    let sessions = sessions(dump);
    let sessions: Vec<&dyn Inspect> = sessions.iter().map(|session| session as &dyn Inspect).collect();
    let command = |step: &Step| matches!(step, Step::Groups).then(|| "lanescope groups".to_owned());
    postmortem::model(dump, &sessions, options, &Rules::default(), &command)
}

fn of_demo() -> Model {
    model(&open(&crate::support::root().join("tests/fixtures/demo.zip")))
}

fn html(model: &Model) -> String {
    postmortem::html::html(model).unwrap()
}

/// A deadlock: waves wait at a barrier for one that spins.
fn hang() -> Arc<Dump> {
    let cases = load_where(|name| name.starts_with("hangs-gfx90a-O0."));
    let is_wanted = |case: &&crate::triage::cases::Case| {
        case.groups.iter().any(|group| !group.waiting.is_empty() && !group.missing.is_empty())
    };
    let case = cases.hangs.iter().find(is_wanted).unwrap();
    cases.open(case, crate::triage::cases::Moment { distance: 0, has_report: false, lacks_memory: false })
}

/// The faults of one level of each GPU; all of them in `scripts/test --long`.
fn faults() -> Cases {
    const SOME: [&str; 5] = ["-gfx90a-O0.", "-gfx942-O1.", "-gfx1030-O2.", "-gfx1100-O3.", "-gfx1201-O2."];
    load_where(|name| {
        name.starts_with("faults") && (is_long() || SOME.iter().any(|some| name.contains(some)))
    })
}

/// Markup as names, longest first.
const MARKUP: [&str; 8] = [
    "</script><img src=x onerror=ran=1>",
    "<img src=x onerror=ran=1>",
    "--><img src=x>",
    "]]>\"'<b>",
    "</title>",
    "&lt;<x>",
    "'\"><",
    "<",
];

/// Markup of the length of a name, the same for equal names; equal lengths differ by their ends.
fn markup(name: &[u8]) -> Vec<u8> {
    let stem = name.strip_suffix(b".kd").unwrap_or(name);
    let mut made = Vec::new();
    for unit in MARKUP.iter().cycle().take(64) {
        if made.len() + unit.len() + 4 <= stem.len() {
            made.extend(unit.as_bytes());
        }
    }
    // The rest tells names of one length apart.
    let rest = stem.len() - made.len();
    made.extend(&stem[stem.len() - rest..]);
    made.extend(&name[stem.len()..]);
    made
}

/// A dump whose names, sources, notes and paths are markup, with its folder.
fn hostile() -> (tempfile::TempDir, Arc<Dump>) {
    const NAME: &str = "saxpy-gfx90a-O0";
    const ATTACK: &str = "</script><img src=x onerror=ran=1>";
    let folder = tempfile::tempdir().unwrap();
    let dump = folder.path().join("<img src=x onerror=ran=1>");
    copy_dump(NAME, &dump);
    let code = dump.join(format!("{NAME}.hsaco"));
    fs::write(&code, hostile_code(fs::read(&code).unwrap(), &markup)).unwrap();
    let manifest = dump.join("manifest.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    let lines = text.lines().map(|line| {
        let key = line.split(" = ").next().unwrap_or_default();
        let is_name = ["note", "producer", "name", "kernel", "uri"].contains(&key);
        match line.strip_suffix('"').filter(|_| is_name) {
            Some(line) => format!("{line}{ATTACK}\""),
            None if line == "[[agent]]" => format!("{line}\nname = \"{ATTACK}\"\n\"{ATTACK}\" = 1"),
            None => line.to_owned(),
        }
    });
    let lines = lines.collect::<Vec<_>>().join("\n");
    let fault =
        format!("\n[[fault]]\nkind = \"page\"\naddress = \"0x7f0000201000\"\nclient = \"{ATTACK}\"\n");
    fs::write(&manifest, lines + &fault).unwrap();
    let dump = open(&dump);
    (folder, dump)
}
