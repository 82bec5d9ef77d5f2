//! Operations on the page.

use std::fmt::Write;

use serde_json::Value;

use super::{
    schema::kind,
    text::{escape, line, paragraphs},
};

fn id(operation: &Value) -> String {
    escape(operation["operationId"].as_str().unwrap_or_default())
}

/// The operation's line in the list at the side.
pub(super) fn entry(path: &str, method: &str, operation: &Value) -> String {
    let title = escape(operation["summary"].as_str().unwrap_or_default());
    format!(
        "<li><a href=\"#{}\" title=\"{} {}\"><b class=\"{method}\">{method}</b> {title}</a></li>",
        id(operation),
        method.to_uppercase(),
        escape(path)
    )
}

/// The operation.
pub(super) fn article(path: &str, method: &str, operation: &Value) -> String {
    let title = escape(operation["summary"].as_str().unwrap_or_default());
    let id = id(operation);
    let mut article = format!(
        "<article id=\"{id}\"><h3><a href=\"#{id}\">{title}</a></h3>\
         <p class=\"line\"><b class=\"{method}\">{method}</b> <code>{}</code></p>{}",
        escape(path),
        paragraphs(operation["description"].as_str().unwrap_or_default())
    );
    if operation["security"].as_array().is_some_and(Vec::is_empty) {
        article.push_str("<p><small>Needs no credential.</small></p>");
    }
    article.push_str(&parameters(operation));
    article.push_str(&body(operation));
    article.push_str(&answers(operation));
    article.push_str("</article>");
    article
}

fn parameters(operation: &Value) -> String {
    let Some(parameters) = operation["parameters"].as_array().filter(|parameters| !parameters.is_empty()) else {
        return String::new();
    };
    let rows = parameters
        .iter()
        .map(|parameter| {
            let optional = if parameter["required"] == true { "" } else { " <small>optional</small>" };
            format!(
                "<tr><th scope=\"row\"><code>{}</code>{optional}</th><td>{} in the {}</td><td>{}</td></tr>",
                escape(parameter["name"].as_str().unwrap_or_default()),
                kind(&parameter["schema"]),
                escape(parameter["in"].as_str().unwrap_or_default()),
                line(parameter["description"].as_str().unwrap_or_default())
            )
        })
        .collect::<Vec<_>>()
        .concat();
    format!("<h4>Parameters</h4><table><tbody>{rows}</tbody></table>")
}

fn body(operation: &Value) -> String {
    let Some((content_type, content)) =
        operation["requestBody"]["content"].as_object().and_then(|all| all.iter().next())
    else {
        return String::new();
    };
    format!(
        "<h4>Body</h4><p>{} <small>{}</small></p>{}",
        kind(&content["schema"]),
        escape(content_type),
        example(content)
    )
}

fn answers(operation: &Value) -> String {
    let mut answers = String::from("<h4>Answers</h4><dl>");
    for (status, response) in operation["responses"].as_object().into_iter().flatten() {
        let content = response["content"].as_object().and_then(|all| all.values().next());
        let kind = content.map_or_else(String::new, |content| kind(&content["schema"]));
        let is_success = status.starts_with('2');
        // Writing to a string does not fail.
        let _ = write!(
            answers,
            "<dt><code>{}</code> {kind}</dt><dd>{}{}</dd>",
            escape(status),
            paragraphs(response["description"].as_str().unwrap_or_default()),
            content.filter(|_| is_success).map_or_else(String::new, example)
        );
    }
    answers.push_str("</dl>");
    answers
}

fn example(content: &Value) -> String {
    let Some(example) = content.get("example") else { return String::new() };
    let text = serde_json::to_string_pretty(example).unwrap_or_default();
    format!("<details><summary>Example</summary><pre>{}</pre></details>", escape(&text))
}
