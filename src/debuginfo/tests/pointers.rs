//! Pointers to functions and to members, and virtual bases: notation of gdb 13.1 for the same source on the host, with
//! this object's addresses and symbols.

use std::path::Path;

use super::forms::{compiled, taken};
use crate::codeobject::{CodeObject, ElfAddress};
use crate::debuginfo::contents::Contents;
use crate::debuginfo::format::Options;
use crate::debuginfo::{DebugInfo, DynamicAttribute, DynamicError, Object, OwnedContents, TypeId, TypeKind};

/// An object with its virtual base at `base`.
#[derive(Debug)]
struct WithBase<'a> {
    bytes: &'a [u8],
    base: usize,
}

impl Object for WithBase<'_> {
    fn number(&self, attribute: &DynamicAttribute, _: i64) -> Result<i64, DynamicError> {
        Err(DynamicError::NoObject(attribute.attribute))
    }

    fn part(&self, attribute: &DynamicAttribute, _: i64) -> Result<Box<dyn Object + '_>, DynamicError> {
        assert!(attribute.begins_with_object());
        Ok(Box::new(WithBase { bytes: &self.bytes[self.base..], base: 0 }))
    }

    fn fetch(&self, skip: i64, size: u64) -> Result<OwnedContents, DynamicError> {
        let bytes = self.bytes[skip as usize..][..size as usize].to_vec();
        Ok(OwnedContents { bytes, ..OwnedContents::default() })
    }
}

struct Source {
    info: DebugInfo,
}

impl Source {
    fn new(file: &Path) -> Self {
        Self { info: super::debug_info(taken(file)) }
    }

    fn object(&self) -> &CodeObject {
        self.info.code_object().expect("an object")
    }

    fn type_of(&self, name: &str) -> TypeId {
        self.info.globals_named(name).expect(name)[0].type_id.expect("a type")
    }

    fn address(&self, symbol: &str) -> u64 {
        self.object().symbol(symbol).expect(symbol).value
    }

    fn shown(&self, name: &str, words: &[u64]) -> String {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let symbol = |address| {
            let (symbol, 0) = self.object().symbol_at(ElfAddress(address))? else { return None };
            crate::debuginfo::demangle(&symbol.name).or(Some(symbol.name.clone()))
        };
        let options = Options { symbol_name: &symbol, ..Options::gdb() };
        self.info.value(self.type_of(name), Contents::known(&bytes), &options).expect(name).to_string()
    }
}

#[test]
fn functions_are_named_behind_their_addresses() {
    let source = Source::new(&compiled("values/pointers.cpp", "pointers", &["-fno-rtti"]));
    let (foo, tem) = (source.address("_Z3fooi"), source.address("_ZN2ns3temIfEET_S1_"));
    assert_eq!(source.shown("fp", &[foo]), format!("{foo:#x} <foo(int)>"));
    assert_eq!(source.shown("fp", &[0]), "0x0");
    // An address without a symbol has no name.
    assert_eq!(source.shown("fp", &[3]), "0x3");
    assert_eq!(source.shown("ft", &[tem]), format!("{tem:#x} <float ns::tem<float>(float)>"));
    let cfun = source.address("cfun");
    assert_eq!(
        source.shown("h", &[1, foo, cfun, 0, cfun]),
        format!("{{a = 1, m = {foo:#x} <foo(int)>, arr = {{{cfun:#x} <cfun>, 0x0, {cfun:#x} <cfun>}}}}")
    );
}

#[test]
fn member_functions_are_named_by_their_slot_or_address() {
    let source = Source::new(&compiled("values/pointers.cpp", "members", &["-fno-rtti"]));
    assert_eq!(source.shown("pf", &[1, 0]), "&virtual A::f(int)");
    assert_eq!(source.shown("pg", &[9, 0]), "&virtual A::g()");
    assert_eq!(source.shown("pn", &[0, 0]), "NULL");
    let plain = source.address("_ZN1A5plainEv");
    assert_eq!(source.shown("pp", &[plain, 0]), format!("(void (A::*)(A * const)) {plain:#x} <A::plain()>"));
    let bf = source.address("_ZN1B2bfEv");
    let shown = format!("(void (AB::*)(AB * const)) {bf:#x} <B::bf()>, this adjustment 16");
    assert_eq!(source.shown("pb", &[bf, 16]), shown);
    assert_eq!(source.shown("pbv", &[1, 16]), "&virtual table offset 0, this adjustment 16");
    let a = source.info.type_of(source.type_of("pf")).expect("a type");
    let TypeKind::PointerToMember { class: Some(class), .. } = a.kind else { panic!("{a:?}") };
    let class = source.info.type_of(class).expect("A");
    let TypeKind::Record(record) = &class.kind else { panic!("{class:?}") };
    let slots: Vec<_> =
        record.functions.iter().filter(|f| f.is_virtual).map(|f| (f.name.as_deref(), f.slot)).collect();
    assert_eq!(slots, [(Some("f"), Some(0)), (Some("g"), Some(1))]);
}

/// A virtual base is at the address in the object's table, and is printed once for any number of bases that share it.
#[test]
fn a_virtual_base_is_shown_once() {
    let source = Source::new(&compiled("values/pointers.cpp", "bases", &["-fno-rtti"]));
    // Itanium C++ ABI 2.4: V1 (table, v1), V2 (table, v2), d, then A (table, x) at 32.
    let words = [0u64, 11, 0, 22 | 33 << 32, 0, 44];
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let object = WithBase { bytes: &bytes, base: 32 };
    let id = source.type_of("vd");
    let shown = |value: crate::debuginfo::format::Value| value.to_string();
    let value = source.info.value_of(id, Contents::known(&bytes), &object, &Options::gdb()).expect("vd");
    assert_eq!(
        shown(value),
        "{<V1> = {<A> = {_vptr$A = 0x0, x = 44}, _vptr$V1 = 0x0, v1 = 11}, <V2> = {_vptr$V2 = 0x0, v2 = 22}, d = 33}"
    );
    let value = source.info.value(id, Contents::known(&bytes), &Options::gdb()).expect("vd");
    assert_eq!(
        shown(value),
        "{<V1> = {<A> = <place known at run time only>, _vptr$V1 = 0x0, v1 = 11}, <V2> = {_vptr$V2 = 0x0, v2 = 22}, d = 33}"
    );
}
