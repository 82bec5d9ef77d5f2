//! Messages about requests, those that came in and those that went out, and comments that were written by mail.

use std::collections::HashMap;

use domain::{
    Timestamp,
    id::{IssueCommentId, IssueId, OrgId, SpaceId},
    mail::MessageIdHash,
};

use crate::{Change, Expect, Store, StoreError, reader::row, sql::Sql};

/// Messages of a conversation that its next one names.
const NAMED_MAX: i64 = 20;

/// A message about a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssueMessage {
    /// The request.
    pub issue_id: IssueId,
    /// The organization.
    pub org_id: OrgId,
    /// The space whose desk it came to or went out from.
    pub space_id: SpaceId,
    /// Its Message-ID, without brackets.
    pub message_id: String,
    /// Who wrote it, or to whom it went, in small letters.
    pub address: String,
    /// Whether it went out.
    pub is_out: bool,
    /// The comment that it became.
    pub comment_id: Option<IssueCommentId>,
    /// When.
    pub at: Timestamp,
}

/// What is known of a comment that was written by mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MailComment {
    /// The comment.
    pub comment_id: IssueCommentId,
    /// Its sender.
    pub email: String,
    /// Whether nobody vouches for its sender.
    pub unverified: bool,
    /// What stood below the line above which answers are written.
    pub quoted: Option<String>,
}

row! {
    struct NamedRow {
        message_hash: String,
        issue_id: String,
        is_out: i64,
    }
}

row! {
    struct IdRow {
        message_id: String,
    }
}

row! {
    struct CountRow {
        count: i64,
    }
}

row! {
    struct CommentRow {
        comment_id: String,
        email: String,
        unverified: i64,
        quoted: Option<String>,
    }
}

impl Store {
    /// The request that one of these messages is about: of the one that stands first.
    pub async fn issue_of_messages(
        &self,
        org_id: OrgId,
        messages: &[MessageIdHash],
    ) -> Result<Option<IssueId>, StoreError> {
        if messages.is_empty() {
            return Ok(None);
        }
        let statement = format!(
            "SELECT message_hash, issue_id, is_out FROM issue_messages WHERE org_id = $1 AND message_hash IN ({})",
            super::super::rows::places(2, messages.len())
        );
        let named = messages.iter().map(|hash| hash.as_str().into());
        let values = std::iter::once(org_id.to_string().into()).chain(named);
        let rows: Vec<NamedRow> = self.reader().rows(&Sql::new(statement, values)).await?;
        let place = |row: &NamedRow| messages.iter().position(|hash| hash.as_str() == row.message_hash);
        // Of several requests that one message is about, the youngest is meant.
        let first = rows.iter().min_by_key(|row| (place(row), std::cmp::Reverse(row.issue_id.clone())));
        first.map(|row| row.issue_id.parse().map_err(|_| StoreError::corrupt("issue_messages.issue_id"))).transpose()
    }

    /// Whether the message is known in the space, and then whether it went out from there.
    pub async fn issue_message_known(
        &self,
        space_id: SpaceId,
        org_id: OrgId,
        message: &MessageIdHash,
    ) -> Result<Option<bool>, StoreError> {
        let statement = "SELECT message_hash, issue_id, is_out FROM issue_messages \
                         WHERE org_id = $1 AND message_hash = $2 AND space_id = $3 LIMIT 1";
        let values = [org_id.to_string().into(), message.as_str().into(), space_id.to_string().into()];
        let row: Option<NamedRow> = self.reader().row(&Sql::new(statement, values)).await?;
        Ok(row.map(|row| row.is_out == 1))
    }

