//! `vFile`: the files of views and, for a gdb with amdgcn, of code objects; read-only. A client's name never reaches
//! the file system.
//!
//! gdb manual, "File-I/O" (host I/O packets): numbers are hexadecimal, errors `F-1,ERRNO` by the protocol's own numbers.

use std::time::{SystemTime, UNIX_EPOCH};

use super::super::front::parse;
use super::super::front::reply::Reply;
use super::super::front::router::{Handled, Request};
use super::super::state::State;
use super::super::{Flow, MAX_READ};
use crate::view::{View, ViewFile, ViewObject};

/// The folder of the views' names.
pub(crate) const FOLDER: &str = "/lanescope/";
/// Prefix of a file's name in gdb's lists: with it gdb requests the file from the server, for any `sysroot`.
pub(crate) const OF_TARGET: &str = "target:";
/// Prefix of the name of a main view that is a library.
pub(crate) const LIBRARY: &str = "lib/";
/// Maximum number of open files of a client: gdb has one or two.
const MAX_OPEN: usize = 64;

/// `ENOENT`, `EBADF`, `EINVAL`, `EMFILE`, `EROFS` of the protocol.
const NO_ENTRY: u8 = 2;
const BAD_HANDLE: u8 = 9;
const INVALID: u8 = 22;
const TOO_MANY: u8 = 24;
const READ_ONLY: u8 = 30;
/// `O_WRONLY`, `O_RDWR`, `O_CREAT` and `O_TRUNC` of the protocol.
const WRITING: u64 = 1 | 2 | 0x200 | 0x400;
/// `S_IFREG` and read permission.
const MODE: u32 = 0o100_444;

/// A client's open files: views by their index in the list, handles by their index.
#[derive(Debug, Default)]
pub(crate) struct Handles(Vec<Option<Opened>>);

/// A view's index in the list, and whether it is open as the program.
#[derive(Clone, Copy, Debug)]
struct Opened {
    place: usize,
    is_program: bool,
}

/// `vFile:OPERATION:PARAMETERS`
pub(crate) fn answer(state: &mut State, request: Request<'_>, reply: &mut Reply<'_>) -> Handled {
    let (operation, parameters) = parse::split(request.args, b':');
    let done = perform(state, operation, parameters.unwrap_or_default(), reply);
    match done {
        Some(Ok(())) => {}
        Some(Err(errno)) => {
            reply.clear();
            reply.text("F-1,").number(u64::from(errno));
        }
        // An unknown operation gets the empty reply.
        None => reply.clear(),
    }
    Ok(Flow::Continue)
}

fn perform(
    state: &mut State,
    operation: &[u8],
    parameters: &[u8],
    reply: &mut Reply<'_>,
) -> Option<Result<(), u8>> {
    let mut numbers = parameters.split(|byte| *byte == b',').map(parse::number);
    let mut number = || numbers.next().flatten().ok_or(INVALID);
    Some(match operation {
        // All processes see the same files.
        b"setfs" => {
            reply.text("F0");
            Ok(())
        }
        b"open" => open(state, parameters, reply),
        b"close" => number().and_then(|handle| {
            let open = usize::try_from(handle).ok().and_then(|handle| state.handles.0.get_mut(handle));
            open.and_then(Option::take).ok_or(BAD_HANDLE)?;
            // The main view is a library or not, depending on the open files.
            state.documents.libraries.take();
            reply.text("F0");
            Ok(())
        }),
        b"fstat" => number().and_then(|handle| {
            let stat = stat(opened(state, handle)?);
            reply.text("F").number(stat.len() as u64).text(";").escaped(&stat);
            Ok(())
        }),
        b"pread" => read(state, number, reply),
        b"pwrite" | b"unlink" => Err(READ_ONLY),
        b"readlink" | b"stat" | b"lstat" | b"exists" | b"size" | b"mode" | b"MD5" => Err(NO_ENTRY),
        _ => return None,
    })
}

