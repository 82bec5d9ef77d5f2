//! Searching issues, their labels, and the links among some of them (contract B 4.1).

use std::collections::HashMap;

use actors::issues::{Asked, Sight, search, sight};
use domain::{
    id::{IssueId, SpaceId},
    issues::{
        issue::Issue,
        jql::{JQL_LEN_MAX, meaning::Fallback},
        limits::{COUNTED_MAX, LABELS_LISTED_MAX, LINKS_AMONG_MAX, SEARCH_RESULTS, SEARCH_START_MAX, SPACE_NOT_FOUND},
    },
    problems::Problems,
};
use http_shell::{
    answer::Json,
    body::{Body, RequestBody},
    error::Result,
    org::Org,
    permission::IssuesRead,
    query::{Query, RequestQuery},
    state::State,
};
use serde::{Deserialize, Serialize};
use store::issues::IssueLink;
use utoipa::{IntoParams, ToSchema};

/// Issues that are answered where nobody says.
const RESULTS_DEFAULT: u64 = 50;
/// Characters of what names an issue or a space.
const NAME_LEN_MAX: usize = 64;

/// In which order issues are answered where the query asks for none.
#[derive(Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum IssueOrder {
    Rank,
    Updated,
    Created,
    Key,
}

impl From<IssueOrder> for Fallback {
    fn from(order: IssueOrder) -> Self {
        match order {
            IssueOrder::Rank => Self::Rank,
            IssueOrder::Updated => Self::Updated,
            IssueOrder::Created => Self::Created,
            IssueOrder::Key => Self::Key,
        }
    }
}

/// A search.
#[derive(Deserialize, IntoParams, ToSchema)]
#[serde(rename_all = "camelCase")]
#[into_params(rename_all = "camelCase")]
#[schema(example = json!({"jql": "assignee = currentUser() and statusCategory != Done", "maxResults": 50}))]
pub(crate) struct IssueSearchBody {
    /// The query: at most 10,000 characters; all issues where there is none.
    #[serde(default)]
    #[param(max_length = 10_000)]
    #[schema(max_length = 10_000)]
    jql: String,
    /// Issues that are passed over: 0 to 100,000.
    #[serde(default)]
    #[param(maximum = 100_000)]
    #[schema(maximum = 100_000)]
    start_at: u64,
    /// Issues that are answered at most: 1 to 1,000; 50 by default.
    #[param(minimum = 1, maximum = 1_000)]
    #[schema(minimum = 1, maximum = 1_000)]
    max_results: Option<u64>,
    /// The order where the query asks for none; those that changed last come first where neither says.
    #[param(inline)]
    order: Option<IssueOrder>,
}

impl IssueSearchBody {
    fn rules(&self, problems: &mut Problems) {
        problems.require(self.jql.chars().count() <= JQL_LEN_MAX, "jql", "Use at most 10000 characters.");
        problems.require(self.start_at <= SEARCH_START_MAX as u64, "startAt", "Must be from 0 to 100000.");
        let (least, most) = (*SEARCH_RESULTS.start() as u64, *SEARCH_RESULTS.end() as u64);
        let fits = self.max_results.is_none_or(|count| (least..=most).contains(&count));
        problems.require(fits, "maxResults", "Must be from 1 to 1000.");
    }
}

impl RequestBody for IssueSearchBody {
    fn check(&self, problems: &mut Problems) {
        self.rules(problems);
    }
}

impl RequestQuery for IssueSearchBody {
    fn check(&self, problems: &mut Problems) {
        self.rules(problems);
    }
}

/// What a search found.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IssueSearchAnswer {
    /// The issues (contract B 2.1).
    #[schema(value_type = Vec<Object>)]
    issues: Vec<Issue>,
    /// How many there are in all.
    total: u64,
    /// Whether there are more than were counted.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    total_is_at_least: bool,
    /// Issues that were passed over.
    start_at: u64,
    /// Issues that are answered at most.
    max_results: u64,
    /// The same as `total`.
    scanned: u64,
}

async fn found_in(org: &Org<IssuesRead>, state: &State, asked: &IssueSearchBody) -> Result<Json<IssueSearchAnswer>> {
    let fallback = asked.order.map_or_else(Fallback::default, Fallback::from);
    answered(org, state, (&asked.jql, fallback), (asked.start_at, asked.max_results)).await
}

/// The page of what a query finds.
pub(super) async fn answered(
    org: &Org<IssuesRead>,
    state: &State,
    (jql, fallback): (&str, Fallback),
    (start, results): (u64, Option<u64>),
) -> Result<Json<IssueSearchAnswer>> {
    let limit = results.unwrap_or(RESULTS_DEFAULT);
    let found = search(&state.store, org.authority(), &Asked { jql, fallback, start, limit }).await?;
    Ok(Json(IssueSearchAnswer {
        issues: found.issues,
        total: found.total,
        total_is_at_least: i64::try_from(found.total).unwrap_or(i64::MAX) >= COUNTED_MAX,
        start_at: start,
        max_results: limit,
        scanned: found.total,
    }))
}

/// Search issues
///
/// By a query in Jira's language. What you may not browse is neither found nor counted.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/issues/search",
    responses((status = 400, description = "Field 'x' does not exist or you do not have permission to view it. (line 1, character 1)")))]
pub(crate) async fn issues_search(
    org: Org<IssuesRead>,
    body: Body<IssueSearchBody>,
    state: State,
) -> Result<Json<IssueSearchAnswer>> {
    found_in(&org, &state, &body).await
}

