//! Types by signature in views, written by hand: beyond compilers' output, and hostile. Type units are DWARF 5 section
//! 3.1.4 and 7.5.1.2, references to them section 7.5.5.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use lanescope::session::Session;
use lanescope::view::{Extent, View};

use crate::dwarf::ran;
use crate::fixtures::open;
use crate::support::newest;

const ABBREVIATIONS: &str = r"
.section .debug_abbrev,'',@progbits
.macro form name, form
  .uleb128 \name
  .uleb128 \form
.endm
.macro declare code, tag, children
  .uleb128 \code
  .uleb128 \tag
  .byte \children
.endm
.macro done
  .byte 0, 0
.endm
declare 1, 0x11, 1 // DW_TAG_compile_unit
form 0x03, 0x08
form 0x13, 0x0b
done
declare 2, 0x34, 0 // DW_TAG_variable with a type by signature
form 0x03, 0x08
form 0x49, 0x20
form 0x02, 0x18
done
declare 3, 0x41, 1 // DW_TAG_type_unit
form 0x13, 0x0b
done
declare 4, 0x13, 1 // DW_TAG_structure_type
form 0x03, 0x08
form 0x0b, 0x0b
done
declare 5, 0x0d, 0 // DW_TAG_member
form 0x03, 0x08
form 0x49, 0x13
form 0x38, 0x0b
done
declare 6, 0x24, 0 // DW_TAG_base_type
form 0x03, 0x08
form 0x0b, 0x0b
form 0x3e, 0x0b
done
declare 7, 0x13, 1 // a declaration with a signature
form 0x3c, 0x19
form 0x69, 0x20
done
declare 8, 0x0d, 0 // DW_TAG_member with a type by signature
form 0x03, 0x08
form 0x49, 0x20
form 0x38, 0x0b
done
declare 9, 0x0d, 0 // DW_TAG_member without anything
done
declare 10, 0x39, 1 // DW_TAG_namespace
form 0x03, 0x08
done
.byte 0
.macro type_unit signature
  .long 2f - 1f
1:.short 5
  .byte 2, 8 // DW_UT_type
  .long .debug_abbrev
  .quad \signature
  .long 3f - 1b + 4
  .uleb128 3
  .byte 0x21
.endm
.macro variable name, signature
  .uleb128 2
  .asciz '\name'
  .quad \signature
  .byte 9, 3
  .quad 0x1000
.endm
.macro int
4:.uleb128 6
  .asciz 'int'
  .byte 4, 5
.endm
.macro member name, at
  .uleb128 5
  .asciz '\name'
  .long 4f - 1b + 4
  .byte \at
.endm
.macro struct name, size
3:.uleb128 4
  .asciz '\name'
  .byte \size
.endm
.macro compile_unit
  .long 2f - 1f
1:.short 5
  .byte 1, 8 // DW_UT_compile
  .long .debug_abbrev
  .uleb128 1
  .asciz 'unit'
  .byte 0x21
.endm
";

/// The view of a code object with that `.debug_info`, and its losses.
struct Viewed {
    folder: PathBuf,
    problems: Vec<String>,
}

