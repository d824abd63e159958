//! Program headers and sparse files.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::plan::{FilePlan, Layout, NotePlace};

/// A run of memory: bytes at offsets in ascending order, with holes between them.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub(crate) name: String,
    pub(crate) address: u64,
    pub(crate) size: u64,
    pub(crate) pieces: Vec<(u64, Vec<u8>)>,
    /// Whether it is host memory, not GPU memory.
    pub(crate) host: bool,
}

impl Segment {
    pub(crate) fn of(name: &str, address: u64, bytes: Vec<u8>) -> Self {
        Self {
            name: name.to_owned(),
            address,
            size: bytes.len() as u64,
            pieces: vec![(0, bytes)],
            host: false,
        }
    }

    pub(crate) fn hole(name: &str, address: u64, size: u64) -> Self {
        Self { name: name.to_owned(), address, size, pieces: Vec::new(), host: false }
    }

    pub(crate) fn of_host(self) -> Self {
        Self { host: true, ..self }
    }

    /// Cut into runs of `every` bytes.
    fn cut(self, every: u64) -> Vec<Self> {
        let mut all = Vec::new();
        let mut first = 0;
        while first < self.size {
            let last = self.size.min(first + every);
            let pieces = self.pieces.iter().filter_map(|(at, bytes)| {
                let (from, to) = ((*at).max(first), (at + bytes.len() as u64).min(last));
                (from < to).then(|| (from - first, bytes[(from - at) as usize..(to - at) as usize].to_vec()))
            });
            all.push(Self {
                name: format!("{}+{first:#x}", self.name),
                address: self.address + first,
                size: last - first,
                pieces: pieces.collect(),
                host: self.host,
            });
            first = last;
        }
        all
    }
}

/// A structure in a file, for tests that damage it.
#[derive(Clone, Debug)]
pub(crate) struct Mark {
    pub(crate) name: String,
    pub(crate) offset: u64,
    pub(crate) size: u64,
}

/// Contents of a file: bytes at offsets, with holes between them.
#[derive(Clone, Debug)]
pub(crate) struct Image {
    pub(crate) length: u64,
    pub(crate) pieces: Vec<(u64, Vec<u8>)>,
    pub(crate) marks: Vec<Mark>,
    /// Address, file offset and bytes of each segment, in the order of the headers.
    pub(crate) segments: Vec<(u64, u64, u64)>,
}

impl Image {
    pub(crate) fn write(&self, path: &Path) -> io::Result<()> {
        let file = File::create(path)?;
        file.set_len(self.length)?;
        for (at, bytes) in &self.pieces {
            file.write_all_at(bytes, *at)?;
        }
        Ok(())
    }

    /// All bytes of a small file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut all = vec![0; self.length as usize];
        for (at, bytes) in &self.pieces {
            all[*at as usize..*at as usize + bytes.len()].copy_from_slice(bytes);
        }
        all
    }

    pub(crate) fn mark(&self, name: &str) -> &Mark {
        self.marks.iter().find(|mark| mark.name == name).unwrap_or_else(|| panic!("no {name} in the file"))
    }
}

/// Notes of one segment, and offset of the GPU's descriptor in them.
pub(crate) struct Notes {
    pub(crate) bytes: Vec<u8>,
    pub(crate) descriptor: Option<usize>,
}

struct Header {
    kind: u32,
    flags: u32,
    offset: u64,
    address: u64,
    file_size: u64,
    memory_size: u64,
    align: u64,
}

