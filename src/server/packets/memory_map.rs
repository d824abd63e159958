//! `qXfer:memory-map`: the addresses that gdb may read.
//!
//! gdb reads the map once, and then rejects reads outside of it without a packet. The map must therefore include the
//! memory of every wave at any focus. It lists the plain addresses unchanged, and the 32-bit spaces whole, one range
//! for each tag. Images of code objects are listed whole: clients can write their missing bytes. All of it is `ram`,
//! since a client's changes can be anywhere.

use std::io;
use std::sync::Arc;

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};

use super::super::state::State;
use crate::capture::joined;
use crate::session::address;

/// The first address beyond those with tag 0x00, and the first of those with tag 0xff.
const PLAIN_END: u64 = 0x0100_0000_0000_0000;
const PLAIN_HIGH: u64 = 0xff00_0000_0000_0000;
/// The bytes of address space that one tag covers.
const TAG_BYTES: u64 = 1 << 56;
/// Maximum plain regions in the list; a dump with more has one region for all.
const MAX_REGIONS: usize = 4096;

/// The map, by gdb's DTD.
pub(crate) fn build(state: &State) -> Arc<[u8]> {
    let mut ranges = plain(state);
    for object in state.session.code_objects() {
        if let Some(more) = object.size.and_then(|size| size.checked_sub(1)) {
            ranges.push((object.address.0, object.address.0.saturating_add(more)));
        }
    }
    for space in &state.session.kind().target.spaces {
        if let Some(start) = address::encode(space.id, None, None, 0).map(|token| token & !(TAG_BYTES - 1)) {
            ranges.push((start, start + (TAG_BYTES - 1)));
        }
    }
    // An aperture holds the memory of the wave in focus, which differs for each wave.
    let apertures = state.session.kind();
    let apertures = apertures.target.spaces.iter().filter_map(|space| space.aperture);
    ranges.extend(apertures.map(|base| (base.0, base.0.saturating_add(u64::from(u32::MAX)))));
    if state.view().is_some() {
        let start = address::WINDOW << 56;
        ranges.push((start, start + (TAG_BYTES - 1)));
    }
    let mut xml = Writer::new(Vec::new());
    // gdb drops the whole map when two regions overlap.
    match write(&mut xml, &joined(ranges)) {
        Ok(()) => xml.into_inner().into(),
        Err(error) => {
            log::error!("cannot write the memory map: {error}");
            Arc::default()
        }
    }
}

/// The plain addresses with memory, at least for the wave in focus.
fn plain(state: &State) -> Vec<(u64, u64)> {
    let mut ranges = Vec::new();
    for (first, last) in [(0, PLAIN_END - 1), (PLAIN_HIGH, u64::MAX)] {
        let mut at = first;
        loop {
            let region = state.session.region(at, state.general.wave);
            if region.readable || region.name.is_some() {
                ranges.push((at, region.last.min(last)));
            }
            if ranges.len() > MAX_REGIONS {
                return vec![(0, PLAIN_END - 1), (PLAIN_HIGH, u64::MAX)];
            }
            match region.last.checked_add(1) {
                Some(next) if next > at && next <= last => at = next,
                _ => break,
            }
        }
    }
    ranges
}

fn write(xml: &mut Writer<Vec<u8>>, ranges: &[(u64, u64)]) -> io::Result<()> {
    xml.write_event(Event::Decl(BytesDecl::new("1.0", None, None)))?;
    let doctype = "memory-map PUBLIC \"+//IDN gnu.org//DTD GDB Memory Map V1.0//EN\" \
                   \"http://sourceware.org/gdb/gdb-memory-map.dtd\"";
    xml.write_event(Event::DocType(BytesText::from_escaped(doctype)))?;
    xml.create_element("memory-map").write_inner_content(|xml| {
        for (start, last) in ranges {
            xml.create_element("memory")
                .with_attribute(("type", "ram"))
                .with_attribute(("start", format!("{start:#x}").as_str()))
                .with_attribute(("length", format!("{:#x}", (last - start).saturating_add(1)).as_str()))
                .write_empty()?;
        }
        Ok(())
    })?;
    Ok(())
}
