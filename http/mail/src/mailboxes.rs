//! Mailboxes: whose they are, and who has which (contract B 4.7, 4.8).

use actors::mail::{MailboxCreate, MailboxDelete, MailboxUpdate};
use domain::{
    id::{MailboxId, UserId},
    mail::{MAILBOX_MEMBERS_MAX, MAILBOXES_MAX, Mailbox, display_name_check},
    problems::{Problems, all},
};
use http_shell::{
    answer::{Accepted, Created, Either, Json, NoContent},
    body::{Body, RequestBody},
    error::Result,
    org::Org,
    path::Path,
    permission::{MailAdmin, Part},
    query::{Query, RequestQuery},
    state::State,
};
use serde::{Deserialize, Serialize};
use store::mail::MailState;
use utoipa::{IntoParams, ToSchema};

use crate::labels::MailLabelBody;

/// Mailboxes of a person in one answer.
pub(crate) const LISTED_MAX: u64 = 1_000;
/// Characters of the id of the mailbox whose labels are asked for (contract B 4.8).
const LABELS_OF_LEN_MAX: usize = 100;

/// A mailbox, as its members see it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "mailboxId": "mbx_01jd7rt4m5e9fv2w8x3c6k0hqz", "address": "ada@acme.example.org", "domain": "acme.example.org",
    "displayName": "Ada", "signature": "", "reminderMail": false, "aliases": []
}))]
pub(crate) struct MailboxBody {
    /// The mailbox's id.
    mailbox_id: String,
    /// The mailbox's address.
    address: String,
    /// The domain of its address.
    domain: String,
    /// What it is called; may be empty.
    display_name: String,
    /// What new messages end with, as HTML; may be empty.
    signature: String,
    /// Whether reminders are also filed as messages.
    reminder_mail: bool,
    /// Other addresses that are the mailbox's.
    aliases: Vec<String>,
}

impl MailboxBody {
    pub(crate) fn new(mailbox: Mailbox, settings: MailState) -> Self {
        Self {
            mailbox_id: mailbox.id.to_string(),
            address: mailbox.address.to_string(),
            domain: mailbox.domain().to_owned(),
            display_name: mailbox.display_name,
            signature: settings.signature,
            reminder_mail: settings.reminder_mail,
            aliases: mailbox.aliases.iter().map(ToString::to_string).collect(),
        }
    }
}

/// Mailboxes.
#[derive(Debug, Serialize, ToSchema)]
#[expect(clippy::option_option, reason = "absent, null and a value are three things")]
pub(crate) struct MailboxesAnswer {
    /// The mailboxes that the caller is a member of; a key is of none.
    mailboxes: Vec<MailboxBody>,
    /// The labels of the mailbox that `labels` names; null where the caller can't open it, absent where nothing is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<LabelsOfMailboxBody>)]
    labels: Option<Option<LabelsOfMailboxBody>>,
}

/// What a mailbox has as labels.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LabelsOfMailboxBody {
    /// The mailbox's id.
    mailbox_id: String,
    /// The labels, in the order of their names.
    labels: Vec<MailLabelBody>,
}

/// What is asked of mailboxes beside themselves.
#[derive(Deserialize, IntoParams)]
pub(crate) struct MailboxesQuery {
    /// The id of a mailbox whose labels are answered, too: up to 100 characters.
    labels: Option<String>,
}

impl RequestQuery for MailboxesQuery {
    fn check(&self, problems: &mut Problems) {
        let fits = self.labels.as_deref().is_none_or(|it| it.chars().count() <= LABELS_OF_LEN_MAX);
        problems.require(fits, "labels", "Use at most 100 characters.");
    }
}

