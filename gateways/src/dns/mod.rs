//! DNS: what the records of others' domains say.
//!
//! An answer that says "there is none" is an answer, and an empty list here. [`NoAnswer`] is everything else: a server that is
//! silent, refuses, or fails. Whoever asks must change nothing then.

mod sender;
mod spf;

use std::{fmt, net::IpAddr, net::SocketAddr, sync::Arc, time::Duration};

use futures::{FutureExt, future::BoxFuture};

use hickory_resolver::{
    TokioResolver,
    config::{NameServerConfig, ResolveHosts, ResolverConfig, ResolverOpts},
    net::{DnsError, NetError, NoRecords, runtime::TokioRuntimeProvider},
    proto::{
        op::ResponseCode,
        rr::{Name, RData, Record, RecordType},
    },
    system_conf::read_system_conf,
};
use tokio::time;

pub use self::sender::Sender;

/// How long one try waits.
const TRY_TIMEOUT: Duration = Duration::from_secs(3);
/// Tries of a question beyond the first.
const TRIES_MORE: usize = 1;
/// How long a question may take, with all that follows from it.
const QUESTION_TIMEOUT: Duration = Duration::from_secs(10);

/// Questions whose answers are remembered for as long as they say, where nobody waits for a change of theirs.
const REMEMBERED: u64 = 8_192;

/// How names are looked up.
#[derive(Clone, Debug, Default)]
pub struct DnsOptions {
    /// Who is asked; those that the system asks where none is given (`mail_server.resolver`).
    pub server: Option<SocketAddr>,
}

/// Nobody said anything of use. The text is for the log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("DNS: {0}")]
pub struct NoAnswer(String);

/// A service that a domain names (RFC 2782).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// The port.
    pub port: u16,
    /// The host, without a dot at its end.
    pub target: String,
}

/// Who looks names up. A cheap handle.
#[derive(Clone)]
pub struct Dns {
    /// None where the system names nobody to ask.
    resolver: Option<Arc<dyn Resolver>>,
    /// The same, who remembers answers: for the checks of mail that comes in.
    remembering: Option<Arc<dyn Resolver>>,
}

/// The resolver without its type, which is so large that every program that holds one would take a minute longer to compile.
trait Resolver: Send + Sync {
    fn get(&self) -> &TokioResolver;
}

impl Resolver for TokioResolver {
    fn get(&self) -> &TokioResolver {
        self
    }
}

impl fmt::Debug for Dns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dns").field("has_resolver", &self.resolver.is_some()).finish_non_exhaustive()
    }
}

impl Dns {
    /// Who looks names up as `options` say. Nobody is asked yet.
    pub fn new(options: &DnsOptions) -> Self {
        let config = match options.server {
            Some(address) => Some(asking(address)),
            None => read_system_conf().ok().map(|(config, _)| config),
        };
        let resolver = |remembered| {
            let options = resolver_options(remembered);
            let builder = TokioResolver::builder_with_config(config.clone()?, TokioRuntimeProvider::default());
            let resolver = builder.with_options(options).build().ok()?;
            Some(Arc::new(resolver) as Arc<dyn Resolver>)
        };
        // Whoever just added a record wants it seen; who is asked remembers enough.
        let (resolver, remembering) = (resolver(0), resolver(REMEMBERED));
        if resolver.is_none() {
            tracing::warn!("nobody can be asked for names: domains can't be verified");
        }
        Self { resolver, remembering }
    }

    /// Nobody: no question is answered.
    pub const fn nobody() -> Self {
        Self { resolver: None, remembering: None }
    }

    /// The texts of a name, each whole.
    pub async fn texts(&self, name: &str) -> Result<Vec<String>, NoAnswer> {
        let text = |data: &RData| match data {
            RData::TXT(txt) => Some(String::from_utf8_lossy(&txt.txt_data.concat()).into_owned()),
            _ => None,
        };
        self.ask(name, RecordType::TXT, text).await
    }

    /// The hosts that take a name's mail, without a dot at their ends.
    pub async fn mail_hosts(&self, name: &str) -> Result<Vec<String>, NoAnswer> {
        let host = |data: &RData| match data {
            RData::MX(mx) => Some(plain(&mx.exchange)),
            _ => None,
        };
        self.ask(name, RecordType::MX, host).await
    }

