//! Repositories: listing, making, reading, changing, deleting and restoring them.

use actors::{
    git::{ChangeRepository, CreateRepository, DeleteRepository, RestoreRepository, host::NewCommit},
    resources::{ChangeResource, CreateResource},
};
use domain::{
    Error, Timestamp,
    account::text_check,
    git::{
        AllowBy, BranchName, DESCRIPTION_LEN, REPOSITORY_NAME_LEN, RepositoryDraft, RepositoryName, RepositoryPatch,
        RepositorySettings, Visibility, repository_not_found,
        web::{README_MESSAGE, readme},
    },
    id::{OrgId, ResourceId},
    problems::{Problems, all},
    resource::account_number,
};
use http_shell::{
    answer::{Accepted, Created, Json, Object},
    body::{Body, RequestBody},
    error::Result,
    org::Org,
    paging::PageQuery,
    permission::{GitAdmin, GitRead, GitWrite},
    query::{Query, RequestQuery},
    repository::Repository,
    state::State,
};
use serde::{Deserialize, Serialize};
use store::git::{FirstCommit, ListedBy, RepositoryList, StoredRepository};
use utoipa::{IntoParams, ToSchema};

/// The name of the list in its cursors.
const LIST: &str = "repositories";

/// A repository.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "orgId": "org_01jd7rt4m5e9fv2w8x3c6k0hqz", "resourceId": "res_01jd7rt4m5e9fv2w8x3c6k0hqz", "type": "repository",
    "name": "web-app", "status": "active", "createdAt": 1_767_225_600_000_i64, "updatedAt": 1_767_225_600_000_i64,
    "createdBy": "usr_01jd7rt4m5e9fv2w8x3c6k0hqz", "location": "main", "region": "us-east-1",
    "arn": "arn:aws:codecommit:us-east-1:123456789012:web-app", "physicalName": "web-app-3c6k0hqz",
    "description": "What people see", "defaultBranch": "main", "visibility": "organization",
    "secretScan": {"allowBy": "write"},
    "cloneUrl": "https://troupe.example.com/git/acme/web-app.git", "sizeBytes": 11_500_000, "lfsBytes": 0,
    "openPulls": 3, "pushedAt": 1_767_225_600_000_i64
}))]
pub(crate) struct RepositoryBody {
    /// The organization's id.
    org_id: String,
    /// The repository's id, which stays when its name changes.
    resource_id: String,
    /// `repository`.
    #[serde(rename = "type")]
    resource_type: &'static str,
    /// What it is called; no two of an organization have one name, regardless of case.
    name: String,
    /// `active`, `deleting`, `creating` or `error`.
    status: &'static str,
    /// When it was made.
    created_at: i64,
    /// When its name, status or settings last changed.
    updated_at: i64,
    /// The person who made it, or who made the key that did.
    created_by: String,
    /// The project that it is attached to.
    #[serde(skip_serializing_if = "Option::is_none")]
    project_id: Option<String>,
    /// Where it is kept.
    location: String,
    /// The region that it says it is in.
    region: String,
    /// The repository's name in Amazon's form.
    arn: String,
    /// A name that no other organization's repository has.
    physical_name: String,
    /// What it is for; may be empty.
    description: String,
    /// The branch that a clone begins with.
    default_branch: String,
    /// `organization`, for everybody with the permission, or `restricted`, for whom it was granted to.
    visibility: &'static str,
    /// What holds for secrets in what is pushed, committed and merged.
    secret_scan: SecretScanBody,
    /// What `git clone` takes.
    clone_url: String,
    /// Bytes of its objects, as they are kept.
    size_bytes: u64,
    /// Bytes of its large files, which Git LFS keeps.
    lfs_bytes: u64,
    /// How many pull requests are open.
    open_pulls: u64,
    /// When somebody last pushed to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pushed_at: Option<i64>,
    /// Until when it can be restored, where it is deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    purge_at: Option<i64>,
}

/// What holds for secrets in what a repository is to take.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SecretScanBody {
    /// What access to the repository it takes to allow one: `write` or `admin`.
    allow_by: &'static str,
}

