//! Comparison of typed values, in the type of the left side.
//!
//! A result has three values: it holds, it differs, or it depends on a missing part.

mod number;
mod plan;
mod summary;
#[cfg(test)]
mod tests;
mod write;

pub(super) use number::{bounds_fit, kept, negative, ordering_fits};
pub(super) use plan::{Plan, RightPlan};
pub(super) use summary::Summary;
pub(super) use write::shown;

use std::cmp::Ordering;
use std::collections::HashSet;

use super::file::Comparator;
use super::similar::similar;
use crate::session::ValueState;
use crate::session::print::{EnumValue, MAX_TYPED_VALUES, TypedAddress, TypedField, TypedValue};

/// The reason that two values cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NotComparable {
    pub(super) problem: String,
    pub(super) hint: Option<String>,
    /// Whether a side is an error: a name may be wrong.
    pub(super) is_error: bool,
    /// Whether a part is missing from the dump: otherwise the line is wrong.
    pub(super) is_missing: bool,
}

/// A result, or the reason that there is none.
pub(super) type Compared = Result<bool, NotComparable>;

fn not_comparable(problem: impl Into<String>) -> NotComparable {
    NotComparable { problem: problem.into(), hint: None, is_error: false, is_missing: false }
}

/// The reason for a missing value.
pub(super) fn missing(state: &ValueState) -> NotComparable {
    let (problem, hint) = match state {
        ValueState::Unavailable(why) => {
            (format!("unavailable: {why}"), Some("`is unavailable` expects that"))
        }
        ValueState::OptimizedOut(why) => {
            (format!("optimized out: {why}"), Some("`is optimized out` expects that"))
        }
        ValueState::Error(why) | ValueState::Value(why) => (why.to_string(), None),
    };
    let is_error = matches!(state, ValueState::Error(_));
    NotComparable { problem, hint: hint.map(str::to_owned), is_error, is_missing: !is_error }
}

/// Compares a value with an expected one. `values`: those of the plan's paths.
pub(super) fn compare(
    left: &TypedValue,
    comparator: Comparator,
    right: &Plan,
    values: &[&TypedValue],
) -> Compared {
    match (comparator, right) {
        (Comparator::Equal, _) => equal(left, right, values),
        (Comparator::NotEqual, _) => equal(left, right, values).map(|is_equal| !is_equal),
        (_, Plan::Path { .. }) if has_no_order(left) => {
            Err(not_comparable("texts and aggregates have no order: use `==` or `!=`"))
        }
        (_, Plan::Path { query, name }) => {
            let right = values.get(*query).copied().ok_or_else(|| not_comparable("it was not evaluated"))?;
            let order = match named(left, name) {
                Some((own, number)) => Some(own.cmp(&number)),
                None => order(left, right)?,
            };
            Ok(order.is_some_and(|order| ordering_fits(comparator, order)))
        }
        (_, Plan::Text(_) | Plan::List { .. }) => {
            Err(not_comparable("texts and aggregates have no order: use `==` or `!=`"))
        }
    }
}

/// Whether a value is an aggregate or a text.
fn has_no_order(value: &TypedValue) -> bool {
    matches!(value, TypedValue::Array { .. } | TypedValue::Record { .. } | TypedValue::Text(_))
}

/// Whether a number is near another one.
pub(super) fn near(
    left: &TypedValue,
    right: &TypedValue,
    tolerance: Option<f64>,
    is_percent: bool,
) -> Compared {
    match (left, right) {
        (TypedValue::Missing(state), _) | (_, TypedValue::Missing(state)) => return Err(missing(state)),
        (
            TypedValue::Array { elements, count, .. },
            TypedValue::Array { elements: others, count: other, .. },
        ) => {
            if count != other {
                return Ok(false);
            }
            whole(*count, elements)?;
            return all(elements
                .iter()
                .zip(others)
                .map(|(left, right)| near(left, right, tolerance, is_percent)));
        }
        _ => other_enumeration(left, right)?,
    }
    let (Some(own), Some(expected)) = (number::float(left), number::float(right)) else {
        return Err(not_comparable("`~=` compares numbers"));
    };
    let tolerance = match (tolerance, is_percent) {
        (None, _) => expected.abs() * 1e-6,
        (Some(percent), true) => expected.abs() * percent / 100.0,
        (Some(tolerance), false) => tolerance,
    };
    if let Some(is_near) = number::within(left, right, tolerance) {
        return Ok(is_near);
    }
    let (left, right) = (own, expected);
    // Equal infinities have no distance; each other number is infinitely far from them.
    let has_distance = left.is_finite() && right.is_finite();
    Ok(left == right || has_distance && (left - right).abs() <= tolerance)
}

