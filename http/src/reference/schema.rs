//! Schemas on the page.

use serde_json::Value;

use super::text::{escape, line, paragraphs, slug};

/// Every named schema.
pub(super) fn all(schemas: &Value) -> String {
    let schemas = schemas.as_object().into_iter().flatten();
    schemas
        .map(|(name, schema)| {
            let description = paragraphs(schema["description"].as_str().unwrap_or_default());
            let anchor = anchor(name);
            let name = escape(name);
            format!(
                "<article id=\"{anchor}\"><h3><a href=\"#{anchor}\">{name}</a></h3>{description}{}</article>",
                body(schema)
            )
        })
        .collect::<Vec<_>>()
        .concat()
}

fn anchor(name: &str) -> String {
    format!("schema-{}", slug(name))
}

/// What a schema holds: its fields, or what it may be.
fn body(schema: &Value) -> String {
    let Some(properties) = schema["properties"].as_object() else {
        return format!("<p>{}</p>", kind(schema));
    };
    let required: Vec<&Value> = schema["required"].as_array().into_iter().flatten().collect();
    let rows = properties
        .iter()
        .map(|(name, property)| {
            let optional = if required.iter().any(|known| *known == name) { "" } else { " <small>optional</small>" };
            let description = line(property["description"].as_str().unwrap_or_default());
            format!(
                "<tr><th scope=\"row\"><code>{}</code>{optional}</th><td>{}</td><td>{description}{}</td></tr>",
                escape(name),
                kind(property),
                bounds(property)
            )
        })
        .collect::<Vec<_>>()
        .concat();
    let closed = if schema["additionalProperties"] == false { "<p><small>No other fields.</small></p>" } else { "" };
    format!("<table><tbody>{rows}</tbody></table>{closed}")
}

/// The kind of value, with a link to it where it has a name.
pub(super) fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next()) {
        return format!("<a href=\"#{}\">{}</a>", anchor(name), escape(name));
    }
    if let Some(values) = schema["enum"].as_array() {
        let values: Vec<String> =
            values.iter().map(|value| format!("<code>{}</code>", escape(&shown(value)))).collect();
        return values.join(" | ");
    }
    for several in ["oneOf", "anyOf", "allOf"] {
        if let Some(kinds) = schema[several].as_array() {
            let joint = if several == "allOf" { " and " } else { " | " };
            return kinds.iter().map(kind).collect::<Vec<_>>().join(joint);
        }
    }
    let name = |kind: &str| match kind {
        "array" => format!("list of {}", self::kind(&schema["items"])),
        other => escape(other),
    };
    match &schema["type"] {
        Value::String(kind) => name(kind),
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).map(name).collect::<Vec<_>>().join(" | "),
        _ if schema["properties"].is_object() => "object".to_owned(),
        _ => "any JSON".to_owned(),
    }
}

/// The limits that a schema names.
fn bounds(schema: &Value) -> String {
    const NAMES: [(&str, &str); 7] = [
        ("minLength", "at least {} characters"),
        ("maxLength", "at most {} characters"),
        ("minimum", "from {}"),
        ("maximum", "to {}"),
        ("minItems", "at least {} entries"),
        ("maxItems", "at most {} entries"),
        ("pattern", "matches {}"),
    ];
    let named = NAMES.iter().filter_map(|(key, text)| Some(text.replace("{}", &shown(schema.get(key)?))));
    let bounds: Vec<String> = named.map(|bound| escape(&bound)).collect();
    if bounds.is_empty() { String::new() } else { format!(" <small>{}</small>", bounds.join(", ")) }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
