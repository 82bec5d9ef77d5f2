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
    /// The person who did it; nobody did where a time came.
    #[serde(default)]
    pub by: Option<UserId>,
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
    /// A pull request was opened, changed or closed, or its head moved.
    Pull {
        /// The pull request's number.
        number: u32,
        /// What was done, as workflow files name it: `opened`, `synchronize` and the like.
        activity: String,
        /// The newest commit of its head.
        head: String,
    },
    /// A schedule's time came.
    Schedule {
        /// The workflow file's name.
        file: String,
        /// The schedule, as the file had it.
        cron: String,
        /// The zone, as the file had it.
        timezone: Option<String>,
        /// The person who brought the file, as it was planned, to the default branch.
        #[serde(default)]
        set_by: Option<UserId>,
        /// Which text of the file it was planned of.
        #[serde(default)]
        file_hash: Option<String>,
    },
    /// The default branch is another one.
    DefaultBranch,
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
