use super::{ROUTES, route};

/// Row of a packet, and its arguments for the handler.
fn routed(body: &str) -> (Option<&'static str>, String) {
    let (route, request) = route(body.as_bytes());
    (route.map(|route| route.name), request.args.escape_ascii().to_string())
}

#[test]
fn names_are_exact() {
    assert_eq!(routed("qC"), (Some("qC"), String::new()));
    assert_eq!(routed("qCRC:0,10").0, None);
    assert_eq!(routed("qXfer:features:read:target.xml:0,10").1, "target.xml:0,10");
    assert_eq!(routed("qXfer:features:write:target.xml:0,10").0, None);
    assert_eq!(routed("qXfer:features:readings:0,10").0, None);
    assert_eq!(routed("vCont?").0, Some("vCont?"));
    assert_eq!(routed("vCont;c").0, Some("vCont"));
    assert_eq!(routed("vContinue").0, None);
    assert_eq!(routed("").0, None);
}

#[test]
fn one_letter_is_a_name() {
    assert_eq!(routed("m10,4"), (Some("m"), "10,4".to_owned()));
    assert_eq!(routed("?"), (Some("?"), String::new()));
    assert_eq!(routed("Hg1"), (Some("H"), "g1".to_owned()));
    assert_eq!(routed("Z0,10,1"), (Some("Z"), "0,10,1".to_owned()));
}

#[test]
fn numbers_follow_some_names_without_a_separator() {
    assert_eq!(routed("qThreadStopInfo1f"), (Some("qThreadStopInfo"), "1f".to_owned()));
    assert_eq!(routed("qRegisterInfo0"), (Some("qRegisterInfo"), "0".to_owned()));
    assert_eq!(routed("qRegisterInformation").0, None);
}

#[test]
fn no_packet_has_two_rows() {
    let mut names: Vec<_> = ROUTES.iter().map(|route| route.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), ROUTES.len());
}

#[test]
fn every_row_can_be_reached() {
    for row in ROUTES.iter() {
        assert_eq!(routed(row.name).0, Some(row.name));
    }
}

#[test]
fn our_own_names_begin_no_other_packet() {
    for row in ROUTES.iter().filter(|row| row.name.contains("lanescope")) {
        assert!(
            row.name.starts_with("qlanescope.") || row.name.starts_with("qXfer:lanescope-"),
            "{}",
            row.name
        );
    }
}
