//! Texts with their meaning, in brackets where C's or gdb's precedence decides; and invalid texts.

use super::super::{MAX_NESTING, MAX_PATH, Node, Path, parse, parse_in};

/// A path as text independent of precedence: every operator with its operands in brackets.
fn spelled(path: &Path) -> String {
    match &path.node {
        Node::Unary(_, operand) => {
            let text = path.to_string();
            let sign = text.chars().next().unwrap();
            format!("({sign} {})", spelled(operand))
        }
        Node::Binary(operator, left, right) => format!("({operator:?} {} {})", spelled(left), spelled(right)),
        Node::Repeat(object, count) => format!("(@ {} {})", spelled(object), spelled(count)),
        Node::MemberPointer { object, member, arrow } => {
            format!("({} {} {})", if *arrow { "->*" } else { ".*" }, spelled(object), spelled(member))
        }
        Node::Member { object, name, sign } => format!("({} {} {name})", sign.sign(), spelled(object)),
        Node::Element(object, indexes) => {
            let indexes: Vec<String> = indexes.iter().map(spelled).collect();
            format!("(() {} {})", spelled(object), indexes.join(" "))
        }
        Node::Index(object, index) => format!("([] {} {})", spelled(object), spelled(index)),
        Node::Cast(to, operand) => format!("(cast <{to}> {})", spelled(operand)),
        _ => path.to_string(),
    }
}

fn check(text: &str, expected: &str) {
    let path = parse(text, &|name| name == "T").unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(spelled(&path), expected, "{text}");
}

#[test]
fn operators_bind_as_in_c_and_gdb() {
    check("*p.x", "(* (. p x))");
    check("(*p).x[2]->y", "(-> ([] (. (* p) x) 2) y)");
    check("&a[1]", "(& ([] a 1))");
    check("p[1].x+1", "(Add (. ([] p 1) x) 1)");
    check("*(p+3)", "(* (Add p 3))");
    check("a-b-c", "(Subtract (Subtract a b) c)");
    check("a|b^c&d<<e+f*g", "(Or a (Xor b (And c (ShiftLeft d (Add e (Multiply f g))))))");
    // gdb's grammar puts @ between << and +.
    check("*p@8", "(@ (* p) 8)");
    check("arr[2]@n+1", "(@ ([] arr 2) (Add n 1))");
    check("a@2<<1", "(ShiftLeft (@ a 2) 1)");
    check("- -x", "(- (- x))");
    check("a[b[-1]]", "([] a ([] b (- 1)))");
}

/// gdb's grammar of Fortran: `%` is no operator there, and `(i, j)` after a name is an element.
#[test]
fn elements_and_members_are_those_of_fortran() {
    for (text, expected) in [
        ("w(2,1)", "(() w 2 1)"),
        ("q%ids(3)", "(() (% q ids) 3)"),
        ("q%inner % x", "(% (% q inner) x)"),
        ("w(i+1, x(2))%z", "(% (() w (Add i 1) (() x 2)) z)"),
        ("-w(1)*2", "(Multiply (- (() w 1)) 2)"),
        ("(w)(2)", "(() w 2)"),
        ("(float)(n)", "(cast <float> n)"),
        ("(T)(n)", "(cast <T> n)"),
        ("$v3(17)", "(() $v3 17)"),
        ("q.tag", "(. q tag)"),
    ] {
        let path =
            parse_in(true, text, &|name| name == "T").unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(spelled(&path), expected, "{text}");
        assert_eq!(parse_in(true, &path.to_string(), &|name| name == "T"), Ok(path), "{text}");
    }
    for (text, column, words) in [
        ("w(", 3, "expected a name, number, register or bracket, found the end"),
        ("w()", 3, "expected a name, number, register or bracket, found `)`"),
        ("w(1,", 5, "expected a name, number, register or bracket, found the end"),
        ("w(1 2)", 5, "expected `)` for the bracket at column 2, found `2`"),
        ("w(:,1)", 3, "a path has no sections or substrings (`:`): write one index for each dimension"),
        ("w(n:3,1)", 4, "a path has no sections or substrings (`:`): write one index for each dimension"),
        ("q%ids(::2)", 7, "a path has no sections or substrings (`:`): write one index for each dimension"),
        ("i % 2", 5, "expected a member's name, found `2`"),
        ("w(1)x", 5, "expected an operator or the end, found `x`"),
    ] {
        let error = parse_in(true, text, &|_| false).unwrap_err();
        assert_eq!((error.column, error.words.as_str()), (column, words), "{text}");
    }
    assert_eq!(parse("w(1)", &|_| false).unwrap_err().column, 2);
    check("i % 2", "(Remainder i 2)");
}

#[test]
fn names_are_those_of_cpp() {
    check("ns::x", "ns::x");
    check("::x", "::x");
    check("(anonymous namespace)::x.y", "(. (anonymous namespace)::x y)");
    check("Window<float, 2>::total", "Window<float, 2>::total");
    check("get<Vec<int>>::it", "get<Vec<int>>::it");
    check("a<<2", "(ShiftLeft a 2)");
    check("this->steps", "(-> this steps)");
    check("$v3[17]", "([] $v3 17)");
    check("$exec", "$exec");
    check("local#0x10", "local#0x10");
    check("*(int *) private_lane#64", "(* (cast <int *> private_lane#0x40))");
}

