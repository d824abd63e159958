//! Options that a file of expectations sets.

use super::{FORMS, Folder, check, json, text};
use crate::fixtures::one_line;
use crate::slim::words;
use crate::support::sample::sampled;

/// A wrong option is an error of its line, in each form, and no dump is opened. The names of values are those of
/// docs/commands.md; the system's words are those of strerror.
#[test]
fn wrong_options_are_errors_of_the_file() {
    let folder = Folder::new("check-options");
    let address = "wrong value `zz` of `fault-address`: expected 0xADDRESS, 0xPAGExxx or 0xADDRESS+BYTES";
    let wrong = [
        (
            "local-files maybe",
            "maybe",
            "unknown value `maybe` of `local-files`",
            "the values are auto, yes, no",
        ),
        ("local-files yess # c", "yess", "unknown value `yess` of `local-files`", "did you mean `yes`?"),
        ("dialect foo", "foo", "unknown value `foo` of `dialect`", "the values are "),
        (
            "r-version x",
            "x",
            "wrong value `x` of `r-version`: expected a whole number from 0 to 4294967295",
            "",
        ),
        ("r-version 5000000000", "5000000000", "wrong value `5000000000` of `r-version`: ", ""),
        ("fault-address  \"zz\"", "zz", address, ""),
        ("kind gfx90a\nkind gfx90a", "gfx90a", "a second `kind`: line 2 has one", ""),
        ("force\n\n  force # again", "force", "a second `force`: line 2 has one", ""),
        ("symbols nowhere/", "nowhere/", "nowhere/: No such file or directory", ""),
        ("symbols demo.zip", "demo.zip", "demo.zip: not a folder", ""),
        ("debug-dir nowhere", "nowhere", "nowhere: No such file or directory", ""),
        ("log nowhere", "nowhere", "nowhere: No such file or directory", ""),
        ("host-core nowhere", "nowhere", "nowhere: No such file or directory", ""),
        ("host-core .", ".", ": a folder, expected a file", ""),
        ("code-object no.hsaco", "no.hsaco", "no.hsaco: No such file or directory", ""),
        ("code-object no.hsaco@0x1000", "no.hsaco@0x1000", "no.hsaco: No such file or directory", ""),
        ("processor -x", "-x", "wrong value `-x` of `processor`", ""),
    ];
    for (index, (lines, marked, problem, hint)) in wrong.into_iter().enumerate() {
        let file = folder.write("a.scope", &format!("dump demo.zip\n{lines}\nwaves 8\n"));
        let output = check(&[&file, "--json"]);
        assert_eq!(output.status.code(), Some(2), "{lines}: {output:?}");
        let json = json(&output);
        let [error] = json["files"][0]["errors"].as_array().unwrap().as_slice() else {
            panic!("{lines}: {json:#}")
        };
        assert_eq!(json["files"][0]["dumps"].as_array().unwrap().len(), 0, "{lines}");
        let number = 1 + lines.lines().count() as u64;
        assert_eq!(error["line"], number, "{lines}: {error:#}");
        let column = |index: usize| usize::try_from(error["columns"][index].as_u64().unwrap()).unwrap();
        assert_eq!(&error["text"].as_str().unwrap()[column(0)..column(1)], marked, "{lines}");
        let (found, hinted) =
            (error["problem"].as_str().unwrap(), error["hint"].as_str().unwrap_or_default());
        assert!(found.contains(problem), "{lines}: {found}");
        assert!(hinted.starts_with(hint) && hint.is_empty() == hinted.is_empty(), "{lines}: {hinted}");
        // One form, by turns.
        for form in sampled(FORMS.into_iter().cycle().skip(index).take(FORMS.len()), FORMS.len()) {
            let output = check(&[&file, "--format", form]);
            assert_eq!(output.status.code(), Some(2), "{lines}: {output:?}");
            let printed = one_line(&text(&output.stdout));
            // Each form has its own signs for special characters.
            let part = problem.split(['`', ':', '/']).max_by_key(|part| part.len()).unwrap();
            assert!(printed.contains(part), "{form}: {lines}: {printed}");
            for part in ["--help", "Usage", "error: error"] {
                assert!(!printed.contains(part), "{form}: {lines}: {printed}");
            }
        }
    }
}

/// All wrong lines of a file are reported, in their order.
#[test]
fn wrong_options_are_beside_other_errors() {
    let folder = Folder::new("check-options-all");
    let text = "dump demo.zip\nr-version x\nfault memroy\nlocal-files maybe\nsymbols nowhere\n";
    let json = json(&check(&[&folder.write("a.scope", text), "--json"]));
    let errors = json["files"][0]["errors"].as_array().unwrap().iter();
    assert_eq!(errors.map(|error| error["line"].as_u64().unwrap()).collect::<Vec<_>>(), [2, 3, 4, 5]);
}

/// An option without effect on a dump is named, with the words of `lanescope info`; all lines may hold.
#[test]
fn an_option_without_effect_is_named() {
    let folder = Folder::new("check-idle");
    let demo = folder.path("demo.zip");
    let of_info = ["info", words(&demo), "--processor", "gfx90a"];
    let info = crate::support::lanescope().args(of_info).output().unwrap();
    let info = one_line(&text(&info.stdout));
    let (_, info) = info.split_once("demo.zip: --processor: ").unwrap();
    let sentence = format!("--processor: {}", info.trim_end());
    assert!(sentence.starts_with("--processor: without effect: "), "{sentence}");
    for (lines, forms) in [("processor gfx90a", &FORMS[..]), ("processor gfx90a\nlog note.txt", &FORMS[..1])]
    {
        folder.write("note.txt", "nothing\n");
        let file = folder.write("a.scope", &format!("dump demo.zip\n{lines}\nwaves 8\n"));
        for form in forms {
            let output = check(&[&file, "--format", form]);
            assert_eq!(output.status.code(), Some(0), "{form}: {output:?}");
            let printed = one_line(&text(&output.stdout)).replace("%3A", ":");
            assert!(printed.contains(&sentence), "{form}: {printed}");
        }
    }
    for (name, option) in [("host-core", "note.txt"), ("code-object", "note.txt"), ("r-version", "8")] {
        let file = folder.write("a.scope", &format!("dump demo.zip\n{name} {option}\nwaves 8\n"));
        let printed = one_line(&text(&check(&[&file]).stdout));
        assert!(printed.contains(&format!("--{name}: without effect: ")), "{name}: {printed}");
    }
}
