//! `lanescope view DUMP -o DIR`: the code objects as stock debuggers load them, for clients on other machines.
//!
//! `lanescope serve` hands these files to gdb by itself, and to lldb on the same machine. An lldb elsewhere needs them
//! copied; the command says what to type there. The variables are in none of the files: a server has to run for them.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use super::shell::{argument, word};
use super::sources::SourceArgs;
use super::{DumpArgs, Failure, dump};
use crate::arch::Targets;
use crate::clean::{clean, clean_lines};
use crate::view::{Extent, SourcePlaces, View};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) from: DumpArgs,
    #[command(flatten)]
    sources: SourceArgs,
    /// The folder to write to; it is made where it is missing, and no file in it is overwritten
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,
    /// What has variables: stack (functions on stacks of waves), unit (all of their units) or all
    #[arg(long, value_name = "EXTENT", default_value = "stack", value_parser = extent)]
    view: Extent,
    /// Look at the stacks of these waves only, by their ids: 3 or 3,7-9 [default: all]
    #[arg(long, short, value_name = "IDS")]
    wave: Option<String>,
}

/// An extent by its name.
pub(super) fn extent(name: &str) -> Result<Extent, String> {
    match name {
        "stack" => Ok(Extent::Stacks),
        "unit" => Ok(Extent::Unit),
        "all" => Ok(Extent::All),
        _ => Err(format!("no extent '{name}'; there are stack, unit and all")),
    }
}

pub(super) fn run(args: &Args, targets: &Targets, out: &mut dyn Write) -> Result<(), Failure> {
    let opened = dump::open(&args.from, targets)?;
    let chosen = args.wave.as_deref().map(dump::wave_ids).transpose()?;
    let session = dump::served(&opened, args.from.kind.as_deref(), chosen.as_deref())?;
    let start = Instant::now();
    let places = Arc::new(SourcePlaces::mapped(args.sources.map()?));
    let view = View::with_sources(&opened, &session, args.view, places);
    log::info!("the views took {:?}", start.elapsed());
    for problem in view.problems() {
        writeln!(anstream::stderr(), "warning: {}", clean_lines(problem.to_string()))?;
    }
    let fail =
        |what: &str, error: std::io::Error| -> Failure { format!("cannot write {what}: {error}").into() };
    fs::create_dir_all(&args.output).map_err(|error| fail(&args.output.display().to_string(), error))?;
    // The folder may be the dump's own: a file that is there may be the code object that is being read.
    let files = || view.objects().iter().map(|object| (object, args.output.join(&object.name)));
    if let Some((_, there)) = files().find(|(_, path)| path.symlink_metadata().is_ok()) {
        let words = format!("{} exists; choose another folder", there.display());
        return Err(words.into());
    }
    for (object, path) in files() {
        let words = clean(path.to_string_lossy()).into_owned();
        let file = File::create_new(&path).map_err(|error| fail(&words, error))?;
        let mut file = BufWriter::new(file);
        object.file.write_to(&mut file).and_then(|()| file.flush()).map_err(|error| fail(&words, error))?;
        writeln!(out, "{words}: loaded at {}, {} variables", object.address, object.variables())?;
    }
    let Some(main) = view.main() else {
        writeln!(out, "The dump has no code object that can be read: there is nothing to view.")?;
        return Ok(());
    };
    let path = |name: &str| clean(args.output.join(name).to_string_lossy()).into_owned();
    let others = || view.objects().iter().filter(|object| object.index != main.index);
    writeln!(
        out,
        "\nWhere the dump is: lanescope serve {} --listen ADDRESS, this machine's, which lets everybody in who reaches it;\n\
         without --listen only this machine does.\n\
         Where the debugger runs, with copies of the files, HOST being this machine:\n",
        args.from
            .dump
            .as_ref()
            .map_or_else(|| "DUMP".to_owned(), |path| word(&clean(path.to_string_lossy())).into_owned())
    )?;
    write!(out, "  gdb {}", word(&path(&main.name)))?;
    for object in others() {
        let command = format!("add-symbol-file {} -o {}", argument(&path(&object.name)), object.address);
        write!(out, " -ex {}", word(&command))?;
    }
    writeln!(out, " -ex 'target remote HOST:1234'")?;
    // LLDB looks there for files of the names that the server tells it, and takes their addresses from the server, too.
    let folder = clean(args.output.to_string_lossy());
    let command = format!("settings append target.exec-search-paths {}", argument(&folder));
    writeln!(out, "  lldb -o {} -o 'gdb-remote HOST:1234'", word(&command))?;
    Ok(())
}
