//! Files appear whole, with the permissions of the old ones, and inputs stay.

use std::os::unix::fs::{MetadataExt as _, symlink};

use super::*;

fn write_text(path: &Path, text: &str) -> Result<(), Failure> {
    write(path, &[], |out| Ok(out.write_all(text.as_bytes())?))
}

#[test]
fn a_failed_write_leaves_the_old_file_and_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    fs::write(&path, "old").unwrap();
    let full = |out: &mut dyn Write| -> Result<(), Failure> {
        out.write_all(b"half")?;
        Err(io::Error::from(io::ErrorKind::StorageFull).into())
    };
    let error = write(&path, &[], full).unwrap_err().to_string();
    assert!(error.contains("report.html"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    let fresh = folder.path().join("fresh.html");
    write(&fresh, &[], full).unwrap_err();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no part of a file stays");
}

#[test]
fn permissions_and_links_stay() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.txt");
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o604)).unwrap();
    let link = folder.path().join("link.txt");
    symlink("report.txt", &link).unwrap();
    write_text(&link, "new").unwrap();
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o604);
    let dangling = folder.path().join("dangling.txt");
    symlink("later.txt", &dangling).unwrap();
    write_text(&dangling, "later").unwrap();
    assert_eq!(fs::read_to_string(folder.path().join("later.txt")).unwrap(), "later");
    let plain = folder.path().join("plain");
    fs::write(&plain, "").unwrap();
    let fresh = folder.path().join("fresh");
    write_text(&fresh, "").unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!(mode(&fresh), mode(&plain), "the mask of new files applies");
}

#[test]
fn inputs_stay_under_each_of_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("crash.log");
    fs::write(&input, "log").unwrap();
    let (hard, soft) = (folder.path().join("hard.html"), folder.path().join("soft.html"));
    fs::hard_link(&input, &hard).unwrap();
    symlink("crash.log", &soft).unwrap();
    for name in [&input, &hard, &soft] {
        let error = write(name, &[&input], |out| Ok(out.write_all(b"x")?)).unwrap_err();
        assert!(error.to_string().contains("the command reads this file"), "{error}");
    }
    let opened = folder.path().join("opened.bin");
    fs::write(&opened, "data").unwrap();
    mapping::Stamp::of(&File::open(&opened).unwrap()).unwrap();
    assert!(write_text(&opened, "x").is_err());
    assert_eq!(fs::read_to_string(&input).unwrap(), "log");
    assert_eq!(fs::read_to_string(&opened).unwrap(), "data");
}

/// The process that writes may not be the one that reads the dump: no file is open.
#[test]
fn files_of_a_dump_in_a_folder_stay() {
    for manifest in ["manifest.toml", "manifest.json"] {
        let folder = tempfile::tempdir().unwrap();
        let dump = folder.path().join("dump");
        fs::create_dir_all(dump.join("sources")).unwrap();
        let named = r#"file = "memory.bin" source = "sources/k.hip""#;
        for (name, text) in
            [(manifest, named), ("memory.bin", "m"), ("sources/k.hip", "k"), ("old.html", "o")]
        {
            fs::write(dump.join(name), text).unwrap();
        }
        let hard = folder.path().join("hard.json");
        fs::hard_link(dump.join("memory.bin"), &hard).unwrap();
        let soft = folder.path().join("soft");
        symlink(&dump, &soft).unwrap();
        let files = [dump.join(manifest), dump.join("memory.bin"), dump.join("sources/k.hip"), hard];
        for input in [dump.clone(), dump.join(manifest), soft] {
            for file in &files {
                let error = write(file, &[&input], |out| Ok(out.write_all(b"x")?)).unwrap_err();
                assert!(error.to_string().contains("the command reads this file"), "{error}");
            }
            // A file that an earlier command wrote there is no part of the dump.
            write(&dump.join("old.html"), &[&input], |out| Ok(out.write_all(b"new")?)).unwrap();
        }
        assert_eq!(fs::read_to_string(dump.join(manifest)).unwrap(), named);
        assert_eq!(fs::read_to_string(dump.join("memory.bin")).unwrap(), "m");
        // A name that an escape hides.
        fs::write(dump.join(manifest), r#"file = "m\u0065mory.bin""#).unwrap();
        assert!(write(&files[1], &[&dump], |out| Ok(out.write_all(b"x")?)).is_err());
    }
}

#[test]
fn pipes_are_written_in_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let reader = std::thread::spawn({
        let path = path.clone();
        move || {
            let mut text = String::new();
            File::open(path).unwrap().read_to_string(&mut text).unwrap();
            text
        }
    });
    write_text(&path, "through").unwrap();
    assert_eq!(reader.join().unwrap(), "through");
}

#[test]
fn a_missing_folder_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let error = write_text(&folder.path().join("missing/x.html"), "").unwrap_err().to_string();
    assert!(error.contains("there is no folder") && error.contains("missing;"), "{error}");
}
