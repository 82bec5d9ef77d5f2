//! The one error that crosses layers.
//!
//! A variant is a class of answer, not a place in the code. What the client reads (`message`, `code`) and what the log
//! reads ([`Error::Internal`]'s `log`) are two texts, and `Display` prints only the first.

use std::{borrow::Cow, time::Duration};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::scope::Scope;

/// What most of the program returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// One field at fault in a request (`problems` of a 400 `invalid`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// Where the field stands, as `kdf.m` or `changes[3].itemId`; empty for the body itself.
    pub path: String,
    /// What is wrong with it, as a sentence for the person who sent it.
    pub message: String,
}

/// What is known of a command that was answered with 503.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing was done: it never got to whoever does it.
    NotDone,
    /// It may have been under way, and be done after all.
    Unknown,
}

/// Why something was not done.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// 400 `invalid`: fields of the request break their rules.
    #[error("The request has fields that can't be used as they are.")]
    Invalid {
        /// One entry per field at fault.
        problems: Vec<Problem>,
    },
    /// 400 with a message of its own.
    #[error("{message}")]
    BadRequest {
        /// Stable slug.
        code: &'static str,
        /// What the client reads.
        message: Cow<'static, str>,
    },
    /// 401: the credential is missing, malformed, expired or revoked.
    #[error("Sign in to continue.")]
    Unauthenticated,
    /// 401: the sign-in was ended, and whoever shows its token is to know why.
    #[error("{message}")]
    SignedOut {
        /// Stable slug.
        code: &'static str,
        /// What the client reads.
        message: Cow<'static, str>,
    },
    /// 401 with a message of its own (a failed sign-in).
    #[error("{message}")]
    SignInFailed {
        /// Stable slug.
        code: &'static str,
        /// What the client reads.
        message: Cow<'static, str>,
    },
    /// 403 `missing_scope`.
    #[error("This needs the {0} permission.")]
    MissingScope(Scope),
    /// 403 with a message of its own.
    #[error("{message}")]
    Forbidden {
        /// Stable slug.
        code: &'static str,
        /// What the client reads.
        message: Cow<'static, str>,
        /// Fields that stand beside `error` and `code`, such as what would help.
        adds: Map<String, Value>,
    },
    /// 404: unknown, or somebody else's.
    #[error("{message}")]
    NotFound {
        /// Stable slug.
        code: &'static str,
        /// What the client reads.
        message: Cow<'static, str>,
    },
    /// 409: decided on a state that is no longer there, or a duplicate.
    #[error("{message}")]
    Conflict {
        /// Stable slug.
        code: &'static str,
        /// What the client reads.
        message: Cow<'static, str>,
        /// Fields that stand beside `error` and `code`, such as the current state.
        adds: Map<String, Value>,
    },
    /// 413: the body or a part of it is over its limit.
    #[error("{message}")]
    TooLarge {
        /// What the client reads.
        message: Cow<'static, str>,
    },
    /// 422: what was sent could be read, and isn't taken for what is in it.
    #[error("{message}")]
    Unprocessable {
        /// Stable slug.
        code: &'static str,
        /// What the client reads.
        message: Cow<'static, str>,
        /// Fields that stand beside `error` and `code`, such as what was found.
        adds: Map<String, Value>,
    },
    /// 429 with `Retry-After`.
    #[error("{message}")]
    RateLimited {
        /// What the client reads.
        message: Cow<'static, str>,
        /// When trying again makes sense.
        retry_after: Duration,
    },
    /// 502: somebody whom the server has to ask gave no answer that it can go on with; nothing was done.
    #[error("{message}")]
    BadGateway {
        /// Stable slug.
        code: &'static str,
        /// What the client reads.
        message: Cow<'static, str>,
    },
    /// 503 with `Retry-After`: overload, a passed deadline, a quarantined actor, a store that is away.
    ///
    /// The outcome of a command that was already under way is unknown; it is safe to repeat with the same
    /// `Idempotency-Key`.
    #[error("{message}")]
    Busy {
        /// Stable slug.
        code: &'static str,
        /// What the client reads.
        message: Cow<'static, str>,
        /// When trying again makes sense.
        retry_after: Duration,
        /// What is known of what was asked for.
        outcome: Outcome,
    },
    /// The commit found another version than the one it decided on. The kernel reloads the resource and runs the
    /// command again; only after several rounds does a caller see it, as 503.
    #[error("The server is busy; try again.")]
    Stale,
    /// 500: a defect or a failure inside. The client reads a fixed sentence.
    #[error("Something went wrong on the server.")]
    Internal {
        /// What the log reads; never sent to a client.
        log: String,
    },
}

