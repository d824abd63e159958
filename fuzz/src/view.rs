//! The view of each extent, read back, of arbitrary bytes and of a mutated fixture as in `code_object`, with waves at
//! its kernels. The view is an ELF file of bounded growth with readable debug information.

use std::sync::{Arc, LazyLock};

use gimli::Section as _;
use lanescope::capture::{
    Agent, Backing, BackingId, Capture, CodeObject, Extent, MemoryBacking, RegisterBlock,
};
use lanescope::codeobject;
use lanescope::session::{Dump, Session};
use lanescope::units::{Address, LaneSet, WaveSize};
use lanescope::view::{self, View};
use object::{Object as _, ObjectSection as _, ObjectSymbol as _};

use crate::shared::{TARGETS, code_objects, mutated, wave};

/// Code objects with all forms of debug information.
static SOUND: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| code_objects(&["tests/fixtures/code"]));
const LOADED: u64 = 0x7f00_0010_0000;
/// Limits of a view's size: bytes per byte of the code object, and a constant for headers, symbols and lists.
const MOST: (u64, u64) = (512, 1 << 20);

pub fn run(bytes: &[u8]) {
    look(bytes.to_vec());
    if let Some(mutated) = mutated(&SOUND, bytes) {
        look(mutated);
    }
}

fn look(bytes: Vec<u8>) {
    let size = bytes.len() as u64;
    let Ok(object) = codeobject::CodeObject::parse(bytes.clone()) else { return };
    let mut places: Vec<u64> = object.kernels().take(2).filter_map(|kernel| Some(kernel.entry?.0)).collect();
    places.extend(object.text().map(|text| text.start.0.wrapping_add(0x40)));
    let dump = dump(bytes, &places);
    let Ok(session) = Session::new(Arc::clone(&dump), None) else { return };
    for extent in [view::Extent::Stacks, view::Extent::Unit, view::Extent::All] {
        let view = View::new(&dump, &session, extent);
        for object in view.objects() {
            assert!(
                object.file.len() <= size.saturating_mul(MOST.0) + MOST.1,
                "{} of {size}",
                object.file.len()
            );
            let mut file = Vec::new();
            object.file.write_to(&mut file).expect("a vector takes all");
            read_back(&file);
        }
    }
}

/// Reads the file as other tools do: every section, every DIE with its lists, every line row, every frame.
fn read_back(file: &[u8]) {
    let elf = object::File::parse(file).expect("a view is an ELF file");
    assert_eq!(elf.architecture(), object::Architecture::X86_64);
    for section in elf.sections() {
        section.data().expect("a section lies within the file");
    }
    for symbol in elf.symbols() {
        let _ = symbol.name().expect("a symbol has a name");
    }
    let load = |id: gimli::SectionId| {
        let section = elf.section_by_name(id.name());
        let bytes = section.map_or(&[][..], |section| section.data().expect("as before"));
        Ok::<_, gimli::Error>(gimli::EndianSlice::new(bytes, gimli::LittleEndian))
    };
    let dwarf = gimli::Dwarf::load(load).expect("sections were read");
    let mut units = dwarf.units();
    while let Some(header) = units.next().expect("units follow one another") {
        let unit = dwarf.unit(header).expect("a unit has a root");
        let unit = unit.unit_ref(&dwarf);
        let mut entries = unit.entries_raw(None).expect("DIEs");
        let mut entry = gimli::DebuggingInformationEntry::null();
        while !entries.is_empty() {
            if !entries.read_entry(&mut entry).expect("a DIE") {
                continue;
            }
            for attribute in &entry.attrs {
                if let gimli::AttributeValue::UnitRef(at) = attribute.value() {
                    assert!(at.is_in_bounds(&unit), "{} leads out of its unit", attribute.name());
                }
                if let Some(mut list) = unit.attr_locations(attribute.value()).expect("a location list") {
                    while list.next().expect("an entry of a location list").is_some() {}
                }
            }
            let mut ranges = unit.die_ranges(&entry).expect("ranges");
            while ranges.next().expect("a range").is_some() {}
        }
        if let Some(program) = unit.line_program.clone() {
            let mut rows = program.rows();
            while rows.next_row().expect("a row").is_some() {}
        }
    }
    let frames = gimli::DebugFrame::load(load).expect("as before");
    let bases = gimli::BaseAddresses::default();
    let mut entries = gimli::UnwindSection::entries(&frames, &bases);
    while let Some(entry) = entries.next().expect("frames follow one another") {
        if let gimli::CieOrFde::Fde(partial) = entry {
            partial.parse(gimli::UnwindSection::cie_from_offset).expect("a frame");
        }
    }
}

fn dump(object: Vec<u8>, places: &[u64]) -> Arc<Dump> {
    let kind = TARGETS.kind("gfx90a", WaveSize::W64).expect("built in");
    let mut bytes = object;
    let length = bytes.len() as u64;
    let mut capture = Capture { name: "fuzz".to_owned(), ..Capture::default() };
    let target = TARGETS.target("gfx90a").expect("built in");
    capture.agents.push(Agent { id: 1, target, name: None, apertures: Default::default(), hardware: None });
    capture.code_objects.push(CodeObject {
        address: Address(LOADED),
        extent: Some(Extent { backing: BackingId(0), offset: 0, length }),
        name: "fuzzed".to_owned(),
        ..CodeObject::default()
    });
    let pc = kind.named("pc").expect("a register of gfx90a");
    for (place, id) in places.iter().zip(1..) {
        let offset = bytes.len() as u64;
        bytes.extend(LOADED.wrapping_add(*place).to_le_bytes());
        let width = pc.bytes() as u16;
        let block = RegisterBlock { first: pc.id, count: 1, width, offset, known: LaneSet(u64::MAX) };
        capture.waves.push(wave(id, &kind, vec![(BackingId(0), block)], Default::default()));
    }
    let backing: Arc<dyn Backing> = Arc::new(MemoryBacking::new("fuzz", bytes));
    capture.backings.push(backing);
    Arc::new(Dump::new(capture, Vec::new()))
}
