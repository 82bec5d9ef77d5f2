//! Mail to other servers (RFC 5321): finds who takes the mail of a domain, and brings one message for all of its recipients there,
//! over one connection.
//!
//! What can't be done now is [`Heard::Later`] for each recipient, and what won't ever be [`Heard::Refused`]: whoever asks decides
//! on what follows. Nothing is remembered between two messages but how many connections a domain has.

mod conversation;
mod hosts;
mod one_click;
mod policy;
mod signing;

use std::{fmt, sync::Arc, time::Duration};

use bytes::Bytes;
use dashmap::DashMap;
use domain::{
    Timestamp,
    mail::{Heard, KnownPolicy, MailPolicy, Said},
};
use lettre::transport::smtp::client::Certificate;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use self::policy::Policies;
pub use self::signing::{Signer, signed};
use crate::dns::Dns;

/// Connections to the servers of one domain at once.
const CONNECTIONS_PER_DOMAIN: usize = 5;
/// Connections at once.
const CONNECTIONS_MAX: usize = 64;
/// Kilobytes of messages that are under way at once; the rest waits.
const UNDER_WAY_KB: u32 = 64 * 1024;
/// Hosts of a domain that one try goes to.
const HOSTS_MAX: usize = 5;
/// Addresses of a host that one try goes to.
const ADDRESSES_MAX: usize = 3;

/// How mail leaves.
#[derive(Clone, Debug)]
pub struct PostOptions {
    /// What this server calls itself (`mail_server.hostname`).
    pub name: String,
    /// The host and the port to which all mail goes, instead of the hosts of its recipients (`mail_server.smarthost`).
    pub smarthost: Option<(String, u16)>,
    /// The port on which other servers take mail (`mail_server.outbound_port`).
    pub port: u16,
    /// How long a server may take for an answer (`mail_server.outbound_timeout`).
    pub timeout: Duration,
    /// Authorities that are believed beside the usual ones (`mail_server.outbound_roots`).
    pub roots: Vec<Certificate>,
}

/// Authorities in a text of PEM. The text of an error is for people.
pub fn roots(pem: &str) -> Result<Vec<Certificate>, String> {
    let begins = "-----BEGIN CERTIFICATE-----";
    let each = pem.split(begins).skip(1).map(|rest| format!("{begins}{rest}"));
    each.map(|one| Certificate::from_pem(one.as_bytes()).map_err(|error| error.to_string())).collect()
}

/// A message for recipients of one domain.
#[derive(Clone, Debug)]
pub struct Letter {
    /// Their domain.
    pub domain: String,
    /// Who sends it by the envelope; empty for nobody.
    pub sender: String,
    /// To whom; each address once.
    pub recipients: Vec<String>,
    /// Its bytes, which end with a line.
    pub bytes: Bytes,
    /// What the domain's owner asks of who brings it.
    pub policy: Option<MailPolicy>,
}

/// Who brings mail to other servers. A cheap handle.
#[derive(Clone)]
pub struct Post {
    inner: Option<Arc<Inner>>,
}

struct Inner {
    options: PostOptions,
    dns: Dns,
    policies: Policies,
    connections: Arc<Semaphore>,
    under_way: Arc<Semaphore>,
    domains: DashMap<String, Arc<Semaphore>>,
}

impl fmt::Debug for Post {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Post").field("options", &self.inner.as_ref().map(|it| &it.options)).finish()
    }
}

/// What is held while a message is under way.
struct UnderWay {
    _permits: [OwnedSemaphorePermit; 3],
}

impl Post {
    /// Who brings mail as `options` say, and asks `dns` where to.
    pub fn new(options: PostOptions, dns: Dns) -> Self {
        let connections = Arc::new(Semaphore::new(CONNECTIONS_MAX));
        let under_way = Arc::new(Semaphore::new(UNDER_WAY_KB as usize));
        let policies = Policies::new(dns.clone());
        let domains = DashMap::new();
        Self { inner: Some(Arc::new(Inner { options, dns, policies, connections, under_way, domains })) }
    }

