//! docs/spec-coverage.md: an entry for every part of the five specifications, with existing code and tests only.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::support::root;

/// Contents of the five specifications: headings, operations, attributes, tags, call frame instructions and rules,
/// tables and address spaces, separated by semicolons. The source is the documents themselves, which are not part of
/// the repository.
const SPECS: &[(&str, &str)] = &[
    (
        "S0: General Support for Address Spaces",
        "PROBLEM DESCRIPTION; PROPOSAL; DW_AT_address_space; Table 2.2: Attribute names; 5.3 Type Modifier Entries; \
         Table 7.5: Attribute encodings; DW_AT_segment; 7.32 Type Signature Computation; Table A.1: Attributes by tag \
         value; 2.5.2.1 Memory Locations; DW_OP_form_aspace_address; DW_OP_aspace_bregx; 2.5.2.3 Implicit Locations; \
         DW_OP_aspace_implicit_pointer; DW_OP_xderef*; DW_OP_deref*; DW_OP_*piece; DW_OP_push_object_address; \
         DW_OP_breg*; DW_OP_implicit_pointer; DW_AT_use_location; 2.x Address Spaces; DW_ASPACE_none; 7.x Address \
         Space Encodings; 6.1.1.1 Contents of the Name Index; 7.4 32-Bit and 64-Bit DWARF Formats; Table 7.9: \
         operation encodings; 6.4.2.2 CFA Definition Instructions; DW_CFA_def_cfa; DW_CFA_def_cfa_sf; \
         DW_CFA_def_cfa_register; DW_CFA_def_cfa_offset; DW_CFA_def_cfa_offset_sf; DW_CFA_def_cfa_expression; \
         DW_CFA_def_aspace_cfa; DW_CFA_def_aspace_cfa_sf; DW_CFA_val_offset; Table 7.29: Call frame instruction \
         encodings",
    ),
    (
        "S1: AMDGPU usage, 2020",
        "Processors; Target Features; Address Spaces; amdgpu-address-spaces-table; Generic; Global and Constant; \
         Region; Local; Private; Constant 32-bit; Buffer Fat Pointer; Memory model; AMDGPU intrinsics and attributes; \
         ELF Header; Sections; amdgpu-elf-sections-table; Note Records; Code Object V2 Note Records; \
         amdgpu-elf-note-records-table-v2; amdgpu-elf-note-record-enumeration-values-table-v2; \
         NT_AMD_AMDGPU_HSA_METADATA; Code Object V3 Note Records; amdgpu-elf-note-records-table-v3; \
         amdgpu-elf-note-record-enumeration-values-table-v3; NT_AMDGPU_METADATA; Symbols; amdgpu-elf-symbols-table; \
         Relocation Records; amdgpu-elf-relocation-records-table; Code Object Metadata; Kernel Descriptor; Kernel \
         Dispatch; Image and Samplers, HSA Signals; Initial Kernel Execution State; Kernel Prolog; AMDPAL and its \
         Global Internal Table; Assembler; DWARF; Overview; Language Names; amdgpu-dwarf-language-names-table; \
         DW_LANG_LLVM_HIP; Register Mapping; amdgpu-dwarf-register-mapping-table; Address Class Mapping; \
         amdgpu-dwarf-address-class-mapping-table; DW_AT_address_class; DW_ADDR_none; DW_ADDR_AMDGPU_global; \
         DW_ADDR_AMDGPU_region; DW_ADDR_AMDGPU_local; DW_ADDR_AMDGPU_constant; DW_ADDR_AMDGPU_private; \
         DW_ADDR_global, DW_ADDR_generic; DW_AT_address_space; DW_TAG_LLVM_address_class_type; Address Space Mapping; \
         amdgpu-dwarf-address-space-mapping-table; DW_ASPACE_none; DW_ASPACE_AMDGPU_generic; DW_ASPACE_AMDGPU_region; \
         DW_ASPACE_AMDGPU_local; DW_ASPACE_AMDGPU_private_lane; DW_ASPACE_AMDGPU_private_wave; \
         DW_ASPACE_AMDGPU_private_lane<0-63>; Expressions; DW_OP_plus, DW_OP_minus; Stack Operations; DW_OP_dup; \
         DW_OP_drop; DW_OP_pick; DW_OP_over; DW_OP_swap; DW_OP_rot; Value Operations; DW_ATE_*; DW_OP_LLVM_push_lane; \
         DW_OP_entry_value; Location Description Operations; General Operations; DW_OP_LLVM_offset; \
         DW_OP_LLVM_offset_uconst; DW_OP_LLVM_bit_offset; DW_OP_deref; DW_OP_deref_size; DW_OP_deref_type; \
         DW_OP_xderef; DW_OP_xderef_size; DW_OP_xderef_type; DW_OP_push_object_address; DW_OP_call2; DW_OP_call4; \
         DW_OP_call_ref; DW_TAG_dwarf_procedure; Undefined Location Descriptions; DW_OP_LLVM_undefined; Memory \
         Location Descriptions; DW_OP_addr; DW_OP_addrx; DW_AT_addr_base; DW_OP_LLVM_form_aspace_address; \
         DW_OP_form_tls_address; DW_OP_call_frame_cfa; DW_OP_fbreg; DW_OP_breg0-31; DW_OP_bregx; \
         DW_OP_LLVM_aspace_bregx; Register Location Descriptions; DW_OP_reg0-31; DW_OP_regx; Implicit Location \
         Descriptions; DW_OP_implicit_value; DW_OP_stack_value; DW_OP_implicit_pointer; \
         DW_OP_LLVM_aspace_implicit_pointer; Composite Location Descriptions; DW_OP_piece; DW_OP_bit_piece; \
         DW_OP_LLVM_piece_end; DW_OP_LLVM_extend; DW_OP_LLVM_select_bit_piece; DW_OP_LLVM_call_ref, \
         DW_OP_LLVM_implicit_aspace_pointer; DW_OP_aspace_breg0-31; DW_OP_LLVM_bit_piecex, DW_OP_xaddr, \
         DW_OP_LLVM_call_frame_reg; Expression Operation Encodings; \
         amdgpu-dwarf-expression-operation-encodings-table; Debugging Information Entry Attributes; DW_AT_location; \
         DW_AT_const_value; DW_AT_frame_base; DW_AT_data_member_location; DW_AT_use_location; DW_AT_data_location; \
         DW_AT_vtable_elem_location; DW_AT_static_link; DW_AT_return_addr; DW_AT_LLVM_lanes; DW_AT_LLVM_lane_pc; \
         DW_AT_LLVM_active_lane; DW_AT_LLVM_vector_size; DW_AT_LLVM_augmentation; DW_TAG_entry_point; Attribute \
         Encodings; amdgpu-dwarf-attribute-encodings-table; Call Frame Information; Structure of Call Frame \
         Information; undefined; same value; offset(N); val_offset(N); register(R); expression(E); val_expression(E); \
         architectural; CIE: length, CIE_id, version; CIE: augmentation; CIE: address_size, segment_selector_size; \
         CIE: code_alignment_factor, data_alignment_factor; CIE: return_address_register; CIE: initial_instructions; \
         CIE: padding; FDE; Call Frame Instructions; DW_OP_const_type; DW_OP_constx; DW_OP_convert; \
         DW_OP_regval_type; DW_OP_reinterpret; DW_CFA_nop; Row Creation Instructions; CFA Definition Instructions; \
         DW_CFA_def_cfa; DW_CFA_def_cfa_sf; DW_CFA_def_cfa_register; DW_CFA_def_cfa_offset; DW_CFA_def_cfa_offset_sf; \
         DW_CFA_LLVM_def_cfa_aspace; DW_CFA_def_aspace_cfa, DW_CFA_def_aspace_cfa_sf; DW_CFA_def_cfa_expression; \
         Register Rule Instructions; DW_CFA_undefined; DW_CFA_same_value; DW_CFA_offset; DW_CFA_offset_extended; \
         DW_CFA_offset_extended_sf; DW_CFA_val_offset; DW_CFA_val_offset_sf; DW_CFA_register; DW_CFA_expression; \
         DW_CFA_val_expression; DW_CFA_restore; DW_CFA_restore_extended; Row State Instructions; DW_CFA_offset_uf, \
         DW_CFA_offset_extended_uf, DW_CFA_val_offset_uf; Call Frame Calling Address; Call Frame Information \
         Instruction Encodings; amdgpu-dwarf-call-frame-information-instruction-encodings-table; Line Table; \
         Accelerated Access; Lookup By Name; Lookup By Address; Data Representation; 32-Bit and 64-Bit DWARF Formats; \
         amdgpu-dwarf-debug-info-section-attribute-sizes; Unit Headers; AMDGPU DW_AT_LLVM_lane_pc; AMDGPU \
         DW_AT_LLVM_active_lane; Source Text",
    ),
    (
        "S2: Vector Composite Location Descriptions",
        "PROBLEM DESCRIPTION; PROPOSAL; 2.5.4.4.6 Composite Location Description Operations; DW_OP_extend; \
         DW_OP_select_bit_piece; DW_OP_bit_offset; Count operand from the stack; Table 7.9: DWARF Operation Encodings",
    ),
    (
        "S3: Source Languages Mapped to SIMD/SIMT Hardware",
        "PROBLEM DESCRIPTION; PROPOSAL; Table 2.2: Attribute names; DW_AT_lanes; 2.5.1 A current thread; 2.5.1 A \
         current lane; 2.5.1 A current target architecture; 2.5.1 Target architecture specific information; 2.5.1 \
         Evaluation without a thread or lane; 2.5.3 DWARF Location Description; 2.5.4.3.1 Literal Operations; \
         DW_OP_push_lane; 2.5.4.4.3 Memory Location Description Operations; DW_OP_form_aspace_address; 3.3.5 \
         Low-Level Information; 6.4.2 Call Frame Instructions; Table 7.5: Attribute encodings; Table 7.9: DWARF \
         Operation Encodings; Table A.1: Attributes by tag value",
    ),
    (
        "S4: Vector Segments Mapped to Registers",
        "Introduction; Concept Overview; DW_TAG_object_map; DW_AT_map_chunk; DW_AT_mem_location; DW_AT_cntl_ordinal; \
         DW_AT_vec_location; DW_AT_element_size; DW_AT_element_count; DW_AT_low_pc, DW_AT_high_pc, DW_AT_ranges; Step \
         1: the chunk; Step 2: no chunk; Step 3: the offset; Step 4: quotient and remainder; Step 5: another chunk; \
         Step 6: the register segment; DW_OP_object_map; Example; DW_OP_reg_name",
    ),
];

