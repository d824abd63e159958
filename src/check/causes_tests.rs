//! Names in `fault` and `stop` lines.

use super::super::syntax::{SyntaxError, parse};
use super::unknown_names;
use crate::arch::Targets;

fn errors(text: &str) -> Vec<SyntaxError> {
    unknown_names(&parse(text).unwrap(), &Targets::builtin().stop_reasons())
}

/// The caret is under the wrong name, and the hint has a similar one.
#[test]
fn wrong_names_are_marked() {
    for (line, name, similar) in [
        ("fault memroy violation", "memroy violation", "memory violation"),
        ("fault memory_violaton # why", "memory_violaton", "memory violation"),
        ("  fault   trap ,  ilegal instruction", "ilegal instruction", "illegal instruction"),
        ("fault trp, ecc", "trp", "trap"),
        ("fault ecc,trap,asertion", "asertion", "assertion"),
        ("fault fault", "fault", ""),
        ("fault segfault", "segfault", "memory violation"),
        ("stop memory violaton", "memory violaton", "memory violation"),
        ("  stop\twatchpont  # c", "watchpont", "watchpoint"),
        ("stop runing", "runing", "running"),
        ("stop integer division by zer0", "integer division by zer0", "integer division by zero"),
    ] {
        let head = if line.trim_start().starts_with("stop") { "wave every\n" } else { "\n" };
        let found = errors(&format!("{head}{line}\n"));
        let [error] = found.as_slice() else { panic!("{line}: {found:?}") };
        assert_eq!(error.line, 2, "{line}");
        assert_eq!(line.get(error.columns.0..error.columns.1), Some(name), "{line}");
        let hint = error.hint.as_deref().unwrap();
        match similar {
            "" => assert!(hint.starts_with("the names are memory violation, "), "{hint}"),
            similar => assert_eq!(hint, format!("did you mean `{similar}`?"), "{line}"),
        }
    }
}

#[test]
fn known_names_are_no_error() {
    let text = "fault none\nfault Memory-Violation, trap\nfault abort or failed assertion\nfault fatal halt\n\
                fault page_fault_is_not_here\nwave every\n  stop int_divide_by_0\n  stop address error\n  stop running\n";
    assert_eq!(errors(text).iter().map(|error| error.line).collect::<Vec<_>>(), [5]);
    assert_eq!(errors("fault hang\nfault running\nwave every\n  stop bad pc\n").len(), 2);
}
