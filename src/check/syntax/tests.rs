use super::super::file::{
    AccessLine, At, Comparator, Content, Count, Counted, Element, FaultLine, HangLine, Lanes, Operand, Right,
    Selector, Setting, SourceRange, StateName, ValueLine,
};
use super::{MAX_FILE, MAX_LINE, MAX_LINES, SyntaxError, parse};
use crate::sample::sampled;
use crate::units::LaneId;

/// The content of a line about the dump.
fn content(line: &str) -> Content {
    parse(line).unwrap_or_else(|errors| panic!("{line}: {errors:?}")).lines.remove(0).content
}

/// The content of a line of a block.
fn in_block(line: &str) -> Content {
    let file = parse(format!("wave every\n{line}")).unwrap_or_else(|errors| panic!("{line}: {errors:?}"));
    file.lines[1].content.clone()
}

fn value(line: &str) -> ValueLine {
    match in_block(line) {
        Content::Value(value) => value,
        other => panic!("{line}: {other:?}"),
    }
}

fn path(text: &str) -> Operand {
    Operand::Path(text.to_owned())
}

fn equal(text: &str) -> Right {
    Right::Compare(Comparator::Equal, path(text))
}

fn at(function: Option<&str>, file: Option<&str>, lines: Option<(u64, u64)>) -> At {
    let source = file.map(|file| SourceRange { file: file.to_owned(), lines });
    At { function: function.map(str::to_owned), source }
}