/// An entry of the document.
#[derive(Debug, Default, PartialEq)]
struct Entry {
    name: String,
    /// Places in the code, as `path::item`.
    places: Vec<String>,
    /// The tests: `path::function`, or `tests/eval/FILE.toml: case`.
    tests: Vec<String>,
    /// Instead of tests: "not applicable: " or "not done: ", and the reason.
    reason: Option<String>,
}

/// The entries below each heading of the second level: `- **NAME**: ` with the places or the reason, then an item for
/// each test or note. Further lines of an item are indented.
fn entries(document: &str) -> Vec<(String, Vec<Entry>)> {
    let mut items: Vec<String> = Vec::new();
    for line in document.lines().skip_while(|line| !line.starts_with("## ")) {
        let starts = ["## ", "### ", "- ", "  - "].iter().any(|start| line.starts_with(start));
        match items.last_mut() {
            Some(item) if !starts && !line.is_empty() => *item = format!("{item} {}", line.trim_start()),
            _ if !line.is_empty() => items.push(line.to_owned()),
            _ => {}
        }
    }
    let mut specs: Vec<(String, Vec<Entry>)> = Vec::new();
    for item in items {
        if let Some(heading) = item.strip_prefix("## ") {
            specs.push((heading.to_owned(), Vec::new()));
            continue;
        }
        let entries = &mut specs.last_mut().unwrap().1;
        if let Some(text) = item.strip_prefix("- **") {
            entries.push(entry(text));
        } else if let Some(test) = item.strip_prefix("  - `") {
            let test = test.strip_suffix('`').unwrap_or_else(|| panic!("text behind a test: {item}"));
            entries.last_mut().unwrap().tests.push(test.to_owned());
        } else {
            assert!(
                item.starts_with("### ") || item.starts_with("  - Note: "),
                "neither test nor note: {item}"
            );
        }
    }
    specs
}

