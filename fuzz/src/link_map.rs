//! Arbitrary memory as the runtime's list of code objects. The input has pieces with addresses, and the list's address.

use std::collections::BTreeMap;

use lanescope::codeobject::Bytes;
use lanescope::import::objects::{LinkMap, MAX_NAME, MAX_NODES, Memory};

struct Pieces(BTreeMap<u64, Vec<u8>>);

impl Memory for Pieces {
    fn read(&self, address: u64, buffer: &mut [u8]) -> usize {
        let mut done = 0;
        while done < buffer.len() {
            let at = address.wrapping_add(done as u64);
            let Some((start, bytes)) = self.0.range(..=at).next_back() else { break };
            let Some(rest) = usize::try_from(at - start).ok().and_then(|skip| bytes.get(skip..)) else {
                break;
            };
            let count = rest.len().min(buffer.len() - done);
            if count == 0 {
                break;
            }
            buffer[done..done + count].copy_from_slice(&rest[..count]);
            done += count;
        }
        done
    }

    fn segment(&self, address: u64) -> Option<(u64, u64)> {
        let (start, bytes) = self.0.range(..=address).next_back()?;
        let last = start.checked_add(bytes.len() as u64)?.checked_sub(1)?;
        (address <= last).then_some((*start, last))
    }

    fn view(&self, address: u64, length: u64) -> Option<Bytes> {
        let mut bytes = vec![0; usize::try_from(length).ok().filter(|length| *length <= 1 << 20)?];
        (self.read(address, &mut bytes) == bytes.len()).then(|| Bytes::from(bytes))
    }
}

pub fn run(input: &[u8]) {
    let Some((r_debug, mut rest)) = input.split_first_chunk::<8>() else { return };
    let mut pieces = BTreeMap::new();
    // Address, length, bytes; addresses are short, so that pointers hit a piece.
    while let Some((head, after)) = rest.split_first_chunk::<4>() {
        let address = u64::from(u16::from_le_bytes([head[0], head[1]])) << 4;
        let length = usize::from(u16::from_le_bytes([head[2], head[3]])).min(after.len());
        pieces.insert(address, after[..length].to_vec());
        rest = &after[length..];
    }
    let memory = Pieces(pieces);
    let map = LinkMap::read(&memory, u64::from_le_bytes(*r_debug) & 0xf_ffff);
    assert!(map.entries.len() <= MAX_NODES);
    assert!(map.entries.iter().all(|entry| entry.uri.as_ref().is_none_or(|uri| uri.len() < MAX_NAME)));
    assert!(map.problems.iter().all(|problem| !problem.what.is_empty()));
    assert_eq!(map, LinkMap::read(&memory, u64::from_le_bytes(*r_debug) & 0xf_ffff));
}
