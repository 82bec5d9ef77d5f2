//! Branches and tags (contract C 4.3).

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
    fmt,
    str::FromStr,
};

use actors::git::{CreateBranch, DeleteBranch, DeleteTag, Rename, RenameBranch, host::tips};
use domain::{
    Error,
    git::{
        BRANCH_NAME_LEN, BranchName, ObjectId, REVISION_LEN, RefKind, branch_among, branch_named,
        objects::{Commit, DIVERGENCE_NAMES_MAX},
        repository_empty, tag_named,
        wire::Listing,
    },
    problems::{Problems, all},
};
use http_shell::{
    answer::{Created, Json},
    argument::Argument,
    body::{Body, RequestBody},
    call::Call,
    cursor,
    error::Result,
    facts::Facts,
    permission::{GitRead, GitWrite},
    query::{Query, RequestQuery},
    repository::Repository,
    state::State,
};
use serde::{Deserialize, Serialize};
use utoipa::{
    IntoParams, PartialSchema, ToSchema,
    openapi::schema::{Object, ObjectBuilder, Type},
};

use super::commits::CommitBody;

/// Branches or tags of one answer.
const LISTED_MAX: usize = 1_000;

/// `?q=&cursor=`.
#[derive(Deserialize, IntoParams)]
pub(crate) struct RefsQuery {
    /// What is part of the name, regardless of case: 1 to 256 characters.
    #[param(min_length = 1, max_length = 256)]
    q: Option<String>,
    /// Where the page starts: the `cursor` of the page before it.
    cursor: Option<String>,
}

impl RequestQuery for RefsQuery {
    fn check(&self, problems: &mut Problems) {
        let fits = self.q.as_ref().is_none_or(|q| BRANCH_NAME_LEN.contains(&q.chars().count()));
        problems.require(fits, "q", "Use 1 to 256 characters.");
    }
}

/// A branch or a tag among those that are listed, and the commit that it ends at.
struct Listed {
    name: String,
    listing: Listing,
    commit: Commit,
    is_default: bool,
}

/// Where one stands in a list: the default branch first, then the newest commit.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Position {
    is_other: bool,
    newest: Reverse<i64>,
    name: String,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", u8::from(self.is_other), self.newest.0, self.name)
    }
}

impl FromStr for Position {
    type Err = ();

    fn from_str(text: &str) -> std::result::Result<Self, ()> {
        let mut parts = text.splitn(3, ' ');
        let (is_other, newest, name) = (parts.next().ok_or(())?, parts.next().ok_or(())?, parts.next().ok_or(())?);
        Ok(Self { is_other: is_other == "1", newest: Reverse(newest.parse().map_err(|_| ())?), name: name.to_owned() })
    }
}

impl Listed {
    fn position(&self) -> Position {
        let newest = self.commit.committer.at.map_or(i64::MIN, |at| at.0);
        Position { is_other: !self.is_default, newest: Reverse(newest), name: self.name.clone() }
    }
}

/// A page of the branches or of the tags; what names no commit is left out.
async fn page_of(
    (state, repository): (&State, &Repository<GitRead>),
    (kind, list): (RefKind, &str),
    query: &RefsQuery,
) -> Result<(Vec<Listed>, Option<String>)> {
    let after = query.cursor.as_deref().map(|cursor| cursor::read::<Position>(list, cursor)).transpose()?;
    let (stored, part) = (&repository.stored, query.q.as_ref().map(|q| q.to_lowercase()));
    let refs = state.git.refs(stored.no).await?;
    let named = refs.iter().filter(|it| it.name.kind() == kind).map(|it| (it.name.short(), it));
    let named: Vec<_> =
        named.filter(|(name, _)| part.as_ref().is_none_or(|part| name.to_lowercase().contains(part))).collect();
    if named.is_empty() {
        return Ok((Vec::new(), None));
    }
    let listings: Vec<Listing> = named.iter().map(|(_, it)| (*it).clone()).collect();
    let commits = state.git.reading(stored).await?.commits(&tips(&listings)).await?;
    let default = stored.settings.default_branch.as_str();
    let listed = named.into_iter().filter_map(|(name, listing)| {
        let commit = commits.get(&listing.peeled.unwrap_or(listing.oid))?.clone();
        let is_default = kind == RefKind::Branch && name == default;
        Some(Listed { name, listing: listing.clone(), commit, is_default })
    });
    let mut listed: Vec<Listed> = listed.filter(|it| after.as_ref().is_none_or(|at| it.position() > *at)).collect();
    listed.sort_by_cached_key(Listed::position);
    let is_more = listed.len() > LISTED_MAX;
    listed.truncate(LISTED_MAX);
    let cursor = listed.last().filter(|_| is_more).map(|last| cursor::write(list, last.position()));
    Ok((listed, cursor))
}

