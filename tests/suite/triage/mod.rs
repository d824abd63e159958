//! The analysis of faults and hangs, compared with the truth of tests/fixtures/faults.zip.

pub(crate) mod cases;
mod hangs;
mod late;
mod reports;
mod scores;
mod small;
mod table;
mod terms;
mod what_if;

use std::sync::Arc;

use lanescope::session::{Dump, Session, Storage as _, Waves as _};
use lanescope::units::{LaneId, WaveId};

use crate::support::least;
use cases::{Case, Moment};

/// Values of registers in the dump are those of the case: the fields of a dump, its side file and its layout.
#[test]
fn cases_open_with_their_registers() {
    // Each ninth: all levels of all GPUs.
    let cases = cases::load_some(|_| true, 9);
    assert!(cases.faults.len() > least(400, 50) && cases.hangs.len() >= least(50, 17));
    for (case, distance) in cases.faults.iter().chain(&cases.hangs).zip([0, 7, 30].into_iter().cycle()) {
        let moment = Moment { distance, has_report: true, lacks_memory: false };
        let dump = cases.open(case, moment);
        compare(case, &dump, moment);
    }
}

fn compare(case: &Case, dump: &Arc<Dump>, moment: Moment) {
    let session = Session::new(Arc::clone(dump), None).unwrap();
    let kind = session.kind();
    for (wave, ordinal) in case.waves.iter().zip(0..) {
        let state = wave.state(case, moment);
        for register in kind.registers() {
            let Some(expected) = state.get(register.name.as_str()) else { continue };
            let found = session.register(WaveId(ordinal), register.id).unwrap();
            let place = format!("{} wave {} {}", case.name, wave.id, register.name);
            if register.name.starts_with(['v', 'a']) && register.name != "vcc" {
                let lanes: Vec<_> =
                    (0..case.wave_size).map(|lane| found.lane(LaneId(lane as u8)).unwrap()).collect();
                assert_eq!(lanes, expected.lanes(case.wave_size), "{place}");
            } else {
                assert_eq!(found.scalar(), Some(expected.scalar()), "{place}");
            }
        }
    }
}