/// Whether a floating-point number, or each element of an aggregate of them, has a property; an integer has none.
pub(super) fn are_all(value: &TypedValue, fits: &impl Fn(f64) -> bool) -> Compared {
    match value {
        TypedValue::Missing(state) => Err(missing(state)),
        TypedValue::Float { value, .. } => Ok(fits(*value)),
        TypedValue::Integer { .. } | TypedValue::Truth(_) | TypedValue::Enumerator(_) => Ok(false),
        TypedValue::Array { elements, count, .. } if !elements.is_empty() => {
            let result = all(elements.iter().map(|element| are_all(element, fits)))?;
            if result { whole(*count, elements).map(|()| true) } else { Ok(false) }
        }
        TypedValue::Record { fields } if !fields.is_empty() => {
            all(fields.iter().map(|field| are_all(&field.value, fits)))
        }
        other => Err(not_comparable(format!("{} is no floating-point number", described(other)))),
    }
}

fn equal(left: &TypedValue, right: &Plan, values: &[&TypedValue]) -> Compared {
    match right {
        Plan::Path { query, name } => {
            if let Some((own, number)) = named(left, name) {
                return Ok(own == number);
            }
            let right = values.get(*query).copied().ok_or_else(|| not_comparable("it was not evaluated"))?;
            let result = same(left, right);
            match (result, left) {
                (Err(why), TypedValue::Enumerator(of)) if why.is_error => {
                    let names = of.enumerators.iter().map(|one| &*one.name);
                    let own = name.rsplit("::").next().unwrap_or(name);
                    let hint = similar(own, names).map(|found| format!("did you mean `{found}`?"));
                    Err(NotComparable { hint: hint.or(why.hint), is_error: false, ..why })
                }
                (result, _) => result,
            }
        }
        Plan::Text(text) => is_text(left, text),
        Plan::List { elements, is_open } => list(left, elements, *is_open, values),
    }
}

/// The numbers of an enumeration's value, and of its enumerator of that name.
fn named(left: &TypedValue, name: &str) -> Option<(i128, i128)> {
    match left {
        TypedValue::Enumerator(of) => Some((of.value, of.named(name)?)),
        _ => None,
    }
}

/// Whether a value is between two ends, which belong to the range.
pub(super) fn between(left: &TypedValue, (first, last): (&Plan, &Plan), values: &[&TypedValue]) -> Compared {
    let ends = [(Comparator::AtLeast, first), (Comparator::AtMost, last)];
    all_named(ends.map(|(comparator, end)| compare(left, comparator, end, values)))
}

/// Whether a value is equal to one of several.
pub(super) fn one_of(left: &TypedValue, plans: &[Plan], values: &[&TypedValue]) -> Compared {
    let none = all_named(plans.iter().map(|plan| equal(left, plan, values).map(|is_equal| !is_equal)));
    none.map(|is_none| !is_none)
}

/// Whether all parts are equal: one known difference decides.
fn all(results: impl IntoIterator<Item = Compared>) -> Compared {
    let mut unknown = None;
    for result in results {
        match result {
            Ok(false) => return Ok(false),
            Ok(true) => {}
            Err(why) => drop(unknown.get_or_insert(why)),
        }
    }
    unknown.map_or(Ok(true), Err)
}

/// The same for parts that the line names: a wrong one, such as an unknown name, decides before a difference.
fn all_named(results: impl IntoIterator<Item = Compared>) -> Compared {
    let results: Vec<Compared> = results.into_iter().collect();
    let wrong = results.iter().find_map(|result| result.as_ref().err().filter(|why| !why.is_missing));
    wrong.cloned().map_or_else(|| all(results), Err)
}

fn whole(count: u64, elements: &[TypedValue]) -> Result<(), NotComparable> {
    match count == elements.len() as u64 {
        true => Ok(()),
        false => Err(not_comparable(format!("{count} elements, and {MAX_TYPED_VALUES} values are compared"))),
    }
}

