//! The negotiated features and the selection of one client.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::sync::Arc;

use super::MAX_READ;
use super::client::ClientOptions;
use super::error::{NO_WAVE, PacketError, READ_ONLY};
use super::facade::Facade;
use super::front::parse;
use super::monitor_lanes::MonitorLanes;
use super::packets::code::CodeReads;
use super::packets::documents::Documents;
use super::packets::libraries::MissingViews;
use super::packets::vfile::Handles;
use super::registers::RegisterMap;
use super::selection::Selection;
use super::threads::{Thread, Threads};
use super::view_update::ViewUpdate;
use crate::session::{Inspect, ReadError};
use crate::units::{LaneId, Pc, WaveId};
use crate::view::{self, TypedMemory, View, ViewObject, Views};

/// Features that a client switched on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Features {
    /// gdb 16 and later: it understands `E.words` everywhere except in `m`.
    pub(super) error_message: bool,
    /// lldb: `Enn;words in hex`.
    pub(super) error_strings: bool,
    /// No acknowledgements after the `OK` to this.
    pub(super) no_acks: bool,
    /// lldb: stop replies list all threads.
    pub(super) list_threads: bool,
}

/// The reason of the last refused write of memory.
#[derive(Debug, Default)]
pub(super) struct RefusedWrite {
    words: String,
    /// Whether a stop has shown it.
    is_shown: bool,
}

impl RefusedWrite {
    /// Stores and logs a refusal.
    pub(super) fn note(&mut self, words: &str) {
        log::info!("a write of memory is refused: {words}");
        words.clone_into(&mut self.words);
        self.is_shown = false;
    }

    fn notice(&self) -> Option<String> {
        (!self.words.is_empty()).then(|| format!("the last refused write: {}", self.words))
    }

    /// A line for a stop, once for each refusal.
    pub(super) fn line(&mut self) -> String {
        if std::mem::replace(&mut self.is_shown, true) {
            return String::new();
        }
        self.notice().map_or_else(String::new, |words| format!("Note: {words}\n"))
    }
}

/// A stop for a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stop {
    /// The thread that stopped.
    pub(super) thread: Thread,
    /// Whether it answers a request to resume.
    pub(super) refused: bool,
}

