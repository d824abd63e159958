//! The model of a target's output; the JSON form is these structures.

use serde::Serialize;

use crate::arch::{
    BitField, DwarfMeaning, RegClass, Register, SpaceScope, Target, TargetError, Targets, ValueType, WaveArch,
};
use crate::report::schema::Schema;
use crate::units::WaveSize;

/// One line of the list.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Summary {
    pub(super) name: String,
    pub(super) products: String,
    pub(super) elf_machine: u32,
    pub(super) wave_sizes: Vec<u8>,
    /// `buffer` or `flat`.
    #[cfg_attr(test, schemars(extend("enum" = ["buffer", "flat"])))]
    pub(super) scratch: &'static str,
    pub(super) features: Vec<String>,
    /// The file that describes it.
    pub(super) file: String,
    #[serde(skip)]
    pub(super) is_built_in: bool,
}

/// The known targets.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct Listing {
    /// The targets.
    pub(super) targets: Vec<Summary>,
}

impl Schema for Listing {
    const NAME: &'static str = "targets";
}

impl Schema for Description {
    const NAME: &'static str = "target";
}

/// All of one target.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(in crate::cli) struct Description {
    #[serde(flatten)]
    pub(super) summary: Summary,
    pub(super) sgpr_slots: u16,
    pub(super) sgpr_alias_limit: u16,
    pub(super) kinds: Vec<KindDescription>,
    pub(super) fields: Vec<Fields>,
    pub(super) spaces: Vec<Space>,
    pub(super) address_classes: Vec<Classes>,
    pub(super) stop_reasons: Vec<Reason>,
}

/// The target at one wave size.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct KindDescription {
    pub(super) wave_size: u8,
    pub(super) registers: Vec<Run>,
    /// DWARF numbers without a register in such a wave.
    pub(super) no_register: Vec<NoRegister>,
}

/// Consecutive registers that differ only in their number.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Run {
    pub(super) first: String,
    pub(super) last: String,
    pub(super) count: u16,
    pub(super) class: RegClass,
    #[serde(rename = "type")]
    pub(super) value_type: ValueType,
    pub(super) bits: u64,
    /// DWARF number of the first.
    pub(super) dwarf: Option<u64>,
    /// Number of the first in AMD's debugger library.
    pub(super) dbgapi: Option<u16>,
    /// Slots from the end of the SGPR allocation, if it is such an alias.
    pub(super) sgprs_from_end: Option<u16>,
    /// The block of named bits.
    pub(super) fields: Option<String>,
}

/// DWARF numbers without a register.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct NoRegister {
    pub(super) first: u64,
    pub(super) last: u64,
    /// Their names in AMDGPUUsage, first and last.
    pub(super) names: Option<(String, String)>,
    pub(super) why: String,
}

/// Named bits.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Fields {
    pub(super) name: String,
    pub(super) bits: Vec<BitField>,
}

/// An address space.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Space {
    pub(super) number: u64,
    pub(super) name: String,
    pub(super) bits: u8,
    pub(super) null: u64,
    pub(super) scope: String,
    pub(super) aperture: Option<u64>,
}

/// The meaning of address classes.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Classes {
    /// Absent: all units that no other table claims.
    pub(super) augmentation: Option<String>,
    /// The space of a pointer without a class.
    pub(super) absent: String,
    /// Class N is space N.
    pub(super) classes_are_spaces: bool,
    pub(super) classes: Vec<Class>,
}

/// One address class.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Class {
    pub(super) number: u64,
    pub(super) name: String,
    pub(super) space: String,
}

/// A stop reason.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Reason {
    pub(super) name: String,
    pub(super) words: String,
    /// In gdb's numbering.
    pub(super) signal: u8,
    pub(super) follows_from: Vec<FaultBit>,
}

/// A register bit that implies a stop reason.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct FaultBit {
    pub(super) register: String,
    pub(super) bit: u8,
    /// The register and bit that enable it; without them it means nothing.
    pub(super) enabled_by: Option<(String, u8)>,
    /// A bit of the same register that overrides it.
    pub(super) unless: Option<u8>,
    /// Whether AMD's debugger library has the same rule.
    pub(super) dbgapi: bool,
}

pub(super) fn list(targets: &Targets) -> Result<Vec<Summary>, TargetError> {
    targets.names().map(|name| Ok(summary(&*targets.target(name)?, targets))).collect()
}

pub(super) fn one(targets: &Targets, name: &str) -> Result<Description, TargetError> {
    let target = targets.target(name)?;
    let kinds = target.wave_sizes.iter().map(|size| targets.kind(name, *size));
    let kinds = kinds.collect::<Result<Vec<_>, _>>()?;
    // The blocks of named bits do not depend on the wave size.
    let fields = kinds.first().map(|kind| kind.bit_fields()).unwrap_or_default();
    let fields = fields.iter().map(|block| Fields { name: block.name.clone(), bits: block.fields.clone() });
    Ok(Description {
        summary: summary(&target, targets),
        sgpr_slots: target.sgpr_count,
        sgpr_alias_limit: target.sgpr_alias_limit,
        kinds: kinds.iter().map(|kind| self::kind(kind)).collect(),
        fields: fields.collect(),
        spaces: spaces(&target),
        address_classes: classes(&target),
        stop_reasons: reasons(&target),
    })
}

