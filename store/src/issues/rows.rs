//! Issues: their narrow rows, their documents, their texts.

use std::collections::HashMap;

use domain::{
    Timestamp,
    id::{IssueId, OrgId, SpaceId},
    issues::{
        issue::{Issue, day_of},
        key::IssueKey,
        workflow::Category,
    },
    pages::search::indexed,
};
use sea_orm::Value;

use super::{Known, no_of};
use crate::{Change, Expect, Store, StoreError, json, pages::search::org_letters, reader::row, sql::Sql};

row! {
    pub(super) struct DocRow {
        doc: String,
        description: String,
        version: i64,
        rank: String,
    }
}

row! {
    struct ParentRow {
        id: String,
        type_id: String,
        parent_id: Option<String>,
        space_id: String,
    }
}

row! {
    struct CountRow {
        count: i64,
    }
}

/// An issue with its description.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredIssue {
    /// The issue.
    pub issue: Issue,
    /// Markdown; may be empty.
    pub description: String,
}

/// What is asked of an issue that is to be somebody's parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParentFacts {
    /// The issue.
    pub id: IssueId,
    /// Its type.
    pub type_id: String,
    /// Its own parent.
    pub parent_id: Option<IssueId>,
    /// Its space.
    pub space_id: SpaceId,
}

/// What is selected of an issue; behind it come conditions on `issues` and `issue_docs`.
pub(super) const DOC: &str = "SELECT issue_docs.doc, issue_docs.description, issues.version, issues.rank \
                   FROM issue_docs JOIN issues ON issues.id = issue_docs.id";

impl TryFrom<DocRow> for StoredIssue {
    type Error = StoreError;

    fn try_from(row: DocRow) -> Result<Self, StoreError> {
        stored(&row.doc, row.description, row.version, row.rank)
    }
}

/// An issue of its document and of what only its row tells.
pub(super) fn stored(doc: &str, description: String, version: i64, rank: String) -> Result<StoredIssue, StoreError> {
    let issue: Issue = json::read("issue_docs.doc", doc)?;
    Ok(StoredIssue { issue: Issue { version, rank, ..issue }, description })
}

/// `$from, $from+1, …`, so many of them.
pub(super) fn places(from: usize, count: usize) -> String {
    (from..from + count).map(|at| format!("${at}")).collect::<Vec<_>>().join(", ")
}

impl Store {
    /// The organization's issue with this id.
    pub async fn issue(&self, org_id: OrgId, id: IssueId) -> Result<Option<StoredIssue>, StoreError> {
        let statement =
            format!("{DOC} WHERE issue_docs.org_id = $1 AND issue_docs.id = $2 AND issues.deleted_at IS NULL");
        let sql = Sql::new(statement, [org_id.to_string().into(), id.to_string().into()]);
        self.reader().row::<DocRow>(&sql).await?.map(StoredIssue::try_from).transpose()
    }

    /// The organization's issue that a text names: by its key, in any case, or its id.
    pub async fn issue_named(&self, org_id: OrgId, text: &str) -> Result<Option<StoredIssue>, StoreError> {
        let found = self.issues_named(org_id, &[text.to_owned()]).await?;
        Ok(found.into_values().next())
    }

    /// The organization's issues that these texts name, by the text.
    pub async fn issues_named(
        &self,
        org_id: OrgId,
        texts: &[String],
    ) -> Result<HashMap<String, StoredIssue>, StoreError> {
        let spaces: HashMap<String, SpaceId> =
            self.issue_spaces(org_id).await?.into_iter().map(|space| (space.key, space.space_id)).collect();
        let mut found = HashMap::new();
        for text in texts {
            if let Ok(id) = text.parse::<IssueId>() {
                found.extend(self.issue(org_id, id).await?.map(|issue| (text.clone(), issue)));
            } else if let Ok(key) = text.parse::<IssueKey>()
                && let Some(space_id) = spaces.get(key.space.as_str())
            {
                let named = match self.issue_numbered(org_id, *space_id, key.number).await? {
                    None => self.issue_formerly_numbered((org_id, *space_id), key.number).await?,
                    found => found,
                };
                found.extend(named.map(|it| (text.clone(), it)));
            }
        }
        Ok(found)
    }

