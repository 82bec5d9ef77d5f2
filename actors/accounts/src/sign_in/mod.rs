//! The desk at which one e-mail address registers and signs in.
//!
//! Everything at one address waits in one queue, so that guesses are counted one after the other, also for an address
//! that nobody has. The desk remembers nothing: it reads the account and the count of failures for each attempt, and
//! its commit checks the versions of both.

mod open;
mod places;
mod register;

use actors_base::Services;
use domain::{Email, Result};
use kernel::Resource;

pub use self::{
    open::{OpenSignIn, Opened},
    register::{CreateAccount, Register, Registered},
};

/// The desk.
#[derive(Debug)]
pub struct SignInDesk;

impl Resource for SignInDesk {
    type Key = Email;
    type Services = Services;

    const KIND: &'static str = "sign_in";
    const KEY_IS_PRIVATE: bool = true;

    async fn load(_: &Email, _: &Services) -> Result<Self> {
        Ok(Self)
    }
}
