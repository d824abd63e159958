//! Logs and umr's output as posted: quoted, cut, in other logs, several GPUs in one file; messages for unreadable
//! files.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::model::GFX90A;
use super::umr::{
    Gpu, NAVI21, NAVI31, NAVI48, VEGA, Wave, columns, hardware, json_answer, same, small, vm_fault, waves,
};
use super::writer::{self, Form};
use super::{export, export_text, file, folder, model, problems, run, same_waves};
use crate::fixtures::one_line;

/// The output of `info` for a file that does not open.
fn refused(path: &Path) -> String {
    let mut command = crate::support::lanescope();
    refusal(command.arg("info").arg(path))
}

fn refusal(command: &mut Command) -> String {
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8(output.stderr).unwrap()
}

fn all(gpus: &[Gpu]) -> Vec<Wave> {
    gpus.iter().flat_map(|gpu| waves(*gpu)).collect()
}

/// Each wave has the GPU in the text around it, or the GPU with its registers.
#[test]
fn waves_of_several_gpus_are_each_of_their_own() {
    let text = [NAVI48, NAVI21].map(|gpu| hardware(&waves(gpu), false)).concat();
    let export = export_text("two-gpus", &text, &[]);
    assert_eq!(problems(&export), Vec::<&str>::new());
    same(&all(&[NAVI48, NAVI21]), &export, &|_| false);
    // A wave without a shader names no GPU: it has the GPU of its neighbours.
    let line = text.lines().find(|line| line.contains("gfx1201.reg")).unwrap();
    for (name, changed) in [
        ("unnamed-first", text.replacen(line, "", 1)),
        ("unnamed-second", text.replace(line, "?").replacen('?', line, 1)),
    ] {
        let export = export_text(name, changed, &[]);
        assert_eq!(problems(&export), Vec::<&str>::new(), "{name}");
        same(&all(&[NAVI48, NAVI21]), &export, &|_| false);
    }
    // Without any name: by registers, each wave separately.
    let text = [small(&waves(VEGA)), small(&waves(NAVI21))].concat();
    let export = export_text("two-unnamed", text, &[]);
    let said = problems(&export);
    assert!(
        said.len() == 2 && said.iter().all(|what| what.contains("the GPU of the waves is unknown")),
        "{said:?}"
    );
    same(&all(&[VEGA, NAVI21]), &export, &|_| false);
    let wrong = export_text("wrong-processor", hardware(&waves(NAVI48), false), &["--processor", "gfx1100"]);
    let said = problems(&wrong);
    assert!(
        said[0].contains("--processor gfx1100 contradicts this wave, whose registers are named as gfx1201's"),
        "{said:?}"
    );
    assert!(
        said[1].contains("--processor gfx1100 contradicts this wave, which has words as gfx1200 has"),
        "{said:?}"
    );
    // The generation is ambiguous by its registers.
    let near = export_text("near-processor", hardware(&waves(NAVI48), false), &["--processor", "gfx1200"]);
    let said = problems(&near);
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains(
        "contradicts this wave, whose registers are named as gfx1201's; the waves are read as gfx1200's"
    ));
    assert_eq!(near["agents"][0]["architecture"], "gfx1200");
    let right = export_text("right-processor", hardware(&waves(NAVI48), false), &["--processor", "gfx1201"]);
    assert_eq!(problems(&right), Vec::<&str>::new());
}

/// Wherever the first wave is cut off, the second is read.
#[test]
fn what_is_cut_at_its_front_opens() {
    let waves = waves(NAVI31);
    let text = hardware(&waves, false);
    let second = text.find(&waves[1].slot).unwrap();
    for at in (0..second).step_by(second / 17) {
        let export = export_text("cut-front", &text[at..], &[]);
        let shown = export["waves"].as_array().unwrap();
        same(&waves[1..], &json!({ "waves": [shown[shown.len() - 1]] }), &|_| false);
    }
}