fn read(state: &State, mut number: impl FnMut() -> Result<u64, u8>, reply: &mut Reply<'_>) -> Result<(), u8> {
    let (handle, count, offset) = (number()?, number()?, number()?);
    let file = opened(state, handle)?;
    // Half of a packet holds the bytes even if all of them need escaping.
    let count = usize::try_from(count).unwrap_or(usize::MAX).min(MAX_READ - 64);
    let mut bytes = vec![0; count];
    let read = file.read(offset, &mut bytes);
    reply.text("F").number(read as u64).text(";").escaped(bytes.get(..read).unwrap_or_default());
    Ok(())
}

fn open(state: &mut State, parameters: &[u8], reply: &mut Reply<'_>) -> Result<(), u8> {
    let mut parts = parameters.split(|byte| *byte == b',');
    let name = parts.next().and_then(parse::bytes).ok_or(INVALID)?;
    let flags = parts.next().and_then(parse::number).ok_or(INVALID)?;
    let name = name.strip_prefix(FOLDER.as_bytes()).ok_or(NO_ENTRY)?;
    let is_library = name.starts_with(LIBRARY.as_bytes());
    let name = name.strip_prefix(LIBRARY.as_bytes()).unwrap_or(name);
    let place = files(state).position(|object| object.name.as_bytes() == name).ok_or(NO_ENTRY)?;
    let main = state.first_view().and_then(View::main);
    let is_main = main.is_some_and(|main| main.name.as_bytes() == name);
    let found = Opened { place, is_program: is_main && !is_library };
    if flags & WRITING != 0 {
        return Err(READ_ONLY);
    }
    let handles = &mut state.handles.0;
    let handle = match handles.iter().position(Option::is_none) {
        Some(free) => free,
        None if handles.len() < MAX_OPEN => {
            handles.push(None);
            handles.len() - 1
        }
        None => return Err(TOO_MANY),
    };
    if let Some(place) = handles.get_mut(handle) {
        *place = Some(found);
    }
    if found.is_program {
        state.missing.program_is_open();
    }
    state.documents.libraries.take();
    reply.text("F").number(handle as u64);
    Ok(())
}

/// Whether the client has the main view open as its program.
pub(crate) fn has_program(state: &State) -> bool {
    state.handles.0.iter().flatten().any(|opened| opened.is_program)
}

fn opened(state: &State, handle: u64) -> Result<&ViewFile, u8> {
    let handle = usize::try_from(handle).ok().and_then(|handle| *state.handles.0.get(handle)?);
    let Opened { place, is_program } = handle.ok_or(BAD_HANDLE)?;
    let object = files(state).nth(place).ok_or(BAD_HANDLE)?;
    Ok(if is_program { &object.program } else { &object.file })
}

/// All files: the client's first ones, and those added later.
fn files(state: &State) -> impl Iterator<Item = &ViewObject> {
    let first = state.first_view().map(View::objects).unwrap_or_default().iter();
    let added = state.grown.added().iter().map(|added| &added.object);
    first.chain(added).chain(state.natives().iter().flatten()).map(|object| &**object)
}

/// The protocol's `struct stat`, big-endian: device, inode, mode, links, user, group and device of a device in 4 bytes
/// each; size, block size and blocks in 8; three times in 4.
fn stat(file: &ViewFile) -> Vec<u8> {
    const BLOCK: u64 = 4096;
    // The file has the newest possible time: gdb warns if the source text is newer.
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as u32);
    // gdb treats files with the same name, inode, size and time as one file. The inode is the server's process id,
    // because a server has one dump.
    let inode = std::process::id();
    let mut out = Vec::with_capacity(64);
    for field in [0, inode, MODE, 1, 0, 0, 0] {
        out.extend(u32::to_be_bytes(field));
    }
    for field in [file.len(), BLOCK, file.len().div_ceil(512)] {
        out.extend(field.to_be_bytes());
    }
    for _ in 0..3 {
        out.extend(now.to_be_bytes());
    }
    out
}
