//! Environments: where jobs deploy to, and what holds such a job back (contract C 2.1).
//!
//! A job that names an environment passes it once its branch is let in, the reviewers agreed and the timer ran out. An environment
//! that nobody protected lets every job pass.

use std::{ops::RangeInclusive, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    Error, Result, Timestamp,
    git::{Principal, rules::RefPattern},
    id::UserId,
    problems::Problems,
};

/// Characters of an environment's name.
pub const ENVIRONMENT_NAME_LEN: RangeInclusive<usize> = 1..=255;
/// Environments of a repository.
pub const ENVIRONMENTS_MAX: usize = 1_000;
/// People and teams of whom one has to agree.
pub const REVIEWERS_MAX: usize = 6;
/// Minutes for which an environment may have a job wait: 30 days.
pub const WAIT_MINUTES_MAX: u32 = 43_200;
/// Patterns of branches that may deploy.
pub const ENVIRONMENT_BRANCHES_MAX: usize = 100;
/// How long a job waits for a reviewer.
pub const APPROVAL_LASTS: Duration = Duration::from_hours(30 * 24);
/// Characters of what a reviewer says.
pub const APPROVAL_COMMENT_LEN_MAX: usize = 1_000;
/// The message of the 404 for an environment that isn't there.
pub const ENVIRONMENT_NOT_FOUND: &str = "Environment not found";
/// The message of the 403 for who isn't asked.
pub const NOT_A_REVIEWER: &str = "Only a reviewer of this environment can decide.";
/// The message of the 403 for who would approve what they started.
pub const SELF_REVIEW: &str = "Whoever started the run can't approve it here.";
/// What is said of a job whose environment was deleted while the job waited.
pub const ENVIRONMENT_DELETED: &str = "The environment was deleted.";
/// What is said of a job that nobody reviewed in time.
pub const APPROVAL_OVER: &str = "Nobody reviewed the job within 30 days.";

/// The name of an environment. Names are alike regardless of case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvironmentName(String);

impl EnvironmentName {
    /// Reads a name, without the blanks around it; `path` is where it stands in the request.
    pub fn parse(path: &str, text: &str) -> Result<Self> {
        let text = text.trim();
        if !ENVIRONMENT_NAME_LEN.contains(&text.chars().count()) || text.contains(char::is_control) {
            return Err(Error::invalid(path, "Use 1 to 255 characters, and no control characters."));
        }
        Ok(Self(text.to_owned()))
    }

    /// The name as it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What is alike for all ways of writing it.
    pub fn key(&self) -> String {
        environment_key(&self.0)
    }
}

/// What holds a job back that deploys to an environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Protection {
    /// The people and teams of whom one has to agree; nobody has to where there are none.
    pub reviewers: Vec<Principal>,
    /// Whether whoever started a run can't approve it.
    pub prevents_self_review: bool,
    /// Minutes for which a job waits.
    pub wait_minutes: u32,
    /// Names of branches that may deploy; all where there are none.
    pub branches: Vec<RefPattern>,
}

/// What an environment says to a job that comes to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The job goes on.
    Pass,
    /// The job's branch may not deploy.
    Refuse,
    /// The job waits.
    Wait {
        /// Whether a reviewer has to agree.
        review: Review,
        /// When the timer runs out, where there is one.
        until: Option<Timestamp>,
    },
}

/// Whether a reviewer has to agree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Review {
    /// One has to.
    Needed,
    /// Nobody has to.
    Unneeded,
}

impl Protection {
    /// Checks how many there are of each, and takes what is named twice once.
    pub fn check(mut self) -> Result<Self> {
        let mut problems = Problems::new();
        self.reviewers = once_each(self.reviewers);
        self.branches = once_each(self.branches);
        problems.require(self.reviewers.len() <= REVIEWERS_MAX, "reviewers", "Use at most 6.");
        problems.require(self.wait_minutes <= WAIT_MINUTES_MAX, "waitMinutes", "Use 0 to 43200.");
        problems.require(self.branches.len() <= ENVIRONMENT_BRANCHES_MAX, "branches", "Use at most 100.");
        problems.into_result().map(|()| self)
    }

