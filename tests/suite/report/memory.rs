//! Pictures of LDS. Expected offsets come from the cases' models, and positions from the numbers in the picture.

use lanescope::postmortem::text::text;
use lanescope::postmortem::{Model, Options};
use lanescope::report::Style;

use super::{html, model, model_with};
use crate::support::{least, sample::is_long};
use crate::triage::cases::{Case, Cases, Moment, load_where};

const MOMENT: Moment = Moment { distance: 0, has_report: true, lacks_memory: false };

/// LDS is out of bounds on one GPU alone: in HIP and in OpenCL.
fn load() -> Cases {
    load_where(|name| name.contains(if is_long() { "-gfx1201-" } else { "-gfx1201-O2." }))
}

fn is_lds(case: &&Case) -> bool {
    case.fault.as_ref().is_some_and(|fault| fault.kind == "lds")
}

/// The numbers of an attribute in all elements that a text starts.
fn numbers(page: &str, start: &str, attribute: &str) -> Vec<f64> {
    let value = |rest: &str| rest.split_once(attribute)?.1.split(['"', ' ']).next()?.parse().ok();
    page.split(start).skip(1).map(|rest| value(rest).unwrap_or_else(|| panic!("{rest:.80}"))).collect()
}

/// The LDS of the work-group is the block, and the marks are at the offsets of the lanes.
#[test]
fn lds_is_drawn_to_scale() {
    let cases = load();
    let mut compared = 0;
    for case in cases.faults.iter().filter(is_lds) {
        let name = &case.name;
        let model = model(&cases.open(case, MOMENT));
        let wave = case.waves.iter().find(|wave| wave.id == model.wave.as_ref().unwrap().id).unwrap();
        let truth = wave.truth.as_ref().unwrap().access.as_ref().unwrap();
        let [picture] = &model.memory[..] else { panic!("{name}: {:?}", model.memory) };
        assert_eq!((&*picture.space, &picture.bytes), ("local", &None), "{name}");
        let spans: Vec<(u64, u64)> = picture.spans.iter().map(|span| (span.start.0, span.last.0)).collect();
        assert_eq!(spans, [(0, case.lds_size - 1)], "{name}");
        let mut expected: Vec<(u64, u8)> = truth.addresses.iter().copied().zip(truth.lanes.clone()).collect();
        // The order of the sentence.
        expected.sort_unstable_by_key(|(_, lane)| *lane);
        let all: Vec<(u64, u8)> =
            picture.accesses.iter().map(|access| (access.address.0, access.lane.unwrap())).collect();
        // The model has the first bad address of each lane; an instruction may access two.
        let is_first = |(at, of): &(u64, u8)| all.iter().all(|(other, lane)| lane != of || other >= at);
        assert_eq!(all.iter().copied().filter(is_first).collect::<Vec<_>>(), expected, "{name}");

        let page = html(&model);
        assert!(page.contains(&format!("LDS around offset {:#x}", expected[0].0)), "{name}");
        let (x, width) = (
            numbers(&page, "<rect class=\"span\"", " x=\"")[0],
            numbers(&page, "<rect class=\"span\"", "width=\"")[0],
        );
        let marks = numbers(&page, "<path class=\"hit\"", " d=\"M");
        // One more mark for the address of the picture.
        assert_eq!(marks.len(), all.len() + 1, "{name}");
        for (mark, (offset, _)) in marks.iter().zip(&all) {
            let scaled = x + width * *offset as f64 / case.lds_size as f64;
            assert!((mark - scaled).abs() <= 2.0, "{name}: {offset} at {mark}, expected {scaled}");
        }
        let text = text(&model, Style::Plain);
        assert!(text.contains(&format!("offset {:#x} in LDS", expected[0].0)), "{name}: {text}");
        compared += 1;
    }
    assert!(compared >= least(8, 2), "{compared}");
}

/// Captured LDS around the first bad offset: LDS is no global memory.
#[test]
fn bytes_of_lds_are_listed() {
    let mut cases = load();
    let mut compared = 0;
    for index in 0..cases.faults.len() {
        if !is_lds(&&cases.faults[index]) {
            continue;
        }
        let size = cases.faults[index].lds_size;
        let bytes: Vec<u8> = (0..size).map(|at| (at * 7) as u8).collect();
        let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        cases.faults[index].lds = vec![text; 2];
        let case = &cases.faults[index];
        let dump = cases.open(case, MOMENT);
        let shown = model(&dump);
        let wave = case.waves.iter().find(|wave| wave.id == shown.wave.as_ref().unwrap().id).unwrap();
        let offsets = &wave.truth.as_ref().unwrap().access.as_ref().unwrap().addresses;
        // docs/report.md: at most 144 bytes in lines of 16, and 64 behind the offset.
        let first = *offsets.iter().min().unwrap();
        let start = (first - 64) / 16 * 16;
        let expected: Vec<Option<u8>> =
            (start..first + 64).map(|at| bytes.get(at as usize).copied()).collect();
        let known = expected.iter().flatten().count();
        let found = shown.memory[0].bytes.as_ref();
        assert_eq!(
            found.map(|window| (window.start.0, &window.bytes)),
            (known > 0).then_some((start, &expected)),
            "{}",
            case.name
        );
        let words = format!("{known} bytes of LDS");
        let has = |model: &Model| model.contents.iter().any(|of| of.is_included && of.text == words);
        assert_eq!(has(&shown), known > 0, "{}", case.name);
        assert_eq!(has(&model_with(&dump, Options { no_global: true, ..Options::default() })), known > 0);
        let without = model_with(&dump, Options { no_values: true, ..Options::default() });
        assert!(without.memory[0].bytes.is_none() && !has(&without));
        compared += usize::from(known > 0);
    }
    assert!(compared > 1, "{compared}");
}
