//! What happened to a pull request, in its order.

use serde::{Deserialize, Serialize};

use super::{AutoMergeEnd, LineSide, MergeMethod, Pull, PullState, ReviewVerdict};
use crate::{
    Timestamp,
    git::{ObjectId, Principal},
    id::{PullReviewId, PullThreadId, UserId},
};

/// Something that happened to a pull request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum PullEvent {
    /// Somebody opened it.
    Opened {
        /// What the head named.
        head: ObjectId,
        /// What the base named.
        base: ObjectId,
    },
    /// Commits were added to the head.
    Pushed {
        /// What the head named.
        from: ObjectId,
        /// What it names since.
        to: ObjectId,
    },
    /// The head left commits behind.
    Forced {
        /// What the head named.
        from: ObjectId,
        /// What it names since.
        to: ObjectId,
    },
    /// It got another title.
    Renamed {
        /// The title before.
        from: String,
        /// The title since.
        to: String,
    },
    /// It isn't to be merged yet.
    Drafted,
    /// It may be merged.
    Readied,
    /// It is to be merged into another branch.
    BaseChanged {
        /// The branch before.
        from: String,
        /// The branch since.
        to: String,
    },
    /// Its head, or its base, goes by another name.
    BranchRenamed {
        /// The name before.
        from: String,
        /// The name since.
        to: String,
    },
    /// Others are asked for reviews.
    ReviewersChanged {
        /// Whoever is asked since.
        asked: Vec<Principal>,
        /// Whoever isn't any more.
        withdrawn: Vec<Principal>,
    },
    /// Somebody gave a review.
    Reviewed {
        /// The review.
        review_id: PullReviewId,
        /// What it comes to.
        verdict: ReviewVerdict,
        /// How many threads came with it.
        threads: u32,
    },
    /// A review doesn't count any more.
    ReviewDismissed {
        /// The review.
        review_id: PullReviewId,
        /// Whoever gave it.
        reviewer: UserId,
        /// Why.
        reason: String,
    },
    /// Somebody said something of a line, apart from a review.
    ThreadOpened {
        /// The thread.
        thread_id: PullThreadId,
        /// The file.
        path: String,
        /// The line.
        line: u32,
        /// The side that it is on.
        side: LineSide,
    },
    /// It is to be merged as soon as nothing stands against it.
    AutoMergeSet {
        /// How.
        method: MergeMethod,
    },
    /// That isn't waited for any more.
    AutoMergeEnded {
        /// Why.
        end: AutoMergeEnd,
        /// The same, as a sentence.
        reason: String,
    },
    /// It was closed.
    Closed,
    /// It was opened again.
    Reopened,
    /// It was merged.
    Merged {
        /// What the base names since.
        commit: ObjectId,
        /// How: a method of merging, or `push`.
        method: String,
    },
}

/// An entry of what happened to a pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimelineEntry {
    /// The number of the entry in its pull request, from 1.
    pub number: i64,
    /// Whoever did it, or made the key that did.
    pub by: UserId,
    /// When.
    pub at: Timestamp,
    /// What.
    pub event: PullEvent,
}

/// What somebody changed of a pull request who made `after` of `before`.
pub fn changes_between(before: &Pull, after: &Pull) -> Vec<PullEvent> {
    let mut events = Vec::new();
    match (before.state, after.state) {
        (PullState::Closed, PullState::Open) => events.push(PullEvent::Reopened),
        (PullState::Open, PullState::Closed) => events.push(PullEvent::Closed),
        _ => {}
    }
    if before.title != after.title {
        events.push(PullEvent::Renamed { from: before.title.clone(), to: after.title.clone() });
    }
    if before.base != after.base {
        let name = |pull: &Pull| pull.base.as_str().to_owned();
        events.push(PullEvent::BaseChanged { from: name(before), to: name(after) });
    }
    if before.head_oid != after.head_oid {
        events.push(PullEvent::Pushed { from: before.head_oid, to: after.head_oid });
    }
    match (before.is_draft, after.is_draft) {
        (false, true) => events.push(PullEvent::Drafted),
        (true, false) => events.push(PullEvent::Readied),
        _ => {}
    }
    events
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_read_as_it_was_written() {
        let now = Timestamp(1_700_000_000_000);
        let oid = ObjectId::of_bytes([7; 20]);
        for event in [
            PullEvent::Opened { head: oid, base: oid },
            PullEvent::Drafted,
            PullEvent::AutoMergeSet { method: MergeMethod::Rebase },
            PullEvent::AutoMergeEnded { end: AutoMergeEnd::NoRight, reason: "No.".to_owned() },
            PullEvent::BranchRenamed { from: "old".to_owned(), to: "new".to_owned() },
            PullEvent::ReviewersChanged { asked: vec![Principal::Person(UserId::new(now))], withdrawn: Vec::new() },
            PullEvent::Reviewed { review_id: PullReviewId::new(now), verdict: ReviewVerdict::Changes, threads: 2 },
        ] {
            let text = serde_json::to_string(&event).unwrap();
            assert_eq!(serde_json::from_str::<PullEvent>(&text).unwrap(), event, "{text}");
        }
        let text = serde_json::to_string(&PullEvent::Forced { from: oid, to: oid }).unwrap();
        assert_eq!(text, format!(r#"{{"type":"forced","from":"{oid}","to":"{oid}"}}"#));
    }
}
