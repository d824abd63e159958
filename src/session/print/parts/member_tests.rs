//! Paths in the types of `src/debuginfo/tests/values/values.cpp`: offsets and strides by the layout of C++.

use crate::codeobject::{Bytes, CodeObject};
use crate::debuginfo::{DebugInfo, TypeId};

const OBJECT: &[u8] = include_bytes!("../../../debuginfo/tests/values/values.hsaco");

/// A dimension: first index, number and stride.
type Dimension = (i64, Option<u64>, i64);

fn variable(name: &str) -> (DebugInfo, TypeId) {
    let object = CodeObject::parse(Bytes::from_static(OBJECT)).unwrap();
    let debug = DebugInfo::new(object.into()).unwrap();
    let id = debug.globals_named(name).unwrap()[0].type_id.unwrap();
    (debug, id)
}

/// The paths of a variable: offset, size, members, dimensions.
fn paths(name: &str) -> Vec<(u64, u64, Vec<String>, Vec<Dimension>)> {
    let (debug, id) = variable(name);
    let found = super::element_paths(&debug, id).into_iter().map(|path| {
        let of = path.dimensions.iter().map(|of| (of.first, of.count, of.stride)).collect();
        (path.offset, path.size, path.members, of)
    });
    found.collect()
}

fn members<const N: usize>(members: [&str; N]) -> Vec<String> {
    members.map(str::to_owned).to_vec()
}

#[test]
fn arrays_in_objects() {
    // struct Deep { struct { struct { struct { int v[2][2]; } c; } b; } a; };
    let deep = (0, 4, members([".a.b.c.v", "", ""]), vec![(0, Some(2), 8), (0, Some(2), 4)]);
    assert_eq!(paths("deep"), [deep]);
    // int arr2[2][3]
    assert_eq!(paths("arr2"), [(0, 4, members(["", "", ""]), vec![(0, Some(2), 12), (0, Some(3), 4)])]);
    // ns::Pair<int> ps[12], of `T a; T b;`
    let of = |offset, member| (offset, 4, members(["", member]), vec![(0, Some(12), 8)]);
    assert_eq!(paths("ps"), [of(0, ".a"), of(4, ".b")]);
    assert_eq!(paths("pf"), [], "no array");
    // float4 v4a[2], float4 v4: no index leaves a vector.
    assert_eq!(paths("v4a"), [(0, 16, members(["", ""]), vec![(0, Some(2), 16)])]);
    assert_eq!(paths("v4"), []);
    assert_eq!(paths("i"), []);
}

#[test]
fn components_of_vectors() {
    let path = |name, offset| {
        let (debug, id) = variable(name);
        super::member_path(&debug, id, offset)
    };
    assert_eq!(path("v4", 4).as_deref(), Some(".y"));
    assert_eq!(path("v4a", 28).as_deref(), Some("[1].w"));
    assert_eq!(path("vi", 40).as_deref(), Some(".sa"), "int16");
    assert_eq!(path("v3", 12), None, "float3 has the size of float4");
    assert_eq!(path("v4", 6), None);
}
