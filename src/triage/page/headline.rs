//! The first sentence: cause, kernel, access, lanes, place, certainty.

use std::borrow::Cow;

use super::layout::whole;
use super::{cause, hang, words};
use crate::capture::{Fault, FaultKind};
use crate::debuginfo::short_name;
use crate::notation::{counted, plural};
use crate::report::fault;
use crate::session::WaveInfo;
use crate::triage::reports::{are_fetches, only_page};
use crate::triage::scene::Scene;
use crate::triage::{
    Cause, Confidence, Evidence, IndexRule, MissingData, Suspect, Term, Triage, may_concern, no_stop_reasons,
};
use crate::units::LaneSet;

/// Subject of a sentence without a known kernel.
const NO_KERNEL: &str = "an unknown kernel";

/// The first sentence of a page, without a full stop.
#[must_use]
pub(crate) fn headline(triage: &Triage, scene: &Scene<'_>) -> String {
    let truncated = if triage.is_truncated() { "; the capture is truncated" } else { "" };
    finding(triage, scene) + truncated
}

fn finding(triage: &Triage, scene: &Scene<'_>) -> String {
    match (&triage.cause, triage.suspects.first()) {
        (Some(Cause::Memory), Some(suspect)) if suspect.is_good() => {
            if let Some(page) = off_page(suspect) {
                let fetch = fetched(triage, scene).unwrap_or_default();
                return format!("{}: no examined access leads to {page}{fetch}", of_fault(triage, scene));
            }
            let candidates = match triage.suspects.len() + triage.further {
                1 => "1 access, whose address is not known to be bad".to_owned(),
                count => format!("{count} accesses, none of whose addresses is known to be bad"),
            };
            format!("{}; candidates: {candidates}", of_fault(triage, scene))
        }
        (Some(Cause::Memory), Some(suspect)) => {
            of_suspect(suspect, triage, scene) + &unexplained(triage).unwrap_or_default()
        }
        (Some(Cause::Memory | Cause::Queue(_) | Cause::Ecc), None)
            if let Some(text) = without_wave(triage) =>
        {
            text
        }
        (Some(Cause::Memory), None) => match of_fetch(triage, scene) {
            Some(fetch) => format!("{}: {fetch}", of_fault(triage, scene)),
            None => format!("{}, by an unknown access", of_fault(triage, scene)),
        },
        // No cause, and yet a fault.
        (None, _) if triage.waves.faulted > 0 => of_fault(triage, scene),
        (Some(cause), _) => cause::headline(cause, triage, scene),
        (None, _) if scene.waves() == 0 => {
            match triage.faults.iter().find(|fault| fault.is_of_waves()).or(triage.faults.first()) {
                Some(fault) => {
                    format!("no wave was read from the dump; reported: {}", fault::sentence(fault))
                }
                None => "no wave was read from the dump, and no fault is reported".to_owned(),
            }
        }
        (None, _) if let Some(unknown) = no_stop_reasons(triage.waves.unknown) => {
            format!("whether a wave faulted is unknown, no fault is reported; {unknown}")
        }
        (None, _) => {
            format!(
                "{} faulted, no fault is reported: {}",
                no_wave(triage),
                hang::totals(triage.hang.as_ref(), scene)
            )
        }
    }
}

fn no_wave(triage: &Triage) -> String {
    match triage.waves.left_out {
        0 => format!("no wave{}", triage.waves.of_dump()),
        _ => "no chosen wave".to_owned(),
    }
}

/// `no wave faulted; reported: read of page 0x1000; reported by the kernel log`
fn without_wave(triage: &Triage) -> Option<String> {
    let fault = of_no_wave(triage)?;
    Some(format!("{} faulted; reported: {}", no_wave(triage), fault::sentence(fault)))
}

/// The first reported fault, first of memory, if it is known that no captured wave has it.
pub(super) fn of_no_wave(triage: &Triage) -> Option<&Fault> {
    let stops = &triage.waves;
    let is_known = stops.asked > 0 && stops.faulted + stops.unknown == 0;
    let own = || triage.faults.iter().filter(|fault| fault.is_of_waves());
    let first = own().find(|fault| fault.is_of_memory());
    first.or_else(|| own().find(|fault| fault.kind != FaultKind::Hang)).filter(|_| is_known)
}

/// The reported pages that no address of a suspect is on.
fn off_page(suspect: &Suspect) -> Option<String> {
    suspect.evidence.iter().find_map(|one| match one {
        Evidence::OffPage { page: Some(page) } => Some(format!("the reported page {page:#x}")),
        Evidence::OffPage { page: None } => Some("a reported page".to_owned()),
        _ => None,
    })
}

