//! What leaves with a commit arrives: live messages, e-mails, revocations; and what is over is thrown away.

mod contents;
mod deliveries;
mod email;
mod housekeeping;
mod jobs;
#[path = "../../../gateways/tests/services/keys.rs"]
#[allow(dead_code, reason = "only a part of it is needed here")]
mod keys;
mod live;
mod node;
mod noisy;
mod removals;
#[path = "../../../gateways/tests/services/server.rs"]
#[allow(dead_code, reason = "only a part of it is needed here")]
mod service;
#[path = "../../../gateways/tests/smtp_server/mod.rs"]
mod smtp_server;
