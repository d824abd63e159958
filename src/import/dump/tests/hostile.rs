//! Arbitrary bytes: never a panic, and an opened dump can be read from start to end.

use super::stores::zip_of;
use super::{HEAD, open_text};
use crate::arch::Targets;
use crate::import::{Opened, open_bytes};
use crate::sample::sampled;
use proptest::prelude::*;

const WAVES: &str = r#"
layout = [{ name = "l", blocks = [{ registers = "s0-s3", offset = 0 }, { registers = "v0-v1", offset = 16, lanes = 255 }] }]
wave = [{ id = 1, workgroup = 1, wave_in_group = 0, stop = ["trap"], image = { layout = "l", file = "r", offset = 8 },
          registers = { pc = "0x7f00", "s8-s9" = [1, "xx"], v2 = { f32 = [1.5, "xx"] } } },
        { id = 2, workgroup = 2, bulk = [{ registers = "v4", lanes = 3, file = "r", length = 8 }],
          private = [{ address = 4, hex = "00 11" }], private_size = 64 }]
memory = [{ address = 4096, file = "r", offset = 100, name = "buffer" }, { address = 0, u32 = [1, 2] }]
code_object = [{ address = "0x7f0000000000", file = "r", uri = "file:///a.out", build_id = "00ff" }]
provenance = { producer = "test" }
"#;

fn good_zip() -> Vec<u8> {
    let manifest = format!("{HEAD}{WAVES}");
    zip_of(&[("manifest.toml", manifest.as_bytes()), ("r", &[0x5a; 700])])
}

fn good_json() -> String {
    let value: toml::Value = toml::from_str(&format!("{HEAD}{WAVES}")).unwrap();
    serde_json::to_string(&value).unwrap()
}

/// Reads all data of a capture; extents of hostile dumps must be valid, too.
fn read_all(opened: &Opened) {
    let capture = &opened.capture;
    let mut buffer = [0; 512];
    for wave in &capture.waves {
        for register in wave.kind.registers() {
            capture.register(wave, register.id).unwrap();
        }
        for segment in wave.private.segments() {
            capture.read(&wave.private, segment.address, &mut buffer).unwrap();
        }
    }
    for segment in capture.global.segments() {
        let count = capture.read(&capture.global, segment.address, &mut buffer).unwrap();
        assert!(count > 0, "a segment without bytes");
    }
    for object in &capture.code_objects {
        if let Some(extent) = object.extent {
            assert_eq!((*capture.view(extent).unwrap()).as_ref().len() as u64, extent.length);
        }
    }
    for problem in &opened.problems {
        assert!(!problem.to_string().is_empty());
    }
}

fn survive(bytes: Vec<u8>) -> bool {
    let opened = open_bytes("m", bytes, &Targets::builtin());
    if let Ok(opened) = &opened {
        read_all(opened);
    }
    opened.is_ok()
}

#[test]
fn the_good_ones_are_good() {
    for bytes in [good_zip(), good_json().into_bytes()] {
        let opened = open_bytes("m", bytes, &Targets::builtin()).unwrap();
        assert_eq!(opened.capture.waves.len(), 2);
        read_all(&opened);
    }
    let opened = open_bytes("m", good_zip(), &Targets::builtin()).unwrap();
    assert!(opened.problems.is_empty(), "{:?}", opened.problems);
}

#[test]
fn cut_at_every_byte() {
    for whole in [good_zip(), good_json().into_bytes(), format!("{HEAD}{WAVES}").into_bytes()] {
        for length in 0..whole.len() {
            survive(whole[..length].to_vec());
        }
    }
}

#[test]
fn every_byte_changed() {
    for whole in [good_zip(), good_json().into_bytes(), format!("{HEAD}{WAVES}").into_bytes()] {
        let mut opened = 0;
        for at in sampled(0..whole.len(), 5) {
            for change in [0x01, 0x10, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] ^= change;
                opened += usize::from(survive(bytes));
            }
        }
        assert!(opened > 0, "nothing got past the syntax");
    }
}

#[test]
fn every_value_of_another_shape() {
    let others = [
        "null",
        "-1",
        "1e999",
        "18446744073709551615",
        "18446744073709551616",
        "\"xx\"",
        "[]",
        "[[[]]]",
        "{}",
        "true",
    ];
    let json = good_json();
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    let mut pointers = Vec::new();
    let mut left = vec![(String::new(), &value)];
    while let Some((at, value)) = left.pop() {
        match value {
            serde_json::Value::Object(table) => {
                left.extend(table.iter().map(|(key, value)| (format!("{at}/{key}"), value)));
            }
            serde_json::Value::Array(list) => {
                left.extend(list.iter().enumerate().map(|(index, value)| (format!("{at}/{index}"), value)));
            }
            _ => {}
        }
        pointers.push(at);
    }
    for pointer in &pointers {
        for other in others {
            let mut changed = value.clone();
            *changed.pointer_mut(pointer).unwrap() =
                serde_json::from_str(other).unwrap_or(serde_json::Value::Null);
            if let Ok(opened) = open_text(&changed.to_string()) {
                read_all(&opened);
            }
        }
    }
}

#[test]
fn large_numbers_cost_nothing() {
    let huge = "\"0xffffffffffffffff\"";
    let text = format!(
        "{HEAD}\nmemory = [{{ address = {huge}, file = \"r\", offset = {huge}, length = {huge} }}]\n\
         wave = [{{ id = {huge}, workgroup = {huge} }}, {{ id = 1, workgroup = 1, wave_in_group = {huge}, \
         sgpr_count = {huge}, private_size = {huge}, private = [{{ address = {huge}, u32 = [1] }}], \
         bulk = [{{ registers = \"v0-v255\", lanes = {huge}, hex = \"00\" }}], \
         image = {{ layout = \"l\", hex = \"00\" }} }}]\n\
         layout = [{{ name = \"l\", blocks = [{{ registers = \"v0-v255\", offset = \"0xffffffffffff0000\" }}, \
         {{ registers = \"s0\", offset = \"0xfffffffffffffff0\" }}] }}]\n"
    );
    read_all(&open_text(&text).unwrap());
}

proptest! {
    #[test]
    fn any_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        survive(bytes);
    }

    #[test]
    fn any_bytes_in_the_zip(at in 0usize..1000, bytes in proptest::collection::vec(any::<u8>(), 1..40)) {
        let mut zip = good_zip();
        let at = zip.len() - 1 - at % zip.len();
        let end = zip.len().min(at + bytes.len());
        let count = end - at;
        zip[at..end].copy_from_slice(&bytes[..count]);
        survive(zip);
    }
}