/// My mailboxes
///
/// The mailboxes that the caller is a member of. A key has none.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/mail/mailboxes")]
pub(crate) async fn mailboxes_list(
    org: Org<Part>,
    query: Query<MailboxesQuery>,
    state: State,
) -> Result<Json<MailboxesAnswer>> {
    let mailboxes = match org.person_caller() {
        Some(person) => state.store.mailboxes_of_person(org.id(), person.user_id, LISTED_MAX).await?,
        None => Vec::new(),
    };
    let ids: Vec<MailboxId> = mailboxes.iter().map(|mailbox| mailbox.id).collect();
    let labels = match query.labels.as_deref() {
        Some(id) => Some(labels_of(&state, ids.iter().find(|it| it.to_string() == id).copied()).await?),
        None => None,
    };
    let mut settings = state.store.mail_states(&ids).await?;
    let mailboxes = mailboxes.into_iter().map(|mailbox| {
        let settings = settings.remove(&mailbox.id).unwrap_or_default();
        MailboxBody::new(mailbox, settings)
    });
    Ok(Json(MailboxesAnswer { mailboxes: mailboxes.collect(), labels }))
}

/// The labels of a mailbox that the caller opens.
async fn labels_of(state: &State, id: Option<MailboxId>) -> domain::Result<Option<LabelsOfMailboxBody>> {
    let Some(id) = id else { return Ok(None) };
    let labels = state.store.mail_labels(id).await?.into_iter().map(MailLabelBody::from).collect();
    Ok(Some(LabelsOfMailboxBody { mailbox_id: id.to_string(), labels }))
}

/// A mailbox, as who runs mail sees it.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "mailboxId": "mbx_01jd7rt4m5e9fv2w8x3c6k0hqz", "address": "ada@acme.example.org", "domain": "acme.example.org",
    "displayName": "Ada", "members": ["usr_01jd7rt4m5e9fv2w8x3c6k0hqz"], "aliases": [], "createdAt": 1_767_225_600_000_i64
}))]
pub(crate) struct AdminMailboxBody {
    /// The mailbox's id.
    mailbox_id: String,
    /// The mailbox's address.
    address: String,
    /// The domain of its address.
    domain: String,
    /// What it is called; may be empty.
    display_name: String,
    /// The members who open the mailbox.
    members: Vec<String>,
    /// Other addresses that are the mailbox's.
    aliases: Vec<String>,
    /// When it was made.
    created_at: i64,
}

impl From<Mailbox> for AdminMailboxBody {
    fn from(mailbox: Mailbox) -> Self {
        Self {
            mailbox_id: mailbox.id.to_string(),
            address: mailbox.address.to_string(),
            domain: mailbox.domain().to_owned(),
            members: mailbox.members.iter().map(ToString::to_string).collect(),
            display_name: mailbox.display_name,
            aliases: mailbox.aliases.iter().map(ToString::to_string).collect(),
            created_at: mailbox.created_at.0,
        }
    }
}

/// All mailboxes.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AdminMailboxesAnswer {
    /// In the order in which they were made.
    mailboxes: Vec<AdminMailboxBody>,
}

/// A mailbox.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AdminMailboxAnswer {
    /// The mailbox.
    mailbox: AdminMailboxBody,
}

impl From<Mailbox> for AdminMailboxAnswer {
    fn from(mailbox: Mailbox) -> Self {
        Self { mailbox: mailbox.into() }
    }
}

/// All mailboxes of the organization
#[utoipa::path(get, path = "/v1/orgs/{orgId}/mail/admin/mailboxes")]
pub(crate) async fn admin_mailboxes_list(org: Org<MailAdmin>, state: State) -> Result<Json<AdminMailboxesAnswer>> {
    let mailboxes = state.store.mailboxes(org.id(), MAILBOXES_MAX).await?;
    Ok(Json(AdminMailboxesAnswer { mailboxes: mailboxes.into_iter().map(AdminMailboxBody::from).collect() }))
}

/// A new mailbox.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "localPart": "ada", "domain": "acme.example.org", "displayName": "Ada", "members": ["usr_01jd7rt4m5e9fv2w8x3c6k0hqz"]
}))]
pub(crate) struct AdminMailboxCreate {
    /// What stands before the `@`: 1 to 64 small letters, digits, `.`, `_` and `-`, with a letter or a digit at both ends.
    local_part: String,
    /// A domain of the organization, such as the one that the platform lends it: its slug below `mail_server.platform_domain`.
    domain: String,
    /// What it is called: up to 200 characters.
    display_name: Option<String>,
    /// The members of the organization who open the mailbox: up to 100.
    members: Option<Vec<String>>,
}

