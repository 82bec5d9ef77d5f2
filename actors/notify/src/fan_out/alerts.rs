//! Alerts while events are decided on: who has been told of what goes on already.
//!
//! Events of one alert that come together find here what the ones before them left. Of events that other nodes decide on at
//! the same time, those that tell somebody or end the alert collide in the store, because each names the version that it was
//! decided on; those that are news to nobody, which are the most, only need the alert to be there.

use std::collections::BTreeMap;

use domain::{Timestamp, id::UserId, notify::OpenAlert};
use store::{
    Change,
    notify::{AlertKey, StoredAlert},
};

/// The alerts that some events belong to.
#[derive(Debug)]
pub(super) struct Alerts(BTreeMap<AlertKey, Tracked>);

/// An alert, and how the store has it.
#[derive(Debug)]
struct Tracked {
    /// At which version it was read, where the store has it.
    version: Option<i64>,
    /// As it is now; none when it is over.
    alert: Option<OpenAlert>,
    difference: Difference,
}

/// What the store doesn't know of an alert yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Difference {
    Nothing,
    /// When its last event was.
    LastEvent,
    /// Who was told, or that it began or ended.
    Everything,
}

impl Alerts {
    /// Those that go on.
    pub fn new(stored: &[StoredAlert]) -> Self {
        let tracked = |stored: &StoredAlert| {
            let StoredAlert { key, version, alert } = stored.clone();
            (key, Tracked { version: Some(version), alert: Some(alert), difference: Difference::Nothing })
        };
        Self(stored.iter().map(tracked).collect())
    }

    /// Takes in an event at `at`, and begins the alert if it is the first; answers who of `concerned` is to be told.
    pub fn take_in(&mut self, key: AlertKey, at: Timestamp, concerned: &[UserId]) -> Vec<UserId> {
        let unknown = || Tracked { version: None, alert: None, difference: Difference::Nothing };
        let tracked = self.0.entry(key).or_insert_with(unknown);
        let goes_on = tracked.alert.take().filter(|alert| alert.goes_on(at));
        let is_new = goes_on.is_none();
        let news_to = tracked.alert.insert(goes_on.unwrap_or_else(|| OpenAlert::new(at))).take_in(at, concerned);
        let is_news = is_new || !news_to.is_empty();
        let difference = if is_news { Difference::Everything } else { Difference::LastEvent };
        tracked.difference = tracked.difference.max(difference);
        news_to
    }

    /// Ends the alert; answers who of `concerned` heard of it and is to hear that it is over. Of what nobody heard of,
    /// nobody hears.
    pub fn close(&mut self, key: &AlertKey, at: Timestamp, concerned: &[UserId]) -> Vec<UserId> {
        let Some(tracked) = self.0.get_mut(key) else { return Vec::new() };
        tracked.difference = Difference::Everything;
        let Some(over) = tracked.alert.take().filter(|alert| alert.goes_on(at)) else { return Vec::new() };
        concerned.iter().copied().filter(|user_id| over.told.contains(user_id)).collect()
    }

    /// What became of them, as a change.
    pub fn into_change(self) -> Change {
        let mut change = Change::new();
        for (key, Tracked { version, alert, difference }) in self.0 {
            match (difference, version, alert) {
                (Difference::Nothing, ..) | (_, None, None) => {}
                (_, None, Some(alert)) => change.alert_open(&key, &alert),
                (Difference::LastEvent, Some(_), Some(alert)) => change.alert_goes_on(&key, alert.last_at),
                (_, Some(version), Some(alert)) => change.alert_set(&key, version, &alert),
                (_, Some(version), None) => change.alert_close(&key, version),
            }
        }
        change
    }
}
