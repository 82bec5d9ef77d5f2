//! Filters over what is there: trying one before it is saved, and applying one.

use std::time::Duration;

use actors::mail::{FilterApply, FilterPreview, Previewed, filter_preview};
use domain::{
    id::{MailFilterId, MailboxId},
    mail::{FILTER_DAYS, MailQuestion, Mailbox, filter_query_check, never_applied, no_filter},
    problems::{Problems, all},
};
use http_shell::{
    answer::{Accepted, Json},
    body::{Body, RequestBody},
    error::Result,
    mailbox::MailPerson,
    owned::Owned,
    path::Path,
    state::State,
};
use serde::{Deserialize, Serialize};
use store::mail::FilterJob;
use utoipa::ToSchema;

use crate::{
    filters::{FilterActionsBody, zone_of},
    thread_row::CorrespondentBody,
};

/// How long a day is.
const DAY: Duration = Duration::from_hours(24);

const fn days_usual() -> u32 {
    *FILTER_DAYS.end()
}

fn days_check(problems: &mut Problems, days: u32) {
    problems.require(FILTER_DAYS.contains(&days), "days", "Use 1 to 90 days.");
}

/// A filter that isn't saved yet.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"query": "list:news", "actions": {"box": "archive"}, "days": 30}))]
pub(crate) struct FilterPreviewBody {
    /// The messages that it finds, as search has it: 1 to 500 characters.
    query: String,
    /// What would be done with them.
    actions: FilterActionsBody,
    /// How many days are looked back: 1 to 90, usually 90.
    #[serde(default = "days_usual")]
    days: u32,
}

impl RequestBody for FilterPreviewBody {
    fn check(&self, problems: &mut Problems) {
        days_check(problems, self.days);
    }
}

/// A message that a filter finds.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FilterSampleBody {
    /// The message.
    message_id: String,
    /// The conversation.
    thread_id: String,
    /// The sender, as the message says.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<CorrespondentBody>,
    /// What it is about.
    subject: String,
    /// When it came.
    received_at: i64,
    /// Where it lies now: `inbox`, `archive` or `spam`.
    #[serde(rename = "box")]
    place: &'static str,
    /// Whether the filter would change anything of it.
    changes: bool,
}

impl From<Previewed> for FilterSampleBody {
    fn from(it: Previewed) -> Self {
        let message = it.message;
        Self {
            message_id: message.placing.id.to_string(),
            thread_id: it.thread_id.to_string(),
            from: message.people.from.map(Into::into),
            subject: message.subject,
            received_at: message.placing.at.0,
            place: message.placing.place.as_str(),
            changes: it.changes,
        }
    }
}

/// What a filter would do.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({"matched": 12, "changes": 7, "sample": []}))]
pub(crate) struct FilterPreviewAnswer {
    /// How many messages it finds.
    matched: u64,
    /// How many of them it would change.
    changes: u64,
    /// The newest of those that it finds, at most ten.
    sample: Vec<FilterSampleBody>,
}

impl From<FilterPreview> for FilterPreviewAnswer {
    fn from(it: FilterPreview) -> Self {
        Self { matched: it.matched, changes: it.changes, sample: it.sample.into_iter().map(Into::into).collect() }
    }
}

/// Try a filter
///
/// Nothing is changed. Among the last 10,000 messages that its query finds, those are looked at that came in during the last
/// days and aren't in the trash; `apply` does with the same messages what is said here.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/filters/preview")]
pub(crate) async fn mail_filter_preview(
    person: MailPerson,
    body: Body<FilterPreviewBody>,
    mailbox: Owned<Mailbox>,
    state: State,
) -> Result<Json<FilterPreviewAnswer>> {
    let (zone, now) = (zone_of(&state, &person).await?, state.store.now());
    let (query, actions) = all((filter_query_check("query", &body.query, &zone, now), body.actions.checked()))?;
    let since = now.before(DAY * body.days);
    let Some(question) = MailQuestion::parse(&query, &zone, now)? else {
        return Ok(Json(FilterPreview::default().into()));
    };
    let preview = filter_preview(&state.store, mailbox.id, &question, &actions, since).await?;
    Ok(Json(preview.into()))
}

/// How far back a filter is applied.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"days": 30}))]
pub(crate) struct FilterApplyBody {
    /// How many days are looked back: 1 to 90, usually 90.
    #[serde(default = "days_usual")]
    days: u32,
}

impl RequestBody for FilterApplyBody {
    fn check(&self, problems: &mut Problems) {
        days_check(problems, self.days);
    }
}

/// The application of a filter to what is there.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"state": "running", "matched": 400, "changed": 320, "startedAt": 1_767_225_600_000_i64}))]
pub(crate) struct FilterJobBody {
    /// `running`, `done` or `failed`.
    state: &'static str,
    /// How many messages the filter found so far.
    matched: u64,
    /// How many of them were changed.
    changed: u64,
    /// When it was asked for.
    started_at: i64,
    /// When it was through.
    #[serde(skip_serializing_if = "Option::is_none")]
    ended_at: Option<i64>,
}

impl From<FilterJob> for FilterJobBody {
    fn from(it: FilterJob) -> Self {
        Self {
            state: it.state.as_str(),
            matched: it.matched,
            changed: it.changed,
            started_at: it.started_at.0,
            ended_at: it.ended_at.map(|at| at.0),
        }
    }
}

/// The application of a filter to what is there.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct FilterJobAnswer {
    /// How it stands.
    job: FilterJobBody,
}

/// Apply a filter to what is there
///
/// In the background, some messages at a time. While that goes on, the filter can't be changed; deleting it ends it.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/filters/{mailFilterId}/apply", responses(
    (status = 409, description = "This filter is being applied already.")))]
pub(crate) async fn mail_filter_apply(
    person: MailPerson,
    mailbox_id: Path<MailboxId>,
    id: Path<MailFilterId>,
    body: Body<FilterApplyBody>,
    state: State,
) -> Result<Accepted<FilterJobAnswer>> {
    let command = FilterApply { org_id: person.id(), id: *id, days: body.days };
    let job = state.actors.mailbox.ask(&mailbox_id, command, person.context()).await?;
    Ok(Accepted(FilterJobAnswer { job: job.into() }))
}

/// The last application of a filter
#[utoipa::path(get, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/filters/{mailFilterId}/apply", responses(
    (status = 404, description = "This filter was never applied.")))]
pub(crate) async fn mail_filter_job(
    _person: MailPerson,
    mailbox: Owned<Mailbox>,
    id: Path<MailFilterId>,
    state: State,
) -> Result<Json<FilterJobAnswer>> {
    if !state.store.mail_filters(mailbox.id).await?.iter().any(|filter| filter.id == *id) {
        return Err(no_filter().into());
    }
    let job = state.store.mail_filter_job(mailbox.id, *id).await?.ok_or_else(never_applied)?;
    Ok(Json(FilterJobAnswer { job: job.into() }))
}
