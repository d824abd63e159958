//! `target.xml`: the union of the registers of the served waves, in the form of one facade.
//!
//! gdb reads `type` and defines vectors, unions and flags for it; LLDB ignores gdb's vector types and reads
//! `encoding` and `format` instead. The description has both attributes, and each client ignores the other's.

use std::io;
use std::sync::Arc;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::super::error::{NOT_THERE, PacketError};
use super::super::facade::Facade;
use super::super::front::reply::Reply;
use super::super::front::router::Request;
use super::super::registers::{
    LANE, LLDB_STACK_POINTER, RegisterMap, Slot, Source, X86_STACK_POINTER, X86_STACK_POINTER_DWARF,
};
use super::super::state::State;
use crate::arch::{RegClass, Register, ValueType};
use crate::view;

type Xml = Writer<Vec<u8>>;

/// The feature by which gdb recognizes an x86-64 description.
const X86_FEATURE: &str = "org.gnu.gdb.i386.core";

/// The classes in the order of their features, with the clients' group of each.
/// The description for the client's facade.
pub(crate) fn build(state: &State) -> Arc<[u8]> {
    let mut xml = Writer::new_with_indent(Vec::new(), b' ', 1);
    // Writing to memory cannot fail. After a failure, no description is better than half of one.
    match write(&mut xml, state.facade(), state.registers()) {
        Ok(()) => xml.into_inner().into(),
        Err(error) => {
            log::error!("cannot write the target description: {error}");
            Arc::default()
        }
    }
}

/// The note for the user of an LLDB that does not know amdgcn.
pub(super) const UNKNOWN_ARCHITECTURE: &str =
    "this lldb does not know amdgcn and has no registers: start the server without --client";

/// `qRegisterInfo`: LLDB sends it after the description if it does not know the architecture. It would read registers
/// in the wrong byte order, and gets none.
pub(crate) fn was_rejected(state: &mut State, _: Request<'_>, _: &mut Reply<'_>) -> Result<(), PacketError> {
    if state.facade() != Facade::AmdgcnLldb || state.documents.target.get().is_none() {
        return Ok(());
    }
    if !std::mem::replace(&mut state.lacks_architecture, true) {
        log::warn!("{UNKNOWN_ARCHITECTURE}");
        state.note(&format!("{UNKNOWN_ARCHITECTURE}\n"));
    }
    Err(PacketError::new(NOT_THERE, UNKNOWN_ARCHITECTURE))
}

fn write(xml: &mut Xml, facade: Facade, map: &RegisterMap) -> io::Result<()> {
    xml.write_event(Event::Decl(BytesDecl::new("1.0", None, None)))?;
    xml.write_event(Event::DocType(BytesText::from_escaped("target SYSTEM \"gdb-target.dtd\"")))?;
    xml.create_element("target").with_attribute(("version", "1.0")).write_inner_content(|xml| {
        let target = &map.kind.target;
        let architecture = match facade {
            Facade::AmdgcnGdb => format!("amdgcn:{}", target.gdb_name()),
            Facade::AmdgcnLldb => format!("amdgcn:{}", target.name),
            Facade::Gdb | Facade::Lldb => "i386:x86-64".to_owned(),
        };
        xml.create_element("architecture").write_text_content(BytesText::new(&architecture))?;
        match facade {
            // This debugger has the registers from AMD's library and ignores any in a description.
            Facade::AmdgcnGdb => return Ok(()),
            Facade::Gdb => x86_feature(xml, map)?,
            Facade::Lldb | Facade::AmdgcnLldb => {}
        }
        focus_feature(xml, facade, map)?;
        for (class, group) in RegClass::NAMES {
            feature(xml, facade, map, class, group)?;
        }
        Ok(())
    })?;
    Ok(())
}

