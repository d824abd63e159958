//! `lanescope dwarf FILE [--function NAME] [--dialect D] [--json]`: every DWARF expression of a code object.
//!
//! FILE is an AMDGPU ELF file or a dump, recognized by its contents. For a dump the command lists every code object
//! under its name and load address. An unreadable code object is reported on standard error; the others are listed.
//!
//! For each unit: the dialect of its expressions; then for each function, and for the entries outside of functions,
//! the DIEs with an expression, the attribute, its PCs (ELF addresses), the operations, and after `#` the bytes. The
//! operations have the form that `lanescope eval` accepts. `all` stands for an expression outside a location list,
//! `else` for a list's default entry. A malformed expression is listed with the offset, the operation and the cause.
//!
//! The augmentation string of a unit selects its dialect. If that leaves two, the one that decodes all expressions of
//! the unit applies; `--dialect` overrides it for all units. In units of the draft dialect (augmentation
//! `[draft:v0.0]`) the drafts' tags, attributes and operations have their names too, by the built-in numbers or those
//! of `--draft FILE`.
//!
//! The expressions of call frame information follow the units: the first PC of the row, the instruction, its
//! register.
//!
//! `--function` takes a name from the source or the symbol table. It limits the listing to that function and its
//! contents, without call frames.
//!
//! `--json` prints the same as JSON: `units`, each with `offset`, `name`, `dialect` and `expressions`. An expression
//! has `die`, `tag`, `name`, `function`, `attribute`, `pcs` (`"all"`, `"else"` or an array of the first PC and the
//! one past the last), `bytes`, and either `text` and `operations` (names, those within `DW_OP_entry_value` after it)
//! or `error`. `frames` has the entries of `.debug_frame` with expressions: `offset`, `pcs` (null for a CIE),
//! `dialect` and `expressions` with `pc`, `instruction`, `register` (null for the CFA), `bytes` and the rest like
//! above. For a dump it is `code_objects`, each with `name`, `address` and either `units` and `frames` or `problem`.
//!
//! ```text
//! $ lanescope dwarf saxpy.hsaco --function saxpy
//! $ lanescope dwarf saxpy.hsaco --json | jq '.units[].expressions[] | select(.error)'
//! ```

mod dump;
mod frames;

#[cfg(test)]
pub(super) use dump::DumpExpressions;
use std::fmt::Write as _;
use std::io::{Read as _, Write};
use std::mem::offset_of;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use frames::{FrameEntryJson, Frames};
use serde::Serialize;

use super::dialect::parser;
use super::{CaptureArgs, Failure, print_json, standard_error, standard_input};
use crate::arch::{Targets, WaveArch};
use crate::clean::clean;
use crate::codeobject::CodeObject;
use crate::debuginfo::{DebugInfo, Expression, Pcs, Subprogram, UnitFacts, UnitId};
use crate::dwarf::print::{self, Names, NoNames};
use crate::dwarf::{Dialect, Encoding, Error, Operation, Program};
use crate::elf::{ELFMAG, ET_CORE, FileHeader};
use crate::integers::u16_at;
use crate::notation::hex_bytes;
use crate::report::Style;
use crate::report::expression::{self, Failure as ExpressionError};
use crate::report::schema::{Document, Hex, Schema};
use crate::units::{AddressSpace, DwarfReg, WaveSize};

/// Bytes of an ELF file up to the end of e_type.
const ELF_START: u64 = 18;

#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The code object, an AMDGPU ELF file; or a dump, for all that it holds, - for one from standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Only this function and what is in it: a source name, a qualified or a mangled one
    #[arg(long, short, value_name = "NAME")]
    function: Option<String>,
    /// Encoding of the extensions' operations [default: chosen for each unit]
    #[arg(long, value_name = "D", value_parser = parser())]
    dialect: Option<Dialect>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Folders of separate debug information, given once for all commands.
    #[arg(skip)]
    pub(super) debug_dirs: Vec<PathBuf>,
    /// Whether all warnings are printed whole, given once for all commands.
    #[arg(skip)]
    pub(super) is_verbose: bool,
    /// Supplements of the dump.
    #[command(flatten)]
    with: CaptureArgs,
}

