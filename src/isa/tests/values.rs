//! Values that instructions compute, against the interpreter of the fixtures: tests/isa/values.jsonl.

use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;

use super::{instruction, range};
use crate::isa::{ReadOperand, ReadRegister, RegisterFile, RegisterRange};
use crate::units::{LaneId, WaveSize};

/// An executed instruction.
#[derive(Deserialize)]
struct Executed {
    gpu: String,
    text: String,
    before: HashMap<String, Content>,
    /// The address of the next instruction.
    next: u64,
    after: HashMap<String, Content>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    One(u64),
    /// By lane; null: the lane was inactive.
    Lanes(Vec<Option<u32>>),
}

struct Before {
    registers: HashMap<(RegisterFile, u16, u8), u32>,
    size: Option<WaveSize>,
    next: u64,
}

impl Before {
    fn of(executed: &Executed) -> Self {
        let mut registers = HashMap::new();
        for (name, content) in &executed.before {
            let RegisterRange { file, first, .. } = range(name);
            match content {
                Content::One(value) => {
                    registers.insert((file, first, 0), *value as u32);
                    if matches!(file, RegisterFile::Exec | RegisterFile::Vcc) {
                        registers.insert((file, first + 1, 0), (*value >> 32) as u32);
                    }
                }
                Content::Lanes(lanes) => {
                    let lanes = lanes.iter().zip(0u8..).filter_map(|(value, lane)| Some((lane, (*value)?)));
                    registers.extend(lanes.map(|(lane, value)| ((file, first, lane), value)));
                }
            }
        }
        Self { registers, size: None, next: executed.next }
    }
}

impl ReadRegister for Before {
    fn dword(&self, file: RegisterFile, index: u16, lane: LaneId) -> Option<u32> {
        let lane = if file.is_vector() { lane.0 } else { 0 };
        self.registers.get(&(file, index, lane)).copied()
    }
}

impl ReadOperand for Before {
    fn bit(&self, mask: RegisterRange, lane: LaneId) -> Option<bool> {
        Some(self.dword(mask.file, mask.first, lane)? >> lane.0 & 1 == 1)
    }

    fn scc(&self) -> Option<bool> {
        Some(self.dword(RegisterFile::Scc, 0, LaneId(0))? == 1)
    }

    fn aperture(&self, _: &str) -> Option<u64> {
        None
    }

    fn wave_size(&self) -> Option<WaveSize> {
        self.size
    }

    fn next(&self) -> Option<u64> {
        Some(self.next)
    }
}

/// The high half of EXEC is absent in waves of 32 lanes alone; otherwise an unknown one is unknown, never 0.
#[test]
fn an_unknown_high_half_of_exec_makes_saved_masks_unknown() {
    let low = ((RegisterFile::Exec, 0, 0), 0xff);
    let saved = |text, size| {
        let gpu = if size == Some(WaveSize::W32) { "gfx1100" } else { "gfx90a" };
        let before = Before { registers: HashMap::from([low]), size, next: 0 };
        instruction(gpu, text).value((RegisterFile::Scalar, 4), LaneId(0), &before)
    };
    let (wave64, wave32) = ("s_and_saveexec_b64 s[4:5], vcc", "s_and_saveexec_b32 s4, vcc_lo");
    assert_eq!(saved(wave64, Some(WaveSize::W64)), None);
    assert_eq!(saved(wave64, None), None);
    assert_eq!(saved(wave32, Some(WaveSize::W32)), Some(0xff));
}

#[test]
fn values_are_those_of_the_interpreter() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/isa/values.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let mut wrong = Vec::new();
    let mut count = 0;
    for line in text.lines() {
        let executed: Executed = serde_json::from_str(line).unwrap();
        let before = Before::of(&executed);
        let one = instruction(&executed.gpu, &executed.text);
        for (name, content) in &executed.after {
            let lanes = match content {
                Content::One(value) => vec![Some(*value as u32)],
                Content::Lanes(lanes) => lanes.clone(),
            };
            for (expected, lane) in lanes.into_iter().zip(0u8..) {
                let Some(expected) = expected else { continue };
                let found = match name.as_str() {
                    "condition" => one.condition(LaneId(lane), &before).map(u32::from),
                    _ => {
                        let RegisterRange { file, first, .. } = range(name);
                        one.value((file, first), LaneId(lane), &before)
                    }
                };
                count += 1;
                if found != Some(expected) {
                    wrong.push(format!(
                        "{} {}: {name} of lane {lane}: {found:x?}, expected {expected:#x}",
                        executed.gpu, executed.text
                    ));
                }
            }
        }
    }
    assert!(count > 900, "only {count} values");
    assert!(wrong.is_empty(), "{} of {count}\n{}", wrong.len(), wrong.join("\n"));
}
