//! What quiet hours held back, when they end: one summary per person.
//!
//! One thing is told as itself. Several become one message that counts and names them, pushed to each of the person's
//! devices, or texted where a text or a call was held back and there is no device. The deliveries that it stands for are
//! cancelled in the commit that makes it.

use std::{collections::HashMap, sync::Arc, time::Duration};

use actors_base::{
    Services,
    work::{Lane, Run},
};
use domain::{
    App, Tenant, Timestamp,
    id::DeliveryId,
    notify::{Asked, CancelReason, Channel, Channels, Outcome, Reach, Recipient, Target, reach, summary},
};
use futures::future::BoxFuture;
use store::{Change, Claimed, CommitError, Delivery, DeliveryLane, HeldClaim, NewDelivery, Permits, StoreError, Turns};
use tokio::sync::Notify;

/// People whose deliveries of quiet hours are claimed at once.
const CLAIM_MAX: u32 = 256;
/// How long a node has to make summaries of what it claimed.
const LEASE: Duration = Duration::from_secs(10);

/// What quiet hours held back, as a lane of the dispatcher.
pub(super) struct HeldBack {
    services: Services,
    turns: Turns,
}

impl HeldBack {
    pub fn new(services: Services) -> Self {
        Self { services, turns: Turns::new(Permits::batches(1)) }
    }

    async fn claim(&self) -> Result<Claimed<Run>, StoreError> {
        if self.turns.free() == 0 {
            return Ok(Claimed::NoRoom);
        }
        let claims = self.services.store.deliveries_claim_held(CLAIM_MAX, LEASE).await?;
        if claims.is_empty() {
            return Ok(Claimed::NothingDue);
        }
        let (permit, services) = (self.turns.take(Tenant::System), self.services.clone());
        let run = Run::new(vec![permit], async move {
            if let Err(error) = release_all(&services, &claims).await {
                tracing::warn!(%error, "what was held back could not be summarized; it comes again");
            }
        });
        Ok(Claimed::Taken(vec![run]))
    }
}

impl Lane for HeldBack {
    fn name(&self) -> &'static str {
        DeliveryLane::Held.topic()
    }

    fn turns(&self) -> &Turns {
        &self.turns
    }

    fn changed(&self) -> Arc<Notify> {
        self.services.store.deliveries_changed(DeliveryLane::Held)
    }

    fn take(&self) -> BoxFuture<'_, Result<Claimed<Run>, StoreError>> {
        Box::pin(self.claim())
    }

    fn next(&self) -> BoxFuture<'_, Result<Option<Timestamp>, StoreError>> {
        Box::pin(self.services.store.deliveries_next(DeliveryLane::Held))
    }
}

/// Makes summaries of what was held back of these people.
async fn release_all(services: &Services, claims: &[HeldClaim]) -> Result<(), StoreError> {
    let user_ids: Vec<_> = claims.iter().map(|claim| claim.user_id).collect();
    let people = services.store.recipients(&user_ids).await?;
    let people: HashMap<_, _> = people.into_iter().map(|person| (person.user_id, person)).collect();
    let changes = claims.iter().map(|claim| release(claim, people.get(&claim.user_id), services.store.now()));
    for committed in futures::future::join_all(changes.map(|change| services.store.commit(change))).await {
        match committed {
            // Some of it was acknowledged in this moment; the rest is looked at again when the claim's lease ends.
            Ok(()) | Err(CommitError::Stale) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// What becomes of what was held back of one person.
fn release(claim: &HeldClaim, recipient: Option<&Recipient>, now: Timestamp) -> Change {
    let mut change = Change::new();
    let Some(recipient) = recipient else {
        change.deliveries_held_cancelled(claim, CancelReason::PersonGone, now);
        return change;
    };
    let quiet = recipient.prefs.quiet_hours.as_ref();
    if let Some(until) = quiet.and_then(|quiet| quiet.quiet_until(&recipient.prefs.zone, now)) {
        // Their quiet hours are others than when it was held back.
        change.deliveries_hold_on(claim, until);
        return change;
    }
    let targets = targets(recipient, &claim.deliveries, now);
    let reason = if targets.is_empty() { CancelReason::NoDevice } else { CancelReason::Summarized };
    change.deliveries_held_cancelled(claim, reason, now);
    for (channel, target) in targets {
        change.delivery_add(told(&claim.deliveries, channel, target, now));
    }
    change
}

/// Where a summary goes.
fn targets(recipient: &Recipient, held: &[Delivery], now: Timestamp) -> Vec<(Channel, Target)> {
    let over = |channel| {
        let app = held.iter().find_map(|delivery| match &delivery.target {
            Target::Device(device) => Some(device.app),
            Target::Email(_) | Target::Phone(_) | Target::Inbox => None,
        });
        let asked = Asked {
            app: app.unwrap_or(App::Assistant),
            channels: Channels::of(&[channel]),
            urgent: false,
            texts_off: false,
            overrides_quiet_hours: true,
        };
        let reached = |reach: Reach| match reach.outcome {
            Outcome::Now(target) => Some((channel, target)),
            Outcome::Held { .. } | Outcome::Not(_) => None,
        };
        // What was held back shows that the server texts and calls.
        reach(recipient, &asked, true, now).into_iter().filter_map(reached).collect::<Vec<_>>()
    };
    let pushed = over(Channel::Push);
    if !pushed.is_empty() || held.iter().all(|delivery| delivery.channel == Channel::Push) {
        return pushed;
    }
    over(Channel::Sms)
}

/// The message that stands for what was held back, oldest first.
fn told(held: &[Delivery], channel: Channel, target: Target, now: Timestamp) -> NewDelivery {
    let things = things(held);
    let (title, body) = summary(&things.iter().map(|thing| thing.title.as_str()).collect::<Vec<_>>());
    let several = NewDelivery {
        id: DeliveryId::new(now),
        user_id: held[0].user_id,
        notice_id: None,
        escalation_id: None,
        channel,
        target,
        hold_until: None,
        urgent: held.iter().any(|delivery| delivery.urgent),
        title,
        body: Some(body),
        url: None,
        created_at: now,
    };
    match things[..] {
        [one] => NewDelivery {
            notice_id: one.notice_id,
            escalation_id: one.escalation_id,
            title: one.title.clone(),
            body: one.body.clone(),
            url: one.url.clone(),
            ..several
        },
        _ => several,
    }
}

/// The deliveries without those that tell of the same over another channel or to another device.
fn things(held: &[Delivery]) -> Vec<&Delivery> {
    let mut things: Vec<&Delivery> = Vec::new();
    for delivery in held {
        let same = |known: &&Delivery| {
            known.notice_id == delivery.notice_id
                && known.title == delivery.title
                && (known.notice_id.is_some() || known.escalation_id == delivery.escalation_id)
        };
        if !things.iter().any(same) {
            things.push(delivery);
        }
    }
    things
}
