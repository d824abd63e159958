//! The sample cores as plans of the writer: the values in their expected files, as read by AMD's library.

use std::fs;

use serde_json::Value;

use crate::core_writer::area::plain;
use crate::core_writer::core::ordered;
use crate::core_writer::gpu::{Counts, Slot, named};
use crate::core_writer::plan::{
    AQL, Agent, Cause, Dispatch, FilePlan, Group, Layout, Plan, Process, Queue, Raised, Scratch, Stop, Wave,
};
use crate::core_writer::words::Of;
use crate::fixtures::fixtures;

/// Names, seeds of the filler and scratch (waves and bytes per wave) from the samples' description; engines.
const SAMPLES: [(&str, u32, u32, u32, u32); 5] = [
    ("gfx90a-split", 7, 16, 4096, 8),
    ("gfx90a-unified", 8, 16, 4096, 8),
    ("gfx1030-wave32", 9, 16, 2048, 4),
    ("gfx1100", 10, 4, 2560, 6),
    ("gfx942-multi-xcc", 11, 16, 4096, 4),
];

pub(super) struct Sample {
    pub(super) name: &'static str,
    pub(super) bytes: Vec<u8>,
    pub(super) expected: Value,
    pub(super) plan: Plan,
}

pub(super) fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

pub(super) fn small(value: &Value) -> u32 {
    u32::try_from(number(value)).unwrap()
}

/// Bytes in the notation of the expected files; null: none.
pub(super) fn hex(text: &Value) -> Vec<u8> {
    let text = if text.is_null() { "" } else { text.as_str().unwrap() };
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
}

pub(super) fn dword(wave: &Value, register: &str) -> u32 {
    u32::from_le_bytes(hex(&wave["registers"][register]).try_into().unwrap())
}

