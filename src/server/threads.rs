//! The threads of a client: waves, or lanes of waves.
//!
//! | `--threads` | a thread is |
//! |---|---|
//! | `waves` | a wave; its lanes take turns in the focus |
//! | `lanes` | a lane, of every wave |
//! | `focus` | a lane of the wave that faulted; any other wave as a whole |
//!
//! A lane is a thread if it is active, or if it is inactive and `DW_AT_LLVM_lane_pc` has its PC, which gives it a
//! stack. A lane is not a thread without a work-item, if it never entered the function, or if it is inactive at an
//! unknown PC. A wave without any such lane, or without a captured EXEC, stays one thread.

use crate::session::{LaneInfo, LaneState, PcSource, Waves};
use crate::units::{LaneId, WaveId};

/// Default maximum number of lanes that are threads. Both debuggers list that many in seconds, and the time for more
/// grows with the square.
pub const MAX_LANES: usize = 20_000;

/// The unit of a thread, by `--threads`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ThreadsAs {
    /// A wave.
    #[default]
    Waves,
    /// A lane.
    Lanes,
    /// A lane of the wave that faulted, or another wave.
    Focus,
}

impl ThreadsAs {
    /// Each with its name on the command line.
    pub const NAMES: [(&'static str, Self); 3] =
        [("waves", Self::Waves), ("lanes", Self::Lanes), ("focus", Self::Focus)];
}

/// A thread of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Thread {
    /// The wave.
    pub wave: WaveId,
    /// The lane, if the thread is one; `None`: the wave, with any lane in focus.
    pub lane: Option<LaneId>,
}

impl Thread {
    /// A wave as a thread.
    pub(super) fn wave(wave: WaveId) -> Self {
        Self { wave, lane: None }
    }
}

/// A lane's entry in a list of threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Item {
    /// Its state.
    pub(super) state: Option<LaneState>,
    /// Its work-item's id in the work-group.
    pub(super) local_id: Option<[u32; 3]>,
}

/// An error of the list of threads.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ThreadsError {
    /// Too many lanes.
    #[error(
        "{lanes} lanes of {waves} waves would be threads, and more than {limit} make debuggers slow: choose waves by their \
         ids (--wave 3,7-9), show the lanes of the wave that faulted alone (--threads=focus), or pass --max-threads {lanes}"
    )]
    TooManyLanes {
        /// Number of lanes.
        lanes: usize,
        /// Number of waves.
        waves: usize,
        /// Limit.
        limit: usize,
    },
    /// More than the user's limit.
    #[error(
        "there are {threads} threads, more than --max-threads {limit}: choose waves by their ids (--wave 3,7-9)"
    )]
    TooMany {
        /// Number of threads.
        threads: usize,
        /// Limit.
        limit: usize,
    },
}

/// All threads of a client, by number and by wave and lane. The list is constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Threads {
    /// In the order of waves, then lanes.
    all: Vec<Thread>,
    /// The state of each thread that is a lane; empty if all are waves.
    items: Vec<Item>,
    /// Whether numbers count threads, not the dump's waves.
    counted: bool,
    first: Thread,
}

impl Threads {
    /// The threads of a session, at most `limit`; `None`: [`MAX_LANES`] if all are lanes, else any number of waves.
    ///
    /// # Errors
    /// The session has more.
    pub fn new(session: &dyn Waves, threads: ThreadsAs, limit: Option<usize>) -> Result<Self, ThreadsError> {
        let (waves, first) = (session.waves(), session.first_wave());
        if threads == ThreadsAs::Waves {
            return Self::of_waves(&waves, first).limited(limit);
        }
        let most = if threads == ThreadsAs::Lanes { limit.unwrap_or(MAX_LANES) } else { usize::MAX };
        let mut new = Self { all: Vec::new(), items: Vec::new(), counted: true, first: Thread::wave(first) };
        let mut count = 0;
        for wave in waves.iter() {
            let expanded = threads == ThreadsAs::Lanes || *wave == first;
            let mut lanes = if expanded { session.lanes(*wave).unwrap_or_default() } else { Vec::new() };
            lanes.retain(is_thread);
            count += lanes.len().max(1);
            // The excess is only counted, for the message.
            if count > most {
                continue;
            }
            if lanes.is_empty() {
                new.push(Thread::wave(*wave), Item::default());
            }
            for info in &lanes {
                let thread = Thread { wave: *wave, lane: Some(info.lane) };
                new.push(thread, Item { state: info.state, local_id: info.local_id });
            }
        }
        if count > most {
            return Err(ThreadsError::TooManyLanes { lanes: count, waves: waves.len(), limit: most });
        }
        // The stop belongs to the first lane that was active at that time.
        let (start, end) = new.range(first);
        let active =
            |index: &usize| new.items.get(*index).is_some_and(|item| item.state == Some(LaneState::Active));
        let index = (start..end).find(active).unwrap_or(start);
        if let Some(thread) = new.all.get(index) {
            new.first = *thread;
        }
        new.limited(limit)
    }

