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
mod live;
mod pulls;
mod pushes;
mod repositories;
mod routes;
mod rules;
mod running;
mod secret_findings;
mod statuses;
mod web_commits;
mod web_uploads;
mod wire;

pub use self::routes::page;
