//! Values and type names, compared with gdb 13 character by character; see `values/make.sh`.

use super::debug_info;
use crate::codeobject::{Bytes, ElfAddress};
use crate::debuginfo::contents::Contents;
use crate::debuginfo::format::{KnownTypes, Options};
use crate::debuginfo::{
    DebugInfo, DynamicAttribute, DynamicError, LocationAttribute, Object, OwnedContents, TypeId, Variable,
};

const OBJECT: &[u8] = include_bytes!("values/values.hsaco");
const EXPECTED: &str = include_str!("values/values.expected");

/// Differences from gdb: name, and whether it is the type's name (otherwise the value with all repeats).
const ON_PURPOSE: [(&str, bool); 2] = [
    // gdb reads `unsigned __int128` as C++ and writes `unsigned int __int128`.
    ("u128", true),
    // gdb prints a run of equal characters to its end despite the limit; 200 elements are 200 here.
    ("s0_250", false),
];

fn object() -> DebugInfo {
    debug_info(Bytes::from_static(OBJECT))
}

fn global(info: &DebugInfo, name: &str) -> Variable {
    info.globals_named(name).expect(name).into_iter().next().unwrap_or_else(|| panic!("no global {name}"))
}

/// Initial bytes of a global: its location begins with an address, direct or indexed.
fn initial(info: &DebugInfo, variable: &Variable) -> (TypeId, Option<Vec<u8>>) {
    let id = variable.type_id.expect("a type");
    let size = info.byte_size(id).expect("a size").unwrap_or(0);
    let address = match &variable.location {
        LocationAttribute::Constant(bytes) => return (id, Some(bytes.to_vec())),
        LocationAttribute::Missing => return (id, None),
        LocationAttribute::Expression(expression) => match expression[..] {
            [0x03, ref address @ ..] => u64::from_le_bytes(address[..8].try_into().unwrap()),
            [0xa1, low @ ..0x80, ..] => info.indexed_address(variable.unit, low.into()).expect("an address"),
            [0xa1, low, high, ..] => {
                let index = u64::from(low & 0x7f) | u64::from(high) << 7;
                info.indexed_address(variable.unit, index).expect("an address")
            }
            _ => panic!("{expression:?}"),
        },
        LocationAttribute::List(_) | LocationAttribute::Broken(_) => panic!("{variable:?}"),
    };
    let bytes = info.code_object().expect("an object").bytes_at(ElfAddress(address), size);
    // The file omits zero-initialised data.
    (id, Some(bytes.map_or_else(|| vec![0; size as usize], |bytes| bytes.to_vec())))
}

#[test]
fn prints_as_gdb_does() {
    check(&object());
}

/// An object without answers, for types that need none.
#[derive(Debug)]
struct Silent;

impl Object for Silent {
    fn number(&self, _: &DynamicAttribute, _: i64) -> Result<i64, DynamicError> {
        Err(DynamicError::NotAnArray)
    }

    fn part(&self, _: &DynamicAttribute, _: i64) -> Result<Box<dyn Object + '_>, DynamicError> {
        Err(DynamicError::NotAnArray)
    }

    fn fetch(&self, _: i64, _: u64) -> Result<OwnedContents, DynamicError> {
        Err(DynamicError::NotAnArray)
    }
}

/// Compares every global of `values.cpp` with gdb's output: alone, and with the types of the earlier globals.
pub(super) fn check(info: &DebugInfo) {
    let mut wrong = Vec::new();
    let types = KnownTypes::default();
    for row in EXPECTED.lines() {
        let [name, type_name, value, all] = row.split('\t').collect::<Vec<_>>()[..] else { panic!("{row}") };
        let (id, bytes) = initial(info, &global(info, name));
        let missing = [0xff; 16];
        let contents = match &bytes {
            Some(bytes) => Contents::known(bytes),
            None => Contents { bytes: &[0; 16], undefined: &missing, unavailable: &[] },
        };
        let shown = |options| info.value(id, contents, &options).expect(name).to_string();
        let found = [info.type_name(Some(id)).expect(name), shown(Options::gdb()), shown(Options::machine())];
        for options in [Options::gdb(), Options::machine()] {
            let among = info.value_among(id, contents, &Silent, &types, &options).expect(name);
            let alone = info.value_of(id, contents, &Silent, &options).expect(name);
            assert_eq!(among, alone, "{name}");
        }
        for (found, expected) in found.iter().zip([type_name, value, all]) {
            if found != expected && !ON_PURPOSE.contains(&(name, expected == type_name)) {
                wrong.push(format!("{name}\n  gdb: {expected}\n  us:  {found}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(EXPECTED.lines().count() > 200);
}
