//! The full text of pages: kept in step with titles and contents by the functions that write those, and searched.
//!
//! What is looked for comes as words of letters and digits ([`Question`]), so that no text of a client's is ever read as a
//! language of the database's.
//!
//! Each word is indexed, and looked for, behind the letters of its organization ([`org_letters`]): the index of a word is
//! that of one organization's, and a search costs what there is in the organization that asks.

use std::{borrow::Cow, collections::HashSet};

use domain::{
    Timestamp,
    id::{OrgId, PageId},
    pages::{
        PageKind,
        search::{Question, RESULTS_MAX, WEIGHED_MAX, indexed, snippet},
    },
};
use sea_orm::DbBackend;

use crate::{Change, Expect, Store, StoreError, reader::row, sql::Sql};

/// Characters of a content that a snippet is looked for in.
const SNIPPET_CHARS: i64 = 64 * 1024;

/// A page that a search found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageHit {
    /// The page.
    pub id: PageId,
    /// What it is under.
    pub parent_id: Option<PageId>,
    /// What it is.
    pub kind: PageKind,
    /// What it is called.
    pub title: String,
    /// An emoji or the name of a picture.
    pub icon: Option<String>,
    /// When it or its content last changed.
    pub updated_at: Timestamp,
    /// HTML that shows the hit in its content.
    pub snippet: Option<String>,
}

row! {
    struct HitRow {
        id: String,
        parent_id: Option<String>,
        kind: String,
        title: String,
        icon: Option<String>,
        updated_at: i64,
        markdown: Option<String>,
    }
}

impl HitRow {
    fn read(self, question: Option<&Question>) -> Result<PageHit, StoreError> {
        let corrupt = || StoreError::corrupt(format_args!("pages {}", self.id));
        let text = self.markdown.as_deref();
        Ok(PageHit {
            id: self.id.parse().map_err(|_| corrupt())?,
            parent_id: self.parent_id.as_deref().map(str::parse).transpose().map_err(|_| corrupt())?,
            kind: PageKind::from_name(&self.kind).ok_or_else(corrupt)?,
            snippet: question.zip(text).and_then(|(question, text)| snippet(text, question)),
            title: self.title,
            icon: self.icon,
            updated_at: Timestamp(self.updated_at),
        })
    }
}

/// Where the words shall stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Title,
    Anywhere,
}

/// What a search selects of each of the pages in `found`, the best first. The content is cut, because only so much of it is
/// looked through.
macro_rules! hits {
    ($found:literal) => {
        concat!(
            "WITH found AS (",
            $found,
            ") SELECT pages.id, pages.parent_id, pages.kind, pages.title, pages.icon, pages.updated_at, \
             substr(page_contents.markdown, 1, CAST($3 AS INTEGER)) AS markdown \
             FROM (SELECT page_id, score FROM found ORDER BY score, seq DESC LIMIT $4) AS best \
             JOIN pages ON pages.id = best.page_id LEFT JOIN page_contents ON page_contents.page_id = best.page_id \
             ORDER BY best.score, pages.updated_at DESC, pages.id"
        )
    };
}

