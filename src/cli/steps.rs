//! Commands for the steps of an analysis, over the same dump with the same options.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::path::Path;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args as _, Command as Options};

use super::check::settings_of;
use super::{CaptureArgs, DumpArgs, Globals, shell, standard_input};
use crate::clean::clean;
use crate::triage::Step;

/// The words of the dump and its options, each after a space, as the user typed them: ` core.1 --host-core core`.
pub(super) fn typed(matches: &ArgMatches) -> String {
    words(matches, &|value| shell::word_of(value).into_owned())
}

/// The same with the names of files alone, for texts that leave the machine.
pub(super) fn names(matches: &ArgMatches) -> String {
    words(matches, &name_word)
}

/// The words of a dump of another command's argument, and of its options.
pub(super) fn of(dump: &Path, with: &CaptureArgs, globals: &Globals) -> String {
    let dump = if standard_input::is_meant(dump) { Path::new("FILE") } else { dump };
    let name = |path: &Path| Ok(shell::word_of(path.as_os_str()).into_owned());
    let options = settings_of(with, globals, &name).unwrap_or_default();
    let words = options.iter().map(|option| {
        let value = option.value.as_ref().map_or_else(String::new, |value| format!(" {value}"));
        format!(" --{}{value}", option.name)
    });
    format!(" {}{}", shell::word_of(dump.as_os_str()), words.collect::<String>())
}

/// The shell's word of the last part of a path.
pub(super) fn name_word(path: &OsStr) -> String {
    let path = clean(path.to_string_lossy());
    let name = path.trim_end_matches('/').rsplit('/').next().filter(|name| !name.is_empty());
    shell::word(name.unwrap_or(&path)).into_owned()
}

/// `word`: the shell's word of a value.
fn words(matches: &ArgMatches, word: &dyn Fn(&OsStr) -> String) -> String {
    let options = Globals::augment_args(DumpArgs::augment_args(Options::new("")));
    let mut words = String::new();
    for argument in options.get_arguments() {
        let id = argument.get_id().as_str();
        // Commands have a part of the options.
        if matches.try_contains_id(id).is_err() || matches.value_source(id) != Some(ValueSource::CommandLine)
        {
            continue;
        }
        let option = argument.get_long().map_or_else(String::new, |long| format!(" --{long}"));
        if !argument.get_action().takes_values() {
            words += &option;
            continue;
        }
        for value in matches.get_raw(id).into_iter().flatten() {
            // Standard input was read: the next command needs a file.
            if ["logs", "dump"].contains(&id) && value == "-" {
                let _ = write!(words, "{option} FILE");
                continue;
            }
            let _ = write!(words, "{option} {}", word(value));
        }
    }
    words
}

/// The command of a step; `typed`: the words of the dump.
pub(super) fn command(step: &Step, typed: &str) -> Option<String> {
    let of_frame = |frame: usize| if frame > 0 { format!(" --frame {frame}") } else { String::new() };
    Some(match step {
        Step::Locals { id, lane, frame, .. } => {
            let lane = lane.map_or_else(String::new, |lane| format!(" --lane {lane}"));
            format!("lanescope locals{typed} --wave {id}{lane}{}", of_frame(*frame))
        }
        Step::Registers { id, .. } => format!("lanescope registers{typed} --wave {id}"),
        Step::Instructions { id, around, frame, .. } => {
            format!("lanescope disassemble{typed} --wave {id}{} --around {around}", of_frame(*frame))
        }
        Step::Wave { id, .. } => format!("lanescope triage{typed} --wave {id}"),
        Step::Hang => format!("lanescope triage{typed} --hang"),
        Step::Groups => format!("lanescope groups{typed}"),
        Step::Info => format!("lanescope info{typed}"),
        Step::Debugger => format!("lanescope serve{typed}"),
        Step::Log => return None,
    })
}

#[cfg(test)]
mod tests {
    use clap::Args as _;

    use super::{DumpArgs, Globals, Options, Step, command, names, typed};
    use crate::units::{LaneId, WaveId};

    #[test]
    fn an_outer_frame_is_named() {
        for (frame, of_frame) in [(0, ""), (2, " --frame 2")] {
            let (wave, id) = (WaveId(0), 3);
            let locals = Step::Locals { wave, id, lane: Some(LaneId(5)), frame };
            let expected = format!("lanescope locals a.zip --wave 3 --lane 5{of_frame}");
            assert_eq!(command(&locals, " a.zip"), Some(expected));
            let instructions = Step::Instructions { wave, id, around: 7, frame };
            let expected = format!("lanescope disassemble a.zip --wave 3{of_frame} --around 7");
            assert_eq!(command(&instructions, " a.zip"), Some(expected));
        }
    }

    /// Standard input was read: a next command cannot read it again.
    #[test]
    fn standard_input_is_a_file_in_the_next_command() {
        let options = Globals::augment_args(DumpArgs::augment_args(Options::new("lanescope")));
        let of = |words: &[&str]| typed(&options.clone().try_get_matches_from(words).unwrap());
        let words = ["lanescope", "core.1", "--log", "-", "--log", "a b.log"];
        assert_eq!(of(&words), " core.1 --log FILE --log 'a b.log'");
        assert_eq!(of(&["lanescope", "-", "--force"]), " FILE --force");
    }

    #[test]
    fn names_of_files_have_no_folders() {
        let options = Globals::augment_args(DumpArgs::augment_args(Options::new("lanescope")));
        let words =
            ["lanescope", "o/oob.zip", "--symbols", "build/a b/", "--code-object", "../k.hsaco@0x1000"];
        let matches = options.try_get_matches_from(words).unwrap();
        assert_eq!(typed(&matches), " o/oob.zip --code-object ../k.hsaco@0x1000 --symbols 'build/a b/'");
        assert_eq!(names(&matches), " oob.zip --code-object k.hsaco@0x1000 --symbols 'a b'");
    }
}
