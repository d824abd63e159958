//! Views of code objects that were linked as bitcode: units that refer to one another's DIEs. Each must be in a view
//! once, and with code only at its functions. llvm-dwarfdump lists a code object's contents.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use lanescope::session::{Session, Stacks as _};
use lanescope::units::WaveId;
use lanescope::view::{Extent, View, ViewObject};

use crate::dwarf::ran;
use crate::fixtures::{fixtures, open};
use crate::support::newest;

const NAMES: [&str; 3] = ["linked-gfx90a-O0", "linked-gfx90a-O2", "linked-gfx90a-dwarf4"];
/// Distance between the addresses of two waves.
const LOADED: u64 = 0x7f00_0010_0000;

/// A code object with a wave at each of some addresses.
struct Stopped {
    folder: tempfile::TempDir,
    dump: Arc<lanescope::session::Dump>,
    session: Session,
}

impl Stopped {
    fn new(code: &Path, places: &[u64]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut manifest = format!(
            "format = 1\n[[agent]]\nid = 1\ntarget = \"gfx90a\"\n[[code_object]]\nfile = \"code\"\naddress = \"{LOADED:#x}\"\n"
        );
        std::fs::copy(code, folder.path().join("code")).unwrap();
        for (place, id) in places.iter().zip(1..) {
            let pc = LOADED + place;
            manifest += &format!(
                "[[wave]]\nid = {id}\nagent = 1\n[wave.registers]\npc = \"{pc:#x}\"\nexec = \"0xff\"\n"
            );
        }
        std::fs::write(folder.path().join("manifest.toml"), manifest).unwrap();
        let dump = open(folder.path());
        let session = Session::new(Arc::clone(&dump), None).unwrap();
        Self { folder, dump, session }
    }

    fn view(&self, extent: Extent) -> View {
        View::new(&self.dump, &self.session, extent)
    }

    /// llvm-dwarfdump's listing of a valid view.
    fn text(&self, object: &ViewObject) -> String {
        let path = self.folder.path().join("view");
        object.file.write_to(&mut std::fs::File::create(&path).unwrap()).unwrap();
        let dwarfdump = || Command::new(newest("llvm-dwarfdump"));
        let said = ran(dwarfdump().arg("--verify").arg(&path));
        assert!(said.trim_end().ends_with("No errors."), "{said}");
        ran(dwarfdump().args(["--debug-info", "--debug-line"]).arg(&path))
    }
}

/// Addresses of functions of a code object, from its symbols.
fn functions(code: &Path) -> Vec<(String, u64)> {
    let text = ran(Command::new(newest("llvm-nm")).args(["--defined-only"]).arg(code));
    let lines = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let (at, kind, name) = (words.next()?, words.next()?, words.next()?);
        matches!(kind, "T" | "t").then(|| (name.to_owned(), u64::from_str_radix(at, 16).unwrap()))
    });
    lines.collect()
}

/// The DIEs of a text, each with its tag and lines.
fn dies<'t>(text: &'t str, tag: &str) -> Vec<&'t str> {
    let each = text.split("\n0x").filter(|die| die.lines().next().unwrap_or("").trim_end().ends_with(tag));
    each.collect()
}

#[test]
fn each_unit_is_in_a_view_once_and_has_code_only_where_it_is_wanted() {
    for name in NAMES {
        let code = fixtures().join(format!("code/{name}.hsaco"));
        let all = functions(&code);
        let at = |name: &str| all.iter().find(|(symbol, _)| symbol.contains(name)).unwrap().1;
        // Both units, either, and the whole file.
        for (places, extent) in [
            (vec![at("linked"), at("apart")], Extent::Stacks),
            (vec![at("linked")], Extent::Stacks),
            (vec![at("apart")], Extent::Stacks),
            (vec![at("linked")], Extent::Unit),
            (vec![at("linked")], Extent::All),
        ] {
            let stopped = Stopped::new(&code, &places);
            let view = stopped.view(extent);
            assert!(view.problems().is_empty(), "{name}: {:?}", view.problems());
            let text = stopped.text(view.main().unwrap());
            let units = dies(&text, "DW_TAG_compile_unit");
            let names: BTreeSet<&str> = units
                .iter()
                .map(|unit| unit.lines().find(|line| line.contains("DW_AT_name")).unwrap())
                .collect();
            assert_eq!((units.len(), names.len()), (2, 2), "{name} {extent:?}: {units:?}");
            let with_code =
                units.iter().filter(|unit| unit.contains("DW_AT_low_pc") || unit.contains("DW_AT_ranges"));
            let expected = if extent == Extent::All { 2 } else { places.len() };
            assert_eq!(with_code.count(), expected, "{name} {extent:?}");
            // The line tables of both, or the rows of one.
            let tables = text.split("debug_line[").skip(1).filter(|table| table.contains("end_sequence"));
            assert_eq!(tables.count(), expected, "{name} {extent:?}");
            // Every function on a stack has its variables with locations, and the names of its calls.
            for (function, place) in all.iter().filter(|(_, at)| places.contains(at)) {
                let path = stopped.folder.path().join("view");
                let found = ran(Command::new(newest("llvm-dwarfdump"))
                    .arg(format!("--lookup={place:#x}"))
                    .arg(&path));
                assert!(found.contains("DW_TAG_subprogram"), "{name} {function}: {found}");
                assert!(
                    found.contains(if function == "linked" { "\"linked\"" } else { "apart" }),
                    "{name}: {found}"
                );
            }
            let inlined = dies(&text, "DW_TAG_inlined_subroutine");
            assert!(!inlined.is_empty(), "{name} {extent:?}");
            for call in
                inlined.iter().filter(|call| call.contains("DW_AT_low_pc") || call.contains("DW_AT_ranges"))
            {
                assert!(call.contains("inner") || call.contains("turn"), "{name} {extent:?}: {call}");
            }
        }
    }
}

