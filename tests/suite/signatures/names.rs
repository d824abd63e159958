//! Names of C++ functions in signatures, drafts and reports, of code that clang compiles. The expected names are those
//! of the source.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::commands::lanescope;
use crate::dwarf::ran;
use crate::fixtures::one_line;
use crate::support::{newest, sample::is_long};

const LOAD: u64 = 0x7f00_0010_0000;

/// Each function has a store of its own.
const SOURCE: &str = r#"
#define GLOBAL __attribute__((global))
#define DEVICE __attribute__((device))
#define OWN __attribute__((noinline)) DEVICE
struct A { int v; OWN operator bool() { *(volatile int *)0 = 4; return v; } };
struct B { int v; OWN operator bool() { *(volatile int *)0 = 5; return v > 1; }
  OWN operator int *() { *(volatile int *)0 = 5; return &v; }
  template <class T> OWN int operator<(T) { *(volatile int *)0 = 5; return v; }
  template <class T> OWN int operator<<(T) { *(volatile int *)0 = 5; return v; } };
OWN int operator""_km(unsigned long long x) { *(volatile int *)0 = 5; return x; }
template <class F> OWN int app(F f) { *(volatile int *)0 = 9; return f(3); }
namespace solver { OWN int step(int *p) { *(volatile int *)0 = 6; return *p; } }
namespace Kokkos { template <class F> GLOBAL void run(F f, int n) { f(n); } }
namespace rocprim { OWN void load(int *p, int i) { *(volatile int *)0 = i; p[i] = 3; } }
namespace phys {
struct Flux { int *q; DEVICE void operator()(int i) const { *(volatile int *)0 = i; q[i] = 1; } };
struct Heat { int *q; DEVICE void operator()(int i) const { *(volatile int *)0 = i; q[i] = 2; } };
}
template GLOBAL void Kokkos::run<phys::Flux>(phys::Flux, int);
template GLOBAL void Kokkos::run<phys::Heat>(phys::Heat, int);
extern "C" GLOBAL void one(int *p) { rocprim::load(p, 1); }
extern "C" GLOBAL void two(int *p) { rocprim::load(p, 2); }
GLOBAL void kern(int *p) {
  A a{p[0]}; B b{p[1]}; p[2] = a; p[3] = b; int *q = b; p[4] = *q; p[6] = b < 3.0f; p[7] = b << 3.0f;
  p[10] = 5_km; p[11] = app([](int x) { return x + 2; }); p[12] = solver::step(p);
  struct L { OWN int m(int x) { *(volatile int *)0 = 9; return x; } }; L l; p[15] = l.m(3);
}
"#;

struct Compiled {
    folder: tempfile::TempDir,
    object: PathBuf,
    listing: String,
}

impl Compiled {
    fn new(level: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let secret = folder.path().join("secret folder");
        fs::create_dir_all(&secret).unwrap();
        let (source, object) = (secret.join("m.hip"), folder.path().join("m.hsaco"));
        fs::write(&source, SOURCE).unwrap();
        ran(Command::new(newest("clang"))
            .args([
                "-x",
                "hip",
                "-nogpuinc",
                "-nogpulib",
                "--cuda-device-only",
                "--no-gpu-bundle-output",
                "-g",
            ])
            .args(["--offload-arch=gfx90a", level, "-o"])
            .arg(&object)
            .arg(&source));
        let listing = ran(Command::new(newest("llvm-objdump")).args(["-d", "--mcpu=gfx90a"]).arg(&object));
        Self { folder, object, listing }
    }

