//! Rules over lanes: properties for any numbers, and the texts of common cases.

use super::{MAX_NUMBERS, Rule, are_readable, rules, texts};
use crate::units::{LaneId, LaneSet};

fn lane(number: usize) -> LaneId {
    LaneId(u8::try_from(number).unwrap())
}

/// Numbers of lanes 0, 1, 2, ...
fn by_lane(numbers: &[i128]) -> Vec<(LaneId, i128)> {
    numbers.iter().enumerate().map(|(at, number)| (lane(at), *number)).collect()
}

/// `0-24: 1000..1024 (+1)` for each rule.
fn lines(numbers: &[i128]) -> Vec<String> {
    let line =
        |rule: &Rule| format!("{}: {}", super::ranges(rule.lanes), rule.text(|number| number.to_string()));
    rules(by_lane(numbers)).iter().map(line).collect()
}

fn text_lines(of: &[&str]) -> Vec<String> {
    let of = of.iter().enumerate().map(|(at, text)| (lane(at), *text));
    texts(of).iter().map(|part| format!("{}: {}", super::ranges(part.lanes), part.text)).collect()
}

#[test]
fn a_constant_and_a_line_are_one_rule_each() {
    assert_eq!(lines(&[7; 64]), ["0-63: 7"]);
    let line: Vec<i128> = (1000..1064).collect();
    assert_eq!(lines(&line), ["0-63: 1000..1063 (+1)"]);
    assert_eq!(lines(&[8, 4, 0, -4]), ["0-3: 8..-4 (-4)"]);
    assert_eq!(lines(&[3]), ["0: 3"]);
    assert_eq!(lines(&[]), Vec::<String>::new());
}

#[test]
fn two_different_values_are_no_line() {
    assert_eq!(lines(&[5, 6]), ["0: 5", "1: 6"]);
}

#[test]
fn an_outlier_does_not_split_a_rule() {
    let mut numbers: Vec<i128> = (0..64).collect();
    numbers[24] = -1;
    assert_eq!(lines(&numbers), ["0-23, 25-63: 0..63 (+1)", "24: -1"]);
    // Also if single lanes of the rule stand between outliers.
    numbers[26] = -1;
    assert_eq!(lines(&numbers), ["0-23, 25, 27-63: 0..63 (+1)", "24, 26: -1"]);
}

#[test]
fn a_value_of_a_constant_stays_in_its_run() {
    // Lane 5 fits both rules.
    let numbers: Vec<i128> = (0..32).map(|at| if at < 16 { at } else { 5 }).collect();
    assert_eq!(lines(&numbers), ["0-15: 0..15 (+1)", "16-31: 5"]);
}

#[test]
fn lanes_between_the_given_ones_count_as_steps() {
    let found = rules([(LaneId(0), 0), (LaneId(2), 8), (LaneId(3), 12), (LaneId(63), 252)]);
    assert_eq!(found, [Rule { lanes: LaneSet(1 << 63 | 0b1101), base: 0, step: 4 }]);
    assert_eq!(found[0].text(|number| format!("{number:#x}")), "0x0..0xfc (+4)");
}

#[test]
fn lanes_at_equal_distances_are_a_series() {
    let text = |lanes: &[u8]| super::ranges(lanes.iter().map(|lane| LaneId(*lane)).collect());
    assert_eq!(text(&[]), "");
    assert_eq!(text(&[63]), "63");
    assert_eq!(text(&[0, 2, 4, 6]), "0, 2, 4, 6");
    assert_eq!(text(&[0, 2, 4, 6, 8]), "0, 2, ..., 8");
    assert_eq!(text(&[0, 1, 2, 4, 8, 12, 16, 20, 21]), "0-2, 4, 8, ..., 20, 21");
    assert_eq!(super::ranges(LaneSet(0xaaaa_aaaa_aaaa_aaaa)), "1, 3, ..., 63");
    assert_eq!(super::ranges(LaneSet(u64::MAX)), "0-63");
}

