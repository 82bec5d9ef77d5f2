//! Who vouches for a message: SPF (RFC 7208), DKIM (RFC 6376), DMARC (RFC 7489) and ARC (RFC 8617), as `mail-auth` reads them.

use std::{net::IpAddr, time::Duration};

use bytes::Bytes;
use domain::mail::{DmarcPolicy, Findings, Outcome};
use hickory_resolver::TokioResolver;
use mail_auth::{
    AuthenticatedMessage, AuthenticationResults, DkimOutput, DkimResult, DmarcResult, MessageAuthenticator, SpfResult,
    dmarc::{Policy, verify::DmarcParameters},
    spf::verify::SpfParameters,
};
use tokio::{runtime::Handle, task, time};

use super::Dns;

/// How long all checks of a message may take.
const CHECKS_TIMEOUT: Duration = Duration::from_secs(10);
/// Signatures of a message that are looked at; each costs a question.
const SIGNATURES_MAX: usize = 10;
/// Messages from this size on are hashed on a thread of their own.
const LARGE: usize = 1024 * 1024;

/// Who sent a message, as far as the connection tells.
#[derive(Clone, Debug)]
pub struct Sender {
    /// From where.
    pub client: IpAddr,
    /// How the client calls itself.
    pub helo: String,
    /// The envelope's sender; empty for the null sender.
    pub envelope_from: String,
}

impl Dns {
    /// What the checks of a message come to for the server `host`. Whatever fails, panics, or takes more than ten seconds leaves
    /// [`Findings::unknown`].
    pub async fn findings(&self, host: &str, sender: Sender, message: Bytes) -> Findings {
        let Some(resolver) = self.remembering.as_deref().map(|it| it.get().clone()) else {
            return Findings::unknown(host);
        };
        let (is_large, own_host) = (message.len() >= LARGE, host.to_owned());
        let checks = async move { Box::pin(checked(resolver, &own_host, &sender, &message)).await };
        // A task of its own: what panics over a message takes no connection with it.
        let checking = if is_large {
            let runtime = Handle::current();
            task::spawn_blocking(move || runtime.block_on(async { time::timeout(CHECKS_TIMEOUT, checks).await }))
        } else {
            task::spawn(time::timeout(CHECKS_TIMEOUT, checks))
        };
        match checking.await {
            Ok(Ok(findings)) => findings,
            Ok(Err(_late)) => Findings::unknown(host),
            Err(error) => {
                tracing::error!(%error, "the checks of a message broke off");
                Findings::unknown(host)
            }
        }
    }
}

async fn checked(resolver: TokioResolver, host: &str, sender: &Sender, message: &[u8]) -> Findings {
    let reader = MessageAuthenticator(resolver);
    let Sender { client, helo, envelope_from } = sender;
    let asked = if envelope_from.is_empty() {
        SpfParameters::verify_ehlo(*client, helo, host)
    } else {
        SpfParameters::verify_mail_from(*client, helo, host, envelope_from)
    };
    let spf = reader.verify_spf(asked).await;
    let results = AuthenticationResults::new(host).with_spf_mailfrom_result(&spf, *client, envelope_from, helo);
    let found = Findings { spf: of_spf(spf.result()), ..Findings::default() };
    let Some(mut parsed) = AuthenticatedMessage::parse(message) else {
        return Findings { results: results.to_string(), ..found };
    };
    parsed.dkim_headers.truncate(SIGNATURES_MAX);
    let dkim = reader.verify_dkim(&parsed).await;
    let arc = reader.verify_arc(&parsed).await;
    let envelope_domain = envelope_from.rsplit_once('@').map_or(helo.as_str(), |(_, domain)| domain);
    let dmarc = reader.verify_dmarc(DmarcParameters::new(&parsed, &dkim, envelope_domain, &spf)).await;
    let from = parsed.from.first().map_or("", String::as_str);
    let mut results = results.with_dkim_results(&dkim, from);
    if !dmarc.domain().is_empty() {
        results = results.with_dmarc_result(&dmarc);
    }
    let passed_on = of_dkim(arc.result());
    if passed_on != Outcome::None {
        results = results.with_arc_result(&arc, *client);
    }
    let last = arc.sets().last().map(|set| set.seal.header.d.to_ascii_lowercase());
    Findings {
        dkim: of_signatures(&dkim),
        dmarc: of_dmarc(&dmarc.result()),
        arc: passed_on,
        policy: match dmarc.policy() {
            Policy::Reject => DmarcPolicy::Reject,
            Policy::Quarantine => DmarcPolicy::Quarantine,
            Policy::None | Policy::Unspecified => DmarcPolicy::None,
        },
        sealer: last.filter(|_| passed_on == Outcome::Pass),
        from_domains: domains(&parsed.from),
        results: results.to_string(),
        ..found
    }
}

/// The domains of addresses, each once.
fn domains(addresses: &[String]) -> Vec<String> {
    let mut domains: Vec<String> = Vec::new();
    for (_, domain) in addresses.iter().filter_map(|address| address.rsplit_once('@')) {
        if !domains.iter().any(|known| known == domain) {
            domains.push(domain.to_owned());
        }
    }
    domains
}

const fn of_spf(result: SpfResult) -> Outcome {
    match result {
        SpfResult::Pass => Outcome::Pass,
        SpfResult::Fail => Outcome::Fail,
        SpfResult::SoftFail => Outcome::SoftFail,
        SpfResult::Neutral => Outcome::Neutral,
        SpfResult::None => Outcome::None,
        SpfResult::TempError => Outcome::TempError,
        SpfResult::PermError => Outcome::PermError,
    }
}

const fn of_dkim(result: &DkimResult) -> Outcome {
    match result {
        DkimResult::Pass => Outcome::Pass,
        DkimResult::Fail(_) => Outcome::Fail,
        DkimResult::Neutral(_) => Outcome::Neutral,
        DkimResult::None => Outcome::None,
        DkimResult::TempError(_) => Outcome::TempError,
        DkimResult::PermError(_) => Outcome::PermError,
    }
}

const fn of_dmarc(result: &DmarcResult) -> Outcome {
    match result {
        DmarcResult::Pass => Outcome::Pass,
        DmarcResult::Fail(_) => Outcome::Fail,
        DmarcResult::None => Outcome::None,
        DmarcResult::TempError(_) => Outcome::TempError,
        DmarcResult::PermError(_) => Outcome::PermError,
    }
}

/// What several signatures come to: the best of them, but for one that may yet hold.
fn of_signatures(signatures: &[DkimOutput<'_>]) -> Outcome {
    let order = [Outcome::Pass, Outcome::TempError, Outcome::Fail, Outcome::PermError, Outcome::Neutral];
    let there = |outcome: &Outcome| signatures.iter().any(|signature| of_dkim(signature.result()) == *outcome);
    order.into_iter().find(there).unwrap_or_default()
}
