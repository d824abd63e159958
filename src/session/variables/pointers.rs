//! The pointers in a type: found once for each type, through arrays and members.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::bounds::MAX_POINTER_DEPTH;
use crate::debuginfo::{DebugInfo, Number, RecordKind, TypeId, TypeKind};
use crate::units::AddressSpace;

/// Maximum number of pointers found in one object.
const MAX_POINTERS: usize = 4096;

/// Maximum number of members and elements visited for one type.
const MAX_PARTS: usize = 1 << 16;

/// A pointer in an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointerAt {
    /// Bytes from the object's first.
    pub offset: u64,
    /// Its size in bytes.
    pub bytes: u8,
    /// The address space of its type; 0 if the type has none.
    pub space: AddressSpace,
    /// Whether other members of a union or variant part may occupy its bytes.
    pub is_shared: bool,
    /// The type of its target and the size, if known.
    pub to: Option<(TypeId, u64)>,
}

/// The pointers of a type.
#[derive(Clone, Debug)]
pub(in crate::session) struct Found {
    /// The pointers.
    pub(in crate::session) list: Arc<[PointerAt]>,
    /// Whether the list is complete.
    pub(in crate::session) is_whole: bool,
    /// Those that share their bytes lead to the same type, or to none.
    pub(in crate::session) agreed: Arc<[PointerAt]>,
}

/// Merges pointers in the same bytes: the result has the one type of their members, or none if the members have
/// several types. No type names the active member of a union.
pub(in crate::session) fn agreed(found: &[PointerAt]) -> Vec<PointerAt> {
    let mut targets: HashMap<u64, (TypeId, u64)> = HashMap::new();
    let mut differ = HashSet::new();
    for (offset, to) in found.iter().filter_map(|pointer| Some((pointer.offset, pointer.to?))) {
        if *targets.entry(offset).or_insert(to) != to {
            differ.insert(offset);
        }
    }
    let agreed = found.iter().map(|pointer| {
        let to = targets.get(&pointer.offset).copied().filter(|_| !differ.contains(&pointer.offset));
        if pointer.is_shared { PointerAt { to, ..*pointer } } else { *pointer }
    });
    agreed.collect()
}

/// Cache of the pointers of types.
#[derive(Debug, Default)]
pub(in crate::session) struct Pointers {
    known: HashMap<(usize, TypeId), Found>,
    /// Debug information whose address is in a key.
    held: Vec<Arc<DebugInfo>>,
}

impl Pointers {
    /// The pointers of an object of that type.
    pub(in crate::session) fn of(&mut self, debug: &Arc<DebugInfo>, id: TypeId) -> Found {
        let key = (Arc::as_ptr(debug) as usize, id);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let mut layout = Layout { debug, found: Vec::new(), parts: 0, is_whole: true, is_shared: false };
        layout.take(id, 0, 0);
        let list: Arc<[PointerAt]> = layout.found.into();
        let has_shared = list.iter().any(|pointer| pointer.is_shared);
        let agreed = if has_shared { agreed(&list).into() } else { Arc::clone(&list) };
        let found = Found { list, is_whole: layout.is_whole, agreed };
        if !self.held.iter().any(|held| Arc::ptr_eq(held, debug)) {
            self.held.push(Arc::clone(debug));
        }
        self.known.insert(key, found.clone());
        found
    }
}

struct Layout<'a> {
    debug: &'a DebugInfo,
    found: Vec<PointerAt>,
    parts: usize,
    is_whole: bool,
    is_shared: bool,
}

impl Layout<'_> {
    fn take(&mut self, id: TypeId, offset: u64, depth: usize) {
        self.parts += 1;
        if depth > MAX_POINTER_DEPTH || self.parts > MAX_PARTS || self.found.len() >= MAX_POINTERS {
            self.is_whole = false;
            return;
        }
        // The variable's own listing reports unreadable types.
        let Ok(Some(found)) = self.debug.stripped(id) else { return };
        if found.indirect.is_some() {
            return;
        }
        match &found.kind {
            TypeKind::Pointer { to, address_space } | TypeKind::Reference { to, address_space, .. } => {
                let bytes =
                    self.debug.byte_size(found.id).ok().flatten().and_then(|size| u8::try_from(size).ok());
                let Some(bytes) = bytes.filter(|bytes| (1..=8).contains(bytes)) else { return };
                let size = |to: &TypeId| self.debug.byte_size(*to).ok().flatten();
                let to = to.map(|to| (to, size(&to).unwrap_or(1)));
                self.found.push(PointerAt {
                    offset,
                    bytes,
                    space: *address_space,
                    is_shared: self.is_shared,
                    to,
                });
            }
            TypeKind::Array { element: Some(element), dimensions, stride: None, rank: None, .. } => {
                let count = dimensions.iter().try_fold(1u64, |count, dimension| {
                    let is_plain =
                        dimension.stride.is_none() && matches!(dimension.lower, Number::Constant(_));
                    count.checked_mul(dimension.count().filter(|_| is_plain)?)
                });
                let size = self.debug.byte_size(*element).ok().flatten().filter(|size| *size > 0);
                let (Some(count), Some(size)) = (count, size) else { return };
                let before = self.found.len();
                for index in 0..count {
                    let at = index.checked_mul(size).and_then(|by| offset.checked_add(by));
                    let Some(at) = at.filter(|_| self.is_whole) else { return };
                    self.take(*element, at, depth + 1);
                    // One element without pointers is enough: all elements have the same type.
                    if self.found.len() == before {
                        return;
                    }
                }
            }
            TypeKind::Record(record) => {
                let was_shared = self.is_shared;
                self.is_shared |= record.kind == RecordKind::Union && record.members.len() > 1
                    || !record.variants.is_empty();
                let variants = record.variants.iter().flat_map(|part| &part.variants);
                for member in record.members.iter().chain(variants.flat_map(|variant| &variant.members)) {
                    let is_plain = member.place.is_none() && member.bit_size.is_none();
                    let (Some(id), true) = (member.type_id, is_plain && member.bit_offset.is_multiple_of(8))
                    else {
                        continue;
                    };
                    let Some(at) = offset.checked_add(member.bit_offset / 8) else { continue };
                    self.take(id, at, depth + 1);
                }
                self.is_shared = was_shared;
            }
            _ => {}
        }
    }
}
