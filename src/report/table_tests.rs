use super::{Style, Table, folded};
use crate::work::{Count, done};

fn of(rows: &[[&str; 3]]) -> String {
    let mut table = Table::new(["A", "Bb", "Where"]);
    rows.iter().for_each(|row| table.row(row.map(str::to_owned).to_vec()));
    table.render(Style::Plain)
}

#[test]
fn narrow_tables_have_a_line_for_each_row() {
    let rows = [["1", "x", "here"], ["20", "yy", "there"]];
    assert_eq!(of(&rows), "A   Bb  Where\n1   x   here\n20  yy  there\n");
}

#[test]
fn a_last_column_that_repeats_stands_above_its_rows() {
    let (long, other) = ("at ".repeat(24), "x".repeat(70));
    let (long, other) = (long.trim_end(), &*other);
    let rows = [["1", "x", long], ["2000", "yy", long], ["3", "z", other], ["4", "z", other]];
    assert_eq!(
        of(&rows),
        format!("Where: {long}\nA     Bb\n1     x\n2000  yy\nWhere: {other}\n3     z\n4     z\n")
    );
}

#[test]
fn cells_that_do_not_fit_follow_with_an_indent() {
    let (wide, last) = ("w".repeat(70), "l".repeat(30));
    let text = of(&[["1", &wide, &last], ["2", "b", "c"]]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[1], format!("1  {wide}"));
    assert_eq!(lines[2], format!("    {last}"));
    assert!(lines[3].starts_with("2  b ") && lines[3].ends_with('c') && lines[3].len() <= 80, "{text}");
}

/// A location in brackets after a gap stays whole if it fits into a line.
#[test]
fn locations_are_not_broken() {
    let line = "int i = 5  (lane 3: inactive)  [v0[3] (clang xderef)]";
    assert_eq!(folded(line, Some(40)), "int i = 5  (lane 3: inactive)\n    [v0[3] (clang xderef)]");
    let long = folded(&format!("i = 5  [{}]", "word ".repeat(10).trim_end()), Some(30));
    assert!(long.lines().all(|line| line.len() <= 30) && long.lines().count() == 3, "{long}");
    // Styles take no column.
    let styled = format!("int i = 5  (lane 3: inactive){}", Style::Coloured.dim("  [v0[3] (clang xderef)]"));
    let folded_styled = folded(&styled, Some(40));
    assert_eq!(anstream::adapter::strip_str(&folded_styled).to_string(), folded(line, Some(40)));
    assert_eq!(folded(&styled, Some(line.len())), styled);
    // In a value brackets are words of their own.
    assert_eq!(folded("a = [1 2]", Some(6)), "a = [1\n    2]");
}

/// The work is proportional to the length.
#[test]
fn blanks_without_words_are_read_once() {
    let blanks = " ".repeat(1 << 20);
    assert_eq!(folded(&blanks, Some(80)), "");
    let gaps = folded(&"  [".repeat(1 << 18), Some(80));
    assert!(gaps.lines().all(|line| line.len() <= 80));
    assert!(done(Count::Bytes) < 10 << 20, "{}", done(Count::Bytes));
}

/// Keeps every word, and breaks none.
#[test]
fn text_is_folded_between_words() {
    let words: Vec<String> = (0..40).map(|number| "a".repeat(number % 13 + 1)).collect();
    let text = words.join(" ");
    let shown = folded(&text, Some(30));
    assert!(shown.lines().all(|line| line.chars().count() <= 30), "{shown}");
    assert!(shown.lines().skip(1).all(|line| line.starts_with("    a")), "{shown}");
    assert_eq!(shown.split_whitespace().collect::<Vec<_>>().join(" "), text);
    assert_eq!(folded(&text, None), text);
    let long = "x".repeat(100);
    assert_eq!(folded(&long, Some(30)), long);
}
