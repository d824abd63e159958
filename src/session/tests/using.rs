//! Imports of `using`: gdb 13.1's answers for members/using.cpp, built for its machine by the same clang, and the
//! language's rules for names that gdb does not find.

use super::members::{compiled, shown, stopped};

#[test]
fn using_brings_names() {
    let object = compiled("using.cpp", "using");
    let all = [
        ("near::d", "222"),
        ("three::v", "2"),
        ("far", "5"),
        ("aliased::far", "5"),
        ("three::deep::d", "222"),
    ];
    let each: [(&str, &[(&str, &str)]); 5] = [
        ("directive", &[("v", "2"), ("w", "22"), ("d", "222")]),
        ("declaration", &[("v", "4")]),
        ("alias", &[]),
        ("nothing", &[]),
        ("_ZN3one6insideEv", &[("v", "1"), ("w", "22"), ("own", "11")]),
    ];
    for (function, names) in each {
        let session = stopped(&object, &[".data"], function);
        // An alias of a block is visible only in it.
        let all = all.iter().filter(|(name, _)| function == "alias" || !name.starts_with("near"));
        for (name, value) in names.iter().chain(all) {
            assert_eq!(shown(&session, name).1, *value, "{function}: {name}");
        }
        // A namespace's imports are also its names.
        assert_eq!(shown(&session, "four::own").1, "11", "{function}");
        // Enumerators and functions of a namespace by its alias.
        assert_eq!(shown(&session, "aliased::Here").1, "longer::way::Here", "{function}");
        assert!(shown(&session, "aliased::twice").1.ends_with(" <longer::way::twice()>"), "{function}");
        assert_eq!(
            shown(&session, "sizeless").1,
            "error: there is no `sizeless` in this frame or its code object"
        );
    }
}

/// Types of casts use the same lookup.
#[test]
fn casts_follow_using() {
    let object = compiled("using.cpp", "casts");
    let session = stopped(&object, &[".data"], "_ZN3one6insideEv");
    assert_eq!(shown(&session, "*(T *) &one::v").0, "one::T");
    assert_eq!(shown(&session, "*(four::T *) &one::v").0, "four::T");
    assert_eq!(
        shown(&session, "(aliased::Way) 6"),
        ("longer::way::Way".to_owned(), "longer::way::Here".to_owned())
    );
}
