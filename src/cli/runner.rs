//! GitHub's runner, which takes commands from lines of a job's output: names in a dump must form none.

use std::io::Write;

use super::Failure;

/// Whether GitHub's runner reads the output.
pub(super) fn is_on_runner() -> bool {
    std::env::var_os("GITHUB_ACTIONS").is_some_and(|value| !value.is_empty())
}

/// Writes text for people; on GitHub's runner without commands in it.
pub(super) fn for_people<T>(
    out: &mut dyn Write,
    write: impl FnOnce(&mut dyn Write) -> Result<T, Failure>,
) -> Result<T, Failure> {
    if !is_on_runner() {
        return write(out);
    }
    let mut text = Vec::new();
    let result = write(&mut text);
    out.write_all(harmless(&String::from_utf8_lossy(&text)).as_bytes())?;
    result
}

/// A message for people; on GitHub's runner without commands in it.
pub(super) fn message_for_people(text: String) -> String {
    if is_on_runner() { harmless(&text) } else { text }
}

/// Text without commands of the runner: it takes a line that begins with `::`, after blanks, and the older `##[` anywhere
/// in a line. Such a line begins with `|`, and has no colours.
fn harmless(text: &str) -> String {
    let line = |line: &str| {
        let plain = anstream::adapter::strip_str(line).to_string();
        if !plain.trim_start().starts_with("::") && !plain.contains("##[") {
            return line.to_owned();
        }
        format!("| {}", plain.replace("##[", "# #["))
    };
    // The runner ends lines at both.
    text.split_inclusive(['\n', '\r']).map(line).collect()
}
