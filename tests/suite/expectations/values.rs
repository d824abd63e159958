//! Every comparator over every state of a value, in every choice of waves and lanes. The models of saxpy.py, lds.py,
//! call.py and diverge.py, and the facts of the dumps in tests/fixtures/expected, give the values.

use lanescope::check::Verdict;

use super::{difference, outcomes, path, table};

/// demo, wave 1: `i` is 1000 + lane in the active lanes 0 to 24, `x` has 1024 floats, lane 24 reads `x[1024]`.
#[test]
fn comparators_of_numbers() {
    table(
        "demo",
        "
        + wave faulted
        + lane 17 i == 1017
        - lane 17 i == 1018            => == 1017
        ? lane 17 x[1024] == 1         => was not captured
        + lane 17 i != 1018
        - lane 17 i != 1017
        ? lane 17 x[1024] != 1         => `is unavailable` expects that
        + lane 17 i < 1018
        - lane 17 i < 1017             => < 1018
        ? lane 17 x[1024] < 1
        + lane 17 i <= 1017
        - lane 17 i <= 1016            => <= 1017
        ? lane 17 x[1024] <= 1
        + lane 17 i > 1016
        - lane 17 i > 1017             => > 1016
        ? lane 17 x[1024] > 1
        + lane 17 i >= 1017
        - lane 17 i >= 1018            => >= 1017
        ? lane 17 x[1024] >= 1
        + lane 17 i in 1000..1017
        - lane 17 i in 1000..1016      => in 1000..1017
        ? lane 17 x[1024] in 0..1
        + lane 17 i in {3, 1017}
        - lane 17 i in {3, 4}          => in {3, 4, 1017}
        ? lane 17 x[1024] in {3, 4}
        + lane 17 x[i] ~= 14.25
        + lane 17 x[i] ~= 14.2 +- 0.06
        - lane 17 x[i] ~= 14.2 +- 0.04 => ~= 14.25 +- 0.04
        + lane 17 x[i] ~= 14 +- 2%
        - lane 17 x[i] ~= 14 +- 1%     => ~= 14.25 +- 1%
        ? lane 17 x[1024] ~= 14
        + lane 17 i ~= 1017.0005
        ",
    );
}

/// No comparison is one of text, or of bits at the size of the left side.
#[test]
fn numbers_compare_in_the_type_of_the_left_side() {
    table(
        "demo",
        "
        + wave faulted
        + lane 17 i == 0x3f9
        + lane 17 i == 1017.0
        - lane 17 i == 1017.5
        + lane 17 i < 1017.5
        + lane 17 i > -1
        + lane 17 n - i == 7
        + lane 1 bits == 2654435761
        - lane 1 bits == -1640531535   => == 2654435761
        + lane 1 bits > -1
        + lane 1 (int) bits == -1640531535
        + lane 0 ticket == 4294967296
        - lane 0 ticket == 0           => == 4294967296
        + lane 0 small == -100
        - lane 0 small == 0xff9c       => == -100
        + lane 0 letter == 'a'
        + lane 0 letter == 97
        - lane 0 letter == 'b'         => == 'a'
        + lane 0 even == true
        + lane 0 even == 1
        - lane 1 even == true          => == false
        + lane 0 colour == demo::RED
        + lane 0 colour == RED
        - lane 0 colour == demo::BLUE  => == demo::RED
        + lane 0 colour == 0
        ? lane 0 colour == RAD         => did you mean `RED`?
        ? lane 0 sample.rnage == 3     => did you mean `range`?
        ? lane 0 (sample).rnage == 3   => did you mean `range`?
        ? lane 0 3 == 1 + sample.range.fist => did you mean `first`?
        ? lane 0 sample.colour == sample.mrak => did you mean `mark`?
        ? lane 0 sample.nothing == 3   => has no member `nothing` []
        ? lane 0 k == 3                => in this frame or its code object []
        + lane 0 pass == First
        + lane 0 pass == demo::Pass::First
        - lane 0 pass == Pass::Later   => == demo::Pass::First
        + lane 2 colour == demo::Colour::BLUE
        + lane 2 colour == Colour::BLUE
        + lane 2 demo::Colour::BLUE == colour
        + lane 2 colour in {Colour::RED, demo::Colour::BLUE}
        ? lane 2 colour == Later       => an enumerator of `demo::Colour` is not compared with one of `demo::Pass`
        ? lane 2 colour == demo::Pass::Later => a cast to an integer compares numbers
        ? lane 2 colour != demo::Pass::Later => not compared
        ? lane 2 colour <= Later       => not compared
        ? lane 2 colour in RED..Later  => not compared
        ? lane 2 colour in {RED, Later} => not compared
        ? lane 2 colour ~= Later       => not compared
        ? lane 2 colour == Pass::BLUE  => there is no
        ? lane 2 pass == demo::Colour::GREEN => not compared
        + lane 2 (int) colour == 2
        + lane 2 colour == (int) demo::Pass::Later
        + lane 0 xi == 13
        + lane 5 half == 2.5
        + lane 5 half == half
        + lane 5 half != nan
        - lane 5 half == nan           => == 2.5
        + lane 5 half < inf
        + lane 5 0.0 / 0 != 0.0 / 0
        - lane 5 0.0 / 0 == 0.0 / 0    => is nan
        + lane 17 (float) 0.1 == 0.1
        - lane 17 0.1 == (float) 0.1   => == 0.1
        + lane 5 small == small
        ",
    );
}

