//! Deliveries: sees to it that what people are to be told reaches them (decisions, "Notifications", "Deliveries").
//!
//! - Each channel is a lane of the dispatcher ([`work`](actors_base::work)) with permits of its own ([`channel`]): a gateway
//!   that hangs holds up what goes over it, and nothing else; and a tenant never has all of them.
//! - A try that may go better next time is put off, longer each time ([`settle`]); every try of a delivery carries the
//!   same idempotency key, its id.
//! - What quiet hours held back becomes one summary per person when they end ([`held`]), on a lane of its own.
//!
//! Delivery is at least once: a node that dies between a try and its commit leaves a claim whose lease ends, and then it
//! is tried again; a node that lives renews the claims of tries that take long. It must never happen that a delivery counts
//! as sent before a gateway took it.

mod attempt;
mod budget;
mod channel;
mod email;
mod held;
mod inbox;
mod phone;
mod push;
mod settle;

use std::{sync::Arc, time::Duration};

use actors_base::{Services, work::Lane};
use store::DeliveryLane;

pub use self::inbox::{DeliveryReport, ReportDelivery, SendTest};
use self::{channel::Channel, held::HeldBack};

/// How long a node has for one try before it counts as dead, unless it says that it is still at it.
const LEASE: Duration = Duration::from_secs(15);
/// How often it says so: most tries are over before.
const RENEW_EVERY: Duration = Duration::from_secs(5);

/// The lanes of deliveries.
pub fn lanes(services: &Services) -> Vec<Arc<dyn Lane>> {
    let channel = |lane| Arc::new(Channel::new(services.clone(), lane)) as Arc<dyn Lane>;
    let held: Arc<dyn Lane> = Arc::new(HeldBack::new(services.clone()));
    std::iter::once(held).chain(DeliveryLane::SENDING.into_iter().map(channel)).collect()
}

/// The whole address of what may be a path of this server.
fn whole_link(public_url: &str, url: &str) -> String {
    if url.starts_with('/') { format!("{public_url}{url}") } else { url.to_owned() }
}
