//! Cores from a stream with a small storage limit: the parts that waves need stay, in any order of segments.

use std::io::Cursor;
use std::time::Duration;

use lanescope::slim::{SpoolStats, StallBudget, spool};

use super::compare::{self, Differences, Opened};
use crate::core_writer::core::{Bulk, build_ordered};
use crate::core_writer::elf::Segment;
use crate::core_writer::filler::{self, Filling};
use crate::core_writer::plan::{AQL, FilePlan, Layout, Plan};
use crate::core_writer::{gpu, matrix, model};
use crate::fixtures::fixtures;

const GLOBAL: u64 = 0x7a00_0000_0000;
/// Load address of a code object, different from the start of its segment.
const CODE: u64 = 0x7f60_0000_5000;

/// Whole pages of one content.
fn noise(bytes: usize, which: u32) -> Vec<u8> {
    filler::bytes((0..1024).map(|word| filler::word(77, Filling::Gap, which, word, 9))).repeat(bytes / 4096)
}

/// Buffers, smaller and larger than the needed parts; and one code object on a page of a large segment.
fn more(code: &[u8]) -> Vec<Segment> {
    let sizes = (0..48).map(|_| 32 << 10).chain((0..3).map(|_| 2 << 20));
    let mut at = GLOBAL;
    let mut all: Vec<Segment> = (0..)
        .zip(sizes)
        .map(|(index, size)| {
            let segment = Segment::of(&format!("global{index}"), at, noise(size, index));
            at += size as u64 + 0x10_0000;
            segment
        })
        .collect();
    let mut bytes = noise(3 << 20, 99);
    bytes[0x5000..0x5000 + code.len()].copy_from_slice(code);
    all.push(Segment::of("code object", CODE - 0x5000, bytes));
    all
}

fn is_global(segment: &Segment) -> bool {
    segment.name.starts_with("global") || segment.name == "code object"
}