pub(super) fn run(args: &Args, targets: &Targets, out: &mut dyn Write) -> Result<(), Failure> {
    let path = clean(args.file.to_string_lossy()).into_owned();
    if !is_object(&args.file).map_err(|error| format!("{path}: {error}"))? {
        return dump::run(&path, args, targets, out);
    }
    let file = std::fs::read(&args.file).map_err(|error| format!("{path}: {error}"))?;
    let code = CodeObject::parse(file).map_err(|error| format!("{path}: {error}"))?;
    let listing = Listing::read(&path, Arc::new(code), args, targets)?;
    if let (false, Some(function)) = (listing.found, &args.function) {
        return Err(no_function(&path, function));
    }
    match args.json {
        true => print_json(out, &Document::new(listing.json())),
        false => Ok(out.write_all(Style::Coloured.folded(&listing.text).as_bytes())?),
    }
}

fn no_function(path: &str, function: &str) -> Failure {
    format!("{path}: no function `{function}` with an expression").into()
}

/// Whether a file begins like an ELF file other than a core; every other file may be a dump.
fn is_object(path: &Path) -> std::io::Result<bool> {
    if standard_input::is_meant(path) || !std::fs::metadata(path)?.is_file() {
        return Ok(false);
    }
    let mut start = Vec::new();
    std::fs::File::open(path)?.take(ELF_START).read_to_end(&mut start)?;
    Ok(start.starts_with(&ELFMAG) && u16_at(&start, offset_of!(FileHeader, e_type)) != Some(ET_CORE.0))
}

/// The listing of a code object: text or JSON.
struct Listing {
    text: String,
    units: Vec<UnitJson>,
    frames: Vec<FrameEntryJson>,
    /// Whether a unit has something to list.
    found: bool,
}

impl Listing {
    /// Reads a code object; problems of its parts go to standard error.
    fn read(label: &str, code: Arc<CodeObject>, args: &Args, targets: &Targets) -> Result<Self, Failure> {
        let kind = kind(&code, targets);
        let names: &dyn Names = match &kind {
            Some(kind) => &KindNames(kind),
            None => &NoNames,
        };
        let debug = DebugInfo::with_folders(code, &args.debug_dirs);
        let debug = debug.map_err(|error| format!("{label}: {error}"))?.in_dialect(args.dialect);
        let mut listing = Self { text: String::new(), units: Vec::new(), frames: Vec::new(), found: false };
        for id in 0..debug.unit_count() {
            let unit = Unit::read(&debug, UnitId(id), args)?;
            listing.found |= !unit.rows.is_empty();
            if args.function.is_some() && unit.rows.is_empty() {
                continue;
            }
            match args.json {
                true => listing.units.push(unit.json(names)),
                false => listing.text.push_str(&unit.text(names)),
            }
        }
        for problem in debug.problems() {
            standard_error::warning(format!("{label}: {problem}"))?;
        }
        if args.function.is_none() {
            let frames = Frames::read(&debug, args.dialect);
            for problem in frames.problems.iter().cloned().chain(frames.cut()) {
                standard_error::warning(format!("{label}: {problem}"))?;
            }
            match args.json {
                true => listing.frames = frames.json(names),
                false => listing.text.push_str(&frames.text(names)),
            }
        }
        Ok(listing)
    }

    fn json(self) -> Expressions {
        Expressions { units: self.units, frames: self.frames }
    }
}

/// The processor and the wave size of a code object, which register names need.
fn kind(code: &CodeObject, targets: &Targets) -> Option<Arc<WaveArch>> {
    let target = targets.by_elf_machine(code.header().flags)?;
    let kernels = code.metadata().ok().flatten().map_or(&[][..], |metadata| &metadata.kernels);
    let said = kernels.iter().find_map(|kernel| kernel.wavefront_size);
    let said = said.and_then(WaveSize::from_lanes);
    let wave_size = said.or_else(|| target.wave_sizes.first().copied())?;
    targets.kind(&target.name, wave_size).ok()
}

