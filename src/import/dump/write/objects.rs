//! Code objects: their files, and where they were loaded.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::{self, Write as _};

use serde_json::{Value, json};

use super::memory::data;
use super::sink::Sink;
use super::tables::table;
use super::{Plan, Written, number};
use crate::capture::{Bytes, Capture, LoadedSegment};
use crate::codeobject::{Uri, hex};

/// Maximum number of characters of a file's name that come from the capture.
const MAX_NAME: usize = 64;

/// Writes the files of the plan's code objects; returns the manifest's entries.
pub(super) fn write(
    capture: &Capture,
    plan: &Plan,
    sink: &mut Sink<'_>,
    written: &mut Written,
) -> io::Result<Vec<Value>> {
    let mut entries = Vec::new();
    // Code objects of one file share its copy.
    let mut known: HashMap<(usize, usize), String> = HashMap::new();
    for planned in &plan.code_objects {
        let Some(object) = capture.code_objects.get(planned.index) else { continue };
        let agent = object.agent.and_then(|agent| capture.agents.get(agent));
        let mut entry = table([
            ("address", Some(number(object.address.0))),
            ("name", Some(json!(object.name))),
            ("uri", object.uri.as_ref().map(|uri| json!(uri))),
            ("entry", object.entry.as_ref().filter(|_| planned.file.is_some()).map(|entry| json!(entry))),
            ("origin", object.origin.as_ref().filter(|_| planned.file.is_some()).map(|origin| json!(origin))),
            ("build_id", object.build_id.as_deref().map(|id| json!(hex(id)))),
            ("image", (object.image && planned.file.is_some()).then(|| json!(true))),
            ("agent", agent.map(|agent| json!(agent.id))),
        ]);
        let mut store = |bytes: &Bytes, end: &str| {
            let bytes: &[u8] = (**bytes).as_ref();
            let length = bytes.len() as u64;
            let file = match known.entry((bytes.as_ptr() as usize, bytes.len())) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => {
                    let file = format!("code/{}-{}{end}", planned.index, plain(&object.name));
                    sink.begin(&file, length)?;
                    sink.write_all(bytes)?;
                    written.code_objects += length;
                    place.insert(file)
                }
            };
            Ok::<_, io::Error>(data(file, 0, length))
        };
        if let Some(bytes) = &planned.file {
            entry.extend(store(bytes, "")?);
        }
        if let Some(bytes) = &planned.debug {
            entry.insert("debug".to_owned(), Value::Object(store(bytes, ".debug")?));
        }
        if planned.file.is_none() && !planned.segments.is_empty() {
            entry.insert("segments".to_owned(), planned.segments.iter().map(segment).collect());
        }
        entries.push(Value::Object(entry));
    }
    Ok(entries)
}

/// A loaded segment.
fn segment(of: &LoadedSegment) -> Value {
    let size = of.end.saturating_sub(of.start);
    let code = of.is_code.then(|| json!(true));
    Value::Object(table([("address", Some(number(of.start))), ("size", Some(number(size))), ("code", code)]))
}

/// Whether all file systems accept a character in names.
pub(super) fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_')
}

/// The last part of a name, reduced to characters that all file systems accept.
pub(super) fn plain(name: &str) -> String {
    let last = Uri::file_name(name);
    last.chars().take(MAX_NAME).map(|c| if is_plain(c) { c } else { '_' }).collect()
}
