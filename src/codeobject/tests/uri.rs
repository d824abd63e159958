//! Code object URIs, after the grammar of AMD's debugger API.

use crate::codeobject::{Uri, UriPlace};

fn file(path: &str, offset: Option<u64>, size: Option<u64>) -> Uri {
    Uri { place: UriPlace::File(path.as_bytes().to_vec()), offset, size }
}

#[test]
fn reads_files_and_memory() {
    let good = |text: &str| Uri::parse(text).expect(text);
    assert_eq!(good("file:///tmp/a.out"), file("/tmp/a.out", None, None));
    assert_eq!(good("file:///tmp/a.out#offset=4096&size=8192"), file("/tmp/a.out", Some(4096), Some(8192)));
    assert_eq!(good("file:///tmp/a.out?size=0x10&offset=010"), file("/tmp/a.out", Some(8), Some(16)));
    assert_eq!(good("file:///a%20b%23c"), file("/a b#c", None, None));
    let memory = Uri { place: UriPlace::Memory { pid: 1234 }, offset: Some(0x7f00), size: Some(64) };
    assert_eq!(good("memory://1234#offset=0x7f00&size=64"), memory);
    assert!(Uri::is_uri("file:///a") && Uri::is_uri("memory://1") && !Uri::is_uri("/a"));
}

#[test]
fn an_error_has_its_place() {
    let bad = |text: &str| Uri::parse(text).expect_err(text).to_string();
    assert_eq!(bad("http://a"), "not a code object URI: begins with neither file:// nor memory://");
    assert_eq!(bad("file:///a%2"), "`%` at byte 9 of the URI is not followed by two hex digits");
    assert_eq!(bad("file:///a%g0"), "`%` at byte 9 of the URI is not followed by two hex digits");
    let number = "size at byte 24 of the URI is `+1`, expected a number of 64 bits";
    assert_eq!(bad("file:///a#offset=1&size=+1"), number);
    assert!(bad("file:///a#offset=99999999999999999999").starts_with("offset at byte 17"));
    assert_eq!(bad("file:///a#size=1&x=2"), "`x=2` at byte 17 of the URI, expected offset=N or size=N");
    for (name, called) in [
        ("memory://4242#offset=0x555555900123&size=9888", "memory_0x555555900123"),
        ("memory://4242#offset=4096&size=1", "memory_0x1000"),
        ("file:///srv/lib%2Bk.so#offset=40960&size=9136", "lib+k.so"),
        ("file:///srv/a%2Fb%20c.so", "b c.so"),
        ("file:///srv/k%2.so", "k%2.so"),
        ("/srv/k.hsaco", "k.hsaco"),
        ("code object at 0x10", "code object at 0x10"),
        ("..", ""),
    ] {
        assert_eq!(Uri::file_name(name), called);
    }
    assert_eq!(bad("memory://1#size=1"), "a memory:// URI needs offset and size");
    assert!(bad("memory://self#offset=1&size=1").starts_with("process id at byte 9"));
    assert!(bad(&format!("file://{}", "a".repeat(20_000))).contains("expected at most 16384"));
}
