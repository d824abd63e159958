//! Limits, each at its value and one beyond.

use std::cell::Cell;
use std::collections::BTreeSet;

use super::super::discover::{Image, MAX_BUILD_ID, MAX_FOUND, MAX_IMAGE, MAX_NOTES, PAGE, discover};
use super::super::find::{MAX_HINTS, MAX_LOST, find};
use super::super::listed::{Listed, MAX_KERNELS};
use super::super::place::{LoadedObject, MAX_REASONS};
use super::super::{Hints, LinkMap, List, Memory, find_listed};
use super::{Made, path};
use crate::codeobject::{Bytes, CodeObject};
use crate::import::problem::Problems;
use crate::import::{Options, Supplied};

const AT: u64 = 0x7f10_0000_0000;

/// The first page of an image with one loaded segment of that size and notes after the page, with headers by the gABI.
fn header(size: u64, notes: u64) -> Vec<u8> {
    let mut page = vec![0; PAGE as usize];
    let mut put = |at: usize, bytes: &[u8]| page[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, b"\x7fELF\x02\x01\x01\x40\x04");
    // e_type DYN, e_machine AMDGPU, e_version; e_phoff; e_flags gfx90a; e_ehsize, e_phentsize, e_phnum; e_shentsize.
    put(16, &[3, 0, 224, 0, 1, 0, 0, 0]);
    put(32, &64u64.to_le_bytes());
    put(48, &[0x3f, 0, 0, 0, 64, 0, 56, 0, 2, 0, 64, 0]);
    for (at, kind, start, size) in [(64, 1u32, 0, size), (120, 4, PAGE, notes)] {
        put(at, &kind.to_le_bytes());
        put(at + 4, &5u32.to_le_bytes());
        for (at, value) in [(8, start), (16, start), (24, start), (32, size), (40, size), (48, PAGE)]
            .map(|(by, value)| (at + by, value))
        {
            put(at, &value.to_le_bytes());
        }
    }
    page
}

/// Memory with the same page everywhere.
struct Pages(Vec<u8>);

impl Memory for Pages {
    fn read(&self, address: u64, buffer: &mut [u8]) -> usize {
        let at = (address % PAGE) as usize;
        let count = buffer.len().min(self.0.len() - at);
        buffer[..count].copy_from_slice(&self.0[at..at + count]);
        count
    }

    fn segment(&self, _: u64) -> Option<(u64, u64)> {
        Some((0, u64::MAX))
    }

    fn view(&self, _: u64, _: u64) -> Option<Bytes> {
        None
    }
}

#[test]
fn so_many_code_objects_are_discovered_and_no_more() {
    let memory = Pages(header(PAGE, 0));
    let hints = |count: usize| (0..count as u64).map(|page| AT + page * PAGE + 0x10).collect::<BTreeSet<_>>();
    for (count, beyond) in [(MAX_FOUND, 0), (MAX_FOUND + 5, 5)] {
        let found = discover(&memory, &[&hints(count)]);
        assert_eq!(
            (found.images.len(), found.lost.len(), found.cut_short.len()),
            (MAX_FOUND, beyond, beyond)
        );
    }
}

#[test]
fn an_image_has_a_largest_size() {
    let image = |size| Image::at(&Pages(header(size, 0)), AT);
    assert_eq!(image(MAX_IMAGE).map(|image| (image.address, image.end - AT)), Some((AT, MAX_IMAGE)));
    assert!(image(MAX_IMAGE + 1).is_none());
}

