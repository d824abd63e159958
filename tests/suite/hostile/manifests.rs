//! Manifests of many small values, which take more memory than their text, and of nested values.

use super::run::Hostile;
use crate::support::sample::sampled;

const COMMANDS: [&str; 2] = ["info DUMP", "export DUMP"];

/// The first of them, or all.
fn some() -> Vec<&'static str> {
    sampled(COMMANDS, 2).collect()
}

/// A manifest with `item` repeated in a list.
fn list(before: &str, item: &str, after: &str, bytes: usize) -> Vec<u8> {
    let count = (bytes - before.len() - after.len()) / (item.len() + 1);
    [before, &format!("{item},").repeat(count - 1), item, after].concat().into_bytes()
}

#[test]
fn problems_while_a_manifest_is_read() {
    // A wrong value takes 96 bytes of memory and those of a wave, 400: 2 MiB are more than the limit.
    for megabytes in sampled([2, 60], 2) {
        let bytes = megabytes << 20;
        let manifest = list("{\"wave\":[", "0", "]}", bytes);
        let said = Hostile::with_manifest("manifest.json", &manifest).each(&some());
        said.prints("info", "format: is missing");
        let manifest = list("{\"format\":1,\"wave\":[", "0", "]}", bytes);
        let said = Hostile::with_manifest("manifest.json", &manifest).each(&["info DUMP"]);
        said.prints("info DUMP", "wave[0]: 0 (expected a table)")
            .prints("info DUMP", "more problems, not listed");
        said.prints("info DUMP", "this and all values after it are left out");
    }
}

#[test]
fn entries_of_a_manifest() {
    let wave = "{\"format\":1,\"agent\":[{\"id\":1,\"target\":\"gfx90a\"}],\"wave\":[";
    let lists = [
        // A wave takes 400 bytes of memory, a bulk entry more than 100, a register 24.
        (wave, "{}", "]}", "wave[", 3),
        (wave, "{\"id\":1}", "]}", "wave[", 8),
        (wave, "{\"bulk\":[{}]}", "]}", "wave[", 10),
        ("{\"format\":1,\"wave\":[{\"bulk\":[", "{}", "]}]}", "wave[0].bulk[", 10),
        ("{\"format\":1,\"wave\":[{\"stop\":[", "\"\"", "]}]}", "wave[0].stop[", 44),
        ("{\"format\":1,\"wave\":[{\"registers\":{\"v0\":[", "0", "]}}]}", "wave[0].registers.v0[", 44),
        ("{\"format\":1,\"wave\":[{\"registers\":{\"v0\":[", "[]", "]}}]}", "wave[0].registers.v0[", 36),
        ("{\"format\":1,\"dispatch\":[{\"grid\":[", "true", "]}]}", "dispatch[0].grid[", 44),
        ("{\"format\":1,\"memory\":[", "{\"u32\":[1]}", "]}", "memory[", 44),
    ];
    for (before, item, after, path, megabytes) in sampled(lists, 3) {
        let manifest = list(before, item, after, megabytes << 20);
        let said = Hostile::with_manifest("manifest.json", &manifest).each(&["info DUMP"]);
        said.prints("info DUMP", "this and all values after it are left out").prints("info DUMP", path);
    }
}

#[test]
fn keys_of_a_manifest() {
    let mut text = b"{\"format\":1".to_vec();
    let mut key = 0;
    while text.len() < 8 << 20 {
        text.extend_from_slice(format!(",\"{key:x}\":0").as_bytes());
        key += 1;
    }
    text.push(b'}');
    let said = Hostile::with_manifest("manifest.json", &text).each(&COMMANDS);
    said.prints("info DUMP", "is not a key of format 1").prints("info DUMP", "more problems, not listed");
}

#[test]
fn manifests_in_toml() {
    const BYTES: usize = 15 << 20;
    // Read within the limit, or rejected for its memory.
    let read = |text: &[u8]| Hostile::with_manifest("manifest.toml", text).each(&["info DUMP"]);
    for line in sampled(["[[wave]]\n", "[[wave]]\nid=1\n", "[[a.b.c.d.e.f.g.h]]\n"], 3) {
        read(format!("format = 1\n{}", line.repeat(BYTES / line.len())).as_bytes());
    }
    for item in sampled(["0", "1.5", "[]", "{}", "\"\"", "{a=1}", "{a.b.c.d.e.f=1}"], 3) {
        read(&list("format = 1\nwave = [", item, "]", BYTES));
    }
    let lines: [&dyn Fn(usize) -> String; 5] = [
        &|number| format!("{number:x}{}=0\n", ".a".repeat(70)),
        &|number| format!("{number:x}=0\n"),
        &|number| format!("{number}.1=0\n"),
        &|number| format!("[{number:x}{}]\n", ".a".repeat(70)),
        &|number| format!("'{number:x}'{}=\"=.=.=\"\n", ".\"#\"".repeat(70)),
    ];
    for line in sampled(lines, 3) {
        let mut text = "format = 1\n".to_owned();
        let mut number = 0;
        while text.len() < BYTES {
            text += &line(number);
            number += 1;
        }
        read(text.as_bytes());
    }
    // The elements within the limit are read.
    let text = format!("format = 1\nwave = [{}0]", "0,".repeat(1 << 20));
    let said = Hostile::with_manifest("manifest.toml", text.as_bytes()).each(&some());
    said.prints("info DUMP", "wave[0]: 0 (expected a table)");
    let text = format!("format = 1\n\"\"\"a = [\"\"\" = 1\n{}", "a.b = 1\n".repeat(1 << 20));
    let said = Hostile::with_manifest("manifest.toml", text.as_bytes()).each(&["info DUMP"]);
    said.prints("info DUMP", "its values take about");
}

/// Nested lists and tables, in the manifest languages.
#[test]
fn values_within_values() {
    for depth in [10_000, 1_000_000] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            for before in [
                "{\"format\":1,\"wave\":",
                "{\"format\":1,\"x\":",
                "{\"format\":1,\"wave\":[{\"registers\":{\"v0\":",
            ] {
                let text = format!("{before}{}0{}", open.repeat(depth), close.repeat(depth));
                let said = Hostile::with_manifest("manifest.json", text.as_bytes()).each(&["info DUMP"]);
                said.prints("info DUMP", "manifest.json: line 1, column");
            }
        }
        let text = format!("format = 1\nwave = {}{}", "[".repeat(depth), "]".repeat(depth));
        Hostile::with_manifest("manifest.toml", text.as_bytes()).each(&["info DUMP"]);
        let text = format!("format = 1\nwave = {}0{}", "{a=".repeat(depth), "}".repeat(depth));
        Hostile::with_manifest("manifest.toml", text.as_bytes()).each(&["info DUMP"]);
        let text = format!("format = 1\n{}a = 1", "a.".repeat(depth));
        Hostile::with_manifest("manifest.toml", text.as_bytes()).each(&["info DUMP"]);
    }
    // Deep and irrelevant values are skipped.
    let text = format!("{{\"format\":1,\"x-a\":{}{}}}", "[".repeat(100), "]".repeat(100));
    Hostile::with_manifest("manifest.json", text.as_bytes()).each(&COMMANDS).prints("info DUMP", "waves");
}
