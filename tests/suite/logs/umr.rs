//! umr's three forms of text, its JSON, and RADV's folders.

mod rows;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use serde_json::{Value, json};

use super::model::{le, seed};
use super::{export, export_text, file, folder, problems, run};
use crate::fixtures::one_line;

/// umr's list of register words per wave, in its order, with the first and last generation (gfxN) of each.
const WORDS: [(&str, u8, u8); 28] = [
    ("STATUS", 9, 12),
    ("PC_LO", 9, 12),
    ("PC_HI", 9, 12),
    ("EXEC_LO", 9, 12),
    ("EXEC_HI", 9, 12),
    ("HW_ID", 9, 9),
    ("HW_ID1", 10, 12),
    ("HW_ID2", 10, 12),
    ("INST_DW0", 9, 10),
    ("INST_DW1", 9, 9),
    ("GPR_ALLOC", 9, 12),
    ("LDS_ALLOC", 9, 12),
    ("TRAPSTS", 9, 11),
    ("IB_STS", 9, 12),
    ("IB_STS2", 10, 12),
    ("IB_DBG0", 9, 9),
    ("IB_DBG1", 10, 12),
    ("M0", 9, 12),
    ("MODE", 9, 12),
    ("STATE_PRIV", 12, 12),
    ("EXCP_FLAG_PRIV", 12, 12),
    ("EXCP_FLAG_USER", 12, 12),
    ("TRAP_CTRL", 12, 12),
    ("ACTIVE", 12, 12),
    ("VALID_AND_IDLE", 12, 12),
    ("DVGPR_ALLOC_LO", 12, 12),
    ("DVGPR_ALLOC_HI", 12, 12),
    ("SCHED_MODE", 12, 12),
];

#[derive(Clone, Copy, Debug)]
pub(super) struct Gpu {
    name: &'static str,
    /// N of gfxN.
    generation: u8,
    lanes: u64,
    sgprs: u64,
    /// Number of its own SGPRs; later ones are vcc and others.
    own: u64,
    vgprs: u64,
}

impl Gpu {
    /// Names of its words.
    fn words(&self) -> Vec<&'static str> {
        let has = |(_, first, last): &&(_, u8, u8)| (*first..=*last).contains(&self.generation);
        WORDS.iter().filter(has).map(|(name, ..)| *name).collect()
    }
}

/// gfx9 allocates SGPRs in multiples of 32; vcc is in the last two, flat_scratch in those from 26 on.
pub(super) const VEGA: Gpu = Gpu { name: "gfx900", generation: 9, lanes: 64, sgprs: 32, own: 102, vgprs: 16 };
pub(super) const NAVI21: Gpu =
    Gpu { name: "gfx1030", generation: 10, lanes: 64, sgprs: 124, own: 106, vgprs: 20 };
pub(super) const NAVI31: Gpu =
    Gpu { name: "gfx1100", generation: 11, lanes: 32, sgprs: 124, own: 106, vgprs: 8 };
pub(super) const NAVI48: Gpu =
    Gpu { name: "gfx1201", generation: 12, lanes: 32, sgprs: 124, own: 106, vgprs: 8 };

/// Value of umr's kernel interface for unreadable registers.
const UNREADABLE: u32 = 0xbebe_beef;

#[derive(Debug)]
pub(super) struct Wave {
    gpu: Gpu,
    number: u64,
    pub(super) slot: String,
    words: BTreeMap<&'static str, u32>,
}

impl Wave {
    fn new(gpu: Gpu, number: u64) -> Self {
        let slot = match gpu.own {
            102 => format!("se{number}.sh0.cu2.simd1.wave0"),
            _ => format!("se{number}.sa1.wgp0.simd2.wave3"),
        };
        let mut words = BTreeMap::new();
        for name in gpu.words() {
            let value = match name {
                // VALID and HALT; on gfx12 halted is in another register, and bit 29 means wave64.
                "STATUS" if gpu.generation == 12 => 1 << 16 | 1 << 28,
                "STATUS" => 1 << 16 | 1 << 13,
                "STATE_PRIV" => 1 << 14,
                // WAVE64 is bit 11.
                "IB_STS2" => 0x7000_0000 | u32::from(gpu.lanes == 64) << 11,
                "GPR_ALLOC" => 0x0100_0300,
                // Illegal instruction on the second wave.
                "TRAPSTS" => 1 << 29 | u32::from(number == 1) << 11,
                "EXCP_FLAG_PRIV" => u32::from(number == 1) << 6,
                "EXCP_FLAG_USER" | "TRAP_CTRL" => 0,
                "PC_HI" => 0x8000,
                "EXEC_HI" if gpu.lanes == 32 => 0,
                "DVGPR_ALLOC_LO" | "DVGPR_ALLOC_HI" => UNREADABLE,
                "M0" if number == 1 => UNREADABLE,
                _ => seed(&format!("{} {number} {name}", gpu.name)) as u32 & !3,
            };
            words.insert(name, value);
        }
        Self { gpu, number, slot, words }
    }

