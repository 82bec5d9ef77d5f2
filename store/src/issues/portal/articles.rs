//! Articles of help centers: pages of notes below those that a desk names. Databases and their rows are none, nor is the trash.

use std::collections::HashMap;

use domain::{
    Timestamp,
    id::{OrgId, PageId},
    pages::search::Question,
};

use crate::{Store, StoreError, reader::row, sql::Sql};

/// Articles of a desk, at most; others aren't reached.
const ARTICLES_MAX: i64 = 1_000;
/// How deep articles lie, at most.
const DEPTH_MAX: i64 = 64;

row! {
    struct ArticleRow {
        id: String,
        parent_id: Option<String>,
        title: String,
        icon: Option<String>,
        position: f64,
        updated_at: i64,
    }
}

/// An article.
#[derive(Clone, Debug, PartialEq)]
pub struct Article {
    /// The page.
    pub id: PageId,
    /// What it is under.
    pub parent_id: Option<PageId>,
    /// What it is called.
    pub title: String,
    /// An emoji or the name of a picture.
    pub icon: Option<String>,
    /// Its place among its siblings.
    position: f64,
    /// When it or its content last changed.
    pub updated_at: Timestamp,
}

/// An article that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArticleHit {
    /// The page.
    pub id: PageId,
    /// What it is called.
    pub title: String,
    /// An emoji or the name of a picture.
    pub icon: Option<String>,
    /// HTML that shows the hit in its content.
    pub snippet: Option<String>,
}

impl TryFrom<ArticleRow> for Article {
    type Error = StoreError;

    fn try_from(row: ArticleRow) -> Result<Self, StoreError> {
        let corrupt = || StoreError::corrupt("pages.id");
        Ok(Self {
            id: row.id.parse().map_err(|_| corrupt())?,
            parent_id: row.parent_id.map(|id| id.parse()).transpose().map_err(|_| corrupt())?,
            title: row.title,
            icon: row.icon,
            position: row.position,
            updated_at: Timestamp(row.updated_at),
        })
    }
}

impl Store {
    /// The pages with these ids and all below them, each before what is below it, siblings in their order.
    pub async fn articles(&self, org_id: OrgId, roots: &[PageId]) -> Result<Vec<Article>, StoreError> {
        if roots.is_empty() {
            return Ok(Vec::new());
        }
        let statement = format!(
            "WITH RECURSIVE down(id, depth) AS (SELECT id, CAST(1 AS BIGINT) FROM pages WHERE org_id = $1 \
             AND kind = 'doc' AND is_row = $4 AND archived_at IS NULL AND id IN ({}) \
             UNION SELECT pages.id, down.depth + 1 FROM pages JOIN down ON pages.parent_id = down.id \
             WHERE pages.kind = 'doc' AND pages.is_row = $4 AND pages.archived_at IS NULL AND down.depth < $2) \
             SELECT p.id, p.parent_id, p.title, p.icon, p.position, p.updated_at FROM pages p \
             WHERE p.id IN (SELECT id FROM down) ORDER BY p.id LIMIT $3",
            super::super::rows::places(5, roots.len())
        );
        let fixed = [org_id.to_string().into(), DEPTH_MAX.into(), ARTICLES_MAX.into(), false.into()];
        let values = fixed.into_iter().chain(roots.iter().map(|id| id.to_string().into()));
        let rows: Vec<ArticleRow> = self.reader().rows(&Sql::new(statement, values)).await?;
        let all = rows.into_iter().map(Article::try_from).collect::<Result<Vec<_>, _>>()?;
        Ok(in_order(all, roots))
    }

    /// Those of these articles that have all of these words, the best first.
    pub async fn articles_search(
        &self,
        org_id: OrgId,
        articles: &[Article],
        question: &Question,
    ) -> Result<Vec<ArticleHit>, StoreError> {
        let among: Vec<PageId> = articles.iter().map(|article| article.id).collect();
        let hits = self.pages_search_among(org_id, question, &among).await?;
        let hit = |hit: crate::pages::PageHit| ArticleHit {
            id: hit.id,
            title: hit.title,
            icon: hit.icon,
            snippet: hit.snippet,
        };
        Ok(hits.into_iter().map(hit).collect())
    }
}

/// Articles depth first, beginning at the roots in their order. One that stands below two roots comes once.
fn in_order(all: Vec<Article>, roots: &[PageId]) -> Vec<Article> {
    let mut children: HashMap<Option<PageId>, Vec<PageId>> = HashMap::new();
    let mut known: HashMap<PageId, Article> = all.into_iter().map(|article| (article.id, article)).collect();
    let mut sorted: Vec<_> = known.values().map(|it| (it.parent_id, it.position, it.id)).collect();
    // The last one first, because the stack below is taken from its end.
    sorted.sort_by(|one, other| other.1.total_cmp(&one.1).then(other.2.cmp(&one.2)));
    for (parent, _, id) in sorted {
        children.entry(parent).or_default().push(id);
    }
    let mut stack: Vec<PageId> = roots.iter().rev().copied().collect();
    let mut ordered = Vec::new();
    while let Some(id) = stack.pop() {
        if let Some(article) = known.remove(&id) {
            ordered.push(article);
            stack.extend(children.get(&Some(id)).into_iter().flatten());
        }
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn articles_stand_below_their_roots_in_their_order() {
        let ids: Vec<PageId> = (0..5).map(|at| PageId::new(Timestamp(at))).collect();
        let article = |at: usize, parent: Option<usize>, position: f64| Article {
            id: ids[at],
            parent_id: parent.map(|at| ids[at]),
            title: String::new(),
            icon: None,
            position,
            updated_at: Timestamp(0),
        };
        let all = vec![
            article(0, None, 1.0),
            article(1, Some(0), 2.0),
            article(2, Some(0), 1.0),
            article(3, Some(2), 1.0),
            article(4, None, 0.0),
        ];
        let found: Vec<PageId> = in_order(all, &[ids[4], ids[0], ids[3]]).iter().map(|it| it.id).collect();
        assert_eq!(found, [ids[4], ids[0], ids[2], ids[3], ids[1]]);
    }
}