impl RepositoryBody {
    /// The repository, which is cloned from below `git_url`.
    fn new(repository: StoredRepository, open_pulls: u64, git_url: &str) -> Self {
        let StoredRepository { resource, settings, size, lfs_size, pushed_at, purge_at, .. } = repository;
        let account = account_number(resource.org_id);
        Self {
            org_id: resource.org_id.to_string(),
            resource_id: resource.id.to_string(),
            resource_type: resource.resource_type.as_str(),
            arn: format!("arn:aws:codecommit:{}:{account}:{}", resource.region, resource.name),
            clone_url: format!("{git_url}/{}.git", resource.name),
            name: resource.name,
            status: resource.status.as_str(),
            created_at: resource.created_at.as_millis(),
            updated_at: resource.updated_at.as_millis(),
            created_by: resource.created_by.to_string(),
            project_id: resource.project_id.map(|id| id.to_string()),
            location: resource.location,
            region: resource.region,
            physical_name: resource.physical_name,
            description: settings.description,
            default_branch: settings.default_branch.as_str().to_owned(),
            visibility: settings.visibility.as_str(),
            secret_scan: SecretScanBody { allow_by: settings.allow_secrets_by.as_str() },
            size_bytes: size,
            lfs_bytes: lfs_size,
            open_pulls,
            pushed_at: pushed_at.map(Timestamp::as_millis),
            purge_at: purge_at.map(Timestamp::as_millis),
        }
    }
}

/// What the addresses begin with from which an organization's repositories are cloned.
async fn git_url(state: &State, org_id: OrgId) -> Result<String> {
    let organization = state.store.organization(org_id).await?.ok_or_else(repository_not_found)?;
    Ok(format!("{}/git/{}", state.options.public_url, organization.slug))
}

/// One repository.
#[derive(Serialize, ToSchema)]
pub(crate) struct RepositoryAnswer {
    /// The repository as it is now.
    repository: RepositoryBody,
}

impl RepositoryAnswer {
    async fn read(state: &State, org_id: OrgId, id: ResourceId) -> Result<Self> {
        let repository = state.store.repository(org_id, id).await?.ok_or_else(repository_not_found)?;
        Self::of(state, repository).await
    }

    async fn of(state: &State, repository: StoredRepository) -> Result<Self> {
        let git_url = git_url(state, repository.resource.org_id).await?;
        let open_pulls = state.store.open_pull_counts(&[repository.no]).await?.into_values().sum();
        Ok(Self { repository: RepositoryBody::new(repository, open_pulls, &git_url) })
    }
}

/// `?q=&cursor=&limit=`.
#[derive(Deserialize, IntoParams)]
pub(crate) struct RepositoriesQuery {
    /// What is part of the name, regardless of case: 1 to 100 characters.
    #[param(min_length = 1, max_length = 100)]
    q: Option<String>,
    /// Where the page starts: the `cursor` of the page before it.
    cursor: Option<String>,
    /// Entries of the page, 1 to 100; 50 by default.
    #[param(minimum = 1, maximum = 100, default = 50)]
    limit: Option<u64>,
}

impl RequestQuery for RepositoriesQuery {
    fn check(&self, problems: &mut Problems) {
        let fits = self.q.as_ref().is_none_or(|q| REPOSITORY_NAME_LEN.contains(&q.chars().count()));
        problems.require(fits, "q", "Use 1 to 100 characters.");
        PageQuery { cursor: None, limit: self.limit }.check(problems);
    }
}

/// A page of the repositories.
#[derive(Serialize, ToSchema)]
pub(crate) struct RepositoriesAnswer {
    /// The oldest first.
    repositories: Vec<RepositoryBody>,
    /// For the next page; null on the last one.
    cursor: Option<String>,
}

/// The repositories
///
/// The repositories in which you have a part; deleted ones among them, for as long as they can be restored.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos", responses((status = 400, description = "Invalid cursor")))]
pub(crate) async fn repositories_list(
    org: Org<GitRead>,
    query: Query<RepositoriesQuery>,
    state: State,
) -> Result<Json<RepositoriesAnswer>> {
    let page = PageQuery { cursor: query.cursor.clone(), limit: query.limit }.page::<ResourceId>(LIST)?;
    let authority = org.authority();
    let by =
        if authority.runs_organization() { ListedBy::Everyone } else { ListedBy::Member(authority.on_behalf_of()?) };
    let list =
        RepositoryList { org_id: org.id(), by, part: query.q.as_deref(), after: page.after, limit: page.read_limit() };
    let found = state.store.repositories(list).await?;
    let (found, cursor) = page.cut(found, StoredRepository::id);
    let git_url = git_url(&state, org.id()).await?;
    let numbers: Vec<_> = found.iter().map(|repository| repository.no).collect();
    let pulls = state.store.open_pull_counts(&numbers).await?;
    let repositories = found.into_iter().map(|repository| {
        let open_pulls = pulls.get(&repository.no).copied().unwrap_or_default();
        RepositoryBody::new(repository, open_pulls, &git_url)
    });
    let repositories = repositories.collect();
    Ok(Json(RepositoriesAnswer { repositories, cursor }))
}

