//! A suspected access: instruction, addresses, pointer, memory, reasons.

use super::layout::{Page, whole};
use super::{lanes, words};
use crate::notation::{counted, plural};
use crate::session::Inferred;
use crate::triage::scene::Scene;
use crate::triage::{
    AddressOf, Confidence, DeclaredBounds, IndexRule, Neighbour, Pattern, Suspect, Term, Triage, Variable,
};
use crate::units::AddressSpace;

/// Maximum number of addresses of lanes.
const MAX_ADDRESSES: usize = 4;
/// Maximum number of addresses of a lane: parts of an access.
const MAX_OF_LANE: usize = 2;
/// Maximum number of reasons.
const MAX_REASONS: usize = 5;
/// Maximum number of other suspects.
const MAX_OTHERS: usize = 3;
/// Maximum number of variables with the index, and of those that bound it.
const MAX_VARIABLES: usize = 4;

/// The rows of the best suspect, and a line for each of the others.
pub(super) fn rows(triage: &Triage, scene: &Scene<'_>, page: &mut Page) {
    if let Some((suspect, others)) = triage.suspects.split_first() {
        of_suspect(suspect, scene, page);
        page.list("Others", self::others(others, triage, scene).into_iter());
    }
    let wave = triage.suspects.first().map(|suspect| suspect.wave).or(triage.waves.chosen);
    if let Some(wave) = wave {
        lanes::rows(&scene.lanes(wave), triage.suspects.first(), page);
    }
}

/// A line for each of the first, and their number. If no address is known, the last line has that for all of them.
fn others(others: &[Suspect], triage: &Triage, scene: &Scene<'_>) -> Vec<String> {
    let is_unknown = |of: &&Suspect| of.addresses.is_empty();
    let count = others.len() + triage.further;
    let unknown = others.iter().filter(is_unknown).count() + triage.further_unknown;
    let are_unknown = count > 1 && unknown == count;
    let described = triage.suspects.first().map(|suspect| suspect.wave);
    let line = |other: &Suspect| {
        let of_other = (Some(other.wave) != described).then(|| format!("wave {}", scene.id(other.wave)));
        line(other, of_other, are_unknown, scene)
    };
    let mut lines: Vec<String> = others.iter().take(MAX_OTHERS).map(line).collect();
    let all = are_unknown.then(|| match count {
        2 => "both addresses are unknown".to_owned(),
        count => format!("all {count} addresses are unknown"),
    });
    let unlisted = unknown.saturating_sub(others.iter().take(MAX_OTHERS).filter(is_unknown).count());
    let unshown = count.checked_sub(MAX_OTHERS);
    let some = |more: String| match unlisted {
        0 => more,
        count if count > 1 && Some(count) == unshown => format!("{more}, all with unknown addresses"),
        1 => format!("{more}, 1 of them with an unknown address"),
        count => format!("{more}, {count} of them with unknown addresses"),
    };
    lines.extend(match (words::more(count, MAX_OTHERS), all) {
        (Some(more), Some(all)) => Some(format!("{more}; {all}")),
        (Some(more), None) => Some(some(more)),
        (None, all) => all,
    });
    lines
}

fn of_suspect(suspect: &Suspect, scene: &Scene<'_>, page: &mut Page) {
    let kind = words::noun(suspect.access.direction);
    let size =
        suspect.access.bytes.map_or_else(String::new, |bytes| format!(" of {}", counted(bytes, "byte")));
    let distance = match suspect.distance {
        0 => "at the PC".to_owned(),
        count => whole(&format!("{} before the PC", counted(count, "instruction"))),
    };
    let text = &suspect.text;
    page.row("Access", &format!("{kind}{size}: {text} at {:#x}, {distance}", suspect.instruction));
    addresses(suspect, scene, page);
    if let Some(term) = &suspect.term {
        page.row("Pointer", &pointer(term));
        if let Some(allocation) = &term.allocation {
            page.row("Memory", &memory(allocation, suspect));
        }
    }
    page.list("Also", words::patterns(&suspect.patterns, suspect.lanes).into_iter().skip(1));
    // The row of the address has the reason of an unknown one.
    let unknown = suspect.unknown.as_ref().map(|of| of.reason.to_string());
    let reasons = suspect.evidence.iter().map(|reason| reason.of(suspect));
    let reasons: Vec<String> = reasons.filter(|reason| Some(reason) != unknown.as_ref()).collect();
    page.list(
        "Because",
        reasons.iter().take(MAX_REASONS).cloned().chain(words::more(reasons.len(), MAX_REASONS)),
    );
}

