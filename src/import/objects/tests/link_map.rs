//! The runtime's list, valid and hostile.

use super::super::{Entry, LinkMap, MAX_NAME, MAX_NAMES, MAX_NODES};
use super::Made;

const AT: u64 = 0x7fff_f7d0_0040;

fn words(map: &LinkMap) -> Vec<String> {
    map.problems
        .iter()
        .map(|problem| format!("{} {:#x}: {}", problem.part, problem.address, problem.what))
        .collect()
}

#[test]
fn the_list_is_read_in_its_order() {
    let mut memory = Made::default();
    let (first, second) =
        ("memory://4242#offset=0x555555900123&size=9888", "file:///srv/app/lib%2Bkernels.so");
    memory.list(AT, 10, &[(0, ""), (0x7f10_0000_0000, first), (0x7f10_0010_0000, second), (0x5000, "")]);
    let map = LinkMap::read(&memory, AT);
    let entry = |address, uri: Option<&str>| Entry { address, uri: uri.map(str::to_owned) };
    let expected =
        [entry(0x7f10_0000_0000, Some(first)), entry(0x7f10_0010_0000, Some(second)), entry(0x5000, None)];
    assert_eq!((map.r_version, &map.entries[..], &map.problems[..]), (Some(10), &expected[..], &[][..]));
    assert!(map.is_whole);
}

#[test]
fn a_list_in_pieces_is_read_across_them() {
    let uri = format!("file:///{}", "a".repeat(1000));
    let mut memory = Made::default();
    memory.list(AT, 9, &[(0x1000, &uri), (0x2000, &uri)]);
    for at in [3, 70, 100, 200, 1200] {
        let mut memory = Made(memory.0.clone());
        memory.cut(AT, at);
        let map = LinkMap::read(&memory, AT);
        assert_eq!(
            (map.entries.len(), map.entries[1].uri.as_deref(), words(&map).len()),
            (2, Some(&uri[..]), 0)
        );
    }
}

#[test]
fn missing_data_is_absent_and_reported() {
    let map = LinkMap::read(&Made::default(), AT);
    assert_eq!((map.r_version, map.entries.len()), (None, 0));
    assert!(words(&map)[0].starts_with("r_debug 0x7ffff7d00040: not captured"), "{:?}", words(&map));
    // Every captured length: the version needs only its own bytes, entries theirs.
    let mut whole = Made::default();
    whole.list(AT, 11, &[(0x1000, "file:///a"), (0x2000, "file:///b")]);
    let bytes = whole.0[&AT].clone();
    for length in 1..bytes.len() {
        let memory = Made([(AT, bytes[..length].to_vec())].into());
        let map = LinkMap::read(&memory, AT);
        assert_eq!(map.r_version, (length >= 4).then_some(11), "{length}");
        assert!(!map.problems.is_empty(), "{length}");
        let nodes = length.saturating_sub(64 + 32) / 40 + usize::from(length >= 64 + 32);
        assert_eq!(map.entries.len(), nodes.min(2), "{length}: {:?}", words(&map));
        // A name is no entry.
        assert_eq!(map.is_whole, nodes == 2, "{length}");
    }
}

/// 8 is the first version that AMD's library reads; unwritten memory has 0.
#[test]
fn a_version_that_no_runtime_had_is_unknown() {
    for (version, known) in [(0, false), (7, false), (8, true), (12, true), (u32::MAX, false)] {
        let mut memory = Made::default();
        memory.list(AT, version, &[(0x1000, "file:///a")]);
        let map = LinkMap::read(&memory, AT);
        assert_eq!((map.r_version, map.is_whole), (known.then_some(version), known));
        // The list is still read.
        assert_eq!((map.entries.len(), map.problems.len()), (1, usize::from(!known)), "{version}");
    }
    let map = LinkMap::read(&Made([(AT, vec![0; 64])].into()), AT);
    assert_eq!(words(&map), ["r_debug.r_version 0x7ffff7d00040: 0: it counts as unknown"]);
}

