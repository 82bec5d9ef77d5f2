//! What fuzzing has the console and the platform read. Built with the feature `fuzzing` only.

use actix_web::http::header::HeaderMap;
use http_shell::fuzzing::{Kinds, reads, structure};

use crate::{actors, console};

/// The kinds of bodies by name.
pub const BODIES: Kinds = &[("console", structure::<console::ConsoleSignInBody>)];

/// Reads a query as each of the area's lists does.
pub fn query(query: &str) {
    reads::<actors::ActorListQuery>(query);
}

/// The console's cookie in a request's headers.
pub fn cookie(headers: &HeaderMap) -> Option<String> {
    console::cookie(headers)
}
