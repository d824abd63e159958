use super::{Style, Table};

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

/// Parts of a cell stay in its column, and only as many lines are made as the width requires.
#[test]
fn parts_follow_each_other_in_their_column() {
    let table = |columns: usize| {
        let mut table = Table::new(["Lanes", "Items", "PC"]).within(columns);
        table
            .row(["0-7,\n9, 11, ..., 31,\n40", "(0,0,0) ..\n(31,0,0)", "0x7f00"].map(str::to_owned).to_vec());
        table.row(["8", "(8,0,0)", "0x8000"].map(str::to_owned).to_vec());
        table.render(Style::Plain)
    };
    let whole = "Lanes                    Items                PC\n\
                 0-7, 9, 11, ..., 31, 40  (0,0,0) .. (31,0,0)  0x7f00\n\
                 8                        (8,0,0)              0x8000\n";
    assert_eq!(table(60), whole);
    let narrow = "Lanes            Items       PC\n\
                  0-7,             (0,0,0) ..  0x7f00\n\
                  9, 11, ..., 31,  (31,0,0)\n\
                  40\n\
                  8                (8,0,0)     0x8000\n";
    assert_eq!(table(36), narrow);
    // Columns that do not fit follow below the whole row.
    let lines = table(30);
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(lines[..2], ["Lanes            Items", "    PC"]);
    assert_eq!(lines[2..6], ["0-7,             (0,0,0) ..", "9, 11, ..., 31,  (31,0,0)", "40", "    0x7f00"]);
}
