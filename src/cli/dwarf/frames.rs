//! Expressions of call frame information.

use std::fmt::Write as _;

use serde::Serialize;

use super::{Decoded, ProgramJson, operations};
use crate::debuginfo::{DebugInfo, FrameEntry};
use crate::dwarf::cfi::{FrameExpression, expressions};
use crate::dwarf::print::Names;
use crate::dwarf::{Dialect, Encoding, Program};
use crate::notation::hex_bytes;
use crate::report::schema::Hex;
use crate::units::Pc;

/// The entries with expressions, and the unreadable ones.
pub(super) struct Frames {
    entries: Vec<FrameEntry>,
    dialect: Option<Dialect>,
    pub(super) problems: Vec<String>,
}

impl Frames {
    pub(super) fn read(debug: &DebugInfo, dialect: Option<Dialect>) -> Self {
        let frames = debug.call_frames();
        let problems = frames.problems().iter().map(ToString::to_string).collect();
        Self { entries: frames.entries().to_vec(), dialect, problems }
    }

    /// Visits the expressions of each entry that has any.
    fn each<T>(
        &self,
        mut show: impl FnMut(&FrameEntry, Dialect, Vec<(FrameExpression<'_>, Decoded)>) -> T,
    ) -> Vec<T> {
        let mut all = Vec::new();
        for entry in &self.entries {
            let start = Pc(entry.pcs.as_ref().map_or(0, |pcs| pcs.start.0));
            let (found, _) = expressions(&entry.instructions, start, entry.cie.code_factor);
            if found.is_empty() {
                continue;
            }
            let bytes = found.iter().map(|expression| expression.bytes);
            let dialect =
                self.dialect.unwrap_or_else(|| Dialect::of_unit(Some(&entry.cie.augmentation.text), bytes));
            let encoding = Encoding { dialect, dwarf64: entry.dwarf64 };
            let rows = found.into_iter().map(|expression| {
                let program = Program::decode(expression.bytes, encoding);
                (expression, program)
            });
            all.push(show(entry, dialect, rows.collect()));
        }
        all
    }

    /// The reasons of entries whose instructions end early.
    pub(super) fn cut(&self) -> Vec<String> {
        let cut = |entry: &FrameEntry| {
            let (_, problem) = expressions(&entry.instructions, Pc(0), entry.cie.code_factor);
            problem.map(|problem| format!("{} entry at {:#x}: {problem}", entry.section, entry.offset))
        };
        self.entries.iter().filter_map(cut).collect()
    }

    pub(super) fn text(&self, names: &dyn Names) -> String {
        let entries = self.each(|entry, dialect, rows| {
            let of = match &entry.pcs {
                Some(pcs) => format!("{:#x}-{:#x}", pcs.start.0, pcs.end.0),
                None => "all code".to_owned(),
            };
            let mut text = format!("call frames of {of}: {}\n", dialect.name());
            for (at, program) in rows {
                let register = at.register.map(|register| {
                    names.register(register).unwrap_or_else(|| format!("register {register}"))
                });
                let register = register.map_or_else(String::new, |register| format!(" {register}"));
                let (pc, instruction) = (format!("{:#x}", at.pc.0), at.instruction);
                let words = super::words(&program, names);
                let _ =
                    writeln!(text, "  {pc:<8} {instruction}{register}: {words}  # {}", hex_bytes(at.bytes));
            }
            text + "\n"
        });
        entries.concat()
    }

    pub(super) fn json(&self, names: &dyn Names) -> Vec<FrameEntryJson> {
        self.each(|entry, dialect, rows| {
            let row = |(at, program): &(FrameExpression<'_>, Decoded)| FrameExpressionJson {
                pc: Hex(at.pc.0),
                instruction: at.instruction.to_string(),
                register: at.register.map(|register| register.0),
                bytes: hex_bytes(at.bytes),
                program: operations(program, names),
            };
            FrameEntryJson {
                offset: Hex(entry.offset),
                pcs: entry.pcs.as_ref().map(|pcs| [Hex(pcs.start.0), Hex(pcs.end.0)]),
                dialect: dialect.name(),
                expressions: rows.iter().map(row).collect(),
            }
        })
    }
}

/// The expressions of an entry of call frame information.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct FrameEntryJson {
    /// Its offset in the section.
    offset: Hex,
    /// The first PC and the one past the last; null: a CIE.
    pcs: Option<[Hex; 2]>,
    /// The dialect.
    dialect: &'static str,
    /// The expressions.
    expressions: Vec<FrameExpressionJson>,
}

/// An expression of call frame information.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct FrameExpressionJson {
    /// The first PC of the row.
    pc: Hex,
    /// The instruction.
    instruction: String,
    /// DWARF number of its register; null: the CFA.
    register: Option<u64>,
    /// The bytes, two digits each.
    bytes: String,
    /// The operations.
    #[serde(flatten)]
    program: ProgramJson,
}
