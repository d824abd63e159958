//! Examples at the end of each command's help and manual page. Words in capitals stand for files.

use clap::Command;

/// Commands with their examples, a line each.
const EXAMPLES: &[(&str, &[&str])] = &[
    (
        "lanescope",
        &["lanescope DUMP", "lanescope serve DUMP", "lanescope locals DUMP --lane 17", "lanescope demo"],
    ),
    (
        "serve",
        &[
            "lanescope serve DUMP",
            "lanescope serve DUMP --port 0 --threads lanes",
            "lanescope serve DUMP --once --log LOG",
        ],
    ),
    (
        "triage",
        &["lanescope DUMP", "lanescope triage DUMP --log LOG", "lanescope triage DUMP --wave 3 --json"],
    ),
    ("info", &["lanescope info DUMP", "lanescope info DUMP --json"]),
    ("waves", &["lanescope waves DUMP", "lanescope waves DUMP --wave 1-3,7 --json"]),
    ("backtrace", &["lanescope backtrace DUMP", "lanescope backtrace DUMP --wave 3 --lane 17"]),
    (
        "locals",
        &[
            "lanescope locals DUMP --lane 17",
            "lanescope locals DUMP --work-item 70,0,0",
            "lanescope locals DUMP --lane all --json",
        ],
    ),
    (
        "print",
        &[
            "lanescope print DUMP 'x[i]' --lane 24",
            "lanescope print DUMP '*p@4'",
            "lanescope print DUMP --explain x",
        ],
    ),
    (
        "registers",
        &["lanescope registers DUMP -r pc,exec,s0-s7", "lanescope registers DUMP -r v3 --lane 0-7"],
    ),
    (
        "memory",
        &["lanescope memory DUMP --at 0x7f0000200000 --length 64", "lanescope memory DUMP --at local#0"],
    ),
    ("disassemble", &["lanescope disassemble DUMP", "lanescope disassemble DUMP --around 8"]),
    ("eval", &["lanescope eval DUMP 'DW_OP_regx VGPR3'"]),
    ("code-object", &["lanescope code-object FILE"]),
    ("export", &["lanescope export DUMP"]),
    ("report", &["lanescope report DUMP -o report.html", "lanescope report DUMP --format markdown"]),
    (
        "check",
        &[
            "lanescope check tests/crashes",
            "lanescope check --new DUMP",
            "lanescope check FILE.scope --format junit",
        ],
    ),
    ("signature", &["lanescope signature DUMP", "lanescope signature DUMP --known FILE"]),
    ("bucket", &["lanescope bucket DIR"]),
    ("diff", &["lanescope diff A B"]),
    ("slim", &["lanescope slim DUMP -o small.zip", "lanescope slim --dir DIR -"]),
    ("dwarf", &["lanescope dwarf FILE --function saxpy"]),
    ("view", &["lanescope view DUMP -o DIR"]),
    ("capture", &["lanescope capture -- ./app ARGUMENTS", "lanescope capture --debug-agent -- ./app"]),
    ("demo", &["lanescope demo", "lanescope demo --debugger lldb", "lanescope demo --print"]),
];

/// Adds the examples to a command's help.
pub(super) fn with_examples(command: Command) -> Command {
    let name = command.get_name();
    match EXAMPLES.iter().find(|(of, _)| *of == name) {
        Some((_, lines)) => {
            let text = format!("Examples:\n  {}", lines.join("\n  "));
            command.after_help(text)
        }
        None => command,
    }
}

#[cfg(test)]
#[path = "examples_tests.rs"]
mod tests;
