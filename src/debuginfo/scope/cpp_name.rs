//! Grammar of C++ function names, in the spellings of DWARF producers, demanglers, debuggers and users.
//!
//! `void kern(int*)::{lambda(int)#1}::operator()<float>(float) const` has three components: a function with its
//! parameters, a lambda, and an operator with its template arguments and parameters. The result type and the
//! qualifiers are no components.

use std::borrow::Cow;
use std::fmt::Write as _;

const OPERATOR: &str = "operator";
/// Overloadable operators of signs (C++23 [over.oper.general]), the longest first.
const SIGNS: [&str; 39] = [
    "->*", "<=>", "<<=", ">>=", "()", "[]", "->", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++", "--",
    "+=", "-=", "*=", "/=", "%=", "^=", "&=", "|=", "+", "-", "*", "/", "%", "^", "&", "|", "~", "!", "=",
    "<", ">", ",",
];
/// Overloadable operators of words.
const WORDS: [&str; 5] = ["new[]", "delete[]", "new", "delete", "co_await"];
/// Unnamed entities of a name in parentheses: `(anonymous namespace)`, `(lambda at saxpy.hip:9:3)`.
const UNNAMED: [&str; 4] = ["(anonymous", "(lambda", "(unnamed", "('lambda"];
/// Words before parentheses that belong to a result type.
const TYPE_WORDS: [&str; 5] = ["decltype", "typeof", "__typeof__", "noexcept", "requires"];
/// Maximum bytes of a path in a name, `PATH_MAX` of Linux, with its position.
const MAX_PATH: usize = (1 << 12) + 32;
/// Qualifiers behind the parameters.
const QUALIFIERS: [&str; 6] = ["const", "volatile", "noexcept", "&&", "&", "restrict"];

/// A function's name in components.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionName<'t> {
    /// Enclosing namespaces, classes and functions, and last the function. Empty: the text is no name.
    pub components: Vec<Component<'t>>,
}

/// A part of a qualified name between `::`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Component<'t> {
    /// The identifier, the operator without spaces, or the unnamed entity without folders of its file.
    pub name: String,
    /// The template arguments with their brackets.
    pub arguments: Option<&'t str>,
    /// The parameters with their brackets.
    pub parameters: Option<&'t str>,
}

impl<'t> FunctionName<'t> {
    /// Parses a name. Any text has a result; brackets without a partner reach the end.
    #[must_use]
    pub fn parse(text: &'t str) -> Self {
        let mut scan = Scan { text, at: 0 };
        let mut components: Vec<Component<'t>> = Vec::new();
        let mut own = Component::default();
        while let Some(letter) = scan.rest().chars().next() {
            let rest = scan.rest();
            if rest.starts_with("::") {
                scan.skip(2);
                components.extend(own.take());
            } else if own.name.is_empty() && scan.is_operator() {
                own.name = scan.operator(false);
            } else if letter == '<' && !own.name.is_empty() {
                own.arguments = Some(scan.pair());
            } else if is_unnamed(rest) || letter == '<' || letter == '{' {
                own.name.push_str(&without_folders(scan.pair()));
            } else if letter == '(' && TYPE_WORDS.contains(&own.name.as_str()) {
                own.name.push_str(scan.pair());
            } else if letter == '(' && (own.name.is_empty() || is_declarator(rest)) {
                // Parentheses of a declarator: `void (*f(int))(float)`.
                own = Component::default();
                components.clear();
                scan.skip(if is_declarator(rest) { 2 } else { 1 });
            } else if letter == '(' {
                own.parameters = Some(scan.pair());
                scan.qualifiers();
                // An enclosing function.
                if !scan.rest().starts_with("::") {
                    break;
                }
            } else if rest.starts_with("[abi:") || rest.starts_with("[clone") {
                scan.pair();
            } else if letter == '[' {
                own.name.push_str(scan.pair());
            } else if letter == '\'' {
                own.name.push_str(scan.quoted());
            } else if letter == ' ' {
                scan.spaces();
                let next = scan.rest();
                let is_joined = match next.chars().next() {
                    None | Some('[') => true,
                    Some('<') => own.name.starts_with(OPERATOR),
                    Some('(') => !own.name.is_empty() && !is_unnamed(next) && !is_declarator(next),
                    _ => false,
                };
                if !is_joined {
                    components.clear();
                    own = Component::default();
                }
            } else {
                own.name.push(letter);
                scan.skip(letter.len_utf8());
            }
        }
        components.extend(own.take());
        Self { components }
    }

