//! What a client's view gains by what-if changes: a PC that is written to a function which no stack held has no variables
//! in the files that the client began with.
//!
//! Measured: gdb 13 and lldb 22 ask for the list of libraries anew where a stop reply says `library`, and take one at the
//! addresses of another. gdb looks a PC up in the files in their order and takes the first with a unit there: a unit that
//! the first file has not is found in the further one, a function of one that it has is not.

use std::path::PathBuf;
use std::sync::Arc;

use super::state::State;
use crate::view::{View, ViewObject};

/// Further files that a client is given at the most; each has a function at least that those before have not.
const MAX_ADDED: usize = 64;

/// What came to a client's view.
#[derive(Debug, Default)]
pub(super) struct Grown {
    view: Option<Arc<View>>,
    added: Vec<Added>,
    /// What the user is to be told at the next stop.
    words: String,
}

/// A further file.
#[derive(Debug)]
pub(super) struct Added {
    /// What is in it.
    pub(super) object: Arc<ViewObject>,
    /// Where LLDB finds it.
    pub(super) path: Option<PathBuf>,
}

impl Grown {
    pub(super) fn view(&self) -> Option<&View> {
        self.view.as_deref()
    }

    /// The same, to keep while the session changes.
    pub(super) fn shared(&self) -> Option<Arc<View>> {
        self.view.clone()
    }

    pub(super) fn added(&self) -> &[Added] {
        &self.added
    }

    /// What the user has not been told yet.
    pub(super) fn words(&mut self) -> String {
        std::mem::take(&mut self.words)
    }
}

/// Looks whether the client's changes brought functions onto stacks that its view has not; whether it has to load files.
pub(super) fn grow(state: &mut State) -> bool {
    // The stacks of the capture are in the view; only this client's changes lead elsewhere.
    let is_changed = state.session.changes(0).is_ok_and(|changes| changes.left_out > 0);
    let Some(views) = state.views.clone().filter(|_| is_changed) else { return false };
    let room = MAX_ADDED.saturating_sub(state.grown.added.len());
    let Some(growth) = state.view().and_then(|view| views.grown(view, &*state.session, room)) else {
        return false;
    };
    state.grown.words.clear();
    for name in growth.in_old_units {
        state.grown.words.push_str(&format!(
            "{name} was on no stack when its unit was loaded, so that its variables are not shown; `monitor locals` has \
             them, and so has a server that is started with --view unit.\n"
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
