//! Completions for shells and manual pages, made from the parser of the command line.

use std::io::Write;
use std::path::Path;

pub(super) use clap_complete::Shell;

use super::Failure;

/// Prints the completions for a shell.
pub(super) fn completions(
    shell: Shell,
    mut command: clap::Command,
    out: &mut dyn Write,
) -> Result<(), Failure> {
    // The generator ends the process where it cannot write: it writes to memory.
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command, "lanescope", &mut text);
    Ok(out.write_all(&text)?)
}

/// Writes `lanescope.1` and a page for each command to a folder.
pub(super) fn pages(command: clap::Command, folder: &Path) -> Result<(), Failure> {
    let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
    let commands = command.get_subcommands().map(|one| format!("lanescope-{}", one.get_name()));
    let names: Vec<String> = std::iter::once("lanescope".to_owned()).chain(commands).collect();
    let mut built = command.clone();
    built.build();
    // The generator's own usage has options without their values.
    let command = command.mut_subcommands(|one| match built.find_subcommand_mut(one.get_name()) {
        Some(known) => {
            let usage = known.render_usage().to_string();
            one.override_usage(usage.trim_start_matches("Usage: ").to_owned())
        }
        None => one,
    });
    std::fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(command, folder).map_err(failed)?;
    // The generator calls text after the options EXTRA.
    for name in names {
        let path = folder.join(format!("{name}.1"));
        if !path.is_file() {
            continue;
        }
        let page = std::fs::read_to_string(&path).map_err(failed)?;
        let page = page.replace(".SH EXTRA\nExamples:", ".SH EXAMPLES");
        std::fs::write(&path, page).map_err(failed)?;
    }
    Ok(())
}
