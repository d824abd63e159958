//! Code objects of a log, from the files of users: the program itself, build folders, stripped files. clang builds them
//! here; llvm-nm and llvm-symbolizer give the entry of kernels and its line.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use serde_json::{Value, json};

use super::fixtures::{image_end, number};
use super::model::{GFX90A, Gpu, Wave};
use super::writer::{self, Form, Module};
use super::{export, folder, problems};
use crate::dwarf::ran;
use crate::support::{newest, sample::sampled};

const LOADS: [u64; 2] = [0x7f00_0010_0000, 0x7f00_0020_0000];
const KERNELS: [&str; 2] = ["lds", "pointers"];
const SMALL: Gpu = Gpu { sgprs: 4, vgprs: 1, agprs: 1, ..GFX90A };

/// Code object of a kernel; it is compiled once.
fn built(folder: &Path, kernel: &str, gpu: &str) -> PathBuf {
    let object = folder.join(format!("{kernel}-{gpu}.hsaco"));
    if object.exists() {
        return object;
    }
    let mut clang = Command::new(newest("clang"));
    clang.args(["-target", "amdgcn-amd-amdhsa", &format!("-mcpu={gpu}"), "-nogpulib", "-g", "-O2"]);
    clang.args(["-Wl,--build-id=sha1", "-o"]).arg(&object);
    if kernel == KERNELS[1] {
        // The images have one length. The kernels begin at different places.
        let padding = folder.join("padding.h");
        fs::write(&padding, "__attribute__((used)) __constant char padding[512] = {1};\n").unwrap();
        clang.arg("-include").arg(padding);
    }
    let sources = crate::support::root().join("tests/fixtures/kernels");
    ran(clang.arg(sources.join(format!("{kernel}.cl"))));
    object
}

fn bundled(folder: &Path, kernel: &str, gpus: &[&str], compress: bool) -> PathBuf {
    let bundle = folder.join(format!("{kernel}-{}-{compress}.bundle", gpus.len()));
    fs::write(folder.join("empty"), []).unwrap();
    let mut command = Command::new(newest("clang-offload-bundler"));
    let targets: String = gpus.iter().map(|gpu| format!(",hipv4-amdgcn-amd-amdhsa--{gpu}")).collect();
    command.args([
        "--type=o",
        "--bundle-align=4096",
        &format!("--targets=host-x86_64-unknown-linux-gnu{targets}"),
    ]);
    command.arg(format!("--input={}", folder.join("empty").display()));
    for gpu in gpus {
        command.arg(format!("--input={}", built(folder, kernel, gpu).display()));
    }
    ran(command.arg(format!("--output={}", bundle.display())).args(compress.then_some("--compress")));
    bundle
}

/// A host's object file with those bundles, as in a program of several sources.
fn program(folder: &Path, name: &str, bundles: &[PathBuf]) -> PathBuf {
    let asm = |bundle: &PathBuf| format!(".p2align 12\\n.incbin \\\"{}\\\"\\n", bundle.display());
    let text: String = bundles.iter().map(asm).collect();
    let source = folder.join(format!("{name}.c"));
    fs::write(
        &source,
        format!(
            "__asm__(\".section .hip_fatbin,\\\"a\\\",@progbits\\n{text}\"); int main(void) {{ return 0; }}"
        ),
    )
    .unwrap();
    let mut clang = Command::new(newest("clang"));
    clang.args(["--target=x86_64-unknown-linux-gnu", "-c"]).arg(&source);
    ran(clang.arg("-o").arg(folder.join(name)));
    folder.join(name)
}

/// The output of a tool about files of these tests. They do not change, so equal commands run once.
fn printed(command: &mut Command) -> String {
    static KNOWN: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
    let question = format!("{command:?}");
    let known = KNOWN.lock().unwrap().get(&question).cloned();
    known.unwrap_or_else(|| {
        let text = ran(command);
        KNOWN.lock().unwrap().insert(question, text.clone());
        text
    })
}

/// Address of the kernel's entry in its file.
fn entry(object: &Path, kernel: &str) -> u64 {
    let symbols = printed(Command::new(newest("llvm-nm")).arg(object));
    let of = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        (words.last() == Some(&kernel)).then(|| number(words[0]))
    };
    symbols.lines().find_map(of).unwrap()
}