/// List issues
///
/// The same search, with its parameters in the address, whose line holds 64 KB: a longer query is `POST`ed.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/issues",
    responses((status = 400, description = "Field 'x' does not exist or you do not have permission to view it. (line 1, character 1)")))]
pub(crate) async fn issues_list(
    org: Org<IssuesRead>,
    query: Query<IssueSearchBody>,
    state: State,
) -> Result<Json<IssueSearchAnswer>> {
    found_in(&org, &state, &query).await
}

/// `?space=`.
#[derive(Deserialize, IntoParams)]
pub(crate) struct LabelsQuery {
    /// A space: its key or id, at most 64 characters; all where it isn't said.
    #[param(max_length = 64)]
    space: Option<String>,
}

impl RequestQuery for LabelsQuery {
    fn check(&self, problems: &mut Problems) {
        let fits = self.space.as_ref().is_none_or(|text| text.chars().count() <= NAME_LEN_MAX);
        problems.require(fits, "space", "Use at most 64 characters.");
    }
}

impl LabelsQuery {
    /// The spaces that are meant, of those that the caller sees.
    fn among(&self, seen: &Sight) -> domain::Result<Vec<SpaceId>> {
        let is_meant = |key: &str, id: SpaceId| match &self.space {
            Some(text) => text.eq_ignore_ascii_case(key) || *text == id.to_string(),
            None => true,
        };
        let spaces = seen.spaces.iter().map(|(space, _)| space).filter(|space| is_meant(&space.key, space.space_id));
        let spaces: Vec<SpaceId> = spaces.map(|space| space.space_id).collect();
        if self.space.is_some() && spaces.is_empty() {
            return Err(domain::Error::invalid("space", SPACE_NOT_FOUND));
        }
        Ok(spaces)
    }
}

/// Labels.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueLabelsAnswer {
    /// The most used first; at most 1,000.
    labels: Vec<String>,
}

/// The labels of issues
#[utoipa::path(get, path = "/v1/orgs/{orgId}/issues/labels")]
pub(crate) async fn issue_labels_list(
    org: Org<IssuesRead>,
    query: Query<LabelsQuery>,
    state: State,
) -> Result<Json<IssueLabelsAnswer>> {
    let seen = sight(&state.store, org.authority()).await?;
    let spaces = query.among(&seen)?;
    Ok(Json(IssueLabelsAnswer { labels: state.store.issue_labels(org.id(), &spaces, LABELS_LISTED_MAX as u64).await? }))
}

/// Issues whose links are asked for.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"issues": ["WEB-1", "WEB-2"]}))]
pub(crate) struct LinksAmong {
    /// Keys or ids, at most 500 of at most 64 characters. Those that can't be found are passed over.
    #[schema(max_items = 500)]
    issues: Vec<String>,
}

impl RequestBody for LinksAmong {
    fn check(&self, problems: &mut Problems) {
        problems.require(self.issues.len() <= LINKS_AMONG_MAX, "issues", "Use at most 500.");
        for (at, text) in self.issues.iter().enumerate().take(LINKS_AMONG_MAX) {
            let fits = text.chars().count() <= NAME_LEN_MAX;
            problems.require(fits, format!("issues[{at}]"), "Use at most 64 characters.");
        }
    }
}

/// A link between two issues (contract B 2.2).
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IssueLinkBody {
    link_id: String,
    type_id: String,
    /// What the first issue does to the other.
    label: String,
    from: String,
    to: String,
    from_key: String,
    to_key: String,
}

/// Links.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueLinksAnswer {
    /// The links, each once, from its outward side.
    links: Vec<IssueLinkBody>,
}

/// Links of which both ends are among these keys.
pub(super) fn link_bodies(
    settings: &domain::issues::settings::Settings,
    links: Vec<IssueLink>,
    keys: &HashMap<IssueId, String>,
) -> Vec<IssueLinkBody> {
    let body = |link: IssueLink| {
        let kind = settings.link_types.iter().find(|kind| kind.id == link.type_id);
        Some(IssueLinkBody {
            link_id: link.id.to_string(),
            label: kind.map_or_else(|| link.type_id.clone(), |kind| kind.outward.clone()),
            from: link.from.to_string(),
            to: link.to.to_string(),
            from_key: keys.get(&link.from)?.clone(),
            to_key: keys.get(&link.to)?.clone(),
            type_id: link.type_id,
        })
    };
    links.into_iter().filter_map(body).collect()
}

/// The links among some issues
#[utoipa::path(post, path = "/v1/orgs/{orgId}/issues/links/among")]
pub(crate) async fn issue_links_among(
    org: Org<IssuesRead>,
    body: Body<LinksAmong>,
    state: State,
) -> Result<Json<IssueLinksAnswer>> {
    let seen = sight(&state.store, org.authority()).await?;
    let named = state.store.issues_named(org.id(), &body.issues).await?;
    let issues = named.into_values().map(|stored| stored.issue).filter(|it| seen.space(it.space_id).is_some());
    let keys: HashMap<IssueId, String> = issues.map(|issue| (issue.issue_id, issue.key)).collect();
    let ids: Vec<IssueId> = keys.keys().copied().collect();
    let links = state.store.issue_links_among(org.id(), &ids).await?;
    let settings = state.store.issue_catalog(org.id()).await?.settings;
    Ok(Json(IssueLinksAnswer { links: link_bodies(&settings, links, &keys) }))
}
