//! Who looks at which page.

use std::{
    collections::HashMap,
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};

use domain::{
    Timestamp,
    id::{PageId, UserId, new_uuid},
};
use serde::{Deserialize, Serialize};

/// How long somebody on another node is believed to be there without that node saying so again. Nodes do three times as
/// often.
pub(super) const BELIEVED_FOR: Duration = Duration::from_secs(75);

/// One open socket of somebody. Later ones are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(super) struct SessionId(u128);

impl SessionId {
    /// Greater than all that this node made before at `now` or earlier; what stands last keeps nodes apart.
    pub(super) fn new(now: Timestamp) -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let millis = u64::try_from(now.as_millis()).unwrap_or(0);
        let random = new_uuid(now).as_u128() & u128::from(u32::MAX);
        Self((u128::from(millis) << 64) | (u128::from(number) << 32) | random)
    }
}

/// A tab of somebody, and the page that it shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Viewer {
    /// Who.
    pub user_id: UserId,
    /// Their name.
    pub name: String,
    /// The tab, as its client named it.
    pub tab: String,
    /// The device, as its client named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// The page that the tab shows; none while it shows no page.
    pub page_id: Option<PageId>,
}

/// A viewer on one socket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Present {
    pub(super) session: SessionId,
    pub(super) viewer: Viewer,
}

/// Everybody who is there, on all nodes. A tab stands here once: what its newest socket said last.
#[derive(Debug, Default)]
pub(super) struct Table {
    tabs: HashMap<(UserId, String), Entry>,
}

#[derive(Debug)]
struct Entry {
    present: Present,
    heard_at: Instant,
}

impl Table {
    /// Somebody is there; answers whether that says anything new.
    pub(super) fn here(&mut self, present: Present, now: Instant) -> bool {
        let key = (present.viewer.user_id, present.viewer.tab.clone());
        match self.tabs.get_mut(&key) {
            // A socket that the same tab has replaced since.
            Some(entry) if present.session < entry.present.session => false,
            Some(entry) => {
                entry.heard_at = now;
                let is_new = entry.present.viewer != present.viewer;
                entry.present = present;
                is_new
            }
            None => {
                self.tabs.insert(key, Entry { present, heard_at: now });
                true
            }
        }
    }

    /// A socket is gone; answers who is no longer there, which is nobody when the tab has another socket.
    pub(super) fn gone(&mut self, present: &Present) -> Option<Viewer> {
        let key = (present.viewer.user_id, present.viewer.tab.clone());
        let is_last = self.tabs.get(&key).is_some_and(|entry| entry.present.session <= present.session);
        if is_last { self.tabs.remove(&key).map(|entry| entry.present.viewer) } else { None }
    }

    /// Forgets those whom nobody has told of for long, but for the ones that `is_here` knows to be; answers them.
    pub(super) fn expire(&mut self, now: Instant, is_here: impl Fn(SessionId) -> bool) -> Vec<Viewer> {
        let is_over =
            |entry: &Entry| now.duration_since(entry.heard_at) >= BELIEVED_FOR && !is_here(entry.present.session);
        self.tabs.extract_if(|_, entry| is_over(entry)).map(|(_, entry)| entry.present.viewer).collect()
    }

    /// Everybody who is there.
    pub(super) fn viewers(&self) -> impl Iterator<Item = &Viewer> {
        self.tabs.values().map(|entry| &entry.present.viewer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp(1_700_000_000_000);

    fn present(session: u128, user_id: UserId, page_id: Option<PageId>) -> Present {
        let viewer = Viewer { user_id, name: "Ada".into(), tab: "tab-00001".into(), device: None, page_id };
        Present { session: SessionId(session), viewer }
    }

    #[test]
    fn a_tab_is_where_its_newest_socket_says() {
        let (ada, page) = (UserId::new(START), Some(PageId::new(START)));
        let mut table = Table::default();
        let now = Instant::now();
        assert!(table.here(present(1, ada, None), now));
        assert!(!table.here(present(1, ada, None), now), "said again");
        assert!(table.here(present(2, ada, page), now), "the tab's next socket, on a page");
        assert!(!table.here(present(1, ada, None), now), "a late word of the old socket");
        assert_eq!(table.gone(&present(1, ada, None)), None, "the old socket's end");
        assert_eq!(table.viewers().map(|viewer| viewer.page_id).collect::<Vec<_>>(), [page]);
        assert_eq!(table.gone(&present(2, ada, page)).map(|viewer| viewer.user_id), Some(ada));
        assert_eq!(table.viewers().count(), 0);
    }

    #[test]
    fn of_sockets_of_one_moment_the_later_is_greater() {
        let sessions: Vec<_> = (0..100).map(|_| SessionId::new(START)).collect();
        assert!(sessions.is_sorted_by(|one, next| one < next));
        assert!(SessionId::new(Timestamp(START.0 + 1)) > sessions[99]);
    }

    #[test]
    fn two_people_may_name_their_tabs_alike() {
        let mut table = Table::default();
        let people = [UserId::new(START), UserId::new(Timestamp(START.0 + 1))];
        for user_id in people {
            assert!(table.here(present(1, user_id, None), Instant::now()));
        }
        assert_eq!(table.viewers().count(), 2);
    }

    #[test]
    fn who_is_not_told_of_for_75_seconds_is_forgotten() {
        let (ada, now) = (UserId::new(START), Instant::now());
        let mut table = Table::default();
        table.here(present(1, ada, None), now);
        let nearly = now + BELIEVED_FOR - Duration::from_millis(1);
        assert!(table.expire(nearly, |_| false).is_empty());
        assert!(table.expire(now + BELIEVED_FOR, |_| true).is_empty(), "a socket of this node");
        table.here(present(1, ada, None), nearly);
        assert!(table.expire(now + BELIEVED_FOR, |_| false).is_empty(), "told of again");
        assert_eq!(table.expire(nearly + BELIEVED_FOR, |_| false).len(), 1);
        assert_eq!(table.viewers().count(), 0);
    }
}
