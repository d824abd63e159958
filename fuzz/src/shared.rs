//! Inputs that several targets build from their bytes, and checks that they share.

use std::sync::{Arc, LazyLock};

use lanescope::arch::{Targets, WaveArch};
use lanescope::capture::{BackingId, Capture, MemoryMap, RegisterBlock, Registers, Wave};

pub(crate) static TARGETS: LazyLock<Targets> = LazyLock::new(Targets::builtin);

/// The code objects of folders of the repository, in the order of their paths.
pub(crate) fn code_objects(folders: &[&str]) -> Vec<Vec<u8>> {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    let files =
        folders.iter().flat_map(|folder| std::fs::read_dir(format!("{root}/{folder}")).expect("fixtures"));
    let mut paths: Vec<_> = files.map(|file| file.expect("a file").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "hsaco" || extension == "o"));
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("a fixture")).collect()
}

/// A sound file with changes. The first byte chooses the file; offset, length and new bytes follow, repeatedly.
pub(crate) fn mutated(sound: &[Vec<u8>], bytes: &[u8]) -> Option<Vec<u8>> {
    let (first, mut rest) = bytes.split_first()?;
    let mut mutated = sound[usize::from(*first) % sound.len()].clone();
    while let Some((head, after)) = rest.split_first_chunk::<4>() {
        let at = u32::from_le_bytes([head[0], head[1], head[2], 0]) as usize % mutated.len();
        let length = usize::from(head[3] % 16).min(after.len()).min(mutated.len() - at);
        mutated[at..at + length].copy_from_slice(&after[..length]);
        rest = &after[length..];
    }
    Some(mutated)
}

/// Reads the beginning of each segment.
pub(crate) fn read(capture: &Capture, map: &MemoryMap) {
    let mut buffer = [0; 64];
    for segment in map.segments() {
        let count = capture.read(map, segment.address, &mut buffer).expect("memory lies in memory");
        assert!(count > 0, "a segment is never empty");
    }
}

/// Where a core's note begins: behind the file header and two program headers.
pub(crate) const NOTE: usize = 64 + 2 * 56;

/// Bytes of the note of a descriptor.
pub(crate) fn note_size(descriptor: &[u8]) -> usize {
    12 + 8 + descriptor.len()
}

/// A core up to the end of ROCm's note: the note's program header, that of one segment with memory (offset, address,
/// size), the note.
pub(crate) fn core(descriptor: &[u8], memory: (usize, u64, usize)) -> Vec<u8> {
    let mut file = b"\x7fELF\x02\x01\x01\x40".to_vec();
    file.resize(64, 0);
    file[16..20].copy_from_slice(&[4, 0, 224, 0]);
    file[32] = 64;
    file[54..58].copy_from_slice(&[56, 0, 2, 0]);
    for (kind, (offset, address, size)) in [(4u32, (NOTE, 0, note_size(descriptor))), (1, memory)] {
        let mut header = [0; 56];
        header[..4].copy_from_slice(&kind.to_le_bytes());
        header[8..16].copy_from_slice(&(offset as u64).to_le_bytes());
        header[16..24].copy_from_slice(&address.to_le_bytes());
        header[32..40].copy_from_slice(&(size as u64).to_le_bytes());
        file.extend(header);
    }
    file.extend([7, 0, 0, 0]);
    file.extend((descriptor.len() as u32).to_le_bytes());
    file.extend([33, 0, 0, 0]);
    file.extend(b"AMDGPU\0\0");
    file.extend(descriptor);
    file
}

/// A wave of the first agent with these registers and this private memory, and nothing else.
pub(crate) fn wave(
    id: u32,
    kind: &Arc<WaveArch>,
    own: Vec<(BackingId, RegisterBlock)>,
    private: MemoryMap,
) -> Wave {
    Wave {
        id,
        label: None,
        unconfirmed: None,
        unchecked: None,
        kind: Arc::clone(kind),
        agent: 0,
        workgroup: None,
        wave_in_group: None,
        stop: None,
        sgpr_count: None,
        registers: Registers { own, ..Registers::default() },
        private,
        private_size: None,
    }
}
