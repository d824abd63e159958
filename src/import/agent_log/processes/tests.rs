//! Reports are separated by the addresses of their code objects.

use super::Processes;
use crate::import::agent_log::read::{Log, RawObject};
use crate::import::agent_log::wave::RawWave;

fn log(objects: &[(u64, u64)], waves: &[&[usize]]) -> Log {
    let object = |(index, (start, end)): (usize, &(u64, u64))| RawObject {
        uri: format!("file:///{index}"),
        start: *start,
        end: *end,
        line: 1,
    };
    let wave = |(index, objects): (usize, &&[usize])| {
        let mut wave = RawWave::default();
        wave.line = 10 * (index + 1);
        wave.objects = objects.to_vec();
        wave
    };
    Log {
        objects: objects.iter().enumerate().map(object).collect(),
        waves: waves.iter().enumerate().map(wave).collect(),
        ..Log::default()
    }
}

type Case<'c> = (&'c str, &'c [(u64, u64)], &'c [&'c [usize]], &'c [usize], &'c [usize]);

#[test]
fn what_lies_at_one_address_is_of_two_processes() {
    // Addresses of code objects, the ones named by each wave, each wave's process, each process's first line.
    let cases: [Case<'_>; 7] = [
        ("one", &[(0, 9)], &[&[0], &[], &[0]], &[0, 0, 0], &[10]),
        ("apart", &[(0, 9), (9, 12)], &[&[0], &[1]], &[0, 0], &[10]),
        ("after one another", &[(0, 9), (8, 12)], &[&[], &[0], &[], &[1], &[]], &[0, 0, 0, 1, 1], &[10, 40]),
        ("in turns", &[(0, 9), (0, 9)], &[&[0], &[1], &[0], &[1]], &[0, 1, 0, 1], &[10, 20]),
        (
            "of several objects",
            &[(0, 9), (20, 30), (5, 6), (40, 50)],
            &[&[0], &[1], &[2], &[3]],
            &[0, 0, 1, 1],
            &[10, 30],
        ),
        ("within", &[(4, 5), (0, 9)], &[&[0], &[1]], &[0, 1], &[10, 20]),
        ("none", &[(9, 9), (9, 3)], &[&[0], &[1]], &[0, 0], &[10]),
    ];
    for (name, objects, waves, of_waves, lines) in cases {
        let processes = Processes::of(&log(objects, waves));
        let found: Vec<usize> = (0..waves.len()).map(|index| processes.of_wave(index)).collect();
        assert_eq!((found.as_slice(), processes.lines.as_slice()), (of_waves, lines), "{name}");
        assert_eq!(processes.are_several(), lines.len() > 1, "{name}");
    }
    let processes = Processes::of(&log(&[(0, 9), (0, 9), (0, 9)], &[&[0], &[1]]));
    let of_objects: Vec<Option<usize>> = (0..3).map(|index| processes.of_object(index)).collect();
    assert_eq!(of_objects, [Some(0), Some(1), None]);
    assert_eq!(Processes::of(&log(&[(0, 9)], &[&[0]])).of_object(0), None);
    assert!(!Processes::of(&log(&[], &[])).are_several());
}
