//! What helps before anybody is asked.

use domain::{
    Error,
    id::PageId,
    issues::portal::{ARTICLE_NOT_FOUND, ARTICLES_LISTED_MAX, ARTICLES_QUESTION_LEN_MAX},
    pages::search::Question,
    problems::Problems,
};
use http_shell::{
    answer::{Json, Object},
    argument::Argument,
    call::Call,
    error::Result,
    facts::Facts,
    path::concat_example,
    query::{Query, RequestQuery},
    state::State,
};
use serde::{Deserialize, Serialize};
use store::issues::{Article, ArticleHit};
use utoipa::{IntoParams, ToSchema};

use super::argument::HelpCenter;

/// What is looked for.
#[derive(Deserialize, IntoParams)]
pub(crate) struct HelpArticlesQuery {
    /// Words, the last of which may be the beginning of one: up to 200 characters. Without it, the first 50 articles are answered.
    #[serde(default)]
    #[param(example = "printer", max_length = 200)]
    q: String,
}

impl RequestQuery for HelpArticlesQuery {
    fn check(&self, problems: &mut Problems) {
        let fits = self.q.trim().chars().count() <= ARTICLES_QUESTION_LEN_MAX;
        problems.require(fits, "q", "Use at most 200 characters.");
    }
}

/// An article among others.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HelpArticleListed {
    page_id: String,
    /// What it is called; may be empty.
    title: String,
    /// An emoji or the name of a picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    icon: Option<String>,
    /// The part of it that shows most of the words, as HTML with `<mark>` around each.
    #[serde(skip_serializing_if = "Option::is_none")]
    snippet: Option<String>,
}

impl From<ArticleHit> for HelpArticleListed {
    fn from(hit: ArticleHit) -> Self {
        Self { page_id: hit.id.to_string(), title: hit.title, icon: hit.icon, snippet: hit.snippet }
    }
}

impl From<Article> for HelpArticleListed {
    fn from(article: Article) -> Self {
        Self { page_id: article.id.to_string(), title: article.title, icon: article.icon, snippet: None }
    }
}

/// Articles.
#[derive(Serialize, ToSchema)]
pub(crate) struct HelpArticlesAnswer {
    /// Up to 50: the best first, or in their own order where nothing is looked for.
    articles: Vec<HelpArticleListed>,
}

/// An article.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HelpArticleBody {
    page_id: String,
    /// What it is called; may be empty.
    title: String,
    /// An emoji or the name of a picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    icon: Option<String>,
    /// What it says.
    markdown: String,
    /// When it last changed.
    updated_at: i64,
}

/// One article.
#[derive(Serialize, ToSchema)]
pub(crate) struct HelpArticleAnswer {
    article: HelpArticleBody,
}

/// The article that the path names.
pub(crate) struct HelpArticle(Article);

impl Argument for HelpArticle {
    fn describe(facts: &mut Facts) {
        HelpCenter::describe(facts);
        facts.path_parameter("pageId", "An article.", concat_example(PageId::PREFIX));
        facts.error(404, ARTICLE_NOT_FOUND);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let center = HelpCenter::take(call).await?;
        let gone = || Error::not_found(ARTICLE_NOT_FOUND);
        let id: PageId = call.path_value("pageId")?.parse().map_err(|_| gone())?;
        let all = call.state.store.articles(center.org_id(), &center.desk.article_roots()).await?;
        Ok(Self(all.into_iter().find(|article| article.id == id).ok_or_else(gone)?))
    }
}

/// Look for articles
///
/// Finds those with all of the words in title or content, whatever their case, accents and endings.
#[utoipa::path(get, path = "/v1/portal/issues/{org}/{spaceKey}/articles")]
pub(crate) async fn help_articles_list(
    center: HelpCenter,
    query: Query<HelpArticlesQuery>,
    state: State,
) -> Result<Json<HelpArticlesAnswer>> {
    let (store, org_id) = (&state.store, center.org_id());
    let all = store.articles(org_id, &center.desk.article_roots()).await?;
    let articles = match Question::parse(&query.q) {
        Some(question) => {
            let hits = store.articles_search(org_id, &all, &question).await?;
            hits.into_iter().map(HelpArticleListed::from).collect()
        }
        None if query.q.trim().is_empty() => {
            all.into_iter().take(ARTICLES_LISTED_MAX).map(HelpArticleListed::from).collect()
        }
        None => Vec::new(),
    };
    Ok(Json(HelpArticlesAnswer { articles }))
}

/// An article
#[utoipa::path(get, path = "/v1/portal/issues/{org}/{spaceKey}/articles/{pageId}")]
pub(crate) async fn help_article_get(
    HelpArticle(article): HelpArticle,
    state: State,
) -> Result<Object<HelpArticleAnswer>> {
    let content = state.store.page_content(article.id).await?;
    Ok(Object(HelpArticleAnswer {
        article: HelpArticleBody {
            page_id: article.id.to_string(),
            title: article.title,
            icon: article.icon,
            markdown: content.markdown,
            updated_at: article.updated_at.as_millis(),
        },
    }))
}
