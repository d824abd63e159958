//! Containers of code objects, by the tools that write them: what they hold, and the choice of a dump's code object.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::dwarf::ran;
use crate::fixtures::{copy_dump, fixtures};
use crate::slim::{Scratch, answer, lanescope, words};
use crate::support::newest;

/// A bundle of one fixture for gfx90a.
fn bundle(scratch: &Scratch, fixture: &str, more: &[&str]) -> Vec<u8> {
    let [empty, output] = ["empty", "bundle"].map(|name| scratch.path(name));
    fs::write(&empty, []).unwrap();
    let mut command = Command::new(newest("clang-offload-bundler"));
    command.args(["--type=o", "--bundle-align=4096"]).args(more);
    command.arg("--targets=host-x86_64-unknown-linux-gnu,hipv4-amdgcn-amd-amdhsa--gfx90a");
    for input in [empty, fixtures().join("code").join(fixture)] {
        command.arg(format!("--input={}", input.display()));
    }
    ran(command.arg(format!("--output={}", output.display())));
    fs::read(output).unwrap()
}

/// An offload binary of one fixture for gfx90a.
fn offload_binary(scratch: &Scratch, fixture: &str) -> Vec<u8> {
    let output = scratch.path("binary");
    let file = fixtures().join("code").join(fixture);
    let image = format!("--image=file={},triple=amdgcn-amd-amdhsa,arch=gfx90a,kind=openmp", file.display());
    ran(Command::new(newest("clang-offload-packager")).arg("-o").arg(&output).arg(image));
    fs::read(output).unwrap()
}

/// A copy of the dump of saxpy whose code object is in that file.
fn dump(scratch: &Scratch, file: &[u8], uri: Option<(usize, usize)>) -> PathBuf {
    let to = scratch.path("dump");
    let _ = fs::remove_dir_all(&to);
    copy_dump("saxpy-gfx90a-O0", &to);
    fs::write(to.join("library"), file).unwrap();
    let manifest = fs::read_to_string(to.join("manifest.toml")).unwrap();
    let lines = manifest.lines().filter_map(|line| match line {
        line if line.starts_with("uri = ") => {
            uri.map(|(offset, size)| format!("uri = \"file:///lib#offset={offset}&size={size}\""))
        }
        line if line.ends_with(".hsaco\"") => Some("file = \"library\"".to_owned()),
        line => Some(line.to_owned()),
    });
    let manifest: Vec<String> = lines.collect();
    assert!(manifest.iter().any(|line| line == "file = \"library\""));
    fs::write(to.join("manifest.toml"), manifest.join("\n")).unwrap();
    to
}

fn locals(dump: &Path) -> String {
    let output = lanescope(&["locals", words(dump), "--json"]);
    String::from_utf8(output.stdout).unwrap()
}

/// The code object's state by `info`, which folds long lines.
fn state(dump: &Path) -> String {
    let info: Value = serde_json::from_str(&answer(&["info", words(dump), "--json"])).unwrap();
    info["code_objects"][0].to_string()
}

#[test]
fn a_uri_that_names_a_bundle_narrows_the_choice_to_it() {
    let scratch = Scratch::new("containers-uri");
    let expected = locals(&fixtures().join("dumps/saxpy-gfx90a-O0"));
    assert!(expected.contains("stride"));
    let forms = [&[][..], &["--compress"][..]];
    for more in forms {
        // The library of two translation units has a bundle of each, both with an entry for this GPU.
        let mut file = bundle(&scratch, "call-gfx90a-O0.hsaco", more);
        let first = file.len();
        file.resize(first.next_multiple_of(4096), 0);
        let start = file.len();
        file.extend(bundle(&scratch, "saxpy-gfx90a-O0.hsaco", more));
        let second = (start, file.len() - start);
        file.resize(file.len() + 4096, 0);
        assert_eq!(locals(&dump(&scratch, &file, Some(second))), expected, "{more:?}");
        let other = dump(&scratch, &file, Some((0, first)));
        assert_ne!(locals(&other), expected, "{more:?}");
        // Without a range, and with one that begins at no bundle, the choice is open.
        for uri in [None, Some((start + 64, 64))] {
            let open = state(&dump(&scratch, &file, uri));
            assert!(open.contains("2 entries for gfx90a"), "{more:?}: {open}");
        }
    }
}