/// An entry without its tests: `NAME**: ` and the places in backquotes, or the reason.
fn entry(text: &str) -> Entry {
    let (name, text) = text.split_once("**: ").unwrap_or_else(|| panic!("no name: {text}"));
    let is_reason = ["not applicable: ", "not done: "].iter().any(|start| text.contains(start));
    let reason = is_reason.then(|| text.rsplit_once("`, ").map_or(text, |(_, reason)| reason).to_owned());
    let places = text.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    Entry { name: name.to_owned(), places, tests: Vec::new(), reason }
}

/// The text of files, each read once.
#[derive(Default)]
struct Files(BTreeMap<String, Option<String>>);

impl Files {
    fn text(&mut self, path: &str) -> Result<&str, String> {
        let text =
            self.0.entry(path.to_owned()).or_insert_with(|| fs::read_to_string(root().join(path)).ok());
        text.as_deref().ok_or_else(|| format!("there is no file {path}"))
    }

    /// Requires that the file defines the item of `path::item`: a Rust item, field or variant, or a key or name of
    /// TOML.
    fn has_item(&mut self, place: &str) -> Result<(), String> {
        let (path, item) = place.rsplit_once("::").ok_or(format!("{place} is no path::item"))?;
        let toml = path.ends_with(".toml");
        let defined = self.text(path)?.lines().any(|line| defines(line.trim_start(), item, toml));
        defined.then_some(()).ok_or(format!("{path} defines no {item}"))
    }

