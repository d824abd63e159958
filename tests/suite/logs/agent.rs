//! The debug agent's reports in every form, for GPUs of every generation.

use serde_json::{Value, json};

use super::model::{GFX90A, GFX942, GFX1030, GFX1100, GFX1100_W64, GFX1200, Gpu, Wave, le};
use super::writer::{self, Form, Module};
use super::{export, export_text, file, problems, run, same_waves};

const FORMS: [Form; 3] = [Form::Plain, Form::Entry, Form::Kernargs];

fn lds(wave: &Wave) -> Value {
    json!(wave.lds.iter().map(|word| le(*word)).collect::<String>())
}

/// Work-groups, dispatches and stops of an export, compared with the model.
fn same_places(waves: &[Wave], form: Form, export: &Value) {
    for (wave, shown) in waves.iter().zip(export["waves"].as_array().unwrap()) {
        assert_eq!(shown["coord"], json!(wave.position), "wave {}", wave.id);
        assert_eq!(shown["wave_in_group"], wave.slot, "wave {}", wave.id);
        let mut reasons: Vec<&str> = wave.reasons.split('|').collect();
        let mut stops: Vec<&str> =
            shown["stop_reasons"].as_array().unwrap().iter().map(|reason| reason.as_str().unwrap()).collect();
        reasons.sort_unstable();
        stops.sort_unstable();
        assert_eq!(stops, reasons, "wave {}", wave.id);
        let group = &export["workgroups"][shown["workgroup"].as_u64().unwrap() as usize];
        assert_eq!(group["local"], lds(wave), "wave {}", wave.id);
        assert_eq!(group["local_bytes"], wave.lds.len() * 4);
    }
    assert_eq!(export["dispatches"].as_array().unwrap().len(), 1);
    assert_eq!(export["workgroups"].as_array().unwrap().len(), waves.len().div_ceil(2));
    let dispatch = &export["dispatches"][0];
    let kernel = "void f<(A)1, B>(int*, (anonymous namespace)::C)";
    let wanted = match form {
        Form::Old | Form::Plain => json!([null, null, null]),
        Form::Entry => json!([kernel, null, null]),
        Form::Kernargs => json!([kernel, waves[0].kernargs, waves[0].lds.len() * 4 - 24]),
    };
    let shown =
        ["kernel", "kernel_argument_segment_address", "group_segment_size"].map(|key| dispatch[key].clone());
    assert_eq!(json!(shown), wanted);
}

#[test]
fn every_form_gives_every_value_of_every_gpu() {
    for gpu in [GFX90A, GFX942, GFX1030, GFX1100, GFX1100_W64, GFX1200] {
        for form in FORMS {
            let waves = Wave::some(gpu, 4);
            let text = writer::agent(&waves, form, None);
            let name = format!("{}-{}-{form:?}", gpu.name, gpu.lanes);
            let export = export_text(&name, text, &["--processor", gpu.name]);
            assert_eq!(problems(&export), Vec::<&str>::new(), "{name}");
            assert_eq!(export["agents"][0]["architecture"], gpu.name);
            same_waves(&waves, &export);
            same_places(&waves, form, &export);
        }
    }
}

