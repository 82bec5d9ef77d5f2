//! What becomes of an activity on a pull request that is looked at later than it happened.

use super::event::Missed;
use crate::git::{ObjectId, Pull, PullState};

/// The activity that ends a pull request.
const CLOSED: &str = "closed";

/// Why an activity with this head starts nothing, as the pull request is by now; none where it may. An opening that is looked at late
/// counts with the head that it had; a head that moved on once more has an entry of its own.
pub fn pull_missed(pull: &Pull, activity: &str, head: ObjectId) -> Option<Missed> {
    match (pull.state == PullState::Open, activity == CLOSED) {
        (false, false) => Some(Missed::PullClosed),
        (true, true) => Some(Missed::PullOpen),
        _ => (activity == "synchronize" && pull.head_oid != head).then_some(Missed::HeadMoved),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Timestamp,
        git::{BranchName, PullNumber},
        id::UserId,
    };

    fn pull(state: PullState) -> Pull {
        let (now, oid) = (Timestamp(1_767_225_600_000), ObjectId::of_bytes([2; 20]));
        let branch = |name: &str| BranchName::parse("name", name).unwrap();
        Pull {
            number: PullNumber::new(1).unwrap(),
            title: "Add one".to_owned(),
            body: String::new(),
            head: branch("feature"),
            base: branch("main"),
            state,
            is_draft: false,
            author: UserId::new(now),
            version: 1,
            opened_with: (oid, oid),
            head_oid: oid,
            base_oid: oid,
            merge_commit: None,
            created_at: now,
            updated_at: now,
            ended: None,
            auto_merge: None,
        }
    }

    #[test]
    fn only_a_head_that_moved_on_is_left_to_a_later_entry() {
        let (old, new) = (ObjectId::of_bytes([1; 20]), ObjectId::of_bytes([2; 20]));
        for (state, activity, head, expected) in [
            (PullState::Open, "opened", new, None),
            (PullState::Open, "opened", old, None),
            (PullState::Open, "synchronize", new, None),
            (PullState::Open, "synchronize", old, Some(Missed::HeadMoved)),
            (PullState::Closed, "closed", new, None),
            (PullState::Merged, "closed", new, None),
            (PullState::Open, "closed", new, Some(Missed::PullOpen)),
            (PullState::Closed, "opened", new, Some(Missed::PullClosed)),
            (PullState::Merged, "synchronize", old, Some(Missed::PullClosed)),
        ] {
            assert_eq!(pull_missed(&pull(state), activity, head), expected, "{activity} {head}");
        }
    }
}