/// Function and line of an address in a file.
fn line(object: &Path, at: u64) -> (String, u64) {
    let mut command = Command::new(newest("llvm-symbolizer"));
    let said = printed(command.arg(format!("--obj={}", object.display())).arg(format!("{at:#x}")));
    let mut lines = said.lines();
    let function = lines.next().unwrap().to_owned();
    let place: Vec<&str> = lines.next().unwrap().rsplit(':').collect();
    (function, place[1].parse().unwrap())
}

/// A wave of each kernel at its first instruction; URIs of files missing on this machine.
fn log(folder: &Path, form: Form, uri: impl Fn(usize, u64) -> String) -> PathBuf {
    log_at(folder, form, LOADS, uri)
}

fn log_at(folder: &Path, form: Form, loads: [u64; 2], uri: impl Fn(usize, u64) -> String) -> PathBuf {
    let mut text = String::new();
    for (index, (kernel, load)) in KERNELS.iter().zip(loads).enumerate() {
        let object = folder.join(format!("{kernel}-gfx90a.hsaco"));
        let start = load + entry(&object, kernel);
        let wave = Wave { pc: start, entry: start, ..Wave::new(SMALL, index as u64 * 2 + 1) };
        let size = fs::metadata(&object).unwrap().len();
        let module = Module { uri: uri(index, size), start: load, end: load + image_end(&object) };
        text += &writer::agent(&[wave], form, Some(&module));
    }
    let path = folder.join("agent.log");
    fs::write(&path, text).unwrap();
    path
}

/// Requires both code objects, with the lines of DWARF.
fn shows(folder: &Path, log: &Path, options: &[&str], origin: &str) {
    let export = export(log, options);
    assert_eq!(problems(&export), Vec::<&str>::new(), "{options:?}");
    for (index, kernel) in KERNELS.iter().enumerate() {
        let object = &export["code_objects"][index];
        assert_eq!((&object["problem"], &object["load_address"]), (&Value::Null, &json!(LOADS[index])));
        let said = object["origin"].as_str().unwrap();
        assert!(said.contains(origin), "{options:?}: {said}");
        let file = folder.join(format!("{kernel}-gfx90a.hsaco"));
        let (function, line) = line(&file, entry(&file, kernel));
        let frame = &export["waves"][index]["frames"][0];
        assert_eq!(frame["line"].as_u64(), Some(line), "{frame}");
        // The symbolizer has the symbol's name.
        assert!(frame["function"] == *kernel && function.ends_with(kernel), "{function}: {frame}");
        assert_eq!(export["waves"][index]["architecture"], "gfx90a");
    }
}

#[test]
fn the_program_holds_the_code_objects_of_a_log() {
    let folder = folder("objects-program");
    for compress in [false, true] {
        let bundles = KERNELS.map(|kernel| bundled(&folder, kernel, &["gfx1100", "gfx90a"], compress));
        let program = program(&folder, &format!("app-{compress}"), &bundles);
        let program = program.to_str().unwrap();
        let only = folder.join(format!("only-{compress}"));
        fs::create_dir(&only).unwrap();
        fs::copy(program, only.join("app")).unwrap();
        for form in sampled([Form::Kernargs, Form::Plain], if compress { 2 } else { 1 }) {
            // Identified by the entries of kernels, and by the file's size in the URI; an image's length is often
            // ambiguous.
            let uri = |_, size: u64| {
                let size = if form == Form::Plain { size } else { 0x10 };
                format!("memory://4242#offset=0x5555&size={size}")
            };
            let log = log(&folder, form, uri);
            shows(&folder, &log, &["--code-object", program], "hipv4-amdgcn-amd-amdhsa--gfx90a");
            shows(&folder, &log, &["--symbols", only.to_str().unwrap()], "--symbols");
            let placed = LOADS.map(|load| format!("{program}@{load:#x}"));
            if form == Form::Kernargs {
                let both = ["--code-object", &placed[0], "--code-object", &placed[1]];
                shows(&folder, &log, &both, "--code-object");
            }
        }
    }
    // The offset in the program distinguishes otherwise equal bundles.
    let program = folder.join("app-false");
    let listed = ran(crate::support::lanescope().args(["code-object", "--json"]).arg(&program));
    let listed: Value = serde_json::from_str(&listed).unwrap();
    let entries = listed["entries"].as_array().unwrap().iter().filter(|entry| entry["target_id"] == "gfx90a");
    let offsets: Vec<u64> = entries.map(|entry| entry["offset"].as_u64().unwrap()).collect();
    let gone = |index: usize, size| format!("file:///nowhere/app#offset={}&size={size}", offsets[index]);
    let log = log(&folder, Form::Plain, gone);
    shows(&folder, &log, &["--code-object", program.to_str().unwrap()], "hipv4-amdgcn-amd-amdhsa--gfx90a");
}

