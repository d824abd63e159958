//! Loaded code objects, for debuggers that can load one: an AMDGPU ELF if the client knows AMDGPU, else its view.
//!
//! Stock gdb gets the main view as the program (`qXfer:exec-file`, `qOffsets`) and the others as libraries; it reads
//! all through `vFile`. If gdb keeps another program, the main view is a library too. Stock lldb never requests files
//! of a remote: it gets names of files in a folder of this machine.
//!
//! lldb 22 keeps the files of an earlier connection. It drops files outside of the list, except for its program: its
//! first file, if it started without a program. It loads the new files before it drops the old ones, and forgets the
//! addresses of both. The first file of each list is therefore a stub without contents, and the first list of a
//! connection has only this stub. lldb 22 reads the list twice when it connects.

use std::io;
use std::sync::Arc;

use quick_xml::Writer;

use super::super::Flow;
use super::super::error::PacketError;
use super::super::facade::Facade;
use super::super::front::reply::Reply;
use super::super::front::router::{Handled, Request};
use super::super::state::State;
use super::vfile::{self, FOLDER, LIBRARY, OF_TARGET};
use crate::session::address::{Token, decode};
use crate::units::Address;
use crate::view::{self, STUB, ViewObject, file_name};

/// Bytes of gdb's cache line for stacks.
const STACK_LINE: u64 = 64;
/// Bytes of a return address of x86-64.
const RETURN_ADDRESS: u64 = 8;

/// Whether a client can use gdb's list.
pub(crate) fn wanted(state: &State) -> bool {
    match state.facade() {
        Facade::AmdgcnGdb => true,
        // A view of one code object may get another file later: see [`super::super::grown`].
        Facade::Gdb => state.view().is_some_and(|view| view.main().is_some()),
        Facade::Lldb | Facade::AmdgcnLldb => false,
    }
}

/// Views that gdb dropped: by `file`, `symbol-file` or `nosharedlibrary`.
#[derive(Debug, Default)]
pub(crate) struct MissingViews {
    /// Whether gdb has read the list.
    is_listed: bool,
    /// Whether gdb has read a stack as x86-64's since it last read the list.
    pub(crate) are_missed: bool,
    /// Whether the main view is a library until gdb has it as its program again.
    main_is_library: bool,
    /// Whether gdb has opened the main view as its program since then, still at the addresses of the file.
    has_program_again: bool,
    /// The last two reads of memory: address and length. The newer one is last.
    reads: [(u64, u64); 2],
}

impl MissingViews {
    /// gdb opens the main view as its program: `file target:/lanescope/NAME`, if it dropped the view before.
    pub(super) fn program_is_open(&mut self) {
        self.has_program_again = self.main_is_library;
    }

    /// gdb requests the program's offset: by `run` and `attach`, not by `file`.
    fn program_moves(&mut self) {
        self.main_is_library &= !self.has_program_again;
    }
}

/// gdb reads memory. Without the view of a PC's code it looks for x86-64's `ret` at the PC (1 byte), then reads the
/// stack: a line of its cache, which is rejected, and the return address in it. The view is then lost: the next stop
/// makes gdb read the list again. A user's read of either (`p *(char(*)[64])$sp`, `x/gx $sp`) lacks the others.
pub(super) fn note_read(state: &mut State, address: u64, length: u64) {
    let [code, line] = state.missing.reads;
    state.missing.reads = [line, (address, length)];
    let is_stack = line == (address, STACK_LINE) && length == RETURN_ADDRESS && code.1 == 1;
    if state.facade() != Facade::Gdb || !is_stack {
        return;
    }
    let Token::Window { .. } = decode(address) else { return };
    let wave = state.general.wave;
    let is_code = state.session.region(code.0, wave).code;
    if is_code && state.view().is_some_and(|view| view::is_read_without(view, &*state.session, address, wave))
    {
        missed(state);
    }
}

fn missed(state: &mut State) {
    let missing = &mut state.missing;
    if missing.is_listed && !missing.are_missed {
        (missing.are_missed, missing.main_is_library, missing.has_program_again) = (true, true, false);
        state.documents.libraries.take();
    }
}

/// gdb reads the list.
pub(crate) fn were_read(state: &mut State, _: Request<'_>, _: &mut Reply<'_>) -> Result<(), PacketError> {
    state.missing.is_listed = true;
    state.missing.are_missed = false;
    Ok(())
}

/// The list, by gdb's DTD: `segment` is the address of ELF address 0.
pub(crate) fn build(state: &State) -> Arc<[u8]> {
    let objects: Vec<(String, Address)> = match state.first_view() {
        Some(view) => {
            let main = view.main();
            let others =
                view.objects().iter().filter(|object| Some(object.index) != main.map(|main| main.index));
            let others = others.chain(state.grown.added().iter().map(|added| &added.object));
            let others = others.map(|object| (format!("{OF_TARGET}{FOLDER}{}", object.name), object.address));
            let main = main.filter(|_| state.missing.main_is_library || !vfile::has_program(state));
            let main = main.map(|main| (format!("{OF_TARGET}{FOLDER}{LIBRARY}{}", main.name), main.address));
            main.into_iter().chain(others).collect()
        }
        None => natives(state),
    };
    document(|xml| {
        xml.create_element("library-list").with_attribute(("version", "1.0")).write_inner_content(|xml| {
            for (name, address) in &objects {
                let library = xml.create_element("library").with_attribute(("name", name.as_str()));
                library.write_inner_content(|xml| {
                    xml.create_element("segment")
                        .with_attribute(("address", address.to_string().as_str()))
                        .write_empty()?;
                    Ok(())
                })?;
            }
            Ok(())
        })?;
        Ok(())
    })
}