/// Whether two values are equal.
fn same(left: &TypedValue, right: &TypedValue) -> Compared {
    match (left, right) {
        (
            TypedValue::Array { elements, count, address, .. },
            TypedValue::Array { elements: others, count: other, address: other_address, .. },
        ) => {
            if address.is_some() && address == other_address && count == other {
                let known = elements.iter().filter(|element| element.missing().is_none());
                let state = elements.iter().find_map(TypedValue::missing).map(|state| Err(missing(state)));
                return all(known.map(|element| same(element, element)).chain(state));
            }
            if count != other {
                return Ok(false);
            }
            all(elements.iter().zip(others).map(|(left, right)| same(left, right))).and_then(|is_equal| {
                if is_equal { whole(*count, elements).map(|()| true) } else { Ok(false) }
            })
        }
        (TypedValue::Record { fields }, TypedValue::Record { fields: others }) => {
            let is_alike = fields.len() == others.len()
                && fields.iter().zip(others).all(|(left, right)| left.name == right.name);
            if !is_alike {
                return Err(not_comparable("structs with other members"));
            }
            all(fields.iter().zip(others).map(|(left, right)| same(&left.value, &right.value)))
        }
        (TypedValue::Text(left), TypedValue::Text(right)) => Ok(trimmed(left) == trimmed(right)),
        _ => Ok(order(left, right)? == Some(Ordering::Equal)),
    }
}

/// The reason not to compare enumerators of two enumerations.
fn other_enumeration(left: &TypedValue, right: &TypedValue) -> Result<(), NotComparable> {
    let (TypedValue::Enumerator(own), TypedValue::Enumerator(other)) = (left, right) else { return Ok(()) };
    if own.is_of(other) {
        return Ok(());
    }
    let named = |of: &EnumValue| {
        of.enumeration.as_deref().map_or_else(|| "an unnamed one".to_owned(), |name| format!("`{name}`"))
    };
    Err(not_comparable(format!(
        "an enumerator of {} is not compared with one of {}; a cast to an integer compares numbers",
        named(own),
        named(other)
    )))
}

/// The order of numbers or addresses; `None`: they are unequal without an order.
fn order(left: &TypedValue, right: &TypedValue) -> Result<Option<Ordering>, NotComparable> {
    other_enumeration(left, right)?;
    if let Some(state) = [left, right].into_iter().find_map(|value| match value {
        TypedValue::Missing(state) => Some(state),
        _ => None,
    }) {
        return Err(missing(state));
    }
    if let (Some(left), Some(right)) = (address(left), address(right)) {
        let both_null = left.1 && right.1;
        let is_one_space = left.0.place.0 == right.0.place.0;
        return Ok(match (both_null, is_one_space) {
            (true, _) => Some(Ordering::Equal),
            (false, true) => Some(left.0.place.1.cmp(&right.0.place.1)),
            (false, false) => None,
        });
    }
    if let Some(order) = number::order(left, right) {
        return Ok(order);
    }
    match (left, right) {
        (TypedValue::Pointer(pointer), _) if number::integer(right).is_some() => {
            Ok(number::integer(right).map(|number| i128::from(pointer.to.address).cmp(&number)))
        }
        (_, TypedValue::Pointer(pointer)) if number::integer(left).is_some() => {
            Ok(number::integer(left).map(|number| number.cmp(&i128::from(pointer.to.address))))
        }
        _ => Err(not_comparable(format!("{} is not compared with {}", described(left), described(right)))),
    }
}

/// The address of a pointer, or of an array as a pointer to its first element; and whether it is null.
fn address(value: &TypedValue) -> Option<(&TypedAddress, bool)> {
    match value {
        TypedValue::Pointer(pointer) => Some((&pointer.to, pointer.is_null)),
        TypedValue::Array { address: Some(address), .. } => Some((address, false)),
        _ => None,
    }
}

/// A kind of value, for messages.
fn described(value: &TypedValue) -> String {
    match value {
        TypedValue::Integer { .. } | TypedValue::Truth(_) | TypedValue::Float { .. } => "a number".to_owned(),
        TypedValue::Enumerator(_) => "an enumerator".to_owned(),
        TypedValue::Pointer(_) => "a pointer".to_owned(),
        TypedValue::Array { .. } => "an array".to_owned(),
        TypedValue::Record { .. } => "a struct".to_owned(),
        TypedValue::Text(_) => "a text".to_owned(),
        TypedValue::Missing(_) => "a missing value".to_owned(),
        TypedValue::Other { type_name } => format!("a value of type `{type_name}`"),
    }
}

/// Whether an array or pointer is a text, up to its first 0.
fn is_text(left: &TypedValue, text: &[u8]) -> Compared {
    match left {
        TypedValue::Missing(state) => Err(missing(state)),
        TypedValue::Text(own) => Ok(trimmed(own) == trimmed(text)),
        TypedValue::Pointer(pointer) => match &pointer.text {
            Some(Ok(own)) => Ok(own == text),
            Some(Err(state)) => Err(missing(state)),
            None if pointer.is_null => Ok(false),
            None => {
                Err(not_comparable("a pointer to other types than characters is not compared with a text"))
            }
        },
        TypedValue::Array { elements, count, is_text: true, .. } => {
            let mut expected = text.iter();
            for element in elements {
                let wanted = expected.next().copied();
                match (element, number::integer(element)) {
                    // A `char` may be signed.
                    (_, Some(code)) if code as u8 != wanted.unwrap_or(0) => return Ok(false),
                    // The array's text ends here, and with it the expected one.
                    (_, Some(0)) => return Ok(wanted.is_none()),
                    (_, Some(_)) => {}
                    (TypedValue::Missing(state), None) => return Err(missing(state)),
                    (other, None) => return Err(not_comparable(described(other))),
                }
            }
            whole(*count, elements)?;
            Ok(expected.next().is_none())
        }
        other => Err(not_comparable(format!("{} is not compared with a text", described(other)))),
    }
}

