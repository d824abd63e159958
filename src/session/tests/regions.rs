//! Regions: they cover all addresses without overlap, and agree with reads.

use proptest::prelude::*;

use super::{Maker, with_private};
use crate::session::{LoadedRange, MemoryAddress, Region, Session, Storage as _, WhatIf as _};
use crate::units::{Address, AddressSpace, LaneId, WaveId, WaveSize};

fn session() -> Session {
    let mut maker = Maker::new("gfx90a");
    let group = maker.group([0, 0, 0], &[(0, &[1; 64]), (128, &[2; 64])]);
    maker.wave(WaveSize::W64, Some(group), &[("exec", &[8, 0, 0, 0, 0, 0, 0, 0], 3)]);
    maker.private(0, &[(0, &[3; 1024])]);
    maker.capture.global =
        maker.map(&[(0x1000, &[4; 16]), (0x7f00_0000_0000, &[5; 32]), (0xffff_8000_0000_0000, &[6; 16])]);
    Session::new(maker.finish(), None).unwrap()
}

const LOADED: u64 = 0x7f00_0010_0000;

#[test]
fn walking_covers_the_whole_space() {
    let session = session();
    let mut at = 0u64;
    let mut readable = Vec::new();
    for step in 0.. {
        assert!(step < 1000, "the walk does not end");
        let region = session.region(at, WaveId(0));
        assert_eq!(region.start, at, "a region begins where the one before ended");
        assert!(region.last >= at);
        if region.readable {
            readable.push((region.start, region.last));
        }
        // The last readable byte reads, and the byte after it is not part of the region.
        for edge in [region.start, region.last] {
            let place = session.place(edge, WaveId(0));
            let reads = place.is_ok_and(|place| session.read(place, &mut [0]).is_ok());
            assert_eq!(reads, region.readable, "{edge:#x} of {region:?}");
        }
        match region.last.checked_add(1) {
            Some(next) => at = next,
            None => break,
        }
    }
    for expected in [
        (0x1000, 0x100f),
        (0x7f00_0000_0000, 0x7f00_0000_001f),
        (0xffff_8000_0000_0000, 0xffff_8000_0000_000f),
        (0x0001_0000_0000_0000, 0x0001_0000_0000_003f),
        (0x0300_007f_0000_0000, 0x0300_007f_0000_003f),
        (0x0300_007f_0000_0080, 0x0300_007f_0000_00bf),
        (0x0500_007f_0000_0000, 0x0500_007f_0000_000f),
        (0x0600_007f_0000_0000, 0x0600_007f_0000_03ff),
        (0x2300_007f_0000_0000, 0x2300_007f_0000_000f),
    ] {
        assert!(readable.contains(&expected), "{expected:x?} is missing in {readable:x?}");
    }
}

#[test]
fn explicit_waves_and_lanes_are_answered_exactly() {
    let session = session();
    let block = 5 << 56 | 1 << 39 | 9 << 32;
    let region = session.region(block | 4, WaveId(0));
    assert_eq!((region.start, region.last, region.readable), (block, block | 15, true));
    assert_eq!(region.name.as_deref(), Some("private_lane[9] of wave 1"));
    let beyond = session.region(block | 16, WaveId(0));
    assert!(!beyond.readable);
    assert_eq!(beyond.start, block | 16);
    let nobody = session.region(5 << 56 | 7 << 39, WaveId(0));
    assert!(!nobody.readable);
}

/// dwarf-cases.md H: dword d of lane l is at 256 d + 4 l. Bytes 300 to 699 begin with lane 11 and end with lane 46.
#[test]
fn a_lane_has_its_own_dwords_of_a_segment_that_begins_inside_a_row() {
    let session = with_private(&[(300, &[1; 400])]);
    for (lane, first, last) in [(10, 8, 11), (11, 4, 11), (46, 4, 11), (47, 4, 7), (63, 4, 7)] {
        let block = 5 << 56 | 1 << 39 | lane << 32;
        let region = session.region(block | 6.max(first), WaveId(0));
        let expected = (block | first, block | last, true);
        assert_eq!((region.start, region.last, region.readable), expected, "lane {lane}");
    }
}

