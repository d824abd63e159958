//! Every part of every object, against llvm-readelf's output.

use std::path::Path;
use std::process::Command;

use super::{newest_llvm, objects, parse};
use crate::codeobject::{Bytes, CodeObject, ElfAddress, Feature, Metadata, SymbolKind};

fn readelf(arguments: &[&str], object: &Path) -> String {
    let output = Command::new(newest_llvm("llvm-readelf")).args(arguments).arg(object).output();
    String::from_utf8(output.expect("llvm-readelf runs").stdout).expect("text")
}

fn hex(text: &str) -> u64 {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).expect(text)
}

/// The value of a `Name:   value` line.
fn field<'a>(text: &'a str, name: &str) -> &'a str {
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix(name)?.strip_prefix(':'));
    line.unwrap_or_else(|| panic!("no {name}")).trim()
}

#[test]
fn headers_are_readelfs() {
    for path in objects() {
        let object = parse(&path);
        let header = object.header();
        let text = readelf(&["-h"], &path);
        assert_eq!(header.abi_version.0.to_string(), field(&text, "ABI Version"), "{path:?}");
        let (flags, names) = field(&text, "Flags").split_once(", ").expect("flags");
        assert_eq!(u64::from(header.flags), hex(flags));
        let feature = |feature: Feature, name: &str| match feature {
            Feature::Unsupported => None,
            Feature::Any => Some(name.to_owned()),
            Feature::Off => Some(format!("{name}-")),
            Feature::On => Some(format!("{name}+")),
        };
        let ours = [feature(header.xnack(), "xnack"), feature(header.sramecc(), "sramecc")];
        let theirs: Vec<&str> = names.split(", ").skip(1).collect();
        assert_eq!(ours.into_iter().flatten().collect::<Vec<_>>(), theirs, "{path:?}");
        assert!(object.problems().is_empty());
    }
}

#[test]
fn sections_and_segments_are_readelfs() {
    for path in objects() {
        let object = parse(&path);
        let text = readelf(&["-S", "-l", "--wide"], &path);
        let rows = text.lines().filter_map(|line| line.trim_start().strip_prefix('[')?.split_once("] "));
        let rows: Vec<_> =
            rows.filter(|(index, _)| index.trim().parse::<usize>().is_ok_and(|index| index > 0)).collect();
        assert_eq!(object.sections().len(), rows.len() + 1);
        for (section, (_, row)) in object.sections().iter().skip(1).zip(rows) {
            let fields: Vec<&str> = row.split_whitespace().collect();
            assert_eq!(section.name, fields[0]);
            let ours = [section.address, section.offset, section.size];
            assert_eq!(ours, [hex(fields[2]), hex(fields[3]), hex(fields[4])], "{path:?} {}", section.name);
        }
        let loads = text.lines().filter_map(|line| line.trim_start().strip_prefix("LOAD"));
        let loads: Vec<Vec<&str>> = loads.map(|line| line.split_whitespace().collect()).collect();
        let ours: Vec<_> = object.segments().iter().filter(|segment| segment.is_loaded()).collect();
        assert_eq!(ours.len(), loads.len());
        for (segment, fields) in ours.iter().zip(&loads) {
            let size = segment.addresses.end - segment.addresses.start;
            let numbers = [segment.offset, segment.addresses.start, segment.file_size, size];
            assert_eq!(numbers, [hex(fields[0]), hex(fields[1]), hex(fields[3]), hex(fields[4])]);
            assert_eq!(segment.is_executable(), fields[5..].contains(&"E"));
        }
        let image = object.image().expect("an image");
        let first = loads.iter().map(|fields| hex(fields[1])).min();
        let end = loads.iter().map(|fields| hex(fields[1]) + hex(fields[4])).max();
        assert_eq!((Some(image.start.0), Some(image.end.0)), (first, end));
    }
}

#[test]
fn symbols_are_readelfs() {
    for path in objects() {
        let object = parse(&path);
        let text = readelf(&["-s", "--wide"], &path);
        let start = text.find("Symbol table '.symtab'").expect("a symbol table");
        let rows: Vec<Vec<&str>> =
            text[start..].lines().skip(3).map(|row| row.split_whitespace().collect()).collect();
        assert_eq!(object.symbols().len(), rows.len(), "{path:?}");
        for (symbol, fields) in object.symbols().iter().zip(rows) {
            assert_eq!(symbol.name, fields.get(7).copied().unwrap_or(""), "{path:?}");
            assert_eq!(symbol.value, hex(fields[1]));
            let size = fields[2];
            assert_eq!(symbol.size, size.parse().unwrap_or_else(|_| hex(size)));
            assert_eq!(symbol.global, fields[4] != "LOCAL");
            let kind = match (fields[3], fields[6]) {
                (_, "ABS") => SymbolKind::Absolute,
                (_, "UND") => SymbolKind::Undefined,
                ("FUNC", _) => SymbolKind::Function,
                ("OBJECT", _) if symbol.name.ends_with(".kd") => SymbolKind::KernelDescriptor,
                ("OBJECT", _) => SymbolKind::Object,
                _ => SymbolKind::Other,
            };
            assert_eq!(symbol.kind, kind, "{}", symbol.name);
            if kind == SymbolKind::Function {
                for (offset, inside) in [(0, true), (symbol.size - 1, true), (symbol.size, false)] {
                    let found = object.symbol_at(ElfAddress(symbol.value + offset));
                    let is_it = found.is_some_and(|(found, at)| found.value == symbol.value && at == offset);
                    assert_eq!(is_it, inside, "{} + {offset}", symbol.name);
                }
            }
        }
        // A kernel's descriptor leads to the function of the same name.
        for kernel in object.kernels() {
            let function = object.symbol(&kernel.name).expect(&kernel.name);
            assert_eq!(kernel.entry, Some(ElfAddress(function.value)), "{}", kernel.name);
        }
    }
}