#[test]
fn statements_about_the_dump() {
    let setting = |name: &str, value: Option<&str>| {
        Content::Setting(Setting { name: name.to_owned(), value: value.map(str::to_owned) })
    };
    let dump = |names: &[&str]| Content::Dump(names.iter().map(|name| (*name).to_owned()).collect());
    let stack = |names: &[&str]| Content::Stack(names.iter().map(|name| (*name).to_owned()).collect());
    let at_line = |function: &str| Content::At(at(Some(function), None, None));
    let count = |of, comparator, number| Count { of, comparator, number };
    let cases = [
        ("\n", Content::Empty),
        ("  # a comment", Content::Empty),
        ("dump saxpy.zip", dump(&["saxpy.zip"])),
        (
            "dump a.zip  \"two words.zip\" dumps/**/*.zip # both",
            dump(&["a.zip", "two words.zip", "dumps/**/*.zip"]),
        ),
        ("dump a#1.zip John's.zip #c", dump(&["a#1.zip", "John's.zip"])),
        ("symbols build/", setting("symbols", Some("build/"))),
        ("symbols \"my build/\"", setting("symbols", Some("my build/"))),
        ("fault-address 0x7f0000201xxx", setting("fault-address", Some("0x7f0000201xxx"))),
        ("force", setting("force", None)),
        ("fault none", Content::Fault(FaultLine::None)),
        ("fault None", Content::Fault(FaultLine::None)),
        ("fault NONE # none", Content::Fault(FaultLine::None)),
        ("hang NONE", Content::Hang(HangLine::None)),
        ("hang Deadlock", Content::Hang(HangLine::Deadlock)),
        ("fault  memory   violation", Content::Fault(FaultLine::Causes(vec!["memory violation".to_owned()]))),
        (
            "fault memory violation ,trap",
            Content::Fault(FaultLine::Causes(vec!["memory violation".to_owned(), "trap".to_owned()])),
        ),
        ("at saxpy saxpy.hip:54", Content::At(at(Some("saxpy"), Some("saxpy.hip"), Some((54, 54))))),
        ("at saxpy.hip:50-60", Content::At(at(None, Some("saxpy.hip"), Some((50, 60))))),
        ("at src/saxpy.hip", Content::At(at(None, Some("src/saxpy.hip"), None))),
        ("at ns::f<int, 2>(float const*)", Content::At(at(Some("ns::f<int, 2>(float const*)"), None, None))),
        ("at operator new a.hip:1", Content::At(at(Some("operator new"), Some("a.hip"), Some((1, 1))))),
        ("at f \"my file.hip\":54", Content::At(at(Some("f"), Some("my file.hip"), Some((54, 54))))),
        ("at C:\\src\\a.hip:3", Content::At(at(None, Some("C:\\src\\a.hip"), Some((3, 3))))),
        ("at operator\"\"_km", at_line("operator\"\"_km")),
        (
            "at operator\"\"_km b.hip:13",
            Content::At(at(Some("operator\"\"_km"), Some("b.hip"), Some((13, 13)))),
        ),
        (
            "at operator\"\"_km \"b c.hip\":13",
            Content::At(at(Some("operator\"\"_km"), Some("b c.hip"), Some((13, 13)))),
        ),
        ("at app<(lambda at b.hip:19:190)>", at_line("app<(lambda at b.hip:19:190)>")),
        (
            "at app<(lambda at b.hip:19:190)> b.hip:14",
            Content::At(at(Some("app<(lambda at b.hip:19:190)>"), Some("b.hip"), Some((14, 14)))),
        ),
        ("at kern(int*)::{lambda(int)#1}::operator()", at_line("kern(int*)::{lambda(int)#1}::operator()")),
        (
            "at A::operator unsigned long a.hip",
            Content::At(at(Some("A::operator unsigned long"), Some("a.hip"), None)),
        ),
        ("at A::operator const char *", at_line("A::operator const char *")),
        ("at A::operator int*", at_line("A::operator int*")),
        ("at B::operator< b.hip:8", Content::At(at(Some("B::operator<"), Some("b.hip"), Some((8, 8))))),
        ("at B::operator< <float>", at_line("B::operator< <float>")),
        ("at B::operator<<<float> b.hip", Content::At(at(Some("B::operator<<<float>"), Some("b.hip"), None))),
        ("at B::operator/", at_line("B::operator/")),
        ("at B::operator->", at_line("B::operator->")),
        ("at B::operator,", at_line("B::operator,")),
        (
            "stack B::operator< <float> < B::operator< < ...",
            stack(&["B::operator< <float>", "B::operator<", "..."]),
        ),
        (
            "stack app<(lambda at b.hip:19:190)> < A::operator unsigned long < operator\"\"_km",
            stack(&["app<(lambda at b.hip:19:190)>", "A::operator unsigned long", "operator\"\"_km"]),
        ),
        ("stack leaf < middle < ... < launch", stack(&["leaf", "middle", "...", "launch"])),
        ("stack f<int, 2> < g(int (*)(A < B)) < h", stack(&["f<int, 2>", "g(int (*)(A < B))", "h"])),
        (
            "access lane 24  x[i]  not captured",
            Content::Access(AccessLine {
                lanes: Some(Lanes::Listed(vec![(LaneId(24), LaneId(24))])),
                kind: None,
                expression: Some("x[i]".to_owned()),
                state: Some("not captured".to_owned()),
            }),
        ),
        (
            "access store a(i, j + 1) past-end",
            Content::Access(AccessLine {
                lanes: None,
                kind: Some("store".to_owned()),
                expression: Some("a(i, j + 1)".to_owned()),
                state: Some("past end".to_owned()),
            }),
        ),
        (
            "access lane active x[1000 + lane]",
            Content::Access(AccessLine {
                lanes: Some(Lanes::Active),
                kind: None,
                expression: Some("x[1000 + lane]".to_owned()),
                state: None,
            }),
        ),
        (
            "access null",
            Content::Access(AccessLine {
                lanes: None,
                kind: None,
                expression: None,
                state: Some("null".to_owned()),
            }),
        ),
        (
            "waves 8, faulted 1,stacks>=2",
            Content::Waves(vec![
                count(Counted::Waves, Comparator::Equal, 8),
                count(Counted::Faulted, Comparator::Equal, 1),
                count(Counted::Stacks, Comparator::AtLeast, 2),
            ]),
        ),
        ("work-groups != 0", Content::Waves(vec![count(Counted::WorkGroups, Comparator::NotEqual, 0)])),
        ("hang", Content::Hang(HangLine::Hang)),
        ("hang none", Content::Hang(HangLine::None)),
        ("hang deadlock", Content::Hang(HangLine::Deadlock)),
        ("hang at_barrier < 9", Content::Hang(HangLine::State("at barrier".to_owned(), Comparator::Less, 9))),
        ("signature ls1:3f9c2a71d0b4", Content::Signature("ls1:3f9c2a71d0b4".to_owned())),
        ("signature ls9:3f", Content::Signature("ls9:3f".to_owned())),
        ("wave faulted", Content::Wave(Selector::Faulted)),
        ("wave every", Content::Wave(Selector::Every)),
        ("wave some", Content::Wave(Selector::Some)),
        ("wave id 3", Content::Wave(Selector::Id(3))),
        ("wave (1,0,0)/1", Content::Wave(Selector::Position([1, 0, 0], Some(1)))),
        ("wave ( 1, 2, 3 )", Content::Wave(Selector::Position([1, 2, 3], None))),
        ("wave kernel saxpy", Content::Wave(Selector::Kernel("saxpy".to_owned()))),
        (
            "wave kernel grid::smooth,  target region at line 15",
            Content::Wave(Selector::Kernel("grid::smooth, target region at line 15".to_owned())),
        ),
        ("wave at saxpy.hip:57", Content::Wave(Selector::At(at(None, Some("saxpy.hip"), Some((57, 57)))))),
    ];
    for (line, expected) in cases {
        assert_eq!(content(line), expected, "{line}");
    }
}

