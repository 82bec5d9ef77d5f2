//! Who asks, on whose behalf, and until when: what travels inside every message.

use std::{net::IpAddr, sync::Arc, time::Instant};

use crate::{
    access_key::{AccessKeyCaller, AccessKeyGrant},
    app::{App, Platform},
    app_password::AppPasswordCaller,
    id::{JobId, KeyId, OrgId, SignInId, UserId},
    request_id::RequestId,
    scope::ScopeSet,
    tenant::Tenant,
    time::Timestamp,
};

/// A person, through one sign-in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonCaller {
    /// The person.
    pub user_id: UserId,
    /// The sign-in whose token was shown.
    pub sign_in_id: SignInId,
    /// The app that the sign-in is bound to.
    pub app: App,
    /// The platform that the sign-in is bound to.
    pub platform: Platform,
    /// Until when the second factor counts as just shown (`POST /v1/auth/step-up`).
    pub confirmed_until: Option<Timestamp>,
}

/// What an API key is for (contract A 5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// A program that calls the API.
    Api,
    /// An assistant's tools endpoint.
    Mcp,
    /// An agent.
    Agent,
}

/// An organization's API key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyCaller {
    /// The key.
    pub key_id: KeyId,
    /// The organization that it belongs to.
    pub org_id: OrgId,
    /// Who made it; it never has more rights than they have at the moment of use.
    pub maker: UserId,
    /// What it is for.
    pub kind: KeyKind,
    /// What it was given: it may do that as far as its maker may ([`Authority`](crate::Authority)).
    pub scopes: ScopeSet,
    /// Whether it is a machine's key for git, which opens repositories only (contract C 4.3).
    pub is_machine: bool,
}

/// A job of a pipeline, with its own credential for git.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobCaller {
    /// The job.
    pub job_id: JobId,
    /// The organization of its repository.
    pub org_id: OrgId,
    /// Who started the run; the job never has more rights than they have at the moment of use.
    pub started_by: UserId,
}

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Caller {
    /// Nobody signed in (registration, sign-in).
    Nobody,
    /// A person.
    Person(PersonCaller),
    /// An API key.
    Key(KeyCaller),
    /// An access key, over S3's or DynamoDB's protocol.
    AccessKey(AccessKeyCaller),
    /// A job, which pushes to its repository.
    Job(JobCaller),
    /// A person's mail client, with an app password.
    AppPassword(AppPasswordCaller),
    /// Troupe itself: a timer, another actor, an operator at the command line.
    System,
}

impl Caller {
    /// In whose turns what the caller asks for is done.
    pub fn tenant(&self) -> Tenant {
        match self {
            Self::Person(person) => person.user_id.into(),
            Self::Key(key) => key.org_id.into(),
            Self::AccessKey(key) => key.org_id.into(),
            Self::Job(job) => job.org_id.into(),
            Self::AppPassword(password) => password.user_id.into(),
            Self::Nobody | Self::System => Tenant::System,
        }
    }

    /// What limits the caller beside its rights: an access key reaches only what it was made for.
    pub fn grant(&self) -> Option<&AccessKeyGrant> {
        match self {
            Self::AccessKey(key) => Some(&key.grant),
            Self::Nobody | Self::Person(_) | Self::Key(_) | Self::Job(_) | Self::AppPassword(_) | Self::System => None,
        }
    }
}

/// Where a command came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// An HTTP request.
    Http,
    /// A message on a socket.
    Socket,
    /// A durable timer that came due.
    Timer,
    /// Another actor, or start-up.
    Actor,
}

/// The context of one command.
#[derive(Clone, Debug)]
pub struct Context {
    /// Who asks.
    pub caller: Caller,
    /// Where the command came from.
    pub origin: Origin,
    /// When the answer stops being of use; a command that still waits then is dropped unread.
    pub deadline: Instant,
    /// The request id, for the log and for operators.
    pub request_id: RequestId,
    /// The caller's address, where there is one.
    pub ip: Option<IpAddr>,
    /// The caller's `User-Agent`, where there is one.
    pub user_agent: Option<Arc<str>>,
    /// The claim on an `Idempotency-Key` that the command's commit must settle, where the request carried one.
    pub idempotency: Option<Arc<str>>,
}

impl Context {
    /// A context for Troupe's own work.
    pub fn system(origin: Origin, deadline: Instant) -> Self {
        Self {
            caller: Caller::System,
            origin,
            deadline,
            request_id: RequestId::OWN,
            ip: None,
            user_agent: None,
            idempotency: None,
        }
    }
}
