//! What tests have go wrong, and what a server makes of it.

mod points;
mod program;
