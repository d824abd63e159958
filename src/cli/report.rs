//! `lanescope report DUMP`: the cause of a crash or hang with its wave, memory, stacks and launches, as one HTML file,
//! as Markdown for an issue, or as text for a log (docs/report.md).

use std::io::Write;
use std::path::{Path, PathBuf};

use super::choice::choice;
use super::dump::{PlaceArgs, Waves};
use super::{DumpArgs, Failure, dump, output_file, print_json, steps};
use crate::arch::Targets;
use crate::clean::clean;
use crate::postmortem::{self, Model, Options};
use crate::report::Style;
use crate::session::{Inspect, Session};
use crate::triage::Step;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    pub(super) from: DumpArgs,
    /// The file to write; an existing one is replaced [default: standard output, also -]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The form [default: by the file's extension (.html, .md, .txt, .json), else text]
    #[arg(long, value_name = "FORM", value_parser = choice(FORMS))]
    format: Option<Form>,
    /// Keep paths, and the host and the command of the capture
    #[arg(long)]
    pub(super) with_paths: bool,
    /// Leave out the values of variables, arguments and memory; the sentence keeps the index and the address
    #[arg(long)]
    no_values: bool,
    /// Leave out the contents of global memory, kernel arguments among them
    #[arg(long)]
    no_global: bool,
    /// Rules of the signatures about functions: TOML with irrelevant, prefix, in_app and built_in
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,
    /// The words of the dump and its options; without `with_paths` the names of files.
    #[arg(skip)]
    pub(super) typed: String,
}

/// The form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Html,
    Markdown,
    Text,
    Json,
}

/// Values of `--format`.
const FORMS: [(&str, Form); 4] =
    [("html", Form::Html), ("markdown", Form::Markdown), ("text", Form::Text), ("json", Form::Json)];

/// The extension of the output names no form. The exit status is 2.
#[derive(Debug, thiserror::Error)]
#[error("-o {0}: the extension names no form; write .html, .md, .txt or .json, or add --format")]
pub(super) struct ExtensionError(String);

impl Form {
    /// The form of a file by its extension; a file without one is text.
    fn of(path: &Path) -> Result<Self, ExtensionError> {
        let Some(extension) = path.extension() else { return Ok(Self::Text) };
        Ok(match extension.to_ascii_lowercase().to_str() {
            Some("html" | "htm") => Self::Html,
            Some("md" | "markdown") => Self::Markdown,
            Some("txt" | "log") => Self::Text,
            Some("json") => Self::Json,
            _ => return Err(ExtensionError(clean(path.to_string_lossy()).into_owned())),
        })
    }
}

pub(super) fn run(args: &Args, targets: &Targets, out: &mut dyn Write) -> Result<(), Failure> {
    let output = args.output.as_deref().filter(|path| !output_file::is_standard_output(path));
    let form = match (args.format, output) {
        (Some(form), _) => form,
        (None, Some(path)) => Form::of(path)?,
        (None, None) => Form::Text,
    };
    let rules = super::signature::rules(args.rules.as_deref())?;
    let dump = dump::open(&args.from, targets)?;
    let waves = Waves { dump: &dump, kind: args.from.kind.as_deref(), ids: None, at: &PlaceArgs::default() };
    let sessions = waves.by_kind()?;
    let sessions: Vec<&dyn Inspect> =
        sessions.iter().map(|session: &Session| -> &dyn Inspect { session }).collect();
    let options =
        Options { with_paths: args.with_paths, no_values: args.no_values, no_global: args.no_global };
    let command = |step: &Step| steps::command(step, &args.typed);
    let model = postmortem::model(&dump, &sessions, options, &rules, &command);
    match output {
        None => write(&model, form, Style::Coloured, out),
        Some(path) => {
            let inputs: Vec<&Path> = args.from.dump.iter().chain(&args.rules).map(PathBuf::as_path).collect();
            output_file::write(path, &inputs, |file| write(&model, form, Style::Plain, file))?;
            // A job's log has the cause without the file.
            let text = format!("{}: {}", clean(path.to_string_lossy()), model.fault.sentence);
            Ok(writeln!(out, "{}", Style::Coloured.folded(&text))?)
        }
    }
}

fn write(model: &Model, form: Form, style: Style, out: &mut dyn Write) -> Result<(), Failure> {
    match form {
        Form::Html => out.write_all(postmortem::html::html(model)?.as_bytes())?,
        Form::Markdown => out.write_all(postmortem::markdown::markdown(model)?.as_bytes())?,
        Form::Text => out.write_all(postmortem::text::text(model, style).as_bytes())?,
        Form::Json => print_json(out, model)?,
    }
    Ok(())
}
