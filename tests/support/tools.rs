//! Tools of the machine, of which several versions may be installed.

use std::path::PathBuf;

/// The highest `TOOL-N` on the PATH, otherwise `TOOL`; a missing tool fails the test.
pub(crate) fn newest(tool: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    // The last of equal versions is taken: that of the first folder, as in a shell.
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.reverse();
    let version = |file: &PathBuf| {
        let number = file.file_name()?.to_str()?.strip_prefix(tool)?.strip_prefix('-')?;
        number.parse::<u32>().ok()
    };
    let files = folders.iter().filter_map(|folder| folder.read_dir().ok()).flatten().flatten();
    let versions = files.map(|file| file.path()).filter_map(|file| Some((version(&file)?, file)));
    let newest = versions.filter(|(_, file)| file.is_file()).max_by_key(|(number, _)| *number);
    let plain = || folders.iter().rev().map(|folder| folder.join(tool)).find(|file| file.is_file());
    newest
        .map(|(_, file)| file)
        .or_else(plain)
        .unwrap_or_else(|| panic!("{tool} is needed: scripts/setup installs it"))
}
