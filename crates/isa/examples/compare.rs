//! Compares with words of an oracle: `compare PROCESSOR WAVE FILE [text]`.
#![allow(clippy::print_stdout, clippy::unwrap_used)]
use amdgpu_isa::Decoder;
use std::collections::BTreeMap;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let decoder = Decoder::new(&args[1], args[2].parse().unwrap()).unwrap();
    let texts = args.len() > 4;
    let show: usize = args.get(5).map_or(1, |n| n.parse().unwrap());
    let file = std::fs::read_to_string(&args[3]).unwrap();
    let (mut classes, mut words, mut bad) = (BTreeMap::<String, (usize, Vec<String>)>::new(), 0, 0);
    for line in file.lines() {
        let mut parts = line.split('\t');
        let hex = parts.next().unwrap();
        let bytes: Vec<u8> = (0..hex.len() / 2).map(|i| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap()).collect();
        let instruction = decoder.decode(&bytes);
        let size = parts.next().unwrap();
        let text = parts.collect::<Vec<_>>().join(" ");
        let ours = instruction.to_string();
        words += 1;
        let mut fail = |class: String, detail: String| {
            bad += 1;
            let entry = classes.entry(class).or_default();
            entry.0 += 1;
            if entry.1.len() < show { entry.1.push(format!("{hex} {detail}")); }
        };
        let name = text.split(' ').next().unwrap_or("").to_owned();
        match size {
            "!" => {}
            "-" => if instruction.is_valid() { fail(format!("valid {}", instruction.mnemonic().unwrap()), ours) },
            _ if !instruction.is_valid() => fail(format!("invalid {name}"), text),
            size if size.parse() != Ok(instruction.size()) => fail(format!("size {name}"), format!("{size} {text} | {}", instruction.size())),
            _ if !texts => if !name.starts_with(instruction.mnemonic().unwrap()) { fail(format!("name {name}"), ours) },
            _ => {
                let mut want = text.clone();
                while let Some(start) = want.find("/*Invalid ") { let end = want[start..].find("*/").unwrap() + start + 2; want.replace_range(start..end, ""); }
                if want != ours { fail(format!("text {name}"), format!("\n    {want}\n    {ours}")) }
            }
        }
    }
    println!("{} words, {bad} differ, {} classes", words, classes.len());
    let mut list: Vec<_> = classes.into_iter().collect();
    list.sort_by_key(|(_, (n, _))| std::cmp::Reverse(*n));
    for (class, (count, examples)) in list.into_iter().take(40) { println!("{count} {class}: {}", examples.join(" ; ")); }
}
