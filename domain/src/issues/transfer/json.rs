//! Reading JSON as it is exported: `{"issues": […]}`, or the list alone.

use serde_json::{Map, Value};

use super::{SourceComment, SourceFile, SourceIssue, refused};
use crate::Result;

/// Reads a file.
///
/// # Errors
/// 400 at `content` for what is no JSON, or no list of objects.
pub fn from_json(content: &str) -> Result<SourceFile> {
    let value: Value = serde_json::from_str(content)
        .map_err(|error| refused(format!("Line {} can't be read as JSON.", error.line())))?;
    let list = match value {
        Value::Array(list) => list,
        Value::Object(mut object) => match object.remove("issues") {
            Some(Value::Array(list)) => list,
            _ => return Err(refused("The file has no list 'issues'.")),
        },
        _ => return Err(refused("The file has no list 'issues'.")),
    };
    let mut file = SourceFile::default();
    for (at, value) in list.iter().enumerate() {
        let object = value.as_object().ok_or_else(|| refused(format!("Issue {at} is no object.")))?;
        file.issues.push(issue(object));
    }
    Ok(file)
}

/// A text, or a number as text.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
    .map(|text| text.replace('\0', "\u{fffd}"))
    .filter(|text| !text.trim().is_empty())
}

fn first(object: &Map<String, Value>, names: &[&str]) -> Option<String> {
    names.iter().find_map(|name| object.get(*name).and_then(text))
}

fn every(object: &Map<String, Value>, names: &[&str]) -> Vec<String> {
    names.iter().filter_map(|name| object.get(*name).and_then(text)).collect()
}

fn list(object: &Map<String, Value>, name: &str) -> Vec<String> {
    object.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(text).collect()
}

fn objects<'a>(object: &'a Map<String, Value>, name: &str) -> impl Iterator<Item = &'a Map<String, Value>> {
    object.get(name).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object)
}

fn issue(object: &Map<String, Value>) -> SourceIssue {
    let link = |link: &Map<String, Value>| Some((first(link, &["label", "typeId"])?, first(link, &["key"])?));
    let comment = |comment: &Map<String, Value>| {
        Some(SourceComment {
            at: first(comment, &["createdAt"]),
            author: first(comment, &["authorId", "author"]),
            body: first(comment, &["body"])?,
            public: comment.get("public").and_then(Value::as_bool).unwrap_or_default(),
        })
    };
    SourceIssue {
        names: every(object, &["key", "issueId"]),
        summary: first(object, &["summary"]).unwrap_or_default(),
        kind: first(object, &["typeId", "type"]),
        status: first(object, &["statusId", "status"]),
        priority: first(object, &["priorityId", "priority"]),
        resolution: first(object, &["resolutionId", "resolution"]),
        assignee: every(object, &["assigneeId", "assignee"]),
        reporter: every(object, &["reporterId", "reporter"]),
        watchers: list(object, "watchers"),
        created: first(object, &["createdAt"]),
        updated: first(object, &["updatedAt"]),
        resolved: first(object, &["resolvedAt"]),
        due_date: first(object, &["dueDate"]),
        start_date: first(object, &["startDate"]),
        story_points: first(object, &["storyPoints"]),
        original_estimate: first(object, &["originalEstimate"]),
        remaining_estimate: first(object, &["remainingEstimate"]),
        environment: first(object, &["environment"]),
        description: first(object, &["description"]),
        parent: every(object, &["parentId", "parent"]),
        labels: list(object, "labels"),
        components: list(object, "components"),
        fix_versions: list(object, "fixVersions"),
        affects_versions: list(object, "affectsVersions"),
        links: objects(object, "links").filter_map(link).collect(),
        comments: objects(object, "comments").filter_map(comment).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_alone_or_within_an_object() {
        let one =
            r#"[{"key": "A-1", "issueId": "iss_1", "summary": "One", "storyPoints": 2.5, "labels": ["x", 3, null]}]"#;
        for content in [one.to_owned(), format!("{{\"issues\": {one}}}")] {
            let file = from_json(&content).expect("a file");
            let issue = &file.issues[0];
            assert_eq!((issue.names.join(","), issue.story_points.as_deref()), ("A-1,iss_1".to_owned(), Some("2.5")));
            assert_eq!(issue.labels, ["x", "3"]);
        }
        for wrong in ["", "{", "3", "{\"issues\": 3}", "[3]", "{}"] {
            assert!(from_json(wrong).is_err(), "{wrong}");
        }
    }
}
