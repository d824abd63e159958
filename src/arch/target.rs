//! One processor as its file in `targets/` describes it.

use super::save_area::SaveArea;
use super::schema::{File, ScopeName, Scratch};
use super::wave_words::WaveWords;
use crate::units::{Address, AddressSpace, LaneId, WaveSize};

/// One processor: everything but registers, which depend on the wave size (see [`super::WaveArch`]).
#[derive(Debug)]
pub struct Target {
    /// The processor's name: `gfx90a`.
    pub name: String,
    /// EF_AMDGPU_MACH, the low byte of a code object's `e_flags`.
    pub elf_machine: u32,
    /// The processor that GNU gdb 16 with amdgcn knows and that has these registers: itself or another one. `None`: it knows
    /// none.
    pub gdb: Option<String>,
    /// The wave sizes it can run, the default one first.
    pub wave_sizes: Vec<WaveSize>,
    /// Whether private memory is reached through buffers: the frame base then counts bytes of the whole wave.
    pub buffer_scratch: bool,
    /// The product name.
    pub products: String,
    /// Target features that a code object may switch: `xnack`, `sramecc`.
    pub features: Vec<String>,
    /// The most SGPR slots that a wave can have, aliases among them.
    pub sgpr_count: u16,
    /// Aliases of `vcc` and kin end at this slot, or at the end of a smaller allocation.
    pub sgpr_alias_limit: u16,
    /// Every address space, by number.
    pub spaces: Vec<Space>,
    /// Ranges of address space numbers, both ends included, that mean nothing.
    pub reserved_spaces: Vec<(AddressSpace, AddressSpace)>,
    /// The meaning of `DW_AT_address_class`, by augmentation.
    pub address_classes: Vec<AddressClasses>,
    /// Its save areas; `None`: unknown, so that its cores cannot be read.
    pub save_area: Option<SaveArea>,
    /// Words of a wave's status beyond its registers; `None`: unknown.
    pub wave_words: Option<WaveWords>,
    /// The stop reasons, with their words and signals.
    pub stop_reasons: Vec<StopReason>,
    /// Register bits from which stop reasons follow.
    pub fault_bits: Vec<FaultBits>,
    /// The meaning of trap ids: the id (`None`: every other one but 0) and an index into `stop_reasons`.
    pub trap_ids: Vec<(Option<u8>, usize)>,
}

/// The owner of an address space, which determines the data needed to read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpaceScope {
    /// One for the process: global memory.
    Global,
    /// Addresses that name other spaces through apertures.
    Generic,
    /// One for the GPU: region (GDS).
    Agent,
    /// One for each work-group: LDS.
    WorkGroup,
    /// One for each wave: private memory in its backing layout.
    Wave,
    /// One for each lane: private memory, swizzled by 4 bytes; the focused lane.
    Lane,
    /// Private memory of that lane, whichever is focused.
    LaneN(LaneId),
}

/// An address space of a target.
#[derive(Clone, Debug)]
pub struct Space {
    /// Its DWARF number (DW_ASPACE).
    pub id: AddressSpace,
    /// AMD's name: `private_lane`.
    pub name: String,
    /// 32 or 64.
    pub address_bits: u8,
    /// The address that points to nothing.
    pub null: Address,
    /// Its owner.
    pub scope: SpaceScope,
    /// Base of its aperture in the generic space, if it has one; a capture's agent may override it.
    pub aperture: Option<Address>,
}

/// A reason for which a wave stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StopReason {
    /// Its name in dumps: `memory_violation`.
    pub name: String,
    /// The text for a person: "memory violation (page fault)".
    pub words: String,
    /// The signal in gdb's numbering: 11 for SIGSEGV.
    pub signal: u8,
}

/// The meaning of address classes in units of one augmentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressClasses {
    /// The unit's augmentation (`[amd:v0.0]`); `None`: every unit that no other table claims.
    pub augmentation: Option<String>,
    /// The space of a pointer without an address class.
    pub absent: AddressSpace,
    /// Whether class N is simply space N.
    pub classes_are_spaces: bool,
    /// Number, name and space of each class.
    pub classes: Vec<AddressClass>,
}