/// A variable of another block has the right name: no other one is proposed.
#[test]
fn a_name_out_of_scope_is_right() {
    let lines = "wave every\n  i >= 0\n";
    for outcome in outcomes(&path("demo"), lines).iter().skip(1) {
        let Verdict::NotChecked(obstacle) = &outcome.verdict else { panic!("{outcome:?}") };
        assert!(obstacle.problem.contains("is not in scope at PC"), "{outcome:?}");
        assert_eq!(obstacle.hint, None, "{outcome:?}");
    }
}

#[test]
fn pointers_texts_and_aggregates() {
    table(
        "demo",
        "
        + wave faulted
        + lane 0 x == 0x7f0000200000
        - lane 0 x == 0x7f0000200004   => == 0x7f0000200000
        + lane 0 x != nullptr
        - lane 0 x == nullptr          => == 0x7f0000200000
        + lane 0 (float *) 0 == nullptr
        + lane 0 x < y
        + lane 0 x + 500 == cursor
        + lane 24 cursor - x == 524
        + lane 0 &x[0] == x
        + lane 0 history == {0, 500, 0, 7}
        + lane 0 history == {0, 500, ...}
        + lane 1 history == {$lane, 500 + $lane, 10 * $lane, 7}
        - lane 0 history == {0, 500, 1, 7} => == {0, 500, 0, 7}
        - lane 0 history == {0, 500, 0}    => == {0, 500, 0, 7}
        - lane 0 history == {0, 500, 0, 7, 8}
        + lane 0 history != {0, 500, 1, 7}
        + lane 0 history == history
        - lane 0 history == sample.taps
        + lane 0 sample.range == {0, 500}
        + lane 0 sample.range == {.first = 0, .step = 500}
        + lane 0 sample.range == {.step = 500, ...}
        - lane 0 sample.range == {.first = 0, .step = 501} => == {.first = 0, .step = 500}
        ? lane 0 sample.range == {.first = 0}     => add `...`
        ? lane 0 sample.range == {0, .first = 0}  => a second value of the member `first`
        ? lane 0 sample.range == {.step = 500, 500} => a second value of the member 2
        ? lane 0 sample.range == {0, .first = 0, ...} => a second value of the member `first`
        + lane 0 sample.range == {0, .step = 500}
        ? lane 0 sample.range == {.frist = 0, ...} => did you mean `first`?
        + lane 0 sample == {{0, 500}, {0.25, 0.5, 0}, 0, 0, GREEN, demo::Pass::Later, 'A', false}
        - lane 0 sample == {{0, 500}, {0.25, 0.5, 0}, 0, 0, GREEN, First, 'A', false}
        ? lane 0 sample == {{0, 500}, {0.25, 0.5, 0}, 0, 0, First, Later, 'A', false} => not compared
        ? lane 0 sample == {.colour = First, ...} => not compared
        + lane 1 window == {{1.5, 1}, 27}
        ? lane 0 history == 3              => an array is not compared with a number
        ? lane 0 i == {1, 2}               => a number is not compared with a list
        ? lane 0 i == \"abc\"              => a number is not compared with a text
        + lane 0 history[3] in {6, 7}
        + lane 0 sample.range in {{1, 2}, {0, 500}}
        ",
    );
    table(
        "lds-gfx90a-O0",
        "
        + wave (0,0,0)/0
        + lane 1 pair == {1, 1}
        + lane 1 quad == {1.5, 1, 2, 0}
        + lane 1 quad.x == 1.5
        + lane 0 slot == local#0x4
        + lane 0 slot == 4
        - lane 0 slot == local#0x8     => == local#0x4
        - lane 0 slot == own           => == local#0x4
        + lane 0 slot != own
        + lane 0 tile <= slot
        - lane 0 own < tile
        + lane 0 own == mine
        + lane 1 own + 1 == mine
        + lane 0 own == keep
        + lane 0 mine == (generic int *) keep
        + lane 0 own != nullptr
        + lane 17 copy == {.weight = 0.75, .key = 0}
        + lane 17 keep == {8, 17}
        ",
    );
    table(
        "call-gfx90a-O0",
        "
        + wave (0,0,0)/0
        + lane 0 body.tag == \"bod\"
        - lane 0 body.tag == \"bo\"    => == \"bod\"
        - lane 0 body.tag == \"body\"  => == \"bod\"
        + lane 0 body.tag != \"body\"
        + lane 0 body.tag == {'b', 'o', 'd', 0}
        + lane 0 &body.tag[0] == \"bod\"
        - lane 0 &body.tag[1] == \"bod\"
        + lane 1 body.at == {4, 7, 2}
        + lane 1 body.at.y == 7
        ? lane 1 body.at.q == 7        => has no member `q`
        ",
    );
}

