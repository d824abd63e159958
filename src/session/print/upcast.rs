//! Pointer casts between a class and its bases: as in C++, the address moves to the other object.

use std::sync::Arc;

use super::eval::PathEvaluator;
use super::names::words;
use super::object::{Answer, error};
use super::part::MAX_MEMBERS;
use super::pointer::Pointer;
use super::typed::{Shape, Ty};
use crate::bounds::MAX_MEMBER_DEPTH;
use crate::debuginfo::{Member, Type, TypeKind};

/// Maximum number of followed paths from a class to a base of it: one, and others that prove ambiguity.
const MAX_WAYS: usize = 16;

impl PathEvaluator<'_, '_, '_> {
    /// The address of a pointer after a cast to another class: moved if one is a base of the other, else the same.
    /// NULL stays NULL.
    pub(super) fn across(&self, pointer: &Pointer, to: &Ty) -> Answer<u64> {
        let same = Ok(pointer.address);
        let (Some(from), Some(wanted)) = (self.class(&pointer.to)?, self.class(to)?) else { return same };
        if self.scene.is_null(pointer.space, pointer.address) || is_same(&from, &wanted) {
            return same;
        }
        let up = self.ways(&from, &wanted)?;
        let by = if up.is_empty() {
            let down = self.ways(&wanted, &from)?;
            let is_told = |member: &Member| member.is_virtual || member.place.is_some();
            if down.iter().flatten().any(is_told) {
                let (base, class) = (self.type_name(&pointer.to), self.type_name(to));
                return error(format!("`{base}` is a virtual base class of `{class}`: no cast leads back"));
            }
            let offset =
                |way: &Vec<Member>| way.iter().map(|member| i128::from(member.bit_offset / 8)).sum::<i128>();
            self.only(down.iter().map(|way| Ok(-offset(way))), &wanted, &from)?
        } else {
            let object = self.target(pointer.to.clone(), pointer.space, pointer.address)?;
            let start = i128::from(self.place_address(&object)?);
            let offset = |way: &Vec<Member>| {
                let mut base = object.clone();
                for member in way {
                    base = self.member(&base, member)?;
                }
                Ok(i128::from(self.place_address(&base)?) - start)
            };
            self.only(up.iter().map(offset), &from, &wanted)?
        };
        self.beyond(&Pointer { to: Ty::Void, ..pointer.clone() }, by.unwrap_or(0))
    }

    fn class(&self, ty: &Ty) -> Answer<Option<Arc<Type>>> {
        Ok(match ty.shape(self.scene.debug()).map_err(words)? {
            Shape::Record(record) => Some(record),
            _ => None,
        })
    }

    /// The common result of all paths; `None`: there is no path.
    fn only(
        &self,
        mut each: impl Iterator<Item = Answer<i128>>,
        class: &Arc<Type>,
        base: &Arc<Type>,
    ) -> Answer<Option<i128>> {
        let Some(first) = each.next().transpose()? else { return Ok(None) };
        for other in each {
            if other? != first {
                let name = |of: &Arc<Type>| self.type_name(&Ty::Die(of.id));
                return error(format!("`{}` is an ambiguous base class of `{}`", name(base), name(class)));
            }
        }
        Ok(Some(first))
    }

    /// The paths from a class to a base class of it.
    fn ways(&self, class: &Arc<Type>, base: &Arc<Type>) -> Answer<Vec<Vec<Member>>> {
        let (mut found, mut seen) = (Vec::new(), 0);
        let mut open = vec![(Arc::clone(class), Vec::new())];
        while let Some((at, way)) = open.pop() {
            let TypeKind::Record(record) = &at.kind else { continue };
            seen += record.members.len();
            if way.len() >= MAX_MEMBER_DEPTH || seen > MAX_MEMBERS {
                return error(format!(
                    "a base class is looked for in more than {MAX_MEMBERS} members or {MAX_MEMBER_DEPTH} classes inside one another"
                ));
            }
            for member in record.members.iter().filter(|member| member.is_base) {
                let Some(id) = member.type_id else { continue };
                let Some(inner) = self.scene.debug().stripped(id).map_err(words)? else { continue };
                let mut longer: Vec<Member> = way.clone();
                longer.push(member.clone());
                match is_same(&inner, base) {
                    true if found.len() < MAX_WAYS => found.push(longer),
                    true => {}
                    false => open.push((inner, longer)),
                }
            }
        }
        Ok(found)
    }
}

/// Whether two DIEs are of one class: each unit has its own DIE for it, with the same name.
pub(super) fn is_same(one: &Type, other: &Type) -> bool {
    one.id == other.id || one.name.is_some() && one.name == other.name
}
