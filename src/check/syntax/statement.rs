//! Statements by their keyword.

use super::super::file::{
    AccessLine, Comparator, Content, Count, Counted, FaultLine, HangLine, Selector, Setting,
};
use super::super::similar::{folded, similar};
use super::at;
use super::part::{Part, Wrong};
use super::value::{lanes, value};
use crate::signature::is_signature;

/// Keywords of statements about the dump, before the first block.
const OF_DUMP: &[&str] = &[
    "dump",
    "fault",
    "access",
    "waves",
    "faulted",
    "stacks",
    "dispatches",
    "work-groups",
    "hang",
    "signature",
];
/// Keywords of statements about the waves of a block.
const OF_BLOCK: &[&str] = &["exec", "state", "stop", "frame", "lane"];
/// Keywords of statements anywhere.
const ANYWHERE: &[&str] = &["at", "stack", "wave"];

/// The options of the command line that a file may have, and whether they take a value.
pub const SETTINGS: &[(&str, bool)] = &[
    ("kind", true),
    ("dialect", true),
    ("host-core", true),
    ("code-object", true),
    ("symbols", true),
    ("force", false),
    ("local-files", true),
    ("r-version", true),
    ("processor", true),
    ("log", true),
    ("fault-address", true),
    ("debug-dir", true),
];

/// Parses a statement; `is_block`: it follows a `wave` line.
pub(super) fn parse(part: Part<'_>, is_block: bool) -> Result<Content, Wrong> {
    let (keyword, rest) = part.word();
    let (name, after) = part.take(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
    let is_count = Counted::ALL.iter().any(|set| set.name() == name.text);
    let keyword = if is_count { name } else { keyword };
    if !is_count && is_keyword(name.text) && !after.is_empty() && keyword.text != name.text {
        let wrong = Wrong::new(name.span(), format!("expected a space after the keyword `{}`", name.text));
        return Err(wrong.hint(format!("write `({})` for a variable of that name", name.text)));
    }
    let setting = SETTINGS.iter().find(|(name, _)| *name == keyword.text);
    let is_of_dump = OF_DUMP.contains(&keyword.text) || setting.is_some();
    if is_of_dump && is_block {
        let problem = format!("`{}` is about the dump, and not about the waves of a block", keyword.text);
        return Err(Wrong::new(keyword.span(), problem).hint("move the line above the first `wave`"));
    }
    let is_value = !is_of_dump && !ANYWHERE.contains(&keyword.text);
    let content = match keyword.text {
        "dump" => Content::Dump(files(rest)?),
        "fault" => Content::Fault(fault(rest)?),
        "at" => Content::At(at::at(rest)?),
        "stack" => Content::Stack(at::stack(rest)?),
        "access" => Content::Access(access(rest)?),
        "waves" | "faulted" | "stacks" | "dispatches" | "work-groups" => Content::Waves(counts(part)?),
        "hang" => Content::Hang(hang(rest)?),
        "signature" => Content::Signature(signature(rest)?),
        "wave" => Content::Wave(selector(rest)?),
        "exec" => Content::Exec(exec(rest)?),
        "state" => Content::State(state(rest)?),
        "stop" => Content::Stop(words(rest, "a stop reason")?),
        _ => match setting {
            Some((name, has_value)) => Content::Setting(option(name, *has_value, rest)?),
            None => Content::Value(value(part).map_err(|wrong| unknown(keyword, rest, wrong))?),
        },
    };
    if is_value && !is_block {
        let wrong = Wrong::new(part.span(), "a statement about waves outside of a block");
        return Err(wrong.hint("write `wave faulted` or `wave every` in a line before it"));
    }
    Ok(content)
}

/// Whether a line that begins with a name is no path.
pub(in crate::check) fn is_keyword(name: &str) -> bool {
    let is_setting = SETTINGS.iter().any(|(setting, _)| *setting == name);
    is_setting || [OF_DUMP, OF_BLOCK, ANYWHERE].iter().any(|names| names.contains(&name))
}

/// The error of a line without a keyword: a misspelt keyword, else that of its path and operator.
fn unknown(keyword: Part<'_>, rest: Part<'_>, wrong: Wrong) -> Wrong {
    let is_keyword = |known: &&str| !matches!(*known, "lane" | "frame") || keyword.text != *known;
    let settings = SETTINGS.iter().map(|(name, _)| *name);
    let known = [OF_DUMP, OF_BLOCK, ANYWHERE].into_iter().flatten().copied().chain(settings);
    if matches!(keyword.text, "lane" | "frame") {
        return wrong;
    }
    let name = keyword.text.trim_start_matches('-');
    let similar = similar(name, known.filter(is_keyword));
    let begins_operand =
        rest.text.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '"' | '/' | '.' | '('));
    let is_word = name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
    let is_operator = rest.word().0.text == "in" || rest.word().0.text == "is";
    match similar {
        Some(known) if name.len() > 1 && (begins_operand || rest.is_empty()) && !is_operator => {
            let unknown = Wrong::new(keyword.span(), format!("unknown statement `{}`", keyword.text));
            unknown.hint(format!("did you mean `{known}`?"))
        }
        None if is_word && begins_operand && !is_operator => {
            let unknown = Wrong::new(keyword.span(), format!("unknown statement `{}`", keyword.text));
            let all = [ANYWHERE, OF_DUMP, OF_BLOCK].concat().join(", ");
            unknown.hint(format!(
                "the statements are {all}, options of the command line, and PATH OPERATOR VALUE"
            ))
        }
        _ => wrong,
    }
}

