//! Decoding speed against llvm-objdump on the same bytes: `speed PROCESSOR WAVE CODE_OBJECT`.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a bench prints what it measured, and stops at a fault"
)]

use amdgpu_isa::Decoder;
use std::process::Command;
use std::time::Instant;

/// Bytes of code that each decodes.
const SIZE: usize = 8 << 20;

/// Seconds that this process ran.
fn busy() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap();
    text.split(' ').next().and_then(|time| time.parse::<f64>().ok()).unwrap() / 1e9
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, processor, wave, file] = arguments.as_slice() else { panic!("speed PROCESSOR WAVE CODE_OBJECT") };
    let folder = std::env::temp_dir().join(format!("isa-speed-{}", std::process::id()));
    std::fs::create_dir(&folder).unwrap();
    let [text, source, object] = ["text", "code.s", "code.o"].map(|name| folder.join(name));
    let run = |command: &mut Command| assert!(command.status().unwrap().success());
    run(Command::new("llvm-objcopy-22")
        .args(["-O", "binary", "--only-section=.text"])
        .args([file.as_ref(), text.as_path()]));
    let code: Vec<u8> = std::fs::read(&text).unwrap().into_iter().cycle().take(SIZE).collect();
    std::fs::write(&text, &code).unwrap();
    std::fs::write(&source, format!(".text\n.incbin \"{}\"\n", text.display())).unwrap();
    let cpu = format!("--mcpu={processor}");
    run(Command::new("llvm-mc-22")
        .args(["--triple=amdgcn-amd-amdhsa", &cpu, "--filetype=obj"])
        .arg(&source)
        .arg("-o")
        .arg(&object));

    let decoder = Decoder::new(processor, wave.parse().unwrap()).unwrap();
    let first = Instant::now();
    let _ = decoder.decode(&code);
    println!("first instruction {:.2} ms", first.elapsed().as_secs_f64() * 1e3);
    // Processor time, the best of five: others share the machine.
    let best = |run: &dyn Fn() -> (usize, usize)| {
        let times = (0..5).map(|_| {
            let start = busy();
            let result = run();
            (busy() - start, result)
        });
        times.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap()
    };
    let (rows, (count, valid)) = best(&|| {
        let all = decoder.instructions(&code);
        all.fold((0, 0), |(count, valid), (_, one)| (count + 1, valid + usize::from(one.is_valid())))
    });
    let (texts, (length, _)) = best(&|| {
        let mut buffer = String::new();
        let lengths = decoder.instructions(&code).map(|(_, one)| {
            use std::fmt::Write;
            buffer.clear();
            write!(buffer, "{one}").unwrap();
            buffer.len()
        });
        (lengths.sum(), 0)
    });
    let start = Instant::now();
    let output = Command::new("llvm-objdump-22")
        .args(["-d", "--no-show-raw-insn", &cpu])
        .arg(&object)
        .output()
        .unwrap();
    let objdump = start.elapsed().as_secs_f64();
    std::fs::remove_dir_all(&folder).unwrap();
    println!("{count} instructions, {valid} valid; {:.1} million a second", count as f64 / rows / 1e6);
    println!("text: {:.1} million a second, {length} bytes", count as f64 / texts / 1e6);
    println!(
        "llvm-objdump: {} bytes in {objdump:.2} s; rows {:.0} times as fast, text {:.0} times",
        output.stdout.len(),
        objdump / rows,
        objdump / texts
    );
}
