//! Looking at the records of a domain, all at once.

use std::net::IpAddr;

use domain::mail::{
    DomainRecord, MailDomain, MailHost, Observed, Purpose, RecordType, dkim_record_key, dns_provider, is_dkim_record,
    is_dmarc_record, is_spf,
};
use futures::{StreamExt, stream::FuturesUnordered};
use gateways::{Dns, NoAnswer};

/// What the records of a domain say now. About what nobody answers, nothing is said.
pub(crate) async fn look(dns: &Dns, domain: &MailDomain, host: &MailHost) -> Observed {
    let look = Look { dns, domain, host, addresses: addresses(dns, host).await };
    let records = domain.records(host);
    let (seen, texts, zone) = futures::join!(look.records(&records), dns.texts(domain.name.as_str()), look.zone());
    let (zone, dns_provider) = zone;
    Observed {
        seen: seen.into_iter().collect(),
        zone,
        dns_provider,
        spf_before: texts.ok().map(|texts| texts.into_iter().find(|text| is_spf(text))),
    }
}

/// The addresses that mail leaves from.
async fn addresses(dns: &Dns, host: &MailHost) -> Result<Vec<IpAddr>, NoAnswer> {
    if host.addresses.is_empty() { dns.addresses(&host.name).await } else { Ok(host.addresses.clone()) }
}

struct Look<'l> {
    dns: &'l Dns,
    domain: &'l MailDomain,
    host: &'l MailHost,
    addresses: Result<Vec<IpAddr>, NoAnswer>,
}

impl Look<'_> {
    /// Which of these were seen, as far as that was answered.
    async fn records(&self, records: &[DomainRecord]) -> Vec<(String, bool)> {
        let one = async |record: &DomainRecord| self.sees(record).await.ok().map(|seen| (record.key.clone(), seen));
        let all: FuturesUnordered<_> = records.iter().map(one).collect();
        all.filter_map(std::future::ready).collect().await
    }

    /// Whether a record says what it shall.
    async fn sees(&self, record: &DomainRecord) -> Result<bool, NoAnswer> {
        let (dns, fqdn) = (self.dns, record.fqdn.as_str());
        match (record.purpose, record.kind) {
            (Purpose::Dkim, _) => {
                let Some(key) = self.domain.keys.iter().find(|key| dkim_record_key(key) == record.key) else {
                    return Ok(false);
                };
                Ok(dns.texts(fqdn).await?.iter().any(|text| is_dkim_record(text, key)))
            }
            (Purpose::Dmarc, _) => self.has_dmarc(fqdn).await,
            (Purpose::Discovery, _) => {
                let port = record.value.split(' ').nth(1).unwrap_or_default();
                let services = dns.services(fqdn).await?;
                Ok(services.iter().any(|it| it.target == self.host.name && it.port.to_string() == port))
            }
            (_, RecordType::Mx) => Ok(dns.mail_hosts(fqdn).await?.contains(&self.host.name)),
            (Purpose::Spf | Purpose::MailFrom | Purpose::Receiving, _) => {
                let addresses = self.addresses.as_ref().map_err(NoAnswer::clone)?;
                dns.spf_passes(fqdn, &self.host.name, addresses).await
            }
        }
    }

    /// Whether receivers find a record of DMARC: the domain's own, or that of its zone.
    async fn has_dmarc(&self, fqdn: &str) -> Result<bool, NoAnswer> {
        if self.dns.texts(fqdn).await?.iter().any(|text| is_dmarc_record(text)) {
            return Ok(true);
        }
        let Some(zone) = self.dns.zone(self.domain.name.as_str()).await? else { return Ok(false) };
        Ok(self.dns.texts(&format!("_dmarc.{zone}")).await?.iter().any(|text| is_dmarc_record(text)))
    }

    /// The zone, and who serves it.
    async fn zone(&self) -> (Option<String>, Option<Option<String>>) {
        let Ok(Some(zone)) = self.dns.zone(self.domain.name.as_str()).await else { return (None, None) };
        // The root and the zones below which others have theirs are nobody's that could add records there.
        if !self.domain.name.is_within(&zone) || !zone.contains('.') {
            return (None, None);
        }
        let servers = self.dns.name_servers(&zone).await.ok();
        let provider = servers.map(|servers| dns_provider(&servers).map(str::to_owned));
        (Some(zone), provider)
    }
}
