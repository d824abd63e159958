//! Statements about causes, places, stacks and counts. The facts are those of the models: kernels/saxpy.hip reads
//! `x[1024]` in line 54 in lane 24 of wave 1 of demo; calls.s has `leaf`, `middle` and `launch`. The signature is the one
//! that md5sum prints for the text of docs/signatures.md.

use lanescope::session::InferredBy;

use super::{difference, outcomes, path, table};

#[test]
fn causes_and_places() {
    table(
        "demo",
        "
        + fault memory violation
        + fault memory_violation
        + fault Memory-Violation
        + fault memory
        - fault none                   => memory violation
        - fault assertion              => memory violation
        ? fault memry violation        => did you mean
        ? fault page fault             => did you mean `memory violation`?
        ? fault memory access fault    => did you mean `memory violation`?
        + at saxpy saxpy.hip:54
        + at saxpy
        + at saxpy.hip
        + at kernels/saxpy.hip:50-60
        - at saxpy saxpy.hip:55        => saxpy saxpy.hip:54
        - at other                     => saxpy
        - at other.hip:54              => saxpy.hip:54
        - at other.hip:50-60           => saxpy.hip:54
        - at saxpy.hip:40-53           => saxpy.hip:40-54
        - at x/saxpy.hip:54            => kernels/saxpy.hip:54
        - at x/y/saxpy.hip:54          => fixtures/kernels/saxpy.hip:54
        - at saxpy kernels/saxpy.hip:1 => saxpy kernels/saxpy.hip:54
        + stack saxpy
        + stack ...
        + stack saxpy < ...
        - stack saxpy < main           => saxpy
        - stack leaf < saxpy           => saxpy
        + access lane 24 x[i] not captured
        + access lane 24 load x[1024] past end
        + access x[i]
        - access lane 23 x[i]          => lane 24 x[i]
        - access lane 24 store x[i]    => lane 24 load x[i]
        - access lane 24 y[i]          => lane 24 x[i]
        - access lane 24 x[i] null     => lane 24 x[i] past end
        + waves 8, faulted 1, stacks 8
        + waves >= 8, faulted < 2
        - waves 8, faulted 2, stacks 8 => 8, faulted 1, stacks 8
        - faulted 2                    => 1
        - waves >= 9, faulted < 1, stacks <= 7 => >= 8, faulted < 2, stacks <= 8
        - waves > 8                    => > 7
        - waves != 8                   => none
        + hang none
        + signature ls1:52d6a45d46f3
        - signature ls1:52d6a45d46f4     => ls1:52d6a45d46f3
        - signature ls1:000000000000     => ls1:52d6a45d46f3
        ? signature ls99:0000000000000000 => ls99
        - hang deadlock                => none
        - hang                         => none
        + wave every
        - exec 0x1ffffff               => none
        + at saxpy
        - at saxpy saxpy.hip:54        => none
        + wave faulted
        + exec 0x1ffffff
        - exec 0x1                     => 0x1ffffff
        + stop memory violation
        - stop breakpoint              => memory violation
        ? stop breakpiont              => did you mean `breakpoint`?
        + state faulted
        ",
    );
}

/// calls.hip: `launch` calls `middle`, which calls `leaf`; tests/fixtures/expected has the callers.
#[test]
fn stacks_and_stops_of_each_wave() {
    table(
        "calls-gfx90a",
        "
        - fault none                   => address error, illegal instruction
        - fault illegal instruction    => address error, illegal instruction
        - fault address error          => address error, illegal instruction
        + fault address error, illegal instruction
        + fault illegal instruction, Address-Error
        - fault address error, illegal instruction, trap => address error, illegal instruction
        + waves 5, faulted 2, stacks 5
        + wave id 1
        + stack leaf < middle < launch
        + stack leaf < ...
        + stack ... < launch
        - stack leaf < launch          => leaf < middle < launch
        - stack middle < launch        => leaf < middle < launch
        - stack leaf < middle          => leaf < middle < launch
        + at leaf calls.hip:4
        + stop breakpoint
        + wave id 3
        + stack middle < launch
        + stop running
        - stop breakpoint              => running
        - state faulted
        + wave faulted
        - stop illegal instruction     => none
        + wave id 2
        + stop illegal instruction
        + stop illegal_instruction
        + state faulted
        + wave every
        + stack ... < launch
        - stack leaf < middle < launch => none
        + wave some
        + stack middle < launch
        + stop address error
        + wave at middle
        + stack middle < launch
        ",
    );
}