    /// A dump whose wave faulted at the instruction after the first store through a null pointer of a function.
    fn dump(&self, symbol: &str, kernel: &str) -> PathBuf {
        let (_, code) =
            self.listing.split_once(&format!("<{symbol}>:\n")).unwrap_or_else(|| panic!("{symbol}"));
        let code = code.split("\n\n").next().unwrap();
        let is_store = |line: &&str| line.contains("flat_store") || line.contains("global_store");
        let mut lines = code.lines().skip_while(|line| !is_store(line)).skip(1);
        let (_, comment) = lines.next().unwrap().rsplit_once("// ").unwrap();
        let pc = u64::from_str_radix(comment.split(':').next().unwrap(), 16).unwrap();
        let to = self.folder.path().join(format!("{symbol}-{kernel}"));
        fs::create_dir_all(&to).unwrap();
        fs::copy(&self.object, to.join("m.hsaco")).unwrap();
        let text = format!(
            "format = 1\n[[agent]]\nid = 1\ntarget = \"gfx90a\"\n[[queue]]\nid = 1\nagent = 1\n[[code_object]]\n\
             file = \"m.hsaco\"\naddress = \"{LOAD:#x}\"\n[[dispatch]]\nid = 1\nqueue = 1\nkernel = \"{kernel}\"\n\
             grid = [64]\nworkgroup = [64]\n[[workgroup]]\nid = 1\ndispatch = 1\nposition = [0, 0, 0]\n[[wave]]\n\
             id = 1\nworkgroup = 1\nwave_in_group = 0\nsgpr_count = 32\nstop = [\"memory_violation\"]\n\
             [wave.registers]\npc = \"{:#x}\"\nexec = \"0x1\"\nv0 = [\"0x0\"]\nv1 = [\"0x0\"]\n",
            LOAD + pc
        );
        fs::write(to.join("manifest.toml"), text).unwrap();
        to
    }
}

/// The text of the only signature of a dump.
fn signature(dump: &Path, more: &[&str]) -> String {
    let words = [&["signature", "--jsonl", dump.to_str().unwrap()], more].concat();
    let output = lanescope(&words, b"");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    answer["signatures"][0]["text"].as_str().unwrap().to_owned()
}

fn draft(dump: &Path) -> String {
    let output = lanescope(&["check", "--new", dump.to_str().unwrap()], b"");
    String::from_utf8(output.stdout).unwrap()
}

const FLUX: &str = "_ZN6Kokkos3runIN4phys4FluxEEEvT_i";
const HEAT: &str = "_ZN6Kokkos3runIN4phys4HeatEEEvT_i";

#[test]
fn inlined_functions_count_in_signatures() {
    let code = Compiled::new("-O2");
    for (kernel, function) in [(FLUX, "phys::Flux"), (HEAT, "phys::Heat")] {
        let dump = code.dump(kernel, kernel);
        let expected = format!("memory violation | {function}::operator() @ m.hip");
        assert!(signature(&dump, &[]).starts_with(&expected), "{}", signature(&dump, &[]));
        let coarse = signature(&dump, &["--level", "coarse"]);
        assert_eq!(coarse, format!("memory violation | Kokkos::run<{function}>"));
    }
}

#[test]
fn functions_of_a_library_alone_have_the_kernel() {
    let code = Compiled::new("-O0");
    let text = |kernel: &str| signature(&code.dump("_ZN7rocprim4loadEPii", kernel), &[]);
    for kernel in ["one", "two"] {
        let expected = format!("memory violation | rocprim::load < {kernel} @ m.hip");
        assert!(text(kernel).starts_with(&expected), "{}", text(kernel));
    }
}

/// A function of the source, and what names it.
struct Name {
    symbol: &'static str,
    /// In signatures.
    folded: &'static str,
    /// In drafts.
    short: &'static str,
    /// Lines of expectations that hold, and one that differs. Empty: none.
    lines: &'static str,
    differing: &'static str,
}

