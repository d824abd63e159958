//! YAML subset of code object version 2: a bounded tree of maps, lists and scalars.
//!
//! The tree is built from a parser's events, which bounds the cost of a hostile note: text, depth and nodes are
//! limited. Aliases multiply their target and are rejected; AMD's tools never write them.

use saphyr_parser::{Event, Parser};

use crate::bounds::MAX_DEPTH;
use crate::clean::clean;
use crate::codeobject::MetadataError;

/// Maximum length of the text in bytes; thousands of kernels take one or two MiB.
pub(in crate::codeobject) const MAX_TEXT: usize = 16 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::codeobject) enum Yaml {
    Scalar(String),
    List(Vec<Yaml>),
    /// Pairs in the text's order; the first one of a key counts.
    Map(Vec<(Yaml, Yaml)>),
}

impl Yaml {
    pub(in crate::codeobject) fn get(&self, key: &str) -> Option<&Yaml> {
        let Self::Map(pairs) = self else { return None };
        let is_it = |name: &Yaml| matches!(name, Self::Scalar(name) if name == key);
        pairs.iter().find(|(name, _)| is_it(name)).map(|(_, value)| value)
    }

    pub(in crate::codeobject) fn list(&self) -> &[Yaml] {
        match self {
            Self::List(elements) => elements,
            _ => &[],
        }
    }

    pub(in crate::codeobject) fn text(&self) -> Option<String> {
        match self {
            Self::Scalar(text) => Some(clean(text).into_owned()),
            _ => None,
        }
    }

    pub(in crate::codeobject) fn unsigned(&self) -> Option<u64> {
        let Self::Scalar(text) = self else { return None };
        match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        }
    }

    pub(in crate::codeobject) fn truth(&self) -> Option<bool> {
        match self {
            Self::Scalar(text) => text.parse().ok(),
            _ => None,
        }
    }
}

/// An incomplete container; a map also has the key of the pending value.
enum Open {
    List(Vec<Yaml>),
    Map(Vec<(Yaml, Yaml)>, Option<Yaml>),
}

/// Parses the first document of a text; an empty text is an empty map.
pub(in crate::codeobject) fn parse(text: &[u8]) -> Result<Yaml, MetadataError> {
    if text.len() > MAX_TEXT {
        return Err(MetadataError::TooLong { size: text.len(), limit: MAX_TEXT });
    }
    // Some writers end or pad the text with NUL bytes.
    let text = text.split(|byte| *byte == 0).next().unwrap_or(&[]);
    let text = std::str::from_utf8(text).map_err(|error| MetadataError::Utf8(error.valid_up_to()))?;
    let mut open: Vec<Open> = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, span) =
            event.map_err(|error| MetadataError::Yaml(clean(error.to_string()).into_owned()))?;
        let line = span.start.line();
        let done = match event {
            Event::Scalar(text, ..) => Yaml::Scalar(text.into_owned()),
            Event::Alias(_) => return Err(MetadataError::Alias(line)),
            Event::SequenceStart(..) | Event::MappingStart(..) if open.len() >= MAX_DEPTH => {
                return Err(MetadataError::Depth { limit: MAX_DEPTH, line });
            }
            Event::SequenceStart(..) => {
                open.push(Open::List(Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                open.push(Open::Map(Vec::new(), None));
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::List(elements)) => Yaml::List(elements),
                Some(Open::Map(pairs, _)) => Yaml::Map(pairs),
                None => continue,
            },
            Event::DocumentEnd | Event::StreamEnd => break,
            _ => continue,
        };
        match open.last_mut() {
            None => return Ok(done),
            Some(Open::List(elements)) => elements.push(done),
            Some(Open::Map(pairs, key)) => match key.take() {
                Some(key) => pairs.push((key, done)),
                None => *key = Some(done),
            },
        }
    }
    Ok(Yaml::Map(Vec::new()))
}
