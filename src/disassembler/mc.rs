//! `llvm-mc --disassemble`: listings without addresses, with the second encoding of each decoded instruction.
//!
//! A line is text and encoding: `s_nop 0    ; encoding: [0x00,0x00,0x80,0xbf]`. The tool reports invalid instructions
//! on standard error, by the line of the input, so each line has one dword. If an encoding differs from the code, the
//! listing ends before it.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use super::error::ListingError;
use super::run;
use super::tools::Tool;
use super::{DisassembleError, Instruction, Machine};

/// The tool's message for invalid bytes.
const INVALID: &str = "invalid instruction encoding";
const ENCODING: &str = "; encoding: [";

pub(super) fn decode(
    tool: &Tool,
    machine: &Machine,
    address: u64,
    bytes: &[u8],
    limit: Duration,
) -> Result<Vec<Instruction>, DisassembleError> {
    let mut arguments = vec![
        "--disassemble".to_owned(),
        "--triple=amdgcn-amd-amdhsa".to_owned(),
        "--show-encoding".to_owned(),
    ];
    arguments.extend(tool.for_machine(machine));
    let output = run::run(tool, &arguments, input(bytes).into_bytes(), limit)?;
    tool.judge(machine, &output)?;
    listing(&output.stdout, &output.stderr, address, bytes)
        .map_err(|why| DisassembleError::NoListing { tool: tool.name(), why })
}

/// Formats one dword per line.
fn input(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 5);
    for dword in bytes.chunks(4) {
        for byte in dword {
            let _ = write!(text, "{byte:#04x} ");
        }
        text.push('\n');
    }
    text
}

/// Parses the instructions of a listing and its messages.
pub(super) fn listing(
    text: &str,
    said: &str,
    address: u64,
    bytes: &[u8],
) -> Result<Vec<Instruction>, ListingError> {
    let invalid: BTreeSet<usize> = said.lines().filter_map(invalid).collect();
    let mut decoded = text.lines().filter_map(|line| line.split_once(ENCODING));
    let mut instructions = Vec::new();
    let mut at = 0;
    while let Some(dword) = bytes.get(at..).and_then(|rest| rest.first_chunk::<4>()) {
        let address = address.saturating_add(at as u64);
        let instruction = if invalid.contains(&at) {
            let text = format!(".long {:#010x} ({INVALID})", u32::from_le_bytes(*dword));
            Instruction { address, size: 4, text, is_decoded: false, target: None }
        } else {
            let (text, encoding) = decoded.next().ok_or(ListingError::Short(at))?;
            // A different encoding may have a different size, which would shift all later instructions.
            let Some(size) = size_of(encoding, bytes.get(at..).unwrap_or_default()) else {
                return if instructions.is_empty() {
                    Err(ListingError::Encoding(at))
                } else {
                    Ok(instructions)
                };
            };
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            Instruction { address, size, text, is_decoded: true, target: None }
        };
        at += usize::from(instruction.size);
        instructions.push(instruction);
    }
    if at == bytes.len() && decoded.next().is_none() {
        Ok(instructions)
    } else {
        Err(ListingError::Long { at, size: bytes.len() })
    }
}

/// Returns the size of the encoding `0x00,0x00,0x80,0xbf]` if it equals the bytes.
fn size_of(encoding: &str, bytes: &[u8]) -> Option<u8> {
    let list = encoding.split(']').next()?;
    let mut size = 0u8;
    for (digits, byte) in list.split(',').zip(bytes) {
        let said = u8::from_str_radix(digits.trim().strip_prefix("0x")?, 16).ok()?;
        if said != *byte {
            return None;
        }
        size = size.checked_add(1)?;
    }
    let is_whole = list.split(',').count() == usize::from(size);
    (is_whole && size > 0 && size.is_multiple_of(4)).then_some(size)
}

/// Returns the byte offset of a warning: `<stdin>:3:1: warning: invalid instruction encoding`.
fn invalid(line: &str) -> Option<usize> {
    let (place, _) = line.split_once(": warning: ").filter(|(_, words)| words.starts_with(INVALID))?;
    let line: usize = place.rsplit(':').nth(1)?.parse().ok()?;
    line.checked_sub(1)?.checked_mul(4)
}
