//! What e-mails about somebody's own things have in common.

use domain::Context;

/// Where it was asked from, a line each: the address and the program, as far as they are known.
pub fn asked_from(context: &Context) -> String {
    let ip = context.ip.map(|ip| format!("Address: {ip}\n"));
    let program = context.user_agent.as_ref().map(|program| format!("Program: {program}\n"));
    ip.into_iter().chain(program).collect()
}
