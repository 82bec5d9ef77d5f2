//! The rules of Troupe, pure: no I/O, no async, no clock of its own.
//!
//! What is allowed, what follows from it, and every limit of the contract stand here, one module per area.
//! Whoever needs the time passes it in as a [`Timestamp`]; whoever needs a decision gets a value back.

pub mod access_key;
pub mod account;
pub mod app;
pub mod app_password;
pub mod attempts;
pub mod authority;
pub mod backoff;
pub mod backup;
pub mod base64_text;
pub mod blank;
pub mod calendar;
pub mod context;
pub mod databases;
pub mod error;
pub mod fair_queue;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
pub mod git;
pub mod id;
pub mod issues;
pub mod key;
pub mod mail;
pub mod notify;
pub mod organization;
pub mod otp;
pub mod pages;
pub mod pipelines;
pub mod problems;
pub mod request_id;
pub mod resource;
pub mod role;
pub mod scope;
mod signed_cursor;
pub mod storage;
pub mod tenant;
pub mod time;
pub mod token;
pub mod vault;

pub use account::Email;
pub use app::{App, Platform};
pub use authority::{Authority, Membership};
pub use context::{Caller, Context, JobCaller, KeyCaller, KeyKind, Origin, PersonCaller};
pub use error::{Error, Outcome, Problem, Result};
pub use fair_queue::FairQueue;
pub use organization::{OrgKind, Slug};
pub use request_id::RequestId;
pub use role::Role;
pub use scope::{Scope, ScopeSet};
pub use tenant::Tenant;
pub use time::Timestamp;
pub use token::{Token, TokenHash, TokenKind};
