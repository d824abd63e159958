//! Register runs in the notation of dumps.

use super::kind;
use crate::units::WaveSize;

#[test]
fn a_name_or_a_run_of_one_kind() {
    let kind = kind("gfx90a", WaveSize::W64);
    let cases = [
        ("v17", Ok(("v17", 1))),
        ("s0-s101", Ok(("s0", 102))),
        ("v0-v0", Ok(("v0", 1))),
        ("a4-a7", Ok(("a4", 4))),
        ("ttmp4-ttmp11", Ok(("ttmp4", 8))),
        ("pc", Ok(("pc", 1))),
        ("s0-s105", Err("gfx90a has no register \"s105\" in wave64 waves")),
        ("PC_64", Err("gfx90a has no register \"PC_64\" in wave64 waves")),
        ("", Err("gfx90a has no register \"\" in wave64 waves")),
        ("v1-", Err("gfx90a has no register \"\" in wave64 waves")),
        ("v01", Err("gfx90a has no register \"v01\" in wave64 waves")),
        ("s3-s1", Err("\"s3-s1\" is not a run of registers of one kind, lowest first")),
        ("s0-v3", Err("\"s0-v3\" is not a run of registers of one kind, lowest first")),
        ("pc-exec", Err("\"pc-exec\" is not a run of registers of one kind, lowest first")),
        ("ttmp4-ttmp13", Err("\"ttmp4-ttmp13\" has a hole: there is no ttmp12")),
    ];
    for (text, expected) in cases {
        let found =
            kind.range(text).map(|(first, count)| (kind.register(first).unwrap().name.clone(), count));
        match expected {
            Ok((name, count)) => assert_eq!(found, Ok((name.to_owned(), count)), "{text}"),
            Err(message) => assert_eq!(found.unwrap_err().to_string(), message, "{text}"),
        }
    }
}