    /// The issue of this number in a space.
    async fn issue_numbered(
        &self,
        org_id: OrgId,
        space_id: SpaceId,
        number: i64,
    ) -> Result<Option<StoredIssue>, StoreError> {
        let statement = format!(
            "{DOC} JOIN issue_values ON issue_values.no = issues.space_no WHERE issue_values.org_id = $1 \
             AND issue_values.kind = 'space' AND issue_values.value = $2 AND issues.number = $3 AND issues.deleted_at IS NULL"
        );
        let values = [org_id.to_string().into(), space_id.to_string().into(), number.into()];
        self.reader().row::<DocRow>(&Sql::new(statement, values)).await?.map(StoredIssue::try_from).transpose()
    }

    /// The issues of these numbers, in no order.
    pub(super) async fn issues_at(
        &self,
        reader: &crate::reader::Reader,
        seqs: &[i64],
    ) -> Result<HashMap<i64, StoredIssue>, StoreError> {
        row! {
            struct NumberedRow {
                seq: i64,
                doc: String,
                description: String,
                version: i64,
                rank: String,
            }
        }
        if seqs.is_empty() {
            return Ok(HashMap::new());
        }
        let statement = format!(
            "SELECT issues.seq, issue_docs.doc, issue_docs.description, issues.version, issues.rank FROM issues \
             JOIN issue_docs ON issue_docs.id = issues.id WHERE issues.deleted_at IS NULL AND issues.seq IN ({})",
            places(1, seqs.len())
        );
        let values: Vec<Value> = seqs.iter().map(|seq| (*seq).into()).collect();
        let rows: Vec<NumberedRow> = reader.rows_of_many(&Sql::new(statement, values)).await?;
        let read = |row: NumberedRow| {
            let NumberedRow { seq, doc, description, version, rank } = row;
            Ok((seq, StoredIssue::try_from(DocRow { doc, description, version, rank })?))
        };
        rows.into_iter().map(read).collect()
    }

    /// What is asked of an issue that is to be a parent.
    pub async fn issue_parent_facts(&self, org_id: OrgId, id: IssueId) -> Result<Option<ParentFacts>, StoreError> {
        let statement = "SELECT i.id AS id, t.value AS type_id, p.id AS parent_id, s.value AS space_id FROM issues i \
                         JOIN issue_values t ON t.no = i.type_no JOIN issue_values s ON s.no = i.space_no \
                         LEFT JOIN issues p ON p.seq = i.parent_seq WHERE i.id = $1 AND t.org_id = $2";
        let sql = Sql::new(statement, [id.to_string().into(), org_id.to_string().into()]);
        let Some(row) = self.reader().row::<ParentRow>(&sql).await? else { return Ok(None) };
        let corrupt = || StoreError::corrupt("an id of issues");
        Ok(Some(ParentFacts {
            id: row.id.parse().map_err(|_| corrupt())?,
            type_id: row.type_id,
            parent_id: row.parent_id.map(|id| id.parse()).transpose().map_err(|_| corrupt())?,
            space_id: row.space_id.parse().map_err(|_| corrupt())?,
        }))
    }

    /// How many issues stand right below one.
    pub async fn issue_children_count(&self, id: IssueId) -> Result<i64, StoreError> {
        let statement = "SELECT COUNT(*) AS count FROM issues WHERE parent_seq = (SELECT seq FROM issues WHERE id = $1) \
                         AND deleted_at IS NULL";
        let row: Option<CountRow> = self.reader().row(&Sql::new(statement, [id.to_string().into()])).await?;
        Ok(row.map_or(0, |row| row.count))
    }

