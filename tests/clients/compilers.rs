//! Stock debuggers over the fixtures of every compiler, without plug-in or setup: stacks and variables in gdb,
//! gdb-multiarch and lldb are those of the fixtures' models, and of lanescope's own commands.
//!
//! view.rs has the same for the dumps of `tests/fixtures/dumps`, release.rs for code without debug information.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::harness::{Server, lanescope, run, scratch, tool};
use super::model::{copy_dump, fixtures_folder};
use super::script::{Debugger, Script, debuggers, fail_with, half};
use crate::support::{least, newest, sample::sampled};

/// Address of code objects.
const LOAD: u64 = 0x7f00_0010_0000;
/// Moments of a run of `stacks.hip` that are compared, evenly distributed.
const MOMENTS: usize = 9;
/// Those of the sample.
const SOME_MOMENTS: usize = 4;

/// A dump with the facts of its model.
struct Subject {
    dump: PathBuf,
    language: Language,
    /// Its kernel in the source.
    kernel: &'static str,
    waves: Vec<Wave>,
}

#[derive(Clone, Copy)]
enum Language {
    Fortran,
    Cpp,
    Python,
}

struct Wave {
    /// Its id, and the debuggers' number of its thread.
    id: u64,
    /// Innermost first.
    frames: Vec<Frame>,
    values: Vec<Asked>,
}

#[derive(Clone)]
struct Frame {
    /// The names that debuggers show, without namespaces: one each.
    names: Vec<String>,
    /// `FILE:LINE`; `None`: the address has no line.
    place: Option<String>,
    /// Whether a row of the line table has the line 0, in whose place gdb prints the line before; lldb prints 0.
    is_zero: bool,
}

/// A variable in a lane of a frame.
#[derive(Clone)]
struct Asked {
    frame: usize,
    lane: usize,
    path: &'static str,
    value: String,
}

fn unpacked(archive: &str, name: &str) -> PathBuf {
    let folder = scratch(name);
    zip::ZipArchive::new(File::open(fixtures_folder().join(archive)).unwrap())
        .unwrap()
        .extract(&folder)
        .unwrap();
    folder
}

