//! Consistency of the table of questions.

use super::{Arguments, Lanes, Parameter, QUESTIONS, Subject, Takes, Value, Words};

#[test]
fn names_are_unique() {
    for names in [
        QUESTIONS.iter().map(|question| question.name).collect::<Vec<_>>(),
        QUESTIONS.iter().filter_map(|question| question.packet).collect(),
        QUESTIONS.iter().filter_map(|question| question.document).map(|document| document.packet).collect(),
    ] {
        let mut unique = names.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), names.len(), "{names:?}");
    }
}

/// A parameter of an annex, or one that another excludes, is a parameter of the question; `thread` is the packet's own.
#[test]
fn parameters_that_are_named_exist() {
    for question in QUESTIONS {
        let has = |name: &str| question.parameters.iter().any(|parameter| parameter.name == name);
        assert!(!has("thread"), "{}", question.name);
        let annex = question.document.map_or(&[][..], |document| document.annex);
        let excluded = question.parameters.iter().flat_map(|parameter| parameter.excludes);
        let unless = if let Subject::WaveUnless(names) = question.subject { names } else { &[] };
        for name in annex.iter().chain(excluded).chain(unless) {
            assert!(has(name), "{}: {name}", question.name);
        }
        let rest = question.parameters.iter().filter(|parameter| parameter.words == Words::Rest).count();
        assert!(rest < 2, "{}", question.name);
    }
}

#[test]
fn lanes_are_numbers_ranges_active_or_all() {
    assert_eq!(Lanes::typed("all"), Ok(Lanes::All));
    assert_eq!(Lanes::typed("active"), Ok(Lanes::Active));
    assert_eq!(Lanes::typed("3").unwrap().one(), Some(3));
    assert_eq!(Lanes::typed("0x11").unwrap().one(), Some(17));
    assert_eq!(Lanes::typed("0,8-15").unwrap(), Lanes::Listed(vec![0..=0, 8..=15]));
    assert_eq!(Lanes::typed("8-15").unwrap().one(), None);
    for wrong in ["", "x", "3-", "-3", "0,", "4294967296", "9-3"] {
        assert!(Lanes::typed(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_second_argument_and_a_missing_one_are_errors() {
    let frame = Parameter::new("frame", Takes::Frame, "N");
    let mut arguments = Arguments::default();
    arguments.add(&frame, Value::Number(1)).unwrap();
    assert!(arguments.add(&frame, Value::Number(1)).is_err());
    assert_eq!(arguments.index("frame"), Some(1));
    let needed = [Parameter { is_needed: true, ..Parameter::new("space", Takes::Word, "SPACE") }];
    let words = arguments.complete(needed.iter()).unwrap_err().to_string();
    assert_eq!(words, "a space is needed");
}
