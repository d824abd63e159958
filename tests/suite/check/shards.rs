//! `--shard I/N`: each dump and each file with errors belongs to one part.

use super::{Folder, check, json};
use crate::support::sample::sampled;

/// The files with errors, and the dumps with their files.
fn parts(folder: &str, shard: Option<&str>) -> Vec<(String, String)> {
    let options: Vec<&str> =
        [folder, "--json"].into_iter().chain(shard.iter().flat_map(|shard| ["--shard", *shard])).collect();
    let output = json(&check(&options));
    let mut found = Vec::new();
    for file in output["files"].as_array().unwrap() {
        let name = file["file"].as_str().unwrap().to_owned();
        if file["errors"].as_array().unwrap().is_empty() {
            let dumps = file["dumps"].as_array().unwrap().iter();
            found.extend(dumps.map(|dump| (name.clone(), dump["dump"].as_str().unwrap().to_owned())));
        } else {
            found.push((name, String::new()));
        }
    }
    found
}

#[test]
fn the_parts_are_the_whole_without_repeats() {
    let folder = Folder::new("check-shards");
    // Files with one, two and three dumps, a wrong file, and dumps that are missing.
    let demo = folder.path("demo.zip");
    for name in ["b.zip", "c.zip"] {
        std::fs::copy(&demo, folder.path(name)).unwrap();
    }
    folder.write("1.scope", "dump demo.zip\nwaves 8\n");
    folder.write("2.scope", "dump *.zip\nwaves 8\n");
    folder.write("3.scope", "dum demo.zip\n");
    folder.write("4.scope", "dump missing.zip b.zip\nwaves 8\n");
    folder.write("5.scope", "dump c.zip\nwaves 9\n");
    let all = folder.all();
    let mut whole = parts(&all, None);
    assert_eq!(whole.len(), 1 + 3 + 1 + 2 + 1);
    whole.sort();
    for count in sampled([3, 1, 11, 8, 2, 5], 2) {
        let mut union = Vec::new();
        let mut sizes = Vec::new();
        for part in 1..=count {
            let found = parts(&all, Some(&format!("{part}/{count}")));
            sizes.push(found.len());
            union.extend(found);
        }
        union.sort();
        assert_eq!(union, whole, "{count} parts");
        assert!(sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1, "{count} parts: {sizes:?}");
    }
}

#[test]
fn a_part_without_a_dump_has_a_text() {
    let folder = Folder::new("check-part");
    let file = folder.write("a.scope", "dump demo.zip\nwaves 8\n");
    let output = check(&[&file, "--shard", "2/2"]);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(
        (output.status.code(), &*printed),
        (Some(0), "no dump is in this part (--shard): nothing to check\n")
    );
}
