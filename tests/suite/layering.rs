//! The rules between modules, checked in the sources: the invariants of ARCHITECTURE.md.

mod clocks;
mod inside;
mod public;

use crate::support::root;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::words::files;

/// Modules with their level: a module imports only modules of a lower level, and itself.
const LEVELS: &[(&str, u8)] = &[
    ("units", 0),
    ("bounds", 0),
    ("clock", 0),
    ("clean", 0),
    ("elf", 0),
    ("integers", 0),
    ("mapping", 0),
    ("signals", 0),
    ("work", 0),
    ("notation", 1),
    ("dwarf", 1),
    ("arch", 1),
    ("capture", 2),
    ("codeobject", 2),
    ("isa", 2),
    ("import", 3),
    ("debuginfo", 3),
    ("session", 4),
    ("report", 5),
    ("view", 5),
    ("slim", 5),
    ("diff", 6),
    ("triage", 6),
    ("questions", 7),
    ("signature", 7),
    ("check", 8),
    ("postmortem", 8),
    ("server", 8),
    ("cli", 9),
];

/// Crates that only some modules may name.
const CRATES: &[(&str, &[&str])] = &[
    ("gdbstub", &["server"]),
    ("nix", &["server", "mapping", "signals", "slim", "import", "cli"]),
    ("memmap2", &["mapping"]),
    ("gimli", &["dwarf", "debuginfo", "view"]),
    ("dwarf_heterogeneous", &["units"]),
    ("object", &["elf"]),
    ("saphyr_parser", &["codeobject"]),
    ("quick_xml", &["server", "cli"]),
    ("zip", &["import"]),
    ("toml", &["arch", "import", "dwarf", "signature", "cli"]),
    ("askama", &["postmortem"]),
    ("clap", &["cli"]),
    ("glob", &["cli"]),
    ("clap_complete", &["cli"]),
    ("clap_mangen", &["cli"]),
    ("minreq", &["import"]),
    ("md5", &["cli", "signature", "slim", "view"]),
    ("strsim", &["check"]),
    ("annotate_snippets", &["check"]),
    ("env_logger", &["main"]),
    ("humantime", &["main"]),
];

/// Every Rust file of the two crates, with its module; the evaluator's is `dwarf`, its name in the other crate.
fn sources() -> Vec<(String, PathBuf, String)> {
    let (src, evaluator) = (root().join("src"), root().join("evaluator/src"));
    let mut paths = Vec::new();
    [&src, &evaluator].into_iter().for_each(|folder| files(folder, &["rs"], &mut paths));
    let each = paths.into_iter().map(|path| {
        let module = match path.strip_prefix(&src) {
            Ok(relative) => {
                let first = relative.components().next().unwrap().as_os_str().to_str().unwrap();
                first.trim_end_matches(".rs").trim_end_matches("_tests").to_owned()
            }
            Err(_) => "dwarf".to_owned(),
        };
        let text = fs::read_to_string(&path).unwrap();
        (module, path, text)
    });
    let files: Vec<_> = each.collect();
    assert!(files.len() > 40, "the sources were not found");
    files
}

/// Lines of a file without comments.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(number, line)| {
        let line = line.split_once("//").map_or(line, |(code, _)| code);
        (number + 1, line)
    })
}

/// Whether a file is a test: sibling files of unit tests may use more modules.
fn is_test(path: &Path) -> bool {
    let text = path.to_string_lossy();
    text.contains("/tests/") || text.ends_with("tests.rs") || text.ends_with("_tests.rs")
}

/// The modules after `crate::` in a line, including grouped imports.
fn rooms_named(line: &str) -> Vec<String> {
    let mut modules = Vec::new();
    for (at, _) in line.match_indices("crate::") {
        let rest = &line[at + "crate::".len()..];
        if let Some(group) = rest.strip_prefix('{') {
            let inner = group.split('}').next().unwrap_or_default();
            modules.extend(
                inner.split(',').filter_map(|part| part.trim().split("::").next()).map(str::to_owned),
            );
        } else {
            let name = |c: char| c.is_alphanumeric() || c == '_';
            modules.push(rest.chars().take_while(|c| name(*c)).collect());
        }
    }
    modules
}

