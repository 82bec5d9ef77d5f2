//! Registering and signing in with one e-mail address.
//!
//! Everything at one address waits in one queue, so that guesses are counted one after the other, also for an address
//! that nobody has. The guard remembers nothing: it reads the account and the count of failures for each attempt, and
//! its commit checks the versions of both.

mod mailbox;
mod open;
mod places;
mod register;

use actors_base::Services;
use domain::{Email, Result};
use kernel::Resource;

pub use self::{
    mailbox::{OpenMailbox, OpenedMailbox},
    open::{OpenSignIn, Opened},
    register::{CreateAccount, Register, Registered},
};

/// What decides on whoever registers or signs in with one e-mail address.
#[derive(Debug)]
pub struct SignInGuard;

impl Resource for SignInGuard {
    type Key = Email;
    type Services = Services;

    const KIND: &'static str = "sign_in";
    const KEY_IS_PRIVATE: bool = true;

    async fn load(_: &Email, _: &Services) -> Result<Self> {
        Ok(Self)
    }
}
