//! Dumps by signature: numbers, the first and the last one. The order of the records does not count.

use std::collections::BTreeMap;

use serde::Serialize;
use toml::value::{Datetime, Offset};

use super::{Known, KnownSignatures, Likeness, Record, Signature, SignatureLevel};

/// The name and version of the schema. A member is never removed or changed within a version.
const SCHEMA: &str = "lanescope.bucket/1";

/// Dumps by signature: the object of `lanescope bucket --json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Buckets {
    /// `lanescope.bucket/1`
    pub schema: &'static str,
    /// Number of dumps.
    pub dumps: usize,
    /// The level of the signatures. `None`: no dump.
    pub level: Option<SignatureLevel>,
    /// Number of dumps without a fault or hang in which the faults of all waves are known.
    pub without_fault: usize,
    /// Dumps with waves whose faults are unknown, by name: a signature may be missing.
    pub incomplete: Vec<IncompleteDump>,
    /// Unreadable dumps with the reasons, by name.
    pub unreadable: Vec<UnreadableDump>,
    /// The signatures, the one of most dumps first.
    pub buckets: Vec<Bucket>,
}

/// An unreadable dump.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UnreadableDump {
    /// The dump.
    pub dump: String,
    /// The reason.
    pub error: String,
}

/// A dump with waves whose faults are unknown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct IncompleteDump {
    /// The dump.
    pub dump: String,
    /// The reasons.
    pub unknown_waves: Vec<String>,
}

/// The dumps of a signature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Bucket {
    /// `ls1:3f9c2a71d0b4`
    pub id: String,
    /// The text of the signature.
    pub text: String,
    /// The kernel; empty if unknown.
    pub kernel: String,
    /// Whether it is made without debug information.
    pub is_weak: bool,
    /// Number of dumps; a dump with several signatures counts in each of their buckets.
    pub dumps: usize,
    /// Number of waves of all these dumps.
    pub waves: usize,
    /// The order of `first` and `last`.
    pub order: Order,
    /// The first dump.
    pub first: Seen,
    /// The last dump.
    pub last: Seen,
    /// The entry of `--known`; null if it is new, absent without `--known`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub known: Option<Option<Known>>,
    /// The most similar known signature of a new one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<Nearest>,
}

/// A known signature that is similar to a new one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Nearest {
    /// Its id.
    pub id: String,
    /// The parts that both have.
    pub likeness: Likeness,
    /// Its entry.
    pub known: Known,
}

/// The order of the dumps of a bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// By the time of the capture: all dumps have one.
    Time,
    /// By the dump's name.
    Name,
}

/// A dump in a bucket.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Seen {
    /// The dump.
    pub dump: String,
    /// The time of the capture.
    pub captured: Option<String>,
}

/// Records of different levels: their signatures are never equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("signatures of the levels {} and {} are mixed", .0.name(), .1.name())]
pub struct MixedLevelsError(SignatureLevel, SignatureLevel);

impl Buckets {
    /// Groups records. Equal records count once: a shard that ran twice changes nothing.
    ///
    /// # Errors
    /// [`MixedLevelsError`].
    pub fn of(mut records: Vec<Record>, known: Option<&KnownSignatures>) -> Result<Self, MixedLevelsError> {
        records.sort();
        records.dedup();
        let level = records.first().map(|record| record.level);
        if let (Some(level), Some(other)) = (level, records.iter().map(|record| record.level).max())
            && level != other
        {
            return Err(MixedLevelsError(level, other));
        }
        let mut found = Self {
            schema: SCHEMA,
            dumps: records.len(),
            level,
            without_fault: 0,
            incomplete: Vec::new(),
            unreadable: Vec::new(),
            buckets: Vec::new(),
        };
        let mut groups: BTreeMap<String, (Signature, Vec<Seen>)> = BTreeMap::new();
        for record in records {
            if let Some(error) = record.error {
                found.unreadable.push(UnreadableDump { dump: record.dump, error });
                continue;
            }
            if record.is_incomplete() {
                let (dump, unknown_waves) = (record.dump.clone(), record.unknown_waves);
                found.incomplete.push(IncompleteDump { dump, unknown_waves });
            } else {
                found.without_fault += usize::from(record.signatures.is_empty());
            }
            for named in record.signatures {
                let seen = Seen { dump: record.dump.clone(), captured: record.captured.clone() };
                let id = named.signature.id.clone();
                let (group, dumps) = groups
                    .entry(id)
                    .or_insert_with(|| (Signature { waves: 0, ..named.signature.clone() }, Vec::new()));
                group.waves = group.waves.saturating_add(named.signature.waves);
                dumps.push(seen);
            }
        }
        found.buckets = groups.into_values().filter_map(|(group, dumps)| Bucket::of(group, dumps)).collect();
        found.buckets.sort_by(|a, b| b.dumps.cmp(&a.dumps).then_with(|| a.text.cmp(&b.text)));
        if let Some(known) = known {
            found.compare(known);
        }
        Ok(found)
    }

