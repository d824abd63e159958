//! The lanes of the shown wave, against the bad lanes of the models.

use std::collections::BTreeSet;

use lanescope::postmortem::LaneMark;

use super::{faults, model};
use crate::support::{least, sample::sampled};
use crate::triage::cases::Moment;

/// Lanes that the page marks as faulting are those of the model. Where registers were overwritten a lane may have an
/// unknown address; no good lane is marked.
#[test]
fn faulting_lanes_are_those_of_the_models() {
    let cases = faults();
    let (mut compared, mut exact) = (0, 0);
    // From the last, a fault of LDS.
    for (index, case) in sampled(cases.faults.iter().enumerate().rev(), 7) {
        let moment = Moment { distance: index / 7 % 3, has_report: true, lacks_memory: false };
        let model = model(&cases.open(case, moment));
        let shown = model.wave.as_ref().unwrap();
        let truth = case.waves.iter().find(|wave| wave.id == shown.id).and_then(|wave| wave.truth.as_ref());
        let Some(access) = truth.and_then(|truth| truth.access.as_ref()) else { continue };
        let is_named =
            model.fault.evidence.iter().any(|of| of.label == "Access" && of.texts[0].contains(&access.text));
        if !is_named || model.fault.certainty == Some("possible") {
            continue;
        }
        let marked = |mark: LaneMark| -> BTreeSet<u8> {
            shown.lanes.iter().filter(|cell| cell.state == mark).map(|cell| cell.lane).collect()
        };
        // Other lanes may have a bad address on another page than the reported one.
        let bad: BTreeSet<u8> = access.lanes.iter().copied().collect();
        let faulting = marked(LaneMark::Faulting);
        assert!(faulting.is_subset(&bad), "{}: {faulting:?}, expected {bad:?}", case.name);
        exact += usize::from(faulting == bad);
        compared += 1;
    }
    assert!(compared > least(100, 4) && exact * 2 > compared, "{exact} of {compared}");
}
