//! docs/protocol.md agrees with the code.

use lanescope::server::packet_table;

#[test]
fn the_packet_table_is_the_routers() {
    let text = include_str!("../../../docs/protocol.md");
    let section = text.split("## Packet table").nth(1).expect("the section is there");
    let section = section.split("\n## ").next().unwrap();
    let written: Vec<(String, String)> = section
        .lines()
        .filter_map(|line| line.strip_prefix("| `"))
        .flat_map(|line| {
            let mut cells = line.split('|');
            let names = format!("`{}", cells.next().unwrap());
            let who = cells.next().unwrap().trim().to_owned();
            let names: Vec<String> = names.split('`').skip(1).step_by(2).map(str::to_owned).collect();
            names.into_iter().map(move |name| (name, who.clone()))
        })
        .collect();
    let routed: Vec<(String, String)> =
        packet_table().map(|(name, who)| (name.to_owned(), who.to_owned())).collect();
    for row in &routed {
        assert!(written.contains(row), "docs/protocol.md lacks or contradicts {row:?}");
    }
    for row in &written {
        assert!(routed.contains(row), "the router lacks or contradicts {row:?}");
    }
    assert_eq!(written.len(), routed.len(), "a packet stands twice in docs/protocol.md");
}