/// The addresses by lane, lanes with one address together, and the lanes without a known one.
fn addresses(suspect: &Suspect, scene: &Scene<'_>, page: &mut Page) {
    let all = suspect.addresses.as_slice();
    let space = |space| scene.space(suspect.wave, space);
    let is_one = all.windows(2).all(|pair| matches!(pair, [one, next] if one.address == next.address));
    if let (true, Some(address)) = (is_one, words::addresses(all, space)) {
        page.row("Address", &format!("{address}{}", in_lanes(suspect)));
    } else if let Some(rule) = stride(suspect, space) {
        page.row("Address", &rule);
    } else {
        // An access may have several addresses in a lane: `ds_write2_b32`.
        let mut sorted: Vec<&AddressOf> = all.iter().collect();
        sorted.sort_by_key(|of| of.lane);
        let lanes: Vec<&[&AddressOf]> = sorted.chunk_by(|one, next| one.lane == next.lane).collect();
        let each = lanes.iter().take(MAX_ADDRESSES).map(|of| {
            let lane = of.first().and_then(|of| of.lane);
            let lane = lane.map_or_else(String::new, |lane| format!("lane {lane}: "));
            let each = of.iter().take(MAX_OF_LANE).map(|of| {
                let space = space(of.space).map_or_else(String::new, |name| format!("{name}+"));
                format!("{space}{:#x}", of.address)
            });
            let more = of.len().checked_sub(MAX_OF_LANE).filter(|more| *more > 0);
            let each: Vec<String> = each.chain(more.map(|more| format!("{more} more"))).collect();
            whole(&format!("{lane}{}", words::joined(&each)))
        });
        let more = words::more(lanes.len(), MAX_ADDRESSES);
        let text = each.chain(more).collect::<Vec<_>>().join(", ");
        if !text.is_empty() {
            page.row("Address", &text);
        }
    }
    if let Some(unknown) = &suspect.unknown {
        let lanes = match unknown.lanes.is_empty() {
            true => String::new(),
            false => format!(" in {}", words::lanes(unknown.lanes)),
        };
        page.row(if all.is_empty() { "Address" } else { "" }, &format!("unknown{lanes}: {}", unknown.reason));
    }
}

/// ` in lanes 0-3`; empty for a scalar access.
fn in_lanes(suspect: &Suspect) -> String {
    match suspect.lanes.is_empty() {
        true => ", a scalar access".to_owned(),
        false => format!(" in {}", words::lanes(suspect.lanes)),
    }
}

/// `0x7f0000201000 in lane 24, 4 bytes more in each further lane up to 63`
fn stride(suspect: &Suspect, space: impl Fn(AddressSpace) -> Option<String>) -> Option<String> {
    let [first, .., last] = suspect.addresses.as_slice() else { return None };
    let (from, to) = (first.lane?, last.lane?);
    let step = |pair: &[AddressOf]| match pair {
        [one, next] => {
            let lanes = next.lane?.0.checked_sub(one.lane?.0)?;
            (lanes == 1).then(|| next.address.wrapping_sub(one.address).cast_signed())
        }
        _ => None,
    };
    let mut steps = suspect.addresses.windows(2).map(step);
    let by = steps.next()??;
    if suspect.addresses.len() < 3 || steps.any(|step| step != Some(by)) {
        return None;
    }
    let space = space(first.space).map_or_else(String::new, |name| format!("{name}+"));
    Some(format!(
        "{space}{:#x} in lane {from} to {space}{:#x} in lane {to}, {by:+} {} from lane to lane",
        first.address,
        last.address,
        plural(usize::try_from(by.unsigned_abs()).unwrap_or(usize::MAX), "byte", "bytes")
    ))
}

