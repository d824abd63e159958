//! The parts of an instruction's text: `mnemonic operand, operand modifier modifier:value`.

use std::borrow::Cow;

/// The most operands of an instruction; LLVM prints 11 at most.
const MAX_OPERANDS: usize = 16;

/// A text with the registers that it means: LLVM 22 prints `v44 /*v300*/` for the number 44 of eight bits with
/// MODE's two bits (gfx12.5).
pub(super) fn meant(text: &str) -> Cow<'_, str> {
    if !text.contains("/*") {
        return Cow::Borrowed(text);
    }
    let mut parts = text.split("/*");
    let mut found = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        // A comment without an end, or after something else, has no register.
        let Some((register, rest)) = part.split_once("*/") else { continue };
        let kept =
            found.trim_end().trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '[' | ']' | ':'));
        if let Some(kept) = kept.strip_suffix('v') {
            found.truncate(kept.len());
            found.push_str(register);
        }
        found.push_str(rest);
    }
    Cow::Owned(found)
}

/// An instruction's text in parts.
#[derive(Debug)]
pub(super) struct Line<'a> {
    /// The mnemonic without the suffix of its encoding.
    pub(super) mnemonic: &'a str,
    /// The suffix: `e32`, `e64`, `dpp`, `sdwa`.
    pub(super) suffix: &'a str,
    operands: Vec<&'a str>,
    modifiers: Vec<&'a str>,
}

impl<'a> Line<'a> {
    /// Splits a text; comments of the tools (`//`, `;`) are left out. `None`: no mnemonic, or too many operands.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let text = text.split(';').next()?.split("//").next()?.trim();
        let (mnemonic, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        if mnemonic.is_empty() {
            return None;
        }
        let (mnemonic, suffix) = ["_e64_dpp", "_e32", "_e64", "_dpp", "_sdwa"]
            .iter()
            .find_map(|suffix| Some((mnemonic.strip_suffix(suffix)?, suffix.trim_start_matches('_'))))
            .unwrap_or((mnemonic, ""));
        let (mut operands, mut modifiers) = (Vec::new(), Vec::new());
        let (mut depth, mut start, mut is_operand) = (0usize, 0usize, true);
        let ends = rest.char_indices().chain(std::iter::once((rest.len(), ',')));
        for (at, letter) in ends {
            match letter {
                '[' | '(' => depth += 1,
                ']' | ')' => depth = depth.saturating_sub(1),
                ',' | ' ' | '\t' if depth == 0 || at == rest.len() => {
                    let part = rest.get(start..at).unwrap_or_default().trim();
                    start = at + 1;
                    if !part.is_empty() {
                        if is_operand {
                            operands.push(part)
                        } else {
                            modifiers.push(part)
                        }
                        is_operand = letter == ',';
                    }
                    is_operand |= letter == ',';
                    if operands.len().max(modifiers.len()) > MAX_OPERANDS {
                        return None;
                    }
                }
                _ => {}
            }
        }
        Some(Self { mnemonic, suffix, operands, modifiers })
    }

    /// An operand, by number from 0.
    pub(super) fn operand(&self, index: usize) -> Option<&'a str> {
        self.operands.get(index).copied()
    }

    /// The operands.
    pub(super) fn operands(&self) -> &[&'a str] {
        &self.operands
    }

    /// Whether it has a modifier: `glc`, `lds`.
    pub(super) fn has(&self, modifier: &str) -> bool {
        self.modifiers.contains(&modifier)
    }

    /// The value of a modifier: 16 of `offset:16`.
    pub(super) fn value(&self, modifier: &str) -> Option<&'a str> {
        self.modifiers.iter().find_map(|word| word.strip_prefix(modifier)?.strip_prefix(':'))
    }

    /// The operands and modifiers: counters of waits stand side by side.
    pub(super) fn words(&self) -> impl Iterator<Item = &'a str> {
        self.operands.iter().chain(&self.modifiers).copied()
    }
}

/// A number as the tools print it: `16`, `0x10`, `-0x10`; `lit(0x10)` for a literal that has a shorter encoding.
pub(crate) fn number(text: &str) -> Option<i64> {
    let literal = text.strip_prefix("lit64(").or_else(|| text.strip_prefix("lit("));
    let text = literal.and_then(|text| text.strip_suffix(')')).unwrap_or(text);
    let (is_negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let value = match digits.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(if is_negative { -value } else { value })
}