const NAMES: &[Name] = &[
    Name {
        symbol: "_ZN1AcvbEv",
        folded: "A::operator bool",
        short: "A::operator bool",
        lines: "at A::operator bool\nat operator bool\n",
        differing: "at B::operator bool\n",
    },
    Name {
        symbol: "_ZN1BcvbEv",
        folded: "B::operator bool",
        short: "B::operator bool",
        lines: "",
        differing: "",
    },
    Name {
        symbol: "_ZN1BcvPiEv",
        folded: "B::operator int*",
        short: "B::operator int*",
        lines: "",
        differing: "",
    },
    Name {
        symbol: "_ZN1BltIfEEiT_",
        folded: "B::operator< <>",
        short: "B::operator< <float>",
        lines: "at B::operator<\nat B::operator<<float>\nat operator<(float)\n",
        differing: "at B::operator<<\n",
    },
    Name {
        symbol: "_ZN1BlsIfEEiT_",
        folded: "B::operator<< <>",
        short: "B::operator<< <float>",
        lines: "at B::operator<<\nat B::operator<<<float>\nstack B::operator<< < ...\n",
        differing: "at B::operator<\n",
    },
    Name {
        symbol: "_Zli3_kmy",
        folded: "operator\"\"_km",
        short: "operator\"\"_km",
        lines: "at operator\"\"_km\nat operator\"\"_km m.hip\n",
        differing: "at operator\"\"_m\n",
    },
    Name {
        symbol: "_Z3appIZ4kernPiEUliE_EiT_",
        folded: "app<>",
        short: "app<(lambda at m.hip:25:29)>",
        lines: "at app\nat app<(lambda at m.hip:25:29)>\nat app<kern(int*)::{lambda(int)#1}>\n",
        differing: "at app<(lambda at m.hip:25:30)>\n",
    },
    Name {
        symbol: "_ZZ4kernPiEN1L1mEi",
        folded: "kern::L::m",
        short: "L::m",
        lines: "at L::m\nat kern::L::m\nat m(int)\n",
        differing: "at M::m\n",
    },
    Name {
        symbol: "_ZN6solver4stepEPi",
        folded: "solver::step",
        short: "solver::step",
        lines: "at solver::step(int*)\nat step\nstack solver::step(int *) < ...\n",
        differing: "at step(int)\n",
    },
];

/// Names are whole and have no folders, drafts hold, and parameters of symbols count. One start checks the files of all
/// functions.
#[test]
fn names_of_functions_are_those_of_the_source() {
    let code = Compiled::new("-O0");
    let (mut drafts, mut places) = (Vec::new(), Vec::new());
    for (index, Name { symbol, folded, short, lines, differing }) in NAMES.iter().enumerate() {
        let dump = code.dump(symbol, "_Z4kernPi");
        let text = signature(&dump, &[]);
        assert!(text.starts_with(&format!("memory violation | {folded} @ m.hip")), "{text}");
        let drafted = draft(&dump);
        let text = one_line(&drafted);
        assert!(text.contains(&format!("at {short} m.hip:")), "{text}");
        assert!(text.contains(&format!("stack {short} <")), "{text}");
        // One form of one name.
        for (turn, form) in ["text", "markdown", "html", "json"].into_iter().enumerate() {
            if turn != index && !is_long() {
                continue;
            }
            let words = ["report", dump.to_str().unwrap(), "--no-values", "--no-global", "--format", form];
            let page = String::from_utf8(lanescope(&words, b"").stdout).unwrap();
            assert!(page.contains("m.hip"), "{form}");
            assert!(!page.contains("secret folder"), "{form}");
        }
        if lines.is_empty() {
            continue;
        }
        let first = format!("dump \"{}\"\n", dump.display());
        let rest = drafted.split_once("\n\n").unwrap().1;
        let write = |name: &str, text: &str| {
            let file = code.folder.path().join(format!("{symbol}.{name}.scope"));
            fs::write(&file, first.clone() + text).unwrap();
            file.to_str().unwrap().to_owned()
        };
        drafts.push(write("draft", &format!("{differing}{lines}{rest}")));
        places.push((write("place", "at foo\n"), short));
    }
    let check = |words: &[&str], files: &[String]| {
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        // One process has the code of all.
        lanescope(&[&["check", "--jobs", "1"][..], words, &files[..]].concat(), b"")
    };
    let output = check(&["--format", "tap"], &drafts);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    let failed: Vec<&str> = printed.lines().filter(|line| line.starts_with("not ok ")).collect();
    let differs = |(line, file): (&&str, &String)| line.contains(&format!("{file}:2 "));
    assert!(failed.len() == drafts.len() && failed.iter().zip(&drafts).all(differs), "{printed}");
    // The line of another place becomes that of the draft.
    let files: Vec<String> = places.iter().map(|(file, _)| file.clone()).collect();
    check(&["--bless"], &files);
    for (file, short) in &places {
        let blessed = fs::read_to_string(file).unwrap();
        assert!(blessed.contains(&format!("at {short}\n")), "{blessed}");
    }
    assert_eq!(check(&[], &files).status.code(), Some(0));
}
