//! Source files.

use std::collections::HashSet;
use std::io::{self, Write as _};

use serde_json::{Map, Value, json};

use super::memory::data;
use super::objects::{is_plain, plain};
use super::sink::Sink;
use super::{Plan, Written};

/// Maximum bytes of a path, and of one name in it, that a dump keeps unchanged.
const MAX_PATH: usize = 1024;
const MAX_PART: usize = 200;

/// File names of source files: `sources/PATH`, so that a debugger's settings can refer to an unpacked dump. A number
/// replaces a path with other characters, or one that is both folder and file.
struct Files<'p> {
    paths: HashSet<&'p str>,
    taken: HashSet<&'p str>,
}

impl<'p> Files<'p> {
    fn new(plan: &'p Plan) -> Self {
        let paths = plan.sources.iter().map(|source| source.path.trim_start_matches('/'));
        Self { paths: paths.collect(), taken: HashSet::new() }
    }

    fn name(&mut self, index: usize, path: &'p str) -> String {
        let path = path.trim_start_matches('/');
        let mut folders = path.match_indices('/').filter_map(|(at, _)| path.get(..at));
        let is_below_a_file = folders.any(|folder| self.paths.contains(folder));
        let is_plain = path.len() <= MAX_PATH
            && path.split('/').all(|part| part.len() <= MAX_PART && part.chars().all(is_plain));
        if is_plain && !is_below_a_file && self.taken.insert(path) {
            format!("sources/{path}")
        } else {
            format!("sources-by-number/{index}-{}", plain(path))
        }
    }
}

/// Writes the plan's source files; returns the manifest's entries.
pub(super) fn write(plan: &Plan, sink: &mut Sink<'_>, written: &mut Written) -> io::Result<Vec<Value>> {
    let (mut entries, mut files) = (Vec::new(), Files::new(plan));
    for (index, source) in plan.sources.iter().enumerate() {
        let bytes: &[u8] = (*source.bytes).as_ref();
        let file = files.name(index, &source.path);
        sink.begin(&file, bytes.len() as u64)?;
        sink.write_all(bytes)?;
        written.sources += bytes.len() as u64;
        let mut entry = Map::new();
        entry.insert("path".to_owned(), json!(source.path));
        entry.extend(data(&file, 0, bytes.len() as u64));
        entries.push(Value::Object(entry));
    }
    Ok(entries)
}