impl RequestBody for AdminMailboxCreate {}

/// The people of a list, each once; whoever is none, or one too many, is a fault of `members`.
fn members_read(members: &[String]) -> domain::Result<Vec<UserId>> {
    let mut problems = Problems::new();
    problems.require(members.len() <= MAILBOX_MEMBERS_MAX, "members", "Give at most 100 members.");
    let mut people: Vec<UserId> = Vec::new();
    let mut is_stranger = false;
    for text in members.iter().take(MAILBOX_MEMBERS_MAX) {
        match text.parse() {
            Ok(user_id) if people.contains(&user_id) => {}
            Ok(user_id) => people.push(user_id),
            Err(_) => is_stranger = true,
        }
    }
    problems.into_result()?;
    if is_stranger { Err(domain::mail::members_belong()) } else { Ok(people) }
}

/// Make a mailbox
#[utoipa::path(post, path = "/v1/orgs/{orgId}/mail/admin/mailboxes", responses(
    (status = 400, description = "Mailbox members must belong to the organization.\n\nEnter a valid address.\n\n\
        An organization has at most 5,000 mailboxes."),
    (status = 404, description = "Domain not found"),
    (status = 409, description = "This address is already in use.\n\nThis mailbox's domain was removed.")))]
pub(crate) async fn admin_mailbox_create(
    org: Org<MailAdmin>,
    body: Body<AdminMailboxCreate>,
    state: State,
) -> Result<Created<AdminMailboxAnswer>> {
    let body = body.into_inner();
    let (display_name, members) = all((
        display_name_check("displayName", body.display_name.as_deref().unwrap_or_default()),
        members_read(&body.members.unwrap_or_default()),
    ))?;
    let domain = body.domain.trim().to_ascii_lowercase();
    let command = MailboxCreate { local_part: body.local_part, domain, display_name, members };
    let made = state.actors.mail_directory.ask(&org.id(), command, org.context()).await?;
    Ok(Created(made.into()))
}

/// What to change; what is absent stays as it is.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"displayName": "Ada"}))]
pub(crate) struct AdminMailboxPatch {
    /// What it is called: up to 200 characters.
    display_name: Option<String>,
    /// The members of the organization who open the mailbox: up to 100.
    members: Option<Vec<String>>,
}

impl RequestBody for AdminMailboxPatch {}

/// Change a mailbox
#[utoipa::path(patch, path = "/v1/orgs/{orgId}/mail/admin/mailboxes/{mailboxId}", responses(
    (status = 400, description = "Mailbox members must belong to the organization.")))]
pub(crate) async fn admin_mailbox_patch(
    org: Org<MailAdmin>,
    id: Path<MailboxId>,
    body: Body<AdminMailboxPatch>,
    state: State,
) -> Result<Json<AdminMailboxAnswer>> {
    let body = body.into_inner();
    let (display_name, members) = all((
        body.display_name.as_deref().map(|name| display_name_check("displayName", name)).transpose(),
        body.members.as_deref().map(members_read).transpose(),
    ))?;
    let command = MailboxUpdate { id: *id, display_name, members };
    let changed = state.actors.mail_directory.ask(&org.id(), command, org.context()).await?;
    Ok(Json(changed.into()))
}

/// What is being done.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct InBackground {
    /// Always true.
    background: bool,
}

/// Delete a mailbox
///
/// With its calendars. It is out of sight and its address free at once; what is in it is deleted afterwards (202), or nothing
/// was (204).
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/mail/admin/mailboxes/{mailboxId}")]
pub(crate) async fn admin_mailbox_delete(
    org: Org<MailAdmin>,
    id: Path<MailboxId>,
    state: State,
) -> Result<Either<Accepted<InBackground>, NoContent>> {
    let has_more = state.actors.mail_directory.ask(&org.id(), MailboxDelete(*id), org.context()).await?;
    Ok(if has_more { Either::Left(Accepted(InBackground { background: true })) } else { Either::Right(NoContent) })
}
