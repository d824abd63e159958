//! Arithmetic exceptions: the instructions before the PC that can raise them, on the known paths, and the operands that
//! explain them.

mod float;

use float::{Float, Format, Raise, can_raise, operation, raises};

use super::{innermost, source_at};
use crate::isa::{Input, Instruction, ReadRegister as _, RegisterFile, RegisterRange};
use crate::session::{Inspect, WaveInfo};
use crate::triage::listings::{CodeAt, Decoded, Listings};
use crate::triage::registers::{WaveRegisters, apertures};
use crate::triage::walk::executed::Operands;
use crate::triage::walk::launch::Launches;
use crate::triage::walk::registers::Registers;
use crate::triage::walk::work::Work;
use crate::triage::{Arithmetic, Cause, Confidence, SourceAt, walk};
use crate::units::{LaneId, LaneSet};

/// Maximum number of instructions from the one that raises an exception to the PC.
const MAX_DISTANCE: usize = 32;

/// An instruction that can have raised the exceptions.
#[derive(Debug)]
struct Raiser {
    address: u64,
    text: String,
    file: Option<String>,
    line: Option<u64>,
    /// Whether all paths to the PC have it.
    is_certain: bool,
    found: Verdict,
}

/// The result of an examination of operands.
#[derive(Debug, Default)]
struct Verdict {
    /// The operands that explain an exception, by lane; a scalar operation has none.
    operands: Vec<(Option<LaneId>, String)>,
    /// Whether EXEC before the instruction is unknown: the lanes are an upper bound.
    is_bound: bool,
    /// Why the operands of the first lane that is open decide nothing; `None`: those of all lanes decide.
    open: Option<Open>,
}

/// Why the operands of an instruction decide nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    /// The register has no known value.
    Value(RegisterRange),
    /// An operand in a form that is not computed: packed, of other lanes, a part of a register.
    Form,
    /// The result is not computed.
    Result,
    /// Another path leaves other values.
    Path,
}

/// The arithmetic exception of a wave.
pub(super) fn describe(session: &dyn Inspect, info: &WaveInfo, code: &mut Listings) -> Cause {
    let reasons = info.stop.iter().flatten();
    let exceptions: Vec<&str> = reasons
        .filter(|name| name.starts_with("fp_") || *name == "int_divide_by_0")
        .map(String::as_str)
        .collect();
    let all = candidates(session, info, code, &exceptions).unwrap_or_default();
    let (explained, open): (Vec<_>, Vec<_>) = all.into_iter().partition(|one| !one.found.operands.is_empty());
    let chosen = if explained.is_empty() { open } else { explained };
    let at = innermost(session, info);
    let place = chosen.first().map(|first| first.place(session, &at));
    // Instructions of one line are one operation of the source.
    let is_one_line = chosen.windows(2).all(|pair| match pair {
        [one, next] => one.line.is_some() && (&one.file, one.line) == (&next.file, next.line),
        _ => true,
    });
    let mut chosen = chosen.into_iter();
    let first = chosen.next();
    let others: Vec<(u64, String)> = chosen.map(|one| (one.address, one.text)).collect();
    let doubt = first.as_ref().and_then(|first| first.doubt(session, info, others.len()));
    Cause::Arithmetic(Arithmetic {
        kinds: exceptions.iter().map(|name| name.to_uppercase()).collect(),
        at: place.filter(|_| is_one_line).unwrap_or(at),
        confidence: if first.is_none() || doubt.is_some() {
            Confidence::Possible
        } else {
            Confidence::Likely
        },
        doubt,
        is_bound: first.as_ref().is_some_and(|first| first.found.is_bound),
        others,
        operands: first.as_ref().map(|first| first.found.operands.clone()).unwrap_or_default(),
        instruction: first.map(|first| (first.address, first.text)),
        wave: info.wave,
    })
}