/// A branch.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BranchBody {
    /// The name.
    name: String,
    /// The commit that it names.
    commit: CommitBody,
    /// Whether a clone begins with it.
    is_default: bool,
    /// Whether a rule of the repository is for it.
    protected: bool,
    /// The newest open pull request from it; null where there is none.
    open_pull: Option<u64>,
}

/// The branches.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BranchesAnswer {
    /// The branch that a clone begins with; null while there is none.
    default_branch: Option<String>,
    /// The default branch first, then those with the newest commits; at most 1,000.
    branches: Vec<BranchBody>,
    /// For more of them; null where there are none.
    cursor: Option<String>,
}

/// The branches of a repository
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/branches", responses(
    (status = 400, description = "Invalid cursor")))]
pub(crate) async fn branches_list(
    repository: Repository<GitRead>,
    query: Query<RefsQuery>,
    state: State,
) -> Result<Json<BranchesAnswer>> {
    let (listed, cursor) = page_of((&state, &repository), (RefKind::Branch, "branches"), &query).await?;
    let refs = state.git.refs(repository.stored.no).await?;
    let default = branch_among(&refs, &repository.stored.settings.default_branch).map(|it| it.name.short());
    let rules = state.store.branch_rules(repository.stored.no).await?;
    let pulls = state.store.open_pulls(repository.stored.no).await?;
    // The newest are the first, and so the last to be put there.
    let newest: HashMap<&str, u32> = pulls.iter().rev().map(|pull| (pull.head.as_str(), pull.number.get())).collect();
    let branches = listed.into_iter().map(|it| BranchBody {
        protected: rules.protects(&it.listing.name),
        open_pull: newest.get(it.name.as_str()).copied().map(u64::from),
        name: it.name,
        commit: it.commit.into(),
        is_default: it.is_default,
    });
    Ok(Json(BranchesAnswer { default_branch: default, branches: branches.collect(), cursor }))
}

/// A tag.
#[derive(Serialize, ToSchema)]
pub(crate) struct GitTagBody {
    /// The name.
    name: String,
    /// Whether it is an object of its own, with a text.
    annotated: bool,
    /// The object that it names.
    object: String,
    /// The commit that it ends at.
    commit: CommitBody,
}

/// The tags.
#[derive(Serialize, ToSchema)]
pub(crate) struct TagsAnswer {
    /// The tags of the newest commits first; at most 1,000. Tags of what is no commit are left out.
    tags: Vec<GitTagBody>,
    /// For more of them; null where there are none.
    cursor: Option<String>,
}

/// The tags of a repository
///
/// Tags are made by pushing them with git.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/tags", responses(
    (status = 400, description = "Invalid cursor")))]
pub(crate) async fn tags_list(
    repository: Repository<GitRead>,
    query: Query<RefsQuery>,
    state: State,
) -> Result<Json<TagsAnswer>> {
    let (listed, cursor) = page_of((&state, &repository), (RefKind::Tag, "tags"), &query).await?;
    let tags = listed.into_iter().map(|it| GitTagBody {
        name: it.name,
        annotated: it.listing.peeled.is_some(),
        object: it.listing.oid.to_string(),
        commit: it.commit.into(),
    });
    Ok(Json(TagsAnswer { tags: tags.collect(), cursor }))
}

/// `?name=`, once for each branch.
pub(crate) struct BranchNames(Vec<String>);

impl Argument for BranchNames {
    fn describe(facts: &mut Facts) {
        facts.query_list("name", "A branch; up to 100 of them.", DIVERGENCE_NAMES_MAX, "feature");
        facts.error(400, "The request has fields that can't be used as they are.");
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let pairs = form_urlencoded::parse(call.request.query_string().as_bytes());
        let names: Vec<String> = pairs.filter(|(key, _)| key == "name").map(|(_, name)| name.into_owned()).collect();
        if names.len() > DIVERGENCE_NAMES_MAX {
            return Err(Error::invalid("name", "Name at most 100 branches.").into());
        }
        Ok(Self(names))
    }
}

/// How far a branch is from the default branch.
#[derive(Serialize, ToSchema)]
pub(crate) struct DivergenceBody {
    /// Commits that only the branch has.
    ahead: u64,
    /// Commits that only the default branch has.
    behind: u64,
    /// Whether there are no more of them: counting ends after 50,000 commits.
    exact: bool,
}

