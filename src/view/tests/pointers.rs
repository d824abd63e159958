//! The stored value of a write to a pointer of a union.

use crate::arch::Targets;
use crate::session::{MockInspect, PointerAt, address};
use crate::units::{AddressSpace, LaneId, WaveId, WaveSize};
use crate::view::tagged::{Holder, stored};

/// The clients' address has zeros in the bytes of lane and wave for lane 0 of these waves: a whole number is still a
/// number, and a bit-field above the offset is still a part of the pointer.
#[test]
fn a_whole_number_is_written_over_a_pointer_of_any_wave() {
    let mut session = MockInspect::new();
    session.expect_has_wave().returning(|_| true);
    session.expect_kind().returning(|| Targets::builtin().kind("gfx90a", WaveSize::W64).unwrap());
    let pointer = PointerAt { offset: 0, bytes: 8, space: AddressSpace(0), is_shared: true, to: None };
    for wave in [0, 510, 511, 512, 1023] {
        let holder = Holder { wave: WaveId(wave), lane: Some(LaneId(0)) };
        let shown = address::encode(AddressSpace(5), Some(holder.wave), holder.lane, 0x40).unwrap();
        assert_eq!(shown >> 32 & 0xffff == 0, [511, 1023].contains(&wave), "{shown:#x}");
        for number in [0, 16, u64::from(u32::MAX)] {
            let written = stored(&session, holder, &pointer, shown, number, 0..8);
            assert_eq!(written.unwrap(), None, "wave {wave}: {number:#x}");
        }
        let with_tag = shown & !(0xffff << 48) | 3 << 48 | 7;
        assert!(stored(&session, holder, &pointer, shown, with_tag, 0..8).is_err(), "wave {wave}");
    }
}
