//! What every black-box test needs: a server, and a client that reads like the contract's rows.

mod answer;
mod client;
mod database;
mod server;

pub use answer::Answer;
pub use client::{Client, Request};
pub use server::{Person, Server};
