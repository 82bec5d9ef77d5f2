//! Organizations.

use actors::organization::{ChangeOrganization, CreateOrganization, DeleteOrganization};
use domain::{
    Caller, Error, Role, Slug,
    account::name_check,
    id::{OrgId, UserId},
    problems::all,
};
use http_shell::{
    answer::{Created, Json, Object},
    body::{Body, RequestBody},
    caller::{AnyCaller, Person},
    error::Result,
    org::Org,
    owned::Owned,
    paging::PageQuery,
    permission::{OrgRead, OrgWrite, Part},
    query::Query,
    state::State,
    wire::Done,
};
use serde::{Deserialize, Serialize};
use store::accounts::Organization;
use utoipa::ToSchema;

/// The name of the list in its cursors.
const LIST: &str = "organizations";

/// An organization.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "orgId": "org_01jd7rt4m5e9fv2w8x3c6k0hqz", "name": "Acme", "slug": "acme", "kind": "customer", "role": "owner",
    "createdAt": 1_767_225_600_000_i64, "updatedAt": 1_767_225_600_000_i64
}))]
pub(crate) struct OrgBody {
    /// The organization's id.
    org_id: String,
    /// What it is called.
    name: String,
    /// The last part of its addresses.
    slug: String,
    /// `customer`, or `platform` for the one that runs this server.
    kind: &'static str,
    /// What the person who asks, or who made the key that asks, is in it: `viewer`, `developer`, `admin` or `owner`.
    role: &'static str,
    /// Since when it exists.
    created_at: i64,
    /// When its name or slug last changed.
    updated_at: i64,
}

impl OrgBody {
    /// The organization as somebody with this role sees it.
    pub(crate) fn new(organization: Organization, role: Role) -> Self {
        Self {
            org_id: organization.id.to_string(),
            name: organization.name,
            slug: organization.slug.as_str().to_owned(),
            kind: organization.kind.as_str(),
            role: role.as_str(),
            created_at: organization.created_at.as_millis(),
            updated_at: organization.updated_at.as_millis(),
        }
    }
}

/// One organization.
#[derive(Serialize, ToSchema)]
pub(crate) struct OrgAnswer {
    /// The organization.
    org: OrgBody,
}

/// The organizations that the caller has a part in.
#[derive(Serialize, ToSchema)]
pub(crate) struct OrgsAnswer {
    /// The oldest first.
    orgs: Vec<OrgBody>,
    /// For the next page; null on the last one.
    cursor: Option<String>,
}

/// Your organizations
///
/// A key has a part in its own only.
#[utoipa::path(get, path = "/v1/orgs", responses((status = 400, description = "Invalid cursor")))]
pub(crate) async fn orgs_list(caller: AnyCaller, query: Query<PageQuery>, state: State) -> Result<Json<OrgsAnswer>> {
    let page = query.page::<OrgId>(LIST)?;
    let (user_id, only): (UserId, Option<OrgId>) = match caller.caller() {
        Caller::Person(person) => (person.user_id, None),
        Caller::Key(key) => (key.maker, Some(key.org_id)),
        Caller::AccessKey(key) => (key.maker, Some(key.org_id)),
        Caller::Job(_) | Caller::AppPassword(_) | Caller::Nobody | Caller::System => {
            return Err(Error::Unauthenticated.into());
        }
    };
    let found = match only {
        None => state.store.memberships(user_id, page.after, page.read_limit()).await?,
        Some(org_id) => own(&state, org_id, user_id).await?,
    };
    let (found, cursor) = page.cut(found, |(organization, _)| organization.id);
    let orgs = found.into_iter().map(|(organization, role)| OrgBody::new(organization, role)).collect();
    Ok(Json(OrgsAnswer { orgs, cursor }))
}

/// The organization of a key, with the role of its maker.
async fn own(state: &State, org_id: OrgId, maker: UserId) -> Result<Vec<(Organization, Role)>> {
    let organization = state.store.organization(org_id).await?;
    let membership = state.store.membership(org_id, maker).await?;
    Ok(organization.zip(membership.map(|membership| membership.role)).into_iter().collect())
}

/// A new organization.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"name": "Acme", "slug": "acme"}))]
pub(crate) struct OrgCreate {
    /// What it is called: 1 to 80 characters.
    name: String,
    /// 2 to 40 lower-case letters and digits, with single hyphens between them; made of the name when it is absent.
    slug: Option<String>,
}

impl RequestBody for OrgCreate {}

/// Make an organization
///
/// The person who asks owns it. One person owns at most 50.
#[utoipa::path(post, path = "/v1/orgs", responses(
    (status = 400, description = "One person owns at most 50 organizations."),
    (status = 409, description = "Another organization has this slug."),
))]
pub(crate) async fn org_create(person: Person, body: Body<OrgCreate>, state: State) -> Result<Created<OrgAnswer>> {
    let body = body.into_inner();
    let slug = body.slug.map(|text| Slug::parse(&text)).transpose();
    let (name, slug) = all((name_check("name", &body.name), slug))?;
    let id = OrgId::new(state.store.now());
    let command = CreateOrganization { name, slug, owner: person.user_id() };
    let made = state.actors.organization.ask(&id, command, person.context()).await?;
    Ok(Created(OrgAnswer { org: OrgBody::new(made, Role::Owner) }))
}

/// An organization
#[utoipa::path(get, path = "/v1/orgs/{orgId}")]
pub(crate) async fn org_get(org: Org<OrgRead>, Owned(organization): Owned<Organization>) -> Result<Object<OrgAnswer>> {
    Ok(Object(OrgAnswer { org: OrgBody::new(organization, org.role()) }))
}

/// What to change; what is absent stays as it is.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"name": "Acme & Sons"}))]
pub(crate) struct OrgPatch {
    /// What it is called: 1 to 80 characters.
    name: Option<String>,
    /// 2 to 40 lower-case letters and digits, with single hyphens between them.
    slug: Option<String>,
}

impl RequestBody for OrgPatch {}

/// Change an organization
#[utoipa::path(patch, path = "/v1/orgs/{orgId}", responses(
    (status = 409, description = "Another organization has this slug.")
))]
pub(crate) async fn org_patch(org: Org<OrgWrite>, body: Body<OrgPatch>, state: State) -> Result<Json<OrgAnswer>> {
    let body = body.into_inner();
    let (name, slug) = all((
        body.name.map(|text| name_check("name", &text)).transpose(),
        body.slug.map(|text| Slug::parse(&text)).transpose(),
    ))?;
    let changed = state.actors.organization.ask(&org.id(), ChangeOrganization { name, slug }, org.context()).await?;
    Ok(Json(OrgAnswer { org: OrgBody::new(changed, org.role()) }))
}

/// Delete an organization
///
/// With its members, invitations, teams and keys. For owners; one who has a second factor must have shown it within the
/// last ten minutes.
#[utoipa::path(delete, path = "/v1/orgs/{orgId}", responses(
    (status = 403, description = "Only an owner deletes an organization.\n\nConfirm with your second factor first."),
    (status = 409, description = "The platform's own organization stays."),
))]
pub(crate) async fn org_delete(org: Org<Part>, state: State) -> Result<Json<Done>> {
    state.actors.organization.ask(&org.id(), DeleteOrganization, org.context()).await?;
    Ok(Json(Done::new()))
}
