//! umr's answer to the command `waves` of its JSON server.
//!
//! Its writer knows one kind of number, so that older versions write SGPRs above 2^31 as negative numbers.

use std::collections::BTreeMap;
use std::io::{BufReader, Read as IoRead};

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::text::short;
use super::wave::{MOST_SGPRS, MOST_VGPRS, Read, Row, TTMPS, UmrWave};
use crate::import::ImportError;
use crate::import::problem::Problems;
use crate::import::text::MOST_WAVES;
use crate::units::WaveSize;

#[derive(Debug, Deserialize)]
struct Answer {
    #[serde(default)]
    waves: Option<Vec<Wave>>,
    /// The server puts what was asked for in here.
    #[serde(default)]
    answer: Option<Box<Inner>>,
}

#[derive(Debug, Deserialize)]
struct Inner {
    #[serde(default)]
    waves: Vec<Wave>,
}

#[derive(Debug, Deserialize)]
struct Wave {
    #[serde(default)]
    se: u64,
    sh: Option<u64>,
    sa: Option<u64>,
    cu: Option<u64>,
    wgp: Option<u64>,
    #[serde(default)]
    simd_id: i64,
    #[serde(default)]
    wave_id: i64,
    #[serde(rename = "PC")]
    pc: Option<f64>,
    #[serde(default)]
    registers: BTreeMap<String, Register>,
    #[serde(default)]
    threads: Vec<IgnoredAny>,
    #[serde(default)]
    sgpr: Vec<f64>,
    #[serde(default)]
    extra_sgpr: Vec<f64>,
    #[serde(default)]
    vgpr: Vec<Vec<f64>>,
}

#[derive(Debug, Deserialize)]
struct Register {
    raw: Option<f64>,
}

/// Reads all of an answer.
pub(super) fn read(name: &str, source: impl IoRead, problems: &mut Problems) -> Result<Read, ImportError> {
    let answer: Answer =
        serde_json::from_reader(BufReader::new(source)).map_err(|error| ImportError::Syntax {
            file: name.to_owned(),
            line: error.line(),
            column: error.column(),
            what: error.to_string(),
            expected: "umr's answer to the command waves: a JSON object",
        })?;
    let inner = answer.answer.map(|inner| inner.waves);
    let waves = answer.waves.or(inner).unwrap_or_default();
    let mut read = Read { idle: waves.is_empty(), too_many: waves.len() > MOST_WAVES, ..Read::default() };
    for (index, wave) in waves.into_iter().take(MOST_WAVES).enumerate() {
        let mut one = one(index, wave, problems);
        one.finish(&mut read.kept, problems);
        read.waves.push(one);
    }
    Ok(read)
}

/// A 32-bit number, also where it was written as a negative one; `None`: it is none.
fn word(number: f64) -> Option<u32> {
    let whole = number.fract() == 0.0 && (f64::from(i32::MIN)..=f64::from(u32::MAX)).contains(&number);
    whole.then_some(number as i64 as u32)
}

fn one(index: usize, wave: Wave, problems: &mut Problems) -> UmrWave {
    let has_wgp = wave.wgp.is_some();
    let slot = match (wave.wgp, wave.cu) {
        (Some(wgp), _) => format!("se{}.sa{}.wgp{wgp}", wave.se, wave.sa.unwrap_or(0)),
        (None, cu) => format!("se{}.sh{}.cu{}", wave.se, wave.sh.unwrap_or(0), cu.unwrap_or(0)),
    };
    let slot = format!("{slot}.simd{}.wave{}", wave.simd_id, wave.wave_id);
    let size = match wave.threads.len() {
        32 => Some(WaveSize::W32),
        64 => Some(WaveSize::W64),
        _ => None,
    };
    let mut one = UmrWave { line: 0, slot, has_wgp, size, ..UmrWave::default() };
    let key = format!("waves[{index}]");
    let mut refused = 0;
    for (name, register) in &wave.registers {
        match register.raw.map(word) {
            Some(Some(raw)) => {
                one.words.insert(short(name.as_bytes()), raw);
            }
            Some(None) => refused += 1,
            None => {}
        }
    }
    if let Some(pc) =
        wave.pc.filter(|pc| pc.fract() == 0.0 && (0.0..18_446_744_073_709_551_616.0).contains(pc))
    {
        let pc = pc as u64;
        one.words.entry("pc_lo".to_owned()).or_insert(pc as u32);
        one.words.entry("pc_hi".to_owned()).or_insert((pc >> 32) as u32);
    }
    let lists = [(&wave.sgpr, &mut one.sgprs, MOST_SGPRS), (&wave.extra_sgpr, &mut one.ttmps, TTMPS)];
    for (from, to, most) in lists {
        for (slot, number) in (0..most).zip(from) {
            match word(*number) {
                Some(word) => {
                    to.insert(slot, word);
                }
                None => refused += 1,
            }
        }
    }
    for (number, row) in (0..MOST_VGPRS).zip(&wave.vgpr) {
        let words: Vec<Option<u32>> = row.iter().take(64).map(|number| word(*number)).collect();
        // A lane that is no number ends what is known of the row.
        let lanes: Vec<u32> = words.iter().copied().map_while(|word| word).collect();
        refused += usize::from(lanes.len() < words.len());
        one.vgprs.push(Row { number, lanes, line: 0 });
    }
    if refused > 0 {
        let what = format_args!("{refused} values are no 32-bit numbers and are not captured");
        problems.report(&key, what, "integers from -2^31 to 2^32-1");
    }
    one
}
