//! Filters of a mailbox: listing, making, changing, ordering and deleting them.

use actors::mail::{FilterCreate, FilterDelete, FilterUpdate, FiltersOrder};
use domain::{
    Error,
    calendar::zone_named,
    id::{MailFilterId, MailLabelId, MailboxId},
    mail::{
        FilterActions, MailBox, MailCategory, MailFilter, Mailbox, filter_actions_check, filter_name_check,
        filter_query_check, forward_check, no_filter, no_label,
    },
    notify::Zone,
    problems::all,
};
use http_shell::{
    answer::{Created, Json, NoContent},
    body::{Body, RequestBody},
    error::Result,
    mailbox::MailPerson,
    owned::Owned,
    path::Path,
    state::State,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a filter does with the messages that it finds.
#[derive(Debug, Default, Clone, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
#[schema(example = json!({"label": "lbl_01jd7rt4m5e9fv2w8x3c6k0hqz", "box": "archive", "read": true}))]
pub(crate) struct FilterActionsBody {
    /// The label that the conversation gets.
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    /// Where the message goes: `inbox`, `archive`, `spam` or `trash`. Spam only goes to the trash, unless `neverSpam` is said.
    #[serde(rename = "box", skip_serializing_if = "Option::is_none")]
    place: Option<String>,
    /// Whether the message is read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    read: bool,
    /// Whether the message gets a star.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    star: bool,
    /// The category of the message: `primary`, `transactions`, `updates` or `promotions`.
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<String>,
    /// Whether the message is kept out of spam.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    never_spam: bool,
    /// The address to which the message is passed on as it arrives: one of a mailbox or of a member of the organization.
    #[serde(skip_serializing_if = "Option::is_none")]
    forward: Option<String>,
}

impl From<FilterActions> for FilterActionsBody {
    fn from(it: FilterActions) -> Self {
        Self {
            label: it.label.map(|id| id.to_string()),
            place: it.place.map(|place| place.as_str().to_owned()),
            read: it.read,
            star: it.star,
            category: it.category.map(|category| category.as_str().to_owned()),
            never_spam: it.never_spam,
            forward: it.forward,
        }
    }
}

impl FilterActionsBody {
    /// What is done; 404 for a label that is none, 400 for what can't be done.
    pub(crate) fn checked(&self) -> domain::Result<FilterActions> {
        let label = self.label.as_deref().map(|id| id.parse::<MailLabelId>().map_err(|_| no_label())).transpose();
        let no_place = || Error::invalid("actions.box", "Choose inbox, archive, spam or trash.");
        let place = self.place.as_deref().map(|name| MailBox::from_name(name).ok_or_else(no_place)).transpose();
        let choices = "Choose primary, transactions, updates or promotions.";
        let no_category = || Error::invalid("actions.category", choices);
        let category = self.category.as_deref().map(|name| MailCategory::from_name(name).ok_or_else(no_category));
        let forward = self.forward.as_deref().map(|address| forward_check("actions.forward", address)).transpose();
        let (place, category, forward) = all((place, category.transpose(), forward))?;
        let (read, star, never_spam) = (self.read, self.star, self.never_spam);
        let label = label?;
        filter_actions_check("actions", FilterActions { label, place, read, star, category, never_spam, forward })
    }
}

/// A filter of a mailbox.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "filterId": "flt_01jd7rt4m5e9fv2w8x3c6k0hqz", "name": "Bills", "query": "from:billing has:attachment",
    "actions": {"label": "lbl_01jd7rt4m5e9fv2w8x3c6k0hqz", "box": "archive"}, "createdAt": 1_767_225_600_000_i64
}))]
pub(crate) struct MailFilterBody {
    /// The filter's id.
    filter_id: String,
    /// What it is called; may be empty.
    name: String,
    /// The messages that it finds, as search has it.
    query: String,
    /// What is done with them.
    actions: FilterActionsBody,
    /// When it was made.
    created_at: i64,
}

impl From<MailFilter> for MailFilterBody {
    fn from(it: MailFilter) -> Self {
        Self {
            filter_id: it.id.to_string(),
            name: it.name,
            query: it.query,
            actions: it.actions.into(),
            created_at: it.created_at.0,
        }
    }
}

/// Filters of a mailbox.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MailFiltersAnswer {
    /// In the order in which they hold.
    filters: Vec<MailFilterBody>,
}

/// A filter of a mailbox.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct MailFilterAnswer {
    /// The filter.
    filter: MailFilterBody,
}

/// Where the person's days are days.
pub(crate) async fn zone_of(state: &State, person: &MailPerson) -> domain::Result<Zone> {
    let found = state.store.person(person.user_id()).await?.and_then(|it| it.time_zone);
    Ok(found.and_then(|name| zone_named(&name)).unwrap_or_default())
}

/// The filters of a mailbox
///
/// In the order in which they hold for each message that arrives: all that find it do what they say, one after the other.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/filters")]
pub(crate) async fn mail_filters_list(
    _person: MailPerson,
    mailbox: Owned<Mailbox>,
    state: State,
) -> Result<Json<MailFiltersAnswer>> {
    let filters = state.store.mail_filters(mailbox.id).await?;
    Ok(Json(MailFiltersAnswer { filters: filters.into_iter().map(Into::into).collect() }))
}

