//! Reports in a real browser: console, requests, accessibility, order and filter, keyboard, names as attacks.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::webdriver::{Browser, url};
use super::{hang, html, model, of_demo};
use crate::support::{sample::sampled, until};

/// WebDriver's codes of keys.
const TAB: char = '\u{e004}';
const ENTER: char = '\u{e007}';
const LEFT: char = '\u{e012}';
const UP: char = '\u{e013}';
const DOWN: char = '\u{e015}';
const END: char = '\u{e010}';
const HOME: char = '\u{e011}';
const WIDE: (u32, u32) = (1200, 1000);
const NARROW: (u32, u32) = (360, 740);

/// A page in a folder.
struct File {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

fn file(text: &str) -> File {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.html");
    fs::write(&path, text).unwrap();
    File { _folder: folder, path }
}

/// Opens a page; no message on the console, and no request but that of the page.
fn opened(browser: &Browser, file: &File) {
    browser.console();
    browser.requests();
    browser.open(&url(&file.path));
    quiet(browser, file);
}

fn quiet(browser: &Browser, file: &File) {
    assert_eq!(browser.console(), Vec::<Value>::new());
    let address = url(&file.path);
    let others: Vec<String> = browser.requests().into_iter().filter(|request| *request != address).collect();
    assert_eq!(others, Vec::<String>::new());
}

/// Rules of accessibility that the page breaks.
fn check_access(browser: &Browser, what: &str) {
    let folder = crate::support::root().join("tests/browser/node_modules/axe-core/axe.min.js");
    let axe = fs::read_to_string(folder).expect("no axe-core: run scripts/setup");
    browser.run(&axe);
    let found = browser.wait(
        "const done = arguments[arguments.length - 1];
         axe.run(document).then((found) => done({ passes: found.passes.length, broken: found.violations.map(
             (rule) => [rule.id, rule.help, rule.nodes.slice(0, 3).map((node) => [node.html, node.failureSummary])]) }));",
    );
    assert_eq!(found["broken"], json!([]), "{what}");
    assert!(found["passes"].as_u64().unwrap() > 15, "{what}: {found}");
}

/// The page fits its width: only frames scroll.
fn check_width(browser: &Browser, what: &str) {
    let widths = browser.run(
        "return [document.documentElement.scrollWidth, innerWidth,
            [...document.querySelectorAll('body *')].filter((one) => !one.closest('.frame, .line, .shapes')
                && one.getBoundingClientRect().right > innerWidth + 1).slice(0, 3).map((one) => one.outerHTML.slice(0, 120))]",
    );
    assert!(widths[0].as_u64() <= widths[1].as_u64(), "{what}: {widths}");
    assert_eq!(widths[2], json!([]), "{what}");
}

/// One browser for all: a start takes longer than most of these.
#[test]
fn reports_in_a_browser() {
    let parts: [fn(&Browser); 7] = [
        pages_are_quiet_accessible_and_fit,
        the_fault_is_on_the_first_screen,
        waves_sort_and_filter_by_pointer_and_keyboard,
        the_lane_cursor_reads_values,
        many_waves_do_not_freeze_the_page,
        pages_read_without_scripts_and_on_paper,
        hostile_names_inject_nothing,
    ];
    let browser = Browser::start(WIDE.0, WIDE.1);
    for part in parts {
        browser.resize(WIDE.0, WIDE.1);
        browser.prefer("light");
        part(&browser);
    }
}

fn pages_are_quiet_accessible_and_fit(browser: &Browser) {
    for (name, page) in [("demo", html(&of_demo())), ("hang", html(&model(&hang())))] {
        let file = file(&page);
        let views = [("light", WIDE), ("dark", WIDE), ("dark", NARROW), ("light", NARROW)];
        for (scheme, (width, height)) in sampled(views, 2) {
            let what = format!("{name} {scheme} {width}");
            browser.prefer(scheme);
            browser.resize(width, height);
            opened(browser, &file);
            check_width(browser, &what);
            browser.picture(&what.replace(' ', "-"));
            check_access(browser, &what);
        }
    }
}

