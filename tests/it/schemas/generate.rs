//! The committed schemas are generated from the types beside this. `UPDATE_EXPECT=1 cargo test --test it schemas` writes them.
//!
//! A derived schema says more than every client understands. What is taken out: a type that may be null (the parser takes null
//! for absent everywhere, and says so to no one), the format and the natural lower bound of a number, titles, the dialect, and
//! the prohibition of unknown members.

use expect_test::expect_file;
use schemars::generate::SchemaSettings;
use schemars::transform::{Transform, transform_subschemas};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

use super::{arguments, results};

/// The width at which an object or a list is broken into lines.
const COLUMNS: usize = 150;
/// In the order in which people read them. Names of properties keep the alphabet's.
const KEYWORDS: [&str; 10] = [
    "type",
    "enum",
    "minLength",
    "maxLength",
    "minimum",
    "maximum",
    "properties",
    "items",
    "required",
    "description",
];

#[derive(Clone)]
struct Flat;

impl Transform for Flat {
    fn transform(&mut self, schema: &mut Schema) {
        transform_subschemas(self, schema);
        for keyword in ["title", "$schema", "format", "additionalProperties"] {
            schema.remove(keyword);
        }
        if let Some(Value::Array(kinds)) = schema.get("type") {
            let kinds: Vec<_> = kinds.iter().filter(|kind| *kind != "null").collect();
            assert_eq!(kinds.len(), 1, "{schema:?}");
            let kind = kinds[0].clone();
            schema.insert("type".to_owned(), kind);
        }
        if let Some(Value::Array(values)) = schema.get_mut("enum") {
            values.retain(|value| !value.is_null());
        }
        if schema.get("minimum") == Some(&Value::from(0)) {
            schema.remove("minimum");
        }
    }
}

fn schema_of<T: JsonSchema>() -> String {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let generator = settings.with_transform(Flat).into_generator();
    let schema = Value::from(generator.into_root_schema_for::<T>());
    let mut text = String::new();
    write(&schema, 0, &mut text);
    text.push('\n');
    text
}

/// One line where it fits, as a person would write it.
fn write(value: &Value, depth: usize, text: &mut String) {
    let line = line(value);
    let before = text.len() - text.rfind('\n').map_or(0, |at| at + 1);
    let is_outer = depth == 0 || depth == 1 && value.is_object();
    if before + line.len() <= COLUMNS && !is_outer {
        text.push_str(&line);
        return;
    }
    let indent = "  ".repeat(depth);
    let members: Vec<_> = match value {
        Value::Object(members) => ordered(members)
            .map(|(name, member)| (format!("{}: ", Value::from(name.as_str())), member))
            .collect(),
        Value::Array(items) => items.iter().map(|item| (String::new(), item)).collect(),
        _ => return text.push_str(&line),
    };
    let (open, close) = if value.is_object() {
        ('{', '}')
    } else {
        ('[', ']')
    };
    text.push(open);
    for (index, (name, member)) in members.iter().enumerate() {
        text.push_str(if index == 0 { "\n" } else { ",\n" });
        text.push_str(&format!("{indent}  {name}"));
        write(member, depth + 1, text);
    }
    text.push_str(&format!("\n{indent}{close}"));
}

fn line(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members = ordered(members)
                .map(|(name, member)| format!("{}: {}", Value::from(name.as_str()), line(member)));
            format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => {
            format!(
                "[{}]",
                items.iter().map(line).collect::<Vec<_>>().join(", ")
            )
        }
        other => other.to_string(),
    }
}

fn ordered(members: &serde_json::Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    let place = |name: &str| KEYWORDS.iter().position(|keyword| *keyword == name);
    let mut members: Vec<_> = members.iter().collect();
    members.sort_by_key(|(name, _)| place(name));
    members.into_iter()
}

#[test]
fn the_committed_schemas_are_those_of_the_types() {
    let check = |text: String, file: expect_test::ExpectFile| file.assert_eq(&text);
    check(
        schema_of::<arguments::SequentialThinking>(),
        expect_file!["../../../src/tools/sequentialthinking.input.json"],
    );
    check(
        schema_of::<results::Appended>(),
        expect_file!["../../../src/tools/sequentialthinking.output.json"],
    );
    check(
        schema_of::<arguments::GetThoughtHistory>(),
        expect_file!["../../../src/tools/get_thought_history.input.json"],
    );
    check(
        schema_of::<results::History>(),
        expect_file!["../../../src/tools/get_thought_history.output.json"],
    );
    check(
        schema_of::<arguments::DeleteThoughtSequence>(),
        expect_file!["../../../src/tools/delete_thought_sequence.input.json"],
    );
    check(
        schema_of::<results::Deleted>(),
        expect_file!["../../../src/tools/delete_thought_sequence.output.json"],
    );
}
