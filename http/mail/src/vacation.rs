//! What a mailbox answers while its people are away.

use actors::mail::VacationSet;
use domain::{
    Timestamp,
    id::MailboxId,
    mail::{Mailbox, Vacation},
};
use http_shell::{
    answer::Json,
    body::{Body, RequestBody},
    error::Result,
    mailbox::MailPerson,
    owned::Owned,
    path::Path,
    state::State,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a mailbox answers while its people are away.
#[derive(Debug, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({
    "enabled": true, "from": 1_767_225_600_000_i64, "until": 1_767_830_400_000_i64, "subject": "Away", "text": "Back on Monday."
}))]
pub(crate) struct VacationBody {
    /// Whether anybody is answered.
    enabled: bool,
    /// The moment from which on people are answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<i64>,
    /// The moment until which people are answered, behind `from`.
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<i64>,
    /// The subject of answers, up to 200 characters; `Auto:` and the subject of what is answered where it is empty.
    #[serde(default)]
    subject: String,
    /// The text, up to 20,000 characters.
    #[serde(default)]
    text: String,
    /// The HTML, up to 20,000 characters, which is cleaned. Without a text, it brings its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    html: Option<String>,
    /// Whether only those are answered whom the mailbox wrote to before.
    #[serde(default)]
    only_contacts: bool,
    /// Whether only mailboxes and members of the organization are answered.
    #[serde(default)]
    only_org: bool,
}

impl RequestBody for VacationBody {}

impl From<VacationBody> for Vacation {
    fn from(it: VacationBody) -> Self {
        Self {
            enabled: it.enabled,
            from: it.from.map(Timestamp),
            until: it.until.map(Timestamp),
            subject: it.subject,
            text: it.text,
            html: it.html,
            only_contacts: it.only_contacts,
            only_org: it.only_org,
        }
    }
}

impl From<Vacation> for VacationBody {
    fn from(it: Vacation) -> Self {
        Self {
            enabled: it.enabled,
            from: it.from.map(|at| at.0),
            until: it.until.map(|at| at.0),
            subject: it.subject,
            text: it.text,
            html: it.html,
            only_contacts: it.only_contacts,
            only_org: it.only_org,
        }
    }
}

/// What a mailbox answers while its people are away.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct VacationAnswer {
    /// The answer, and when it is given.
    vacation: VacationBody,
}

/// The answer of who is away
#[utoipa::path(get, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/vacation")]
pub(crate) async fn mail_vacation_get(
    _person: MailPerson,
    mailbox: Owned<Mailbox>,
    state: State,
) -> Result<Json<VacationAnswer>> {
    let vacation = state.store.mail_vacation(mailbox.id).await?;
    Ok(Json(VacationAnswer { vacation: vacation.into() }))
}

/// Choose the answer of who is away
///
/// People who write to the mailbox are answered, each once in seven days: not lists, programs, spam, and senders whose domain
/// doesn't vouch for them.
#[utoipa::path(put, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/vacation")]
pub(crate) async fn mail_vacation_put(
    person: MailPerson,
    mailbox_id: Path<MailboxId>,
    body: Body<VacationBody>,
    state: State,
) -> Result<Json<VacationAnswer>> {
    let command = VacationSet { org_id: person.id(), vacation: body.into_inner().into() };
    let vacation = state.actors.mailbox.ask(&mailbox_id, command, person.context()).await?;
    Ok(Json(VacationAnswer { vacation: vacation.into() }))
}
