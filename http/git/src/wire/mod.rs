//! Git over HTTP (gitprotocol-http): what `git clone`, `git fetch` and `git push` ask.
//!
//! Refs are listed from their rows. Packs are made and read by git itself, which [`GitHost`](actors::git::host::GitHost) runs.

mod argument;
mod body;
mod fetch;
mod listing;
mod push;

pub(super) use self::argument::Served;
pub(crate) use self::{fetch::*, listing::*, push::*};
