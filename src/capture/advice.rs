//! Ways to a capture, for the user of a text that has no waves. README has the same lines.

/// Commands with their effects: one with all settings, two for a core of the GPUs, one in its place, one for a program
/// that hangs.
pub const CAPTURES: [(&str, &str); 5] = [
    ("lanescope capture -- ./app", "keeps a crash, and names its cause"),
    ("ulimit -c unlimited", "before ./app: a fault then writes gpucore.PID"),
    ("export HSA_COREDUMP_PATTERN=gpucore.%p", "newer runtimes: its name"),
    ("HSA_TOOLS_LIB=librocm-debug-agent.so.2 HSA_ENABLE_DEBUG=1 ./app", "log"),
    ("rocgdb -p PID -batch -ex gcore", "of a hang: core.PID"),
];

/// [`CAPTURES`] in a line each, below a heading.
#[must_use]
pub fn captures() -> String {
    let lines = CAPTURES.map(|(command, effect)| format!("\n    {command}  # {effect}"));
    format!("  to capture the waves of the next run:{}", lines.concat())
}

#[cfg(test)]
mod tests {
    use super::CAPTURES;

    #[test]
    fn the_readme_has_the_same_lines() {
        let readme = include_str!("../../README.md");
        for (command, effect) in CAPTURES {
            let line = readme.lines().find(|line| line.starts_with(command));
            assert!(line.is_some_and(|line| line.ends_with(&format!("  # {effect}"))), "{command}: {line:?}");
        }
    }
}