    /// Nobody: no mail leaves.
    pub const fn nobody() -> Self {
        Self { inner: None }
    }

    /// Leaves a list over HTTP (RFC 8058); an error is for the log.
    pub async fn one_click(&self, address: &str) -> Result<(), String> {
        if self.inner.is_none() {
            return Err("nothing leaves this server".to_owned());
        }
        one_click::leave(address).await
    }

    /// The policy that holds for a domain now, where one is `known` or its record names one; none where all mail goes to a smarthost.
    pub async fn policy(&self, domain: &str, known: Option<KnownPolicy>, now: Timestamp) -> Option<KnownPolicy> {
        let inner = self.inner.as_ref().filter(|inner| inner.options.smarthost.is_none())?;
        Box::pin(inner.policies.of(domain, known, now)).await
    }

    /// Brings a message to the servers of its recipients' domain; what became of it, for each recipient in their order.
    pub async fn deliver(&self, letter: &Letter) -> Vec<Said> {
        let all = |said: Said| vec![said; letter.recipients.len()];
        let Some(inner) = &self.inner else { return all(Said::later("no mail leaves this server")) };
        let _under_way = match inner.room(letter).await {
            Ok(under_way) => under_way,
            Err(error) => return all(Said::later(error)),
        };
        let hosts = match hosts::hosts(&inner.dns, &inner.options, &letter.domain).await {
            Ok(hosts) => hosts,
            Err(said) => return all(said),
        };
        let mut tried = Vec::new();
        let enforced = letter.policy.as_ref().filter(|policy| policy.is_enforced());
        for host in hosts.iter().take(HOSTS_MAX) {
            if enforced.is_some_and(|policy| !policy.names(&host.name)) {
                let words = format!("{} is none of the hosts that the domain's policy names (MTA-STS)", host.name);
                tried.push(Said { host: host.name.clone(), ..Said::later(words) });
                continue;
            }
            let addresses = match hosts::addresses(&inner.dns, &host.name).await {
                Ok(addresses) => addresses,
                Err(said) => {
                    tried.push(said);
                    continue;
                }
            };
            for address in addresses.into_iter().take(ADDRESSES_MAX) {
                match Box::pin(conversation::bring(&inner.options, &host.name, (address, host.port).into(), letter))
                    .await
                {
                    Ok(said) => return said,
                    // Nobody there was told of a recipient: the next one may take it.
                    Err(said) => tried.push(said),
                }
            }
        }
        // One host that may take it later is enough.
        let later = tried.iter().rev().find(|said| said.heard == Heard::Later);
        let last = later.or(tried.last()).cloned();
        let last = last.unwrap_or_else(|| Said::later("no server takes mail for this domain"));
        all(last)
    }
}

impl Inner {
    /// Waits for a connection to the domain, one of all, and room for the message.
    async fn room(&self, letter: &Letter) -> Result<UnderWay, String> {
        let usual = || Arc::new(Semaphore::new(CONNECTIONS_PER_DOMAIN));
        let of_domain = Arc::clone(&*self.domains.entry(letter.domain.clone()).or_insert_with(usual));
        let kilobytes = u32::try_from(letter.bytes.len() / 1024 + 1).unwrap_or(UNDER_WAY_KB).min(UNDER_WAY_KB);
        let closed = |error: tokio::sync::AcquireError| error.to_string();
        let permits = [
            of_domain.acquire_owned().await.map_err(closed)?,
            Arc::clone(&self.connections).acquire_owned().await.map_err(closed)?,
            Arc::clone(&self.under_way).acquire_many_owned(kilobytes).await.map_err(closed)?,
        ];
        // Domains that nothing is under way to are forgotten.
        self.domains.retain(|_, it| Arc::strong_count(it) > 1 || it.available_permits() < CONNECTIONS_PER_DOMAIN);
        Ok(UnderWay { _permits: permits })
    }
}
