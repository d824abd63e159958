//! The installed tools on raw bytes, against `llvm-objdump` on each fixture's file with sections and symbols.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::machine;
use crate::arch::Processor;
use crate::codeobject::{CodeObject, ElfAddress, newest_llvm};
use crate::disassembler::batch::PADDING;
use crate::disassembler::{DisassembleError, Disassembler, Instruction, MAX_BLOCK, Machine, UNKNOWN_MSB};
use crate::sample::{is_long, least, sampled};

fn objects() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/code");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut files: Vec<_> = files.filter(|file| file.extension().is_some_and(|ext| ext == "hsaco")).collect();
    files.sort();
    assert!(files.len() > 50);
    files
}

/// Address and bytes of a file's code, and its processor.
fn code(path: &Path) -> (u64, Vec<u8>, Machine) {
    let object = CodeObject::parse(std::fs::read(path).unwrap()).unwrap();
    let text = object.text().unwrap();
    let bytes = object.bytes_at(ElfAddress(text.start.0), text.end.0 - text.start.0).unwrap().to_vec();
    let mut machine = machine(Processor::of_mach(object.header().mach()).unwrap().name);
    if path.to_string_lossy().contains("w64") {
        machine.features.push("+wavefrontsize64");
    }
    (text.start.0, bytes, machine)
}

/// Address, text and branch target of each instruction of a file.
type Listing = BTreeMap<u64, (String, Option<u64>)>;

/// Some files, each with its listing according to `llvm-objdump` on the original file.
fn listed() -> Vec<(PathBuf, Listing)> {
    // A run takes the processor of the first file for all.
    let mut of_machines: BTreeMap<String, (Machine, Vec<PathBuf>)> = BTreeMap::new();
    for path in sampled(objects(), 3) {
        let (.., machine) = code(&path);
        of_machines.entry(format!("{machine:?}")).or_insert((machine, Vec::new())).1.push(path);
    }
    let mut all = Vec::new();
    for (machine, paths) in of_machines.into_values() {
        let mut command = Command::new(newest_llvm("llvm-objdump"));
        command.args(["-d", "-z", "-j", ".text"]);
        command.args(machine.features.iter().map(|feature| format!("--mattr={feature}")));
        let output = command.args(&paths).output().unwrap();
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).unwrap();
        let texts: Vec<&str> = text.split(":\tfile format ").skip(1).collect();
        assert_eq!(texts.len(), paths.len(), "{text}");
        all.extend(paths.into_iter().zip(texts.into_iter().map(listing)));
    }
    all
}

fn listing(text: &str) -> Listing {
    let symbols: BTreeMap<&str, u64> = text
        .lines()
        .filter_map(|line| line.strip_suffix(">:")?.split_once(" <"))
        .map(|(address, name)| (name, u64::from_str_radix(address, 16).unwrap()))
        .collect();
    let mut found = BTreeMap::new();
    for line in text.lines().filter(|line| line.starts_with('\t')) {
        let (text, comment) = line.rsplit_once("//").unwrap();
        let (address, rest) = comment.trim().split_once(':').unwrap();
        let target = rest.split_once('<').map(|(_, target)| {
            let target = target.strip_suffix('>').unwrap();
            let (symbol, offset) = target.split_once("+0x").unwrap_or((target, "0"));
            symbols[symbol] + u64::from_str_radix(offset, 16).unwrap()
        });
        let address = u64::from_str_radix(address, 16).unwrap();
        let mut text = text.trim().to_owned();
        let mut target = target;
        // The operand of a branch to a symbol's start is that symbol. Raw bytes have only the offset: dwords behind the
        // branch, in 16 bits (SOPP of the ISA documents).
        if let Some((mnemonic, &symbol)) =
            text.rsplit_once(' ').and_then(|(mnemonic, last)| Some((mnemonic, symbols.get(last)?)))
        {
            target = Some(symbol);
            text = format!("{mnemonic} {}", (symbol.wrapping_sub(address + 4) as i64 / 4) as u16);
        }
        found.insert(address, (text, target));
    }
    assert!(found.len() > 5, "{text}");
    found
}

/// Decodes all code of a file, block by block.
fn all(disassembler: &Disassembler, machine: &Machine, start: u64, bytes: &[u8]) -> Vec<Instruction> {
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let block = disassembler.decode(machine, start + at as u64, &bytes[at..]).unwrap();
        let last = block.instructions.last().unwrap();
        at = (last.end() - start) as usize;
        found.extend(block.instructions.iter().cloned());
    }
    found
}

