//! What fields held, and when, by whom and how that changed.

use std::collections::HashMap;

use domain::{
    Timestamp,
    id::{IssueId, UserId},
    issues::issue::{FieldChange, Issue, KEPT_FIELDS, KEPT_TEXTS},
};

use super::{Known, rows::StoredIssue};
use crate::{Change, Expect, Store, StoreError, json, reader::row, sql::Sql};

/// Changes of one commit, at most: what their numbers leave room for.
pub(super) const CHANGES_AT_ONCE: i64 = 64;
/// Where what becomes of approvals stands among them.
const APPROVAL_PLACE: i64 = 56;

row! {
    struct ChangeRow {
        n: i64,
        at: i64,
        by_id: Option<String>,
        field: String,
        from_text: String,
        to_text: String,
        cause: String,
    }
}

/// A change of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HistoryRow {
    /// Its place in the issue's history.
    pub n: i64,
    /// When.
    pub at: Timestamp,
    /// By whom.
    pub by: Option<UserId>,
    /// Which field, as queries name it.
    pub field: String,
    /// What it held.
    pub from: Vec<String>,
    /// What it holds since.
    pub to: Vec<String>,
    /// What did it: `person`, `key`, `commit`, `pull`, `bulk` or `automation`.
    pub cause: String,
}

/// A change of an issue that is to be kept.
#[derive(Clone, Copy, Debug)]
pub struct IssueChanged<'a> {
    /// The issue as it was.
    pub before: &'a StoredIssue,
    /// The issue as it is.
    pub after: &'a StoredIssue,
    /// By whom.
    pub by: UserId,
    /// What did it.
    pub cause: &'static str,
    /// When.
    pub at: Timestamp,
}

impl TryFrom<ChangeRow> for HistoryRow {
    type Error = StoreError;

    fn try_from(row: ChangeRow) -> Result<Self, StoreError> {
        let by = row.by_id.map(|id| id.parse()).transpose();
        Ok(Self {
            n: row.n,
            at: Timestamp(row.at),
            // Whoever wrote by mail and has no account is nobody.
            by: by.map_err(|_| StoreError::corrupt("issue_changes.by_id"))?.filter(|by| *by != UserId::NIL),
            field: row.field,
            from: json::read("issue_changes.from_text", &row.from_text)?,
            to: json::read("issue_changes.to_text", &row.to_text)?,
            cause: row.cause,
        })
    }
}

/// The kind of a field's values; nothing for texts.
fn kind_of(field: &str) -> Option<&'static str> {
    KEPT_FIELDS.iter().find(|(name, _)| *name == field).map(|(_, kind)| *kind)
}

impl Store {
    /// The history of an issue, the last change first.
    pub async fn issue_history(
        &self,
        id: IssueId,
        before: Option<i64>,
        limit: u64,
    ) -> Result<Vec<HistoryRow>, StoreError> {
        let statement = "SELECT n, at, by_id, field, from_text, to_text, cause FROM issue_changes \
                         WHERE seq = (SELECT seq FROM issues WHERE id = $1) AND n < $2 ORDER BY n DESC LIMIT $3";
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let values = [id.to_string().into(), before.unwrap_or(i64::MAX).into(), limit.into()];
        let rows: Vec<ChangeRow> = self.reader().rows(&Sql::new(statement, values)).await?;
        rows.into_iter().map(HistoryRow::try_from).collect()
    }

