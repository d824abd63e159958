//! The order of the files inside a module: ARCHITECTURE.md, "Order of debuginfo".

use std::collections::{BTreeMap, BTreeSet};

use super::{code, is_test, root, sources};

/// Folders and files of `src/debuginfo` by level: a file imports only files of lower levels, and of its own folder.
/// Files without a level are on level 0.
const LEVELS: &[(&str, u8)] = &[
    ("unit", 1),
    ("types", 2),
    ("frames", 2),
    ("scope", 3),
    ("evaluator", 4),
    ("expressions", 4),
    ("check", 4),
    ("format", 4),
];

/// Each folder adds its questions to the type of `mod.rs`. [`questions_follow_the_order`] checks the calls.
const SUBJECT: &str = "DebugInfo";

/// The path of a module below `crate`, without the crate.
type Module = Vec<String>;

/// The files of one module of the crate.
struct Files {
    /// Code without comments and unit tests.
    texts: BTreeMap<Module, String>,
    /// Names that a module re-exports, with their paths.
    exports: BTreeMap<(Module, String), Module>,
}

impl Files {
    fn of(module: &str) -> Self {
        let mut files = Self { texts: BTreeMap::new(), exports: BTreeMap::new() };
        for (_, path, text) in sources().into_iter().filter(|(of, path, _)| of == module && !is_test(path)) {
            let relative = path.strip_prefix(root().join("src")).unwrap().with_extension("");
            let mut name: Module = relative.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
            name.pop_if(|last| last == "mod");
            let text: Vec<&str> = code(&text).map(|(_, line)| line).collect();
            files.texts.insert(name, text.join("\n"));
        }
        for (name, text) in files.texts.clone() {
            for (path, is_export) in uses(&text) {
                if let Some(path) = files.absolute(&name, &path).filter(|_| is_export) {
                    files.exports.insert((name.clone(), path.last().unwrap().clone()), path);
                }
            }
        }
        files
    }

    /// A path from the crate's root; `None` of other crates' paths.
    fn absolute(&self, from: &Module, path: &str) -> Option<Module> {
        let mut parts: Vec<String> = path.split("::").map(|part| part.trim().to_owned()).collect();
        let mut base = match parts[0].as_str() {
            "crate" => Module::new(),
            "self" | "super" => from.clone(),
            child => {
                let inner = [from.as_slice(), &[child.to_owned()]].concat();
                return self.texts.contains_key(&inner).then(|| [from.as_slice(), &parts].concat());
            }
        };
        while parts.first().is_some_and(|part| ["crate", "self", "super"].contains(&part.as_str())) {
            if parts.remove(0) == "super" {
                base.pop();
            }
        }
        Some([base, parts].concat())
    }

    /// The file that defines what a path names, and the name in it.
    fn defining(&self, path: &Module) -> Option<(Module, String)> {
        let file =
            (1..=path.len()).rev().map(|parts| &path[..parts]).find(|part| self.texts.contains_key(*part))?;
        let name = path.get(file.len())?;
        match self.exports.get(&(file.to_vec(), name.clone())) {
            Some(other) => self.defining(other),
            None => Some((file.to_vec(), name.clone())),
        }
    }

    /// The files that each file imports from, with one name of each.
    fn imports(&self) -> BTreeMap<&Module, BTreeMap<Module, String>> {
        let mut imports = BTreeMap::new();
        for (name, text) in &self.texts {
            let paths = uses(text).into_iter().filter(|(_, is_export)| !is_export).map(|(path, _)| path);
            let paths = paths.chain(inline(text)).filter_map(|path| self.absolute(name, &path));
            let files = paths.filter_map(|path| self.defining(&path));
            imports.insert(name, files.filter(|(file, item)| file != name && item != SUBJECT).collect());
        }
        imports
    }
}

/// The paths of the `use` items of a text, groups taken apart; `true` for those that re-export.
fn uses(text: &str) -> Vec<(String, bool)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("use ") {
        let line = text[..at].rsplit('\n').next().unwrap().trim();
        if line.is_empty() || line.starts_with("pub") {
            let item = text[at + 4..].split(';').next().unwrap();
            found.extend(expanded(item).into_iter().map(|path| (path, !line.is_empty())));
        }
    }
    found
}

