//! The agenda of issues (contract B 4.1).

use actors::issues::sight;
use domain::{
    id::{OrgId, SpaceId},
    issues::{
        agenda::{ENTRIES_MAX, EntryKind, Window, listed},
        boards::SprintState,
        issue::issue_url,
        jql::meaning::{day_number, numbered_day},
        space::Space,
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
    /// `due`, `start`, `sprintStart`, `sprintEnd` or `release`.
    kind: &'static str,
    date: String,
    title: String,
    /// The issue, of what is an issue's.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    space_key: String,
    /// Whether the issue is done, the sprint has begun or is closed, the version is released.
    #[serde(skip_serializing_if = "Option::is_none")]
    done: Option<bool>,
    /// Where it is shown.
    url: String,
}

/// The agenda.
#[derive(Serialize, ToSchema)]
pub(crate) struct AgendaAnswer {
    /// By day, then sprints that begin, what begins, what is due, what is released and sprints that end; then by key.
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
/// What begins, is due, is released and ends on the days of a window, in the spaces that you may browse and that aren't archived; at
/// most 5,000 entries.
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
    let listing = Listing { window, spaces: spaces.collect(), org_id: org.id(), state: &state };
    let mut found = listing.issues().await?;
    found.extend(listing.plans().await?);
    let (entries, truncated) = listed(found, |it| (it.day, it.kind, it.order.clone()));
    Ok(Json(AgendaAnswer { entries: entries.into_iter().map(|it| it.entry).collect(), truncated }))
}

/// An entry, and where it stands among the others.
struct Placed {
    day: Date,
    kind: EntryKind,
    /// What entries of a day and kind go by.
    order: String,
    entry: AgendaEntry,
}

/// What the agenda is made of.
struct Listing<'a> {
    window: Window,
    spaces: Vec<&'a Space>,
    org_id: OrgId,
    state: &'a State,
}

impl Listing<'_> {
    fn space(&self, id: SpaceId) -> Option<&Space> {
        self.spaces.iter().find(|space| space.space_id == id).copied()
    }

    /// What begins and what is due.
    async fn issues(&self) -> Result<Vec<Placed>> {
        let ids: Vec<SpaceId> = self.spaces.iter().map(|space| space.space_id).collect();
        let days = (day_number(self.window.from), day_number(self.window.to));
        let found = self.state.store.issue_days(self.org_id, &ids, days, ENTRIES_MAX as u64 + 1).await?;
        let placed = |it: IssueDay| {
            let day = numbered_day(it.day).filter(|day| self.window.has(*day))?;
            let space = self.space(it.space_id)?;
            let key = format!("{}-{}", space.key, it.number);
            let entry = AgendaEntry {
                id: format!("{}:{}", it.id, word(it.kind)),
                kind: word(it.kind),
                date: day.to_string(),
                title: it.summary,
                space_key: space.key.clone(),
                done: Some(it.is_done),
                url: issue_url(&self.state.settings.public_url, self.org_id, &key),
                key: Some(key),
            };
            Some(Placed { day, kind: it.kind, order: format!("{}-{:019}", space.key, it.number), entry })
        };
        Ok(found.into_iter().filter_map(placed).collect())
    }

    /// When sprints begin and end, and versions are released.
    async fn plans(&self) -> Result<Vec<Placed>> {
        let mut placed = Vec::new();
        for version in self.state.store.issue_versions(self.org_id, None).await? {
            let day = version.release_date.as_ref().and_then(|day| day.parse::<Date>().ok());
            let done = version.is_released();
            let day = day.filter(|day| self.window.has(*day));
            placed.extend(self.plan(
                EntryKind::Release,
                (day, version.id.to_string()),
                (version.space_id, version.name, done),
            ));
        }
        for sprint in self.state.store.issue_sprints(self.org_id, None).await? {
            let ends = sprint.closed_at.or(sprint.end_at);
            let begun = sprint.state != SprintState::Future;
            let closed = sprint.state == SprintState::Closed;
            for (kind, at, done) in
                [(EntryKind::SprintStart, sprint.start_at, begun), (EntryKind::SprintEnd, ends, closed)]
            {
                let day = at.and_then(|at| self.window.day_of(at));
                placed.extend(self.plan(
                    kind,
                    (day, sprint.id.to_string()),
                    (sprint.space_id, sprint.name.clone(), done),
                ));
            }
        }
        Ok(placed)
    }

    fn plan(
        &self,
        kind: EntryKind,
        (day, id): (Option<Date>, String),
        (space_id, title, done): (SpaceId, String, bool),
    ) -> Option<Placed> {
        let (day, space) = (day?, self.space(space_id)?);
        let entry = AgendaEntry {
            id: format!("{id}:{}", word(kind)),
            kind: word(kind),
            date: day.to_string(),
            title,
            space_key: space.key.clone(),
            done: Some(done),
            // There is no page of a sprint or a version; that of the organization says where the API is.
            url: format!("{}/orgs/{}", self.state.settings.public_url, self.org_id),
            key: None,
        };
        Some(Placed { day, kind, order: format!("{}-{}", space.key, entry.title), entry })
    }
}
