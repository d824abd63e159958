//! The manifest's schema: the tables of docs/dump-format.md, in its order.

use std::borrow::Cow;

use serde::de::{DeserializeSeed as _, Deserializer, IgnoredAny, MapAccess, SeqAccess};

use super::inline::{Inline, InlineShape};
use super::memory_limit::{MemoryLimit, index};
use super::shape::{AnyShape, Extra, Field, Name, Shape, Text, key_name, tables};

/// Entries of one table of the manifest.
pub(super) type Entries<T> = Vec<Field<T>>;

tables! {
    /// The whole manifest.
    Manifest {
        format: u64,
        provenance: Provenance<'de>,
        agent: Entries<Agent<'de>>,
        queue: Entries<Queue<'de>>,
        dispatch: Entries<Dispatch<'de>>,
        workgroup: Entries<WorkGroup<'de>>,
        wave: Entries<Wave<'de>>,
        layout: Entries<Layout<'de>>,
        memory: Entries<Piece<'de>>,
        memory_map: AddressMap<'de>,
        code_object: Entries<CodeObject<'de>>,
        all_code_objects: bool,
        source: Entries<Source<'de>>,
        fault: Entries<Fault<'de>>,
        code_text: Entries<CodeText<'de>>,
        slim("x-slim"): Slim<'de>,
    }

    /// `[x-slim]`, the account of `lanescope slim`; only these keys are read.
    Slim {
        notes: Vec<Field<Text<'de>>>,
        absent_waves: Vec<Field<Text<'de>>>,
        running_waves: Vec<Field<Text<'de>>>,
        unsearched: bool,
        truncated: Text<'de>,
    }

    /// `[provenance]`
    Provenance {
        producer: Text<'de>,
        created: Text<'de>,
        host: Text<'de>,
        command: Text<'de>,
        process: u64,
        note: Text<'de>,
    }

    /// `[[agent]]`
    Agent {
        id: u64,
        target: Text<'de>,
        name: Text<'de>,
        apertures: Apertures<'de>,
        hardware: Hardware<'de>,
    }

    /// `agent.apertures`
    Apertures {
        local: u64,
        private: u64,
    }

    /// `agent.hardware`
    Hardware {
        vendor: u64,
        device: u64,
        location: u64,
        simds: u64,
        waves_per_simd: u64,
        xccs: u64,
    }

    /// `[[queue]]`
    Queue {
        id: u64,
        agent: u64,
        name: Text<'de>,
        ring: Ring<'de>,
    }

    /// `queue.ring`
    Ring {
        address: u64,
        size: u64,
        read: u64,
        write: u64,
    }

    /// `[[dispatch]]`
    Dispatch {
        id: u64,
        shown_as: u64,
        queue: u64,
        packet: u64,
        packet_header: u64,
        kernel: Text<'de>,
        grid: Vec<Field<u64>>,
        workgroup: Vec<Field<u64>>,
        kernarg: u64,
        kernel_object: u64,
        private_segment_size: u64,
        group_segment_size: u64,
        entry: u64,
        dimensions: u64,
        completion: u64,
        all_waves: bool,
    }

    /// `[[workgroup]]`
    WorkGroup {
        id: u64,
        dispatch: u64,
        queue: u64,
        position: Vec<Field<u64>>,
        recorded_position: Vec<Field<u64>>,
        lds_size: u64,
        all_waves: bool,
        lds: Entries<Piece<'de>>,
    }

    /// `[[wave]]`
    Wave {
        id: u64,
        label: Text<'de>,
        workgroup: u64,
        agent: u64,
        wave_in_group: u64,
        wave_size: u64,
        stop: Vec<Field<Text<'de>>>,
        sgpr_count: u64,
        registers: InlineRegisters<'de>,
        image: Box<Image<'de>>,
        bulk: Entries<Bulk<'de>>,
        private: Entries<Piece<'de>>,
        private_size: u64,
        unconfirmed: Text<'de>,
        unchecked: Text<'de>,
        stands_for: u64,
    }

    /// `wave.image`
    Image {
        layout: Text<'de>,
        file: Text<'de>,
        offset: u64,
        length: u64,
        hex: Text<'de>,
        u32: Box<Words>,
    }

    /// An entry of `wave.bulk`
    Bulk {
        registers: Text<'de>,
        lanes: u64,
        file: Text<'de>,
        offset: u64,
        length: u64,
        hex: Text<'de>,
        u32: Box<Words>,
    }

    /// `[[layout]]`
    Layout {
        name: Text<'de>,
        blocks: Entries<Block<'de>>,
    }

    /// An entry of `layout.blocks`
    Block {
        registers: Text<'de>,
        offset: u64,
        lanes: u64,
    }

    /// `[[memory]]`, and an entry of `workgroup.lds` or `wave.private`
    Piece {
        address: u64,
        name: Text<'de>,
        file: Text<'de>,
        offset: u64,
        length: u64,
        hex: Text<'de>,
        u32: Box<Words>,
    }

    /// `[memory_map]`
    AddressMap {
        whole: bool,
        ranges: Entries<MappedRange<'de>>,
    }

    /// An entry of `memory_map.ranges`
    MappedRange {
        address: u64,
        size: u64,
        name: Text<'de>,
    }

    /// `[[code_object]]`
    CodeObject {
        address: u64,
        path: Text<'de>,
        uri: Text<'de>,
        entry: Text<'de>,
        build_id: Text<'de>,
        name: Text<'de>,
        origin: Text<'de>,
        image: bool,
        debug: Box<DebugFile<'de>>,
        segments: Entries<LoadedSegment<'de>>,
        agent: u64,
        file: Text<'de>,
        offset: u64,
        length: u64,
        hex: Text<'de>,
        u32: Box<Words>,
    }

    /// An entry of `code_object.segments`
    LoadedSegment {
        address: u64,
        size: u64,
        code: bool,
    }

    /// `[[source]]`
    Source {
        path: Text<'de>,
        file: Text<'de>,
        offset: u64,
        length: u64,
        hex: Text<'de>,
        u32: Box<Words>,
    }

    /// `[[fault]]`
    Fault {
        kind: Text<'de>,
        address: u64,
        bytes: u64,
        inexact: bool,
        access: Text<'de>,
        reasons: Vec<Field<Text<'de>>>,
        all_reasons: bool,
        status: Text<'de>,
        node: u64,
        device: Text<'de>,
        agent: u64,
        agent_inferred: Text<'de>,
        client: Text<'de>,
        ring: Text<'de>,
        kernel: Text<'de>,
        process: u64,
        assertion: FailedAssertion<'de>,
        source: Text<'de>,
        place: Place<'de>,
        also: Entries<Report<'de>>,
    }

    /// `fault.assertion`
    FailedAssertion {
        condition: Text<'de>,
        file: Text<'de>,
        line: u64,
        function: Text<'de>,
    }

    /// An entry of `fault.also`
    Report {
        source: Text<'de>,
        place: Place<'de>,
    }

    /// `fault.place`
    Place {
        file: Text<'de>,
        line: u64,
    }

    /// `[[code_text]]`
    CodeText {
        function: Text<'de>,
        start: u64,
        agent: u64,
        instructions: Entries<TextInstruction<'de>>,
    }

    /// An entry of `code_text.instructions`
    TextInstruction {
        address: u64,
        text: Text<'de>,
        target: u64,
        file: Text<'de>,
        line: u64,
    }

    /// `code_object.debug`
    DebugFile {
        file: Text<'de>,
        offset: u64,
        length: u64,
        hex: Text<'de>,
        u32: Box<Words>,
    }
}

