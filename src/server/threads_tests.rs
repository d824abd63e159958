use super::{MAX_LANES, Thread, Threads, ThreadsAs, ThreadsError};
use crate::session::{LaneInfo, LanePosition, LaneState, MockInspect, PcSource, PositionError, ReadError};
use crate::units::{LaneId, WaveId};

const WAVES: [WaveId; 4] = [WaveId(0), WaveId(2), WaveId(3), WaveId(5)];

fn lane(number: u8, state: Option<LaneState>, from: PcSource) -> LaneInfo {
    LaneInfo {
        lane: LaneId(number),
        state,
        at: LanePosition { from, ..LanePosition::default() },
        local_id: Some([number.into(), 0, 0]),
        global_id: None,
        focused: false,
    }
}

/// Wave 0: every kind of lane. Wave 2, which faulted: lane 1 is inactive at another PC, lane 2 is active. Wave 3: its
/// EXEC is unknown. Wave 5 cannot be read.
fn lanes(wave: WaveId) -> Result<Vec<LaneInfo>, ReadError> {
    let unknown = || PcSource::Unknown(PositionError::Inactive.into());
    Ok(match wave.0 {
        0 => vec![
            lane(0, Some(LaneState::Active), PcSource::Exec),
            lane(1, Some(LaneState::Inactive), unknown()),
            lane(2, Some(LaneState::Inactive), PcSource::LanePc),
            lane(3, Some(LaneState::NotEntered), PcSource::LanePc),
            lane(4, Some(LaneState::Unused), PcSource::NoWorkItem),
            lane(63, Some(LaneState::Active), PcSource::LanePc),
        ],
        2 => vec![
            lane(1, Some(LaneState::Inactive), PcSource::LanePc),
            lane(2, Some(LaneState::Active), PcSource::Exec),
        ],
        3 => vec![lane(0, None, unknown()), lane(1, None, unknown())],
        _ => return Err(ReadError::NoSuchWave(wave)),
    })
}

fn session() -> MockInspect {
    let mut session = MockInspect::new();
    session.expect_waves().returning(|| WAVES.into_iter().collect());
    session.expect_first_wave().returning(|| WaveId(2));
    session.expect_lanes().returning(lanes);
    session
}

/// `0.63` is lane 63 of wave 0, `3` all of wave 3.
fn thread(name: &str) -> Thread {
    match name.split_once('.') {
        Some((wave, lane)) => {
            Thread { wave: WaveId(wave.parse().unwrap()), lane: Some(LaneId(lane.parse().unwrap())) }
        }
        None => Thread { wave: WaveId(name.parse().unwrap()), lane: None },
    }
}

#[track_caller]
fn check(threads: &Threads, numbers: &[(u64, &str)], first: &str) {
    let all: Vec<Thread> = numbers.iter().map(|(_, name)| thread(name)).collect();
    assert_eq!(threads.all(), all);
    for (number, name) in numbers {
        assert_eq!(threads.get(*number), Some(thread(name)), "{number}");
        assert_eq!(threads.find(thread(name)), Some(*number), "{name}");
    }
    assert_eq!(threads.first(), thread(first));
}

#[test]
fn waves_have_the_numbers_of_their_places_in_the_dump() {
    let threads = Threads::new(&session(), ThreadsAs::Waves, None).unwrap();
    check(&threads, &[(1, "0"), (3, "2"), (4, "3"), (6, "5")], "2");
    for number in [0, 2, 5, 7, u64::MAX, 1 << 32 | 1] {
        assert_eq!(threads.get(number), None, "{number}");
    }
    assert_eq!(threads.find(thread("2.1")), None);
    assert_eq!(threads.lanes(), 0);
}

