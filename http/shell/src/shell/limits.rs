//! How often one caller, or one address, may ask.
//!
//! The generous overall limits hold across nodes without asking the hub at every request: a node takes a packet of a
//! hundredth of the limit from the hub and uses it up by itself.

use std::{
    net::{IpAddr, Ipv6Addr},
    time::{Duration, Instant},
};

use dashmap::DashMap;
use domain::{
    Caller, Context, Error,
    access_key::AccessKeyId,
    id::{JobId, KeyId, RunnerId, UserId},
};
use gateways::hub::{Limit, RetryAfter};

use crate::{endpoint::Endpoint, error::Result, state::State};

/// What limits are counted over.
const MINUTE: Duration = Duration::from_mins(1);
/// How many packets a limit is cut into.
const PACKETS: u32 = 100;
/// Packets that one process holds before it throws the old ones out.
const HELD_MAX: usize = 50_000;
/// What those who ask too often read.
const TOO_OFTEN: &str = "That was too many requests; try again later.";

/// The packets that this node holds.
#[derive(Default)]
pub struct Limits {
    held: DashMap<Who, Packet>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Who {
    Person(UserId),
    Key(KeyId),
    AccessKey(AccessKeyId),
    Job(JobId),
    Runner(RunnerId),
    Address(IpAddr),
}

struct Packet {
    left: u32,
    until: Instant,
}

impl Limits {
    /// Counts one request of this caller, or of this address where nobody is signed in.
    pub async fn caller(&self, state: &State, context: &Context) -> Result<()> {
        let per_minute = state.options.requests_per_minute;
        match &context.caller {
            Caller::Person(person) => self.count(state, Who::Person(person.user_id), per_minute).await,
            Caller::Key(key) => self.count(state, Who::Key(key.key_id), per_minute).await,
            Caller::AccessKey(key) => self.count(state, Who::AccessKey(key.id), per_minute).await,
            Caller::Job(job) => self.job(state, job.job_id).await,
            Caller::AppPassword(_) | Caller::Nobody | Caller::System => self.address(state, context.ip).await,
        }
    }

    /// Counts one request that a runner makes for a job: many runners may stand behind one address.
    pub async fn job(&self, state: &State, id: JobId) -> Result<()> {
        self.count(state, Who::Job(id), state.options.requests_per_minute).await
    }

    /// Counts one request of a runner.
    pub async fn runner(&self, state: &State, id: RunnerId) -> Result<()> {
        self.count(state, Who::Runner(id), state.options.requests_per_minute).await
    }

    /// Counts a credential that isn't one against the address that it came from, also over other listeners than the API's; 429
    /// where there were too many.
    ///
    /// # Errors
    /// That, and whatever the hub says.
    pub async fn failure_from(&self, state: &State, ip: IpAddr) -> Result<()> {
        self.address(state, Some(ip)).await
    }

    /// Counts one request of an address that isn't signed in.
    pub async fn address(&self, state: &State, ip: Option<IpAddr>) -> Result<()> {
        let Some(ip) = ip else { return Ok(()) };
        self.count(state, Who::Address(network(ip)), state.options.anonymous_requests_per_minute).await
    }

    /// Counts one request of an address to an endpoint that has a limit of its own.
    pub async fn address_on(
        &self,
        state: &State,
        ip: Option<IpAddr>,
        endpoint: &Endpoint,
        per_minute: u32,
    ) -> Result<()> {
        let Some(ip) = ip else { return Ok(()) };
        let key = format!("address:{} {}:{}", endpoint.method, endpoint.path, network(ip));
        let verdict = state.hub.limit_check(&key, Limit::new(per_minute, MINUTE), state.store.now()).await;
        verdict.map_err(|refused| refusal(refused).into())
    }

    async fn count(&self, state: &State, who: Who, per_minute: u32) -> Result<()> {
        let now = Instant::now();
        if let Some(mut packet) = self.held.get_mut(&who)
            && packet.left > 0
            && now < packet.until
        {
            packet.left -= 1;
            return Ok(());
        }
        let size = (per_minute / PACKETS).max(1);
        let limit = Limit::new(per_minute / size, MINUTE);
        state.hub.limit_check(&key(who), limit, state.store.now()).await.map_err(refusal)?;
        if size > 1 {
            self.hold(who, Packet { left: size - 1, until: now + MINUTE }, now);
        }
        Ok(())
    }

    fn hold(&self, who: Who, packet: Packet, now: Instant) {
        if self.held.len() >= HELD_MAX {
            self.held.retain(|_, packet| packet.left > 0 && now < packet.until);
        }
        if self.held.len() < HELD_MAX {
            self.held.insert(who, packet);
        }
    }
}

/// An address, or the network that one customer has all of: IPv6 is given out in blocks of 2^64.
fn network(ip: IpAddr) -> IpAddr {
    match ip {
        IpAddr::V4(_) => ip,
        IpAddr::V6(ip) => IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() >> 64 << 64)),
    }
}

fn key(who: Who) -> String {
    match who {
        Who::Person(id) => format!("caller:{id}"),
        Who::Key(id) => format!("caller:{id}"),
        Who::AccessKey(id) => format!("caller:{id}"),
        Who::Job(id) => format!("caller:{id}"),
        Who::Runner(id) => format!("caller:{id}"),
        Who::Address(ip) => format!("address:{ip}"),
    }
}

fn refusal(RetryAfter(retry_after): RetryAfter) -> Error {
    Error::RateLimited { message: TOO_OFTEN.into(), retry_after }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_addresses_of_one_ipv6_network_count_as_one() {
        let one: IpAddr = "2001:db8:1:2:3:4:5:6".parse().unwrap();
        let other: IpAddr = "2001:db8:1:2:ffff::1".parse().unwrap();
        let elsewhere: IpAddr = "2001:db8:1:3::1".parse().unwrap();
        assert_eq!(network(one), network(other));
        assert_ne!(network(one), network(elsewhere));
    }
}