fn json_in(path: &Path) -> Vec<Value> {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Target regions of OpenMP by flang and clang.
fn offload(source: &str) -> (PathBuf, Vec<Subject>) {
    let folder = unpacked("compilers/offload/dumps.zip", source);
    let all = json_in(&fixtures_folder().join("compilers/offload/expected.json"));
    let (file, language, kernel) = match source {
        "regions" => ("regions.cpp", Language::Cpp, "grid::Mesh::smooth, target region at line 15"),
        "loops" => ("loops.f90", Language::Fortran, "scale, target region at line 7"),
        _ => ("fields.f90", Language::Fortran, "fields::update, target region at line 56"),
    };
    // gfx90a, gfx942 and gfx1100.
    let of_source = sampled(all.iter().filter(|expected| expected["source"] == source), 2);
    let subjects = of_source.map(|expected| {
        let frame = |frame: &Value| {
            let symbol = frame[0].as_str().unwrap();
            // lldb 22 has no plug-in for Fortran: it shows symbols.
            let names = match symbol {
                "_QMfieldsPtotal" => vec!["total", symbol],
                "_QMfieldsPsmooth" => vec!["smooth", symbol],
                "_ZL5twicei" => vec!["twice"],
                symbol => vec![symbol],
            };
            Frame {
                names: names.into_iter().map(str::to_owned).collect(),
                place: frame[1].as_u64().map(|line| format!("{file}:{line}")),
                is_zero: false,
            }
        };
        let waves = expected["waves"].as_array().unwrap().iter().map(|wave| {
            let id = wave["id"].as_u64().unwrap();
            let frames = wave["frames"].as_array().unwrap().iter().map(frame).collect();
            Wave { id, frames, values: values(source, id, &expected["values"]) }
        });
        let dump = folder.join(expected["dump"].as_str().unwrap());
        Subject { dump, language, kernel, waves: waves.collect() }
    });
    let subjects: Vec<Subject> = subjects.collect();
    assert_eq!(subjects.len(), least(3, 2), "{source}");
    (folder, subjects)
}

/// Values of a source's model.
fn values(source: &str, wave: u64, values: &Value) -> Vec<Asked> {
    let asked = |frame, lane, path, value: &Value| {
        let value = value.to_string();
        Asked { frame, lane, path, value: value.trim_end_matches(".0").to_owned() }
    };
    match (source, wave) {
        // The caller of `total`.
        ("fields", 2) => vec![
            asked(1, 0, "n", &values["n"]),
            asked(1, 5, "w(2,1)", &values["w"][0][2]),
            asked(1, 0, "q%tag", &values["q"]["tag"]),
            asked(1, 0, "q%ids(3)", &values["q"]["ids"][1]),
            asked(1, 3, "hist(7)", &values["hist"][7]),
            asked(1, 0, "grid(3,6)", &values["grid"][1][1]),
            asked(2, 0, "n", &values["n"]),
        ],
        ("loops", _) => sampled(0..3, 2)
            .map(|lane| asked(3, lane, "i", &values["i"][lane]))
            .chain([
                asked(3, 0, "a", &values["a"]),
                asked(3, 1, "x(5)", &values["x"][4]),
                asked(6, 0, "a", &values["a"]),
            ])
            .collect(),
        ("regions", _) => sampled(0..4, 3)
            .flat_map(|lane| {
                [
                    asked(0, lane, "value", &values["value"][lane]),
                    asked(0, lane, "result", &values["result"][lane]),
                ]
            })
            // The caller stores its result later.
            .chain([asked(1, 0, "n", &values["n"]), asked(1, 2, "all[1]", &values["value"][1])])
            .collect(),
        _ => Vec::new(),
    }
}

/// Triton's kernel with an inlined helper, a function, and nested helpers.
fn triton() -> Vec<Subject> {
    let folder = fixtures_folder().join("compilers/triton");
    let subjects = json_in(&folder.join("expected.json")).into_iter().map(|expected| {
        let waves = expected["waves"].as_array().unwrap().iter().filter(|wave| !wave["frames"].is_null());
        let waves = waves.map(|wave| {
            let frame = |frame: &Value| {
                let name = frame[0].as_str().unwrap();
                // gdb takes `__` for Ada's notation.
                let of_gdb = name.trim_end_matches(".0").replace("__", ".");
                Frame {
                    names: vec![name.to_owned(), of_gdb],
                    place: Some(format!("{}:{}", frame[1].as_str().unwrap(), frame[2])),
                    is_zero: false,
                }
            };
            let frames = wave["frames"].as_array().unwrap().iter().map(frame).collect();
            Wave { id: wave["id"].as_u64().unwrap(), frames, values: Vec::new() }
        });
        let waves: Vec<Wave> = waves.collect();
        assert_eq!(waves.len(), 3);
        let dump = folder.join(expected["dump"].as_str().unwrap());
        Subject { dump, language: Language::Python, kernel: "softmax_kernel", waves }
    });
    subjects.collect()
}

/// stacks.hip at -O2 by stock clang, without call frame information. The calls are those of the executed code, functions and
/// lines those of llvm-symbolizer.
fn stock_clang() -> (PathBuf, Vec<Subject>) {
    let folder = unpacked("stacks.zip", "stock-clang");
    let subjects = ["stacks-gfx90a-O2", "stacks-gfx1100-O2"].map(|name| {
        let dump = folder.join(name);
        let truth = json_in(&dump.join("truth.json"));
        let waves = truth.iter().step_by(truth.len() / least(MOMENTS, SOME_MOMENTS)).map(|one| {
            let calls = one["calls"].as_array().unwrap();
            let frames = unwound(one, calls, &dump.join(format!("{name}.hsaco")));
            Wave { id: one["wave"].as_u64().unwrap(), frames, values: Vec::new() }
        });
        let waves: Vec<Wave> = waves.collect();
        assert!(waves.iter().any(|wave| wave.frames.len() > 2), "{name}");
        Subject { dump, language: Language::Cpp, kernel: "stacks", waves }
    });
    (folder, subjects.into())
}

/// call.hip with `-gline-tables-only`, whose code is that of the dumps. The calls are the model's, functions and lines
/// those of llvm-symbolizer for the object with all debug information.
fn lines_only() -> (PathBuf, Vec<Subject>) {
    let folder = scratch("lines-only");
    let subjects = ["gfx90a", "gfx1100"].map(|gpu| {
        let name = format!("call-{gpu}-O0");
        let dump = folder.join(&name);
        copy_dump(&name, &dump);
        let code = fixtures_folder().join("code");
        fs::copy(code.join(format!("call-{gpu}-lines.hsaco")), dump.join(format!("{name}.hsaco"))).unwrap();
        let expected = fs::read(fixtures_folder().join(format!("expected/{name}.json"))).unwrap();
        let expected: Value = serde_json::from_slice(&expected).unwrap();
        // The model put the others into functions without a call.
        let waves = expected["waves"].as_array().unwrap().iter().filter_map(|wave| {
            let calls = wave["called"].as_array()?;
            let frames = unwound(wave, calls, &code.join(format!("{name}.hsaco")));
            Some(Wave { id: wave["id"].as_u64().unwrap(), frames, values: Vec::new() })
        });
        let waves: Vec<Wave> = waves.collect();
        assert!(waves.iter().any(|wave| wave.frames.len() > 2), "{name}");
        Subject { dump, language: Language::Cpp, kernel: "call", waves }
    });
    (folder, subjects.into())
}

/// The frames at the PC of a wave and at its calls.
fn unwound(wave: &Value, calls: &[Value], object: &Path) -> Vec<Frame> {
    let hex = |value: &Value| {
        u64::from_str_radix(value.as_str().unwrap().strip_prefix("0x").unwrap(), 16).unwrap() - LOAD
    };
    // A return address belongs to the call before it.
    let callers = calls.iter().map(|call| hex(&call["pc"]) - 4);
    let pcs = std::iter::once(hex(&wave["pc"])).chain(callers);
    let mut command = tool(newest("llvm-symbolizer"));
    command.args(["--inlines", "--functions=short", "--output-style=JSON", "--obj"]).arg(object);
    let output = command.args(pcs.map(|pc| format!("{pc:#x}"))).output().unwrap();
    let found: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found.len(), 1 + calls.len());
    // The function of each address behind its inlined calls.
    let frames = found.iter().flat_map(|one| one["Symbol"].as_array().unwrap()).map(|frame| {
        let file = Path::new(frame["FileName"].as_str().unwrap()).file_name().unwrap().to_str().unwrap();
        let line = frame["Line"].as_u64().filter(|line| *line != 0);
        Frame {
            names: vec![frame["FunctionName"].as_str().unwrap().to_owned()],
            place: line.map(|line| format!("{file}:{line}")),
            is_zero: line.is_none(),
        }
    });
    frames.collect()
}

