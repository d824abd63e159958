use std::fmt::Write as _;

use super::{MAX_REGISTERS, next_list, read};
use crate::arch::Targets;
use crate::import::Options;
use crate::import::problem::Problems;
use crate::import::text::Kept;
use crate::import::umr::family::Families;
use crate::import::umr::wave::{MAX_SGPRS, MAX_VGPRS, Read, TTMPS};

fn reads(text: &str) -> (Read, String) {
    let targets = Targets::builtin();
    let mut problems = Problems::new("answer");
    let options = Options { target: Some("gfx900".to_owned()), ..Options::default() };
    let mut families = Families::new(&targets, &options, None).unwrap();
    let read = read("answer", text.as_bytes(), Kept::default(), &mut families, &mut problems);
    (read, problems.finish().iter().map(|problem| format!("{problem}\n")).collect())
}

#[test]
fn lists_of_waves_are_found_and_others_are_not() {
    for (text, at) in [
        (r#"{"waves":[{"#, Some(10)),
        (r#"{"waves" : [ ]"#, Some(12)),
        (r#"{"waves":["#, Some(10)),
        (r#"{"waves":[ { "s"#, Some(10)),
        (r#"{"waves":[{"PC":1"#, Some(10)),
        // lanescope's own export.
        (r#"{"waves":[{"ordinal":0,"registers":{}"#, None),
        (r#"{"waves":[{}"#, None),
        (r#"{"waves":[1"#, None),
        (r#"{"waves":3,"waves":[]"#, Some(20)),
        (r#"{\"waves\":[{"#, None),
        (r#"{"wave":[{"#, None),
    ] {
        assert_eq!(next_list(text.as_bytes(), 0), at, "{text}");
    }
}

/// At any end of the text, waves before it are read and the problem has the offset of the end.
#[test]
fn a_text_that_breaks_off_keeps_whole_waves() {
    let wave = |id: u32| format!(r#"{{"se":0,"sa":0,"wgp":1,"simd_id":0,"wave_id":{id},"sgpr":[{id}]}}"#);
    let text = format!("$ curl x\n{{\"waves\":[{}, {},\n{}], \"shaders\": {{}}}}", wave(0), wave(1), wave(2));
    let list = text.find('[').unwrap() + 1;
    let ends: Vec<usize> = (0..3).map(|id| text.find(&wave(id)).unwrap() + wave(id).len()).collect();
    for end in list..=text.len() {
        let (read, said) = reads(&text[..end]);
        let whole = ends.iter().filter(|at| **at <= end).count();
        assert_eq!(read.waves.len(), whole, "{end}: {said}");
        assert_eq!(said.is_empty(), end > ends[2], "{end}: {said}");
        if !said.is_empty() {
            let begun = ends.iter().rev().find(|at| **at <= end).copied().unwrap_or(list);
            let offsets =
                (begun..=(begun + 3).min(end)).map(|at| format!("answer: offset {at:#x}: waves[{whole}]: "));
            assert!(offsets.into_iter().any(|offset| said.starts_with(&offset)), "{end}: {said}");
        }
    }
    assert_eq!(reads(&text).0.waves[2].line, 3);
}

/// One value of an unexpected type costs only itself.
#[test]
fn an_odd_value_costs_itself() {
    let text = r#"{"waves":[
        {"se":null,"sa":0,"wgp":"x","PC":64,"registers":{"ixSQ_WAVE_M0":{"raw":7},"ixSQ_WAVE_MODE":{"raw":"0x12"},"a":5},
         "threads":null,"sgpr":[1,null,"0x12",[4],{"a":5},true,-1,4294967296,7],"extra_sgpr":null,
         "vgpr":[[1,2.5,null,4],null,[9]]},
        null, 7, "wave", [],
        {"se":1,"sa":0,"wgp":1,"simd_id":2,"wave_id":3,"sgpr":null,"vgpr":7}]}
        {"waves": [{"se":2,"sa":0,"wgp":1,"simd_id":2,"wave_id":3,"sgpr":[3]}]}"#;
    let (read, said) = reads(text);
    let slots: Vec<&str> = read.waves.iter().map(|wave| wave.slot.as_str()).collect();
    assert_eq!(slots, ["se?.sa0.wgp?.simd?.wave?", "se1.sa0.wgp1.simd2.wave3", "se2.sa0.wgp1.simd2.wave3"]);
    let value = |wave: usize, name: &str, lane: u8| {
        let value = read.waves[wave].values.iter().find(|value| read.kept.text(value.name) == name)?;
        read.kept.dword(value, lane)
    };
    let of = |name: &str| value(0, name, 0);
    assert_eq!(
        ["m0", "mode", "s0", "s1", "s2", "s6", "s7", "s8"].map(of),
        [Some(7), None, Some(1), None, None, Some(u32::MAX), None, Some(7)]
    );
    assert_eq!([0, 1, 2, 3].map(|lane| value(0, "v0", lane)), [Some(1), None, None, Some(4)]);
    assert_eq!([value(0, "v1", 0), value(0, "v2", 0), value(2, "s0", 0)], [None, Some(9), Some(3)]);
    assert!(said.contains("waves[0]: 10 values are no 32-bit numbers"), "{said}");
    assert_eq!(said.matches("is no wave and is left out").count(), 4, "{said}");
}

/// Values beyond a wave's maximum are skipped.
#[test]
fn lists_end_where_a_wave_has_no_more() {
    let numbers = |count: usize| vec!["1"; count].join(",");
    let rows = vec![format!("[{}]", numbers(80)); MAX_VGPRS as usize + 5].join(",");
    let mut registers = String::new();
    for at in 0..MAX_REGISTERS + 5 {
        write!(registers, "\"R{at}\":{{\"raw\":{at}}},").unwrap();
    }
    let text = format!(
        "{{\"waves\":[{{\"wgp\":1,\"sgpr\":[{}],\"extra_sgpr\":[{}],\"vgpr\":[{rows}],\"registers\":{{{registers}\"z\":1}}}}]}}",
        numbers(MAX_SGPRS as usize + 5),
        numbers(TTMPS as usize + 5),
    );
    let (mut one, refused) = {
        let mut values = serde_json::Deserializer::from_str(text.split_once('[').unwrap().1)
            .into_iter::<super::Any<super::Wave>>();
        super::one(1, &values.next().unwrap().unwrap().0)
    };
    assert_eq!((one.sgprs.len(), one.ttmps.len(), refused), (MAX_SGPRS as usize, TTMPS as usize, 0));
    assert_eq!((one.vgprs.len(), one.vgprs[0].lanes.len()), (MAX_VGPRS as usize, 64));
    assert_eq!(one.words.len(), MAX_REGISTERS);
    one.vgprs.clear();
    let deep = format!("{{\"waves\":[{{\"se\":0}},{}", "[".repeat(100_000));
    let (read, said) = reads(&deep);
    assert!(read.waves.len() == 1 && said.contains("EOF while parsing a list"), "{said}");
}

/// Bytes changed, removed, repeated: waves or problems.
#[test]
fn damaged_answers_are_read_as_far_as_they_go() {
    let wave = r#"{"se":0,"sa":0,"wgp":1,"PC":64,"registers":{"ixSQ_WAVE_M0":{"raw":7}},"threads":[true],"sgpr":[1,-2],"vgpr":[[1,2],[3]]}"#;
    let text = format!("{{\"answer\":{{\"waves\":[{wave},{wave},{wave}]}}}}");
    let mut seed = 7u64;
    let mut random = |most: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % most.max(1)
    };
    let mut kept = 0;
    for _ in 0..4000 {
        let mut bytes = text.clone().into_bytes();
        for _ in 0..1 + random(5) {
            let at = random(bytes.len());
            let length = random(60).min(bytes.len() - at);
            match random(4) {
                0 => bytes[at] = random(256) as u8,
                1 => drop(bytes.drain(at..at + length)),
                2 => {
                    let part = bytes[at..at + length].to_vec();
                    let to = random(bytes.len());
                    bytes.splice(to..to, part);
                }
                _ => bytes[at] = b"{}[],:\"0-e."[random(11)],
            }
        }
        let (read, said) = reads(&String::from_utf8_lossy(&bytes));
        kept += read.waves.len();
        // No loss without a problem.
        let lists = next_list(&bytes, 0).is_some();
        assert!(
            !lists || read.idle || !read.waves.is_empty() || !said.is_empty(),
            "{}",
            String::from_utf8_lossy(&bytes)
        );
    }
    assert!(kept > 2000, "{kept}");
}
