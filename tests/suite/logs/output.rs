//! Logs inside other output, as people post them: in colour, with carriage returns, with a time or a rank before each
//! line, between the lines of the program, cut off.

use std::fmt::Write as _;
use std::fs;

use lanescope::arch::{RegId, Targets};
use lanescope::import;
use serde_json::json;

use super::model::{GFX90A, GFX1100, Gpu, Wave};
use super::writer::{self, Form};
use super::{export, export_text, file, folder, problems, same_waves};
use crate::support::{least, sample::sampled};

const SMALL: Gpu = Gpu { sgprs: 8, vgprs: 2, agprs: 1, ..GFX90A };

fn log(waves: &[Wave]) -> String {
    writer::agent(waves, Form::Kernargs, None)
}

fn shows(name: &str, text: impl AsRef<[u8]>, waves: &[Wave]) {
    let export = export_text(name, text, &["--processor", "gfx90a"]);
    assert_eq!(problems(&export), Vec::<&str>::new(), "{name}");
    same_waves(waves, &export);
    assert_eq!(export["workgroups"].as_array().unwrap().len(), waves.len().div_ceil(2), "{name}");
}

fn each_line(text: &str, mut change: impl FnMut(usize, &str) -> String) -> String {
    text.lines().enumerate().map(|(at, line)| change(at, line) + "\n").collect()
}

#[test]
fn colours_and_carriage_returns_are_no_part_of_the_text() {
    let waves = Wave::some(SMALL, 3);
    let text = log(&waves);
    shows("crlf", text.replace('\n', "\r\n"), &waves);
    // Terminal output: a bold header, colour around every value, a title before it, erased lines.
    let coloured = each_line(&text, |_, line| {
        let line = line.replace("wave_", "\x1b[1;31mwave_").replace(": ", "\x1b[0m: \x1b[38;5;33m");
        format!("\x1b]0;a title\x07\x1b(B{line}\x1b[0m\x1b[K")
    });
    shows("colours", coloured, &waves);
    let bars = each_line(&text, |at, line| format!("epoch {at}/99\repoch {at}/99 loss 0.25\r{line}"));
    shows("progress-bars", bars, &waves);
}

#[test]
fn prefixes_of_lines_are_recognised_by_the_header() {
    let waves = Wave::some(SMALL, 3);
    let text = log(&waves);
    for (name, prefix) in [("ctest", "12: "), ("mpirun", "[1,0]<stderr>:"), ("docker", "worker-3  | ")] {
        shows(name, each_line(&text, |_, line| format!("{prefix}{line}")), &waves);
    }
    let timed =
        each_line(&text, |at, line| format!("2026-11-20T09:{:02}:{:02}.{at:07}Z {line}", at / 60, at % 60));
    shows("times", timed, &waves);
}

/// Three ranks write at once, alternating by lines; each has its wave_1.
#[test]
fn ranks_that_write_line_by_line_stay_apart() {
    let ranks: Vec<Vec<Wave>> = (0..3u64)
        .map(|rank| (0..2).map(|nth| Wave { id: 1 + nth, ..Wave::new(SMALL, rank * 2 + nth + 1) }).collect())
        .collect();
    let texts: Vec<String> = ranks.iter().map(|waves| log(waves)).collect();
    let lines: Vec<Vec<&str>> = texts.iter().map(|text| text.lines().collect()).collect();
    let mut text = String::new();
    for at in 0..lines[0].len() {
        for (rank, lines) in lines.iter().enumerate() {
            writeln!(text, "[1,{rank}]<stderr>:{}", lines[at]).unwrap();
        }
    }
    let export = export_text("ranks", text, &["--processor", "gfx90a"]);
    // In the order of the headers: the first wave of each rank, then the second.
    let expected = (0..2).flat_map(|nth| ranks.iter().map(move |waves| waves[nth].clone()));
    let ids = [1, 3, 4, 2, 5, 6];
    let expected: Vec<Wave> = expected.zip(ids).map(|(wave, id)| Wave { id, ..wave }).collect();
    same_waves(&expected, &export);
    let said = problems(&export);
    assert_eq!(said.len(), 4, "{said:?}");
    assert!(
        said[0].contains("line 5: wave_1 was reported before, in line 4; this report is shown as wave 3"),
        "{said:?}"
    );
    assert!(
        export["waves"][1]["name"].as_str().unwrap().ends_with("wave_1 of line 5"),
        "{}",
        export["waves"][1]["name"]
    );
}