/// Lanes: inactive ones have the values that `print` shows.
#[test]
fn lanes_of_a_wave() {
    table(
        "demo",
        "
        + wave faulted
        + lane active i == 1000 + $lane
        - lane active i == 1001 + $lane => == 1000 + $lane
        + lane 0-24 i == 1000 + $lane
        + lane 3,5-7 i == 1000 + $lane
        + lane all lane_item == $lane
        + lane all n == 1024
        - lane active n == 1023         => == 1024
        - lane active letter == 'a'     => == 97 + $lane
        - lane active even == true      => none
        + lane 24 i is available
        + i == n
        + i == 1024
        - i == 1023                     => == 1024
        + lane 25-63 i is inactive
        - lane active i is inactive     => none
        ? lane 40 nosuch is inactive    => there is no `nosuch`
        ? lane 40 lettre is inactive    => did you mean `letter`?
        + lane 24 x[i] is unavailable
        - lane 24 x[i] is available     => is unavailable
        - lane 23 x[i] is unavailable   => is available
        + lane active $exec == 0x1ffffff
        + lane active -$lane <= 0
        - lane active 5 * $lane == 0    => == 5 * $lane
        ",
    );
    table(
        "diverge-gfx90a-O0",
        "
        + wave (0,0,0)/0
        + lane 3,5,17,21,63 n == 230
        + lane 3,5,17 value in {21, 35, 55}
        + lane 2 value is inactive
        - lane 3 value is inactive     => none
        + lane active n == 230
        ",
    );
    // Lanes of the other size, and lanes whose state is unknown.
    table(
        "saxpy-gfx1100-O0",
        "
        + wave faulted
        ? lane 40 i == 1                => no lane 40 in a 32-lane wave
        + lane 31 n == 1024
        ",
    );
    table(
        "absent-gfx90a",
        "
        + wave id 4
        ? lane active n == 1024         => EXEC
        ? lane 0 n is inactive
        + lane 0 n == 1024
        ",
    );
}

/// absent-gfx90a: wave 1 has no private memory, wave 2 a hole in it, wave 4 no EXEC, wave 5 no PC.
#[test]
fn missing_data_is_never_a_value() {
    table(
        "absent-gfx90a",
        "
        + wave id 1
        + lane 17 i is unavailable
        - lane 17 i is optimized out   => is unavailable
        - lane 17 i is available       => is unavailable
        ? lane 17 i == 0               => unavailable
        ? lane 17 i != 0
        ? lane active i == 1000 + $lane
        ? lane 17 3 == i
        + lane 17 history is unavailable
        ? lane 17 history == {0, 0, 0, 0}
        + wave id 2
        + lane 0 history[0] == 64
        - lane 0 history == {64, 564, 640, 8} => none
        ",
    );
}