/// The negotiated features and the selection of one client.
pub(super) struct State {
    /// The session.
    pub(super) session: Box<dyn Inspect>,
    /// The served waves.
    pub(super) waves: Arc<[WaveId]>,
    /// The threads: those waves, or lanes of them.
    pub(super) threads: Arc<Threads>,
    /// The last reported stop.
    pub(super) stop: Stop,
    /// The negotiated features.
    pub(super) features: Features,
    /// The client's general thread: the one of `Hg`, and before that the one of `?`.
    pub(super) general: Thread,
    /// The user's selection: see [`State::selected`].
    pub(super) selection: Selection,
    /// Waves whose focus the client has moved.
    pub(super) moved: HashSet<WaveId>,
    /// Waves whose lane of `monitor` is not the lane in focus, which the client prints.
    monitor_lanes: MonitorLanes,
    /// Whether the user named the selected thread in a command, `monitor thread N`.
    pub(super) is_chosen: bool,
    /// The buffer for reads of memory, so that no packet allocates.
    pub(super) buffer: Vec<u8>,
    /// XML and JSON that clients read in pieces.
    pub(super) documents: Documents,
    /// The next position of `qsThreadInfo`, an index into the threads.
    pub(super) next_thread: usize,
    /// Whether it reads a pipe.
    pub(super) is_piped: bool,
    /// Whether the greeting was shown.
    pub(super) greeted: bool,
    /// Code objects for debuggers that know no AMDGPU.
    pub(super) views: Option<Arc<Views>>,
    /// Additions of its changes to them.
    pub(super) grown: ViewUpdate,
    /// The address after LLDB's last short line, and the number of bytes that the line lacks.
    pub(super) short_line: Option<(u64, u64)>,
    /// The client's reads of memory through its view.
    pub(super) typed: TypedMemory,
    /// The reason of the last rejected write of memory, which neither debugger prints.
    pub(super) refused: RefusedWrite,
    /// The client's open files of views.
    pub(super) handles: Handles,
    /// Whether gdb has begun to prepare a call: it writes registers of the arguments next.
    pub(super) prepares_call: bool,
    /// The client's pattern of code reads.
    pub(super) code: CodeReads,
    /// Whether LLDB has read a list of files with only the stub.
    pub(super) stub_was_listed: bool,
    /// Pending notices for the next text that the client prints.
    notes: String,
    /// The state of views that gdb lost.
    pub(super) missing: MissingViews,
    /// The first thread of LLDB's list with a stop reason there: LLDB keeps the reasons of threads that did not run.
    pub(super) first_with_reason: Option<Thread>,
    /// Whether the client's last request removed a breakpoint, as LLDB does before it steps off it.
    pub(super) has_removed_breakpoint: bool,
    /// Whether the first stop is the client's last request.
    pub(super) is_at_first_stop: bool,
    /// Whether the client gets amdgcn, and does not know it.
    pub(super) lacks_architecture: bool,
    /// Whether the client keeps the connection after the process (`!`).
    pub(super) is_extended: bool,
    /// Whether the client has killed the process, or detached from it.
    pub(super) is_gone: bool,
    facade: Facade,
    /// Whether the user chose the facade.
    forced: bool,
    /// Whether the client is certainly gdb.
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
    /// The state of a client that has sent nothing yet.
    pub(super) fn new(session: Box<dyn Inspect>, options: ClientOptions) -> Self {
        let ClientOptions { facade, views, threads } = options;
        let waves = session.waves();
        let threads = threads.unwrap_or_else(|| Arc::new(Threads::of_waves(&waves, session.first_wave())));
        let first = threads.first();
        Self {
            views,
            grown: ViewUpdate::default(),
            short_line: None,
            typed: TypedMemory::default(),
            refused: RefusedWrite::default(),
            handles: Handles::default(),
            prepares_call: false,
            code: CodeReads::default(),
            stub_was_listed: false,
            notes: String::new(),
            missing: MissingViews::default(),
            first_with_reason: None,
            has_removed_breakpoint: false,
            is_at_first_stop: false,
            lacks_architecture: false,
            is_extended: false,
            is_gone: false,
            waves,
            threads,
            general: first,
            selection: Selection::new(first),
            is_chosen: false,
            moved: HashSet::new(),
            monitor_lanes: MonitorLanes::default(),
            stop: Stop { thread: first, refused: false },
            session,
            features: Features::default(),
            buffer: vec![0; MAX_READ],
            documents: Documents::default(),
            next_thread: 0,
            is_piped: false,
            greeted: false,
            // Without evidence the facade is gdb's: its description is the stricter one.
            facade: facade.unwrap_or(Facade::Gdb),
            forced: facade.is_some(),
            gdb: facade.is_some_and(|facade| !facade.is_lldb()),
            registers: OnceCell::new(),
        }
    }

    /// The client's facade.
    pub(super) fn facade(&self) -> Facade {
        self.facade
    }

    /// Checks a packet for evidence of the client. The user's choice holds, except for a client that identifies itself
    /// in `qSupported` and does not use the chosen dialect: it could print nothing.
    pub(super) fn recognise(&mut self, name: &str, body: &[u8]) {
        let Some(facade) = Facade::betrayed_by(name, body, self.features.no_acks) else { return };
        if self.forced {
            if name != "qSupported" || facade.is_lldb() == self.facade.is_lldb() {
                return;
            }
            let (chosen, client) = (self.facade, facade);
            log::warn!(
                "the client is {client}, not {chosen}: it is served as {client}; start without --client {chosen}"
            );
            self.note(&format!(
                "This client is {client}, and the server was started with --client {chosen}: {client} is served as {client}. \
                 Start the server without --client, which recognises both.\n"
            ));
        }
        self.gdb = !facade.is_lldb();
        if facade != self.facade {
            log::debug!("the client is {facade}");
            self.facade = facade;
            self.registers = OnceCell::new();
            self.documents = Documents::default();
        }
    }

    /// Adds a notice to the next text that the client prints.
    pub(super) fn note(&mut self, words: &str) {
        if !self.notes.contains(words) {
            self.notes.push_str(words);
        }
    }

    /// The pending notices.
    pub(super) fn take_notes(&mut self) -> String {
        let mut notes = std::mem::take(&mut self.notes);
        if self.missing.are_missed {
            notes.push_str(
                "gdb has dropped the view of this code: `sharedlibrary` or `stepi` loads it again.\n",
            );
        }
        notes
    }