/// Code objects for a gdb with amdgcn: files that `vFile` serves, and plain names for the user's `solib-search-path`.
fn natives(state: &State) -> Vec<(String, Address)> {
    let objects = state.session.code_objects().into_iter().enumerate();
    let named = objects.map(|(index, object)| match state.natives().get(index) {
        Some(Some(file)) => (format!("{OF_TARGET}{FOLDER}{}", file.name), object.address),
        Some(None) | None => (file_name(&object.name), object.address),
    });
    named.collect()
}

/// The list for LLDB, in the form of System V's loader: `l_addr` is the address of ELF address 0.
///
/// # Errors
/// The files cannot be written.
pub(crate) fn build_svr4(state: &State) -> Result<Arc<[u8]>, PacketError> {
    let (Some(view), Some(views)) = (state.first_view(), state.views.as_deref()) else {
        return Ok(Arc::default());
    };
    let folder =
        views.folder().map_err(|words| PacketError::new(super::super::error::IO, words.to_string()))?;
    Ok(document(|xml| {
        xml.create_element("library-list-svr4").with_attribute(("version", "1.0")).write_inner_content(
            |xml| {
                let stub = [(Address(0), folder.join(STUB))];
                let first = view.objects().iter().map(|object| (object.address, folder.join(&object.name)));
                let added = state.grown.added().iter();
                let added = added.filter_map(|added| Some((added.object.address, added.path.clone()?)));
                let objects = first.chain(added).filter(|_| state.stub_was_listed);
                for (index, (address, path)) in stub.into_iter().chain(objects).enumerate() {
                    xml.create_element("library")
                        .with_attribute(("name", path.to_string_lossy().as_ref()))
                        .with_attribute(("lm", format!("{:#x}", index + 1).as_str()))
                        .with_attribute(("l_addr", address.to_string().as_str()))
                        .with_attribute(("l_ld", address.to_string().as_str()))
                        .write_empty()?;
                }
                Ok(())
            },
        )?;
        Ok(())
    }))
}

/// The name of the program, for gdb.
pub(crate) fn program(state: &State) -> Option<String> {
    Some(format!("{OF_TARGET}{FOLDER}{}", state.first_view()?.main()?.name))
}

/// The main view, if gdb took it as its program. A gdb with its own program closes the view before it requests offsets
/// and libraries, or never opens it; the main view is then a library.
fn main_as_program(state: &State) -> Option<&ViewObject> {
    state.first_view()?.main().filter(|_| vfile::has_program(state))
}

/// The offset for a program other than this dump's view: no capture has addresses with this tag.
const AWAY: Address = Address(0x71 << 56);

/// `qOffsets`: the load offset of the program. Another program gets an unused offset: the view of an earlier dump has
/// the code objects' addresses, and gdb searches its program first. LLDB would apply it to its first file, and takes
/// addresses from its list of libraries.
pub(crate) fn offsets(state: &mut State, _: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    let has_main = state.first_view().is_some_and(|view| view.main().is_some());
    let address = match state.facade() {
        Facade::Gdb => has_main.then(|| main_as_program(state).map_or(AWAY, |main| main.address)),
        Facade::AmdgcnGdb => only_address(state),
        Facade::Lldb | Facade::AmdgcnLldb => None,
    };
    if state.facade() == Facade::Gdb {
        state.missing.program_moves();
        state.documents.libraries.take();
    }
    if let Some(address) = address {
        reply.text("TextSeg=").number(address.0);
    }
    Ok(Flow::Continue)
}

/// The load address of the one code object with the known PCs of all waves. A gdb with amdgcn requests the position of
/// its user's program without a name; with waves in several code objects the program is unknown.
fn only_address(state: &State) -> Option<Address> {
    let mut only = None;
    for wave in state.waves.iter() {
        let stack = state.session.activations(*wave, None, 1).ok();
        let Some(object) = stack.and_then(|stack| stack.frames.first()?.code_object) else { continue };
        if only.is_some_and(|only| only != object) {
            return None;
        }
        only = Some(object);
    }
    Some(state.session.code_objects().get(only?)?.address)
}

fn document(write: impl FnOnce(&mut Writer<Vec<u8>>) -> io::Result<()>) -> Arc<[u8]> {
    let mut xml = Writer::new(Vec::new());
    match write(&mut xml) {
        Ok(()) => xml.into_inner().into(),
        Err(error) => {
            log::error!("cannot write the list of libraries: {error}");
            Arc::default()
        }
    }
}