/// A line's prefix is not part of it: its numbers differ from line to line.
#[test]
fn umr_is_read_wherever_it_stands_in_other_output() {
    type Before = fn(usize) -> String;
    let before: [Before; 7] = [
        |_| "> ".to_owned(),
        |_| ">".to_owned(),
        |_| "umr-1  | ".to_owned(),
        |at| format!("[{:>12}.{:06}] ", at / 7, at * 7919 % 1_000_000),
        |at| format!("Nov {:>2} 09:{:02}:{:02} host umr[77]: ", 9 + at / 3600, at / 60 % 60, at % 60),
        |at| format!("2026-11-20T09:59:59.{}Z stderr F ", at * 31),
        |at| format!("{at}: "),
    ];
    for (which, before) in before.into_iter().enumerate() {
        for (gpu, text) in [
            (VEGA, small(&waves(VEGA))),
            (NAVI21, hardware(&waves(NAVI21), true)),
            (VEGA, columns(&waves(VEGA))),
        ] {
            let other = "[info] a program's line\n".repeat(which * 40);
            let lines = text.lines().enumerate().map(|(at, line)| format!("{}{line}\n", before(at)));
            let text = other + &lines.collect::<String>();
            let is_columns = text.contains("SIMD WAVE#");
            let export = export_text("before-lines", &text, &[]);
            assert!(
                problems(&export).iter().all(|what| what.contains("the GPU of the waves is unknown")),
                "{which} {:?}",
                problems(&export)
            );
            same(&waves(gpu), &export, &|name| is_columns && name.starts_with('v') && name != "vcc");
        }
    }
}

/// A program's own JSON before a log, Docker's around it, invalid bytes.
#[test]
fn an_agents_log_opens_behind_whatever_comes_first() {
    let waves = model::Wave::some(model::Gpu { sgprs: 8, vgprs: 2, agprs: 1, ..GFX90A }, 2);
    let log = writer::agent(&waves, Form::Kernargs, None);
    let docker: String = log
        .lines()
        .map(|line| {
            json!({ "log": format!("{line}\n") }).to_string().replace('}', ",\"stream\":\"stderr\"}\n")
        })
        .collect();
    let coloured = log.replace("wave_", "\x1b[1mwave_");
    let of_container = |text: &str| -> String {
        text.lines().map(|line| json!({ "log": format!("{line}\r\n") }).to_string() + "\n").collect()
    };
    for (name, text) in [
        ("json-line", format!("{{\"lr\": 0.1}}\n{log}")),
        ("json-lines", format!("{}{log}", "{\"step\": 1, \"loss\": [1, 2]}\n".repeat(1000))),
        ("waves-of-its-own", format!("{{\"waves\": [1, 2], \"amplitude\": 3}}\n{log}")),
        ("dict", format!("{{'lr': 0.1}}\n{log}")),
        ("nul", format!("progress \0\0\n{log}")),
        (
            "docker-blanks",
            docker.replace("\"log\":", " \"log\" : ").replace(",\"stream\":", ", \"stream\": "),
        ),
        ("docker", docker),
        ("docker-colours", of_container(&coloured)),
        ("umr-idle", format!("No active waves!\n{log}")),
    ] {
        let export = export_text(name, text, &["--processor", "gfx90a"]);
        assert_eq!(problems(&export), Vec::<&str>::new(), "{name}");
        same_waves(&waves, &export);
    }
}