/// One file or value: a word, or a text in quotes without escapes.
fn file(part: Part<'_>) -> Result<(String, Part<'_>), Wrong> {
    let Some(inner) = part.strip("\"") else {
        let (word, rest) = part.word();
        return Ok((word.text.to_owned(), rest));
    };
    let unclosed = || Wrong::new(part.slice(0..1).span(), "this `\"` has no other behind it");
    let at = inner.text.find('"').filter(|at| *at > 0).ok_or_else(unclosed)?;
    let (text, rest) = inner.split(at);
    let rest = rest.after(1);
    if !rest.is_empty() && !rest.text.starts_with(char::is_whitespace) {
        return Err(Wrong::new(rest.word().0.span(), "expected a space after the quote"));
    }
    Ok((text.text.to_owned(), rest.trim()))
}

/// `saxpy.zip "two words.zip" dumps/*.zip`
fn files(part: Part<'_>) -> Result<Vec<String>, Wrong> {
    let mut files = Vec::new();
    let mut rest = part;
    while !rest.is_empty() {
        let (name, after) = file(rest)?;
        files.push(name);
        rest = after;
    }
    if files.is_empty() {
        let wrong = Wrong::new(part.span(), "expected a dump");
        return Err(
            wrong.hint("write `dump saxpy.zip`, relative to this file, or a pattern: `dump dumps/*.zip`")
        );
    }
    Ok(files)
}

fn option(name: &str, has_value: bool, part: Part<'_>) -> Result<Setting, Wrong> {
    let setting = |value| Ok(Setting { name: name.to_owned(), value });
    if !has_value {
        return match part.is_empty() {
            true => setting(None),
            false => Err(Wrong::new(part.span(), format!("`{name}` takes no value"))),
        };
    }
    if part.is_empty() {
        return Err(Wrong::new(part.span(), format!("expected a value of `{name}`")));
    }
    let (value, rest) = file(part)?;
    if value == "-" {
        let wrong =
            Wrong::new(part.span(), format!("`{name} -` is the standard input, which a file cannot use"));
        return Err(wrong.hint("write the name of a file; `./-` is a file of that name"));
    }
    if !rest.is_empty() {
        let wrong = Wrong::new(rest.span(), format!("`{name}` takes one value"));
        return Err(wrong.hint("write a name with spaces in quotes, and a second value in a line of its own"));
    }
    setting(Some(value))
}