/// The first screen has the sentence, the source line and the lanes.
fn the_fault_is_on_the_first_screen(browser: &Browser) {
    let file = file(&html(&of_demo()));
    for (width, height) in [(WIDE.0, 600), NARROW] {
        browser.resize(width, height);
        opened(browser, &file);
        let bottoms = browser.run(
            "return ['h1', 'pre.line', '.strip', '.lanes .legend'].map((one) =>
                document.querySelector(one).getBoundingClientRect().bottom)",
        );
        for bottom in bottoms.as_array().unwrap() {
            assert!(bottom.as_f64().unwrap() < f64::from(height), "{width}: {bottoms}");
        }
    }
    // By the model of the kernel (tests/fixtures/models): lanes 0 to 24 run, lane 24 reads past the end.
    let titles = browser.run("return [...document.querySelector('.strip').querySelectorAll('title')].map((one) => one.textContent)");
    let titles: Vec<&str> = titles.as_array().unwrap().iter().map(|title| title.as_str().unwrap()).collect();
    assert_eq!(titles.len(), 64);
    for (lane, title) in titles.iter().enumerate() {
        let state = if lane < 24 {
            "active"
        } else if lane == 24 {
            "faulting"
        } else {
            "inactive"
        };
        assert!(title.starts_with(&format!("lane {lane}: {state}")), "{title}");
    }
}

/// The ids of the shown waves.
fn shown(browser: &Browser) -> Vec<u64> {
    let ids = browser.run(
        "return [...document.querySelectorAll('#waves tbody tr')].filter((row) => !row.hidden).map((row) => Number(row.cells[0].textContent))",
    );
    ids.as_array().unwrap().iter().map(|id| id.as_u64().unwrap()).collect()
}

/// The ids after keys: the driver returns before the page has handled the last ones.
fn shown_after_keys(browser: &Browser, expected: &[u64]) {
    until(format!("the waves {expected:?}"), || (shown(browser) == expected).then_some(()));
}

fn waves_sort_and_filter_by_pointer_and_keyboard(browser: &Browser) {
    let file = file(&html(&of_demo()));
    opened(browser, &file);
    let lanes = "#waves th:nth-child(3) button";
    assert_eq!(shown(browser), [1, 2, 3, 4, 5, 6, 7, 8]);
    // By the fixture: 25, 64, 64, 32, 64, 64, 64 and 52 active lanes. Equal ones keep their order.
    browser.click(lanes);
    assert_eq!(shown(browser), [1, 4, 8, 2, 3, 5, 6, 7]);
    assert_eq!(browser.run("return document.querySelector('#waves th:nth-child(3)').ariaSort"), "ascending");
    browser.click(lanes);
    assert_eq!(shown(browser)[6..], [4, 1]);
    browser.click("#filter");
    browser.keys("saxpy.hip:54");
    shown_after_keys(browser, &[1]);
    assert_eq!(browser.text("#count"), "1 of 8 waves");
    // The keyboard alone: to the heading behind the filter, and its order.
    browser.open(&url(&file.path));
    browser.run("document.getElementById('filter').focus()");
    browser.keys("RUNNING 64/64");
    shown_after_keys(browser, &[2, 3, 5, 6, 7]);
    browser.keys(&format!("{TAB}{TAB}{ENTER}{ENTER}"));
    shown_after_keys(browser, &[7, 6, 5, 3, 2]);
    quiet(browser, &file);
}

/// Arrow keys move through lanes and variables; the tip and the accessible value have the value.
fn the_lane_cursor_reads_values(browser: &Browser) {
    let file = file(&html(&of_demo()));
    opened(browser, &file);
    let value = || browser.run("return document.activeElement.getAttribute('aria-valuetext')");
    let tip = || browser.text(".tip");
    browser.run("document.querySelector('.strip').focus()");
    assert!(value().as_str().unwrap().starts_with("lane 24: faulting"), "{}", value());
    // Variables of the line in the order of their declarations: n, x, i.
    browser.keys(&format!("{DOWN}{DOWN}{DOWN}"));
    assert_eq!(value(), "lane 24: 1024");
    assert_eq!(tip(), "i, lane 24: 1024");
    browser.keys(&LEFT.to_string());
    assert_eq!(value(), "lane 23: 1023");
    browser.keys(&HOME.to_string());
    assert_eq!(value(), "lane 0: 1000");
    browser.keys(&END.to_string());
    assert_eq!(value(), "lane 63: 1063 (inactive)");
    browser.keys(&UP.to_string());
    assert_eq!(tip(), "x, lane 63: 0x7f0000200000 (inactive)");
    assert_eq!(browser.run("return document.querySelectorAll('.strip[tabindex=\"0\"]').length"), 1);
    quiet(browser, &file);
}