    /// Labels of the issues in these spaces, those that most issues have first, and then by the alphabet.
    pub async fn issue_labels(&self, org_id: OrgId, spaces: &[SpaceId], limit: u64) -> Result<Vec<String>, StoreError> {
        row! {
            struct LabelRow {
                label: String,
                count: i64,
            }
        }
        if spaces.is_empty() {
            return Ok(Vec::new());
        }
        let statement = format!(
            "SELECT v.label AS label, COUNT(*) AS count FROM issue_terms t JOIN issue_values v ON v.no = t.value_no \
             JOIN issues i ON i.seq = t.seq WHERE v.org_id = $1 AND v.kind = 'label' AND t.field = 'labels' \
             AND i.deleted_at IS NULL AND i.space_no IN (SELECT no FROM issue_values WHERE org_id = $1 \
             AND kind = 'space' AND value IN ({})) GROUP BY v.label",
            places(2, spaces.len())
        );
        let values = std::iter::once(org_id.to_string().into()).chain(spaces.iter().map(|id| id.to_string().into()));
        let mut rows: Vec<LabelRow> = self.reader().rows_of_many(&Sql::new(statement, values)).await?;
        rows.sort_by(|one, other| other.count.cmp(&one.count).then_with(|| one.label.cmp(&other.label)));
        rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(rows.into_iter().map(|row| row.label).collect())
    }
}

/// The columns of an issue's row from the second on, and what each is set to. The first value is the id, the second the
/// organization.
const COLUMNS: [(&str, &str); 23] = [
    ("org_no", no_of!("org", "$2")),
    ("space_no", no_of!("space", "$3")),
    ("type_no", no_of!("type", "$4")),
    ("status_no", no_of!("status", "$5")),
    ("category", "$6"),
    ("priority_no", no_of!("priority", "$7")),
    ("resolution_no", no_of!("resolution", "$8")),
    ("assignee_no", no_of!("person", "$9")),
    ("reporter_no", no_of!("person", "$10")),
    ("creator_no", no_of!("person", "$11")),
    ("parent_seq", "(SELECT p.seq FROM issues p WHERE p.id = $12)"),
    ("due", "$13"),
    ("start_day", "$14"),
    ("created", "$15"),
    ("updated", "$16"),
    ("resolved", "$17"),
    ("story_points", "$18"),
    ("original_estimate", "$19"),
    ("remaining_estimate", "$20"),
    ("watchers", "$21"),
    ("number", "$22"),
    ("version", "$23"),
    ("votes", "$24"),
];

fn row_values(issue: &Issue) -> Vec<Value> {
    let text = |id: Option<String>| Value::from(id);
    let category: i64 = match issue.status_category {
        Category::Todo => 0,
        Category::InProgress => 1,
        Category::Done => 2,
    };
    vec![
        issue.issue_id.to_string().into(),
        issue.org_id.to_string().into(),
        issue.space_id.to_string().into(),
        issue.type_id.clone().into(),
        issue.status_id.clone().into(),
        category.into(),
        text(issue.priority_id.clone()),
        text(issue.resolution_id.clone()),
        text(issue.assignee_id.map(|id| id.to_string())),
        text(issue.reporter_id.map(|id| id.to_string())),
        text(issue.creator_id.map(|id| id.to_string())),
        text(issue.parent_id.map(|id| id.to_string())),
        issue.due_date.as_deref().and_then(day_of).into(),
        issue.start_date.as_deref().and_then(day_of).into(),
        issue.created_at.0.into(),
        issue.updated_at.0.into(),
        issue.resolved_at.map(|at| at.0).into(),
        issue.story_points.into(),
        issue.original_estimate.into(),
        issue.remaining_estimate.into(),
        i64::try_from(issue.watchers.len()).unwrap_or(i64::MAX).into(),
        issue.number.into(),
        issue.version.into(),
        i64::try_from(issue.voters.len()).unwrap_or(i64::MAX).into(),
    ]
}

