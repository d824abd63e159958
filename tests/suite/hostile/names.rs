//! Names: long ones shared by many symbols, and short symbols with endless demangled names.

use super::SOME;
use super::dwarf::{Dies, HIGH, LINKAGE_NAME, LOW, NAME, SUBPROGRAM, place};
use super::elf::{Section, TEXT, code_object};
use super::run::Hostile;
use crate::support::sample::sampled;

/// Symbols with one shared name of a megabyte, and the same number of sections over it.
#[test]
fn names_that_are_shared() {
    let name = [vec![0], vec![b'a'; 1 << 20], vec![0]].concat();
    let mut symbols = vec![0; 24];
    for index in 0..20_000u64 {
        // Each name begins a byte later; a function in section 1.
        symbols.extend((1 + index as u32).to_le_bytes());
        symbols.extend([0x12, 0, 1, 0]);
        symbols.extend(TEXT.to_le_bytes());
        symbols.extend(4u64.to_le_bytes());
    }
    let object = code_object(vec![Section::new(".strtab", name), Section::symbols(symbols, 2)]);
    Hostile::with_code(&object).each(&SOME).prints("code-object", "aaa");
}

/// Itanium C++ ABI 5.1.8: template arguments may refer to earlier parts; each step doubles the printed text.
#[test]
fn names_that_double() {
    // _Z1fI1aIXX... : a template of two arguments, the second step of two of the first, and so on.
    let mut mangled = "_Z1fI1pIiiE".to_owned();
    for step in 0..30u32 {
        // S_ is `f`, S0_ `p`, S1_ `p<int, int>`, S2_ that of the first step.
        let last = std::char::from_digit(step + 1, 36).unwrap().to_ascii_uppercase();
        mangled += &format!("S0_IS{last}_S{last}_E");
    }
    mangled += "Evv";
    let mut dies = Dies::new();
    dies.declare(5, SUBPROGRAM, false, &[NAME, LINKAGE_NAME, LOW, HIGH]);
    dies.die(5, &[b"f\0", mangled.as_bytes(), &[0], &place()]);
    dies.close(1);
    let mut sections = dies.sections();
    let names = [b"\0".to_vec(), mangled.into_bytes(), vec![0]].concat();
    let mut symbols = vec![0; 24];
    symbols.extend([1, 0, 0, 0, 0x12, 0, 1, 0]);
    symbols.extend([TEXT.to_le_bytes(), 0x1000u64.to_le_bytes()].concat());
    sections.push(Section::new(".strtab", names));
    sections.push(Section::symbols(symbols, 4));
    Hostile::with_code(&code_object(sections)).each(&SOME).prints("backtrace", "#0  f");
}

/// Pointers to pointers in a symbol of maximum length.
#[test]
fn names_that_nest() {
    for deep in ["P", "A1_", "1aI", "F"] {
        for length in sampled([4_000, 1_000, 1_000_000], 2) {
            let mangled = format!("_Z1f{}i", deep.repeat(length / deep.len()));
            let mut dies = Dies::new();
            dies.declare(5, SUBPROGRAM, false, &[LINKAGE_NAME, LOW, HIGH]);
            dies.die(5, &[mangled.as_bytes(), &[0], &place()]);
            dies.close(1);
            let hostile = Hostile::with_code(&dies.object()).without_tools();
            let said = hostile.each(&["backtrace DUMP", "view DUMP -o OUT", "code-object CODE"]);
            said.prints("backtrace", "0x7f0000101010");
        }
    }
}

/// `.debug_names` (DWARF 5 section 6.1.1.4): rows of one name that share one list of entries.
#[test]
fn rows_of_an_index_that_share_their_entries() {
    let (rows, entries) = (20_000u32, 500_000usize);
    for tag in [0x24, 0x34] {
        let abbreviation = [1, tag, 0, 0, 0];
        let mut index = vec![5, 0, 0, 0];
        // Units, type units (2), buckets, names, bytes of abbreviations, bytes of the augmentation.
        for word in [1, 0, 0, 1, rows, abbreviation.len() as u32, 0] {
            index.extend(word.to_le_bytes());
        }
        // The unit; the bucket begins with the first row; section 7.33's hash of `v`: 5381 * 33 + 0x76.
        [0, 1].iter().for_each(|word: &u32| index.extend(word.to_le_bytes()));
        (0..rows).for_each(|_| index.extend((5381u32 * 33 + 0x76).to_le_bytes()));
        // Strings and entries at 0.
        index.resize(index.len() + 8 * rows as usize, 0);
        index.extend(abbreviation);
        index.resize(index.len() + entries, 1);
        index.push(0);
        let index = [(index.len() as u32).to_le_bytes().to_vec(), index].concat();
        let mut dies = Dies::new();
        let int = dies.int();
        dies.variable("v", int);
        dies.close(1);
        let mut sections = dies.sections();
        sections.push(Section::new(".debug_names", index));
        sections.push(Section::new(".debug_str", b"v\0".to_vec()));
        let said = Hostile::with_code(&code_object(sections)).each(&["print DUMP v", "view DUMP -o OUT"]);
        said.prints("print", "7");
    }
}
