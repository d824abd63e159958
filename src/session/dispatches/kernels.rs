//! The kernel of a dispatch: the capture's name, else the code object whose descriptor lies at the dispatch's
//! address. A ROCm core never has the name.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::capture::{Capture, Dispatch};
use crate::codeobject::{CodeObject, CodeObjectError};
use crate::debuginfo::source_name;
use crate::session::objects::Loaded;
use crate::session::{Dump, ObjectError};
use crate::units::Address;

/// A kernel descriptor's address for an agent; `None`: any agent.
type Descriptor = (Option<usize>, u64);

/// Maximum number of cached names in the source; past this the cache starts anew.
const MAX_NAMES: usize = 1024;

/// Cache of names by descriptor, one for each descriptor of a dispatch.
#[derive(Debug, Default)]
pub(in crate::session) struct Names {
    symbols: Mutex<HashMap<Descriptor, Option<Arc<str>>>>,
    /// Names in the source, by symbol.
    sources: Mutex<HashMap<String, Arc<str>>>,
}

impl Names {
    /// The name of a kernel in the source; its symbol if that is not mangled.
    pub(in crate::session) fn source(&self, symbol: &str) -> Arc<str> {
        let mut sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        match sources.get(symbol) {
            Some(name) => Arc::clone(name),
            None => {
                let name: Arc<str> = source_name(symbol).into();
                if sources.len() >= MAX_NAMES {
                    sources.clear();
                }
                sources.insert(symbol.to_owned(), Arc::clone(&name));
                name
            }
        }
    }
}

/// The name of a dispatch's kernel: the capture's, else by its descriptor; `None` if no code object has it.
pub(in crate::session) fn name(dump: &Dump, dispatch: &Dispatch) -> Option<String> {
    if let Some(name) = &dispatch.kernel {
        return Some(name.clone());
    }
    let agent = dump.capture().queues.get(dispatch.queue).map(|queue| queue.agent);
    let mut names = dump.kernel_names().symbols.lock().unwrap_or_else(PoisonError::into_inner);
    let name = names
        .entry((agent, dispatch.kernel_object?.0))
        .or_insert_with(|| of(dump, dispatch).ok().map(|(_, _, name)| name.into()));
    name.as_deref().map(str::to_owned)
}

/// The reason that a dispatch's kernel or its arguments are unknown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KernelError {
    /// No known code object holds the dispatch's kernel descriptor.
    #[error("no known code object holds the kernel descriptor at {0}")]
    NoObject(Address),
    /// The code object there is unreadable.
    #[error(transparent)]
    Object(#[from] ObjectError),
    /// The code object has no kernel descriptor at the dispatch's address.
    #[error("no kernel has its descriptor at {0}")]
    NoDescriptor(Address),
    /// The capture has neither the kernel's descriptor nor its name.
    #[error("neither the kernel's descriptor nor its name is known")]
    Unknown,
    /// No known code object has a kernel of that name.
    #[error("no known code object has a kernel {0}")]
    NoKernel(String),
    /// The code object's metadata is unreadable.
    #[error(transparent)]
    Metadata(#[from] CodeObjectError),
    /// The code object has no metadata.
    #[error("the code object has no metadata")]
    NoMetadata,
    /// The metadata has no kernel of that name.
    #[error("the code object's metadata has no kernel {0}")]
    NotInMetadata(String),
    /// The address of the arguments was not captured.
    #[error("the address of the kernel arguments was not captured")]
    NoArguments,
}

/// The code object and the symbol of the dispatched kernel.
pub(in crate::session) fn of<'d>(
    dump: &'d Dump,
    dispatch: &Dispatch,
) -> Result<(&'d Loaded, Arc<CodeObject>, String), KernelError> {
    let capture: &Capture = dump.capture();
    let agent = capture.queues.get(dispatch.queue).map(|queue| queue.agent);
    if let Some(address) = dispatch.kernel_object {
        let loaded = dump.objects().at(capture, address.0, agent).ok_or(KernelError::NoObject(address))?;
        let object = loaded.object(capture)?;
        let elf = loaded.elf(address.0);
        let kernel = object.kernels().find(|kernel| kernel.descriptor == elf);
        let kernel = kernel.ok_or(KernelError::NoDescriptor(address))?;
        return Ok((loaded, object, kernel.name));
    }
    let name = dispatch.kernel.as_ref().ok_or(KernelError::Unknown)?;
    let found = dump.objects().each_for(agent).find_map(|loaded| {
        let object = loaded.parsed(capture).as_ref().ok()?;
        let has = object.kernels().any(|kernel| kernel.name == *name);
        has.then(|| (loaded, Arc::clone(object)))
    });
    let (loaded, object) = found.ok_or_else(|| KernelError::NoKernel(name.clone()))?;
    loaded.mark();
    Ok((loaded, object, name.clone()))
}
