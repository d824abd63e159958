//! Many waves with one range of a file: small dumps that would expand to terabytes.

use std::fs::{self, File};

use super::run::Hostile;

/// Bytes of the shared file.
const SIZE: u64 = 1 << 20;
/// Waves, and work-groups.
const COUNT: u64 = 1000;

/// A dump with these texts in the tables of its waves and of its work-groups.
fn dump(wave: &dyn Fn(u64) -> String, group: &dyn Fn(u64) -> String) -> Hostile {
    let mut text = "format = 1\n[[agent]]\nid = 1\ntarget = \"gfx90a\"\n\
                    [[layout]]\nname = \"all\"\nblocks = [{ registers = \"v0-v255\", offset = 0 }]\n"
        .to_owned();
    for id in 0..COUNT {
        text += &format!("[[workgroup]]\nid = {id}\n{}\n", group(id));
        text += &format!("[[wave]]\nid = {id}\nagent = 1\nworkgroup = {id}\nwave_size = 64\n{}\n", wave(id));
    }
    let hostile = Hostile::with_manifest("manifest.toml", text.as_bytes());
    File::create(hostile.folder().join("zeros")).unwrap().set_len(SIZE).unwrap();
    hostile
}

/// A part of the file, a little longer for each id.
fn part(id: u64) -> String {
    let offset = 16 * (COUNT - id);
    format!("file = \"zeros\", offset = {offset}, length = {}", SIZE - offset)
}

fn nothing(_: u64) -> String {
    String::new()
}

/// Waves whose vector registers share one range, and work-groups and waves whose memory does.
fn dumps() -> [(&'static str, Hostile); 3] {
    [
        ("private", dump(&|id| format!("private = [{{ {} }}]", part(id)), &nothing)),
        ("local", dump(&nothing, &|id| format!("lds = [{{ {} }}]", part(id)))),
        ("vectors", dump(&|id| format!("image = {{ layout = \"all\", {} }}", part(id)), &nothing)),
    ]
}

#[test]
fn an_export_holds_twice_what_was_captured() {
    for (what, hostile) in dumps() {
        let said = hostile.each(&["export DUMP"]);
        said.prints("export", &format!("\"{what}_left_out\":"));
    }
}

#[test]
fn a_whole_slim_dump_holds_what_was_captured() {
    for (what, hostile) in dumps() {
        let out = hostile.folder().join("out");
        hostile.each(&[&format!("slim --whole DUMP -o {}", out.display())]);
        let sizes = fs::read_dir(&out).unwrap().flatten().map(|file| file.metadata().unwrap().len());
        let most = sizes.max().unwrap();
        assert!(most <= SIZE, "{what}: {most}");
        fs::remove_dir_all(out).unwrap();
    }
}
