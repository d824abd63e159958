//! MODE's bits of the numbers of vector registers (gfx12.5): two for each operand, bits 19:12.

use super::Instruction;

/// Those bits in a value of MODE.
#[must_use]
pub fn vgpr_msb(mode: u32) -> u8 {
    (mode >> 12 & 0xff) as u8
}

impl Instruction {
    /// Those bits after `s_set_vgpr_msb`; `None`: another instruction.
    ///
    /// LLVM 22, AMDGPULowerVGPREncoding: the instruction has src0, src1, src2 and the destination from bit 0 on, MODE
    /// has the destination first. Bits 15:8 of the constant are the value before.
    fn set_vgpr_msb(&self) -> Option<u8> {
        let bits = (self.mnemonic() == "s_set_vgpr_msb").then(|| self.immediate())??;
        Some((bits as u8).rotate_left(2))
    }
}

/// Whether MODE's bits of a wave at `pc` differ from those that the code before the PC sets, so that the listing may
/// name other registers than the wave uses. `is_whole`: the first one begins a
/// function.
///
/// A wave may also have the bits of the instruction after the one at its PC: the trap handler of ROCm (rocm-systems,
/// `VGPR MSB Fixup`) describes that the hardware runs `s_set_vgpr_msb` before the vector instruction in front of it
/// ends.
#[must_use]
pub fn has_other_msb<'a>(
    instructions: impl Iterator<Item = &'a Instruction>,
    is_whole: bool,
    pc: u64,
    mode: u32,
) -> bool {
    let mut set = is_whole.then_some(0);
    let mut instructions = instructions.peekable();
    while let Some(one) = instructions.next_if(|one| one.address < pc) {
        set = one.set_vgpr_msb().or(set);
    }
    let ahead = instructions.nth(1).and_then(Instruction::set_vgpr_msb);
    let found = vgpr_msb(mode);
    set.is_some_and(|set| set != found) && ahead != Some(found)
}

#[cfg(test)]
mod tests {
    use super::{has_other_msb, vgpr_msb};
    use crate::isa::tests::instruction;

    fn set_vgpr_msb(text: &str) -> Option<u8> {
        instruction("gfx1250", text).set_vgpr_msb()
    }

    #[test]
    fn the_orders_of_the_instruction_and_of_mode_differ() {
        // src0 1, src1 2, src2 3, destination 2: MODE has 2 in 13:12, 1 in 15:14, 2 in 17:16, 3 in 19:18.
        assert_eq!(set_vgpr_msb("s_set_vgpr_msb 0xb9"), Some(0xe6));
        assert_eq!(vgpr_msb(0x000e_62f0), 0xe6);
        // The upper byte is the value before.
        assert_eq!(set_vgpr_msb("s_set_vgpr_msb 0x4004"), Some(0x10));
        assert_eq!(set_vgpr_msb("s_set_vgpr_msb 64"), Some(1));
        assert_eq!(set_vgpr_msb("s_nop 0"), None);
    }

    #[test]
    fn mode_must_be_that_of_the_code_before_the_pc() {
        let code = [(0, "v_nop"), (4, "s_set_vgpr_msb 64"), (8, "v_nop"), (12, "s_set_vgpr_msb 0x4000")];
        let code = code.map(|(at, text)| instruction("gfx1250", text).moved(at, 4, None));
        let differs = |is_whole, pc, mode| has_other_msb(code.iter(), is_whole, pc, mode);
        assert!(!differs(true, 0, 0x2f0) && differs(true, 0, 0x22f0));
        assert!(!differs(true, 8, 0x12f0) && differs(true, 8, 0x22f0));
        // The next instruction may have run.
        assert!(!differs(true, 8, 0x2f0) && !differs(true, 0, 0x12f0));
        assert!(differs(true, 12, 0x2f0) && !differs(true, 12, 0x12f0));
        // Without the function's start only the code after the first change is known.
        assert!(!differs(false, 0, 0x22f0) && differs(false, 8, 0x22f0));
    }
}
