//! Why a command of somebody's own machine failed, in a line each.

use std::{io, path::PathBuf};

use super::address::Address;

/// What a command here comes to.
pub type Result<T, E = ClientError> = std::result::Result<T, E>;

/// Why the command failed. Prints as a sentence for whoever typed it, and never with a secret.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// What was typed as a server's address. It may hold a password, and is not shown.
    #[error("That is no address of a server. Write it as https://troupe.example.com.")]
    Address,
    /// An address that everybody on the way could read along.
    #[error(
        "Passwords and keys would go to {0} unencrypted. Use https, or say --insecure-http where the network is safe."
    )]
    Cleartext(Address),
    /// Nowhere to keep anything.
    #[error("There is no folder for configuration: set HOME or XDG_CONFIG_HOME.")]
    NoFolder,
    /// The file of sign-ins, or what is around it.
    #[error("{} can't be used: {source}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The file of sign-ins, which is none. What stands there may be a secret, and is not shown.
    #[error("{} is damaged in line {line}. Delete it and sign in again.", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where.
        line: usize,
    },
    /// No sign-in at this server.
    #[error("You are not signed in at {0}. Run `troupe login {0}` first.")]
    NotSignedIn(Address),
    /// No sign-in at all.
    #[error("You are not signed in anywhere. Run `troupe login` with your server's address first.")]
    NowhereSignedIn,
    /// Several sign-ins, and it wasn't said which.
    #[error("Say which server: {0}.")]
    Which(String),
    /// The server's end of the sign-in.
    #[error("The sign-in at {0} has ended. Run `troupe login {0}` again.")]
    SignInEnded(Address),
    /// No answer.
    #[error("{address} can't be reached: {why}")]
    Unreachable {
        /// Where.
        address: Address,
        /// Why not.
        why: String,
    },
    /// An answer that Troupe wouldn't give.
    #[error("{address} does not answer as Troupe does ({what}).")]
    Stranger {
        /// Where.
        address: Address,
        /// What came instead.
        what: String,
    },
    /// The server's own words.
    #[error("{0}")]
    Refused(Refusal),
    /// Nobody to ask.
    #[error("There is no terminal to ask at. {0}")]
    NoTerminal(&'static str),
    /// Ctrl-C, or the end of what is typed.
    #[error("Nothing was done.")]
    Interrupted,
    /// The terminal or standard input failed.
    #[error("What was typed can't be read: {0}")]
    Input(io::Error),
    /// A machine's key wants a second factor.
    #[error(
        "A key for git wants a second factor, and your account has none. Enrol an authenticator app first: `POST /v1/me/otp` \
         makes its secret and `POST /v1/me/otp/confirm` takes its first code, as {0}/docs describes. Then run this again."
    )]
    NoSecondFactor(Address),
    /// Organizations that aren't the person's.
    #[error("You have no part in {asked}. Your organizations: {yours}.")]
    NoPart {
        /// Which were asked for.
        asked: String,
        /// Which there are.
        yours: String,
    },
    /// No organization.
    #[error("You have no part in any organization yet.")]
    NoOrganization,
    /// Organizations that gave no key.
    #[error("No key was made for {0}")]
    SomeKeys(String),
    /// What was typed as a repository.
    #[error("That is no repository. Write it as acme/web-app: the organization and the repository.")]
    Repository,
    /// What was typed as a run.
    #[error("That is no run's id. Run ids begin with run_.")]
    Run,
    /// A repository that has no run.
    #[error("{0} has no run yet.")]
    NoRun(String),
    /// A run that didn't succeed.
    #[error("The run ended as {0}.")]
    RunEnded(String),
    /// Git, or its configuration.
    #[error("{0}")]
    Git(String),
    /// What came after everything was done here.
    #[error("{address} is forgotten here, but was not told: {why}")]
    Untold {
        /// Where.
        address: Address,
        /// Why not.
        why: Box<ClientError>,
    },
    /// No randomness, threads or the like.
    #[error("The operating system does not help: {0}")]
    System(io::Error),
}

/// What the server said instead of doing what it was asked.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// The status.
    pub status: u16,
    /// The slug for programs.
    pub code: String,
    /// The sentence for people.
    pub message: String,
    /// Whether enrolling a second factor would do.
    pub enrol: bool,
}

impl ClientError {
    /// Whether the server refused with this code.
    pub fn is(&self, code: &str) -> bool {
        matches!(self, Self::Refused(refusal) if refusal.code == code)
    }
}
