//! Different forms of the same debug information: every one must give gdb's values of the source.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use super::{debug_info, values};
use crate::codeobject::{CodeObject, ElfAddress, newest_llvm};
use crate::debuginfo::{DebugInfo, DebugInfoError, UnitId};

/// A folder of this process and test.
pub(super) fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("lanescope-debuginfo-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn run(command: &mut Command) {
    let output = command.output().expect("the tool runs");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A source of this folder, compiled for a GPU like in the `make.sh` beside it, with more flags.
pub(super) fn compiled(source: &str, name: &str, flags: &[&str]) -> PathBuf {
    let output = folder(name).join("object.hsaco");
    let is_hip = source.ends_with("scopes.cpp");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/debuginfo/tests").join(source);
    let hip = "-x hip --cuda-device-only --no-gpu-bundle-output --offload-arch=gfx90a -fuse-cuid=none -nogpulib \
               -nogpuinc -std=c++17 -g -O2 -w";
    let plain = "-x c++ -std=c++20 -g -O0 -w --target=amdgcn-amd-amdhsa -mcpu=gfx90a -nogpulib";
    let common = if is_hip { hip } else { plain };
    let mut command = Command::new(newest_llvm("clang"));
    run(command.args(common.split_whitespace()).args(flags).arg("-o").arg(&output).arg(source));
    output
}

fn bytes(file: &Path) -> Vec<u8> {
    std::fs::read(file).expect("an object")
}

/// Bytes of a compiled file, whose folder is removed.
pub(super) fn taken(file: &Path) -> Vec<u8> {
    let bytes = bytes(file);
    std::fs::remove_dir_all(file.parent().expect("a folder")).expect("removed");
    bytes
}

fn has_section(info: &DebugInfo, name: &str) -> bool {
    info.code_object().expect("an object").section(name).is_some_and(|section| section.size > 0)
}

/// Requires that the object has the form, so that no form is tested by an object with another.
fn check(name: &str, flags: &[&str], is_that_form: impl Fn(&DebugInfo) -> bool) {
    let info = debug_info(taken(&compiled("values/values.cpp", name, flags)));
    assert!(is_that_form(&info), "{name}: the compiler wrote another form");
    assert!(info.problems().is_empty(), "{:?}", info.problems());
    values::check(&info);
}

#[test]
fn type_units_of_dwarf_5() {
    check("types5", &["-gdwarf-5", "-fdebug-types-section"], |info| info.unit_count() > 10);
}

#[test]
fn type_units_of_dwarf_4() {
    check("types4", &["-gdwarf-4", "-fdebug-types-section"], |info| has_section(info, ".debug_types"));
}

#[test]
fn dwarf_of_64_bits() {
    let is_it = |info: &DebugInfo| info.unit(UnitId(0)).is_ok_and(|unit| unit.offset_size == 8);
    check("dwarf64", &["-gdwarf-5", "-gdwarf64"], is_it);
    check("dwarf64-4", &["-gdwarf-4", "-gdwarf64"], is_it);
}

#[test]
fn names_without_template_parameters() {
    check("simple", &["-gsimple-template-names"], |info| has_section(info, ".debug_info"));
}

#[test]
fn with_indexes() {
    let flags = ["-gdwarf-5", "-gdwarf-aranges", "-gpubnames"];
    check("indexes", &flags, |info| has_section(info, ".debug_aranges") && !info.name_indexes().is_empty());
}

/// Overwrites a section of a file.
fn damaged(file: &[u8], section: &str, damage: impl Fn(&mut [u8])) -> Vec<u8> {
    let object = CodeObject::parse(file.to_vec()).expect("a code object");
    let section = object.section(section).expect(section);
    let mut file = file.to_vec();
    damage(&mut file[section.offset as usize..][..section.size as usize]);
    file
}

/// Wrong indexes cost only speed.
#[test]
fn indexes_are_not_believed() {
    let flags = ["-gdwarf-5", "-gdwarf-aranges", "-gpubnames"];
    let file = taken(&compiled("objects/scopes.cpp", "stale", &flags));
    let sound = debug_info(file.clone());
    let index = &sound.name_indexes()[0];
    assert_eq!(index.augmentation.as_deref(), Some("LLVM0700"));
    assert!(!index.has_address_spaces() && index.units == 1 && index.names > 5);
    let object = sound.code_object().expect("an object");
    let text = object.text().expect("code");
    let answers = |info: &DebugInfo| {
        let pcs = (text.start.0..text.end.0).step_by(64).map(ElfAddress);
        let variables = pcs.map(|pc| info.variables_at(pc).expect("sound")).collect::<Vec<_>>();
        let named = sound.globals(UnitId(0)).expect("globals").into_iter().filter_map(|global| {
            let name = global.qualified_name.clone()?;
            let mut found = info.globals_named(&name).expect("sound");
            // An index does not contain declarations.
            found.retain(|variable| !variable.is_declaration);
            Some((name, found))
        });
        (variables, named.collect::<Vec<_>>())
    };
    let expected = answers(&sound);
    assert!(expected.0.iter().any(|variables| !variables.is_empty()));
    assert!(expected.1.iter().any(|(_, found)| !found.is_empty()));
    let section = |name| object.section_bytes(name).expect(name).expect(name).len();
    for (name, length) in
        [(".debug_aranges", section(".debug_aranges")), (".debug_names", section(".debug_names"))]
    {
        for at in (0..length).step_by(3) {
            let info = debug_info(damaged(&file, name, |section| section[at] ^= 0x15));
            assert!(answers(&info) == expected, "{name} damaged at {at}");
        }
        let info = debug_info(damaged(&file, name, |section| section.fill(0)));
        assert!(answers(&info) == expected, "{name} emptied");
    }
}

/// An unreadable unit costs only itself: it is reported as a problem, and the other units answer.
#[test]
fn a_bad_unit_costs_only_itself() {
    let shapes = include_bytes!("shapes/shapes.hsaco");
    let second = debug_info(shapes.to_vec()).unit(UnitId(1)).expect("a unit").offset.0 as usize;
    // Bytes 4 and 5 of a DWARF 5 unit are its version, byte 7 is its address size. A readable header stays in the list.
    for (at, value, words, left) in [
        (4, 9, "header of the unit at 0x0: unknown DWARF version: 9", 0),
        (7, 4, "address size of the unit at 0x0 is 4 at 0x7 of .debug_info, expected 8", 1),
    ] {
        let info = debug_info(damaged(shapes, ".debug_info", |section| section[at] = value));
        let problems: Vec<_> = info.problems().iter().map(ToString::to_string).collect();
        assert_eq!(problems, [words]);
        assert_eq!(info.unit_count(), 1 + left);
        assert_eq!(info.unit(UnitId(left)).expect("the second").offset.0 as usize, second);
        assert_eq!(info.functions(UnitId(left)).expect("functions").len(), 2);
    }
}

#[test]
fn a_split_unit_names_its_file() {
    let object = compiled("objects/scopes.cpp", "split", &["-gdwarf-5", "-gsplit-dwarf"]);
    let info = debug_info(taken(&object));
    let text = info.code_object().expect("an object").text().expect("code").start;
    let error = info.function_at(text).expect_err("the functions are elsewhere");
    let DebugInfoError::Split { file, .. } = &error else { panic!("{error}") };
    assert!(file.ends_with(".dwo"), "{file}");
    assert!(error.to_string().contains(&**file));
}

/// An object without debug information, its debug information in separate files, and their folder.
struct Parted {
    folder: PathBuf,
    whole: Vec<u8>,
    stripped: PathBuf,
    debug: PathBuf,
}

fn parted(name: &str) -> Parted {
    let object = compiled("values/values.cpp", name, &["-Wl,--build-id=sha1"]);
    let folder = folder(name);
    let (stripped, debug) = (folder.join("stripped"), folder.join("values.debug"));
    let objcopy = || Command::new(newest_llvm("llvm-objcopy"));
    run(objcopy().arg("--only-keep-debug").arg(&object).arg(&debug));
    let link = format!("--add-gnu-debuglink={}", debug.display());
    run(objcopy().args(["--strip-debug", &link]).arg(&object).arg(&stripped));
    Parted { whole: bytes(&object), folder, stripped, debug }
}

impl Drop for Parted {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

impl Parted {
    fn found(&self, folders: &[PathBuf]) -> Result<DebugInfo, DebugInfoError> {
        let object = CodeObject::parse(bytes(&self.stripped)).expect("a code object");
        DebugInfo::with_folders(Arc::new(object), folders)
    }
}

#[test]
fn debug_information_by_link() {
    let parted = parted("link");
    assert_eq!(parted.found(&[]).expect_err("nowhere to look"), DebugInfoError::NoDebugInfo);
    let object = CodeObject::parse(bytes(&parted.stripped)).expect("a code object");
    let link = object.debug_link().expect("sound").expect("a link");
    // llvm-objcopy computes the checksum.
    assert_eq!((link.file.as_str(), link.crc), ("values.debug", crc32fast::hash(&bytes(&parted.debug))));
    values::check(&parted.found(&[PathBuf::from("/nowhere"), parted.folder.clone()]).expect("found"));
    // Also in the folder `.debug`.
    let hidden = parted.folder.join("hidden");
    std::fs::create_dir_all(hidden.join(".debug")).expect("a folder");
    std::fs::copy(&parted.debug, hidden.join(".debug/values.debug")).expect("copied");
    values::check(&parted.found(&[hidden]).expect("found"));
    // A file with the right name and other contents is rejected with a problem.
    std::fs::write(&parted.debug, &parted.whole).expect("written");
    let error = parted.found(std::slice::from_ref(&parted.folder)).expect_err("another file").to_string();
    assert!(error.contains("values.debug: its checksum is not the"), "{error}");
}

#[test]
fn debug_information_by_build_id() {
    let parted = parted("id");
    let object = CodeObject::parse(bytes(&parted.stripped)).expect("a code object");
    let id: String = object.build_id().expect("an id").iter().map(|byte| format!("{byte:02x}")).collect();
    let tree = parted.folder.join("tree");
    let place = tree.join(".build-id").join(&id[..2]).join(format!("{}.debug", &id[2..]));
    std::fs::create_dir_all(place.parent().expect("a folder")).expect("a folder");
    std::fs::copy(&parted.debug, &place).expect("copied");
    values::check(&parted.found(std::slice::from_ref(&tree)).expect("found"));
    // From another build.
    let other = compiled("objects/scopes.cpp", "id-other", &["-Wl,--build-id=sha1"]);
    std::fs::write(&place, taken(&other)).expect("written");
    let error = parted.found(&[tree]).expect_err("another build").to_string();
    assert!(error.contains(".debug: it has another build id"), "{error}");
}

/// Contents of an untrusted file never lead out of the user's folders.
#[test]
fn a_link_stays_in_its_folder() {
    let parted = parted("hostile");
    let stripped = bytes(&parted.stripped);
    for name in ["../s.debug\0", "/etc/passwd\0", "..\0", "\0", "/\x1b[31m\0"] {
        let file = damaged(&stripped, ".gnu_debuglink", |section| {
            section[..name.len()].copy_from_slice(name.as_bytes());
        });
        let object = CodeObject::parse(file).expect("a code object");
        let error = object.debug_link().expect_err(name).to_string();
        // The name in the form of other output: escaped once.
        let printed = name.trim_end_matches('\0').replace('\x1b', "\\u{1b}");
        assert!(error.contains(&format!("'{printed}' is not a plain file name")), "{error}");
        assert!(object.separate_debug_file(std::slice::from_ref(&parted.folder)).found.is_none());
    }
}
