//! What holds for every request, whatever it asks for.

mod bodies;
mod cors;
mod headers;
mod home;
mod hostile;
mod idempotency;
mod limits;
mod operators;
mod pages;
mod routing;