#[test]
fn statements_of_a_block() {
    let cases = [
        ("exec 0x1ffffff", Content::Exec(0x1ff_ffff)),
        ("exec 7", Content::Exec(7)),
        ("state faulted", Content::State("faulted".to_owned())),
        ("state At_Barrier", Content::State("At_Barrier".to_owned())),
        ("stop memory  violation", Content::Stop("memory violation".to_owned())),
        ("at f", Content::At(at(Some("f"), None, None))),
        ("stack f", Content::Stack(vec!["f".to_owned()])),
    ];
    for (line, expected) in cases {
        assert_eq!(in_block(line), expected, "{line}");
    }
}

#[test]
fn operators_and_values() {
    let compare = |comparator, text| Right::Compare(comparator, path(text));
    let element = |value| Element { member: None, value };
    let list = |elements: Vec<Element>, is_open| {
        Right::Compare(Comparator::Equal, Operand::List { elements, is_open })
    };
    let text = |bytes: &[u8]| Right::Compare(Comparator::Equal, Operand::Text(bytes.to_vec()));
    let near =
        |value: &str, tolerance, is_percent| Right::Near { value: value.to_owned(), tolerance, is_percent };
    let cases = [
        ("i == 1017", "i", equal("1017")),
        ("i==1017", "i", equal("1017")),
        ("x[i] == 14.25", "x[i]", equal("14.25")),
        ("x == -1.5e-3", "x", equal("-1.5e-3")),
        ("x != nan", "x", compare(Comparator::NotEqual, "nan")),
        ("i == 1000 + $lane", "i", equal("1000 + $lane")),
        ("i < n", "i", compare(Comparator::Less, "n")),
        ("i<5", "i", compare(Comparator::Less, "5")),
        ("a >> 2 >= b << 1", "a >> 2", compare(Comparator::AtLeast, "b << 1")),
        ("p->x > q->*m", "p->x", compare(Comparator::Greater, "q->*m")),
        ("Window<float, 2>::total <= 3", "Window<float, 2>::total", compare(Comparator::AtMost, "3")),
        ("p != (float *) 0", "p", compare(Comparator::NotEqual, "(float *) 0")),
        ("c == '='", "c", equal("'='")),
        ("c == '#' # a comment", "c", equal("'#'")),
        ("p == local#0x10", "p", equal("local#0x10")),
        ("$exec == 0x1ff", "$exec", equal("0x1ff")),
        ("product ~= 27.5 +- 1e-3", "product", near("27.5", Some(1e-3), false)),
        ("product ~= 27.5 +- 0.1%", "product", near("27.5", Some(0.1), true)),
        ("product ~= a + 1", "product", near("a + 1", None, false)),
        ("i in 0..1023", "i", Right::Between("0".to_owned(), "1023".to_owned())),
        ("i in 5..5", "i", Right::Between("5".to_owned(), "5".to_owned())),
        ("i in n..0", "i", Right::Between("n".to_owned(), "0".to_owned())),
        ("f in -0.5 .. 0.5", "f", Right::Between("-0.5".to_owned(), "0.5".to_owned())),
        ("i in {1, n}", "i", Right::OneOf(vec![path("1"), path("n")])),
        ("i in{1}", "i", Right::OneOf(vec![path("1")])),
        ("in == is", "in", equal("is")),
        ("in in 1..2", "in", Right::Between("1".to_owned(), "2".to_owned())),
        ("(float) in == 2.5", "(float) in", equal("2.5")),
        ("(x) in 1..2", "(x)", Right::Between("1".to_owned(), "2".to_owned())),
        ("is.in is inactive", "is.in", Right::Is(StateName::Inactive)),
        ("lane 0 state == RUNNING", "state", equal("RUNNING")),
        ("(exec) == 3", "(exec)", equal("3")),
        ("x is unavailable", "x", Right::Is(StateName::Unavailable)),
        ("x is optimized   out", "x", Right::Is(StateName::OptimizedOut)),
        ("x is optimized-out", "x", Right::Is(StateName::OptimizedOut)),
        ("x is available", "x", Right::Is(StateName::Available)),
        ("x is nan", "x", Right::Is(StateName::Nan)),
        ("x is inf", "x", Right::Is(StateName::Infinite)),
        ("x is error", "x", Right::Is(StateName::Error(String::new()))),
        ("x is error /a # \\/ b/ # c", "x", Right::Is(StateName::Error("a # / b".to_owned()))),
        ("x is Error", "x", Right::Is(StateName::Error(String::new()))),
        ("x is ERROR /a # b/ # c", "x", Right::Is(StateName::Error("a # b".to_owned()))),
        ("s == \"a # \\\"b\\\" \\n\\x41\\101\"", "s", text(b"a # \"b\" \nAA")),
        (
            "h == {0, {1, -2.5}, \"t,}\", .y = 4, ...}",
            "h",
            list(
                vec![
                    element(path("0")),
                    element(Operand::List {
                        elements: vec![element(path("1")), element(path("-2.5"))],
                        is_open: false,
                    }),
                    element(Operand::Text(b"t,}".to_vec())),
                    Element { member: Some("y".to_owned()), value: path("4") },
                ],
                true,
            ),
        ),
        ("h == {}", "h", list(Vec::new(), false)),
    ];
    for (line, left, right) in cases {
        let found = value(line);
        assert_eq!((found.path.as_str(), found.right), (left, right), "{line}");
    }
}

