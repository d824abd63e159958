//! Accesses to images: their addresses need the image resource and its tiling ("Image Addressing" of the ISA documents).

use super::certainty::suspects;
use super::*;
use crate::isa::{AddressError, NotComputableCause};
use crate::triage::Suspect;

/// Accesses to images of a GPU, a load of `v[2:3]`, and one of `v[8:9]`.
type Gpu = ((&'static str, WaveSize, Generation), &'static [&'static str], [&'static str; 2]);

const GPUS: [Gpu; 4] = [
    (
        ("gfx90a", WaveSize::W64, Gfx90a),
        &[
            "image_load v[20:23], v4, s[0:7] dmask:0xf unorm",
            "image_store v[20:23], v4, s[0:7] dmask:0xf unorm",
        ],
        ["global_load_dword v1, v[2:3], off", "global_load_dword v1, v[8:9], off"],
    ),
    (
        ("gfx1030", WaveSize::W32, Gfx10),
        &[
            "image_load v[20:23], v[4:5], s[0:7] dmask:0xf dim:SQ_RSRC_IMG_2D",
            "image_store v[20:23], v[4:5], s[0:7] dmask:0xf dim:SQ_RSRC_IMG_2D",
            "image_sample v[20:21], v[4:5], s[0:7], s[8:11] dmask:0x3 dim:SQ_RSRC_IMG_2D",
        ],
        ["global_load_dword v1, v[2:3], off", "global_load_dword v1, v[8:9], off"],
    ),
    (
        ("gfx1100", WaveSize::W32, Gfx11),
        &[
            "image_load v[20:23], v[4:5], s[0:7] dmask:0xf dim:SQ_RSRC_IMG_2D",
            "image_store v[20:23], v[4:5], s[0:7] dmask:0xf dim:SQ_RSRC_IMG_2D",
            "image_sample v[20:21], v[4:5], s[0:7], s[8:11] dmask:0x3 dim:SQ_RSRC_IMG_2D",
        ],
        ["global_load_b32 v1, v[2:3], off", "global_load_b32 v1, v[8:9], off"],
    ),
    (
        ("gfx1201", WaveSize::W32, Gfx12),
        &[
            "image_load v[20:23], [v4, v5], s[0:7] dmask:0xf dim:SQ_RSRC_IMG_2D",
            "image_store v[20:23], [v4, v5], s[0:7] dmask:0xf dim:SQ_RSRC_IMG_2D",
            "image_sample v[20:21], [v4, v5], s[0:7], s[8:11] dmask:0x3 dim:SQ_RSRC_IMG_2D",
        ],
        ["global_load_b32 v1, v[2:3], off", "global_load_b32 v1, v[8:9], off"],
    ),
];

/// The page of the address in v2 and v3.
fn fault() -> Fault {
    let address = FaultAddress { start: 0x7f00_0010_0000, bytes: PAGE, is_inexact: false };
    Fault { address: Some(address), ..Fault::default() }
}

/// Checks each access to an image with lines before and after it. `check` gets the suspects and the access.
fn each(lines: fn(&str, [&str; 2]) -> String, check: impl Fn(&[Suspect], &str)) {
    for (gpu, images, loads) in GPUS {
        for image in images {
            let text = format!("{}\nPC\ns_endpgm", lines(image, loads));
            check(&suspects(gpu, &text, &fault()), image);
        }
    }
}

fn is_unknown(suspect: &Suspect) {
    let unknown = suspect.unknown.as_ref().unwrap();
    let expected = UnknownAddressCause::Address(AddressError::NotComputable(NotComputableCause::Image));
    assert_eq!((&unknown.reason, unknown.lanes), (&expected, LaneSet(1)), "{}", suspect.text);
    assert!(suspect.addresses.is_empty() && suspect.confidence != Confidence::Exact, "{}", suspect.text);
    let reasons: Vec<String> = suspect.evidence.iter().map(|one| one.of(suspect)).collect();
    assert!(reasons.iter().any(|reason| reason.contains("layout of an image")), "{reasons:?}");
}

#[test]
fn an_image_alone_is_listed_without_addresses() {
    each(
        |image, _| image.to_owned(),
        |found, image| {
            assert_eq!(found.iter().map(|one| one.text.as_str()).collect::<Vec<_>>(), [image]);
            is_unknown(&found[0]);
        },
    );
}

/// The load is not the only access that can reach the page.
#[test]
fn an_image_does_not_hide_an_access_on_the_page() {
    for lines in [
        |image: &str, [load, _]: [&str; 2]| format!("{image}\n{load}"),
        |image: &str, [load, _]: [&str; 2]| format!("{load}\n{image}"),
    ] {
        each(lines, |found, image| {
            assert!(found[0].text.starts_with("global_load"), "{image}: {}", found[0].text);
            assert_eq!((found[0].addresses.len(), found[0].confidence), (1, Confidence::Likely), "{image}");
            let other = found.iter().find(|one| one.text == image).unwrap();
            assert_eq!(other.confidence, Confidence::Possible);
            is_unknown(other);
        });
    }
}

/// All other addresses are off the page.
#[test]
fn an_image_precedes_accesses_off_the_page() {
    each(
        |image, [_, off]| format!("{off}\n{image}"),
        |found, image| {
            assert_eq!(found[0].text, image);
            is_unknown(&found[0]);
        },
    );
}
