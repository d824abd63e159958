//! Packages: the tree of scripts/release around this build's program, the crates, and the compiler's version.

use crate::support::root;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::pages::links;

fn succeed(command: &mut Command) -> String {
    let output = command.current_dir(root()).output().unwrap();
    let all = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&all).into_owned();
    assert!(output.status.success(), "{command:?}: {text}");
    text
}

/// The tree of the tar.gz: its program runs without the checkout, and gdb loads the helper by the loader.
#[test]
fn the_tree_of_an_installation_works_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let tree = folder.path().join("tree");
    succeed(Command::new("scripts/release").arg("--staged").arg(crate::support::program()).arg(&tree));
    for file in [
        "bin/lanescope",
        "share/man/man1/lanescope-triage.1.gz",
        "share/bash-completion/completions/lanescope",
        "share/zsh/site-functions/_lanescope",
        "share/fish/vendor_completions.d/lanescope.fish",
        "share/lanescope/clients/gdb/lanescope.py",
        "share/lanescope/clients/lldb/lanescope.py",
        "share/lanescope/clients/lanescope_format.py",
        "share/doc/lanescope/LICENSE-MIT",
        "share/doc/lanescope/docs/triage.md",
    ] {
        assert!(tree.join(file).metadata().is_ok_and(|file| file.len() > 0), "{file}");
    }
    let shared = tree.join("share/doc/lanescope");
    let pages = [shared.clone(), shared.join("docs")].map(|folder| fs::read_dir(folder).unwrap());
    for page in pages.into_iter().flatten().map(|file| file.unwrap().path()) {
        if page.extension().is_some_and(|end| end == "md") {
            for link in links(&fs::read_to_string(&page).unwrap()) {
                let file = page.parent().unwrap().join(link.split('#').next().unwrap());
                assert!(link.contains("://") || file.exists(), "{}: {link}", page.display());
            }
        }
    }
    let program = tree.join("bin/lanescope");
    let scope = tree.join("share/doc/lanescope/examples/demo.scope");
    let text = succeed(Command::new(&program).arg("check").arg(&scope).env_clear());
    assert!(text.contains("1 dump, 6 lines: 6 hold"), "{text}");
    // `doctor` has the lines that load the helpers.
    let text = succeed(Command::new(&program).args(["doctor", "--json"]).env_clear());
    let clients = fs::canonicalize(&tree).unwrap().join("share/lanescope/clients");
    for (load, brand) in [("source", "gdb"), ("command script import", "lldb")] {
        let line = format!("\"{load} {}\"", clients.join(brand).join("lanescope.py").display());
        assert!(text.contains(&line), "{line}: {text}");
    }
    let loader = tree.join("share/gdb/python/gdb/command/lanescope_autoload.py");
    // `info lanes` is the helper's, and only after gdb has attached.
    let mut gdb = Command::new("gdb");
    gdb.args(["-nx", "-q", "-batch", "-ex", &format!("source {}", loader.display()), "-ex", "info lanes 2"]);
    gdb.args(["-ex", &format!("target remote | {} serve --stdio", program.display()), "-ex", "info lanes 2"]);
    let output = gdb.output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(stdout.matches("AMDGPU Lane 1:1:1:1/2 ").count(), 1, "{stdout}{stderr}");
    assert!(stderr.contains("Undefined info command: \"lanes 2\""), "{stderr}");
}

/// `cargo package`: all crates, within 2 MB, without tests and fixtures beside the demo.
#[test]
fn the_crates_are_small_and_complete() {
    let folder = tempfile::tempdir().unwrap();
    let mut package = Command::new(env!("CARGO"));
    package.args([
        "package",
        "--package=lanescope",
        "--package=dwarf-heterogeneous",
        "--package=amdgpu-isa",
        "--locked",
        "--no-verify",
        "--allow-dirty",
        "--quiet",
        "--target-dir",
    ]);
    let text = succeed(package.arg(folder.path()));
    assert!(!text.contains("no documentation, homepage or repository"), "{text}");
    let files: Vec<PathBuf> =
        fs::read_dir(folder.path().join("package")).unwrap().map(|file| file.unwrap().path()).collect();
    let crates: Vec<&PathBuf> =
        files.iter().filter(|file| file.extension().is_some_and(|end| end == "crate")).collect();
    assert_eq!(crates.len(), 3, "{files:?}");
    for file in crates {
        assert!(file.metadata().unwrap().len() < 2_000_000, "{}", file.display());
        let list = succeed(Command::new("tar").arg("-tzf").arg(file));
        let wrong: Vec<&str> = list
            .lines()
            .filter(|line| {
                line.contains("/tests/") && !line.ends_with("demo.zip") && file_is_of_program(line)
            })
            .collect();
        assert!(wrong.is_empty(), "{wrong:?}");
        if file.to_string_lossy().contains("lanescope-") {
            for needed in
                ["tests/fixtures/demo.zip", "targets/gfx90a.toml", "src/check/mod.rs", "LICENSE-MIT"]
            {
                assert!(list.lines().any(|line| line.ends_with(needed)), "{needed}");
            }
        }
    }
}

fn file_is_of_program(line: &str) -> bool {
    line.starts_with("lanescope-")
}

/// The oldest compiler is the one that this build has, or an older one that `scripts/test --long` checks.
#[test]
fn the_oldest_compiler_is_not_newer_than_this_one() {
    let manifest: toml::Table = fs::read_to_string(root().join("Cargo.toml")).unwrap().parse().unwrap();
    let oldest = manifest["workspace"]["package"]["rust-version"].as_str().unwrap().to_owned();
    let version = succeed(Command::new("rustc").arg("--version"));
    let numbers =
        |text: &str| text.split('.').take(2).map(|part| part.parse().unwrap()).collect::<Vec<u32>>();
    assert!(
        numbers(version.split(' ').nth(1).unwrap()) >= numbers(&oldest),
        "{version} is older than {oldest}"
    );
    let long = fs::read_to_string(root().join("scripts/test")).unwrap();
    assert!(long.contains("rust-version"), "scripts/test checks the oldest compiler");
}

/// One place has the repository's address.
#[test]
fn the_repository_is_named_once() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    assert_eq!(manifest.matches("\nrepository = ").count(), 1);
    let control = fs::read_to_string(root().join("packaging/debian-control")).unwrap();
    assert!(control.contains("@URL@"), "{control}");
    assert!(Path::new(&root()).join("SECURITY.md").is_file());
}