/// How far branches are from the default branch.
#[derive(Serialize, ToSchema)]
pub(crate) struct DivergenceAnswer {
    /// The default branch; null while the repository is empty.
    base: Option<String>,
    /// By the names of the branches; null for one that isn't there.
    #[schema(schema_with = by_name)]
    divergence: BTreeMap<String, Option<DivergenceBody>>,
}

/// Numbers or null, by names.
fn by_name() -> Object {
    let numbers = <Option<DivergenceBody> as PartialSchema>::schema();
    ObjectBuilder::new().schema_type(Type::Object).additional_properties(Some(numbers)).build()
}

/// How far branches are from the default branch
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/branches/divergence", responses(
    (status = 404, description = "Not found\n\nCommit not found")))]
pub(crate) async fn branches_divergence(
    repository: Repository<GitRead>,
    BranchNames(names): BranchNames,
    state: State,
) -> Result<Json<DivergenceAnswer>> {
    let (stored, refs) = (&repository.stored, state.git.refs(repository.stored.no).await?);
    if refs.is_empty() {
        return Ok(Json(DivergenceAnswer { base: None, divergence: BTreeMap::new() }));
    }
    let default = &stored.settings.default_branch;
    let base = branch_among(&refs, default).ok_or_else(repository_empty)?.oid;
    let of_name = |name: &String| branch_among(&refs, &BranchName::parse("name", name).ok()?).map(|it| it.oid);
    let known: Vec<(&String, ObjectId)> = names.iter().filter_map(|name| Some((name, of_name(name)?))).collect();
    let asked: Vec<ObjectId> = known.iter().map(|(_, oid)| *oid).collect();
    let reading = state.git.reading(stored).await?;
    reading.require_commits(&[&[base], &asked[..]].concat()).await?;
    let mut divergence: BTreeMap<String, Option<DivergenceBody>> =
        names.iter().map(|name| (name.clone(), None)).collect();
    for ((name, _), it) in known.iter().zip(reading.divergences(base, &asked).await?) {
        let body = DivergenceBody { ahead: it.ahead, behind: it.behind, exact: it.is_exact };
        divergence.insert((*name).clone(), Some(body));
    }
    Ok(Json(DivergenceAnswer { base: Some(default.as_str().to_owned()), divergence }))
}

/// A new branch.
#[derive(Deserialize, ToSchema)]
#[schema(example = json!({"name": "feature", "from": "main"}))]
pub(crate) struct BranchCreate {
    /// The name: 1 to 256 characters, by git's rules.
    name: String,
    /// Where it begins: a branch, a tag or a commit.
    from: String,
}

impl RequestBody for BranchCreate {}

/// A branch that was made.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NewBranch {
    /// The name.
    name: String,
    /// The commit that it names.
    commit_id: String,
}

/// The branch.
#[derive(Serialize, ToSchema)]
pub(crate) struct NewBranchAnswer {
    /// What was made.
    branch: NewBranch,
}

/// Make a branch
#[utoipa::path(post, path = "/v1/orgs/{orgId}/repos/{name}/branches", responses(
    (status = 400, description = "That commit doesn't exist."),
    (status = 403, description = "A rule of this repository doesn't allow it."),
    (status = 404, description = "Not found\n\nBranch or tag not found"),
    (status = 409, description = "A branch with this name already exists.\n\nA tag with this name already exists.\n\nThis \
     repository is deleted. Restore it first."),
))]
pub(crate) async fn branch_create(
    repository: Repository<GitWrite>,
    body: Body<BranchCreate>,
    state: State,
) -> Result<Created<NewBranchAnswer>> {
    let BranchCreate { name, from } = body.into_inner();
    let from = from.trim();
    let is_named = REVISION_LEN.contains(&from.chars().count());
    let from_check = if is_named { Ok(()) } else { Err(Error::invalid("from", "Use 1 to 256 characters.")) };
    let (name, ()) = all((BranchName::parse("name", &name), from_check))?;
    let at = state.git.branch_start(&repository.stored, from).await?;
    let command = CreateBranch { org_id: repository.org_id(), name: name.clone(), at };
    state.actors.repository.ask(&repository.stored.id(), command, repository.context()).await?;
    let branch = NewBranch { name: name.as_str().to_owned(), commit_id: at.to_string() };
    Ok(Created(NewBranchAnswer { branch }))
}

