//! The memory hubs' status register after a page fault.

use super::save_area::BitRange;

/// `VM_L2_PROTECTION_FAULT_STATUS`; gfx10 and later: `GCVM_L2_PROTECTION_FAULT_STATUS`; gfx12.1: its lower half.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultStatus {
    value: u32,
    /// `None`: not known by the register's name.
    fields: Option<Fields>,
}

/// The bits of a generation's fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fields {
    /// PERMISSION_FAULTS: bits for an invalid entry, and for missing rights to read, write and execute.
    permissions: BitRange,
    /// RW.
    write: BitRange,
    /// VMID.
    vmid: BitRange,
}

const FIELDS: Fields = Fields {
    permissions: BitRange { low: 4, high: 7 },
    write: BitRange { low: 18, high: 18 },
    vmid: BitRange { low: 20, high: 23 },
};

/// `gc_12_1_0_sh_mask.h`, `mmhub_4_2_0_sh_mask.h`.
const WIDE_FIELDS: Fields = Fields {
    permissions: BitRange { low: 5, high: 9 },
    write: BitRange { low: 20, high: 20 },
    vmid: BitRange { low: 22, high: 25 },
};

impl FaultStatus {
    /// The register up to gfx12.0.
    #[must_use]
    pub fn new(value: u32) -> Self {
        Self { value, fields: Some(FIELDS) }
    }

    /// The lower half of a register with 64 bits, by the name that the driver prints: `GCVM_...` has it since gfx12.1,
    /// `MMVM_...` both before, in mmhub 4.1.0 with the older fields, and since then.
    #[must_use]
    pub fn lower_half(value: u32, is_mmhub: bool) -> Self {
        Self { value, fields: (!is_mmhub).then_some(WIDE_FIELDS) }
    }

    /// The register.
    #[must_use]
    pub fn value(self) -> u32 {
        self.value
    }

    /// Whether the register has information. The driver prints 0 for reports after the first one, and all ones are what a
    /// read of an absent register returns.
    #[must_use]
    pub fn is_known(self) -> bool {
        self.value != 0 && self.value != u32::MAX
    }

    /// Whether its fields are known.
    #[must_use]
    pub fn has_fields(self) -> bool {
        self.fields.is_some()
    }

    /// Whether the page's entry is not valid.
    #[must_use]
    pub fn is_invalid(self) -> bool {
        self.permissions() & 1 != 0
    }

    /// Whether the access needs the missing right to write.
    #[must_use]
    pub fn is_read_only(self) -> bool {
        self.permissions() & 4 != 0
    }

    /// Whether the access needs the missing right to execute.
    #[must_use]
    pub fn is_no_execute(self) -> bool {
        self.permissions() & 8 != 0
    }

    /// Whether the access is in the driver's own address space.
    #[must_use]
    pub fn is_of_driver(self) -> bool {
        self.is_known() && self.fields.is_some_and(|fields| fields.vmid.of(self.value) == 0)
    }

    /// Whether the access is a write.
    #[must_use]
    pub fn is_write(self) -> bool {
        self.fields.is_some_and(|fields| fields.write.of(self.value) != 0)
    }

    fn permissions(self) -> u32 {
        self.fields.map_or(0, |fields| fields.permissions.of(self.value))
    }
}
