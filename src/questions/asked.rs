//! A question as a front end asks it.

use super::answer::{Answer, Body, QuestionError};
use super::arguments::{Arguments, Lanes};
use super::parameter::FULL;
use crate::report::lanes::Detail;
use crate::report::schema::{About, Marks, Schema};
use crate::report::{Style, spaces};
use crate::session::{Dump, Inspect, Member, ReadError, Waves};
use crate::triage::Step;
use crate::units::{LaneId, LaneSet, WaveId};

/// The form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Text.
    Text(Style),
    /// JSON.
    Json,
}

/// The focused wave.
#[derive(Clone, Copy, Debug)]
pub struct Focus {
    /// The wave.
    pub wave: WaveId,
    /// The lane of questions that name none.
    pub lane: LaneId,
    /// The lane, if it is the subject in place of the wave: a lane thread or a work-item.
    pub own: Option<LaneId>,
}

/// A front end's numbers of waves and threads.
pub trait Numbering {
    /// The number of the focused thread.
    fn thread(&self, focus: &Focus) -> u64;

    /// The numbers of the first and the last thread of a wave; `None` without threads.
    fn threads(&self, wave: WaveId) -> Option<(u64, u64)>;

    /// Whether lanes are threads.
    fn are_lanes(&self) -> bool;

    /// The numbers of the threads that are a group's member.
    fn members(&self, member: &Member) -> Vec<u64>;

    /// The user's number of a group's wave.
    fn wave(&self, member: &Member) -> u64;

    /// The noun of [`Self::wave`]: `thread`, or `wave` if the number is the wave's id in the dump.
    fn noun(&self) -> &'static str;

    /// The user's numbers of a wave's threads: `3`, `1, 3-5`. `None`: the user names waves by their ids.
    fn listed(&self, wave: WaveId) -> Option<String>;

    /// The command for a step of an analysis; `None`: the front end has none.
    fn command(&self, step: &Step) -> Option<String>;
}

/// A question with its arguments.
pub struct Asked<'a> {
    /// The sessions, one for each served kind of waves.
    pub sessions: Vec<&'a dyn Inspect>,
    /// The dump, if all of its kinds are served: answers then name the kind.
    pub dump: Option<&'a Dump>,
    /// Whether the user chose the waves of the sessions: a list then contains their parts alone.
    pub is_chosen: bool,
    /// The focused wave.
    pub focus: Option<Focus>,
    /// The numbers of waves and threads.
    pub numbering: &'a dyn Numbering,
    /// The arguments.
    pub arguments: Arguments,
    /// The form of the answer.
    pub form: Form,
    /// Maximum bytes of memory in the answer.
    pub limit: u64,
}

impl std::fmt::Debug for Asked<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Asked")
            .field("focus", &self.focus)
            .field("arguments", &self.arguments)
            .field("form", &self.form)
            .finish_non_exhaustive()
    }
}

