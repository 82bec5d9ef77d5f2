//! One try of a delivery: whom it reaches by now, what it says, and how it went.

use std::{collections::HashMap, time::Duration};

use actors_base::Services;
use domain::{
    Tenant,
    id::UserId,
    notify::{AckCode, CancelReason, Message, Recipient, Target},
};
use store::{Change, Delivery, DeliveryClaim, StoreError};

use super::{LEASE, RENEW_EVERY, email, phone, push, settle, settle::Tried, whole_link};

/// The longest that a gateway is waited for, whatever its own time-outs are.
const TRY_MAX: Duration = Duration::from_secs(45);

/// A delivery that is ready to be tried, with the person as they are now, if there still is one.
#[derive(Debug)]
pub(super) struct Prepared {
    claim: DeliveryClaim,
    recipient: Option<Recipient>,
}

impl Prepared {
    /// In whose turn it is tried.
    pub fn tenant(&self) -> Tenant {
        self.claim.delivery.tenant
    }
}

/// Looks up whom these deliveries are for.
pub(super) async fn prepare(services: &Services, claims: Vec<DeliveryClaim>) -> Result<Vec<Prepared>, StoreError> {
    let mut user_ids: Vec<UserId> = claims.iter().map(|claim| claim.delivery.user_id).collect();
    user_ids.sort_unstable();
    user_ids.dedup();
    let people = services.store.recipients(&user_ids).await?;
    let people: HashMap<_, _> = people.into_iter().map(|person| (person.user_id, person)).collect();
    let prepared = |claim: DeliveryClaim| Prepared { recipient: people.get(&claim.delivery.user_id).cloned(), claim };
    Ok(claims.into_iter().map(prepared).collect())
}

/// Tries it, and settles it. If the store fails, it comes again when its lease ends.
pub(super) async fn run(services: &Services, prepared: &Prepared) {
    let delivery = &prepared.claim.delivery;
    let settled = async {
        let tried = tokio::time::timeout(TRY_MAX, attempt(services, prepared));
        let tried = match while_renewing(services, &prepared.claim, tried).await {
            Ok(tried) => tried?,
            Err(_) => Tried::Later { error: "the gateway took too long".to_owned(), retry_after: None },
        };
        count(services, delivery, &tried);
        let change = settle::settlement(&prepared.claim, tried, services.store.now());
        Ok::<_, StoreError>(services.store.commit(change).await?)
    };
    if let Err(error) = settled.await {
        tracing::warn!(id = %delivery.id, %error, "a delivery could not be settled; it comes again");
    }
}

/// Does `work`, and has no other node take the delivery meanwhile.
async fn while_renewing<T>(services: &Services, claim: &DeliveryClaim, work: impl Future<Output = T>) -> T {
    let renewing = async {
        loop {
            tokio::time::sleep(RENEW_EVERY).await;
            let mut change = Change::new();
            change.delivery_renew(claim, services.store.now().after(LEASE));
            if let Err(error) = services.store.commit(change).await {
                tracing::warn!(id = %claim.delivery.id, %error, "a delivery's claim could not be renewed");
            }
        }
    };
    tokio::select! {
        done = work => done,
        never = renewing => never,
    }
}

async fn attempt(services: &Services, prepared: &Prepared) -> Result<Tried, StoreError> {
    let delivery = &prepared.claim.delivery;
    let Some(recipient) = &prepared.recipient else { return Ok(Tried::Cancelled(CancelReason::PersonGone)) };
    let link = delivery.url.as_deref().map(|url| whole_link(&services.settings.public_url, url));
    let code = if asks_for_ack(services, delivery).await? { Some(AckCode::of(delivery.id)) } else { None };
    let message =
        Message { title: &delivery.title, body: delivery.body.as_deref(), link: link.as_deref(), code: code.as_ref() };
    match &delivery.target {
        Target::Email(_) => Ok(email::send(services, delivery, recipient, &message).await),
        Target::Phone(_) => phone::send(services, delivery, recipient, &message).await,
        Target::Device(device) => push::send(services, delivery, device, &message).await,
        // It was there with its commit, and so is never claimed.
        Target::Inbox => Ok(Tried::Sent { target: Target::Inbox, provider_id: None }),
    }
}

/// Whether somebody who hears of it shall acknowledge it.
async fn asks_for_ack(services: &Services, delivery: &Delivery) -> Result<bool, StoreError> {
    if !delivery.channel.needs_phone() {
        return Ok(false);
    }
    let Some(notice_id) = delivery.notice_id else { return Ok(delivery.escalation_id.is_some()) };
    let notice = services.store.notice(delivery.user_id, notice_id).await?;
    Ok(notice.is_some_and(|notice| notice.require_ack && notice.acked_at.is_none()))
}

fn count(services: &Services, delivery: &Delivery, tried: &Tried) {
    let channel = delivery.channel.as_str();
    let outcome = settle::outcome(tried, delivery.attempts);
    metrics::counter!("troupe_deliveries_total", "channel" => channel, "outcome" => outcome).increment(1);
    if matches!(tried, Tried::Sent { .. } | Tried::Kept { .. }) {
        let waited = services.store.now().since(delivery.created_at);
        metrics::histogram!("troupe_delivery_delay_seconds", "channel" => channel).record(waited);
    }
}
