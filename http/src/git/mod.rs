//! Git repositories, who has a part in them, machines' keys, and git itself (contract C 2.2, 4.3).

mod access;
mod argument;
mod branches;
mod commits;
mod contents;
mod credentials;
mod differences;
mod files;
mod lfs;
mod pulls;
mod pushes;
mod repositories;
mod rules;
mod running;
mod secret_findings;
mod statuses;
mod web_commits;
mod web_uploads;
mod wire;

pub(crate) use self::{
    access::*,
    argument::{Repository, RepositoryPermission, machine_key_only},
    branches::*,
    commits::*,
    contents::*,
    credentials::*,
    differences::*,
    files::*,
    lfs::*,
    pulls::*,
    pushes::*,
    repositories::*,
    rules::*,
    secret_findings::*,
    statuses::*,
    web_commits::*,
    web_uploads::*,
    wire::*,
};