/// A new filter.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"name": "News", "query": "list:news", "actions": {"box": "archive", "read": true}}))]
pub(crate) struct MailFilterCreateBody {
    /// What it is called: up to 100 characters.
    #[serde(default)]
    name: String,
    /// The messages that it finds, as search has it: 1 to 500 characters. Days are the caller's.
    query: String,
    /// What is done with them.
    actions: FilterActionsBody,
}

impl RequestBody for MailFilterCreateBody {}

/// Make a filter
///
/// The filter holds for what arrives from then on. `apply` has it hold for what is there.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/filters", responses(
    (status = 400, description = "A mailbox has at most 200 filters.\n\nForward to a mailbox or a member of the organization."),
    (status = 404, description = "Label not found")))]
pub(crate) async fn mail_filter_create(
    person: MailPerson,
    mailbox_id: Path<MailboxId>,
    body: Body<MailFilterCreateBody>,
    state: State,
) -> Result<Created<MailFilterAnswer>> {
    let zone = zone_of(&state, &person).await?;
    let (name, query, actions) = all((
        filter_name_check("name", &body.name),
        filter_query_check("query", &body.query, &zone, state.store.now()),
        body.actions.checked(),
    ))?;
    let command = FilterCreate { org_id: person.id(), name, query, zone: zone.name().to_owned(), actions };
    let made = state.actors.mailbox.ask(&mailbox_id, command, person.context()).await?;
    Ok(Created(MailFilterAnswer { filter: made.into() }))
}

/// What to change of a filter; what is absent stays as it is.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({"name": "Newsletters"}))]
pub(crate) struct MailFilterPatchBody {
    /// What it is called: up to 100 characters.
    name: Option<String>,
    /// The messages that it finds: 1 to 500 characters.
    query: Option<String>,
    /// All that is done with them.
    actions: Option<FilterActionsBody>,
}

impl RequestBody for MailFilterPatchBody {}

/// Change a filter
#[utoipa::path(patch, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/filters/{mailFilterId}", responses(
    (status = 400, description = "Forward to a mailbox or a member of the organization."),
    (status = 404, description = "Label not found"),
    (status = 409, description = "This filter is being applied already.")))]
pub(crate) async fn mail_filter_patch(
    person: MailPerson,
    mailbox_id: Path<MailboxId>,
    id: Path<MailFilterId>,
    body: Body<MailFilterPatchBody>,
    state: State,
) -> Result<Json<MailFilterAnswer>> {
    let (zone, now) = (zone_of(&state, &person).await?, state.store.now());
    let (name, query, actions) = all((
        body.name.as_deref().map(|name| filter_name_check("name", name)).transpose(),
        body.query.as_deref().map(|query| filter_query_check("query", query, &zone, now)).transpose(),
        body.actions.as_ref().map(FilterActionsBody::checked).transpose(),
    ))?;
    let query = query.map(|query| (query, zone.name().to_owned()));
    let command = FilterUpdate { org_id: person.id(), id: *id, name, query, actions };
    let changed = state.actors.mailbox.ask(&mailbox_id, command, person.context()).await?;
    Ok(Json(MailFilterAnswer { filter: changed.into() }))
}

/// Delete a filter
///
/// What it did stays.
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/filters/{mailFilterId}")]
pub(crate) async fn mail_filter_delete(
    person: MailPerson,
    mailbox_id: Path<MailboxId>,
    id: Path<MailFilterId>,
    state: State,
) -> Result<NoContent> {
    let command = FilterDelete { org_id: person.id(), id: *id };
    state.actors.mailbox.ask(&mailbox_id, command, person.context()).await?;
    Ok(NoContent)
}

/// The order of filters.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"filterIds": ["flt_01jd7rt4m5e9fv2w8x3c6k0hqz"]}))]
pub(crate) struct MailFiltersOrderBody {
    /// All filters of the mailbox, each once.
    filter_ids: Vec<String>,
}

impl RequestBody for MailFiltersOrderBody {}

/// Order the filters
#[utoipa::path(put, path = "/v1/orgs/{orgId}/mail/mailboxes/{mailboxId}/filters/order", responses(
    (status = 404, description = "Filter not found")))]
pub(crate) async fn mail_filters_order(
    person: MailPerson,
    body: Body<MailFiltersOrderBody>,
    mailbox: Owned<Mailbox>,
    state: State,
) -> Result<Json<MailFiltersAnswer>> {
    let ids = body.filter_ids.iter().map(|id| id.parse::<MailFilterId>().map_err(|_| no_filter()));
    let command = FiltersOrder { org_id: person.id(), ids: ids.collect::<domain::Result<_>>()? };
    state.actors.mailbox.ask(&mailbox.id, command, person.context()).await?;
    let filters = state.store.mail_filters(mailbox.id).await?;
    Ok(Json(MailFiltersAnswer { filters: filters.into_iter().map(Into::into).collect() }))
}
