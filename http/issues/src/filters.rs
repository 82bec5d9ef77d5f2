//! Saved filters (contract B 4.3).

use actors::issues::{ChangeFilter, CreateFilter, DeleteFilter, FilterPatch, StarFilter, SubscribeFilter, sight};
use domain::{
    Authority, Timestamp,
    issues::filter::{Frequency, Sharing, Subscription},
    problems::Problems,
};
use http_shell::{
    answer::{Created, Json},
    body::{Body, RequestBody},
    error::Result,
    org::Org,
    permission::IssuesRead,
    state::State,
    wire::nullable,
};
use serde::{Deserialize, Serialize};
use store::issues::FilterOf;
use utoipa::ToSchema;

use super::argument::FilterSeen;

/// The people who see a filter beside its owner.
#[derive(Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FilterSharingBody {
    /// The whole organization.
    org: bool,
    /// At most 50 teams.
    teams: Vec<String>,
    /// At most 200 people.
    users: Vec<String>,
}

impl From<Sharing> for FilterSharingBody {
    fn from(Sharing { org, teams, users }: Sharing) -> Self {
        Self { org, teams, users }
    }
}

impl From<FilterSharingBody> for Sharing {
    fn from(FilterSharingBody { org, teams, users }: FilterSharingBody) -> Self {
        Self { org, teams, users }
    }
}

/// When the caller is mailed what a filter finds.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FilterSubscriptionBody {
    user_id: String,
    /// `daily` or `weekly`.
    #[schema(value_type = String)]
    frequency: Frequency,
    /// In universal time.
    hour: i32,
    /// 0 is Sunday.
    #[serde(skip_serializing_if = "Option::is_none")]
    weekday: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_sent_at: Option<i64>,
}

/// A filter, as the caller has it.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IssueFilterBody {
    filter_id: String,
    name: String,
    description: String,
    jql: String,
    owner_id: String,
    sharing: FilterSharingBody,
    #[serde(skip_serializing_if = "Option::is_none")]
    columns: Option<Vec<String>>,
    /// The caller's own.
    subscriptions: Vec<FilterSubscriptionBody>,
    starred: bool,
    /// Whether the caller may change it.
    editable: bool,
    version: i64,
    updated_at: i64,
}

impl IssueFilterBody {
    fn new(found: FilterOf, authority: &Authority) -> Self {
        let FilterOf { filter, starred, subscription } = found;
        let editable = filter.is_editable_by(authority);
        let person = authority.on_behalf_of().map(|id| id.to_string()).unwrap_or_default();
        let subscribed = subscription.map(|it| FilterSubscriptionBody {
            user_id: person,
            frequency: it.frequency,
            hour: it.hour,
            weekday: it.weekday,
            last_sent_at: it.last_sent_at.map(Timestamp::as_millis),
        });
        Self {
            filter_id: filter.id.to_string(),
            name: filter.name,
            description: filter.description,
            jql: filter.jql,
            owner_id: filter.owner_id.to_string(),
            sharing: filter.sharing.into(),
            columns: filter.columns,
            subscriptions: subscribed.into_iter().collect(),
            starred,
            editable,
            version: filter.version,
            updated_at: filter.updated_at.as_millis(),
        }
    }
}

/// One filter.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueFilterAnswer {
    /// The filter.
    filter: IssueFilterBody,
}

impl IssueFilterAnswer {
    fn new(found: FilterOf, authority: &Authority) -> Self {
        Self { filter: IssueFilterBody::new(found, authority) }
    }
}

/// The filters.
#[derive(Serialize, ToSchema)]
pub(crate) struct IssueFiltersAnswer {
    /// The starred ones first, then by name.
    filters: Vec<IssueFilterBody>,
}

/// A filter that is gone.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct IssueFilterGone {
    filter_id: String,
}

/// A filter that is to be made.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"name": "Mine", "jql": "assignee = currentUser()"}))]
pub(crate) struct IssueFilterCreate {
    /// 1 to 100 characters.
    name: String,
    /// At most 10,000 characters.
    jql: String,
    /// At most 1,000 characters.
    #[serde(default)]
    description: String,
    /// Empty where nobody is said.
    sharing: Option<FilterSharingBody>,
    /// At most 30 of at most 64 characters.
    columns: Option<Vec<String>>,
}

impl RequestBody for IssueFilterCreate {}

/// What is to be changed of a filter.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"name": "Ours", "sharing": {"org": true, "teams": [], "users": []}}))]
pub(crate) struct IssueFilterPatch {
    /// 1 to 100 characters.
    name: Option<String>,
    /// At most 10,000 characters.
    jql: Option<String>,
    /// At most 1,000 characters.
    description: Option<String>,
    /// The others who see the filter.
    sharing: Option<FilterSharingBody>,
    /// At most 30 of at most 64 characters.
    columns: Option<Vec<String>>,
    /// The version that was seen.
    version: Option<i64>,
}

impl RequestBody for IssueFilterPatch {}

/// Whether a filter is starred.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"starred": true}))]
pub(crate) struct IssueFilterStar {
    starred: bool,
}

impl RequestBody for IssueFilterStar {}

/// When a filter's issues are mailed.
#[derive(Deserialize, ToSchema)]
pub(crate) struct FilterSubscriptionPut {
    /// `daily` or `weekly`.
    #[schema(value_type = String, example = "weekly")]
    frequency: Frequency,
    /// 0 to 23, in universal time.
    #[schema(minimum = 0, maximum = 23)]
    hour: i32,
    /// 0 to 6, 0 being Sunday; Monday where it isn't said.
    #[schema(minimum = 0, maximum = 6)]
    weekday: Option<i32>,
}

