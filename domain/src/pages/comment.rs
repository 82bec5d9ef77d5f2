//! Comments on a page or on one of its blocks: threads, mentions, who may change what.

use std::ops::RangeInclusive;

use crate::{
    authority::Authority,
    error::{Error, Result},
    id::{OrgId, PageCommentId, PageId, UserId},
    problems::{Problems, all},
    time::Timestamp,
};

/// Characters of a comment, after trimming.
pub const COMMENT_LEN: RangeInclusive<usize> = 1..=4_000;
/// Characters of a block's id.
pub const BLOCK_ID_LEN: RangeInclusive<usize> = 1..=64;
/// People that a comment mentions, at most.
pub const MENTIONS_MAX: usize = 50;
/// Comments of a page, at most, answers included.
pub const COMMENTS_MAX: u64 = 5_000;
/// Characters of a comment that a notification shows.
const EXCERPT_LEN_MAX: usize = 200;

/// A comment, or an answer to one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// Its id.
    pub id: PageCommentId,
    /// The page that it is on.
    pub page_id: PageId,
    /// The organization that the page belongs to.
    pub org_id: OrgId,
    /// The block that it is about; none for the whole page.
    pub block_id: Option<String>,
    /// The comment that it answers; none for one that begins a thread.
    pub thread_id: Option<PageCommentId>,
    /// What it says; none for one that was deleted and still has answers.
    pub body: Option<String>,
    /// Whom it mentions.
    pub mentions: Vec<UserId>,
    /// Who wrote it.
    pub created_by: UserId,
    /// When.
    pub created_at: Timestamp,
    /// When what it says was last changed.
    pub edited_at: Option<Timestamp>,
    /// When its thread was resolved, and by whom.
    pub resolved: Option<(Timestamp, UserId)>,
    /// Rises with every change.
    pub version: i64,
}

/// What a comment says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommentText {
    /// The text.
    pub body: String,
    /// Whom it mentions, each once, in the order in which they were named.
    pub mentions: Vec<UserId>,
}

impl CommentText {
    /// The text as it is stored, where it holds its limits.
    pub fn check(body: &str, mentions: &[String]) -> Result<Self> {
        let (body, mentions) = all((body_check(body), mentions_check(mentions)))?;
        Ok(Self { body, mentions })
    }
}

/// What a comment says, trimmed.
pub fn body_check(body: &str) -> Result<String> {
    let body = body.trim();
    if !COMMENT_LEN.contains(&body.chars().count()) {
        return Err(Error::invalid("body", "Must have 1 to 4,000 characters."));
    }
    if body.contains('\0') {
        return Err(Error::invalid("body", "Must not have a NUL in it."));
    }
    Ok(body.to_owned())
}

/// The people mentioned, each once.
pub fn mentions_check(mentions: &[String]) -> Result<Vec<UserId>> {
    let mut problems = Problems::new();
    problems.require(mentions.len() <= MENTIONS_MAX, "mentions", "Must have at most 50 entries.");
    let mut people = Vec::new();
    for (place, mention) in mentions.iter().take(MENTIONS_MAX).enumerate() {
        match mention.parse::<UserId>() {
            Ok(user_id) if !people.contains(&user_id) => people.push(user_id),
            Ok(_) => {}
            Err(_) => problems.add(format!("mentions[{place}]"), "Is not a person's id."),
        }
    }
    problems.into_result().map(|()| people)
}

/// The block that a comment is about.
pub fn block_check(block_id: &str) -> Result<()> {
    let fits = BLOCK_ID_LEN.contains(&block_id.chars().count()) && !block_id.chars().any(char::is_control);
    if fits {
        Ok(())
    } else {
        Err(Error::invalid("blockId", "Must have 1 to 64 characters, none of them control characters."))
    }
}

impl Comment {
    /// Whether it begins a thread.
    pub const fn begins_thread(&self) -> bool {
        self.thread_id.is_none()
    }

    /// Passes for who may change what it says: its author, as long as it says something.
    pub fn editable_by(&self, user_id: UserId) -> Result<()> {
        if self.body.is_none() {
            return Err(comment_not_found());
        }
        if self.created_by == user_id { Ok(()) } else { Err(not_yours("Only its author can change a comment.")) }
    }

    /// Passes for who may delete it: its author, and who runs the organization.
    pub fn deletable_by(&self, authority: &Authority) -> Result<()> {
        if self.body.is_none() {
            return Err(comment_not_found());
        }
        if authority.runs_organization() || authority.on_behalf_of()? == self.created_by {
            Ok(())
        } else {
            Err(not_yours("Only its author, an admin or an owner can delete a comment."))
        }
    }

    /// Passes for one that begins a thread: an answer is resolved with its thread; 400.
    pub fn resolvable(&self) -> Result<()> {
        if self.begins_thread() {
            Ok(())
        } else {
            Err(Error::bad_request("not_a_thread", "Only a whole thread can be resolved."))
        }
    }