#[test]
fn frames_lanes_and_columns() {
    let lanes = |ranges: &[(u8, u8)]| {
        Some(Lanes::Listed(ranges.iter().map(|(first, last)| (LaneId(*first), LaneId(*last))).collect()))
    };
    let cases = [
        ("i == n", 0, None),
        ("lane 17 i == n", 0, lanes(&[(17, 17)])),
        ("lane 0-3,8, 60-63 i == n", 0, lanes(&[(0, 3), (8, 8), (60, 63)])),
        ("lane active i == n", 0, Some(Lanes::Active)),
        ("lane  all i == n", 0, Some(Lanes::All)),
        ("frame 2  lane 24  i == n", 2, lanes(&[(24, 24)])),
        ("frame 1 i == n", 1, None),
    ];
    for (line, frame, on) in cases {
        let found = value(line);
        assert_eq!((found.frame, found.lanes), (frame, on), "{line}");
        assert_eq!(found.path_span, line.find("i ==").map(|at| at..at + 1).unwrap(), "{line}");
        assert_eq!(&line[found.right_span], "== n", "{line}");
    }
    let file = parse("  fault none  # a\r\n\r\n").unwrap();
    let first = &file.lines[0];
    assert_eq!(
        (first.text.as_str(), first.span.clone(), first.comment),
        ("  fault none  # a", 2..12, Some(14))
    );
    assert_eq!(file.lines.len(), 2);
    assert!(parse("").unwrap().lines.is_empty());
}

