//! Help centers (contract B 2.4, 4.4): people raise and follow requests. Nothing here knows the issues that members work on: what
//! is answered is made of requests, public comments and public files only.

mod approvals;
mod argument;
mod articles;
mod attachments;
mod centers;
mod comments;
mod files;
mod participants;
mod rating;
mod requests;
mod routes;
mod summary;

pub use self::routes::page;