    /// Those of `mentions` who were not mentioned before and are not the author: whom a change tells.
    pub fn newly_mentioned(&self, mentions: &[UserId]) -> Vec<UserId> {
        let is_new = |user_id: &&UserId| !self.mentions.contains(user_id) && **user_id != self.created_by;
        mentions.iter().filter(is_new).copied().collect()
    }
}

/// What a notification shows of a comment: one line.
pub fn excerpt(body: &str) -> String {
    let line = body.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= EXCERPT_LEN_MAX {
        return line;
    }
    let kept: String = line.chars().take(EXCERPT_LEN_MAX - 1).collect();
    format!("{}…", kept.trim_end())
}

/// 404 for a comment that the page doesn't have.
pub fn comment_not_found() -> Error {
    Error::not_found("Comment not found.")
}

fn not_yours(message: &'static str) -> Error {
    Error::forbidden("not_yours", message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        authority::tests::{key_of, member},
        role::Role,
    };

    fn comment() -> Comment {
        let now = Timestamp(1_700_000_000_000);
        Comment {
            id: PageCommentId::new(now),
            page_id: PageId::new(now),
            org_id: OrgId::new(now),
            block_id: None,
            thread_id: None,
            body: Some("Is this so?".into()),
            mentions: Vec::new(),
            created_by: UserId::new(now),
            created_at: now,
            edited_at: None,
            resolved: None,
            version: 1,
        }
    }

    #[test]
    fn a_comment_has_1_to_4000_characters_after_trimming() {
        for (length, fits) in [(0, false), (1, true), (4_000, true), (4_001, false)] {
            assert_eq!(body_check(&format!(" {}\n", "é".repeat(length))).is_ok(), fits, "{length}");
        }
        assert_eq!(body_check("  a\n b ").unwrap(), "a\n b");
        assert!(body_check("a\0b").is_err());
    }

    #[test]
    fn a_block_id_has_1_to_64_characters() {
        for (length, fits) in [(0, false), (1, true), (64, true), (65, false)] {
            assert_eq!(block_check(&"é".repeat(length)).is_ok(), fits, "{length}");
        }
        assert!(block_check("a\nb").is_err());
    }

    #[test]
    fn fifty_people_can_be_mentioned_and_each_counts_once() {
        let people: Vec<String> = (0..51).map(|_| UserId::new(Timestamp(0)).to_string()).collect();
        assert_eq!(mentions_check(&people[..50]).unwrap().len(), 50);
        assert!(mentions_check(&people).is_err());
        let twice = [people[0].clone(), people[1].clone(), people[0].clone()];
        assert_eq!(mentions_check(&twice).unwrap().len(), 2);
        let Err(Error::Invalid { problems }) = mentions_check(&[people[0].clone(), "ann".into()]) else {
            panic!("a name is no id")
        };
        assert_eq!(problems[0].path, "mentions[1]");
    }

    #[test]
    fn its_author_changes_it_and_who_runs_the_organization_may_delete_it() {
        let (comment, other) = (comment(), UserId::new(Timestamp(1)));
        assert!(comment.editable_by(comment.created_by).is_ok());
        assert_eq!(comment.editable_by(other).unwrap_err().status(), 403);
        assert!(comment.deletable_by(&member(comment.created_by, Role::Viewer)).is_ok());
        assert!(comment.deletable_by(&key_of(comment.created_by, Role::Developer, &[])).is_ok());
        for (role, may) in [(Role::Owner, true), (Role::Admin, true), (Role::Developer, false), (Role::Viewer, false)] {
            assert_eq!(comment.deletable_by(&member(other, role)).is_ok(), may, "{role}");
        }
        let deleted = Comment { body: None, ..comment };
        assert_eq!(deleted.editable_by(deleted.created_by).unwrap_err().status(), 404);
        let authority = member(deleted.created_by, Role::Owner);
        assert_eq!(deleted.deletable_by(&authority).unwrap_err().status(), 404);
    }

    #[test]
    fn a_change_tells_those_who_were_not_mentioned_before() {
        let (ann, ben) = (UserId::new(Timestamp(1)), UserId::new(Timestamp(2)));
        let comment = Comment { mentions: vec![ann], ..comment() };
        assert_eq!(comment.newly_mentioned(&[ann, ben, comment.created_by]), [ben]);
    }

    #[test]
    fn an_excerpt_is_one_short_line() {
        assert_eq!(excerpt("a\n\n b\tc"), "a b c");
        assert_eq!(excerpt(&"é".repeat(200)).chars().count(), 200);
        let cut = excerpt(&"é".repeat(201));
        assert!(cut.chars().count() == 200 && cut.ends_with('…'));
    }
}