    /// The same with their preferences, of which the least counts first. An empty host says that the name takes no mail (RFC 7505).
    pub async fn mail_exchangers(&self, name: &str) -> Result<Vec<(u16, String)>, NoAnswer> {
        let host = |data: &RData| match data {
            RData::MX(mx) => Some((mx.preference, plain(&mx.exchange))),
            _ => None,
        };
        self.ask(name, RecordType::MX, host).await
    }

    /// The services of a name.
    pub async fn services(&self, name: &str) -> Result<Vec<Service>, NoAnswer> {
        let service = |data: &RData| match data {
            RData::SRV(srv) => Some(Service { port: srv.port, target: plain(&srv.target) }),
            _ => None,
        };
        self.ask(name, RecordType::SRV, service).await
    }

    /// The name servers of a zone.
    pub async fn name_servers(&self, zone: &str) -> Result<Vec<String>, NoAnswer> {
        let server = |data: &RData| match data {
            RData::NS(ns) => Some(plain(&ns.0)),
            _ => None,
        };
        self.ask(zone, RecordType::NS, server).await
    }

    /// The addresses of a host.
    pub async fn addresses(&self, host: &str) -> Result<Vec<IpAddr>, NoAnswer> {
        let address = |data: &RData| match data {
            RData::A(address) => Some(IpAddr::V4(address.0)),
            RData::AAAA(address) => Some(IpAddr::V6(address.0)),
            _ => None,
        };
        let mut addresses = self.ask(host, RecordType::A, address).await?;
        addresses.extend(self.ask(host, RecordType::AAAA, address).await?);
        Ok(addresses)
    }

    /// The zone that a name stands in, where anybody says so.
    pub async fn zone(&self, name: &str) -> Result<Option<String>, NoAnswer> {
        let records = self.look_up(name, RecordType::SOA).await?;
        let stated = |record: &Record| matches!(record.data, RData::SOA(_)).then(|| plain(&record.name));
        match records {
            Ok(records) => Ok(records.iter().find_map(stated)),
            Err(none) => Ok(none.soa.map(|soa| plain(&soa.name))),
        }
    }

    async fn ask<T>(
        &self,
        name: &str,
        kind: RecordType,
        read: impl Fn(&RData) -> Option<T>,
    ) -> Result<Vec<T>, NoAnswer> {
        let records = self.look_up(name, kind).await?.unwrap_or_default();
        Ok(records.iter().filter_map(|record| read(&record.data)).collect())
    }

    /// The records of a name, or what was said where there are none.
    async fn look_up(&self, name: &str, kind: RecordType) -> Result<Result<Vec<Record>, NoRecords>, NoAnswer> {
        // What is too long for a name has no records.
        let Ok(mut asked) = Name::from_ascii(name) else { return Ok(Ok(Vec::new())) };
        asked.set_fqdn(true);
        let question = async {
            match self.resolver()?.lookup(asked, kind).await {
                Ok(found) => Ok(Ok(found.answers().to_vec())),
                Err(NetError::Dns(DnsError::NoRecordsFound(none))) if is_said(none.response_code) => Ok(Err(none)),
                Err(error) => Err(NoAnswer(format!("{kind} of {name}: {error}"))),
            }
        };
        within(question.boxed()).await
    }

    fn resolver(&self) -> Result<&TokioResolver, NoAnswer> {
        self.resolver.as_deref().map(Resolver::get).ok_or_else(|| NoAnswer("there is nobody to ask".to_owned()))
    }
}

/// Gives a question up in the end.
async fn within<T>(question: BoxFuture<'_, Result<T, NoAnswer>>) -> Result<T, NoAnswer> {
    time::timeout(QUESTION_TIMEOUT, question).await.unwrap_or_else(|_| Err(NoAnswer("nobody answered".to_owned())))
}

/// Whether the code says that there is none, not that something failed.
const fn is_said(code: ResponseCode) -> bool {
    matches!(code, ResponseCode::NoError | ResponseCode::NXDomain)
}

fn plain(name: &Name) -> String {
    name.to_ascii().trim_end_matches('.').to_ascii_lowercase()
}

fn asking(address: SocketAddr) -> ResolverConfig {
    let mut server = NameServerConfig::udp_and_tcp(address.ip());
    for connection in &mut server.connections {
        connection.port = address.port();
    }
    ResolverConfig::from_parts(None, Vec::new(), vec![server])
}

fn resolver_options(remembered: u64) -> ResolverOpts {
    let mut options = ResolverOpts::default();
    options.timeout = TRY_TIMEOUT;
    options.attempts = TRIES_MORE;
    options.cache_size = remembered;
    options.use_hosts_file = ResolveHosts::Never;
    options
}