/// Whether a text has a part as a whole word.
fn has_word(text: &str, part: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(part).any(|(at, _)| {
        let (before, after) = (text[..at].chars().next_back(), text[at + part.len()..].chars().next());
        !before.is_some_and(is_word) && !after.is_some_and(|c| is_word(c) || c == '.')
    })
}

/// The frames of a debugger's `bt`.
fn compare(frames: &[Frame], is_gdb: bool, text: &str) -> Result<(), String> {
    let mark = if is_gdb { "#" } else { "frame #" };
    let rows = text.lines().filter(|line| line.trim_start_matches(['*', ' ']).starts_with(mark));
    let rows: Vec<&str> = rows.collect();
    if rows.len() != frames.len() {
        return Err(format!("expected {} frames: {text}", frames.len()));
    }
    for (row, Frame { names, place, is_zero }) in rows.iter().zip(frames) {
        let is_placed = match place {
            Some(place) => has_word(row, place),
            None => !row.contains(" at ") || *is_zero && (is_gdb || row.contains(".hip:0")),
        };
        if !(names.iter().any(|name| has_word(row, name)) && is_placed) {
            return Err(format!("expected {names:?} at {place:?}: {row}"));
        }
    }
    Ok(())
}

fn script(subject: &Subject, debugger: &Debugger, address: &str) -> Script {
    let mut script = Script::new(subject.dump.file_name().unwrap().to_str().unwrap());
    let is_gdb = matches!(debugger, Debugger::Gdb(_));
    script.say(format!("{} {address}", if is_gdb { "target remote" } else { "gdb-remote" }));
    // A list of threads has the kernel by its name in the source.
    script.expect(if is_gdb { "info threads" } else { "thread list" }, subject.kernel);
    for wave in &subject.waves {
        script.say(match is_gdb {
            true => format!("thread {}", wave.id),
            false => format!("script lldb.process.SetSelectedThreadByID({})", wave.id),
        });
        let frames = wave.frames.clone();
        script.check(format!("wave {}", wave.id), "bt", move |text| compare(&frames, is_gdb, text));
        let mut at = None;
        // lldb 22 has no plug-in for Fortran: it shows no variables of such frames.
        let has_none = !is_gdb && matches!(subject.language, Language::Fortran);
        let count = if has_none { 1 } else { wave.values.len() };
        for Asked { frame, lane, path, value } in wave.values.iter().take(count).cloned() {
            if at != Some((frame, lane)) {
                script.say(if is_gdb {
                    format!("set var $lane = {lane}")
                } else {
                    format!("register write lane {lane}")
                });
                script.say(format!("frame {}{frame}", if is_gdb { "" } else { "select " }));
                at = Some((frame, lane));
            }
            match (is_gdb, has_none) {
                (true, _) => script.expect(format!("print {path}"), format!(" = {value}\n")),
                (false, true) => script.never("frame variable", " = "),
                (false, false) => script.expect(format!("frame variable {path}"), format!(" = {value}\n")),
            }
        }
    }
    script
}