    fn sgpr(&self, slot: u64) -> u32 {
        seed(&format!("{} {} s{slot}", self.gpu.name, self.number)) as u32
    }

    /// Lanes beyond the wave's are printed as 0.
    fn vgpr(&self, row: u64, lane: u64) -> u32 {
        let value = || seed(&format!("{} {} v{row} {lane}", self.gpu.name, self.number)) as u32;
        if lane < self.gpu.lanes { value() } else { 0 }
    }

    /// Expected content of an export.
    fn registers(&self) -> BTreeMap<String, String> {
        let gpu = self.gpu;
        let mut registers = BTreeMap::new();
        let two = |low: u32, high: u32| format!("{}{}", le(low), le(high));
        let word = |name: &str| self.words[name];
        registers.insert("pc".to_owned(), two(word("PC_LO"), word("PC_HI")));
        let mask = |low: u32, high: u32| if gpu.lanes == 32 { le(low) } else { two(low, high) };
        registers.insert("exec".to_owned(), mask(word("EXEC_LO"), word("EXEC_HI")));
        for name in
            ["STATUS", "M0", "MODE", "TRAPSTS", "STATE_PRIV", "EXCP_FLAG_PRIV", "EXCP_FLAG_USER", "TRAP_CTRL"]
        {
            if let Some(value) = self.words.get(name).filter(|value| **value != UNREADABLE) {
                registers.insert(name.to_ascii_lowercase(), le(*value));
            }
        }
        for slot in 0..gpu.sgprs.min(gpu.own) {
            registers.insert(format!("s{slot}"), le(self.sgpr(slot)));
        }
        let vcc = if gpu.own == 102 { 30 } else { 106 };
        registers.insert("vcc".to_owned(), mask(self.sgpr(vcc), self.sgpr(vcc + 1)));
        if gpu.own == 102 {
            registers.insert("flat_scratch".to_owned(), two(self.sgpr(26), self.sgpr(27)));
        }
        for row in 0..gpu.vgprs {
            let lanes = (0..gpu.lanes).map(|lane| le(self.vgpr(row, lane))).collect();
            registers.insert(format!("v{row}"), lanes);
        }
        registers
    }
}

pub(super) fn waves(gpu: Gpu) -> Vec<Wave> {
    (0..2).map(|number| Wave::new(gpu, number)).collect()
}

/// Compares all waves; `without`: registers missing in the form.
pub(super) fn same(waves: &[Wave], export: &Value, without: &dyn Fn(&str) -> bool) {
    let shown = export["waves"].as_array().unwrap();
    assert_eq!(shown.len(), waves.len());
    for (wave, shown) in waves.iter().zip(shown) {
        assert_eq!(shown["lanes"], wave.gpu.lanes);
        assert!(shown["name"].as_str().unwrap().ends_with(&wave.slot), "{}", shown["name"]);
        assert_eq!(shown["architecture"], wave.gpu.name);
        let stop = if wave.number == 1 { json!(["ILLEGAL_INSTRUCTION"]) } else { Value::Null };
        assert_eq!(shown["stop_reasons"], stop, "{}", wave.slot);
        let mut wanted = wave.registers();
        wanted.retain(|name, _| !without(name));
        for (name, value) in shown["registers"].as_object().unwrap() {
            let wanted = wanted.remove(name);
            assert_eq!(value.as_str(), wanted.as_deref(), "{} {name}", wave.slot);
        }
        assert!(wanted.is_empty(), "{}: not shown: {wanted:?}", wave.slot);
    }
}

