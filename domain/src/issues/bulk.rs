//! Changes of many issues at once: what is done with each, and what of it goes back when it is undone.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::issue::Issue;
use crate::id::IssueJobId;

/// Issues that a change of many may name.
pub const BULK_NAMED_MAX: usize = 1_000;
/// Issues that a change of many may find by a query.
pub const BULK_FOUND_MAX: usize = 10_000;
/// 404 of a change of many.
pub const ISSUE_JOB_NOT_FOUND: &str = "Job not found.";

/// What is done with each issue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum BulkAct {
    /// Fields are changed.
    Edit {
        /// Which ones, as the issue's owner reads them.
        fields: Value,
    },
    /// The issue goes to a status.
    Transition {
        /// Which one.
        to: String,
    },
    /// The issue goes to another space.
    Move {
        /// The space: its key or id.
        space: String,
        /// Its type there; its own where it isn't said.
        to_type: Option<String>,
        /// Its status there; its own where it isn't said.
        to_status: Option<String>,
    },
    /// The issue goes into the trash.
    Delete,
    /// The caller watches the issue, or doesn't any more.
    Watch {
        /// Whether they do.
        on: bool,
    },
    /// What another change of many did goes back.
    Undo {
        /// Which one.
        job_id: IssueJobId,
    },
}

/// How far a change of many is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is what it is called")]
pub enum BulkState {
    Running,
    Done,
    Cancelled,
}

impl BulkState {
    /// The name of it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Done => "done",
            Self::Cancelled => "cancelled",
        }
    }

    /// The one of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Running, Self::Done, Self::Cancelled].into_iter().find(|it| it.as_str() == name)
    }
}

/// What follows from other fields, or counts, and never goes back by itself.
const DERIVED: [&str; 9] = [
    "version",
    "updatedAt",
    "statusLog",
    "statusChangedAt",
    "sla",
    "rank",
    "commentCount",
    "attachmentCount",
    "approvals",
];

/// What a change did to an issue: the fields, each with what it held before and after it; null is nothing.
pub type BulkDiff = Map<String, Value>;

/// What a change did to an issue and its description.
pub fn diff((before, was): (&Issue, &str), (after, is): (&Issue, &str)) -> BulkDiff {
    let fields = |issue: &Issue| match serde_json::to_value(issue) {
        Ok(Value::Object(fields)) => fields,
        _ => Map::new(),
    };
    let (old, new) = (fields(before), fields(after));
    let mut changed = BulkDiff::new();
    let names = old.keys().chain(new.keys().filter(|name| !old.contains_key(*name)));
    for name in names.filter(|name| !DERIVED.contains(&name.as_str())) {
        let (one, other) = (old.get(name).unwrap_or(&Value::Null), new.get(name).unwrap_or(&Value::Null));
        if one != other {
            changed.insert(name.clone(), Value::Array(vec![one.clone(), other.clone()]));
        }
    }
    if was != is {
        changed.insert("description".to_owned(), Value::Array(vec![was.into(), is.into()]));
    }
    changed
}

/// An issue and its description with each field as it was before a change, where it still is as that change left it; and the fields
/// that somebody has changed since. Nothing, where the issue can't be put together.
pub fn undone(diff: &BulkDiff, issue: &Issue, description: &str) -> Option<(Issue, String, Vec<String>)> {
    let Ok(Value::Object(mut fields)) = serde_json::to_value(issue) else { return None };
    fields.insert("description".to_owned(), description.into());
    let mut kept = Vec::new();
    for (name, change) in diff {
        let (was, is) = (change.get(0)?, change.get(1)?);
        if fields.get(name).unwrap_or(&Value::Null) != is {
            kept.push(name.clone());
        } else if was.is_null() {
            fields.remove(name);
        } else {
            fields.insert(name.clone(), was.clone());
        }
    }
    let description =
        fields.remove("description").and_then(|text| text.as_str().map(str::to_owned)).unwrap_or_default();
    Some((serde_json::from_value(Value::Object(fields)).ok()?, description, kept))
}