#[test]
fn the_form_of_2018_gives_every_value_lane_by_lane() {
    for gpu in [GFX90A, Gpu { agprs: 0, ..GFX90A }] {
        let waves = Wave::some(gpu, 3);
        let text = format!(
            "Memory access fault by GPU agent: AMD gfx90a\nNode: 1\nAddress: 0x1502F3Cxxx (page not present;)\n\n{}",
            writer::agent(&waves, Form::Old, None)
        );
        let export = export_text(&format!("old-{}", gpu.agprs), text, &[]);
        // It prints neither other system registers, nor vcc, nor trap temporaries.
        let printed: Vec<Wave> = waves
            .into_iter()
            .map(|wave| {
                let gone = ["mode", "xnack_mask", "flat_scratch", "vcc"].map(str::to_owned);
                let gone = gone.into_iter().chain((4..=13).map(|at| format!("ttmp{at}")));
                gone.fold(wave, |wave, name| wave.without(&name))
            })
            .collect();
        same_waves(&printed, &export);
        for (wave, shown) in printed.iter().zip(export["waves"].as_array().unwrap()) {
            assert_eq!(shown["stop_reasons"], json!(["MEMORY_VIOLATION"]));
            let group = &export["workgroups"][shown["workgroup"].as_u64().unwrap() as usize];
            // The last listing may continue: nothing after it ends it.
            let local = match group["local_bytes"] {
                Value::Null => json!([{ "address": 0, "bytes": lds(wave) }]),
                _ => lds(wave),
            };
            assert_eq!((&group["local"], &group["coord"]), (&local, &Value::Null));
        }
        let fault = &export["faults"][0];
        let shown = ["address", "reasons", "node", "source"].map(|key| fault[key].clone());
        assert_eq!(json!(shown), json!(["0x1502f3c000", ["not_present"], 1, "runtime"]));
        let said = problems(&export);
        assert!(said[0].contains("line 1: the waves do not name their GPU"), "{said:?}");
        assert!(
            said[0].contains("read as gfx90a's: the runtime's words") && said[0].contains("--processor NAME")
        );
    }
}

/// Without a GPU name: AGPRs imply gfx90a or a relative, masks of 32 bits gfx10 and later, state_priv gfx12.
#[test]
fn the_family_follows_from_registers_and_instructions() {
    let module = Module {
        uri: "memory://1#offset=0x10&size=20".to_owned(),
        start: 0x7f00_0010_0000,
        end: 0x7f00_0010_4000,
    };
    for (gpu, module, family) in [
        (GFX90A, None, "gfx90a"),
        (Gpu { agprs: 0, ..GFX90A }, None, "gfx90a"),
        (GFX1100, None, "gfx1100"),
        (GFX1100_W64, None, "gfx1100"),
        // The writer's instruction is global_store_dword, in gfx11 global_store_b32.
        (GFX1030, Some(&module), "gfx1030"),
        (GFX1200, None, "gfx1200"),
    ] {
        let waves = Wave::some(gpu, 1);
        let export = export_text("family", writer::agent(&waves, Form::Entry, module), &[]);
        assert_eq!(export["agents"][0]["architecture"], family, "{gpu:?}");
        same_waves(&waves, &export);
        let said = problems(&export);
        assert!(said.iter().any(|problem| problem.contains("do not name their GPU")), "{said:?}");
    }
    let named = Module { uri: "file:///opt/lib/Kernels.so-000-gfx942.hsaco".to_owned(), ..module };
    let export = export_text("named", writer::agent(&Wave::some(GFX942, 1), Form::Plain, Some(&named)), &[]);
    assert_eq!(export["agents"][0]["architecture"], "gfx942");
}

#[test]
fn a_processor_that_is_none_is_refused() {
    let path = file("processor", writer::agent(&Wave::some(GFX90A, 1), Form::Plain, None));
    let mut command = crate::support::lanescope();
    let output = command.args(["info", "--processor", "gfx99", path.to_str().unwrap()]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("--processor") && said.contains("gfx99") && said.contains("gfx1100"), "{said}");
}

/// A running wave, one without initialised trap temporaries, one with a reason that no GPU has.
#[test]
fn headers_may_have_fewer_fields() {
    let waves = Wave::some(GFX90A, 4);
    let text = writer::agent(&waves, Form::Entry, None);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut headers = lines.iter_mut().filter(|line| line.starts_with("wave_"));
    let mut replace = |kernel: &str, state: &str| {
        let line = headers.next().unwrap();
        let start = line.split(" (").next().unwrap().to_owned();
        *line = format!("{start} (kernel_code_entry={kernel}) ({state})");
    };
    replace("not available", "running");
    replace("0x10", "running");
    replace("0x10", "stopped, reason: NONE");
    replace("0x10", "stopped, reason: TRAP|RESERVED");
    let export = export_text("headers", lines.join("\n") + "\n", &["--processor", "gfx90a"]);
    let shown = export["waves"].as_array().unwrap();
    let stops: Vec<&Value> = shown.iter().map(|wave| &wave["stop_reasons"]).collect();
    assert_eq!(stops, [&json!([]), &json!([]), &json!([]), &json!(["TRAP"])]);
    // Its trap temporaries have no meaning; its LDS still needs a work-group.
    assert_eq!((&shown[0]["coord"], &shown[0]["wave_in_group"]), (&Value::Null, &Value::Null));
    assert_eq!(shown[1]["coord"], json!(waves[1].position));
    assert_ne!(shown[0]["workgroup"], shown[1]["workgroup"]);
    let said = problems(&export);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("\"RESERVED\" is no stop reason"), "{said:?}");
}

