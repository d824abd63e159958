//! The text form of `code-object`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::describe::{self, Object};
use super::kernels::{DescriptorRow, KernelFacts};
use crate::codeobject::FatFile;
use crate::report::{Style, Table};

pub(super) const STYLE: Style = Style::Coloured;

pub(super) fn entries(fat: &FatFile) -> String {
    let mut table = Table::new(["Entry", "ID", "Offset", "Size", "What"]);
    for entry in fat.entries.iter().map(describe::entry) {
        let inside = entry.compressed_at.map_or_else(String::new, |at| format!(" in the bundle at {at:#x}"));
        table.row(vec![
            entry.index.to_string(),
            entry.id.unwrap_or_default(),
            format!("{:#x}{inside}", entry.offset),
            entry.size.to_string(),
            entry.what,
        ]);
    }
    let mut text = table.render(STYLE);
    for problem in &fat.problems {
        let _ = writeln!(text, "{}", STYLE.alarm(&format!("problem: {problem}")));
    }
    text
}

pub(super) fn object(object: &Object) -> String {
    let header = &object.header;
    let target =
        header.target_id.clone().unwrap_or_else(|| format!("an unknown processor ({:#x})", header.mach));
    let mut text =
        format!("{target}, {}, code object version {}\n", header.file_type, header.code_object_version);
    let generic =
        header.generic_version.map_or_else(String::new, |version| format!(", generic version {version}"));
    let _ = writeln!(
        text,
        "flags {}: xnack {}, sramecc {}{generic}; ABI version {}; entry {}",
        header.flags, header.xnack, header.sramecc, header.abi_version, header.entry
    );
    if let Some(id) = &header.build_id {
        let _ = writeln!(text, "build id {id}");
    }
    let dwarf = &object.dwarf;
    let _ = writeln!(text, "DWARF: {}", if dwarf.present { "yes" } else { "no" });
    for line in dwarf.units.iter().chain(&dwarf.problem) {
        let _ = writeln!(text, "  {line}");
    }
    if let Some(metadata) = &object.metadata {
        let known = [&metadata.version, &metadata.target].map(|known| known.as_deref().unwrap_or("unknown"));
        let _ = writeln!(text, "metadata {}, target {}", known[0], known[1]);
        for line in &metadata.printf {
            let _ = writeln!(text, "  printf {line}");
        }
    }
    for kernel in &object.kernels {
        self::kernel(&mut text, kernel);
    }
    tables(&mut text, object);
    for problem in &object.problems {
        let _ = writeln!(text, "{}", STYLE.alarm(&format!("problem: {problem}")));
    }
    text
}

fn kernel(text: &mut String, kernel: &KernelFacts) {
    let source = kernel.source_name.as_ref().map_or_else(String::new, |name| format!(": {name}"));
    let _ = writeln!(text, "\n{}", STYLE.heading(&format!("Kernel {}{source}", kernel.name)));
    let facts: Vec<String> = kernel.metadata.iter().map(|(name, value)| format!("{name} {value}")).collect();
    for line in facts.chunks(4) {
        let _ = writeln!(text, "  {}", line.join(", "));
    }
    match &kernel.descriptor {
        Some(row) => descriptor(text, row),
        None => text.push_str("  no descriptor\n"),
    }
    if kernel.arguments.is_empty() {
        return;
    }
    let mut table = Table::new(["Offset", "Size", "Kind", "Space", "Type", "Name", "Qualifiers"]);
    for argument in &kernel.arguments {
        let cells = vec![
            argument.offset.to_string(),
            argument.size.to_string(),
            argument.kind.clone(),
            argument.address_space.clone().unwrap_or_default(),
            argument.type_name.clone().unwrap_or_default(),
            argument.name.clone().unwrap_or_default(),
            argument.qualifiers.join(", "),
        ];
        if argument.kind.starts_with("hidden_") { table.dim_row(cells) } else { table.row(cells) }
    }
    text.push_str(&table.render(STYLE));
}