#[test]
fn casts_and_brackets_are_distinguished() {
    check("(float *) p", "(cast <float *> p)");
    check("(unsigned) -x", "(cast <unsigned> (- x))");
    check("(struct S *)0x1000", "(cast <struct S *> 0x1000)");
    check("(local int *) 0x10", "(cast <local int *> 0x10)");
    check("(const int *const *)p", "(cast <int **> p)");
    check("(unsigned long) x + 1", "(Add (cast <unsigned long> x) 1)");
    check("(x) + 1", "(Add x 1)");
    check("(x) * y", "(Multiply x y)");
    check("(T) * y", "(cast <T> (* y))");
    check("(T) - 1", "(cast <T> (- 1))");
    check("(x)[1]", "([] x 1)");
    check("(other) y", "(cast <other> y)");
    check("(x)", "x");
    check("(*p)", "(* p)");
}

#[test]
fn numbers_have_the_types_of_c() {
    let types = [
        ("5", 5, false, false),
        ("0x10", 16, false, false),
        ("017", 15, false, false),
        ("5u", 5, false, true),
        ("5l", 5, true, false),
        ("2147483648", 1 << 31, true, false),
        ("0x80000000", 1 << 31, false, true),
        ("0xffffffffffffffff", u64::MAX, true, true),
        ("5ull", 5, true, true),
    ];
    for (text, value, long, unsigned) in types {
        let path = parse(text, &|_| false).unwrap();
        let hex = text.starts_with("0x");
        assert_eq!(path.node, Node::Integer { value, long, unsigned, hex }, "{text}");
        let printed = if text == "017" { "15" } else { text.trim_end_matches("ll") };
        assert!(path.to_string().starts_with(printed), "{path}");
    }
    for (text, code) in [
        ("'a'", b'a'),
        ("'\\n'", b'\n'),
        ("'\\''", b'\''),
        ("'\\101'", b'A'),
        ("'\\x41'", b'A'),
        ("'\\0'", 0),
    ] {
        assert_eq!(parse(text, &|_| false).unwrap().node, Node::Character(code), "{text}");
    }
}

#[test]
fn errors_point_at_the_column() {
    for (text, expected) in [
        ("", "column 1: expected a name, number, register or bracket, found the end"),
        ("a b", "column 3: expected an operator or the end, found `b`"),
        ("a.", "column 3: expected a member's name, found the end"),
        ("a.5", "column 3: expected a member's name, found `5`"),
        ("a[1", "column 4: expected `]` for the bracket at column 2, found the end"),
        ("(a+b", "column 5: expected `)` for the bracket at column 1, found the end"),
        ("a + ;", "column 5: unexpected `;`"),
        (
            "x == 1",
            "column 3: unexpected `==`: paths compute, and do not compare (`lanescope check` compares)",
        ),
        (
            "x && 1",
            "column 3: unexpected `&&`: paths compute, and do not compare (`lanescope check` compares)",
        ),
        ("a->", "column 4: expected a member's name, found the end"),
        ("12ab", "column 1: `12ab` is not a number: write 64 or 0x40"),
        ("99999999999999999999", "column 1: `99999999999999999999` does not fit 64 bits"),
        ("5x", "column 1: `5x` is not a number: write 64 or 0x40"),
        ("'ab'", "column 1: this `'` has no other behind one character"),
        ("'\\q'", "column 4: there is no escape `\\q`"),
        ("$", "column 2: expected a register's name after `$`"),
        ("ns::", "column 5: expected a name after `::`"),
        ("get<int", "column 4: this `<` has no `>`"),
        ("(unsigned int", "column 14: expected `)` after the type at column 1, found the end"),
        ("int", "column 1: expected an object, found the type `int`"),
        ("local#x", "column 7: expected an address after `local#`"),
        ("\u{e4}.\u{f6}.", "column 5: expected a member's name, found the end"),
    ] {
        let error = parse(text, &|_| false).expect_err(text);
        assert_eq!(error.to_string(), expected, "{text}");
    }
}

#[test]
fn hostile_paths_end_at_the_bounds() {
    let long = "a".repeat(MAX_PATH + 1);
    let error = parse(&long, &|_| false).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("column {}: a path of more than {MAX_PATH} characters", MAX_PATH + 1)
    );
    assert!(parse(&"a".repeat(MAX_PATH), &|_| false).is_ok());
    let deep =
        |times: usize, open: &str, close: &str| format!("{}x{}", open.repeat(times), close.repeat(times));
    for (open, close) in [("(", ")"), ("*", ""), ("-", ""), ("a[", "]"), ("(int)", "")] {
        assert!(parse(&deep(MAX_NESTING - 1, open, close), &|_| false).is_ok(), "{open}");
        let error = parse(&deep(MAX_NESTING + 1, open, close), &|_| false).unwrap_err();
        assert!(error.words.contains(&format!("more than {MAX_NESTING} parts")), "{open}: {error}");
    }
    // A left-leaning tree is equally deep for recursive functions.
    for link in [".n", "+1", "[0]", "@1"] {
        assert!(parse(&format!("x{}", link.repeat(MAX_NESTING - 1)), &|_| false).is_ok(), "{link}");
        assert!(parse(&format!("x{}", link.repeat(MAX_NESTING)), &|_| false).is_err(), "{link}");
    }
    let stars = format!("(int {})0", "*".repeat(MAX_NESTING + 1));
    assert!(parse(&stars, &|_| false).is_err());
}