/// The fields of a region in a region list.
fn shown(region: &Region) -> (u64, u64, bool, bool, Option<String>) {
    (region.start, region.last, region.readable, region.code, region.name.clone())
}

/// A session with every kind of boundary: segments with and without names, one in the middle of a code object's image;
/// two overlapping code objects; apertures with LDS and private memory; and bytes written by a client.
fn everything(size: WaveSize) -> Session {
    // The address of the initialised data: `readelf -l` of the code objects.
    let (target, data) = if size == WaveSize::W32 { ("gfx1030", 0x52b8) } else { ("gfx90a", 0x56f8) };
    let mut maker = Maker::new(target);
    let group = maker.group([0, 0, 0], &[(16, &[1; 64]), (128, &[2; 64])]);
    maker.wave(size, Some(group), &[]);
    maker.private(0, &[(0, &[3; 1024]), (4096, &[3; 100])]);
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/code");
    let code = std::fs::read(fixtures.join(format!("call-{target}-O0.hsaco"))).unwrap();
    maker.code_object(&code, 0x7f00_0010_0000);
    maker.code_object(&code, 0x7f00_0010_0800);
    maker.capture.global = maker.map(&[
        (0x1000, &[4; 16]),
        (0x1010, &[4; 16]),
        (0x7f00_0010_0100, &[5; 256]),
        (0x7f00_0020_0000, &[5; 32]),
        (0xffff_8000_0000_0000, &[6; 16]),
        (u64::MAX - 15, &[7; 16]),
    ]);
    let mut session = Session::new(maker.finish(), None).unwrap();
    let data = MemoryAddress {
        space: AddressSpace(0),
        address: Address(0x7f00_0010_0000 + data),
        wave: Some(WaveId(0)),
        lane: Some(LaneId(0)),
    };
    session.write(data, &[1, 2, 3, 4]).unwrap();
    session
}

/// Every region from 0 to the last address.
fn walk(session: &Session) -> Vec<Region> {
    let (mut regions, mut at) = (Vec::new(), 0u64);
    loop {
        let region = session.region(at, WaveId(0));
        assert_eq!(region.start, at, "a region begins where the one before ended");
        assert!(region.last >= at && regions.len() < 2000, "{region:?}");
        at = region.last.wrapping_add(1);
        regions.push(region);
        if at == 0 {
            return regions;
        }
    }
}

#[test]
fn a_region_is_the_same_whichever_of_its_edges_is_asked_about() {
    for size in [WaveSize::W64, WaveSize::W32] {
        let session = everything(size);
        let regions = walk(&session);
        assert!(regions.iter().filter(|region| region.readable).count() > 10, "{regions:x?}");
        for region in regions {
            let Region { start, last, .. } = region;
            for at in
                [start, start.saturating_add(1).min(last), start + (last - start) / 2, last.max(1) - 1, last]
            {
                let at = at.clamp(start, last);
                assert_eq!(shown(&session.region(at, WaveId(0))), shown(&region), "{size} at {at:#x}");
            }
        }
    }
}

#[test]
fn lanes_that_a_wave_of_32_lacks_are_not_readable() {
    let session = everything(WaveSize::W32);
    for lane in 0..64u64 {
        // The space of one lane, and private memory with that lane in the address.
        for at in [(0x20 + lane) << 56 | 0x7f << 32, 5 << 56 | 1 << 39 | lane << 32] {
            let region = session.region(at, WaveId(0));
            let place = session.place(at, WaveId(0));
            let reads = place.is_ok_and(|place| session.read(place, &mut [0]).is_ok());
            assert_eq!((region.readable, reads), (lane < 32, lane < 32), "lane {lane} at {at:#x}");
        }
    }
}

