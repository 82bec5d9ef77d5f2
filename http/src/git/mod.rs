//! Git repositories, who has a part in them, machines' keys, and git itself (contract C 2.2, 4.3).

mod access;
mod argument;
mod branches;
mod commits;
mod contents;
mod credentials;
mod pulls;
mod pushes;
mod repositories;
mod rules;
mod running;
mod secret_findings;
mod statuses;
mod wire;

pub(crate) use self::{
    access::*, argument::machine_key_only, branches::*, commits::*, contents::*, credentials::*, pulls::*, pushes::*,
    repositories::*, rules::*, secret_findings::*, statuses::*, wire::*,
};