/// gdb's core, complete: gdb rejects a description without a part of it.
fn x86_feature(xml: &mut Xml, map: &RegisterMap) -> io::Result<()> {
    let core = xml.create_element("feature").with_attribute(("name", X86_FEATURE));
    core.write_inner_content(|xml| {
        x86_flags(xml)?;
        for slot in map.short() {
            let (name, gdb_type) = match slot.source {
                Source::Absent { name, gdb_type } => (name, gdb_type),
                Source::StackPointer => (X86_STACK_POINTER, "data_ptr"),
                Source::Wave(_) | Source::Lane => ("rip", "code_ptr"),
            };
            let (bits, number) = (slot.bytes * 8, slot.number);
            xml.create_element("reg")
                .with_attribute(("name", name))
                .with_attribute(("bitsize", bits.to_string().as_str()))
                .with_attribute(("type", gdb_type))
                .with_attribute(("regnum", number.to_string().as_str()))
                .write_empty()?;
        }
        Ok(())
    })?;
    Ok(())
}

/// The lane in focus, and for LLDB the token of the frame.
///
/// LLDB drops the registers that a write invalidates, and the frames with them. It finds a register in callers only
/// by a DWARF number that call frame information names.
fn focus_feature(xml: &mut Xml, facade: Facade, map: &RegisterMap) -> io::Result<()> {
    let slot = |wanted: &Source| map.slots().iter().find(|slot| slot.source == *wanted);
    let Some(lane) = slot(&Source::Lane) else { return Ok(()) };
    let token = slot(&Source::StackPointer).map(|slot| slot.number);
    let feature = xml.create_element("feature").with_attribute(("name", "org.lanescope.focus"));
    feature.write_inner_content(|xml| {
        let register = |xml: &mut Xml, name: &str, bits: &str, number: usize, more: &[(&str, &str)]| {
            let number = number.to_string();
            let element = xml
                .create_element("reg")
                .with_attribute(("name", name))
                .with_attribute(("bitsize", bits))
                .with_attribute(("regnum", number.as_str()))
                .with_attribute(("encoding", "uint"));
            more.iter()
                .fold(element, |element, attribute| element.with_attribute(*attribute))
                .write_empty()?;
            Ok::<(), io::Error>(())
        };
        if let Some(token) = token.filter(|_| facade.is_lldb()) {
            let dwarf = X86_STACK_POINTER_DWARF.to_string();
            let more = [
                ("group", "general"),
                ("type", "data_ptr"),
                ("format", "hex"),
                ("dwarf_regnum", dwarf.as_str()),
                ("generic", "sp"),
            ];
            register(xml, LLDB_STACK_POINTER, "64", token, &more)?;
        }
        let dwarf = view::LANE_NUMBER.to_string();
        let invalid = token.map(|token| token.to_string());
        let mut more = vec![("group", "general")];
        more.extend((!facade.is_lldb()).then_some(("type", "uint32")));
        more.push(("format", "decimal"));
        more.push(("dwarf_regnum", dwarf.as_str()));
        more.extend(invalid.as_deref().map(|token| ("invalidate_regnums", token)));
        register(xml, LANE, &(lane.bytes * 8).to_string(), lane.number, &more)
    })?;
    Ok(())
}

fn x86_flags(xml: &mut Xml) -> io::Result<()> {
    let flags = xml.create_element("flags").with_attribute(("id", "i386_eflags"));
    flags.with_attribute(("size", "4")).write_inner_content(|xml| {
        xml.create_element("field")
            .with_attribute(("name", "CF"))
            .with_attribute(("start", "0"))
            .with_attribute(("end", "0"))
            .write_empty()?;
        Ok(())
    })?;
    Ok(())
}

/// The registers of one class, after the types that they use.
fn feature(xml: &mut Xml, facade: Facade, map: &RegisterMap, class: RegClass, group: &str) -> io::Result<()> {
    // A name of gdb's x86 core must not appear twice.
    let described = if facade == Facade::Gdb { map.short().len() } else { 0 };
    let slots = map.slots().get(described..).unwrap_or_default().iter();
    let members: Vec<(&Slot, &Register)> = slots
        .filter_map(|slot| match slot.source {
            Source::Wave(id) => Some((slot, map.kind.register(id)?)),
            Source::StackPointer | Source::Lane | Source::Absent { .. } => None,
        })
        .filter(|(_, register)| register.class == class)
        .collect();
    if members.is_empty() {
        return Ok(());
    }
    let name = format!("org.lanescope.{}.{group}", map.kind.target.name);
    xml.create_element("feature").with_attribute(("name", name.as_str())).write_inner_content(|xml| {
        let mut vectors: Vec<u16> = Vec::new();
        for (_, register) in &members {
            if register.is_vector() && !vectors.contains(&register.dwords) {
                vectors.push(register.dwords);
                lanes_type(xml, register.dwords)?;
            }
            flags_type(xml, map, register)?;
        }
        for (slot, register) in &members {
            write_register(xml, facade, map, slot, register, group)?;
        }
        Ok(())
    })?;
    Ok(())
}

