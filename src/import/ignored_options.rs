//! Options without effect for a capture's format; each becomes a problem.

use super::problem::problem;
use super::{FileLocation, LocalFiles, Opened, Options};

/// The reader of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reads {
    /// lanescope's own dump.
    Dump,
    /// A ROCm core.
    Core,
    /// A debug agent's log.
    Log,
    /// Output of umr.
    Umr,
}

impl Reads {
    /// The reason that an option has no effect.
    fn why(self) -> &'static str {
        match self {
            Self::Dump => "the dump records that itself",
            Self::Core => "the core records that itself",
            Self::Log => "nothing of a debug agent's log depends on it",
            Self::Umr => "nothing of what umr prints depends on it",
        }
    }
}

/// Adds a problem for each given option without effect.
pub(super) fn reported(mut opened: Opened, options: &Options, reads: Reads) -> Opened {
    use Reads::{Core, Dump, Log, Umr};
    // Folders of symbols also hold separate debug information, which applies to all formats with code objects.
    let rules: [(&str, bool, &[Reads], &str); 7] = [
        ("--host-core", options.host_core.is_some(), &[Core], "a ROCm core"),
        (
            "--code-object",
            !options.code_objects.is_empty(),
            &[Core, Log],
            "a ROCm core or a debug agent's log",
        ),
        ("--symbols", !options.symbols.is_empty(), &[Dump, Core, Log], "a capture that has code objects"),
        ("--force", options.force, &[Dump, Core, Log], "a capture that has code objects"),
        (
            "--local-files",
            options.local_files == LocalFiles::Yes,
            &[Dump, Core, Log],
            "a capture that has code objects",
        ),
        ("--r-version", options.r_version.is_some(), &[Core], "a ROCm core"),
        (
            "--processor",
            options.target.is_some(),
            &[Core, Log, Umr],
            "a capture that does not name its processor",
        ),
    ];
    let idle = rules.iter().filter(|(_, given, users, _)| *given && !users.contains(&reads));
    opened.problems.extend(idle.map(|(flag, _, _, expected)| {
        let (file, key) = (opened.capture.name.clone(), Some((*flag).to_owned()));
        let place = FileLocation { file, key, ..FileLocation::default() };
        problem(place, format_args!("without effect: {}", reads.why()), expected)
    }));
    opened
}
