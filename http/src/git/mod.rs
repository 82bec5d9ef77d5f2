//! Git repositories, who has a part in them, machines' keys, and git itself (contract C 2.2, 4.3).

mod access;
mod argument;
mod credentials;
mod pushes;
mod repositories;
mod wire;

pub(crate) use self::{access::*, argument::machine_key_only, credentials::*, pushes::*, repositories::*, wire::*};