    /// Requires the test of `path::function`, or of `tests/eval/FILE.toml: case`.
    fn has_test(&mut self, test: &str) -> Result<(), String> {
        if let Some((path, case)) = test.split_once(".toml: ") {
            let path = format!("{path}.toml");
            let file: toml::Table = self.text(&path)?.parse().map_err(|error| format!("{path}: {error}"))?;
            let cases = file.get("case").and_then(toml::Value::as_array).into_iter().flatten();
            let mut names = cases.filter_map(|case| case.get("name")?.as_str());
            return names
                .any(|name| name == case)
                .then_some(())
                .ok_or(format!("{path} has no case {case:?}"));
        }
        let (path, function) = test.rsplit_once("::").ok_or(format!("{test} is no test"))?;
        let start = format!("fn {function}(");
        let mut marked = false;
        for line in self.text(path)?.lines().map(str::trim) {
            if marked && line.starts_with(&start) {
                return Ok(());
            }
            // Attributes and comments may be between the mark and the function.
            marked = line == "#[test]" || marked && (line.starts_with("#[") || line.starts_with("//"));
        }
        Err(format!("{path} has no test {function}"))
    }
}

/// Whether a line begins the definition of an item: a Rust item, a public field or a variant; a table, a name or a key.
fn defines(line: &str, item: &str, toml: bool) -> bool {
    const RUST: [&str; 8] = ["fn ", "const fn ", "struct ", "enum ", "const ", "static ", "trait ", "type "];
    const TOML: [&str; 3] = ["", "[[", "name = \""];
    let is_name = |next: char| next.is_alphanumeric() || next == '_';
    let names = |rest: &str| rest.strip_prefix(item).is_some_and(|after| !after.starts_with(is_name));
    if toml {
        return TOML.iter().any(|start| line.strip_prefix(start).is_some_and(names));
    }
    let public = line.strip_prefix("pub").map(|rest| match rest.strip_prefix('(') {
        Some(within) => within.split_once(')').map_or("", |(_, rest)| rest).trim_start(),
        None => rest.trim_start(),
    });
    let inner = public.unwrap_or(line);
    let is_member = public.is_some() || item.starts_with(char::is_uppercase);
    RUST.iter().any(|word| inner.strip_prefix(word).is_some_and(names)) || is_member && names(inner)
}

