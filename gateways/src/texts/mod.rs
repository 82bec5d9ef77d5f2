//! Texts (SMS) and calls, over a Twilio-shaped HTTP interface or to a console that keeps them.
//!
//! A texter sends once and says what became of it. Trying again, and keeping what a console texter did not send, is the
//! caller's: it has the store. What the provider says later arrives at the callbacks, whose signature
//! [`SignedCallback`] checks.

mod callback;
pub(crate) mod twilio;

use std::{sync::Arc, time::Duration};

pub use self::callback::SignedCallback;
use self::twilio::Twilio;
use crate::Delivered;

/// One text to one person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sms {
    /// The telephone number that it goes to, as `+4915112345678`.
    pub to: String,
    /// What it says. Beyond [`SMS_LEN_MAX`] characters it is cut.
    pub body: String,
    /// Where the provider says what became of it, if anywhere.
    pub status_callback: Option<String>,
    /// The same for every try of the same text.
    pub idempotency_key: String,
}

/// One call to one person, read out by a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The telephone number that is called, as `+4915112345678`.
    pub to: String,
    /// What is read out, twice; with [`gather_url`](Self::gather_url) it should say which key to press. Beyond
    /// [`SAY_LEN_MAX`] characters it is cut.
    pub say: String,
    /// Where the provider says which key was pressed (`Digits`); its answer is read out. `None`: no key is waited for.
    pub gather_url: Option<String>,
    /// Where the provider says what became of it, if anywhere.
    pub status_callback: Option<String>,
    /// The same for every try of the same call.
    pub idempotency_key: String,
}

/// Characters of a text, at most; providers refuse longer ones.
pub const SMS_LEN_MAX: usize = 1_600;
/// Characters that are read out, at most; with their escapes they fit into the 4,000 that providers take.
pub const SAY_LEN_MAX: usize = 600;

/// Why a text or a call was not taken. The words are for the log and for operators.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// Trying again may help: the provider is away, busy, or refuses our sign-in.
    #[error("{reason}")]
    Temporary {
        /// What happened.
        reason: String,
        /// How long the provider wants to be left alone.
        retry_after: Option<Duration>,
    },
    /// Trying again can't help: the number or the message is refused.
    #[error("{0}")]
    Permanent(String),
}

impl TextError {
    /// Whether trying again may help.
    pub const fn is_temporary(&self) -> bool {
        matches!(self, Self::Temporary { .. })
    }
}

/// How texts and calls leave.
#[derive(Clone, Debug)]
pub enum TexterOptions {
    /// They do not: they are kept and shown.
    Console,
    /// Over a provider that speaks Twilio's HTTP interface.
    Twilio(TwilioOptions),
}

/// An account at a provider that speaks Twilio's HTTP interface.
#[derive(Clone)]
pub struct TwilioOptions {
    /// Where the provider is, as `https://api.twilio.com`.
    pub base_url: String,
    /// The account.
    pub account_sid: String,
    /// Its password, with which the provider signs callbacks too.
    pub auth_token: String,
    /// The sender of texts: a number, a name, or the id of a pool of numbers (`MG…`).
    pub from: String,
    /// The number that calls, where it is another one.
    pub call_from: Option<String>,
    /// The longest that handing in one text or call takes, connecting included.
    pub timeout: Duration,
}

impl std::fmt::Debug for TwilioOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TwilioOptions")
            .field("base_url", &self.base_url)
            .field("account_sid", &self.account_sid)
            .field("from", &self.from)
            .field("call_from", &self.call_from)
            .finish_non_exhaustive()
    }
}

/// The options can't be used.
#[derive(Debug, thiserror::Error)]
pub enum TexterOptionsError {
    /// No address.
    #[error("`{0}` is no http(s) address of a provider")]
    BaseUrl(String),
    /// The system's part of TLS can't be set up.
    #[error("requests can't be made: {0}")]
    Client(String),
}

/// A handle to the way out for texts and calls; cheap to clone.
#[derive(Clone)]
pub struct Texter {
    way: Way,
}

#[derive(Clone)]
enum Way {
    Console,
    Twilio(Arc<Twilio>),
}

impl Texter {
    /// A texter as the options say. Connects when there is something to send.
    pub fn new(options: &TexterOptions) -> Result<Self, TexterOptionsError> {
        let way = match options {
            TexterOptions::Console => Way::Console,
            TexterOptions::Twilio(options) => Way::Twilio(Arc::new(Twilio::new(options)?)),
        };
        Ok(Self { way })
    }

    /// A texter that sends nothing: its caller keeps what it would have sent.
    pub const fn console() -> Self {
        Self { way: Way::Console }
    }

    /// Whether texts and calls are kept instead of sent.
    pub const fn is_console(&self) -> bool {
        matches!(self.way, Way::Console)
    }

    /// Sends one text, once; answers with the provider's id of it. After an error with an unknown outcome (a provider
    /// that went silent) it may have gone out all the same; trying again uses the same idempotency token.
    pub async fn sms(&self, sms: &Sms) -> Result<Delivered, TextError> {
        number(&sms.to)?;
        match &self.way {
            Way::Console => Ok(Delivered::Keep),
            Way::Twilio(twilio) => twilio.sms(sms).await,
        }
    }

    /// Makes one call, once; answers with the provider's id of it, as soon as the provider took it on.
    pub async fn call(&self, call: &Call) -> Result<Delivered, TextError> {
        number(&call.to)?;
        match &self.way {
            Way::Console => Ok(Delivered::Keep),
            Way::Twilio(twilio) => twilio.call(call).await,
        }
    }

    /// Whether a callback comes from our provider; never so without one.
    pub fn is_genuine(&self, callback: &SignedCallback<'_>) -> bool {
        match &self.way {
            Way::Console => false,
            Way::Twilio(twilio) => callback.is_genuine(twilio.auth_token()),
        }
    }

    /// Whether the provider answers and takes our sign-in; always so without one. For `troupe doctor`.
    pub async fn check(&self) -> Result<(), TextError> {
        match &self.way {
            Way::Console => Ok(()),
            Way::Twilio(twilio) => twilio.check().await,
        }
    }
}

impl std::fmt::Debug for Texter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.is_console() { "Texter(console)" } else { "Texter(twilio)" })
    }
}

/// Refuses what is no number: providers read names and short codes as other kinds of recipients.
fn number(to: &str) -> Result<(), TextError> {
    let digits = to.strip_prefix('+').unwrap_or_default();
    let fits = (4..=15).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    if fits { Ok(()) } else { Err(TextError::Permanent(format!("`{to}` is no telephone number"))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_international_number_is_called() {
        for to in
            ["", "+", "+123", "+1234567890123456", "4915112345678", "+49 151", "ada", "+4915112345678,+4915112345679"]
        {
            assert!(matches!(number(to), Err(TextError::Permanent(_))), "{to}");
        }
        for to in ["+1234", "+123456789012345"] {
            assert_eq!(number(to), Ok(()), "{to}");
        }
    }

    #[test]
    fn a_password_is_not_printed() {
        let options = TexterOptions::Twilio(TwilioOptions {
            base_url: "https://api.twilio.com".into(),
            account_sid: "AC1".into(),
            auth_token: "hunter2".into(),
            from: "+15005550006".into(),
            call_from: None,
            timeout: Duration::from_secs(10),
        });
        assert!(!format!("{options:?}").contains("hunter2"));
    }
}