/// AMD's names of the registers of one kind of wave.
#[derive(Debug)]
struct KindNames<'k>(&'k WaveArch);

impl Names for KindNames<'_> {
    fn register(&self, register: DwarfReg) -> Option<String> {
        self.0.dwarf_name(register)
    }

    fn space(&self, space: AddressSpace) -> Option<String> {
        self.0.target.space(space).map(|space| space.name.clone())
    }

    fn register_named(&self, name: &str) -> Option<DwarfReg> {
        self.0.dwarf_named(name)
    }

    fn space_named(&self, name: &str) -> Option<AddressSpace> {
        self.0.target.space_named(name).map(|space| space.id)
    }
}

/// An expression, or its error.
type Decoded = Result<Program, Error>;

/// The listing of a unit.
struct Unit<'d> {
    facts: &'d UnitFacts,
    dialect: Dialect,
    rows: Vec<(Expression, Decoded)>,
    problems: Vec<String>,
}

impl<'d> Unit<'d> {
    fn read(debug: &'d DebugInfo, id: UnitId, args: &Args) -> Result<Self, Failure> {
        let facts = debug.unit(id)?;
        let (mut expressions, mut problems) = (Vec::new(), Vec::new());
        debug.expressions(id, |found| match found {
            Ok(expression) => expressions.push(expression),
            Err(problem) => problems.push(problem.to_string()),
        })?;
        let bytes = expressions.iter().map(|expression| &expression.bytes[..]);
        let dialect = facts.dialect.unwrap_or_else(|| Dialect::of_unit(facts.augmentation.as_deref(), bytes));
        if let Some(name) = &args.function {
            let is_it = |function: &Subprogram| {
                let names = [&function.name, &function.qualified_name, &function.linkage_name];
                names.into_iter().flatten().any(|known| **known == **name)
                    || function.demangled().is_some_and(|known| known == *name)
            };
            expressions.retain(|expression| expression.function.as_deref().is_some_and(is_it));
        }
        let encoding = Encoding { dialect, dwarf64: facts.offset_size == 8 };
        let decoded = |expression: Expression| {
            let program = Program::decode(&expression.bytes, encoding);
            (expression, program)
        };
        Ok(Self { facts, dialect, rows: expressions.into_iter().map(decoded).collect(), problems })
    }

    fn text(&self, names: &dyn Names) -> String {
        let name = self.facts.name.as_deref().unwrap_or("<unnamed>");
        let (version, dialect) = (self.facts.version, self.dialect.name());
        let mut text = format!("unit {} {name}: DWARF {version}, {dialect}\n", self.facts.offset);
        let (mut function, mut place) = (None, None);
        for (expression, program) in &self.rows {
            let within = expression.function.as_ref().map(|function| function.die);
            if function != Some(within) {
                let name = expression.function.as_deref().map(called);
                let _ = writeln!(text, "\n{}:", name.as_deref().unwrap_or("outside of functions"));
                function = Some(within);
            }
            if place != Some((expression.die, expression.attribute)) {
                let name = expression.name.as_deref().unwrap_or("<unnamed>");
                let Expression { die, tag, attribute, .. } = expression;
                let _ = writeln!(text, "  {die} {tag} {name}, {attribute}");
                place = Some((expression.die, expression.attribute));
            }
            let pcs = match &expression.pcs {
                Pcs::All => "all".to_owned(),
                Pcs::Default => "else".to_owned(),
                Pcs::Range(pcs) => format!("{:#x}-{:#x}", pcs.start.0, pcs.end.0),
            };
            let words = words(program, names);
            let _ = writeln!(text, "    {pcs:<16} {words}  # {}", hex_bytes(expression.bytes.iter()));
        }
        for problem in &self.problems {
            let _ = writeln!(text, "  error: {problem}");
        }
        text.push('\n');
        text
    }

