//! Names of C++ functions in signatures, drafts and reports, of code that clang compiles. The expected names are those
//! of the source.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::commands::lanescope;
use crate::dwarf::{newest, ran};
use crate::fixtures::one_line;
use crate::support::sample::sampled;

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

/// The symbol, the name in signatures, and that in drafts.
const NAMES: &[(&str, &str, &str)] = &[
    ("_ZN1AcvbEv", "A::operator bool", "A::operator bool"),
    ("_ZN1BcvbEv", "B::operator bool", "B::operator bool"),
    ("_ZN1BcvPiEv", "B::operator int*", "B::operator int*"),
    ("_ZN1BltIfEEiT_", "B::operator< <>", "B::operator< <float>"),
    ("_ZN1BlsIfEEiT_", "B::operator<< <>", "B::operator<< <float>"),
    ("_Zli3_kmy", "operator\"\"_km", "operator\"\"_km"),
    ("_Z3appIZ4kernPiEUliE_EiT_", "app<>", "app<(lambda at m.hip:25:29)>"),
    ("_ZZ4kernPiEN1L1mEi", "kern::L::m", "L::m"),
    ("_ZN6solver4stepEPi", "solver::step", "solver::step"),
];

#[test]
fn names_of_functions_are_whole_and_have_no_folders() {
    let code = Compiled::new("-O0");
    for (index, (symbol, folded, short)) in NAMES.iter().enumerate() {
        let dump = code.dump(symbol, "_Z4kernPi");
        let text = signature(&dump, &[]);
        assert!(text.starts_with(&format!("memory violation | {folded} @ m.hip")), "{text}");
        let text = one_line(&draft(&dump));
        assert!(text.contains(&format!("at {short} m.hip:")), "{text}");
        assert!(text.contains(&format!("stack {short} <")), "{text}");
        // One form, by turns.
        for form in sampled(["text", "markdown", "html", "json"].into_iter().cycle().skip(index).take(4), 4) {
            let words = ["report", dump.to_str().unwrap(), "--no-values", "--no-global", "--format", form];
            let page = String::from_utf8(lanescope(&words, b"").stdout).unwrap();
            assert!(page.contains("m.hip"), "{form}");
            assert!(!page.contains("secret folder"), "{form}");
        }
    }
}

#[test]
fn drafts_hold_and_parameters_of_symbols_count() {
    let code = Compiled::new("-O0");
    for (symbol, lines, differing) in [
        (
            "_ZN6solver4stepEPi",
            "at solver::step(int*)\nat step\nstack solver::step(int *) < ...\n",
            "at step(int)\n",
        ),
        (
            "_ZN1BltIfEEiT_",
            "at B::operator<\nat B::operator<<float>\nat operator<(float)\n",
            "at B::operator<<\n",
        ),
        (
            "_ZN1BlsIfEEiT_",
            "at B::operator<<\nat B::operator<<<float>\nstack B::operator<< < ...\n",
            "at B::operator<\n",
        ),
        ("_ZN1AcvbEv", "at A::operator bool\nat operator bool\n", "at B::operator bool\n"),
        ("_Zli3_kmy", "at operator\"\"_km\nat operator\"\"_km m.hip\n", "at operator\"\"_m\n"),
        (
            "_Z3appIZ4kernPiEUliE_EiT_",
            "at app\nat app<(lambda at m.hip:25:29)>\nat app<kern(int*)::{lambda(int)#1}>\n",
            "at app<(lambda at m.hip:25:30)>\n",
        ),
        ("_ZZ4kernPiEN1L1mEi", "at L::m\nat kern::L::m\nat m(int)\n", "at M::m\n"),
    ] {
        let dump = code.dump(symbol, "_Z4kernPi");
        let drafted = draft(&dump);
        let file = dump.with_extension("scope");
        for (more, status) in [(lines, 0), (differing, 1)] {
            let text = format!("dump \"{}\"\n", dump.display()) + drafted.split_once("\n\n").unwrap().1;
            let (first, rest) = text.split_once('\n').unwrap();
            fs::write(&file, format!("{first}\n{more}{rest}")).unwrap();
            let output = lanescope(&["check", file.to_str().unwrap()], b"");
            let printed = String::from_utf8_lossy(&output.stdout);
            assert_eq!(output.status.code(), Some(status), "{more}: {printed}");
        }
        // The line of another place becomes that of the draft.
        fs::write(&file, format!("dump \"{}\"\nat foo\n", dump.display())).unwrap();
        lanescope(&["check", "--bless", file.to_str().unwrap()], b"");
        let blessed = fs::read_to_string(&file).unwrap();
        let short = NAMES.iter().find(|(known, ..)| *known == symbol).unwrap().2;
        assert!(blessed.contains(&format!("at {short}\n")), "{blessed}");
        assert_eq!(lanescope(&["check", file.to_str().unwrap()], b"").status.code(), Some(0), "{blessed}");
    }
}
