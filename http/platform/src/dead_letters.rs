//! Dead letters: work that was given up, until operators repeat or drop it.

use actors::platform::{DeadLetterAct, NO_DEAD_LETTER};
use domain::{Tenant, blank::blank_secrets};
use http_shell::{answer::Json, error::Result, path::Path, permission::PlatformInfra, state::State, wire::Done};
use serde::Serialize;
use store::Work;
use utoipa::ToSchema;

use super::{
    Operator,
    work_seq::{NumberedWork, WorkSeq},
};

/// Dead letters that are shown at once.
const SHOWN_MAX: u32 = 100;

/// The work that was given up.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeadLettersAnswer {
    /// How many there are.
    total: u64,
    /// The last ones, newest first, at most 100.
    dead_letters: Vec<DeadWorkView>,
}

/// Work that was given up.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeadWorkView {
    /// The work's number.
    seq: i64,
    /// The work's topic.
    topic: String,
    /// The organization or the person whose work it is; null for Troupe's own.
    tenant: Option<String>,
    /// How often it was tried.
    attempts: u32,
    /// Whether a part of it was done, behind which it goes on when it is repeated.
    has_begun: bool,
    /// When it was added.
    created_at: i64,
    /// What the last try met with.
    error: String,
}

impl From<Work> for DeadWorkView {
    fn from(work: Work) -> Self {
        Self {
            seq: work.seq,
            topic: work.topic,
            tenant: (work.tenant != Tenant::System).then(|| work.tenant.to_string()),
            attempts: work.attempts,
            has_begun: work.progress.is_some(),
            created_at: work.created_at.as_millis(),
            error: blank_secrets(&work.last_error.unwrap_or_default()),
        }
    }
}

/// Dead letters, by their numbers.
pub(crate) enum DeadLetterWork {}

impl NumberedWork for DeadLetterWork {
    const NAME: &'static str = "deadLetterSeq";
    const DESCRIPTION: &'static str = "The number of a dead letter.";
    const NOT_FOUND: &'static str = NO_DEAD_LETTER;
}

/// See the dead letters
///
/// Work that was tried as often as it may be, or that can never go well: e-mails, events, jobs.
#[utoipa::path(get, path = "/v1/platform/dead-letters")]
pub(crate) async fn dead_letters_get(
    _operator: Operator<PlatformInfra>,
    state: State,
) -> Result<Json<DeadLettersAnswer>> {
    let total = state.store.work_dead_len().await?;
    let dead_letters = state.store.work_dead(SHOWN_MAX).await?.into_iter().map(Into::into).collect();
    Ok(Json(DeadLettersAnswer { total, dead_letters }))
}

/// Repeat a dead letter
///
/// The work is tried again, from its first attempt; a job goes on behind its last step. That is written into the audit
/// trail of the platform's organization.
#[utoipa::path(post, path = "/v1/platform/dead-letters/{deadLetterSeq}/repeat")]
pub(crate) async fn dead_letter_repeat(
    operator: Operator<PlatformInfra>,
    seq: Path<WorkSeq<DeadLetterWork>>,
    state: State,
) -> Result<Json<Done>> {
    act(&operator, seq.number(), DeadLetterAct::Repeat, &state).await
}

/// Drop a dead letter
///
/// The work is forgotten. That is written into the audit trail of the platform's organization.
#[utoipa::path(post, path = "/v1/platform/dead-letters/{deadLetterSeq}/drop")]
pub(crate) async fn dead_letter_drop(
    operator: Operator<PlatformInfra>,
    seq: Path<WorkSeq<DeadLetterWork>>,
    state: State,
) -> Result<Json<Done>> {
    act(&operator, seq.number(), DeadLetterAct::Drop, &state).await
}

async fn act(operator: &Operator<PlatformInfra>, seq: i64, act: DeadLetterAct, state: &State) -> Result<Json<Done>> {
    state.actors.platform.dead_letter_act(seq, act, operator.org_id(), operator.context()).await?;
    Ok(Json(Done::new()))
}
