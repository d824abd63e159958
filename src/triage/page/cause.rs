//! Causes other than an access to memory, in sentences.

use super::layout::Page;
use super::{hang, lanes, words};
use crate::debuginfo::source_name;
use crate::notation::{counted, hex_bytes};
use crate::report::fault;
use crate::triage::scene::Scene;
use crate::triage::{Arithmetic, Assertion, Cause, Confidence, Triage};
use crate::units::LaneSet;

/// Maximum number of processors whose instruction is printed.
const MAX_FOREIGN: usize = 3;
/// Maximum number of lanes with operands.
const MAX_OPERANDS: usize = 4;

/// The number of the trap of `abort` and `assert`.
const ABORT: u8 = 2;
/// AMD's names of arithmetic exceptions in words.
const EXCEPTIONS: [(&str, &str); 7] = [
    ("FP_INPUT_DENORMAL", "floating-point input denormal"),
    ("FP_DIVIDE_BY_0", "floating-point division by zero"),
    ("FP_OVERFLOW", "floating-point overflow"),
    ("FP_UNDERFLOW", "floating-point underflow"),
    ("FP_INEXACT", "floating-point result inexact"),
    ("FP_INVALID_OPERATION", "floating-point invalid operation"),
    ("INT_DIVIDE_BY_0", "integer division by zero"),
];

/// An arithmetic exception in words; its name if it has none.
fn exception(name: &str) -> &str {
    EXCEPTIONS.iter().find(|(of, _)| *of == name).map_or(name, |(_, words)| words)
}

/// The first sentence.
pub(super) fn headline(cause: &Cause, triage: &Triage, scene: &Scene<'_>) -> String {
    let kernel = triage.waves.chosen.and_then(|wave| scene.kernel(wave));
    let kernel = kernel.unwrap_or_else(|| "an unknown kernel".to_owned());
    let wave = triage.waves.chosen.map_or_else(String::new, |wave| format!(": wave {}", scene.id(wave)));
    let at = cause.place().and_then(words::place).map_or_else(String::new, |place| format!(", {place}"));
    match cause {
        Cause::Memory => format!("{kernel}: memory fault{wave}"),
        Cause::BadPc { pc, .. } => {
            let from = if at.is_empty() {
                String::new()
            } else {
                format!(", called from {}", at.trim_start_matches(", ").trim_start_matches("in "))
            };
            format!("{kernel} jumps to {pc:#x}, which is no code{wave}{from}")
        }
        Cause::Assertion(of) => {
            let condition = of.condition.as_ref().map(|text| format!(" `{}`", fault::clipped(text)));
            let condition = condition.unwrap_or_default();
            let certainty = if of.is_inferred { " (possible: only the program's output has it)" } else { "" };
            let lanes =
                if of.lanes.is_empty() { String::new() } else { format!("{} of ", words::lanes(of.lanes)) };
            format!("{kernel}: assertion{condition} failed: {lanes}wave {}{at}{certainty}", scene.id(of.wave))
        }
        Cause::Trap { id, .. } => {
            let trap = match id {
                Some(ABORT) => "a trap (abort or failed assertion)".to_owned(),
                Some(id) => format!("trap {id}"),
                None => "a trap".to_owned(),
            };
            format!("{kernel} executes {trap}{wave}{at}")
        }
        Cause::IllegalInstruction { legal: Some(text), .. } => {
            let own = format!("{}{at}", wave.trim_start_matches(": "));
            let legal = format!("the instruction at the PC is legal ({text}): the PC may be late");
            format!("{kernel}: illegal instruction reported; {legal} ({own})")
        }
        Cause::IllegalInstruction { address, .. } => {
            format!("{kernel} executes an illegal instruction at {address:#x}{wave}{at}")
        }
        Cause::Arithmetic(of) => {
            let kinds = of.kinds.iter().map(|kind| exception(kind)).collect::<Vec<_>>();
            let lanes = of.lanes();
            let lanes = match (lanes.is_empty(), of.is_bound) {
                (true, _) => String::new(),
                (false, true) => format!("at most {} of ", words::lanes(lanes)),
                (false, false) => format!("{} of ", words::lanes(lanes)),
            };
            let certainty = match (of.confidence, &of.instruction, of.others.len()) {
                (Confidence::Likely, ..) => " (likely)".to_owned(),
                (Confidence::Possible, Some(_), 0) => " (possible)".to_owned(),
                (Confidence::Possible, Some(_), others) => {
                    format!(" (possible, one of {} instructions)", others + 1)
                }
                _ => String::new(),
            };
            let wave = format!("{lanes}wave {}{at}{certainty}", scene.id(of.wave));
            format!("{kernel}: {}: {wave}", kinds.join(", "))
        }
        Cause::Ecc => format!("{kernel}: uncorrectable memory error of the GPU{wave}"),
        Cause::Queue(of) => {
            let kernel =
                of.kernel.as_ref().map_or_else(String::new, |kernel| format!("{}: ", source_name(kernel)));
            format!("{kernel}{}", of.text)
        }
        Cause::Breakpoint { .. } => {
            let info = triage.waves.chosen.and_then(|wave| scene.info(wave));
            let reason = info.map_or_else(String::new, |info| format!(" ({})", info.cause));
            format!("{kernel} stopped for a debugger{reason}{wave}{at}")
        }
        Cause::Bystander { faulted } => {
            let own = wave.trim_start_matches(": ");
            format!("{kernel}: {own} has no fault of its own; wave {} faulted", scene.id(*faulted))
        }
        Cause::Hang => hang::headline(triage.hang.as_ref(), scene),
    }
}