    /// Requires that the client has a process.
    ///
    /// # Errors
    /// The client has killed it or detached from it.
    pub(super) fn has_process(&self) -> Result<(), PacketError> {
        match self.is_gone {
            true => {
                Err(PacketError::new(NO_WAVE, "there is no process: `run` brings the captured state back"))
            }
            false => Ok(()),
        }
    }

    /// The client's name in messages.
    pub(super) fn client(&self) -> &'static str {
        if self.facade.is_lldb() { "lldb" } else { "gdb" }
    }

    /// Whether the client is some gdb.
    pub(super) fn is_gdb(&self) -> bool {
        self.gdb
    }

    /// The view at the client's start; `None` if it loads code objects itself, or gets none.
    pub(super) fn first_view(&self) -> Option<&View> {
        let views = self.views.as_deref().filter(|_| !self.facade.is_amdgcn())?;
        Some(views.get())
    }

    /// The same with the later additions.
    pub(super) fn view(&self) -> Option<&View> {
        let first = self.first_view()?;
        Some(self.grown.view().unwrap_or(first))
    }

    /// The files of code objects for a gdb with amdgcn, in the capture's order; empty for other clients.
    pub(super) fn natives(&self) -> &[Option<Arc<ViewObject>>] {
        let views = self.views.as_deref().filter(|_| self.facade == Facade::AmdgcnGdb);
        views.map(Views::natives).unwrap_or_default()
    }

    /// The notices about the dump and about its view.
    pub(super) fn notices(&self) -> Vec<String> {
        let mut notices = self.session.notices();
        notices.extend(self.facade.note(&self.session.kind().target));
        let problems = self.view().into_iter().flat_map(View::problems);
        notices.extend(problems.map(|problem| format!("the view has a problem: {problem}")));
        notices.extend(self.view().into_iter().flat_map(View::unmapped_sources));
        notices.extend(self.refused.notice());
        notices
    }

    /// Whether addresses for this client name the lane. LLDB keeps memory by address for any lane in focus, and a
    /// thread that is a lane is never another one.
    fn names_lanes(&self, thread: Thread) -> bool {
        self.facade.is_lldb() || thread.lane.is_some()
    }

    /// The lane of `monitor` and of our own packets: a thread's own, or the user's last choice.
    pub(super) fn lane(&self, thread: Thread) -> LaneId {
        let chosen = self.monitor_lanes.lane(thread.wave);
        thread.lane.or(chosen).unwrap_or_else(|| self.session.focus(thread.wave))
    }

    /// The lane that the client prints of a thread: its own, or the one in focus.
    pub(super) fn shown_lane(&self, thread: Thread) -> LaneId {
        thread.lane.unwrap_or_else(|| self.session.focus(thread.wave))
    }

    /// The value of `rsp` for a thread: the token of its first window.
    pub(super) fn stack_pointer(&self, thread: Thread) -> Result<Option<u64>, ReadError> {
        if self.view().is_none() {
            return Ok(None);
        }
        view::stack_pointer(&*self.session, thread.wave, self.shown_lane(thread), self.names_lanes(thread))
    }

    /// The client's PC: that of the thread's lane, if it has a stack of its own. For a wave's thread without a view the
    /// client sees the wave's stack.
    pub(super) fn own_pc(&self, thread: Thread) -> Result<Option<Pc>, ReadError> {
        if thread.lane.is_none() && self.view().is_none() {
            return Ok(None);
        }
        let lane = self.shown_lane(thread);
        if !self.session.has_own_stack(thread.wave, lane)? {
            return Ok(None);
        }
        let stack = self.session.activations(thread.wave, Some(lane), 1)?;
        Ok(stack.frames.first().map(|frame| frame.pc))
    }

    /// The selected thread.
    pub(super) fn selected(&self) -> Thread {
        if self.gdb { self.selection.thread() } else { self.general }
    }

    /// Selects a thread.
    pub(super) fn select(&mut self, thread: Thread) -> Result<(), ReadError> {
        self.selection.choose(thread);
        self.is_chosen = false;
        self.look_at(thread)
    }

    /// Makes a thread the client's general one. If the lanes of its wave are threads, the focus moves to the last
    /// selected one.
    pub(super) fn look_at(&mut self, thread: Thread) -> Result<(), ReadError> {
        self.is_chosen &= self.general == thread;
        self.general = thread;
        thread.lane.map_or(Ok(()), |lane| self.session.set_focus(thread.wave, lane))
    }

    /// Chooses the lane of a wave that is one thread. `is_shown`: the client prints it at once; otherwise it is the
    /// lane of `monitor` until the client drops its cached values.
    ///
    /// # Errors
    /// The lane does not exist, or is another thread.
    pub(super) fn choose_lane(
        &mut self,
        thread: Thread,
        lane: LaneId,
        is_shown: bool,
    ) -> Result<(), PacketError> {
        match thread.lane {
            Some(own) if own != lane => {
                let other = Thread { lane: Some(lane), ..thread };
                let there = match self.threads.index(other) {
                    Some(_) => format!("lane {lane} is thread {}", self.shown(other)),
                    None => format!("no thread is lane {lane}, which is not active"),
                };
                Err(PacketError::new(READ_ONLY, format!("this thread is lane {own}; {there}")))
            }
            _ if is_shown => self.focus(thread.wave, lane),
            _ => {
                let size = self.session.wave(thread.wave)?.kind.wave_size;
                if !size.has(lane) {
                    return Err(ReadError::NoSuchLane { lane, lanes: size.lanes() }.into());
                }
                match self.shown_lane(thread) == lane {
                    true => self.monitor_lanes.follow(thread.wave),
                    false => self.monitor_lanes.choose(thread.wave, lane),
                }
                Ok(())
            }
        }
    }

    /// Sets the focus of the wave to the lane that the client prints from here on.
    fn focus(&mut self, wave: WaveId, lane: LaneId) -> Result<(), PacketError> {
        self.session.set_focus(wave, lane)?;
        self.monitor_lanes.follow(wave);
        self.moved.insert(wave);
        self.forget_list();
        Ok(())
    }

    /// Records the client's write of the register of the lane in focus, or (`is_pc`) of the PC.
    pub(super) fn was_written(&mut self, thread: Thread, is_pc: bool) {
        self.monitor_lanes.was_written(thread.wave, is_pc);
    }

    /// Handles a read of the PC: LLDB has dropped its cached values of the wave, and prints the lane of `monitor` from
    /// here on.
    pub(super) fn pc_is_read(&mut self, thread: Thread) -> Result<(), PacketError> {
        let lane = self.facade.is_lldb().then(|| self.monitor_lanes.pc_is_read(thread.wave)).flatten();
        lane.map_or(Ok(()), |lane| self.focus(thread.wave, lane))
    }

    /// Handles a stop, after which the client prints the lanes of `monitor`. Returns the waves for which it printed
    /// another lane.
    pub(super) fn show_chosen_lanes(&mut self) -> Result<Vec<WaveId>, PacketError> {
        let lanes: Vec<_> = self.monitor_lanes.stop().collect();
        for (wave, lane) in &lanes {
            self.focus(*wave, *lane)?;
        }
        Ok(lanes.into_iter().map(|(wave, _)| wave).collect())
    }

    /// Drops the list of threads, which holds the state of lanes in focus, so that the next request rebuilds it.
    pub(super) fn forget_list(&mut self) {
        self.documents.threads.take();
    }

    /// The numbering of registers.
    pub(super) fn registers(&self) -> &Arc<RegisterMap> {
        self.registers.get_or_init(|| {
            Arc::new(RegisterMap::new(self.facade, self.session.as_ref(), self.view().is_some()))
        })
    }

    /// The thread of a thread id in a packet; `None` for any or all threads.
    pub(super) fn named(&self, thread: &[u8]) -> Result<Option<Thread>, PacketError> {
        match parse::thread(thread).ok_or(PacketError::malformed("not a thread id"))? {
            parse::Thread::Any | parse::Thread::All => Ok(None),
            parse::Thread::Id(id) => self.thread_of(id).map(Some),
        }
    }

    /// The thread of a number.
    pub(super) fn thread_of(&self, number: u64) -> Result<Thread, PacketError> {
        self.threads.get(number).ok_or_else(|| PacketError::new(NO_WAVE, format!("no thread {number}")))
    }

    /// The number of a thread.
    pub(super) fn number(&self, thread: Thread) -> u64 {
        // Every thread is in the table; 0 would be any thread.
        self.threads.find(thread).unwrap_or(0)
    }

    /// The thread of `;thread:ID;` among the pairs.
    pub(super) fn named_in(&self, pairs: &[u8]) -> Result<Option<Thread>, PacketError> {
        let thread = parse::pairs(pairs).find(|(key, _)| *key == b"thread");
        thread.map_or(Ok(None), |(_, thread)| self.named(thread))
    }
}