    /// The Message-IDs of what was written between a request's desk and an address, the oldest first; the last ones of them.
    pub async fn issue_messages_with(&self, id: IssueId, address: &str) -> Result<Vec<String>, StoreError> {
        let statement = "SELECT message_id FROM issue_messages WHERE issue_id = $1 AND address = $2 \
                         ORDER BY at DESC, is_out DESC, message_hash LIMIT $3";
        let values = [id.to_string().into(), address.into(), NAMED_MAX.into()];
        let rows: Vec<IdRow> = self.reader().rows(&Sql::new(statement, values)).await?;
        Ok(rows.into_iter().rev().map(|row| row.message_id).collect())
    }

    /// How many messages about a request went out to an address after `since`.
    pub async fn issue_messages_sent(&self, id: IssueId, address: &str, since: Timestamp) -> Result<u64, StoreError> {
        let statement = "SELECT COUNT(*) AS count FROM issue_messages \
                         WHERE issue_id = $1 AND address = $2 AND at > $3 AND is_out = 1";
        let values = [id.to_string().into(), address.into(), since.0.into()];
        let row: Option<CountRow> = self.reader().row(&Sql::new(statement, values)).await?;
        u64::try_from(row.map_or(0, |row| row.count)).map_err(StoreError::corrupt)
    }

    /// How many messages of an address came to a desk after `since`.
    pub async fn issue_messages_came(&self, id: SpaceId, address: &str, since: Timestamp) -> Result<u64, StoreError> {
        let statement = "SELECT COUNT(*) AS count FROM issue_messages \
                         WHERE space_id = $1 AND address = $2 AND at > $3 AND is_out = 0";
        let values = [id.to_string().into(), address.into(), since.0.into()];
        let row: Option<CountRow> = self.reader().row(&Sql::new(statement, values)).await?;
        u64::try_from(row.map_or(0, |row| row.count)).map_err(StoreError::corrupt)
    }

    /// What is known of the comments on an issue that were written by mail.
    pub async fn issue_mail_comments(&self, id: IssueId) -> Result<HashMap<IssueCommentId, MailComment>, StoreError> {
        let statement = "SELECT comment_id, email, unverified, quoted FROM issue_mail_comments WHERE issue_id = $1";
        let rows: Vec<CommentRow> = self.reader().rows(&Sql::new(statement, [id.to_string().into()])).await?;
        let read = |row: CommentRow| {
            let comment_id: IssueCommentId =
                row.comment_id.parse().map_err(|_| StoreError::corrupt("issue_mail_comments.comment_id"))?;
            let unverified = row.unverified == 1;
            Ok((comment_id, MailComment { comment_id, email: row.email, unverified, quoted: row.quoted }))
        };
        rows.into_iter().map(read).collect()
    }
}

impl Change {
    /// Keeps that a message is about a request; nothing where that is known.
    pub fn issue_message_add(&mut self, message: &IssueMessage) {
        let statement = "INSERT INTO issue_messages (issue_id, message_hash, org_id, space_id, message_id, address, is_out, \
                         comment_id, at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
                         ON CONFLICT (issue_id, message_hash) DO NOTHING";
        let values = [
            message.issue_id.to_string().into(),
            MessageIdHash::of(&message.message_id).as_str().into(),
            message.org_id.to_string().into(),
            message.space_id.to_string().into(),
            message.message_id.clone().into(),
            message.address.clone().into(),
            i64::from(message.is_out).into(),
            message.comment_id.map(|id| id.to_string()).into(),
            message.at.0.into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Any);
    }

    /// Keeps what is known of a comment that was written by mail.
    pub fn issue_mail_comment_add(&mut self, issue_id: IssueId, comment: &MailComment) {
        let statement = "INSERT INTO issue_mail_comments (comment_id, issue_id, email, unverified, quoted) \
                         VALUES ($1, $2, $3, $4, $5)";
        let values = [
            comment.comment_id.to_string().into(),
            issue_id.to_string().into(),
            comment.email.clone().into(),
            i64::from(comment.unverified).into(),
            comment.quoted.clone().into(),
        ];
        self.run_statement(Sql::new(statement, values), Expect::Rows(1));
    }
}