    /// Whether a signature is not in the file of known ones.
    #[must_use]
    pub fn has_new(&self) -> bool {
        self.buckets.iter().any(|bucket| bucket.known == Some(None))
    }

    fn compare(&mut self, known: &KnownSignatures) {
        let all: Vec<Signature> = self.buckets.iter().map(Bucket::signature).collect();
        for (bucket, signature) in self.buckets.iter_mut().zip(&all) {
            let entry = known.find(&bucket.id, &bucket.text);
            if entry.is_none() {
                let nearest = known.nearest(signature, &all);
                bucket.nearest =
                    nearest.map(|(likeness, id, known)| Nearest { id: id.to_owned(), likeness, known });
            }
            bucket.known = Some(entry);
        }
    }
}

impl Bucket {
    /// The bucket of a signature with its dumps; `None` without a dump.
    fn of(of: Signature, mut dumps: Vec<Seen>) -> Option<Self> {
        let times: Option<Vec<i64>> = dumps.iter().map(|seen| instant(seen.captured.as_deref()?)).collect();
        let order = if times.is_some() { Order::Time } else { Order::Name };
        let time = |seen: &Seen| match order {
            Order::Time => seen.captured.as_deref().and_then(instant),
            Order::Name => None,
        };
        dumps.sort_by(|a, b| time(a).cmp(&time(b)).then_with(|| a.cmp(b)));
        let (first, last) = (dumps.first()?.clone(), dumps.last()?.clone());
        Some(Self {
            id: of.id,
            text: of.text,
            kernel: of.kernel,
            is_weak: of.is_weak,
            dumps: dumps.len(),
            waves: of.waves,
            order,
            first,
            last,
            known: None,
            nearest: None,
        })
    }

    fn signature(&self) -> Signature {
        Signature {
            id: self.id.clone(),
            text: self.text.clone(),
            kernel: self.kernel.clone(),
            is_weak: self.is_weak,
            weak_because: None,
            waves: self.waves,
            steps: Vec::new(),
        }
    }
}

/// Nanoseconds since 1970 of a time by RFC 3339; of a bare date its first one in UTC. `None`: another form.
fn instant(text: &str) -> Option<i64> {
    let time: Datetime = text.parse().ok()?;
    let date = time.date?;
    // Days of the civil calendar since March 1 of the year 0: years begin in March, behind the day of a leap year.
    let (year, month, day) = (i64::from(date.year), i64::from(date.month), i64::from(date.day));
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    let days = 365 * year + year.div_euclid(4) - year.div_euclid(100)
        + year.div_euclid(400)
        + (153 * month + 2) / 5
        + day
        - 1;
    let (seconds, nanoseconds) = time.time.map_or((0, 0), |time| {
        let seconds = 3600 * i64::from(time.hour) + 60 * i64::from(time.minute);
        (seconds + i64::from(time.second.unwrap_or(0)), i64::from(time.nanosecond.unwrap_or(0)))
    });
    let minutes = match time.offset {
        Some(Offset::Custom { minutes }) => i64::from(minutes),
        Some(Offset::Z) | None => 0,
    };
    // Nanoseconds fit to the year 2262.
    let seconds = (days - 719_468) * 86_400 + seconds - 60 * minutes;
    seconds.checked_mul(1_000_000_000)?.checked_add(nanoseconds)
}
