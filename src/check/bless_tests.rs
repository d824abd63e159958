use super::super::outcome::{Difference, Obstacle, Outcome, Verdict};
use super::super::{format, parse};
use super::{Blessing, bless};

fn differs(line: usize, got: Option<&str>) -> Outcome {
    let difference =
        Difference { got: got.map(str::to_owned), found: "another".to_owned(), ..Difference::default() };
    Outcome { line, columns: (0, 0), verdict: Verdict::Differs(Box::new(difference)), selected_by: None }
}

fn blessed(text: &str, outcomes: &[Outcome]) -> Blessing {
    bless(text, &parse(text).unwrap(), &[outcomes])
}

/// The reasons of the lines that stay.
fn reasons(found: &Blessing) -> Vec<(usize, &str)> {
    found.unblessed.iter().map(|line| (line.line, line.reason.as_str())).collect()
}

#[test]
fn right_sides_are_replaced_and_all_else_stays() {
    let text = "\
# issue 812
fault none   # a comment
 at   saxpy saxpy.hip:54\t# another

waves 8,  faulted 1
hang deadlock
wave faulted
 exec 0x1
   lane 17 i==1017 # spaces
 lane 3   x[i] is available
 state running
";
    let outcomes = [
        differs(2, Some("memory violation")),
        differs(3, Some("saxpy saxpy.hip:57")),
        differs(5, Some("8, faulted 2")),
        differs(6, Some("")),
        differs(8, Some("0x1ffffff")),
        differs(9, Some("== 1000 + $lane")),
        differs(10, Some("is unavailable")),
        differs(11, Some("at barrier")),
    ];
    let expected = "\
# issue 812
fault memory violation  # a comment
 at   saxpy saxpy.hip:57  # another

waves 8, faulted 2
hang
wave faulted
 exec 0x1ffffff
   lane 17 i== 1000 + $lane  # spaces
 lane 3   x[i] is unavailable
 state at barrier
";
    let found = blessed(text, &outcomes);
    assert_eq!(found.text, expected);
    assert_eq!(found.changed.iter().map(|line| line.line).collect::<Vec<_>>(), [2, 3, 5, 6, 8, 9, 10, 11]);
    assert_eq!(found.unblessed, []);
    // A line that holds stays: the second time changes nothing.
    let again = blessed(&found.text, &[]);
    assert_eq!((again.text, again.changed), (found.text, Vec::new()));
}

#[test]
fn canonical_files_stay_canonical() {
    let text = "\
fault  none        # a
at     f  a.hip:3  # b
wave faulted
  lane 17      i == 1
  lane active  j == 2  # c
";
    assert_eq!(format(&parse(text).unwrap()), text);
    let outcomes = [
        differs(1, Some("memory violation")),
        differs(2, Some("g b.hip:4")),
        differs(5, Some("== 1000 + $lane")),
    ];
    let expected = "\
fault  memory violation  # a
at     g  b.hip:4        # b
wave faulted
  lane 17      i == 1
  lane active  j == 1000 + $lane  # c
";
    assert_eq!(blessed(text, &outcomes).text, expected);
}

#[test]
fn line_ends_and_the_end_of_the_file_stay() {
    assert_eq!(
        blessed("hang\r\nfault none", &[differs(1, Some("none")), differs(2, Some("trap"))]).text,
        "hang none\r\nfault trap"
    );
    assert_eq!(blessed("", &[]).text, "");
    assert_eq!(blessed("\r\n\n", &[]).text, "\r\n\n");
}

#[test]
fn lines_without_a_right_side_are_listed() {
    let text = "fault none\nwave faulted\n  i == 1 # c\n  j == 2\n";
    let unchecked = Verdict::NotChecked(Obstacle { problem: "i was not captured".to_owned(), hint: None });
    let outcomes = [
        differs(1, Some("a; b")),
        differs(2, None),
        Outcome { line: 3, columns: (0, 0), verdict: unchecked, selected_by: None },
        differs(4, Some("== 3 # d")),
    ];
    let found = blessed(text, &outcomes);
    assert_eq!((found.text.as_str(), found.changed.as_slice()), (text, [].as_slice()));
    let expected = [
        (1, "the line cannot express the value `a; b`"),
        (2, "no right side expresses it: another"),
        (3, "i was not captured"),
        (4, "the line cannot express the value `== 3 # d`"),
    ];
    assert_eq!(reasons(&found), expected);
}

#[test]
fn several_dumps_need_one_value() {
    let text = "dump *.zip\nfault none\nat f\n";
    let file = parse(text).unwrap();
    let holds = |line| Outcome { line, columns: (0, 0), verdict: Verdict::Holds, selected_by: None };
    let [first, second] =
        [[differs(2, Some("trap")), differs(3, Some("g"))], [differs(2, Some("trap")), holds(3)]];
    let found = bless(text, &file, &[&first, &second]);
    assert_eq!(found.text, "dump *.zip\nfault trap\nat f\n");
    assert_eq!(reasons(&found), [(3, "the dumps have different values")]);
}