fn sgprs(wave: &Wave, row: impl Fn(u64) -> String) -> String {
    let rows = (0..wave.gpu.sgprs).step_by(4).map(|first| {
        let words: Vec<String> = (first..first + 4).map(|slot| format!("{:08x}", wave.sgpr(slot))).collect();
        format!("{} = {{ {} }}\n", row(first), words.join(", "))
    });
    rows.collect()
}

fn vgprs(wave: &Wave) -> String {
    let mut text = String::from("\n");
    let exec = |lane: u64| if lane < 32 { wave.words["EXEC_LO"] } else { wave.words["EXEC_HI"] };
    for row in 0..wave.gpu.vgprs {
        if row % 16 == 0 {
            text.push_str(if row == 0 { "VGPRS:       " } else { "             " });
            for lane in 0..64 {
                let live = exec(lane) >> (lane % 32) & 1 == 1;
                text.push_str(&if live { format!(" t{lane:02}     ") } else { format!(" (t{lane:02})   ") });
            }
            text.push('\n');
        }
        let lanes: String = (0..64).map(|lane| format!(" {:08x}", wave.vgpr(row, lane))).collect();
        writeln!(text, "    [{row:3}] = {{{lanes} }}").unwrap();
    }
    text
}

/// A shader of three words on each side of the PC; the word at the PC is marked.
fn code(wave: &Wave) -> String {
    let pc = u64::from(wave.words["PC_HI"]) << 32 | u64::from(wave.words["PC_LO"]);
    let mut text = format!("\n\nPGM_MEM: (found shader at: 5@{:#x} of 24 bytes)\n", pc - 8);
    for word in 0..6u64 {
        let mark = if word == 2 { "*" } else { " " };
        let value = seed(&format!("{} code {word}", wave.gpu.name)) as u32;
        let offset = format!("{:#x}", word * 4);
        writeln!(text, " {mark} pgm[5@{:#x} + {offset:<6}] = 0x{value:08x}   \ts_nop 0", pc - 8).unwrap();
    }
    text + "End of disassembly.\n"
}

/// The oldest form: columns. No VGPRs.
pub(super) fn columns(waves: &[Wave]) -> String {
    let before_gfx10 = waves[0].gpu.own == 102;
    let (place, names): (_, &[&str]) = match before_gfx10 {
        true => (
            "SE SH CU SIMD WAVE# ",
            &[
                "WAVE_STATUS",
                "PC_HI",
                "PC_LO",
                "INST_DW0",
                "INST_DW1",
                "EXEC_HI",
                "EXEC_LO",
                "HW_ID",
                "GPRALLOC",
                "LDSALLOC",
                "TRAPSTS",
                "IBSTS",
                "TBA_HI",
                "TBA_LO",
                "TMA_HI",
                "TMA_LO",
                "IB_DBG0",
                "M0",
                "MODE",
            ],
        ),
        false => (
            "SE SA WGP SIMD WAVE# ",
            &[
                "WAVE_STATUS",
                "PC_HI",
                "PC_LO",
                "INST_DW0",
                "EXEC_HI",
                "EXEC_LO",
                "HW_ID1",
                "HW_ID2",
                "GPRALLOC",
                "LDSALLOC",
                "TRAPSTS",
                "IBSTS1",
                "IBSTS2",
                "IB_DBG1",
                "M0",
                "MODE",
            ],
        ),
    };
    let mut text =
        format!("{place}{} \n", names.iter().map(|name| format!("{name:>8}")).collect::<Vec<_>>().join(" "));
    for wave in waves {
        let place: Vec<String> = wave
            .slot
            .split('.')
            .map(|part| part.trim_start_matches(char::is_alphabetic).to_owned())
            .collect();
        let long = |name: &str| match name {
            "WAVE_STATUS" => "STATUS",
            "GPRALLOC" => "GPR_ALLOC",
            "LDSALLOC" => "LDS_ALLOC",
            "IBSTS" | "IBSTS1" => "IB_STS",
            "IBSTS2" => "IB_STS2",
            "INST_DW0" => "INST_DW0",
            _ => "",
        };
        let words = names.iter().map(|name| {
            let known = wave.words.get(long(name)).or_else(|| wave.words.get(name));
            format!("{:08x}", known.copied().unwrap_or(0))
        });
        writeln!(text, "{}    {} ", place.join("  "), words.collect::<Vec<_>>().join(" ")).unwrap();
        text.push_str(&sgprs(wave, |first| format!(">SGPRS[{first}..{}]", first + 3)));
        text.push_str(&code(wave));
    }
    text
}

