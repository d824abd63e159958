//! Captured files that change while they are open: an answer is the one from before, or an error that names the file. It is
//! never "not captured".

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::changed_files::{answer, hex, questions, refused};
use super::served::Served;
use crate::fixtures::copy_dump;
use crate::support::{idle, sample::sampled, until};

type Change = fn(&Path);

/// Changes to an open file.
const CHANGES: [(&str, Change); 6] = [
    ("emptied", |path| opened(path).set_len(0).unwrap()),
    ("halved", |path| opened(path).set_len(fs::metadata(path).unwrap().len() / 2).unwrap()),
    ("longer", |path| opened(path).set_len(fs::metadata(path).unwrap().len() + 1).unwrap()),
    ("overwritten", |path| {
        let size = fs::metadata(path).unwrap().len() as usize;
        opened(path).write_all(&vec![0x41; size]).unwrap();
    }),
    ("written at its end", |path| {
        let mut file = opened(path);
        file.seek(SeekFrom::End(-1)).unwrap();
        file.write_all(&[0x41]).unwrap();
    }),
    ("emptied and written again", |path| {
        let bytes = fs::read(path).unwrap();
        fs::write(path, b"").unwrap();
        fs::write(path, bytes).unwrap();
    }),
];

fn opened(path: &Path) -> File {
    File::options().write(true).open(path).unwrap()
}

/// Questions of which every answer about a wave reads captured bytes.
fn all_questions() -> Vec<String> {
    let more =
        ["registers", "memory local 0 16", "memory private_lane 0 16", "print x", "dispatches", "wave"];
    let more = more.iter().map(|line| format!("qRcmd,{}", hex(line)));
    let packets = ["g", "p0", "m7f0000400000,8", "qlanescope.Waves", "qlanescope.Groups:lanes:0;"];
    questions().into_iter().chain(more).chain(packets.map(str::to_owned)).collect()
}

/// A copy of a fixture's folder.
fn folder_of(to: &Path, name: &str) -> PathBuf {
    let to = to.join("dump");
    copy_dump(name, &to);
    to
}

/// The same as a zip of stored entries.
fn zip_of(to: &Path, name: &str) -> PathBuf {
    let (folder, zip) = (folder_of(to, name), to.join("dump.zip"));
    let script = "import sys, zipfile, pathlib\n\
                  z = zipfile.ZipFile(sys.argv[2], 'w')\n\
                  [z.write(p, p.name) for p in sorted(pathlib.Path(sys.argv[1]).iterdir())]\n\
                  z.close()";
    let done = Command::new("python3").arg("-c").arg(script).arg(folder).arg(&zip).status().unwrap();
    assert!(done.success());
    zip
}

fn core_of(to: &Path, name: &str) -> PathBuf {
    let to = to.join("core");
    fs::copy(crate::cores::core(name), &to).unwrap();
    to
}

#[test]
fn a_side_file_that_changes() {
    let names = ["registers.bin", "private.bin", "memory.bin"];
    let cases = names.into_iter().flat_map(|name| CHANGES.map(|(what, change)| (name, what, change)));
    // Other changes of each file.
    for (name, what, change) in sampled(cases, 7) {
        let folder = tempfile::tempdir().unwrap();
        let dump = folder_of(folder.path(), "call-gfx90a-O0");
        let what = format!("{name} {what}");
        let refused = refused(&dump, &dump.join(name), change, &all_questions(), &what);
        assert!(refused > 10, "{what}: {refused} answers are refused");
    }
}

#[test]
fn a_zip_that_changes() {
    for (what, change) in sampled(CHANGES, 2) {
        let folder = tempfile::tempdir().unwrap();
        let zip = zip_of(folder.path(), "call-gfx90a-O0");
        let refused = refused(&zip, &zip, change, &all_questions(), what);
        assert!(refused > 10, "{what}: {refused} answers are refused");
    }
}