    /// What follows for a job of a run on this ref.
    pub fn admission(&self, full_ref: &str, now: Timestamp) -> Admission {
        // A branch goes by its name; all else by the whole name, so that no tag passes for a branch.
        let name = full_ref.strip_prefix("refs/heads/").unwrap_or(full_ref);
        if !self.branches.is_empty() && !self.branches.iter().any(|pattern| pattern.covers(name.as_bytes())) {
            return Admission::Refuse;
        }
        let review = if self.reviewers.is_empty() { Review::Unneeded } else { Review::Needed };
        let wait = Duration::from_secs(u64::from(self.wait_minutes) * 60);
        let until = (self.wait_minutes > 0).then(|| now.after(wait));
        match (review, until) {
            (Review::Unneeded, None) => Admission::Pass,
            (review, until) => Admission::Wait { review, until },
        }
    }

    /// Whether one of the reviewers is this person, or a team of theirs.
    pub fn is_reviewed_by(&self, person: UserId, is_in_team: impl Fn(crate::id::TeamId) -> bool) -> bool {
        self.reviewers.iter().any(|reviewer| match reviewer {
            Principal::Person(id) => *id == person,
            Principal::Team(id) => is_in_team(*id),
        })
    }
}

/// All of them, in their order, what comes again left out.
fn once_each<T: PartialEq>(all: Vec<T>) -> Vec<T> {
    let mut kept: Vec<T> = Vec::with_capacity(all.len());
    for it in all {
        if !kept.contains(&it) {
            kept.push(it);
        }
    }
    kept
}

/// What is said of a job whose branch may not deploy.
pub fn branch_not_admitted(full_ref: &str, environment: &str) -> String {
    let name = full_ref.strip_prefix("refs/heads/").unwrap_or(full_ref);
    format!("The environment '{environment}' doesn't let '{name}' deploy.")
}

/// What a reviewer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The jobs go on.
    Approve,
    /// The jobs fail.
    Reject,
}

impl Verdict {
    /// What is wanted, by its name in requests.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "approve" => Some(Self::Approve),
            "reject" => Some(Self::Reject),
            _ => None,
        }
    }
}

/// What became of a job's wait for a reviewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalDecision {
    /// Nobody has to agree: the job waits for the timer only.
    Unneeded,
    /// A reviewer agreed.
    Approved,
    /// A reviewer said no.
    Rejected,
    /// Nobody said anything in time.
    Expired,
}

impl ApprovalDecision {
    /// The name in rows and answers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unneeded => "unneeded",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Expired => "expired",
        }
    }

    /// Whether the job goes on, once its timer has run out.
    pub const fn admits(self) -> bool {
        matches!(self, Self::Unneeded | Self::Approved)
    }
}

/// What is said of a job to which a reviewer said no.
pub fn rejected_by(name: &str) -> String {
    format!("{name} rejected the job.")
}

/// What names of environments have in common that are the same regardless of case.
pub fn environment_key(name: &str) -> String {
    name.to_lowercase()
}

/// 404: the repository has no such environment.
pub fn environment_not_found() -> Error {
    Error::not_found(ENVIRONMENT_NOT_FOUND)
}

/// The message where there are as many environments as there may be.
pub fn too_many_environments() -> String {
    format!("A repository has at most {ENVIRONMENTS_MAX} environments.")
}

/// 403: the caller isn't asked.
pub fn not_a_reviewer() -> Error {
    Error::forbidden("not_a_reviewer", NOT_A_REVIEWER)
}

/// 403: the caller started the run.
pub fn self_review() -> Error {
    Error::forbidden("self_review", SELF_REVIEW)
}

