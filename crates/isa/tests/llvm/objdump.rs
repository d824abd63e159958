//! Code of compilers against llvm-objdump.

use crate::{is_long, without_remarks};
use amdgpu_isa::{Decoder, Flags, Instruction, Op, VgprMsb};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const S_SET_VGPR_MSB: Op = Op::named("s_set_vgpr_msb");

/// The instructions of code that llvm-objdump prints: text, and bytes; a name begins a function.
enum Line {
    Function,
    Instruction(String, Vec<u8>),
}

fn parse(line: &str) -> Option<Line> {
    if line.ends_with(">:") {
        return Some(Line::Function);
    }
    let (text, code) = line.split_once("// ")?;
    let (_, code) = code.split_once(": ")?;
    let words = code
        .split(' ')
        .take_while(|part| part.len() == 8)
        .map_while(|part| u32::from_str_radix(part, 16).ok());
    let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    (!bytes.is_empty()).then(|| Line::Instruction(without_remarks(text.trim()), bytes))
}

/// Whether the text of a branch names its target: llvm-objdump knows the symbols.
fn is_to_symbol(instruction: &Instruction, ours: &str, theirs: &str) -> bool {
    let number = |text: &str| text.split(' ').nth(1).is_some_and(|to| to.parse::<u32>().is_ok());
    let name = |text: &str| text.split(' ').next().map(str::to_owned);
    instruction.target(0).is_some() && !number(theirs) && name(theirs) == name(ours)
}

/// The code objects of the fixtures, or in the long mode of the folder `ISA_CODE`; the names of files have the processor.
#[test]
fn code_is_as_objdump_has_it() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures");
    let folder = std::env::var_os("ISA_CODE").filter(|_| is_long()).map_or(fixtures, PathBuf::from);
    let mut files = Vec::new();
    collect(&folder, &mut files);
    files.sort();
    let step = if is_long() { 1 } else { 9 };
    let (mut failures, mut counts) = (Vec::new(), BTreeMap::<_, (usize, usize)>::new());
    for file in files.iter().step_by(step) {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let Some(processor) = name.split(['-', '.', '_']).find_map(|part| part.strip_prefix("gfx")) else {
            continue;
        };
        let processor = format!("gfx{}", processor.trim_end_matches("w64"));
        let wave = if processor.len() == 6 { 64 } else { 32 };
        let Some(decoder) = Decoder::new(&processor, wave) else { continue };
        let count = counts.entry(processor).or_default();
        let mut msb = VgprMsb::default();
        let mut objdump =
            Command::new("llvm-objdump-22").arg("-d").arg(file).stdout(Stdio::piped()).spawn().unwrap();
        for line in BufReader::new(objdump.stdout.take().unwrap()).lines() {
            let (theirs, bytes) = match parse(&line.unwrap()) {
                Some(Line::Instruction(theirs, bytes)) => (theirs, bytes),
                Some(Line::Function) => {
                    msb = VgprMsb::default();
                    continue;
                }
                None => continue,
            };
            count.0 += 1;
            let instruction = decoder.with_msb(msb).decode(&bytes);
            // LLVM follows `s_set_vgpr_msb` to the end of the block, or to a word that it does not know.
            if instruction.op() == Some(S_SET_VGPR_MSB) {
                msb = VgprMsb(bytes[0]);
            } else if instruction.effects().is_none_or(|effects| effects.flags.contains(Flags::TERMINATOR)) {
                msb = VgprMsb::default();
            }
            let ours = instruction.to_string();
            if is_to_symbol(&instruction, &ours, &theirs) {
                continue;
            }
            if ours.trim() != theirs || instruction.size() != bytes.len() {
                count.1 += 1;
                if count.1 <= 12 {
                    failures.push(format!("{name} {bytes:02x?}\n  objdump {theirs}\n  ours    {ours}"));
                }
            }
        }
        assert!(objdump.wait().unwrap().success(), "{name}");
    }
    let total: usize = counts.values().map(|(count, _)| count).sum();
    println!("{total} instructions of {} files; with differences: {counts:?}", files.len().div_ceil(step));
    assert!(total > 10_000, "{total}");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

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