/// Words of a name: letters, digits, `_`, `-`, `,` and spaces.
fn words(part: Part<'_>, what: &str) -> Result<String, Wrong> {
    if part.is_empty() {
        return Err(Wrong::new(part.span(), format!("expected {what}")));
    }
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-') || c.is_whitespace();
    let (_, rest) = part.take(is_name);
    if !rest.is_empty() {
        return Err(Wrong::new(rest.span(), format!("expected {what}, found `{}`", rest.text)));
    }
    Ok(part.collapsed())
}

fn fault(part: Part<'_>) -> Result<FaultLine, Wrong> {
    let hint = "write `fault memory violation`, `fault none`, or several causes with commas";
    let (mut causes, mut rest) = (Vec::new(), part);
    loop {
        let (one, after) = rest.take(|c| c != ',');
        let cause = words(one.trim(), "a cause").map_err(|wrong| wrong.hint(hint))?;
        let is_none = folded(&cause) == "none";
        if is_none && (!causes.is_empty() || !after.is_empty()) {
            return Err(Wrong::new(one.trim().span(), "`none` and a cause exclude each other").hint(hint));
        }
        if is_none {
            return Ok(FaultLine::None);
        }
        causes.push(cause);
        match after.strip(",") {
            Some(after) => rest = after,
            None => return Ok(FaultLine::Causes(causes)),
        }
    }
}

/// Kinds of accesses.
const KINDS: &[&str] = &["load", "store", "atomic"];

/// States of addresses: not captured, and the patterns of `triage` (docs/triage.md).
pub(in crate::check) const ADDRESSES: &[&str] = &[
    "not captured",
    "unknown",
    "null",
    "other aperture",
    "poison",
    "non canonical",
    "read only",
    "misaligned",
    "negative index",
    "overflow 32",
    "large index",
    "straddles",
    "past end",
    "before start",
    "bad pointer",
    "flipped bit",
    "host pointer",
    "freed",
];

/// `lane 24 load x[i] not captured`
fn access(part: Part<'_>) -> Result<AccessLine, Wrong> {
    const FORM: &str =
        "write `access lane 24 load x[i] not captured`; each part may be left out, but not all";
    let mut found = AccessLine { lanes: None, kind: None, expression: None, state: None };
    let mut rest = part;
    if let ("lane", after) = keyword(rest) {
        let (on, after) = lanes(after)?;
        (found.lanes, rest) = (Some(on), after);
    }
    if let (kind, after) = keyword(rest)
        && KINDS.contains(&kind)
    {
        (found.kind, rest) = (Some(kind.to_owned()), after);
    }
    let (expression, state) = expression(rest);
    if !state.is_empty() {
        let name = ADDRESSES.iter().find(|name| folded(name) == folded(state.text));
        let all = format!("the states are {}", ADDRESSES.join(", "));
        let name = name.ok_or_else(|| Wrong::unknown("state of an address", state, ADDRESSES, &all))?;
        found.state = Some((*name).to_owned());
    }
    found.expression = Some(expression.collapsed()).filter(|text| !text.is_empty());
    if part.is_empty() {
        return Err(Wrong::new(part.span(), "expected an access").hint(FORM));
    }
    Ok(found)
}

fn keyword<'t>(part: Part<'t>) -> (&'t str, Part<'t>) {
    let (word, rest) = part.word();
    (word.text, rest)
}

/// An expression, and the words after it: those that follow the end of an operand without an operator.
fn expression(part: Part<'_>) -> (Part<'_>, Part<'_>) {
    if ADDRESSES.iter().any(|name| folded(name) == folded(part.text)) {
        return (part.split(0).0, part);
    }
    let (mut depth, mut last, mut is_apart) = (0usize, ' ', false);
    for (at, c) in part.text.char_indices() {
        let is_end = last.is_alphanumeric() || matches!(last, '_' | ')' | ']');
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ if c.is_alphabetic() && depth == 0 && is_apart && is_end => {
                let (expression, state) = part.split(at);
                return (expression.trim(), state.trim());
            }
            _ => {}
        }
        is_apart = c.is_whitespace();
        if !is_apart {
            last = c;
        }
    }
    (part, part.end())
}

