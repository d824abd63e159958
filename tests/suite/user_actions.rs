//! The section "User actions" of docs/clients.md: every action has results for both clients, and existing tests.

use crate::fixtures::one_line;

/// Items of an action: results and tests, in the order of the page.
const ITEMS: [&str; 3] = ["gdb: ", "lldb: ", "tests: "];

#[test]
fn every_user_action_has_tests() {
    let root = crate::support::root();
    let page = std::fs::read_to_string(root.join("docs/clients.md")).unwrap();
    let (_, section) = page.split_once("\n## User actions\n").expect("the section of actions");
    let section = section.split("\n## ").next().unwrap();
    let actions: Vec<&str> =
        section.split("\n* ").skip(1).map(|action| action.split("\n\n").next().unwrap()).collect();
    assert!(actions.len() > 30, "only {} actions", actions.len());
    for action in actions {
        let items: Vec<&str> = action.split("\n  * ").skip(1).collect();
        assert_eq!(items.len(), ITEMS.len(), "{action}");
        let [.., tests] = std::array::from_fn::<_, 3, _>(|index| {
            let text = items[index].strip_prefix(ITEMS[index]).unwrap_or_else(|| panic!("{action}")).trim();
            assert!(!text.is_empty(), "{action}");
            one_line(text)
        });
        for name in tests.split(", ") {
            let (file, test) = name.trim_matches('`').split_once("::").unwrap_or_else(|| panic!("{action}"));
            let source = std::fs::read_to_string(root.join(format!("tests/clients/{file}.rs"))).unwrap();
            let is_test = source.contains(&format!("#[test]\nfn {test}()"));
            assert!(is_test, "tests/clients/{file}.rs has no test {test}");
        }
    }
}