#[test]
fn rooms_import_only_lower_rooms() {
    let levels: BTreeMap<&str, u8> = LEVELS.iter().copied().collect();
    let mut wrong = Vec::new();
    for (module, path, text) in sources() {
        if matches!(module.as_str(), "lib" | "main") || is_test(&path) {
            continue;
        }
        let level = *levels.get(module.as_str()).unwrap_or_else(|| panic!("module {module} has no level"));
        for (number, line) in code(&text) {
            for named in rooms_named(line) {
                if named != module && levels.get(named.as_str()).is_some_and(|other| *other >= level) {
                    wrong.push(format!("{}:{number}: {module} must not see {named}", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn import_is_not_seen_by_session_nor_dwarf_by_capture() {
    for (module, path, text) in sources() {
        let banned: &[&str] = match module.as_str() {
            "session" => &["import"],
            "capture" => &["dwarf"],
            "arch" => &["dwarf"],
            _ => continue,
        };
        if is_test(&path) {
            continue;
        }
        for (number, line) in code(&text) {
            let seen = rooms_named(line).into_iter().find(|named| banned.contains(&named.as_str()));
            assert!(seen.is_none(), "{}:{number}: {module} must not see {seen:?}", path.display());
        }
    }
}

#[test]
fn crates_stay_in_their_rooms() {
    let mut wrong = Vec::new();
    for (module, path, text) in sources() {
        if is_test(&path) {
            continue;
        }
        for (number, line) in code(&text) {
            for (name, modules) in CRATES {
                let path_use = [format!("{name}::"), format!("use {name};")];
                let found = path_use.iter().any(|used| {
                    line.match_indices(used.as_str()).any(|(at, _)| {
                        let before = line[..at].chars().next_back();
                        !before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':')
                    })
                });
                if found && !modules.contains(&module.as_str()) {
                    wrong.push(format!("{}:{number}: {name} belongs to {modules:?}", path.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn mockall_only_in_tests() {
    for (_, path, text) in sources() {
        for (number, line) in code(&text) {
            let tests_only = is_test(&path) || line.contains("cfg_attr(test");
            assert!(
                !line.contains("mockall::") || tests_only,
                "{}:{number}: mockall outside tests",
                path.display()
            );
        }
    }
}

#[test]
fn unsafe_only_in_the_mapping() {
    for (module, path, text) in sources() {
        for (number, line) in code(&text) {
            let word = line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe");
            assert!(
                !word || module == "mapping",
                "{}:{number}: unsafe outside src/mapping.rs",
                path.display()
            );
        }
    }
}

/// These modules start programs: the processes of `check`, the debuggers of `doctor` and `demo`, the user's
/// program of `capture`. They bound time and output, and avoid shells; a user ends the debugger of `demo` and the program.
#[test]
fn programs_are_started_only_by_five_modules() {
    for (_, path, text) in sources() {
        if is_test(&path) {
            continue;
        }
        for (number, line) in code(&text) {
            let starts = line.contains("process::Command") || line.contains("Command::new(");
            let starts = starts || line.contains("process::{") && line.contains("Command");
            let folders =
                ["check", "capture", "doctor", "demo.rs"].map(|name| root().join("src/cli").join(name));
            let allowed = folders.iter().any(|folder| path.starts_with(folder));
            assert!(!starts || allowed, "{}:{number}: this module starts a program", path.display());
        }
    }
}

/// DWARF register numbers are data of targets/; XML belongs to the server.
#[test]
fn no_register_numbers_outside_arch_and_no_xml_outside_server() {
    const NUMBERS: &[&str] = &["1088", "1129", "1536", "1791", "2303", "2560", "2815", "3072", "3327"];
    let mut wrong = Vec::new();
    for (module, path, text) in sources() {
        if is_test(&path) {
            continue;
        }
        for (number, line) in code(&text) {
            if module != "arch" {
                let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
                if let Some(found) = words.find(|word| NUMBERS.contains(word)) {
                    wrong.push(format!("{}:{number}: register number {found}", path.display()));
                }
            }
            if module != "server" && (line.contains("<?xml") || line.contains("</")) {
                wrong.push(format!("{}:{number}: XML", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The meaning of status bits and trap temporaries is data of targets/, too.
#[test]
fn no_bits_of_gpus_in_the_importers() {
    let digit = |text: &str| text.starts_with(|c: char| c.is_ascii_digit());
    let shifts = |line: &str| {
        line.match_indices(">> ").any(|(at, mark)| {
            let rest = &line[at + mark.len()..];
            digit(rest) && rest.trim_start_matches(|c: char| c.is_ascii_digit()).starts_with(" & ")
        })
    };
    let ttmp = |line: &str| line.match_indices("ttmp").any(|(at, mark)| digit(&line[at + mark.len()..]));
    let seen = |line: &str| shifts(line) || ttmp(line);
    assert!(seen("status >> 29 & 1") && seen("read(\"ttmp8\")") && !seen("word >> bit & 1 | ttmps"));
    let mut wrong = Vec::new();
    for (module, path, text) in sources() {
        if module == "import" && !is_test(&path) {
            let lines = code(&text).filter(|(_, line)| seen(line));
            wrong.extend(lines.map(|(number, line)| format!("{}:{number}: {}", path.display(), line.trim())));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Lints against code that can panic. The roots of all crates deny them for all non-test code.
const NO_PANIC: &[&str] = &[
    "unwrap_used",
    "expect_used",
    "panic",
    "panic_in_result_fn",
    "unreachable",
    "todo",
    "unimplemented",
    "indexing_slicing",
    "string_slice",
];

#[test]
fn no_module_opts_out_of_the_lints_against_panics() {
    let mut wrong = Vec::new();
    for (_, path, text) in sources() {
        let text = text.split_whitespace().collect::<String>();
        let attributes: Vec<&str> = text.split("#!").skip(1).collect();
        if ["src/lib.rs", "src/main.rs"].iter().any(|root| path.ends_with(root)) {
            let denied = attributes.iter().find_map(|text| text.strip_prefix("[cfg_attr(not(test),deny("));
            let denied = denied.and_then(|text| text.split_once(")")).map_or("", |(denied, _)| denied);
            let denied: Vec<&str> =
                denied.split(',').filter_map(|lint| lint.strip_prefix("clippy::")).collect();
            assert_eq!(denied, NO_PANIC, "{}", path.display());
        } else {
            let named = |lint: &&&str| text.contains(&format!("clippy::{lint}"));
            let groups = ["restriction", "all"];
            wrong.extend(
                NO_PANIC
                    .iter()
                    .chain(&groups)
                    .filter(named)
                    .map(|lint| format!("{}: {lint}", path.display())),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn errors_are_types() {
    for (_, path, text) in sources().into_iter().filter(|(_, path, _)| !is_test(path)) {
        for (number, line) in code(&text) {
            let is_text = line.contains("Result<") && line.contains(", String>");
            assert!(!is_text, "{}:{number}: an error without a type: {line}", path.display());
        }
    }
}

#[test]
fn files_stay_small() {
    for (_, path, text) in sources() {
        let lines = text.lines().count();
        assert!(lines <= 800, "{} has {lines} lines: split it by concept", path.display());
    }
}

/// ARCHITECTURE.md's code map names exactly the existing modules.
#[test]
fn the_code_map_is_true() {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let modules: BTreeSet<String> = sources()
        .into_iter()
        .map(|(module, ..)| module)
        .filter(|module| module != "lib" && module != "main")
        .collect();
    for module in &modules {
        let (folder, file) = match module.as_str() {
            "dwarf" => ("`evaluator/`".to_owned(), String::new()),
            _ => (format!("`src/{module}/`"), format!("`src/{module}.rs`")),
        };
        let named = map.contains(&folder) || !file.is_empty() && map.contains(&file);
        assert!(named, "ARCHITECTURE.md does not name {folder}");
    }
    for (at, _) in map.match_indices("`src/") {
        let name: String = map[at + 5..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let known = name.is_empty() || modules.contains(&name) || matches!(name.as_str(), "lib" | "main");
        assert!(known, "no module src/{name}");
    }
}

/// Committed text concerns the project alone.
#[test]
fn no_paths_of_a_machine_in_the_sources() {
    for (_, path, text) in sources() {
        for (number, line) in text.lines().enumerate() {
            let home = ["/home/", "/root/", "/work/"].iter().find(|prefix| line.contains(*prefix));
            assert!(home.is_none(), "{}:{}: {home:?}", path.display(), number + 1);
        }
    }
}

/// `scripts/test --long` runs the targets of `fuzz/Cargo.toml`: each has a file and a row in the description.
#[test]
fn every_fuzz_target_is_listed() {
    let read = |file: &str| fs::read_to_string(root().join("fuzz").join(file)).unwrap();
    let manifest: toml::Table = read("Cargo.toml").parse().unwrap();
    let listed: BTreeSet<String> = manifest["bin"]
        .as_array()
        .unwrap()
        .iter()
        .map(|target| {
            let name = target["name"].as_str().unwrap();
            let path = format!("fuzz_targets/{name}.rs");
            assert_eq!(target["path"].as_str(), Some(&*path));
            // Only `--long` compiles the programs: all else is in the library.
            let call =
                format!("libfuzzer_sys::fuzz_target!(|bytes: &[u8]| lanescope_fuzz::{name}::run(bytes));");
            assert_eq!(read(&path), format!("#![no_main]\n\n{call}\n"));
            name.to_owned()
        })
        .collect();
    let files: BTreeSet<String> = fs::read_dir(root().join("fuzz/fuzz_targets"))
        .unwrap()
        .map(|file| file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert_eq!(listed, files, "fuzz/Cargo.toml and the files");
    let functions: BTreeSet<String> =
        lanescope_fuzz::TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(listed, functions, "fuzz/Cargo.toml and the library");
    let rows: BTreeSet<String> = read("README.md")
        .lines()
        .filter_map(|line| Some(line.strip_prefix("| `")?.split_once('`')?.0.to_owned()))
        .collect();
    assert_eq!(listed, rows, "fuzz/Cargo.toml and fuzz/README.md");
}