/// `waves 8, faulted 1, stacks >= 2`
fn counts(part: Part<'_>) -> Result<Vec<Count>, Wrong> {
    let mut counts: Vec<Count> = Vec::new();
    let mut rest = part;
    loop {
        let (item, after) = rest.split(rest.text.find(',').unwrap_or(rest.text.len()));
        let (name, number) = item.trim().take(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
        let set = Counted::ALL.into_iter().find(|known| folded(known.name()) == folded(name.text));
        let names = Counted::ALL.map(Counted::name);
        let all = format!("the counts are {}", names.join(", "));
        let of = set.ok_or_else(|| Wrong::unknown("count", name, &names, &all))?;
        if counts.iter().any(|count| count.of == of) {
            return Err(Wrong::new(name.span(), format!("a second count of `{}`", of.name())));
        }
        let (comparator, number) = compared(number.trim(), &format!("{} 8", of.name()))?;
        counts.push(Count { of, comparator, number });
        match after.strip(",") {
            Some(after) => rest = after,
            None => return Ok(counts),
        }
    }
}

/// `8`, `>= 8`
fn compared(part: Part<'_>, example: &str) -> Result<(Comparator, u64), Wrong> {
    let sign = Comparator::ALL.into_iter().find_map(|sign| Some((sign, part.strip(sign.sign())?)));
    let (comparator, number) = sign.unwrap_or((Comparator::Equal, part));
    let number = number.trim();
    let value = number.number().ok_or_else(|| {
        if let Some(wrong) = number.leading_zero() {
            return wrong;
        }
        let problem = match number.is_empty() {
            true => "expected a number".to_owned(),
            false => format!("expected a number, found `{}`", number.text),
        };
        Wrong::new(number.span(), problem)
            .hint(format!("write `{example}`, or a comparison: == != < <= > >="))
    })?;
    Ok((comparator, value))
}

/// States of waves in `triage --hang`.
pub(super) const HANG_STATES: &[&str] = &[
    "at barrier",
    "spinning",
    "waiting memory",
    "sleeping",
    "halted",
    "faulted",
    "ended",
    "running",
    "unknown",
];

/// `at barrier`
fn state(part: Part<'_>) -> Result<String, Wrong> {
    let name = words(part, "a state")?;
    let all = format!("the states are {}", HANG_STATES.join(", "));
    let is_known = HANG_STATES.iter().any(|known| folded(known) == folded(&name));
    if is_known { Ok(name) } else { Err(Wrong::unknown("state", part, HANG_STATES, &all)) }
}

fn hang(part: Part<'_>) -> Result<HangLine, Wrong> {
    if part.is_empty() {
        return Ok(HangLine::Hang);
    }
    match folded(part.text).as_str() {
        "none" => return Ok(HangLine::None),
        "deadlock" => return Ok(HangLine::Deadlock),
        _ => {}
    }
    let (name, number) = part.take(|c| c.is_alphabetic() || matches!(c, '-' | '_') || c.is_whitespace());
    let name = name.trim();
    let state = HANG_STATES.iter().find(|state| folded(state) == folded(name.text));
    let known: Vec<&str> = ["none", "deadlock"].into_iter().chain(HANG_STATES.iter().copied()).collect();
    let all =
        "write `hang`, `hang none`, `hang deadlock`, or a state with its number of waves: `hang spinning 3`";
    let state = state.ok_or_else(|| Wrong::unknown("state of a hang", name, &known, all))?;
    let (comparator, number) = compared(number, &format!("hang {state} 3"))?;
    Ok(HangLine::State((*state).to_owned(), comparator, number))
}

/// `ls1:3f9c2a71d0b4`
fn signature(part: Part<'_>) -> Result<String, Wrong> {
    if is_signature(part.text) {
        return Ok(part.text.to_owned());
    }
    let wrong = Wrong::new(part.span(), "expected a whole signature");
    Err(wrong.hint("write the first word that `lanescope signature` prints: `signature ls1:3f9c2a71d0b4`"))
}

fn exec(part: Part<'_>) -> Result<u64, Wrong> {
    part.number().ok_or_else(|| {
        let wrong = Wrong::new(part.span(), "expected a number of 64 bits");
        let form = "write `exec 0x1ffffff`, or `(exec) == 5` for a variable of that name";
        part.leading_zero().unwrap_or_else(|| wrong.hint(form))
    })
}

/// `faulted`, `every`, `some`, `id 3`, `(1,0,0)/1`, `kernel saxpy`, `at saxpy.hip:57`
fn selector(part: Part<'_>) -> Result<Selector, Wrong> {
    const FORM: &str = "write `wave faulted`, `every`, `some`, `id 3`, `(1,0,0)/1`, `kernel NAME` or `at FUNCTION FILE:LINE`";
    if part.text.starts_with('(') {
        return position(part);
    }
    let (word, rest) = part.word();
    let alone = |selector| match rest.is_empty() {
        true => Ok(selector),
        false => Err(Wrong::new(rest.span(), "expected the end of the line").hint(FORM)),
    };
    match word.text {
        "faulted" => alone(Selector::Faulted),
        "every" => alone(Selector::Every),
        "some" => alone(Selector::Some),
        "id" => {
            let id = rest.number().and_then(|id| u32::try_from(id).ok());
            let wrong = || Wrong::new(rest.span(), "expected the id of a wave").hint("write `wave id 3`");
            id.map(Selector::Id).ok_or_else(|| rest.leading_zero().unwrap_or_else(wrong))
        }
        "kernel" if rest.is_empty() => {
            Err(Wrong::new(rest.span(), "expected the name of a kernel").hint(FORM))
        }
        "kernel" => at::name(rest).map(Selector::Kernel),
        "at" => at::at(rest).map(Selector::At),
        number if !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()) => {
            let wrong = Wrong::new(word.span(), "expected a choice of waves, found a number");
            Err(wrong.hint(format!("write `wave id {number}` for the wave with this id")))
        }
        "" => Err(Wrong::new(word.span(), "expected a choice of waves").hint(FORM)),
        _ => Err(Wrong::unknown(
            "choice of waves",
            word,
            &["faulted", "every", "some", "id", "kernel", "at"],
            FORM,
        )),
    }
}

/// `(1,0,0)`, `(1,0,0)/1`
fn position(part: Part<'_>) -> Result<Selector, Wrong> {
    let wrong = || {
        let wrong = Wrong::new(part.span(), "expected the position of a work-group");
        wrong.hint("write `wave (1,0,0)`, or `wave (1,0,0)/1` for a wave of it")
    };
    let number = |part: Part<'_>| part.trim().number().and_then(|number| u32::try_from(number).ok());
    let inner = part.strip("(").ok_or_else(wrong)?;
    let (inner, rest) = inner.split(inner.text.find(')').ok_or_else(wrong)?);
    let rest = rest.after(1).trim();
    let mut numbers = [0; 3];
    let mut parts = inner.text.split(',').map(|text| number(Part { text, start: 0 }));
    for slot in &mut numbers {
        *slot = parts.next().flatten().ok_or_else(wrong)?;
    }
    let wave = match rest.strip("/") {
        Some(wave) => Some(number(wave).ok_or_else(wrong)?),
        None => None,
    };
    if parts.next().is_some() || wave.is_none() && !rest.is_empty() {
        return Err(wrong());
    }
    Ok(Selector::Position(numbers, wave))
}
