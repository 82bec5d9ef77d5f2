//! Accounts: people and their sign-ins, organizations and who has a part in them.

pub mod admin;
mod guess;
pub mod organization;
mod passwords;
pub mod person;
mod second_factor;
pub mod setup;
pub mod sign_in;
