//! Written registers, loads and stores, against LLVM's instruction tables (`tests/fixtures/instructions/`).

use std::collections::BTreeSet;

use super::{RegisterRange, decoded};
use crate::isa::{Access, Direction, RegisterFile, Write};

const EFFECTS: &str = include_str!("../../../tests/fixtures/instructions/effects.txt");

type Dwords = BTreeSet<(RegisterFile, u16)>;

/// The dwords that LLVM's names denote: `VGPR2_VGPR3`, `SGPR4`, `VCC`, `XNACK_MASK_LO`.
fn of_llvm(names: &str) -> Dwords {
    let mut dwords = Dwords::new();
    for name in names.split_whitespace() {
        let special = [
            ("SCC", RegisterFile::Scc, 1),
            ("MODE", RegisterFile::Mode, 1),
            ("M0", RegisterFile::M0, 1),
            ("EXEC", RegisterFile::Exec, 2),
            ("VCC", RegisterFile::Vcc, 2),
            ("FLAT_SCR", RegisterFile::FlatScratch, 2),
            ("XNACK_MASK", RegisterFile::XnackMask, 2),
        ];
        if let Some((_, file, count)) = special.iter().find(|(prefix, ..)| name.starts_with(prefix)) {
            match (name.contains("_LO"), name.contains("_HI")) {
                (true, _) => dwords.insert((*file, 0)),
                (_, true) => dwords.insert((*file, 1)),
                _ => {
                    dwords.extend((0..*count).map(|dword| (*file, dword)));
                    true
                }
            };
            continue;
        }
        for part in name.split('_') {
            let numbered = [
                ("SGPR", RegisterFile::Scalar),
                ("VGPR", RegisterFile::Vector),
                ("AGPR", RegisterFile::Accumulator),
                ("TTMP", RegisterFile::Trap),
            ];
            let found = numbered.iter().find_map(|(prefix, file)| Some((*file, part.strip_prefix(prefix)?)));
            if let Some((file, number)) = found {
                dwords.insert((file, number.parse().unwrap()));
            }
        }
    }
    dwords
}

fn of_writes(writes: &[Write]) -> Dwords {
    let ranges = writes.iter().map(|write| write.range);
    ranges
        .flat_map(|range| (range.first..range.first + range.count).map(move |dword| (range.file, dword)))
        .collect()
}

/// Waves of 32 lanes have no upper half of masks, but LLVM's names differ about it.
fn without_upper_masks(mut dwords: Dwords, processor: &str) -> Dwords {
    if processor.starts_with("gfx1") {
        dwords.retain(|dword| !matches!(dword, (RegisterFile::Exec | RegisterFile::Vcc, 1)));
    }
    dwords
}

/// LLVM's tables differ from the instructions' effects in these cases, and the reason is in the tables.
fn is_modelled_otherwise(mnemonic: &str, text: &str) -> bool {
    // The register depends on an index that the tables leave out.
    mnemonic.contains("movrel")
        || mnemonic.starts_with("v_swaprel")
        || mnemonic.starts_with("s_set_gpr_idx")
        // A comparison's old value takes the whole tuple of the two operands.
        || mnemonic.contains("cmpswap")
        // Image atomics have a result in the tables even if they return nothing.
        || mnemonic.starts_with("image_atomic")
        // Every hardware register counts as MODE.
        || mnemonic.starts_with("s_setreg")
        // SDWA comparisons have VCC and another result.
        || mnemonic.starts_with("v_cmp") && mnemonic.ends_with("_sdwa") && !text.contains("vcc")
        // The counter of a loop, and the state of skipping.
        || mnemonic.starts_with("s_subvector_loop")
        || mnemonic == "s_setvskip"
}

/// Instructions whose side effects LLVM models as memory.
fn is_no_memory(mnemonic: &str) -> bool {
    ["ds_gws_", "exp", "s_prefetch", "s_buffer_prefetch", "s_waitcnt_", "ds_direct", "ds_param", "lds_"]
        .iter()
        .any(|prefix| mnemonic.starts_with(prefix))
        || mnemonic == "ds_ordered_count"
        || mnemonic.contains("gs_reg_rtn")
}

/// Whether it loads and stores. Copies to LDS do both.
fn flags(access: Option<&Access>) -> &'static str {
    match access.map(|access| (access.direction, access.is_lds_copy)) {
        None => "",
        Some((Direction::Load, false)) => "L",
        Some((Direction::Store, false)) => "S",
        Some(_) => "LS",
    }
}

/// Forks of GFX9 split a wave; an end by a mask of lanes has effects beyond the text.
const UNKNOWN: &[&str] = &["s_cbranch_g_fork", "s_cbranch_i_fork", "s_cbranch_join", "s_setkill"];

#[test]
fn effects_agree_with_llvm() {
    let (mut count, mut wrong, mut unknown) = (0, Vec::new(), BTreeSet::new());
    for line in EFFECTS.lines() {
        let mut fields = line.split('\t');
        let [processor, text, names, llvm_flags] = [0; 4].map(|_| fields.next().unwrap());
        let mnemonic = text.split(' ').next().unwrap();
        count += 1;
        let effects = match decoded(processor, text) {
            Ok(effects) => effects,
            Err(error) => {
                unknown.insert(mnemonic);
                if !UNKNOWN.contains(&mnemonic) {
                    wrong.push(format!("{line}: {error}"));
                }
                continue;
            }
        };
        let expected = without_upper_masks(of_llvm(names), processor);
        if !is_modelled_otherwise(mnemonic, text) {
            let found = without_upper_masks(of_writes(&effects.writes), processor);
            if found != expected {
                wrong.push(format!("{line}: writes {found:?}"));
            }
        }
        // The second address of these is read.
        let is_source = mnemonic.starts_with("ds_write_src2");
        let found = if is_source { "LS" } else { flags(effects.access.as_ref()) };
        if found != llvm_flags && !is_no_memory(mnemonic) {
            wrong.push(format!("{line}: {found}"));
        }
    }
    assert!(count > 3000, "{count} instructions");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    let expected: BTreeSet<&str> = UNKNOWN.iter().copied().collect();
    assert_eq!(unknown, expected, "unknown instructions");
}

/// What LLVM's tables leave out about indexed moves: any register of the file may be written.
#[test]
fn indexed_moves_write_any_register() {
    for (text, file) in [
        ("v_movreld_b32_e32 v1, v2", RegisterFile::Vector),
        ("v_swaprel_b32 v1, v2", RegisterFile::Vector),
        ("v_movrelsd_2_b32_e32 v1, v2", RegisterFile::Vector),
        ("s_movreld_b64 s[2:3], s[4:5]", RegisterFile::Scalar),
        ("s_set_gpr_idx_on s1, gpr_idx(DST)", RegisterFile::Vector),
        ("s_set_gpr_idx_off", RegisterFile::Vector),
        ("s_sendmsg sendmsg(MSG_DEALLOC_VGPRS)", RegisterFile::Vector),
    ] {
        let processor = match text {
            _ if text.contains("gpr_idx") => "gfx900",
            _ if text.starts_with("s_sendmsg") => "gfx1100",
            _ => "gfx1030",
        };
        let writes = decoded(processor, text).unwrap().writes;
        let any = writes.iter().find(|write| write.range == RegisterRange::whole(file));
        assert!(any.is_some_and(|write| write.keeps_old), "{text}: {writes:?}");
        assert!(RegisterRange::whole(file).overlaps(RegisterRange::new(file, 300, 1)));
    }
}
