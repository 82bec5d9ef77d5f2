//! HTTP and sockets: the URL tree of all areas, the OpenAPI document, what a browser finds, the listeners.
//!
//! Each area's endpoints are a package of their own, which takes what it is made of from [the shell](http_shell) and names
//! no other area. How to add an endpoint stands there.

mod blobs;
mod co_editing;
mod descriptions;
mod examples;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod home;
mod issue_schedule;
mod live;
mod meta;
pub mod openapi;
mod reference;
mod routes;
pub mod server;
pub mod table;

pub use http_shell::{error, options, shell, state, trace_parent};

pub use self::routes::router;
