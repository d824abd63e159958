//! `[[agent]]` and `[[queue]]`: GPUs by the dump and their driver, and their queues.

use std::collections::HashMap;

use super::build::Builder;
use super::key::Key;
use super::manifest;
use super::shape::Field;
use crate::arch::Target;
use crate::capture::{Agent, Hardware, Queue, Ring};
use crate::units::{Address, AddressSpace};

impl Builder<'_, '_> {
    pub(super) fn agents(&mut self) {
        let table = Key::Root.name("agent");
        for (index, entry) in self.problems.entries(&Key::Root, "agent", &self.manifest.agent) {
            let key = table.index(index);
            self.problems.extra(&key, &entry.extra);
            let Some(id) = self.agents.declare(&mut self.problems, &key, &entry.id) else { continue };
            let Some(name) = self.problems.required(&key, "target", &entry.target) else { continue };
            let target = match self.targets.target(&name.0) {
                Ok(target) => target,
                Err(error) => {
                    let what = format_args!("{error}; the agent and all that runs on it are left out");
                    self.problems.report(key.name("target"), what, "the name of a target");
                    continue;
                }
            };
            let name = self.problems.text(&key, "name", &entry.name);
            let apertures = self.apertures(&key, &target, &entry.apertures);
            let hardware = self.hardware(&key, &entry.hardware);
            self.agents.place(id, self.capture.agents.len());
            self.capture.agents.push(Agent { id, target, name, apertures, hardware });
        }
    }

    fn apertures(
        &mut self,
        key: &Key<'_>,
        target: &Target,
        field: &Field<manifest::Apertures<'_>>,
    ) -> HashMap<AddressSpace, Address> {
        let mut apertures = HashMap::new();
        let Some(given) = self.problems.given(key, "apertures", field) else { return apertures };
        let key = key.name("apertures");
        self.problems.extra(&key, &given.extra);
        for (name, space, base) in
            [("local", "local", &given.local), ("private", "private_lane", &given.private)]
        {
            let Some(base) = self.problems.number(&key, name, base) else { continue };
            let Some(space) = target.space_named(space) else { continue };
            // An aperture has 2^32 bytes and is aligned to its size; at 0 it would hide global memory.
            let taken = target
                .spaces
                .iter()
                .filter(|other| other.id != space.id)
                .any(|other| apertures.get(&other.id).copied().or(other.aperture) == Some(Address(base)));
            if base == 0 || base & 0xffff_ffff != 0 || taken {
                let expected = "a multiple of 2^32 above 0 that no other aperture has";
                self.problems.report(key.name(name), format_args!("{base:#x}"), expected);
                continue;
            }
            apertures.insert(space.id, Address(base));
        }
        apertures
    }

    pub(super) fn queues(&mut self) {
        let table = Key::Root.name("queue");
        for (index, entry) in self.problems.entries(&Key::Root, "queue", &self.manifest.queue) {
            let key = table.index(index);
            self.problems.extra(&key, &entry.extra);
            let Some(id) = self.queues.declare(&mut self.problems, &key, &entry.id) else { continue };
            if self.problems.required(&key, "agent", &entry.agent).is_none() {
                continue;
            }
            let agent = self.agents.resolve(&mut self.problems, &key, "agent", &entry.agent);
            let Some(agent) = agent else { continue };
            let name = self.problems.text(&key, "name", &entry.name);
            let ring = self.ring(&key, &entry.ring);
            self.queues.place(id, self.capture.queues.len());
            self.capture.queues.push(Queue { id, agent, name, ring });
        }
    }

    /// The driver's facts of a GPU; one missing or malformed number makes all of them absent.
    fn hardware(&mut self, key: &Key<'_>, field: &Field<manifest::Hardware<'_>>) -> Option<Hardware> {
        let given = self.problems.given(key, "hardware", field)?;
        let key = key.name("hardware");
        self.problems.extra(&key, &given.extra);
        let mut number = |name: &str, field: &Field<u64>| {
            self.problems.needed_small(&key, name, field, "`hardware` is unknown")
        };
        // Reads all six first, to report each error.
        let vendor = number("vendor", &given.vendor);
        let device = number("device", &given.device);
        let location = number("location", &given.location);
        let simds = number("simds", &given.simds);
        let waves_per_simd = number("waves_per_simd", &given.waves_per_simd);
        let xccs = number("xccs", &given.xccs);
        Some(Hardware {
            vendor: vendor?,
            device: device?,
            location: location?,
            simds: simds?,
            waves_per_simd: waves_per_simd?,
            xccs: xccs?,
        })
    }

    fn ring(&mut self, key: &Key<'_>, field: &Field<manifest::Ring<'_>>) -> Option<Ring> {
        let problems = &mut self.problems;
        let given = problems.given(key, "ring", field)?;
        let key = key.name("ring");
        problems.extra(&key, &given.extra);
        let address = problems.needed(&key, "address", &given.address, "`ring` is unknown").copied();
        let size = problems.needed(&key, "size", &given.size, "`ring` is unknown").copied();
        let (address, size) = (address?, size?);
        if size != 0 && address.checked_add(size - 1).is_none() {
            let what = format_args!("{size:#x} bytes from {address:#x} on, ignored");
            problems.report(key.name("size"), what, "an end within the address space");
            return None;
        }
        let read = problems.number(&key, "read", &given.read);
        let write = problems.number(&key, "write", &given.write);
        Some(Ring { address, size, read, write })
    }
}
