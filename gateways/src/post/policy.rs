//! What the owner of a domain asks of who brings mail there (MTA-STS, RFC 8461): a record that names a policy, and the policy, fetched
//! over HTTPS from the domain's own host.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use domain::{
    Timestamp,
    mail::{KnownPolicy, MailPolicy, POLICY_BYTES_MAX, policy_record},
};
use reqwest::{
    Client, StatusCode,
    dns::{Addrs, Name, Resolve, Resolving},
    header::CONTENT_TYPE,
};

use crate::{dns::Dns, outgoing, public_address::is_public};

/// How long a policy may take (RFC 8461 3.3 has a minute at most).
const FETCH_TIMEOUT: Duration = Duration::from_secs(20);

/// Who fetches policies.
#[derive(Clone, Debug)]
pub(super) struct Policies {
    dns: Dns,
    /// None where no client can be made.
    client: Option<Client>,
    /// Where the hosts of policies listen.
    port: u16,
}

impl Policies {
    pub fn new(dns: Dns) -> Self {
        let resolver = ThroughDns { dns: dns.clone(), admits: is_public_address };
        // A proxy would resolve names itself.
        let client =
            outgoing::client(FETCH_TIMEOUT).no_proxy().https_only(true).dns_resolver(Arc::new(resolver)).build();
        let client = client.inspect_err(|error| tracing::error!(%error, "no policies of mail can be fetched")).ok();
        Self { dns, client, port: 443 }
    }

    /// The policy that holds for a domain now: a new one where its record says so, else the one that is `known`, for as long as it
    /// said. What can't be looked up or fetched leaves that as it is.
    pub async fn of(&self, domain: &str, known: Option<KnownPolicy>, now: Timestamp) -> Option<KnownPolicy> {
        let known = known.filter(|known| known.holds(now));
        let record = match self.dns.texts(&format!("_mta-sts.{domain}")).await {
            Ok(texts) => policy_record(&texts),
            Err(error) => {
                tracing::debug!(%error, domain, "the policy of a domain is not looked up");
                None
            }
        };
        let Some(record) = record else { return known };
        if known.as_ref().is_some_and(|known| known.is_fresh(&record, now)) {
            return known;
        }
        match self.fetch(domain).await {
            Ok(policy) => Some(KnownPolicy { record, policy, fetched_at: now }),
            Err(error) => {
                tracing::info!(error, domain, "the policy of a domain can't be fetched");
                known
            }
        }
    }

    async fn fetch(&self, domain: &str) -> Result<MailPolicy, String> {
        let client = self.client.as_ref().ok_or("there is no client")?;
        let port = if self.port == 443 { String::new() } else { format!(":{}", self.port) };
        let url = format!("https://mta-sts.{domain}{port}/.well-known/mta-sts.txt");
        let answer = outgoing::ask(client.get(url)).await?;
        if answer.status != StatusCode::OK {
            return Err(format!("{} was answered", answer.status));
        }
        let kind = answer.header(&CONTENT_TYPE).unwrap_or_default();
        if !kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("text/plain")) {
            return Err("it is no text".to_owned());
        }
        // What was cut has other lines than its owner wrote.
        let text = answer.text().filter(|text| text.len() < POLICY_BYTES_MAX).ok_or("it is too long, or no text")?;
        MailPolicy::read(text).ok_or_else(|| "it is no policy".to_owned())
    }
}

/// Names by the resolver that mail's names are asked of, and of their addresses only those that may be asked.
struct ThroughDns {
    dns: Dns,
    admits: fn(&SocketAddr) -> bool,
}

impl Resolve for ThroughDns {
    fn resolve(&self, name: Name) -> Resolving {
        let (dns, admits) = (self.dns.clone(), self.admits);
        Box::pin(async move {
            let found = dns.addresses(name.as_str()).await?;
            let found: Vec<SocketAddr> = found.into_iter().map(|ip| SocketAddr::from((ip, 0))).filter(admits).collect();
            if found.is_empty() {
                return Err(io::Error::other("the name has no public address").into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

fn is_public_address(address: &SocketAddr) -> bool {
    is_public(address.ip())
}

#[cfg(test)]
mod tests;
