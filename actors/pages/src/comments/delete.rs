//! Deleting a comment.

use domain::{
    Result,
    id::{OrgId, PageCommentId},
    pages::comment::Comment,
};
use kernel::{Command, Handle, Turn};

use super::{PageComments, WriteContext};

/// Deletes a comment. One that begins a thread with answers stays as an empty place until the last answer goes.
#[derive(Clone, Copy, Debug)]
pub struct DeleteComment {
    /// The organization that the page was asked for in.
    pub org_id: OrgId,
    /// Which.
    pub id: PageCommentId,
}

impl Command for DeleteComment {
    type Reply = ();

    const NAME: &'static str = "delete_comment";
}

impl Handle<DeleteComment> for PageComments {
    async fn handle(&mut self, command: &DeleteComment, turn: &mut Turn<'_, Self>) -> Result<()> {
        let context = WriteContext::open(turn, command.org_id).await?;
        let store = &turn.services().store;
        let comment = context.comment(store, command.id).await?;
        comment.deletable_by(&context.authority)?;
        let answers = store.page_answers_count(context.page.id, comment.thread_id.unwrap_or(comment.id)).await?;
        let mut change = context.write(turn, "page.comment_deleted", comment.id);
        match comment.thread_id {
            None if answers > 0 => change.page_comment_set(&Comment { body: None, mentions: Vec::new(), ..comment }),
            None => change.page_comment_remove(&comment),
            Some(thread) => {
                let thread = context.comment(store, thread).await?;
                change.page_comment_remove(&comment);
                let is_last = answers <= 1 && thread.body.is_none();
                if is_last { change.page_comment_remove(&thread) } else { change.page_comment_set(&thread) }
            }
        }
        turn.commit(change).await
    }
}
