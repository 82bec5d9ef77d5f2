//! The program `troupe`: command line, configuration, wiring, first-start set-up.
//!
//! [`program::start`] is the whole server in one call; the command line and the black-box tests both use it.

pub mod cli;
pub mod config;
mod logging;
