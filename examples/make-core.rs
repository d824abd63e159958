//! Writes a sparse GPU core of any size: `scripts/make-core --size 100G --waves 50000 --out FILE`.
//!
//! The core has the form of ROCr's: eight gfx942 with eight XCCs and two queues each. It has scalar registers, trap
//! temporaries, LDS and packets. Vector registers, scratch and global memory are holes (tests/cores/big.rs).
#![allow(clippy::print_stdout, reason = "it says what it wrote")]

#[allow(dead_code, reason = "tests use the rest")]
#[path = "../tests/cores/mod.rs"]
mod cores;

use std::error::Error;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

use clap::Parser;

/// Writes a sparse GPU core
#[derive(Parser)]
struct Args {
    /// Bytes of the file: 100G, 512M or a number
    #[arg(long, value_parser = size)]
    size: u64,
    /// Waves in it
    #[arg(long)]
    waves: u32,
    /// Where it goes
    #[arg(long)]
    out: PathBuf,
}

fn size(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.strip_suffix(['G', 'M', 'K']) {
        Some(digits) if text.ends_with('G') => (digits, 30),
        Some(digits) if text.ends_with('M') => (digits, 20),
        Some(digits) => (digits, 10),
        None => (text, 0),
    };
    let number: u64 =
        digits.parse().map_err(|_| format!("a size is 100G, 512M or a number, not `{text}`"))?;
    number.checked_mul(1 << shift).filter(|size| *size <= 1 << 46).ok_or(format!("{text} is too much"))
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    let core = cores::big::build(args.size, args.waves);
    core.gpu.write(&args.out)?;
    let written = std::fs::metadata(&args.out)?;
    println!(
        "{}: {} bytes, {} of them on disk; {} segments, {} waves",
        args.out.display(),
        written.len(),
        written.blocks() * 512,
        core.gpu.segments.len(),
        args.waves
    );
    Ok(())
}
