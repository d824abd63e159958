//! Hostile memory, folders and files.

use std::cell::Cell;

use super::super::compare::{Verdict, compare};
use super::super::discover::{MAX_PAGES, MAX_PAGES_IN_ALL, PAGE, discover};
use super::super::find::find;
use super::super::folders::{walk, walk_up_to};
use super::super::{Hints, LinkMap, Memory};
use super::{Made, fixture, image, path};
use crate::bounds::MAX_FOLDER_DEPTH;
use crate::codeobject::Bytes;
use crate::import::problem::Problems;
use crate::import::{Options, Supplied};
use crate::sample::sampled;

const AT: u64 = 0x7f10_0000_0000;

/// Endless memory with the same page everywhere.
struct Endless {
    page: Vec<u8>,
    reads: Cell<usize>,
}

impl Endless {
    fn of(page: Vec<u8>) -> Self {
        Self { page, reads: Cell::new(0) }
    }
}

impl Memory for Endless {
    fn read(&self, address: u64, buffer: &mut [u8]) -> usize {
        self.reads.set(self.reads.get() + 1);
        for (index, byte) in buffer.iter_mut().enumerate() {
            *byte = self.page[(address.wrapping_add(index as u64) % PAGE) as usize];
        }
        buffer.len()
    }

    fn segment(&self, _: u64) -> Option<(u64, u64)> {
        Some((0, u64::MAX))
    }

    fn view(&self, address: u64, length: u64) -> Option<Bytes> {
        let mut bytes = vec![0; usize::try_from(length).ok().filter(|length| *length < 1 << 24)?];
        self.read(address, &mut bytes);
        Some(Bytes::from(bytes))
    }
}

#[test]
fn a_search_without_end_ends() {
    let hints = (1..5000u64).map(|index| AT + index * MAX_PAGES * PAGE).collect();
    let zeros = Endless::of(vec![0; PAGE as usize]);
    let found = discover(&zeros, &[&hints]);
    assert_eq!((found.images.len(), found.lost.len()), (0, 4999));
    // The last of them are never read.
    assert!(
        found.cut_short.len() >= 4999 - (MAX_PAGES_IN_ALL / MAX_PAGES) as usize,
        "{:?}",
        found.cut_short.len()
    );
    // Headers on every page, with images that end before the address.
    let mut page = image(&fixture("saxpy-gfx90a-O0.hsaco"));
    page.truncate(PAGE as usize);
    let images = Endless::of(page);
    let found = discover(&images, &[&hints]);
    assert!(found.images.len() <= 4999);
    let reads = [zeros, images].map(|memory| memory.reads.get());
    assert!(reads.iter().all(|reads| *reads as u64 <= 8 * MAX_PAGES_IN_ALL), "{reads:?}");
}

/// Waves with PCs in a large buffer must not use up the search of the others.
#[test]
fn wild_addresses_do_not_hide_the_others() {
    let file = fixture("saxpy-gfx90a-O0.hsaco");
    // An empty buffer of 2 TiB, and a code object above it.
    let mut made = Made::default();
    made.load(AT, &file);
    let memory = Buffer { low: 0x10_0000_0000, high: 0x210_0000_0000, rest: made };
    let wild = |count: u64| (1..=count).map(|index| 0x10_0000_0000 + index * (MAX_PAGES + 1) * PAGE);
    let descriptor = AT + 0x600;
    for count in sampled([4, 60, 4000], 2) {
        let mut hints = Hints { descriptors: [descriptor].into(), pcs: wild(count).collect() };
        let (found, told) = search(&memory, &hints);
        assert_eq!(found, [AT], "{count}");
        assert_eq!(told.iter().any(|words| words.contains("not searched to the end")), count > 3, "{told:?}");
        hints.descriptors.clear();
        hints.pcs.insert(AT + 0x1a40);
        // As long as each has its turn, the search by PC finds it, too.
        if count <= 60 {
            assert_eq!(search(&memory, &hints).0, [AT], "{count}");
        }
    }
    let few = Hints { descriptors: [descriptor].into(), pcs: wild(3).collect() };
    let (found, told) = search(&memory, &few);
    assert_eq!(found, [AT]);
    assert!(!told.iter().any(|words| words.contains("not searched")), "{told:?}");
}

fn search(memory: &Buffer, hints: &Hints) -> (Vec<u64>, Vec<String>) {
    let mut problems = Problems::new("core");
    let found = find(memory, &LinkMap::default(), hints, &Options::default(), &mut problems);
    let found = found.code_objects.iter().map(|object| object.address).collect();
    (found, problems.finish().iter().map(ToString::to_string).collect())
}

/// Memory with a large buffer of zeros.
struct Buffer {
    low: u64,
    high: u64,
    rest: Made,
}

impl Memory for Buffer {
    fn read(&self, address: u64, buffer: &mut [u8]) -> usize {
        if (self.low..self.high).contains(&address) {
            buffer.fill(0);
            return buffer.len();
        }
        self.rest.read(address, buffer)
    }

    fn segment(&self, address: u64) -> Option<(u64, u64)> {
        let within = (self.low..self.high).contains(&address);
        if within { Some((self.low, self.high - 1)) } else { self.rest.segment(address) }
    }

    fn view(&self, address: u64, length: u64) -> Option<Bytes> {
        self.rest.view(address, length)
    }
}

