//! Texts that no tool prints.

use proptest::prelude::*;

use super::Wave;
use super::of_generation;
use crate::arch::{Generation, Targets};
use crate::isa::{RegisterFile, WaveContext};
use crate::units::LaneSet;

const GENERATIONS: [Generation; 6] = [
    Generation::Gfx9,
    Generation::Gfx90a,
    Generation::Gfx940,
    Generation::Gfx10,
    Generation::Gfx11,
    Generation::Gfx12,
];

/// Parts of texts, so that many of the random ones get far.
fn texts() -> impl Strategy<Value = String> {
    let mnemonic = prop::sample::select(vec![
        "global_load_dword",
        "flat_store_b64",
        "scratch_load_b32",
        "buffer_load_dwordx4",
        "s_load_b512",
        "s_buffer_load_dwordx4",
        "ds_read2st64_b64",
        "ds_append",
        "image_bvh8_intersect_ray",
        "v_dual_mov_b32",
        "s_waitcnt",
        "s_wait_loadcnt_dscnt",
        "tbuffer_load_format_xyzw",
        "s_setreg_b32",
        "global_load_lds_dwordx4",
    ]);
    let word = prop::sample::select(vec![
        "v0",
        "v[0:65535]",
        "v[65535:65535]",
        "v[9:1]",
        "v[2:3]",
        "s[0:3]",
        "s[4:5]",
        "off",
        "null",
        "lds",
        "idxen",
        "offen",
        "offset:18446744073709551616",
        "offset:-9223372036854775808",
        "offset:4294967295",
        "offset0:255",
        "offset1:99999999999",
        "[[[",
        ")))",
        "::",
        "0x7fffffffffffffff",
        "-0x8000000000000000",
        "vmcnt(99999)",
        "1.0e99",
        "format:[BUF_FMT_99999_99999]",
        "hwreg(",
        "m0",
        "exec",
        "glc",
        "th:TH_ATOMIC_0xzz",
    ]);
    let separator = prop::sample::select(vec![", ", " ", ",", "\t"]);
    (mnemonic, prop::collection::vec((word, separator), 0..12)).prop_map(|(mnemonic, words)| {
        let rest: String = words.into_iter().map(|(word, separator)| format!("{word}{separator}")).collect();
        format!("{mnemonic} {rest}")
    })
}

proptest! {
    #[test]
    fn no_text_panics(text in prop_oneof![texts(), any::<String>()], value: u32) {
        for generation in GENERATIONS {
            let one = of_generation(generation, &text);
            let Ok(effects) = one.effects() else { continue };
            if let Some(access) = &effects.access {
                let mut wave = Wave::new("gfx1100").set("s0", &[value; 32]).set("m0", &[value]).lanes(0, &[value]);
                wave.exec = LaneSet(u64::MAX);
                let apertures = std::collections::HashMap::new();
                let context = WaveContext { arch: &wave.arch, exec: wave.exec, apertures: &apertures };
                prop_assert!(access.addresses(&context, &wave).len() < 64 * 20);
            }
        }
    }
}

/// Every file with a name among registers has one on every target.
#[test]
fn register_files_lead_to_registers() {
    let targets = Targets::builtin();
    for name in targets.names() {
        let target = targets.target(name).unwrap();
        for size in &target.wave_sizes {
            let arch = targets.kind(name, *size).unwrap();
            let register = |file: RegisterFile, index| {
                file.register(index, &arch)
                    .map(|(id, dword)| (arch.register(id).unwrap().name.clone(), dword))
            };
            let named = |name: &str, dword| Some((name.to_owned(), dword));
            assert_eq!(register(RegisterFile::Scalar, 5), named("s5", 0));
            assert_eq!(register(RegisterFile::Vector, 255), named("v255", 0));
            assert_eq!(register(RegisterFile::Trap, 6), named("ttmp6", 0));
            assert_eq!(register(RegisterFile::M0, 0), named("m0", 0));
            assert_eq!(register(RegisterFile::Vcc, 0), named("vcc", 0));
            let upper = if size.lanes() == 64 { named("exec", 1) } else { None };
            assert_eq!(register(RegisterFile::Exec, 1), upper, "{name}");
            let scratch = if name.starts_with("gfx12") { "scratch_base" } else { "flat_scratch" };
            assert_eq!(register(RegisterFile::FlatScratch, 1), named(scratch, 1), "{name}");
            let has_accumulators = ["gfx908", "gfx90a", "gfx942", "gfx950"].contains(&name);
            assert_eq!(register(RegisterFile::Accumulator, 3).is_some(), has_accumulators, "{name}");
            assert_eq!(register(RegisterFile::Hardware, 0), None);
        }
    }
}
