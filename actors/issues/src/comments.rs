//! Comments on an issue.

use domain::{
    Error, Result,
    id::{IssueCommentId, OrgId},
    issues::{
        access::Permission,
        issue::Comment,
        limits::{COMMENT_LEN_MAX, COMMENT_NOT_FOUND, COMMENTS_MAX},
        sla::Said,
    },
};
use kernel::{Command, Handle, Turn};
use store::Change;

use super::{
    clocks::{Clocks, Happened},
    fields::touched,
    issue::{IssueOwner, Opened},
    telling::tell_mentioned,
};

/// Writes a comment.
#[derive(Clone, Debug)]
pub struct AddComment {
    /// The organization.
    pub org_id: OrgId,
    /// Markdown.
    pub body: String,
    /// Whether those who raised the request shall read it.
    pub public: bool,
}

/// Changes a comment.
#[derive(Clone, Debug)]
pub struct EditComment {
    /// The organization.
    pub org_id: OrgId,
    /// Which one.
    pub id: IssueCommentId,
    /// Markdown.
    pub body: String,
}

/// Deletes a comment.
#[derive(Clone, Copy, Debug)]
pub struct DeleteComment {
    /// The organization.
    pub org_id: OrgId,
    /// Which one.
    pub id: IssueCommentId,
}

impl Command for AddComment {
    type Reply = Comment;

    const NAME: &'static str = "add_issue_comment";
}

impl Command for EditComment {
    type Reply = Comment;

    const NAME: &'static str = "edit_issue_comment";
}

impl Command for DeleteComment {
    type Reply = ();

    const NAME: &'static str = "delete_issue_comment";
}

fn checked(body: &str) -> Result<String> {
    let body = body.trim();
    if (1..=COMMENT_LEN_MAX).contains(&body.chars().count()) && !body.contains('\0') {
        return Ok(body.to_owned());
    }
    Err(Error::invalid("body", "Use 1 to 32000 characters."))
}

/// The comment, which is the caller's own, or which they may touch with this permission.
async fn touching(
    turn: &Turn<'_, IssueOwner>,
    opened: &Opened,
    id: IssueCommentId,
    others: Permission,
) -> Result<Comment> {
    let found = turn.services().store.issue_comment(opened.stored.issue.issue_id, id).await?;
    let comment = found.ok_or_else(|| Error::not_found(COMMENT_NOT_FOUND))?;
    let permission = if comment.author_id == opened.person { Permission::Comment } else { others };
    opened.require(permission)?;
    Ok(comment)
}

impl Handle<AddComment> for IssueOwner {
    async fn handle(&mut self, command: &AddComment, turn: &mut Turn<'_, Self>) -> Result<Comment> {
        let opened = Opened::of(turn, command.org_id).await?;
        opened.require(if command.public { Permission::ServiceAgent } else { Permission::Comment })?;
        super::portal::require_desk(&opened.space, command.public)?;
        let (body, now) = (checked(&command.body)?, turn.now());
        let mut after = opened.stored.clone();
        if u64::try_from(after.issue.comment_count).unwrap_or(0) >= COMMENTS_MAX {
            return Err(Error::bad_request("limit_reached", format!("An issue has at most {COMMENTS_MAX} comments.")));
        }
        let comment = Comment {
            comment_id: IssueCommentId::new(now),
            issue_id: after.issue.issue_id,
            author_id: opened.person,
            body,
            public: command.public,
            version: 1,
            created_at: now,
            updated_at: now,
        };
        after.issue.comment_count += 1;
        after.issue.watch(opened.person);
        touched(&mut after, now);
        let mut change = Change::new();
        let (store, is_customer) = (&turn.services().store, after.issue.reporter_id == Some(opened.person));
        let said = command.public.then_some(if is_customer { Said::ByCustomer } else { Said::ByAgent });
        let happened = Happened { before: Some(&opened.stored.issue), said };
        let clocks = Clocks::follow(store, &opened.space, (happened, &mut after.issue), now).await?;
        change.issue_set(&after, &opened.stored);
        clocks.write(&mut change, (&opened.space, &after.issue), now);
        change.issue_comment_add(&after.issue, &comment);
        let texts = ("", comment.body.as_str());
        tell_mentioned(&mut change, store, (&opened.space, &after.issue), texts, (opened.person, now)).await?;
        super::portal::tell_said(&mut change, store, &after.issue, (&comment, now)).await?;
        turn.commit(change).await?;
        Ok(comment)
    }
}

impl Handle<EditComment> for IssueOwner {
    async fn handle(&mut self, command: &EditComment, turn: &mut Turn<'_, Self>) -> Result<Comment> {
        let opened = Opened::of(turn, command.org_id).await?;
        let mut comment = touching(turn, &opened, command.id, Permission::EditComments).await?;
        let body = checked(&command.body)?;
        if body == comment.body {
            return Ok(comment);
        }
        let before = std::mem::replace(&mut comment.body, body);
        comment.version += 1;
        comment.updated_at = turn.now();
        let mut after = opened.stored.clone();
        touched(&mut after, turn.now());
        let mut change = Change::new();
        change.issue_set(&after, &opened.stored);
        change.issue_comment_set(&after.issue, &comment);
        let (store, of, texts) =
            (&turn.services().store, (&opened.space, &after.issue), (before.as_str(), comment.body.as_str()));
        tell_mentioned(&mut change, store, of, texts, (opened.person, turn.now())).await?;
        super::portal::tell_unsaid(&mut change, &turn.services().store, &after.issue, (&comment, turn.now())).await?;
        turn.commit(change).await?;
        Ok(comment)
    }
}

impl Handle<DeleteComment> for IssueOwner {
    async fn handle(&mut self, command: &DeleteComment, turn: &mut Turn<'_, Self>) -> Result<()> {
        let opened = Opened::of(turn, command.org_id).await?;
        let comment = touching(turn, &opened, command.id, Permission::DeleteComments).await?;
        let mut after = opened.stored.clone();
        after.issue.comment_count -= 1;
        touched(&mut after, turn.now());
        let mut change = Change::new();
        change.issue_set(&after, &opened.stored);
        change.issue_comment_remove(&after.issue, command.id);
        super::portal::tell_unsaid(&mut change, &turn.services().store, &after.issue, (&comment, turn.now())).await?;
        turn.commit(change).await
    }
}
