//! The memory hubs' status register after a page fault.

use super::save_area::BitRange;

/// `VM_L2_PROTECTION_FAULT_STATUS`; gfx10 and later: `GCVM_L2_PROTECTION_FAULT_STATUS`, with the same fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FaultStatus(pub u32);

/// PERMISSION_FAULTS: bits for an invalid entry, and for missing rights to read, write and execute.
const PERMISSION_FAULTS: BitRange = BitRange { low: 4, high: 7 };
/// VMID.
const VMID: BitRange = BitRange { low: 20, high: 23 };
/// RW.
const WRITE: BitRange = BitRange { low: 18, high: 18 };

impl FaultStatus {
    /// Whether the register has information. The driver prints 0 for reports after the first one, and all ones are what a
    /// read of an absent register returns.
    #[must_use]
    pub fn is_known(self) -> bool {
        self.0 != 0 && self.0 != u32::MAX
    }

    /// Whether the page's entry is not valid.
    #[must_use]
    pub fn is_invalid(self) -> bool {
        PERMISSION_FAULTS.of(self.0) & 1 != 0
    }

    /// Whether the access needs the missing right to write.
    #[must_use]
    pub fn is_read_only(self) -> bool {
        PERMISSION_FAULTS.of(self.0) & 4 != 0
    }

    /// Whether the access needs the missing right to execute.
    #[must_use]
    pub fn is_no_execute(self) -> bool {
        PERMISSION_FAULTS.of(self.0) & 8 != 0
    }

    /// Whether the access is in the driver's own address space.
    #[must_use]
    pub fn is_of_driver(self) -> bool {
        self.is_known() && VMID.of(self.0) == 0
    }

    /// Whether the access is a write.
    #[must_use]
    pub fn is_write(self) -> bool {
        WRITE.of(self.0) != 0
    }
}
