//! Memory around an address to scale, 360 units wide.

use super::super::model::{AccessAt, Hex, MemoryPicture};
use crate::notation::{self, counted};

/// Width of the picture, and least width of a span.
const WIDTH: u128 = 360;
const LEAST: u128 = 2;
/// Part of the picture on both sides of the memory, as a divisor.
const MARGIN: u128 = 10;
/// Maximum ratio of a picture to its memory: a smaller block is a line.
const MAX_RATIO: u128 = 2000;
/// Names of spans in the picture.
const NAMES: [&str; 6] = ["A", "B", "C", "D", "E", "F"];

/// A picture with its legend.
pub(super) struct Map<'m> {
    pub(super) of: &'m MemoryPicture,
    pub(super) spans: Vec<Span>,
    /// Whether the picture has memory that is large enough to see.
    pub(super) is_near: bool,
    /// Positions of the accesses.
    pub(super) marks: Vec<u128>,
    /// The width in words: `5.0 KiB from side to side`.
    pub(super) scale: String,
    /// Descriptions of the accesses.
    pub(super) accesses: Vec<String>,
    pub(super) lines: Vec<Line>,
}

/// Listed memory.
pub(super) struct Span {
    pub(super) letter: &'static str,
    pub(super) x: u128,
    pub(super) width: u128,
    /// Whether the picture shows a part of it.
    pub(super) is_shown: bool,
    pub(super) words: String,
}

/// A line of bytes.
pub(super) struct Line {
    pub(super) address: Hex,
    pub(super) bytes: Vec<Byte>,
}

/// A byte.
pub(super) struct Byte {
    pub(super) text: String,
    /// Whether an access reaches it.
    pub(super) is_accessed: bool,
}

impl<'m> Map<'m> {
    pub(super) fn of(of: &'m MemoryPicture) -> Self {
        let address = of.address.0;
        let distance = |span: &super::super::model::MemorySpan| {
            let is_within = (span.start.0..=span.last.0).contains(&address);
            if is_within { 0 } else { span.start.0.abs_diff(address).min(span.last.0.abs_diff(address)) }
        };
        // The memory of the pointer, else the nearest.
        let main = of.spans.iter().min_by_key(|span| (span.pointer.is_none(), distance(span)));
        let addresses = || of.accesses.iter().map(|access| access.address.0).chain([address]);
        let low = addresses().chain(main.map(|span| span.start.0)).min().unwrap_or(address);
        let high = addresses().chain(main.map(|span| span.last.0)).max().unwrap_or(address);
        let size = u128::from(high.saturating_sub(low)).max(64);
        let (low, size) = (u128::from(low).saturating_sub(size / MARGIN), size + 2 * size / MARGIN);
        let x = |address: u64| (u128::from(address).saturating_sub(low) * WIDTH / size).min(WIDTH);
        let is_shown = |start: u64, last: u64| u128::from(last) >= low && u128::from(start) <= low + size;
        let spans = of.spans.iter().zip(NAMES).map(|(span, letter)| {
            let (start, end) = (x(span.start.0), x(span.last.0.saturating_add(1)));
            let name = span.name.as_ref().map_or(String::new(), |name| format!(" {name}"));
            let pointer = span
                .pointer
                .as_ref()
                .map_or(String::new(), |pointer| format!(", pointer {pointer} leads here"));
            let code = if span.is_code { ", code" } else { "" };
            let bytes = notation::size(u128::from(span.last.0.saturating_sub(span.start.0)) + 1);
            Span {
                letter,
                x: start.min(WIDTH - LEAST),
                width: end.saturating_sub(start).max(LEAST),
                is_shown: is_shown(span.start.0, span.last.0),
                words: format!("{letter}:{name} {} to {}, {bytes}{code}{pointer}", span.start, span.last),
            }
        });
        Self {
            of,
            spans: spans.collect(),
            is_near: main
                .is_some_and(|span| u128::from(span.last.0.saturating_sub(span.start.0)) >= size / MAX_RATIO),
            marks: addresses().map(x).collect(),
            scale: notation::size(size),
            accesses: of.accesses.iter().take(4).map(access).collect(),
            lines: lines(of),
        }
    }

    /// Whether it is the LDS of a work-group.
    pub(super) fn is_lds(&self) -> bool {
        self.of.is_lds()
    }

    /// The number of accesses that `accesses` lacks.
    pub(super) fn more(&self) -> usize {
        self.of.accesses.len().saturating_sub(self.accesses.len()) + self.of.accesses_left_out
    }
}

/// `lane 24: 4 bytes at 0x7f0000201000`
fn access(of: &AccessAt) -> String {
    let lane = of.lane.map_or_else(|| "scalar access".to_owned(), |lane| format!("lane {lane}"));
    let bytes = of.bytes.map_or_else(|| "access".to_owned(), |bytes| counted(bytes, "byte"));
    format!("{lane}: {bytes} at {}", of.address)
}

fn lines(of: &MemoryPicture) -> Vec<Line> {
    let Some(window) = &of.bytes else { return Vec::new() };
    let is_accessed = |address: u64| {
        of.accesses
            .iter()
            .any(|access| address.wrapping_sub(access.address.0) < u64::from(access.bytes.unwrap_or(1)))
    };
    let line = |(index, bytes): (u64, &[Option<u8>])| {
        let start = window.start.0.saturating_add(index * 16);
        let bytes = bytes.iter().zip(start..).map(|(byte, address)| Byte {
            text: byte.map_or("xx".to_owned(), |byte| format!("{byte:02x}")),
            is_accessed: is_accessed(address),
        });
        Line { address: Hex(start), bytes: bytes.collect() }
    };
    (0..).zip(window.bytes.chunks(16)).map(line).collect()
}
