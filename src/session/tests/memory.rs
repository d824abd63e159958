//! Memory of every space: the swizzle, apertures, and reads that end at missing bytes.

use super::{Maker, with_private};
use crate::session::{MemoryAddress, ReadError, Session, Storage as _};
use crate::units::{Address, AddressSpace, LaneId, WaveId, WaveSize};

fn place(space: u64, address: u64, lane: Option<u8>) -> MemoryAddress {
    MemoryAddress {
        space: AddressSpace(space),
        address: Address(address),
        wave: Some(WaveId(0)),
        lane: lane.map(LaneId),
    }
}

fn read(session: &Session, place: MemoryAddress, count: usize) -> Result<Vec<u8>, ReadError> {
    let mut buffer = vec![0xee; count];
    let got = session.read(place, &mut buffer)?;
    buffer.truncate(got);
    Ok(buffer)
}

/// A wave64 wave whose private byte at wave address `a` is `a * 7 mod 256`.
fn swizzled() -> Session {
    let bytes: Vec<u8> = (0u32..1024).map(|at| (at * 7) as u8).collect();
    with_private(&[(0, &bytes)])
}

/// dwarf-cases.md H: lane address to wave address, 64 lanes.
#[test]
fn private_lane_is_swizzled_by_four_bytes() {
    let session = swizzled();
    for (lane_address, lane, wave_address) in [(0, 5, 0x14), (4, 5, 0x114), (7, 5, 0x117), (0, 63, 252)] {
        let by_lane = read(&session, place(5, lane_address, Some(lane)), 1).unwrap();
        let by_wave = read(&session, place(6, wave_address, None), 1).unwrap();
        assert_eq!(by_lane, by_wave, "lane {lane} address {lane_address}");
        let named = read(&session, place(0x20 + u64::from(lane), lane_address, None), 1).unwrap();
        assert_eq!(named, by_wave, "private_lane{lane}");
    }
    // H7: 8 bytes at lane address 6 of lane 0 are wave bytes 0x102-3, 0x200-3, 0x300-1.
    let bytes = read(&session, place(5, 6, Some(0)), 8).unwrap();
    let at = [0x102, 0x103, 0x200, 0x201, 0x202, 0x203, 0x300, 0x301_u32];
    assert_eq!(bytes, at.map(|at| (at * 7) as u8));
}

#[test]
fn reads_end_where_the_capture_ends() {
    let session = swizzled();
    // 1024 bytes of 64 lanes are 16 bytes a lane.
    assert_eq!(read(&session, place(5, 10, Some(3)), 64).unwrap().len(), 6);
    assert_eq!(read(&session, place(6, 1000, None), 64).unwrap().len(), 24);
    let missing = read(&session, place(5, 16, Some(3)), 4).unwrap_err();
    assert!(matches!(missing, ReadError::NotCaptured { .. }), "{missing:?}");
    assert!(missing.to_string().contains("private_lane[3]#0x10"), "{missing}");
}

/// Rows are interleaved: a hole in one lane's dword does not hide its neighbour's.
#[test]
fn a_lane_reads_across_holes_of_other_lanes() {
    // Lanes 0 and 1 of the first three rows, the rest of each row missing.
    let rows: Vec<(u64, Vec<u8>)> = (0u8..3).map(|row| (u64::from(row) * 256, vec![row; 8])).collect();
    let pieces: Vec<(u64, &[u8])> = rows.iter().map(|(at, bytes)| (*at, bytes.as_slice())).collect();
    let session = with_private(&pieces);
    let expected = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2];
    assert_eq!(read(&session, place(5, 0, Some(1)), 100).unwrap(), expected);
    assert_eq!(read(&session, place(5, 2, Some(0)), 5).unwrap(), expected[2..7]);
    assert!(read(&session, place(5, 0, Some(2)), 4).is_err());
}