/// A known part of a stack decides; nothing else is guessed.
#[test]
fn missing_facts_are_not_guessed() {
    table(
        "call-gfx90a-O0",
        "
        - fault assertion
        + wave (0,0,0)/0
        + at energy
        + at energy<float>
        + at sky::energy
        - at energy<double>            => sky::energy<float>
        + stack energy < ...
        + stack energy < advance < call
        - stack energy                 => sky::energy<float> < sky::Mover::advance < call
        - stack ... < launch           => ... < call
        - stack leaf < ...             => sky::energy<float> < ...
        ",
    );
    table(
        "absent-gfx90a",
        "
        + fault memory violation
        + at saxpy saxpy.hip:54
        ? faulted 1                    => the stop reason of 1 wave was not captured
        + wave id 5
        ? at saxpy
        ? stack saxpy
        + wave id 4
        ? exec 0x1                     => EXEC was not captured
        + wave id 6
        ? stop breakpoint              => the stop reason was not captured
        ? state faulted
        ",
    );
    table(
        "chain-gfx90a-O0",
        "
        + fault none
        - fault memory violation       => none
        - at chain                     => none
        - access x[i]                  => none
        ",
    );
}

/// clang 22 writes no rules for the callers in this dump. The model's kernel passes 3 as `upto`.
#[test]
fn inferred_facts_have_marks() {
    let text =
        "wave id 1\n  at middle\n  stack leaf\n  frame 1 lane 0 upto + 1 == 9\n  lane 0 sum + 1 == 9\n";
    let found = outcomes(&path("call-gfx90a-O0"), text);
    let caller = [InferredBy::CallerCode];
    let marks = |line: usize| {
        let of = difference(&found, line);
        let has_mark = of.found.contains(" (inferred: caller by code) (wave 1)");
        assert_eq!(has_mark, of.inferred == caller, "{}", of.found);
        (
            of.inferred.clone(),
            of.names.iter().map(|of| (&*of.name, &*of.value, of.inferred.clone())).collect::<Vec<_>>(),
        )
    };
    assert_eq!(marks(2), (vec![], vec![]));
    assert_eq!(marks(3), (caller.to_vec(), vec![]));
    assert_eq!(marks(4), (caller.to_vec(), vec![("upto", "3", caller.to_vec())]));
    assert_eq!(marks(5), (vec![], vec![("sum", "0.25", vec![])]));
}

/// The cause that the analysis describes is the first, also where more waves have another one: memory before traps.
#[test]
fn the_first_cause_is_that_of_the_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let dump = folder.path().join("dump");
    crate::fixtures::copy_dump("saxpy-gfx90a-O2", &dump);
    let manifest = dump.join("manifest.toml");
    let text = std::fs::read_to_string(&manifest).unwrap();
    for (waves, stops, expected) in [
        (3, "\"trap\"", "memory violation, trap"),
        (3, "\"illegal_instruction\"", "memory violation, illegal instruction"),
        // Of the reasons of one wave, the one that decides its cause.
        (1, "\"fp_inexact\", \"illegal_instruction\"", "memory violation, illegal instruction"),
        (7, "\"breakpoint\"", "memory violation"),
    ] {
        let changed = text.replacen("stop = []", &format!("stop = [{stops}]"), waves);
        assert_ne!(changed, text);
        std::fs::write(&manifest, changed).unwrap();
        let found = outcomes(&dump, "fault none\n");
        assert_eq!(difference(&found, 1).got.as_deref(), Some(expected));
    }
}
