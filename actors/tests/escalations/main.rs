//! Escalations on a clock that the test moves, on nodes that die.

mod calendar;
mod dice;
mod events;
mod oracle;
mod templates;
mod world;
