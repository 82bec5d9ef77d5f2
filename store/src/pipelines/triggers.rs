//! What pushes leave for pipelines to start runs of.

use domain::{
    Timestamp,
    git::ObjectId,
    id::{OrgId, ResourceId, UserId},
};
use serde::{Deserialize, Serialize};

use crate::{Change, NewWork};

/// The topic of what may start runs.
pub const PIPELINE_TRIGGERS: &str = "pipelines.trigger";

/// Something that may start runs of a repository.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PipelineTrigger {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// The repository.
    pub repository_id: ResourceId,
    /// Names the event among all: of a push, its id.
    pub cause: String,
    /// The person who did it.
    pub by: UserId,
    /// What was done.
    pub what: Triggered,
}

/// What was done that may start runs. Commits are 40 hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Triggered {
    /// A ref was moved by a push.
    Push {
        /// The ref, whole.
        full_ref: String,
        /// What the ref named before.
        before: Option<String>,
        /// What the ref names now.
        after: Option<String>,
    },
    /// A pull request was opened, or its head moved.
    Pull {
        /// The pull request's number.
        number: u32,
        /// `opened`, `synchronize` or `reopened`.
        activity: String,
        /// The newest commit of its head.
        head: String,
    },
}

impl Triggered {
    /// A push that moved a ref.
    pub fn push(full_ref: &str, before: Option<ObjectId>, after: Option<ObjectId>) -> Self {
        let text = |oid: Option<ObjectId>| oid.map(|oid| oid.to_string());
        Self::Push { full_ref: full_ref.to_owned(), before: text(before), after: text(after) }
    }
}

impl Change {
    /// Has pipelines look whether this starts runs.
    pub fn pipeline_trigger_add(&mut self, now: Timestamp, trigger: &PipelineTrigger) {
        self.work_add(now, NewWork::new(PIPELINE_TRIGGERS, trigger.org_id, trigger));
    }
}