#[test]
fn lines_of_the_program_between_those_of_the_log_cost_nothing() {
    let waves = Wave::some(SMALL, 3);
    let noise =
        ["step: 12 loss: 0.25", "hash = 0xdeadbeef", "[rank0] waiting", "", "x: [1.0, 2.0]", "0x10: done"];
    let text = each_line(&log(&waves), |at, line| format!("{}\n{line}", noise[at % noise.len()]));
    shows("interleaved", text, &waves);
    // A program's unfinished line before the agent's output; its next lines look alike.
    let text = log(&waves).replace("wave_2:", "iteration 17 of 100 ... wave_2:");
    shows("not-ended", text, &waves);
    let text = log(&waves).replace("wave_", "iteration 17 of 100 ... wave_");
    let text = each_line(&text, |at, line| format!("{line}\niteration {} of 100 ... done", at % 100));
    shows("not-ended-anywhere", text, &waves);
    // After a rank, or a time.
    let text = log(&waves).replace("wave_2:", "iteration 17 of 100 ... wave_2:");
    shows("not-ended-rank", each_line(&text, |_, line| format!("[1,0]<stderr>:{line}")), &waves);
    let timed = each_line(&text, |at, line| format!("09:{:02}:{:02} {line}", at / 60, at % 60));
    shows("not-ended-time", timed, &waves);
}

/// Times of any width, as in containers' logs, kernels and loggers.
#[test]
fn clocks_go_on_in_any_width() {
    let waves = Wave::some(SMALL, 3);
    let text = log(&waves);
    let nanos =
        |at: usize| format!("{:09}", at * 12_345_670 % 1_000_000_000).trim_end_matches('0').to_owned();
    shows(
        "kube",
        each_line(&text, |at, line| format!("2026-11-20T09:00:01.{}Z {line}", nanos(at + 1))),
        &waves,
    );
    shows("dmesg", each_line(&text, |at, line| format!("[{:5}.{at:06}] {line}", 990 + at)), &waves);
    let syslog = |at: usize| format!("Jan {:2} 09:00:{:02} node app[1233]: ", 5 + at / 60, at % 60);
    shows("syslog", each_line(&text, |at, line| format!("{}{line}", syslog(at))), &waves);
    shows("seconds", each_line(&text, |at, line| format!("{}.{}s: {line}", at / 10 + 8, at % 10)), &waves);
    shows("cat-n", each_line(&text, |at, line| format!("{:6}\t{line}", at + 1)), &waves);
    shows("grep-n", each_line(&text, |at, line| format!("{}:{line}", at + 1)), &waves);
    shows("quoted", each_line(&text, |_, line| format!("> {line}")), &waves);
}

/// Simultaneous ranks, each line with a time before the rank; also rows that a terminal broke.
#[test]
fn ranks_stay_apart_behind_times() {
    for form in ["[rank{}] ", "node app[123{}]: "] {
        let ranks: Vec<Vec<Wave>> =
            (0..2u64).map(|rank| vec![Wave { id: 1 + rank, ..Wave::new(SMALL, rank + 1) }]).collect();
        let broken = |text: String| {
            each_line(&text, |_, line| {
                let words: Vec<&str> = line.split(" [").collect();
                words.chunks(5).map(|words| words.join(" [")).collect::<Vec<_>>().join("\n[")
            })
        };
        let texts: Vec<String> = ranks.iter().map(|waves| broken(log(waves))).collect();
        let lines: Vec<Vec<&str>> = texts.iter().map(|text| text.lines().collect()).collect();
        let mut text = String::new();
        for at in 0..lines[0].len() {
            for (rank, lines) in lines.iter().enumerate() {
                let name = form.replace("{}", &rank.to_string());
                writeln!(text, "09:{:02}:{:02} {name}{}", at / 60, (at + rank) % 60, lines[at]).unwrap();
            }
        }
        let export = export_text("ranks-times", text, &["--processor", "gfx90a"]);
        assert_eq!(problems(&export), Vec::<&str>::new());
        same_waves(&ranks.concat(), &export);
    }
}

/// The rule before each wave ends the previous one: lines after an unreadable header are reported, as of no wave.
#[test]
fn a_broken_header_does_not_give_its_rows_to_the_wave_before() {
    let waves = Wave::some(SMALL, 3);
    for (from, to) in
        [("wave_2: pc=0x", "wave_2: pc=0q"), ("wave_2", "wav"), ("wave_2: pc=", "\u{fffd}\u{fffd}=")]
    {
        let export =
            export_text("broken-header", log(&waves).replacen(from, to, 1), &["--processor", "gfx90a"]);
        same_waves(&[waves[0].clone(), waves[2].clone()], &export);
        let said = problems(&export);
        assert!(said.iter().any(|problem| problem.contains("their wave is unknown")), "{said:?}");
    }
}