/// The rows of the evidence.
pub(super) fn rows(cause: &Cause, triage: &Triage, scene: &Scene<'_>, page: &mut Page) {
    match cause {
        Cause::BadPc { holders, .. } if !holders.is_empty() => {
            page.row("Because", &format!("the PC is also in {}", holders.join(", ")));
        }
        Cause::IllegalInstruction { bytes, elsewhere, compiled_for, .. } => {
            if !bytes.is_empty() {
                page.row("Bytes", &hex_bytes(bytes));
            }
            if let Some(processor) = compiled_for {
                page.row("Because", &format!("the code object is for {processor}"));
            }
            let each = elsewhere.iter().take(MAX_FOREIGN).map(|of| format!("{}: {}", of.processor, of.text));
            page.list("Decodes", each.chain(words::more(elsewhere.len(), MAX_FOREIGN)));
        }
        Cause::Arithmetic(of) => arithmetic(of, page),
        _ => {}
    }
    let wave = match cause {
        Cause::Assertion(Assertion { wave, .. }) | Cause::Arithmetic(Arithmetic { wave, .. }) => Some(*wave),
        Cause::Hang | Cause::Queue(_) => None,
        _ => triage.waves.chosen,
    };
    if let Some(wave) = wave {
        let fault = match cause {
            Cause::Arithmetic(of) => (lanes::certainty(of.is_bound, of.confidence), of.lanes()),
            _ => ("", LaneSet::EMPTY),
        };
        lanes::rows_with(&scene.lanes(wave), fault, LaneSet::EMPTY, page);
    }
}

fn arithmetic(of: &Arithmetic, page: &mut Page) {
    if let Some((address, text)) = &of.instruction {
        page.row("Operation", &format!("{text} at {address:#x}"));
    } else {
        page.row("Operation", "unknown: no instruction that can raise it was found before the PC");
    }
    let listed = of.others.iter().take(MAX_FOREIGN).map(|(address, text)| format!("{text} at {address:#x}"));
    page.list("Others", listed.chain(words::more(of.others.len(), MAX_FOREIGN)));
    // Lanes with equal operands are one item.
    let mut by_text: Vec<(&str, LaneSet)> = Vec::new();
    for (lane, text) in &of.operands {
        let lane = lane.map_or(LaneSet::default(), LaneSet::one);
        match by_text.iter_mut().find(|(known, _)| known == text) {
            Some((_, lanes)) => *lanes = lanes.or(lane),
            None => by_text.push((text, lane)),
        }
    }
    let each = by_text.iter().take(MAX_OPERANDS).map(|(text, lanes)| match lanes.is_empty() {
        // A scalar operation.
        true => (*text).to_owned(),
        false => format!("{}: {text}", words::lanes(*lanes)),
    });
    let more: u32 = by_text.iter().skip(MAX_OPERANDS).map(|(_, lanes)| lanes.count()).sum();
    let more = (more > 0).then(|| format!("and {}", counted(more, "more lane")));
    page.list("Operands", each.chain(more));
    if let Some(doubt) = &of.doubt {
        page.row("Because", doubt);
    }
}
