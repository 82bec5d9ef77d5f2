//! Writing a comment.

use domain::{
    Error, Result,
    id::{OrgId, PageCommentId},
    pages::comment::{COMMENTS_MAX, Comment, CommentText},
};
use kernel::{Command, Handle, Turn};

use super::{PageComments, WriteContext, members_check};

/// Writes a comment on the page, on a block of it, or in answer to another.
#[derive(Clone, Debug)]
pub struct AddComment {
    /// The organization that the page was asked for in.
    pub org_id: OrgId,
    /// What it says.
    pub text: CommentText,
    /// The block that it is about; an answer is about that of its thread.
    pub block_id: Option<String>,
    /// The comment that begins the thread that it belongs to.
    pub thread_id: Option<PageCommentId>,
}

impl Command for AddComment {
    type Reply = Comment;

    const NAME: &'static str = "add_comment";
}

impl Handle<AddComment> for PageComments {
    async fn handle(&mut self, command: &AddComment, turn: &mut Turn<'_, Self>) -> Result<Comment> {
        let AddComment { org_id, text, block_id, thread_id } = command;
        let context = WriteContext::open(turn, *org_id).await?;
        let (now, store) = (turn.now(), &turn.services().store);
        let thread = match thread_id {
            Some(id) => Some(thread(&context, turn, *id).await?),
            None => None,
        };
        if store.page_comments_count(context.page.id).await? >= COMMENTS_MAX {
            return Err(Error::bad_request("limit_reached", format!("A page has at most {COMMENTS_MAX} comments.")));
        }
        let mut comment = Comment {
            id: PageCommentId::new(now),
            page_id: context.page.id,
            org_id: *org_id,
            block_id: thread.as_ref().map_or(block_id, |thread| &thread.block_id).clone(),
            thread_id: *thread_id,
            body: Some(text.body.clone()),
            mentions: Vec::new(),
            created_by: context.by.user_id,
            created_at: now,
            edited_at: None,
            resolved: thread.as_ref().and_then(|thread| thread.resolved),
            version: 1,
        };
        let people = comment.newly_mentioned(&text.mentions);
        members_check(store, *org_id, &text.mentions, &people).await?;
        comment.mentions.clone_from(&text.mentions);
        let mut change = context.write(turn, "page.commented", comment.id);
        if let Some(thread) = &thread {
            change.page_comment_set(thread);
        }
        change.page_comments_room(context.page.id, COMMENTS_MAX);
        change.page_comment_add(&comment);
        context.tell(&mut change, turn, &comment, people);
        turn.commit(change).await?;
        Ok(comment)
    }
}

/// The comment that begins the thread.
async fn thread(context: &WriteContext, turn: &Turn<'_, PageComments>, id: PageCommentId) -> Result<Comment> {
    let found = turn.services().store.page_comment(context.page.id, id).await?;
    found.filter(Comment::begins_thread).ok_or_else(|| Error::invalid("threadId", "The page has no such thread."))
}