/// A new name for a branch.
#[derive(Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"name": "master", "newName": "main"}))]
pub(crate) struct BranchRename {
    /// The branch.
    #[schema(min_length = 1, max_length = 256)]
    name: String,
    /// The new name: 1 to 256 characters, by git's rules.
    new_name: String,
}

impl RequestBody for BranchRename {}

/// Rename a branch
///
/// Open pull requests go by the new name, and where it is the default branch, it stays that: for this, `git:admin` and level `admin`
/// are needed. Rules are for names, and stay as they are: the old name has to be one that may be deleted, the new one one that may be
/// made.
#[utoipa::path(patch, path = "/v1/orgs/{orgId}/repos/{name}/branches", responses(
    (status = 403, description = "A rule of this repository doesn't allow it."),
    (status = 404, description = "Branch not found."),
    (status = 409, description = "A branch with this name already exists.\n\nA tag with this name already exists.\n\nThis \
     repository is deleted. Restore it first."),
))]
pub(crate) async fn branch_rename(
    repository: Repository<GitWrite>,
    body: Body<BranchRename>,
    state: State,
) -> Result<Json<NewBranchAnswer>> {
    let BranchRename { name, new_name } = body.into_inner();
    let (from, to) = (branch_named(&name)?, BranchName::parse("newName", &new_name)?);
    let command = RenameBranch { org_id: repository.org_id(), rename: Rename { from, to: to.clone() } };
    let oid = state.actors.repository.ask(&repository.stored.id(), command, repository.context()).await?;
    let branch = NewBranch { name: to.as_str().to_owned(), commit_id: oid.to_string() };
    Ok(Json(NewBranchAnswer { branch }))
}

/// `?name=`.
#[derive(Deserialize, IntoParams)]
pub(crate) struct BranchQuery {
    /// The branch.
    #[param(min_length = 1, max_length = 256, example = "feature")]
    name: String,
}

impl RequestQuery for BranchQuery {
    fn check(&self, problems: &mut Problems) {
        let fits = BRANCH_NAME_LEN.contains(&self.name.trim().chars().count());
        problems.require(fits, "name", "Use 1 to 256 characters.");
    }
}

/// A branch that is gone.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeletedBranch {
    /// `true`.
    deleted: bool,
    /// The commit that it named, with which it can be made again.
    commit_id: Option<String>,
}

/// Delete a branch
///
/// The commits stay: with the last one's name the branch can be made again.
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/repos/{name}/branches", responses(
    (status = 400, description = "The default branch can't be deleted."),
    (status = 403, description = "A rule of this repository doesn't allow deleting this branch."),
    (status = 404, description = "Branch not found."),
    (status = 409, description = "This repository is deleted. Restore it first."),
))]
pub(crate) async fn branch_delete(
    repository: Repository<GitWrite>,
    query: Query<BranchQuery>,
    state: State,
) -> Result<Json<DeletedBranch>> {
    let name = branch_named(&query.name)?;
    let command = DeleteBranch { org_id: repository.org_id(), name };
    let oid = state.actors.repository.ask(&repository.stored.id(), command, repository.context()).await?;
    Ok(Json(DeletedBranch { deleted: true, commit_id: Some(oid.to_string()) }))
}

/// `?name=`.
#[derive(Deserialize, IntoParams)]
pub(crate) struct TagQuery {
    /// The tag.
    #[param(min_length = 1, max_length = 256, example = "v1.0")]
    name: String,
}

impl RequestQuery for TagQuery {
    fn check(&self, problems: &mut Problems) {
        let fits = BRANCH_NAME_LEN.contains(&self.name.trim().chars().count());
        problems.require(fits, "name", "Use 1 to 256 characters.");
    }
}

/// A tag that is gone.
#[derive(Serialize, ToSchema)]
pub(crate) struct DeletedTag {
    /// `true`.
    deleted: bool,
    /// The object that it named.
    object: String,
}

/// Delete a tag
#[utoipa::path(delete, path = "/v1/orgs/{orgId}/repos/{name}/tags", responses(
    (status = 403, description = "A rule of this repository doesn't allow it."),
    (status = 404, description = "Tag not found."),
    (status = 409, description = "This repository is deleted. Restore it first."),
))]
pub(crate) async fn tag_delete(
    repository: Repository<GitWrite>,
    query: Query<TagQuery>,
    state: State,
) -> Result<Json<DeletedTag>> {
    let name = tag_named(&query.name)?;
    let command = DeleteTag { org_id: repository.org_id(), name };
    let oid = state.actors.repository.ask(&repository.stored.id(), command, repository.context()).await?;
    Ok(Json(DeletedTag { deleted: true, object: oid.to_string() }))
}
