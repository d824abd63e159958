//! All differences as JSON; docs/slim.md documents the keys.

use std::cell::RefCell;

use serde::Serialize;
use serde::ser::{Error as _, SerializeMap, Serializer};

use super::wave::{FrameDifference, LaneDifference, WaveDifference};
use super::{Alone, Diff, DiffError, Lacks, LeftOut};
use crate::report::schema::Schema;
use crate::report::stack::WaveStack;
use crate::session::InferredBy;

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

impl Schema for Json<'_> {
    const NAME: &'static str = "diff";
}

/// Parts that were not compared.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct LeftOutJson {
    /// Variables.
    variables: u64,
    /// Frames.
    frames: u64,
    /// Frames without known variables in both dumps.
    unknown_frames: u64,
    /// Pairs of waves.
    pairs: usize,
}

/// The members that [`Json`] writes.
#[cfg(test)]
#[derive(schemars::JsonSchema)]
#[expect(dead_code, reason = "the schema of the streamed members")]
pub(crate) struct Members {
    /// The names of the dumps.
    dumps: [String; 2],
    /// Number of compared pairs.
    compared: usize,
    /// The waves without a counterpart, of each dump.
    alone: [Vec<AloneJson>; 2],
    /// The pairs that differ.
    pairs: Vec<PairJson>,
    /// Whether the dumps do not differ.
    same: bool,
    /// Parts that were not compared.
    left_out: LeftOutJson,
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
        map.serialize_entry("left_out", &LeftOutJson { variables, frames, unknown_frames: unknown, pairs })?;
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

/// Waves without a counterpart.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct AloneJson {
    /// Their ids.
    waves: Vec<u32>,
    /// Whether the other dump has the stack, in other waves.
    shared: bool,
    /// The part that the other dump lacks.
    #[cfg_attr(test, schemars(extend("enum" = ["kind", "stack", "counterpart"])))]
    lacks: &'static str,
    /// Their stack.
    stack: WaveStack,
}

fn lonely(alone: &Alone) -> AloneJson {
    AloneJson {
        waves: alone.waves.clone(),
        shared: alone.lacks == Lacks::Counterpart,
        lacks: match &alone.lacks {
            Lacks::Kind(_) => "kind",
            Lacks::Stack => "stack",
            Lacks::Counterpart => "counterpart",
        },
        stack: WaveStack::of(&alone.stack),
    }
}

/// A pair of waves that differ. Arrays of two have the first dump's part first.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct PairJson {
    /// Their ids.
    waves: [u32; 2],
    /// The reasons why their values may be wrong.
    unconfirmed: [Option<String>; 2],
    /// The function of the innermost frame in the first dump.
    function: Option<String>,
    /// The stop reasons, if they differ.
    stop_reasons: Option<[Option<Vec<String>>; 2]>,
    /// Registers that differ.
    registers: Vec<RegisterJson>,
    /// Frames that differ.
    frames: Vec<FrameJson>,
}

/// A register that differs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct RegisterJson {
    /// Its name.
    name: String,
    /// The lanes of a vector that differ.
    lanes: Option<Vec<LaneJson>>,
    /// The values of a scalar; null in them: not captured.
    values: Option<[Option<String>; 2]>,
}

/// A lane that differs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct LaneJson {
    /// The lane.
    lane: u8,
    /// Its values; null: not captured, or no such variable.
    values: [Option<String>; 2],
}

/// A frame that differs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FrameJson {
    /// Its number, 0 innermost.
    frame: usize,
    /// The functions, if they differ.
    functions: Option<[Option<String>; 2]>,
    /// `file:line`, if they differ.
    lines: Option<[Option<String>; 2]>,
    /// The reasons for missing variables, if they differ.
    problems: Option<[Option<String>; 2]>,
    /// Variables that differ.
    variables: Vec<VariableJson>,
}

/// A variable that differs.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct VariableJson {
    /// Its name.
    name: String,
    /// Its type.
    #[serde(rename = "type")]
    type_name: String,
    /// The inferences behind the values: docs/json.md, "Inferred answers".
    #[serde(skip_serializing_if = "Vec::is_empty")]
    inferred: Vec<InferredBy>,
    /// The lanes that differ.
    lanes: Vec<LaneJson>,
}

fn pair(pair: &WaveDifference) -> PairJson {
    let registers = pair.registers.iter().map(|register| {
        let values = register.lanes.first().filter(|_| !register.is_vector);
        RegisterJson {
            name: register.name.clone(),
            lanes: register.is_vector.then(|| lanes(&register.lanes)),
            values: values.map(|only| only.values.clone()),
        }
    });
    PairJson {
        waves: pair.ids,
        unconfirmed: pair.unconfirmed.clone(),
        function: pair.function.clone(),
        stop_reasons: pair.stop.clone(),
        registers: registers.collect(),
        frames: pair.frames.iter().map(frame).collect(),
    }
}

fn frame(frame: &FrameDifference) -> FrameJson {
    let variables = frame.variables.iter().map(|variable| VariableJson {
        name: variable.name.clone(),
        type_name: variable.type_name.clone(),
        inferred: variable.inferred.sources(),
        lanes: lanes(&variable.lanes),
    });
    FrameJson {
        frame: frame.frame,
        functions: frame.functions.clone(),
        lines: frame.lines.clone(),
        problems: frame.problems.clone(),
        variables: variables.collect(),
    }
}

fn lanes(lanes: &[LaneDifference<Option<String>>]) -> Vec<LaneJson> {
    lanes.iter().map(|lane| LaneJson { lane: lane.lane.0, values: lane.values.clone() }).collect()
}
