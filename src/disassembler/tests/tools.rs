//! Search and order of the installed programs.

use std::fs;
use std::path::{Path, PathBuf};

use crate::disassembler::MAX_TRIED;
use crate::disassembler::tools::{Program, Tool, in_folders};

fn names(folders: &[&Path]) -> Vec<String> {
    let found = in_folders(folders.iter().map(|folder| folder.to_path_buf()));
    found
        .iter()
        .map(|tool| tool.path.strip_prefix(folders[0]).unwrap_or(&tool.path).display().to_string())
        .collect()
}

#[test]
fn objdump_comes_first_then_the_newest_then_the_path() {
    let folder = tempfile::tempdir().unwrap();
    let other = tempfile::tempdir().unwrap();
    for name in ["llvm-mc", "llvm-objdump", "llvm-objdump-9", "llvm-objdump-19", "llvm-mc-22"] {
        fs::write(folder.path().join(name), "").unwrap();
    }
    for name in
        ["llvm-objdump-19", "llvm-objdump-x", "llvm-objdumper", "xllvm-objdump", "llvm-objdump-19.bak"]
    {
        fs::write(other.path().join(name), "").unwrap();
    }
    fs::create_dir(other.path().join("llvm-objdump-99")).unwrap();
    let second = other.path().join("llvm-objdump-19").display().to_string();
    let expected = ["llvm-objdump-19", &second, "llvm-objdump-9", "llvm-objdump", "llvm-mc-22", "llvm-mc"];
    assert_eq!(names(&[folder.path(), other.path(), folder.path()]), expected);
}

/// An empty PATH entry is the current folder, which may contain programs from a dump's author.
#[test]
fn relative_folders_count_for_nothing() {
    assert!(names(&[Path::new("")]).is_empty());
    assert!(names(&[Path::new("."), Path::new("usr/bin"), Path::new("../../usr/bin")]).is_empty());
}

#[test]
fn so_many_are_tried_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    for number in 10..30 {
        fs::write(folder.path().join(format!("llvm-objdump-{number}")), "").unwrap();
    }
    let found = names(&[folder.path()]);
    assert_eq!(found.len(), MAX_TRIED);
    assert_eq!(found[0], "llvm-objdump-29");
}

#[test]
fn a_named_program_is_the_tool_of_its_name() {
    let program = |path: &str| Tool::named(PathBuf::from(path)).program;
    assert_eq!(program("/opt/rocm/llvm/bin/llvm-mc"), Program::Mc);
    assert_eq!(program("llvm-mc-19"), Program::Mc);
    assert_eq!(program("/llvm-mc/llvm-objdump"), Program::Objdump);
    assert_eq!(program("/bin/mine"), Program::Objdump);
}