fn visibility(asked: Option<&str>) -> domain::Result<Option<Visibility>> {
    let known = |text: &str| {
        Visibility::from_name(text).ok_or_else(|| Error::invalid("visibility", "Use one of: organization, restricted."))
    };
    asked.map(known).transpose()
}

fn description(asked: Option<&str>) -> domain::Result<Option<String>> {
    asked.map(|text| text_check("description", text, &DESCRIPTION_LEN)).transpose()
}

fn default_branch(asked: Option<&str>) -> domain::Result<Option<BranchName>> {
    asked.map(|text| BranchName::parse("defaultBranch", text)).transpose()
}

/// A new repository.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"name": "web-app", "description": "What people see", "visibility": "organization"}))]
pub(crate) struct RepositoryCreate {
    /// 1 to 100 letters, digits, `.`, `_` and `-`; it doesn't begin with `.` or `-`, nor end with `.git` or `.lock`.
    name: String,
    /// What it is for: up to 500 characters.
    description: Option<String>,
    /// The branch that a clone begins with; `main` where it isn't said.
    default_branch: Option<String>,
    /// `organization`, which holds where it isn't said, or `restricted`.
    visibility: Option<String>,
    /// Whether the default branch begins with a commit of yours, which has a `README.md` of the name and the description.
    readme: Option<bool>,
}

impl RequestBody for RepositoryCreate {}

impl RepositoryCreate {
    fn read(&self) -> domain::Result<RepositoryDraft> {
        let (name, description, default_branch, visibility) = all((
            RepositoryName::parse("name", &self.name),
            description(self.description.as_deref()),
            default_branch(self.default_branch.as_deref()),
            visibility(self.visibility.as_deref()),
        ))?;
        let settings = RepositorySettings {
            description: description.unwrap_or_default(),
            default_branch: default_branch.unwrap_or_default(),
            visibility: visibility.unwrap_or(Visibility::Organization),
            allow_secrets_by: AllowBy::Write,
        };
        Ok(RepositoryDraft { name, settings })
    }
}

/// Make a repository
///
/// A new repository is empty, unless it is to begin with a `README.md`. In a restricted one, whoever makes it has `admin` access.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/repos", responses(
    (status = 400, description = "An organization has at most 10000 repositories."),
    (status = 409, description = "A repository with this name already exists."),
))]
pub(crate) async fn repository_create(
    org: Org<GitWrite>,
    body: Body<RepositoryCreate>,
    state: State,
) -> Result<Created<RepositoryAnswer>> {
    let body = body.into_inner();
    let draft = body.read()?;
    let first = if body.readme == Some(true) { Some(first_commit(&state, &org, &draft).await?) } else { None };
    let command = CreateResource(CreateRepository { draft, first: first.clone() });
    let made = state.actors.resource_book.ask(&org.id(), command, org.context()).await;
    if let Some(first) = &first
        && made.is_err()
        && let Err(error) = state.store.repository_pack_abandon(&first.pack).await
    {
        tracing::warn!(%error, "the pack of a repository that wasn't made could not be deleted yet");
    }
    Ok(Created(RepositoryAnswer::read(&state, org.id(), made?.id).await?))
}

/// A commit of the caller's with a `README.md`, which no repository names yet.
async fn first_commit(state: &State, org: &Org<GitWrite>, draft: &RepositoryDraft) -> Result<FirstCommit> {
    let user_id = org.authority().on_behalf_of()?;
    let person = state.store.person(user_id).await?.ok_or(Error::Unauthenticated)?;
    let edits = [readme(draft)?];
    let commit = NewCommit {
        parent: None,
        name: &person.name,
        email: person.email.as_str(),
        at: state.store.now(),
        message: README_MESSAGE,
        edits: &edits,
        uploaded: &[],
        org_id: org.id(),
    };
    Ok(state.git.first_commit(commit, &org.context()).await?)
}