/// The error of a line of a block, or of a line about the dump: columns, text and hint.
fn error(text: &str) -> SyntaxError {
    let mut errors = parse(text).expect_err(text);
    assert_eq!(errors.len(), 1, "{errors:?}");
    errors.remove(0)
}

/// No value is in such a range: the line would differ on every dump.
#[test]
fn a_range_has_its_least_number_first() {
    for (range, hint) in [
        ("1024..0", "write `in 0..1024`"),
        ("0x10..0xf", "write `in 0xf..0x10`"),
        ("-1 .. -2.5", "write `in -2.5..-1`"),
    ] {
        let text = format!("wave every\n  n in {range}");
        let error = error(&text);
        assert_eq!((error.line, error.hint.as_deref()), (2, Some(hint)), "{range}: {error:?}");
        assert_eq!(&text.lines().nth(1).unwrap()[error.columns.0..error.columns.1], range);
    }
}

#[test]
fn errors_have_columns_and_hints() {
    // Line, marked text, error, hint.
    let cases = [
        ("falt memory violation", "falt", "unknown statement `falt`", "did you mean `fault`?"),
        ("Fault none", "Fault", "unknown statement `Fault`", "did you mean `fault`?"),
        ("--symbols build/", "--symbols", "unknown statement `--symbols`", "did you mean `symbols`?"),
        ("symbol build/", "symbol", "unknown statement `symbol`", "did you mean `symbols`?"),
        ("work_groups 3", "work_groups", "unknown statement `work_groups`", "did you mean `work-groups`?"),
        (
            "verify something",
            "verify",
            "unknown statement `verify`",
            "the statements are at, stack, wave, dump",
        ),
        ("dump", "", "expected a dump", "write `dump saxpy.zip`"),
        ("dump \"a.zip", "\"", "this `\"` has no other behind it", ""),
        ("force yes", "yes", "`force` takes no value", ""),
        ("symbols a b", "b", "`symbols` takes one value", "in quotes"),
        ("fault", "", "expected a cause", "write `fault memory violation`"),
        ("fault a, none", "none", "`none` and a cause exclude each other", "several causes with commas"),
        ("fault a, None", "None", "`none` and a cause exclude each other", "several causes with commas"),
        ("fault none, a", "none", "`none` and a cause exclude each other", "several causes with commas"),
        ("fault a,", "", "expected a cause", "several causes with commas"),
        ("fault a; b", "; b", "expected a cause, found `; b`", "write"),
        ("at", "", "expected a function or a file", "write FUNCTION"),
        ("at saxpy 54", "54", "expected a file, found `54`", "FILE:LINE"),
        ("at a.hip:0", "0", "`0` is not a line", "FILE:LINE"),
        ("at a.hip:9-3", "9-3", "the last line is before the first", ""),
        ("stack a < < b", "", "expected a function", "innermost function first"),
        ("access", "", "expected an access", "write `access lane 24 load"),
        (
            "access x[i] past-edn",
            "past-edn",
            "unknown state of an address `past-edn`",
            "did you mean `past end`?",
        ),
        ("waves many", "many", "expected a number, found `many`", "write `waves 8`"),
        ("waves 8, fault 1", "fault", "unknown count `fault`", "did you mean `faulted`?"),
        ("waves 8, waves 9", "waves", "a second count of `waves`", ""),
        ("hang spining 3", "spining", "unknown state of a hang `spining`", "did you mean `spinning`?"),
        ("hang spinning", "", "expected a number", "write `hang spinning 3`"),
        ("signature 3f9c", "3f9c", "expected a whole signature", "ls1:3f9c2a71d0b4"),
        ("signature ls1:3f9c2a71", "ls1:3f9c2a71", "expected a whole signature", "ls1:3f9c2a71d0b4"),
        ("log -", "-", "`log -` is the standard input", "write the name of a file"),
        ("wave 3", "3", "expected a choice of waves, found a number", "write `wave id 3`"),
        ("wave fautled", "fautled", "unknown choice of waves `fautled`", "did you mean `faulted`?"),
        ("wave (1,0)", "(1,0)", "expected the position of a work-group", "wave (1,0,0)"),
        ("wave id x", "x", "expected the id of a wave", "write `wave id 3`"),
        (
            "lane 17 i == 1017",
            "lane 17 i == 1017",
            "a statement about waves outside of a block",
            "write `wave faulted`",
        ),
        ("wave every\nfault none", "fault", "`fault` is about the dump", "above the first `wave`"),
        ("wave every\nlane 64 i == 3", "64", "there is no lane 64", "0-63"),
        (
            "wave every\nlane actve i == 3",
            "actve",
            "unknown lanes `actve`, did you mean `active`?",
            "write `lane 17`",
        ),
        ("waves 010", "010", "the number `010` begins with 0", "write 10, or 0x8"),
        ("wave every\nexec 033", "033", "the number `033` begins with 0", "write 33, or 0x1b"),
        ("at saxpy.hip:054", "054", "the number `054` begins with 0", "write 54, or 0x2c"),
        ("at saxpy.hip:50-054", "054", "the number `054` begins with 0", "write 54, or 0x2c"),
        ("wave id 01", "01", "the number `01` begins with 0", "write 1"),
        ("wave every\nlane 017 i == 3", "017", "the number `017` begins with 0", "write 17, or 0xf"),
        ("wave every\nframe 01 i == 3", "01", "the number `01` begins with 0", "write 1"),
        ("wave every\ni == 01000", "01000", "the number `01000` begins with 0", "write 1000, or 0x200"),
        ("wave every\ni == -01000", "01000", "the number `01000` begins with 0", "write 1000, or 0x200"),
        ("wave every\ni in 0..07", "07", "the number `07` begins with 0", "write 7"),
        ("wave every\ni in {1, 09}", "09", "the number `09` begins with 0", "write 9"),
        ("wave every\ni ~= 010", "010", "the number `010` begins with 0", "write 10"),
        ("wave every\nx[010] == x[8]", "010", "the number `010` begins with 0", "write 10, or 0x8"),
        ("wave every\nx[010] is available", "010", "the number `010` begins with 0", "write 10, or 0x8"),
        ("wave every\nh == {00, 7}", "00", "the number `00` begins with 0", "write 0"),
        ("wave every\nlane 5-3 i == 3", "5-3", "the last lane is before the first", ""),
        ("wave every\nlane 3x == 3", "3x", "`3x` is not a list of lanes", "write `lane 17`"),
        ("wave every\nframe 0 frame 0 i == 3", "frame", "a second `frame`", "frame 0 lane 3"),
        ("wave every\nlane 3 frame 0 i == 3", "frame", "`frame` follows `lane`", "frame 0 lane 3"),
        ("wave every\nframe x == 3", "x", "`x` is not the number of a frame", "`(frame)`"),
        ("wave every\nlan 17 i == 1017", "lan", "unknown statement `lan`", "did you mean `lane`?"),
        ("wave every\nlane 17 i 1017", "1", "expected an operator or the end, found `1017`", "== != <"),
        ("wave every\nlane 17 i", "", "expected an operator after the path", "== != <"),
        ("wave every\nlane 17 i = 3", "=", "unknown operator `=`", "did you mean `==`?"),
        ("wave every\nlane 17 i => 3", "=>", "unknown operator `=>`", "did you mean `>=`?"),
        ("wave every\nlane 17 i =~ 3", "=~", "unknown operator `=~`", "did you mean `~=`?"),
        ("wave every\nlane 17 i ≤ 3", "≤", "unknown operator `≤`", "did you mean `<=`?"),
        ("wave every\nlane 17 i ==", "", "expected a value", "write a path"),
        ("wave every\nlane 17 x[ == 3", "[", "this `[` is not closed", ""),
        ("wave every\nlane 17 x == y[", "", "expected a name, number", ""),
        ("wave every\nlane 17 x ~= 3 +- lots", "lots", "`lots` is not a tolerance", "+- 1e-3"),
        ("wave every\nlane 17 x ~= 3 +- -1", "-1", "`-1` is not a tolerance", "+- 1e-3"),
        ("wave every\nlane 17 x == 3 +- 1", "+-", "`+-` follows a value after `~=` alone", "PATH ~= VALUE"),
        ("wave every\nlane 17 x < 3 +-1%", "+-", "`+-` follows a value after `~=` alone", "PATH ~= VALUE"),
        ("wave every\nlane 17 x in {3 +- 1}", "+-", "`+-` follows a value after `~=` alone", "PATH ~= VALUE"),
        ("stack leaf<...<launch", "<", "expected spaces around `<` between functions", "leaf < middle"),
        ("stack f<int>(int) < a<b", "<", "expected spaces around `<` between functions", "leaf < middle"),
        ("wave every\nlane 17 x in 3", "3", "expected a range", "0..1023"),
        ("wave every\ni in {0..5, 1017}", "..", "a set has single values, and no ranges", "0..1023"),
        ("wave every\ni in {1, {2}, 3 .. 5}", "..", "a set has single values, and no ranges", "{1, 2, 3}"),
        ("wave every\nlane 17 x in {}", "{}", "expected values in braces", "{1, 2, 3}"),
        (
            "wave every\nlane 17 x is unavailble",
            "unavailble",
            "unknown state `unavailble`",
            "did you mean `unavailable`?",
        ),
        (
            "wave every\nlane 17 x is error text",
            "text",
            "expected a part of the error between slashes",
            "is error /",
        ),
        ("wave every\nlane 17 x < \"a\"", "\"a\"", "texts and aggregates have no order", "== or !="),
        ("wave every\nlane 17 x == \"a", "\"", "this text does not end with `\"`", "\\\""),
        ("wave every\nlane 17 x == \"a\\q\"", "\\q", "unknown escape", "\\xff"),
        ("wave every\nlane 17 x == {1, 2", "{", "this `{` has no `}`", ""),
        ("wave every\nlane 17 x == {..., 2}", "...", "`...` is not the last element", "further elements"),
        ("wave every\nx == {.a = 1, .b = 2, .a = 1}", "a", "a second value of the member `a`", ""),
        ("wave every\nx == {3, {.yy=1,  .yy=1}}", "yy", "a second value of the member `yy`", ""),
        ("wave every\nx in {{.a = 1, .a = 1}}", "a", "a second value of the member `a`", ""),
        ("wave every\nlane 17 x == {.a 2}", "2", "expected `=` after the member", ".x = 1"),
        ("wave every\nstate spining # c", "spining", "unknown state `spining`", "did you mean `spinning`?"),
        (
            "wave every\nstate foo",
            "foo",
            "unknown state `foo`",
            "the states are at barrier, spinning, waiting memory",
        ),
        ("wave every\nstate", "", "expected a state", ""),
        ("wave every\nexec all", "all", "expected a number of 64 bits", "exec 0x1ffffff"),
        ("fault\u{202e} none", "\u{202e}", "invisible character U+202E", "remove it"),
        ("\u{feff}fault none", "\u{feff}", "invisible character U+FEFF", "byte order mark"),
        ("fault none # \u{1b}[31m", "\u{1b}", "invisible character U+001B", "remove it"),
    ];
    for (text, marked, problem, hint) in cases {
        let found = error(text);
        let line = text.lines().nth(found.line - 1).unwrap();
        assert_eq!(line.get(found.columns.0..found.columns.1), Some(marked), "{text}: {found:?}");
        assert!(found.problem.starts_with(problem), "{text}: {found:?}");
        assert!(found.hint.clone().unwrap_or_default().contains(hint), "{text}: {found:?}");
        assert!(!hint.is_empty() || found.hint.is_none(), "{text}: {found:?}");
    }
}

