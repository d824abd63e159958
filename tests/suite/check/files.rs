//! Names of dumps, folders of options, and files that are written.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::Value;

use super::{Folder, check, command, json, text};
use crate::slim::words;

/// The names of the dumps of a run.
fn dumps(json: &Value) -> Vec<String> {
    let files = json["files"].as_array().unwrap().iter();
    let dumps = files.flat_map(|file| file["dumps"].as_array().unwrap());
    dumps.map(|dump| dump["dump"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_existing_name_is_no_pattern() {
    let folder = Folder::new("check-literal");
    for name in ["a[1].zip", "a1.zip"] {
        fs::copy(folder.path("demo.zip"), folder.path(name)).unwrap();
    }
    let one = folder.write("one.scope", "dump a[1].zip\nwaves 8\n");
    let output = check(&["--json", &one]);
    assert_eq!((output.status.code(), dumps(&json(&output))), (Some(0), vec!["a[1].zip".to_owned()]));
    fs::remove_file(folder.path("a[1].zip")).unwrap();
    let output = check(&["--json", &one]);
    assert_eq!((output.status.code(), dumps(&json(&output))), (Some(0), vec!["a1.zip".to_owned()]));
}

#[test]
fn patterns_do_not_follow_links_to_folders() {
    let folder = Folder::new("check-links");
    fs::create_dir_all(folder.path("sub/deep")).unwrap();
    fs::copy(folder.path("demo.zip"), folder.path("sub/deep/x.zip")).unwrap();
    symlink("..", folder.path("sub/up")).unwrap();
    symlink(".", folder.path("sub/deep/same")).unwrap();
    for (pattern, expected) in [
        ("**/x.zip", &["sub/deep/x.zip"][..]),
        ("sub/**/*.zip", &["sub/deep/x.zip"]),
        ("**/*.zip", &["demo.zip", "sub/deep/x.zip"]),
        ("./sub/**/x.zip", &["./sub/deep/x.zip"]),
    ] {
        let scope = folder.write("one.scope", &format!("dump {pattern}\nwaves 8\n"));
        let output = check(&["--json", &scope]);
        assert_eq!(output.status.code(), Some(0), "{pattern}: {output:?}");
        let plain = |name: &str| name.trim_start_matches("./").to_owned();
        let found: Vec<String> = dumps(&json(&output)).iter().map(|name| plain(name)).collect();
        assert_eq!(found, expected.iter().map(|name| plain(name)).collect::<Vec<_>>(), "{pattern}");
    }
}

#[test]
fn a_missing_folder_of_symbols_is_an_error() {
    let folder = Folder::new("check-symbols");
    let scope = folder.write("one.scope", "dump demo.zip\nsymbols build/\nwaves 8\n");
    let output = check(&["--json", &scope]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let error = json(&output)["files"][0]["errors"][0]["problem"].as_str().unwrap_or_default().to_owned();
    assert!(error.contains("`symbols`") && error.contains("build"), "{error}");
    fs::create_dir(folder.path("build")).unwrap();
    assert_eq!(check(&[&scope]).status.code(), Some(0));
}

#[test]
fn results_never_replace_an_input() {
    let folder = Folder::new("check-inputs");
    let scope = folder.write("one.scope", "dump demo.zip\nwaves 8\n");
    let (before, dump) = (fs::read(&scope).unwrap(), fs::read(folder.path("demo.zip")).unwrap());
    fs::hard_link(folder.path("demo.zip"), folder.path("other.xml")).unwrap();
    for name in ["one.scope", "demo.zip", "other.xml"] {
        let output = check(&["--format", &format!("junit={}", words(&folder.path(name))), &scope]);
        assert_eq!(output.status.code(), Some(2), "{name}: {output:?}");
        assert!(text(&output.stderr).contains("the command reads this file"), "{}", text(&output.stderr));
    }
    assert!(fs::read(&scope).unwrap() == before && fs::read(folder.path("demo.zip")).unwrap() == dump);
}

#[test]
fn a_report_never_replaces_an_input() {
    let folder = Folder::new("report-inputs");
    let log = folder.write("log.txt", "Memory access fault by GPU node-1 on address 0x7f0000201000.\n");
    let dump = folder.path("demo.zip");
    fs::hard_link(&log, folder.path("hard.html")).unwrap();
    fs::hard_link(&dump, folder.path("dump.html")).unwrap();
    let report = |to: &str| {
        let mut command = crate::support::lanescope();
        command.args(["report", words(&dump), "--log", &log, "--format=html", "-o", words(&folder.path(to))]);
        command.output().unwrap()
    };
    for name in ["log.txt", "hard.html", "demo.zip", "dump.html"] {
        let output = report(name);
        assert_eq!(output.status.code(), Some(1), "{name}: {output:?}");
        assert!(text(&output.stderr).contains("the command reads this file"), "{}", text(&output.stderr));
    }
    assert!(fs::read_to_string(&log).unwrap().starts_with("Memory access fault"));
    assert_eq!(report("new.html").status.code(), Some(0));
    let output = report("missing/new.html");
    assert!(text(&output.stderr).contains("there is no folder"), "{}", text(&output.stderr));
}

/// Editors of Windows write a byte order mark.
#[test]
fn a_byte_order_mark_is_left_out() {
    let folder = Folder::new("check-mark");
    let text = "\u{feff}dump    demo.zip\nfault   memory violation\n";
    let file = folder.write("a.scope", text);
    assert_eq!(check(&[&file]).status.code(), Some(0));
    assert_eq!(check(&["--fmt", "--check", &file]).status.code(), Some(1), "the columns differ");
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
    assert_eq!(check(&["--fmt", &file]).status.code(), Some(0));
    assert_eq!(fs::read_to_string(&file).unwrap(), "dump   demo.zip\nfault  memory violation\n");
    let wrong = folder.write("b.scope", "\u{feff}dump demo.zip\nfault none\n");
    assert_eq!(check(&["--bless", &wrong]).status.code(), Some(0));
    assert_eq!(fs::read_to_string(&wrong).unwrap(), "dump demo.zip\nfault memory violation\n");
}

#[test]
fn an_error_has_the_name_of_its_dump_once() {
    let folder = Folder::new("check-name");
    folder.write("no.zip", "no dump");
    for name in ["nowhere.zip", "no.zip"] {
        let file = folder.write("a.scope", &format!("dump {name}\nfault none\n"));
        let output = check(&[&file]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let first = text(&output.stdout).lines().next().unwrap().to_owned();
        assert_eq!(first.matches(name).count(), 1, "{first}");
    }
}

/// docs/report.md, "Private data": the folder of a relative path is left out as that of an absolute one.
#[test]
fn a_report_of_a_run_has_no_folders_and_follows_the_rules() {
    let folder = Folder::new("check-report");
    for name in ["secret-o", "secret-symbols"] {
        fs::create_dir(folder.path(name)).unwrap();
    }
    fs::rename(folder.path("demo.zip"), folder.path("secret-o/oob.zip")).unwrap();
    let lines = "dump secret-o/oob.zip\nsymbols secret-symbols\nfault none\n";
    folder.write("a.scope", lines);
    let rules = folder.write("rules.toml", "irrelevant = [\"saxpy\"]\n");
    let id = |options: &[&str]| {
        let mut command = crate::support::lanescope();
        let output =
            command.arg("signature").arg(folder.path("secret-o/oob.zip")).args(options).output().unwrap();
        text(&output.stdout).split_whitespace().next().unwrap().to_owned()
    };
    let (plain, ruled) = (id(&[]), id(&["--rules", &rules]));
    assert_ne!(plain, ruled);
    for (options, to, has, lacks) in
        [(vec![], "one", &plain, &ruled), (vec!["--rules", &*rules], "two", &ruled, &plain)]
    {
        let arguments = [&["a.scope", "--report", to], &options[..]].concat();
        let output = super::command(&arguments).current_dir(&folder.0.0).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let report = fs::read_to_string(folder.path(to).join("a-oob.html")).unwrap();
        assert!(report.contains(has) && !report.contains(lacks), "{options:?}");
        assert!(!report.contains("secret-o/") && !report.contains(words(&folder.0.0)));
        // The command has the options of the file.
        assert!(report.contains("lanescope serve oob.zip --symbols secret-symbols"));
    }
}

/// A full disk: /dev/full takes no byte.
#[test]
fn a_full_disk_is_named() {
    let folder = Folder::new("report-full");
    let mut command = crate::support::lanescope();
    let output =
        command.args(["report", words(&folder.path("demo.zip")), "-o", "/dev/full"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(
        text(&output.stderr).contains("cannot write /dev/full: No space left"),
        "{}",
        text(&output.stderr)
    );
}

/// No file is skipped: one that cannot be read is an error, and only names with a dot and links to folders are left out.
#[test]
fn unreadable_files_of_a_folder_are_errors() {
    let folder = Folder::new("check-special");
    let good = folder.write("good.scope", "dump demo.zip\nwaves 8\n");
    fs::create_dir(folder.path("below")).unwrap();
    symlink(folder.path("below"), folder.path("link.scope")).unwrap();
    assert_eq!(check(&[&folder.all()]).status.code(), Some(0), "links to folders are no files");
    type Make<'m> = &'m dyn Fn(&Path);
    let make: [(&str, Make<'_>, &str); 3] = [
        ("gone.scope", &|path| symlink("nowhere", path).unwrap(), "No such file or directory"),
        ("self.scope", &|path| symlink("self.scope", path).unwrap(), "symbolic links"),
        (
            "pipe.scope",
            &|path| nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU).unwrap(),
            "not a regular file",
        ),
    ];
    for (name, make, problem) in make {
        let path = folder.path("below").join(name);
        make(&path);
        let output = check(&[&folder.all(), "--json"]);
        assert_eq!(output.status.code(), Some(2), "{name}: {output:?}");
        let files = json(&output)["files"].as_array().unwrap().clone();
        let wrong = files.iter().find(|file| file["file"].as_str().unwrap().ends_with(name)).unwrap();
        let found = wrong["errors"][0]["problem"].as_str().unwrap();
        assert!(found.contains(problem), "{name}: {found}");
        assert_eq!(files.len(), 2, "the others are checked: {files:#?}");
        let output = check(&["--fmt", "--check", &folder.all()]);
        assert_eq!(output.status.code(), Some(2), "{name}: {output:?}");
        assert!(text(&output.stderr).contains(problem), "{name}: {output:?}");
        fs::remove_file(path).unwrap();
    }
    // A dump that is a dangling link is one that cannot be opened.
    symlink("nowhere", folder.path("below/gone.zip")).unwrap();
    let file = folder.write("dumps.scope", "dump **/*.zip\nwaves 8\n");
    let output = check(&[&file, "--json"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert_eq!(dumps(&json(&output)), ["below/gone.zip", "demo.zip"]);
    assert_eq!(check(&[&good]).status.code(), Some(0));
}

/// Each dump's reader opens the file again, which finds another stream in place of the own one.
#[test]
fn streams_are_no_files_of_expectations() {
    let folder = Folder::new("check-streams");
    let file = folder.write("a.scope", "dump demo.zip\nwaves 8\n");
    symlink("/dev/stdin", folder.path("link.scope")).unwrap();
    let link = folder.path("link.scope");
    for name in ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", words(&link)] {
        let output = command(&[name]).stdin(fs::File::open(&file).unwrap()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{name}: {output:?}");
        assert!(text(&output.stdout).contains("error: not a regular file"), "{name}: {output:?}");
    }
}

/// The files of a dump in a folder, which the workers read, and the file of an option.
#[test]
fn results_never_replace_a_part_of_a_dump() {
    let folder = Folder::new("check-parts");
    let dump = folder.path("demo");
    fs::create_dir(&dump).unwrap();
    let source = crate::fixtures::fixtures().join("dumps/lds-gfx90a-O0");
    for entry in fs::read_dir(&source).unwrap() {
        let entry = entry.unwrap();
        if entry.path().is_file() {
            fs::copy(entry.path(), dump.join(entry.file_name())).unwrap();
        }
    }
    let log = folder.write("kernel.log", "nothing\n");
    let scope = folder.write("one.scope", "dump demo\nlog kernel.log\nwaves 900\n");
    let names: Vec<_> = fs::read_dir(&dump).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(names.iter().any(|path| path.ends_with("manifest.toml")) && names.len() > 1, "{names:?}");
    for path in names.iter().chain([&log.clone().into()]) {
        let before = fs::read(path).unwrap();
        let output = check(&["--format", &format!("json={}", words(path)), &scope]);
        assert_eq!(output.status.code(), Some(2), "{path:?}: {output:?}");
        assert!(text(&output.stderr).contains("the command reads this file"), "{}", text(&output.stderr));
        let report = crate::support::lanescope()
            .args(["report", words(&dump), "--log", &log, "--format", "text", "-o", words(path)])
            .output()
            .unwrap();
        assert!(!report.status.success(), "{path:?}");
        assert!(fs::read(path).unwrap() == before, "{path:?} is replaced");
    }
}

/// The action that stores files of GitHub's jobs refuses these characters.
#[test]
fn names_of_reports_are_portable() {
    let folder = Folder::new("check-portable");
    for name in ["a:b.zip", "a|b.zip", "A?B.zip", "<a>\n\".zip"] {
        fs::copy(folder.path("demo.zip"), folder.path(name)).unwrap();
    }
    let scope = folder.write("one.scope", "dump *[bB\"].zip\nwaves 900\n");
    let reports = folder.path("reports");
    let output = check(&["--report", words(&reports), &scope]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let mut names: Vec<String> = fs::read_dir(&reports)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort_by_key(|name| name.to_lowercase());
    assert_eq!(names.len(), 4, "{names:?}");
    let lower: std::collections::HashSet<String> = names.iter().map(|name| name.to_lowercase()).collect();
    assert_eq!(lower.len(), 4, "{names:?}");
    assert!(
        names.iter().all(|name| !name.contains(['"', ':', '<', '>', '|', '*', '?', '\r', '\n'])),
        "{names:?}"
    );
}

#[test]
fn two_forms_have_two_files() {
    let folder = Folder::new("check-forms");
    let scope = folder.write("one.scope", "dump demo.zip\nwaves 8\n");
    let one = format!("json={}", words(&folder.path("o")));
    let same = format!("junit={}", words(&folder.path("./o")));
    let output = check(&["--format", &one, "--format", &same, &scope]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(text(&output.stderr).contains("two forms have the file"), "{output:?}");
    assert!(!folder.path("o").exists());
    let output = check(&["--format", "json=/dev/null", "--format", "tap=/dev/null", &scope]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

/// One run names all wrong lines.
#[test]
fn all_wrong_lines_are_named() {
    let folder = Folder::new("check-lines");
    let lines = "dump demo.zip\nsymbols nowhere/\nfault memory violtion\nwave faulted\n stop bad reason\n state spining\n";
    let scope = folder.write("one.scope", lines);
    let output = check(&["--json", &scope]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let json = json(&output);
    let errors = json["files"][0]["errors"].as_array().unwrap().iter();
    assert_eq!(errors.map(|error| error["line"].as_u64().unwrap()).collect::<Vec<_>>(), [2, 3, 5, 6]);
}