/// Kernel arguments are global memory from the address of the first word, which is inside its row.
#[test]
fn kernel_arguments_are_global_memory() {
    let waves = Wave::some(GFX1100, 4);
    let path = file("kernargs", writer::agent(&waves, Form::Kernargs, None));
    let export = export(&path, &["--processor", "gfx1100"]);
    let words = &waves[0].kernarg_words;
    let memory =
        json!([{ "address": waves[0].kernargs, "size": words.len() * 4, "name": "kernel arguments" }]);
    assert_eq!(export["memory"], memory);
    let at = format!("{:#x}", waves[0].kernargs);
    let read = run(&["memory", "--at", &at, "-n", "44", "--processor", "gfx1100", path.to_str().unwrap()]);
    let shown: String = read
        .lines()
        .flat_map(|line| line.split_once(':').map_or(line, |(_, bytes)| bytes).split_whitespace())
        .filter(|byte| byte.len() == 2)
        .collect();
    assert!(shown.contains(&words.iter().map(|word| le(*word)).collect::<String>()), "{read}");
}

/// A log with fewer blanks (`sed 's/  */ /g'`, a web page): without the header their first row is rejected.
#[test]
fn rows_without_their_blanks_are_right_or_refused() {
    let waves = Wave::some(GFX1100, 2);
    let text = writer::agent(&waves, Form::Kernargs, None);
    let words: Vec<&str> = text.lines().collect();
    let narrow = |line: &str| {
        let words: Vec<&str> = line.split(' ').filter(|word| !word.is_empty()).collect();
        format!("{}{}", if line.starts_with(' ') { " " } else { "" }, words.join(" "))
    };
    let narrow: String = words.iter().map(|line| narrow(line) + "\n").collect();
    let options = ["--processor", "gfx1100"];
    let whole = export_text("blanks", &text, &options);
    let read = export_text("narrow-blanks", &narrow, &options);
    assert_eq!(problems(&read), Vec::<&str>::new());
    same_waves(&waves, &read);
    assert_eq!((&read["memory"], &read["workgroups"]), (&whole["memory"], &whole["workgroups"]));
    let bytes = |name: &str, text: &str| {
        let path = file(name, text);
        let at = format!("{:#x}", waves[0].kernargs);
        run(&["memory", "--at", &at, "-n", "44", options[0], options[1], path.to_str().unwrap()])
    };
    assert_eq!(bytes("blanks-memory", &text), bytes("narrow-memory", &narrow));
    // Without the header the first row may begin anywhere; the second has its address.
    let unsaid = narrow.replace(&format!(", kernargs={:#x}", waves[0].kernargs), "");
    let export = export_text("unsaid-blanks", &unsaid, &options);
    let second = waves[0].kernargs - waves[0].kernargs % 32 + 32;
    assert_eq!(export["memory"], json!([{ "address": second, "size": 24, "name": "kernel arguments" }]));
    let line = unsaid.lines().position(|line| line.contains("kernarg segment")).unwrap() + 2;
    let said = problems(&export);
    assert_eq!(said.len(), 2, "{said:?}");
    assert!(
        said[0].contains(&format!("line {line}: the row is not captured: blanks are missing")),
        "{said:?}"
    );
}

