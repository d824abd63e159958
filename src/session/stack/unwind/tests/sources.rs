//! Inlined calls and lines of every fixture from a compiler, compared with llvm-symbolizer.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use serde_json::Value;

use crate::capture::CodeObject;
use crate::codeobject::{self, Bytes, ElfAddress, newest_llvm, some_objects};
use crate::sample::least;
use crate::session::Reader;
use crate::session::tests::Maker;
use crate::units::Address;

/// Number of sampled addresses of one object, spread over its code.
const SAMPLES: u64 = 40;

#[test]
fn inlined_calls_are_those_that_llvm_symbolizer_prints() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/code");
    let (mut compared, mut inlined) = (0, 0);
    let mut command = Command::new(newest_llvm("llvm-symbolizer"));
    command.args(["--inlines", "--output-style=JSON", "--no-demangle"]);
    let mut asked = Vec::new();
    for path in some_objects(fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect()) {
        let bytes = fs::read(&path).unwrap();
        let text = codeobject::CodeObject::parse(Bytes::from(bytes.clone())).unwrap().text().unwrap();
        let step = ((text.end.0 - text.start.0) / SAMPLES / 4 * 4).max(4);
        let samples: Vec<u64> = (text.start.0..text.end.0).step_by(step as usize).collect();
        command.args(samples.iter().map(|address| format!("\"{}\" {address:#x}", path.display())));
        asked.push((path, bytes, text, samples));
    }
    let output = command.output().unwrap();
    assert!(output.status.success());
    let answers: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answers.len(), asked.iter().map(|(.., samples)| samples.len()).sum::<usize>());
    let mut answers = answers.iter();
    for (path, bytes, text, samples) in asked {
        let mut maker = Maker::new("gfx90a");
        let extent = Some(maker.extent(&bytes));
        let name = path.display().to_string();
        let object = CodeObject {
            address: Address(0),
            extent,
            uri: None,
            entry: None,
            build_id: None,
            agent: None,
            name,
            // The fixtures are for many processors.
            forced: true,
            ..Default::default()
        };
        maker.capture.code_objects.push(object);
        let dump = maker.finish();
        let reader = Reader::new(Arc::clone(&dump));
        let loaded = dump.objects().at(dump.capture(), text.start.0, None).unwrap();
        for (address, answer) in samples.iter().zip(answers.by_ref()) {
            let context = format!("{} {address:#x}: {answer}", path.display());
            let source = loaded.source(&reader, ElfAddress(*address));
            let frames = answer["Symbol"].as_array().unwrap();
            let Some((_, function)) = source.function(reader.rereads()).unwrap() else {
                // Padding between functions, which line tables may cover: no function of debug information.
                assert_eq!((source.calls.len(), frames.len()), (1, 1), "{context}");
                assert_eq!(source.calls[0].line.unwrap_or(0), frames[0]["Line"], "{context}");
                continue;
            };
            assert_eq!(source.calls.len(), frames.len(), "{context}");
            for ((call, frame), part) in source.calls.iter().zip(frames).zip(function.frames.iter()) {
                let number = |key: &str| frame[key].as_u64().filter(|number| *number != 0);
                assert_eq!((call.line, call.column), (number("Line"), number("Column")), "{context}");
                let symbol = part.subprogram.linkage_name.as_deref().or(part.subprogram.name.as_deref());
                // The tool names the outermost function by its symbol, and a cold part has its own symbol.
                let named = frame["FunctionName"].as_str().map(|name| name.trim_end_matches(".cold"));
                assert_eq!(symbol, named, "{context}");
                let file = frame["FileName"].as_str().unwrap();
                assert!(file.ends_with(call.file.as_deref().unwrap_or_default()), "{context}: {call:?}");
            }
            compared += 1;
            inlined += frames.len() - 1;
        }
    }
    assert!(
        compared > least(800, 200) && inlined > least(50, 10),
        "only {compared} addresses, {inlined} inlined calls"
    );
}