#[test]
fn code_objects_for_other_gpus_are_refused() {
    let folder = folder("objects-other");
    for kernel in KERNELS {
        built(&folder, kernel, "gfx90a");
    }
    let other = KERNELS.map(|kernel| bundled(&folder, kernel, &["gfx1100", "gfx1030"], false));
    let program = program(&folder, "app", &other);
    let log = log(&folder, Form::Plain, |_, _| "memory://1#offset=0x10&size=0x20".to_owned());
    for options in [["--code-object", program.to_str().unwrap()], ["--symbols", folder.to_str().unwrap()]] {
        let export = export(&log, &options);
        let said = problems(&export).join("\n");
        assert!(said.contains("not available"), "{said}");
        assert!(export["code_objects"].as_array().unwrap().iter().all(|object| object["origin"].is_null()));
        assert_eq!(export["waves"][0]["architecture"], "gfx90a");
    }
}

/// The agent's saved file has no debug information; its build id leads to the build that has it.
#[test]
fn a_stripped_code_object_leads_to_its_build() {
    let folder = folder("objects-stripped");
    let symbols = folder.join("symbols");
    for kernel in KERNELS {
        let whole = built(&folder, kernel, "gfx90a");
        let saved = folder.join(format!("memory___1_offset_0x10_size_{}", 32 + kernel.len()));
        ran(Command::new(newest("llvm-strip")).args(["--strip-all", "-o"]).arg(&saved).arg(&whole));
        let notes = ran(Command::new(newest("llvm-readelf")).arg("-n").arg(&whole));
        let id = notes.lines().find_map(|line| line.trim().strip_prefix("Build ID: ")).unwrap();
        let target = symbols.join(".build-id").join(&id[..2]).join(&id[2..]);
        fs::create_dir_all(target.parent().unwrap()).unwrap();
        fs::copy(&whole, target).unwrap();
    }
    let uri = |index: usize, _| format!("memory://1#offset=0x10&size={}", 32 + KERNELS[index].len());
    let log = log(&folder, Form::Kernargs, uri);
    let bare = export(&log, &[]);
    assert_eq!(problems(&bare), Vec::<&str>::new());
    assert_eq!(bare["waves"][0]["frames"][0]["line"], Value::Null);
    shows(&folder, &log, &["--symbols", symbols.to_str().unwrap()], "--symbols");
}

/// Two processes wrote into one log, each with its own code object at the same address: each wave has its own process's
/// functions and lines, from llvm-symbolizer.
#[test]
fn processes_with_code_at_one_address_stay_apart() {
    let folder = folder("objects-processes");
    for (index, kernel) in KERNELS.iter().enumerate() {
        let file = built(&folder, kernel, "gfx90a");
        fs::copy(file, folder.join(format!("memory___{index}_offset_0x10_size_{}", 32 + index))).unwrap();
    }
    let uri = |index: usize, _| format!("memory://{index}#offset=0x10&size={}", 32 + index);
    for form in [Form::Plain, Form::Kernargs] {
        let log = log_at(&folder, form, [LOADS[0]; 2], uri);
        let export = export(&log, &[]);
        let said = problems(&export);
        // Both print the same arguments.
        assert_eq!(said, Vec::<&str>::new(), "{form:?}");
        let agents = export["agents"].as_array().unwrap();
        assert_eq!(agents.len(), 2, "{form:?}");
        let text = fs::read_to_string(&log).unwrap();
        let header = text.lines().position(|line| line.starts_with("wave_3")).unwrap() + 1;
        let name = agents[1]["name"].as_str().unwrap();
        assert!(name.ends_with(&format!("begins in line {header}")), "{name}");
        assert!(
            export["provenance"]["note"].as_str().unwrap().contains("reports of 2 processes"),
            "{form:?}"
        );
        for (index, kernel) in KERNELS.iter().enumerate() {
            assert_eq!(export["code_objects"][index]["problem"], Value::Null, "{form:?} {kernel}");
            let file = folder.join(format!("{kernel}-gfx90a.hsaco"));
            let (_, line) = line(&file, entry(&file, kernel));
            let frame = &export["waves"][index]["frames"][0];
            assert_eq!(
                (&frame["function"], frame["line"].as_u64()),
                (&json!(kernel), Some(line)),
                "{form:?}"
            );
        }
        if form == Form::Kernargs {
            // By the kernel at the header's address.
            let kernels: Vec<&Value> =
                export["dispatches"].as_array().unwrap().iter().map(|dispatch| &dispatch["kernel"]).collect();
            assert_eq!(kernels, KERNELS);
        }
    }
}