/// AMD's library returns zeros for uninitialised trap temporaries, except for its own marks: a wave's number and its
/// stop. Such waves are in no known work-group.
#[test]
fn trap_temporaries_without_setup_have_no_meaning() {
    let set = |wave: &mut Wave, values: &[(&str, u64)]| {
        let (_, trap) = wave.classes.iter_mut().find(|(class, _)| *class == "trap").unwrap();
        for (name, _, value) in trap {
            *value = values.iter().find(|(set, _)| set == name).map_or(0, |(_, value)| *value);
        }
    };
    let marked = [("ttmp4", 1), ("ttmp6", 1 << 30), ("ttmp11", 0x40)];
    let beside = [("ttmp4", 2), ("ttmp6", 1 << 30), ("ttmp8", 1), ("ttmp11", 0x41)];
    let here = json!([[0, 0, 0], 0]);
    let nowhere = json!([null, null]);
    type Case<'c> = (&'c str, Gpu, Form, &'c [&'c [(&'c str, u64)]], &'c Value);
    let cases: [Case<'_>; 8] = [
        ("zero", GFX90A, Form::Plain, &[&[]], &nowhere),
        ("marked", GFX90A, Form::Plain, &[&marked], &nowhere),
        ("zero-gfx942", GFX942, Form::Plain, &[&[]], &nowhere),
        // Another wave's in the same packet are the runtime's setup.
        ("vouched", GFX90A, Form::Plain, &[&marked, &beside], &here),
        ("zero-vouched", GFX90A, Form::Plain, &[&[], &beside], &nowhere),
        // The agent derived the kernel's entry from them.
        ("entry", GFX90A, Form::Entry, &[&marked], &here),
        // gfx12's hardware initialises them.
        ("gfx12", GFX1200, Form::Plain, &[&[("ttmp4", 1), ("ttmp8", 1 << 31)]], &here),
        ("zero-gfx12", GFX1200, Form::Plain, &[&[]], &nowhere),
    ];
    for (name, gpu, form, each, wanted) in cases {
        let mut waves = Wave::some(Gpu { sgprs: 2, vgprs: 1, agprs: 0, ..gpu }, each.len() as u64);
        waves.iter_mut().zip(each).for_each(|(wave, values)| set(wave, values));
        let export = export_text(name, writer::agent(&waves, form, None), &["--processor", gpu.name]);
        let shown = &export["waves"][0];
        assert_eq!(json!([shown["coord"], shown["wave_in_group"]]), *wanted, "{name}");
        // The trap temporaries are printed unchanged, and LDS belongs to a work-group.
        same_waves(&waves, &export);
        let group = &export["workgroups"][shown["workgroup"].as_u64().unwrap() as usize];
        assert!(group["local"].to_string().contains(lds(&waves[0]).as_str().unwrap()), "{name}");
        let said = problems(&export);
        assert_eq!(said.len(), usize::from(*wanted == nowhere), "{name}: {said:?}");
        let wanted = ["line 2: the work-group of the wave is unknown", "HSA_ENABLE_DEBUG=1"];
        assert!(
            said.iter().all(|said| wanted.iter().all(|wanted| said.contains(wanted))),
            "{name}: {said:?}"
        );
    }
}

/// Each wave prints its work-group's LDS; if a later copy was cut off, the whole one counts.
#[test]
fn lds_that_was_cut_off_counts_as_far_as_it_goes() {
    let waves = Wave::some(GFX90A, 2);
    let text = writer::agent(&waves, Form::Plain, None);
    let whole = text.rfind("    0x01c0:").unwrap();
    let cut = export_text("cut-second", &text[..whole], &["--processor", "gfx90a"]);
    assert_eq!(cut["workgroups"][0]["local"], lds(&waves[0]));
    // For a single wave: the size is unknown, and the existing part is read.
    let one = writer::agent(&waves[..1], Form::Plain, None);
    let at = one.rfind("    0x01c0:").unwrap();
    let cut = export_text("cut-first", &one[..at], &["--processor", "gfx90a"]);
    let group = &cut["workgroups"][0];
    assert_eq!(group["local_bytes"], Value::Null);
    let bytes: String = waves[0].lds[..0x70].iter().map(|word| le(*word)).collect();
    // A string would claim to be the whole LDS.
    assert_eq!(group["local"], json!([{ "address": 0, "bytes": bytes }]));
}
