//! Waves with values derived from a seed.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// A GPU as in a log. The names are those of AMD's debugger library, whose register tables define each GPU's registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gpu {
    pub(super) name: &'static str,
    pub(super) lanes: u32,
    pub(super) sgprs: u32,
    pub(super) vgprs: u32,
    pub(super) agprs: u32,
    /// Names and sizes in bytes of the registers of class system.
    pub(super) system: &'static [(&'static str, usize)],
}

const GFX9: &[(&str, usize)] =
    &[("mode", 4), ("trapsts", 4), ("status", 4), ("xnack_mask", 8), ("flat_scratch", 8)];
const GFX11_W32: &[(&str, usize)] =
    &[("mode", 4), ("trapsts", 4), ("status", 4), ("xnack_mask", 4), ("flat_scratch", 8)];
const GFX11_W64: &[(&str, usize)] = &[("mode", 4), ("trapsts", 4), ("status", 4), ("flat_scratch", 8)];
const GFX12: &[(&str, usize)] = &[
    ("state_priv", 4),
    ("mode", 4),
    ("trap_ctrl", 4),
    ("excp_flag_priv", 4),
    ("excp_flag_user", 4),
    ("status", 4),
    ("scratch_base", 8),
];

pub(super) const GFX90A: Gpu = Gpu { name: "gfx90a", lanes: 64, sgprs: 26, vgprs: 8, agprs: 4, system: GFX9 };
pub(super) const GFX942: Gpu =
    Gpu { name: "gfx942", lanes: 64, sgprs: 102, vgprs: 5, agprs: 3, system: GFX9 };
pub(super) const GFX1030: Gpu =
    Gpu { name: "gfx1030", lanes: 32, sgprs: 106, vgprs: 6, agprs: 0, system: GFX11_W32 };
pub(super) const GFX1100: Gpu =
    Gpu { name: "gfx1100", lanes: 32, sgprs: 106, vgprs: 7, agprs: 0, system: GFX11_W32 };
pub(super) const GFX1100_W64: Gpu = Gpu { lanes: 64, system: GFX11_W64, ..GFX1100 };
pub(super) const GFX1200: Gpu =
    Gpu { name: "gfx1200", lanes: 32, sgprs: 106, vgprs: 5, agprs: 0, system: GFX12 };

/// A class of registers: names with size in bytes and value.
pub(super) type Class = (&'static str, Vec<(String, usize, u64)>);

/// A wave and all of its printed data.
#[derive(Clone, Debug)]
pub(super) struct Wave {
    pub(super) id: u64,
    pub(super) lanes: u32,
    pub(super) pc: u64,
    /// By class in the library's order, `general` last: names with size in bytes and value.
    pub(super) classes: Vec<Class>,
    pub(super) vectors: Vec<(String, Vec<u32>)>,
    pub(super) reasons: &'static str,
    pub(super) entry: u64,
    pub(super) kernargs: u64,
    pub(super) kernarg_words: Vec<u32>,
    pub(super) lds: Vec<u32>,
    pub(super) position: [u32; 3],
    pub(super) slot: u32,
}

/// A number derived from a text: FNV-1a and a finaliser, so that neighbours differ in all bits.
pub(super) fn seed(text: &str) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for byte in text.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    }
    hash ^= hash >> 31;
    hash = hash.wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ hash >> 29
}

fn word(text: &str) -> u32 {
    seed(text) as u32
}

/// The trap temporaries that AMD's library prints, as initialised by the runtime (ROCm's trap handler): the
/// work-group's position, the wave's number in it, and the packet in its queue.
fn temporaries(gpu: Gpu, position: [u32; 3], slot: u32, packet: u32, id: u64) -> Vec<(String, usize, u64)> {
    let [x, y, z] = position;
    let mut ttmp: BTreeMap<u32, u32> = BTreeMap::new();
    ttmp.insert(4, id as u32);
    ttmp.insert(5, 0);
    match gpu.name {
        "gfx1200" => {
            ttmp.insert(6, 1 << 30);
            ttmp.insert(7, z << 16 | y);
            ttmp.insert(8, packet | slot << 25 | 1 << 30 | 1 << 31);
            ttmp.insert(9, x);
            ttmp.insert(10, 0);
            ttmp.insert(11, 0);
        }
        "gfx942" => {
            ttmp.insert(6, 1 << 30);
            ttmp.insert(7, 0);
            (8..).zip([x, y, z]).for_each(|(at, value)| {
                ttmp.insert(at, value);
            });
            ttmp.insert(11, slot | packet << 6 | 1 << 31);
        }
        _ => {
            ttmp.insert(6, packet | 1 << 30);
            ttmp.insert(7, 0);
            (8..).zip([x, y, z]).for_each(|(at, value)| {
                ttmp.insert(at, value);
            });
            ttmp.insert(11, slot | 0x40);
        }
    }
    ttmp.insert(13, 0);
    ttmp.into_iter().map(|(at, value)| (format!("ttmp{at}"), 4, u64::from(value))).collect()
}

