//! Wrong names behind a missing value. An evaluation ends at the first value that is missing; a name that the frame does
//! not have is an error all the same.

use super::eval::PathEvaluator;
use super::names::Named;
use super::object::{Answer, Object};
use super::part::NO_MEMBER;
use super::path::{MemberSign, Node, Path};
use super::typed::{Shape, Ty};
use crate::session::ValueState;

impl PathEvaluator<'_, '_, '_> {
    /// The object that a whole path names. A missing value is the answer only if all names are right.
    pub(super) fn object_of_path(&self, path: &Path) -> Answer<Object> {
        self.object(path).map_err(|why| match *why {
            ValueState::Error(_) => why,
            _ => self.wrong_name(path).unwrap_or(why),
        })
    }

    /// The error of the first wrong name in a path. The parser bounds its nesting.
    fn wrong_name(&self, path: &Path) -> Option<Box<ValueState>> {
        let own = match &path.node {
            Node::Name(name) => self.scene.named(name).as_ref().as_ref().err().cloned(),
            Node::Member { object, name, sign } => self.wrong_member(object, name, *sign),
            _ => None,
        };
        let own = own.filter(|why| matches!(**why, ValueState::Error(_)));
        own.or_else(|| path.parts().into_iter().find_map(|part| self.wrong_name(part)))
    }

    /// The error of a member that the type of a variable does not have.
    fn wrong_member(&self, object: &Path, name: &str, sign: MemberSign) -> Option<Box<ValueState>> {
        // Components of Fortran's numbers are no members.
        let Node::Name(variable) = &object.node else { return None };
        let named = self.scene.named(variable);
        let Ok(Named::Variable(placed)) = &*named else { return None };
        if self.scene.is_fortran() {
            return None;
        }
        // The type decides: no byte of the object is needed.
        let of = |ty| Object::value(ty, &[]);
        let whole = of(Ty::Die(placed.ty?));
        let object = match self.shape(&whole).ok()? {
            Shape::Pointer { to, .. } | Shape::Reference { to, .. } => of(to),
            _ if sign == MemberSign::Arrow => return self.record_of(&whole, name, true).err(),
            _ => whole,
        };
        let record = match self.shape(&object).ok()? {
            Shape::Record(record) => record,
            // A vector has components.
            _ if !matches!(self.component(&object, name), Ok(None)) => return None,
            _ => return self.record_of(&object, name, false).err(),
        };
        let steps = self.scene.member_steps(&record, name, 0, &mut 0).ok()?;
        if steps.is_some() {
            return None;
        }
        // Other errors are those of an object without bytes.
        let is_absent =
            |why: &ValueState| matches!(why, ValueState::Error(words) if words.contains(NO_MEMBER));
        self.named_member(&object, name, MemberSign::Dot).err().filter(|why| is_absent(why))
    }
}