#[test]
fn lanes_that_are_active_or_known_to_wait_are_threads_and_no_wave_is_lost() {
    let threads = Threads::new(&session(), ThreadsAs::Lanes, None).unwrap();
    let numbers = [(1, "0.0"), (2, "0.2"), (3, "0.63"), (4, "2.1"), (5, "2.2"), (6, "3"), (7, "5")];
    // The stop belongs to the first active lane.
    check(&threads, &numbers, "2.2");
    for number in [0, 8, u64::MAX] {
        assert_eq!(threads.get(number), None, "{number}");
    }
    for none in ["0.1", "0.3", "0.4", "0", "3.0", "9"] {
        assert_eq!(threads.find(thread(none)), None, "{none}");
    }
    assert_eq!(threads.lanes(), 5);
    assert_eq!(threads.of_wave(WaveId(0)), Some((1, 3)));
    assert_eq!(threads.of_wave(WaveId(3)), Some((6, 6)));
    assert_eq!(threads.of_wave(WaveId(1)), None);
    assert_eq!(threads.item(thread("0.63")).local_id, Some([63, 0, 0]));
    assert_eq!(threads.item(thread("2.1")).state, Some(LaneState::Inactive));
}

#[test]
fn in_focus_the_lanes_of_the_wave_that_faulted_stand_beside_the_other_waves() {
    let threads = Threads::new(&session(), ThreadsAs::Focus, None).unwrap();
    check(&threads, &[(1, "0"), (2, "2.1"), (3, "2.2"), (4, "3"), (5, "5")], "2.2");
}

#[test]
fn a_wave_that_faulted_without_active_lanes_is_the_one_that_stopped() {
    let mut session = MockInspect::new();
    session.expect_waves().returning(|| WAVES.into_iter().collect());
    session.expect_first_wave().returning(|| WaveId(3));
    session.expect_lanes().returning(lanes);
    for sort in [ThreadsAs::Lanes, ThreadsAs::Focus] {
        assert_eq!(Threads::new(&session, sort, None).unwrap().first(), thread("3"));
    }
}

#[test]
fn too_many_threads_are_counted_with_an_instruction() {
    let threads = |sort, limit| Threads::new(&session(), sort, Some(limit));
    assert_eq!(threads(ThreadsAs::Lanes, 7).unwrap().all().len(), 7);
    let error = threads(ThreadsAs::Lanes, 6).unwrap_err();
    assert_eq!(error, ThreadsError::TooManyLanes { lanes: 7, waves: 4, limit: 6 });
    assert_eq!(
        error.to_string(),
        "7 lanes of 4 waves would be threads, and more than 6 make debuggers slow: choose waves by their ids (--wave 3,7-9), \
         show the lanes of the wave that faulted alone (--threads=focus), or pass --max-threads 7"
    );
    assert_eq!(threads(ThreadsAs::Focus, 5).unwrap().all().len(), 5);
    assert_eq!(threads(ThreadsAs::Focus, 4), Err(ThreadsError::TooMany { threads: 5, limit: 4 }));
    assert_eq!(threads(ThreadsAs::Waves, 3), Err(ThreadsError::TooMany { threads: 4, limit: 3 }));
}

/// At the limit: one lane above it is too many, and waves have no limit.
#[test]
fn the_default_limit_of_lanes_is_that_of_debuggers() {
    let session = |lanes: usize| {
        let mut session = MockInspect::new();
        let waves = lanes.div_ceil(64) as u32;
        session.expect_waves().returning(move || (0..waves).map(WaveId).collect());
        session.expect_first_wave().returning(|| WaveId(0));
        session.expect_lanes().returning(move |wave| {
            let left = (lanes - wave.0 as usize * 64).min(64) as u8;
            Ok((0..left).map(|n| lane(n, Some(LaneState::Active), PcSource::Exec)).collect())
        });
        session
    };
    let most = Threads::new(&session(MAX_LANES), ThreadsAs::Lanes, None).unwrap();
    assert_eq!((most.all().len(), most.lanes()), (MAX_LANES, MAX_LANES));
    assert!(Threads::new(&session(MAX_LANES + 1), ThreadsAs::Lanes, None).is_err());
    let many = 64 * (MAX_LANES + 1);
    assert_eq!(Threads::new(&session(many), ThreadsAs::Waves, None).unwrap().all().len(), MAX_LANES + 1);
    assert!(Threads::new(&session(many), ThreadsAs::Focus, None).is_ok());
}