#[test]
fn a_core_that_changes() {
    // With a sample, the changes that a zip does not have.
    for (what, change) in sampled(CHANGES.into_iter().rev(), 2) {
        let folder = tempfile::tempdir().unwrap();
        let core = core_of(folder.path(), "gfx90a-unified");
        let refused = refused(&core, &core, change, &all_questions(), what);
        assert!(refused > 10, "{what}: {refused} answers are refused");
    }
}

/// Renaming a file over another one, or removing it, changes no byte of the open one. A side file that was not open yet is
/// another one, or none: an error, not missing memory.
#[test]
fn a_replaced_file() {
    let replace: Change = |path| {
        let other = path.with_extension("new");
        fs::write(&other, b"another file").unwrap();
        fs::rename(&other, path).unwrap();
    };
    let remove: Change = |path| fs::remove_file(path).unwrap();
    for (what, change) in [("replaced", replace), ("removed", remove)] {
        let folder = tempfile::tempdir().unwrap();
        let core = core_of(folder.path(), "gfx90a-unified");
        assert_eq!(refused(&core, &core, change, &all_questions(), what), 0, "{what}");
        let folder = tempfile::tempdir().unwrap();
        let dump = folder_of(folder.path(), "call-gfx90a-O0");
        assert_eq!(refused(&dump, &dump.join("registers.bin"), change, &all_questions(), what), 0, "{what}");
        let served = Served::start(&dump_again(folder.path()), &[]);
        change(&folder.path().join("again/private.bin"));
        let mut stream = served.connect();
        let features = "qSupported:multiprocess+;error-message+";
        assert!(answer(&mut stream, features).contains("PacketSize"));
        let locals = answer(&mut stream, &format!("qRcmd,{}", hex("locals")));
        assert!(locals.contains("private.bin changed while it was open"), "{what}: {locals}");
        served.end();
    }
}

fn dump_again(folder: &Path) -> PathBuf {
    let to = folder.join("again");
    copy_dump("call-gfx90a-O0", &to);
    to
}

/// A command whose output nobody reads waits in the middle of its work.
#[test]
fn a_command_whose_dump_changes_meanwhile_fails() {
    let folder = tempfile::tempdir().unwrap();
    let dump = folder_of(folder.path(), "call-gfx90a-O0");
    let core = core_of(folder.path(), "gfx90a-unified");
    for (capture, file) in [(&dump, dump.join("private.bin")), (&core, core.clone())] {
        let mut child = crate::support::lanescope()
            .arg("export")
            .arg(capture)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0];
        child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
        idle(child.id());
        opened(&file).set_len(4096).unwrap();
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(told.contains("changed while it was"), "{told}");
        assert!(told.contains(file.file_name().unwrap().to_str().unwrap()), "{told}");
    }
}

/// A slim dump of a changed file would lack what looks as if it was never captured: none is written.
#[test]
fn slim_of_a_dump_that_changes_meanwhile_writes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let dump = folder_of(folder.path(), "call-gfx90a-O0");
    let large = dump.join("large.bin");
    File::create(&large).unwrap().set_len(4 << 30).unwrap();
    let manifest = dump.join("manifest.toml");
    let text = fs::read_to_string(&manifest).unwrap();
    fs::write(&manifest, text + "\n[[memory]]\naddress = \"0x600000000000\"\nfile = \"large.bin\"\n")
        .unwrap();
    let out = folder.path().join("out.zip");
    let child = crate::support::lanescope()
        .args(["slim", "--whole"])
        .arg(&dump)
        .arg("-o")
        .arg(&out)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let written = || {
        let files = fs::read_dir(folder.path()).unwrap().flatten();
        let mut partial = files.filter(|file| file.file_name().to_string_lossy().ends_with(".partial"));
        partial.next().map_or(0, |file| file.metadata().unwrap().len())
    };
    until("a megabyte in the file", || (written() >= 1 << 20).then_some(()));
    opened(&large).set_len(4096).unwrap();
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("large.bin changed while it was read: nothing is written"), "{told}");
    assert!(!out.exists() && written() == 0);
}
