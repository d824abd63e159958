//! `lanescope view DUMP -o DIR`: writes the code objects in the form that stock debuggers load, for clients on other
//! machines.
//!
//! `lanescope serve` passes these files to gdb, and to lldb on the same machine. An lldb on another machine needs
//! copies; the command prints what to type there. None of the files has the variables' values: a running server
//! provides them.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use super::choice::choice;
use super::doctor::Brand;
use super::shell::{argument, indented, word};
use super::sources::SourceArgs;
use super::{DumpArgs, Failure, WaveArgs, dump, standard_error};
use crate::arch::Targets;
use crate::clean::clean;
use crate::report::Style;
use crate::view::{Extent, SOURCES, STUB, SourcePlaces, View, stub_file};

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) from: DumpArgs,
    #[command(flatten)]
    sources: SourceArgs,
    /// The folder to write to; it is created if missing, and no file in it is overwritten
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,
    /// Functions with variables: stack (functions on stacks of waves), unit (all of their units) or all
    #[arg(long, value_name = "EXTENT", default_value = "stack", value_parser = choice(EXTENTS))]
    view: Extent,
    #[command(flatten)]
    waves: WaveArgs,
}

/// Extents by name.
pub(super) const EXTENTS: [(&str, Extent); 3] =
    [("stack", Extent::Stacks), ("unit", Extent::Unit), ("all", Extent::All)];

pub(super) fn run(args: &Args, targets: &Targets, out: &mut dyn Write) -> Result<(), Failure> {
    args.waves.check()?;
    let map = args.sources.map()?;
    let opened = dump::open(&args.from, targets)?;
    let chosen = |kind: Option<&str>| args.waves.chosen(&opened, kind);
    let session = dump::served(&opened, args.from.kind.as_deref(), chosen)?;
    let (start, style) = (Instant::now(), Style::Coloured);
    let fail =
        |what: &str, error: std::io::Error| -> Failure { format!("cannot write {what}: {error}").into() };
    let sources = std::path::absolute(args.output.join(SOURCES))?;
    let has_sources = !opened.capture().sources.is_empty();
    let (places, mut problems) = match has_sources {
        true => SourcePlaces::planned(map, opened.capture(), &sources),
        false => (SourcePlaces::mapped(map), Vec::new()),
    };
    let mut places = Arc::new(places);
    let view = View::with_sources(&opened, &session, args.view, Arc::clone(&places));
    log::info!("the views took {:?}", start.elapsed());
    problems.extend_from_slice(view.problems());
    problems.extend(view.unmapped_sources());
    // The folder may be the dump's own: an existing file may be the source code object.
    let files = || view.objects().iter().map(|object| (object, args.output.join(&object.name)));
    let stub = args.output.join(STUB);
    let folder = has_sources.then(|| args.output.join(SOURCES));
    let all = files().map(|(_, path)| path).chain([stub.clone()]).chain(folder);
    if let Some(there) = all.into_iter().find(|path| path.symlink_metadata().is_ok()) {
        let words = format!("{} exists; choose another folder", there.display());
        return Err(words.into());
    }
    fs::create_dir_all(&args.output).map_err(|error| fail(&args.output.display().to_string(), error))?;
    if has_sources {
        problems.extend(Arc::make_mut(&mut places).write(opened.capture(), &sources));
    }
    for problem in problems {
        standard_error::warning(problem)?;
    }
    for (object, path) in files() {
        let words = clean(path.to_string_lossy()).into_owned();
        let file = File::create_new(&path).map_err(|error| fail(&words, error))?;
        let mut file = BufWriter::new(file);
        object.file.write_to(&mut file).and_then(|()| file.flush()).map_err(|error| fail(&words, error))?;
        let line = format!("{words}: loaded at {}, {} variables", object.address, object.variables());
        writeln!(out, "{}", style.folded(&line))?;
    }
    let words = clean(stub.to_string_lossy()).into_owned();
    let mut file = File::create_new(&stub).map_err(|error| fail(&words, error))?;
    stub_file().write_to(&mut file).map_err(|error| fail(&words, error))?;
    let line = format!("{words}: for lldb, which drops the files of another dump by it");
    writeln!(out, "{}", style.folded(&line))?;
    if has_sources {
        let line = format!("{}: source files", clean(sources.to_string_lossy()));
        writeln!(out, "{}", style.folded(&line))?;
    }
    if view.main().is_none() {
        writeln!(out, "The dump has no code object that can be read: there is nothing to view.")?;
        return Ok(());
    }
    let dump = args
        .from
        .dump
        .as_ref()
        .map_or_else(|| "DUMP".to_owned(), |path| word(&clean(path.to_string_lossy())).into_owned());
    writeln!(
        out,
        "\nWhere the dump is (everybody who reaches ADDRESS can connect; without\n--listen only this machine can):\n"
    )?;
    write!(out, "{}", indented(&format!("lanescope serve {dump} --listen ADDRESS")))?;
    writeln!(out, "\nWhere the debugger runs, with copies of the files, HOST being this machine:\n")?;
    // gdb reads the views from the server: as its program a copy would have every symbol twice.
    write!(out, "{}", indented(&format!("{} -ex 'target remote HOST:1234'", Brand::Gdb.name())))?;
    // LLDB searches the folder for the names that the server reports, and also takes their addresses from the server.
    let folder = clean(args.output.to_string_lossy());
    let command = format!("settings append target.exec-search-paths {}", argument(&folder));
    let lldb_name = Brand::Lldb.name();
    write!(out, "{}", indented(&format!("{lldb_name} -o {} -o 'gdb-remote HOST:1234'", word(&command))))?;
    if has_sources {
        let from = clean(sources.to_string_lossy());
        writeln!(out, "\nWhere {SOURCES} is copied to another folder, NEW, also:\n")?;
        let gdb = format!("set substitute-path {} NEW", argument(&from));
        write!(out, "{}", indented(&format!("{} ... -ex {}", Brand::Gdb.name(), word(&gdb))))?;
        let lldb = format!("settings set target.source-map {} NEW", argument(&from));
        write!(out, "{}", indented(&format!("{lldb_name} ... -o {}", word(&lldb))))?;
    }
    Ok(())
}
