//! What is bounded, at the bound and one beyond.

use std::fmt::Write as _;

use super::radv;
use super::text::{MOST_COLUMNS, read, read_up_to};
use super::wave::{MOST_SGPRS, MOST_VGPRS, Read};
use super::{MOST_JSON, open_json};
use crate::arch::Targets;
use crate::import::problem::{ImportError, Problems};
use crate::import::{Options, Problem};

fn said(problems: Problems) -> Vec<String> {
    problems.finish().iter().map(Problem::to_string).collect()
}

fn text(text: &str) -> (Read, Vec<String>) {
    let mut problems = Problems::new("text");
    let read = read(text.as_bytes(), &mut problems);
    (read, said(problems))
}

#[test]
fn words_of_code_are_bounded() {
    let mut lines = String::new();
    for word in 0..5 {
        writeln!(lines, "   pgm[5@0x1000 + {:#x}   ] = 0x0000000{word}   s_nop 0", word * 4).unwrap();
    }
    for (most, kept, full) in [(5, 5, false), (4, 4, true)] {
        let read = read_up_to(lines.as_bytes(), most, &mut Problems::new("text"));
        assert_eq!((read.code.len(), read.kept.full), (kept, full));
    }
}

#[test]
fn columns_are_bounded() {
    let table = |columns: usize| {
        let names: String = (5..columns).map(|at| format!(" C{at}")).collect();
        let values: String = (5..columns).map(|at| format!(" {at:08x}")).collect();
        text(&format!("SE SH CU SIMD WAVE#{names}\n 0 0 1 0 0{values}\nend\n"))
    };
    let (read, said) = table(MOST_COLUMNS);
    let last = |read: &Read, at: usize| read.waves[0].words.get(&format!("c{at}")).copied();
    assert_eq!(last(&read, MOST_COLUMNS - 1), Some(MOST_COLUMNS as u32 - 1));
    assert!(!said.iter().any(|problem| problem.contains("columns")), "{said:?}");
    let (read, said) = table(MOST_COLUMNS + 1);
    assert_eq!(
        (last(&read, MOST_COLUMNS - 1), last(&read, MOST_COLUMNS)),
        (Some(MOST_COLUMNS as u32 - 1), None)
    );
    assert!(said.iter().any(|problem| problem.contains("65 columns")), "{said:?}");
}

#[test]
fn numbers_of_registers_are_bounded() {
    let rows = |sgpr: u64, vgpr: u64| {
        text(&format!(
            "se0.sa0.wgp0.simd0.wave0\n>SGPRS[{sgpr}..{sgpr}] = {{ 00000001 }}\nVGPRS: t00\n    [{vgpr}] = {{ 00000002 }}\n"
        ))
    };
    let ignored = |said: &[String]| said.iter().filter(|problem| problem.contains("is ignored")).count();
    let (read, said) = rows(MOST_SGPRS - 1, MOST_VGPRS - 1);
    assert_eq!(ignored(&said), 0, "{said:?}");
    assert!(read.waves[0].values.iter().any(|value| read.kept.text(value.name) == "v1023"));
    let (_, said) = rows(MOST_SGPRS, MOST_VGPRS);
    assert_eq!(ignored(&said), 2, "{said:?}");
}

/// A source that says how large it is, and is never read where that is too much.
#[test]
fn json_is_bounded() {
    let targets = Targets::builtin();
    let open = |size| open_json("answer", &b"{\"waves\":[]}"[..], size, &targets, &Options::default());
    assert!(open(MOST_JSON).is_ok());
    let error = open(MOST_JSON + 1).unwrap_err();
    assert!(matches!(error, ImportError::TooLarge { limit: MOST_JSON, .. }), "{error}");
}

#[test]
fn what_stands_beside_a_hang_is_looked_at_as_far_as_the_bound() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("umr_waves.log"), "se0.sa0.wgp0.simd0.wave0\nMain Registers:\n")
        .unwrap();
    let architecture = |before: usize| {
        let name = "name = NAVI48\n";
        let filler = "x".repeat(before - 1) + "\n";
        std::fs::write(folder.path().join("gpu_info.log"), filler + name).unwrap();
        let opened = super::open_radv(folder.path(), &Targets::builtin(), &Options::default()).unwrap();
        opened.capture.agents[0].target.name.clone()
    };
    let most = usize::try_from(radv::MOST).unwrap();
    assert_eq!(architecture(most - "name = NAVI48\n".len()), "gfx1201");
    assert_eq!(architecture(most), "gfx1100", "as its registers show");
}
