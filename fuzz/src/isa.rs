//! Arbitrary bytes as code of each family: decoding goes on, operands and texts can be asked for.

use amdgpu_isa::{Decoder, VgprMsb};

const PROCESSORS: [(&str, u8); 7] = [
    ("gfx900", 64),
    ("gfx90a", 64),
    ("gfx950", 64),
    ("gfx1030", 32),
    ("gfx1100", 64),
    ("gfx1200", 32),
    ("gfx1250", 32),
];

pub fn run(bytes: &[u8]) {
    let Some((mode, bytes)) = bytes.split_first() else { return };
    let (processor, wave) = PROCESSORS[usize::from(*mode) % PROCESSORS.len()];
    let decoder = Decoder::new(processor, wave).expect("a known processor").with_msb(VgprMsb(*mode));
    let mut end = 0;
    for (at, instruction) in decoder.instructions(bytes) {
        assert_eq!(at, end, "instructions lie side by side");
        assert_ne!(instruction.size(), 0, "each one makes progress");
        end = at + instruction.size();
        let text = instruction.to_string();
        assert_eq!(instruction.is_valid(), instruction.effects().is_some(), "{text}");
        assert!(instruction.operands().count() < 40, "{text}");
        let _ = instruction.target(at as u64);
    }
    assert_eq!(end, bytes.len(), "all bytes are decoded");
    let _ = amdgpu_isa::check(bytes);
    let _ = std::str::from_utf8(bytes).is_ok_and(|text| decoder.assemble(text).is_some());
}