impl<'de> Manifest<'de> {
    /// Reads a manifest within a memory limit.
    ///
    /// # Errors
    /// The deserializer's error.
    pub(super) fn read<D: Deserializer<'de>>(
        deserializer: D,
        capacity: &MemoryLimit,
    ) -> Result<Self, D::Error> {
        match AnyShape::<Self>::new(capacity).deserialize(deserializer)? {
            Field::Given(manifest) => Ok(manifest),
            // A document that is no table has no format either; the message reports that.
            Field::Absent | Field::Wrong(_) => Ok(Self::default()),
        }
    }
}

/// The keys of *data*, which several tables share.
#[derive(Clone, Copy, Debug)]
pub(super) struct DataKeys<'a, 'de> {
    pub(super) file: &'a Field<Text<'de>>,
    pub(super) offset: &'a Field<u64>,
    pub(super) length: &'a Field<u64>,
    pub(super) hex: &'a Field<Text<'de>>,
    pub(super) u32: &'a Field<Box<Words>>,
}

macro_rules! data_keys {
    ($($name:ident)*) => {$(
        impl<'de> $name<'de> {
            /// The table's keys of *data*.
            pub(super) fn data(&self) -> DataKeys<'_, 'de> {
                let Self { file, offset, length, hex, u32, .. } = self;
                DataKeys { file, offset, length, hex, u32 }
            }
        }
    )*};
}
data_keys! { Image Bulk Piece CodeObject DebugFile Source }

/// `wave.registers`: names or ranges with their values, in the file's order.
#[derive(Debug)]
pub(super) struct InlineRegisters<'de>(pub(super) Vec<(Cow<'de, str>, Inline)>);

impl<'de> Shape<'de> for InlineRegisters<'de> {
    const EXPECTED: &'static str = "a table of registers";

    fn table<A: MapAccess<'de>>(mut table: A, capacity: &MemoryLimit) -> Result<Option<Self>, A::Error> {
        let mut registers = Vec::new();
        while let Some(Name(name)) = table.next_key()? {
            if !capacity.take(size_of::<(Cow<'de, str>, Inline)>(), &name) {
                table.next_value::<IgnoredAny>()?;
                continue;
            }
            let value = capacity.within(&*name, || table.next_value_seed(InlineShape(capacity)))?;
            registers.push((name, value));
        }
        Ok(Some(Self(registers)))
    }
}

/// The `u32` of *data*, stored as bytes to save memory.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// Little-endian.
    pub(super) bytes: Vec<u8>,
    /// The first element that is no 32-bit integer, with its description.
    pub(super) wrong: Option<(usize, String)>,
}

impl<'de> Shape<'de> for Words {
    const EXPECTED: &'static str = "an array of 32-bit integers";

    fn list<A: SeqAccess<'de>>(mut list: A, capacity: &MemoryLimit) -> Result<Option<Self>, A::Error> {
        let mut words = Self::default();
        let mut at = 0;
        while let Some(word) = list.next_element_seed(AnyShape::<u64>::new(capacity))? {
            if !capacity.take(size_of::<u32>(), index(at)) {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                break;
            }
            let wrong = match word {
                Field::Given(word) => match u32::try_from(word) {
                    Ok(word) => {
                        words.bytes.extend(word.to_le_bytes());
                        None
                    }
                    Err(_) => Some(format!("{word:#x}")),
                },
                Field::Absent => Some("null".to_owned()),
                Field::Wrong(found) => Some(found.to_string()),
            };
            if let Some(found) = wrong {
                words.wrong = Some((at, found));
                while list.next_element::<IgnoredAny>()?.is_some() {}
                break;
            }
            at += 1;
        }
        Ok(Some(words))
    }
}
