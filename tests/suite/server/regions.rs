//! `qMemoryRegionInfo`, `m` and the lists of registers, over real dumps with a view: the packets agree.

use std::path::Path;
use std::sync::Arc;

use lanescope::arch::Targets;
use lanescope::import;
use lanescope::server::{Client, ClientOptions, Facade};
use lanescope::session::{Dump, Session};
use lanescope::view::{Extent, Views};

use crate::slim::Scratch;
use crate::slim_kept::bare;
use crate::support::sample::sampled;
use crate::view::ask;

/// A client that looks at a dump of the fixtures through a view.
fn client(name: impl AsRef<Path>, facade: Facade) -> Client {
    let path = crate::fixtures::fixtures().join("dumps").join(name);
    let opened = import::open(&path, &Targets::builtin(), &import::Options::default()).unwrap();
    let dump = Arc::new(Dump::new(opened.capture, Vec::new()));
    let session = || Session::new(Arc::clone(&dump), None).unwrap();
    let views = Some(Arc::new(Views::new(Arc::clone(&dump), session(), Extent::Stacks)));
    Client::new(Box::new(session()), ClientOptions { facade: Some(facade), views, threads: None })
}

fn text(client: &mut Client, body: &str) -> String {
    String::from_utf8(ask(client, body.as_bytes())).unwrap()
}

/// The value of a key of `key:value;` pairs.
fn value<'a>(reply: &'a str, key: &str) -> Option<&'a str> {
    reply.split(';').find_map(|pair| pair.strip_prefix(key)?.strip_prefix(':'))
}

fn number(reply: &str, key: &str) -> u64 {
    u64::from_str_radix(value(reply, key).unwrap_or_else(|| panic!("no {key} in {reply}")), 16).unwrap()
}

/// Dumps of waves of 64 and of 32 lanes, with LDS, private memory and apertures.
const DUMPS: [&str; 4] = ["lds-gfx90a-O0", "lds-gfx1030-O0", "regions-gfx1100", "pointers-gfx90a-O0"];

#[test]
fn regions_are_the_same_for_each_of_their_addresses_and_read_as_described() {
    for name in sampled(DUMPS, 2) {
        for facade in [Facade::Lldb, Facade::AmdgcnLldb] {
            let mut client = client(name, facade);
            let (mut at, mut readable, mut count) = (0u64, 0, 0);
            loop {
                let region = text(&mut client, &format!("qMemoryRegionInfo:{at:x}"));
                let (start, size) = (number(&region, "start"), number(&region, "size"));
                assert_eq!(start, at, "{name}: {region}");
                let last = start + (size - 1);
                for inside in [start, start + size / 2, last] {
                    let again = text(&mut client, &format!("qMemoryRegionInfo:{inside:x}"));
                    assert_eq!(again, region, "{name}: {inside:#x}");
                }
                let permissions = value(&region, "permissions").unwrap();
                let reads = permissions.contains('r');
                // A stock lldb would disassemble code as x86-64's.
                let is_code = permissions.contains('x');
                assert_eq!(is_code && reads, is_code && facade == Facade::AmdgcnLldb, "{name}: {region}");
                // Windows of frames are readable where there is something.
                if value(&region, "name") != Some("7661726961626c6573206f66206672616d6573") {
                    for inside in [start, last] {
                        let got = text(&mut client, &format!("m{inside:x},1"));
                        assert_eq!(got.len() == 2, reads, "{name}: {got} at {inside:#x} of {region}");
                    }
                }
                readable += usize::from(reads);
                count += 1;
                assert!(count < 2000, "{name}: the walk does not end");
                // LLDB takes the last address for the end of all regions.
                match last.checked_add(1) {
                    Some(u64::MAX) | None => break,
                    Some(next) => at = next,
                }
            }
            assert!(readable > 3, "{name}: {readable} of {count}");
        }
    }
}

/// LLDB would disassemble code as x86-64. Without code objects, code is the page of a PC.
#[test]
fn a_read_of_lldbs_ends_where_code_begins() {
    const START: u64 = 0x7f00_0001_0000;
    let scratch = Scratch::new("code-begins");
    let mut client = client(bare(&scratch, START, 0x4000, START + 0x2004), Facade::Lldb);
    for (at, read) in
        [(0x1ff0, Some(16)), (0x1ff8, Some(8)), (0x1fff, Some(1)), (0x2000, None), (0x3000, Some(16))]
    {
        let got = text(&mut client, &format!("m{:x},10", START + at));
        assert_eq!(read, (!got.starts_with('E')).then_some(got.len() / 2), "{got} at {at:#x}");
    }
}

/// An aperture is another memory for each wave and lane: with a view LLDB is refused there, and the regions agree.
#[test]
fn apertures_read_as_their_regions() {
    let mut seen = 0;
    for name in DUMPS {
        for facade in [Facade::Lldb, Facade::AmdgcnLldb] {
            let mut client = client(name, facade);
            // Apertures of the target: docs/targets.md, `aperture`.
            for base in [1u64 << 48, 2 << 48] {
                for at in [base, base + 4, base + 0x1000] {
                    let region = text(&mut client, &format!("qMemoryRegionInfo:{at:x}"));
                    let reads = value(&region, "permissions").unwrap().contains('r');
                    let got = text(&mut client, &format!("m{at:x},1"));
                    assert_eq!(got.len() == 2, reads, "{name}, {facade}: {got} at {at:#x} of {region}");
                    seen += usize::from(value(&region, "name").is_some());
                    assert!(!(reads && facade == Facade::Lldb), "{name}: {region}");
                }
            }
        }
    }
    assert!(seen > 4, "only {seen} addresses are in runs of an aperture");
}

#[test]
fn both_lists_of_registers_have_the_same_ones() {
    for facade in [Facade::Lldb, Facade::AmdgcnLldb] {
        let mut client = client("lds-gfx1030-O0", facade);
        let xml = text(&mut client, "qXfer:features:read:target.xml:0,1ffff");
        let mut described = Vec::new();
        for register in xml.split("<reg ").skip(1) {
            let of = |key: &str| {
                let rest = register
                    .split('>')
                    .next()
                    .unwrap()
                    .split_once(&format!(" {key}=\""))
                    .map(|(_, rest)| rest);
                rest.map(|rest| rest.split('"').next().unwrap().to_owned())
            };
            let name = register.strip_prefix("name=\"").unwrap().split('"').next().unwrap().to_owned();
            let number: usize = of("regnum").unwrap().parse().unwrap();
            described.push((number, name, of("bitsize"), of("format"), of("dwarf_regnum"), of("generic")));
        }
        described.sort();
        // A client that knows the architecture asks this only where it cannot read the description.
        if facade == Facade::AmdgcnLldb {
            assert!(text(&mut client, "qRegisterInfo0").starts_with('E'));
            client = self::client("lds-gfx1030-O0", facade);
        }
        let listed: Vec<_> = (0..)
            .map(|number| (number, text(&mut client, &format!("qRegisterInfo{number:x}"))))
            .take_while(|(_, reply)| !reply.starts_with('E'))
            .map(|(number, reply)| {
                let of = |key: &str| value(&reply, key).map(str::to_owned);
                (number, of("name").unwrap(), of("bitsize"), of("format"), of("dwarf"), of("generic"))
            })
            .collect();
        assert_eq!(listed, described);
        let has = |name: &str| listed.iter().any(|register| register.1 == name);
        assert_eq!((has("lane"), has("token")), (true, facade == Facade::Lldb));
    }
}
