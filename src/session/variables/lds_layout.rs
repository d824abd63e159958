//! Addresses in a kernel's LDS by the sizes of variables.
//!
//! LLVM's `AMDGPULowerModuleLDSPass` puts the variables of a kernel into two structures: the module's at 0, with
//! variables that several kernels reach through functions, and behind it the kernel's own. It raises the alignment of
//! each variable first. `performOptimizedStructLayout` orders the members of a structure. A size may belong to several
//! sets of variables: an address is certain only if one set gives the size of the kernel's LDS, in each division into
//! the structures.

use std::cmp::Reverse;

/// A variable that may be in LDS.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// Its size in bytes.
    pub(super) size: u64,
    /// Its alignment in bytes by the source; 1: the type's.
    pub(super) declared: u64,
    /// An upper bound of its type's alignment in bytes.
    pub(super) natural: u64,
    /// Whether several kernels may use it.
    pub(super) is_shared: bool,
}

/// Maximum number of variables, and of those in one set.
const MAX_CANDIDATES: usize = 256;
const MAX_CHOSEN: usize = 24;
/// Maximum alignment of a variable; more is unknown.
const MAX_ALIGNMENT: u64 = 1 << 16;
/// Maximum number of decisions about a variable, and of layouts.
const MAX_DECISIONS: usize = 1 << 16;
const MAX_LAYOUTS: usize = 1 << 12;

impl Candidate {
    /// The alignment in LDS; a type's own is not more.
    fn alignment(&self) -> u64 {
        let raised = match self.size {
            0 | 1 => 1,
            2 => 2,
            3 | 4 => 4,
            5..=8 => 8,
            _ => 16,
        };
        raised.max(self.declared)
    }

    /// An upper bound of its bytes with all padding.
    pub(super) fn most(&self) -> u64 {
        self.size.saturating_add(self.alignment().saturating_mul(2)).saturating_add(self.natural)
    }
}

/// The certain address of each candidate in an LDS of `bytes` bytes. `rounding`: the maximum alignment of the end, 1
/// without dynamic LDS. `None`: no set, several, or too many have that size.
pub(super) fn addresses(candidates: &[Candidate], bytes: u64, rounding: u64) -> Option<Vec<Option<u64>>> {
    let is_odd = |one: &Candidate| {
        !one.declared.is_power_of_two()
            || one.declared > MAX_ALIGNMENT
            || one.natural > one.alignment().max(16)
            || one.size == 0
    };
    if candidates.len() > MAX_CANDIDATES || candidates.iter().any(is_odd) {
        return None;
    }
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by_key(|index| candidates.get(*index).map(|one| Reverse(one.size)));
    let mut search = Search {
        candidates,
        bytes,
        rounding,
        chosen: Vec::new(),
        found: None,
        decisions: MAX_DECISIONS,
        layouts: MAX_LAYOUTS,
    };
    search.decide(&order)?;
    let (chosen, places) = search.found?;
    let mut all = vec![None; candidates.len()];
    for (index, place) in chosen.into_iter().zip(places) {
        *all.get_mut(index)? = place;
    }
    Some(all)
}

/// A member of a structure: its position in the chosen set, its size and its alignment.
#[derive(Clone, Copy, Debug)]
struct Field {
    index: usize,
    size: u64,
    alignment: u64,
}

struct Search<'a> {
    candidates: &'a [Candidate],
    bytes: u64,
    rounding: u64,
    /// The present set.
    chosen: Vec<usize>,
    /// The only set with the size so far, and the address of each of its variables; `None`: several.
    found: Option<(Vec<usize>, Vec<Option<u64>>)>,
    decisions: usize,
    layouts: usize,
}