#[test]
fn all_errors_of_a_file_are_reported_once() {
    let errors = parse("falt none\nfault none\nwave fautled\n  i = 3\n  i == 4\n").unwrap_err();
    assert_eq!(errors.iter().map(|error| error.line).collect::<Vec<_>>(), [1, 3, 4]);
    assert_eq!(errors[0].to_string(), "line 1, column 1: unknown statement `falt`. did you mean `fault`?");
}

#[test]
fn bytes_and_sizes_have_bounds() {
    let error = |bytes: &[u8]| parse(bytes).unwrap_err().remove(0);
    let latin = error(b"fault none\n# caf\xe9\n");
    assert_eq!((latin.line, latin.columns, latin.problem.as_str()), (2, (5, 5), "byte 0xe9 is not UTF-8"));
    let long = format!("#{}", "x".repeat(MAX_LINE));
    assert!(error(long.as_bytes()).problem.starts_with("the line has 65537 bytes"));
    assert!(parse(&long[1..]).is_err(), "a path of more than 1024 characters");
    assert!(parse(&long[..MAX_LINE]).is_ok());
    assert_eq!(parse("\n".repeat(MAX_LINES)).unwrap().lines.len(), MAX_LINES);
    assert_eq!(error("\n".repeat(MAX_LINES + 1).as_bytes()).line, MAX_LINES + 1);
    assert!(error(&vec![b'\n'; MAX_FILE + 1]).problem.starts_with("the file has"));
}

