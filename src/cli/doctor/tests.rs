use std::path::Path;

use super::crashes::{kernel_pattern, own_pattern, size, space};
use super::programs::version;
use super::{Area, Check, State, diagnosis, text};
use crate::arch::Targets;
use crate::report::Style;

/// First lines of the programs' own output.
#[test]
fn versions_are_read_from_each_programs_form() {
    for (line, expected) in [
        ("GNU gdb (Debian 13.1-3) 13.1", Some((13, 1))),
        ("GNU gdb (Debian 10.1-1.7) 10.1.90.20210103-git", Some((10, 1))),
        ("GNU gdb (rocm-rel-6.2-66) 14.2", Some((14, 2))),
        ("lldb version 22.1.8", Some((22, 1))),
        ("Debian LLVM version 22.1.8", Some((22, 1))),
        ("  LLVM version 20.0.0git", Some((20, 0))),
        ("no numbers", None),
        ("99999999999.1", None),
        ("", None),
    ] {
        assert_eq!(version(line), expected, "{line}");
    }
}

#[test]
fn limits_of_core_files() {
    let unlimited = u64::MAX;
    for (limit, state, command) in [
        ((0, 0), State::Missing, None),
        ((0, unlimited), State::Missing, Some("ulimit -c unlimited")),
        ((4096, unlimited), State::Note, Some("ulimit -c unlimited")),
        ((unlimited, unlimited), State::Ok, None),
    ] {
        let check = size(Ok(limit));
        assert_eq!((check.state, check.command.as_deref()), (state, command), "{limit:?}");
    }
    assert_eq!(size(Err(std::io::ErrorKind::PermissionDenied.into())).state, State::Note);
}

#[test]
fn free_space_for_cores() {
    let words = |free| space(Path::new("/x"), free).limit();
    assert_eq!(words(Ok(16 << 30)), None);
    let few = words(Ok(5 << 29)).unwrap();
    assert!(few.starts_with("free space for cores: 2.5 GiB in /x; a whole core"), "{few}");
    assert!(words(Err(std::io::ErrorKind::NotFound.into())).is_some());
}

#[test]
fn patterns_of_cores() {
    let own = own_pattern(Some("|/usr/bin/lanescope slim --dir /x -"));
    assert_eq!((own.state, own.command), (State::Ok, None));
    let missing = own_pattern(None);
    assert_eq!(missing.state, State::Missing);
    assert!(missing.command.is_some_and(|command| command.ends_with(" slim --dir /var/crash/gpu -'")));
    let pipe = || Ok("|/usr/share/apport/apport %p\n".to_owned());
    assert_eq!(kernel_pattern(pipe(), false).state, State::Note);
    // A pattern of the user has precedence.
    assert_eq!(kernel_pattern(pipe(), true).state, State::Ok);
    assert_eq!(kernel_pattern(Ok("core\n".to_owned()), false).state, State::Ok);
    assert_eq!(kernel_pattern(Err(std::io::ErrorKind::NotFound.into()), false).state, State::Note);
}

#[test]
fn commands_are_listed_once_and_the_demo_is_last() {
    let check = |command: &str| Check {
        area: Area::Crashes,
        name: "x".to_owned(),
        state: State::Missing,
        path: None,
        version: None,
        fact: "y".to_owned(),
        notes: vec!["z".to_owned()],
        command: Some(command.to_owned()),
    };
    let all = diagnosis(vec![check("a"), check("b"), check("a")], &Targets::builtin());
    assert_eq!(all.next, ["a", "b", "lanescope capture -- ./app", "lanescope demo"]);
    let text = text(&all, Style::Plain);
    assert!(text.contains("  missing  x: y\n           z\n"), "{text}");
    assert!(text.ends_with("  a\n  b\n  lanescope capture -- ./app\n  lanescope demo\n"), "{text}");
}
