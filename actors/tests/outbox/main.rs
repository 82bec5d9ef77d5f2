//! What leaves with a commit arrives: live messages, e-mails, revocations; and what is over is thrown away.

mod email;
mod housekeeping;
mod live;
mod node;
#[path = "../../../gateways/tests/smtp_server/mod.rs"]
mod smtp_server;
