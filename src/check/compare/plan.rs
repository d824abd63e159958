//! Right sides with the paths that they need.

use crate::check::file::{Comparator, Operand, Right, StateName};

/// An expected value: paths are indexes into a list of queries.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::check) enum Plan {
    Path {
        /// Index into the values of the paths.
        query: usize,
        /// The text of the path: an enumerator's name.
        name: String,
    },
    Text(Vec<u8>),
    List {
        elements: Vec<PlanElement>,
        is_open: bool,
    },
}

/// An element of a list.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::check) struct PlanElement {
    pub(super) member: Option<String>,
    pub(super) value: Plan,
}

/// A right side.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::check) enum RightPlan {
    Compare(Comparator, Plan),
    Near { value: usize, tolerance: Option<f64>, is_percent: bool },
    Between(Plan, Plan),
    OneOf(Vec<Plan>),
    Is(StateName),
}

impl RightPlan {
    /// The plan of a right side; its paths are added to `paths`.
    pub(in crate::check) fn of(right: &Right, paths: &mut Vec<String>) -> Self {
        match right {
            Right::Compare(comparator, operand) => Self::Compare(*comparator, Plan::of(operand, paths)),
            Right::Near { value, tolerance, is_percent } => {
                let value = add(value, paths);
                Self::Near { value, tolerance: *tolerance, is_percent: *is_percent }
            }
            Right::Between(first, last) => Self::Between(Plan::path(first, paths), Plan::path(last, paths)),
            Right::OneOf(operands) => {
                Self::OneOf(operands.iter().map(|operand| Plan::of(operand, paths)).collect())
            }
            Right::Is(state) => Self::Is(state.clone()),
        }
    }

    /// Whether the text at a pointer is compared.
    pub(in crate::check) fn wants_text(&self) -> bool {
        let is_text = |plan: &Plan| matches!(plan, Plan::Text(_));
        match self {
            Self::Compare(_, plan) => plan.any(&is_text),
            Self::OneOf(plans) => plans.iter().any(|plan| plan.any(&is_text)),
            Self::Near { .. } | Self::Between(..) | Self::Is(_) => false,
        }
    }
}

impl Plan {
    fn of(operand: &Operand, paths: &mut Vec<String>) -> Self {
        match operand {
            Operand::Path(path) => Self::path(path, paths),
            Operand::Text(text) => Self::Text(text.clone()),
            Operand::List { elements, is_open } => {
                // The parser bounds the nesting.
                let elements = elements.iter().map(|element| {
                    let value = Self::of(&element.value, paths);
                    PlanElement { member: element.member.clone(), value }
                });
                Self::List { elements: elements.collect(), is_open: *is_open }
            }
        }
    }

    fn path(path: &str, paths: &mut Vec<String>) -> Self {
        Self::Path { query: add(path, paths), name: path.trim().to_owned() }
    }

    /// Whether it or a part of it fits.
    pub(super) fn any(&self, fits: &dyn Fn(&Self) -> bool) -> bool {
        let inner = match self {
            Self::List { elements, .. } => elements.as_slice(),
            _ => &[],
        };
        fits(self) || inner.iter().any(|element| element.value.any(fits))
    }

    /// Whether members are named.
    pub(super) fn has_members(&self) -> bool {
        let has = |plan: &Self| match plan {
            Self::List { elements, .. } => elements.iter().any(|element| element.member.is_some()),
            _ => false,
        };
        self.any(&has)
    }
}

fn add(path: &str, paths: &mut Vec<String>) -> usize {
    paths.push(path.to_owned());
    paths.len() - 1
}
