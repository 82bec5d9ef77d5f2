//! Labels of a mailbox: listing, making, changing and deleting them. The contract has what is done with them on conversations.

use actors::mail::{LabelCreate, LabelDelete, LabelUpdate};
use domain::{
    Error,
    id::{MailLabelId, MailboxId},
    mail::{LabelColor, MailLabel, Mailbox, label_name_check},
    problems::all,
};
use http_shell::{
    answer::{Created, Json, NoContent},
    body::{Body, RequestBody},
    error::Result,
    mailbox::MailPerson,
    owned::Owned,
    path::Path,
    state::State,
};
use serde::{Deserialize, Serialize};
use store::mail::LabelCount;
use utoipa::ToSchema;

/// A label of a mailbox.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"labelId": "lbl_01jd7rt4m5e9fv2w8x3c6k0hqz", "name": "Work/Bills", "color": "teal"}))]
pub(crate) struct MailLabelBody {
    /// The label's id.
    label_id: String,
    /// What it is called. A `/` stands between the names of labels that lie in each other.
    name: String,
    /// `blue`, `orange`, `teal`, `amber`, `pink`, `green`, `red` or `gray`.
    color: &'static str,
}

impl From<MailLabel> for MailLabelBody {
    fn from(label: MailLabel) -> Self {
        Self { label_id: label.id.to_string(), name: label.name, color: label.color.as_str() }
    }
}

/// A label of a mailbox, and how much has it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "labelId": "lbl_01jd7rt4m5e9fv2w8x3c6k0hqz", "name": "Work/Bills", "color": "teal", "threadCount": 12, "unreadCount": 1
}))]
pub(crate) struct CountedMailLabelBody {
    /// The label.
    #[serde(flatten)]
    label: MailLabelBody,
    /// How many conversations have it, without those in spam and trash.
    thread_count: i64,
    /// How many of them have something unread.
    unread_count: i64,
}

impl CountedMailLabelBody {
    fn new(label: MailLabel, count: LabelCount) -> Self {
        Self { label: label.into(), thread_count: count.threads, unread_count: count.unread }
    }
}

/// Labels of a mailbox.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MailLabelsAnswer {
    /// In the order of their names.
    labels: Vec<CountedMailLabelBody>,
}

/// A label of a mailbox.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MailLabelAnswer {
    /// The label.
    label: MailLabelBody,
}

impl From<MailLabel> for MailLabelAnswer {
    fn from(label: MailLabel) -> Self {
        Self { label: label.into() }
    }
}

/// The labels of a mailbox
#[utoipa::path(get, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/labels")]
pub(crate) async fn mail_labels_list(
    _person: MailPerson,
    mailbox: Owned<Mailbox>,
    state: State,
) -> Result<Json<MailLabelsAnswer>> {
    let labels = state.store.mail_labels(mailbox.id).await?;
    let counts = state.store.mail_label_counts(mailbox.id, &labels).await?;
    let labels = labels.into_iter().zip(counts).map(|(label, count)| CountedMailLabelBody::new(label, count));
    Ok(Json(MailLabelsAnswer { labels: labels.collect() }))
}

fn color_read(color: Option<&str>) -> domain::Result<Option<LabelColor>> {
    let refused = || Error::invalid("color", "Choose blue, orange, teal, amber, pink, green, red or gray.");
    color.map(|name| LabelColor::from_name(name).ok_or_else(refused)).transpose()
}

/// A new label.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"name": "Work/Bills", "color": "teal"}))]
pub(crate) struct MailLabelCreateBody {
    /// What it is called: 1 to 100 characters, unlike any folder of the mailbox. A `/` has it lie in another one.
    name: String,
    /// `blue`, `orange`, `teal`, `amber`, `pink`, `green`, `red` or `gray`; the one that labels use least where nothing is said.
    color: Option<String>,
}

impl RequestBody for MailLabelCreateBody {}

/// Make a label
#[utoipa::path(post, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/labels", responses(
    (status = 400, description = "A mailbox has at most 500 labels."),
    (status = 409, description = "A label has this name already.")))]
pub(crate) async fn mail_label_create(
    person: MailPerson,
    mailbox_id: Path<MailboxId>,
    body: Body<MailLabelCreateBody>,
    state: State,
) -> Result<Created<MailLabelAnswer>> {
    let (name, color) = all((label_name_check("name", &body.name), color_read(body.color.as_deref())))?;
    let command = LabelCreate { org_id: person.id(), name, color };
    let made = state.actors.mailbox.ask(&mailbox_id, command, person.context()).await?;
    Ok(Created(made.into()))
}

/// What to change of a label; what is absent stays as it is.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"color": "red"}))]
pub(crate) struct MailLabelPatchBody {
    /// What it is called: 1 to 100 characters. The labels that lie in it go along.
    name: Option<String>,
    /// `blue`, `orange`, `teal`, `amber`, `pink`, `green`, `red` or `gray`.
    color: Option<String>,
}

impl RequestBody for MailLabelPatchBody {}

/// Change a label
#[utoipa::path(patch, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/labels/{labelId}", responses(
    (status = 409, description = "A label has this name already.")))]
pub(crate) async fn mail_label_patch(
    person: MailPerson,
    mailbox_id: Path<MailboxId>,
    id: Path<MailLabelId>,
    body: Body<MailLabelPatchBody>,
    state: State,
) -> Result<Json<MailLabelAnswer>> {
    let (name, color) = all((
        body.name.as_deref().map(|name| label_name_check("name", name)).transpose(),
        color_read(body.color.as_deref()),
    ))?;
    let command = LabelUpdate { org_id: person.id(), id: *id, name, color };
    let changed = state.actors.mailbox.ask(&mailbox_id, command, person.context()).await?;
    Ok(Json(changed.into()))
}

/// Delete a label
///
/// Conversations stay, without it; labels that lie in it stay, too. Of many conversations, some lose it a moment later.
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/labels/{labelId}")]
pub(crate) async fn mail_label_delete(
    person: MailPerson,
    mailbox_id: Path<MailboxId>,
    id: Path<MailLabelId>,
    state: State,
) -> Result<NoContent> {
    let command = LabelDelete { org_id: person.id(), id: *id };
    state.actors.mailbox.ask(&mailbox_id, command, person.context()).await?;
    Ok(NoContent)
}
