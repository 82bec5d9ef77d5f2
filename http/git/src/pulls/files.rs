//! The files of a pull request.

use domain::{
    Error,
    git::{ObjectId, Pull},
};
use http_shell::{
    answer::Json, cursor, error::Result, owned::Owned, paging::PageQuery, permission::GitRead, query::Query,
    repository::Repository, state::State,
};
use serde::Serialize;
use utoipa::ToSchema;

use super::base_of;
use crate::differences::CountedFile;

/// The name of the list of a pull request's files in its cursors.
const LIST: &str = "pull files";

/// A page of what a pull request changes.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PullFilesAnswer {
    /// The commit in which the branches part; null where they have nothing in common any more.
    merge_base: Option<String>,
    /// The commit that the head names.
    head: String,
    /// The files, in git's order.
    files: Vec<CountedFile>,
    /// How many they are in all.
    count: i64,
    /// For the next page; null on the last one.
    cursor: Option<String>,
}

/// The files of a pull request
///
/// What the head changed since the branches parted. For their lines, ask for the `diff` of `mergeBase` and `head`. The pages of one list
/// show one head.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/repos/{name}/pulls/{number}/files", responses(
    (status = 400, description = "Invalid cursor")))]
pub(crate) async fn pull_files_list(
    repository: Repository<GitRead>,
    query: Query<PageQuery>,
    Owned(pull): Owned<Pull>,
    state: State,
) -> Result<Json<PullFilesAnswer>> {
    let reading = state.git.reading(&repository.stored).await?;
    let mut shown = if let Some(shown) = query.after::<Shown>(LIST)? {
        shown
    } else {
        let base = base_of(&state, &repository, &pull).await?;
        Shown { base: reading.merge_base(base, pull.head_oid).await?, head: pull.head_oid, count: 0 }
    };
    let ends: Vec<ObjectId> = shown.base.into_iter().chain([shown.head]).collect();
    let found = reading.commits(&ends).await?;
    if !ends.iter().all(|oid| found.contains_key(oid)) {
        return Err(Error::bad_request("invalid_cursor", "Invalid cursor").into());
    }
    let (files, _) = reading.changed_files(shown.base, shown.head, None).await?;
    let limit = usize::try_from(query.limit()).unwrap_or(usize::MAX);
    let left = files.get(shown.count..).unwrap_or_default();
    let page = &left[..left.len().min(limit)];
    let counts = reading.line_counts(shown.base, shown.head, page).await?;
    shown.count += page.len();
    let cursor = (page.len() < left.len()).then(|| cursor::write(LIST, &shown));
    let page = page.iter().enumerate().map(|(at, file)| CountedFile::new(file.clone(), counts.get(at)));
    Ok(Json(PullFilesAnswer {
        merge_base: shown.base.map(|oid| oid.to_string()),
        head: shown.head.to_string(),
        files: page.collect(),
        count: i64::try_from(files.len()).unwrap_or(i64::MAX),
        cursor,
    }))
}

/// The commits of a list of files, and how many of them were shown.
struct Shown {
    base: Option<ObjectId>,
    head: ObjectId,
    count: usize,
}

impl std::fmt::Display for Shown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.base.unwrap_or(ObjectId::ZERO), self.head, self.count)
    }
}

impl std::str::FromStr for Shown {
    type Err = ();

    fn from_str(text: &str) -> std::result::Result<Self, ()> {
        let mut parts = text.split(' ');
        let mut oid = || parts.next().and_then(|oid| oid.parse::<ObjectId>().ok()).ok_or(());
        let (base, head) = (oid()?.given(), oid()?);
        let count = parts.next().and_then(|count| count.parse().ok()).ok_or(())?;
        Ok(Self { base, head, count })
    }
}
