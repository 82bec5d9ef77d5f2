//! Compares JSON with the schema of the type that could not be read from it.
//!
//! Knows the words of JSON Schema that `utoipa` writes for structs: `type`, `properties`, `required`,
//! `additionalProperties`, `items`, `enum`, `minimum`, `$ref`, and alternatives, of which one must fit.

use std::collections::BTreeMap;

use domain::Problem;
use serde_json::Value;
use utoipa::{PartialSchema, ToSchema};

/// Lists where `value` does not fit `T`'s schema.
pub(crate) fn compare<T: ToSchema>(value: &Value, problems: &mut Vec<Problem>) {
    let mut named = Vec::new();
    T::schemas(&mut named);
    let schemas: BTreeMap<String, Value> =
        named.into_iter().filter_map(|(name, schema)| Some((name, serde_json::to_value(schema).ok()?))).collect();
    let Ok(schema) = serde_json::to_value(<T as PartialSchema>::schema()) else { return };
    Comparison { schemas: &schemas, problems }.value(&schema, value, "");
}

struct Comparison<'a> {
    schemas: &'a BTreeMap<String, Value>,
    problems: &'a mut Vec<Problem>,
}

impl Comparison<'_> {
    fn problem(&mut self, path: &str, message: impl Into<String>) {
        self.problems.push(Problem { path: path.to_owned(), message: message.into() });
    }

    fn value(&mut self, schema: &Value, value: &Value, path: &str) {
        if let Some(name) = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next()) {
            let schemas = self.schemas;
            if let Some(named) = schemas.get(name) {
                self.value(named, value, path);
            }
            return;
        }
        if let Some(one_of) = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array()) {
            return self.alternatives(one_of, value, path);
        }
        if let Some(names) = wrong_type(schema, value) {
            return self.problem(path, format!("Use {names}."));
        }
        if let (Some(least), Some(given)) = (schema["minimum"].as_f64(), value.as_f64())
            && given < least
        {
            return self.problem(path, format!("Use {} or more.", schema["minimum"]));
        }
        if let Some(allowed) = schema["enum"].as_array()
            && !allowed.contains(value)
        {
            let names: Vec<String> = allowed.iter().map(text).collect();
            return self.problem(path, format!("Use one of: {}.", names.join(", ")));
        }
        match value {
            Value::Object(fields) => self.object(schema, fields, path),
            Value::Array(elements) if !schema["items"].is_null() => {
                for (place, element) in elements.iter().enumerate() {
                    self.value(&schema["items"], element, &format!("{path}[{place}]"));
                }
            }
            _ => {}
        }
    }

    fn object(&mut self, schema: &Value, fields: &serde_json::Map<String, Value>, path: &str) {
        let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            if !fields.contains_key(name) {
                self.problem(&below(name), "This field is required.");
            }
        }
        for (name, value) in fields {
            match schema["properties"].get(name) {
                Some(property) => self.value(property, value, &below(name)),
                None if schema["additionalProperties"] == false => {
                    self.problem(&below(name), "There is no such field.");
                }
                None => {}
            }
        }
    }

    /// One alternative must fit. With a single one beside `null`, its own problems are the most telling.
    fn alternatives(&mut self, schemas: &[Value], value: &Value, path: &str) {
        let mut fewest: Option<Vec<Problem>> = None;
        let telling = schemas.iter().filter(|schema| schema["type"] != "null").count() == 1;
        for schema in schemas {
            let mut problems = Vec::new();
            Comparison { schemas: self.schemas, problems: &mut problems }.value(schema, value, path);
            if problems.is_empty() {
                return;
            }
            if telling && schema["type"] != "null" {
                fewest = Some(problems);
            }
        }
        match fewest {
            Some(problems) => self.problems.extend(problems),
            None => self.problem(path, "This fits none of the forms that it may have."),
        }
    }
}

/// What the value should have been, when it is of another type.
fn wrong_type(schema: &Value, value: &Value) -> Option<String> {
    let wanted: Vec<&str> = match &schema["type"] {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => return None,
    };
    let fits = wanted.iter().any(|name| match *name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    });
    let names: Vec<&str> = wanted.iter().map(|name| spoken(name)).collect();
    (!fits).then(|| names.join(" or "))
}

fn spoken(name: &str) -> &str {
    match name {
        "boolean" => "true or false",
        "string" => "a string",
        "integer" => "a whole number",
        "number" => "a number",
        "array" => "a list",
        "object" => "an object",
        other => other,
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