/// One address class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressClass {
    /// The value of `DW_AT_address_class`.
    pub number: u64,
    /// Its name in the DWARF extension.
    pub name: String,
    /// The space that it stands for.
    pub space: AddressSpace,
}

/// A register bit that gives the reason of a stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultBits {
    /// Name of the register: `trapsts`.
    pub register: String,
    /// The bit.
    pub bit: u8,
    /// An index into [`Target::stop_reasons`].
    pub reason: usize,
    /// The register and bit without which this one means nothing: flags stay up when nobody traps on them.
    pub enabled_by: Option<(String, u8)>,
    /// A bit of the same register that overrules this one.
    pub unless: Option<u8>,
    /// Whether AMD's debugger library draws the same conclusion.
    pub dbgapi: bool,
}

impl Target {
    /// Takes over a checked file; references that a check would have refused are dropped.
    pub(super) fn new(file: &File) -> Self {
        let mut target = Self {
            name: file.target.name.clone(),
            elf_machine: file.target.elf_machine,
            gdb: file.target.gdb.clone(),
            wave_sizes: file.target.sizes().collect(),
            buffer_scratch: file.target.scratch == Scratch::Buffer,
            products: file.target.products.clone(),
            features: file.target.features.clone(),
            sgpr_count: file.sgprs.most,
            sgpr_alias_limit: file.sgprs.alias_limit,
            spaces: spaces(file),
            reserved_spaces: file
                .space_reserved
                .iter()
                .map(|gap| (AddressSpace(u64::from(gap.first)), AddressSpace(u64::from(gap.last))))
                .collect(),
            address_classes: Vec::new(),
            save_area: file.save_area.clone(),
            wave_words: file.wave_words.clone(),
            stop_reasons: file
                .stop_reason
                .iter()
                .map(|reason| StopReason {
                    name: reason.name.clone(),
                    words: reason.words.clone(),
                    signal: reason.signal,
                })
                .collect(),
            fault_bits: Vec::new(),
            trap_ids: Vec::new(),
        };
        target.address_classes = address_classes(file, &target);
        target.fault_bits = fault_bits(file, &target);
        target.trap_ids = file
            .trap_id
            .iter()
            .filter_map(|trap| Some((trap.id, target.reason_index(&trap.reason)?)))
            .collect();
        target
    }

    /// The name of the processor that a gdb with amdgcn gets for it.
    #[must_use]
    pub fn gdb_name(&self) -> &str {
        self.gdb.as_deref().unwrap_or(&self.name)
    }

    /// The address space of that number; `None` if the target reserves or lacks it.
    ///
    /// For a wave ask [`super::WaveArch::space`]: it knows which lanes there are and why a number is refused.
    #[must_use]
    pub fn space(&self, id: AddressSpace) -> Option<&Space> {
        self.spaces.binary_search_by_key(&id, |space| space.id).ok().and_then(|at| self.spaces.get(at))
    }

    /// The address space of that name.
    #[must_use]
    pub fn space_named(&self, name: &str) -> Option<&Space> {
        self.spaces.iter().find(|space| space.name == name)
    }

    /// Whether that number is set aside and means nothing.
    #[must_use]
    pub fn reserves_space(&self, id: AddressSpace) -> bool {
        self.reserved_spaces.iter().any(|(first, last)| (*first..=*last).contains(&id))
    }

    /// The space of a pointer, from its `DW_AT_address_class` (if it has one) and its unit's augmentation.
    ///
    /// `None`: the class means nothing under that augmentation.
    #[must_use]
    pub fn address_class(&self, augmentation: Option<&str>, class: Option<u64>) -> Option<&Space> {
        let own = self
            .address_classes
            .iter()
            .find(|table| table.augmentation.is_some() && table.augmentation.as_deref() == augmentation);
        let table = own.or_else(|| self.address_classes.iter().find(|table| table.augmentation.is_none()))?;
        let space = match class {
            None => table.absent,
            Some(number) if table.classes_are_spaces => AddressSpace(number),
            Some(number) => table.classes.iter().find(|class| class.number == number)?.space,
        };
        self.space(space)
    }