/// A text without the blanks that fill it.
fn trimmed(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
    text.get(..end).unwrap_or(text)
}

fn list(
    left: &TypedValue,
    expected: &[plan::PlanElement],
    is_open: bool,
    values: &[&TypedValue],
) -> Compared {
    match left {
        TypedValue::Missing(state) => Err(missing(state)),
        TypedValue::Array { elements, count, .. } => {
            if expected.iter().any(|element| element.member.is_some()) {
                return Err(not_comparable("an array has no members"));
            }
            let wanted = expected.len() as u64;
            let is_other = wanted > *count || wanted < *count && !is_open;
            // Behind the last element a name is wrong or right as for the last one.
            let behind = if is_other { elements.last() } else { None };
            let own = elements.iter().chain(behind.into_iter().cycle());
            let result = all_named(own.zip(expected).map(|(own, wanted)| equal(own, &wanted.value, values)));
            match result {
                Err(why) if !why.is_missing => Err(why),
                _ if is_other => Ok(false),
                result => {
                    if expected.len() > elements.len() {
                        whole(*count, elements)?;
                    }
                    result
                }
            }
        }
        TypedValue::Record { fields } => {
            let mut results = Vec::new();
            let mut named = HashSet::new();
            for (index, wanted) in expected.iter().enumerate() {
                let field = match &wanted.member {
                    Some(name) => Some(field(fields, name, 0).ok_or_else(|| no_member(fields, name))?),
                    None => fields.get(index).map(|field| &field.value),
                };
                let Some(field) = field else {
                    let counts =
                        format!("{} values for a struct of {} members", expected.len(), fields.len());
                    return Err(not_comparable(counts));
                };
                if !named.insert(std::ptr::from_ref(field)) {
                    let name = wanted
                        .member
                        .as_deref()
                        .map_or_else(|| (index + 1).to_string(), |name| format!("`{name}`"));
                    return Err(not_comparable(format!("a second value of the member {name}")));
                }
                results.push(equal(field, &wanted.value, values));
            }
            let result = all_named(results)?;
            if result && !is_open && !fields.iter().all(|field| is_named(field, &named)) {
                let count = fields.iter().filter(|field| is_named(field, &named)).count();
                let problem = format!("{count} of {} members are named", fields.len());
                let hint = Some("add `...` for the others".to_owned());
                return Err(NotComparable { problem, hint, is_error: false, is_missing: false });
            }
            Ok(result)
        }
        other => Err(not_comparable(format!("{} is not compared with a list", described(other)))),
    }
}

/// Whether a member has an expected value: its own, or one for each member of an unnamed one or a base class.
fn is_named(field: &TypedField, named: &HashSet<*const TypedValue>) -> bool {
    named.contains(&std::ptr::from_ref(&field.value))
        || match &field.value {
            // The reader bounds the nesting.
            TypedValue::Record { fields } if field.is_base || field.name.is_none() => {
                !fields.is_empty() && fields.iter().all(|field| is_named(field, named))
            }
            _ => false,
        }
}

fn no_member(fields: &[TypedField], name: &str) -> NotComparable {
    let names = fields.iter().filter_map(|field| field.name.as_deref());
    let hint = similar(name, names).map(|found| format!("did you mean `{found}`?"));
    NotComparable { problem: format!("no member `{name}`"), hint, is_error: false, is_missing: false }
}

/// A member by its name: the record's own first, then those of unnamed members and base classes.
fn field<'f>(fields: &'f [TypedField], name: &str, depth: usize) -> Option<&'f TypedValue> {
    let own = fields.iter().find(|field| field.name.as_deref() == Some(name));
    if let Some(own) = own {
        return Some(&own.value);
    }
    let inner = fields.iter().filter(|field| field.is_base || field.name.is_none());
    let inner = inner.filter(|_| depth < crate::bounds::MAX_VALUE_DEPTH);
    inner.into_iter().find_map(|inner| match &inner.value {
        TypedValue::Record { fields } => self::field(fields, name, depth + 1),
        _ => None,
    })
}
