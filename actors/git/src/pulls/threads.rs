//! Threads on lines of pull requests.

use domain::{
    Result,
    git::{
        PlacedComment, PullComment, PullEvent, PullNumber, PullThread, THREAD_COMMENTS_MAX, THREADS_MAX, ThreadState,
        comment_not_found, thread_not_found, too_many_comments, too_many_threads,
    },
    id::{OrgId, PullCommentId, PullReviewId, PullThreadId},
};
use kernel::{Command, Handle, Turn};
use store::{Change, git::Waiting};

use super::{discussion::Discussion, wake};
use crate::{
    Repository,
    live::{review_changed, tell},
};

/// Begins a thread.
#[derive(Clone, Debug)]
pub struct OpenThread {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// Which pull request.
    pub number: PullNumber,
    /// What is said of which line.
    pub comment: PlacedComment,
}

/// Says something in a thread.
#[derive(Clone, Debug)]
pub struct ReplyToThread {
    /// The thread.
    pub at: ThreadAt,
    /// What.
    pub body: String,
}

/// Says that a thread is done, or that it isn't.
#[derive(Clone, Copy, Debug)]
pub struct SettleThread {
    /// The thread.
    pub at: ThreadAt,
    /// What it is to be.
    pub state: ThreadState,
}

/// Changes what a comment says.
#[derive(Clone, Debug)]
pub struct EditComment {
    /// The thread.
    pub at: ThreadAt,
    /// The comment.
    pub id: PullCommentId,
    /// What it is to say.
    pub body: String,
}

/// Takes a comment away; with the last one of it, the thread.
#[derive(Clone, Copy, Debug)]
pub struct DeleteComment {
    /// The thread.
    pub at: ThreadAt,
    /// The comment.
    pub id: PullCommentId,
}

/// Which thread is meant.
#[derive(Clone, Copy, Debug)]
pub struct ThreadAt {
    /// Whose repository it is.
    pub org_id: OrgId,
    /// Which pull request.
    pub number: PullNumber,
    /// Which thread of it.
    pub id: PullThreadId,
}

/// A thread, with its comments, the oldest first.
pub type ThreadWithComments = (PullThread, Vec<PullComment>);

macro_rules! replies {
    ($($command:ty => $reply:ty, $name:literal;)*) => {$(
        impl Command for $command {
            type Reply = $reply;

            const NAME: &'static str = $name;
        }
    )*};
}

replies! {
    OpenThread => ThreadWithComments, "open_thread";
    ReplyToThread => PullComment, "reply_to_thread";
    SettleThread => ThreadWithComments, "settle_thread";
    EditComment => PullComment, "edit_comment";
    DeleteComment => (), "delete_comment";
}

/// Has the change add these threads, each with its first comment; 400 where the pull request has no room for them.
pub(super) async fn add_threads(
    change: &mut Change,
    discussion: &Discussion<'_>,
    review: Option<PullReviewId>,
    comments: &[PlacedComment],
) -> Result<Vec<ThreadWithComments>> {
    let Discussion { store, repository, pull, by, now, .. } = discussion;
    let there = store.pull_threads_count(repository.no, pull.number).await?;
    if !comments.is_empty() && there + comments.len() as u64 > THREADS_MAX {
        return Err(too_many_threads());
    }
    let mut made = Vec::with_capacity(comments.len());
    for PlacedComment { place, commit, body } in comments {
        let thread = PullThread {
            id: PullThreadId::new(*now),
            place: place.clone(),
            commit: *commit,
            review,
            author: *by,
            created_at: *now,
            resolved: None,
        };
        let comment = comment_of(discussion, thread.id, body);
        change.pull_thread_add(repository.no, pull.number, &thread);
        change.pull_comment_add(repository.no, &comment);
        made.push((thread, vec![comment]));
    }
    Ok(made)
}

fn comment_of(discussion: &Discussion<'_>, thread: PullThreadId, body: &str) -> PullComment {
    PullComment {
        id: PullCommentId::new(discussion.now),
        thread,
        author: discussion.by,
        body: body.to_owned(),
        created_at: discussion.now,
        edited_at: None,
    }
}

