//! `qXfer:libraries`: loaded code objects, for debuggers that can load an AMDGPU ELF.
//!
//! Stock gdb and lldb cannot: gdb answers each one with "Shared library architecture unknown is not compatible with
//! target architecture i386:x86-64", lldb loads nothing. They are not told of libraries; `monitor` and
//! `qlanescope.CodeObjects` tell everyone.

use std::io;
use std::sync::Arc;

use quick_xml::Writer;

use super::super::facade::Facade;
use super::super::state::State;
use crate::session::CodeObjectInfo;

/// Whether a client of that facade can do anything with the list.
pub(crate) fn wanted(facade: Facade) -> bool {
    facade == Facade::AmdgcnGdb
}

/// The list, as gdb's DTD has it: `segment` is the address of ELF address 0.
pub(crate) fn build(state: &State) -> Arc<[u8]> {
    let mut xml = Writer::new(Vec::new());
    match write(&mut xml, &state.session.code_objects()) {
        Ok(()) => xml.into_inner().into(),
        Err(error) => {
            log::error!("cannot write the list of libraries: {error}");
            Arc::default()
        }
    }
}

fn write(xml: &mut Writer<Vec<u8>>, objects: &[CodeObjectInfo]) -> io::Result<()> {
    xml.create_element("library-list").with_attribute(("version", "1.0")).write_inner_content(|xml| {
        for object in objects {
            let library = xml.create_element("library").with_attribute(("name", object.name.as_str()));
            library.write_inner_content(|xml| {
                xml.create_element("segment")
                    .with_attribute(("address", object.address.to_string().as_str()))
                    .write_empty()?;
                Ok(())
            })?;
        }
        Ok(())
    })?;
    Ok(())
}
