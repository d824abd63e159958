//! The first index of an array by the unit's language: one unit per language with an array of `DW_AT_upper_bound` 3,
//! compared with llvm-dwarfdump's number of elements. LLVM does not support HIP's code of the 2020 text, 0x8100.

use std::fmt::Write as _;
use std::process::Command;

use super::debug_info;
use super::forms::folder;
use crate::codeobject::newest_llvm;
use crate::debuginfo::{Number, TypeKind, UnitId};

/// `DW_LANG` codes: DWARF 5 table 7.17 and dwarfstd.org's list of later ones.
const LANGUAGES: [(u16, &str); 26] = [
    (0x1, "C89"),
    (0x2, "C"),
    (0x3, "Ada83"),
    (0x4, "C++"),
    (0x5, "Cobol74"),
    (0x7, "Fortran77"),
    (0x8, "Fortran90"),
    (0x9, "Pascal83"),
    (0xc, "C99"),
    (0xe, "Fortran95"),
    (0x15, "OpenCL"),
    (0x19, "C++03"),
    (0x1a, "C++11"),
    (0x1c, "Rust"),
    (0x1d, "C11"),
    (0x1f, "Julia"),
    (0x21, "C++14"),
    (0x22, "Fortran03"),
    (0x23, "Fortran08"),
    (0x2a, "C++17"),
    (0x2b, "C++20"),
    (0x2c, "C17"),
    (0x2d, "Fortran18"),
    (0x30, "HIP"),
    (0x37, "C++ for OpenCL"),
    (0x8100, "HIP of the 2020 text"),
];

