//! A request as its people see it. Every field is named here; none is taken over from the issue as a whole.

use domain::{
    id::UserId,
    issues::{
        portal::{answered_status, waits_for},
        workflow::Category,
    },
};
use serde::Serialize;
use store::issues::PortalRequest;
use utoipa::ToSchema;

use super::argument::HelpCenter;

/// A request.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HelpRequestSummary {
    /// What it goes by.
    key: String,
    summary: String,
    /// What was asked for; null where the desk doesn't have it any more.
    request_type: Option<String>,
    /// Where it stands, in the desk's words.
    status: String,
    /// `todo`, `inprogress` or `done`.
    #[schema(value_type = String)]
    status_category: Category,
    /// Whether it waits for something that you do.
    waiting_for_you: bool,
    /// How it ended; null before it has.
    resolution: Option<String>,
    /// 1 to 5; null before it was rated.
    satisfaction: Option<i64>,
    created_at: i64,
    /// When something that you see of it last changed.
    updated_at: i64,
}

impl HelpRequestSummary {
    pub(crate) fn new(center: &HelpCenter, request: &PortalRequest) -> Self {
        let (issue, desk, settings) = (&request.stored.issue, &center.desk, &center.settings);
        let kind = issue.request_type_id.as_ref().and_then(|id| desk.request_type(id));
        let named = |id: &String| settings.resolutions.iter().find(|it| it.id == *id).map(|it| it.name.clone());
        Self {
            key: issue.key.clone(),
            summary: issue.summary.clone(),
            request_type: kind.map(|kind| kind.name.clone()),
            status: answered_status(desk, settings, issue),
            status_category: issue.status_category,
            waiting_for_you: waits_for(desk, issue, center.user_id()),
            resolution: issue.resolution_id.as_ref().and_then(named),
            satisfaction: issue.satisfaction,
            created_at: issue.created_at.as_millis(),
            updated_at: request.public_at.as_millis(),
        }
    }
}

/// What somebody is called who may have left.
pub(crate) fn name_of(names: &std::collections::HashMap<UserId, String>, id: UserId) -> String {
    names.get(&id).cloned().unwrap_or_else(|| "Somebody who left".to_owned())
}