const ON_SQLITE: &str = hits!(
    "SELECT page_words.rowid AS seq, page_texts.page_id AS page_id, bm25(page_words, 8.0, 1.0) AS score \
     FROM page_words CROSS JOIN page_texts ON page_texts.seq = page_words.rowid \
     CROSS JOIN pages ON pages.id = page_texts.page_id \
     WHERE page_words MATCH $1 AND page_texts.org_id = $5 AND pages.archived_at IS NULL ORDER BY page_words.rowid DESC LIMIT $2"
);
const TITLES_ON_POSTGRES: &str = hits!(
    "SELECT page_texts.seq, page_texts.page_id, -ts_rank(page_texts.title_index, to_tsquery('page_search', $1), 1) AS score \
     FROM page_texts JOIN pages ON pages.id = page_texts.page_id \
     WHERE page_texts.title_index @@ to_tsquery('page_search', $1) AND page_texts.org_id = $5 AND pages.archived_at IS NULL LIMIT $2"
);
const TEXTS_ON_POSTGRES: &str = hits!(
    "SELECT page_texts.seq, page_texts.page_id, -ts_rank(page_texts.text_index, to_tsquery('page_search', $1), 1) AS score \
     FROM page_texts JOIN pages ON pages.id = page_texts.page_id \
     WHERE page_texts.text_index @@ to_tsquery('page_search', $1) AND page_texts.org_id = $5 AND pages.archived_at IS NULL LIMIT $2"
);
const RECENT: &str = "SELECT id, parent_id, kind, title, icon, updated_at, NULL AS markdown FROM pages \
     WHERE org_id = $1 AND archived_at IS NULL ORDER BY updated_at DESC LIMIT $2";

impl Store {
    /// The organization's pages that have all of these words, those first that have them in their titles, then by how much
    /// they are about them; pages in the trash are left out.
    pub async fn pages_search(&self, org_id: OrgId, question: &Question) -> Result<Vec<PageHit>, StoreError> {
        self.pages_best(org_id, question, None).await
    }

    /// The same among these pages only, of which there may be as many as a statement has room for.
    pub(crate) async fn pages_search_among(
        &self,
        org_id: OrgId,
        question: &Question,
        among: &[PageId],
    ) -> Result<Vec<PageHit>, StoreError> {
        if among.is_empty() { Ok(Vec::new()) } else { self.pages_best(org_id, question, Some(among)).await }
    }

    async fn pages_best(
        &self,
        org_id: OrgId,
        question: &Question,
        among: Option<&[PageId]>,
    ) -> Result<Vec<PageHit>, StoreError> {
        let mut hits: Vec<PageHit> = self.pages_found(org_id, question, (Part::Title, among), RESULTS_MAX).await?;
        if hits.len() < RESULTS_MAX {
            let seen: HashSet<_> = hits.iter().map(|hit| hit.id).collect();
            // Those of the titles come again.
            let most = RESULTS_MAX + seen.len();
            let more = self.pages_found(org_id, question, (Part::Anywhere, among), most).await?;
            hits.extend(more.into_iter().filter(|hit| !seen.contains(&hit.id)));
            hits.truncate(RESULTS_MAX);
        }
        Ok(hits)
    }

    async fn pages_found(
        &self,
        org_id: OrgId,
        question: &Question,
        (part, among): (Part, Option<&[PageId]>),
        most: usize,
    ) -> Result<Vec<PageHit>, StoreError> {
        let (statement, words) = match (self.parts.connections.backend(), part) {
            (DbBackend::Postgres, Part::Title) => (TITLES_ON_POSTGRES, for_postgres(org_id, question)),
            (DbBackend::Postgres, Part::Anywhere) => (TEXTS_ON_POSTGRES, for_postgres(org_id, question)),
            (_, part) => (ON_SQLITE, for_sqlite(org_id, question, part)),
        };
        let number = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let (weighed, shown) = (number(WEIGHED_MAX), number(most));
        // The letters of two organizations may be the same, as rarely as that is.
        let values = [words.into(), weighed.into(), SNIPPET_CHARS.into(), shown.into(), org_id.to_string().into()];
        let (statement, values) = narrowed(statement, values.to_vec(), among);
        let rows = self.reader().rows_of_many::<HitRow>(&Sql::new(statement, values)).await?;
        rows.into_iter().map(|row| row.read(Some(question))).collect()
    }

    /// The organization's pages that changed last, the last first, without those in the trash.
    pub async fn pages_recent(&self, org_id: OrgId) -> Result<Vec<PageHit>, StoreError> {
        let most = i64::try_from(RESULTS_MAX).unwrap_or(i64::MAX);
        let sql = Sql::new(RECENT, [org_id.to_string().into(), most.into()]);
        let rows = self.reader().rows::<HitRow>(&sql).await?;
        rows.into_iter().map(|row| row.read(None)).collect()
    }
}