#[test]
fn wave32_has_no_upper_lanes() {
    let mut maker = Maker::new("gfx1100");
    maker.wave(WaveSize::W32, None, &[]);
    maker.private(0, &[(0, &[1; 256])]);
    let session = Session::new(maker.finish(), None).unwrap();
    assert_eq!(read(&session, place(5, 4, Some(31)), 4).unwrap(), [1; 4]);
    for refused in [place(5, 0, Some(32)), place(0x40, 0, None), place(0x5f, 0, None)] {
        let error = read(&session, refused, 1).unwrap_err();
        assert!(matches!(error, ReadError::NoSuchLane { .. } | ReadError::NoSuchSpace(..)), "{error:?}");
    }
    assert!(matches!(read(&session, place(4, 0, None), 1), Err(ReadError::NoSuchSpace(..))));
    let needs = read(&session, place(5, 0, None), 1).unwrap_err();
    assert!(matches!(needs, ReadError::Needs { needs: "lane", .. }), "{needs:?}");
}

#[test]
fn generic_addresses_go_through_the_apertures() {
    let mut maker = Maker::new("gfx90a");
    let group = maker.group([0, 0, 0], &[(0, &[0xab; 64])]);
    maker.wave(WaveSize::W64, Some(group), &[]);
    maker.private(0, &[(0, &[0xcd; 1024])]);
    maker.capture.global = maker.map(&[(0x7f00_1234_5000, &[0x11; 16])]);
    maker.capture.agents[0].apertures.insert(AddressSpace(3), Address(0x0003_0000_0000_0000));
    let session = Session::new(maker.finish(), None).unwrap();
    // The agent's own aperture, then the target's default one (H11 and capture-formats.md 3.5).
    assert_eq!(read(&session, place(1, 0x0003_0000_0000_0004, Some(0)), 2).unwrap(), [0xab; 2]);
    assert_eq!(read(&session, place(1, 0x0002_0000_0000_0000, Some(7)), 2).unwrap(), [0xcd; 2]);
    assert_eq!(read(&session, place(1, 0x7f00_1234_5008, Some(0)), 100).unwrap(), [0x11; 8]);
    let resolved = session.place(0x0003_0000_0000_0004, WaveId(0)).unwrap();
    assert_eq!((resolved.space, resolved.address), (AddressSpace(3), Address(4)));
}

#[test]
fn lds_belongs_to_the_waves_group() {
    let mut maker = Maker::new("gfx1030");
    let first = maker.group([0, 0, 0], &[(0, &[1; 8])]);
    let second = maker.group([1, 0, 0], &[(4, &[2; 8])]);
    maker.wave(WaveSize::W32, Some(first), &[]);
    maker.wave(WaveSize::W32, Some(second), &[]);
    maker.wave(WaveSize::W32, None, &[]);
    let session = Session::new(maker.finish(), None).unwrap();
    let of = |wave, address| MemoryAddress { wave: Some(WaveId(wave)), ..place(3, address, None) };
    assert_eq!(read(&session, of(0, 0), 100).unwrap(), [1; 8]);
    assert_eq!(read(&session, of(1, 4), 100).unwrap(), [2; 8]);
    assert!(read(&session, of(1, 0), 1).is_err());
    assert!(read(&session, of(2, 0), 1).is_err());
    // Explicit wave in the address: wave field 2 is ordinal 1.
    let named = session.place(3 << 56 | 2 << 39 | 0x7f << 32 | 4, WaveId(0)).unwrap();
    assert_eq!(read(&session, named, 1).unwrap(), [2]);
    assert!(session.place(3 << 56 | 9 << 39, WaveId(0)).is_err(), "no such wave");
}

/// A dword across two pieces of the capture is readable, and in the list of regions.
#[test]
fn pieces_that_touch_are_one_run() {
    let session = with_private(&[(0, &[1; 258]), (258, &[2; 254])]);
    assert_eq!(read(&session, place(5, 0, Some(0)), 100).unwrap(), [1, 1, 1, 1, 1, 1, 2, 2]);
    let region = session.region(5 << 56 | 0x7f << 32 | 4, WaveId(0));
    assert!(region.readable && region.last & 0xffff_ffff == 7, "{region:?}");
}