    /// The same with the thread of a lane as the default one; `None`: the lane is no thread.
    #[must_use]
    pub fn starting_at(mut self, wave: WaveId, lane: LaneId) -> Option<Self> {
        self.first = self.at(wave, lane)?;
        Some(self)
    }

    /// Waves as threads: numbered by their places in the dump, from 1. In ascending order.
    pub(super) fn of_waves(waves: &[WaveId], first: WaveId) -> Self {
        let all = waves.iter().copied().map(Thread::wave).collect();
        Self { all, items: Vec::new(), counted: false, first: Thread::wave(first) }
    }

    fn push(&mut self, thread: Thread, item: Item) {
        self.all.push(thread);
        self.items.push(item);
    }

    fn limited(self, limit: Option<usize>) -> Result<Self, ThreadsError> {
        match limit {
            Some(limit) if self.all.len() > limit => {
                Err(ThreadsError::TooMany { threads: self.all.len(), limit })
            }
            _ => Ok(self),
        }
    }

    /// All threads, in the order of their numbers.
    #[must_use]
    pub fn all(&self) -> &[Thread] {
        &self.all
    }

    /// Number of threads that are lanes.
    #[must_use]
    pub fn lanes(&self) -> usize {
        if self.items.is_empty() { 0 } else { self.all.iter().filter(|thread| thread.lane.is_some()).count() }
    }

    /// The default thread: the wave that faulted, or its first active lane.
    #[must_use]
    pub fn first(&self) -> Thread {
        self.first
    }

    /// The thread of that number.
    #[must_use]
    pub fn get(&self, number: u64) -> Option<Thread> {
        let before = usize::try_from(number.checked_sub(1)?).ok()?;
        if self.counted {
            return self.all.get(before).copied();
        }
        let wave = Thread::wave(WaveId(u32::try_from(before).ok()?));
        self.index(wave).map(|_| wave)
    }

    /// The number of a thread; `None` if it is not in the list.
    #[must_use]
    pub fn find(&self, thread: Thread) -> Option<u64> {
        let index = self.index(thread)?;
        Some(if self.counted { index as u64 + 1 } else { u64::from(thread.wave.0) + 1 })
    }

    /// The numbers of the first and the last thread of a wave.
    pub(super) fn of_wave(&self, wave: WaveId) -> Option<(u64, u64)> {
        let (start, end) = self.range(wave);
        let number = |index: usize| self.all.get(index).and_then(|thread| self.find(*thread));
        Some((number(start).filter(|_| start < end)?, number(end.checked_sub(1)?)?))
    }

    /// Whether numbers count threads: some waves are listed as lanes.
    pub(super) fn are_counted(&self) -> bool {
        self.counted
    }

    /// The state of a lane that is a thread.
    pub(super) fn item(&self, thread: Thread) -> Item {
        let index = if self.items.is_empty() { None } else { self.index(thread) };
        index.and_then(|index| self.items.get(index)).copied().unwrap_or_default()
    }

    /// The index of a thread in [`Self::all`].
    pub(super) fn index(&self, thread: Thread) -> Option<usize> {
        self.all.binary_search(&thread).ok()
    }

    /// The thread of a wave, or of its lane if lanes are threads.
    pub(super) fn at(&self, wave: WaveId, lane: LaneId) -> Option<Thread> {
        let each = [Thread::wave(wave), Thread { wave, lane: Some(lane) }];
        each.into_iter().find(|thread| self.index(*thread).is_some())
    }

    /// The indexes of a wave's threads in the list.
    pub(super) fn range(&self, wave: WaveId) -> (usize, usize) {
        let start = self.all.partition_point(|thread| thread.wave < wave);
        let end = self.all.partition_point(|thread| thread.wave <= wave);
        (start, end)
    }
}

/// Whether a lane gets a thread.
fn is_thread(lane: &LaneInfo) -> bool {
    match lane.state {
        Some(LaneState::Active) => true,
        Some(LaneState::Inactive) => lane.at.from == PcSource::LanePc,
        Some(LaneState::NotEntered | LaneState::Unused) | None => false,
    }
}

#[cfg(test)]
#[path = "threads_tests.rs"]
mod tests;
