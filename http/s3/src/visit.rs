//! What is known of a request while it is served; one per request, found in its extensions.

use std::{
    net::IpAddr,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use domain::{Caller, Context, Origin, RequestId};
use hyper::{HeaderMap, header::USER_AGENT, http::Extensions};
use s3s::{S3Result, s3_error};

use crate::{
    access::AccessKey,
    place::{Place, without_port},
};

/// Characters of a `User-Agent` that are kept.
const USER_AGENT_LEN_MAX: usize = 256;
const FORWARDED_FOR: &str = "x-forwarded-for";
const EXPECTED_OWNER: &str = "x-amz-expected-bucket-owner";

/// Who asks.
#[derive(Clone, Debug)]
pub(crate) enum Visitor {
    /// Whoever signed with this key.
    Key(Arc<AccessKey>),
    /// Nobody signed.
    Stranger,
}

/// Where a request comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sender {
    /// The client's address.
    pub ip: IpAddr,
    /// Whether a proxy handed it on whose word is taken.
    pub is_from_trusted_proxy: bool,
}

/// What is known of a request.
#[derive(Debug)]
pub(crate) struct Visit {
    /// Its id, as the answer's header says.
    pub request_id: RequestId,
    /// What its address names.
    pub place: Place,
    /// The host that it was sent to, without a port.
    pub host: Option<String>,
    /// Whether a proxy handed it on whose word is taken.
    pub is_from_trusted_proxy: bool,
    ip: IpAddr,
    user_agent: Option<Arc<str>>,
    owner_expected: Option<String>,
    operation: OnceLock<&'static str>,
    visitor: OnceLock<Visitor>,
}

impl Visit {
    /// A request that has come in.
    pub fn new(place: Place, headers: &HeaderMap, sender: Sender) -> Self {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
        Self {
            request_id: RequestId::from(next_id().as_str()),
            place,
            host: text("host").map(|host| without_port(host).to_ascii_lowercase()),
            is_from_trusted_proxy: sender.is_from_trusted_proxy,
            ip: sender.ip,
            user_agent: text(USER_AGENT.as_str())
                .map(|text| text.chars().take(USER_AGENT_LEN_MAX).collect::<String>().into()),
            owner_expected: text(EXPECTED_OWNER).map(str::to_owned),
            operation: OnceLock::new(),
            visitor: OnceLock::new(),
        }
    }

    /// The visit of a request that `s3s` hands on.
    pub fn of(extensions: &Extensions) -> S3Result<Arc<Self>> {
        extensions.get::<Arc<Self>>().cloned().ok_or_else(|| s3_error!(InternalError))
    }

    /// Notes what is asked for.
    pub fn is_for(&self, operation: &'static str) {
        // Of two notes the first one counts.
        let _ = self.operation.set(operation);
    }

    /// What is asked for, for meters.
    pub fn operation(&self) -> &'static str {
        self.operation.get().copied().unwrap_or("none")
    }

    /// Notes who asks.
    pub fn is_by(&self, visitor: Visitor) {
        // A request has one signature.
        let _ = self.visitor.set(visitor);
    }

    /// Who asks.
    pub fn visitor(&self) -> &Visitor {
        self.visitor.get().unwrap_or(&Visitor::Stranger)
    }

    /// Passes where the bucket belongs to whom the request expects.
    pub fn check_owner(&self, owner: &impl ToString) -> S3Result<()> {
        let is_expected = self.owner_expected.as_ref().is_none_or(|expected| *expected == owner.to_string());
        if is_expected { Ok(()) } else { Err(s3_error!(AccessDenied, "The bucket belongs to another organization.")) }
    }

    /// The context to ask an owner with, who has so long for it.
    pub fn context(&self, within: Duration) -> Context {
        let caller = match self.visitor() {
            Visitor::Key(key) => Caller::AccessKey(key.caller.clone()),
            Visitor::Stranger => Caller::Nobody,
        };
        Context {
            caller,
            origin: Origin::Http,
            deadline: Instant::now() + within,
            request_id: self.request_id.clone(),
            ip: Some(self.ip),
            user_agent: self.user_agent.clone(),
            idempotency: None,
        }
    }
}

/// The address of who asks: behind a trusted proxy, the last one that isn't such a proxy itself.
pub(crate) fn client_address(headers: &HeaderMap, peer: IpAddr, trusted: &[IpAddr]) -> IpAddr {
    if !trusted.contains(&peer) {
        return peer;
    }
    let texts = headers.get_all(FORWARDED_FOR).iter().filter_map(|value| value.to_str().ok());
    let listed: Vec<IpAddr> = texts.flat_map(|text| text.split(',')).filter_map(|it| it.trim().parse().ok()).collect();
    listed.into_iter().rev().find(|address| !trusted.contains(address)).unwrap_or(peer)
}

/// The id of the next request: unlike those before, and unlike those of other processes.
fn next_id() -> String {
    static FIRST: OnceLock<u64> = OnceLock::new();
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let first = *FIRST.get_or_init(|| getrandom::u64().unwrap_or_default());
    format!("{:016X}", first.wrapping_add(COUNT.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed)))
}