/// Ten thousand waves sort and filter by moving each row once.
fn many_waves_do_not_freeze_the_page(browser: &Browser) {
    let mut many = of_demo();
    let rows = many.waves.clone();
    many.waves = (0..10_000u32)
        .map(|id| lanescope::postmortem::WaveRow { id, ..rows[id as usize % rows.len()].clone() })
        .collect();
    let page = html(&many);
    assert!(page.len() < 5_000_000, "{} bytes", page.len());
    let file = file(&page);
    opened(browser, &file);
    browser.picture("many");
    // An order moves each row once.
    let moves = browser.wait(
        "const done = arguments[arguments.length - 1];
         const body = document.querySelector('#waves tbody');
         let moved = 0;
         new MutationObserver((records) => { for (const one of records) moved += one.addedNodes.length; })
             .observe(document, { childList: true, subtree: true });
         const ids = () => [...body.rows].map((row) => row.cells[0].textContent).join();
         const before = ids();
         document.querySelector('#waves th:nth-child(3) button').click();
         requestAnimationFrame(() => setTimeout(() => done([moved, ids() !== before])));",
    );
    assert_eq!(moves, json!([10_000, true]));
    browser.click("#filter");
    browser.keys("memory 9992");
    let count = browser.wait(
        "const done = arguments[arguments.length - 1];
         const look = () => document.getElementById('count').textContent.startsWith('1 of')
             ? done(document.getElementById('count').textContent) : setTimeout(look, 20);
         look();",
    );
    assert_eq!(count, "1 of 10000 waves");
    check_width(browser, "many");
    quiet(browser, &file);
}

fn pages_read_without_scripts_and_on_paper(browser: &Browser) {
    let file = file(&html(&model(&hang())));
    browser.chrome("Emulation.setScriptExecutionDisabled", json!({ "value": true }));
    opened(browser, &file);
    let seen = browser.run("return document.body.innerText");
    let seen = seen.as_str().unwrap();
    for part in ["work-group", "Barriers", "Waves by call stack", "Kernel launches", "Contains"] {
        assert!(seen.contains(part), "no {part}: {seen}");
    }
    // The filter is useless there.
    assert_eq!(browser.run("return document.querySelector('.tools').hidden"), true);
    browser.picture("no-scripts");
    browser.chrome("Emulation.setScriptExecutionDisabled", json!({ "value": false }));
    browser.chrome("Emulation.setEmulatedMedia", json!({ "media": "print" }));
    opened(browser, &file);
    let closed = browser.run(
        "return [...document.querySelectorAll('details')].filter((one) => one.lastElementChild.getBoundingClientRect().height === 0).length",
    );
    assert_eq!(closed, 0, "folded parts are printed, too");
    browser.picture("print");
}

/// Markup in names, sources and values stays text: the page has the elements of the same dump with harmless names, no
/// handler runs, nothing is requested.
fn hostile_names_inject_nothing(browser: &Browser) {
    let (_folder, hostile) = super::hostile();
    let page = html(&model(&hostile));
    let file = file(&page);
    opened(browser, &file);
    let found = browser.run(
        "return { alien: [...document.querySelectorAll('*')].map((one) => one.localName).filter((name) =>
                ['img', 'iframe', 'object', 'embed', 'link', 'base', 'form', 'video', 'audio', 'x'].includes(name)),
            handlers: [...document.querySelectorAll('*')].flatMap((one) => [...one.attributes]).filter((one) =>
                /^on|^style$/.test(one.name)).length,
            scripts: document.scripts.length, ran: window.ran === undefined,
            json: JSON.parse(document.getElementById('report').textContent).schema,
            text: document.body.innerText.includes('<img src=x onerror=') }",
    );
    assert_eq!(
        found,
        json!({ "alien": [], "handlers": 0, "scripts": 2, "ran": true, "json": "lanescope.report/1", "text": true })
    );
    // The hostile texts reached the page.
    assert!(page.matches("&#60;img").count() + page.matches("&lt;img").count() > 5);
}