impl Wave {
    /// The wave with that number: two to a work-group, one packet for all.
    pub(super) fn new(gpu: Gpu, id: u64) -> Self {
        let say = |name: &str| format!("{} {id} {name}", gpu.name);
        let number = id as u32 - 1;
        let (group, slot) = (number / 2, number % 2);
        let position = [group, group + 1, 3];
        let packet = 0x1234;
        let pc = 0x7f00_0010_1000 + (seed(&say("pc")) & 0xff) * 4;
        let entry = 0x7f00_0010_0900;
        let scalars = (0..gpu.sgprs).map(|at| {
            let name = format!("s{at}");
            let value = u64::from(word(&say(&name)));
            (name, 4, value)
        });
        let vectors =
            (0..gpu.vgprs).map(|at| format!("v{at}")).chain((0..gpu.agprs).map(|at| format!("a{at}")));
        let vectors = vectors.map(|name| {
            let lanes = (0..gpu.lanes).map(|lane| word(&say(&format!("{name} {lane}")))).collect();
            (name, lanes)
        });
        let mask = gpu.lanes as usize / 8;
        let narrow = |value: u64, bytes: usize| if bytes == 4 { value & 0xffff_ffff } else { value };
        let system = gpu
            .system
            .iter()
            .map(|(name, bytes)| (String::from(*name), *bytes, narrow(seed(&say(name)), *bytes)));
        let general = [("m0", 4), ("pc", 8), ("exec", mask), ("vcc", mask)].map(|(name, bytes)| {
            let value = if name == "pc" { pc } else { narrow(seed(&say(name)), bytes) };
            (name.to_owned(), bytes, value)
        });
        let lds_of = format!("{} group {group}", gpu.name);
        Self {
            id,
            lanes: gpu.lanes,
            pc,
            classes: vec![
                ("scalar", scalars.collect()),
                ("trap", temporaries(gpu, position, slot, packet, id)),
                ("system", system.collect()),
                ("general", general.into()),
            ],
            vectors: vectors.collect(),
            reasons: if id == 2 { "MEMORY_VIOLATION|FP_DIVIDE_BY_0" } else { "TRAP" },
            entry,
            kernargs: 0x7f00_0040_000c,
            kernarg_words: (0..11).map(|at| word(&format!("argument {at}"))).collect(),
            lds: (0..256).map(|at| word(&format!("{lds_of} {at}"))).collect(),
            position,
            slot,
        }
    }

    /// The first `count` waves.
    pub(super) fn some(gpu: Gpu, count: u64) -> Vec<Self> {
        (1..=count).map(|id| Self::new(gpu, id)).collect()
    }

    /// Size in bytes and value of a scalar.
    pub(super) fn scalar(&self, name: &str) -> Option<(usize, u64)> {
        let mut all = self.classes.iter().flat_map(|(_, registers)| registers);
        all.find(|(known, ..)| known == name).map(|(_, bytes, value)| (*bytes, *value))
    }

    pub(super) fn names(&self) -> Vec<String> {
        let scalars =
            self.classes.iter().flat_map(|(_, registers)| registers.iter().map(|(name, ..)| name.clone()));
        scalars.chain(self.vectors.iter().map(|(name, _)| name.clone())).collect()
    }

    /// Expected output of a register: its bytes in hex, lowest address first; null if it is not printed.
    pub(super) fn hex(&self, name: &str) -> Value {
        if let Some((bytes, value)) = self.scalar(name) {
            let bytes = &value.to_le_bytes()[..bytes];
            return json!(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
        }
        let vector = self.vectors.iter().find(|(known, _)| known == name);
        vector.map_or(Value::Null, |(_, lanes)| json!(lanes.iter().map(|lane| le(*lane)).collect::<String>()))
    }

    /// Removes a register, which is then not printed.
    pub(super) fn without(mut self, name: &str) -> Self {
        self.classes.iter_mut().for_each(|(_, registers)| registers.retain(|(known, ..)| known != name));
        self.vectors.retain(|(known, _)| known != name);
        self
    }
}

/// Bytes of a word as hex, lowest first.
pub(super) fn le(word: u32) -> String {
    format!("{:08x}", word.swap_bytes())
}
