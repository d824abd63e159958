//! Addresses that only this machine reaches.

use super::is_loopback;

#[test]
fn loopback_addresses_are_loopback_in_each_form() {
    for (address, expected) in [
        ("127.0.0.1:1", true),
        ("127.200.0.3:1", true),
        ("[::1]:1", true),
        ("[::ffff:127.0.0.1]:1", true),
        ("[::ffff:192.168.0.1]:1", false),
        ("[::]:1", false),
        ("0.0.0.0:1", false),
        ("192.168.0.1:1", false),
    ] {
        assert_eq!(is_loopback(&address.parse().unwrap()), expected, "{address}");
    }
}
