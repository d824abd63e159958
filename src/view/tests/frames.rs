//! Call frame information of views: read by gimli, and complete for any claims of functions.

use std::ops::Range;

use gimli::{BaseAddresses, CfaRule, DebugFrame, LittleEndian, RegisterRule, UnwindContext, UnwindSection};
use proptest::prelude::*;

use crate::view::frames::{Code, cover, debug_frame};

fn code(range: Range<u64>, is_outermost: bool) -> Code {
    Code { range, is_outermost }
}

#[test]
fn a_caller_is_a_stride_further_and_its_address_below() {
    let section = debug_frame(&[code(0x1000..0x2000, false), code(0x2000..0x3000, true)], None);
    let frame = DebugFrame::new(&section, LittleEndian);
    let bases = BaseAddresses::default();
    let mut context = UnwindContext::new();
    let mut row = |pc| {
        let row =
            frame.unwind_info_for_address(&bases, &mut context, pc, DebugFrame::cie_from_offset).unwrap();
        (row.cfa().clone(), row.register(gimli::X86_64::RA), row.register(gimli::Register(2000)))
    };
    // The layout of the view's windows: 16 MB for a frame, the return address in the last eight bytes.
    let cfa = CfaRule::RegisterAndOffset { register: gimli::X86_64::RSP, offset: 0x100_0000 };
    assert_eq!(row(0x1000), (cfa.clone(), Some(RegisterRule::Offset(-8)), Some(RegisterRule::SameValue)));
    assert_eq!(row(0x1fff), (cfa.clone(), Some(RegisterRule::Offset(-8)), Some(RegisterRule::SameValue)));
    assert_eq!(row(0x2000), (cfa, Some(RegisterRule::Undefined), Some(RegisterRule::SameValue)));
}

#[test]
fn neighbours_with_callers_are_one_entry() {
    let functions = [code(0x10..0x20, false), code(0x20..0x30, true), code(0x40..0x50, false)];
    let expected = [code(0x0..0x20, false), code(0x20..0x30, true), code(0x30..0x100, false)];
    assert_eq!(cover(0..0x100, &functions), expected);
}

proptest! {
    /// Every address has one entry, despite overlaps.
    #[test]
    fn all_of_the_code_is_covered_once(
        functions in prop::collection::vec((0u64..300, 0u64..60, any::<bool>()), 0..12),
    ) {
        let text = 32..256u64;
        let functions: Vec<Code> =
            functions.into_iter().map(|(start, size, outermost)| code(start..start + size, outermost)).collect();
        let covered = cover(text.clone(), &functions);
        let mut at = text.start;
        for entry in &covered {
            prop_assert_eq!(entry.range.start, at);
            prop_assert!(entry.range.start < entry.range.end);
            at = entry.range.end;
        }
        prop_assert_eq!(at, text.end);
        // An address belongs to the function with the lower start; of two with the same start, to the larger one.
        for address in text {
            let outermost = covered.iter().any(|entry| entry.is_outermost && entry.range.contains(&address));
            let claimed = functions.iter().any(|one| one.is_outermost && one.range.contains(&address));
            prop_assert!(!outermost || claimed);
        }
    }
}