    /// The name without result type and parameters, `ns::scale<float>`; empty: the text is no name.
    pub(super) fn short(&self) -> String {
        self.joined(|of| &of.name, without_folders)
    }

    /// The parts of the name that are equal in all builds: `run<>::{lambda}::operator()`.
    #[must_use]
    pub fn folded(&self) -> String {
        self.folded_with(|_| "<>".into())
    }

    /// The same with other template arguments.
    #[must_use]
    pub fn folded_with<'s>(&'s self, arguments: impl Fn(&'s str) -> Cow<'s, str>) -> String {
        self.joined(Component::folded, arguments)
    }

    fn joined<'s>(
        &'s self,
        name: impl Fn(&'s Component<'t>) -> &'s str,
        arguments: impl Fn(&'s str) -> Cow<'s, str>,
    ) -> String {
        let mut text = String::new();
        for (index, of) in self.components.iter().enumerate() {
            let separator = if index == 0 { "" } else { "::" };
            let _ = write!(text, "{separator}{}", name(of));
            if let Some(given) = of.arguments {
                // `operator<<int>` has two meanings for a reader.
                let gap = if of.is_operator() && text.ends_with('<') { " " } else { "" };
                let _ = write!(text, "{gap}{}", arguments(given));
            }
        }
        text
    }

    /// Whether this is a name of a function: parameters, template arguments, and enclosing scopes may be left out.
    /// Unknown parameters of the function differ from given ones.
    #[must_use]
    pub fn names(&self, function: &FunctionName<'_>) -> bool {
        let (wanted, own) = (&self.components, &function.components);
        let Some(from) = own.len().checked_sub(wanted.len()).filter(|_| !wanted.is_empty()) else {
            return false;
        };
        let is_same = |wanted: Option<&str>, own: Option<&str>| {
            wanted.is_none_or(|wanted| own.is_some_and(|own| plain(wanted) == plain(own)))
        };
        wanted.iter().zip(own.iter().skip(from)).all(|(wanted, own)| {
            (wanted.name == own.name || wanted.entity() == own.entity())
                && is_same(wanted.arguments, own.arguments)
                && is_same(wanted.parameters, own.parameters)
        })
    }
}

impl<'t> Component<'t> {
    /// The component unless it is empty; an empty one stays.
    fn take(&mut self) -> Option<Self> {
        Some(std::mem::take(self)).filter(|of| !of.name.is_empty())
    }

    fn is_operator(&self) -> bool {
        self.name
            .strip_prefix(OPERATOR)
            .is_some_and(|symbol| !symbol.is_empty() && !symbol.starts_with(is_word))
    }

    /// The spelling that does not depend on the tool; of lambdas and unnamed types their number.
    fn entity(&self) -> &str {
        if self.name == "{anonymous}" { "(anonymous namespace)" } else { &self.name }
    }

    /// The same without the number.
    fn folded(&self) -> &str {
        let is = |starts: &[&str]| starts.iter().any(|start| self.name.starts_with(start));
        if is(&["{lambda", "'lambda", "(lambda", "('lambda", "$_"]) {
            "{lambda}"
        } else if is(&["{unnamed", "'unnamed", "(unnamed", "(anonymous class", "(anonymous struct"]) {
            "{unnamed}"
        } else {
            self.entity()
        }
    }
}

/// The positions of the spaces in a name that are in none of its brackets.
#[must_use]
pub fn outer_spaces(text: &str) -> Vec<usize> {
    let mut scan = Scan { text, at: 0 };
    let mut spaces = Vec::new();
    while let Some(letter) = scan.rest().chars().next() {
        if scan.is_operator() && !text.get(..scan.at).is_some_and(|before| before.ends_with(is_word)) {
            scan.skip(OPERATOR.len());
            let signs = scan.signs(false);
            scan.skip(signs.map_or(0, str::len));
        } else if matches!(letter, '(' | '[' | '{') || letter == '<' && !scan.is_separator() {
            scan.pair();
        } else {
            if letter.is_whitespace() {
                spaces.push(scan.at);
            }
            scan.skip(letter.len_utf8());
        }
    }
    spaces
}

