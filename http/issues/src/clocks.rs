//! The clocks of an issue, each with all its runs, and what they were told.

use domain::issues::sla::Step;
use http_shell::{answer::Json, error::Result, permission::IssuesRead, state::State};
use serde::Serialize;
use serde_json::Value;
use store::issues::clock_key;
use utoipa::ToSchema;

use super::argument::IssueOf;

/// A clock of an issue.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IssueClockBody {
    /// What the desk calls it by.
    sla_id: String,
    /// What people call it.
    name: String,
    /// All of its runs, the first first, as `sla` of the issue has the last one (contract B 2.1).
    #[schema(value_type = Vec<Object>)]
    cycles: Vec<Value>,
}

/// A step of an issue, as its clocks were told.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IssueClockStepBody {
    /// When it was, in milliseconds since 1970.
    at: i64,
    /// What happened, as in the `start` and `stop` of clocks.
    #[schema(value_type = Vec<Object>)]
    events: Vec<Value>,
    /// The status since then.
    status_id: String,
    /// Whether somebody is responsible since then.
    is_assigned: bool,
    /// Whether the issue is resolved since then.
    is_resolved: bool,
    /// Whether the last public comment is an agent's since then.
    awaits_customer: bool,
    /// The priority since then.
    #[serde(skip_serializing_if = "Option::is_none")]
    priority_id: Option<String>,
}

/// The clocks of an issue.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueClocksAnswer {
    /// In the order of the desk.
    slas: Vec<IssueClockBody>,
    /// What they were told, the first first: from it, every start, pause and stop follows.
    steps: Vec<IssueClockStepBody>,
}

fn step_body(step: Step) -> IssueClockStepBody {
    IssueClockStepBody {
        at: step.at.as_millis(),
        events: step.events.iter().filter_map(|event| serde_json::to_value(event).ok()).collect(),
        status_id: step.after.status_id,
        is_assigned: step.after.is_assigned,
        is_resolved: step.after.is_resolved,
        awaits_customer: step.after.awaits_customer,
        priority_id: step.facts.priority_id,
    }
}

/// The clocks of an issue, explained
#[utoipa::path(get, path = "/v1/orgs/{orgId}/issues/{issueKey}/sla")]
pub(crate) async fn issue_sla(of: IssueOf<IssuesRead>, state: State) -> Result<Json<IssueClocksAnswer>> {
    let id = of.stored.issue.issue_id;
    let mut kept = state.store.issue_clocks(id).await?;
    let desk = of.space.config.servicedesk.as_ref();
    let clocks = desk.iter().flat_map(|desk| &desk.slas).filter_map(|sla| {
        let cycles = kept.remove(&clock_key(of.space.space_id, &sla.sla_id))?;
        let cycles = cycles.iter().map(domain::issues::sla::KeptCycle::wire).collect();
        Some(IssueClockBody { sla_id: sla.sla_id.clone(), name: sla.name.clone(), cycles })
    });
    let slas = clocks.collect();
    let steps = state.store.issue_steps(id).await?.into_iter().map(step_body).collect();
    Ok(Json(IssueClocksAnswer { slas, steps }))
}