/// The reported page has the wave's next instruction, which its fetch may not have found.
fn fetched(triage: &Triage, scene: &Scene<'_>) -> Option<&'static str> {
    let is_it = has_pc(triage, &scene.info(triage.waves.chosen?)?)?;
    is_it.then_some("; the page has the code at the PC: the fetch of an instruction may have faulted")
}

/// Whether the reported page has the PC of a wave.
fn has_pc(triage: &Triage, info: &WaveInfo) -> Option<bool> {
    let (pc, page) = (info.pc?, triage.reported_page(Some(info))?);
    Some(page.bytes > 1 && pc.0.checked_sub(page.start)? < page.bytes)
}

/// The reports are of fetches of instructions.
fn of_fetch(triage: &Triage, scene: &Scene<'_>) -> Option<&'static str> {
    let info = scene.info(triage.waves.chosen?)?;
    are_fetches(&triage.faults, &info).then(|| match has_pc(triage, &info) {
        Some(true) => "the fetch of an instruction faulted, and the PC is on this page",
        _ => "the fetch of an instruction faulted, not near the PC",
    })
}

/// `; no examined access explains the reported page 0x0`: further pages than that of the access.
fn unexplained(triage: &Triage) -> Option<String> {
    let pages = triage.missing.iter().filter_map(|one| match one {
        MissingData::Access { page } => Some(*page),
        _ => None,
    });
    let pages: Vec<u64> = pages.collect();
    let more = pages.len().checked_sub(1)?;
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let pages = plural(pages.len(), "page", "pages").to_owned() + &format!(" {:#x}{more}", pages.first()?);
    Some(format!("; no examined access explains the reported {pages}"))
}

/// The source line below the sentence, with its number.
pub(super) fn source_line(triage: &Triage, scene: &Scene<'_>) -> Option<String> {
    let of_stop = || triage.waves.chosen.filter(|_| triage.waves.faulted > 0).map(|wave| scene.place(wave));
    let at = match &triage.cause {
        Some(_) => Cow::Borrowed(triage.place()?),
        None => Cow::Owned(of_stop()?),
    };
    Some(format!("{}  {}", at.line?, at.text.as_deref()?.trim()))
}

/// `saxpy reads x[1024], the first byte past x: lane 24 of wave 1, saxpy.hip:54 (likely)`
fn of_suspect(suspect: &Suspect, triage: &Triage, scene: &Scene<'_>) -> String {
    let kernel = scene.kernel(suspect.wave).unwrap_or_else(|| NO_KERNEL.to_owned());
    let mut text = format!("{kernel} {} {}", words::verb(suspect), object(suspect, triage, scene));
    if let Some(pattern) = words::patterns(&suspect.patterns, suspect.lanes).first() {
        text += &format!(", {pattern}");
    }
    text += &format!(": {}", lanes(suspect, scene));
    // The sentence begins with the kernel. Clang's kernels of OpenCL call a function with this prefix.
    let own = format!("__clang_ocl_kern_imp_{kernel}");
    let function = suspect.at.function.as_deref().map(short_name);
    let function = function.filter(|function| *function != kernel && *function != own);
    match (words::place(&suspect.at).filter(|_| suspect.at.line.is_some()), function) {
        (Some(place), Some(function)) => text += &format!(", {} in {}", whole(&place), whole(&function)),
        (Some(place), None) => text += &format!(", {}", whole(&place)),
        (None, Some(function)) => text += &format!(", in {}", whole(&function)),
        (None, None) => {}
    }
    let others = triage.suspects.len() - 1 + triage.further;
    match (suspect.confidence, others) {
        (Confidence::Possible, _) if suspect.evidence.contains(&Evidence::OtherGpu) => {
            text += " (possible; an access of another GPU is on the page, too)";
        }
        (Confidence::Possible, 0) => text += " (possible, the only examined access)",
        (Confidence::Possible, _) => text += &format!(" (possible, one of {} accesses)", others + 1),
        (confidence, _) => text += &format!(" ({})", words::certainty(confidence)),
    }
    text
}

/// The lanes and waves of a suspect.
fn lanes(suspect: &Suspect, scene: &Scene<'_>) -> String {
    let wave = format!("wave {}", scene.id(suspect.wave));
    let unknown = suspect.unknown.as_ref().map_or(LaneSet::EMPTY, |unknown| unknown.lanes);
    let mut text = match (suspect.lanes.is_empty(), suspect.is_bound) {
        (true, _) if unknown.is_empty() => wave,
        (true, _) => format!("at most {} of {wave}", words::lanes(unknown)),
        (false, true) => format!("at most {} of {wave}", words::lanes(suspect.lanes)),
        (false, false) => format!("{} of {wave}", words::lanes(suspect.lanes)),
    };
    if !suspect.also.is_empty() {
        let is_least = suspect.evidence.iter().any(|one| matches!(one, Evidence::AtLeastOtherWaves(_)));
        let least = if is_least { "at least " } else { "" };
        text += &format!(" and {least}{}", counted(suspect.also.len(), "more wave"));
    }
    text
}

/// `x[1024]`, `x[i] (i = 1024)`, `4 bytes at 0x7f0000201000`
fn object(suspect: &Suspect, triage: &Triage, scene: &Scene<'_>) -> String {
    match &suspect.term {
        Some(term) => indexed(term),
        None => {
            let bytes =
                suspect.access.bytes.map_or_else(|| "memory".to_owned(), |bytes| counted(bytes, "byte"));
            match words::addresses(&suspect.addresses, |space| scene.space(suspect.wave, space)) {
                Some(addresses) => format!("{bytes} at {addresses}"),
                None => match reported_page(suspect, triage, scene) {
                    Some(page)
                        if [Evidence::OnlyOne, Evidence::BestFit]
                            .iter()
                            .any(|one| suspect.evidence.contains(one)) =>
                    {
                        format!("{bytes} on the reported page {page:#x}")
                    }
                    Some(page) => format!("{bytes} at an unknown address (reported: page {page:#x})"),
                    None => format!("{bytes} at an unknown address"),
                },
            }
        }
    }
}

/// The only reported page.
fn reported_page(suspect: &Suspect, triage: &Triage, scene: &Scene<'_>) -> Option<u64> {
    let info = scene.info(suspect.wave)?;
    only_page(triage.faults.iter().filter(|fault| may_concern(fault, &info)).filter_map(Fault::page))
}

/// `x[1024] (i = 1024, n = 1024)`: the expression with the index as a number, then the variables of the index.
fn indexed(term: &Term) -> String {
    let inner = term.inner.iter().filter_map(|of| match &of.index {
        IndexRule::Constant(index) | IndexRule::Scalar(index) => {
            Some(format!("{} = {index}", of.equal.first()?.name))
        }
        IndexRule::Linear { .. } | IndexRule::Listed(_) => None,
    });
    let inner: Vec<String> = inner.collect();
    let index = match &term.index {
        IndexRule::Constant(index) | IndexRule::Scalar(index) => *index,
        IndexRule::Linear { .. } | IndexRule::Listed(_) if inner.is_empty() => {
            return term.expression.clone();
        }
        IndexRule::Linear { .. } | IndexRule::Listed(_) => {
            return whole(&format!("{} ({})", term.expression, inner.join(", ")));
        }
    };
    let mut expression = term.expression.clone();
    let equal = term.equal.first();
    if let Some(pointer) = equal.and_then(|of| expression.strip_suffix(&format!("[{}]", of.name))) {
        expression = format!("{pointer}[{index}]");
    }
    let mut values: Vec<String> = equal.map(|of| format!("{} = {index}", of.name)).into_iter().collect();
    values.extend(inner);
    values.extend(term.bounds.first().map(|of| format!("{} = {}", of.name, of.value)));
    if values.is_empty() && index != 0 && !expression.contains(&index.to_string()) {
        values.push(format!("index {index}"));
    }
    match values.is_empty() {
        true => expression,
        false => whole(&format!("{expression} ({})", values.join(", "))),
    }
}

/// A fault without a suspect.
fn of_fault(triage: &Triage, scene: &Scene<'_>) -> String {
    let chosen = triage.waves.chosen.and_then(|wave| scene.info(wave));
    // A report of another GPU is no cause of the wave's stop.
    let concerns =
        |fault: &&Fault| chosen.as_ref().map_or(fault.is_of_waves(), |info| may_concern(fault, info));
    let reported = triage.faults.iter().find(concerns);
    let subject = match (chosen.as_ref().and_then(|info| scene.kernel(info.wave)), reported) {
        (Some(kernel), _) => kernel,
        (None, Some(Fault { kernel: Some(kernel), .. })) => kernel.clone(),
        _ => NO_KERNEL.to_owned(),
    };
    match (chosen, reported) {
        (Some(info), reported) => {
            let address = triage.reported_page(Some(&info)).or(reported.and_then(|fault| fault.address));
            let address = address.map_or_else(String::new, |at| format!(", address {:#x}", at.start));
            let at = scene.place(info.wave);
            let at = words::place(&at).filter(|_| at.line.is_some());
            let at = at.map_or_else(String::new, |place| format!(" at {}", whole(&place)));
            format!("{subject}: {} in wave {}{at}{address}", info.cause, info.id)
        }
        (None, Some(fault)) => format!("{subject}: {}", fault::sentence(fault)),
        (None, None) => format!("{subject}: a fault"),
    }
}
