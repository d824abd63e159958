//! One right side for the values of many lanes and waves.

use super::number;
use super::plan::RightPlan;
use super::write::{Style, integer, written};
use crate::check::file::StateName;
use crate::session::ValueState;
use crate::session::print::TypedValue;
use crate::units::LaneId;

/// Maximum number of values of a set.
const MAX_SET: usize = 16;

/// What the values of a line have in common.
#[derive(Clone, Debug, Default)]
pub(in crate::check) struct Summary {
    first: Option<(LaneId, TypedValue)>,
    is_varied: bool,
    /// Integers: by the rule `base + step * lane`.
    rule: Rule,
    /// The smallest and the largest number.
    bounds: Option<(TypedValue, TypedValue)>,
    has_others: bool,
    /// Distinct values; `None`: too many, or one without a notation.
    set: Option<Vec<String>>,
}

#[derive(Clone, Copy, Debug, Default)]
enum Rule {
    #[default]
    Unset,
    Point(LaneId, i128),
    Line {
        base: i128,
        step: i128,
    },
    Broken,
}

impl Summary {
    /// Adds the value of a lane.
    pub(in crate::check) fn add(&mut self, lane: LaneId, value: &TypedValue, style: Style) {
        match &self.first {
            None => {
                self.first = Some((lane, value.clone()));
                self.set = Some(Vec::new());
            }
            Some((_, first)) => self.is_varied |= !is_same(first, value),
        }
        self.rule = match number::integer(value) {
            Some(number) => self.rule.with(lane, number),
            None => Rule::Broken,
        };
        match number::float(value) {
            Some(number) => {
                self.has_others |= number.is_nan();
                let less = |left: &TypedValue, right: &TypedValue| {
                    number::order(left, right).flatten().is_some_and(std::cmp::Ordering::is_lt)
                };
                let bounds = self.bounds.get_or_insert_with(|| (value.clone(), value.clone()));
                if less(value, &bounds.0) {
                    bounds.0 = value.clone();
                }
                if less(&bounds.1, value) {
                    bounds.1 = value.clone();
                }
            }
            None => self.has_others = true,
        }
        if let Some(set) = &mut self.set {
            let text = written(value, style);
            let is_new = text.as_ref().is_none_or(|text| !set.contains(text));
            match text {
                Some(text) if is_new && set.len() < MAX_SET => set.push(text),
                Some(_) if !is_new => {}
                _ => self.set = None,
            }
        }
    }

    /// Operator and value that all lanes satisfy, in the form of a right side; `None`: there is none.
    pub(in crate::check) fn right(&self, plan: &RightPlan, style: Style) -> Option<String> {
        match plan {
            RightPlan::Between(..) if !self.has_others => {
                let (least, most) = self.bounds.as_ref()?;
                Some(format!("in {}..{}", written(least, style)?, written(most, style)?))
            }
            RightPlan::OneOf(_) => {
                let set = self.set.as_ref().filter(|set| !set.is_empty())?;
                Some(format!("in {{{}}}", set.join(", ")))
            }
            RightPlan::Near { tolerance, is_percent, .. } => {
                let value = self.constant(style)?;
                let tolerance = tolerance.map_or_else(String::new, |tolerance| {
                    format!(" +- {tolerance:?}{}", if *is_percent { "%" } else { "" })
                });
                Some(format!("~= {value}{tolerance}"))
            }
            RightPlan::Is(StateName::Inactive) => None,
            _ => self.state().or_else(|| {
                let value = self.constant(style).or_else(|| self.rule.written())?;
                Some(format!("== {value}"))
            }),
        }
    }

    fn constant(&self, style: Style) -> Option<String> {
        let (_, first) = self.first.as_ref().filter(|_| !self.is_varied)?;
        written(first, style)
    }

    /// The state that all values have.
    fn state(&self) -> Option<String> {
        let (_, first) = self.first.as_ref().filter(|_| !self.is_varied)?;
        let is = |name: &str, of: fn(&ValueState) -> bool| first.is_all(&of).then(|| format!("is {name}"));
        is("unavailable", |state| matches!(state, ValueState::Unavailable(_)))
            .or_else(|| is("optimized out", |state| matches!(state, ValueState::OptimizedOut(_))))
            .or_else(|| is("error", |state| matches!(state, ValueState::Error(_))))
    }
}

/// Whether two values have one notation: missing ones are alike in the same state.
fn is_same(left: &TypedValue, right: &TypedValue) -> bool {
    match (left, right) {
        (TypedValue::Missing(left), TypedValue::Missing(right)) => {
            std::mem::discriminant(left) == std::mem::discriminant(right)
        }
        (
            TypedValue::Array { elements, count, .. },
            TypedValue::Array { elements: others, count: other, .. },
        ) => {
            count == other
                && elements.len() == others.len()
                && elements.iter().zip(others).all(|(left, right)| is_same(left, right))
        }
        (TypedValue::Record { fields }, TypedValue::Record { fields: others }) => {
            fields.len() == others.len()
                && fields.iter().zip(others).all(|(left, right)| is_same(&left.value, &right.value))
        }
        _ => left == right,
    }
}

impl Rule {
    fn with(self, lane: LaneId, number: i128) -> Self {
        let (at, line) = (i128::from(lane.0), |base: i128, step: i128| Self::Line { base, step });
        match self {
            Self::Unset => Self::Point(lane, number),
            Self::Point(first, known) if first == lane => {
                if known == number {
                    self
                } else {
                    Self::Broken
                }
            }
            Self::Point(first, known) => {
                let distance = at - i128::from(first.0);
                let Some(grown) = number.checked_sub(known).filter(|grown| grown % distance == 0) else {
                    return Self::Broken;
                };
                let step = grown / distance;
                let base = step.checked_mul(at).and_then(|grown| number.checked_sub(grown));
                base.map_or(Self::Broken, |base| line(base, step))
            }
            Self::Line { base, step } => {
                let expected = step.checked_mul(at).and_then(|grown| base.checked_add(grown));
                if expected == Some(number) { self } else { Self::Broken }
            }
            Self::Broken => self,
        }
    }

    /// The rule as a path with `$lane`.
    fn written(self) -> Option<String> {
        let Self::Line { base, step } = self else { return None };
        // Arithmetic of `int` must not overflow; a wider one does not for numbers of 62 bits.
        let is_int = |number: i128| i32::try_from(number).is_ok();
        let last = step.checked_mul(64)?.checked_add(base)?;
        let fits = [base, step, last].iter().all(|number| number.unsigned_abs() < 1 << 62);
        let long = if [base, step.checked_mul(64)?, last].into_iter().all(is_int) { "" } else { "l" };
        let size = step.unsigned_abs();
        let lane = if size == 1 { "$lane".to_owned() } else { format!("{size}{long} * $lane") };
        let base_text = format!("{}{long}", integer(i128::try_from(base.unsigned_abs()).ok()?)?);
        fits.then(|| match (base, step > 0) {
            (0, true) => lane.clone(),
            (0, false) => format!("-{lane}"),
            (base, true) if base < 0 => format!("{lane} - {base_text}"),
            (base, false) if base < 0 => format!("-{lane} - {base_text}"),
            (_, true) => format!("{base_text} + {lane}"),
            (_, false) => format!("{base_text} - {lane}"),
        })
    }
}
