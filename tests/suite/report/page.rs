//! The page as HTML: valid by html-validate, and shapes that differ without colour.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use super::{hang, hostile, html, model, of_demo};

/// Errors of html-validate by the HTML standard, below the names of the pages. One run: a start takes almost a second.
fn errors(pages: &[(&str, String)]) -> String {
    let folder = crate::support::root().join("tests/browser");
    let mut command = Command::new(folder.join("node_modules/.bin/html-validate"));
    command.arg("--config").arg(folder.join(".htmlvalidate.json"));
    let files = tempfile::tempdir().unwrap();
    for (name, page) in pages {
        let file = files.path().join(name);
        fs::write(&file, page).unwrap();
        command.arg(file);
    }
    let output = command.output().expect("no html-validate: run scripts/setup");
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.success(), text.is_empty(), "{text}");
    text
}

#[test]
fn pages_are_valid_html() {
    let (_folder, hostile) = hostile();
    let demo = html(&of_demo());
    // The validator finds an error.
    let wrong = demo.replacen("<main>", "<main><p><div>x</div></p>", 1);
    let (hang, hostile) = (html(&model(&hang())), html(&model(&hostile)));
    let valid = ["demo.html", "hang.html", "hostile.html"];
    let found = errors(&[(valid[0], demo), (valid[1], hang), (valid[2], hostile), ("wrong.html", wrong)]);
    assert!(found.contains("wrong.html") && found.contains("Stray end tag"), "{found}");
    assert!(!valid.iter().any(|name| found.contains(name)), "{found}");
}

/// The drawings of all states, without the colours of lines and areas. A hatched area and a grey one are no colours.
#[test]
fn shapes_differ_without_colour() {
    let page = html(&of_demo());
    let mut drawings: BTreeMap<String, String> = BTreeMap::new();
    for shape in page.split("<g id=\"").skip(1) {
        let (name, rest) = shape.split_once("\">").unwrap();
        let drawing = rest.split_once("</g>").unwrap().0;
        let parts = drawing.split("class=\"").map(|part| match part.split_once('"') {
            Some((class @ ("hatched" | "gone"), rest)) => format!("{class}{rest}"),
            Some((_, rest)) => rest.to_owned(),
            None => part.to_owned(),
        });
        drawings.insert(name.to_owned(), parts.collect());
    }
    assert!(drawings.len() >= 20, "{:?}", drawings.keys());
    for (name, drawing) in &drawings {
        let alike: Vec<&String> = drawings
            .iter()
            .filter(|(other, of)| *other != name && *of == drawing)
            .map(|(of, _)| of)
            .collect();
        assert!(alike.is_empty(), "{name} looks like {alike:?}: {drawing}");
    }
}
