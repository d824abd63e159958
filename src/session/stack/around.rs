//! The frame of a wave's stack with an instruction that the wave executed before.

use super::backtrace::Frames;
use super::unwind::{Code, Physical, Unwinder};
use crate::debuginfo::InlineFrame;
use crate::session::{ReadError, Reader};
use crate::units::{Pc, WaveId};

/// Maximum number of physical frames that are compared with the instruction's function.
pub(in crate::session) const MAX_LEVELS: usize = 8;

/// The innermost frame of a wave's stack whose function, or inlined call, has an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameAround {
    /// Its number in the wave's stack.
    pub frame: usize,
    /// Number of calls at the instruction inside of that frame: they are inlined, and the wave left them.
    pub left: usize,
}

/// Returns the frame around an instruction; `None`: its function is unknown, or not on the stack.
///
/// # Errors
/// [`ReadError::NoSuchWave`], or the operating system's error for the file.
pub(in crate::session) fn frame_around(
    reader: &Reader,
    wave: WaveId,
    address: u64,
) -> Result<Option<FrameAround>, ReadError> {
    Ok(Frames::first(reader, wave)?.around(Pc(address)))
}

impl<'a> Frames<'a> {
    /// Unwinds the first [`MAX_LEVELS`] physical frames of a wave's stack.
    ///
    /// # Errors
    /// [`ReadError::NoSuchWave`], or the operating system's error for the file.
    pub(in crate::session) fn first(reader: &'a Reader, wave: WaveId) -> Result<Self, ReadError> {
        let mut walk = Unwinder::new(reader, wave)?;
        while walk.frames().len() < MAX_LEVELS && walk.step() {}
        Ok(Self::along(walk))
    }

    /// The innermost physical frame of the function that holds an instruction, and the instruction's code.
    pub(in crate::session) fn level_of(&self, at: Pc) -> Option<(usize, Code<'a>)> {
        let function = |code: Code<'_>| {
            let source = code.loaded.source(self.walk.reader, code.elf);
            source.key().map(|key| (code.loaded.index(), key.die))
        };
        let code = self.walk.code(at)?;
        let wanted = function(code)?;
        let is_it = |frame: &Physical<'_>| frame.code.and_then(function) == Some(wanted);
        self.walk.frames().iter().position(is_it).map(|level| (level, code))
    }

    fn around(&self, at: Pc) -> Option<FrameAround> {
        let (level, code) = self.level_of(at)?;
        let there = code.loaded.source(self.walk.reader, code.elf);
        let (own, there) = (&self.source(level)?.key()?.frames, &there.key()?.frames);
        // Each call has a scope of its own; those of the function are equal.
        let body = |call: &InlineFrame| call.scopes.first().copied();
        let pairs = own.iter().rev().zip(there.iter().rev());
        let same = pairs.take_while(|(own, there)| body(own) == body(there)).count();
        let inner = own.len().checked_sub(same).filter(|_| same > 0)?;
        Some(FrameAround { frame: self.first_of(level)? + inner, left: there.len() - same })
    }
}
