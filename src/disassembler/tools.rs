//! Tool programs: paths, processor arguments, and detection of unknown processors.

use std::cmp::Reverse;
use std::path::PathBuf;

use super::run::Output;
use super::{DisassembleError, Machine};

/// Maximum number of tools tried for a processor that the first ones do not know.
pub const MAX_TRIED: usize = 6;
/// ROCm's default folder with LLVM's tools; `ROCM_PATH` overrides it.
const ROCM: &str = "/opt/rocm";
const LLVM: [&str; 2] = ["llvm/bin", "lib/llvm/bin"];
/// Maximum characters of a tool's output in an error.
const MAX_WORDS: usize = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Program {
    Objdump,
    Mc,
}

impl Program {
    const BOTH: [Self; 2] = [Self::Objdump, Self::Mc];

    fn name(self) -> &'static str {
        match self {
            Self::Objdump => "llvm-objdump",
            Self::Mc => "llvm-mc",
        }
    }

    /// Version in a file name: `Some(22)` for `llvm-objdump-22`, `Some(None)` for `llvm-objdump`, `None` for others.
    fn version(self, file: &str) -> Option<Option<u32>> {
        match file.strip_prefix(self.name())? {
            "" => Some(None),
            rest => rest.strip_prefix('-')?.parse().ok().map(Some),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tool {
    pub(super) path: PathBuf,
    pub(super) program: Program,
}

impl Tool {
    /// The user's tool.
    pub(super) fn named(path: PathBuf) -> Self {
        let is_mc = path.file_name().is_some_and(|name| name.to_string_lossy().contains(Program::Mc.name()));
        Self { path, program: if is_mc { Program::Mc } else { Program::Objdump } }
    }

    pub(super) fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or(self.path.as_os_str());
        name.to_string_lossy().into_owned()
    }

    /// The arguments that select the processor.
    pub(super) fn for_machine(&self, machine: &Machine) -> Vec<String> {
        let mut arguments = vec![format!("--mcpu={}", machine.processor)];
        if !machine.features.is_empty() {
            arguments.push(format!("--mattr={}", machine.features.join(",")));
        }
        arguments
    }

    /// Checks the tool's success. For an unknown processor LLVM only warns and decodes for another one.
    pub(super) fn judge(&self, machine: &Machine, output: &Output) -> Result<(), DisassembleError> {
        const UNKNOWN: [&str; 4] = [
            "is not a recognized processor",
            "is not a recognized feature",
            "unable to get target",
            "can't find target",
        ];
        let short = |line: &str| line.trim().chars().take(MAX_WORDS).collect::<String>();
        let is_unknown = |line: &&str| UNKNOWN.iter().any(|words| line.contains(words));
        if let Some(line) = output.stderr.lines().find(is_unknown) {
            let (tool, processor) = (self.name(), machine.processor.clone());
            return Err(DisassembleError::UnknownProcessor { tool, processor, words: short(line) });
        }
        if output.status.success() {
            return Ok(());
        }
        let first = output.stderr.lines().find(|line| !line.trim().is_empty());
        let words = first.map_or_else(|| "it printed no error".to_owned(), short);
        Err(DisassembleError::Failed { tool: self.name(), status: output.status.to_string(), words })
    }
}

/// Lists the tools on the PATH and of ROCm, in order of preference.
pub(super) fn installed() -> Vec<Tool> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let rocm = std::env::var_os("ROCM_PATH").filter(|folder| !folder.is_empty());
    let rocm = rocm.map_or_else(|| PathBuf::from(ROCM), PathBuf::from);
    in_folders(std::env::split_paths(&path).chain(LLVM.iter().map(|llvm| rocm.join(llvm))))
}

/// Lists the tools in the given folders: `llvm-objdump` before `llvm-mc`, then higher versions before lower ones, files
/// without a version last, then in folder order. Relative folders (an empty PATH entry is one) are ignored: the current
/// folder may be a dump's.
pub(super) fn in_folders(folders: impl Iterator<Item = PathBuf>) -> Vec<Tool> {
    let mut found = Vec::new();
    let mut seen = Vec::new();
    for folder in folders.filter(|folder| folder.is_absolute()) {
        let Ok(real) = folder.canonicalize() else { continue };
        if seen.contains(&real) {
            continue;
        }
        let files = std::fs::read_dir(&folder).into_iter().flatten().filter_map(Result::ok);
        for file in files {
            let name = file.file_name();
            let Some(name) = name.to_str() else { continue };
            for program in Program::BOTH {
                if let Some(version) = program.version(name)
                    && file.path().is_file()
                {
                    found.push((program, Reverse(version), seen.len(), Tool { path: file.path(), program }));
                }
            }
        }
        seen.push(real);
    }
    found.sort_by_key(|(program, version, folder, _)| (*program, *version, *folder));
    found.into_iter().map(|(.., tool)| tool).take(MAX_TRIED).collect()
}