fn summary(target: &Target, targets: &Targets) -> Summary {
    Summary {
        name: target.name.clone(),
        products: target.products.clone(),
        elf_machine: target.elf_machine,
        wave_sizes: target.wave_sizes.iter().map(|size| size.lanes()).collect(),
        scratch: if target.buffer_scratch { "buffer" } else { "flat" },
        features: target.features.clone(),
        file: targets.origin(&target.name).unwrap_or_default().to_owned(),
        is_built_in: targets.is_built_in(&target.name),
    }
}

fn kind(kind: &WaveArch) -> KindDescription {
    let mut registers: Vec<Run> = Vec::new();
    for register in kind.registers() {
        match registers.last_mut() {
            Some(run) if follows(run, register) => {
                run.last.clone_from(&register.name);
                run.count += 1;
            }
            _ => registers.push(Run {
                first: register.name.clone(),
                last: register.name.clone(),
                count: 1,
                class: register.class,
                value_type: register.value_type,
                bits: register.bits(),
                dwarf: register.dwarf.map(|number| number.0),
                dbgapi: register.dbgapi,
                sgprs_from_end: register.alias.map(|alias| alias.back),
                fields: kind.fields(register).map(|fields| fields.name.clone()),
            }),
        }
    }
    let no_register = kind.dwarf_ranges().filter_map(|range| {
        let why = match range.meaning {
            DwarfMeaning::Registers(_) => return None,
            DwarfMeaning::OtherWaveSize(size) => format!("of {size}"),
            DwarfMeaning::Absent(why) => why,
            DwarfMeaning::Reserved(what) => format!("reserved for {what}"),
        };
        Some(NoRegister { first: range.first.0, last: range.last.0, names: range.names, why })
    });
    KindDescription { wave_size: kind.wave_size.lanes(), registers, no_register: no_register.collect() }
}

/// Whether the register continues the run: same name but for the number, same facts, next numbers.
fn follows(run: &Run, register: &Register) -> bool {
    let stem = |name: &str| name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let digits = |name: &str| name.get(stem(name)..).and_then(|digits| digits.parse::<u32>().ok());
    let next = digits(&run.last).zip(digits(&register.name)).is_some_and(|(last, this)| last + 1 == this);
    next && run.first.get(..stem(&run.first)) == register.name.get(..stem(&register.name))
        && (run.class, run.value_type, run.bits) == (register.class, register.value_type, register.bits())
        && run.dwarf.map(|first| first + u64::from(run.count)) == register.dwarf.map(|number| number.0)
        && run.dbgapi.map(|first| first + run.count) == register.dbgapi
}

fn spaces(target: &Target) -> Vec<Space> {
    let spaces = target.spaces.iter().map(|space| Space {
        number: space.id.0,
        name: space.name.clone(),
        bits: space.address_bits,
        null: space.null.0,
        scope: match space.scope {
            SpaceScope::Global => "process".to_owned(),
            SpaceScope::Generic => "through apertures".to_owned(),
            SpaceScope::Agent => "GPU".to_owned(),
            SpaceScope::WorkGroup => "work-group".to_owned(),
            SpaceScope::Wave => "wave".to_owned(),
            SpaceScope::Lane => "lane in focus".to_owned(),
            SpaceScope::LaneN(lane) => format!("lane {lane}"),
        },
        aperture: space.aperture.map(|base| base.0),
    });
    spaces.collect()
}

fn classes(target: &Target) -> Vec<Classes> {
    let space = |id| target.space(id).map_or_else(String::new, |space| space.name.clone());
    let tables = target.address_classes.iter().map(|table| Classes {
        augmentation: table.augmentation.clone(),
        absent: space(table.absent),
        classes_are_spaces: table.classes_are_spaces,
        classes: table
            .classes
            .iter()
            .map(|class| Class { number: class.number, name: class.name.clone(), space: space(class.space) })
            .collect(),
    });
    tables.collect()
}

fn reasons(target: &Target) -> Vec<Reason> {
    let reasons = target.stop_reasons.iter().enumerate().map(|(index, reason)| Reason {
        name: reason.name.clone(),
        words: reason.words.clone(),
        signal: reason.signal,
        follows_from: target
            .fault_bits
            .iter()
            .filter(|fault| fault.reason == index)
            .map(|fault| FaultBit {
                register: fault.register.clone(),
                bit: fault.bit,
                enabled_by: fault.enabled_by.clone(),
                unless: fault.unless,
                dbgapi: fault.dbgapi,
            })
            .collect(),
    });
    reasons.collect()
}

/// `wave32, wave64`.
pub(super) fn wave_sizes(sizes: &[u8]) -> String {
    let names = sizes.iter().filter_map(|lanes| WaveSize::from_lanes(u64::from(*lanes)));
    names.map(|size| size.to_string()).collect::<Vec<_>>().join(", ")
}
