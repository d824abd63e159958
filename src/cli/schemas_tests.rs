//! The schemas of docs/schemas, made from the types of the answers.
//!
//! A schema that differs from its file fails. With `BLESS=1` an added member is written; a removed or changed one
//! fails until the version of the schema grows, or the file is removed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::{check, code_object, doctor, dwarf, eval, info, questions, slim, targets};
use crate::report::schema::{About, Schema};
use crate::report::{
    disassembly, dispatches, evaluation, explain, export, fault, groups, json as waves, objects, print,
    schema, stack,
};
use crate::{diff, postmortem, questions as asked, server, signature, triage};

/// The schemas by the names of their files.
fn schemas() -> BTreeMap<&'static str, Value> {
    BTreeMap::from([
        of::<asked::MemoryBytes, About<asked::MemoryBytes>>(),
        of::<asked::RegisterValues, About<asked::RegisterValues>>(),
        of::<check::Report, check::Report>(),
        of::<code_object::Entries, code_object::Entries>(),
        of::<code_object::Object, code_object::Object>(),
        of::<diff::Json<'_>, diff::Members>(),
        of::<disassembly::ListingJson, About<disassembly::ListingJson>>(),
        of::<dispatches::Dispatches, dispatches::Dispatches>(),
        of::<doctor::Diagnosis, doctor::Diagnosis>(),
        of::<dwarf::DumpExpressions, dwarf::DumpExpressions>(),
        of::<dwarf::Expressions, dwarf::Expressions>(),
        of::<eval::CaseResults, eval::CaseResults>(),
        of::<evaluation::Evaluated, About<evaluation::Evaluated>>(),
        of::<explain::PathExplanation, About<explain::PathExplanation>>(),
        of::<export::Head, export::Members>(),
        of::<fault::Faults, fault::Faults>(),
        of::<groups::GroupsByKind, groups::GroupsByKind>(),
        of::<info::Contents, info::Contents>(),
        of::<objects::CodeObjects, objects::CodeObjects>(),
        of::<print::PrintedPath, About<print::PrintedPath>>(),
        of::<questions::Answers<Vec<Value>>, questions::Answers<Vec<Value>>>(),
        of::<schema::Error, schema::Error>(),
        of::<server::Found, About<server::Found>>(),
        of::<server::Selected, About<server::Selected>>(),
        of::<server::Version, server::Version>(),
        of::<slim::Made, slim::Made>(),
        of::<stack::LaneStacks, About<stack::LaneStacks>>(),
        of::<stack::WaveStack, About<stack::WaveStack>>(),
        of::<targets::Description, targets::Description>(),
        of::<targets::Listing, targets::Listing>(),
        of::<waves::FrameVariables, About<waves::FrameVariables>>(),
        of::<waves::LaneList, About<waves::LaneList>>(),
        of::<waves::LanePc, About<waves::LanePc>>(),
        of::<waves::WaveList<Vec<waves::ListedWave>>, waves::WaveList<Vec<waves::ListedWave>>>(),
        named::<postmortem::Model>("report", postmortem::SCHEMA.to_owned()),
        named::<signature::Buckets>("bucket", "lanescope.bucket/1".to_owned()),
        named::<signature::Record>("signature", "lanescope.signature/1".to_owned()),
        of_either::<waves::Launches>(),
        of_either::<triage::json::Analysis<'_>>(),
    ])
}

/// The schema of the document `S`, whose members are those of `T`.
fn of<S: Schema, T: JsonSchema>() -> (&'static str, Value) {
    named::<T>(S::NAME, format!("lanescope.{}/{}", S::NAME, S::VERSION))
}

/// The schema of a document of that name.
fn named<T: JsonSchema>(file: &'static str, name: String) -> (&'static str, Value) {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut members = settings.into_generator().into_root_schema_for::<T>().to_value();
    let (properties, required) = (members["properties"].take(), members["required"].take());
    let mut all = Map::from_iter([("schema".to_owned(), json!({ "const": name }))]);
    all.extend(
        properties.as_object().cloned().unwrap_or_default().into_iter().filter(|(key, _)| key != "schema"),
    );
    let mut needed = vec![json!("schema")];
    needed.extend(required.as_array().cloned().unwrap_or_default().into_iter().filter(|key| key != "schema"));
    members["title"] = name.into();
    members["properties"] = all.into();
    members["required"] = needed.into();
    (file, members)
}

/// The schema of an answer about a wave or about the dump: the wave's members are optional.
fn of_either<S: Schema + JsonSchema>() -> (&'static str, Value) {
    let (name, mut schema) = of::<S, About<S>>();
    schema["required"].as_array_mut().unwrap().retain(|key| key != "wave" && key != "thread");
    (name, schema)
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schemas")
}