/// One file of notes and segments. `host`: with the header of the host's core.
pub(crate) fn image(plan: &FilePlan, host: bool, notes: Vec<Notes>, segments: Vec<Segment>) -> Image {
    let rocr = plan.rocr_headers && !host;
    let (gpu, of_host): (Vec<_>, Vec<_>) = segments.into_iter().partition(|segment| !segment.host);
    let mut parts: Vec<(Segment, u64)> = Vec::new();
    let full = |segment: Segment| {
        let size = segment.size;
        (segment, size)
    };
    parts.extend(of_host.into_iter().map(full));
    for (index, segment) in gpu.into_iter().enumerate() {
        // The host's dumper included that mapping, but could read at most the first page: as zeros.
        let view = (plan.host_views && host).then(|| {
            let bytes = segment.size.min(0x1000) / 2 * (index as u64 % 2);
            (Segment::hole("view", segment.address, segment.size), bytes)
        });
        let cut = match plan.cut_every {
            Some(every) => segment.cut(every),
            None => vec![segment],
        };
        if index % 3 == 0 {
            parts.extend(view);
            parts.extend(cut.into_iter().map(full));
        } else {
            parts.extend(cut.into_iter().map(full));
            parts.extend(view);
        }
    }
    let count = notes.len() + parts.len() + usize::from(plan.zero_headers);
    let mut at = 64 + 56 * count as u64;
    let mut image = Image { length: 0, pieces: Vec::new(), marks: Vec::new(), segments: Vec::new() };
    image.mark_as("ELF header", 0, 64);
    let mut note_headers = Vec::new();
    let mut load_headers = Vec::new();
    let unpadded = rocr && plan.quirks.unpadded;
    // Offset of the bytes, and offset in the header.
    let mut place = |bytes: u64, align: u64| {
        let stated = if rocr { at.next_multiple_of(align) } else { at };
        let offset = if unpadded { at } else { stated };
        at = offset + bytes;
        (offset, stated)
    };
    let last_note = plan.host_notes == NotePlace::Last;
    let total = notes.len();
    let mut late = None;
    for (index, each) in notes.into_iter().enumerate() {
        if last_note && index + 1 == total {
            late = Some(each);
            break;
        }
        let (offset, _) = place(each.bytes.len() as u64, 4);
        note_headers.push(image.note(offset, each, rocr));
    }
    for (segment, file_size) in parts {
        let (offset, stated) = place(file_size, 16);
        image.segments.push((segment.address, offset, file_size));
        image.mark_as(&format!("segment {}", segment.name), offset, file_size);
        image.pieces.extend(segment.pieces.into_iter().map(|(piece, bytes)| (offset + piece, bytes)));
        load_headers.push(Header {
            kind: 1,
            // ROCr uses section flags: write and alloc.
            flags: if rocr { 3 } else { 6 },
            offset: stated,
            address: segment.address,
            file_size,
            memory_size: segment.size,
            align: if rocr { 4 } else { 1 },
        });
    }
    if let Some(each) = late {
        let (offset, _) = place(each.bytes.len() as u64, 4);
        load_headers.push(image.note(offset, each, rocr));
    }
    image.length = at;
    let mut table = Vec::new();
    for header in note_headers.iter().chain(&load_headers) {
        table.extend(header.kind.to_le_bytes());
        table.extend(header.flags.to_le_bytes());
        for value in [header.offset, header.address, 0, header.file_size, header.memory_size, header.align] {
            table.extend(value.to_le_bytes());
        }
    }
    table.resize(56 * count, 0);
    for index in 0..count {
        image.mark_as(&format!("program header {index}"), 64 + 56 * index as u64, 56);
    }
    image.pieces.push((64, table));
    let gpu_alone = !host && plan.layout != Layout::Unified;
    image.pieces.push((0, elf_header(gpu_alone, count as u16)));
    image.pieces.sort_by_key(|(at, _)| *at);
    image
}

impl Image {
    fn mark_as(&mut self, name: &str, offset: u64, size: u64) {
        self.marks.push(Mark { name: name.to_owned(), offset, size });
    }

    fn note(&mut self, offset: u64, notes: Notes, rocr: bool) -> Header {
        let file_size = notes.bytes.len() as u64;
        self.mark_as("notes", offset, file_size);
        if let Some(at) = notes.descriptor {
            self.mark_as("descriptor", offset + at as u64, file_size - at as u64);
        }
        self.pieces.push((offset, notes.bytes));
        let (flags, align) = if rocr { (0, 2) } else { (4, 1) };
        let memory_size = if rocr { file_size } else { 0 };
        Header { kind: 4, flags, offset, address: 0, file_size, memory_size, align }
    }
}

fn elf_header(gpu: bool, headers: u16) -> Vec<u8> {
    let mut bytes = b"\x7fELF\x02\x01\x01".to_vec();
    bytes.push(if gpu { 64 } else { 0 });
    bytes.resize(16, 0);
    bytes.extend(4u16.to_le_bytes());
    bytes.extend(if gpu { 224u16 } else { 62 }.to_le_bytes());
    bytes.extend(1u32.to_le_bytes());
    for value in [0u64, 64, 0] {
        bytes.extend(value.to_le_bytes());
    }
    bytes.extend(0u32.to_le_bytes());
    for value in [64u16, 56, headers, if gpu { 0 } else { 64 }, 0, 0] {
        bytes.extend(value.to_le_bytes());
    }
    assert_eq!(bytes.len(), 64);
    bytes
}
