//! The list of threads with names, in gdb's form.

use std::sync::Arc;

use quick_xml::Writer;
use quick_xml::events::BytesText;

use super::super::error::{IO, PacketError};
use super::super::messages;
use super::super::state::State;
use crate::session::WaveInfo;

/// All threads in one document.
pub(super) fn build(state: &State) -> Result<Arc<[u8]>, PacketError> {
    let threads = state.threads.all();
    let mut infos: Vec<(WaveInfo, usize)> = Vec::new();
    // A wave's lanes follow each other.
    for lanes in threads.chunk_by(|one, next| one.wave == next.wave) {
        let Some(thread) = lanes.first() else { continue };
        infos.push((state.session.wave(thread.wave)?, lanes.len()));
    }
    let infos = infos.iter().flat_map(|(info, lanes)| std::iter::repeat_n(info, *lanes));
    let mut xml = Writer::new(Vec::with_capacity(threads.len() * 80));
    let written = xml.create_element("threads").write_inner_content(|xml| {
        for (thread, info) in threads.iter().zip(infos) {
            let item = state.threads.item(*thread);
            let mark = messages::lane_mark(state, *thread, info);
            let id = format!("{:x}", state.number(*thread));
            xml.create_element("thread")
                .with_attribute(("id", id.as_str()))
                .with_attribute(("name", messages::name(info, *thread, item).as_str()))
                .write_text_content(BytesText::new(&messages::state_of(info, item, mark.as_deref())))?;
        }
        Ok(())
    });
    written.map_err(|error| PacketError::new(IO, error.to_string()))?;
    Ok(xml.into_inner().into())
}