/// `llvm-mc` has no targets.
#[test]
fn both_tools_list_bytes_like_the_file() {
    let disassembler = Disassembler::new(Some(newest_llvm("llvm-objdump")));
    let mc = Disassembler::new(Some(newest_llvm("llvm-mc")));
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let (mut count, mut targets) = (0, 0);
    for (path, expected) in listed() {
        let (start, bytes, machine) = code(&path);
        let got = all(&disassembler, &machine, start, &bytes);
        let got: BTreeMap<_, _> = got.into_iter().map(|one| (one.address, (one.text, one.target))).collect();
        assert_eq!(got, expected, "{}", path.display());
        count += got.len();
        targets += got.values().filter(|(_, target)| target.is_some()).count();
        let expected = expected.into_iter().map(|(address, (text, _))| (address, squeezed(&text)));
        let got = all(&mc, &machine, start, &bytes);
        let got: BTreeMap<_, _> = got.into_iter().map(|one| (one.address, one.text)).collect();
        let mut expected: BTreeMap<_, _> = expected.collect();
        // Only llvm-objdump names the registers that MODE's bits select.
        let remark = format!(" ; {UNKNOWN_MSB}");
        let got = got.into_iter().map(|(address, text)| {
            let Some(plain) = text.strip_suffix(&remark) else { return (address, text) };
            let named = expected.get_mut(&address).unwrap();
            while let Some((before, (_, after))) =
                named.split_once(" /*").and_then(|(before, rest)| Some((before, rest.split_once("*/")?)))
            {
                *named = format!("{before}{after}");
            }
            (address, plain.to_owned())
        });
        let got: BTreeMap<_, _> = got.collect();
        assert!(expected.values().all(|text| !text.contains("/*")), "{}", path.display());
        assert_eq!(got, expected, "{}", path.display());
    }
    assert!(
        count > least(10_000, 3_000) && targets > least(100, 30),
        "{count} instructions, {targets} branches"
    );
}

/// Code from the middle of a function: the registers are unknown up to the next `s_set_vgpr_msb`.
#[test]
fn registers_beyond_v255_need_the_instructions_before() {
    let path = objects().into_iter().find(|path| path.ends_with("wide-gfx1250-O2.hsaco")).unwrap();
    let (start, bytes, machine) = code(&path);
    let disassembler = Disassembler::default();
    let whole = disassembler.decode(&machine, start, &bytes).unwrap();
    let load = whole.instructions.iter().find(|one| one.text.contains("v44 /*v300*/")).unwrap();
    let from = (load.address - start) as usize;
    let inside = Machine { begins_inside: true, ..machine.clone() };
    let part = disassembler.decode(&inside, load.address, &bytes[from..]).unwrap();
    assert!(
        part.instructions[0].text.starts_with("global_load_b32 v44, v0"),
        "{}",
        part.instructions[0].text
    );
    assert!(part.instructions[0].text.ends_with(UNKNOWN_MSB));
    let sets = |one: &Instruction| one.text.starts_with("s_set_vgpr_msb");
    let known = part.instructions.iter().position(sets).unwrap();
    let is_marked = |one: &&Instruction| one.text.ends_with(UNKNOWN_MSB);
    assert!(part.instructions[known..].iter().all(|one| !one.text.ends_with(UNKNOWN_MSB)));
    assert!(part.instructions[..known].iter().filter(is_marked).count() > 15);
    // Behind it both listings agree.
    let rest: Vec<_> =
        whole.instructions.iter().filter(|one| one.address >= part.instructions[known].address).collect();
    assert_eq!(rest, part.instructions[known..].iter().collect::<Vec<_>>());
    // A second piece does not begin with the bits of the first one's end.
    let cut = &bytes[..from];
    let blocks = disassembler.decode_all(&machine, &[(start, cut), (start, &bytes)]).unwrap();
    assert_eq!(blocks[1].instructions, whole.instructions);
}

/// Random dwords (xorshift with a fixed seed).
fn noise(mut seed: u64, dwords: usize) -> Vec<u8> {
    let mut next = || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 16) as u32
    };
    (0..dwords).flat_map(|_| next().to_le_bytes()).collect()
}

