//! Variables of the functions around a nested one, found by `DW_AT_static_link`.
//!
//! DWARF 5 section 3.3.5: the static link computes the frame base of the current instance of the directly enclosing
//! function. A recursive function has several instances: the right frame has both that function and that frame base.

use super::eval::Scene;
use super::names::{Placed, words};
use super::object::{Answer, error};
use crate::bounds::MAX_ENCLOSING;
use crate::debuginfo::{Function, LocationAttribute, VariableAt};
use crate::dwarf::{
    self, Attribute, CallFrame as _, CapturedLane, ContextError, Evaluator, Focus, Location, Storage,
};
use crate::session::ValueState;
use crate::session::stack::frame::FrameContext;
use crate::session::stack::unwind::Unwinder;
use crate::session::values::failed;
use crate::session::variables::{Frame, dialect, reading};
use crate::units::{AddressSpace, BitSize, LaneId, LaneSet};

/// The reason that the frame of an enclosing function is unknown.
#[derive(Debug, thiserror::Error)]
enum LinkError {
    /// The frame base or the static link cannot be evaluated.
    #[error(transparent)]
    Expression(#[from] dwarf::Error),
    /// The frame lacks something that the expression needs.
    #[error(transparent)]
    Context(#[from] ContextError),
    /// The lanes have different frames.
    #[error("the lanes have different ones")]
    LanesDiffer,
    /// No lane has a frame.
    #[error("no lane has one")]
    NoLane,
}

/// A variable of an enclosing function.
#[derive(Debug)]
pub(super) struct UpLevel {
    pub(super) placed: Placed,
    function: String,
    /// The physical frame.
    level: usize,
}

impl UpLevel {
    /// Its description, for messages.
    pub(super) fn words(&self) -> String {
        format!(
            "a variable of `{}` around this function, whose physical frame {} DW_AT_static_link leads to",
            self.function, self.level
        )
    }
}

/// The place of a frame base: space, lane that it belongs to, bits.
type Base = (AddressSpace, Option<LaneId>, u128);

impl Scene<'_, '_> {
    /// The variable of that name of an enclosing function; `None` if this one is not nested, or no enclosing one has
    /// it.
    pub(super) fn up_level(&self, name: &str) -> Answer<Option<UpLevel>> {
        let Ok(at) = &self.found.function else { return Ok(None) };
        let own = &at.function;
        // An inlined call's enclosing function is not that of the function it was inlined into.
        if own.enclosing.is_none() || self.found.inlined + 1 < at.frames.len() {
            return Ok(None);
        }
        if !self.is_around(own, name)? {
            return Ok(None);
        }
        let reader = self.reader;
        let unreadable = |why: crate::session::ReadError| Box::new(ValueState::Error(why.to_string().into()));
        let mut walk = Unwinder::new(reader, self.wave).map_err(unreadable)?;
        while walk.step() {}
        let mut inner = self.found.frame.context.level.number();
        let mut context = self.context(&walk, inner)?;
        for _ in 0..MAX_ENCLOSING {
            let Ok(at) = &context.function else { return Ok(None) };
            let Some(around) = at.function.enclosing else { return Ok(None) };
            let around = self.debug().function(around).map_err(words)?;
            let called = around.subprogram.name.as_deref().unwrap_or("<unnamed>").to_owned();
            let link = self.link(&context, &called)?;
            let outer = self.outer(&walk, inner, &around, &called, link)?;
            let variables = self.variables(&outer)?;
            let found = variables.iter().rev().find(|at| at.variable.name.as_deref() == Some(name));
            (inner, context) = (outer.level.number(), outer);
            let Some(found) = found else { continue };
            let placed = self.seen_from_here(context, found)?;
            return Ok(Some(UpLevel { placed, function: called, level: inner }));
        }
        error(format!("more than {MAX_ENCLOSING} functions are around one another"))
    }

    /// Whether an enclosing function has a variable of that name; otherwise its frame is not needed.
    fn is_around(&self, own: &Function, name: &str) -> Answer<bool> {
        let mut next = own.enclosing;
        for _ in 0..MAX_ENCLOSING {
            let Some(around) = next else { return Ok(false) };
            let around = self.debug().function(around).map_err(words)?;
            let mut all = around.scopes.iter().flat_map(|scope| &scope.variables);
            if all.any(|variable| variable.name.as_deref() == Some(name)) {
                return Ok(true);
            }
            next = around.enclosing;
        }
        Ok(false)
    }

    fn context<'w>(&self, walk: &'w Unwinder<'_>, level: usize) -> Answer<FrameContext<'w>> {
        let mut context = FrameContext::of(walk.level(level), None);
        if let (Ok(debug), Ok(at)) = (&context.debug, &context.function) {
            let hint = debug.dialect_hint(&at.function).map_err(words)?;
            context.encoding.dialect = dialect(&hint, &self.variables(&context)?);
        }
        Ok(context)
    }

    /// The variables of a frame's function at the frame's PC.
    fn variables(&self, context: &FrameContext<'_>) -> Answer<Vec<VariableAt>> {
        let (Ok(debug), Ok(at)) = (&context.debug, &context.function) else { return Ok(Vec::new()) };
        debug.frame_variables(at, context.inlined, context.elf_pc).map_err(words)
    }

    /// The frame base that the static link of a frame's function gives.
    fn link(&self, context: &FrameContext<'_>, around: &str) -> Answer<Base> {
        let what = "DW_AT_static_link";
        let missing = |why: String| {
            error(format!(
                "it is a variable of `{around}` around this function, whose frame is not known: {why}"
            ))
        };
        let Ok(at) = &context.function else { return missing("there is no function".to_owned()) };
        if at.function.static_link == LocationAttribute::Missing {
            return missing(format!("the function has no {what}"));
        }
        let location = match context.attribute(&at.function.static_link, what) {
            Ok(Some(Attribute::Expression(program))) => self.agreed(context, &program),
            Ok(_) => return missing(format!("{what} is no expression")),
            Err(why) => return missing(why.to_string()),
        };
        match location.map(|location| base(&location)) {
            Ok(Some(base)) => Ok(base),
            Ok(None) => missing(format!("{what} is no place in memory")),
            Err(why) => missing(format!("{what}: {why}")),
        }
    }

    /// A location that all lanes share.
    fn agreed(
        &self,
        context: &FrameContext<'_>,
        program: &crate::dwarf::Program,
    ) -> Result<Location, LinkError> {
        let mut agreed: Option<Location> = None;
        for group in Evaluator::new(context).location(program, Focus::Lanes(self.lanes), &[]) {
            let found = group.result?;
            for lane in group.lanes.iter() {
                let found = found.at(lane);
                match &agreed {
                    // Private memory of another lane at the same address is the same frame's.
                    Some(known) if at(known) != at(&found) => {
                        return Err(LinkError::LanesDiffer);
                    }
                    Some(_) => {}
                    None => agreed = Some(found),
                }
            }
        }
        agreed.ok_or(LinkError::NoLane)
    }

    /// The frame of a function with that frame base, further out than another frame.
    fn outer<'w>(
        &self,
        walk: &'w Unwinder<'_>,
        inner: usize,
        around: &Function,
        called: &str,
        link: Base,
    ) -> Answer<FrameContext<'w>> {
        let mut seen = 0;
        let mut unknown = None;
        for level in inner + 1..walk.frames().len() {
            let context = self.context(walk, level)?;
            let Ok(at) = &context.function else { continue };
            // An entry point's frame belongs to its function.
            let die = at.function.entry_of.unwrap_or(at.function.subprogram.die);
            if die != around.subprogram.die {
                continue;
            }
            seen += 1;
            let own = context.frame_base().map_err(LinkError::from);
            match own.and_then(|program| self.agreed(&context, &program)).map(|location| base(&location)) {
                Ok(Some(own)) if own == link => return Ok(context),
                Ok(_) => {}
                Err(why) => unknown = Some(why),
            }
        }
        let end = walk.end().map_or_else(String::new, |end| format!("; the stack ends: {end}"));
        let unknown = unknown.map_or_else(String::new, |why| format!("; a frame base is not known: {why}"));
        error(format!(
            "it is a variable of `{called}` around this function, and none of the {seen} frames of `{called}` has the \
             frame base that DW_AT_static_link gives{unknown}{end}"
        ))
    }