/// A name without the folders in clang's names of unnamed entities: `app<(lambda at b.hip:9:3)>`.
#[must_use]
pub fn without_folders(name: &str) -> Cow<'_, str> {
    const AT: &str = " at ";
    let (mut text, mut rest) = (String::new(), name);
    while let Some((before, after)) = rest.split_once(AT) {
        let end = if is_entity(before) { end_of_position(after) } else { None };
        let (folders, file) = match end {
            Some(end) => {
                let path = after.get(..end).unwrap_or_default();
                path.split_at(path.rfind(['/', '\\']).map_or(0, |slash| slash + 1))
            }
            None => ("", ""),
        };
        text.push_str(before);
        text.push_str(AT);
        text.push_str(file);
        rest = after.get(folders.len() + file.len()..).unwrap_or_default();
    }
    if text.is_empty() { name.into() } else { (text + rest).into() }
}

/// Whether a text ends with the words of an unnamed entity before its position.
fn is_entity(before: &str) -> bool {
    let open = before.rfind('(').and_then(|open| before.get(open..));
    open.is_some_and(|entity| UNNAMED.iter().any(|start| entity.starts_with(start)) && entity.len() < 32)
}

/// The length of a path before `:LINE:COLUMN)`.
fn end_of_position(text: &str) -> Option<usize> {
    let text = text.get(..text.floor_char_boundary(MAX_PATH))?;
    let number = |text: &str| {
        let before = text.trim_end_matches(|c: char| c.is_ascii_digit());
        before.strip_suffix(':').filter(|_| before.len() < text.len()).map(str::len)
    };
    text.match_indices(')').find_map(|(close, _)| {
        let line = number(text.get(..close)?)?;
        number(text.get(..line)?)
    })
}

/// A text for comparison: without folders and spaces.
fn plain(text: &str) -> String {
    without_folders(text).chars().filter(|letter| !letter.is_whitespace()).collect()
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$'
}

fn is_unnamed(text: &str) -> bool {
    UNNAMED.iter().any(|start| text.starts_with(start))
}

/// Whether the parentheses here have a declarator of a pointer or a reference.
fn is_declarator(text: &str) -> bool {
    text.starts_with("(*") || text.starts_with("(&")
}

