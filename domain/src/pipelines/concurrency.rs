//! Concurrency groups: one member of a group runs, the others wait.
//!
//! A group belongs to a repository; its members are runs and jobs. A new member takes the place of the one that waits, which is
//! cancelled; with `queue: max` members wait in line, up to [`WAITING_MAX`], and one that comes then is cancelled. A member with
//! `cancel-in-progress` waits, too, until the one that it cancels is over: no two members of a group run side by side.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{run::GroupWish, workflow::Queue};

/// Members that wait in a group with `queue: max`, at most (GitHub's number).
pub const WAITING_MAX: usize = 100;

/// The members of a group, each a run or a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group<M> {
    /// The member that runs.
    pub running: Option<M>,
    /// The members that wait, in the order in which they will run.
    pub waiting: VecDeque<M>,
}

/// What follows for a member of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GroupEffect<M> {
    /// The member may run.
    Go(M),
    /// The member runs, and has to make way.
    Displace(M),
    /// The member waited, or came when too many did, and is cancelled.
    Refuse(M),
}

impl<M> Default for Group<M> {
    fn default() -> Self {
        Self { running: None, waiting: VecDeque::new() }
    }
}

impl<M: Clone + PartialEq> Group<M> {
    /// Adds a member, which runs, waits or is refused. Adding one that is in the group already changes nothing.
    pub fn enter(&mut self, member: M, wish: &GroupWish) -> Vec<GroupEffect<M>> {
        if self.running.as_ref() == Some(&member) || self.waiting.contains(&member) {
            return Vec::new();
        }
        let Some(running) = self.running.clone() else {
            self.running = Some(member.clone());
            return vec![GroupEffect::Go(member)];
        };
        let mut effects = Vec::new();
        match wish.queue {
            Queue::Max if !wish.cancels && self.waiting.len() >= WAITING_MAX => {
                return vec![GroupEffect::Refuse(member)];
            }
            Queue::Max if !wish.cancels => {}
            Queue::Single | Queue::Max => effects.extend(self.waiting.drain(..).map(GroupEffect::Refuse)),
        }
        if wish.cancels {
            effects.push(GroupEffect::Displace(running));
        }
        self.waiting.push_back(member);
        effects
    }

    /// Takes a member out that is over, or no longer wants to run. Where it ran, the one that waited longest runs.
    pub fn leave(&mut self, member: &M) -> Vec<GroupEffect<M>> {
        self.waiting.retain(|waiting| waiting != member);
        if self.running.as_ref() != Some(member) {
            return Vec::new();
        }
        self.running = self.waiting.pop_front();
        self.running.clone().map(GroupEffect::Go).into_iter().collect()
    }

    /// Whether the group has no members, so that nothing of it has to be kept.
    pub fn is_empty(&self) -> bool {
        self.running.is_none() && self.waiting.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{
        GroupEffect::{Displace, Go, Refuse},
        *,
    };

    fn wish(cancels: bool, queue: Queue) -> GroupWish {
        GroupWish { group: "g".to_owned(), cancels, queue }
    }

    #[test]
    fn one_runs_one_waits_and_an_older_waiting_one_is_cancelled() {
        let (mut group, wish) = (Group::default(), wish(false, Queue::Single));
        assert_eq!(group.enter(1, &wish), [Go(1)]);
        assert_eq!(group.enter(2, &wish), []);
        assert_eq!(group.enter(2, &wish), []);
        assert_eq!(group.enter(3, &wish), [Refuse(2)]);
        assert_eq!(group.leave(&2), []);
        assert_eq!(group.leave(&1), [Go(3)]);
        assert_eq!(group.leave(&3), []);
        assert!(group.is_empty());
    }

    #[test]
    fn a_member_that_cancels_waits_until_the_one_that_ran_is_over() {
        let (mut group, wish) = (Group::default(), wish(true, Queue::Single));
        assert_eq!(group.enter(1, &wish), [Go(1)]);
        assert_eq!(group.enter(2, &wish), [Displace(1)]);
        assert_eq!(group.enter(3, &wish), [Refuse(2), Displace(1)]);
        assert_eq!(group.leave(&1), [Go(3)]);
    }

    #[test]
    fn a_line_has_a_hundred_places() {
        let (mut group, wish) = (Group::default(), wish(false, Queue::Max));
        assert_eq!(group.enter(0, &wish), [Go(0)]);
        for member in 1..=WAITING_MAX {
            assert_eq!(group.enter(member, &wish), [], "{member}");
        }
        assert_eq!(group.enter(101, &wish), [Refuse(101)]);
        assert_eq!(group.leave(&50), []);
        assert_eq!(group.enter(102, &wish), []);
        assert_eq!(group.leave(&0), [Go(1)]);
    }

    #[test]
    fn a_member_that_left_the_line_never_runs() {
        let (mut group, wish) = (Group::default(), wish(false, Queue::Single));
        group.enter(1, &wish);
        group.enter(2, &wish);
        assert_eq!(group.leave(&2), []);
        assert_eq!(group.leave(&1), []);
        assert!(group.is_empty());
    }

    proptest! {
        #[test]
        fn a_group_never_runs_two_and_never_waits_for_none(
            moves in proptest::collection::vec((0..6_u8, any::<bool>(), any::<bool>(), any::<bool>()), 1..60)
        ) {
            let mut group = Group::default();
            let mut running = None;
            for (member, enters, cancels, is_max) in moves {
                let effects = if enters {
                    group.enter(member, &wish(cancels, if is_max { Queue::Max } else { Queue::Single }))
                } else {
                    if running == Some(member) {
                        running = None;
                    }
                    group.leave(&member)
                };
                for effect in effects {
                    if let Go(member) = effect {
                        prop_assert_eq!(running, None);
                        running = Some(member);
                    }
                }
                prop_assert_eq!(group.running, running);
                prop_assert!(group.running.is_some() || group.waiting.is_empty());
            }
        }
    }
}