/// A subscription, or null for none.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"subscription": {"frequency": "weekly", "hour": 7}}))]
#[expect(clippy::option_option, reason = "null is said, and absent is an error")]
pub(crate) struct IssueFilterSubscribe {
    /// When; null stops it.
    #[serde(default, deserialize_with = "nullable")]
    #[schema(value_type = Option<FilterSubscriptionPut>)]
    subscription: Option<Option<FilterSubscriptionPut>>,
}

impl RequestBody for IssueFilterSubscribe {
    fn check(&self, problems: &mut Problems) {
        problems.require(self.subscription.is_some(), "subscription", "This field is required.");
    }
}

/// The filters that you own or that are shared with you
#[utoipa::path(get, path = "/v1/orgs/{orgId}/issues/filters")]
pub(crate) async fn issue_filters_list(org: Org<IssuesRead>, state: State) -> Result<Json<IssueFiltersAnswer>> {
    let authority = org.authority();
    let person = authority.on_behalf_of()?;
    let teams = sight(&state.store, authority).await?.teams;
    let all = state.store.issue_filters(org.id(), person).await?;
    let shown = all.into_iter().filter(|it| it.filter.is_shared_with(person, &teams));
    Ok(Json(IssueFiltersAnswer { filters: shown.map(|it| IssueFilterBody::new(it, authority)).collect() }))
}

/// Save a filter
///
/// A filter is private until it is shared.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/issues/filters", responses(
    (status = 400, description = "A person has at most 500 filters."),
))]
pub(crate) async fn issue_filter_create(
    org: Org<IssuesRead>,
    body: Body<IssueFilterCreate>,
    state: State,
) -> Result<Created<IssueFilterAnswer>> {
    let IssueFilterCreate { name, jql, description, sharing, columns } = body.into_inner();
    let sharing = sharing.map(Sharing::from).unwrap_or_default();
    let command = CreateFilter { name, description, jql, sharing, columns };
    let filter = state.actors.issue_catalog.ask(&org.id(), command, org.context()).await?;
    let made = FilterOf { filter, starred: false, subscription: None };
    Ok(Created(IssueFilterAnswer::new(made, org.authority())))
}

/// A filter
#[utoipa::path(get, path = "/v1/orgs/{orgId}/issues/filters/{filterId}")]
pub(crate) async fn issue_filter_get(of: FilterSeen<IssuesRead>) -> Result<Json<IssueFilterAnswer>> {
    Ok(Json(IssueFilterAnswer::new(of.found, of.org.authority())))
}

/// Change a filter
#[utoipa::path(patch, path = "/v1/orgs/{orgId}/issues/filters/{filterId}", responses(
    (status = 403, description = "Only its owner or an admin can change this filter."),
    (status = 409, description = "The filter changed. Load it again."),
))]
pub(crate) async fn issue_filter_patch(
    of: FilterSeen<IssuesRead>,
    body: Body<IssueFilterPatch>,
    state: State,
) -> Result<Json<IssueFilterAnswer>> {
    let IssueFilterPatch { name, jql, description, sharing, columns, version } = body.into_inner();
    let patch = FilterPatch { name, description, jql, sharing: sharing.map(Sharing::from), columns, version };
    let command = ChangeFilter { org_id: of.org.id(), patch };
    let changed = state.actors.issue_filter.ask(&of.found.filter.id, command, of.org.context()).await?;
    Ok(Json(IssueFilterAnswer::new(changed, of.org.authority())))
}

/// Delete a filter
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/issues/filters/{filterId}", responses(
    (status = 403, description = "Only its owner or an admin can change this filter."),
))]
pub(crate) async fn issue_filter_delete(of: FilterSeen<IssuesRead>, state: State) -> Result<Json<IssueFilterGone>> {
    let (id, command) = (of.found.filter.id, DeleteFilter { org_id: of.org.id() });
    state.actors.issue_filter.ask(&id, command, of.org.context()).await?;
    Ok(Json(IssueFilterGone { filter_id: id.to_string() }))
}

/// Star a filter
#[utoipa::path(post, path = "/v1/orgs/{orgId}/issues/filters/{filterId}/star")]
pub(crate) async fn issue_filter_star(
    of: FilterSeen<IssuesRead>,
    body: Body<IssueFilterStar>,
    state: State,
) -> Result<Json<IssueFilterAnswer>> {
    let command = StarFilter { org_id: of.org.id(), starred: body.starred };
    let found = state.actors.issue_filter.ask(&of.found.filter.id, command, of.org.context()).await?;
    Ok(Json(IssueFilterAnswer::new(found, of.org.authority())))
}

/// Subscribe to a filter
#[utoipa::path(put, path = "/v1/orgs/{orgId}/issues/filters/{filterId}/subscription")]
pub(crate) async fn issue_filter_subscribe(
    of: FilterSeen<IssuesRead>,
    body: Body<IssueFilterSubscribe>,
    state: State,
) -> Result<Json<IssueFilterAnswer>> {
    let wanted = body.into_inner().subscription.flatten();
    let subscription = wanted.map(|it| Subscription::read(it.frequency, it.hour, it.weekday)).transpose()?;
    let command = SubscribeFilter { org_id: of.org.id(), subscription };
    let found = state.actors.issue_filter.ask(&of.found.filter.id, command, of.org.context()).await?;
    Ok(Json(IssueFilterAnswer::new(found, of.org.authority())))
}
