//! A pull request that is merged as soon as nothing stands against it.

use serde::{Deserialize, Serialize};

use super::{MergeMethod, Pull, PullState};
use crate::{
    App, Caller, Error, PersonCaller, Platform, Timestamp,
    app::names,
    git::ObjectId,
    id::{KeyId, SignInId, UserId},
};

/// How often what waits is looked at while nothing happens: whoever asked may have lost their right elsewhere.
pub const WAITING_LOOK_EVERY: std::time::Duration = std::time::Duration::from_hours(1);

/// Conflicts that say nothing of what may be later: something changed meanwhile.
const MAY_PASS: [&str; 5] = ["head_moved", "pull_draft", "pull_closed", "pull_merged", "repository_deleted"];

/// How somebody wants a pull request to be merged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MergeAsked {
    /// How the commits come into the base.
    pub method: MergeMethod,
    /// The head that they saw.
    pub head: ObjectId,
    /// What the commit says, where they say it.
    pub message: Option<String>,
    /// Whether the head's branch is deleted with it.
    pub deletes_branch: bool,
}

/// With what somebody asks, as it is kept for later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Asker {
    /// A person, by a sign-in, which may have ended since.
    Person {
        /// The sign-in.
        sign_in_id: SignInId,
        /// What it is bound to.
        app: App,
        /// What it is bound to.
        platform: Platform,
    },
    /// A key, which has to be good still.
    Key {
        /// The key.
        key_id: KeyId,
    },
}

impl Asker {
    /// With what the caller asks; none where that is nothing to come back to.
    pub const fn of(caller: &Caller) -> Option<Self> {
        match caller {
            Caller::Person(PersonCaller { sign_in_id, app, platform, .. }) => {
                Some(Self::Person { sign_in_id: *sign_in_id, app: *app, platform: *platform })
            }
            Caller::Key(key) => Some(Self::Key { key_id: key.key_id }),
            Caller::AccessKey(_) | Caller::Job(_) | Caller::AppPassword(_) | Caller::Nobody | Caller::System => None,
        }
    }
}

/// A merge that somebody asked for, as soon as it can be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AutoMerge {
    /// How.
    #[serde(flatten)]
    pub asked: MergeAsked,
    /// With what they asked.
    pub asker: Asker,
    /// Whoever asked, or made the key that did.
    pub by: UserId,
    /// When.
    pub since: Timestamp,
}

names! {
    /// Why a merge isn't waited for any more.
    AutoMergeEnd {
        HeadMoved = "head_moved",
        BaseChanged = "base_changed",
        Conflict = "conflict",
        NoRight = "no_right",
        Closed = "closed",
        Withdrawn = "withdrawn",
        Refused = "refused",
    }
}

impl AutoMergeEnd {
    /// What is said where nothing closer is known.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::HeadMoved => "The head names another commit.",
            Self::BaseChanged => "It is to be merged into another branch.",
            Self::Conflict => "The branches have changes that can't be merged by themselves.",
            Self::NoRight => "The person who asked for it can't merge it any more.",
            Self::Closed => "It was closed.",
            Self::Withdrawn => "It was taken back.",
            Self::Refused => "It can't be merged.",
        }
    }

    /// Why `after` isn't waited for where `before` was; nothing where it is, or was merged.
    pub fn between(before: &Pull, after: &Pull) -> Option<Self> {
        if before.auto_merge.is_none() || after.auto_merge.is_some() {
            return None;
        }
        match after.state {
            PullState::Merged => None,
            PullState::Closed => Some(Self::Closed),
            PullState::Open if before.base != after.base => Some(Self::BaseChanged),
            PullState::Open => Some(Self::HeadMoved),
        }
    }

    /// Why a merge isn't waited for that was refused like this; nothing where it may be done later, or the wait is over already.
    pub fn of_refusal(error: &Error) -> Option<Self> {
        Some(match error {
            Error::NotFound { .. }
            | Error::MissingScope(_)
            | Error::Unauthenticated
            | Error::Forbidden { code: "repository_access", .. } => Self::NoRight,
            Error::Conflict { code: "conflict", .. } => Self::Conflict,
            Error::Conflict { code, .. } if MAY_PASS.contains(code) => return None,
            Error::Conflict { .. }
            | Error::Forbidden { .. }
            | Error::BadRequest { .. }
            | Error::Unprocessable { .. } => Self::Refused,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::{head_moved, merge_conflict, nothing_to_merge, pull_draft, repository_not_found};

    #[test]
    fn what_is_kept_is_read_as_it_was_written() {
        let now = Timestamp(1_700_000_000_000);
        let asked = MergeAsked {
            method: MergeMethod::Squash,
            head: ObjectId::of_bytes([7; 20]),
            message: Some("Said".to_owned()),
            deletes_branch: true,
        };
        let person = Asker::Person { sign_in_id: SignInId::new(now), app: App::Git, platform: Platform::Cli };
        for asker in [person, Asker::Key { key_id: KeyId::new(now) }] {
            let wish = AutoMerge { asked: asked.clone(), asker, by: UserId::new(now), since: now };
            let text = serde_json::to_string(&wish).unwrap();
            assert_eq!(serde_json::from_str::<AutoMerge>(&text).unwrap(), wish, "{text}");
        }
    }

    #[test]
    fn a_refusal_ends_the_wait_where_waiting_helps_nobody() {
        for (error, end) in [
            (head_moved(), None),
            (Error::internal("a fault"), None),
            (merge_conflict(&[]), Some(AutoMergeEnd::Conflict)),
            (repository_not_found(), Some(AutoMergeEnd::NoRight)),
            (Error::MissingScope(crate::Scope::GitWrite), Some(AutoMergeEnd::NoRight)),
            (Error::forbidden("branch_rule", "No."), Some(AutoMergeEnd::Refused)),
            (nothing_to_merge(), Some(AutoMergeEnd::Refused)),
            (pull_draft(), None),
        ] {
            assert_eq!(AutoMergeEnd::of_refusal(&error), end, "{error}");
        }
    }
}