/// The second form: `-O bits` with small names; fields of some registers.
pub(super) fn small(waves: &[Wave]) -> String {
    let mut text = String::new();
    for wave in waves {
        let word = |name: &str| wave.words.get(name).copied().unwrap_or(0);
        writeln!(text, "\n{}\n{}\n\n\nMain Registers:", "-".repeat(54), wave.slot).unwrap();
        let main = ["PC_HI", "PC_LO", "INST_DW0", "EXEC_HI", "EXEC_LO", "M0"];
        for row in main.chunks(4) {
            let row = row.iter().map(|name| {
                let shown = name.to_ascii_lowercase().replace("inst_dw0", "wave_inst_dw0");
                format!("{shown:>20}: {:08x} | ", word(name))
            });
            writeln!(text, "\t{}", row.collect::<String>()).unwrap();
        }
        writeln!(text, "\n\nWave_Status[{:08x}]:", word("STATUS")).unwrap();
        writeln!(text, "\t{:>20}: {:8} | {:>20}: {:8} | ", "scc", 0, "halt", 1).unwrap();
        writeln!(text, "\n\nGPR_ALLOC[{:08x}]:\n\t{:>20}: {:8} | ", word("GPR_ALLOC"), "vgpr_size", 3)
            .unwrap();
        text.push_str("\n\nSGPRS:\n");
        text.push_str(&sgprs(wave, |first| format!("\t[{first:4}..{:4}]", first + 3)));
        text.push_str(&vgprs(wave));
        text.push_str(&code(wave));
        if wave.gpu.own == 106 {
            let wave64 = u32::from(wave.gpu.lanes == 64);
            writeln!(text, "\n\nIB_STS2[{:08x}]:\n\t{:>20}: {wave64:8} | ", word("IB_STS2"), "wave64")
                .unwrap();
        }
        writeln!(text, "\n\nTRAPSTS[{:08x}]:\n\t{:>20}: {:8} | ", word("TRAPSTS"), "excp", 0).unwrap();
        writeln!(text, "\n\nMODE[{:08x}]:\n\t{:>20}: {:8} | \n", word("MODE"), "ieee", 0).unwrap();
    }
    text
}

/// The current form: the hardware's names; with `bits`, fields of all registers.
pub(super) fn hardware(waves: &[Wave], bits: bool) -> String {
    let mut text = String::new();
    for wave in waves {
        writeln!(text, "\n{}\n{}\n\n\nMain Registers:", "-".repeat(54), wave.slot).unwrap();
        for row in wave.gpu.words().chunks(4) {
            let row = row
                .iter()
                .map(|name| format!("{:>20}: {:08x} | ", format!("ixSQ_WAVE_{name}"), wave.words[name]));
            writeln!(text, "\t{}", row.collect::<String>()).unwrap();
        }
        text.push('\n');
        if bits {
            text.push_str("\n\nRegister Bits:\n\t");
            for name in wave.gpu.words() {
                writeln!(text, "\n\nixSQ_WAVE_{name}[{:08x}]:", wave.words[name]).unwrap();
                // Some fields have the name of a register.
                writeln!(text, "\t{:>20}: {:08x} | {:>20}: {:08x} | ", "PC_LO", 7, "M0", 9).unwrap();
            }
            text.push('\n');
        }
        // Before gfx10 it prints 16 SGPRs too few.
        let less =
            if wave.gpu.own == 102 { Gpu { sgprs: wave.gpu.sgprs - 16, ..wave.gpu } } else { wave.gpu };
        let printed = Wave { gpu: less, number: wave.number, slot: String::new(), words: BTreeMap::new() };
        text.push_str(&sgprs(&printed, |first| format!(">SGPRS[{first}..{}]", first + 3)));
        text.push_str(&vgprs(wave));
        text.push_str(&code(wave));
        writeln!(
            text,
            "   Shader registers:\n      {}.regCOMPUTE_PGM_RSRC1(0@0x10) == 0xe00f0000",
            wave.gpu.name
        )
        .unwrap();
    }
    text
}

/// The text does not name the processor.
fn no_problem_but_the_processor(export: &Value) {
    let said = problems(export);
    assert!(said.iter().all(|problem| problem.contains("the GPU of the waves is unknown")), "{said:?}");
}

