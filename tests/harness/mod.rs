//! What every black-box test needs: a server, and a client that reads like the contract's rows.

mod answer;
mod client;
mod coedit;
mod dice;
mod enrol;
mod process;
mod proxy;
mod ready;
mod server;
mod socket;
mod vault_device;

pub use answer::Answer;
pub use client::{Client, Request};
pub use coedit::Coeditor;
pub use dice::Dice;
pub use enrol::PASSWORD;
pub use process::{Launch, Process};
pub use proxy::Proxy;
pub use ready::wait_until_ready;
pub use server::{Person, START, Server};
pub use socket::{Heard, Socket, Ticket};
pub use vault_device::{VaultDevice, item_deletion, item_put};

/// A number that the environment sets, or the usual one: the suite has its proofs in a small size, and `.ci/long` in a large one.
pub fn number<T: std::str::FromStr>(variable: &str, usual: T) -> T {
    std::env::var(variable).ok().and_then(|number| number.parse().ok()).unwrap_or(usual)
}
