//! Headers with one wrong word: numbers by hand, from the rule that the control stack ends at the start of the waves.

use super::{Area, Header, MAX_STACK};

/// Control stack from 0xf00 to 0x1000, waves from there to 0x3000.
const SOUND: Header =
    Header { address: 0x7f00_0000_0000, stack: 0xf00, stack_size: 0x100, end: 0x3000, size: 0x2000 };

fn area(stack: u64, begin: u64, end: u64) -> Area {
    let at = |offset| 0x7f00_0000_0000 + offset;
    Area { stack: at(stack), stack_size: (begin - stack) as u32, begin: at(begin), end: at(end) }
}

#[test]
fn a_consistent_header_places_its_area() {
    assert_eq!(SOUND.area(), Some(area(0xf00, 0x1000, 0x3000)));
    for wrong in [
        Header { stack: 0xf04, ..SOUND },
        Header { stack_size: 0, ..SOUND },
        Header { end: 0x3004, ..SOUND },
        Header { size: 0x4000, ..SOUND },
    ] {
        assert_eq!(wrong.area(), None, "{wrong:?}");
    }
}

#[test]
fn each_word_follows_from_the_others() {
    let truth = area(0xf00, 0x1000, 0x3000);
    for value in [0, 4, 0x7fff_ffff, 0xffff_fffc, 0xffff_ffff] {
        let wrong = [
            ("control_stack_offset", Header { stack: value, ..SOUND }),
            ("control_stack_size", Header { stack_size: value, ..SOUND }),
            ("wave_state_offset", Header { end: value, ..SOUND }),
            ("wave_state_size", Header { size: value, ..SOUND }),
        ];
        for (word, header) in wrong {
            assert!(header.repairs().contains(&(truth, word)), "{word} {value:#x}: {:x?}", header.repairs());
        }
    }
}

#[test]
fn readings_out_of_order_and_beyond_the_bound_are_none() {
    let header = Header { stack: 0x10, stack_size: 0x8, end: 0x2000, size: 0x3000, ..SOUND };
    assert!(header.repairs().is_empty(), "{:x?}", header.repairs());
    let header = Header { stack: 0x1000, stack_size: 0, end: 0x1000 + MAX_STACK + 4, size: 0, ..SOUND };
    assert!(header.repairs().iter().all(|(area, _)| area.stack_size <= MAX_STACK));
    assert!(header.is_unused());
}
