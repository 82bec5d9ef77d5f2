//! Changing what a comment says, and resolving a thread.

use domain::{
    Result,
    id::{OrgId, PageCommentId, UserId},
    pages::comment::Comment,
};
use kernel::{Command, Handle, Turn};

use super::{PageComments, WriteContext, members_check};

/// Changes a comment; nothing of what is `None`.
#[derive(Clone, Debug)]
pub struct ChangeComment {
    /// The organization that the page was asked for in.
    pub org_id: OrgId,
    /// Which.
    pub id: PageCommentId,
    /// What it says: for its author.
    pub body: Option<String>,
    /// Whom it mentions: for its author.
    pub mentions: Option<Vec<UserId>>,
    /// Whether its thread is resolved: for whoever may write the page.
    pub resolved: Option<bool>,
}

impl Command for ChangeComment {
    type Reply = Comment;

    const NAME: &'static str = "change_comment";
}

impl Handle<ChangeComment> for PageComments {
    async fn handle(&mut self, command: &ChangeComment, turn: &mut Turn<'_, Self>) -> Result<Comment> {
        let context = WriteContext::open(turn, command.org_id).await?;
        let (now, store) = (turn.now(), &turn.services().store);
        let before = context.comment(store, command.id).await?;
        let mut after = before.clone();
        if command.body.is_some() || command.mentions.is_some() {
            before.editable_by(context.by.user_id)?;
            after.body = command.body.clone().or(after.body);
            after.mentions = command.mentions.clone().unwrap_or(after.mentions);
            if (&after.body, &after.mentions) != (&before.body, &before.mentions) {
                after.edited_at = Some(now);
            }
        }
        if let Some(resolved) = command.resolved {
            before.resolvable()?;
            after.resolved = resolved.then(|| before.resolved.unwrap_or((now, context.by.user_id)));
        }
        if after == before {
            return Ok(before);
        }
        let people = before.newly_mentioned(&after.mentions);
        members_check(store, command.org_id, &after.mentions, &people).await?;
        let action = match (after.resolved.is_some(), before.resolved.is_some()) {
            (true, false) => "page.comment_resolved",
            (false, true) => "page.comment_reopened",
            _ => "page.comment_changed",
        };
        let mut change = context.write(turn, action, before.id);
        change.page_comment_set(&after);
        if after.resolved != before.resolved {
            change.page_answers_resolve(&after);
        }
        context.tell(&mut change, turn, &after, people);
        turn.commit(change).await?;
        Ok(Comment { version: after.version + 1, ..after })
    }
}
