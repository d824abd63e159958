//! The list of threads with names, as gdb reads it.

use std::sync::Arc;

use quick_xml::Writer;
use quick_xml::events::BytesText;

use super::super::fault::{Fault, IO};
use super::super::state::{State, thread_number};

/// All threads in one document.
pub(super) fn build(state: &State) -> Result<Arc<[u8]>, Fault> {
    let mut infos = Vec::with_capacity(state.waves.len());
    for wave in state.waves.iter() {
        infos.push((*wave, state.session.wave(*wave)?));
    }
    let mut xml = Writer::new(Vec::with_capacity(infos.len() * 80));
    let written = xml.create_element("threads").write_inner_content(|xml| {
        for (wave, info) in &infos {
            let id = format!("{:x}", thread_number(*wave));
            xml.create_element("thread")
                .with_attribute(("id", id.as_str()))
                .with_attribute(("name", info.name.as_str()))
                .write_text_content(BytesText::new(&super::super::say::state_of(info)))?;
        }
        Ok(())
    });
    written.map_err(|error| Fault::new(IO, error.to_string()))?;
    Ok(xml.into_inner().into())
}
