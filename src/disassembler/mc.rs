//! `llvm-mc --disassemble`: text without addresses, and how it encodes again what it has decoded.
//!
//! A line is text and encoding: `s_nop 0    ; encoding: [0x00,0x00,0x80,0xbf]`. What is no instruction is said on standard
//! error, by the line of the input, so that there is a dword on each.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

use super::run;
use super::tools::Tool;
use super::{DisassembleError, Instruction, Machine};

/// What it says of bytes that are no instruction.
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

/// A dword on each line.
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

/// The instructions of a listing and of what was said beside it.
pub(super) fn listing(
    text: &str,
    said: &str,
    address: u64,
    bytes: &[u8],
) -> Result<Vec<Instruction>, String> {
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
            let (text, encoding) =
                decoded.next().ok_or_else(|| format!("it says nothing of the byte {at}"))?;
            let size = encoding.split(']').next().unwrap_or_default().split(',').count();
            let size = u8::try_from(size).ok().filter(|size| size.is_multiple_of(4));
            let size = size.ok_or_else(|| format!("no encoding in dwords at the byte {at}"))?;
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            Instruction { address, size, text, is_decoded: true, target: None }
        };
        at += usize::from(instruction.size);
        instructions.push(instruction);
    }
    // It may encode what it has decoded in another size: then all that follows would stand at wrong addresses.
    if at == bytes.len() && decoded.next().is_none() {
        Ok(instructions)
    } else {
        Err("it encodes instructions in other sizes than it has decoded them; llvm-objdump does better"
            .to_owned())
    }
}

/// The byte that a warning is about: `<stdin>:3:1: warning: invalid instruction encoding`.
fn invalid(line: &str) -> Option<usize> {
    let (place, _) = line.split_once(": warning: ").filter(|(_, words)| words.starts_with(INVALID))?;
    let line: usize = place.rsplit(':').nth(1)?.parse().ok()?;
    line.checked_sub(1)?.checked_mul(4)
}
