//! Git repositories, who has a part in them, and machines' keys (contract C 2.2, 4.3).

mod access;
mod argument;
mod credentials;
mod repositories;

pub(crate) use self::{access::*, argument::machine_key_only, credentials::*, repositories::*};
