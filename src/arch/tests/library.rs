//! Registers of AMD's debugger library: names, sizes, numbers and the layout of a whole `g` packet.

use super::kind;
use crate::arch::{RegId, WaveArch};
use crate::units::WaveSize;

/// Name, first number, count, bytes, offset of a run of the library's list.
type Row = (&'static str, u16, u16, u16, u32);

fn check(kind: &WaveArch, rows: &[Row], numbers: u16, bytes: u32) {
    let what = format!("{} {}", kind.target.name, kind.wave_size);
    for (name, first, count, size, offset) in rows {
        let run = kind.dbgapi().iter().find(|run| (run.first..run.first + run.count).contains(first));
        let run = run.unwrap_or_else(|| panic!("{what}: {name} has no run"));
        let index = first - run.first;
        assert_eq!(run.bytes, *size, "{what}: {name}");
        assert_eq!(run.offset + u32::from(index * run.bytes), *offset, "{what}: {name}");
        if let Some(register) = run.register {
            let register = kind.register(RegId(register.0 + index)).unwrap();
            assert_eq!(register.name, *name, "{what}: {first}");
            let own = if run.shadow { register.dbgapi_shadow } else { register.dbgapi };
            assert_eq!(own, Some(*first), "{what}: {name}");
            assert_eq!(register.bytes(), usize::from(*size), "{what}: {name}");
        }
        let last = kind.dbgapi().iter().find(|run| run.first + run.count > first + count - 1);
        assert_eq!(last.unwrap().bytes, *size, "{what}: the run of {name}");
    }
    let end = kind.dbgapi().last().unwrap();
    assert_eq!(end.first + end.count, numbers, "{what}");
    assert_eq!(end.offset + u32::from(end.count) * u32::from(end.bytes), bytes, "{what}");
}

#[test]
fn gfx9_with_accumulators_is_laid_out_as_the_library_does() {
    let rows = [
        ("v0", 0, 256, 256, 0),
        ("a0", 256, 256, 256, 65536),
        ("s0", 512, 102, 4, 131_072),
        ("s0", 614, 102, 4, 131_480),
        ("ttmp4", 716, 8, 4, 131_888),
        ("ttmp13", 724, 1, 4, 131_920),
        ("m0", 725, 1, 4, 131_924),
        ("pc", 726, 1, 8, 131_928),
        ("mode", 727, 1, 4, 131_936),
        ("trapsts", 728, 1, 4, 131_940),
        ("xnack_mask", 729, 1, 8, 131_944),
        ("flat_scratch", 730, 1, 8, 131_952),
        ("status", 731, 1, 4, 131_960),
        ("exec", 732, 1, 8, 131_964),
        ("vcc", 733, 1, 8, 131_972),
    ];
    for name in ["gfx908", "gfx90a", "gfx942"] {
        check(&kind(name, WaveSize::W64), &rows, 734, 131_980);
    }
}

#[test]
fn gfx10_and_gfx11_are_laid_out_as_the_library_does() {
    let rows = [
        ("v0", 0, 256, 256, 0),
        ("v0", 256, 256, 128, 65536),
        ("s0", 512, 106, 4, 98304),
        ("s0", 618, 106, 4, 98728),
        ("ttmp4", 724, 8, 4, 99152),
        ("ttmp13", 732, 1, 4, 99184),
        ("m0", 733, 1, 4, 99188),
        ("pc", 734, 1, 8, 99192),
        ("mode", 735, 1, 4, 99200),
        ("trapsts", 736, 1, 4, 99204),
        ("xnack_mask", 737, 1, 4, 99208),
        ("flat_scratch", 738, 1, 8, 99212),
        ("status", 739, 1, 4, 99220),
        ("exec", 740, 1, 4, 99224),
        ("exec", 741, 1, 8, 99228),
        ("vcc", 742, 1, 4, 99236),
        ("vcc", 743, 1, 8, 99240),
    ];
    for name in ["gfx1030", "gfx1100"] {
        for size in [WaveSize::W32, WaveSize::W64] {
            check(&kind(name, size), &rows, 744, 99248);
        }
    }
}

#[test]
fn gfx12_is_laid_out_as_the_library_does() {
    let rows = [
        ("mode", 735, 1, 4, 99200),
        ("trap_ctrl", 736, 1, 4, 99204),
        ("excp_flag_priv", 737, 1, 4, 99208),
        ("excp_flag_user", 738, 1, 4, 99212),
        ("xnack_mask", 739, 1, 4, 99216),
        ("scratch_base", 740, 1, 8, 99220),
        ("status", 741, 1, 4, 99228),
        ("state_priv", 742, 1, 4, 99232),
        ("exec", 743, 1, 4, 99236),
        ("exec", 744, 1, 8, 99240),
        ("vcc", 745, 1, 4, 99248),
        ("vcc", 746, 1, 8, 99252),
    ];
    for size in [WaveSize::W32, WaveSize::W64] {
        let kind = kind("gfx1200", size);
        check(&kind, &rows, 747, 99260);
        assert!(kind.named("xnack_mask").is_none());
        let xnack = kind.dbgapi().iter().find(|run| run.first == 739).unwrap();
        assert_eq!(xnack.register, None);
    }
}

#[test]
fn a_number_of_the_other_wave_size_has_no_register() {
    let kind = kind("gfx1030", WaveSize::W32);
    let register = |number: u16| kind.dbgapi().iter().find(|run| run.first == number).unwrap().register;
    assert_eq!((register(0), register(741)), (None, None));
    assert_eq!(register(256), Some(kind.named("v0").unwrap().id));
    assert_eq!(register(740), Some(kind.named("exec").unwrap().id));
}

/// Names and sizes in bytes from rocm-dbgapi 0.77 for waves of each GPU, with all vector registers allocated, and the
/// aliased SGPRs also under their plain names.
#[test]
fn names_and_sizes_are_those_that_the_library_shows() {
    let gfx9 = [
        ("v0-v255", 256),
        ("a0-a255", 256),
        ("s0-s101", 4),
        ("ttmp4-ttmp11", 4),
        ("ttmp13", 4),
        ("m0", 4),
        ("pc", 8),
        ("mode", 4),
        ("trapsts", 4),
        ("xnack_mask", 8),
        ("flat_scratch", 8),
        ("status", 4),
        ("exec", 8),
        ("vcc", 8),
    ];
    let wave32 = [
        ("v0-v255", 128),
        ("s0-s105", 4),
        ("ttmp4-ttmp11", 4),
        ("ttmp13", 4),
        ("m0", 4),
        ("pc", 8),
        ("mode", 4),
        ("trapsts", 4),
        ("xnack_mask", 4),
        ("flat_scratch", 8),
        ("status", 4),
        ("exec", 4),
        ("vcc", 4),
    ];
    let cases = [
        ("gfx90a", WaveSize::W64, &gfx9[..]),
        ("gfx942", WaveSize::W64, &gfx9[..]),
        ("gfx1030", WaveSize::W32, &wave32[..]),
        ("gfx1100", WaveSize::W32, &wave32[..]),
    ];
    for (name, size, rows) in cases {
        let kind = kind(name, size);
        let mut shown = Vec::new();
        for (range, bytes) in rows {
            let (first, count) = kind.range(range).unwrap_or_else(|error| panic!("{error}"));
            for index in first.0..first.0 + count {
                assert_eq!(kind.register(RegId(index)).unwrap().bytes(), *bytes, "{name} {range}");
                shown.push(index);
            }
        }
        shown.sort_unstable();
        let all: Vec<u16> = (0..kind.registers().len() as u16).collect();
        assert_eq!(shown, all, "{name}: registers that the library does not show");
    }
    // wave64 of gfx10 and later has no such register.
    assert!(kind("gfx1030", WaveSize::W64).named("xnack_mask").is_none());
}