/// What all statements above ask of pages.
const IN_NO_TRASH: &str = "pages.archived_at IS NULL";

/// The statement that looks among these pages only, where some are named.
fn narrowed(
    statement: &'static str,
    mut values: Vec<sea_orm::Value>,
    among: Option<&[PageId]>,
) -> (Cow<'static, str>, Vec<sea_orm::Value>) {
    let Some(among) = among else { return (statement.into(), values) };
    let first = values.len() + 1;
    let places: Vec<_> = (first..first + among.len()).map(|place| format!("${place}")).collect();
    values.extend(among.iter().map(|id| id.to_string().into()));
    let condition = format!("{IN_NO_TRASH} AND pages.id IN ({})", places.join(", "));
    (statement.replace(IN_NO_TRASH, &condition).into(), values)
}

/// Characters at the end of an id, which are random, that an organization's letters are made of.
const ORG_LETTERS: usize = 8;
/// What is no consonant in an id, and what stands for each.
const NO_CONSONANTS: &[u8; 13] = b"0123456789aey";
const CONSONANTS: &[u8; 13] = b"bcdfghjkmnpqr";

/// The letters that stand before each word of an organization's in the index. They are consonants, so that a word has the
/// stem behind them that it has alone. The migration `m0015_indexes` says the same in each database's words.
pub(crate) fn org_letters(org_id: OrgId) -> String {
    let id = org_id.to_string();
    let letters = id.bytes().skip(id.len() - ORG_LETTERS);
    let place = |letter: u8| NO_CONSONANTS.iter().position(|known| *known == letter);
    letters.map(|letter| char::from(place(letter).map_or(letter, |place| CONSONANTS[place]))).collect()
}

/// The words of a question, each behind the organization's letters, between these marks; the last one may go on.
fn words(org_id: OrgId, question: &Question, [mark, and, goes_on]: [&str; 3]) -> String {
    let letters = org_letters(org_id);
    let words: Vec<_> = question.words().iter().map(|word| format!("{mark}{letters}{word}{mark}")).collect();
    words.join(and) + if question.is_beginning() { goes_on } else { "" }
}

fn for_sqlite(org_id: OrgId, question: &Question, part: Part) -> String {
    let columns = if part == Part::Title { "title" } else { "title body" };
    // Behind the letters, SQLite takes the `s` of `as` for an ending: what is left is one letter, and no beginning.
    let is_letter = question.words().last().is_some_and(|word| word.len() == 2 && word.ends_with('s'));
    let goes_on = if is_letter { "" } else { " *" };
    format!("{{{columns}}} : ({})", words(org_id, question, ["\"", " AND ", goes_on]))
}

fn for_postgres(org_id: OrgId, question: &Question) -> String {
    words(org_id, question, ["'", " & ", ":*"])
}

impl Change {
    /// Has the page found by its title from now on.
    pub(super) fn page_title_save(&mut self, page_id: PageId, org_id: OrgId, title: &str) {
        let statement = "INSERT INTO page_texts (page_id, org_id, title_words) VALUES ($1, $2, $3) \
             ON CONFLICT (page_id) DO UPDATE SET title_words = excluded.title_words \
             WHERE page_texts.title_words <> excluded.title_words";
        let values = [page_id.to_string().into(), org_id.to_string().into(), indexed(title).into()];
        self.run_statement(Sql::new(statement, values), Expect::Any);
    }

    /// Has the page found by its content from now on. Its title was seen to when it was made.
    pub(super) fn page_text_save(&mut self, page_id: PageId, markdown: &str) {
        let statement = "UPDATE page_texts SET words = $2 WHERE page_id = $1 AND words <> $2";
        self.run_statement(Sql::new(statement, [page_id.to_string().into(), indexed(markdown).into()]), Expect::Any);
    }
}

#[cfg(test)]
mod tests;