#[test]
fn a_list_in_endless_memory_ends() {
    // Every pointer leads to the page's start, and every name is endless.
    let mut page = vec![b'a'; PAGE as usize];
    page[..4].copy_from_slice(&10u32.to_le_bytes());
    page[24..32].fill(0);
    let map = LinkMap::read(&Endless::of(page), AT);
    assert!(map.entries.len() <= super::super::MAX_NODES && !map.problems.is_empty());
}

#[test]
fn images_cut_anywhere_and_with_any_header_do_no_harm() {
    let file = fixture("call-gfx1100-O0.hsaco");
    let whole = image(&file);
    let options = Options {
        code_objects: vec![Supplied { file: path("call-gfx1100-O0.hsaco"), address: None }],
        ..Options::default()
    };
    let hints = Hints { pcs: [AT + 0x1a40, AT + 0x600].into(), ..Hints::default() };
    let look = |bytes: Vec<u8>| {
        let mut problems = Problems::new("core");
        let memory = Made([(AT, bytes)].into());
        let found = find(&memory, &LinkMap::read(&memory, AT), &hints, &options, &mut problems);
        assert!(found.code_objects.len() <= 2, "{found:?}");
    };
    for length in (1..whole.len()).step_by(487) {
        look(whole[..length].to_vec());
    }
    for at in 0..64 + 56 * 8 {
        for value in [0, 0x7f, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] = value;
            look(bytes);
        }
    }
}

#[test]
fn damaged_files_of_a_folder_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let file = fixture("saxpy-gfx90a-O0.hsaco");
    for (index, length) in (0..file.len()).step_by(331).enumerate() {
        std::fs::write(folder.path().join(format!("{index}.hsaco")), &file[..length]).unwrap();
    }
    std::fs::write(folder.path().join("text"), "text").unwrap();
    // Cycles, dangling links, and files that block a reader.
    std::os::unix::fs::symlink(folder.path(), folder.path().join("circle")).unwrap();
    std::os::unix::fs::symlink("/nowhere", folder.path().join("dangling")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("pipe")).status();
    assert!(made.unwrap().success());
    let mut memory = Made::default();
    memory.load(AT, &file);
    let options = Options { symbols: vec![folder.path().to_owned()], ..Options::default() };
    let mut problems = Problems::new("core");
    // The longest copies have all code, but no section headers for it.
    let hints = Hints { pcs: [AT + 0x1a40].into(), ..Hints::default() };
    let found = find(&memory, &LinkMap::default(), &hints, &options, &mut problems);
    assert_eq!(found.code_objects.len(), 1);
}

#[test]
fn deep_folders_are_bounded() {
    let folder = tempfile::tempdir().unwrap();
    let mut path = folder.path().to_owned();
    for depth in 0..MAX_FOLDER_DEPTH + 3 {
        let name = format!("{depth}");
        path.push(name);
        std::fs::create_dir(&path).unwrap();
        std::fs::copy(super::path("saxpy-gfx90a-O0.hsaco"), path.join("code.hsaco")).unwrap();
    }
    assert_eq!(walk(folder.path()).files.len(), MAX_FOLDER_DEPTH);
    assert!(walk(&folder.path().join("none")).problems[0].contains("No such file"));
    let few = walk_up_to(folder.path(), 7);
    assert!(few.files.len() < 7 && few.problems[0].contains("more than 7 files and folders"), "{few:?}");
}

/// Memory in pieces of a page, which counts the assembled bytes.
struct Pieces(Made, Cell<u64>);

impl Memory for Pieces {
    fn read(&self, address: u64, buffer: &mut [u8]) -> usize {
        self.0.read(address, buffer)
    }

    fn segment(&self, address: u64) -> Option<(u64, u64)> {
        let page = address & !(PAGE - 1);
        Some((page, page + PAGE - 1))
    }

    fn view(&self, _: u64, length: u64) -> Option<Bytes> {
        self.1.set(self.1.get() + length);
        None
    }
}

#[test]
fn copies_of_memory_are_bounded() {
    let mut made = Made::default();
    let uris: Vec<String> =
        (0..100u64).map(|n| format!("memory://1#offset={:#x}&size=0x4000000", n << 32)).collect();
    let entries: Vec<(u64, &str)> = (1u64..).map(|n| n << 40).zip(uris.iter().map(String::as_str)).collect();
    made.list(AT, 10, &entries);
    let memory = Pieces(made, Cell::new(0));
    let mut problems = Problems::new("core");
    let map = LinkMap::read(&memory, AT);
    let found = find(&memory, &map, &Hints::default(), &Options::default(), &mut problems);
    assert_eq!((found.code_objects.len(), memory.1.get()), (100, 1 << 30));
    let told: Vec<String> = problems.finish().iter().map(ToString::to_string).collect();
    assert_eq!(told.iter().filter(|words| words.contains("bytes in pieces; at most 1073741824")).count(), 84);
}

#[test]
fn comparing_is_bounded() {
    let candidates = super::super::candidate::of_file(&path("saxpy-gfx90a-O0.hsaco")).unwrap();
    let mut memory = Made::default();
    memory.load(AT, &fixture("saxpy-gfx90a-O0.hsaco"));
    let left = Cell::new(1 << 30);
    assert!(compare(&candidates[0], AT, None, &memory, &left).is_proof());
    let needed = (1 << 30) - left.get();
    left.set(needed - 1);
    let verdict = compare(&candidates[0], AT, None, &memory, &left);
    assert!(
        matches!(&verdict, Verdict::Differs(why) if why.contains("not compared: more than")),
        "{verdict:?}"
    );
}