#[test]
fn the_schemas_are_those_of_the_types() {
    let (mut wrong, blesses) = (Vec::new(), std::env::var_os("BLESS").is_some());
    let schemas = schemas();
    for (name, schema) in &schemas {
        let path = folder().join(format!("{name}.json"));
        let text = serde_json::to_string_pretty(schema).unwrap() + "\n";
        let known = fs::read_to_string(&path).unwrap_or_default();
        if known == text {
            continue;
        }
        let known: Value = serde_json::from_str(&known).unwrap_or_default();
        let lost = match known["title"] == schema["title"] {
            true => lost(&known, schema),
            false => Vec::new(),
        };
        wrong.extend(lost.iter().map(|lost| format!("{name}: {lost}: increment `VERSION`")));
        if lost.is_empty() && blesses {
            fs::write(&path, text).unwrap();
        } else if lost.is_empty() {
            wrong.push(format!("{name}: a member is new or its text changed: run again with BLESS=1"));
        }
    }
    let files = fs::read_dir(folder()).unwrap().map(|file| file.unwrap().path());
    let unknown = files.filter(|file| !schemas.contains_key(file.file_stem().unwrap().to_str().unwrap()));
    wrong.extend(unknown.map(|file| format!("{}: no type has this schema", file.display())));
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

/// The members of a schema that a later one lacks or has with another type.
fn lost(old: &Value, new: &Value) -> Vec<String> {
    let mut comparison = Comparison { roots: [old, new], seen: Vec::new(), lost: Vec::new() };
    comparison.compare(old, new, "");
    comparison.lost
}

struct Comparison<'a> {
    roots: [&'a Value; 2],
    /// Pairs of references that are compared or under comparison.
    seen: Vec<[&'a str; 2]>,
    lost: Vec<String>,
}

impl<'a> Comparison<'a> {
    fn compare(&mut self, old: &'a Value, new: &'a Value, at: &str) {
        if let (Some(one), Some(other)) = (old["$ref"].as_str(), new["$ref"].as_str())
            && !self.seen.contains(&[one, other])
        {
            self.seen.push([one, other]);
            let target = |root: &'a Value, to: &str| root.pointer(to.trim_start_matches('#')).unwrap();
            self.compare(target(self.roots[0], one), target(self.roots[1], other), at);
        }
        let (Some(members), Some(others)) = (old.as_object(), new.as_object()) else {
            if old != new {
                self.lost.push(format!("{at}: {old} is now {new}"));
            }
            return;
        };
        for key in others.keys().filter(|key| !members.contains_key(*key)) {
            if !matches!(key.as_str(), "description" | "title" | "$defs" | "required" | "properties") {
                self.lost.push(format!("{at}: `{key}` is new"));
            }
        }
        for (key, value) in members {
            let other = others.get(key).unwrap_or(&Value::Null);
            match key.as_str() {
                "description" | "title" | "$defs" => {}
                "$ref" if other.is_string() => {}
                "properties" => {
                    for (name, value) in value.as_object().unwrap() {
                        match other.get(name) {
                            Some(other) => self.compare(value, other, &format!("{at}.{name}")),
                            None => self.lost.push(format!("{at}.{name} is gone")),
                        }
                    }
                }
                "required" => {
                    let is_kept = |name: &&Value| other.as_array().is_some_and(|other| other.contains(name));
                    let lost = value.as_array().unwrap().iter().filter(|name| !is_kept(name));
                    self.lost.extend(lost.map(|name| format!("{at}.{name} may now be absent")));
                }
                "enum" => {
                    let is_kept = |name: &&Value| other.as_array().is_some_and(|other| other.contains(name));
                    let lost = value.as_array().unwrap().iter().filter(|name| !is_kept(name));
                    self.lost.extend(lost.map(|name| format!("{at}: the name {name} is gone")));
                }
                "items" | "additionalProperties" => self.compare(value, other, &format!("{at}[]")),
                "oneOf" | "anyOf" | "prefixItems" => self.variants(value, other, at),
                _ if value == other => {}
                _ => self.lost.push(format!("{at}: `{key}` was {value} and is now {other}")),
            }
        }
    }

    /// Each form of a value has a counterpart; a new form is no loss.
    fn variants(&mut self, old: &'a Value, new: &'a Value, at: &str) {
        for (index, variant) in old.as_array().unwrap().iter().enumerate() {
            let lost = |other: &'a Value| {
                let mut trial = Comparison { roots: self.roots, seen: self.seen.clone(), lost: Vec::new() };
                trial.compare(variant, other, at);
                trial.lost
            };
            let losses: Vec<Vec<String>> = new.as_array().into_iter().flatten().map(lost).collect();
            if !losses.iter().any(Vec::is_empty) {
                self.lost.push(format!("{at}: form {index} is gone or changed: {variant}"));
                self.lost.extend(losses.into_iter().nth(index).into_iter().flatten());
            }
        }
    }
}

#[test]
fn a_removed_or_changed_member_is_found() {
    let (_, whole) = of::<waves::LaneList, About<waves::LaneList>>();
    assert!(lost(&whole, &whole).is_empty());
    let changed = |change: fn(&mut Value)| {
        let mut schema = whole.clone();
        change(&mut schema);
        assert_ne!(schema, whole);
        schema
    };
    let removed = changed(|schema| {
        schema.pointer_mut("/$defs/Lane/properties").unwrap().as_object_mut().unwrap().remove("pc");
    });
    let retyped = changed(|schema| schema["$defs"]["Lane"]["properties"]["lane"]["type"] = "string".into());
    let optional = changed(|schema| {
        schema["required"].as_array_mut().unwrap().retain(|name| name != "lanes");
    });
    let unnamed = changed(|schema| {
        let names = schema.pointer_mut("/$defs/LaneState/enum").unwrap();
        names.as_array_mut().unwrap().retain(|name| name != "unused");
    });
    let finds = |schema: &Value, what: &str| lost(&whole, schema).iter().any(|lost| lost.contains(what));
    assert!(finds(&removed, ".pc is gone"), "{removed}");
    assert!(finds(&retyped, "`type` was"), "{retyped}");
    assert!(finds(&optional, "may now be absent"), "{optional}");
    assert!(finds(&unnamed, "the name \"unused\" is gone"), "{unnamed}");
    // An added member or name is no change for readers.
    assert!(lost(&removed, &whole).is_empty() && lost(&unnamed, &whole).is_empty());
}