/// `>` of Windows PowerShell writes UTF-16 with a byte order mark and carriage returns.
#[test]
fn texts_in_utf16_are_read() {
    let agent = model::Wave::some(model::Gpu { sgprs: 8, vgprs: 2, agprs: 1, ..GFX90A }, 2);
    let navi = waves(NAVI31);
    let options = ["--processor", "gfx1100"];
    for order in [u16::to_le_bytes, u16::to_be_bytes] {
        let wide = |text: &str| -> Vec<u8> {
            let text = format!("\u{feff}Größe \u{1f600}\r\n{}", text.replace('\n', "\r\n"));
            text.encode_utf16().flat_map(order).collect()
        };
        let log = wide(&writer::agent(&agent, Form::Kernargs, None));
        let export = export_text("utf16-log", &log, &["--processor", "gfx90a"]);
        assert_eq!(problems(&export), Vec::<&str>::new());
        same_waves(&agent, &export);
        // Cut inside a code unit.
        let cut = export_text("utf16-cut", &log[..(log.len() * 3 / 4) | 1], &["--processor", "gfx90a"]);
        same_waves(&agent[..1], &json!({ "waves": [cut["waves"][0]] }));
        for (name, text) in
            [("utf16-umr", hardware(&navi, false)), ("utf16-json", json_answer(&navi, false).to_string())]
        {
            let export = export_text(name, wide(&text), &options);
            assert_eq!(problems(&export), Vec::<&str>::new(), "{name}");
            same(&navi, &export, &|_| false);
        }
        let none = one_line(&refused(&file("utf16-none", wide("hello\n"))));
        assert!(none.contains("text of no known format"), "{none}");
    }
}

/// Wherever an answer begins and breaks off, its whole waves are read.
#[test]
fn a_posted_answer_is_read_as_far_as_it_goes() {
    let waves = waves(NAVI31);
    let answer = json_answer(&waves, false);
    let options = ["--processor", "gfx1100"];
    let text = answer.to_string();
    let shaders = format!("{{\"shaders\": {{\"1000\": \"{}\"}}, {}", "x".repeat(9000), &text[1..]);
    for (name, text) in [
        ("answer-bom", format!("\u{feff}{text}")),
        ("answer-fence", format!("```json\n{answer:#}\n```\n")),
        (
            "answer-curl",
            format!("$ curl -s http://localhost:1234 -d '{{\"command\":\"waves\"}}'\n{text}\n$ "),
        ),
        ("answer-shaders", shaders),
    ] {
        let export = export_text(name, text, &options);
        assert_eq!(problems(&export), Vec::<&str>::new(), "{name}");
        same(&waves, &export, &|_| false);
    }
    let end = text.rfind("{\"se\"").unwrap() + 300;
    let export = export_text("answer-cut", &text[..end], &options);
    assert!(
        problems(&export)[0].contains("offset 0x") && problems(&export)[0].contains("waves[1]"),
        "{export}"
    );
    same(&waves[..1], &export, &|_| false);
}

/// RADV's files are used wherever umr's text in the same folder is opened, and umr's failures are reported.
#[test]
fn files_of_radv_without_waves_are_reported() {
    let radv = folder("radv_dumps_1_none");
    fs::write(radv.join("gpu_info.log"), "Device info:\n    name = NAVI31\n").unwrap();
    let said = refused(&radv);
    assert!(said.contains("a hang folder of RADV (gpu_info.log is in it) without umr_waves.log"), "{said}");
    fs::write(radv.join("umr_waves.log"), "\nUMR GFX waves:\n\nsh: 1: umr: not found\n").unwrap();
    let info = run(&["info", radv.to_str().unwrap()]);
    assert!(info.contains("no waves: umr printed none, and instead: sh: 1: umr: not found"), "{info}");
    assert!(!info.contains("the dump lists none"), "{info}");
    let text = hardware(&waves(NAVI31), false).replace("gfx1100.reg", "gfx.reg");
    fs::write(radv.join("vm_fault.log"), "VM fault report.\n\nFailing VM page: 0x800000200000\n").unwrap();
    fs::write(radv.join("gpu_info.log"), "Device info:\n    name = PHOENIX\n").unwrap();
    fs::write(radv.join("umr_waves.log"), format!("\nUMR GFX waves:\n\n{text}")).unwrap();
    for path in [radv.join("umr_waves.log"), radv.clone()] {
        let export = export(&path, &[]);
        assert_eq!(problems(&export), Vec::<&str>::new());
        assert_eq!(export["agents"][0]["architecture"], "gfx1103");
        assert_eq!(export["faults"], vm_fault());
    }
    let said = export(&radv, &["--processor", "gfx1100"]);
    assert!(
        problems(&said)[0].contains("contradicts the file beside the text that names the GPU, gfx1103"),
        "{said}"
    );
    // Only the beginning of such a file is read.
    fs::write(radv.join("gpu_info.log"), "x\n".repeat(1 << 19) + "    name = PHOENIX\n").unwrap();
    assert_eq!(export(&radv, &[])["agents"][0]["architecture"], "gfx1100");
    fs::write(radv.join("gpu_info.log"), "x\n".repeat((1 << 19) - 20) + "    name = PHOENIX\n").unwrap();
    assert_eq!(export(&radv, &[])["agents"][0]["architecture"], "gfx1103");
    // Another umr text beside such a file is not RADV's.
    fs::write(radv.join("other.txt"), text).unwrap();
    assert_eq!(export(&radv.join("other.txt"), &[])["agents"][0]["architecture"], "gfx1100");
}