/// The user's processor counts. Contradictions are reported: a saved file's header, the runtime's text, a name.
#[test]
fn a_processor_that_the_log_contradicts_is_reported() {
    let folder = folder("objects-contradicted");
    for (index, kernel) in KERNELS.iter().enumerate() {
        let file = built(&folder, kernel, "gfx90a");
        fs::copy(file, folder.join(format!("memory___{index}_offset_0x10_size_32"))).unwrap();
    }
    let saved = log(&folder, Form::Plain, |index, _| format!("memory://{index}#offset=0x10&size=32"));
    let wrong = export(&saved, &["--processor", "gfx942"]);
    assert_eq!(wrong["agents"][0]["architecture"], "gfx942");
    let said = problems(&wrong);
    let wanted =
        format!("--processor gfx942 contradicts the code object at {:#x}, which by its header", LOADS[0]);
    let contradicted: Vec<&String> = said.iter().filter(|said| said.contains("contradicts")).collect();
    assert_eq!(contradicted.len(), 1, "{said:?}");
    assert!(
        contradicted[0].contains(&wanted)
            && contradicted[0].contains("is for gfx90a; the waves are read as gfx942's")
    );
    assert!(
        contradicted[0].contains("line ") && contradicted[0].contains("or --processor gfx90a"),
        "{said:?}"
    );
    assert_eq!(problems(&export(&saved, &["--processor", "gfx90a"])), Vec::<&str>::new());
    // No saved file: the runtime's text, and names of code objects.
    for (name, uri, first, wanted) in [
        (
            "words",
            "memory://9",
            "Memory access fault by GPU agent: AMD gfx90a",
            "line 1: --processor gfx942 contradicts the runtime's words",
        ),
        (
            "name",
            "file:///nowhere/k_gfx90a.co",
            "Hello",
            "contradicts the name of the code object in this line, which has gfx90a",
        ),
    ] {
        let text = fs::read_to_string(&saved).unwrap();
        let text = text.replace("memory://0", uri).replace("memory://1", uri);
        let path = super::file(&format!("contradicted-{name}"), format!("{first}\n{text}"));
        let said = export(&path, &["--processor", "gfx942"]);
        assert!(problems(&said).iter().any(|said| said.contains(wanted)), "{name}: {:?}", problems(&said));
        let right = export(&path, &["--processor", "gfx90a"]);
        assert!(!problems(&right).iter().any(|said| said.contains("contradicts")), "{:?}", problems(&right));
    }
}

/// Two builds have a kernel at the same place, and the log's instructions have the names of one of them.
#[test]
fn instructions_choose_between_builds() {
    let code = crate::support::root().join("tests/fixtures/gpucore/code");
    let folder = folder("builds");
    let symbols = folder.join("symbols");
    fs::create_dir(&symbols).unwrap();
    for name in ["k-gfx1030-O0.hsaco", "k-gfx1100-O0.hsaco"] {
        fs::copy(code.join(name), symbols.join(name)).unwrap();
    }
    for (gpu, store) in [("gfx1030", "global_store_dword"), ("gfx1100", "global_store_b32")] {
        let object = symbols.join(format!("k-{gpu}-O0.hsaco"));
        let size = fs::metadata(&object).unwrap().len();
        let text = format!(
            "wave_1: pc=0x7f1000001adc (stopped, reason: MEMORY_VIOLATION)\n\ngeneral registers:\n\
             {0}pc: 00007f1000001adc{0}exec: 0000ffff\n\nDisassembly for function k:\n    \
             code object: memory://12#offset=0x1000&size={size}\n    loaded at: [0x7f1000000000-{1:#x}]\n\n \
             => 0x7f1000001adc <+220>: {store} v[0:1], v2, off\n\nEnd of disassembly.\n",
            " ".repeat(14),
            0x7f10_0000_0000 + image_end(&object)
        );
        let log = folder.join("log");
        fs::write(&log, text).unwrap();
        let info = super::run(&["info", log.to_str().unwrap(), "--symbols", symbols.to_str().unwrap()]);
        assert!(info.contains(&format!("k-{gpu}-O0.hsaco")) && info.contains("has debug"), "{store}: {info}");
    }
}