impl Sample {
    /// The plan for the expected file.
    fn open((name, seed, waves, wave_bytes, engines): (&'static str, u32, u32, u32, u32)) -> Self {
        let folder = fixtures().join("gpucore");
        let bytes = fs::read(folder.join(format!("{name}.core"))).unwrap();
        let text = fs::read(folder.join(format!("{name}.expected.json"))).unwrap();
        let expected: Value = serde_json::from_slice(&text).unwrap();
        let all = expected["waves"].as_array().unwrap();
        let gpu = named(expected["agents"][0]["architecture"].as_str().unwrap());
        let xccs = 1 + all.iter().map(|wave| small(&wave["writer"]["xcc"])).max().unwrap();
        let agent = Agent {
            id: small(&expected["agents"][0]["gpu_id"]),
            gpu,
            xccs,
            engines,
            arrays_per_engine: 1,
            always_valid: false,
            apertures: [1 << 48, 2 << 48],
        };
        let scratch = Scratch { waves, wave_bytes, slack: 0 };
        let queues = expected["queues"].as_array().unwrap().iter();
        let queues = queues.map(|queue| {
            let name = format!("scratch{}", queue["queue_id"]);
            let has = expected["segments"].as_array().unwrap().iter().any(|segment| segment["name"] == name);
            queue_of(queue, &expected, xccs, has.then_some(scratch))
        });
        let queues = queues.collect();
        let process = Process {
            r_version: small(&expected["r_version"]),
            ttmp_setup: true,
            kfd: (1, 16),
            note_version: Some(1),
            runtime_entry: 16,
            agent_entry: 120,
            queue_entry: 64,
        };
        let file = FilePlan::plain(Layout::Split);
        let plan = Plan { name: name.to_owned(), seed, process, agents: vec![agent], queues, file };
        Self { name, bytes, expected, plan }
    }

    /// The bytes at an address.
    pub(super) fn at(&self, address: u64, length: u64) -> &[u8] {
        for segment in self.expected["segments"].as_array().unwrap() {
            let (first, size) = (number(&segment["va"]), number(&segment["filesz"]));
            if address >= first && address + length <= first + size {
                let offset = (number(&segment["off"]) + address - first) as usize;
                return &self.bytes[offset..offset + length as usize];
            }
        }
        panic!("{}: nothing at {address:#x}", self.name)
    }

    pub(super) fn words(&self, address: u64, count: u64) -> Vec<u32> {
        let bytes = self.at(address, 4 * count).chunks_exact(4);
        bytes.map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
    }

    pub(super) fn long(&self, address: u64) -> u64 {
        u64::from_le_bytes(self.at(address, 8).try_into().unwrap())
    }

    pub(super) fn segment(&self, name: &str) -> u64 {
        let segments = self.expected["segments"].as_array().unwrap();
        number(&segments.iter().find(|segment| segment["name"] == name).unwrap()["va"])
    }

    /// Runs a check for every wave with its expected values, and the index of the work-group that it opens.
    pub(super) fn each_wave(&self, mut check: impl FnMut(Of<'_>, Option<u32>, bool, &Value)) {
        let expected = self.expected["waves"].as_array().unwrap();
        let mut count = 0;
        for (of, opens, last) in ordered(&self.plan).into_iter().flatten().flatten() {
            check(of, opens, last, &expected[count]);
            count += 1;
        }
        assert_eq!(count, expected.len());
    }
}

fn queue_of(queue: &Value, expected: &Value, xccs: u32, scratch: Option<Scratch>) -> Queue {
    let id = small(&queue["queue_id"]);
    let dispatches = expected["dispatches"].as_array().unwrap().iter();
    let dispatches = dispatches.filter(|dispatch| dispatch["queue_id"] == id).map(|dispatch| {
        let sizes = |key: &str, axis: usize| small(&dispatch[key][axis]);
        Dispatch {
            id: number(&dispatch["packet_id"]),
            dimensions: small(&dispatch["grid_dimensions"]) as u16,
            workgroup: [0, 1, 2].map(|axis| sizes("workgroup_sizes", axis) as u16),
            grid: [0, 1, 2].map(|axis| sizes("grid_sizes", axis)),
            private_bytes: small(&dispatch["private_segment_size"]),
            group_bytes: small(&dispatch["group_segment_size"]),
            invalidated: false,
        }
    });
    let mut by_xcc = vec![Vec::<(usize, Group)>::new(); xccs as usize];
    for wave in expected["waves"].as_array().unwrap().iter().filter(|wave| wave["queue_id"] == id) {
        let groups = &mut by_xcc[small(&wave["writer"]["xcc"]) as usize];
        let index = number(&wave["workgroup"]) as usize;
        if groups.last().is_none_or(|(last, _)| *last != index) {
            let local = hex(&expected["workgroups"][index]["local"]);
            let position = [0, 1, 2].map(|axis| small(&wave["coord"][axis]));
            let dispatch = number(&wave["packet_id"]);
            let lds = local.len() as u32;
            groups.push((index, Group { dispatch, position, lds, takeover: false, waves: Vec::new() }));
        }
        groups.last_mut().unwrap().1.waves.push(wave_of(wave));
    }
    Queue {
        id,
        id_marks: 0,
        agent: 0,
        kind: AQL,
        packets: small(&queue["size"]) / 64,
        read: number(&queue["read_packet"]),
        write: number(&queue["write_packet"]),
        dispatches: dispatches.collect(),
        xccs: by_xcc.into_iter().map(|groups| groups.into_iter().map(|(_, group)| group).collect()).collect(),
        scratch,
    }
}

fn wave_of(wave: &Value) -> Wave {
    let writer = &wave["writer"];
    let count = |name: &str| small(&writer["counts"][name]);
    let counts = Counts {
        lanes: small(&wave["lanes"]),
        vgprs: count("v"),
        accs: count("a"),
        sgprs: count("s"),
        shared: count("shared"),
    };
    let slot = Slot {
        engine: small(&writer["se"]),
        scoreboard: small(&writer["scoreboard"]),
        scratch_enabled: writer["scratch_en"].as_bool().unwrap(),
    };
    let pc = number(&wave["pc"]);
    let status = dword(wave, "status");
    let stop = writer["stopped_in_file"].as_bool().unwrap().then(|| {
        let mut stop = Stop { halted: status & 1 << 13 != 0, ..Stop::default() };
        for reason in wave["stop_reasons"].as_array().unwrap() {
            let cause = match reason.as_str().unwrap() {
                "BREAKPOINT" => Err(1),
                "ASSERT_TRAP" => Err(2),
                "DEBUG_TRAP" => Err(3),
                "MEMORY_VIOLATION" => Ok(Cause::Page),
                "ILLEGAL_INSTRUCTION" => Ok(Cause::Illegal),
                other => panic!("no sample stops by {other}"),
            };
            match cause {
                Ok(cause) => stop.causes.push(Raised { cause, enabled: false }),
                Err(trap) => stop.trap = trap,
            }
        }
        let hardware = number(&writer["hwreg_pc"]);
        stop.parked_at = (hardware != pc).then_some(hardware);
        stop
    });
    Wave {
        in_group: small(&wave["wave_in_group"]),
        slot,
        exec: number(&wave["exec"]),
        halted: stop.is_none() && status & 1 << 13 != 0,
        status: status & !(1 << 13),
        mode: dword(wave, "mode"),
        stop,
        // Stack and frame pointer of the program.
        scalars: [32, 33]
            .into_iter()
            .filter(|slot| *slot < counts.sgprs)
            .filter_map(|slot| {
                Some((
                    slot,
                    wave["registers"].get(format!("s{slot}")).map(|_| dword(wave, &format!("s{slot}")))?,
                ))
            })
            .collect(),
        ..plain(counts, pc)
    }
}

pub(super) fn samples() -> impl Iterator<Item = Sample> {
    SAMPLES.into_iter().map(Sample::open)
}