fn descriptor(text: &mut String, row: &DescriptorRow) {
    let entry = row.entry.as_ref().map_or_else(String::new, |entry| format!(", entry {entry}"));
    let _ = writeln!(text, "  descriptor at {}{entry}", row.address);
    let number = |name: &str, value: Option<u32>| value.map(|value| format!("{name} {value}"));
    let known = [
        number("wave size", row.wave_size.map(u32::from)),
        number("VGPRs", row.vgprs),
        number("accumulation VGPRs from", row.accum_offset),
        number("SGPRs", row.sgprs),
        number("group segment", Some(row.group_segment_fixed_size)),
        number("private segment", Some(row.private_segment_fixed_size)),
        number("kernargs", Some(row.kernarg_size)),
    ];
    let _ = writeln!(text, "    {}", known.into_iter().flatten().collect::<Vec<_>>().join(", "));
    // Most fields are 0; JSON has the zero fields too.
    let set: Vec<String> = row
        .fields
        .iter()
        .filter(|(_, value)| **value != 0)
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    for line in set.chunks(3) {
        let _ = writeln!(text, "    {}", line.join(", "));
    }
    for (word, bits) in &row.reserved {
        let _ = writeln!(text, "    {}", STYLE.alarm(&format!("reserved bits of {word} are set: {bits}")));
    }
}

fn tables(text: &mut String, object: &Object) {
    let mut add = |table: Table, empty: bool| {
        if !empty {
            text.push('\n');
            text.push_str(&table.render(STYLE));
        }
    };
    let mut table = Table::new(["Segment", "Flags", "Address", "Size", "Offset", "In file"]);
    for row in &object.segments {
        let (offset, size) = (format!("{:#x}", row.offset), format!("{:#x}", row.size));
        let in_file = format!("{:#x}", row.file_size);
        table.row(vec![
            row.segment_type.clone(),
            row.flags.clone(),
            row.address.clone(),
            size,
            offset,
            in_file,
        ]);
    }
    add(table, object.segments.is_empty());
    let mut table = Table::new(["Section", "Address", "Offset", "Size", ""]);
    for row in &object.sections {
        let packed = if row.compressed { "compressed" } else { "" };
        let (offset, size) = (format!("{:#x}", row.offset), format!("{:#x}", row.size));
        table.row(vec![row.name.clone(), row.address.clone(), offset, size, packed.to_owned()]);
    }
    add(table, object.sections.is_empty());
    let mut table = Table::new(["Symbol", "Kind", "Section", "Value", "Size", "Binding"]);
    for row in &object.symbols {
        let kind = row.kind.to_owned();
        let binding = if row.global { "global" } else { "local" };
        let aligned = row.alignment.map(|alignment| format!("aligned to {alignment}"));
        let value = aligned.or_else(|| row.value.clone()).unwrap_or_default();
        let section = row.section.clone().unwrap_or_default();
        table.row(vec![row.name.clone(), kind, section, value, row.size.to_string(), binding.to_owned()]);
    }
    add(table, object.symbols.is_empty());
    let mut table = Table::new(["Relocation", "Section", "Offset", "Symbol", "Addend"]);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for row in &object.relocations {
        let section = row.section.as_deref().unwrap_or_default();
        if !row.is_loaded {
            *counts.entry(section).or_default() += 1;
            continue;
        }
        let symbol = row.symbol.clone().unwrap_or_default();
        let (kind, offset) = (row.relocation_type.clone(), row.offset.clone());
        table.row(vec![kind, section.to_owned(), offset, symbol, row.addend.to_string()]);
    }
    for (section, count) in &counts {
        table.dim_row(vec![
            format!("{count} more"),
            (*section).to_owned(),
            String::new(),
            String::new(),
            String::new(),
        ]);
    }
    add(table, object.relocations.is_empty());
    let mut table = Table::new(["Note", "Type", "Offset", "Size", ""]);
    for row in &object.notes {
        let name = row.name.map_or_else(|| row.note_type.to_string(), str::to_owned);
        let said = row.text.clone().unwrap_or_default();
        table.row(vec![row.vendor.clone(), name, format!("{:#x}", row.offset), row.size.to_string(), said]);
    }
    add(table, object.notes.is_empty());
}