impl Drop for Viewed {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Viewed {
    fn new(name: &str, info: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("lanescope-types-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = |name: &str| folder.join(name);
        // The assembler needs the other quotes.
        let source = format!(
            "{ABBREVIATIONS}.section .debug_info,'',@progbits\n{info}\n.text\n.globl f\nf: s_endpgm\n"
        );
        fs::write(path("a.s"), source.replace('\'', "\"")).unwrap();
        let mut assembler = Command::new(newest("llvm-mc"));
        assembler.args(["-triple=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-filetype=obj", "-o"]);
        ran(assembler.arg(path("a.o")).arg(path("a.s")));
        ran(Command::new(newest("ld.lld")).arg("-shared").arg("-o").arg(path("a.hsaco")).arg(path("a.o")));
        let manifest = "format = 1\n[[agent]]\nid = 1\ntarget = \"gfx90a\"\n\
            [[code_object]]\npath = \"a.hsaco\"\naddress = \"0x7f0000100000\"\n\
            [[wave]]\nid = 1\nagent = 1\n[wave.registers]\npc = \"0x7f0000100000\"\n";
        fs::write(path("manifest.toml"), manifest).unwrap();
        let dump = open(&folder);
        let session = Session::new(Arc::clone(&dump), None).unwrap();
        let view = View::new(&dump, &session, Extent::All);
        let object = view.main().unwrap();
        object.file.write_to(&mut fs::File::create(path("view")).unwrap()).unwrap();
        let dwarfdump = || Command::new(newest("llvm-dwarfdump"));
        let said = ran(dwarfdump().arg("--verify").arg(path("view")));
        assert!(said.trim_end().ends_with("No errors."), "{said}");
        Self { problems: view.problems().to_vec(), folder }
    }

    /// llvm-dwarfdump's name of a variable's or member's type.
    fn type_of(&self, name: &str) -> Option<String> {
        let mut dwarfdump = Command::new(newest("llvm-dwarfdump"));
        let text = ran(dwarfdump.arg(format!("--name={name}")).arg(self.folder.join("view")));
        assert!(text.contains("DW_TAG_variable") || text.contains("DW_TAG_member"), "no {name}: {text}");
        let (_, of) = text.split_once("DW_AT_type\t(0x")?;
        of.split('"').nth(1).map(str::to_owned)
    }
}

fn some(name: &str) -> Option<String> {
    Some(name.to_owned())
}

#[test]
fn a_type_in_a_type_of_another_unit_is_in_it() {
    let viewed = Viewed::new(
        "nested",
        "type_unit 0xa1
         .uleb128 10
         .asciz 'space'
         struct 'outer', 8
         member 'a', 0
         .uleb128 8
         .asciz 'b'
         .quad 0xb2
         .byte 4, 0, 0
         int
         .byte 0
         2:
         type_unit 0xb2
         .uleb128 7
         .quad 0xa1
         struct 'inner', 4
         member 'c', 0
         .byte 0, 0
         int
         .byte 0
         2:
         compile_unit
         variable 'whole', 0xa1
         variable 'part', 0xb2
         .byte 0
         2:",
    );
    assert_eq!(viewed.type_of("whole"), some("space::outer"));
    assert_eq!(viewed.type_of("part"), some("space::outer::inner"));
    assert_eq!(viewed.type_of("b"), some("space::outer::inner"));
    assert_eq!((viewed.type_of("a"), viewed.type_of("c")), (some("int"), some("int")));
    assert!(viewed.problems.is_empty(), "{:?}", viewed.problems);
}

#[test]
fn types_that_are_in_one_another_are_somewhere() {
    let viewed = Viewed::new(
        "circle",
        "type_unit 0xc3
         .uleb128 7
         .quad 0xd4
         struct 'c', 4
         member 'm', 0
         .byte 0, 0
         int
         .byte 0
         2:
         type_unit 0xd4
         .uleb128 7
         .quad 0xc3
         struct 'd', 4
         member 'n', 0
         .byte 0, 0
         int
         .byte 0
         2:
         compile_unit
         variable 'one', 0xc3
         variable 'other', 0xd4
         .byte 0
         2:",
    );
    for (variable, name) in [("one", "c"), ("other", "d")] {
        let of = viewed.type_of(variable).unwrap();
        assert!(of.ends_with(name), "{variable} is {of}");
    }
    assert_eq!((viewed.type_of("m"), viewed.type_of("n")), (some("int"), some("int")));
}

#[test]
fn a_signature_that_no_unit_has_is_no_type() {
    let viewed = Viewed::new(
        "missing",
        "compile_unit
         variable 'lost', 0xee
         .byte 0
         2:",
    );
    assert_eq!(viewed.type_of("lost"), None);
}

/// src/view/dwarf/signed.rs, MAX_COPIED_DIES: 2^20, including the type itself.
#[test]
fn a_view_has_so_many_dies_of_type_units_and_no_more() {
    let of = |members: u32| {
        format!(
            "type_unit 0xa1
             struct 'large', 4
             .fill {members}, 1, 9
             .byte 0, 0
             2:
             compile_unit
             variable 'all', 0xa1
             .byte 0
             2:"
        )
    };
    let fits = Viewed::new("fits", &of((1 << 20) - 1));
    assert_eq!((fits.type_of("all"), fits.problems.len()), (some("large"), 0));
    let too_many = Viewed::new("many", &of(1 << 20));
    assert_eq!(too_many.type_of("all"), None);
    let said = "types of type units are left out: there are more than a view can hold";
    assert!(too_many.problems.iter().any(|problem| problem.contains(said)), "{:?}", too_many.problems);
}

/// docs/security.md, "Nesting". The offset follows from the bytes: a header of 24, the root of 2, `outer` of 8, and 511
/// nested types of 4 bytes, at the levels 2 to 512.
#[test]
fn a_copied_type_unit_loses_no_level_without_a_report() {
    let of = |name: &str, nested: u32| {
        let info = format!(
            "type_unit 0xa1
             struct 'outer', 4
             .rept {nested}
             .uleb128 4
             .asciz 'n'
             .byte 4
             .endr
             .rept {nested}
             .byte 0
             .endr
             .byte 0, 0
             2:
             compile_unit
             variable 'v', 0xa1
             .byte 0
             2:"
        );
        let viewed = Viewed::new(name, &info);
        assert_eq!(viewed.type_of("v"), some("outer"));
        viewed.problems.clone()
    };
    assert_eq!(of("level", 511), Vec::<String>::new());
    let problems = of("deep", 600);
    let said = "unit unit: DIE 0x81e lies deeper than 512 levels";
    assert!(problems.iter().any(|problem| problem.contains(said)), "{problems:?}");
}
