//! The fuzz targets, as functions of bytes. The programs in `fuzz_targets/` give them the bytes of libFuzzer; the suite
//! runs them over fixtures without it.

pub mod code_object;
pub mod decode;
pub mod dies;
pub mod evaluate;
pub mod isa;
pub mod link_map;
pub mod logs;
pub mod manifest;
pub mod note;
pub mod packets;
pub mod paths;
pub mod save_area;
pub mod scope_file;
mod shared;
pub mod unwind;
pub mod view;

/// A target: any bytes are input, and a panic is a fault.
pub type Target = fn(&[u8]);

/// All targets by their names.
pub const TARGETS: [(&str, Target); 15] = [
    ("code_object", code_object::run),
    ("decode", decode::run),
    ("dies", dies::run),
    ("evaluate", evaluate::run),
    ("isa", isa::run),
    ("link_map", link_map::run),
    ("logs", logs::run),
    ("manifest", manifest::run),
    ("note", note::run),
    ("packets", packets::run),
    ("paths", paths::run),
    ("save_area", save_area::run),
    ("scope_file", scope_file::run),
    ("unwind", unwind::run),
    ("view", view::run),
];
