//! Attacks that once worked, or that nothing else tries (`docs/security.md`).

mod files;
mod guesses;
mod invitations;
mod keys;
mod operators;
mod queries;
mod replays;