#[test]
fn rows_behind_a_line_that_was_not_ended_are_read() {
    let waves = Wave::some(SMALL, 2);
    let text = each_line(&log(&waves), |at, line| {
        let numbered =
            ["s4: ", "v1: ", "a0: ", "ttmp8: "].iter().any(|name| line.trim_start().starts_with(name));
        let begun = ["Epoch 3 ... ", "50% ", "loss 0.25 "][at % 3];
        if numbered || line.starts_with("    0x0040: ") { format!("{begun}{line}") } else { line.to_owned() }
    });
    assert!(text.matches("...").count() + text.matches("50%").count() > 3, "{text}");
    shows("mid", text, &waves);
}

/// A terminal of 80 columns breaks vector rows; after a break between two lanes, they continue in the next line.
#[test]
fn rows_that_a_terminal_broke_go_on() {
    let waves = Wave::some(SMALL, 2);
    let text = each_line(&log(&waves), |_, line| {
        if !line.contains(": [0]") {
            return line.to_owned();
        }
        let words: Vec<&str> = line.split(" [").collect();
        words.chunks(5).map(|words| words.join(" [")).collect::<Vec<_>>().join("\n[")
    });
    assert!(text.contains("\n[4] "), "{text}");
    shows("broken-rows", text, &waves);
}

#[test]
fn a_log_is_found_behind_much_other_output() {
    let waves = Wave::some(SMALL, 1);
    let mut text = String::new();
    while text.len() < 5 << 20 {
        writeln!(text, "[info] wave_7 is stopped; simd width 4; pc= {}", text.len()).unwrap();
    }
    text.push_str(&log(&waves));
    shows("far", &text, &waves);
    // As one line that ends before the log.
    let export = export_text("far-line", text.replace("\n[info]", " [info]"), &["--processor", "gfx90a"]);
    same_waves(&waves, &export);
    assert!(problems(&export)[0].contains("line 1: the line is too long"), "{:?}", problems(&export));
    let path = file("near", "no dump at all\nwave_7 is stopped\n");
    let error = import::open(&path, &Targets::builtin(), &import::Options::default()).unwrap_err();
    assert!(error.to_string().contains("text of no known format (expected a lanescope dump"), "{error}");
}

/// One process may report repeatedly: each report is kept, and counts as another wave.
#[test]
fn a_wave_that_is_reported_twice_is_two() {
    let waves = Wave::some(SMALL, 1);
    let text = log(&waves) + "\n" + &log(&waves);
    let export = export_text("twice", text, &["--processor", "gfx90a"]);
    let again = Wave { id: 2, ..waves[0].clone() };
    same_waves(&[waves[0].clone(), again], &export);
    let shown = export["waves"].as_array().unwrap();
    assert_ne!(shown[0]["packet_id"], shown[1]["packet_id"], "two waves cannot have one place");
    let said = problems(&export);
    assert!(said.iter().any(|problem| problem.contains("does not distinguish their dispatches")), "{said:?}");
}

/// People quote a header in text around a log; a log may end after a header.
#[test]
fn a_header_without_registers_is_no_wave() {
    let waves = Wave::some(SMALL, 2);
    let quoted =
        |wave: &Wave| format!("It stops at `{}`, see below.\n", writer::header(wave, Form::Kernargs));
    let before = ["Hello,\n".to_owned(), quoted(&waves[0]), quoted(&waves[1]), log(&waves)].concat();
    let after = [log(&waves), "\nAs said:\n".to_owned(), quoted(&waves[0])].concat();
    for (name, text, line, count) in [
        ("quoted-before", before, 2, "2 lines"),
        ("quoted-after", after.clone(), after.lines().count(), "this line"),
    ] {
        let export = export_text(name, text, &["--processor", "gfx90a"]);
        same_waves(&waves, &export);
        let said = problems(&export);
        assert_eq!(said.len(), 1, "{name}: {said:?}");
        let wanted = [format!("line {line}: {count}"), "no registers follow".to_owned()];
        assert!(wanted.iter().all(|wanted| said[0].contains(wanted)), "{name}: {said:?}");
    }
    // It has no other data.
    for text in [quoted(&waves[0]), format!("{}\n{}", writer::RULE, writer::header(&waves[0], Form::Plain))] {
        let export = export_text("quoted-alone", text, &[]);
        assert_eq!((export["waves"].as_array().unwrap().len(), problems(&export).len()), (0, 1));
        assert!(problems(&export)[0].contains("no waves: this line reads as a wave's header"), "{export}");
    }
}