#[test]
fn programs_with_offload_binaries_are_opened() {
    let scratch = Scratch::new("containers-offload");
    let binary = offload_binary(&scratch, "saxpy-gfx90a-O0.hsaco");
    let (source, host) = (scratch.path("host.c"), scratch.path("host.o"));
    let path = scratch.path("binary");
    // A linked program of OpenMP has the binaries in this section.
    let text = format!(
        "__asm__(\".section .llvm.offloading,\\\"a\\\",@llvm_offloading\\n.p2align 3\\n.incbin \\\"{0}\\\"\\n\
         .p2align 3\\n.incbin \\\"{0}\\\"\\n\"); int main(void) {{ return 0; }}",
        path.display()
    );
    fs::write(&source, text).unwrap();
    ran(Command::new(newest("clang"))
        .args(["--target=x86_64-unknown-linux-gnu", "-c"])
        .arg(&source)
        .arg("-o")
        .arg(&host));
    let listed: Value = serde_json::from_str(&answer(&["code-object", words(&host), "--json"])).unwrap();
    let entries = listed["entries"].as_array().unwrap();
    assert_eq!(entries.len(), 2, "{listed}");
    for entry in entries {
        assert_eq!(entry["id"], "openmp-amdgcn-amd-amdhsa--gfx90a");
        assert_eq!(entry["what"], "code object version 6 for gfx90a");
    }
    let whole = answer(&["code-object", words(&fixtures().join("code/saxpy-gfx90a-O0.hsaco")), "--json"]);
    assert_eq!(answer(&["code-object", words(&host), "--entry", "1", "--json"]), whole);
    let expected = locals(&fixtures().join("dumps/saxpy-gfx90a-O0"));
    assert_eq!(locals(&dump(&scratch, &binary, None)), expected);
    let (offset, size) = (entries[1]["offset"].as_u64().unwrap(), entries[1]["size"].as_u64().unwrap());
    let uri = Some((offset as usize, size as usize));
    assert_eq!(locals(&dump(&scratch, &fs::read(&host).unwrap(), uri)), expected);
}

/// SPIR-V has no code object: its text in a bundle names it, and the places that need a code object give the reason.
#[test]
fn spirv_is_named_where_a_code_object_is_expected() {
    let scratch = Scratch::new("containers-spirv");
    let spirv = scratch.path("spirv");
    // The header of SPIR-V 1.6: magic, version, generator, bound, schema.
    let header = [0x0723_0203u32, 0x0001_0600, 0, 1, 0];
    fs::write(&spirv, header.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>()).unwrap();
    let [empty, output] = ["empty", "bundle"].map(|name| scratch.path(name));
    fs::write(&empty, []).unwrap();
    let mut command = Command::new(newest("clang-offload-bundler"));
    command.args(["--type=o", "--targets=host-x86_64-unknown-linux-gnu,hip-spirv64-amd-amdhsa--amdgcnspirv"]);
    command.args([&empty, &spirv].map(|input| format!("--input={}", input.display())));
    ran(command.arg(format!("--output={}", output.display())));
    let listed = answer(&["code-object", words(&output)]);
    assert!(listed.contains("amdgcnspirv") && listed.contains("SPIR-V: the runtime compiles it"), "{listed}");
    let refused = lanescope(&["code-object", words(&output), "--entry", "amdgcnspirv"]);
    let text = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && text.contains("SPIR-V's (amdgcnspirv"), "{text}");
    let state = state(&dump(&scratch, &fs::read(&output).unwrap(), None));
    assert!(state.contains("no entry for gfx90a") && state.contains("one is SPIR-V"), "{state}");
}