/// A position in a name.
struct Scan<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Scan<'t> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn skip(&mut self, bytes: usize) {
        self.at += bytes;
    }

    fn spaces(&mut self) {
        self.skip(self.rest().len() - self.rest().trim_start().len());
    }

    /// Whether `<` here has spaces around it: it is between functions.
    fn is_separator(&self) -> bool {
        let (before, rest) = self.text.split_at_checked(self.at).unwrap_or(("", self.text));
        let after = rest.get(1..).unwrap_or_default();
        before.ends_with(char::is_whitespace) && (after.is_empty() || after.starts_with(char::is_whitespace))
    }

    /// Whether the word `operator` begins here; the caller knows that no word is before it.
    fn is_operator(&self) -> bool {
        let after = self.rest().strip_prefix(OPERATOR);
        after.is_some_and(|after| !after.is_empty() && !after.starts_with(is_word))
    }

    /// The signs of an operator here. `is_inner`: within template arguments.
    fn signs(&self, is_inner: bool) -> Option<&'static str> {
        let rest = self.rest();
        let fits = |signs: &&&str| {
            let Some(after) = rest.strip_prefix(**signs) else { return false };
            match after.chars().next() {
                None => !is_inner,
                // `operator<<int>` is `operator<` with arguments, `operator<<<int>` is `operator<<` with arguments.
                Some('(' | '<' | ' ' | '[') => true,
                Some(':' | '.') => !is_inner,
                Some(next) => is_inner && matches!(next, '>' | ',' | ')'),
            }
        };
        let longest = || SIGNS.iter().find(|signs| rest.starts_with(**signs));
        SIGNS.iter().find(fits).or_else(longest).copied()
    }

    /// Takes an operator. Conversion operators end before their parameters and template arguments.
    fn operator(&mut self, is_inner: bool) -> String {
        self.skip(OPERATOR.len());
        if let Some(signs) = self.signs(is_inner) {
            self.skip(signs.len());
            return format!("{OPERATOR}{signs}");
        }
        self.spaces();
        if let Some(suffix) = self.rest().strip_prefix("\"\"") {
            let suffix = suffix.trim_start();
            let name = suffix.get(..suffix.find(|c| !is_word(c)).unwrap_or(suffix.len())).unwrap_or_default();
            self.at = self.text.len() - suffix.len() + name.len();
            return format!("{OPERATOR}\"\"{name}");
        }
        let is_whole = |word: &&&str| {
            self.rest()
                .strip_prefix(**word)
                .is_some_and(|after| !after.starts_with(is_word) || word.ends_with(']'))
        };
        if let Some(word) = WORDS.iter().find(is_whole) {
            self.skip(word.len());
            return format!("{OPERATOR} {word}");
        }
        if let Some(signs) = self.signs(is_inner) {
            self.skip(signs.len());
            return format!("{OPERATOR}{signs}");
        }
        format!("{OPERATOR} {}", self.converted())
    }

    /// Takes the type of a conversion operator, as demanglers spell it: `char const*`.
    fn converted(&mut self) -> String {
        let mut text = String::new();
        while let Some(letter) = self.rest().chars().next() {
            match letter {
                '(' if is_unnamed(self.rest()) => text.push_str(&without_folders(self.pair())),
                // A pointer to a function: `void (*)(int)`.
                '(' if is_declarator(self.rest()) => {
                    text.push_str(self.pair());
                    text.push_str(if self.rest().starts_with('(') { self.pair() } else { "" });
                }
                '<' if !self.is_scope_of_type() => break,
                '<' => text.push_str(&without_folders(self.pair())),
                '(' | '[' | '.' => break,
                _ => {
                    text.push(letter);
                    self.skip(letter.len_utf8());
                }
            }
        }
        let text = text.trim();
        let text = ["const ", "volatile "].iter().fold(text.to_owned(), |text, qualifier| {
            let Some(base) = text.strip_prefix(qualifier) else { return text };
            let end = base.find(['*', '&']).unwrap_or(base.len());
            let (base, declarator) = base.split_at_checked(end).unwrap_or((base, ""));
            format!("{} {}{declarator}", base.trim_end(), qualifier.trim_end())
        });
        text.replace(" *", "*").replace(" &", "&").replace("* ", "*")
    }

    /// Whether template arguments here are followed by more of a type: `Box<int>::type`, `Box<int>*`.
    fn is_scope_of_type(&self) -> bool {
        let mut ahead = Scan { ..*self };
        ahead.pair();
        ahead.spaces();
        ahead.rest().starts_with(['*', '&', ':'])
    }

    /// Takes a bracket with its partner; an absent partner is at the end.
    fn pair(&mut self) -> &'t str {
        let start = self.at;
        let mut open: Vec<char> = Vec::new();
        while let Some(letter) = self.rest().chars().next() {
            let before = self.text.get(start..self.at).unwrap_or_default();
            if self.is_operator() && !before.ends_with(is_word) {
                self.skip(OPERATOR.len());
                let signs = self.signs(true).map_or(0, str::len);
                self.skip(signs);
                continue;
            }
            match letter {
                '<' | '(' | '[' | '{' => open.push(letter),
                // `->` of an expression.
                '>' if before.ends_with('-') => {}
                '>' => drop(open.pop_if(|last| *last == '<')),
                ')' | ']' | '}' => {
                    let partner = match letter {
                        ')' => '(',
                        ']' => '[',
                        _ => '{',
                    };
                    // `<` of a comparison in parentheses has no partner.
                    if let Some(at) = open.iter().rposition(|known| *known == partner) {
                        open.truncate(at);
                    }
                }
                _ => {}
            }
            self.skip(letter.len_utf8());
            if open.is_empty() {
                break;
            }
        }
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// Takes a name in quotes, of a lambda with its parameters: `'lambda0'(int)`.
    fn quoted(&mut self) -> &'t str {
        let start = self.at;
        let end = self.rest().get(1..).and_then(|rest| rest.find('\''));
        self.skip(end.map_or(1, |end| end + 2));
        if self.rest().starts_with('(') && end.is_some() {
            self.pair();
        }
        self.text.get(start..self.at).unwrap_or_default()
    }

    /// Takes the qualifiers behind parameters.
    fn qualifiers(&mut self) {
        loop {
            let rest = self.rest().trim_start();
            let is_whole = |word: &&&str| {
                let after = rest.strip_prefix(**word);
                after.is_some_and(|after| !word.ends_with(is_word) || !after.starts_with(is_word))
            };
            let start = self.text.len() - rest.len();
            if rest.starts_with("[abi:") || rest.starts_with("[clone") {
                self.at = start;
                self.pair();
            } else if let Some(word) = QUALIFIERS.iter().find(is_whole) {
                self.at = start + word.len();
            } else {
                return;
            }
        }
    }
}

#[cfg(test)]
#[path = "cpp_name_tests.rs"]
mod tests;
