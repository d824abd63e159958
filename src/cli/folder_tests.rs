use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use super::{FolderError, MAX_DEPTH, below};

#[test]
fn files_are_in_the_order_of_their_names_and_links_are_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for name in ["b", "a/inner", ".hidden", "whole/part"] {
        fs::create_dir_all(path(name)).unwrap();
    }
    for name in ["b/1.x", "a/2.x", "a/inner/3.x", ".hidden/4.x", "whole/part/5.x", "6.y", "0.x"] {
        fs::write(path(name), "").unwrap();
    }
    symlink(folder.path(), path("circle")).unwrap();
    symlink(path("6.y"), path("7.x")).unwrap();
    let takes = |path: &Path, is_folder: bool| match is_folder {
        true => path.ends_with("whole"),
        false => path.extension().is_some_and(|extension| extension == "x"),
    };
    let found = below(folder.path(), &takes).unwrap();
    let names: Vec<&str> =
        found.iter().map(|found| found.strip_prefix(folder.path()).unwrap().to_str().unwrap()).collect();
    assert_eq!(names, ["0.x", "7.x", "a/2.x", "a/inner/3.x", "b/1.x", "whole"]);
}

#[test]
fn a_folder_that_is_too_deep_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let nested = |count: usize| folder.path().join("d/".repeat(count));
    fs::create_dir_all(nested(MAX_DEPTH)).unwrap();
    fs::write(nested(MAX_DEPTH).join("a"), "").unwrap();
    let files = |_: &Path, is_folder: bool| !is_folder;
    assert_eq!(below(folder.path(), &files).unwrap().len(), 1);
    fs::create_dir(nested(MAX_DEPTH + 1)).unwrap();
    let error = below(folder.path(), &files).unwrap_err();
    assert!(matches!(&error, FolderError::TooDeep(path) if *path == nested(MAX_DEPTH + 1)), "{error}");
    let missing = below(&folder.path().join("nothing"), &files).unwrap_err();
    assert!(matches!(missing, FolderError::Unreadable { .. }), "{missing}");
}