/// Zips as `zip -r` makes them, deflated and stored, with the folder's name and without.
#[test]
fn a_zipped_hang_folder_opens_as_it_is() {
    let parent = folder("radv-zips");
    let radv = parent.join("radv_dumps_7_2026");
    fs::create_dir(&radv).unwrap();
    fs::write(radv.join("umr_waves.log"), format!("\nUMR GFX waves:\n\n{}", hardware(&waves(NAVI31), false)))
        .unwrap();
    fs::write(radv.join("gpu_info.log"), "Device info:\n    name = NAVI31\n").unwrap();
    fs::write(radv.join("vm_fault.log"), "VM fault report.\n\nFailing VM page: 0x800000200000\n").unwrap();
    let zip = |name: &str, at: &Path, options: &[&str]| {
        let path = parent.join(name);
        let output = Command::new("zip")
            .current_dir(at)
            .args(["-q", "-r"])
            .arg(&path)
            .arg(".")
            .args(options)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{said}");
        path
    };
    let whole = export(&radv, &[]);
    // `-x` excludes existing zips.
    let zips = [
        zip("inside.zip", &radv, &[]),
        zip("stored.zip", &radv, &["-0"]),
        zip("folder.zip", &parent, &["-x", "*.zip"]),
    ];
    for path in &zips {
        let zipped = export(path, &[]);
        assert_eq!(problems(&zipped), Vec::<&str>::new());
        same(&waves(NAVI31), &zipped, &|_| false);
        assert_eq!((&zipped["agents"], &zipped["memory"]), (&whole["agents"], &whole["memory"]));
        assert_eq!(zipped["faults"], vm_fault());
    }
    // Damaged deflated data: the part before the damage is read, and the rest is reported.
    let mut bytes = fs::read(&zips[0]).unwrap();
    let name = bytes.windows(13).position(|name| name == b"umr_waves.log").unwrap();
    bytes[name + 600..name + 700].fill(0xff);
    fs::write(parent.join("damaged.zip"), bytes).unwrap();
    let damaged = export(&parent.join("damaged.zip"), &[]);
    assert!(problems(&damaged)[0].contains("the text cannot be read to its end"), "{:?}", problems(&damaged));
    // Two of them, one without umr's text, and one with neither.
    let second = parent.join("radv_dumps_8_2026");
    fs::create_dir(&second).unwrap();
    fs::copy(radv.join("umr_waves.log"), second.join("umr_waves.log")).unwrap();
    let said = refused(&zip("two.zip", &parent, &["-x", "*.zip"]));
    assert!(said.contains("a zip of 2 hang folders of RADV; unpack it and open one of them"), "{said}");
    let said = refused(&zip("none.zip", &radv, &["-x", "*umr_waves.log"]));
    assert!(
        said.contains("a zip of a hang folder of RADV (gpu_info.log is in it) without umr_waves.log"),
        "{said}"
    );
    let said = refused(&zip("other.zip", &radv, &["-i", "*vm_fault.log"]));
    assert!(said.contains("there is no manifest"), "{said}");
}