/// The variables of a function on a stack: code object and view have the same number with a location.
#[test]
fn variables_that_have_places_keep_them() {
    for name in NAMES {
        let code = fixtures().join(format!("code/{name}.hsaco"));
        let all = functions(&code);
        let places: Vec<u64> = all.iter().map(|(_, at)| *at).collect();
        let stopped = Stopped::new(&code, &places);
        let view = stopped.view(Extent::Stacks);
        let text = stopped.text(view.main().unwrap());
        let original = ran(Command::new(newest("llvm-dwarfdump")).arg("--debug-info").arg(&code));
        let located = |text: &str| -> usize {
            let of = |tag| dies(text, tag).iter().filter(|die| die.contains("DW_AT_location")).count();
            of("DW_TAG_variable") + of("DW_TAG_formal_parameter")
        };
        assert!(located(&original) > 8, "{name}");
        assert_eq!(located(&text), located(&original), "{name}");
        for wave in 0..places.len() as u32 {
            assert!(stopped.session.backtrace(WaveId(wave), None).is_ok());
        }
    }
}

/// A wave moves to the other unit: the grown view has both units once with code, and the first view's offsets stay.
#[test]
fn a_view_of_linked_units_grows() {
    for name in NAMES {
        let code = fixtures().join(format!("code/{name}.hsaco"));
        let all = functions(&code);
        let at = |name: &str| all.iter().find(|(symbol, _)| symbol.contains(name)).unwrap().1;
        let places = [at("linked"), at("apart")];
        let located = |text: &str| -> Vec<String> {
            let tags = ["DW_TAG_variable", "DW_TAG_formal_parameter"];
            let dies = tags.iter().flat_map(|tag| dies(text, tag));
            let of = |die: &str| {
                let name = die.lines().find(|line| line.contains("DW_AT_name")).unwrap_or_default();
                // A list's offset in its section may differ.
                let place = die.lines().skip_while(|line| !line.contains("DW_AT_location"));
                let place = place.enumerate().take_while(|(at, line)| *at == 0 || !line.contains("DW_AT_"));
                let place: Vec<&str> =
                    place.filter_map(|(_, line)| Some(&line[line.find(['[', 'D'])?..])).collect();
                let place = place.join(" ").replace("DW_AT_location", "");
                let list = place.find("(0x").and_then(|at| Some(at..at + place[at..].find(':')?));
                let place = list.map_or(place.clone(), |list| place.replace(&place[list], ""));
                (!place.is_empty()).then(|| format!("{} {}", name.trim(), place.trim()))
            };
            let mut found: Vec<String> = dies.filter_map(of).collect();
            found.sort();
            found
        };
        for (first, second) in [(1, 2), (2, 1)] {
            let stopped = Stopped::new(&code, &places);
            let of = |wave: u32| {
                Session::new(Arc::clone(&stopped.dump), None).unwrap().of_waves(&[wave..=wave]).unwrap()
            };
            let view = View::new(&stopped.dump, &of(first), Extent::Stacks);
            assert!(view.grown(&stopped.dump, &of(first), 1).is_none(), "{name}: nothing has come");
            let before = located(&stopped.text(view.main().unwrap()));
            assert!(before.iter().all(|place| place.contains("DW_OP_")), "{name}: {before:?}");
            let full = view.grown(&stopped.dump, &of(second), 0).unwrap();
            assert!(full.is_full && full.added.is_empty(), "{name}");
            let grown = view.grown(&stopped.dump, &of(second), 1).unwrap();
            assert_eq!((grown.added.len(), grown.in_old_units.len(), grown.is_full), (1, 0, false), "{name}");
            assert!(grown.view.problems().is_empty(), "{name}: {:?}", grown.view.problems());
            let text = stopped.text(&grown.added[0]);
            let units = dies(&text, "DW_TAG_compile_unit");
            let with_code =
                units.iter().filter(|unit| unit.contains("DW_AT_low_pc") || unit.contains("DW_AT_ranges"));
            assert_eq!((units.len(), with_code.count()), (2, 2), "{name}: {units:?}");
            let after = located(&text);
            let lost: Vec<&String> = before.iter().filter(|place| !after.contains(place)).collect();
            assert!(!before.is_empty() && lost.is_empty(), "{name}: {lost:?}");
            let whole = stopped.view(Extent::Stacks);
            assert_eq!(after.len(), located(&stopped.text(whole.main().unwrap())).len(), "{name}");
            assert!(grown.view.grown(&stopped.dump, &of(first), 1).is_none(), "{name}");
        }
    }
}