    /// The histories of these issues, the first change first.
    pub async fn issue_histories(&self, issues: &[IssueId]) -> Result<HashMap<IssueId, Vec<HistoryRow>>, StoreError> {
        row! {
            struct OfIssueRow {
                id: String,
                n: i64,
                at: i64,
                by_id: Option<String>,
                field: String,
                from_text: String,
                to_text: String,
                cause: String,
            }
        }
        let mut found: HashMap<IssueId, Vec<HistoryRow>> = HashMap::new();
        if issues.is_empty() {
            return Ok(found);
        }
        let statement = format!(
            "SELECT i.id AS id, c.n AS n, c.at AS at, c.by_id AS by_id, c.field AS field, c.from_text AS from_text, \
             c.to_text AS to_text, c.cause AS cause FROM issue_changes c JOIN issues i ON i.seq = c.seq \
             WHERE i.id IN ({}) ORDER BY c.seq, c.n",
            super::rows::places(1, issues.len())
        );
        let rows: Vec<OfIssueRow> =
            self.reader().rows_of_many(&Sql::new(statement, issues.iter().map(|id| id.to_string().into()))).await?;
        for row in rows {
            let OfIssueRow { id, n, at, by_id, field, from_text, to_text, cause } = row;
            let row = ChangeRow { n, at, by_id, field, from_text, to_text, cause };
            let id: IssueId = id.parse().map_err(|_| StoreError::corrupt("an id of issues"))?;
            found.entry(id).or_default().push(HistoryRow::try_from(row)?);
        }
        Ok(found)
    }
}

impl Change {
    /// Keeps what a new issue's fields hold.
    pub fn issue_history_begin(&mut self, issue: &Issue, by: UserId) {
        self.issue_value_known(issue.org_id, Known::new("person", by));
        for (field, kind) in KEPT_FIELDS.into_iter().filter(|(field, _)| is_spanned(field)) {
            for value in issue.kept(field) {
                self.issue_value_known(issue.org_id, Known::new(kind, &value));
                self.issue_span_add(issue, (field, kind), &value, (issue.created_at, by));
            }
        }
    }

    /// Keeps what of an issue has changed.
    pub fn issue_history_add(&mut self, changed: IssueChanged<'_>) {
        let mut all = changed.after.issue.changes_since(&changed.before.issue);
        if changed.after.description != changed.before.description {
            all.push(FieldChange { field: "description", from: Vec::new(), to: Vec::new() });
        }
        for (at, change) in (0..).zip(&all) {
            let n = changed.after.issue.version * CHANGES_AT_ONCE + at;
            self.issue_change_add(changed, n, change);
            if let Some(kind) = kind_of(change.field) {
                self.issue_spans_turn(changed, (change.field, kind), change);
            }
        }
    }

    /// Keeps what became of an issue's approvals: each has a place of its own behind all that the commit keeps of fields.
    pub fn issue_approval_note(
        &mut self,
        changed: IssueChanged<'_>,
        (place, from, to): (i64, Vec<String>, Vec<String>),
    ) {
        let n = changed.after.issue.version * CHANGES_AT_ONCE + APPROVAL_PLACE + place;
        let change = FieldChange { field: "approvals", from, to };
        self.issue_change_add(changed, n, &change);
    }

    pub(super) fn issue_change_add(&mut self, changed: IssueChanged<'_>, n: i64, change: &FieldChange) {
        let issue = &changed.after.issue;
        // What a text said before isn't told again.
        let is_text = change.field == "description" || KEPT_TEXTS.contains(&change.field) && change.field != "summary";
        let said = |values: &Vec<String>| if is_text { "[]".to_owned() } else { json::text(values) };
        self.issue_value_known(issue.org_id, Known::new("person", changed.by));
        let statement = "INSERT INTO issue_changes (seq, n, at, by_no, field, from_text, to_text, from_empty, to_empty, \
                         cause, by_id) SELECT i.seq, $2, $3, v.no, $4, $5, $6, $7, $8, $9, $10 FROM issues i \
                         CROSS JOIN issue_values v WHERE i.id = $1 AND v.org_id = $11 AND v.kind = 'person' AND v.value = $10";
        let values = [
            n.into(),
            changed.at.0.into(),
            change.field.into(),
            said(&change.from).into(),
            said(&change.to).into(),
            i64::from(change.from.is_empty()).into(),
            i64::from(change.to.is_empty()).into(),
            changed.cause.into(),
            changed.by.to_string().into(),
            issue.org_id.to_string().into(),
        ];
        self.on_issue(statement, issue.issue_id, values);
        let Some(kind) = kind_of(change.field) else { return };
        for (side, here, there) in [(0_i64, &change.from, &change.to), (1, &change.to, &change.from)] {
            for value in here.iter().filter(|value| !there.contains(value)) {
                self.issue_value_known(issue.org_id, Known::new(kind, value));
                let statement = "INSERT INTO issue_change_values (seq, n, side, value_no) SELECT i.seq, $2, $3, v.no \
                                 FROM issues i CROSS JOIN issue_values v WHERE i.id = $1 AND v.org_id = $4 \
                                 AND v.kind = $5 AND v.value = $6";
                let values =
                    [n.into(), side.into(), issue.org_id.to_string().into(), kind.into(), value.clone().into()];
                self.on_issue(statement, issue.issue_id, values);
            }
        }
    }