#[test]
fn the_columns_are_registers_by_their_headings() {
    for gpu in [VEGA, NAVI21] {
        let waves = waves(gpu);
        let export = export_text(&format!("columns-{}", gpu.name), columns(&waves), &[]);
        no_problem_but_the_processor(&export);
        same(&waves, &export, &|name| name.starts_with('v') && name != "vcc");
    }
}

#[test]
fn small_names_are_registers() {
    for gpu in [VEGA, NAVI21, Gpu { lanes: 32, ..NAVI21 }] {
        let waves = waves(gpu);
        let export = export_text(&format!("small-{}-{}", gpu.name, gpu.lanes), small(&waves), &[]);
        no_problem_but_the_processor(&export);
        same(&waves, &export, &|_| false);
    }
}

#[test]
fn the_hardwares_names_are_registers() {
    for gpu in [VEGA, NAVI21, NAVI31, Gpu { lanes: 64, ..NAVI31 }, NAVI48] {
        for bits in [false, true] {
            let waves = waves(gpu);
            let export =
                export_text(&format!("hardware-{}-{}", gpu.name, gpu.lanes), hardware(&waves, bits), &[]);
            assert_eq!(problems(&export), Vec::<&str>::new());
            // The last 16 SGPRs of a gfx9 wave are not printed; vcc and flat_scratch are among them.
            let missing = |name: &str| {
                let slot = name.strip_prefix('s').and_then(|slot| slot.parse::<u64>().ok());
                gpu.own == 102
                    && (slot.is_some_and(|slot| slot >= 16) || matches!(name, "vcc" | "flat_scratch"))
            };
            same(&waves, &export, &missing);
        }
    }
}

/// Trap temporaries, which umr prints for waves with a trap handler: those of AMD's library.
#[test]
fn trap_temporaries_are_registers() {
    for gpu in [NAVI31, NAVI48] {
        let waves = waves(gpu);
        let rows = ">TTMP[0..3] = { 00000001, 00000002, 00000003, 00000004 }\n>TTMP[4..7] = { 00000005, 00000006, 00000007, 00000008 }\n";
        let text = hardware(&waves, false).replace("\nVGPRS:", &format!("{rows}\nVGPRS:"));
        let export = export_text(&format!("ttmp-{}", gpu.name), text, &[]);
        let registers = &export["waves"][1]["registers"];
        let shown = ["ttmp4", "ttmp7", "ttmp8"].map(|name| registers[name].clone());
        assert_eq!(json!(shown), json!(["05000000", "08000000", null]));
    }
}

#[test]
fn words_of_code_are_memory() {
    let waves = &waves(NAVI31)[..1];
    let path = file("code", hardware(waves, false));
    let pc = u64::from(waves[0].words["PC_HI"]) << 32 | u64::from(waves[0].words["PC_LO"]);
    let export = export(&path, &[]);
    assert_eq!(export["memory"], json!([{ "address": pc - 8, "size": 24, "name": "code" }]));
    let said = run(&["memory", "--at", &format!("{pc:#x}"), "-n", "4", path.to_str().unwrap()]);
    let word = seed("gfx1100 code 2") as u32;
    let bytes: Vec<String> = word.to_le_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    assert!(said.contains(&bytes.join(" ")), "{said}");
}

pub(super) fn json_answer(waves: &[Wave], negative: bool) -> Value {
    // Older servers write words of 32 bits as signed numbers.
    let number = |word: u32| if negative { json!(word as i32) } else { json!(word) };
    let waves: Vec<Value> = waves
        .iter()
        .map(|wave| {
            let mut object = serde_json::Map::new();
            for part in wave.slot.split('.') {
                let digits = part.trim_start_matches(char::is_alphabetic);
                let name = match &part[..part.len() - digits.len()] {
                    "simd" => "simd_id",
                    "wave" => "wave_id",
                    name => name,
                };
                object.insert(name.to_owned(), json!(digits.parse::<u64>().unwrap()));
            }
            let pc = u64::from(wave.words["PC_HI"]) << 32 | u64::from(wave.words["PC_LO"]);
            object.insert("PC".to_owned(), json!(pc));
            let registers: serde_json::Map<String, Value> = wave
                .gpu
                .words()
                .iter()
                .map(|name| (format!("ixSQ_WAVE_{name}"), json!({ "raw": wave.words[name], "SCC": 0 })))
                .collect();
            object.insert("registers".to_owned(), registers.into());
            object.insert("threads".to_owned(), (0..wave.gpu.lanes).map(|_| json!(true)).collect());
            object
                .insert("sgpr".to_owned(), (0..wave.gpu.sgprs).map(|slot| number(wave.sgpr(slot))).collect());
            let rows = (0..wave.gpu.vgprs).map(|row| {
                (0..wave.gpu.lanes).map(|lane| number(wave.vgpr(row, lane))).collect::<Vec<Value>>()
            });
            object.insert("vgpr".to_owned(), rows.map(Value::from).collect());
            object.into()
        })
        .collect();
    json!({ "waves": waves, "shaders": {} })
}