#[test]
fn a_list_under_change_is_reported() {
    let mut memory = Made::default();
    memory.list(AT, 10, &[(0x1000, "file:///a")]);
    memory.0.get_mut(&AT).unwrap()[24] = 1;
    let map = LinkMap::read(&memory, AT);
    assert_eq!((map.entries.len(), map.is_whole), (1, false));
    assert_eq!(
        words(&map),
        ["r_debug.r_state 0x7ffff7d00058: 1: the list was being changed and may lack code objects"]
    );
}

#[test]
fn a_circle_ends() {
    let mut memory = Made::default();
    memory.list(AT, 10, &[(0x1000, "file:///a"), (0x2000, "file:///b")]);
    let node = AT + 64;
    memory.0.get_mut(&AT).unwrap()[64 + 40 + 24..64 + 40 + 32].copy_from_slice(&node.to_le_bytes());
    let map = LinkMap::read(&memory, AT);
    assert_eq!((map.entries.len(), map.is_whole), (2, false));
    assert_eq!(words(&map), [format!("link_map {node:#x}: the list comes back to it")]);
}

#[test]
fn too_many_nodes_are_bounded() {
    let mut memory = Made::default();
    let entries: Vec<(u64, &str)> =
        (1..MAX_NODES as u64 + 1000).map(|index| (index * 4096, "file:///a")).collect();
    memory.list(AT, 10, &entries);
    let map = LinkMap::read(&memory, AT);
    assert_eq!((map.entries.len(), map.is_whole), (MAX_NODES, false));
    assert!(words(&map)[0].ends_with("more than 65536 nodes; the others are left out"), "{:?}", words(&map));
}

#[test]
fn names_that_do_not_end_or_are_no_text_are_left_out() {
    let longest = "a".repeat(MAX_NAME - 1);
    let too_long = "a".repeat(MAX_NAME);
    let mut memory = Made::default();
    memory.list(AT, 10, &[(0x1000, &longest), (0x2000, &too_long), (0x3000, "x")]);
    let bytes = memory.0.get_mut(&AT).unwrap();
    let last = bytes.len() - 2;
    bytes[last] = 0xff;
    let map = LinkMap::read(&memory, AT);
    let has: Vec<bool> = map.entries.iter().map(|entry| entry.uri.is_some()).collect();
    assert_eq!(has, [true, false, false]);
    let words = words(&map);
    assert!(
        words[0].contains("has no NUL within 16384 bytes") && words[1].contains("is no UTF-8"),
        "{words:?}"
    );
    // Unmapped, and up to the end of captured memory.
    let mut memory = Made::default();
    memory.list(AT, 10, &[(0x1000, "file:///a"), (0x2000, "file:///b")]);
    let bytes = memory.0.get_mut(&AT).unwrap();
    bytes.pop();
    bytes[64 + 8..64 + 16].copy_from_slice(&0xdead_0000u64.to_le_bytes());
    let map = LinkMap::read(&memory, AT);
    assert!(map.entries.iter().all(|entry| entry.uri.is_none()) && map.entries.len() == 2);
    assert!(
        self::words(&map).iter().all(|words| words.contains("is not captured beyond")),
        "{:?}",
        self::words(&map)
    );
}

/// Nodes that share one long name: 65,536 of them would take a gigabyte.
#[test]
fn names_are_bounded_together() {
    let name = [vec![b'a'; MAX_NAME - 1], vec![0]].concat();
    let mut memory = Made::default();
    memory.list(AT, 10, &[]);
    let (first, names) = (AT + 0x10_0000, AT - 0x10_0000);
    let mut nodes = Vec::new();
    for index in 0..MAX_NODES as u64 {
        let next = if index + 1 == MAX_NODES as u64 { 0 } else { first + (index + 1) * 40 };
        for word in [0x1000 * (index + 1), names, 0, next, 0] {
            nodes.extend(word.to_le_bytes());
        }
    }
    memory.0.insert(names, name);
    memory.0.get_mut(&AT).unwrap()[8..16].copy_from_slice(&first.to_le_bytes());
    memory.0.insert(first, nodes);
    let map = LinkMap::read(&memory, AT);
    assert_eq!(map.entries.len(), MAX_NAMES / (MAX_NAME - 1));
    assert!(words(&map)[0].contains("this node and the others are left out"), "{:?}", words(&map));
}
