//! What fuzzing has the shell read, and what it has areas read with. Built for tests, and with the feature `fuzzing`.

use domain::Result;

pub use crate::shell::fuzzing::headers;
use crate::{
    body::{self, RequestBody},
    query::{self, RequestQuery},
    socket,
};

/// What reads one kind of body, as far as no actor is asked.
pub type Read = fn(&[u8]) -> Result<()>;

/// Kinds of bodies by name.
pub type Kinds = &'static [(&'static str, Read)];

/// Reads a body of which nothing is asked but its structure.
pub fn structure<T: RequestBody>(raw: &[u8]) -> Result<()> {
    body::parse::<T>(raw).map(drop)
}

/// Reads a query; one that can't be read says so as the client's fault.
pub fn reads<T: RequestQuery>(query: &str) {
    if let Err(error) = query::parse::<T>(query) {
        assert_eq!(error.status(), 400, "{error:?}");
    }
}

/// Bytes as they come over a socket.
pub fn frames(bytes: &[u8]) {
    socket::frames::fuzzing(bytes);
}