type Order = (&'static str, fn(&mut Vec<Segment>));

/// ROCr writes mappings by address. Scratch before the queue that describes it is large relative to the kept bytes.
const ORDERS: [Order; 4] = [
    ("as they are made", |_| ()),
    ("by address", |segments| segments.sort_by_key(|segment| segment.address)),
    ("buffers first", |segments| segments.sort_by_key(|segment| !is_global(segment))),
    ("the other way round", |segments| segments.reverse()),
];

/// A plan whose queues have scratch of different addresses and descriptors.
fn plan(name: &str, lanes: u32, layout: Layout) -> Plan {
    let plans = (700..).map(|seed| matrix::plan(gpu::named(name), lanes, seed));
    let wanted = |plan: &Plan| {
        let mut aql = plan.queues.iter().filter(|queue| queue.kind == AQL && !queue.xccs.is_empty());
        aql.all(|queue| queue.scratch.is_some()) && plan.waves().count() >= 4
    };
    let mut plan = plans.take(500).find(wanted).unwrap();
    plan.file = FilePlan::plain(layout);
    plan
}

/// Like `ORDERS`, with a first segment that begins with zeros: missing padding is not recognizable there.
fn zeros_first(segments: &mut Vec<Segment>) {
    segments.insert(0, Segment::of("zeros", 0x7900_0000_0000, vec![0; 0x3000]));
}

/// The core through a spool with capacity for all but the buffers.
fn spooled(plan: &Plan, code: &[u8], order: &Order) -> (Opened, SpoolStats) {
    let arrange = |segments: &mut Vec<Segment>| {
        order.1(segments);
        if plan.file.quirks.unpadded {
            zeros_first(segments);
        }
    };
    let core = build_ordered(plan, Bulk::Filled, more(code), &arrange);
    let bytes = core.gpu.bytes();
    let inside = |address: u64| (GLOBAL..GLOBAL + (1 << 32)).contains(&address) || address == CODE - 0x5000;
    let buffers: u64 = core.gpu.segments.iter().filter(|(at, ..)| inside(*at)).map(|(.., size)| size).sum();
    let limit = bytes.len() as u64 - buffers + code.len().next_multiple_of(4096) as u64 + 0x8000;
    let folder = tempfile::tempdir().unwrap();
    let patience = StallBudget { limit, stall: Duration::from_secs(60) };
    let spooled = spool(Cursor::new(bytes), folder.path(), patience, &mut |_| ()).unwrap();
    // Disk space in blocks of 512 bytes; unaligned segments share their pages.
    let room = {
        use std::os::unix::fs::MetadataExt as _;
        std::fs::metadata(spooled.path()).unwrap().blocks() * 512
    };
    assert!(room <= limit + (256 << 10), "{}: {room} bytes with a limit of {limit}", plan.name);
    let opened = compare::open(&spooled.path(), &compare::options(plan)).unwrap();
    // Before the file is removed.
    let mut found = vec![0; code.len()];
    let capture = opened.dump.capture();
    assert_eq!(capture.read(&capture.global, CODE, &mut found).unwrap(), code.len(), "{}", order.0);
    assert_eq!(found, code);
    (opened, spooled.came.clone())
}

#[test]
fn registers_lds_code_and_scratch_stay_in_every_order() {
    let mut lost = 0;
    for (name, lanes, layout, code) in [
        ("gfx90a", 64, Layout::Split, "k-gfx90a-O0.hsaco"),
        ("gfx942", 64, Layout::Unified, "k-gfx942-O0.hsaco"),
        ("gfx1100", 32, Layout::Split, "k-gfx1100-O0.hsaco"),
        ("gfx1201", 32, Layout::Unified, "k-gfx1100-O0.hsaco"),
    ] {
        let plan = plan(name, lanes, layout);
        let code = std::fs::read(fixtures().join("gpucore/code").join(code)).unwrap();
        let model = model::of(&plan);
        for order in &ORDERS {
            let (opened, came) = spooled(&plan, &code, order);
            assert!(came.dropped > 0 && came.needed == 0 && came.code == 0, "{}: {came:?}", order.0);
            assert_eq!(came.notes().len(), 1 + usize::from(came.scratch > 0), "{:?}", came.notes());
            let mut wrong = Differences::new();
            compare::all(&plan, &opened, &model, &mut wrong);
            if order.0 == "the other way round" {
                // Its kind is unknown; dropped bytes of it are reported.
                let before = wrong.all.len();
                wrong.all.retain(|text| !text.contains(": private_"));
                // Dropped bytes need not belong to a wave.
                assert!(before == wrong.all.len() || came.scratch > 0, "{}: {came:?}", plan.name);
                lost += usize::from(came.scratch > 0);
            } else {
                assert_eq!((came.scratch, came.unplaced), (0, 0), "{}, {}", plan.name, order.0);
            }
            wrong.fail_if_any();
        }
    }
    assert!(lost > 0, "no order loses anything: the limit is no limit");
}

/// As ROCr of November 2025 to July 2026 writes to a pipe. The bytes before the first code object have no marks.
#[test]
fn a_stream_without_padding_is_kept_as_one_with_padding() {
    for (name, lanes, code) in [("gfx942", 64, "k-gfx942-O0.hsaco"), ("gfx1100", 32, "k-gfx1100-O0.hsaco")] {
        let mut plan = plan(name, lanes, Layout::Split);
        plan.file.quirks.unpadded = true;
        let code = std::fs::read(fixtures().join("gpucore/code").join(code)).unwrap();
        let model = model::of(&plan);
        for order in &ORDERS {
            let (opened, came) = spooled(&plan, &code, order);
            assert!(came.dropped > 0 && came.needed == 0 && came.code == 0, "{}: {came:?}", order.0);
            let said =
                came.notes().iter().filter(|note| note.contains("no padding between its segments")).count();
            assert_eq!((said, came.missing), (1, 0), "{:?}", came.notes());
            let mut wrong = Differences::new();
            compare::all(&plan, &opened, &model, &mut wrong);
            if came.scratch > 0 {
                wrong.all.retain(|text| !text.contains(": private_"));
            }
            wrong.fail_if_any();
        }
    }
}