#[test]
fn text_without_waves_is_reported() {
    let text = "Running\nMemory access fault by GPU node-1 on address 0x7f00.\nAborted\n";
    let log = file("fault-alone", text);
    let mut command = crate::support::lanescope();
    command.current_dir(log.parent().unwrap()).env_remove("COLUMNS").args(["info", "./log"]);
    let said = refusal(&mut command);
    assert!(said.lines().all(|line| line.chars().count() <= 80), "{said}");
    let said = one_line(&said);
    assert!(said.contains(" line 2, ROCm's runtime: Memory access fault by GPU node-1 on"), "{said}");
    assert!(
        said.contains("text without a report on waves") && said.contains("node-1 on address 0x7f00"),
        "{said}"
    );
    assert!(said.contains("expected a lanescope dump") && !said.contains("TOML document"), "{said}");
    // Four ways to a capture, also below a text without a report.
    let ways = ["lanescope capture -- ", "ulimit -c", "HSA_COREDUMP_PATTERN=", "HSA_TOOLS_LIB=", "-ex gcore"];
    assert!(ways.iter().all(|way| said.contains(way)), "{said}");
    // A line of a record has the first report, too.
    let mut command = crate::support::lanescope();
    let said = one_line(&refusal(command.arg("signature").arg(&log)));
    assert!(said.contains("reports of faults: line 2, ROCm's runtime: Memory access fault by"), "{said}");
    // The facts of the kernel log are in several rows.
    let rows = [
        "[gfxhub] page fault (src_id:0 ring:24 vmid:8 pasid:32770)",
        " Process app pid 4376 thread app pid 4376",
        "  in page starting at address 0x00007f0000201000 from client 10",
        "GCVM_L2_PROTECTION_FAULT_STATUS:0x00801031",
    ];
    let rows: String = rows.iter().map(|row| format!("[1.0] amdgpu 0000:03:00.0: amdgpu: {row}\n")).collect();
    let said = one_line(&refused(&file("kernel-alone", rows)));
    assert!(said.contains("pasid:32770); read of page 0x7f0000201000, process 4376"), "{said}");
    let said = one_line(&refused(&file("hello", "hello world\n")));
    assert!(said.contains("text of no known format") && ways.iter().all(|way| said.contains(way)), "{said}");
    let idle = one_line(&run(&["info", file("idle-alone", "No active waves!\n").to_str().unwrap()]));
    assert!(idle.contains("no waves: umr found none active"), "{idle}");
}

/// Options that a format does not use are reported; used ones are not.
#[test]
fn options_without_effect_are_reported() {
    let log = file("unused-log", writer::agent(&model::Wave::some(GFX90A, 1), Form::Plain, None));
    let umr = file("unused-umr", hardware(&waves(NAVI31), false));
    let dump = crate::support::root().join("tests/fixtures/demo.zip");
    let given = [
        "--host-core",
        "x",
        "--symbols",
        ".",
        "--force",
        "--r-version",
        "9",
        "--processor",
        "gfx1100",
        "--code-object",
        "Cargo.toml",
    ];
    let named = |path: &Path| -> Vec<String> {
        let output = export(path, &given);
        let said = problems(&output).into_iter().filter(|what| what.contains("without effect: "));
        said.map(|what| what.split(": ").find(|part| part.starts_with("--")).unwrap().to_owned()).collect()
    };
    assert_eq!(named(&log), ["--host-core", "--r-version"]);
    assert_eq!(named(&umr), ["--host-core", "--code-object", "--symbols", "--force", "--r-version"]);
    assert_eq!(named(&dump), ["--host-core", "--code-object", "--r-version", "--processor"]);
}