/// The fields that stand among the terms, each with the kind of its values.
const TERMS: [(&str, &str); 11] = [
    ("labels", "label"),
    ("watcher", "person"),
    ("voter", "person"),
    ("component", "component"),
    ("fixVersion", "version"),
    ("affectedVersion", "version"),
    ("sprint", "sprint"),
    ("approvals", "approval"),
    ("requestType", "requestType"),
    ("channel", "channel"),
    ("participants", "person"),
];

/// A text as the index has it: each word behind the letters of its organization.
fn words_of(org_id: OrgId, text: &str) -> String {
    let letters = org_letters(org_id);
    let words: Vec<_> =
        indexed(text).split(' ').filter(|word| !word.is_empty()).map(|word| format!("{letters}{word}")).collect();
    words.join(" ")
}

impl Change {
    /// Adds an issue, with all that it is found by.
    pub fn issue_add(&mut self, stored: &StoredIssue) {
        let issue = &stored.issue;
        self.issue_values_known(issue);
        let names: Vec<_> = COLUMNS.iter().map(|(name, _)| *name).collect();
        let set: Vec<_> = COLUMNS.iter().map(|(_, value)| *value).collect();
        let statement =
            format!("INSERT INTO issues (id, {}, rank) VALUES ($1, {}, $25)", names.join(", "), set.join(", "));
        let mut values = row_values(issue);
        values.push(issue.rank.clone().into());
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        let statement = "INSERT INTO issue_docs (id, org_id, space_id, summary, doc, description, version) \
                         VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let values = [
            issue.issue_id.to_string().into(),
            issue.org_id.to_string().into(),
            issue.space_id.to_string().into(),
            issue.summary.clone().into(),
            json::text(issue).into(),
            stored.description.clone().into(),
            issue.version.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        for (field, kind) in TERMS.into_iter().filter(|(field, _)| !issue.kept(field).is_empty()) {
            self.issue_terms_set(issue, field, kind);
        }
        self.issue_parts_stay(issue, None);
        self.issue_texts_set(stored, None);
    }