fn in_debugger<'s>(debugger: &Debugger, subjects: impl IntoIterator<Item = &'s Subject>) -> Vec<String> {
    let mut wrong = Vec::new();
    for subject in subjects {
        let server = Server::start(&subject.dump, &[]);
        wrong.extend(script(subject, debugger, &server.address).run(debugger));
        server.finish();
    }
    wrong
}

fn asked(arguments: &[&str], dump: &Path) -> Value {
    let text = run(Command::new(lanescope()).arg(arguments[0]).arg(dump).args(&arguments[1..]).arg("--json"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {text}"))
}

/// lanescope's own answers, which have the same facts; of the values each third.
fn by_command<'s>(subjects: impl IntoIterator<Item = &'s Subject>) {
    for Subject { dump, waves, .. } in subjects {
        for Wave { id, frames, values } in waves {
            let id = id.to_string();
            let stack = asked(&["backtrace", "--wave", &id], dump);
            let found = stack["frames"].as_array().unwrap();
            assert_eq!(found.len(), frames.len(), "{dump:?} wave {id}: {stack}");
            for (found, frame) in found.iter().zip(frames) {
                let is_named = |name: &String| {
                    ["symbol", "function"]
                        .iter()
                        .any(|key| found[key].as_str().is_some_and(|found| has_word(found, name)))
                };
                assert!(
                    frame.names.iter().any(is_named),
                    "{dump:?} wave {id}: expected {:?}: {found}",
                    frame.names
                );
                let file = found["file"].as_str().map(|file| file.rsplit('/').next().unwrap());
                let place = file.zip(found["line"].as_u64()).map(|(file, line)| format!("{file}:{line}"));
                assert_eq!(place, frame.place, "{dump:?} wave {id}: {found}");
            }
            for Asked { frame, lane, path, value } in sampled(values, 3) {
                let (frame, lane) = (frame.to_string(), lane.to_string());
                let printed =
                    asked(&["print", "--wave", &id, "--frame", &frame, "--lane", &lane, path], dump);
                assert_eq!(printed["lanes"][0]["value"], **value, "{dump:?} {path}: {printed}");
            }
        }
    }
}

/// Compares everything about the subjects of one source, and removes their folder. They differ in the GPU: gdb has one,
/// lldb the other, and commands the first.
fn everywhere((folder, subjects): &(PathBuf, Vec<Subject>)) {
    by_command(sampled(subjects, 2));
    let each = |debugger: &Debugger| in_debugger(debugger, half(subjects, debugger));
    fail_with(debuggers().iter().flat_map(each).collect());
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn fields_of_fortran() {
    everywhere(&offload("fields"));
}

#[test]
fn loops_of_fortran() {
    everywhere(&offload("loops"));
}

#[test]
fn regions_of_cpp() {
    everywhere(&offload("regions"));
}

#[test]
fn kernels_of_triton() {
    let subjects = triton();
    by_command(&subjects);
    fail_with(debuggers().iter().flat_map(|debugger| in_debugger(debugger, &subjects)).collect());
}

#[test]
fn lines_without_variables() {
    everywhere(&lines_only());
}

#[test]
fn code_of_stock_clang() {
    everywhere(&stock_clang());
}
