//! Reviews of pull requests, and whose count.

use std::{ops::RangeInclusive, str::FromStr};

use super::{LineComment, PULL_BODY_LEN, Pull, lines_check, own_pull, review_not_dismissible};
use crate::{
    Authority, Error, Result, Scope, Timestamp,
    app::names,
    git::{AccessLevel, ObjectId, Principal, rules::PullFacts},
    id::{PullReviewId, TeamId, UserId},
    problems::Problems,
};

/// Reviews of one pull request.
pub const REVIEWS_MAX: u64 = 1_000;
/// People and teams who are asked for a review of one pull request.
pub const REVIEWERS_MAX: usize = 20;
/// Comments on lines that come with one review.
pub const REVIEW_COMMENTS_MAX: usize = 100;
/// Characters of why a review is dismissed.
pub const DISMISSAL_REASON_LEN: RangeInclusive<usize> = 1..=1_000;

/// Why reviews are dismissed that saw another head.
pub const STALE_HEAD: &str = "The head moved.";
/// Why reviews are dismissed that were given for another base.
pub const STALE_BASE: &str = "The base changed.";

names! {
    /// What a review says of the pull request: that it can be merged, that it has to change before, or neither.
    ReviewVerdict { Approve = "approve", Changes = "changes", Comment = "comment", }
}

names! {
    /// Whether a review still says what its author thinks.
    ReviewState { Current = "current", Replaced = "replaced", Dismissed = "dismissed", }
}

/// That a review was dismissed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dismissal {
    /// Whoever dismissed it, or made the push for which it was.
    pub by: UserId,
    /// When.
    pub at: Timestamp,
    /// Why.
    pub reason: String,
}

/// A review.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullReview {
    /// The review's id.
    pub id: PullReviewId,
    /// Whoever gave it, or made the key that did.
    pub author: UserId,
    /// What it comes to.
    pub verdict: ReviewVerdict,
    /// What it says; may be empty.
    pub body: String,
    /// What the head was when it was given.
    pub commit: ObjectId,
    /// Whether it was replaced by a later one, or dismissed.
    pub state: ReviewState,
    /// When it was given.
    pub created_at: Timestamp,
    /// By whom, when and why it was dismissed.
    pub dismissed: Option<Dismissal>,
}

/// Somebody who is asked for a review.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AskedReviewer {
    /// The person or the team.
    pub principal: Principal,
    /// Whoever asked.
    pub asked_by: UserId,
    /// When.
    pub asked_at: Timestamp,
}

/// A review that approves, or asks for changes, and was neither replaced nor dismissed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StandingReview {
    /// The review's id.
    pub id: PullReviewId,
    /// Whoever gave it.
    pub author: UserId,
    /// Whether it approves.
    pub approves: bool,
    /// What the head was when it was given.
    pub commit: ObjectId,
}

/// Whoever is to be asked for a review.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReviewersDraft {
    /// People.
    pub people: Vec<UserId>,
    /// Teams.
    pub teams: Vec<TeamId>,
}

impl ReviewersDraft {
    /// What was sent, each once; `at` is what stands before its fields in the request.
    pub fn read(at: &str, people: &[String], teams: &[String]) -> Result<Self> {
        let mut problems = Problems::new();
        let named = Self {
            people: ids(people, &mut problems, |place| {
                (format!("{at}people[{place}]"), "This isn't the id of a person.")
            }),
            teams: ids(teams, &mut problems, |place| (format!("{at}teams[{place}]"), "This isn't the id of a team.")),
        };
        let fits = named.people.len() + named.teams.len() <= REVIEWERS_MAX;
        problems.require(fits, format!("{at}people"), format!("Ask at most {REVIEWERS_MAX} people and teams."));
        problems.into_result().map(|()| named)
    }

    /// Each of them.
    pub fn principals(&self) -> impl Iterator<Item = Principal> {
        let people = self.people.iter().copied().map(Principal::Person);
        people.chain(self.teams.iter().copied().map(Principal::Team))
    }
}

fn ids<T: FromStr + PartialEq>(
    texts: &[String],
    problems: &mut Problems,
    wrong: impl Fn(usize) -> (String, &'static str),
) -> Vec<T> {
    let mut found = Vec::new();
    for (place, text) in texts.iter().enumerate() {
        match text.parse() {
            Ok(id) if found.contains(&id) => {}
            // More than are allowed are told so, however many they are.
            Ok(id) if found.len() <= REVIEWERS_MAX => found.push(id),
            Ok(_) => {}
            Err(_) => {
                let (path, message) = wrong(place);
                problems.add(path, message);
            }
        }
    }
    found
}

/// A review that is to be given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewDraft {
    /// What it comes to.
    pub verdict: ReviewVerdict,
    /// What it says; may be empty.
    pub body: String,
    /// What it says of lines.
    pub comments: Vec<LineComment>,
}