#[test]
fn rules_as_terms() {
    let term = |base, step| Rule { lanes: LaneSet(1), base, step }.term();
    assert_eq!(term(5, 0), "5");
    assert_eq!(term(0, 1), "lane");
    assert_eq!(term(1000, 1), "1000 + lane");
    assert_eq!(term(-8, 4), "4 * lane - 8");
    assert_eq!(term(0, -1), "-lane");
    assert_eq!(term(63, -1), "63 - lane");
    assert_eq!(term(-3, -2), "-3 - 2 * lane");
    assert_eq!(term(i128::MIN, 1), "lane - 170141183460469231731687303715884105728");
}

/// Any numbers: each lane is in exactly one rule, which gives its number.
#[test]
fn rules_give_back_the_numbers() {
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let extremes = [i128::MIN, i128::MAX, 0, -1, i128::MAX - 1, i128::MIN + 1];
    for round in 0..3000u64 {
        let spread = [2, 4, 1 << 20][usize::try_from(round % 3).unwrap()];
        let mut numbers = Vec::new();
        for at in 0..64u8 {
            if random(4) == 0 {
                continue;
            }
            let extreme = extremes[usize::try_from(random(6)).unwrap()];
            let number = match random(spread.min(9)) {
                0 => extreme,
                1 => i128::from(at) * 4,
                other => i128::from(random(spread)) + i128::from(other),
            };
            numbers.push((LaneId(at), number));
        }
        let found = rules(numbers.clone());
        for (lane, number) in &numbers {
            let mut of_lane = found.iter().filter(|rule| rule.lanes.contains(*lane));
            assert_eq!(of_lane.next().map(|rule| rule.value(*lane)), Some(*number));
            assert!(of_lane.next().is_none(), "{lane} is in two rules: {found:?}");
        }
        let all: u32 = found.iter().map(|rule| rule.lanes.count()).sum();
        assert_eq!(all as usize, numbers.len());
    }
}

#[test]
fn numbers_within_texts_have_rules() {
    assert_eq!(
        text_lines(&["{x = 0, y = 7}", "{x = 2, y = 7}", "{x = 4, y = 7}"]),
        ["0-2: {x = 0..4 (+2), y = 7}"]
    );
    assert_eq!(text_lines(&["0x1000", "0x1004", "0x1008"]), ["0-2: 0x1000..0x1008 (+4)"]);
    // The width of `0x00ff` belongs to its notation.
    assert_eq!(text_lines(&["0x00fe", "0x00ff", "0x0100"]), ["0-2: 0x00fe..0x0100 (+1)"]);
    assert_eq!(text_lines(&["a-1", "a-2", "a-3"]), ["0-2: a-1..3 (+1)"]);
    assert_eq!(text_lines(&["-1", "0", "1"]), ["0-2: -1..1 (+1)"]);
    assert_eq!(text_lines(&["{1, 5}", "{2, 5}", "{3, 6}"]), ["0: {1, 5}", "1: {2, 5}", "2: {3, 6}"]);
}