impl<'a> Asked<'a> {
    /// The session of the focused wave, or the first one.
    ///
    /// # Errors
    /// The dump has no waves.
    pub(super) fn session(&self) -> Result<&'a dyn Inspect, QuestionError> {
        self.sessions.first().copied().ok_or(QuestionError::NoWaves)
    }

    /// The session, and the focused wave in it.
    ///
    /// # Errors
    /// The dump has no waves.
    pub(super) fn wave(&self) -> Result<(&'a dyn Inspect, Focus), QuestionError> {
        Ok((self.session()?, self.focus.ok_or(QuestionError::NoWaves)?))
    }

    /// The frame of the question; 0 without the argument.
    #[must_use]
    pub fn frame(&self) -> usize {
        self.arguments.index("frame").unwrap_or(0)
    }

    /// The form of tables of lanes.
    #[must_use]
    pub(super) fn detail(&self) -> Detail {
        Detail::of(self.arguments.has(FULL.name))
    }

    /// The lanes of the question, else the focused one; `frame`: the frame whose active lanes apply.
    ///
    /// # Errors
    /// The wave has no such lane, or its active lanes are unknown.
    pub fn lanes(&self, frame: usize) -> Result<LaneSet, QuestionError> {
        let (session, focus) = self.wave()?;
        let Some(lanes) = self.arguments.lanes() else { return Ok(LaneSet::one(focus.lane)) };
        let size = session.wave(focus.wave)?.kind.wave_size;
        match lanes {
            Lanes::All => Ok(size.all()),
            Lanes::Active => match session.active_lanes(focus.wave, frame)? {
                LaneSet::EMPTY => Err(QuestionError::NoActiveLanes),
                active => Ok(active),
            },
            Lanes::Listed(ranges) => {
                let mut lanes = LaneSet::EMPTY;
                for range in ranges {
                    let lane = |number: u32| {
                        let lane = u8::try_from(number).ok().map(LaneId).filter(|lane| size.has(*lane));
                        lane.ok_or(QuestionError::NoLane { lane: number.into(), lanes: size.lanes() })
                    };
                    let (first, last) = (lane(*range.start())?, lane(*range.end())?);
                    lanes = LaneSet(lanes.0 | (first.0..=last.0).map(LaneId).collect::<LaneSet>().0);
                }
                Ok(lanes)
            }
        }
    }

    /// The one lane of the question, else the lane that is the subject.
    ///
    /// # Errors
    /// Several lanes, or the wave has no such lane.
    pub(super) fn one_lane(&self) -> Result<Option<LaneId>, QuestionError> {
        let (_, focus) = self.wave()?;
        match self.arguments.lanes() {
            None => Ok(focus.own),
            Some(_) => match self.lanes(0)? {
                lanes if lanes.count() == 1 => Ok(lanes.first()),
                _ => Err(QuestionError::SeveralLanes),
            },
        }
    }

    /// The address of the question: a number, or the value of a register of the focused lane.
    ///
    /// # Errors
    /// The wave has no such register, or its value is unknown.
    pub(super) fn address(&self) -> Result<Option<u64>, QuestionError> {
        let (session, focus) = self.wave()?;
        Ok(match self.arguments.text("address") {
            Some(text) => Some(spaces::address(session, focus.wave, Some(focus.lane), text)?),
            None => self.arguments.number("address"),
        })
    }

    /// An answer about the focused wave as JSON, with the numbers and the marks of the wave.
    ///
    /// # Errors
    /// The dump has no waves.
    pub(super) fn about(&self, answer: impl Schema + 'a) -> Result<Answer<'a>, QuestionError> {
        let (session, focus) = self.wave()?;
        let (info, thread) = (session.wave(focus.wave)?, self.numbering.thread(&focus));
        Ok(Body::json(About { wave: info.id, thread, answer, marks: Marks::of(&info) }).into())
    }

    /// The answer about the focused wave in the asked form.
    ///
    /// # Errors
    /// The dump has no waves.
    pub(super) fn answer<T: Schema + 'a>(
        &self,
        text: impl FnOnce(Style) -> String,
        json: impl FnOnce() -> T,
    ) -> Result<Answer<'a>, QuestionError> {
        match self.form {
            Form::Text(style) => Ok(text(style).into()),
            Form::Json => self.about(json()),
        }
    }

    /// The text of each session, below the name of the kind if there are several.
    ///
    /// # Errors
    /// The error of a session's text.
    pub(super) fn by_kind(
        &self,
        text: impl Fn(&dyn Inspect) -> Result<String, ReadError>,
    ) -> Result<String, QuestionError> {
        let mut all = String::new();
        for (index, session) in self.sessions.iter().enumerate() {
            if self.sessions.len() > 1 {
                all += if index > 0 { "\n" } else { "" };
                all += &kind_name(*session);
                all.push('\n');
            }
            all += &text(*session)?;
        }
        Ok(all)
    }
}

/// `gfx90a:wave64`
pub(super) fn kind_name(session: &dyn Waves) -> String {
    let kind = session.kind();
    format!("{}:{}", kind.target.name, kind.wave_size)
}