/// A repository
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}")]
pub(crate) async fn repository_get(repository: Repository<GitRead>, state: State) -> Result<Object<RepositoryAnswer>> {
    Ok(Object(RepositoryAnswer::of(&state, repository.stored).await?))
}

/// What is to be changed of a repository; what isn't named stays.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"name": "web", "visibility": "restricted"}))]
pub(crate) struct RepositoryPatchBody {
    /// Another name.
    name: Option<String>,
    /// What it is for: up to 500 characters.
    description: Option<String>,
    /// The branch that a clone begins with.
    default_branch: Option<String>,
    /// `organization` or `restricted`.
    visibility: Option<String>,
    /// What holds for secrets in what is pushed, committed and merged.
    secret_scan: Option<SecretScanPatch>,
}

/// What is to be changed of what holds for secrets.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SecretScanPatch {
    /// What access to the repository it takes to allow one: `write` or `admin`.
    allow_by: Option<String>,
}

impl SecretScanPatch {
    fn allow_by(&self) -> domain::Result<Option<AllowBy>> {
        let known = |text: &String| {
            AllowBy::from_name(text).ok_or_else(|| Error::invalid("secretScan.allowBy", "Use one of: write, admin."))
        };
        self.allow_by.as_ref().map(known).transpose()
    }
}

impl RequestBody for RepositoryPatchBody {}

impl RepositoryPatchBody {
    fn read(&self) -> domain::Result<RepositoryPatch> {
        let name = self.name.as_deref().map(|name| RepositoryName::parse("name", name)).transpose();
        let (name, description, default_branch, visibility, allow_secrets_by) = all((
            name,
            description(self.description.as_deref()),
            default_branch(self.default_branch.as_deref()),
            visibility(self.visibility.as_deref()),
            self.secret_scan.as_ref().map_or(Ok(None), SecretScanPatch::allow_by),
        ))?;
        Ok(RepositoryPatch { name, description, default_branch, visibility, allow_secrets_by })
    }
}

/// Change a repository
///
/// The name, the settings, and who has a part in it. Whoever restricts it keeps `admin` access.
#[utoipa::path(patch, path = "/v1/orgs/{orgId}/repos/{name}", responses(
    (status = 400, description = "A repository has at most 100 grants."),
    (status = 409, description =
        "A repository with this name already exists.\n\nThis repository is deleted. Restore it first."),
))]
pub(crate) async fn repository_patch(
    repository: Repository<GitAdmin>,
    body: Body<RepositoryPatchBody>,
    state: State,
) -> Result<Json<RepositoryAnswer>> {
    let patch = body.into_inner().read()?;
    let (org_id, id) = (repository.org_id(), repository.stored.id());
    let by = repository.org().authority().on_behalf_of()?;
    let command = ChangeResource(ChangeRepository { id, patch, by });
    state.actors.resource_book.ask(&org_id, command, repository.context()).await?;
    Ok(Json(RepositoryAnswer::read(&state, org_id, id).await?))
}

/// Delete a repository
///
/// The repository stays as it is, can be restored for seven days, and keeps its name for as long.
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/repos/{name}", responses(
    (status = 409, description = "This repository is deleted. Restore it first."),
))]
pub(crate) async fn repository_delete(
    repository: Repository<GitAdmin>,
    state: State,
) -> Result<Accepted<RepositoryAnswer>> {
    let (org_id, id) = (repository.org_id(), repository.stored.id());
    let command = ChangeResource(DeleteRepository(id));
    state.actors.resource_book.ask(&org_id, command, repository.context()).await?;
    Ok(Accepted(RepositoryAnswer::read(&state, org_id, id).await?))
}

/// Restore a deleted repository
///
/// Within seven days of its deletion; it is as it was.
#[utoipa::path(post, path = "/v1/orgs/{orgId}/repos/{name}/restore", responses(
    (status = 409, description = "This repository isn't deleted."),
))]
pub(crate) async fn repository_restore(
    repository: Repository<GitAdmin>,
    state: State,
) -> Result<Json<RepositoryAnswer>> {
    let (org_id, id) = (repository.org_id(), repository.stored.id());
    let command = ChangeResource(RestoreRepository(id));
    state.actors.resource_book.ask(&org_id, command, repository.context()).await?;
    Ok(Json(RepositoryAnswer::read(&state, org_id, id).await?))
}
