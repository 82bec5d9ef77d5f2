//! Examples for what has none of its own: made from the schema, field by field.

use serde_json::{Map, Value, json};

/// How deep an example goes into schemas that contain themselves.
const DEPTH_MAX: usize = 8;
/// A moment, for fields that hold one: in November 2025.
const MOMENT: i64 = 1_763_700_000_000;

/// Gives every JSON body and answer of `document` an example.
pub(crate) fn complete(document: &mut Value) {
    let schemas = document["components"]["schemas"].clone();
    let contents = document["paths"]
        .as_object_mut()
        .into_iter()
        .flat_map(Map::values_mut)
        .filter_map(Value::as_object_mut)
        .flat_map(Map::values_mut)
        .flat_map(contents_of);
    for content in contents {
        let has_one = content.get("example").is_some() || content.get("examples").is_some();
        if !has_one && let Some(example) = example(&content["schema"], "", &schemas, 0) {
            content["example"] = example;
        }
    }
}

/// The JSON contents of an operation: of its body, and of each answer.
fn contents_of(operation: &mut Value) -> Vec<&mut Value> {
    let Some(operation) = operation.as_object_mut() else { return Vec::new() };
    operation
        .iter_mut()
        .flat_map(|(name, part)| match name.as_str() {
            "requestBody" => vec![part],
            "responses" => part.as_object_mut().into_iter().flat_map(Map::values_mut).collect(),
            _ => Vec::new(),
        })
        .filter_map(|part| part.pointer_mut("/content/application~1json"))
        .collect()
}

fn example(schema: &Value, name: &str, schemas: &Value, depth: usize) -> Option<Value> {
    if depth > DEPTH_MAX {
        return None;
    }
    if let Some(own) = schema.get("example").or_else(|| schema["examples"].get(0)) {
        return Some(own.clone());
    }
    if let Some(reference) = schema["$ref"].as_str() {
        return example(&schemas[reference.rsplit('/').next()?], name, schemas, depth + 1);
    }
    if let Some(value) = schema.get("const").or_else(|| schema.get("default")).or_else(|| schema["enum"].get(0)) {
        return Some(value.clone());
    }
    let alternatives = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array());
    if let Some(first) = alternatives.and_then(|all| all.iter().find(|schema| schema["type"] != "null")) {
        return example(first, name, schemas, depth + 1);
    }
    if let Some(parts) = schema["allOf"].as_array() {
        let parts = parts.iter().filter_map(|part| example(part, name, schemas, depth + 1));
        let fields = parts.filter_map(|part| part.as_object().cloned()).flatten();
        return Some(Value::Object(fields.collect()));
    }
    plain(schema, name, schemas, depth)
}

fn plain(schema: &Value, name: &str, schemas: &Value, depth: usize) -> Option<Value> {
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().find(|kind| *kind != "null")?.as_str()?,
        kind => kind.as_str()?,
    };
    match kind {
        "object" => {
            let fields = schema["properties"].as_object().into_iter().flatten();
            let fields =
                fields.filter_map(|(name, schema)| Some((name.clone(), example(schema, name, schemas, depth + 1)?)));
            Some(Value::Object(fields.collect()))
        }
        "array" => {
            Some(example(&schema["items"], name, schemas, depth + 1).map_or_else(|| json!([]), |one| json!([one])))
        }
        "integer" if name.ends_with("At") || name.ends_with("Until") || name == "at" => Some(json!(MOMENT)),
        "integer" | "number" => Some(schema.get("minimum").cloned().unwrap_or_else(|| json!(1))),
        "boolean" => Some(json!(true)),
        "string" => Some(json!("text")),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_follows_the_schema_and_prefers_what_it_says_itself() {
        let schemas = json!({"Name": {"type": "string", "example": "Ada"}});
        let schema = json!({
            "type": "object",
            "properties": {
                "name": {"$ref": "#/components/schemas/Name"},
                "createdAt": {"type": "integer"},
                "kind": {"type": "string", "enum": ["api", "mcp"]},
                "tags": {"type": ["array", "null"], "items": {"type": "string"}},
                "limit": {"type": "integer", "minimum": 8}
            }
        });
        let expected = json!({"name": "Ada", "createdAt": MOMENT, "kind": "api", "tags": ["text"], "limit": 8});
        assert_eq!(example(&schema, "", &schemas, 0), Some(expected));
    }

    #[test]
    fn a_schema_that_contains_itself_ends() {
        let schemas =
            json!({"Page": {"type": "object", "properties": {"parent": {"$ref": "#/components/schemas/Page"}}}});
        assert!(example(&json!({"$ref": "#/components/schemas/Page"}), "", &schemas, 0).is_some());
    }
}
