//! Independent reading of the same objects: llvm-dwarfdump's text, and an assembler for the operations in it.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::process::Command;

/// A DIE from llvm-dwarfdump.
#[derive(Debug)]
pub(super) struct Die {
    pub(super) offset: u64,
    /// Offset of its unit's header.
    pub(super) unit: u64,
    pub(super) tag: String,
    /// Attribute names without `DW_AT_`, each with the text between its outer parentheses.
    attributes: HashMap<String, String>,
    pub(super) children: Vec<usize>,
}

/// All DIEs of a file, in file order.
#[derive(Debug)]
pub(super) struct Dump {
    pub(super) dies: Vec<Die>,
    by_offset: HashMap<u64, usize>,
}

/// Output of llvm-dwarfdump; a missing tool is a failure, since nothing else checks the reader.
pub(super) fn tool(arguments: &[&str], object: &Path) -> String {
    let name = crate::codeobject::newest_llvm("llvm-dwarfdump");
    let output = Command::new(name).args(arguments).arg(object).output().expect("llvm-dwarfdump runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

impl Dump {
    pub(super) fn of(object: &Path) -> Self {
        let mut dies: Vec<Die> = Vec::new();
        let mut open: Vec<usize> = Vec::new();
        let (mut attribute, mut unit): (Option<String>, u64) = (None, 0);
        for line in tool(&["--debug-info"], object).lines() {
            let trimmed = line.trim_start();
            if let Some((offset, rest)) = line.split_once(": ").filter(|_| line.starts_with("0x")) {
                attribute = None;
                let tag = rest.trim_start();
                let depth = (rest.len() - tag.len()) / 2;
                let offset = u64::from_str_radix(&offset[2..], 16).expect("an offset");
                if tag.starts_with("Compile Unit") {
                    unit = offset;
                }
                if !tag.starts_with("DW_TAG_") {
                    continue;
                }
                open.truncate(depth);
                if let Some(parent) = open.last() {
                    let child = dies.len();
                    dies[*parent].children.push(child);
                }
                open.push(dies.len());
                let (tag, attributes) = (tag.trim_end().to_owned(), HashMap::new());
                dies.push(Die { offset, unit, tag, attributes, children: Vec::new() });
            } else if let Some(name) = trimmed.strip_prefix("DW_AT_") {
                let (name, value) = name.split_once('\t').expect("a value");
                let value = value.trim_start_matches('(').to_owned();
                let die = dies.last_mut().expect("a DIE");
                die.attributes.insert(name.to_owned(), value);
                attribute = Some(name.to_owned());
            } else if let (Some(name), Some(die)) = (&attribute, dies.last_mut())
                && !trimmed.is_empty()
            {
                let value = die.attributes.get_mut(name).expect("the attribute before");
                value.push('\n');
                value.push_str(trimmed);
            }
        }
        for die in &mut dies {
            for value in die.attributes.values_mut() {
                assert_eq!(value.pop(), Some(')'));
            }
        }
        let by_offset = dies.iter().enumerate().map(|(index, die)| (die.offset, index)).collect();
        Self { dies, by_offset }
    }

    pub(super) fn at(&self, offset: u64) -> &Die {
        &self.dies[self.by_offset[&offset]]
    }

    /// Attribute of the DIE, of its origin or of its specification.
    pub(super) fn inherited<'a>(&'a self, die: &'a Die, name: &str) -> Option<&'a str> {
        if let Some(value) = die.attribute(name) {
            return Some(value);
        }
        let next = die.reference("abstract_origin").or_else(|| die.reference("specification"))?;
        self.inherited(self.at(next), name)
    }
}

impl Die {
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.get(name).map(String::as_str)
    }

    /// The text of a string attribute.
    pub(super) fn quoted(value: &str) -> &str {
        value.split_once('"').and_then(|(_, rest)| rest.rsplit_once('"')).map_or(value, |(text, _)| text)
    }

    pub(super) fn reference(&self, name: &str) -> Option<u64> {
        let value = self.attribute(name)?;
        number(value.split([' ', ')']).next()?)
    }

    /// The DIE's addresses.
    pub(super) fn ranges(&self) -> Vec<Range<u64>> {
        if let Some(list) = self.attribute("ranges") {
            return list.lines().filter_map(range).collect();
        }
        let address = |name| self.attribute(name).and_then(number);
        address("low_pc").zip(address("high_pc")).map(|(low, high)| low..high).into_iter().collect()
    }
}

/// A line that begins with `[0x10, 0x20)`.
pub(super) fn range(line: &str) -> Option<Range<u64>> {
    let (low, rest) = line.trim_start().strip_prefix('[')?.split_once(", ")?;
    let (high, _) = rest.split_once(')')?;
    Some(number(low)?..number(high)?)
}

pub(super) fn number(text: &str) -> Option<u64> {
    let text = text.trim();
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Bytes of an expression from its operations' names. `unit` is the base offset of base types.
pub(super) fn assemble(text: &str, unit: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    for operation in text.split(", DW_OP_") {
        let operation = operation.trim().trim_start_matches("DW_OP_");
        let (name, operands) = operation.split_once(' ').unwrap_or((operation, ""));
        one(&mut bytes, name, operands, unit);
    }
    bytes
}

/// Operations without operands, and those with one unsigned LEB128.
const PLAIN: [(&str, u8); 21] = [
    ("deref", 0x06),
    ("dup", 0x12),
    ("drop", 0x13),
    ("over", 0x14),
    ("swap", 0x16),
    ("rot", 0x17),
    ("xderef", 0x18),
    ("and", 0x1a),
    ("div", 0x1b),
    ("minus", 0x1c),
    ("mod", 0x1d),
    ("mul", 0x1e),
    ("neg", 0x1f),
    ("not", 0x20),
    ("or", 0x21),
    ("plus", 0x22),
    ("shl", 0x24),
    ("shr", 0x25),
    ("shra", 0x26),
    ("call_frame_cfa", 0x9c),
    ("stack_value", 0x9f),
];
const UNSIGNED: [(&str, u8); 4] = [("constu", 0x10), ("plus_uconst", 0x23), ("piece", 0x93), ("addrx", 0xa1)];
const USER: [(&str, u8); 12] = [
    ("nop", 1),
    ("form_aspace_address", 2),
    ("push_lane", 3),
    ("offset", 4),
    ("offset_uconst", 5),
    ("bit_offset", 6),
    ("call_frame_entry_reg", 7),
    ("undefined", 8),
    ("aspace_bregx", 9),
    ("piece_end", 10),
    ("extend", 11),
    ("select_bit_piece", 12),
];

fn one(bytes: &mut Vec<u8>, name: &str, operands: &str, unit: u64) {
    let find =
        |table: &[(&str, u8)], name: &str| table.iter().find(|(own, _)| *own == name).map(|(_, code)| *code);
    let numbers = || operands.split(' ').filter_map(number).collect::<Vec<_>>();
    if let Some(code) = find(&PLAIN, name) {
        bytes.push(code);
    } else if let Some(code) = find(&UNSIGNED, name) {
        bytes.push(code);
        unsigned(bytes, numbers()[0]);
    } else if let Some(literal) = name.strip_prefix("lit") {
        bytes.push(0x30 + literal.parse::<u8>().expect(name));
    } else {
        match name {
            "addr" => {
                bytes.push(0x03);
                bytes.extend(numbers()[0].to_le_bytes());
            }
            "const1u" => bytes.extend([0x08, numbers()[0] as u8]),
            "deref_size" => bytes.extend([0x94, numbers()[0] as u8]),
            "consts" => {
                bytes.push(0x11);
                signed(bytes, operands.parse().expect(operands));
            }
            "fbreg" => {
                bytes.push(0x91);
                signed(bytes, operands.parse().expect(operands));
            }
            "regx" => {
                bytes.push(0x90);
                unsigned(bytes, register(operands));
            }
            "bregx" => {
                bytes.push(0x92);
                based(bytes, operands);
            }
            "bit_piece" => {
                bytes.push(0x9d);
                numbers().into_iter().for_each(|number| unsigned(bytes, number));
            }
            "convert" => {
                bytes.push(0xa8);
                let type_offset = operands.trim_start_matches('(').split([')', ' ']).next().and_then(number);
                let type_offset = type_offset.expect(operands);
                // clang always writes 28 bits, since it does not know the offset yet.
                let relative = if type_offset == 0 { 0 } else { type_offset - unit };
                let septet = |index: u32| (relative >> (7 * index)) as u8 & 0x7f;
                bytes.extend([septet(0) | 0x80, septet(1) | 0x80, septet(2) | 0x80, septet(3)]);
            }
            "LLVM_user" => {
                let (name, operands) = operands.split_once(' ').unwrap_or((operands, ""));
                let name = name.trim_start_matches("DW_OP_LLVM_");
                bytes.extend([0xe9, find(&USER, name).unwrap_or_else(|| panic!("LLVM_user {name}"))]);
                match name {
                    // llvm-dwarfdump prints the signed displacement as an unsigned one.
                    "aspace_bregx" => {
                        let (name, displacement) = operands.split_once('+').expect(operands);
                        unsigned(bytes, register(name));
                        unsigned(bytes, number(displacement).expect(operands));
                    }
                    "call_frame_entry_reg" => unsigned(bytes, register(operands)),
                    _ => operands.split(' ').filter_map(number).for_each(|number| unsigned(bytes, number)),
                }
            }
            _ => panic!("no encoding for DW_OP_{name} {operands}"),
        }
    }
}

/// `VGPR5+0`, or `0x606 +0` if llvm-dwarfdump has no name for the number.
fn based(bytes: &mut Vec<u8>, operands: &str) {
    let sign = operands.rfind(['+', '-']).expect(operands);
    unsigned(bytes, register(operands[..sign].trim()));
    signed(bytes, operands[sign..].parse().expect(operands));
}

/// AMDGPU's DWARF register numbers with a name in llvm-dwarfdump: wave64's.
fn register(name: &str) -> u64 {
    let indexed = |prefix: &str| name.strip_prefix(prefix).and_then(|index| index.parse::<u64>().ok());
    match (indexed("VGPR"), indexed("AGPR"), indexed("SGPR"), name) {
        (Some(index), ..) => 2560 + index,
        (_, Some(index), ..) => 3072 + index,
        (_, _, Some(index @ ..64), _) => 32 + index,
        (_, _, Some(index), _) => 1024 + index,
        (.., "PC_REG") => 16,
        (.., "EXEC_LO") => 1,
        (.., "EXEC") => 17,
        _ => number(name).unwrap_or_else(|| panic!("register {name}")),
    }
}

fn unsigned(bytes: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn signed(bytes: &mut Vec<u8>, mut number: i64) {
    while !(-64..64).contains(&number) {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8 & 0x7f);
}