/// Addresses near every kind of edge.
fn addresses() -> impl Strategy<Value = u64> {
    let near = prop_oneof![
        Just(0u64),
        Just(0x1000),
        Just(0x7f00_0010_0000),
        Just(0x7f00_0010_2000),
        Just(0x7f00_0020_0000),
        Just(0xffff_8000_0000_0000),
        Just(u64::MAX),
        Just(1 << 48),
        Just(1 << 49),
        Just(2 << 48),
        (0u64..=0xff).prop_map(|tag| tag << 56),
        (0u64..=0x7f, 0u64..4, 0u64..=0x7f).prop_map(|(tag, wave, lane)| tag << 56 | wave << 39 | lane << 32),
    ];
    (near, -0x3000i64..0x3000).prop_map(|(at, by)| at.wrapping_add_signed(by))
}

proptest! {
    /// Bounds, permissions and name depend on the region and not on the address, and permissions match reads.
    #[test]
    fn a_region_is_the_same_whichever_address_in_it_is_asked_about(at in addresses(), other in addresses()) {
        thread_local!(static SESSIONS: [Session; 2] = [everything(WaveSize::W64), everything(WaveSize::W32)]);
        SESSIONS.with(|sessions| for session in sessions {
            let region = session.region(at, WaveId(0));
            assert!(region.start <= at && at <= region.last, "{at:#x} is not in {region:x?}");
            let reads = session.place(at, WaveId(0)).is_ok_and(|place| session.read(place, &mut [0]).is_ok());
            assert_eq!(reads, region.readable, "{at:#x} in {region:x?}");
            // A gap between two tagged spaces may have addresses with a wave and a lane.
            let explicit = |at: u64| (1 << 56..0xff << 56).contains(&at);
            for inside in [region.start, region.last, other.clamp(region.start, region.last)] {
                if !explicit(inside) || region.readable {
                    assert_eq!(shown(&session.region(inside, WaveId(0))), shown(&region), "{inside:#x} and {at:#x}");
                }
            }
        });
    }
}

/// Offsets of the ELF specification: `e_phoff` at 32, `e_phnum` at 56; in a program header of 56 bytes `p_type` (1:
/// PT_LOAD), `p_flags` at 4 (1: code), `p_vaddr` at 16, `p_filesz` at 32, `p_memsz` at 40.
#[test]
fn loaded_segments_exist_in_their_whole_size_in_memory() {
    let mut file = include_bytes!("dynamic/dynamic.hsaco").to_vec();
    let word = |file: &[u8], at: usize| u64::from_le_bytes(file[at..at + 8].try_into().unwrap());
    let (first, count) = (word(&file, 32) as usize, word(&file, 56) as u16);
    let loads: Vec<usize> = (0..usize::from(count)).map(|of| first + 56 * of).collect();
    let loads: Vec<usize> = loads.into_iter().filter(|at| word(&file, *at) as u32 == 1).collect();
    // The last one gets 4 KiB of `.bss`.
    let last = *loads.last().unwrap();
    let size = word(&file, last + 32) + 0x1000;
    file[last + 40..last + 48].copy_from_slice(&size.to_le_bytes());
    let mut maker = Maker::new("gfx90a");
    maker.code_object(&file, LOADED);
    maker.wave(WaveSize::W64, None, &[("exec", &[1; 8], 3)]);
    let session = Session::new(maker.finish(), None).unwrap();
    let mut end = 0;
    for at in loads {
        let start = LOADED + word(&file, at + 16);
        let range = |address| session.loaded_range(address, WaveId(0));
        if start > end && end > 0 {
            assert_eq!(range(end), LoadedRange { start: end, last: start - 1, segment: None });
        }
        end = start + word(&file, at + 40);
        for address in [start, end - 1] {
            let found = range(address);
            assert_eq!((found.start, found.last), (start, end - 1), "{address:#x}");
            assert_eq!(found.segment.unwrap().0, word(&file, at) >> 32 & 1 == 1, "{address:#x}");
        }
    }
    let bss = LOADED + word(&file, last + 16) + word(&file, last + 32);
    let place = session.place(bss, WaveId(0)).unwrap();
    assert!(session.exists(place));
    assert!(session.read(place, &mut [0]).is_err(), "its contents are not captured");
    assert!(!session.region(bss, WaveId(0)).readable);
    assert_eq!(session.loaded_range(end, WaveId(0)).segment, None);
}
