//! Arbitrary bytes as a file of expectations. Errors are within their lines and are printed; a formatted file parses to
//! the same file, which is its own form; rewriting with arbitrary values keeps the other lines.

use lanescope::check::{Difference, Outcome, ScopeFile, Verdict, bless, format, parse, syntax_errors};

pub fn run(data: &[u8]) {
    // The first line is a value for rewriting.
    let (got, bytes) = match data.iter().position(|byte| *byte == b'\n') {
        Some(at) => (&data[..at], &data[at + 1..]),
        None => (&data[..0], data),
    };
    let file = match parse(bytes) {
        Ok(file) => file,
        Err(errors) => {
            let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
            for error in &errors {
                let line = lines.get(error.line - 1).map_or(0, |line| line.len());
                assert!(error.columns.0 <= error.columns.1 && error.columns.1 <= line, "{error:?}");
            }
            assert_eq!(syntax_errors(&errors, "f", bytes, false).count(), errors.len());
            return;
        }
    };
    let text = format(&file);
    let again = parse(&text).unwrap_or_else(|errors| panic!("{text}: {errors:?}"));
    assert_eq!(format(&again), text);
    assert_eq!(again.lines.len(), file.lines.len());
    let got = String::from_utf8_lossy(got).into_owned();
    rewritten(&text, &again, &got);
    if let Ok(text) = std::str::from_utf8(bytes) {
        rewritten(text, &file, &got);
    }
}

/// Every line wants that value.
fn rewritten(text: &str, file: &ScopeFile, got: &str) {
    let difference = Difference { got: Some(got.to_owned()), ..Difference::default() };
    let outcome = |line| Outcome {
        line,
        columns: (0, 0),
        verdict: Verdict::Differs(Box::new(difference.clone())),
        selected_by: None,
    };
    let outcomes: Vec<Outcome> = (1..=file.lines.len()).map(outcome).collect();
    let blessed = bless(text, file, &[&outcomes]);
    let parsed = parse(&blessed.text).unwrap_or_else(|errors| panic!("{}: {errors:?}", blessed.text));
    assert_eq!(parsed.lines.len(), file.lines.len());
    assert_eq!(bless(text, file, &[]).text, text);
}
