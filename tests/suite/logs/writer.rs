//! Writes texts like the debug agent and umr; the grammars are in tests/fixtures/logs/README.md.

use std::fmt::Write as _;

use super::model::Wave;

/// Forms of the agent's report, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// 2018: registers lane by lane.
    Old,
    /// Header without the kernel's entry.
    Plain,
    /// Header with `kernel_code_entry=`.
    Entry,
    /// Also `kernargs=`; LDS with its size, kernel arguments.
    Kernargs,
}

/// Facts of the code object in a report, if it has any.
#[derive(Clone, Debug)]
pub(super) struct Module {
    pub(super) uri: String,
    pub(super) start: u64,
    pub(super) end: u64,
}

pub(super) const RULE: &str = "--------------------------------------------------------";

/// Reports of all waves.
pub(super) fn agent(waves: &[Wave], form: Form, module: Option<&Module>) -> String {
    let mut text = String::new();
    for (index, wave) in waves.iter().enumerate() {
        if form == Form::Old {
            old(&mut text, wave);
            continue;
        }
        if index > 0 {
            text.push('\n');
        }
        writeln!(text, "{RULE}").unwrap();
        writeln!(text, "{}", header(wave, form)).unwrap();
        registers(&mut text, wave);
        if !wave.lds.is_empty() {
            match form {
                Form::Kernargs => {
                    writeln!(text, "\nLocal memory content ({} bytes):", wave.lds.len() * 4 - 24)
                }
                _ => writeln!(text, "\nLocal memory content:"),
            }
            .unwrap();
            memory(&mut text, 0, &wave.lds);
        }
        if form == Form::Kernargs {
            let bytes = wave.kernarg_words.len() * 4;
            writeln!(text, "\nGlobal memory (kernarg segment, {bytes} bytes):").unwrap();
            memory(&mut text, wave.kernargs, &wave.kernarg_words);
        }
        if let Some(module) = module {
            disassembly(&mut text, wave, module);
        }
    }
    text
}

pub(super) fn header(wave: &Wave, form: Form) -> String {
    // A name with every character of a header.
    let name = "void f<(A)1, B>(int*, (anonymous namespace)::C)";
    let kernel = match form {
        Form::Old | Form::Plain => String::new(),
        Form::Entry => format!(" (kernel_code_entry={:#x} <{name}>)", wave.entry),
        Form::Kernargs => {
            format!(" (kernel_code_entry={:#x} <{name}>, kernargs={:#x})", wave.entry, wave.kernargs)
        }
    };
    format!("wave_{}: pc={:#x}{kernel} (stopped, reason: {})", wave.id, wave.pc, wave.reasons)
}

/// Scalars right-aligned in 16 columns, 16 bytes to a line; one vector per line.
fn registers(text: &mut String, wave: &Wave) {
    let (first, rest) = wave.classes.split_first().unwrap();
    class(text, first.0, &first.1);
    write!(text, "\nvector registers:").unwrap();
    for (name, lanes) in &wave.vectors {
        write!(text, "\n{:>16}", format!("{name}: ")).unwrap();
        let lanes: Vec<String> =
            lanes.iter().enumerate().map(|(lane, value)| format!("[{lane}] {value:08x}")).collect();
        text.push_str(&lanes.join(" "));
    }
    text.push('\n');
    for (name, scalars) in rest {
        class(text, name, scalars);
    }
}

fn class(text: &mut String, name: &str, scalars: &[(String, usize, u64)]) {
    write!(text, "\n{name} registers:").unwrap();
    let (mut last, mut column) = (0, 0);
    for (name, bytes, value) in scalars {
        if *bytes != last || column % (16 / bytes) == 0 {
            text.push('\n');
            column = 0;
        }
        (last, column) = (*bytes, column + 1);
        let digits = bytes * 2;
        write!(text, "{:>16}{value:0digits$x}", format!("{name}: ")).unwrap();
    }
    text.push('\n');
}

/// Rows of eight words at multiples of 32; each word before the first is nine blanks.
fn memory(text: &mut String, start: u64, words: &[u32]) {
    let pad = (start % 32 / 4) as usize;
    let mut row = start - start % 32;
    let blank = || " ".repeat(9);
    let mut cells: Vec<String> = (0..pad).map(|_| blank()).collect();
    cells.extend(words.iter().map(|word| format!(" {word:08x}")));
    for line in cells.chunks(8) {
        writeln!(text, "    0x{row:04x}:{}", line.concat()).unwrap();
        row += 32;
    }
}

fn disassembly(text: &mut String, wave: &Wave, module: &Module) {
    let Module { uri, start, end } = module;
    writeln!(text, "\nDisassembly for function f(int*):").unwrap();
    writeln!(text, "    code object: {uri}\n    loaded at: [{start:#x}-{end:#x}]").unwrap();
    writeln!(text, "\n/src/f.hip:\n55        c[i] = s0: 00000001 // looks like a register").unwrap();
    writeln!(text, "    {:#x} <+4>:    s_waitcnt vmcnt(0)", wave.pc - 4).unwrap();
    writeln!(text, " => {:#x} <+8>:    global_store_dword v[0:1], v2, off", wave.pc).unwrap();
    writeln!(text, "    ...\n\nEnd of disassembly.").unwrap();
}

/// The agent of 2018: upper case, `0x`, four to a line, vectors lane by lane, LDS in rows of four words.
fn old(text: &mut String, wave: &Wave) {
    let value = |name: &str| wave.scalar(name).unwrap_or((4, 0)).1;
    writeln!(text, "1 wavefront(s) found in XNACK error state @PC: 0x{:016X}", wave.pc).unwrap();
    writeln!(text, "printing the first one: \n").unwrap();
    writeln!(text, "   EXEC: 0x{:016X}", value("exec")).unwrap();
    writeln!(text, " STATUS: 0x{:08X}\nTRAPSTS: 0x{:08X}", value("status"), value("trapsts")).unwrap();
    writeln!(text, "     M0: 0x{:08X}\n", value("m0")).unwrap();
    let scalars = (0..wave.classes[0].1.len()).map(|at| (format!("s{at}"), value(&format!("s{at}")) as u32));
    four(text, &scalars.collect::<Vec<_>>());
    text.push('\n');
    for (stem, shown, title) in [("v", "v", "Lane"), ("a", "acc", "ACC Lane")] {
        let of_stem = |name: &str| name.starts_with(stem);
        for lane in 0..wave.lanes as usize {
            let row: Vec<(String, u32)> = wave
                .vectors
                .iter()
                .filter(|(name, _)| of_stem(name))
                .map(|(name, lanes)| (format!("{shown}{}", &name[1..]), lanes[lane]))
                .collect();
            if !row.is_empty() {
                writeln!(text, "{title} 0x{lane:X}").unwrap();
                four(text, &row);
            }
        }
        text.push('\n');
    }
    if !wave.lds.is_empty() {
        writeln!(text, "LDS:\n").unwrap();
        for (row, words) in wave.lds.chunks(4).enumerate() {
            let words: String = words.iter().map(|word| format!("  0x{word:08X}")).collect();
            writeln!(text, "0x{:04X}:{words}", row * 16).unwrap();
        }
        text.push('\n');
    }
}

fn four(text: &mut String, values: &[(String, u32)]) {
    for row in values.chunks(4) {
        let row: String = row.iter().map(|(name, value)| format!("{name:>6}: 0x{value:08X}")).collect();
        writeln!(text, " {row}").unwrap();
    }
}