fn expanded(item: &str) -> Vec<String> {
    let item = item.trim();
    let Some((before, group)) = item.split_once('{') else {
        return vec![item.split(" as ").next().unwrap().to_owned()];
    };
    let (mut depth, mut paths) = (0, vec![String::new()]);
    for letter in group[..group.rfind('}').unwrap()].chars() {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        match letter {
            ',' if depth == 0 => paths.push(String::new()),
            letter => paths.last_mut().unwrap().push(letter),
        }
    }
    let inner = paths.iter().filter(|path| !path.trim().is_empty()).flat_map(|path| expanded(path));
    inner.map(|path| format!("{before}{path}")).collect()
}

/// Paths in the code of a text.
fn inline(text: &str) -> Vec<String> {
    let is_path = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
    let words = text.split(|letter: char| !is_path(letter)).filter(|word| word.contains("::"));
    words.map(|word| word.trim_matches(':').to_owned()).collect()
}

fn level(file: &Module) -> u8 {
    match file.get(1) {
        Some(name) => LEVELS.iter().find(|(of, _)| of == name).map_or(0, |(_, level)| *level),
        None => u8::MAX,
    }
}

#[test]
fn paths_are_taken_apart() {
    let text = "use crate::a::{B, c::{D, E as F}};\npub use super::g::H;\nlet x = self::i::J;";
    let paths =
        [("crate::a::B", false), ("crate::a::c::D", false), ("crate::a::c::E", false), ("super::g::H", true)];
    assert_eq!(uses(text), paths.map(|(path, export)| (path.to_owned(), export)));
    assert!(inline(text).contains(&"self::i::J".to_owned()));
}

#[test]
fn debuginfo_imports_follow_its_order() {
    let files = Files::of("debuginfo");
    assert!(files.texts.len() > 40, "the files of debuginfo were not found");
    let mut wrong = Vec::new();
    for (file, imports) in files.imports() {
        for (other, name) in imports {
            let folder = |file: &Module| file.get(1).cloned();
            let is_lower = level(&other) < level(file);
            // Files of level 0 form no folder, and none may be in a circle: see below.
            if !is_lower && folder(&other) != folder(file) && (level(&other), level(file)) != (0, 0) {
                wrong.push(format!("{} imports {name} of {}", file.join("/"), other.join("/")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A file with a circle of imports is read only together with all others of the circle.
#[test]
fn no_files_of_debuginfo_import_each_other() {
    let files = Files::of("debuginfo");
    let mut left = files.imports();
    loop {
        let open: BTreeSet<Module> = left.keys().map(|file| (*file).clone()).collect();
        left.retain(|_, imports| imports.keys().any(|other| open.contains(other)));
        if left.len() == open.len() {
            break;
        }
    }
    // Files above a circle stay, too.
    let circle: Vec<String> = left.keys().map(|file| file.join("/")).collect();
    assert!(circle.is_empty(), "files in or above a circle: {}", circle.join(", "));
}

/// A call of a question is no import: the questions that a file calls are of its own level or of lower ones.
#[test]
fn questions_follow_the_order() {
    let files = Files::of("debuginfo");
    let mut questions = BTreeMap::new();
    for (file, text) in files.texts.iter().filter(|(file, _)| level(file) != u8::MAX) {
        for block in text.split(&format!("\nimpl {SUBJECT} {{")).skip(1) {
            let block = block.split("\n}").next().unwrap();
            let names = block.split("fn ").skip(1).map(|rest| rest.split(['(', '<']).next().unwrap());
            questions.extend(names.map(|name| (name.to_owned(), file)));
        }
    }
    assert!(questions.len() > 20, "the questions were not found: {questions:?}");
    let mut wrong = Vec::new();
    for (file, text) in &files.texts {
        for (name, of) in &questions {
            let own =
                text.contains(&format!("\nimpl {SUBJECT} {{")) && text.contains(&format!("self.{name}("));
            let calls = own || text.contains(&format!("info.{name}("));
            if calls && level(of) > level(file) {
                wrong.push(format!("{} asks {name} of {}", file.join("/"), of.join("/")));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