#[test]
fn states_of_values() {
    table(
        "saxpy-gfx90a-O2",
        "
        + wave id 1
        + lane 17 n is optimized out
        - lane 17 n is unavailable     => is optimized out
        - lane 17 n is available       => is optimized out
        ? lane 17 n == 1024            => optimized out
        ? lane 17 n in 0..2000         => `is optimized out` expects that
        - lane 17 i is optimized out   => is available
        ? lane 17 i < n
        + lane 17 history is optimized out
        ? lane 17 i == nothing         => there is no `nothing`
        ? lane 17 nothing == 1         => there is no `nothing`
        ? lane 17 smal == 1            => did you mean `small`?
        ? lane 17 nothing is unavailable
        + lane 17 nothing is error
        + lane 17 nothing is error /there is no/
        - lane 17 nothing is error /divides/ => is error
        - lane 17 i is error           => is available
        + lane 17 1 / 0 is error /divides by 0/
        ? lane 17 1 / 0 == 1           => divides by 0
        ? frame 3 lane 17 i == 1       => frame 3
        ",
    );
}

/// IEEE 754: 0 / 0 is no number and equals nothing, 1 / 0 is an infinity. demo's `half` is lane / 2 and `taps` an array
/// of floats; `x[1024]` is not captured.
#[test]
fn numbers_without_a_value() {
    table(
        "demo",
        "
        + wave faulted
        + lane 5 0.0 / 0 is nan
        + lane 5 1.0 / 0 is inf
        + lane 5 -1.0 / 0 is inf
        - lane 5 0.0 / 0 is inf        => is nan
        - lane 5 1.0 / 0 is nan        => is inf
        - lane 5 -1.0 / 0 is nan       => is inf
        - lane 5 half is nan           => is available
        - lane 5 half is inf           => is available
        - lane 17 i is nan             => is available
        - lane 0 colour is nan         => is available
        - lane 0 history is inf        => is available
        - lane 0 sample.taps is nan
        ? lane 17 x[1024] is nan       => was not captured
        ? lane 17 x[1024] is inf       => `is unavailable` expects that
        ? lane 0 x is nan              => a pointer is no floating-point number
        - lane active 0.0 / 0 ~= 3     => is nan
        - lane active 0.0 / 0 in {1, 2}
        - lane active 0.0 / 0 in 0..1
        - lane active 0.0 / 0 < 1
        ",
    );
    table(
        "absent-gfx90a",
        "
        + wave id 2
        - lane 0 history is nan        => none
        ",
    );
}

/// A known part decides where another one is missing.
#[test]
fn partly_captured_aggregates() {
    table(
        "absent-gfx90a",
        "
        + wave id 2
        ? lane 0 history == {64, 564, 640, 7}
        - lane 0 history == {65, 564, 640, 7} => none
        + lane 0 history != {65, 564, 640, 7}
        ? lane 0 history != {64, 564, 640, 7}
        + lane 25 history[0] == 89
        - lane 0 history is unavailable => none
        - lane 0 history is available   => none
        + lane 0 history[1] is unavailable
        + lane 0 history == {64, ...}
        + lane 63 history == {127, 627, 1270, 7}
        ? lane 0,63 history == {lane_item, 500 + lane_item, 10 * lane_item, 7}
        ",
    );
}

#[test]
fn choices_of_waves() {
    table(
        "demo",
        "
        + wave faulted
        + lane 0 n == 1024
        + wave every
        + lane 0 n == 1024
        - lane 0 n == 1025             => == 1024
        - lane 0 first == 0            => none
        + wave some
        + lane 0 first == 128
        + lane 0 lane_item == 0
        + wave some
        - lane 0 first == 129
        + wave id 3
        + lane 0 first == 128
        - lane 0 first == 0            => == 128
        - wave id 99
        - lane 0 first == 128          => none
        + wave (1,0,0)/0
        + lane 0 first == 128
        + wave (1,0,0)
        + lane 0 first in {128, 192}
        - lane 0 first == 128          => none
        - wave (9,0,0)/1
        - lane 0 first == 128
        + wave kernel saxpy
        + lane 0 n == 1024
        - wave kernel saxpi
        - lane 0 n == 1024
        + wave at saxpy saxpy.hip:57
        + lane 0 first == 128
        - wave at saxpy.hip:900
        - lane 0 n == 1
        ",
    );
    table(
        "chain-gfx90a-O0",
        "
        - wave faulted
        - lane 0 $lane == 0            => none
        ",
    );
}

