//! Accounts: people and their sign-ins, organizations and who has a part in them, their keys and their audit trail.

mod access_keys;
mod app_passwords;
mod audit;
mod auth;
mod email;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod invites;
mod keys;
mod me;
mod members;
mod organizations;
mod otp;
mod routes;
mod sign_ins;
mod teams;

pub use self::routes::page;
