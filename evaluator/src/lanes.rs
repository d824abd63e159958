//! Quantities for a set of lanes: one value if all lanes agree, else one per lane.

use crate::units::{LaneId, LaneSet};

/// Number of elements of a varying quantity: the largest wave. A wave of 32 lanes leaves half unused.
pub const LANES: usize = 64;

/// A quantity for a set of lanes.
///
/// The owner of the quantity keeps the set. Elements of other lanes are meaningless, so every loop processes all 64
/// elements without a test.
#[derive(Clone, Debug)]
pub enum Lanes<T> {
    /// The same for every lane.
    Uniform(T),
    /// One element for each lane, lane 0 first.
    Varying(Box<[T; LANES]>),
}

impl<T: Copy> Lanes<T> {
    /// Creates one element for each lane from a function of the lane number.
    #[must_use]
    pub fn from_fn(mut element: impl FnMut(u8) -> T) -> Self {
        Self::Varying(Box::new(std::array::from_fn(|lane| element(lane as u8))))
    }

    /// Returns the element of one lane.
    #[must_use]
    pub fn get(&self, lane: LaneId) -> T {
        match self {
            Self::Uniform(value) => *value,
            // The remainder is always in range, so the fallback is never used.
            Self::Varying(values) => {
                values.get(usize::from(lane.0) % LANES).copied().unwrap_or_else(|| first(values))
            }
        }
    }

    /// Maps each element.
    #[must_use]
    pub fn map<U: Copy>(&self, change: impl Fn(T) -> U) -> Lanes<U> {
        match self {
            Self::Uniform(value) => Lanes::Uniform(change(*value)),
            Self::Varying(values) => Lanes::Varying(Box::new(values.map(change))),
        }
    }

    /// Changes each element in place.
    pub fn change(&mut self, change: impl Fn(T) -> T) {
        match self {
            Self::Uniform(value) => *value = change(*value),
            Self::Varying(values) => values.iter_mut().for_each(|value| *value = change(*value)),
        }
    }

    /// Combines two quantities lane by lane, reusing the storage of either.
    #[must_use]
    pub fn zip(self, other: Self, join: impl Fn(T, T) -> T) -> Self {
        match (self, other) {
            (Self::Uniform(a), Self::Uniform(b)) => Self::Uniform(join(a, b)),
            (Self::Varying(mut a), Self::Uniform(b)) => {
                a.iter_mut().for_each(|a| *a = join(*a, b));
                Self::Varying(a)
            }
            (Self::Uniform(a), Self::Varying(mut b)) => {
                b.iter_mut().for_each(|b| *b = join(a, *b));
                Self::Varying(b)
            }
            (Self::Varying(mut a), Self::Varying(b)) => {
                a.iter_mut().zip(b.iter()).for_each(|(a, b)| *a = join(*a, *b));
                Self::Varying(a)
            }
        }
    }

    /// Returns the lanes of `lanes` whose element passes a test.
    #[must_use]
    pub fn lanes_where(&self, lanes: LaneSet, test: impl Fn(T) -> bool) -> LaneSet {
        match self {
            Self::Uniform(value) => {
                if test(*value) {
                    lanes
                } else {
                    LaneSet::EMPTY
                }
            }
            Self::Varying(values) => {
                let mut mask = 0u64;
                for (lane, value) in values.iter().enumerate() {
                    mask |= u64::from(test(*value)) << lane;
                }
                lanes.and(LaneSet(mask))
            }
        }
    }

    /// Whether a test passes for every lane of `lanes`.
    #[must_use]
    pub fn all(&self, lanes: LaneSet, test: impl Fn(T) -> bool) -> bool {
        self.lanes_where(lanes, test) == lanes
    }
}

impl<T: Copy + PartialEq> Lanes<T> {
    /// Returns the common element of all lanes of `lanes`, if they agree.
    #[must_use]
    pub fn agreed(&self, lanes: LaneSet) -> Option<T> {
        match self {
            Self::Uniform(value) => Some(*value),
            Self::Varying(_) => {
                let value = self.get(lanes.first()?);
                self.all(lanes, |other| other == value).then_some(value)
            }
        }
    }

    /// Splits `lanes` into sets of lanes that agree.
    #[must_use]
    pub fn parted(&self, lanes: LaneSet) -> Vec<LaneSet> {
        let mut left = lanes;
        let mut sets = Vec::new();
        while let Some(lane) = left.first() {
            let value = self.get(lane);
            let set = self.lanes_where(left, |other| other == value);
            // An element unequal to itself cannot occur in integers; adding the lane itself ends the loop for any type.
            let set = LaneSet(set.0 | LaneSet::one(lane).0);
            left = left.without(set);
            sets.push(set);
        }
        sets
    }
}

impl<T: Copy> From<T> for Lanes<T> {
    fn from(value: T) -> Self {
        Self::Uniform(value)
    }
}

fn first<T: Copy>(values: &[T; LANES]) -> T {
    let [value, ..] = values;
    *value
}
