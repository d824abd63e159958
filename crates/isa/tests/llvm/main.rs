//! Each encoding of each processor against libLLVM 22: validity, size, text with mnemonic and operands, and in the long mode
//! operands and implicit registers by LLVM's descriptions.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panics, and prints what it compared"
)]

mod classes;
mod objdump;
mod operands;
mod words;

use amdgpu_isa::{Decoder, Instruction};
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
/// Bytes of a word with what follows it.
const RECORD: usize = 20;
/// Fills of each encoding whose operands are compared, too.
const DESCRIBED: usize = 6;

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

/// LLVM's answers by a script: a line a word.
fn ask(script: &str, processor: &str, wave: u8, words: &[u8]) -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let name = format!("isa-{script}-{}-{processor}-{wave}", std::process::id());
    let (input, output) = (folder.join(format!("{name}.words")), folder.join(format!("{name}.text")));
    std::fs::write(&input, words).unwrap();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/llvm/{script}.py"));
    let status = Command::new("python3")
        .arg(file)
        .args([processor, &wave.to_string()])
        .args([&input, &output])
        .status()
        .unwrap();
    assert!(status.success(), "{script}.py needs libLLVM.so.22.1, or what scripts/make-isa needs");
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

/// Whether LLVM has the same for a word; `Err` with the class of a known difference, or without one.
///
/// `described` has the text and the operands by LLVM's descriptions.
fn compare(
    processor: &str,
    instruction: &Instruction,
    answer: &str,
    described: Option<&str>,
) -> Result<(), Option<&'static str>> {
    let ours = instruction.to_string();
    let is_described = || {
        described.is_none_or(|line| {
            let (text, operands) = line.split_once('\t').unwrap_or_default();
            without_remarks(text) == ours && operands == operands::shape(instruction)
        })
    };
    let Some((size, text)) = answer.split_once('\t') else {
        return match instruction.is_valid() {
            _ if answer == "!" => Err(Some("LLVM crashes")),
            // Soft failures: llvm-objdump prints them, the C API has no text.
            true if ours.starts_with("v_cmpx_") && described != Some("-") => {
                let operands = classes::two_literals(processor, instruction, &ours);
                Err(if is_described() { Some("reserved destination") } else { operands })
            }
            true => Err(classes::accepted(processor, instruction, &ours)),
            false if instruction.size() == 4 => Ok(()),
            false => Err(None),
        };
    };
    let theirs = without_remarks(text);
    if !instruction.is_valid() {
        Err(classes::rejected(processor, &theirs))
    } else if size.parse() != Ok(instruction.size()) || theirs != ours {
        Err(classes::known(processor, instruction, &ours, &theirs))
    } else if !is_described() {
        Err(classes::two_literals(processor, instruction, &ours))
    } else {
        Ok(())
    }
}

#[test]
fn every_encoding_is_as_llvm_has_it() {
    let (each, step) = if is_long() { (fills(), 1) } else { (1, 6) };
    // Of each class of differences how many words, and the first one.
    let (mut failures, mut classes, mut count) = (Vec::new(), BTreeMap::<_, (usize, String)>::new(), 0);
    for (processor, wave) in processors() {
        let decoder = Decoder::new(processor, wave).unwrap();
        let of_family = |name: &str| name.starts_with(&processor[..processor.len() - 2]);
        let others = PROCESSORS.into_iter().filter(|(name, _)| of_family(name));
        let others: Vec<_> = others.filter_map(|(name, wave)| Decoder::new(name, wave)).collect();
        let words = words::words(&decoder, &others, each, step);
        let answers = ask("oracle", processor, wave, &words);
        assert_eq!(answers.len(), words.len() / RECORD, "an answer a word");
        // The descriptions need what `scripts/make-isa` needs.
        let is_described = |at: &usize| is_long() && at % each < DESCRIBED;
        let chosen = words.chunks(RECORD).enumerate().filter(|(at, _)| is_described(at));
        let chosen = chosen.flat_map(|(_, word)| word).copied().collect::<Vec<_>>();
        let lines = if is_long() { ask("operands", processor, wave, &chosen) } else { Vec::new() };
        let (mut lines, mut here) = (lines.iter(), 0);
        for (at, (word, answer)) in words.chunks(RECORD).zip(&answers).enumerate() {
            let instruction = decoder.decode(word);
            let described = is_described(&at).then(|| lines.next().unwrap().as_str());
            let Err(class) = compare(processor, &instruction, answer, described) else { continue };
            let show = || {
                let hex: String = word.iter().map(|byte| format!("{byte:02x}")).collect();
                let ours =
                    format!("{}\t{instruction}\t{}", instruction.size(), operands::shape(&instruction));
                let described = described.unwrap_or_default();
                format!("{processor} wave{wave} {hex}\n  LLVM {answer}\n       {described}\n  ours {ours}")
            };
            if let Some(class) = class {
                classes.entry(class).or_insert_with(|| (0, show())).0 += 1;
            } else {
                here += 1;
                failures.extend((here <= 12).then(show));
            }
        }
        count += answers.len();
        println!(
            "{processor} wave{wave}: {} words, {} with operands, {here} differ",
            answers.len(),
            chosen.len() / RECORD
        );
        if here > 0 {
            failures.push(format!("{processor} wave{wave}: {here} of {}", answers.len()));
        }
    }
    println!("{count} words");
    for (class, (count, first)) in classes {
        println!("{class}: {count}, such as {first}");
    }
    assert!(count > 0 && failures.is_empty(), "{}", failures.join("\n"));
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
        for (word, answer) in words.chunks(RECORD).zip(ask("oracle", processor, wave, &words)) {
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