/// gfx12 has work-groups in trap temporaries with any runtime. x is in ttmp9; y and z are in the halves of ttmp7 if bit
/// 30 of ttmp8 is set. Bits 29 to 25 of ttmp8 are the wave's number in the group, the bits below are the packet.
#[test]
fn work_groups_are_those_of_trap_temporaries_that_count() {
    let rows = |ttmps: [u32; 16]| -> String {
        let rows = ttmps.chunks(4).enumerate().map(|(at, row)| {
            let row: Vec<String> = row.iter().map(|word| format!("{word:08x}")).collect();
            format!(">TTMP[{}..{}] = {{ {} }}\n", at * 4, at * 4 + 3, row.join(", "))
        });
        rows.collect()
    };
    let set = |xy: u32, at: u32, x: u32| {
        let mut ttmps = [0; 16];
        (ttmps[7], ttmps[8], ttmps[9]) = (xy, at, x);
        ttmps
    };
    let text = |gpu: Gpu, each: [[u32; 16]; 2]| {
        let text = hardware(&waves(gpu), false);
        let mut parts = text.split("\nVGPRS:");
        let mut out = parts.next().unwrap().to_owned();
        for (ttmps, part) in each.into_iter().zip(parts) {
            write!(out, "{}\nVGPRS:{part}", rows(ttmps)).unwrap();
        }
        out
    };
    let places = |export: &Value| -> Vec<Value> {
        let waves = export["waves"].as_array().unwrap();
        waves.iter().map(|wave| json!([wave["workgroup"], wave["coord"], wave["wave_in_group"]])).collect()
    };
    let three =
        [set(0x0005_0004, 0xc000_0000 | 3 << 25 | 17, 6), set(0x0005_0004, 0xc000_0000 | 4 << 25 | 17, 6)];
    let one = export_text("groups-3d", text(NAVI48, three), &[]);
    assert_eq!(places(&one), [json!([0, [6, 4, 5], 3]), json!([0, [6, 4, 5], 4])]);
    assert_eq!(one["workgroups"].as_array().unwrap().len(), 1);
    assert!(
        !one["provenance"]["note"].as_str().unwrap().contains("Work-groups"),
        "{}",
        one["provenance"]["note"]
    );
    // Without bit 30 ttmp7 belongs to something else. Both waves claim one position: they are of two dispatches.
    let same_place = [set(0x0005_0004, 0x8000_0011, 6); 2];
    let two = export_text("groups-1d", text(NAVI48, same_place), &[]);
    assert_eq!(places(&two), [json!([0, [6, 0, 0], 0]), json!([1, [6, 0, 0], 0])]);
    let absent = [json!([null, null, null]), json!([null, null, null])];
    let unknown = |name: &str, text: String, why: &str| {
        let path = file(name, text);
        assert_eq!(places(&export(&path, &[])), absent, "{name}");
        let info = one_line(&run(&["info", path.to_str().unwrap()]));
        assert!(
            info.contains("Work-groups are not known of 2 waves: ") && info.contains(why),
            "{name}: {info}"
        );
    };
    // Position and number are in ttmp8 and ttmp9; ttmp7 counts only with the bit of ttmp8.
    let lacking = "ttmp8 and ttmp9, which would hold them, are not captured";
    let mut without_y = three;
    without_y.iter_mut().for_each(|ttmps| ttmps[7] = 0xbebe_beef);
    unknown("groups-no-y", text(NAVI48, without_y), "ttmp7, which would hold them, is not captured");
    unknown("groups-zero", text(NAVI48, [[0; 16]; 2]), "trap temporaries are 0, which proves nothing");
    unknown("groups-unreadable", text(NAVI48, [[0xbebe_beef; 16]; 2]), lacking);
    unknown(
        "groups-graphics",
        text(NAVI48, three).replace("regCOMPUTE_", "regSPI_SHADER_"),
        "trap temporaries of graphics hold other data",
    );
    unknown("groups-gfx11", text(NAVI31, three), "only if a runtime set these up");
    unknown("groups-none", hardware(&waves(NAVI48), false), lacking);
}