/// `x = 0x7f0000200000 (argument), elements of 4 bytes; index i = 1024; n = 1024`
fn pointer(term: &Term) -> String {
    let of = &term.pointer;
    let element = counted(term.element, "byte");
    let equal = || term.equal.iter().take(MAX_VARIABLES);
    let index = Some(index(&term.index)).filter(|index| !index.is_empty());
    let parts: Vec<String> = equal().map(|variable| variable.name.clone()).chain(index).collect();
    let mut text = format!("{}, elements of {element}", value(of));
    if !parts.is_empty() {
        let inferred = equal().fold(Inferred::NONE, |all, one| all.or(one.inferred));
        let index = format!("index {}{}", parts.join(" = "), inferred.suffix());
        let is_one = matches!(term.index, IndexRule::Constant(_) | IndexRule::Scalar(_));
        text += &format!("; {}", if is_one { whole(&index) } else { index });
    }
    text.extend(term.bounds.iter().take(MAX_VARIABLES).map(|bound| format!("; {}", value(bound))));
    text.extend(term.declared.map(declared));
    for of in &term.inner {
        let names = of.equal.iter().take(MAX_VARIABLES).map(|of| of.name.clone());
        let index = Some(self::index(&of.index)).filter(|index| !index.is_empty());
        let index = names.chain(index).collect::<Vec<_>>().join(" = ");
        let inferred = of.equal.iter().fold(Inferred::NONE, |all, one| all.or(one.inferred));
        if !index.is_empty() {
            text += &format!("; index of {}: {index}{}", whole(&of.array), inferred.suffix());
        }
        text.extend(of.declared.map(declared));
    }
    if term.is_ambiguous {
        text += "; the addresses do not decide which index is past its bound";
    }
    if !term.alternatives.is_empty() {
        text += &format!("; fits as well: {}", term.alternatives.join(", "));
    }
    if term.is_inferred {
        text += "; inferred from values";
    }
    text
}

/// `; declared indexes 0 to 63`
fn declared(of: DeclaredBounds) -> String {
    let last = of.first.saturating_add_unsigned(of.count).saturating_sub(1);
    format!("; declared indexes {} to {last}", of.first)
}

/// `n = 1024 (argument)`
fn value(of: &Variable) -> String {
    let mark = if of.inferred.is_none() { String::new() } else { format!("; {}", of.inferred) };
    let value = if of.value.is_empty() { String::new() } else { format!(" = {}", of.value) };
    whole(&format!("{}{value} ({}{mark})", of.name, of.kind.words()))
}

/// `1024`, `1024 in lane 24, +1 from lane to lane`
fn index(rule: &IndexRule) -> String {
    match rule {
        IndexRule::Constant(index) | IndexRule::Scalar(index) => index.to_string(),
        IndexRule::Linear { first, from, step } => {
            format!("{first} in lane {from}, {step:+} from lane to lane")
        }
        IndexRule::Listed(by_lane) => {
            let each =
                by_lane.iter().take(MAX_ADDRESSES).map(|(lane, index)| format!("{index} (lane {lane})"));
            let more = words::more(by_lane.len(), MAX_ADDRESSES);
            each.chain(more).collect::<Vec<_>>().join(", ")
        }
    }
}

/// The allocation of the pointer, and the distance to it.
fn memory(of: &Neighbour, suspect: &Suspect) -> String {
    let name = of.name.as_ref().map_or_else(String::new, |name| format!(" ({name})"));
    let rounded = if of.is_rounded { "; its bounds are rounded to pages" } else { "" };
    let is_named = |pattern: &Pattern| matches!(pattern, Pattern::PastEnd(near) | Pattern::BeforeStart(near) if near == of);
    let distance = match suspect.patterns.first() {
        Some(first) if is_named(&first.pattern) => String::new(),
        _ if of.distance == 0 => String::new(),
        _ => format!(", {} away", counted(of.distance, "byte")),
    };
    format!("{:#x}-{:#x}{name}{distance}{rounded}", of.start, of.end)
}

/// `flat_load_dword v1, v[2:3] at 0x7f0000102614, saxpy.hip:53`; with its certainty if that is more than possible, and
/// with its address. `wave`: the words of another wave. `are_unknown`: another line has that no address is known.
fn line(suspect: &Suspect, wave: Option<String>, are_unknown: bool, scene: &Scene<'_>) -> String {
    let certainty = match suspect.confidence {
        Confidence::Possible => None,
        more => Some(words::certainty(more).to_owned()),
    };
    let head = wave.into_iter().chain(certainty).collect::<Vec<_>>().join(", ");
    let head = if head.is_empty() { head } else { head + ": " };
    let place = words::place(&suspect.at).map_or_else(String::new, |place| format!(", {place}"));
    let address = words::addresses(&suspect.addresses, |space| scene.space(suspect.wave, space));
    let address = match address {
        Some(address) => format!(", {}", whole(&format!("{} {address}", addresses_noun(suspect)))),
        None if are_unknown => String::new(),
        None => format!(", {}", whole("address unknown")),
    };
    format!("{head}{} at {:#x}{place}{address}", suspect.text, suspect.instruction)
}

/// `address` of one, `addresses` of several.
fn addresses_noun(suspect: &Suspect) -> &'static str {
    let first = suspect.addresses.first().map(|of| of.address);
    match suspect.addresses.iter().all(|of| Some(of.address) == first) {
        true => "address",
        false => "addresses",
    }
}