/// Nested and repeated parts up to the longest line: no recursion ends the process.
#[test]
fn deep_and_long_lines_end() {
    let prefixes =
        ["x == ", "x in ", "", "stack ", "at ", "access ", "dump ", "x == \"", "x is error /", "wave at "];
    let fillers = [
        "{", "(", "[", "<", "a<", "a < ", "'", "\"", "\\", "in ", " in", "==", ", ", "-", ".", "/", "  ",
        "{.a=",
    ];
    let lines = prefixes.iter().flat_map(|prefix| fillers.map(|filler| (prefix, filler)));
    // Each filler, and each prefix, since 7 divides neither number.
    for (prefix, filler) in sampled(lines, 7) {
        let line = format!("{prefix}{}", filler.repeat((MAX_LINE - prefix.len()) / filler.len()));
        let _ = parse(&line);
        let _ = parse(format!("wave every\n{line}"));
    }
}

/// docs/check.md lists the states.
#[test]
fn states_are_those_of_the_page() {
    let page = include_str!("../../../docs/check.md");
    let (_, list) = page.split_once("States of `state` and `hang` are ").unwrap();
    let (list, _) = list.split_once(".\n").unwrap();
    let states: Vec<&str> = list.split('`').skip(1).step_by(2).collect();
    assert_eq!(states, super::statement::HANG_STATES);
    for state in states {
        assert_eq!(in_block(&format!("state {state}")), Content::State(state.to_owned()));
    }
}

#[test]
fn zeros_within_numbers_texts_and_names_are_no_octal_numbers() {
    for line in [
        "i == 0",
        "i == 0x010",
        "f == 0.05",
        "f == 00.5",
        "f == 1.05",
        "f ~= 0e5",
        "i in 0..7",
        "x00 == x_01",
        "s == \"007\"",
        "c == '0'",
        "i is error /at 007/",
        "p == local#0x0010",
    ] {
        let _ = value(line);
    }
}