    /// Ends the spans of what a field no longer holds, and begins those of what it holds since.
    fn issue_spans_turn(
        &mut self,
        changed: IssueChanged<'_>,
        (field, kind): (&'static str, &str),
        change: &FieldChange,
    ) {
        let (issue, at) = (&changed.after.issue, changed.at);
        if change.from.is_empty() {
            let statement = "INSERT INTO issue_spans (seq, field, value_no, from_at, to_at, by_no) \
                             SELECT i.seq, $2, NULL, i.created, $3, i.creator_no FROM issues i WHERE i.id = $1 \
                             AND NOT EXISTS (SELECT 1 FROM issue_spans s WHERE s.seq = i.seq AND s.field = $2)";
            self.on_issue(statement, issue.issue_id, [field.into(), at.0.into()]);
            let statement = "UPDATE issue_spans SET to_at = $3 WHERE seq = (SELECT seq FROM issues WHERE id = $1) \
                             AND field = $2 AND value_no IS NULL AND to_at IS NULL";
            self.on_issue(statement, issue.issue_id, [field.into(), at.0.into()]);
        }
        for value in change.from.iter().filter(|value| !change.to.contains(value)) {
            let statement = "UPDATE issue_spans SET to_at = $3 WHERE seq = (SELECT seq FROM issues WHERE id = $1) \
                             AND field = $2 AND to_at IS NULL AND value_no = \
                             (SELECT no FROM issue_values WHERE org_id = $4 AND kind = $5 AND value = $6)";
            let values = [
                field.into(),
                at.0.into(),
                issue.org_id.to_string().into(),
                kind.to_owned().into(),
                value.clone().into(),
            ];
            self.on_issue(statement, issue.issue_id, values);
        }
        for value in change.to.iter().filter(|value| !change.from.contains(value)) {
            self.issue_span_add(issue, (field, kind), value, (at, changed.by));
        }
        if change.to.is_empty() {
            let statement = "INSERT INTO issue_spans (seq, field, value_no, from_at, to_at, by_no) \
                             SELECT i.seq, $2, NULL, $3, NULL, v.no FROM issues i CROSS JOIN issue_values v \
                             WHERE i.id = $1 AND v.org_id = $4 AND v.kind = 'person' AND v.value = $5";
            let values = [field.into(), at.0.into(), issue.org_id.to_string().into(), changed.by.to_string().into()];
            self.on_issue(statement, issue.issue_id, values);
        }
    }

    fn issue_span_add(
        &mut self,
        issue: &Issue,
        (field, kind): (&str, &str),
        value: &str,
        (at, by): (Timestamp, UserId),
    ) {
        let statement = "INSERT INTO issue_spans (seq, field, value_no, from_at, to_at, by_no) \
                         SELECT i.seq, $2, v.no, $3, NULL, b.no FROM issues i CROSS JOIN issue_values v \
                         CROSS JOIN issue_values b WHERE i.id = $1 AND v.org_id = $4 AND v.kind = $5 AND v.value = $6 \
                         AND b.org_id = $4 AND b.kind = 'person' AND b.value = $7";
        let values = [
            field.to_owned().into(),
            at.0.into(),
            issue.org_id.to_string().into(),
            kind.to_owned().into(),
            value.to_owned().into(),
            by.to_string().into(),
        ];
        let all = std::iter::once(issue.issue_id.to_string().into()).chain(values);
        self.run_statement(Sql::new(statement, all), Expect::Rows(1));
    }
}

/// Whether the times are kept in which a field held what it held.
fn is_spanned(field: &str) -> bool {
    !matches!(field, "creator" | "watcher" | "voter")
}
