//! Which sockets hear of which revocation: each of what concerns its own person and sign-in, and of nothing else, so that
//! the end of an organization with thousands of members leaves everybody else's sockets alone.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use dashmap::DashMap;
use domain::id::{SignInId, UserId};
use tokio::sync::watch;

/// What a socket has heard since it was opened. That it has changed at all is a reason to look again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Heard {
    /// Its sign-in was ended.
    pub(crate) is_signed_out: bool,
}

type Sender = Arc<watch::Sender<Heard>>;
type ByNumber = HashMap<u64, Sender>;

/// The sockets of this node.
#[derive(Debug, Default)]
pub(crate) struct Subscribers {
    next: AtomicU64,
    by_user: DashMap<UserId, ByNumber>,
    by_sign_in: DashMap<SignInId, ByNumber>,
}

/// One socket's; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Subscription {
    subscribers: Arc<Subscribers>,
    number: u64,
    user_id: UserId,
    sign_in_id: Option<SignInId>,
    heard: watch::Receiver<Heard>,
}

impl Subscribers {
    /// Has a socket hear of what concerns this person and this sign-in, from now on.
    pub(crate) fn subscribe(self: &Arc<Self>, user_id: UserId, sign_in_id: Option<SignInId>) -> Subscription {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, heard) = watch::channel(Heard::default());
        let sender = Arc::new(sender);
        self.by_user.entry(user_id).or_default().insert(number, Arc::clone(&sender));
        if let Some(sign_in_id) = sign_in_id {
            self.by_sign_in.entry(sign_in_id).or_default().insert(number, sender);
        }
        Subscription { subscribers: Arc::clone(self), number, user_id, sign_in_id, heard }
    }

    /// The sign-in was ended.
    pub(crate) fn sign_in_ended(&self, id: SignInId) {
        for sender in self.by_sign_in.get(&id).iter().flat_map(|senders| senders.values()) {
            sender.send_modify(|heard| heard.is_signed_out = true);
        }
    }

    /// The person's rights changed, or they are gone.
    pub(crate) fn user_changed(&self, id: UserId) {
        for sender in self.by_user.get(&id).iter().flat_map(|senders| senders.values()) {
            sender.send_modify(|_| {});
        }
    }

    /// Anything may have happened.
    pub(crate) fn all_changed(&self) {
        for senders in &self.by_user {
            for sender in senders.values() {
                sender.send_modify(|_| {});
            }
        }
    }
}

impl Subscription {
    /// Waits for what concerns the socket. Safe to cancel.
    pub(crate) async fn next(&mut self) -> Heard {
        // The sender lives as long as the entries, which this owns.
        let _ = self.heard.changed().await;
        *self.heard.borrow_and_update()
    }

    /// What was heard and not yet looked at.
    #[cfg(test)]
    pub(crate) fn news(&mut self) -> Option<Heard> {
        let is_new = self.heard.has_changed().unwrap_or(false);
        is_new.then(|| *self.heard.borrow_and_update())
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        remove(&self.subscribers.by_user, self.user_id, self.number);
        if let Some(sign_in_id) = self.sign_in_id {
            remove(&self.subscribers.by_sign_in, sign_in_id, self.number);
        }
    }
}

fn remove<Id: Eq + Hash>(senders: &DashMap<Id, ByNumber>, id: Id, number: u64) {
    if let dashmap::Entry::Occupied(mut entry) = senders.entry(id) {
        entry.get_mut().remove(&number);
        if entry.get().is_empty() {
            entry.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::Timestamp;

    use super::*;

    #[test]
    fn a_socket_hears_of_its_own_person_and_sign_in_only() {
        let subscribers = Arc::new(Subscribers::default());
        let (ada, sign_in_id) = (UserId::new(Timestamp(1)), SignInId::new(Timestamp(1)));
        let mut hers = subscribers.subscribe(ada, Some(sign_in_id));
        for number in 0..300 {
            subscribers.user_changed(UserId::new(Timestamp(number)));
            subscribers.sign_in_ended(SignInId::new(Timestamp(number)));
        }
        assert_eq!(hers.news(), None);
        subscribers.user_changed(ada);
        assert_eq!(hers.news(), Some(Heard { is_signed_out: false }));
        subscribers.sign_in_ended(sign_in_id);
        assert_eq!(hers.news(), Some(Heard { is_signed_out: true }));
    }

    #[test]
    fn a_socket_that_is_gone_leaves_nothing_behind() {
        let subscribers = Arc::new(Subscribers::default());
        let ada = UserId::new(Timestamp(1));
        let (first, second) = (subscribers.subscribe(ada, None), subscribers.subscribe(ada, None));
        drop(first);
        assert_eq!(subscribers.by_user.len(), 1);
        drop(second);
        assert!(subscribers.by_user.is_empty());
    }
}
