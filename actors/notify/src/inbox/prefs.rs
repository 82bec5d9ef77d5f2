//! How the person wants to be told things.

use domain::{
    Result,
    notify::{Channels, EventType, NotifyPrefs, PrefsChange},
};
use kernel::{Command, Handle, Turn};
use serde_json::json;
use store::{Change, notify::StoredPrefs};

use super::{Inbox, tell_own};

/// Changes the settings that are named; answers all of them.
#[derive(Clone, Debug)]
pub struct ChangePrefs(pub PrefsChange);

/// Chooses the channels of one type of event.
#[derive(Clone, Debug)]
pub struct ChooseChannels {
    /// The type.
    pub kind: String,
    /// The channels.
    pub channels: Channels,
}

impl Command for ChangePrefs {
    type Reply = NotifyPrefs;

    const NAME: &'static str = "change_prefs";
}

impl Handle<ChangePrefs> for Inbox {
    async fn handle(&mut self, ChangePrefs(named): &ChangePrefs, turn: &mut Turn<'_, Self>) -> Result<NotifyPrefs> {
        let before = turn.services().store.notify_prefs(*turn.key()).await?;
        let mut after = before.clone();
        after.zone_chosen |= named.zone.is_some();
        named.clone().apply(&mut after.prefs);
        save(&before, &after, turn).await?;
        Ok(after.prefs)
    }
}

impl Command for ChooseChannels {
    type Reply = (&'static EventType, Channels);

    const NAME: &'static str = "choose_channels";
}

impl Handle<ChooseChannels> for Inbox {
    async fn handle(
        &mut self,
        ChooseChannels { kind, channels }: &ChooseChannels,
        turn: &mut Turn<'_, Self>,
    ) -> Result<(&'static EventType, Channels)> {
        let before = turn.services().store.notify_prefs(*turn.key()).await?;
        let mut after = before.clone();
        let event = after.prefs.choose(kind, *channels)?;
        save(&before, &after, turn).await?;
        Ok((event, after.prefs.channels(event)))
    }
}

async fn save(before: &StoredPrefs, after: &StoredPrefs, turn: &mut Turn<'_, Inbox>) -> Result<()> {
    if before == after {
        return Ok(());
    }
    let (user_id, now) = (*turn.key(), turn.now());
    let mut change = Change::new();
    change.notify_prefs_set(user_id, after, now);
    let quiet = |stored: &StoredPrefs| (stored.prefs.quiet_hours.clone(), stored.prefs.zone.clone());
    if quiet(before) != quiet(after) {
        change.deliveries_review_held(user_id, now);
    }
    tell_own(&mut change, turn, json!({ "type": "notify.settings_changed" }));
    turn.commit(change).await
}
