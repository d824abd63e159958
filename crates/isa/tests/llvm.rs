//! Each encoding of each processor against libLLVM 22: validity, size, and text with mnemonic and operands. The list of known
//! differences is `known`; `targets/isa/README.md` explains each class.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panics, and prints what it compared"
)]

use amdgpu_isa::{Decoder, Flags, Instruction, Op, VgprMsb};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// All processors with tables of their own.
const PROCESSORS: [(&str, u8); 23] = [
    ("gfx900", 64),
    ("gfx904", 64),
    ("gfx906", 64),
    ("gfx908", 64),
    ("gfx90a", 64),
    ("gfx942", 64),
    ("gfx950", 64),
    ("gfx1010", 32),
    ("gfx1010", 64),
    ("gfx1011", 32),
    ("gfx1011", 64),
    ("gfx1013", 32),
    ("gfx1013", 64),
    ("gfx1030", 32),
    ("gfx1030", 64),
    ("gfx1100", 32),
    ("gfx1100", 64),
    ("gfx1150", 32),
    ("gfx1150", 64),
    ("gfx1200", 32),
    ("gfx1200", 64),
    ("gfx1250", 32),
    ("gfx1251", 32),
];
const RECORD: usize = 20;

fn is_long() -> bool {
    std::env::var_os("LANESCOPE_LONG").is_some_and(|value| value == "1")
}

/// Fills of each encoding in the long test; `ISA_FILLS` has fewer for a quick look.
fn fills() -> usize {
    std::env::var("ISA_FILLS").ok().and_then(|fills| fills.parse().ok()).unwrap_or(300)
}

/// The processors whose names begin with `ISA_PROCESSORS`, for a quick look at some.
fn processors() -> impl Iterator<Item = (&'static str, u8)> {
    let start = std::env::var("ISA_PROCESSORS").unwrap_or_default();
    PROCESSORS.into_iter().filter(move |(name, _)| name.starts_with(&start))
}

/// A repeatable sequence of numbers (splitmix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn word(&mut self) -> u128 {
        u128::from(self.next()) << 64 | u128::from(self.next())
    }
}

/// Words of each encoding with random fields: some with few bits, some whose sources ask for a literal, DPP or SDWA.
fn words(decoder: &Decoder, each: usize, step: usize) -> Vec<u8> {
    const SOURCES: [u128; 8] = [0xe9, 0xea, 0xfa, 0x1e9, 0xff, 0xf9, 0xfe, 0x80];
    let (mut numbers, mut words) = (Numbers(7), Vec::new());
    for (at, (mask, value, size)) in decoder.encodings().step_by(step).enumerate() {
        for fill in 0..each {
            let mut word = numbers.word();
            match (at + fill) % 8 {
                1 | 5 => word &= numbers.word(),
                2 => word &= numbers.word() & numbers.word(),
                3 if size > 4 => word = word & !(0x1ff << 32) | SOURCES[numbers.next() as usize % 8] << 32,
                7 => word = word & !0x1ff | SOURCES[numbers.next() as usize % 8],
                _ => {}
            }
            let word = word & !mask | value;
            let bytes = word.to_le_bytes();
            words.extend(&bytes[..size]);
            words.extend((size..RECORD).map(|_| numbers.next() as u8));
        }
    }
    // And words of no known encoding.
    for _ in 0..each * 100 {
        words.extend((0..RECORD).map(|_| numbers.next() as u8));
    }
    words
}

/// LLVM's answers: a line a word.
fn ask(test: &str, processor: &str, wave: u8, words: &[u8]) -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let name = format!("isa-{test}-{processor}-{wave}");
    let (input, output) = (folder.join(format!("{name}.words")), folder.join(format!("{name}.text")));
    std::fs::write(&input, words).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle.py");
    let status = Command::new("python3")
        .arg(script)
        .args([processor, &wave.to_string()])
        .args([&input, &output])
        .status()
        .unwrap();
    assert!(status.success(), "tests/oracle.py needs libLLVM.so.22.1");
    let text = std::fs::read_to_string(&output).unwrap();
    [input, output].iter().for_each(|file| std::fs::remove_file(file).unwrap());
    text.lines().map(str::to_owned).collect()
}

/// LLVM's text without its remarks about operands of a wrong class.
fn without_remarks(text: &str) -> String {
    let mut text = text.split(" ; Warning: ").next().unwrap_or_default().to_owned();
    while let Some(start) = text.find("/*Invalid ") {
        let Some(end) = text[start..].find("*/") else { break };
        text.replace_range(start..start + end + 2, "");
    }
    text
}