/// A thread of which somebody says something.
async fn read<'a>(turn: &Turn<'a, Repository>, at: ThreadAt) -> Result<(Discussion<'a>, PullThread, Vec<PullComment>)> {
    let discussion = Discussion::read(turn, at.org_id, at.number).await?;
    let (store, no) = (discussion.store, discussion.repository.no);
    let thread = store.pull_thread(no, at.number, at.id).await?.ok_or_else(thread_not_found)?;
    let comments = store.pull_comments(no, &[at.id]).await?;
    Ok((discussion, thread, comments))
}

impl Handle<OpenThread> for Repository {
    async fn handle(&mut self, command: &OpenThread, turn: &mut Turn<'_, Self>) -> Result<ThreadWithComments> {
        let discussion = Discussion::read(turn, command.org_id, command.number).await?;
        let mut change = discussion.change();
        let made = add_threads(&mut change, &discussion, None, std::slice::from_ref(&command.comment)).await?;
        let (thread, comments) = made.into_iter().next().ok_or_else(thread_not_found)?;
        let event = PullEvent::ThreadOpened {
            thread_id: thread.id,
            path: thread.place.path.as_str().to_owned(),
            line: thread.place.line,
            side: thread.place.side,
        };
        discussion.note(&mut change, &event);
        turn.commit(change).await?;
        tell(turn, [review_changed(command.number)]);
        Ok((thread, comments))
    }
}

impl Handle<ReplyToThread> for Repository {
    async fn handle(&mut self, command: &ReplyToThread, turn: &mut Turn<'_, Self>) -> Result<PullComment> {
        let (discussion, thread, comments) = read(turn, command.at).await?;
        if comments.len() as u64 >= THREAD_COMMENTS_MAX {
            return Err(too_many_comments());
        }
        let comment = comment_of(&discussion, thread.id, &command.body);
        let mut change = discussion.change();
        change.pull_comment_add(discussion.repository.no, &comment);
        turn.commit(change).await?;
        tell(turn, [review_changed(command.at.number)]);
        Ok(comment)
    }
}

impl Handle<SettleThread> for Repository {
    async fn handle(&mut self, command: &SettleThread, turn: &mut Turn<'_, Self>) -> Result<ThreadWithComments> {
        let (discussion, before, comments) = read(turn, command.at).await?;
        before.admit_settling(&discussion.pull, discussion.by, discussion.level)?;
        if before.state() == command.state {
            return Ok((before, comments));
        }
        let resolved = (command.state == ThreadState::Resolved).then_some((discussion.by, discussion.now));
        let thread = PullThread { resolved, ..before };
        let mut change = discussion.change();
        change.pull_thread_settle(discussion.repository.no, command.at.number, &thread);
        wake(&mut change, &discussion.repository, Waiting::One(command.at.number), discussion.now);
        turn.commit(change).await?;
        tell(turn, [review_changed(command.at.number)]);
        Ok((thread, comments))
    }
}

impl Handle<EditComment> for Repository {
    async fn handle(&mut self, command: &EditComment, turn: &mut Turn<'_, Self>) -> Result<PullComment> {
        let (discussion, _, comments) = read(turn, command.at).await?;
        let before = comments.into_iter().find(|it| it.id == command.id).ok_or_else(comment_not_found)?;
        before.admit_edit(discussion.by)?;
        if before.body == command.body {
            return Ok(before);
        }
        let comment = PullComment { body: command.body.clone(), edited_at: Some(discussion.now), ..before };
        let mut change = discussion.change();
        change.pull_comment_set(discussion.repository.no, &comment);
        turn.commit(change).await?;
        tell(turn, [review_changed(command.at.number)]);
        Ok(comment)
    }
}

impl Handle<DeleteComment> for Repository {
    async fn handle(&mut self, command: &DeleteComment, turn: &mut Turn<'_, Self>) -> Result<()> {
        let (discussion, thread, comments) = read(turn, command.at).await?;
        let comment = comments.iter().find(|it| it.id == command.id).ok_or_else(comment_not_found)?;
        comment.admit_deletion(discussion.by, discussion.level)?;
        let no = discussion.repository.no;
        let mut change = discussion.change();
        change.pull_comment_remove(no, comment);
        if comments.len() == 1 {
            change.pull_thread_remove(no, command.at.number, thread.id);
            wake(&mut change, &discussion.repository, Waiting::One(command.at.number), discussion.now);
        }
        turn.commit(change).await?;
        tell(turn, [review_changed(command.at.number)]);
        Ok(())
    }
}