/// One unit per language, with a base type, an array and a variable of it.
fn assembly() -> String {
    let mut text = "
        .section .debug_abbrev,\"\",@progbits
        .byte 1, 0x11, 1, 0x13, 0x05, 0, 0
        .byte 2, 0x24, 0, 0x03, 0x08, 0x3e, 0x0b, 0x0b, 0x0b, 0, 0
        .byte 3, 0x01, 1, 0x49, 0x13, 0, 0
        .byte 4, 0x21, 0, 0x2f, 0x0b, 0, 0
        .byte 5, 0x34, 0, 0x03, 0x08, 0x49, 0x13, 0, 0
        .byte 0
        .section .debug_info,\"\",@progbits\n"
        .to_owned();
    for (unit, (language, _)) in LANGUAGES.iter().enumerate() {
        let unit_text = format!(
            ".Lu{unit}: .long .Lend{unit} - .Lstart{unit}
            .Lstart{unit}: .short 5
            .byte 1, 8
            .long 0
            .byte 1
            .short {language:#x}
            .Lint{unit}: .byte 2
            .asciz \"int\"
            .byte 5, 4
            .Larray{unit}: .byte 3
            .long .Lint{unit} - .Lu{unit}
            .byte 4, 3, 0
            .byte 5
            .asciz \"array\"
            .long .Larray{unit} - .Lu{unit}
            .byte 0
            .Lend{unit}:\n"
        );
        write!(text, "{unit_text}").expect("text");
    }
    text
}

/// Object file of that text, and llvm-dwarfdump's output for it.
fn assembled(name: &str, text: &str) -> (Vec<u8>, String) {
    let folder = folder(name);
    let (source, object) = (folder.join("object.s"), folder.join("object.o"));
    std::fs::write(&source, text).expect("written");
    let flags = ["-triple=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-filetype=obj", "-o"];
    let mut command = Command::new(newest_llvm("llvm-mc"));
    let done = command.args(flags).arg(&object).arg(&source).output().expect("llvm-mc");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let printed = Command::new(newest_llvm("llvm-dwarfdump")).arg("--debug-info").arg(&object).output();
    let printed = String::from_utf8(printed.expect("llvm-dwarfdump").stdout).expect("text");
    let bytes = std::fs::read(&object).expect("an object");
    std::fs::remove_dir_all(folder).expect("removed");
    (bytes, printed)
}

#[test]
fn arrays_begin_at_the_default_of_their_language() {
    let (object, printed) = assembled("languages", &assembly());
    let counts: Vec<Option<u64>> = printed
        .lines()
        .filter(|line| line.contains("DW_AT_type") && line.contains("int["))
        .map(|line| line.split_once("int[")?.1.split_once(']')?.0.parse().ok())
        .collect();
    assert_eq!(counts.len(), LANGUAGES.len(), "{printed}");
    let info = debug_info(object);
    let mut ones = 0;
    for (unit, ((code, name), printed)) in LANGUAGES.iter().zip(counts).enumerate() {
        let unit = UnitId(unit as u32);
        assert_eq!(info.unit(unit).expect(name).language.0, *code);
        let array = info.globals(unit).expect(name)[0].type_id.expect("a type");
        let found = info.type_of(array).expect(name);
        let TypeKind::Array { dimensions, .. } = &found.kind else { panic!("{found:?}") };
        let expected = match code {
            // "The default lower bound is 0", as of C and C++.
            0x8100 => 4,
            // LLVM 22 counts from 0; the list of languages has 1, as for all Fortrans.
            0x2d => 3,
            _ => printed.expect(name),
        };
        assert_eq!(dimensions[0].count(), Some(expected), "{name}");
        assert_eq!(dimensions[0].lower, Number::Constant(4 - expected as i64), "{name}");
        assert_eq!(info.byte_size(array).expect(name), Some(4 * expected), "{name}");
        let named =
            if name.starts_with("Fortran") { "int (3)".to_owned() } else { format!("int [{expected}]") };
        assert_eq!(info.type_name(Some(array)).expect(name), named, "{name}");
        ones += u32::from(expected == 3);
    }
    // The number of languages in the list that count from 1.
    assert_eq!(ones, 10);
}

/// "AMDGPU DWARF Address Class Mapping" of the 2020 text has classes 1 to 5 and none: other numbers are meaningless in
/// its units, and a space in all others.
#[test]
fn classes_are_those_of_the_augmentation() {
    let unit = |number: usize, augmentation: &str| {
        let pointers = [0, 3, 4, 5, 6].map(|class| {
            format!(".byte 3\n.asciz \"p{class}\"\n.long .Lp{number}_{class} - .Lu{number}\n.Lp{number}_{class}: .byte 2, {class}\n")
        });
        format!(
            ".Lu{number}: .long .Lend{number} - .Lstart{number}
            .Lstart{number}: .short 5
            .byte 1, 8
            .long 0
            .byte 1
            .asciz \"{augmentation}\"
            {}
            .byte 0
            .Lend{number}:\n",
            pointers.concat()
        )
    };
    let text = format!(
        ".section .debug_abbrev,\"\",@progbits
        .byte 1, 0x11, 1, 0x89, 0x7c, 0x08, 0, 0
        .byte 2, 0x0f, 0, 0x33, 0x0b, 0, 0
        .byte 3, 0x34, 0, 0x03, 0x08, 0x49, 0x13, 0, 0
        .byte 0
        .section .debug_info,\"\",@progbits
        {}{}",
        unit(0, "[amd:v0.0]"),
        unit(1, "")
    );
    let info = debug_info(assembled("classes", &text).0);
    let spaces = |unit| {
        let globals = info.globals(UnitId(unit)).expect("globals");
        let space = |variable: &crate::debuginfo::Variable| {
            let found = info.type_of(variable.type_id.expect("a type")).map_err(|error| error.to_string())?;
            match found.kind {
                TypeKind::Pointer { address_space, .. } => Ok(address_space.0),
                _ => panic!("{found:?}"),
            }
        };
        globals.iter().map(space).collect::<Vec<Result<u64, String>>>()
    };
    let of_2020 = spaces(0);
    assert_eq!(of_2020[..4], [Ok(1), Ok(3), Ok(0), Ok(5)]);
    let error = of_2020[4].as_ref().expect_err("no class");
    assert!(error.contains("DW_AT_address_class"), "{error}");
    assert!(error.contains("a class that the 2020 text has (1 to 5)") && error.contains('6'), "{error}");
    assert_eq!(spaces(1), [0, 3, 4, 5, 6].map(Ok));
}

/// Nested imports: the limit is above the need of any source.
#[test]
fn imports_of_imports_are_bounded() {
    let chain =
        (0..10).map(|at| format!(".Ld{at}: .byte 2\n.long .Ld{} - .Lu\n", at + 1)).collect::<String>();
    let text = format!(
        ".section .debug_abbrev,\"\",@progbits
        .byte 1, 0x11, 1, 0, 0
        .byte 2, 0x08, 0, 0x18, 0x13, 0, 0
        .byte 3, 0x34, 0, 0x03, 0x08, 0, 0
        .byte 0
        .section .debug_info,\"\",@progbits
        .Lu: .long .Lend - .Lstart
        .Lstart: .short 5
        .byte 1, 8
        .long 0
        .byte 1
        {chain}
        .Ld10: .byte 3
        .asciz \"far\"
        .byte 0
        .Lend:\n"
    );
    let info = debug_info(assembled("imports", &text).0);
    let imports = info.imports(UnitId(0)).expect("sound");
    assert_eq!(imports.len(), 8);
    for (scope, import) in imports {
        assert_eq!((&*scope, import.meant("far").as_deref()), ("", Some("far")));
    }
}
