//! Searching pages.

use domain::{
    pages::{
        Parent,
        search::{QUESTION_LEN_MAX, Question},
    },
    problems::Problems,
};
use http_shell::{
    answer::Json,
    error::Result,
    org::Org,
    permission::KnowledgeRead,
    query::{Query, RequestQuery},
    state::State,
};
use serde::{Deserialize, Serialize};
use store::pages::PageHit;
use utoipa::{IntoParams, ToSchema};

/// What is looked for.
#[derive(Deserialize, IntoParams)]
pub(crate) struct SearchQuery {
    /// Words, the last of which may be the beginning of one: up to 200 characters. Without it, the pages that changed last
    /// are answered.
    #[serde(default)]
    #[param(example = "release plan", max_length = 200)]
    q: String,
}

impl RequestQuery for SearchQuery {
    fn check(&self, problems: &mut Problems) {
        let fits = self.q.trim().chars().count() <= QUESTION_LEN_MAX;
        problems.require(fits, "q", "Use at most 200 characters.");
    }
}

/// A page that was found.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({
    "pageId": "doc_01jd7rt4m5e9fv2w8x3c6k0hqz", "parentId": "root", "kind": "doc", "title": "Release plan",
    "updatedAt": 1_767_229_200_000_i64, "snippet": "…what we <mark>release</mark> in spring…"
}))]
pub(crate) struct SearchResult {
    /// The page's id.
    page_id: String,
    /// The id of what it is under, or `root`.
    parent_id: String,
    /// `doc` or `database`.
    kind: &'static str,
    /// What it is called; may be empty.
    title: String,
    /// An emoji or the name of a picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    icon: Option<String>,
    /// When it or its content last changed.
    updated_at: i64,
    /// The part of its content that shows most of the words, as HTML with `<mark>` around each.
    #[serde(skip_serializing_if = "Option::is_none")]
    snippet: Option<String>,
}

impl From<PageHit> for SearchResult {
    fn from(hit: PageHit) -> Self {
        Self {
            page_id: hit.id.to_string(),
            parent_id: hit.parent_id.map_or_else(|| Parent::ROOT.to_owned(), |id| id.to_string()),
            kind: hit.kind.as_str(),
            title: hit.title,
            icon: hit.icon,
            updated_at: hit.updated_at.as_millis(),
            snippet: hit.snippet,
        }
    }
}

/// What was found.
#[derive(Serialize, ToSchema)]
pub(crate) struct SearchAnswer {
    /// Up to 50, those first that have the words in their titles.
    results: Vec<SearchResult>,
}

/// Search the pages
///
/// Finds pages with all of the words in title or content, whatever their case, accents and endings. Pages in the trash are
/// left out.
#[utoipa::path(get, path = "/v1/orgs/{orgId}/pages/search")]
pub(crate) async fn pages_search(
    org: Org<KnowledgeRead>,
    query: Query<SearchQuery>,
    state: State,
) -> Result<Json<SearchAnswer>> {
    let hits = match Question::parse(&query.q) {
        Some(question) => state.store.pages_search(org.id(), &question).await?,
        None if query.q.trim().is_empty() => state.store.pages_recent(org.id()).await?,
        None => Vec::new(),
    };
    Ok(Json(SearchAnswer { results: hits.into_iter().map(SearchResult::from).collect() }))
}
