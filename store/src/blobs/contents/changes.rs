//! What commits do with contents: name, count, join.

use std::{collections::BTreeMap, fmt::Write as _};

use domain::{
    Timestamp,
    id::{ContentId, OrgId},
};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, IntoActiveModel, QueryFilter, Value};

use super::{NewContent, content_row, doomed_row, pending_row, scrub, segment_row, signed};
use crate::{
    Change, Expect,
    blobs::BlobKey,
    change::{Form, RowStatement},
    sql::Sql,
};

/// Content; organization, times.
static REF: RowStatement = RowStatement {
    tables: &["contents"],
    text: "UPDATE contents SET refs = contents.refs + new.column3 FROM (/*rows*/) AS new \
           WHERE contents.id = new.column1 AND contents.org_id = new.column2 AND contents.refs > 0",
    form: Form::Listed,
    key: 1,
    expect: Expect::Rows(1),
};
/// Content; organization, times, now.
static UNREF: RowStatement = RowStatement {
    tables: &["contents"],
    text: "UPDATE contents SET refs = contents.refs - new.column3, \
           doomed_at = CASE WHEN contents.refs = new.column3 THEN new.column4 END FROM (/*rows*/) AS new \
           WHERE contents.id = new.column1 AND contents.org_id = new.column2 AND contents.refs >= new.column3",
    form: Form::Listed,
    key: 1,
    expect: Expect::Rows(1),
};
/// Small contents that nothing refers to any more.
static FORGET: RowStatement = RowStatement {
    tables: &["contents"],
    text: "DELETE FROM contents WHERE id IN (/*rows*/) AND refs = 0 AND bytes IS NOT NULL",
    form: Form::Listed,
    key: 1,
    expect: Expect::Any,
};

/// Contents that one statement names.
const ROWS_MAX: usize = 500;

/// A content that becomes a part of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContentPart {
    /// Its id. Only one thing refers to it.
    pub id: ContentId,
    /// Its size in bytes.
    pub size: u64,
}

impl Change {
    /// Names `content`, which is referred to once from then on. Stale when it was given up meanwhile, a day after it was written.
    pub fn content_put(&mut self, now: Timestamp, content: &NewContent) {
        if let Some(blob) = content.blob() {
            let pending = pending_row::Entity::delete_many().filter(pending_row::Column::Blob.eq(blob.as_str()));
            self.run(pending, Expect::Rows(1));
        }
        self.insert(content_row::ActiveModel {
            id: Set(content.id.to_string()),
            org_id: Set(content.org_id.to_string()),
            size: Set(signed(content.size)),
            refs: Set(1),
            created_at: Set(now.0),
            doomed_at: Set(None),
            md5: Set(Some(content.md5.to_vec())),
            sha256: Set(Some(content.sha256.to_vec())),
            bytes: Set(content.bytes.as_ref().map(|bytes| bytes.to_vec())),
        });
        if let Some(blob) = content.blob() {
            let row = segment_row::Model {
                content_id: content.id.to_string(),
                start: 0,
                size: signed(content.size),
                blob: Some(blob.to_string()),
                scrub_due: Some(now.after(scrub::EVERY).0),
                scrubbed_at: None,
                fault: None,
                sha256: content.sha256.to_vec(),
                bytes: None,
            };
            self.insert(row.into_active_model());
        }
    }

    /// Counts each of the organization's contents once more for each time that it is named. Stale where one is gone.
    pub fn contents_ref(&mut self, org_id: OrgId, ids: impl IntoIterator<Item = ContentId>) {
        for (id, times) in counted(ids) {
            self.row(&REF, [id.to_string().into(), org_id.to_string().into(), times.into()]);
        }
    }

    /// Counts each of the organization's contents once less for each time that it is named. One that nothing refers to any more
    /// is gone; blobs stay for a while. Stale where one is gone already.
    pub fn contents_unref(&mut self, now: Timestamp, org_id: OrgId, ids: impl IntoIterator<Item = ContentId>) {
        let counted = counted(ids);
        // All of one kind follow one another: so the writer makes one statement of them.
        for (id, times) in &counted {
            self.row(&UNREF, [id.to_string().into(), org_id.to_string().into(), (*times).into(), now.0.into()]);
        }
        for (id, _) in counted {
            self.row(&FORGET, [id.to_string().into()]);
        }
    }