/// The instructions before the PC that can have raised one of the exceptions, the nearest first: without those whose
/// known operands raise none.
fn candidates(
    session: &dyn Inspect,
    info: &WaveInfo,
    code: &mut Listings,
    exceptions: &[&str],
) -> Option<Vec<Raiser>> {
    let pc = info.pc?.0;
    let listing = code.around(CodeAt { session, wave: info.wave, address: pc })?.ok()?;
    let work = Work::default();
    let paths = walk::search(&listing, pc, &[], false, &work);
    let (apertures, launches) = (apertures(session, info.wave), Launches::default());
    let registers = Registers::new(session, info.wave, &apertures, &launches, &work);
    let all = info.kind.wave_size.all();
    let each = paths.executed(MAX_DISTANCE).into_iter().filter_map(|executed| {
        let one = paths.text_of(&executed)?;
        let halves: Vec<(usize, &str)> = one
            .mnemonics()
            .enumerate()
            .filter(|(_, half)| exceptions.iter().any(|name| can_raise(half, name)))
            .collect();
        if halves.is_empty() {
            return None;
        }
        let ways = paths.operands(&executed, &registers);
        let mut verdicts = ways.iter().map(|way| {
            let each = halves.iter().map(|(at, half)| verdict(one, (*at, *half), way, all, exceptions));
            each.reduce(Verdict::or).unwrap_or_default()
        });
        let mut found = verdicts.next()?;
        if verdicts.any(|other| other.operands != found.operands) {
            found = Verdict { open: Some(Open::Path), is_bound: true, ..Verdict::default() };
        }
        let can = found.open.is_some() || !found.operands.is_empty();
        can.then(|| Raiser {
            address: one.address,
            text: one.text().into_owned(),
            file: one.file.as_ref().map(ToString::to_string),
            line: one.line,
            is_certain: executed.is_certain,
            found,
        })
    });
    Some(each.collect())
}

impl Raiser {
    /// Its place in the source; without a line that of the PC.
    fn place(&self, session: &dyn Inspect, pc: &SourceAt) -> SourceAt {
        match (self.line, (&self.file, self.line) == (&pc.file, pc.line)) {
            (Some(_), false) => source_at(session, None, self.file.clone(), self.line),
            _ => pc.clone(),
        }
    }

    /// The reason for which it is only possible; `None`: it is the cause.
    fn doubt(&self, session: &dyn Inspect, info: &WaveInfo, others: usize) -> Option<String> {
        if let (true, Some(Open::Value(range))) = (self.found.operands.is_empty(), self.found.open) {
            let registers = WaveRegisters::new(session, info.wave);
            let lane = info.exec.and_then(LaneSet::first).unwrap_or_default();
            let why = match registers.dword(range.file, range.first, lane) {
                Some(_) => "was overwritten after it",
                None => "is not captured",
            };
            return Some(format!("its operand {} {why}", name(range)));
        }
        let why = if self.found.operands.is_empty() {
            match self.found.open {
                Some(Open::Form) => "packed operands, and those of other lanes, are not computed",
                Some(Open::Path) | None => "its operands do not show the exception",
                Some(Open::Value(_) | Open::Result) => "its result is not computed",
            }
        } else if others > 0 {
            "other instructions have such operands, too"
        } else if !self.is_certain {
            "another path leads to the PC"
        } else if self.found.is_bound {
            "the active lanes are unknown"
        } else {
            return None;
        };
        Some(why.to_owned())
    }
}

impl Verdict {
    /// Of both halves of a dual instruction.
    fn or(mut self, other: Self) -> Self {
        for (lane, text) in other.operands {
            match self.operands.iter_mut().find(|(known, _)| *known == lane) {
                Some((_, known)) => *known = format!("{known}, {text}"),
                None => self.operands.push((lane, text)),
            }
        }
        self.operands.sort_by_key(|(lane, _)| *lane);
        Self { is_bound: self.is_bound || other.is_bound, open: self.open.or(other.open), ..self }
    }
}

