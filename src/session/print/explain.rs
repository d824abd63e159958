//! Explanations of the locations of a path's variables, operation by operation.

use super::eval::Scene;
use super::names::{Named, Placed, Readable};
use super::path::{Node, Path};
use super::{PrintError, Query};
use crate::codeobject;
use crate::debuginfo;
use crate::dwarf::explain::{self, Explainer};
use crate::dwarf::{Evaluator, Focus, print};
use crate::session::variables::with_frame;
use crate::session::{Explained, Reader};
use crate::units::{LaneSet, WaveId};

/// The explanation of a name of a path.
#[derive(Clone, Debug)]
pub struct Explanation {
    /// The name.
    pub name: String,
    /// The source of its location: `location list entry for 0x10-0x20: DW_OP_regx v3`, or the other meaning of the
    /// name.
    pub says: String,
    /// The steps of the expression, for each set of lanes with the same control flow.
    pub lanes: Vec<Explained>,
    /// Whether the name has a location, a value or another meaning; else `says` is the reason.
    pub is_known: bool,
}

/// Explains the variables that a path names.
///
/// # Errors
/// The text is no path, or there is no frame.
pub(in crate::session) fn explain(
    reader: &Reader,
    wave: WaveId,
    lanes: LaneSet,
    frame: usize,
    query: &Query,
) -> Result<Vec<Explanation>, PrintError> {
    with_frame(reader, wave, frame, |found| {
        let lanes = lanes.and(found.frame.context.kind().wave_size.all());
        let scene = Scene::new(reader, wave, &found, lanes);
        let path = scene.parsed(&query.path)?;
        let mut names = Vec::new();
        collect(&path, &mut names);
        Ok(names.into_iter().map(|name| scene.explanation(name)).collect())
    })
}

/// The names of a path, each once.
pub(super) fn collect<'p>(path: &'p Path, names: &mut Vec<&'p str>) {
    if let Node::Name(name) = &path.node
        && !names.contains(&name.as_str())
    {
        names.push(name);
    }
    path.parts().into_iter().for_each(|part| collect(part, names));
}

impl Scene<'_, '_> {
    fn explanation(&self, name: &str) -> Explanation {
        let named = self.named(name);
        let says = match &*named {
            Ok(Named::Variable(placed)) => return self.variable(placed),
            Ok(Named::Member) => match &*self.named("this") {
                Ok(Named::Variable(this)) => {
                    let this = self.variable(this);
                    let says = format!("a member of `*this`; `this`: {}", this.says);
                    return Explanation { name: name.to_owned(), says, ..this };
                }
                _ => "a member of `*this`".to_owned(),
            },
            Ok(Named::UpLevel(found)) => found.words(),
            Ok(Named::Enumerator { value, .. }) => format!("an enumerator, {value}"),
            Ok(Named::Function(_)) => "a function".to_owned(),
            Ok(Named::Constant(_)) => "a constant".to_owned(),
            Err(why) => why.words().to_owned(),
        };
        Explanation { name: name.to_owned(), says, lanes: Vec::new(), is_known: named.is_ok() }
    }

    fn variable(&self, placed: &Placed) -> Explanation {
        let frame = &self.found.frame;
        let name = placed.name().to_owned();
        let alone = |says: String, is_known: bool| {
            let (name, lanes) = (name.clone(), Vec::new());
            Explanation { name, says, lanes, is_known }
        };
        let (head, bytes) = match &placed.said {
            debuginfo::Location::None | debuginfo::Location::NotAtPc | debuginfo::Location::Broken(_) => {
                let why = placed.groups().iter().find_map(|(_, at)| at.as_ref().err());
                let inferred = || placed.provenance.words().join("; ");
                return alone(why.map_or_else(inferred, |why| why.words().to_owned()), why.is_none());
            }
            debuginfo::Location::ConstValue(bytes) => {
                let bytes = codeobject::hex(bytes);
                let says = format!("DW_AT_const_value, its bytes are known since it was compiled: {bytes}");
                return alone(says, true);
            }
            debuginfo::Location::Expression(bytes) => ("DW_AT_location".to_owned(), bytes),
            debuginfo::Location::ListEntry { expression, range: Some(range) } => {
                let range = frame.listed(std::slice::from_ref(range));
                (format!("the entry of its location list for {range}"), expression)
            }
            debuginfo::Location::ListEntry { expression, range: None } => {
                ("the default entry of its location list".to_owned(), expression)
            }
        };
        if bytes.is_empty() {
            return alone(format!("{head}, which is empty; {}", frame.emptied(&placed.variable)), false);
        }
        let Readable { program, encoding, .. } =
            match self.readable(frame, self.found.unit(), &placed.variable, bytes) {
                Ok(readable) => readable,
                Err(error) => {
                    let lanes =
                        vec![Explained { lanes: self.lanes, lines: explain::error(&error, &frame.context) }];
                    let says = format!("{head}, which cannot be decoded");
                    return Explanation { name, says, lanes, is_known: false };
                }
            };
        let kind = frame.context.kind();
        let context = frame.context.of_unit(placed.variable.unit, encoding);
        let says = format!("{head}: {}", print::program(&program, &**kind));
        let parts = Evaluator::new(&context).location(&program, Focus::Lanes(self.lanes), &[]);
        let lanes = parts.into_iter().map(|part| {
            let first = part.lanes.first().unwrap_or_default();
            let mut explainer = Explainer::new(&**kind);
            drop(Evaluator::new(&context).traced(&mut explainer).location(
                &program,
                Focus::Lanes(part.lanes),
                &[],
            ));
            let mut lines = explainer.lines();
            lines.extend(placed.provenance.words().into_iter().map(str::to_owned));
            let found = placed.groups().iter().find(|(lanes, _)| lanes.contains(first));
            // Without an idiom the evaluator's own error has more detail than the message in `found`.
            match (&part.result, found.filter(|_| placed.provenance.idiom.is_some() || part.result.is_ok())) {
                (_, Some((_, Ok(location)))) | (Ok(location), None) => {
                    let words = print::location(&location.at(first), first, &**kind);
                    lines.push(format!("so it is at {words}"));
                    lines.extend(explain::undefined(location, first).iter().map(|one| one.named(&**kind)));
                }
                (_, Some((_, Err(why)))) => lines.push(why.words().to_owned()),
                (Err(error), None) => lines.extend(explain::error(error, &frame.context)),
            }
            Explained { lanes: part.lanes, lines }
        });
        let lanes = lanes.collect();
        Explanation { name, says, lanes, is_known: true }
    }
}
