//! Documents: every page is in the index, links lead to existing files and headings, and lines have 120 columns at
//! most.

use crate::support::root;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

/// Columns of a line.
const MAX_COLUMNS: usize = 120;

/// README.md and other pages of the root, docs/, and the READMEs of other folders.
fn pages() -> Vec<PathBuf> {
    let fixtures =
        ["compilers", "gpucore", "logs", ""].map(|folder| root().join("tests/fixtures").join(folder));
    let folders =
        ["", "docs", "evaluator", "fuzz"].map(|folder| root().join(folder)).into_iter().chain(fixtures);
    let files = folders.flat_map(|folder| fs::read_dir(folder).unwrap());
    let pages: Vec<PathBuf> = files
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "md"))
        .collect();
    assert!(pages.len() > 20, "{pages:?}");
    pages
}

/// Targets of a page's links, without code.
pub(crate) fn links(text: &str) -> Vec<String> {
    let mut fenced = false;
    let lines = text.lines().filter(|line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    });
    lines
        .flat_map(|line| line.split("](").skip(1).filter_map(|rest| rest.split_once(')')))
        .map(|(target, _)| target.to_owned())
        .collect()
}

/// GitHub's anchors of the headings: lower case, blanks as hyphens, without other characters.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings =
        text.lines().filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim());
    headings
        .map(|heading| {
            let letters = heading.to_lowercase().replace(' ', "-");
            letters.chars().filter(|letter| letter.is_alphanumeric() || "-_".contains(*letter)).collect()
        })
        .collect()
}

#[test]
fn every_page_is_in_the_index() {
    let index: BTreeSet<String> =
        links(&fs::read_to_string(root().join("docs/README.md")).unwrap()).into_iter().collect();
    let files = fs::read_dir(root().join("docs"))
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap());
    let missing: Vec<String> =
        files.filter(|name| name.ends_with(".md") && name != "README.md" && !index.contains(name)).collect();
    assert!(missing.is_empty(), "docs/README.md lacks {missing:?}");
}

#[test]
fn links_lead_to_files_and_headings() {
    let mut wrong = Vec::new();
    for page in pages() {
        for link in links(&fs::read_to_string(&page).unwrap()) {
            if link.contains("://") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            let found = match fs::read_to_string(&target) {
                Ok(text) => anchor.is_empty() || anchors(&text).contains(anchor),
                Err(_) => target.exists() && anchor.is_empty(),
            };
            if !found {
                wrong.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn lines_have_at_most_120_columns() {
    let mut wrong = Vec::new();
    for page in pages() {
        let name = page.strip_prefix(root()).unwrap().display().to_string();
        let text = fs::read_to_string(&page).unwrap();
        let numbered = text.lines().zip(1..);
        let long = numbered.filter(|(line, _)| line.chars().count() > MAX_COLUMNS);
        wrong.extend(long.map(|(_, number): (_, usize)| format!("{name}:{number}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn entries_of_the_changelog_are_one_line() {
    let text = fs::read_to_string(root().join("CHANGELOG.md")).unwrap();
    let kinds = ["### Security", "### Changed", "### Fixed", "### Added"];
    let is_fine =
        |line: &str| line.is_empty() || ["# ", "## ", "- "].iter().any(|start| line.starts_with(start));
    let wrong: Vec<&str> = text.lines().filter(|line| !is_fine(line) && !kinds.contains(line)).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A reader sees the first minute, and the pages of the debuggers, at once.
#[test]
fn pages_for_users_are_short() {
    for (page, most) in [
        ("README.md", 200),
        ("CHANGELOG.md", 120),
        ("docs/gdb.md", 150),
        ("docs/lldb.md", 150),
        ("docs/vscode.md", 150),
    ] {
        let lines = fs::read_to_string(root().join(page)).unwrap().lines().count();
        assert!(lines <= most, "{page} has {lines} lines, and may have {most}");
    }
}

#[test]
fn the_page_of_the_commands_has_every_command() {
    let page = fs::read_to_string(root().join("docs/commands.md")).unwrap();
    let section = page.split("\n```sh\n").nth(1).unwrap().split("\n```\n").next().unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("lanescope "));
    let written: BTreeSet<&str> =
        rows.flat_map(|row| row.split_whitespace().next().unwrap().split('|')).collect();
    let help = crate::support::lanescope().arg("--help").output().unwrap().stdout;
    let help = String::from_utf8(help).unwrap();
    let commands = help.split_once("Commands:").unwrap().1.split_once("Options:").unwrap().0;
    let commands = commands.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = commands.map(|line| line.split_whitespace().next().unwrap());
    assert_eq!(written, names.filter(|name| *name != "help").collect(), "docs/commands.md");
}