#[test]
fn noise_is_decoded_to_its_end_or_refused() {
    let disassembler = Disassembler::new(Some(newest_llvm("llvm-objdump")));
    let mc = Disassembler::new(Some(newest_llvm("llvm-mc")));
    let (mut bad, mut agreed) = (0, 0);
    for processor in ["gfx900", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1200"] {
        for seed in 1..4 {
            let machine = machine(processor);
            let bytes = noise(seed, 1000);
            let block = disassembler.decode(&machine, 0x7f00_0000_1000, &bytes).unwrap();
            let mut next = 0x7f00_0000_1000;
            for one in &block.instructions {
                assert_eq!(one.address, next);
                next = one.end();
            }
            let missing = 0x7f00_0000_1000 + bytes.len() as u64 - next;
            assert!(missing < PADDING as u64, "{missing} bytes were left out");
            bad += block.instructions.iter().filter(|one| !one.is_decoded).count();
            match mc.decode(&machine, 0x7f00_0000_1000, &bytes) {
                Ok(other) => {
                    let place = |one: &Instruction| (one.address, one.size, one.is_decoded);
                    let places = other.instructions.iter().map(place);
                    assert!(places.eq(block.instructions.iter().take(other.instructions.len()).map(place)));
                    agreed += other.instructions.len();
                }
                // `llvm-mc` encodes some noise differently and crashes on other noise.
                Err(DisassembleError::NoListing { .. } | DisassembleError::Failed { .. }) => {}
                Err(other) => panic!("{other}"),
            }
        }
    }
    assert!(bad > 100, "{bad} dwords were no instructions");
    assert!(agreed > 100, "llvm-mc agreed on {agreed} only");
}

/// `s_mov_b32 s0, 0x12345678`: the tool gets no instruction without its literal, and no literal is invented.
#[test]
fn an_instruction_that_is_cut_off_is_left_out() {
    let code = [0, 0, 0x80, 0xbf, 0xff, 0, 0x80, 0xbe, 0x78, 0x56, 0x34, 0x12];
    for tool in ["llvm-objdump", "llvm-mc"] {
        let disassembler = Disassembler::new(Some(newest_llvm(tool)));
        for length in 0..=code.len() {
            let block = disassembler.decode(&machine("gfx90a"), 0x1000, &code[..length]).unwrap();
            let texts: Vec<_> = block.instructions.iter().map(|one| one.text.as_str()).collect();
            let whole = ["s_nop 0", "s_mov_b32 s0, 0x12345678"];
            assert_eq!(
                texts,
                whole[..usize::from(length >= 4) + usize::from(length == 12)],
                "{tool} {length}"
            );
        }
    }
}

#[test]
fn addresses_and_sizes_are_bounded() {
    let disassembler = Disassembler::default();
    let gfx90a = machine("gfx90a");
    let error = disassembler.decode(&gfx90a, 0x1002, &[0; 4]).unwrap_err();
    assert_eq!(error, DisassembleError::Unaligned(0x1002));
    let high = u64::MAX - 3;
    assert!(disassembler.decode(&gfx90a, high, &[0; 4]).unwrap().instructions.is_empty());
    let high = disassembler.decode(&gfx90a, u64::MAX - 63, &[0; 64]).unwrap();
    assert_eq!(high.instructions.len(), 7);
    let nops = [0u8, 0, 0x80, 0xbf].repeat(MAX_BLOCK / 4 + 10);
    let block = disassembler.decode(&gfx90a, 0, &nops).unwrap();
    assert_eq!((block.bytes.len(), block.instructions.len()), (MAX_BLOCK, MAX_BLOCK / 4));
}

/// Pieces of several files in one run are listed as each of them alone, with their own branch targets.
#[test]
fn several_pieces_are_listed_as_each_alone() {
    for tool in ["llvm-objdump", "llvm-mc"] {
        let program = newest_llvm(tool);
        type Pieces = Vec<(u64, Vec<u8>)>;
        let mut of_machine: BTreeMap<String, (Machine, Pieces)> = BTreeMap::new();
        let branching = |path: &PathBuf| {
            let path = path.to_string_lossy();
            is_long() || path.contains("diverge-") || path.contains("w64")
        };
        for path in objects().into_iter().filter(branching) {
            let (start, bytes, machine) = code(&path);
            let pieces = of_machine.entry(format!("{machine:?}")).or_insert((machine, Vec::new()));
            // A cut inside of an instruction must not reach into the next piece.
            let cut = bytes.len() / 8 * 4;
            pieces.1.extend([(start, bytes[..cut].to_vec()), (start + cut as u64, bytes[cut..].to_vec())]);
        }
        let (mut pieces, mut targets) = (0, 0);
        for (machine, all) in of_machine.values() {
            let (batch, alone) = [0, 1].map(|_| Disassembler::new(Some(program.clone()))).into();
            let given: Vec<(u64, &[u8])> = all.iter().map(|(at, bytes)| (*at, bytes.as_slice())).collect();
            let got = batch.decode_all(machine, &given).unwrap();
            for ((address, bytes), got) in given.iter().zip(&got) {
                let expected = alone.decode(machine, *address, bytes).unwrap();
                assert_eq!(got.instructions, expected.instructions, "{tool} {machine:?}");
                assert_eq!(got.bytes, expected.bytes);
                targets += got.instructions.iter().filter(|one| one.target.is_some()).count();
            }
            pieces += given.len();
        }
        assert!(
            pieces > least(30, 20) && (targets > 20 || tool == "llvm-mc"),
            "{pieces} pieces, {targets} branches"
        );
    }
}