impl Search<'_> {
    /// Tries all subsets of `rest` beside the chosen ones; `None` ends the search: several sets, or too many to try.
    fn decide(&mut self, rest: &[usize]) -> Option<()> {
        self.decisions = self.decisions.checked_sub(1)?;
        let sum = |indexes: &[usize], of: fn(&Candidate) -> u64| {
            let each = indexes.iter().filter_map(|index| self.candidates.get(*index)).map(of);
            each.fold(0, u64::saturating_add)
        };
        let least = sum(&self.chosen, |one| one.size);
        let most = sum(&self.chosen, Candidate::most).saturating_add(sum(rest, Candidate::most));
        if least > self.bytes || most.saturating_add(self.rounding) < self.bytes {
            return Some(());
        }
        let Some((first, rest)) = rest.split_first() else { return self.compare() };
        self.chosen.push(*first);
        let answer = self.decide(rest);
        self.chosen.pop();
        answer?;
        self.decide(rest)
    }

    /// Compares the size of the chosen set in each division into module and kernel.
    fn compare(&mut self) -> Option<()> {
        let chosen: Vec<Candidate> =
            self.chosen.iter().filter_map(|index| self.candidates.get(*index).copied()).collect();
        if chosen.len() > MAX_CHOSEN {
            return None;
        }
        let shared: Vec<usize> =
            chosen.iter().enumerate().filter(|(_, one)| one.is_shared).map(|(index, _)| index).collect();
        let mut places: Option<Vec<Option<u64>>> = None;
        for mask in 0..1u32.checked_shl(u32::try_from(shared.len()).ok()?)? {
            self.layouts = self.layouts.checked_sub(1)?;
            let in_module = |index: usize| {
                shared.iter().position(|one| *one == index).is_some_and(|bit| mask & 1 << bit != 0)
            };
            for division in divisions(&chosen, &in_module, self.bytes, self.rounding) {
                places = Some(match places {
                    None => division,
                    Some(known) => known
                        .into_iter()
                        .zip(division)
                        .map(|(known, place)| known.filter(|known| Some(*known) == place))
                        .collect(),
                });
            }
        }
        let Some(places) = places else { return Some(()) };
        if self.found.is_some() {
            self.found = None;
            return None;
        }
        self.found = Some((self.chosen.clone(), places));
        Some(())
    }
}

/// The addresses of a division of variables for each padding with which it has that many bytes.
fn divisions(
    chosen: &[Candidate],
    in_module: &dyn Fn(usize) -> bool,
    bytes: u64,
    rounding: u64,
) -> Vec<Vec<Option<u64>>> {
    let part = |is_module: bool| {
        let each = chosen.iter().enumerate().filter(|(index, _)| in_module(*index) == is_module);
        let natural = each.clone().map(|(_, one)| one.natural).max().unwrap_or(1);
        let fields =
            each.map(|(index, one)| Field { index, size: one.size, alignment: one.alignment() }).collect();
        (structure(fields), natural)
    };
    let ((module, module_natural), (kernel, kernel_natural)) = (part(true), part(false));
    let start_alignment =
        chosen.iter().enumerate().filter(|(index, _)| !in_module(*index)).map(|(_, one)| one.alignment());
    let start_alignment = start_alignment.max().unwrap_or(1);
    let mut found: Vec<Vec<Option<u64>>> = Vec::new();
    for module_end in ends(module.end, module_natural) {
        let start = module_end.next_multiple_of(start_alignment);
        let end = if kernel.end == 0 { module_end } else { start.saturating_add(kernel.end) };
        // The alignment of the structure's end counts from its start.
        let fits = ends(kernel.end, kernel_natural).into_iter().any(|size| {
            let end = if kernel.end == 0 { end } else { start.saturating_add(size) };
            ends(end, rounding).contains(&bytes)
        });
        if fits {
            let mut places = vec![None; chosen.len()];
            for (of, start) in [(&module, 0), (&kernel, start)] {
                for (index, offset) in &of.places {
                    if let Some(place) = places.get_mut(*index) {
                        *place = offset.and_then(|offset| offset.checked_add(start));
                    }
                }
            }
            found.push(places);
        }
    }
    found
}

/// An end, rounded to each alignment up to a maximum.
fn ends(end: u64, max: u64) -> Vec<u64> {
    let powers = std::iter::successors(Some(1u64), |power| power.checked_mul(2));
    let mut all: Vec<u64> = powers
        .take_while(|power| *power <= max)
        .filter_map(|power| end.checked_next_multiple_of(power))
        .collect();
    all.dedup();
    all
}

/// The members of a structure with their offsets.
#[derive(Debug)]
struct Structure {
    /// Positions in the chosen set and offsets; `None`: the order of equal members depends on their names.
    places: Vec<(usize, Option<u64>)>,
    end: u64,
}

/// Lays fields out like LLVM: the field of the highest alignment that needs no padding is next, the largest of these;
/// if all need padding, the one after the least.
fn structure(mut fields: Vec<Field>) -> Structure {
    let is_twin = |one: &Field, other: &Field| {
        one.index != other.index && one.size == other.size && one.alignment == other.alignment
    };
    fields.sort_by_key(|field| (Reverse(field.alignment), Reverse(field.size)));
    let all = fields.clone();
    let (mut places, mut end) = (Vec::new(), 0u64);
    while let Some(last) = fields.last() {
        let fits = |end: u64| move |field: &Field| end.is_multiple_of(field.alignment);
        if !fields.iter().any(fits(end)) {
            end = end.next_multiple_of(last.alignment);
        }
        let next = fields.iter().position(fits(end)).unwrap_or(0);
        let field = fields.remove(next);
        let is_ordered = !all.iter().any(|other| is_twin(&field, other));
        places.push((field.index, is_ordered.then_some(end)));
        end = end.saturating_add(field.size);
    }
    Structure { places, end }
}

#[cfg(test)]
#[path = "lds_layout_tests.rs"]
mod tests;
