//! The agenda of issues (contract B 4.1).

use actors::issues::sight;
use domain::{
    id::SpaceId,
    issues::{
        agenda::{ENTRIES_MAX, EntryKind, Window, listed},
        issue::issue_url,
        jql::meaning::{day_number, numbered_day},
    },
    notify::Date,
};
use http_shell::{
    answer::Json,
    error::Result,
    org::Org,
    permission::IssuesRead,
    query::{Query, RequestQuery},
    state::State,
};
use serde::{Deserialize, Serialize};
use store::issues::IssueDay;
use utoipa::{IntoParams, ToSchema};

/// Which days.
#[derive(Deserialize, IntoParams)]
#[serde(rename_all = "camelCase")]
#[into_params(rename_all = "camelCase")]
pub(crate) struct AgendaQuery {
    /// The first day, `YYYY-MM-DD`.
    #[param(example = "2026-11-01")]
    from: String,
    /// The last day, at most 100 days behind.
    #[param(example = "2026-11-30")]
    to: String,
    /// Minutes east of universal time: -840 to 840.
    #[serde(default)]
    #[param(minimum = -840, maximum = 840)]
    tz_offset: i64,
}

impl RequestQuery for AgendaQuery {}

/// What is on a day (contract B 2.2).
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "id": "iss_01jd7rt4m5e9fv2w8x3c6k0hqz:due", "kind": "due", "date": "2026-11-23", "title": "The printer is on fire",
    "key": "WEB-1", "spaceKey": "WEB", "done": false, "url": "https://troupe.example.org/issues/WEB-1"
}))]
pub(crate) struct AgendaEntry {
    id: String,
    /// `due` or `start`.
    kind: &'static str,
    date: String,
    title: String,
    /// The issue.
    key: String,
    space_key: String,
    done: bool,
    /// Where the issue is shown.
    url: String,
}

/// The agenda.
#[derive(Serialize, ToSchema)]
pub(crate) struct AgendaAnswer {
    /// By day, then what begins, then what is due, then by key.
    entries: Vec<AgendaEntry>,
    /// Whether some are left out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
}

const fn word(kind: EntryKind) -> &'static str {
    match kind {
        EntryKind::SprintStart => "sprintStart",
        EntryKind::Start => "start",
        EntryKind::Due => "due",
        EntryKind::Release => "release",
        EntryKind::SprintEnd => "sprintEnd",
    }
}

/// The agenda of issues
///
/// What begins and is due on the days of a window, in the spaces that you may browse and that aren't archived; at most 5,000
/// entries.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/issues/calendar/agenda",
    responses((status = 400, description = "Choose a window of at most 100 days.")))]
pub(crate) async fn issue_agenda(
    org: Org<IssuesRead>,
    query: Query<AgendaQuery>,
    state: State,
) -> Result<Json<AgendaAnswer>> {
    let window = Window::read(&query.from, &query.to, query.tz_offset)?;
    let seen = sight(&state.store, org.authority()).await?;
    let spaces = seen.spaces.iter().map(|(space, _)| space).filter(|space| !space.archived);
    let spaces: Vec<(SpaceId, &str)> = spaces.map(|space| (space.space_id, space.key.as_str())).collect();
    let ids: Vec<SpaceId> = spaces.iter().map(|(id, _)| *id).collect();
    let days = (day_number(window.from), day_number(window.to));
    let found = state.store.issue_days(org.id(), &ids, days, ENTRIES_MAX as u64 + 1).await?;
    let dated = |it: IssueDay| {
        let date = numbered_day(it.day).filter(|day| window.has(*day))?;
        let (_, key) = spaces.iter().find(|(id, _)| *id == it.space_id)?;
        Some((date, *key, it))
    };
    let order = |(date, key, it): &(Date, &str, IssueDay)| (*date, it.kind, format!("{key}-{:019}", it.number));
    let (entries, truncated) = listed(found.into_iter().filter_map(dated).collect(), order);
    let entry = |(date, space_key, it): (Date, &str, IssueDay)| {
        let key = format!("{space_key}-{}", it.number);
        AgendaEntry {
            id: format!("{}:{}", it.id, word(it.kind)),
            kind: word(it.kind),
            date: date.to_string(),
            title: it.summary,
            space_key: space_key.to_owned(),
            done: it.is_done,
            url: issue_url(&state.settings.public_url, org.id(), &key),
            key,
        }
    };
    Ok(Json(AgendaAnswer { entries: entries.into_iter().map(entry).collect(), truncated }))
}
