use proptest::prelude::*;

use super::super::parse;
use super::{Snippet, syntax_errors};

fn shown(text: &str) -> String {
    let errors = parse(text).unwrap_err();
    let texts: Vec<String> = syntax_errors(&errors, "saxpy.scope", text.as_bytes(), false).collect();
    texts.join("\n\n") + "\n"
}

#[test]
fn errors_are_printed_as_rustc_prints_them() {
    let text = "fault none\n\nwave fautled\n\tlane 17 größe = 3\n  lane 17 i\n";
    let expected = "\
error: unknown choice of waves `fautled`
 --> saxpy.scope:3:6
  |
3 | wave fautled
  |      ^^^^^^^
  |
  = hint: did you mean `faulted`?

error: unknown operator `=`
 --> saxpy.scope:4:16
  |
4 |     lane 17 größe = 3
  |                   ^
  |
  = hint: did you mean `==`?

error: expected an operator after the path
 --> saxpy.scope:5:12
  |
5 |   lane 17 i
  |            ^
  |
  = hint: write PATH OPERATOR VALUE with one of == != < <= > >= ~= in is
";
    assert_eq!(shown(text), expected);
}

#[test]
fn controls_are_not_printed() {
    let text = shown("fault \u{1b}[31m\u{202e}none # \u{7}");
    assert!(!text.contains(['\u{1b}', '\u{202e}', '\u{7}']), "{text:?}");
    let styled = Snippet {
        file: "a\u{1b}.scope",
        line: Some(1),
        text: "x",
        columns: (0, 1),
        title: "\u{1b}",
        label: "\u{202e}",
        notes: vec![("got", "a\nb\u{1b}".to_owned())],
    };
    let text = styled.render(false);
    assert!(!text.contains(['\u{1b}', '\u{202e}']) && text.contains("= got: a\\nb\\u{1b}"), "{text}");
    assert!(styled.render(true).contains("\u{1b}[1m"));
}

#[test]
fn a_message_about_a_file_has_its_name_and_notes() {
    let of_file = Snippet {
        file: "saxpy.scope",
        line: None,
        text: "",
        columns: (0, 0),
        title: "no `dump` line",
        label: "",
        notes: vec![("hint", "add the dump".to_owned())],
    };
    // Without a line there is no column of numbers.
    let text = of_file.render(false);
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    assert_eq!(lines, ["error: no `dump` line", "--> saxpy.scope", "= hint: add the dump"]);
}

proptest! {
    #[test]
    fn no_line_and_no_column_panics(text in "\\PC{0,40}", first in 0usize..90, length in 0usize..90, wide in any::<bool>()) {
        let text = if wide { text.repeat(40) } else { text };
        let columns = (first, first + length);
        let shown = Snippet { file: "f", line: Some(1), text: &text, columns, title: "t", label: "l", notes: Vec::new() };
        prop_assert!(shown.render(false).starts_with("error: t\n"));
    }

    #[test]
    fn errors_of_any_bytes_are_printed(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Err(errors) = parse(&bytes) {
            prop_assert_eq!(syntax_errors(&errors, "f", &bytes, true).count(), errors.len());
        }
    }
}