impl ReviewDraft {
    /// What was sent. Whatever doesn't approve says something.
    pub fn read(verdict: &str, body: &str, comments: Vec<Result<LineComment>>) -> Result<Self> {
        let mut problems = Problems::new();
        let known = || Error::invalid("verdict", "Use one of: approve, changes, comment.");
        let verdict = problems.keep(ReviewVerdict::from_name(verdict).ok_or_else(known))?;
        let body = problems.keep(lines_check("body", body, &PULL_BODY_LEN))?;
        let count = comments.len();
        problems.require(
            count <= REVIEW_COMMENTS_MAX,
            "comments",
            format!("A review has at most {REVIEW_COMMENTS_MAX} comments."),
        );
        let mut read = Vec::with_capacity(count);
        for comment in comments.into_iter().take(REVIEW_COMMENTS_MAX) {
            read.extend(problems.keep(comment)?);
        }
        let says_nothing = body.as_ref().is_some_and(String::is_empty) && count == 0;
        let needs_words = verdict.is_some_and(|verdict| verdict != ReviewVerdict::Approve);
        problems.require(!(says_nothing && needs_words), "body", "Say something, or comment on a line.");
        match (verdict, body) {
            (Some(verdict), Some(body)) if problems.is_empty() => Ok(Self { verdict, body, comments: read }),
            _ => Err(problems.into_error()),
        }
    }

    /// 409 for a verdict on what is merged or closed; 403 for one of whoever opened the pull request.
    pub fn admit(&self, pull: &Pull, author: UserId) -> Result<()> {
        if self.verdict == ReviewVerdict::Comment {
            return Ok(());
        }
        pull.admit_change()?;
        if pull.author == author { Err(own_pull()) } else { Ok(()) }
    }
}

impl PullReview {
    /// 409 unless the review decides something still.
    pub fn admit_dismissal(&self) -> Result<()> {
        let decides = self.verdict != ReviewVerdict::Comment && self.state == ReviewState::Current;
        if decides { Ok(()) } else { Err(review_not_dismissible()) }
    }
}

/// Whether the caller may review and comment where they may read: people may, as on any forge; a key wants the scope to write, since
/// it was made to do no more than its scopes say.
pub fn admit_word(authority: &Authority) -> Result<()> {
    authority.person("").map(drop).or_else(|_| authority.require(Scope::GitWrite))
}

impl PullFacts {
    /// What rules are told of a pull request with this head. Only reviews of people count who may write to the repository now.
    pub fn of_reviews(reviews: &[(StandingReview, Option<AccessLevel>)], head: ObjectId, open_threads: u32) -> Self {
        let mut facts = Self { open_threads, ..Self::default() };
        for (review, _) in reviews.iter().filter(|(_, level)| *level >= Some(AccessLevel::Write)) {
            if review.approves {
                facts.approvals += 1;
                facts.fresh_approvals += u32::from(review.commit == head);
            } else {
                facts.changes_requested += 1;
            }
        }
        facts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(verdict: &str, body: &str, comments: usize) -> Result<ReviewDraft> {
        let comment = || LineComment::read("comments[0]", ("a", 1, "new"), "x");
        ReviewDraft::read(verdict, body, (0..comments).map(|_| comment()).collect())
    }

    #[test]
    fn whatever_does_not_approve_says_something() {
        for (verdict, body, comments) in
            [("approve", "", 0), ("changes", "No.", 0), ("comment", "", 1), ("changes", "", 100)]
        {
            assert!(read(verdict, body, comments).is_ok(), "{verdict} {body} {comments}");
        }
        for (verdict, body, comments) in
            [("changes", " ", 0), ("comment", "", 0), ("paint", "x", 0), ("approve", "\0", 0), ("approve", "", 101)]
        {
            assert!(read(verdict, body, comments).is_err(), "{verdict} {body} {comments}");
        }
    }

    #[test]
    fn each_reviewer_is_asked_once_and_not_too_many_are() {
        let now = Timestamp(1_700_000_000_000);
        let people: Vec<String> = (0..REVIEWERS_MAX).map(|_| UserId::new(now).to_string()).collect();
        let twice = [people.clone(), people.clone()].concat();
        assert_eq!(ReviewersDraft::read("", &twice, &[]).unwrap().principals().count(), REVIEWERS_MAX);
        assert!(ReviewersDraft::read("", &people, &[TeamId::new(now).to_string()]).is_err());
        let bad = ReviewersDraft::read("reviewers.", &["x".to_owned()], &["usr_x".to_owned()]);
        let Err(Error::Invalid { problems }) = bad else { panic!() };
        let paths: Vec<_> = problems.iter().map(|problem| problem.path.as_str()).collect();
        assert_eq!(paths, ["reviewers.people[0]", "reviewers.teams[0]"]);
    }

    #[test]
    fn only_who_writes_counts() {
        let (head, old) = (ObjectId::of_bytes([1; 20]), ObjectId::of_bytes([2; 20]));
        let now = Timestamp(1_700_000_000_000);
        let review = |approves, commit, level| {
            let review = StandingReview { id: PullReviewId::new(now), author: UserId::new(now), approves, commit };
            (review, level)
        };
        let reviews = [
            review(true, head, Some(AccessLevel::Write)),
            review(true, old, Some(AccessLevel::Admin)),
            review(true, head, Some(AccessLevel::Read)),
            review(true, head, None),
            review(false, old, Some(AccessLevel::Write)),
            review(false, head, Some(AccessLevel::Read)),
        ];
        let facts = PullFacts::of_reviews(&reviews, head, 3);
        assert_eq!((facts.approvals, facts.fresh_approvals, facts.changes_requested, facts.open_threads), (2, 1, 1, 3));
        assert!(!facts.owners_approve);
    }
}
