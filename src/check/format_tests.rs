use proptest::prelude::*;

use super::super::file::{Content, ScopeFile, ValueLine};
use super::super::parse;
use super::format;

/// The contents without columns.
fn contents(file: &ScopeFile) -> Vec<(Content, Option<String>)> {
    let comment = |text: &str| text.trim_end().to_owned();
    let each = file.lines.iter().map(|line| {
        let content = match line.content.clone() {
            Content::Value(value) => Content::Value(ValueLine { path_span: 0..0, right_span: 0..0, ..value }),
            other => other,
        };
        (content, line.comment.and_then(|at| line.text.get(at..)).map(comment))
    });
    each.collect()
}

/// The formatted text, which parses to the same contents and formats to itself.
fn formatted(text: &str) -> String {
    let file = parse(text).unwrap_or_else(|errors| panic!("{text}: {errors:?}"));
    let once = format(&file);
    let again = parse(&once).unwrap_or_else(|errors| panic!("{text}\nas {once}: {errors:?}"));
    assert_eq!(contents(&again), contents(&file), "{text}\nas {once}");
    assert_eq!(format(&again), once, "{text}");
    once
}

#[test]
fn columns_are_aligned_in_each_block() {
    let text = "\
# saxpy-oob.scope: x[] is read one element past its end
dump saxpy-oob.zip \"two words.zip\"     # relative to this file
symbols build/ # any option
fault   memory violation
at saxpy    saxpy.hip:54
stack  leaf<..., launch
access lane 24 x[i] not captured #wanted

waves 8,faulted   1, stacks>=8
wave faulted# no comment
# begins the block
exec 0x1FFFFFF
lane 17 i==1017
   lane active i == 1000   + $lane # linear
lane 0  h=={0,500,.y=\"a  b\"  ,...}
 frame 1 lane 24 x is   optimized-out
# outside
wave id 3
  # inside
  lane 3 p ~= 27.50 +-1e-3
";
    let text =
        text.replace("leaf<..., launch", "leaf < ... < launch").replace("faulted# no comment", "faulted");
    let expected = "\
# saxpy-oob.scope: x[] is read one element past its end
dump     saxpy-oob.zip \"two words.zip\"  # relative to this file
symbols  build/                         # any option
fault    memory violation
at       saxpy  saxpy.hip:54
stack    leaf < ... < launch
access   lane 24  x[i]  not captured    #wanted

waves    8, faulted 1, stacks >= 8
wave faulted
  # begins the block
  exec         0x1ffffff
  lane 17      i == 1017
  lane active  i == 1000 + $lane  # linear
  lane 0       h == {0, 500, .y = \"a  b\", ...}
  frame 1      lane 24  x is optimized out
# outside
wave id 3
  # inside
  lane 3  p ~= 27.50 +- 0.001
";
    assert_eq!(formatted(&text), expected);
}

#[test]
fn line_ends_and_the_end_of_the_file() {
    assert_eq!(formatted(""), "");
    assert_eq!(formatted("\n\n"), "\n\n");
    assert_eq!(formatted("fault none\r\n\r\n# c  \r\nhang"), "fault  none\n\n# c\nhang\n");
}

/// Parts of lines: statements with arbitrary spaces, and arbitrary text.
fn part() -> impl Strategy<Value = String> {
    let words = prop::sample::select(vec![
        "dump",
        "symbols",
        "force",
        "fault",
        "none",
        "at",
        "stack",
        "access",
        "waves",
        "faulted",
        "hang",
        "deadlock",
        "spinning",
        "signature",
        "ls1:3f",
        "wave",
        "every",
        "id",
        "kernel",
        "exec",
        "0x1f",
        "state",
        "stop",
        "frame",
        "lane",
        "active",
        "all",
        "0-3,8",
        "17",
        "i",
        "x[i]",
        "p->x",
        "Window<float, 2>::total",
        "(float) in",
        "$lane",
        "==",
        "!=",
        "<",
        "<=",
        ">",
        ">=",
        "~=",
        "in",
        "is",
        "+-",
        "1e-9",
        "0.1%",
        "-2.5",
        "nan",
        "0..5",
        "{1, 2}",
        "{.x = 1, ...}",
        "\"a # \\\" b\"",
        "'#'",
        "unavailable",
        "optimized out",
        "inactive",
        "inf",
        "error",
        "/a \\/ # b/",
        "a.hip:3",
        "a.hip:3-9",
        "\"my file.hip\":3",
        "\"saxpy\"",
        "\"f(a<b\":3",
        "\"a::\":3",
        "\"a:4\":3",
        "\"a:4\"",
        "f(int, A < B)",
        "...",
        ",",
        "8",
        "(1,0,0)/1",
        "# comment",
        "#",
        "memory violation",
        "not captured",
        "<<",
        "\"",
        "'",
        "/",
        "{",
        "}",
    ]);
    prop_oneof![8 => words.prop_map(str::to_owned), 1 => "\\PC{0,6}", 1 => "[ \t]{1,4}"]
}

fn text() -> impl Strategy<Value = String> {
    let line = prop::collection::vec((part(), prop::sample::select(vec![" ", "  ", "", "\t"])), 0..9)
        .prop_map(|parts| parts.into_iter().map(|(part, space)| part + space).collect::<String>());
    let block = prop::sample::select(vec!["", "wave every\n"]);
    (block, prop::collection::vec(line, 1..4))
        .prop_map(|(block, lines)| format!("{block}{}", lines.join("\n")))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn formatted_files_parse_to_the_same_contents(text in text()) {
        match parse(&text) {
            Ok(_) => drop(formatted(&text)),
            Err(errors) => {
                for error in errors {
                    let line = text.split('\n').nth(error.line - 1).unwrap();
                    prop_assert!(line.get(error.columns.0..error.columns.1).is_some(), "{text:?}: {error:?}");
                }
            }
        }
    }

    #[test]
    fn any_bytes_are_a_file_or_errors(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(file) = parse(&bytes) {
            formatted(&format(&file));
        }
    }
}
