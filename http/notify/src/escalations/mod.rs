//! Escalations of an organization: what its protocols do about events, who was told when, and who took it on.

mod answer;
mod wire;

use std::collections::HashSet;

use domain::{id::EscalationId, notify::escalation::EscalationState, problems::Problems};
use http_shell::{
    answer::{Json, Object},
    error::Result,
    org::Org,
    owned::Owned,
    paging::{LIMIT_MAX, PageQuery},
    permission::OrgRead,
    query::{Query, RequestQuery},
    state::State,
};
use serde::{Deserialize, Serialize};
use store::notify::escalations::{Escalation, EscalationQuery};
use utoipa::{IntoParams, ToSchema};

pub(crate) use self::answer::*;
use self::wire::{EscalationBody, EscalationStepBody, TellingBody, told};

/// The name of the list in its cursors.
const LIST: &str = "escalations";

/// Which escalations.
#[derive(Deserialize, IntoParams)]
pub(crate) struct EscalationsQuery {
    /// Where the page starts: the `cursor` of the page before it.
    cursor: Option<String>,
    /// Entries of the page, 1 to 100; 50 by default.
    #[param(minimum = 1, maximum = 100, default = 50)]
    limit: Option<u64>,
    /// Only escalations that stand here: `running`, `acknowledged`, `resolved` or `ended`.
    #[param(value_type = Option<String>)]
    state: Option<EscalationState>,
}

impl RequestQuery for EscalationsQuery {
    fn check(&self, problems: &mut Problems) {
        let fits = self.limit.is_none_or(|limit| (1..=LIMIT_MAX).contains(&limit));
        problems.require(fits, "limit", "Must be from 1 to 100.");
    }
}

/// A page of the escalations.
#[derive(Serialize, ToSchema)]
pub(crate) struct EscalationsAnswer {
    /// The newest first.
    escalations: Vec<EscalationBody>,
    /// For the next page; null on the last one.
    cursor: Option<String>,
}

/// The escalations
#[utoipa::path(get, path = "/v1/orgs/{orgId}/notify/escalations", responses(
    (status = 400, description = "Invalid cursor")
))]
pub(crate) async fn escalations_list(
    org: Org<OrgRead>,
    Query(query): Query<EscalationsQuery>,
    state: State,
) -> Result<Json<EscalationsAnswer>> {
    let page = PageQuery { cursor: query.cursor, limit: query.limit }.page::<EscalationId>(LIST)?;
    let wanted = EscalationQuery { state: query.state, before: page.after, limit: page.read_limit() };
    let found = state.store.escalations(org.id(), wanted).await?;
    let (found, cursor) = page.cut(found, |escalation| escalation.id);
    Ok(Json(EscalationsAnswer { escalations: found.into_iter().map(EscalationBody::from).collect(), cursor }))
}

/// One escalation with all that it did.
#[derive(Serialize, ToSchema)]
pub(crate) struct EscalationDetails {
    /// The escalation.
    escalation: EscalationBody,
    /// The escalation's steps, in the order in which they are done.
    steps: Vec<EscalationStepBody>,
    /// The people told between the steps: whoever it was handed to, and everybody when it was resolved.
    others: Vec<TellingBody>,
}

impl EscalationDetails {
    async fn of(state: &State, escalation: Escalation) -> Result<Self> {
        let tellings = state.store.escalation_tellings(escalation.id).await?;
        let mut deliveries = state.store.deliveries_of_escalation(escalation.id).await?;
        // Who is told of the event and by its first step over one channel is told once, by the delivery of the notice.
        let own: HashSet<_> = deliveries.iter().map(|delivery| delivery.id).collect();
        let shared = tellings.iter().filter_map(|telling| telling.delivery_id).filter(|id| !own.contains(id));
        deliveries.extend(state.store.deliveries(&shared.collect::<Vec<_>>()).await?);
        let (steps, others) = told(&escalation, tellings, &deliveries);
        Ok(Self { escalation: escalation.into(), steps, others })
    }
}

/// An escalation, and who was told of it when, over what, and why not
#[utoipa::path(get, path = "/v1/orgs/{orgId}/notify/escalations/{escalationId}")]
pub(crate) async fn escalation_get(
    _: Org<OrgRead>,
    Owned(escalation): Owned<Escalation>,
    state: State,
) -> Result<Object<EscalationDetails>> {
    Ok(Object(EscalationDetails::of(&state, escalation).await?))
}
