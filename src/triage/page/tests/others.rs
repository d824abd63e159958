//! Rows of the suspects behind the first, and numbers of nouns and verbs.

use super::{overrun, page, suspect};
use crate::capture::{Fault, FaultAddress, PAGE};
use crate::triage::{Evidence, MissingData, Pattern, PatternOf, Suspect, Triage};
use crate::units::{LaneId, LaneSet, Pc, WaveId};

/// A suspect with an address, or without.
fn other(register: u8, address: Option<u64>) -> Suspect {
    let addresses: Vec<(u8, u64)> = address.map(|address| (3, address)).into_iter().collect();
    suspect(&format!("flat_load_dword v{register}, v[0:1]"), &addresses)
}

/// The row `Others` of a page with these suspects and `further` ones, `unknown` of them without an address.
fn row(others: Vec<Suspect>, further: usize, unknown: usize) -> String {
    let mut triage = Triage { further, further_unknown: unknown, ..overrun() };
    triage.suspects.extend(others);
    let page = page(&triage).replace("\n          ", "\n");
    let from = page.find("Others").unwrap_or_else(|| panic!("{page}"));
    let rest = &page[from + "Others    ".len()..];
    rest[..rest.find("Lanes").unwrap()].to_owned()
}

const AT: &str = "at 0x7f0000102790, saxpy.hip:54";

#[test]
fn others_have_their_addresses_or_that_these_are_unknown() {
    let unknown = |count: u8| (3..3 + count).map(|register| other(register, None)).collect::<Vec<_>>();
    let line = |register: u8| format!("likely: flat_load_dword v{register}, v[0:1] {AT}\n");
    assert_eq!(row(unknown(1), 0, 0), format!("{},\naddress unknown\n", line(3).trim_end()));
    let two = line(3) + &line(4);
    assert_eq!(row(unknown(2), 0, 0), format!("{two}both addresses are unknown\n"));
    let three = format!("{two}{}", line(5));
    assert_eq!(row(unknown(3), 5, 5), format!("{three}and 5 more; all 8 addresses are unknown\n"));
    // Some have addresses.
    let known = format!("{},\naddress unknown\n", line(3).trim_end());
    let rest =
        format!("{known}{},\naddress 0x5000\n{},\naddress unknown\n", line(4).trim_end(), line(5).trim_end());
    let mut mixed = unknown(3);
    mixed[1] = other(4, Some(0x5000));
    assert_eq!(row(mixed.clone(), 0, 0), rest);
    assert_eq!(row(mixed.clone(), 4, 0), format!("{rest}and 4 more\n"));
    assert_eq!(row(mixed.clone(), 4, 1), format!("{rest}and 4 more, 1 of them with an unknown address\n"));
    assert_eq!(row(mixed.clone(), 4, 4), format!("{rest}and 4 more, all with unknown addresses\n"));
    assert_eq!(row(mixed, 4, 3), format!("{rest}and 4 more, 3 of them with unknown addresses\n"));
}

/// An access of another wave has the wave's id, and a command; the described wave's PC is the first.
#[test]
fn accesses_of_other_waves_name_their_wave() {
    let mut triage = overrun();
    triage.suspects.push(Suspect { wave: WaveId(2), ..other(3, Some(0x5000)) });
    triage.waves.pcs = vec![(Pc(0x10), 3), (Pc(0x20), 2), (Pc(0x30), 2), (Pc(0x7f00_0010_2798), 1)];
    triage.waves.faulted = 8;
    let text = page(&triage);
    assert!(text.contains("\nOthers    wave 3, likely: flat_load_dword v3, v[0:1]"), "{text}");
    assert!(text.contains("Wave { wave: WaveId(2), id: 3 }\n"), "{text}");
    let waves = "Waves     8 of 8 waves faulted (1 at 0x7f0000102798, 3 at 0x10, 2 at 0x20 and 1 more PC)";
    assert!(text.replace("\n          ", " ").contains(waves), "{text}");
}

/// The reported page that the first sentence names is among the first reports, whatever else is reported.
#[test]
fn reports_that_no_access_explains_come_before_others() {
    let mut triage = overrun();
    triage.suspects[0].evidence = vec![Evidence::OnPage { page: 0x7f00_0020_1000, bytes: 4096 }];
    triage.missing = vec![MissingData::Access { page: 0x5000 }];
    let at = |start| Some(FaultAddress { start, bytes: PAGE, is_inexact: false });
    triage.faults = [at(0x5000), at(0x7f00_0020_1000), None, None]
        .map(|address| Fault { address, ..Fault::default() })
        .into();
    let text = page(&triage);
    let (_, rows) = text.split_once("\nReport  ").unwrap();
    let (explained, unexplained) = (rows.find("0x7f0000201000"), rows.find("0x5000"));
    assert!(explained < unexplained && rows.contains("          and 2 more\n"), "{text}");
}

/// Addresses of several lanes are in the plural, also in JSON's reasons.
#[test]
fn words_have_the_number_of_the_addresses() {
    let lanes = [(3, 0x8000_0000_1234_0000), (7, 0x9000_0000_0000_0010), (9, 0xa000_0000_0000_0100)];
    let pattern = |lanes| PatternOf { pattern: Pattern::NonCanonical, lanes };
    let of = |addresses: &[(u8, u64)]| {
        let mut triage = overrun();
        let lanes = addresses.iter().map(|(lane, _)| LaneId(*lane)).collect::<LaneSet>();
        triage.suspects = vec![Suspect {
            evidence: vec![Evidence::Hole, Evidence::InLoop],
            patterns: vec![pattern(lanes)],
            ..suspect("flat_load_dword v2, v[0:1]", addresses)
        }];
        page(&triage)
    };
    let several = of(&lanes);
    let sentence = "saxpy reads 4 bytes at 0x8000000012340000, 0x9000000000000010 and 1 more,\n\
                    non-canonical addresses: lanes 3, 7, 9 of wave 1, saxpy.hip:54 (likely)\n";
    assert!(several.starts_with(sentence), "{several}");
    assert!(several.contains("Because   the addresses are outside all apertures\n"), "{several}");
    assert!(several.contains("a loop executes it: the addresses are those of the last turn\n"), "{several}");
    let one = of(&lanes[..1]);
    assert!(one.contains("a non-canonical address: lane 3 of"), "{one}");
    assert!(one.contains("Because   the address is outside all apertures\n"), "{one}");
}