    /// The stop reason of that name.
    #[must_use]
    pub fn stop_reason(&self, name: &str) -> Option<&StopReason> {
        self.stop_reasons.iter().find(|reason| reason.name == name)
    }

    /// The index of the stop reason of that name.
    #[must_use]
    pub fn reason_index(&self, name: &str) -> Option<usize> {
        self.stop_reasons.iter().position(|reason| reason.name == name)
    }

    /// The stop reason of a saved trap id, an index; `None` for 0, which is no trap.
    #[must_use]
    pub fn trap_reason(&self, id: u8) -> Option<usize> {
        let exact = self.trap_ids.iter().find(|(known, _)| *known == Some(id));
        let other = || self.trap_ids.iter().find(|(known, _)| known.is_none() && id != 0);
        exact.or_else(other).map(|(_, reason)| *reason)
    }

    /// The stop reasons that follow from register values, indexes without repeats in the target's order.
    ///
    /// `read` gives a register's value if it was captured; a bit of a register that was not, or whose enabling bit was
    /// not, counts as clear. `as_dbgapi` leaves out what AMD's debugger library does not conclude.
    #[must_use]
    pub fn faults(&self, as_dbgapi: bool, read: impl Fn(&str) -> Option<u64>) -> Vec<usize> {
        let is_set =
            |register: &str, bit: u8| read(register).is_some_and(|value| value >> (bit & 63) & 1 == 1);
        let raised = self.fault_bits.iter().filter(|fault| {
            (fault.dbgapi || !as_dbgapi)
                && is_set(&fault.register, fault.bit)
                && fault.enabled_by.as_ref().is_none_or(|(register, bit)| is_set(register, *bit))
                && fault.unless.is_none_or(|bit| !is_set(&fault.register, bit))
        });
        let mut reasons: Vec<usize> = raised.map(|fault| fault.reason).collect();
        reasons.sort_unstable();
        reasons.dedup();
        reasons
    }
}

fn spaces(file: &File) -> Vec<Space> {
    let mut spaces = Vec::new();
    for block in &file.space {
        for index in 0..block.name.count() {
            let lane = u8::try_from(index).ok().map(LaneId);
            let scope = match (block.scope, block.name.run, lane) {
                (ScopeName::Lane, Some(_), Some(lane)) => SpaceScope::LaneN(lane),
                (scope, _, _) => scope.single(),
            };
            spaces.push(Space {
                id: AddressSpace(u64::from(block.number) + u64::from(index)),
                name: block.name.at(index),
                address_bits: block.bits,
                null: Address(block.null),
                scope,
                aperture: block.aperture.map(Address),
            });
        }
    }
    spaces.sort_by_key(|space| space.id);
    spaces
}

fn address_classes(file: &File, target: &Target) -> Vec<AddressClasses> {
    let tables = file.address_classes.iter().filter_map(|table| {
        let classes = table.class.iter().filter_map(|class| {
            let space = target.space_named(&class.space)?.id;
            Some(AddressClass { number: class.number, name: class.name.clone(), space })
        });
        Some(AddressClasses {
            augmentation: table.augmentation.clone(),
            absent: target.space_named(&table.absent)?.id,
            classes_are_spaces: table.classes_are_spaces,
            classes: classes.collect(),
        })
    });
    tables.collect()
}

fn fault_bits(file: &File, target: &Target) -> Vec<FaultBits> {
    let bits = file.faults.iter().flat_map(|block| {
        block.bits.iter().filter_map(|bit| {
            Some(FaultBits {
                register: block.register.clone(),
                bit: bit.bit,
                reason: target.reason_index(&bit.reason)?,
                enabled_by: block.enabled_by.clone().zip(bit.enable),
                unless: bit.unless,
                dbgapi: block.dbgapi,
            })
        })
    });
    bits.collect()
}
