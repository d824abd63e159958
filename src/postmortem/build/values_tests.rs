use super::{Lane, classify, has_word};
use crate::postmortem::ValueMark::{self, Constant, Inactive, Linear, NotCaptured, Outlier, Varied};
use crate::units::LaneId;

/// Marks and rules of lanes: `=5` is an active value, `~5` an inactive one, `x` a missing one.
fn classified(lanes: &[&str]) -> (Vec<ValueMark>, Vec<String>) {
    let lane = |(number, text): (u8, &&'static str)| {
        let mark = match text.chars().next() {
            Some('=') => Varied,
            Some('~') => Inactive,
            _ => NotCaptured,
        };
        let words = if mark == NotCaptured { "gone" } else { &text[1..] };
        Lane { lane: LaneId(number), mark, shade: 0, text: Some(words), has_value: mark != NotCaptured }
    };
    let leaked: Vec<&'static str> = lanes.iter().map(|text| &*text.to_string().leak()).collect();
    let mut of: Vec<Lane<'static>> = (0u8..).zip(&leaked).map(lane).collect();
    let rules = classify(&mut of);
    let rules =
        rules.iter().map(|rule| format!("{}: {}", rule.lanes, rule.text.as_deref().unwrap())).collect();
    (of.iter().map(|lane| lane.mark).collect(), rules)
}

#[test]
fn lanes_have_the_rule_of_most_active_lanes() {
    let (marks, rules) = classified(&["=7", "=7", "=7", "=9"]);
    assert_eq!(marks, [Constant, Constant, Constant, Outlier]);
    assert_eq!(rules, ["0-2: 7", "3: 9"]);
    let (marks, rules) = classified(&["=10", "=12", "=14", "=16", "~0", "~0", "x"]);
    assert_eq!(marks, [Linear, Linear, Linear, Linear, Inactive, Inactive, NotCaptured]);
    assert_eq!(rules, ["0-3: 10..16 (+2)", "4-5: 0", "6: gone"]);
}

/// Two rules of half of the lanes each: neither is the rule, and no lane is an outlier.
#[test]
fn lanes_without_a_common_rule_are_no_outliers() {
    let (marks, rules) = classified(&["=a", "=b", "=a", "=b"]);
    assert_eq!(marks, [Varied; 4]);
    assert_eq!(rules.len(), 2);
}

/// Values of inactive lanes are foreign data and make no lane an outlier.
#[test]
fn inactive_lanes_do_not_take_part() {
    let (marks, _) = classified(&["=1", "~8", "~9", "~8"]);
    assert_eq!(marks, [Constant, Inactive, Inactive, Inactive]);
}

#[test]
fn no_lane_has_a_value() {
    let (marks, rules) = classified(&["x", "x"]);
    assert_eq!(marks, [NotCaptured; 2]);
    assert_eq!(rules, ["0-1: gone"]);
}

/// Values without a rule: the distinct ones in the order of the lanes, and their number.
#[test]
fn values_without_a_rule_are_listed() {
    // Binary digits of pi.
    let digits = "1100100100001111110110101010001000100001".chars();
    let mixed: Vec<&str> = digits.map(|digit| if digit == '1' { "=9" } else { "=71" }).collect();
    assert_eq!(classified(&mixed).1, ["0-39: 9, 71 (2 values)"]);
    let primes = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37].map(|prime| format!("={}", prime * prime));
    let primes: Vec<&str> = primes.iter().map(String::as_str).collect();
    assert_eq!(classified(&primes).1, ["0-11: 4, 9, 25, 49 ... (12 values)"]);
    let long = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37]
        .map(|prime| format!("={{first = {prime}, second = {prime}}}"));
    let long: Vec<&str> = long.iter().map(String::as_str).collect();
    assert_eq!(classified(&long).1.len(), 1);
    let long = classified(&long).1.remove(0);
    assert_eq!(long, "0-11: {first = 2, second = 2} ... (12 values)");
}

#[test]
fn a_line_names_whole_words() {
    assert!(has_word("float xi = x[i];", "xi") && has_word("float xi = x[i];", "i"));
    assert!(
        !has_word("float xi = x[i];", "loa") && !has_word("float xi = x[i];", "fl") && !has_word("x", "")
    );
}