    fn json(&self, names: &dyn Names) -> UnitJson {
        UnitJson {
            offset: self.facts.offset.to_string(),
            name: self.facts.name.as_deref().map(str::to_owned),
            version: self.facts.version,
            dialect: self.dialect.name(),
            expressions: self.rows.iter().map(|(at, program)| row(at, program, names)).collect(),
            problems: self.problems.clone(),
        }
    }
}

/// The expressions of a code object.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct Expressions {
    /// The units.
    units: Vec<UnitJson>,
    /// The entries of call frame information with expressions.
    frames: Vec<FrameEntryJson>,
}

impl Schema for Expressions {
    const NAME: &'static str = "dwarf";
}

/// The expressions of a unit.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct UnitJson {
    /// Its offset in `.debug_info`.
    offset: String,
    /// Its name.
    name: Option<String>,
    /// Its DWARF version.
    version: u16,
    /// The dialect of its expressions.
    dialect: &'static str,
    /// The expressions.
    expressions: Vec<ExpressionJson>,
    /// Problems of the unit.
    problems: Vec<String>,
}

/// An expression of an attribute.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ExpressionJson {
    /// The DIE's offset.
    die: String,
    /// The DIE's tag.
    tag: String,
    /// The DIE's name.
    name: Option<String>,
    /// The function around it.
    function: Option<String>,
    /// The attribute.
    attribute: String,
    /// The PCs.
    pcs: PcsJson,
    /// The bytes, two digits each.
    bytes: String,
    /// The operations.
    #[serde(flatten)]
    program: ProgramJson,
}

/// PCs of an expression.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
enum PcsJson {
    /// `all`: the attribute has one expression; `else`: the default of a location list.
    Named(&'static str),
    /// The first PC and the one past the last.
    Range([Hex; 2]),
}

/// The operations of an expression.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
enum ProgramJson {
    /// Operations.
    Operations {
        /// The expression as text.
        text: String,
        /// Names of the operations; those within `DW_OP_entry_value` follow it.
        operations: Vec<&'static str>,
    },
    /// A malformed expression.
    Malformed {
        /// The error.
        error: ExpressionError,
    },
}

fn row(expression: &Expression, program: &Decoded, names: &dyn Names) -> ExpressionJson {
    ExpressionJson {
        die: expression.die.to_string(),
        tag: expression.tag.to_string(),
        name: expression.name.as_deref().map(str::to_owned),
        function: expression.function.as_deref().map(called),
        attribute: expression.attribute.to_string(),
        pcs: match &expression.pcs {
            Pcs::All => PcsJson::Named("all"),
            Pcs::Default => PcsJson::Named("else"),
            Pcs::Range(pcs) => PcsJson::Range([Hex(pcs.start.0), Hex(pcs.end.0)]),
        },
        bytes: hex_bytes(expression.bytes.iter()),
        program: operations(program, names),
    }
}

/// The operations of an expression.
fn operations(program: &Decoded, names: &dyn Names) -> ProgramJson {
    match program {
        Ok(program) => {
            let mut operations = Vec::new();
            flatten(program, &mut operations);
            ProgramJson::Operations { text: print::program(program, names), operations }
        }
        Err(error) => ProgramJson::Malformed { error: expression::error(error) },
    }
}

fn words(program: &Decoded, names: &dyn Names) -> String {
    match program {
        Ok(program) if program.is_empty() => "(empty)".to_owned(),
        Ok(program) => print::program(program, names),
        Err(error) => format!("error: {error}"),
    }
}

fn flatten(program: &Program, into: &mut Vec<&'static str>) {
    for placed in program.operations() {
        into.push(placed.name);
        if let Operation::EntryValue(inner) = &placed.operation {
            flatten(inner, into);
        }
    }
}

fn called(function: &Subprogram) -> String {
    function.display_name().unwrap_or_else(|| "<unnamed>".to_owned())
}