#[test]
fn notes_and_build_ids_are_bounded() {
    let note = |length: u32, kind: u32, byte: u8| {
        let mut bytes: Vec<u8> = [4, length, kind].iter().flat_map(|word: &u32| word.to_le_bytes()).collect();
        bytes.extend(b"GNU\0");
        bytes.extend(vec![byte; length.next_multiple_of(4) as usize]);
        bytes
    };
    let id = |before: usize, length: u32| {
        let notes = [note(0, 1, 0).repeat(before), note(length, 3, 0xab)].concat();
        let size = notes.len() as u64;
        let memory = Made([(AT, [header(PAGE + size, size), notes].concat())].into());
        Image::at(&memory, AT).expect("an image").build_id
    };
    assert_eq!(id(0, MAX_BUILD_ID), Some(vec![0xab; MAX_BUILD_ID as usize]));
    assert_eq!(id(0, MAX_BUILD_ID + 1), None);
    assert_eq!(id(MAX_NOTES - 1, 20), Some(vec![0xab; 20]));
    assert_eq!(id(MAX_NOTES, 20), None);
}

/// Memory without captured bytes, which counts the reads.
#[derive(Default)]
struct Asked {
    reads: Cell<usize>,
    segments: Cell<usize>,
}

impl Memory for Asked {
    fn read(&self, _: u64, _: &mut [u8]) -> usize {
        self.reads.set(self.reads.get() + 1);
        0
    }

    fn segment(&self, _: u64) -> Option<(u64, u64)> {
        self.segments.set(self.segments.get() + 1);
        None
    }

    fn view(&self, _: u64, _: u64) -> Option<Bytes> {
        None
    }
}

#[test]
fn addresses_that_are_looked_at_are_bounded() {
    let asked = Asked::default();
    let pcs = (0..MAX_HINTS as u64 + 100).map(|page| AT + page * PAGE).collect();
    let hints = Hints { pcs, ..Hints::default() };
    let options = Options {
        code_objects: vec![Supplied { file: path("saxpy-gfx90a-O0.hsaco"), address: None }],
        ..Options::default()
    };
    let mut problems = Problems::new("core");
    let found = find(&asked, &LinkMap::default(), &hints, &options, &mut problems);
    assert!(found.code_objects.is_empty());
    assert!(
        problems.finish().iter().any(|problem| problem.what.starts_with("of 100 PCs and kernel descriptors"))
    );
    // The page of each hint, and the code around some of them.
    assert_eq!((asked.segments.get(), asked.reads.get()), (MAX_HINTS, MAX_LOST));
}

#[test]
fn reasons_of_a_place_are_bounded() {
    let mut place = LoadedObject::new(&Asked::default(), AT, None);
    (0..100).for_each(|at| place.because(format!("reason {at}")));
    assert_eq!(place.reasons.len(), MAX_REASONS);
}

/// List of one text, with missing kernels: those beyond the limit are never compared.
#[test]
fn a_listed_code_object_is_recognised_by_some_of_its_kernels() {
    let file = path("saxpy-gfx90a-O0.hsaco");
    let object = CodeObject::parse(std::fs::read(&file).unwrap()).unwrap();
    let entry = AT + object.kernels().next().unwrap().entry.unwrap().0;
    let end = AT + object.image().unwrap().end.0;
    let run = |kernels: Vec<u64>| {
        let listed = Listed { address: AT, end, uri: "memory://1#offset=1&size=2".to_owned(), kernels };
        let list = List { objects: vec![listed], beside: None, fits: &|_| true };
        let options = Options {
            code_objects: vec![Supplied { file: file.clone(), address: None }],
            ..Options::default()
        };
        let mut problems = Problems::new("log");
        let found = find_listed(&list, &options, &mut problems);
        (found.code_objects[0].origin.clone(), problems.finish().len())
    };
    let by_length = |origin: &Option<String>| {
        origin.as_ref().is_some_and(|origin| origin.ends_with(", by its length alone"))
    };
    let (told, none) = run(vec![entry]);
    assert!(told.is_some() && !by_length(&told) && none == 0, "{told:?}");
    let (told, _) = run(Vec::new());
    assert!(by_length(&told), "{told:?}");
    let (told, said) = run(vec![entry, entry + 4]);
    assert!(told.is_none() && said > 0, "{told:?}");
    let mut many = vec![entry; MAX_KERNELS];
    many.push(entry + 4);
    let (told, none) = run(many);
    assert!(told.is_some() && none == 0, "{told:?}");
}
