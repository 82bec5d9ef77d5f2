//! Which contents of a page are kept when another takes their place.

use std::time::Duration;

use crate::time::Timestamp;

/// A page that is being edited keeps a version this often.
pub const VERSION_EVERY: Duration = Duration::from_secs(10 * 60);
/// Versions that a page keeps; the oldest go.
pub const VERSIONS_MAX: u64 = 1_000;

/// What is known of a page's history when its content is about to be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct History {
    /// The content that goes; 0 is the empty one that the page was made with.
    pub current: i64,
    /// The newest version that is kept, and when it was.
    pub newest_kept: Option<(i64, Timestamp)>,
    /// When the page was made: what the time of its first version is counted from.
    pub since: Timestamp,
}

/// Why a content is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// Somebody edits.
    Edit,
    /// A version comes back.
    Restore,
}

impl History {
    /// Whether the content that goes is kept as a version.
    ///
    /// While people edit, the content that stands when ten minutes have passed since the last version was kept is kept
    /// before the next edit replaces it. So a session's last content is always there once another session begins, however
    /// long after. What a restore replaces, and what it brought, is always kept.
    pub fn keeps(&self, replacement: Replacement, now: Timestamp) -> bool {
        if self.current == 0 || self.newest_kept.is_some_and(|(version, _)| version == self.current) {
            return false;
        }
        let last = self.newest_kept.map_or(self.since, |(_, at)| at);
        replacement == Replacement::Restore || now >= last.after(VERSION_EVERY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp(1_700_000_000_000);

    /// Which versions are kept when a page made at minute 0 is edited at these minutes.
    fn kept(minutes: &[u64]) -> Vec<i64> {
        let mut history = History { current: 0, newest_kept: None, since: START };
        let mut kept = Vec::new();
        for minute in minutes {
            let now = START.after(Duration::from_secs(60 * minute));
            if history.keeps(Replacement::Edit, now) {
                history.newest_kept = Some((history.current, now));
                kept.push(history.current);
            }
            history.current += 1;
        }
        kept
    }

    #[test]
    fn an_edited_page_keeps_a_version_every_ten_minutes() {
        let every_minute: Vec<u64> = (0..=31).collect();
        assert_eq!(kept(&every_minute), [10, 20, 30]);
        assert_eq!(kept(&[0, 9]), [] as [i64; 0]);
        assert_eq!(kept(&[0, 10]), [1]);
    }

    #[test]
    fn the_last_content_of_a_session_is_kept_once_another_begins() {
        assert_eq!(kept(&[0, 1, 2, 300, 301, 302, 9_000]), [3, 6]);
    }

    #[test]
    fn the_empty_content_that_a_page_is_made_with_is_no_version() {
        assert_eq!(kept(&[20]), [] as [i64; 0]);
    }

    #[test]
    fn a_restore_keeps_what_it_replaces_at_once_and_nothing_twice() {
        let history = History { current: 2, newest_kept: Some((1, START)), since: START };
        assert!(!history.keeps(Replacement::Edit, START));
        assert!(history.keeps(Replacement::Restore, START));
        let kept = History { newest_kept: Some((2, START)), ..history };
        assert!(!kept.keeps(Replacement::Restore, START.after(VERSION_EVERY)));
    }
}