/// The class of a known difference (`targets/isa/README.md`).
fn known(instruction: &Instruction, ours: &str, theirs: &str) -> Option<&'static str> {
    let name = ours.split(' ').next()?;
    let has_k = ["fmaak", "fmamk", "madak", "madmk"].iter().any(|part| ours.contains(part));
    let is_vopd3 = instruction.size() >= 12 && name.starts_with("v_dual_");
    if has_k && theirs.starts_with(name) {
        return Some("literal read as an inline constant");
    }
    if is_vopd3 {
        return Some("literal of a pair with three sources");
    }
    if name.ends_with("_dpp") && theirs.contains(", vcc_lo|") {
        return Some("vcc within the bars of a source");
    }
    if name.ends_with("_dpp") && theirs.starts_with(name) {
        return Some("control or source read as an inline constant");
    }
    None
}

/// The class of words that LLVM decodes and we reject.
fn rejected(processor: &str, theirs: &str) -> Option<&'static str> {
    match theirs.split(' ').next()? {
        name if name.starts_with("v_dual_") && processor.starts_with("gfx125") => {
            Some("64-bit literal of a pair")
        }
        _ => None,
    }
}

/// The class of words that we decode and LLVM's C API rejects.
fn accepted(processor: &str, ours: &str) -> Option<&'static str> {
    match ours.split(' ').next()? {
        // Soft failures: llvm-objdump prints them, the C API has no text.
        name if name.starts_with("v_cmpx_") => Some("reserved destination"),
        name if name.starts_with("v_dual_") && processor.starts_with("gfx125") => {
            Some("64-bit literal of a pair")
        }
        name if name.ends_with("_e64_dpp") && processor.starts_with("gfx125") => {
            Some("literal of a DPP source")
        }
        _ => None,
    }
}

