//! Every instruction of the fixtures' code objects.

use std::path::{Path, PathBuf};

use crate::arch::Processor;
use crate::codeobject::{CodeObject, ElfAddress, SymbolKind};
use crate::isa::Machine;
use crate::units::WaveSize;

fn objects(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    files.filter(|file| file.extension().is_some_and(|extension| extension == "hsaco")).collect()
}

/// The effects of every instruction are known: compiled kernels, hand-written ones, clang, flang and Triton.
#[test]
fn fixtures_have_no_unknown_instruction() {
    let mut count = 0;
    for path in [objects("tests/fixtures/code"), objects("tests/fixtures/compilers")].concat() {
        let object = CodeObject::parse(std::fs::read(&path).unwrap()).unwrap();
        let processor = Processor::of_mach(object.header().mach()).unwrap().name.to_owned();
        let is_old = processor.len() == "gfx90a".len();
        let wave_size = if is_old { WaveSize::W64 } else { WaveSize::W32 };
        let machine = Machine { processor, wave_size };
        for symbol in object.symbols().iter().filter(|of| of.kind == SymbolKind::Function && of.size > 0) {
            let Some(bytes) = object.bytes_at(ElfAddress(symbol.value), symbol.size) else { continue };
            for one in machine.decode(symbol.value, &bytes, false).unwrap() {
                if let Err(error) = one.effects() {
                    panic!("{}: {:#x} {}: {error}", path.display(), one.address, one.text());
                }
                count += 1;
            }
        }
    }
    assert!(count > 60_000, "{count} instructions");
}
