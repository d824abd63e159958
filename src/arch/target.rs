//! One processor according to its file in `targets/`.

use super::save_area::SaveArea;
use super::schema::{File, ScopeName, Scratch};
use super::stop::StopReason;
use super::wave_words::WaveWords;
use crate::units::{Address, AddressSpace, LaneId, WaveSize};

/// One processor without its registers, which depend on the wave size (see [`super::WaveArch`]).
#[derive(Debug)]
pub struct Target {
    /// The processor's name: `gfx90a`.
    pub name: String,
    /// EF_AMDGPU_MACH, the low byte of a code object's `e_flags`.
    pub elf_machine: u32,
    /// The processor name for GNU gdb 16 with amdgcn: itself, or one with the same registers; `None` without one.
    pub gdb: Option<String>,
    /// The supported wave sizes, the default one first.
    pub wave_sizes: Vec<WaveSize>,
    /// Whether private memory is accessed through buffers: the frame base then counts bytes of the whole wave.
    pub buffer_scratch: bool,
    /// The product name.
    pub products: String,
    /// Target features that a code object may set: `xnack`, `sramecc`.
    pub features: Vec<String>,
    /// Maximum SGPR slots of a wave, aliases included.
    pub sgpr_count: u16,
    /// The slot at which aliases such as `vcc` end, if the allocation is not smaller.
    pub sgpr_alias_limit: u16,
    /// All address spaces, by number.
    pub spaces: Vec<Space>,
    /// Reserved ranges of address space numbers, both ends included.
    pub reserved_spaces: Vec<(AddressSpace, AddressSpace)>,
    /// The meaning of `DW_AT_address_class`, by augmentation.
    pub address_classes: Vec<AddressClasses>,
    /// Layout of its save areas; `None`: unknown, so its cores are unreadable.
    pub save_area: Option<SaveArea>,
    /// Status words of a wave beyond its registers; `None`: unknown.
    pub wave_words: Option<WaveWords>,
    /// The stop reasons, with their texts and signals.
    pub stop_reasons: Vec<StopReason>,
    /// Register bits that give stop reasons.
    pub fault_bits: Vec<FaultBits>,
    /// Trap IDs (`None`: all others except 0), each with an index into `stop_reasons`.
    pub trap_ids: Vec<(Option<u8>, usize)>,
}

/// The owner of an address space: the data needed to read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpaceScope {
    /// One for the process: global memory.
    Global,
    /// Addresses of other spaces through apertures.
    Generic,
    /// One for the GPU: region (GDS).
    Agent,
    /// One for each work-group: LDS.
    WorkGroup,
    /// One for each wave: private memory in its backing layout.
    Wave,
    /// One for each lane: private memory, swizzled by 4 bytes, of the focused lane.
    Lane,
    /// Private memory of a fixed lane, independent of the focus.
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
    /// The null address.
    pub null: Address,
    /// Its owner.
    pub scope: SpaceScope,
    /// Base of its aperture in the generic space; a capture's agent may override it. `None`: only a capture has it.
    pub aperture: Option<Address>,
    /// Whether it has an aperture of 2^32 bytes.
    pub has_aperture: bool,
}

/// The meaning of address classes in units of one augmentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressClasses {
    /// The unit's augmentation (`[amd:v0.0]`); `None`: all units without another table.
    pub augmentation: Option<String>,
    /// The space of a pointer without an address class.
    pub absent: AddressSpace,
    /// Whether class N is space N.
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
    /// Its space.
    pub space: AddressSpace,
}

/// A register bit that gives a stop reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultBits {
    /// Name of the register: `trapsts`.
    pub register: String,
    /// The bit.
    pub bit: u8,
    /// An index into [`Target::stop_reasons`].
    pub reason: usize,
    /// The register and bit that enable this one: flags stay set while traps on them are disabled.
    pub enabled_by: Option<(String, u8)>,
    /// A bit of the same register that overrides this one.
    pub unless: Option<u8>,
    /// Whether AMD's debugger library draws the same conclusion.
    pub dbgapi: bool,
}

impl Target {
    /// Converts a checked file; invalid references are dropped.
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

    /// The processor name for a gdb with amdgcn.
    #[must_use]
    pub fn gdb_name(&self) -> &str {
        self.gdb.as_deref().unwrap_or(&self.name)
    }

    /// Returns the address space of that number; `None` if the target reserves or lacks it.
    ///
    /// For a wave use [`super::WaveArch::space`], which checks lanes and returns the reason for an error.
    #[must_use]
    pub fn space(&self, id: AddressSpace) -> Option<&Space> {
        self.spaces.binary_search_by_key(&id, |space| space.id).ok().and_then(|at| self.spaces.get(at))
    }

    /// Returns the name of a segment: a space with addresses of 32 bits. Pointers to segments have the name in text,
    /// global and generic pointers are plain numbers.
    #[must_use]
    pub fn segment(&self, id: AddressSpace) -> Option<String> {
        self.space(id).filter(|space| space.address_bits <= 32).map(|space| space.name.clone())
    }

    /// Returns the address space of that name.
    #[must_use]
    pub fn space_named(&self, name: &str) -> Option<&Space> {
        self.spaces.iter().find(|space| space.name == name)
    }

    /// Whether that number is reserved.
    #[must_use]
    pub fn reserves_space(&self, id: AddressSpace) -> bool {
        self.reserved_spaces.iter().any(|(first, last)| (*first..=*last).contains(&id))
    }

    /// Returns the space of a pointer from its `DW_AT_address_class`, if any, and its unit's augmentation.
    ///
    /// `None`: the class has no meaning under that augmentation.
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

    /// Returns the stop reason of that name.
    #[must_use]
    pub fn stop_reason(&self, name: &str) -> Option<&StopReason> {
        self.stop_reasons.iter().find(|reason| reason.name == name)
    }

    /// Returns the index of the stop reason of that name.
    #[must_use]
    pub fn reason_index(&self, name: &str) -> Option<usize> {
        self.stop_reasons.iter().position(|reason| reason.name == name)
    }

    /// Returns the index of the stop reason of a saved trap ID; `None` for 0, which means no trap.
    #[must_use]
    pub fn trap_reason(&self, id: u8) -> Option<usize> {
        let exact = self.trap_ids.iter().find(|(known, _)| *known == Some(id));
        let other = || self.trap_ids.iter().find(|(known, _)| known.is_none() && id != 0);
        exact.or_else(other).map(|(_, reason)| *reason)
    }

    /// Derives stop reasons from register values: indexes without repeats, in the target's order.
    ///
    /// `read` returns a captured register's value. A bit counts as clear if its register, or its enabling bit, was not
    /// captured. `as_dbgapi` omits conclusions that AMD's debugger library does not draw.
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
                has_aperture: block.aperture.is_some() || block.aperture_of_agent,
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