#[test]
fn every_encoding_is_as_llvm_has_it() {
    let (each, step) = if is_long() { (fills(), 1) } else { (1, 6) };
    let (mut failures, mut explained, mut count, mut crashes) =
        (Vec::new(), BTreeMap::<_, usize>::new(), 0, 0);
    for (processor, wave) in processors() {
        let decoder = Decoder::new(processor, wave).unwrap();
        let words = words(&decoder, each, step);
        let answers = ask("encodings", processor, wave, &words);
        assert_eq!(answers.len(), words.len() / RECORD, "an answer a word");
        let mut here = 0;
        for (word, answer) in words.chunks(RECORD).zip(&answers) {
            count += 1;
            if answer == "!" {
                crashes += 1;
                continue;
            }
            let instruction = decoder.decode(word);
            let ours = instruction.to_string();
            let expected = answer.split_once('\t');
            let same = match expected {
                None => !instruction.is_valid() && instruction.size() == 4,
                Some((size, text)) => {
                    instruction.is_valid()
                        && size.parse() == Ok(instruction.size())
                        && without_remarks(text) == ours
                }
            };
            if same {
                continue;
            }
            let class = match expected {
                Some((_, text)) if instruction.is_valid() => {
                    known(&instruction, &ours, &without_remarks(text))
                }
                Some((_, text)) => rejected(processor, text),
                None => accepted(processor, &ours),
            };
            match class {
                Some(class) => *explained.entry(class).or_default() += 1,
                None => {
                    here += 1;
                    if here <= 12 {
                        let hex: String = word.iter().map(|byte| format!("{byte:02x}")).collect();
                        failures.push(format!(
                            "{processor} wave{wave} {hex}\n  LLVM {answer}\n  ours {} {ours}",
                            instruction.size()
                        ));
                    }
                }
            }
        }
        println!("{processor} wave{wave}: {} words, {here} differ", answers.len());
        if here > 0 {
            failures.push(format!("{processor} wave{wave}: {here} of {}", answers.len()));
        }
    }
    println!("{count} words, {crashes} on which LLVM crashes, explained: {explained:?}");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Each number of the operands with a syntax of their own, in the words of SOPP and SOPK that have them.
#[test]
fn every_number_of_sixteen_bits_is_as_llvm_has_it() {
    const OPERATIONS: [&str; 8] = [
        "s_waitcnt",
        "s_waitcnt_depctr",
        "s_wait_alu",
        "s_sendmsg",
        "s_getreg_b32",
        "s_delay_alu",
        "s_endpgm",
        "s_set_gpr_idx_mode",
    ];
    let processors = [
        ("gfx900", 64),
        ("gfx942", 64),
        ("gfx1010", 32),
        ("gfx1030", 32),
        ("gfx1100", 32),
        ("gfx1200", 32),
        ("gfx1250", 32),
    ];
    let step = if is_long() { 1 } else { 97 };
    let (mut failures, mut count) = (Vec::new(), 0);
    for (processor, wave) in processors {
        let decoder = Decoder::new(processor, wave).unwrap();
        let mut words = Vec::new();
        for (mask, value, size) in decoder.encodings() {
            let head = (value as u32).to_le_bytes();
            let is_wanted = decoder.decode(&head).mnemonic().is_some_and(|name| OPERATIONS.contains(&name));
            if size != 4 || mask & 0xffff != 0 || !is_wanted {
                continue;
            }
            for number in (0..=u16::MAX).step_by(step) {
                words.extend((value as u32 | u32::from(number)).to_le_bytes());
                words.extend([0; RECORD - 4]);
            }
        }
        for (word, answer) in words.chunks(RECORD).zip(ask("numbers", processor, wave, &words)) {
            count += 1;
            let instruction = decoder.decode(word);
            let ours = format!("{}\t{instruction}", instruction.size());
            if ours != answer && failures.len() < 20 {
                failures.push(format!("{processor} {:02x?}\n  LLVM {answer}\n  ours {ours}", &word[..4]));
            }
        }
    }
    println!("{count} numbers");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// The code objects of the fixtures: llvm-objdump's text of each instruction.
#[test]
fn code_of_the_fixtures_is_as_objdump_has_it() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let mut files = Vec::new();
    collect(&fixtures, &mut files);
    files.sort();
    let step = if is_long() { 1 } else { 9 };
    let (mut failures, mut count) = (Vec::new(), 0);
    for file in files.iter().step_by(step) {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let Some(processor) = name.split(['-', '.', '_']).find_map(|part| part.strip_prefix("gfx")) else {
            continue;
        };
        let processor = format!("gfx{}", processor.trim_end_matches("w64"));
        let wave = if processor.len() == 6 { 64 } else { 32 };
        let Some(decoder) = Decoder::new(&processor, wave) else { continue };
        let mut msb = VgprMsb::default();
        let output = Command::new("llvm-objdump-22").arg("-d").arg(file).output().unwrap();
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            if line.ends_with(">:") {
                msb = VgprMsb::default();
            }
            let Some((text, code)) = line.split_once("// ") else { continue };
            let Some((_, code)) = code.split_once(": ") else { continue };
            let hex = code
                .split(' ')
                .take_while(|part| part.len() == 8 && part.bytes().all(|byte| byte.is_ascii_hexdigit()));
            let bytes: Vec<u8> =
                hex.flat_map(|part| u32::from_str_radix(part, 16).unwrap().to_le_bytes()).collect();
            if bytes.is_empty() {
                continue;
            }
            count += 1;
            let instruction = decoder.with_msb(msb).decode(&bytes);
            // LLVM follows `s_set_vgpr_msb` to the end of the block.
            if instruction.op() == Some(S_SET_VGPR_MSB) {
                msb = VgprMsb(bytes[0]);
            } else if instruction.effects().is_some_and(|effects| effects.flags.contains(Flags::TERMINATOR)) {
                msb = VgprMsb::default();
            }
            let (ours, theirs) = (instruction.to_string(), without_remarks(text.trim()));
            // A branch to another function: objdump prints the name of the target.
            let to_symbol = instruction.target(0).is_some()
                && theirs.split(' ').nth(1).is_some_and(|to| to.parse::<u32>().is_err());
            if to_symbol && theirs.split(' ').next() == ours.split(' ').next() {
                continue;
            }
            if (ours.trim() != theirs || instruction.size() != bytes.len()) && failures.len() < 20 {
                failures.push(format!("{name}\n  objdump {theirs}\n  ours    {ours}"));
            }
        }
    }
    println!("{count} instructions of {} files", files.len().div_ceil(step));
    assert!(count > 10_000, "{count}");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

const S_SET_VGPR_MSB: Op = Op::named("s_set_vgpr_msb");

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|end| end == "hsaco") {
            files.push(path);
        }
    }
}
