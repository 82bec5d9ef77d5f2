//! What a person chose of their mailboxes, and what mailboxes may send (contract B 4.8).

use std::collections::BTreeMap;

use actors::mail::{MailChoose, MailPersonKey};
use domain::{
    id::MailboxId,
    mail::{MESSAGE_MB_MAX, MailPreferences, MailPush, Mailbox, RECIPIENTS_MAX, SEND_PER_DAY, no_mailbox},
    problems::Problems,
};
use http_shell::{
    answer::Json,
    body::{Body, RequestBody},
    error::Result,
    mailbox::MailPerson,
    owned::Owned,
    state::State,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::mailboxes::LISTED_MAX;

/// Characters of a key of `push` (contract B 4.8).
const KEY_LEN_MAX: usize = 100;

/// What a person chose.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"categories": true, "push": {"mbx_01jd7rt4m5e9fv2w8x3c6k0hqz": "primary"}}))]
pub(crate) struct PreferencesBody {
    /// Whether the inbox is shown by categories.
    categories: bool,
    /// `all`, `primary` or `off` by mailbox: of which messages the person is told.
    #[schema(value_type = BTreeMap<String, String>)]
    push: BTreeMap<String, MailPush>,
}

/// What a person chose.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PreferencesAnswer {
    /// What they chose.
    preferences: PreferencesBody,
}

impl PreferencesAnswer {
    fn new(chosen: &MailPreferences, mailboxes: &[Mailbox]) -> Self {
        let push = mailboxes.iter().map(|mailbox| (mailbox.id.to_string(), chosen.push_of(mailbox.id)));
        Self { preferences: PreferencesBody { categories: chosen.categories, push: push.collect() } }
    }
}

/// What I chose of my mailboxes
///
/// With every mailbox of the caller; `primary` where they chose nothing else.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/mail/preferences")]
pub(crate) async fn mail_preferences_get(person: MailPerson, state: State) -> Result<Json<PreferencesAnswer>> {
    let chosen = state.store.mail_preferences(person.id(), person.user_id()).await?;
    let mailboxes = state.store.mailboxes_of_person(person.id(), person.user_id(), LISTED_MAX).await?;
    Ok(Json(PreferencesAnswer::new(&chosen, &mailboxes)))
}

/// What to choose; what is absent stays as it is.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"push": {"mbx_01jd7rt4m5e9fv2w8x3c6k0hqz": "off"}}))]
pub(crate) struct PreferencesPatch {
    /// Whether the inbox is shown by categories.
    categories: Option<bool>,
    /// `all`, `primary` or `off` by mailbox: of which messages the person is told.
    #[schema(value_type = Option<BTreeMap<String, String>>)]
    push: Option<BTreeMap<String, MailPush>>,
}

impl RequestBody for PreferencesPatch {
    fn check(&self, problems: &mut Problems) {
        let fits = self.push.iter().flatten().all(|(key, _)| key.chars().count() <= KEY_LEN_MAX);
        problems.require(fits, "push", "A mailbox's id has at most 100 characters.");
    }
}

/// Choose of my mailboxes
#[utoipa::path(patch, path = "/v1/orgs/{orgId}/mail/preferences", responses(
    (status = 404, description = "Mailbox not found")))]
pub(crate) async fn mail_preferences_patch(
    person: MailPerson,
    body: Body<PreferencesPatch>,
    state: State,
) -> Result<Json<PreferencesAnswer>> {
    let PreferencesPatch { categories, push } = body.into_inner();
    let named = push.unwrap_or_default().into_iter();
    let push = named.map(|(id, push)| Ok((id.parse::<MailboxId>().map_err(|_| no_mailbox())?, push)));
    let command = MailChoose { categories, push: push.collect::<domain::Result<_>>()? };
    let key = MailPersonKey { org_id: person.id(), user_id: person.user_id() };
    let chosen = state.actors.mail_choices.ask(&key, command, person.context()).await?;
    let mailboxes = state.store.mailboxes_of_person(person.id(), person.user_id(), LISTED_MAX).await?;
    Ok(Json(PreferencesAnswer::new(&chosen, &mailboxes)))
}

/// What a mailbox may send.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"sendPerDay": 2_000, "maxMessageMb": 25, "maxRecipients": 500}))]
pub(crate) struct LimitsBody {
    /// Recipients in a day.
    send_per_day: u32,
    /// Megabytes of a message.
    max_message_mb: u32,
    /// Recipients of a message.
    max_recipients: u32,
}

/// What a mailbox may send.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct LimitsAnswer {
    /// The numbers.
    limits: LimitsBody,
}

/// What a mailbox may send
#[utoipa::path(get, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/limits")]
pub(crate) async fn mailbox_limits(_person: MailPerson, _mailbox: Owned<Mailbox>) -> Result<Json<LimitsAnswer>> {
    let limits =
        LimitsBody { send_per_day: SEND_PER_DAY, max_message_mb: MESSAGE_MB_MAX, max_recipients: RECIPIENTS_MAX };
    Ok(Json(LimitsAnswer { limits }))
}
