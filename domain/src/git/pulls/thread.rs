//! Threads: what people say of a line of a pull request.

use std::ops::RangeInclusive;

use super::{Pull, lines_check, not_your_comment, thread_not_yours};
use crate::{
    Error, Result, Timestamp,
    app::names,
    git::{AccessLevel, ObjectId, objects::RepositoryPath},
    id::{PullCommentId, PullReviewId, PullThreadId, UserId},
    problems::all,
};

/// Threads of one pull request.
pub const THREADS_MAX: u64 = 1_000;
/// Comments of one thread.
pub const THREAD_COMMENTS_MAX: u64 = 100;
/// Characters of a comment.
pub const COMMENT_LEN: RangeInclusive<usize> = 1..=16_384;
/// The last line of a file that can be commented on.
pub const LINE_MAX: u32 = 10_000_000;

names! {
    /// The side of a difference that a line is on: what the base had, or what the head has.
    LineSide { Old = "old", New = "new", }
}

names! {
    /// Whether somebody said that a thread is done.
    ThreadState { Open = "open", Resolved = "resolved", }
}

/// A line of a pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinePlace {
    /// The file.
    pub path: RepositoryPath,
    /// The line, from 1.
    pub line: u32,
    /// The side that it is on.
    pub side: LineSide,
}

/// What somebody says of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineComment {
    /// The line.
    pub place: LinePlace,
    /// What they say.
    pub body: String,
}

/// What somebody says of a line that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedComment {
    /// The line.
    pub place: LinePlace,
    /// The commit whose file has it.
    pub commit: ObjectId,
    /// What they say.
    pub body: String,
}

/// A thread, without its comments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullThread {
    /// The thread's id.
    pub id: PullThreadId,
    /// The line that it is on.
    pub place: LinePlace,
    /// The commit whose file has that line: of a new line, what the head was; of an old one, where the branches parted.
    pub commit: ObjectId,
    /// The review that it came with.
    pub review: Option<PullReviewId>,
    /// Whoever began it.
    pub author: UserId,
    /// When.
    pub created_at: Timestamp,
    /// Who said that it is done, and when.
    pub resolved: Option<(UserId, Timestamp)>,
}

/// A comment of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullComment {
    /// The comment's id.
    pub id: PullCommentId,
    /// The thread.
    pub thread: PullThreadId,
    /// Whoever wrote it, or made the key that did.
    pub author: UserId,
    /// What it says.
    pub body: String,
    /// When it was written.
    pub created_at: Timestamp,
    /// When it last changed.
    pub edited_at: Option<Timestamp>,
}

/// What a comment says; `field` is where it stands in the request.
pub fn comment_check(field: &str, text: &str) -> Result<String> {
    lines_check(field, text, &COMMENT_LEN)
}

impl LineComment {
    /// What was sent; `at` is where it stands in the request, empty for the whole of it.
    pub fn read(at: &str, (path, line, side): (&str, i64, &str), body: &str) -> Result<Self> {
        let field = |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
        let number = u32::try_from(line).ok().filter(|line| (1..=LINE_MAX).contains(line));
        let number = number.ok_or_else(|| Error::invalid(field("line"), format!("Use a number from 1 to {LINE_MAX}.")));
        let known = || Error::invalid(field("side"), "Use one of: old, new.");
        let (path, line, side, body) = all((
            RepositoryPath::parse(&field("path"), path),
            number,
            LineSide::from_name(side).ok_or_else(known),
            comment_check(&field("body"), body),
        ))?;
        Ok(Self { place: LinePlace { path, line, side }, body })
    }
}

impl PullThread {
    /// Whether somebody said that it is done.
    pub const fn state(&self) -> ThreadState {
        if self.resolved.is_some() { ThreadState::Resolved } else { ThreadState::Open }
    }

    /// 403 unless it is theirs, their pull request's, or they may write to the repository.
    pub fn admit_settling(&self, pull: &Pull, who: UserId, level: AccessLevel) -> Result<()> {
        let may = level >= AccessLevel::Write || self.author == who || pull.author == who;
        if may { Ok(()) } else { Err(thread_not_yours()) }
    }
}

impl PullComment {
    /// 403 unless they wrote it.
    pub fn admit_edit(&self, who: UserId) -> Result<()> {
        if self.author == who { Ok(()) } else { Err(not_your_comment()) }
    }

    /// 403 unless they wrote it, or administer the repository.
    pub fn admit_deletion(&self, who: UserId, level: AccessLevel) -> Result<()> {
        if level >= AccessLevel::Admin { Ok(()) } else { self.admit_edit(who) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_is_on_a_line_of_a_side() {
        let read = |path, line, side, body: &str| LineComment::read("", (path, line, side), body);
        let fits = read("/a/b", 10_000_000, "old", &"é".repeat(16_384)).unwrap();
        assert_eq!((fits.place.path.as_str(), fits.place.side), ("a/b", LineSide::Old));
        assert!(read("a", 1, "new", "x").is_ok());
        for (path, line, side, body) in [
            ("", 1, "new", "x"),
            ("a", 0, "new", "x"),
            ("a", -1, "new", "x"),
            ("a", 10_000_001, "new", "x"),
            ("a", 1, "left", "x"),
            ("a", 1, "new", " "),
            ("a", 1, "new", &*"é".repeat(16_385)),
        ] {
            assert!(read(path, line, side, body).is_err(), "{path} {line} {side}");
        }
        let Err(Error::Invalid { problems }) = LineComment::read("comments[1]", ("..", 0, "x"), "") else { panic!() };
        let paths: Vec<_> = problems.iter().map(|problem| problem.path.as_str()).collect();
        assert_eq!(paths, ["comments[1].path", "comments[1].line", "comments[1].side", "comments[1].body"]);
    }
}