    /// A variable of another frame, in terms of this frame's registers.
    fn seen_from_here(&self, context: FrameContext<'_>, found: &VariableAt) -> Answer<Placed> {
        let (Ok(debug), Ok(at)) = (&context.debug, &context.function) else {
            return error("the frame has no function");
        };
        let hint = debug.dialect_hint(&at.function).map_err(words)?;
        let (debug, unit, level) = (std::sync::Arc::clone(debug), at.function.unit, context.level);
        let size = found.variable.type_id.map(|id| debug.byte_size(id)).transpose().map_err(words)?.flatten();
        let size = BitSize(size.unwrap_or(0).saturating_mul(8));
        let mut frame = Frame::new(context, debug);
        frame.context.reading = reading(&hint, frame.context.kind());
        let mut placed = self.place_in(&frame, Some(unit), &found.variable, &found.location);
        let here = self.found.frame.context.level.number();
        let kind = self.found.frame.context.kind();
        let each = placed.groups.iter().flat_map(|(lanes, location)| {
            lanes.iter().map(move |lane| {
                let location = location.clone().and_then(|location| {
                    let settled = level.settled_in(&location.at(lane), here, lane, size);
                    settled.map_err(|why| Box::new(failed(&why, &**kind)))
                });
                (LaneSet::one(lane), location)
            })
        });
        placed.groups = each.collect();
        Ok(placed)
    }
}

/// A place in memory of any lane.
fn at(location: &Location) -> Option<(AddressSpace, u128)> {
    base(location).map(|(space, _, bits)| (space, bits))
}

fn base(location: &Location) -> Option<Base> {
    match location.storage {
        Storage::Memory { space, lane, .. } => {
            let lane = match lane {
                CapturedLane::Fixed(lane) => Some(lane),
                _ => None,
            };
            Some((space, lane, location.offset.get(LaneId(0))))
        }
        _ => None,
    }
}