#[test]
fn the_json_answer_has_the_same_registers() {
    for gpu in [VEGA, NAVI21, NAVI31, NAVI48] {
        let waves = waves(gpu);
        for negative in [false, true] {
            let answer = json_answer(&waves, negative);
            // As sent by the server, and the inner part alone.
            let whole = json!({ "answer": answer, "request": { "command": "waves" }, "has_raw_data": false });
            for text in [answer.to_string(), whole.to_string(), format!("{answer:#}")] {
                let export = export_text(&format!("json-{}", gpu.name), text, &["--processor", gpu.name]);
                assert_eq!(problems(&export), Vec::<&str>::new());
                same(&waves, &export, &|_| false);
            }
        }
    }
    let broken = export_text("json-broken", "{\"waves\":[{\"sgpr\":[1,2", &[]);
    assert!(problems(&broken)[0].contains("offset 0xa: waves[0]: the wave cannot be read"), "{broken}");
    let text = r#"{"waves":[{"se":0,"sa":0,"wgp":1,"PC":64,"sgpr":[1.5,1e300,7],"vgpr":[[1,2.5]],"threads":[true]}]}"#;
    let export = export_text("json-numbers", text, &["--processor", "gfx1100"]);
    assert!(problems(&export).iter().any(|problem| problem.contains("3 values are no 32-bit numbers")));
    assert_eq!(export["waves"][0]["registers"]["s2"], json!("07000000"));
    assert_eq!(export["waves"][0]["registers"]["s1"], Value::Null);
}

/// The fault of `Failing VM page: 0x800000200000` in a file of RADV's folder.
pub(super) fn vm_fault() -> Value {
    json!([{
        "kind": "page",
        "address": "0x800000200000",
        "bytes": 4096,
        "inexact": false,
        "page": "0x800000200000",
        "access": null,
        "reasons": [],
        "all_reasons": false,
        "status": null,
        "node": null,
        "device": null,
        "gpu": null,
        "gpu_inferred": null,
        "client": null,
        "ring": null,
        "kernel": null,
        "process": null,
        "foreign": null,
        "assertion": null,
        "source": "kernel_log",
        "place": { "file": "vm_fault.log", "line": 3 },
        "also": [],
    }])
}