/// The lanes in which an instruction, or that half of a pair, raises one of the exceptions. `all`: the lanes of a wave.
fn verdict(
    one: &Decoded,
    (at, half): (usize, &str),
    before: &Operands<'_, '_>,
    all: LaneSet,
    exceptions: &[&str],
) -> Verdict {
    let operation = operation(half).unwrap_or_default();
    let sources = Operand::of(one, at, half);
    let exec = before.exec();
    let is_scalar = half.starts_with("s_") || operation.starts_with("s_");
    let lanes = match exec.unwrap_or(all) {
        lanes if is_scalar => LaneSet::one(lanes.first().unwrap_or_default()),
        lanes => lanes,
    };
    let mut found = Verdict { is_bound: exec.is_none() && !is_scalar, ..Verdict::default() };
    for lane in lanes.iter() {
        let values: Vec<Option<(String, Float)>> = sources.iter().map(|of| of.value(before, lane)).collect();
        let floats: Vec<Option<Float>> =
            values.iter().map(|of| of.as_ref().map(|(_, of)| of.clone())).collect();
        let mut is_open = false;
        let mut explained = None;
        for exception in exceptions.iter().filter(|name| can_raise(half, name)) {
            match raises(operation, &floats, exception) {
                Raise::Yes(of) => explained = explained.or(Some(of)),
                Raise::No => {}
                Raise::Unknown => is_open = true,
            }
        }
        if let Some(of) = explained {
            let text = |index: &usize| {
                let (name, value) = values.get(*index)?.as_ref()?;
                Some(if name.is_empty() { value.text.clone() } else { format!("{name} = {}", value.text) })
            };
            let lane = (!is_scalar).then_some(lane);
            found.operands.push((lane, of.iter().filter_map(text).collect::<Vec<_>>().join(", ")));
        } else if is_open {
            let unknown = sources.iter().zip(&values).find(|(_, value)| value.is_none());
            let open = unknown.map_or(Open::Result, |(of, _)| of.open());
            found.open = found.open.or(Some(open));
        }
    }
    found
}

/// An operand that an instruction reads as a value.
struct Operand {
    input: Input,
    format: Format,
}

impl Operand {
    /// The operands of an instruction, or of a half with that mnemonic.
    fn of(one: &Instruction, at: usize, half: &str) -> Vec<Self> {
        let format = operation(half).and_then(Format::of_sources).unwrap_or(Format::Other);
        let mut inputs = one.inputs(at);
        // The other source is an exponent, an index or the value to insert into.
        let with_integers = ["v_ldexp_", "v_trig_preop_", "v_cvt_pk_u8_", "v_cvt_pkaccum_u8_", "v_cvt_sr_"];
        if with_integers.iter().any(|name| half.starts_with(name)) {
            inputs.truncate(1);
        }
        inputs.into_iter().map(|input| Self { input, format }).collect()
    }

    /// Why it has no value.
    fn open(&self) -> Open {
        let of_one_register =
            |range: &RegisterRange| !self.input.is_selected && range.count == self.format.dwords();
        self.input.source.register().filter(of_one_register).map_or(Open::Form, Open::Value)
    }

    /// The value before the instruction, with its name; without one for a constant.
    fn value(&self, before: &Operands<'_, '_>, lane: LaneId) -> Option<(String, Float)> {
        let modified = |of: Float| of.modified(self.input.is_absolute, self.input.is_negated);
        if self.input.is_selected {
            return None;
        }
        let Some(range) = self.input.source.register() else {
            return Some((String::new(), modified(self.format.constant(self.input.source.constant()?)?)));
        };
        if range.count != self.format.dwords() {
            return None;
        }
        let dword = |index| before.dword(range.file, range.first.checked_add(index)?, lane);
        if let Some(dwords) = (0..range.count).map(dword).collect::<Option<Vec<u32>>>() {
            return Some((name(range), modified(self.format.value(&dwords)?)));
        }
        let (one, (file, first), integer) = before.source((range.file, range.first), lane, converted)?;
        let value = match operation(one.mnemonic())? {
            of if of.starts_with("cvt_f32_u32") => i64::from(integer),
            of if of.starts_with("cvt_f32_i32") => i64::from(integer.cast_signed()),
            of => {
                let byte: u32 = of.strip_prefix("cvt_f32_ubyte")?.get(..1)?.parse().ok()?;
                i64::from(integer.wrapping_shr(8 * byte) & 0xff)
            }
        };
        Some((name(RegisterRange::new(file, first, 1)), modified(Float::of_integer(value))))
    }
}

/// The operand of a conversion from an integer: LLVM divides integers by the reciprocal of a converted divisor, which
/// replaces it.
fn converted(one: &Instruction) -> Option<(RegisterFile, u16)> {
    let names = ["v_cvt_f32_u32", "v_cvt_f32_i32", "v_cvt_f32_ubyte"];
    let is_conversion = names.iter().any(|name| one.mnemonic().starts_with(name));
    let [input] = one.inputs(0)[..] else { return None };
    let range = input.source.register().filter(|_| is_conversion && !input.is_selected)?;
    (range.count == 1).then_some((range.file, range.first))
}

fn name(range: RegisterRange) -> String {
    let file = if range.file.is_vector() { 'v' } else { 's' };
    match range.count {
        1 => format!("{file}{}", range.first),
        count => format!("{file}[{}:{}]", range.first, range.first + count - 1),
    }
}
