//! What people do at their own machine with a server elsewhere: sign in, and have git open repositories.
//!
//! Nothing here reads the server's configuration or its data. What is kept is the person's, in `kept`.

pub(crate) mod address;
mod api;
mod ask;
mod credential;
mod error;
mod git_config;
mod git_setup;
mod kept;
mod login;
mod plain;
mod watch;

use std::{
    fmt::Display,
    io::{self, Write},
};

pub use error::ClientError;

use crate::cli::{ClientCommand, Git, RunCommand};
use address::Address;
use ask::Answers;
use error::Result;
use git_setup::Setup;
use kept::Place;
use login::Login;
use watch::Watch;

/// Does what somebody asked of their own machine.
///
/// # Errors
/// See [`ClientError`].
pub fn run(command: ClientCommand) -> Result<()> {
    let place = Place::of_environment()?;
    match command {
        ClientCommand::Login { url, email, password_stdin, insecure_http } => {
            let address = Address::parse(&url)?;
            if address.is_cleartext() && !insecure_http {
                return Err(ClientError::Cleartext(address));
            }
            wait_for(Login { address, email }.run(&place, answers(password_stdin)))
        }
        ClientCommand::Logout { url } => wait_for(login::logout(&place, url.as_deref())),
        ClientCommand::Git(Git::Setup { url, organizations, otp_stdin }) => {
            wait_for(Setup { url, organizations }.run(&place, answers(otp_stdin)))
        }
        ClientCommand::Run(RunCommand::Watch { repository, run, server }) => {
            wait_for(Watch { repository, run, server }.run(&place))
        }
        ClientCommand::Git(Git::Credential { operation }) => credential::answer(&place, &operation),
    }
}

fn answers(are_lines: bool) -> Answers {
    if are_lines { Answers::lines() } else { Answers::Terminal }
}

fn wait_for(work: impl Future<Output = Result<()>>) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(ClientError::System)?;
    runtime.block_on(work)
}

/// Says something to the person, who may have stopped listening.
fn say(words: impl Display) {
    drop(writeln!(io::stdout(), "{words}"));
}

/// Says what went another way than it should have.
fn warn(words: impl Display) {
    drop(writeln!(io::stderr(), "troupe: {words}"));
}

/// A question, a file of what is kept, or an address, for fuzzing.
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) fn fuzzing(bytes: &[u8]) {
    credential::fuzzing(bytes);
    kept::fuzzing(bytes);
    if let Ok(text) = std::str::from_utf8(bytes) {
        address::fuzzing(text);
    }
}
