//! Budget use of valid questions over the fixtures, whose expressions come from compilers and people.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use crate::arch::Targets;
use crate::dwarf::limits::{MAX_QUESTION_WORK, WAVE_WORK};
use crate::import;
use crate::sample::{least, sampled};
use crate::session::{Dump, Grouping, Session, Stacks as _, Storage as _, Variables as _, Waves as _};

/// Maximum work of a question about a wave of the fixtures beyond the shares of its evaluations, and the name of that
/// question. The first question about a function also analyses its code, which is cached: the second one measures the
/// work of each wave.
#[test]
fn honest_questions_take_less_than_a_wave_adds() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut paths = vec![fixtures.join("demo.zip")];
    let dumps = std::fs::read_dir(fixtures.join("dumps")).unwrap().map(|entry| entry.unwrap().path());
    paths.extend(sampled(dumps.filter(|path| path.is_dir()).collect::<BTreeSet<_>>(), 6));
    let (mut most, mut questions) = ([(0, String::new()), (0, String::new())], 0);
    for path in &paths {
        let Ok(opened) = import::open(path, &Targets::builtin(), &import::Options::default()) else {
            continue;
        };
        let session = Session::new(Arc::new(Dump::new(opened.capture, Vec::new())), None).unwrap();
        let waves = session.waves();
        let mut ask = |what: &str, waves: usize, question: &mut dyn FnMut()| {
            for most in &mut most {
                session.next_question();
                question();
                let granted = MAX_QUESTION_WORK + WAVE_WORK * waves as u64;
                let taken = granted.saturating_sub(session.reader().budget().left()) / waves as u64;
                *most = most.clone().max((taken, format!("{what} of {}", path.display())));
            }
            questions += 1;
        };
        for wave in waves.iter() {
            let lanes = session.kind().wave_size.all();
            ask("backtrace", 1, &mut || drop(session.backtrace(*wave, None).unwrap()));
            ask("lane stacks", 1, &mut || drop(session.lane_stacks(*wave, lanes).unwrap()));
            let frames = session.backtrace(*wave, None).unwrap().frames.len();
            for frame in 0..frames {
                ask("locals", 1, &mut || drop(session.locals(*wave, lanes, frame)));
            }
        }
        for lanes in [false, true] {
            let grouping = Grouping { lanes, ..Grouping::default() };
            ask("groups", waves.len(), &mut || drop(session.groups(grouping).unwrap()));
        }
    }
    let [first, again] = &most;
    assert!(
        questions > least(100, 40) && first.0 < MAX_QUESTION_WORK / 1000 && again.0 < WAVE_WORK,
        "{most:?}"
    );
}