    /// Writes an issue, whose version was counted; stale where it isn't in the version before.
    pub fn issue_set(&mut self, stored: &StoredIssue, before: &StoredIssue) {
        let issue = &stored.issue;
        self.issue_values_known(issue);
        let set: Vec<_> = COLUMNS.iter().map(|(name, value)| format!("{name} = {value}")).collect();
        let statement =
            format!("UPDATE issues SET {} WHERE id = $1 AND version = $25 AND deleted_at IS NULL", set.join(", "));
        let mut values = row_values(issue);
        values.push(before.issue.version.into());
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        let statement =
            "UPDATE issue_docs SET summary = $2, doc = $3, description = $4, version = $5, space_id = $6 WHERE id = $1";
        let values = [
            issue.issue_id.to_string().into(),
            issue.summary.clone().into(),
            json::text(issue).into(),
            stored.description.clone().into(),
            issue.version.into(),
            issue.space_id.to_string().into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        for (field, kind) in TERMS.into_iter().filter(|(field, _)| issue.kept(field) != before.issue.kept(field)) {
            self.issue_terms_set(issue, field, kind);
        }
        self.issue_parts_stay(issue, Some(&before.issue));
        self.issue_texts_set(stored, Some(before));
    }

    /// Takes an issue out of sight, for good or until it is brought back; stale where it changed, or something stands below it.
    pub fn issue_trash(&mut self, issue: &Issue, at: Timestamp) {
        let statement = "UPDATE issues SET deleted_at = $3, version = version + 1 \
                         WHERE id = $1 AND version = $2 AND deleted_at IS NULL";
        let values = [issue.issue_id.to_string().into(), issue.version.into(), at.0.into()];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
        let below = "UPDATE issues SET version = version WHERE parent_seq = (SELECT p.seq FROM issues p WHERE p.id = $1) \
                     AND deleted_at IS NULL";
        self.run_statement(Sql::new(below, [issue.issue_id.to_string().into()]), Expect::Rows(0));
    }

    /// Gives all that an issue has its numbers.
    fn issue_values_known(&mut self, issue: &Issue) {
        let org_id = issue.org_id;
        self.issue_value_known(org_id, Known::new("org", org_id));
        self.issue_value_known(org_id, Known::new("space", issue.space_id));
        self.issue_value_known(org_id, Known::new("type", &issue.type_id));
        self.issue_value_known(org_id, Known::new("status", &issue.status_id));
        for (kind, value) in [("priority", &issue.priority_id), ("resolution", &issue.resolution_id)] {
            if let Some(value) = value {
                self.issue_value_known(org_id, Known::new(kind, value));
            }
        }
        let people = [issue.assignee_id, issue.reporter_id, issue.creator_id].into_iter().flatten();
        for person in people.chain(issue.watchers.iter().copied()).chain(issue.voters.iter().copied()) {
            self.issue_value_known(org_id, Known::new("person", person));
        }
        for person in &issue.participants {
            self.issue_value_known(org_id, Known::new("person", person));
        }
        for (field, kind) in TERMS.into_iter().filter(|(_, kind)| !matches!(*kind, "label" | "person")) {
            for id in issue.kept(field) {
                self.issue_value_known(org_id, Known::new(kind, id));
            }
        }
        for label in &issue.labels {
            let value = domain::issues::label::folded(label);
            self.issue_value_known(org_id, Known { kind: "label", value, label: label.clone() });
        }
    }

    fn issue_terms_set(&mut self, issue: &Issue, field: &'static str, kind: &'static str) {
        let statement = "DELETE FROM issue_terms WHERE seq = (SELECT seq FROM issues WHERE id = $1) AND field = $2";
        self.on_issue(statement, issue.issue_id, [field.into()]);
        for value in issue.kept(field) {
            let statement = "INSERT INTO issue_terms (value_no, field, seq) SELECT v.no, $2, i.seq FROM issues i \
                             CROSS JOIN issue_values v WHERE i.id = $1 AND v.org_id = $3 AND v.kind = $4 AND v.value = $5";
            let values = [field.into(), issue.org_id.to_string().into(), kind.into(), value.into()];
            self.on_issue(statement, issue.issue_id, values);
        }
    }

    fn issue_texts_set(&mut self, stored: &StoredIssue, before: Option<&StoredIssue>) {
        let texts = |it: &StoredIssue| {
            let environment = it.issue.environment.clone().unwrap_or_default();
            [
                ("summary", it.issue.summary.clone()),
                ("description", it.description.clone()),
                ("environment", environment),
            ]
        };
        let known = before.map(texts);
        for (at, (field, text)) in texts(stored).into_iter().enumerate() {
            let was = known.as_ref().map_or("", |known| known[at].1.as_str());
            if text != was {
                let doc = format!("{}/{field}", stored.issue.issue_id);
                self.issue_text_put(&stored.issue, (&doc, field), &text);
            }
        }
    }

    /// Has an issue be found by a text; an empty one is no text.
    pub(super) fn issue_text_put(&mut self, issue: &Issue, (doc, field): (&str, &'static str), text: &str) {
        if text.is_empty() {
            let statement = "DELETE FROM issue_texts WHERE doc = $1";
            self.run_statement(Sql::new(statement, [doc.to_owned().into()]), Expect::Any);
            return;
        }
        let statement = "INSERT INTO issue_texts (doc, seq, field, words) SELECT $2, seq, $3, $4 FROM issues WHERE id = $1 \
                         ON CONFLICT (doc) DO UPDATE SET words = excluded.words";
        let values = [doc.to_owned().into(), field.into(), words_of(issue.org_id, text).into()];
        self.on_issue(statement, issue.issue_id, values);
    }
}