/// Cut after any line and after any byte: a value is whole and right, or absent.
#[test]
fn a_log_that_was_cut_shows_nothing_that_is_not_true() {
    let targets = Targets::builtin();
    let waves = Wave::some(Gpu { sgprs: 3, vgprs: 1, agprs: 1, ..GFX90A }, 2);
    let short = Gpu { sgprs: 2, vgprs: 1, ..GFX1100 };
    for (gpu, waves) in [("gfx90a", waves), ("gfx1100", Wave::some(short, 2))] {
        let text = log(&waves);
        let start = text.find("wave_1: pc=0x7").unwrap();
        let mut complete = 0;
        for end in sampled(start + "wave_1: pc=0x7".len()..=text.len(), 5) {
            let options = import::Options { target: Some(gpu.to_owned()), ..import::Options::default() };
            let path = folder("cut").join("log");
            fs::write(&path, &text[..end]).unwrap();
            let opened = import::open(&path, &targets, &options).unwrap();
            for shown in &opened.capture.waves {
                let wave = waves.iter().find(|wave| wave.id == u64::from(shown.id)).unwrap();
                // Present values; missing ones are unknown by construction.
                let held = shown
                    .registers
                    .own
                    .iter()
                    .flat_map(|(_, block)| (block.first.0..block.first.0 + block.count).map(RegId));
                for register in held.map(|id| shown.kind.register(id).unwrap()) {
                    let value = opened.capture.register(shown, register.id).unwrap();
                    let wanted = wave.hex(&register.name);
                    for index in 0..value.dwords() {
                        let Some(dword) = value.dword(index) else { continue };
                        let at = usize::from(index) * 8;
                        let wanted = wanted.as_str().and_then(|hex| hex.get(at..at + 8));
                        let name = &register.name;
                        assert_eq!(
                            Some(format!("{:08x}", dword.swap_bytes()).as_str()),
                            wanted,
                            "{end}: {name} {index}"
                        );
                        complete += 1;
                    }
                }
            }
        }
        assert!(complete > least(10_000, 1_500), "{complete}");
    }
}

/// Damage to one word: a problem with its line, and no effect on the rest of the log.
#[test]
fn a_damaged_row_costs_itself() {
    let waves = Wave::some(SMALL, 2);
    let text = log(&waves);
    for (name, from, to, problem) in [
        ("lane", "[5] ", "[5x] ", "the row has an invalid lane"),
        ("lanes", "[5] ", "[500] ", "lane 500 is ignored"),
        ("repeated", "[5] ", "[4] ", "lane 4 is given a second time"),
        ("scalar", "s1: ", "s1: zz", "the row has an invalid register"),
        ("word", "    0x0020: ", "    0x0020: zz", "a word of the row is invalid"),
        ("again", "s1: ", "s0: ", "s0 is given a second time"),
        ("unknown", "s1: ", "s900: ", "s900 is no register of gfx90a"),
    ] {
        let line = text[..text.find(from).unwrap()].lines().count();
        let export = export_text(name, text.replacen(from, to, 1), &["--processor", "gfx90a"]);
        let said = problems(&export);
        assert_eq!(said.len(), 1, "{name}: {said:?}");
        // A mark at the start of a line belongs to the line after the previous ones.
        let named = (line..=line + 1).any(|line| said[0].contains(&format!("line {line}:")));
        assert!(said[0].contains(problem) && named, "{name}: {said:?} is not line {line}");
        super::same_registers(&waves[1], &export["waves"][1]);
    }
    // A contradictory wave size.
    let narrow = each_line(&text, |_, line| match line.split_once("exec: ") {
        Some((before, rest)) => format!("{before}exec: {}", &rest[8..]),
        None => line.to_owned(),
    });
    let export = export_text("narrow", narrow, &["--processor", "gfx1100"]);
    assert_eq!(export["waves"][0]["lanes"], json!(64));
    assert!(problems(&export)[0].contains("exec has 32 bits"), "{:?}", problems(&export));
}

/// The same through a file name without a folder, in the current folder.
#[test]
fn a_log_may_be_named_without_a_folder() {
    let waves = Wave::some(SMALL, 1);
    let path = file("bare-name", log(&waves));
    let output = crate::support::lanescope()
        .args(["waves", "log", "--processor", "gfx90a"])
        .current_dir(path.parent().unwrap())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    same_waves(&waves, &export(&path, &["--processor", "gfx90a"]));
}