/// 409: nothing waits for a reviewer of this environment.
pub fn nothing_to_review(environment: &str) -> Error {
    Error::conflict("nothing_to_review", "No job of this run waits for a reviewer of this environment.")
        .adding("environment", environment)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::TeamId;

    fn patterns(texts: &[&str]) -> Vec<RefPattern> {
        texts.iter().map(|text| RefPattern::parse("branches", text).unwrap()).collect()
    }

    #[test]
    fn names_are_alike_regardless_of_case() {
        let name = EnvironmentName::parse("name", " Prod/EU ").unwrap();
        assert_eq!((name.as_str(), name.key().as_str()), ("Prod/EU", "prod/eu"));
        assert!(EnvironmentName::parse("name", &"a".repeat(255)).is_ok());
        for text in ["", "  ", "a\nb", &"a".repeat(256)] {
            assert!(EnvironmentName::parse("name", text).is_err(), "{text}");
        }
    }

    #[test]
    fn only_branches_that_are_named_may_deploy() {
        let protection = Protection { branches: patterns(&["main", "release/*"]), ..Protection::default() };
        for (full_ref, wanted) in [
            ("refs/heads/main", Admission::Pass),
            ("refs/heads/release/1", Admission::Pass),
            ("refs/heads/release/1/2", Admission::Refuse),
            ("refs/heads/dev", Admission::Refuse),
            ("refs/tags/main", Admission::Refuse),
            ("refs/pull/7/head", Admission::Refuse),
        ] {
            assert_eq!(protection.admission(full_ref, Timestamp(0)), wanted, "{full_ref}");
        }
        let whole = Protection { branches: patterns(&["refs/tags/v*", "refs/pull/*/head"]), ..Protection::default() };
        assert_eq!(whole.admission("refs/tags/v1", Timestamp(0)), Admission::Pass);
        assert_eq!(whole.admission("refs/pull/7/head", Timestamp(0)), Admission::Pass);
        assert_eq!(whole.admission("refs/heads/v1", Timestamp(0)), Admission::Refuse);
    }

    #[test]
    fn a_job_waits_for_reviewers_and_for_the_timer() {
        let now = Timestamp(1_000);
        assert_eq!(Protection::default().admission("refs/heads/main", now), Admission::Pass);
        let timed = Protection { wait_minutes: 1, ..Protection::default() };
        let until = Some(Timestamp(61_000));
        assert_eq!(timed.admission("refs/heads/main", now), Admission::Wait { review: Review::Unneeded, until });
        let (ada, team) = (UserId::new(now), TeamId::new(now));
        let reviewers = vec![Principal::Person(ada), Principal::Team(team)];
        let both = Protection { reviewers, ..timed };
        assert_eq!(both.admission("refs/heads/main", now), Admission::Wait { review: Review::Needed, until });
        let eve = UserId::new(Timestamp(2_000));
        assert!(both.is_reviewed_by(ada, |_| false));
        assert!(both.is_reviewed_by(eve, |id| id == team));
        assert!(!both.is_reviewed_by(eve, |_| false));
    }

    #[test]
    fn each_limit_holds_and_one_above_does_not() {
        let people =
            |count: i64| (0..count).map(|at| Principal::Person(UserId::new(Timestamp(at)))).collect::<Vec<_>>();
        let of = |count, wait_minutes, branches: usize| Protection {
            reviewers: people(count),
            wait_minutes,
            branches: (0..branches).flat_map(|at| patterns(&[&format!("b{at}")])).collect(),
            ..Protection::default()
        };
        assert!(of(6, 43_200, 100).check().is_ok());
        assert!(of(7, 0, 0).check().is_err());
        assert!(of(0, 43_201, 0).check().is_err());
        assert!(of(0, 0, 101).check().is_err());
        let twice = Protection { branches: patterns(&["b", "a", "b"]), ..Protection::default() };
        assert_eq!(twice.check().unwrap().branches, patterns(&["b", "a"]));
    }
}