/// A vector, so that `$v0[3]` is lane 3. gdb's formats provide the views: `p/d $v0[3]` as i32, `p/f $v0[3]` as f32.
///
/// A union of three vectors would name the views, but gdb does not subscript a union.
fn lanes_type(xml: &mut Xml, lanes: u16) -> io::Result<()> {
    xml.create_element("vector")
        .with_attribute(("id", lanes_name(lanes).as_str()))
        .with_attribute(("type", "uint32"))
        .with_attribute(("count", lanes.to_string().as_str()))
        .write_empty()?;
    Ok(())
}

fn lanes_name(lanes: u16) -> String {
    format!("lanes{lanes}")
}

/// The named bits of a status register.
fn flags_type(xml: &mut Xml, map: &RegisterMap, register: &Register) -> io::Result<()> {
    let Some(flags) = map.kind.fields(register) else { return Ok(()) };
    xml.create_element("flags")
        .with_attribute(("id", flags.name.as_str()))
        .with_attribute(("size", register.bytes().to_string().as_str()))
        .write_inner_content(|xml| {
            for field in &flags.fields {
                let one_bit = field.low == field.high;
                xml.create_element("field")
                    .with_attribute(("name", field.name.as_str()))
                    .with_attribute(("start", field.low.to_string().as_str()))
                    .with_attribute(("end", field.high.to_string().as_str()))
                    .with_attribute(("type", if one_bit { "bool" } else { "uint32" }))
                    .write_empty()?;
            }
            Ok(())
        })?;
    Ok(())
}

/// The element of a register.
///
/// A vector has the encoding `uint` for LLDB 22, which reads `vector` as an array of bytes: `$v3[17]` would be byte 17.
/// With `uint` the register has no type: LLDB prints the lanes in the given format, and rejects the subscript.
fn write_register(
    xml: &mut Xml,
    facade: Facade,
    map: &RegisterMap,
    slot: &Slot,
    register: &Register,
    group: &str,
) -> io::Result<()> {
    let gdb_type = match register.value_type {
        ValueType::CodePointer => "code_ptr".to_owned(),
        ValueType::Lanes => lanes_name(register.dwords),
        ValueType::Flags => match map.kind.fields(register) {
            Some(flags) => flags.name.clone(),
            None => plain(register).to_owned(),
        },
        ValueType::Unsigned | ValueType::LaneMask => plain(register).to_owned(),
    };
    let (encoding, format) = match register.is_vector() {
        true if facade.is_lldb() => ("uint", "vector-uint32"),
        true => ("vector", "vector-uint32"),
        false => ("uint", "hex"),
    };
    let mut element = xml
        .create_element("reg")
        .with_attribute(("name", register.name.as_str()))
        .with_attribute(("bitsize", register.bits().to_string().as_str()))
        .with_attribute(("regnum", slot.number.to_string().as_str()))
        .with_attribute(("type", gdb_type.as_str()))
        .with_attribute(("group", group))
        .with_attribute(("encoding", encoding))
        .with_attribute(("format", format));
    if let Some(dwarf) = register.dwarf {
        element = element.with_attribute(("dwarf_regnum", dwarf.0.to_string().as_str()));
    }
    if register.value_type == ValueType::CodePointer {
        element = element.with_attribute(("generic", "pc"));
    }
    element.write_empty()?;
    Ok(())
}

fn plain(register: &Register) -> &'static str {
    if register.dwords == 2 { "uint64" } else { "uint32" }
}