/// What a person sees of a difference.
#[test]
fn a_difference_names_waves_lanes_and_names() {
    let text = "wave every\n  lane active x[i] == 14.25 # one\n  lane 0-1 n == i\n";
    let found = outcomes(&path("demo"), text);
    let Verdict::Holds = found[0].verdict else { panic!("{:?}", found[0]) };
    let of = difference(&found, 3);
    assert_eq!((of.expected.as_str(), of.got.as_deref()), ("== i", Some("== 1024")));
    // Waves 5 and 7 are outside of the loop of `i`.
    assert_eq!(of.waves, [1, 2, 3, 4, 6, 8]);
    let lanes: Vec<_> = of.lanes.iter().map(|lane| (&*lane.lanes, &*lane.expected, &*lane.got)).collect();
    assert_eq!(lanes, [("0", "1000", "1024"), ("1", "1001", "1024")]);
    assert!(of.found.contains("6 of 8 waves differ"), "{}", of.found);
    let names = |line| difference(&found, line).names.iter().map(|name| (&*name.name, &*name.value));
    assert_eq!(names(2).collect::<Vec<_>>(), [("x", "0x7f0000200000"), ("i", "1000")]);
    // The left side alone is the result.
    assert_eq!(names(3).collect::<Vec<_>>(), [("i", "1000")]);
    // The columns are those of the right side.
    assert_eq!(found[2].columns, (13, 17));
}

/// tests/fixtures/models/saxpy.py: wave 1 of 8 faulted at saxpy.hip:54, where lane 24 loads x[i].
#[test]
fn the_wrong_one_of_several_parts_is_marked() {
    for (line, marked) in [
        ("waves 8, faulted 2, stacks >= 1  # c", "faulted 2"),
        ("waves 9,faulted 1", "waves 9"),
        ("waves 9, faulted 2", "waves 9, faulted 2"),
        ("at saxpy saxpy.hip:55", "saxpy.hip:55"),
        ("at  nowhere  saxpy.hip:54", "nowhere"),
        ("at nowhere saxpy.hip:55", "at nowhere saxpy.hip:55"),
        ("at saxpy \"saxpy.hip\":55", "\"saxpy.hip\":55"),
        ("fault nothing # memory", "nothing"),
        ("wave faulted\n  stop  watchpiont # c", "watchpiont"),
        ("fault memory violation, nothing", "nothing"),
        ("fault  nothing, memory violation", "nothing"),
        ("access lane 25 load x[i] past end", "lane 25"),
        ("access lane 24 store x[i] past end", "store"),
        ("access lane 24 load y[i] past end", "y[i]"),
        ("access lane 24 load x[i] freed", "freed"),
        ("access lane 25 store x[i] freed", "access lane 25 store x[i] freed"),
        ("wave faulted\n  lane 17 nothing == 1", "nothing"),
        ("wave faulted\n  lane 17 i + nix == 1", "nix"),
        ("wave faulted\n  lane 17 i == nn", "nn"),
        ("wave faulted\n  lane 17 i == n + nix  # nix", "nix"),
        ("wave faulted\n  lane 17 i in 0..nn", "nn"),
        // The problem is no name.
        ("wave faulted\n  lane 17 1 / 0 == n", "1 / 0"),
    ] {
        let found = outcomes(&path("demo"), &format!("{line}\n"));
        let last = found.last().unwrap();
        let (start, end) = last.columns;
        assert_eq!(&line.lines().last().unwrap()[start..end], marked, "{line}: {:?}", last.verdict);
        assert_ne!(last.verdict, Verdict::Holds, "{line}");
    }
}

/// An evaluation ends at the first missing value; the names behind it count all the same.
#[test]
fn wrong_names_behind_missing_values_are_errors() {
    for name in ["a + nosuch", "x->nosuch", "sample.typo", "history.nosuch", "-(a * nosuch)", "x[nosuch]"] {
        let text = format!("wave faulted\n  lane 17 {name} is optimized out\n");
        let found = outcomes(&path("saxpy-gfx90a-O2"), &text);
        assert!(matches!(found.last().unwrap().verdict, Verdict::NotChecked(_)), "{name}: {found:?}");
    }
    for name in ["a + n", "a", "sample.low", "history[1]", "cursor[n]"] {
        let text = format!("wave faulted\n  lane 17 {name} is optimized out\n");
        let found = outcomes(&path("saxpy-gfx90a-O2"), &text);
        assert_eq!(found.last().unwrap().verdict, Verdict::Holds, "{name}: {found:?}");
    }
}

#[test]
fn suggestions_for_waves_kernels_and_files() {
    let found = outcomes(&path("demo"), "at saxpi\nwave kernel saxpi\nwave at saxpy saxpi.hip:54\n");
    for line in 1..=3 {
        let of = difference(&found, line);
        assert!(of.found.contains("did you mean `saxpy"), "{line}: {}", of.found);
    }
}