impl Error {
    /// A 400 about one field.
    pub fn invalid(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Invalid { problems: vec![Problem { path: path.into(), message: message.into() }] }
    }

    /// A 400 with a message of its own.
    pub fn bad_request(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::BadRequest { code, message: message.into() }
    }

    /// A 403 with a message of its own.
    pub fn forbidden(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::Forbidden { code, message: message.into(), adds: Map::new() }
    }

    /// A 404 `not_found` with a message of its own.
    pub fn not_found(message: impl Into<Cow<'static, str>>) -> Self {
        Self::NotFound { code: "not_found", message: message.into() }
    }

    /// A 409 with a message of its own and nothing beside it.
    pub fn conflict(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::Conflict { code, message: message.into(), adds: Map::new() }
    }

    /// A 422 with a message of its own.
    pub fn unprocessable(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::Unprocessable { code, message: message.into(), adds: Map::new() }
    }

    /// A 502 with a message of its own.
    pub fn bad_gateway(code: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::BadGateway { code, message: message.into() }
    }

    /// The same 403, 409 or 422 with one more field beside `error` and `code`; any other error as it is.
    #[must_use]
    pub fn adding(mut self, name: &str, value: impl Into<Value>) -> Self {
        if let Self::Forbidden { adds, .. } | Self::Conflict { adds, .. } | Self::Unprocessable { adds, .. } = &mut self
        {
            adds.insert(name.to_owned(), value.into());
        }
        self
    }

    /// A 413 with a message of its own.
    pub fn too_large(message: impl Into<Cow<'static, str>>) -> Self {
        Self::TooLarge { message: message.into() }
    }

    /// A 503 `busy`, where what was asked for may be done after all.
    pub fn busy(retry_after: Duration) -> Self {
        Self::Busy {
            code: "busy",
            message: "The server is busy; try again.".into(),
            retry_after,
            outcome: Outcome::Unknown,
        }
    }

    /// A 503 `busy` before anything was done, because as much waits as may.
    pub fn full(retry_after: Duration) -> Self {
        Self::Busy {
            code: "busy",
            message: "The server is busy; try again.".into(),
            retry_after,
            outcome: Outcome::NotDone,
        }
    }

    /// A 500; `log` goes to the log only.
    pub fn internal(log: impl std::fmt::Display) -> Self {
        Self::Internal { log: log.to_string() }
    }

    /// The status that HTTP answers with.
    pub const fn status(&self) -> u16 {
        match self {
            Self::Invalid { .. } | Self::BadRequest { .. } => 400,
            Self::Unauthenticated | Self::SignedOut { .. } | Self::SignInFailed { .. } => 401,
            Self::MissingScope(_) | Self::Forbidden { .. } => 403,
            Self::NotFound { .. } => 404,
            Self::Conflict { .. } => 409,
            Self::TooLarge { .. } => 413,
            Self::Unprocessable { .. } => 422,
            Self::RateLimited { .. } => 429,
            Self::BadGateway { .. } => 502,
            Self::Busy { .. } | Self::Stale => 503,
            Self::Internal { .. } => 500,
        }
    }

    /// The stable slug (`code` of the answer).
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Invalid { .. } => "invalid",
            Self::Unauthenticated => "unauthenticated",
            Self::MissingScope(_) => "missing_scope",
            Self::TooLarge { .. } => "too_large",
            Self::RateLimited { .. } => "rate_limited",
            Self::Stale => "busy",
            Self::Internal { .. } => "internal",
            Self::BadRequest { code, .. }
            | Self::SignedOut { code, .. }
            | Self::SignInFailed { code, .. }
            | Self::Forbidden { code, .. }
            | Self::NotFound { code, .. }
            | Self::Conflict { code, .. }
            | Self::Unprocessable { code, .. }
            | Self::BadGateway { code, .. }
            | Self::Busy { code, .. } => code,
        }
    }

    /// What `Retry-After` says, where the answer carries it.
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::RateLimited { retry_after, .. } | Self::Busy { retry_after, .. } => Some(*retry_after),
            Self::Stale => Some(Duration::from_secs(1)),
            _ => None,
        }
    }
}
