//! `llvm-objdump`: arguments and listings.
//!
//! A line has text, `//`, address, dwords and branch target: `s_branch 16    // 7F00001027A0: BF820010 <.text+0x4c>`. A
//! remark may follow after a semicolon.

use std::time::Duration;

use super::error::ListingError;
use super::run;
use super::tools::Tool;
use super::{DisassembleError, Instruction, Machine, elf};

pub(super) fn decode(
    tool: &Tool,
    machine: &Machine,
    address: u64,
    bytes: &[u8],
    limit: Duration,
) -> Result<Vec<Instruction>, DisassembleError> {
    let mut arguments = vec!["--disassemble".to_owned(), "--disassemble-zeroes".to_owned()];
    arguments.extend(tool.for_machine(machine));
    arguments.push("-".to_owned());
    let output = run::run(tool, &arguments, elf::around(address, bytes), limit)?;
    tool.judge(machine, &output)?;
    listing(&output.stdout, address, bytes.len())
        .map_err(|why| DisassembleError::NoListing { tool: tool.name(), why })
}

/// Parses the instructions of a listing of `length` bytes; each must begin at the end of the one before.
pub(super) fn listing(text: &str, address: u64, length: usize) -> Result<Vec<Instruction>, ListingError> {
    let mut instructions = Vec::new();
    let mut next = address;
    let end = address.saturating_add(length as u64);
    for line in text.lines() {
        let Some((code, comment)) = line.rsplit_once("//") else { continue };
        let Some((at, rest)) = comment.split_once(':') else { continue };
        let shown = || line.trim().to_owned();
        let at = u64::from_str_radix(at.trim(), 16).map_err(|_| ListingError::NoAddress(shown()))?;
        if at != next {
            return Err(ListingError::Address { expected: next, line: shown() });
        }
        let is_dword = |word: &&str| word.len() == 8 && word.bytes().all(|digit| digit.is_ascii_hexdigit());
        let dwords = rest.split_whitespace().take_while(is_dword).count();
        let size = u8::try_from(dwords * 4).ok().filter(|size| *size > 0);
        let size = size.ok_or_else(|| ListingError::NoDwords(shown()))?;
        let target = rest.rsplit_once('<').and_then(|(_, target)| target.split_once('>'));
        let target = target.and_then(|(target, _)| address_of(target, address));
        let mut text = code.trim().to_owned();
        // A remark of the tool: `; Warning: SGPR_64: scalar reg isn't aligned 7`.
        if let Some((_, remark)) = rest.split_once(';') {
            let remark = remark.rsplit_once('<').map_or(remark, |(remark, _)| remark);
            text = format!("{text} ; {}", remark.trim());
        }
        let is_decoded = !text.starts_with('.') && !text.starts_with('<');
        let instruction = Instruction { address: at, size, text, is_decoded, target };
        next = instruction.end();
        instructions.push(instruction);
        if next > end {
            return Err(ListingError::TooMuch(shown()));
        }
    }
    if next == end { Ok(instructions) } else { Err(ListingError::End { found: next, expected: end }) }
}

/// Address of `.text+0x4c`, relative to the section's address.
fn address_of(target: &str, address: u64) -> Option<u64> {
    let (symbol, offset) = target.split_once('+').unwrap_or((target, "0x0"));
    let offset = u64::from_str_radix(offset.strip_prefix("0x")?, 16).ok()?;
    match symbol {
        elf::SECTION => address.checked_add(offset),
        elf::ZERO => Some(offset),
        _ => None,
    }
}
