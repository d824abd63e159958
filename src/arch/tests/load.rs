//! Search of target files: built-in ones, the user's, and invalid ones.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use proptest::prelude::*;

use crate::arch::load::{BUILT_IN, parse};
use crate::arch::{TargetError, Targets};
use crate::units::{DwarfReg, WaveSize};

/// A folder that the test removes at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let path = std::env::temp_dir().join(format!("lanescope-targets-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        for (file, text) in files {
            fs::write(path.join(file), text).unwrap();
        }
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn text(name: &str) -> &'static str {
    BUILT_IN.iter().find(|(known, _)| *known == name).unwrap().1
}

#[test]
fn a_target_and_a_kind_are_loaded_once() {
    let (one, two) = (Targets::builtin(), Targets::builtin());
    assert!(Arc::ptr_eq(&one.target("gfx1200").unwrap(), &two.target("gfx1200").unwrap()));
    let (one, two) =
        (one.kind("gfx1200", WaveSize::W32).unwrap(), two.kind("gfx1200", WaveSize::W32).unwrap());
    assert!(Arc::ptr_eq(&one, &two));
}

#[test]
fn what_is_not_there_is_named() {
    let targets = Targets::builtin();
    let error = targets.target("gfx90b").unwrap_err().to_string();
    assert!(error.starts_with("there is no target \"gfx90b\"; there are gfx900, gfx906, "), "{error}");
    let error = targets.kind("gfx90a", WaveSize::W32).unwrap_err().to_string();
    assert_eq!(error, "gfx90a has no wave32 waves");
}

#[test]
fn a_folder_adds_targets_and_replaces_known_ones() {
    let own = text("gfx1200").replace("name = \"gfx1200\"", "name = \"gfx1103\"").replace("0x048", "0x044");
    let better = text("gfx90a").replace("Instinct MI210", "Instinct of ours");
    let folder = Folder::new("adds", &[("a.toml", &own), ("b.toml", &better), ("notes.txt", "not a target")]);
    let targets = Targets::builtin().with_dir(&folder.0).unwrap();
    assert_eq!(targets.names().count(), Targets::builtin().names().count() + 1);
    assert_eq!(targets.names().last(), Some("gfx1103"));
    assert!(targets.target("gfx90a").unwrap().products.contains("of ours"));
    assert!(targets.origin("gfx90a").unwrap().ends_with("b.toml"));
    assert_eq!(targets.origin("gfx900"), Some("targets/gfx900.toml"));
    assert_eq!(targets.by_elf_machine(0x44).unwrap().name, "gfx1103");
    let absent = targets.kind("gfx1103", WaveSize::W32).unwrap().dwarf(DwarfReg(3073)).unwrap_err();
    assert_eq!(absent.to_string(), "DWARF register 3073 is AGPR1, which gfx1103 does not have");
    assert!(targets.by_elf_machine(0x3f).unwrap().products.contains("of ours"));
    // The built-in targets stay unchanged.
    assert!(Targets::builtin().target("gfx90a").unwrap().products.contains("MI210"));
}

#[test]
fn a_folder_adds_the_steppings_of_its_files() {
    let stepping = |name: &str, machine: u32| {
        format!(
            "[[stepping]]\nname = \"{name}\"\nproducts = \"of ours\"\nelf_machine = {machine}\nsource = \"x\"\n\n"
        )
    };
    let of = |base: &str, name: &str, machine: u32| {
        text(base).replace("# Named bits\n", &format!("{}# Named bits\n", stepping(name, machine)))
    };
    let folder =
        Folder::new("steppings", &[("a.toml", &of("gfx906", "gfx907", 0x7f)), ("b.toml", text("gfx1100"))]);
    let targets = Targets::builtin().with_dir(&folder.0).unwrap();
    let own = targets.target("gfx907").unwrap();
    assert_eq!((&*own.name, &*own.products, own.elf_machine), ("gfx907", "of ours", 0x7f));
    assert_eq!(own.save_area, targets.target("gfx906").unwrap().save_area);
    assert_eq!(targets.by_elf_machine(0x7f).unwrap().name, "gfx907");
    assert!(targets.names().any(|name| name == "gfx907"));
    // A user's file replaces a built-in processor and its steppings.
    for name in ["gfx1100", "gfx1101", "gfx1153"] {
        assert!(targets.origin(name).unwrap().ends_with("b.toml"), "{name}");
        assert!(!targets.is_built_in(name));
    }
    assert_eq!(targets.by_elf_machine(0x58).unwrap().name, "gfx1153");
    assert!(targets.is_built_in("gfx1201"));

    let folder = Folder::new(
        "stepping-twice",
        &[("a.toml", &of("gfx906", "gfx907", 0x7f)), ("b.toml", &of("gfx900", "gfx907", 0x7e))],
    );
    let error = Targets::builtin().with_dir(&folder.0).unwrap_err().to_string();
    assert!(error.ends_with("b.toml both describe gfx907"), "{error}");
}

#[test]
fn a_wrong_file_is_refused_with_its_name_and_place() {
    let folder = Folder::new("wrong", &[("a.toml", "[target]\nname = 5\n")]);
    let error = Targets::builtin().with_dir(&folder.0).unwrap_err();
    assert!(matches!(error, TargetError::Syntax { .. }));
    let error = error.to_string();
    assert!(error.contains("a.toml") && error.contains("line 2"), "{error}");

    let broken = text("gfx90a").replace("dwarf = 16\n", "dwarf = 18\n");
    let folder = Folder::new("broken", &[("b.toml", &broken)]);
    let error = Targets::builtin().with_dir(&folder.0).unwrap_err().to_string();
    assert!(error.contains("b.toml") && error.contains("share numbers"), "{error}");

    let folder = Folder::new("twice", &[("a.toml", text("gfx900")), ("b.toml", text("gfx900"))]);
    let error = Targets::builtin().with_dir(&folder.0).unwrap_err().to_string();
    assert!(error.ends_with("b.toml both describe gfx900"), "{error}");

    let folder = Folder::new("long", &[("c.toml", &"#".repeat((1 << 20) + 1))]);
    let error = Targets::builtin().with_dir(&folder.0).unwrap_err();
    assert!(matches!(error, TargetError::TooLong { size: 1_048_577, .. }), "{error}");

    let error = Targets::builtin().with_dir(&folder.0.join("nowhere")).unwrap_err();
    assert!(matches!(error, TargetError::Read { .. }), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A file with random changes is rejected or loads, without a panic.
    #[test]
    fn damaged_files_never_panic(
        which in 0..BUILT_IN.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), prop::sample::select(b"0179\"[]{},=#\n".to_vec())), 1..8),
        cut in any::<prop::sample::Index>(),
        keep: bool,
    ) {
        let mut bytes = BUILT_IN[which].1.as_bytes().to_vec();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if !keep {
            bytes.truncate(cut.index(bytes.len()));
        }
        let text = String::from_utf8_lossy(&bytes);
        if let Ok(file) = parse("damaged.toml", &text) {
            let target = Arc::new(crate::arch::Target::new(&file));
            for size in target.wave_sizes.clone() {
                let kind = crate::arch::WaveArch::new(Arc::clone(&target), &file, size);
                for number in 0..4100 {
                    let _ = kind.dwarf(crate::units::DwarfReg(number));
                }
            }
        }
    }
}
