//! All differences as JSON; docs/slim.md documents the keys.

use std::cell::RefCell;

use serde::ser::{Error as _, Serialize, SerializeMap, Serializer};
use serde_json::{Value, json};

use super::wave::{FrameDifference, LaneDifference, WaveDifference};
use super::{Alone, Diff, DiffError, Lacks, LeftOut};
use crate::report::stack;

/// The differences, without bounds: each pair is compared when it is written.
#[derive(Debug)]
pub(crate) struct Json<'d> {
    diff: RefCell<&'d mut Diff>,
    failed: RefCell<Option<DiffError>>,
}

impl<'d> Json<'d> {
    /// The differences of two dumps before any comparison.
    #[must_use]
    pub(crate) fn new(diff: &'d mut Diff) -> Self {
        Self { diff: RefCell::new(diff), failed: RefCell::default() }
    }

    /// The error that ended the output early, if it is not an error of the output.
    #[must_use]
    pub(crate) fn failed(self) -> Option<DiffError> {
        self.failed.into_inner()
    }
}

impl Serialize for Json<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        {
            let diff = self.diff.borrow();
            map.serialize_entry("dumps", &diff.names)?;
            map.serialize_entry("compared", &diff.pairs)?;
            let alone = diff.alone.each_ref().map(|alone| alone.iter().map(lonely).collect::<Vec<_>>());
            map.serialize_entry("alone", &alone)?;
        }
        map.serialize_entry("pairs", &Pairs(self))?;
        if let Some(error) = &*self.failed.borrow() {
            return Err(S::Error::custom(error));
        }
        let diff = self.diff.borrow();
        map.serialize_entry("same", &diff.is_same())?;
        let LeftOut { variables, frames, unknown, pairs } = diff.left_out;
        map.serialize_entry(
            "left_out",
            &json!({ "variables": variables, "frames": frames, "unknown_frames": unknown, "pairs": pairs }),
        )?;
        map.end()
    }
}

struct Pairs<'j, 'd>(&'j Json<'d>);

impl Serialize for Pairs<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(of) = self;
        let next = || match of.diff.borrow_mut().next_difference() {
            Ok(difference) => difference.as_ref().map(pair),
            Err(error) => {
                *of.failed.borrow_mut() = Some(error);
                None
            }
        };
        serializer.collect_seq(std::iter::from_fn(next))
    }
}

fn lonely(alone: &Alone) -> Value {
    json!({
        "waves": alone.waves,
        "shared": alone.lacks == Lacks::Counterpart,
        "lacks": match &alone.lacks {
            Lacks::Kind(_) => "kind",
            Lacks::Stack => "stack",
            Lacks::Counterpart => "counterpart",
        },
        "stack": stack::json(&alone.stack),
    })
}

fn pair(pair: &WaveDifference) -> Value {
    let registers = pair.registers.iter().map(|register| {
        let lanes = register.is_vector.then(|| lanes(&register.lanes));
        let values = register.lanes.first().filter(|_| !register.is_vector).map(|only| &only.values);
        json!({ "name": register.name, "lanes": lanes, "values": values })
    });
    json!({
        "waves": pair.ids,
        "unconfirmed": pair.unconfirmed,
        "function": pair.function,
        "stop_reasons": pair.stop,
        "registers": registers.collect::<Vec<_>>(),
        "frames": pair.frames.iter().map(frame).collect::<Vec<_>>(),
    })
}

fn frame(frame: &FrameDifference) -> Value {
    let variables = frame.variables.iter().map(|variable| {
        json!({ "name": variable.name, "type": variable.type_name, "lanes": lanes(&variable.lanes) })
    });
    json!({
        "frame": frame.frame,
        "functions": frame.functions,
        "lines": frame.lines,
        "problems": frame.problems,
        "variables": variables.collect::<Vec<_>>(),
    })
}

fn lanes(lanes: &[LaneDifference<Option<String>>]) -> Value {
    lanes.iter().map(|lane| json!({ "lane": lane.lane.0, "values": lane.values })).collect()
}
