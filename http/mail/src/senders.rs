//! Senders: what a mailbox chose for them, leaving their lists, and whom an address field suggests.

use std::collections::BTreeSet;

use actors::mail::{SenderBlock, Unsubscribed};
use domain::{
    Email,
    id::{MailMessageId, MailboxId},
    mail::{Correspondent, MailCategory, Mailbox, SUGGEST_LEN_MAX, SUGGESTED_FROM, sender_invalid, suggested},
    organization::MEMBERS_MAX,
    problems::Problems,
};
use http_shell::{
    answer::Json,
    body::{Body, RequestBody},
    cursor,
    error::Result,
    mailbox::MailPerson,
    owned::Owned,
    paging::PageQuery,
    path::{Path, SenderAddress},
    query::{Query, RequestQuery},
    state::State,
};
use serde::{Deserialize, Serialize};
use store::mail::ChosenSender;
use utoipa::{IntoParams, ToSchema};

use crate::thread_row::CorrespondentBody;

/// The name of the list in its cursors.
const LIST: &str = "mail_senders";

/// A sender for whom the mailbox chose something.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"address": "news@shop.example", "category": "promotions", "blocked": false}))]
pub(crate) struct MailSenderBody {
    /// The sender's address.
    address: String,
    /// The category of what they send, where one was chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<&'static str>,
    /// Whether what they send is spam.
    blocked: bool,
}

impl From<ChosenSender> for MailSenderBody {
    fn from(it: ChosenSender) -> Self {
        Self { address: it.address, category: it.category.map(MailCategory::as_str), blocked: it.is_blocked }
    }
}

/// Senders for whom the mailbox chose something.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MailSendersAnswer {
    /// In the order of their addresses.
    senders: Vec<MailSenderBody>,
    /// Where the next page starts; `null` on the last one.
    cursor: Option<String>,
}

/// The senders for whom a mailbox chose something
#[utoipa::path(get, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/senders")]
pub(crate) async fn mail_senders_list(
    _person: MailPerson,
    query: Query<PageQuery>,
    mailbox: Owned<Mailbox>,
    state: State,
) -> Result<Json<MailSendersAnswer>> {
    let behind: String = query.after(LIST)?.unwrap_or_default();
    let limit = query.limit();
    let mut found = state.store.mail_senders_chosen(mailbox.id, &behind, limit + 1).await?;
    let has_more = found.len() as u64 > limit;
    found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let cursor = found.last().filter(|_| has_more).map(|last| cursor::write(LIST, &last.address));
    Ok(Json(MailSendersAnswer { senders: found.into_iter().map(Into::into).collect(), cursor }))
}

/// Whether a sender is kept out.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"blocked": true}))]
pub(crate) struct SenderBlockedBody {
    /// Whether what they send is spam.
    blocked: bool,
}

impl RequestBody for SenderBlockedBody {}

/// A sender who is kept out, or let in again.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SenderBlockedAnswer {
    /// The sender's address.
    address: String,
    /// Whether what they send is spam.
    blocked: bool,
}

/// Block a sender
///
/// What they send from then on is spam, whatever filters say; what is there stays where it is.
#[utoipa::path(put, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/senders/{sender}/blocked", responses(
    (status = 400, description = "Enter a valid email address.\n\nA mailbox blocks at most 2,000 senders.\n\n\
        A mailbox can't block its own address.")))]
pub(crate) async fn mail_sender_block(
    person: MailPerson,
    mailbox_id: Path<MailboxId>,
    sender: Path<SenderAddress>,
    body: Body<SenderBlockedBody>,
    state: State,
) -> Result<Json<SenderBlockedAnswer>> {
    let address: Email = sender.0.0.trim().to_lowercase().parse().map_err(|_| sender_invalid())?;
    let command = SenderBlock { org_id: person.id(), address: address.to_string(), is_blocked: body.blocked };
    state.actors.mailbox.ask(&mailbox_id, command, person.context()).await?;
    Ok(Json(SenderBlockedAnswer { address: address.to_string(), blocked: body.blocked }))
}

/// How a list was left.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"by": "request"}))]
pub(crate) struct UnsubscribedAnswer {
    /// `request` where the sender's server took it, `message` where the mailbox wrote to the list.
    by: &'static str,
}

/// Unsubscribe
///
/// The list that the message came over is left by one request to its server (RFC 8058), else by a message to the address that it
/// names, which needs `mail:send`. What the message says of that must be signed by its sender.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/messages/{messageId}/unsubscribe", responses(
    (status = 400, description = "This message says no way to unsubscribe."),
    (status = 409, description = "This sender's list is only left by following the link in the message.\n\n\
        Nobody vouches for what this message says about unsubscribing.\n\n\
        This mailbox's domain isn't verified for sending yet.\n\nThis mailbox's domain was removed."),
    (status = 429, description = "This mailbox has sent to 2,000 recipients in the last day."),
    (status = 502, description = "The sender's server didn't take it. Try again later.")))]
pub(crate) async fn mail_message_unsubscribe(
    person: MailPerson,
    mailbox: Owned<Mailbox>,
    id: Path<MailMessageId>,
    state: State,
) -> Result<Json<UnsubscribedAnswer>> {
    let left = Box::pin(state.actors.mail_writing.unsubscribe(&mailbox, *id, person.context())).await?;
    let by = match left {
        Unsubscribed::OneClick => "request",
        Unsubscribed::Mail => "message",
    };
    Ok(Json(UnsubscribedAnswer { by }))
}

/// Who is looked for.
#[derive(Deserialize, IntoParams)]
pub(crate) struct SuggestQuery {
    /// What is written so far, up to 100 characters: each word begins one of a name or an address.
    q: Option<String>,
}

impl RequestQuery for SuggestQuery {
    fn check(&self, problems: &mut Problems) {
        let fits = self.q.as_deref().is_none_or(|it| it.chars().count() <= SUGGEST_LEN_MAX);
        problems.require(fits, "q", "Use at most 100 characters.");
    }
}

/// People whom an address field suggests.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SuggestAnswer {
    /// At most ten: those whom the mailbox wrote to, those it heard from, then members of the organization.
    people: Vec<CorrespondentBody>,
}

/// Suggest people for an address field
#[utoipa::path(get, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/suggest")]
pub(crate) async fn mail_suggest(
    person: MailPerson,
    query: Query<SuggestQuery>,
    mailbox: Owned<Mailbox>,
    state: State,
) -> Result<Json<SuggestAnswer>> {
    let known = state.store.mail_people(mailbox.id, SUGGESTED_FROM).await?;
    let members = state.store.members(person.id(), None, MEMBERS_MAX).await?.into_iter();
    let members = members
        .map(|it| Correspondent { name: Some(it.name).filter(|name| !name.is_empty()), email: it.email.to_string() });
    let (written, heard): (Vec<_>, Vec<_>) = known.into_iter().partition(|it| it.is_written_to);
    let people = written.into_iter().chain(heard).map(|it| it.person).chain(members);
    let own: BTreeSet<String> = mailbox.addresses().map(ToString::to_string).collect();
    Ok(Json(SuggestAnswer {
        people: suggested(people, query.q.as_deref().unwrap_or_default(), &own).into_iter().map(Into::into).collect(),
    }))
}
