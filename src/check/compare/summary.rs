//! One right side for the values of many lanes and waves.

use super::plan::RightPlan;
use super::write::{Style, integer, written};
use super::{are_all, compare, near, number, one_of};
use crate::check::file::{Comparator, Right, StateName};
use crate::check::format::operand;
use crate::session::ValueState;
use crate::session::print::TypedValue;
use crate::units::LaneId;

/// The right side that a value without an equal satisfies.
const NAN: &str = "is nan";
/// Maximum number of values that a set gets.
const MAX_SET: usize = 16;

/// Common rule of the values of a line.
#[derive(Clone, Debug)]
pub(in crate::check) struct Summary {
    style: Style,
    first: Option<TypedValue>,
    is_varied: bool,
    /// Whether all values are captured.
    is_whole: bool,
    /// Integers: by the rule `base + step * lane`.
    rule: Rule,
    /// Further requirements of the form of the right side.
    more: More,
}

#[derive(Clone, Debug)]
enum More {
    Nothing,
    /// A range or an order.
    Bounds {
        /// The smallest and the largest number; `None`: a value is no number.
        ends: Option<Box<(TypedValue, TypedValue)>>,
        /// Whether all values satisfy the first and the last end of a range.
        holds: (bool, bool),
    },
    /// Distinct values that no alternative of the line is equal to; `None`: too many, or one without a notation.
    Set(Option<Vec<String>>),
    /// Whether all values are near the first one.
    Near(bool),
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
    /// A summary for right sides in the form of a plan.
    pub(in crate::check) fn new(plan: &RightPlan) -> Self {
        let style = match plan {
            RightPlan::Compare(_, plan) => Style::of(plan),
            _ => Style { has_texts: true, has_members: false },
        };
        let more = match plan {
            RightPlan::Compare(Comparator::Equal | Comparator::NotEqual, _) | RightPlan::Is(_) => {
                More::Nothing
            }
            RightPlan::Compare(..) | RightPlan::Between(..) => {
                More::Bounds { ends: None, holds: (true, true) }
            }
            RightPlan::OneOf(_) => More::Set(Some(Vec::new())),
            RightPlan::Near { .. } => More::Near(true),
        };
        let rule = Rule::default();
        Self { style, first: None, is_varied: false, is_whole: true, rule, more }
    }

    /// Adds the value of a lane. `values`: those of the plan's paths.
    pub(in crate::check) fn add(
        &mut self,
        lane: LaneId,
        value: &TypedValue,
        plan: &RightPlan,
        values: &[&TypedValue],
    ) {
        let is_first = self.first.is_none();
        let first = self.first.get_or_insert_with(|| value.clone());
        self.is_varied |= !is_same(first, value);
        self.is_whole &= value.is_whole();
        self.rule = match number::integer(value) {
            Some(number) => self.rule.with(lane, number),
            None => Rule::Broken,
        };
        match &mut self.more {
            More::Nothing => {}
            More::Bounds { ends, holds } => {
                let is_number = number::float(value).is_some_and(|number| !number.is_nan());
                *ends = ends.take().or_else(|| is_first.then(|| Box::new((value.clone(), value.clone()))));
                *ends = ends.take().filter(|_| is_number).map(|ends| {
                    let (least, most) = *ends;
                    let less = |left: &TypedValue, right: &TypedValue| {
                        number::order(left, right).flatten().is_some_and(std::cmp::Ordering::is_lt)
                    };
                    let most = if less(&most, value) { value.clone() } else { most };
                    let least = if less(value, &least) { value.clone() } else { least };
                    Box::new((least, most))
                });
                if let RightPlan::Between(first, last) = plan {
                    holds.0 &= compare(value, Comparator::AtLeast, first, values) == Ok(true);
                    holds.1 &= compare(value, Comparator::AtMost, last, values) == Ok(true);
                }
            }
            More::Set(known) => {
                let RightPlan::OneOf(plans) = plan else { return };
                if one_of(value, plans, values) == Ok(true) {
                    return;
                }
                *known = known.take().and_then(|mut set| {
                    let text = written(value, self.style)?;
                    if !set.contains(&text) {
                        set.push(text);
                    }
                    (set.len() <= MAX_SET).then_some(set)
                });
            }
            More::Near(is_near) => {
                if let RightPlan::Near { tolerance, is_percent, .. } = plan {
                    *is_near &= near(value, first, *tolerance, *is_percent) == Ok(true);
                }
            }
        }
    }

