//! Live activities on the person's iPhones.

use domain::{
    Error, Result, Scope,
    id::{OrgId, SignInId},
    notify::{LIVE_ACTIVITIES_MAX, LiveEnvironment, no_vehicles},
};
use kernel::{Command, Handle, Turn};
use store::{
    Change,
    notify::{LiveActivity, LiveActivityAttrs, LiveActivityKey},
};

use super::{Inbox, devices::signed_in};

/// Registers a token of a live activity, or refreshes its registration.
///
/// For an activity that shows a watch, answers whether it is that watch's newest on this install: an older one has been
/// replaced, and the app may end it.
#[derive(Clone, Debug)]
pub struct PutLiveActivity {
    /// The sign-in that asks, and that the registration goes with.
    pub sign_in_id: SignInId,
    /// Which registration; the person's own.
    pub key: LiveActivityKey,
    /// Which of Apple's servers knows the token.
    pub environment: LiveEnvironment,
    /// The app's name with Apple.
    pub bundle_id: String,
    /// The token.
    pub token: String,
    /// What it says beside.
    pub attrs: LiveActivityAttrs,
}

/// Removes a registration, where there is one.
#[derive(Clone, Debug)]
pub struct RemoveLiveActivity(pub LiveActivityKey);

impl Command for PutLiveActivity {
    type Reply = Option<bool>;

    const NAME: &'static str = "put_live_activity";
}

impl Handle<PutLiveActivity> for Inbox {
    async fn handle(&mut self, command: &PutLiveActivity, turn: &mut Turn<'_, Self>) -> Result<Option<bool>> {
        let (user_id, now) = (*turn.key(), turn.now());
        signed_in(turn, command.sign_in_id).await?;
        if let LiveActivityAttrs::Activity { org_id, .. } = &command.attrs {
            may_see_maps(turn, *org_id).await?;
        }
        // Read before the count: of two that are new at once, one is decided again.
        let person = turn.services().store.person(user_id).await?.ok_or(Error::Unauthenticated)?;
        let registered = turn.services().store.live_activities(user_id).await?;
        let known = registered.iter().find(|activity| activity.key == command.key);
        let activity = LiveActivity {
            key: command.key.clone(),
            sign_in_id: command.sign_in_id,
            environment: command.environment,
            bundle_id: command.bundle_id.clone(),
            token: command.token.clone(),
            attrs: command.attrs.clone(),
            created_at: known.map_or(now, |known| known.created_at),
            updated_at: now,
        };
        let mut change = Change::new();
        if known.is_none() {
            change.person_turn(&person);
        }
        let beyond = if known.is_none() { (registered.len() + 1).saturating_sub(LIVE_ACTIVITIES_MAX) } else { 0 };
        for oldest in &registered[..beyond] {
            change.live_activity_remove(&oldest.key);
        }
        change.live_activity_put(&activity);
        turn.commit(change).await?;
        Ok(is_current(&activity, &registered))
    }
}

impl Command for RemoveLiveActivity {
    type Reply = ();

    const NAME: &'static str = "remove_live_activity";
}

impl Handle<RemoveLiveActivity> for Inbox {
    async fn handle(&mut self, RemoveLiveActivity(key): &RemoveLiveActivity, turn: &mut Turn<'_, Self>) -> Result<()> {
        let mut change = Change::new();
        change.live_activity_remove(key);
        turn.commit(change).await
    }
}

/// Passes for a person who may see maps in the organization.
async fn may_see_maps(turn: &Turn<'_, Inbox>, org_id: OrgId) -> Result<()> {
    match turn.authority(org_id).await {
        Err(Error::NotFound { .. }) => Err(no_vehicles()),
        authority => authority?.require(Scope::MapsRead),
    }
}

/// Whether no other activity of the same watch on the same install came later; nothing where it shows no watch.
fn is_current(activity: &LiveActivity, registered: &[LiveActivity]) -> Option<bool> {
    let watch = watch_of(activity)?;
    let came_later = |other: &&LiveActivity| {
        other.key != activity.key
            && (other.key.install_id == activity.key.install_id && other.key.app == activity.key.app)
            && watch_of(other) == Some(watch)
            && other.created_at > activity.created_at
    };
    Some(!registered.iter().any(|other| came_later(&other)))
}

fn watch_of(activity: &LiveActivity) -> Option<&str> {
    match &activity.attrs {
        LiveActivityAttrs::Activity { watch_id, .. } => watch_id.as_deref(),
        LiveActivityAttrs::Start { .. } => None,
    }
}