#[test]
fn notes_are_readelfs() {
    for path in objects() {
        let object = parse(&path);
        let text = readelf(&["-n"], &path);
        let id =
            text.lines().find_map(|line| line.trim_start().strip_prefix("Build ID: ")).map(str::to_owned);
        let ours = object.build_id();
        assert_eq!(ours.map(|id| id.iter().map(|byte| format!("{byte:02x}")).collect::<String>()), id);
        let metadata = object.metadata().expect("sound metadata");
        if text.contains("amdhsa.version") {
            assert_eq!(yaml(metadata.expect("metadata")), read_yaml(&text), "{path:?}");
        } else {
            assert!(metadata.is_none());
        }
    }
}

/// Formats a kernel's facts in a line: name, symbol, sizes, and arguments as `offset/size/kind/space`.
fn yaml(metadata: &Metadata) -> Vec<String> {
    let number = |number: Option<u64>| number.map_or("-".to_owned(), |number| number.to_string());
    let kernels = metadata.kernels.iter().map(|kernel| {
        let arguments = kernel.arguments.iter().map(|argument| {
            let space = argument.address_space.as_deref().unwrap_or("-");
            format!("{}/{}/{}/{space}", argument.offset, argument.size, argument.value_kind)
        });
        let sizes = [
            kernel.kernarg_segment_size,
            kernel.group_segment_fixed_size,
            kernel.private_segment_fixed_size,
            kernel.wavefront_size,
            kernel.sgpr_count,
            kernel.vgpr_count,
            kernel.agpr_count,
        ];
        let sizes = sizes.map(number).join(" ");
        format!("{} {} {sizes} {}", kernel.name, kernel.symbol, arguments.collect::<Vec<_>>().join(" "))
    });
    let version = metadata.version.map(|(major, minor)| format!("{major}.{minor}"));
    kernels.chain(version).chain(metadata.target.clone()).collect()
}

/// Formats the same facts from readelf's YAML: kernels have indentation 2, arguments 6.
fn read_yaml(text: &str) -> Vec<String> {
    let get = |entry: &str, indent: usize, key: &str| {
        let wanted = format!("{:indent$}{key}:", "");
        let value =
            entry.lines().find_map(|line| line.strip_prefix(&wanted).map(|value| value.trim().to_owned()));
        value.map(|value| value.trim_matches('\'').to_owned()).filter(|value| !value.is_empty())
    };
    let blank = |entry: &str, dash: &str| entry.replacen(dash, &" ".repeat(dash.len()), 1);
    let mut lines = Vec::new();
    // A file linked from several has a note of each.
    let lists = text.split("amdhsa.kernels:").skip(1).filter_map(|list| list.split("\namdhsa.").next());
    let kernels: String = lists.map(|kernels| format!("\n{}", kernels.trim_matches('\n'))).collect();
    for kernel in kernels.split("\n  - ").skip(1) {
        let kernel = format!("    {kernel}");
        let value = |key| get(&kernel, 4, key).unwrap_or_else(|| "-".to_owned());
        // The list of arguments ends at the next key of the kernel.
        let list =
            kernel.split_once(".args:").map_or("", |(_, list)| list.split("\n    .").next().unwrap_or(""));
        let arguments = list.split("\n      - ").skip(1).map(|argument| {
            let argument = blank(&format!("        {argument}"), "");
            let value = |key| get(&argument, 8, key).unwrap_or_else(|| "-".to_owned());
            let [offset, size] = [value(".offset"), value(".size")];
            format!("{offset}/{size}/{}/{}", value(".value_kind"), value(".address_space"))
        });
        let arguments: Vec<String> = arguments.collect();
        let keys = [
            ".kernarg_segment_size",
            ".group_segment_fixed_size",
            ".private_segment_fixed_size",
            ".wavefront_size",
            ".sgpr_count",
            ".vgpr_count",
            ".agpr_count",
        ];
        let sizes: Vec<String> = keys.into_iter().map(value).collect();
        let (name, symbol) = (value(".name"), value(".symbol"));
        lines.push(format!("{name} {symbol} {} {}", sizes.join(" "), arguments.join(" ")));
    }
    let numbers = text.split("amdhsa.version:").nth(1).expect("a version").lines().skip(1);
    let version: Vec<&str> = numbers.map_while(|line| line.trim().strip_prefix("- ")).collect();
    lines.push(version.join("."));
    let target = text.lines().find_map(|line| line.strip_prefix("amdhsa.target:"));
    lines.extend(target.map(|target| target.trim().trim_matches('\'').to_owned()));
    lines
}

#[test]
fn objects_read_alike_at_any_alignment() {
    for path in objects() {
        let expected = parse(&path);
        let file = expected.bytes();
        for shift in 0..8 {
            let bytes = Bytes::from([&vec![0xff; shift], &**file].concat());
            let object =
                CodeObject::parse(bytes.slice(shift..bytes.len()).expect("inside")).expect("an object");
            assert_eq!(object.header(), expected.header());
            assert_eq!(object.segments(), expected.segments());
            assert_eq!(object.symbols(), expected.symbols(), "{path:?} {shift}");
            assert_eq!(object.notes(), expected.notes());
            for (section, other) in object.sections().iter().zip(expected.sections()) {
                assert_eq!((&section.name, section.offset), (&other.name, other.offset));
                let bytes = |object: &CodeObject| object.section_bytes(&section.name).expect("whole");
                assert_eq!(bytes(&object), bytes(&expected));
            }
            assert_eq!(object.relocations().count(), expected.relocations().count());
        }
    }
}
