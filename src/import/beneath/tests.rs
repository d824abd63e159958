//! Names and links below a folder; for paths that stay inside, the kernel's own resolution is the model.

use std::os::unix::fs::symlink;

use super::*;
use crate::wait::until;

/// `outside/secret`, and `top` with a file, a folder and links of every kind.
fn made() -> tempfile::TempDir {
    let base = tempfile::tempdir().unwrap();
    let root = base.path().join("top");
    std::fs::create_dir_all(root.join("a/b")).unwrap();
    std::fs::create_dir_all(base.path().join("outside")).unwrap();
    std::fs::write(base.path().join("outside/secret"), "secret").unwrap();
    std::fs::write(root.join("a/b/file"), "inside").unwrap();
    let absolute = |name: &str| root.join(name).display().to_string();
    for (name, target) in [
        ("near", "a/b/file".to_owned()),
        ("folder", "a".to_owned()),
        ("a/up", "../near".to_owned()),
        ("chain", "folder/up".to_owned()),
        ("out", "../outside/secret".to_owned()),
        ("out-folder", "../outside".to_owned()),
        ("gone", "../outside/nothing".to_owned()),
        ("gone-folder", "../nothing".to_owned()),
        ("absolute", absolute("a/b/file")),
        ("absolute-gone", absolute("nothing")),
        ("there-and-back", "../top/a/b/file".to_owned()),
        ("loop", "loop".to_owned()),
        ("dangling", "nothing".to_owned()),
        ("self", ".".to_owned()),
    ] {
        symlink(target, root.join(name)).unwrap();
    }
    nix::unistd::mkfifo(&root.join("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    base
}

#[test]
fn names_within_the_folder_resolve_like_the_kernel_does() {
    let base = made();
    let root = base.path().join("top");
    let beneath = Beneath::new(&root).unwrap();
    for name in ["a/b/file", "near", "folder/b/file", "a/up", "chain", "./a/./b/../b/file", "self/self/near"]
    {
        assert_eq!(beneath.size(Path::new(name)).unwrap(), 6, "{name}");
        let text = io::read_to_string(beneath.open(Path::new(name)).unwrap()).unwrap();
        assert_eq!(text, std::fs::read_to_string(root.join(name)).unwrap(), "{name}");
    }
}

#[test]
fn what_lies_outside_makes_no_difference() {
    let base = made();
    let beneath = Beneath::new(&base.path().join("top")).unwrap();
    for name in [
        "out",
        "out-folder/secret",
        "out-folder/nothing",
        "gone",
        "gone-folder/secret",
        "absolute",
        "absolute-gone",
        "there-and-back",
        "..",
        "../outside/secret",
        "a/../../outside/secret",
        "/etc/passwd",
        "/nothing/at/all",
    ] {
        for error in [beneath.size(Path::new(name)).unwrap_err(), beneath.open(Path::new(name)).unwrap_err()]
        {
            assert!(matches!(error, BeneathError::Outside), "{name}: {error:?}");
        }
    }
    for error in [beneath.size(Path::new("loop")).unwrap_err(), beneath.open(Path::new("loop")).unwrap_err()]
    {
        assert!(matches!(error, BeneathError::Endless), "{error:?}");
    }
    let not_found = |name: &str| beneath.open(Path::new(name)).unwrap_err().to_string();
    for name in ["nothing", "dangling", "a/nothing/file"] {
        assert!(not_found(name).starts_with("No such file"), "{name}: {}", not_found(name));
    }
    assert!(not_found("near/file").starts_with("Not a directory"));
    let deep = "a/".repeat(300);
    assert!(matches!(beneath.open(Path::new(&deep)), Err(BeneathError::Endless)));
}

/// A pipe without a writer would block the reader forever.
#[test]
fn only_regular_files_are_opened() {
    let base = made();
    let root = base.path().join("top");
    let opening = std::thread::spawn(move || {
        let beneath = Beneath::new(&root).unwrap();
        ["fifo", "a", "folder", "self", "."].map(|name| beneath.open(Path::new(name)).unwrap_err())
    });
    until("an error for the pipe, without its writer", || opening.is_finished().then_some(()));
    let errors = opening.join().unwrap();
    assert!(errors.iter().all(|error| matches!(error, BeneathError::Irregular)), "{errors:?}");
}
