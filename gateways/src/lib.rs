//! Everything that leaves the process, each behind a small interface.
//!
//! [`hub`] carries what must reach every node at once: live messages, socket tickets and rate limits, in process or over
//! Redis. [`mail`] carries e-mail of the server's own, [`post`] that of mailboxes, [`texts`] texts and calls, [`push`] push messages; each to a console that keeps them
//! where nothing else is configured. [`places`] asks where something is, [`dns`] reads the records of others' domains. None
//! knows the store: whoever calls them decides what is kept and what is tried again.

pub mod dns;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
pub mod git;
pub mod hub;
pub mod mail;
mod outgoing;
pub mod places;
pub mod post;
mod public_address;
pub mod push;
pub mod texts;

pub use dns::{Dns, DnsOptions, NoAnswer};
pub use git::{Git, GitError, GitJob, GitRun};
pub use hub::{Hub, HubHealth, HubMode, HubOptions, Limit, RetryAfter, Signal, Subscription, Ticket};
pub use mail::{CalendarPart, Delivered, Email, MailOptions, Mailer, SendError};
pub use places::{Places, PlacesOptions};
pub use post::{Letter, Post, PostOptions};
pub use push::{PushError, PushMessage, PushOptions, Pusher};
pub use texts::{Call, SignedCallback, Sms, TextError, Texter, TexterOptions};
