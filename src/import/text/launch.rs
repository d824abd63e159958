//! Launch facts in the trap temporaries of a text's wave.

use super::{Kept, Value};
use crate::arch::save_area::{Launch, TtmpBits, Ttmps};

/// Reads the trap temporaries in the layout of a target's save areas; `None`: a required one is missing.
pub(in crate::import) fn launch(ttmps: &Ttmps, kept: &Kept, values: &[Value]) -> Option<Launch> {
    ttmps.launch(|number| word(kept, values, number))
}

/// The required trap temporaries that the text lacks.
pub(in crate::import) fn missing(ttmps: &Ttmps, kept: &Kept, values: &[Value]) -> Vec<u8> {
    ttmps.missing(|number| word(kept, values, number))
}

/// Bits of a trap temporary in a text.
pub(in crate::import) fn ttmp(kept: &Kept, values: &[Value], of: TtmpBits) -> Option<u32> {
    word(kept, values, of.ttmp).map(|word| of.bits.of(word))
}

fn word(kept: &Kept, values: &[Value], number: u8) -> Option<u32> {
    let named = |name: &str| name.strip_prefix("ttmp").is_some_and(|digits| digits.parse() == Ok(number));
    kept.dword(values.iter().find(|value| named(kept.text(value.name)))?, 0)
}