#[test]
fn a_hang_folder_is_umrs_text_and_the_drivers_name_of_the_gpu() {
    let folder = folder("radv_dumps_1234_2026.11.20_12.00.00");
    let text = hardware(&waves(NAVI31), true).replace("gfx1100.reg", "gfx.reg");
    fs::write(folder.join("umr_waves.log"), format!("\nUMR GFX waves:\n\n{text}")).unwrap();
    fs::write(
        folder.join("gpu_info.log"),
        "Device info:\n    name = NAVI31\n    marketing_name = AMD Radeon RX 7900 XTX\n",
    )
    .unwrap();
    fs::write(folder.join("vm_fault.log"), "VM fault report.\n\nFailing VM page: 0x800000200000\n").unwrap();
    let export = export(&folder, &[]);
    assert_eq!(problems(&export), Vec::<&str>::new());
    same(&waves(NAVI31), &export, &|_| false);
    assert_eq!(export["faults"], vm_fault());
    // A stepping has the facts of its processor, and its own name.
    fs::write(folder.join("gpu_info.log"), "Device info:\n    name = PHOENIX\n").unwrap();
    let alike = super::export(&folder, &[]);
    assert_eq!(alike["agents"][0]["architecture"], "gfx1103");
    let info = one_line(&run(&["info", folder.to_str().unwrap()]));
    assert!(info.contains("RADV hang folder") && info.contains("2 waves of gfx1103:wave32"), "{info}");
    // Names of Mesa's enum radeon_family, and the processors that Mesa passes to LLVM.
    for (name, processor) in [
        ("KRACKAN1", "gfx1152"),
        ("CHIP_STRIX1", "gfx1150"),
        ("GFX1153", "gfx1153"),
        ("GFX1103_R2", "gfx1103"),
    ] {
        fs::write(folder.join("gpu_info.log"), format!("Device info:\n    name = {name}\n")).unwrap();
        let export = super::export(&folder, &[]);
        assert_eq!(
            (&export["agents"][0]["architecture"], problems(&export)),
            (&json!(processor), vec![]),
            "{name}"
        );
    }
    // An unknown one is reported, and another file's value counts.
    for name in ["HAWAII", "NAVI99"] {
        fs::write(folder.join("gpu_info.log"), format!("Device info:\n    name = {name}\n")).unwrap();
        let export = super::export(&folder, &[]);
        let wanted = format!(
            "gpu_info.log names {name}, a GPU that lanescope does not know; by their registers the waves are read as gfx1100's"
        );
        assert!(matches!(&*problems(&export), [said] if said.contains(&wanted)), "{:?}", problems(&export));
    }
    fs::write(folder.join("pipeline.log"), "; gfx1102\n").unwrap();
    let other = super::export(&folder, &[]);
    assert_eq!((&other["agents"][0]["architecture"], problems(&other)), (&json!("gfx1102"), vec![]));
}

/// umr may find nothing, or waves of an unsupported GPU; colours are stripped as in other logs.
#[test]
fn unprintable_values_have_a_reason() {
    let idle = folder("idle");
    fs::write(
        idle.join("umr_waves.log"),
        "\nUMR GFX waves:\n\nNo active waves! (or GFXOFF was not disabled)\n",
    )
    .unwrap();
    let export = super::export(&idle, &[]);
    assert!(problems(&export)[0].contains("no waves: umr found none active"), "{:?}", problems(&export));
    let old = small(&waves(VEGA)).replace("halt: ", "data_atc: ");
    let export = export_text("gfx8", &old, &[]);
    assert!(problems(&export)[0].contains("a GPU before gfx9"), "{:?}", problems(&export));
    let coloured = small(&waves(VEGA))
        .replace('[', "[\x1b[1;33m")
        .replace("] =", "\x1b[0m] =")
        .replace(" = {", " = {\x1b[34m");
    let export = export_text("umr-colours", coloured, &[]);
    same(&waves(VEGA), &export, &|_| false);
}

#[test]
fn a_damaged_row_costs_itself() {
    let waves = waves(NAVI31);
    let text = hardware(&waves, false);
    for (name, from, to, problem) in [
        ("umr-word", ">SGPRS[4..7] = { ", ">SGPRS[4..7] = { zz", "a word of the row is invalid"),
        ("umr-slots", ">SGPRS[4..7]", ">SGPRS[99999999999999999999..7]", "the row cannot be read"),
        ("umr-high", ">SGPRS[4..7]", ">SGPRS[126..7]", "register 126 is ignored"),
        ("umr-row", "    [  1] = {", "    [  0] = {", "v0 is given a second time"),
        ("umr-long", "    [  1] = {", "    [  1] = { 00000000", "more than 64 words"),
        ("umr-code", "pgm[5@", "pgm[5?", "the word of code cannot be read"),
        ("umr-main", "ixSQ_WAVE_MODE: ", "ixSQ_WAVE_MODE: x", "mode is no number"),
    ] {
        let line = text[..text.find(from).unwrap()].lines().count();
        let export = export_text(name, text.replacen(from, to, 1), &["--processor", "gfx1100"]);
        let said = problems(&export);
        assert_eq!(said.len(), 1, "{name}: {said:?}");
        assert!(said[0].contains(problem), "{name}: {said:?}");
        // The line of the text before, or the next one: its own end may precede the mark.
        let named = (line..=line + 1).any(|line| said[0].contains(&format!("line {line}:")));
        assert!(named, "{name}: {said:?} is not line {line}");
        same(&waves[1..], &json!({ "waves": [export["waves"][1]] }), &|_| false);
    }
}
