//! Arbitrary bytes as a save area of any processor. The first byte chooses the processor; the rest is the area's
//! header, control stack and waves. If the first byte's top bit is set, the target makes a header for the control stack
//! that follows and changes one of its words.

use lanescope::import;

use crate::shared::{NOTE, TARGETS, core, note_size};

/// gfx_target_version.
const PROCESSORS: [u32; 10] = [90000, 90008, 90010, 90402, 90500, 100100, 100300, 110000, 110501, 120000];

/// Address of the area.
const AREA: u64 = 0x7f00_0000_0000;

/// Bytes of an area's header.
const HEADER: usize = 40;

/// An area whose header fits a control stack of some of the bytes and waves in the rest, with one changed word. The
/// first byte chooses the word, the second one the dwords of the control stack, four more the change.
fn with_header(input: &[u8]) -> Option<Vec<u8>> {
    let (&[word, records, ref change @ ..], rest) = input.split_first_chunk::<6>()?;
    let stack = (usize::from(records) * 4).min(rest.len());
    let words = [HEADER, stack, HEADER + rest.len(), rest.len() - stack];
    let mut area: Vec<u8> = words.iter().flat_map(|word| (*word as u32).to_le_bytes()).collect();
    let at = usize::from(word % 4) * 4;
    for (byte, change) in area[at..at + 4].iter_mut().zip(change) {
        *byte ^= change;
    }
    area.resize(HEADER, 0);
    area.extend(rest);
    Some(area)
}

pub fn run(input: &[u8]) {
    let Some((processor, rest)) = input.split_first() else { return };
    let made = if *processor & 0x80 == 0 { None } else { with_header(rest) };
    let area = made.as_deref().unwrap_or(rest);
    let processor = processor & 0x7f;
    let mut descriptor = Vec::new();
    // Version, driver interface 1.16, sizes and counts.
    descriptor.extend(1u64.to_le_bytes());
    for word in [1u32, 16, 16, 0, 1, 120, 1, 64] {
        descriptor.extend(word.to_le_bytes());
    }
    // No r_debug; enabled, with dispatch facts.
    descriptor.extend(0u64.to_le_bytes());
    descriptor.extend([1, 0, 0, 0, 1, 0, 0, 0]);
    let mut agent = [0u8; 120];
    let words =
        [(56, 1), (88, PROCESSORS[usize::from(processor) % PROCESSORS.len()]), (100, 8), (104, 1), (108, 2)];
    for (at, word) in words {
        agent[at..at + 4].copy_from_slice(&word.to_le_bytes());
    }
    descriptor.extend(agent);
    let mut queue = [0u8; 64];
    for (at, address) in [(8, AREA), (16, AREA + 8), (24, AREA + 16), (32, AREA)] {
        queue[at..at + 8].copy_from_slice(&address.to_le_bytes());
    }
    for (at, word) in [(40, 1u32), (44, 1), (48, 64 * 64), (52, 2), (56, 256)] {
        queue[at..at + 4].copy_from_slice(&word.to_le_bytes());
    }
    descriptor.extend(queue);
    let mut file = core(&descriptor, (NOTE + note_size(&descriptor), AREA, area.len()));
    file.extend(area);
    let opened = import::open_bytes("fuzz", file, &TARGETS).expect("a core with a note opens");
    let capture = &opened.capture;
    for wave in &capture.waves {
        assert!(wave.unconfirmed.as_deref().is_none_or(|reason| !reason.is_empty()));
        let image = wave.registers.image.expect("a wave has an image");
        assert!(image.offset.checked_add(image.length).is_some());
        for register in wave.kind.registers() {
            capture.register(wave, register.id).expect("what is not there is unknown, not an error");
        }
        for segment in wave.private.segments() {
            assert!(
                capture.read(&wave.private, segment.address, &mut [0]).expect("memory lies in memory") == 1
            );
        }
    }
    for group in &capture.workgroups {
        assert!(group.lds.captured() <= group.lds_size.unwrap_or(0));
    }
}