/// The errors of an entry.
fn problems(entry: &Entry, files: &mut Files) -> Vec<String> {
    const FEWEST_WORDS: usize = 4;
    let Entry { name, places, tests, reason } = entry;
    let mut found: Vec<String> = places.iter().filter_map(|place| files.has_item(place).err()).collect();
    if let Some((kind, reason)) = reason.as_deref().and_then(|reason| reason.split_once(": ")) {
        if reason.split_whitespace().count() < FEWEST_WORDS {
            found.push("no reason".to_owned());
        }
        if (kind == "not applicable") != places.is_empty() || !tests.is_empty() {
            found.push("not applicable has no place, not done has one, and neither has tests".to_owned());
        }
        return found;
    }
    if name.is_empty() || places.is_empty() || tests.is_empty() {
        found.push("empty".to_owned());
    }
    found.extend(tests.iter().filter_map(|test| files.has_test(test).err()));
    found
}

fn document() -> Vec<(String, Vec<Entry>)> {
    entries(&fs::read_to_string(root().join("docs/spec-coverage.md")).unwrap())
}

#[test]
fn every_part_of_the_specifications_has_an_entry() {
    let document = document();
    assert_eq!(document.len(), SPECS.len());
    for ((heading, entries), (spec, names)) in document.iter().zip(SPECS) {
        assert_eq!(heading, spec);
        let wanted: BTreeSet<&str> = names.split("; ").collect();
        let found: BTreeSet<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(found.len(), entries.len(), "{spec}: two entries of one name");
        let missing: Vec<_> = wanted.difference(&found).collect();
        let unknown: Vec<_> = found.difference(&wanted).collect();
        assert!(missing.is_empty() && unknown.is_empty(), "{spec}: missing {missing:?}, unknown {unknown:?}");
    }
}

#[test]
fn entries_name_code_and_tests_that_exist() {
    let mut files = Files::default();
    let mut wrong = Vec::new();
    for (spec, entries) in document() {
        for entry in entries {
            let found = problems(&entry, &mut files).into_iter();
            wrong.extend(found.map(|problem| format!("{spec}: {}: {problem}", entry.name)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn entries_that_name_nothing_are_found() {
    let mut files = Files::default();
    let mut of = |places: &str, test: &str| {
        let test = if test.is_empty() { String::new() } else { format!("  - `{test}`") };
        let mut specs = entries(&format!("## S1\n\n### Stack\n\n- **DW_OP_dup**: {places}\n{test}\n"));
        problems(&specs.remove(0).1.remove(0), &mut files)
    };
    let (place, case) = ("`evaluator/src/operation.rs::Pick`", "tests/eval/values.toml: B1 dup");
    assert_eq!(of(place, case), [""; 0]);
    assert_eq!(
        of("`evaluator/src/operations.rs::Pick`", case),
        ["there is no file evaluator/src/operations.rs"]
    );
    assert_eq!(of("`evaluator/src/operation.rs::Pic`", case), ["evaluator/src/operation.rs defines no Pic"]);
    assert_eq!(of(place, "tests/eval/values.toml: B1"), ["tests/eval/values.toml has no case \"B1\""]);
    // A function that is not a test, as the second place of an entry of two lines.
    let helper = of(&format!("{place},\n  {place}"), "tests/suite/spec_coverage.rs::problems");
    assert_eq!(helper, ["tests/suite/spec_coverage.rs has no test problems"]);
    assert_eq!(of(place, ""), ["empty"]);
    assert_eq!(of("-", case), ["empty"]);
    assert_eq!(of("not applicable: so", ""), ["no reason"]);
    assert_eq!(of("not done: nobody has asked for it", "").len(), 1);
    assert_eq!(of(&format!("{place}, not done: nobody has asked for it"), ""), [""; 0]);
}