/// The texts of floats as gdb prints them. A tenth has no exact float: its multiples are printed as 0.200000003 and
/// 0.300000012, at unequal distances.
#[test]
fn fractions_have_exact_rules() {
    assert_eq!(text_lines(&["0", "0.5", "1", "1.5"]), ["0-3: 0..1.5 (+0.5)"]);
    assert_eq!(text_lines(&["-0.25", "-0.5", "-0.75", "-1"]), ["0-3: -0.25..-1 (-0.25)"]);
    assert_eq!(
        text_lines(&["{x = 1.5, n = 7}", "{x = 2.5, n = 8}", "{x = 3.5, n = 9}"]),
        ["0-2: {x = 1.5..3.5 (+1), n = 7..9 (+1)}"]
    );
    let tenths = ["0", "0.100000001", "0.200000003", "0.300000012"];
    assert_eq!(text_lines(&tenths).len(), 4);
    // One unit in the last place is a difference.
    assert_eq!(text_lines(&["0", "0.5", "1", "1.50000012", "2"]), ["0-2, 4: 0..2 (+0.5)", "3: 1.50000012"]);
    // A zero with a sign is another value.
    assert_eq!(text_lines(&["-0", "0.5", "1", "1.5"]), ["0: -0", "1-3: 0.5..1.5 (+0.5)"]);
    let of = |lanes: &[(u8, &'static str)]| -> Vec<String> {
        let texts = texts(lanes.iter().map(|(lane, text)| (LaneId(*lane), *text)));
        texts.iter().map(|part| format!("{}: {}", super::ranges(part.lanes), part.text)).collect()
    };
    // Lanes at a distance have a part of its step; whole numbers a whole one.
    assert_eq!(of(&[(0, "0"), (2, "0.5"), (4, "1")]), ["0, 2, 4: 0..1 (+0.25)"]);
    assert_eq!(of(&[(0, "0"), (32, "0.5"), (63, "0.984375")]), ["0, 32, 63: 0..0.984375 (+0.015625)"]);
    assert_eq!(of(&[(0, "{0, 0.5}"), (2, "{1, 0.5}"), (4, "{2, 0.5}")]).len(), 3);
    assert_eq!(of(&[(0, "0.5"), (3, "1"), (6, "1.5")]).len(), 3);
}

/// A number that is too long for a step leaves the others of its text their rules.
#[test]
fn long_fractions_are_equal_or_different() {
    let long = "0.1234567890123456789012345678901234567";
    let with = |number: usize| format!("{{{number}, {long}}}");
    assert_eq!(text_lines(&[&with(3), &with(4), &with(5)]), [format!("0-2: {{3..5 (+1), {long}}}")]);
    let large = "99999999999999999999999999999999999999";
    let with = |number: usize| format!("{{{number}.5, {large}}}");
    assert_eq!(text_lines(&[&with(3), &with(4), &with(5)]), [format!("0-2: {{3.5..5.5 (+1), {large}}}")]);
    assert_eq!(
        text_lines(&["0.5", large, "1.5"]),
        ["0: 0.5".to_owned(), format!("1: {large}"), "2: 1.5".to_owned()]
    );
}

/// Unusual notations, names, quoted and octal numbers are equal or different.
#[test]
fn other_texts_have_no_rules() {
    for of in [
        ["1.0", "2.0", "3.0"],
        ["1e-01", "1e-02", "1e-03"],
        ["v0", "v1", "v2"],
        ["'1'", "'2'", "'3'"],
        ["\"1\\\"1\"", "\"1\\\"2\"", "\"1\\\"3\""],
        ["01", "02", "03"],
        ["0xA", "0xB", "0xC"],
        ["1_0", "1_1", "1_2"],
    ] {
        let found = text_lines(&of);
        assert_eq!(
            found,
            of.iter().enumerate().map(|(at, text)| format!("{at}: {text}")).collect::<Vec<_>>()
        );
        assert_eq!(text_lines(&[of[0]; 5]), [format!("0-4: {}", of[0])]);
    }
}

#[test]
fn long_and_odd_texts_are_taken_as_they_are() {
    let long = |first: usize| {
        let numbers: Vec<String> =
            (first..first + MAX_NUMBERS + 1).map(|number| number.to_string()).collect();
        format!("{{{}}}", numbers.join(", "))
    };
    let found = text_lines(&[&long(0), &long(1), &long(2), &long(2)]);
    assert_eq!(found.len(), 3);
    for odd in [
        "",
        "\"",
        "'\\",
        "-",
        "--",
        "0x",
        "1e",
        "é1é",
        "9".repeat(60).as_str(),
        "0xffffffffffffffffffffffffffffffff",
    ] {
        assert_eq!(text_lines(&[odd; 4]), [format!("0-3: {odd}")]);
    }
}

#[test]
fn many_rules_are_less_readable_than_the_values() {
    let lanes = |numbers: Vec<i128>| rules(by_lane(&numbers)).into_iter().map(|rule| rule.lanes);
    assert!(are_readable(lanes((0..64).map(|at| at / 8).collect())));
    assert!(!are_readable(lanes((0..64).map(|at| at / 4).collect())));
    assert!(are_readable(lanes((0..64).map(|at| at % 2).collect())));
    assert!(!are_readable(lanes((0..64).map(|at| at / 2 % 2).collect())));
    assert!(!are_readable(lanes((0..64).map(|at| at * at).collect())));
}
