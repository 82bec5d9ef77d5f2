//! Everything that leaves the process, each behind a small interface.
//!
//! [`hub`] carries what must reach every node at once: live messages, socket tickets and rate limits, in process or over
//! Redis. [`mail`] carries e-mail, over SMTP or to a console that keeps it. Neither knows the store: whoever calls them
//! decides what is kept and what is tried again.

pub mod hub;
pub mod mail;

pub use hub::{Hub, HubHealth, HubMode, HubOptions, Limit, RetryAfter, Signal, Subscription, Ticket};
pub use mail::{Delivered, Email, MailOptions, Mailer, SendError};
