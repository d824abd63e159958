//! Pictures of LDS. Expected offsets come from the cases' models, and positions from the numbers in the picture.

use lanescope::postmortem::text::text;
use lanescope::postmortem::{Model, Options};
use lanescope::report::Style;

use super::{html, model, model_with};
use crate::triage::cases::{Case, Cases, Moment, load};

const MOMENT: Moment = Moment { distance: 0, has_report: true, lacks_memory: false };

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
        expected.sort_unstable();
        let accesses = picture.accesses.iter().map(|access| (access.address.0, access.lane.unwrap()));
        assert_eq!(accesses.collect::<Vec<_>>(), expected, "{name}");

        let page = html(&model);
        assert!(page.contains(&format!("LDS around offset {:#x}", expected[0].0)), "{name}");
        let (x, width) = (
            numbers(&page, "<rect class=\"span\"", " x=\"")[0],
            numbers(&page, "<rect class=\"span\"", "width=\"")[0],
        );
        let marks = numbers(&page, "<path class=\"hit\"", " d=\"M");
        // One more mark for the address of the picture.
        assert_eq!(marks.len(), expected.len() + 1, "{name}");
        for (mark, (offset, _)) in marks.iter().zip(&expected) {
            let scaled = x + width * *offset as f64 / case.lds_size as f64;
            assert!((mark - scaled).abs() <= 2.0, "{name}: {offset} at {mark}, expected {scaled}");
        }
        let text = text(&model, Style::Plain);
        assert!(text.contains(&format!("offset {:#x} in LDS", expected[0].0)), "{name}: {text}");
        compared += 1;
    }
    assert!(compared >= 8, "{compared}");
}

/// Captured LDS around the offset: LDS is no global memory.
#[test]
fn bytes_of_lds_are_listed() {
    let mut cases: Cases = load();
    let case = cases.faults.iter_mut().find(|case| is_lds(&&**case)).unwrap();
    let bytes: Vec<u8> = (0..case.lds_size).map(|at| (at * 7) as u8).collect();
    let text: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    case.lds = vec![text; 2];
    let name = case.name.clone();
    let case = cases.faults.iter().find(|case| case.name == name).unwrap();
    let dump = cases.open(case, MOMENT);
    let has = |model: &Model| model.contents.iter().any(|of| of.is_included && of.text == "64 bytes of LDS");
    let shown = model(&dump);
    let window = shown.memory[0].bytes.as_ref().unwrap();
    // The first bad offset is the size: 64 bytes before it, and none behind it.
    let expected: Vec<Option<u8>> = (960..1088).map(|at| bytes.get(at).copied()).collect();
    assert_eq!((window.start.0, &window.bytes), (960, &expected));
    assert!(has(&shown) && has(&model_with(&dump, Options { no_global: true, ..Options::default() })));
    let without = model_with(&dump, Options { no_values: true, ..Options::default() });
    assert!(without.memory[0].bytes.is_none() && !has(&without));
}
