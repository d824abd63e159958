//! A client's changes, as text.

use std::fmt::Write as _;

use crate::notation::counted;
use crate::session::{Changes, Dropped, MemoryChange, RegisterChange, Reset};

/// A line for each change: `wave 3 v2[lane 5]: 0x1 -> 0x2`.
#[must_use]
pub(crate) fn text(changes: &Changes) -> String {
    let mut text = String::new();
    for change in &changes.registers {
        let old = change.old.map_or("not captured".to_owned(), |old| format!("{old:#x}"));
        let _ = writeln!(text, "{}: {old} -> {:#x}", register(change), change.new);
    }
    for change in &changes.memory {
        let _ = writeln!(text, "{}", memory(change));
    }
    if changes.left_out > 0 {
        let _ = writeln!(text, "{} more are not listed.", changes.left_out);
    }
    if text.is_empty() {
        text.push_str("Nothing is changed: everything reads as it was captured.\n");
    }
    text
}

fn register(change: &RegisterChange) -> String {
    let mut words = format!("wave {} {}", change.id, change.name);
    match (change.lane, change.dword) {
        (Some(lane), _) => {
            let _ = write!(words, "[lane {lane}]");
        }
        // AMD's notation for a part of a register.
        (None, Some(dword)) => {
            let first = u32::from(dword) * 32;
            let _ = write!(words, "[{}:{first}]", first + 31);
        }
        (None, None) => {}
    }
    if !change.aliases.is_empty() {
        let _ = write!(words, " (in {})", change.aliases.join(", "));
    }
    words
}

fn memory(change: &MemoryChange) -> String {
    let old = change.old.iter().map(|byte| byte.map_or("xx".to_owned(), |byte| format!("{byte:02x}")));
    let new = change.new.iter().map(|byte| format!("{byte:02x}"));
    let (old, new): (Vec<String>, Vec<String>) = (old.collect(), new.collect());
    let more = if change.length > new.len() as u64 {
        format!(" ... ({} bytes)", change.length)
    } else {
        String::new()
    };
    format!("{}: {} -> {}{more}", change.words, old.join(" "), new.join(" "))
}

/// `Dropped 3 changed dwords of registers and 4 changed bytes of memory.`
#[must_use]
pub(crate) fn dropped(what: Reset, dropped: Dropped) -> String {
    let registers = format!("{} of registers", counted(dropped.dwords, "changed dword"));
    let memory = format!("{} of memory", counted(dropped.bytes, "changed byte"));
    match what {
        Reset::All => format!("Dropped {registers} and {memory}."),
        Reset::Registers => format!("Dropped {registers}."),
        Reset::Memory => format!("Dropped {memory}."),
    }
}
