//! Causes other than an access to memory, in sentences.

use super::layout::Page;
use super::{hang, lanes, words};
use crate::notation::{counted, hex_bytes};
use crate::triage::scene::Scene;
use crate::triage::{Arithmetic, Assertion, Cause, SourceAt, Triage};

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

/// The place of a cause in the source.
pub(super) fn place(cause: &Cause) -> Option<&SourceAt> {
    match cause {
        Cause::BadPc { caller, .. } => caller.as_ref(),
        Cause::Assertion(of) => Some(&of.at),
        Cause::Trap { at, .. } | Cause::IllegalInstruction { at, .. } | Cause::Breakpoint { at, .. } => {
            Some(at)
        }
        Cause::Arithmetic(of) => Some(&of.at),
        _ => None,
    }
}

/// The first sentence.
pub(super) fn headline(cause: &Cause, triage: &Triage, scene: &Scene<'_>) -> String {
    let kernel = triage.waves.chosen.and_then(|wave| scene.kernel(wave));
    let kernel = kernel.unwrap_or_else(|| "an unknown kernel".to_owned());
    let wave = triage.waves.chosen.map_or_else(String::new, |wave| format!(": wave {}", scene.id(wave)));
    let at = place(cause).and_then(words::place).map_or_else(String::new, |place| format!(", {place}"));
    match cause {
        Cause::Memory => format!("{kernel}: memory fault{wave}"),
        Cause::BadPc { pc, .. } => {
            let from = if at.is_empty() {
                String::new()
            } else {
                format!(", called from {}", at.trim_start_matches(", "))
            };
            format!("{kernel} jumps to {pc:#x}, which is no code{wave}{from}")
        }
        Cause::Assertion(of) => {
            let condition = of.condition.as_ref().map_or_else(String::new, |text| format!(" `{text}`"));
            let lanes =
                if of.lanes.is_empty() { String::new() } else { format!("{} of ", words::lanes(of.lanes)) };
            format!("{kernel}: assertion{condition} failed: {lanes}wave {}{at}", scene.id(of.wave))
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
            format!("{kernel}: {}: wave {}{at}", kinds.join(", "), scene.id(of.wave))
        }
        Cause::Ecc => format!("{kernel}: uncorrectable memory error of the GPU{wave}"),
        Cause::Queue(of) => {
            let kernel = of.kernel.as_ref().map_or_else(String::new, |kernel| format!("{kernel}: "));
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
        lanes::rows(&scene.lanes(wave), None, page);
    }
}

fn arithmetic(of: &Arithmetic, page: &mut Page) {
    if let Some((address, text)) = &of.instruction {
        page.row("Operation", &format!("{text} at {address:#x}"));
    }
    let each = of.operands.iter().take(MAX_OPERANDS).map(|(lane, text)| format!("lane {lane}: {text}"));
    let more = of.operands.len().checked_sub(MAX_OPERANDS).filter(|more| *more > 0);
    page.list("Operands", each.chain(more.map(|more| format!("and {}", counted(more, "more lane")))));
}
