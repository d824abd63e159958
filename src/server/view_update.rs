//! Additions of what-if changes to a client's view. A changed PC may lie in a function that no stack held; the
//! client's first files have no variables of it.
//!
//! Measured: gdb 13 and lldb 22 read the list of libraries again at a stop reply with `library`. They accept a library
//! at another's addresses. For a PC, gdb takes the first file with a unit there. It therefore finds a unit that only
//! the further file has, and misses a function of a unit that the first file has.

use std::path::PathBuf;
use std::sync::Arc;

use super::state::State;
use crate::view::{View, ViewObject};

/// Maximum number of further files for a client; each adds at least one function.
const MAX_ADDED: usize = 64;

/// Additions to a client's view.
#[derive(Debug, Default)]
pub(super) struct ViewUpdate {
    view: Option<Arc<View>>,
    added: Vec<Added>,
    /// The pending notice for the next stop.
    words: String,
}

/// A further file.
#[derive(Debug)]
pub(super) struct Added {
    /// Its contents.
    pub(super) object: Arc<ViewObject>,
    /// Its path for LLDB.
    pub(super) path: Option<PathBuf>,
}

impl ViewUpdate {
    pub(super) fn view(&self) -> Option<&View> {
        self.view.as_deref()
    }

    /// A copy that stays unchanged while the session changes.
    pub(super) fn shared(&self) -> Option<Arc<View>> {
        self.view.clone()
    }

    pub(super) fn added(&self) -> &[Added] {
        &self.added
    }

    /// The pending notice for the user.
    pub(super) fn words(&mut self) -> String {
        std::mem::take(&mut self.words)
    }
}

/// Checks whether the client's changes added functions to stacks that its view lacks; returns whether the client must
/// load files.
pub(super) fn grow(state: &mut State) -> bool {
    // The view has the stacks of the capture; only this client's changes can add others.
    let is_changed = state.session.changes(0).is_ok_and(|changes| changes.left_out > 0);
    let Some(views) = state.views.clone().filter(|_| is_changed) else { return false };
    let capacity = MAX_ADDED.saturating_sub(state.grown.added.len());
    let Some(growth) = state.view().and_then(|view| views.grown(view, &*state.session, capacity)) else {
        return false;
    };
    state.grown.words.clear();
    for name in growth.in_old_units {
        state.grown.words.push_str(&format!(
            "{name} was on no stack when its unit was loaded: its variables are not shown. Use `monitor locals`, or start the server with --view unit.\n"
        ));
    }
    if growth.is_full {
        state.grown.words.push_str(&format!(
            "More than {MAX_ADDED} further files of code objects would be needed: what stacks lead to since has no \
             variables here. Start `lanescope serve` with --view all to have them.\n"
        ));
        return false;
    }
    let lldb = state.facade().is_lldb();
    let mut new = Vec::new();
    for object in growth.added {
        let path = lldb.then(|| views.add(&object));
        match path.transpose() {
            Ok(path) => new.push(Added { object, path }),
            Err(words) => log::error!("{words}"),
        }
    }
    let has_new = !new.is_empty();
    if has_new {
        state.documents.libraries = std::cell::OnceCell::new();
    }
    state.grown.added.extend(new);
    state.grown.view = Some(Arc::new(growth.view));
    has_new
}
