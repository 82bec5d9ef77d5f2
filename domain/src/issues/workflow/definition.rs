//! What a workflow says (contract B 2.3).

use serde::{Deserialize, Serialize};

/// What a status means, whatever it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    /// Nobody has begun.
    Todo,
    /// Somebody is at it.
    InProgress,
    /// Nothing is left to do.
    Done,
}

/// A workflow's statuses and the transitions between them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Definition {
    /// The status of a new issue.
    pub initial_status_id: String,
    /// The statuses that issues may have.
    pub statuses: Vec<StatusPlace>,
    /// The ways between them.
    pub transitions: Vec<Transition>,
    /// The resolution that comes with a done status and goes with leaving it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auto_resolution: Option<AutoResolution>,
}

/// The id of a resolution.
pub type AutoResolution = String;

/// A status, and where it stands on the drawing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StatusPlace {
    /// Which one.
    pub status_id: String,
    /// From the left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<f64>,
    /// From above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<f64>,
}

/// A way from statuses to a status.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Transition {
    /// What it goes by within the workflow.
    pub id: String,
    /// What people read.
    pub name: String,
    /// The statuses that it leaves; it leaves no other.
    pub from: Vec<String>,
    /// The status that it leads to.
    pub to: String,
    /// Fields to ask for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
    /// Who may go, and when.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// What the issue must be like afterwards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub validators: Vec<Validator>,
    /// What else is done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub post_functions: Vec<PostFunction>,
}

/// What must be so before a transition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Condition {
    /// One of these roles in the organization.
    OrgRole {
        /// Which ones.
        roles: Vec<String>,
    },
    /// One of these roles in the space.
    SpaceRole {
        /// Which ones.
        roles: Vec<String>,
    },
    /// The assignee.
    Assignee,
    /// The reporter.
    Reporter,
    /// Whoever has a permission in the space.
    Permission {
        /// Which one.
        permission: String,
    },
    /// A field has a value.
    FieldSet {
        /// Which one.
        field: String,
    },
    /// Every subtask is done.
    SubtasksDone,
}

/// What must be so after a transition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub enum Validator {
    /// Fields have values.
    Required {
        /// Which ones.
        fields: Vec<String>,
        /// What is said otherwise.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// A query matches the issue.
    Query {
        /// The query.
        query: String,
        /// What is said otherwise.
        message: String,
    },
}

/// What a transition does beside changing the status.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
#[expect(missing_docs, reason = "the fields are the contract's")]
pub enum PostFunction {
    /// Makes somebody responsible: `reporter`, `currentUser`, `lead` or `unassigned`.
    Assign { to: String },
    /// Sets the resolution, or clears it.
    SetResolution { resolution_id: Option<String> },
    /// Sets a field.
    SetField { field: String, value: serde_json::Value },
    /// Clears a field.
    ClearField { field: String },
    /// Writes a comment.
    AddComment {
        body: String,
        #[serde(default)]
        public: bool,
    },
    /// Hangs a label on.
    AddLabel { label: String },
    /// Takes a label off.
    RemoveLabel { label: String },
    /// Has somebody watch.
    AddWatcher { user_id: String },
    /// Copies a field, of the issue itself or its parent.
    CopyField {
        from: String,
        to: String,
        #[serde(default)]
        of: CopySource,
    },
    /// Sets who may see the issue.
    SetSecurityLevel { level_id: Option<String> },
    /// Tells an address.
    Webhook { url: String },
}

/// Whose field is copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CopySource {
    /// The issue's own.
    #[default]
    #[serde(rename = "self")]
    Itself,
    /// The parent's.
    Parent,
}
