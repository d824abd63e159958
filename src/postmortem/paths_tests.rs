use super::Paths;

/// The texts have `HOME` for the folder of home directories: no source has a path of a machine.
fn at_home(text: &str) -> String {
    text.replace("HOME", &["", "home"].join("/"))
}

fn paths() -> Paths {
    let files = ["HOME/jo doe/runs/core 1", "core.7", "runs/a b.zip", "../x/c.zip", "o/oob.zip", "a::b"];
    Paths::new(false, files.map(at_home).to_vec(), vec!["kernels/saxpy.hip".to_owned()], Some("node17"))
}

#[test]
fn files_lose_their_folders() {
    for (path, expected) in [
        ("HOME/jo/saxpy.hip", "saxpy.hip"),
        ("kernels/saxpy.hip", "kernels/saxpy.hip"),
        ("../jo/saxpy.hip", "saxpy.hip"),
        ("C:\\Users\\jo\\a.hip", "a.hip"),
        ("\\\\server\\share\\a.hip", "a.hip"),
        ("file://HOME/jo/app.so#offset=4096&size=8", "app.so"),
        ("memory://1234#offset=0x10", "memory://1234#offset=0x10"),
        ("HOME/jo", "..."),
        ("C:\\Users\\jo", "..."),
        ("/", "..."),
    ] {
        assert_eq!(paths().source(&at_home(path)), expected, "{path}");
    }
}

/// Relative paths of the machine lose their folders, too; those of sources come from the program's build.
#[test]
fn names_have_no_folder() {
    for (path, expected) in [
        ("o/oob.zip", "oob.zip"),
        ("./oob.zip", "oob.zip"),
        ("../o/oob.zip", "oob.zip"),
        ("dumps/crash/", "crash"),
        ("oob.zip", "oob.zip"),
        ("HOME/jo/oob.zip", "oob.zip"),
        ("file://HOME/jo/app.so#offset=4096&size=8", "app.so"),
        ("memory://1234#offset=0x10", "memory://1234#offset=0x10"),
        ("HOME/jo", "..."),
    ] {
        assert_eq!(paths().name(&at_home(path)), expected, "{path}");
    }
}

#[test]
fn texts_lose_folders_and_hosts() {
    for (text, expected) in [
        ("cannot read HOME/jo doe/runs/core 1: denied", "cannot read core 1: denied"),
        ("/opt/rocm/lib/libx.so:12: bad", "libx.so:12: bad"),
        ("see `/a/b/c` and (/d/e)", "see `c` and (e)"),
        ("from https://node9.site:8002/buildid/ab/debuginfo: 404", "from debuginfo: 404"),
        ("no server at https://node9.site", "no server at ..."),
        ("ran on node17", "ran on ..."),
        ("--log=/tmp/x/run.log", "--log=run.log"),
        ("core.7: offset 0x40", "core.7: offset 0x40"),
        // Known relative paths, alone and not as parts of others.
        ("lanescope locals o/oob.zip --wave 1", "lanescope locals oob.zip --wave 1"),
        (
            "o/oob.zip: two/o/oob.zip, to/oob.zip, o/oob.zip2 and o/oob.zip.",
            "oob.zip: two/o/oob.zip, to/oob.zip, o/oob.zip2 and oob.zip.",
        ),
        ("'runs/a b.zip' beside ../x/c.zip", "'a b.zip' beside c.zip"),
        ("kernels/saxpy.hip:54", "kernels/saxpy.hip:54"),
        // Folders of a user, of a variable, and beside.
        ("~jo/k, ~/a/b and `$DATA/jo/x` or ${TMP}/y/z", "k, b and `x` or z"),
        ("../jo/x: ./y", "x: y"),
        // Escaped blanks, as problems quote them.
        (r"run\nHOME/jo/x\tHOME/jo/y\r/a/b", r"run\nx\ty\rb"),
        // No paths.
        ("~5 / 6, $5/6 .. /", "~5 / 6, 6 .. /"),
        ("a / b, x/y, 3 /4, //comment here", "a / b, x/y, 3 /4, //comment here"),
        ("AMDGPU Wave 1:1:1:1 (0,0,0)/0", "AMDGPU Wave 1:1:1:1 (0,0,0)/0"),
        ("/tmp is full", "/tmp is full"),
        ("\u{e9}HOME/jo/\u{e9}t\u{e9}.hip", "\u{e9}HOME/jo/\u{e9}t\u{e9}.hip"),
        ("at HOME/jo/\u{e9}t\u{e9}.hip", "at \u{e9}t\u{e9}.hip"),
        ("", ""),
    ] {
        assert_eq!(paths().text(&at_home(text)), at_home(expected), "{text}");
    }
}

#[test]
fn paths_stay_on_request() {
    let paths = Paths::new(true, vec!["o/oob.zip".to_owned()], Vec::new(), Some("node17"));
    assert_eq!(paths.text("node17 /srv/jo/x"), "node17 /srv/jo/x");
    assert_eq!(paths.source("/srv/jo/x"), "/srv/jo/x");
    assert_eq!((paths.text("o/oob.zip"), paths.name("o/oob.zip")), ("o/oob.zip".into(), "o/oob.zip".into()));
}

#[test]
fn notes_lose_arguments_and_foreign_paths() {
    let paths = paths().hiding(" ./train --key=S3CRET -n 5 /srv/jo/in.bin\t--seed=7 ");
    for (note, expected) in [
        ("made by ./train --key=S3CRET -n 5 /srv/jo/in.bin\t--seed=7", "made by ..."),
        ("key --key=S3CRET, n 5", "key ..., n 5"),
        ("train", "train"),
        // The paths of captures that a slim dump comes from.
        ("home/al ice/c r.zip: private memory: not captured", "c r.zip: private memory: not captured"),
        ("/srv/al ice/c r.zip: 2 waves", "c r.zip: 2 waves"),
        ("read/write: a/b is none", "read/write: a/b is none"),
    ] {
        assert_eq!(paths.note(note), expected, "{note}");
    }
    assert_eq!(paths.text("by ./train --key=S3CRET -n 5 /srv/jo/in.bin\t--seed=7"), "by ...");
    // A command with escaped line ends, as a manifest's reader keeps it.
    let escaped = super::Paths::default().hiding(r"./train --key=S3CRET\nin.bin");
    assert_eq!(escaped.note("by ./train --key=S3CRET on in.bin"), "by train ... on ...");
    // The name of a program alone hides nothing, and neither does an unknown command.
    for command in ["train", ""] {
        assert_eq!(super::Paths::default().hiding(command).note("to train on it"), "to train on it");
    }
}
