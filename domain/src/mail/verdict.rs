//! What a message was found to be when it came in: who vouches for it, and where it goes by that.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use super::FilterNote;

/// Points from which on a message is spam.
pub const SPAM_FROM: i32 = 50;

/// What a check of a message came to (RFC 8601 2.7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It holds.
    Pass,
    /// It does not.
    Fail,
    /// It probably does not.
    SoftFail,
    /// Nothing is said for or against it.
    Neutral,
    /// There is nothing to check.
    #[default]
    None,
    /// It could not be checked now.
    TempError,
    /// It can't be checked.
    PermError,
}

impl Outcome {
    /// Its name in `Authentication-Results`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::SoftFail => "softfail",
            Self::Neutral => "neutral",
            Self::None => "none",
            Self::TempError => "temperror",
            Self::PermError => "permerror",
        }
    }
}

/// Where a message goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Placed {
    /// Into the inbox.
    #[default]
    Inbox,
    /// Into spam.
    Spam,
}

impl Placed {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Inbox => "inbox",
            Self::Spam => "spam",
        }
    }
}

/// What speaks for or against a message, in tenths of a point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Point {
    /// Which rule says so.
    pub rule: String,
    /// How much; below 0 speaks for the message.
    pub tenths: i32,
}

/// What a message was found to be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Verdict {
    /// Whether the client may send for the envelope's sender.
    pub spf: Outcome,
    /// Whether a signature of a domain holds; `Pass` when one of several does.
    pub dkim: Outcome,
    /// Whether either is of the domain that people see.
    pub dmarc: Outcome,
    /// Whether those who passed it on say so.
    pub arc: Outcome,
    /// Whether it came encrypted.
    pub tls: bool,
    /// From where it came.
    pub client_ip: Option<IpAddr>,
    /// How the client calls itself.
    pub helo: String,
    /// The domain of `From`; empty where there is none.
    pub from_domain: String,
    /// What speaks for or against it.
    pub points: Vec<Point>,
    /// Where it goes by that.
    pub placed: Placed,
    /// The mailbox's filters that held for it when it was filed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub filters: Vec<FilterNote>,
    /// Whether its sender was told that the mailbox's people are away.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_answered: bool,
    /// To whom filters passed it on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub forwarded: Vec<String>,
}