    /// Makes one content of `parts`, in their order, which is referred to once. No byte is copied: it takes their blobs over, and
    /// the parts are gone. Stale where one is gone, has another size, or is referred to more than once.
    pub fn content_join(&mut self, now: Timestamp, org_id: OrgId, parts: &[ContentPart]) -> ContentId {
        let id = ContentId::new(now);
        let size = parts.iter().map(|part| part.size).sum::<u64>();
        let mut start = 0;
        for chunk in parts.chunks(ROWS_MAX) {
            let starts = chunk.iter().map(|part| {
                let placed = (part.id, signed(start));
                start += part.size;
                placed
            });
            let (rows, values) = listed(&starts.collect::<Vec<_>>());
            self.join_chunk(id, org_id, chunk, (&rows, &values));
        }
        self.insert(content_row::ActiveModel {
            id: Set(id.to_string()),
            org_id: Set(org_id.to_string()),
            size: Set(signed(size)),
            refs: Set(1),
            created_at: Set(now.0),
            doomed_at: Set(None),
            md5: Set(None),
            sha256: Set(None),
            bytes: Set((size == 0).then(Vec::new)),
        });
        id
    }

    /// Moves the segments of some parts, makes segments of those that are small, and takes the parts away.
    fn join_chunk(&mut self, id: ContentId, org_id: OrgId, chunk: &[ContentPart], named: (&str, &[Value])) {
        let (rows, values) = named;
        let with = format!("WITH named(content, place) AS (VALUES {rows})");
        let mut moving = values.to_vec();
        let joined = place(&mut moving, id.to_string());
        let text = format!(
            "{with} UPDATE content_segments SET content_id = {joined}, start = start + named.place \
             FROM named WHERE content_segments.content_id = named.content"
        );
        self.run_statement(Sql::new(text, moving), Expect::Any);
        let mut taking = values.to_vec();
        let joined = place(&mut taking, id.to_string());
        let text = format!(
            "{with} INSERT INTO content_segments (content_id, start, size, sha256, bytes) \
             SELECT CAST({joined} AS TEXT), named.place, contents.size, contents.sha256, contents.bytes \
             FROM named JOIN contents ON contents.id = named.content \
             WHERE contents.bytes IS NOT NULL AND contents.size > 0"
        );
        self.run_statement(Sql::new(text, taking), Expect::Any);
        let sizes = chunk.iter().map(|part| (part.id, signed(part.size))).collect::<Vec<_>>();
        let (rows, mut values) = listed(&sizes);
        let org = place(&mut values, org_id.to_string());
        let text = format!(
            "WITH named(content, size) AS (VALUES {rows}) DELETE FROM contents \
             WHERE (id, size) IN (SELECT content, size FROM named) AND org_id = {org} AND refs = 1"
        );
        self.run_statement(Sql::new(text, values), Expect::Rows(chunk.len() as u64));
    }

    /// Has a blob that no row names any more deleted at `due` or later; not while blobs are copied.
    pub fn blob_doom(&mut self, blob: &BlobKey, due: Timestamp) {
        self.insert(doomed_row::Model { blob: blob.to_string(), due: due.0 }.into_active_model());
    }
}

/// Each content once, in one order for all commits, with how often it is named.
fn counted(ids: impl IntoIterator<Item = ContentId>) -> Vec<(ContentId, i64)> {
    let mut counted = BTreeMap::new();
    for id in ids {
        *counted.entry(id).or_insert(0) += 1;
    }
    counted.into_iter().collect()
}

/// The rows of a VALUES list, and their values. PostgreSQL takes the types from the first row.
fn listed(rows: &[(ContentId, i64)]) -> (String, Vec<Value>) {
    let (mut text, mut values) = (String::new(), Vec::with_capacity(rows.len() * 2 + 2));
    for (id, number) in rows {
        let (id, number) = (place(&mut values, id.to_string()), place(&mut values, *number));
        // Writing to a text doesn't fail.
        let _ = if text.is_empty() {
            write!(text, "(CAST({id} AS TEXT), CAST({number} AS BIGINT))")
        } else {
            write!(text, ", ({id}, {number})")
        };
    }
    (text, values)
}

/// Adds a value; how the statement names it.
fn place(values: &mut Vec<Value>, value: impl Into<Value>) -> String {
    values.push(value.into());
    format!("${}", values.len())
}
