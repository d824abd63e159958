//! What one client has agreed on and looks at.

use std::cell::OnceCell;
use std::sync::Arc;

use super::MAX_READ;
use super::client::ClientOptions;
use super::facade::Facade;
use super::fault::{Fault, NO_WAVE};
use super::front::parse::{self, Thread};
use super::packets::documents::Documents;
use super::packets::vfile::Handles;
use super::registers::RegisterMap;
use super::selection::Selection;
use crate::session::{Inspect, Unreadable};
use crate::units::{LaneId, Pc, WaveId};
use crate::view::{self, View, Views};

/// Features that a client switched on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Features {
    /// gdb 16 and later: `E.words` is understood everywhere but in `m`.
    pub(super) error_message: bool,
    /// lldb: `Enn;words in hex`.
    pub(super) error_strings: bool,
    /// No acknowledgements after the `OK` to this.
    pub(super) no_acks: bool,
    /// lldb: stop replies list all threads.
    pub(super) list_threads: bool,
}

/// A stop as a client is told of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stop {
    /// The wave that stopped.
    pub(super) wave: WaveId,
    /// Whether it is the answer to a request to resume.
    pub(super) refused: bool,
}

/// What one client has agreed on and looks at.
pub(super) struct State {
    /// Whom it asks.
    pub(super) session: Box<dyn Inspect>,
    /// The served waves; thread ids are their ordinals plus one.
    pub(super) waves: Arc<[WaveId]>,
    /// The stop that the client was told of last.
    pub(super) stop: Stop,
    /// What was negotiated.
    pub(super) features: Features,
    /// The client's general thread: what `Hg` set, and before that the one that `?` named.
    pub(super) general: WaveId,
    /// Where the user is: see [`State::selected`].
    pub(super) selection: Selection,
    /// Where memory is read to, so that no packet allocates.
    pub(super) buffer: Vec<u8>,
    /// XML and JSON that clients read piece by piece.
    pub(super) documents: Documents,
    /// Where `qsThreadInfo` goes on, an index into `waves`.
    pub(super) next_thread: usize,
    /// Whether the greeting was shown.
    pub(super) greeted: bool,
    /// Code objects for debuggers that know no AMDGPU.
    pub(super) views: Option<Arc<Views>>,
    /// Files of views that the client has open.
    pub(super) handles: Handles,
    facade: Facade,
    /// Whether the user said what the client is.
    forced: bool,
    /// Whether the client is gdb beyond doubt.
    gdb: bool,
    registers: OnceCell<Arc<RegisterMap>>,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State")
            .field("facade", &self.facade)
            .field("features", &self.features)
            .field("general", &self.general)
            .finish_non_exhaustive()
    }
}

impl State {
    /// The state of a client that said nothing yet.
    pub(super) fn new(session: Box<dyn Inspect>, options: ClientOptions) -> Self {
        let ClientOptions { facade, views } = options;
        Self {
            views,
            handles: Handles::default(),
            waves: session.waves(),
            general: session.first_wave(),
            selection: Selection::new(session.first_wave()),
            stop: Stop { wave: session.first_wave(), refused: false },
            session,
            features: Features::default(),
            buffer: vec![0; MAX_READ],
            documents: Documents::default(),
            next_thread: 0,
            greeted: false,
            // A client that gives nothing away is taken for gdb: its description is the stricter one.
            facade: facade.unwrap_or(Facade::Gdb),
            forced: facade.is_some(),
            gdb: facade.is_some_and(|facade| !facade.is_lldb()),
            registers: OnceCell::new(),
        }
    }

    /// What the client is served.
    pub(super) fn facade(&self) -> Facade {
        self.facade
    }

    /// Looks whether a packet gives away what the client is.
    pub(super) fn recognise(&mut self, name: &str, body: &[u8]) {
        if self.forced {
            return;
        }
        let Some(facade) = Facade::betrayed_by(name, body) else { return };
        self.gdb = !facade.is_lldb();
        if facade != self.facade {
            log::debug!("the client is {facade}");
            self.facade = facade;
            self.registers = OnceCell::new();
            self.documents = Documents::default();
        }
    }

    /// Whether the client is some gdb.
    pub(super) fn is_gdb(&self) -> bool {
        self.gdb
    }

    /// The views for this client; `None` where it loads code objects by itself, or gets none.
    pub(super) fn view(&self) -> Option<&View> {
        let views = self.views.as_deref().filter(|_| !self.facade.is_amdgcn())?;
        Some(views.get())
    }

    /// Whether addresses for this client name the lane: LLDB keeps memory by address, whatever lane is in focus.
    pub(super) fn names_lanes(&self) -> bool {
        self.facade.is_lldb()
    }

    /// What `rsp` holds for a wave: the token of its first window.
    pub(super) fn stack_pointer(&self, wave: WaveId) -> Result<Option<u64>, Unreadable> {
        if self.view().is_none() {
            return Ok(None);
        }
        view::stack_pointer(&*self.session, wave, self.session.focus(wave), self.names_lanes())
    }

    /// The PC that a client sees: that of the lane in focus, where its stack is its own.
    pub(super) fn own_pc(&self, wave: WaveId) -> Result<Option<Pc>, Unreadable> {
        if self.view().is_none() {
            return Ok(None);
        }
        let lane: LaneId = self.session.focus(wave);
        if !self.session.has_own_stack(wave, lane)? {
            return Ok(None);
        }
        let stack = self.session.activations(wave, Some(lane), 1)?;
        Ok(stack.frames.first().map(|frame| frame.pc))
    }

    /// The wave that the user looks at.
    pub(super) fn selected(&self) -> WaveId {
        if self.gdb { self.selection.wave() } else { self.general }
    }

    /// Makes a wave the one that the user looks at.
    pub(super) fn select(&mut self, wave: WaveId) {
        self.general = wave;
        self.selection.choose(wave);
    }

    /// The numbering of registers.
    pub(super) fn registers(&self) -> &Arc<RegisterMap> {
        self.registers.get_or_init(|| {
            Arc::new(RegisterMap::new(self.facade, self.session.as_ref(), self.view().is_some()))
        })
    }

    /// The wave that a thread id in a packet names; `None` for any or all threads.
    pub(super) fn named(&self, thread: &[u8]) -> Result<Option<WaveId>, Fault> {
        match parse::thread(thread).ok_or(Fault::malformed("not a thread id"))? {
            Thread::Any | Thread::All => Ok(None),
            Thread::Id(id) => self.wave_of(id).map(Some),
        }
    }

    /// The wave of a thread number.
    pub(super) fn wave_of(&self, thread: u64) -> Result<WaveId, Fault> {
        let ordinal = thread.checked_sub(1).and_then(|ordinal| u32::try_from(ordinal).ok());
        let wave = ordinal.map(WaveId).filter(|wave| self.session.has_wave(*wave));
        wave.ok_or_else(|| Fault::new(NO_WAVE, format!("no thread {thread}")))
    }

    /// The wave that `;thread:ID;` among the pairs names.
    pub(super) fn named_in(&self, pairs: &[u8]) -> Result<Option<WaveId>, Fault> {
        let thread = parse::pairs(pairs).find(|(key, _)| *key == b"thread");
        thread.map_or(Ok(None), |(_, thread)| self.named(thread))
    }
}

/// The thread number of a wave.
pub(super) fn thread_number(wave: WaveId) -> u64 {
    u64::from(wave.0) + 1
}
