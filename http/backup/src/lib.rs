//! The authenticator backup (contract A 2.1, 4.1).

mod endpoints;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod routes;

pub use self::routes::page;
