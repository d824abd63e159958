//! Path normalisation by POSIX 4.16, "Pathname Resolution", without links.

use std::collections::BTreeSet;

use super::{SourceMap, normal_path};

#[test]
fn paths_are_resolved_by_their_text() {
    for (path, normal) in [
        ("/src/app/kernel.hip", Some("/src/app/kernel.hip")),
        ("/src/app/../lib//./kernel.hip", Some("/src/lib/kernel.hip")),
        ("./kernel.hip", Some("kernel.hip")),
        (".//a/b/../kernel.hip", Some("a/kernel.hip")),
        ("/../etc/passwd", Some("/etc/passwd")),
        ("../kernel.hip", None),
        ("a/../../kernel.hip", None),
        ("", None),
        (".", None),
        ("/", None),
    ] {
        assert_eq!(normal_path(path).as_deref(), normal, "{path}");
    }
}

/// gdb's `set substitute-path`: a prefix ends at a component's end, and the first match counts.
#[test]
fn prefixes_are_whole_names() {
    let mut map = SourceMap::default();
    for (from, to) in
        [("/build/app/", "/mine/app"), ("/build", "/elsewhere/"), (".", "/here"), ("lib", "/never")]
    {
        map.add(from, to).unwrap();
    }
    for (path, to) in [
        ("/build/app/src/k.hip", Some("/mine/app/src/k.hip")),
        ("/build/application/k.hip", Some("/elsewhere/application/k.hip")),
        ("/builder/k.hip", None),
        ("/build", None),
        ("lib/k.hip", Some("/here/lib/k.hip")),
    ] {
        assert_eq!(map.apply(path).map(|(_, to)| to).as_deref(), to, "{path}");
    }
    assert_eq!(map.apply("/build/application/k.hip").map(|(index, _)| index), Some(1));
    assert_eq!(
        map.unused(&BTreeSet::from([0, 2])),
        [
            "--source-map /build: no source file has a path that begins with it",
            "--source-map lib: no source file has a path that begins with it",
        ]
    );
    assert_eq!(
        map.unused(&BTreeSet::from([0, 1, 3])),
        ["--source-map .: no source file has a relative path"]
    );
    assert!(map.add("..", "/x").is_err());
    let mut root = SourceMap::default();
    root.add("/", "/mnt").unwrap();
    assert_eq!(root.apply("/src/k.hip"), Some((0, "/mnt/src/k.hip".to_owned())));
    assert_eq!(root.apply("src/k.hip"), None);
}