    /// Operator and value that all lanes satisfy, in the form of a right side; `None`: there is none. The operator stays
    /// where it can hold the values; ranges and sets grow.
    pub(in crate::check) fn right(&self, right: &Right) -> Option<String> {
        match (right, &self.more) {
            (Right::Between(first, last), More::Bounds { ends, holds }) => {
                let (least, most) = ends.as_deref()?;
                let end = |is_kept: bool, old: &String, new: &TypedValue| {
                    if is_kept { Some(old.clone()) } else { written(new, self.style) }
                };
                Some(format!("in {}..{}", end(holds.0, first, least)?, end(holds.1, last, most)?))
            }
            (Right::OneOf(old), More::Set(Some(new))) => {
                let values: Vec<String> = old.iter().map(operand).chain(new.iter().cloned()).collect();
                Some(format!("in {{{}}}", values.join(", ")))
            }
            (Right::Near { .. }, _) if self.is_nan() => Some(NAN.to_owned()),
            (Right::Near { tolerance, is_percent, .. }, More::Near(is_near)) => {
                let first = if *is_near { self.first.as_ref() } else { None };
                let value =
                    first.and_then(|first| written(first, self.style)).or_else(|| self.rule.written())?;
                let tolerance = tolerance.map_or_else(String::new, |tolerance| {
                    // `1%` stays `1%`.
                    let number = format!("{tolerance:?}");
                    let number = number.strip_suffix(".0").unwrap_or(&number);
                    format!(" +- {number}{}", if *is_percent { "%" } else { "" })
                });
                Some(format!("~= {value}{tolerance}"))
            }
            (Right::Compare(comparator, _), More::Bounds { ends, .. }) => {
                let (least, most) = ends.as_deref()?;
                let bound = match comparator {
                    Comparator::AtMost => written(most, self.style),
                    Comparator::AtLeast => written(least, self.style),
                    Comparator::Less => number::integer(most).and_then(|most| integer(most.checked_add(1)?)),
                    Comparator::Greater => {
                        number::integer(least).and_then(|least| integer(least.checked_sub(1)?))
                    }
                    Comparator::Equal | Comparator::NotEqual => None,
                };
                Some(format!("{} {}", comparator.sign(), bound?))
            }
            (Right::Compare(Comparator::Equal, _), _) => self.state().or_else(|| {
                let value = self.constant().or_else(|| self.rule.written())?;
                Some(format!("== {value}"))
            }),
            (Right::Is(state), _) if *state != StateName::Inactive => {
                let is_infinite = || {
                    let first = self.first.as_ref().filter(|_| !self.is_varied);
                    first.is_some_and(|first| are_all(first, &f64::is_infinite) == Ok(true))
                };
                self.state().or_else(|| match state {
                    StateName::Nan | StateName::Infinite if is_infinite() => Some("is inf".to_owned()),
                    _ => self.is_whole.then(|| "is available".to_owned()),
                })
            }
            _ => None,
        }
    }

    fn constant(&self) -> Option<String> {
        written(self.first.as_ref().filter(|_| !self.is_varied)?, self.style)
    }

    /// The state that all values have.
    fn state(&self) -> Option<String> {
        let first = self.first.as_ref().filter(|_| !self.is_varied)?;
        let is = |name: &str, of: fn(&ValueState) -> bool| first.is_all(&of).then(|| format!("is {name}"));
        is("unavailable", |state| matches!(state, ValueState::Unavailable(_)))
            .or_else(|| is("optimized out", |state| matches!(state, ValueState::OptimizedOut(_))))
            .or_else(|| is("error", |state| matches!(state, ValueState::Error(_))))
            .or_else(|| self.is_nan().then(|| NAN.to_owned()))
    }

    /// Whether all values are no numbers: no value equals them.
    fn is_nan(&self) -> bool {
        let first = self.first.as_ref().filter(|_| !self.is_varied);
        first.is_some_and(|first| are_all(first, &f64::is_nan) == Ok(true))
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
        (TypedValue::Float { value, .. }, TypedValue::Float { value: other, .. })
            if value.is_nan() && other.is_nan() =>
        {
            true
        }
        (TypedValue::Pointer(left), TypedValue::Pointer(right)) => match (&left.text, &right.text) {
            (Some(Ok(left)), Some(Ok(right))) => left == right,
            _ => left.to == right.to,
        },
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
