//! What a line of the table says.

/// Whom an endpoint answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// Anyone.
    Anyone,
    /// Whoever has a ticket in the query.
    TicketHolder,
    /// Whoever has an address that the server signed.
    AddressHolder,
    /// Whoever has an address with a secret in it, or signs what they send.
    SecretHolder,
    /// A runner, with its secret.
    Runner,
    /// A job that a runner has, with its token.
    Job,
    /// Any person and any key.
    Caller,
    /// Any person, and no key.
    Person,
    /// A person on the authenticator app's own sign-in; everybody else reads this.
    Authenticator(&'static str),
    /// A person on a phone's sign-in; other people read this.
    MobileApp(&'static str),
    /// A person on an iPhone's sign-in; other people read this, or that they need the mobile app.
    IphoneApp(&'static str),
    /// A person on the command line, with a part in the organization of the path and a second factor that was just shown;
    /// everybody else reads this.
    CommandLine(&'static str),
    /// Whoever has a part in the organization of the path.
    Member,
    /// Whoever has a part in the organization of the path, and this scope there.
    Scope(&'static str),
    /// Whoever has this scope in the platform's organization.
    Platform(&'static str),
    /// Whoever is signed in to the operators' console.
    Console,
    /// Git, on the command line or with a key, for whoever has this scope: it is answered in texts.
    Git(&'static str),
    /// The same for Git LFS, which is answered in JSON.
    GitLfs(&'static str),
}

impl Who {
    /// Whether nobody has to be signed in.
    pub const fn is_open(self) -> bool {
        matches!(
            self,
            Self::Anyone | Self::TicketHolder | Self::AddressHolder | Self::SecretHolder | Self::Runner | Self::Job
        )
    }
}

/// What an endpoint takes as its body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    Nothing,
    /// JSON of at most so many bytes; this is what somebody who sends more reads.
    Json(usize, &'static str),
    /// Bytes as they are.
    Bytes,
    /// A form.
    Form,
}

/// A line of the table.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub method: &'static str,
    pub path: &'static str,
    pub who: Who,
    pub takes: Takes,
}

pub const KB: usize = 1024;
pub const TOO_LARGE: &str = "The request is too large.";
/// JSON of at most 1 MB, where the contract says nothing else.
pub const JSON: Takes = Takes::Json(1024 * KB, TOO_LARGE);
pub const BACKUP: Who = Who::Authenticator("The authenticator backup opens only in the Authenticator app.");
pub const VAULT: Who = Who::Authenticator("Passwords opens only in the Authenticator app.");

pub const COMMAND_LINE: Who = Who::CommandLine("Sign in with the command line to create git credentials.");

pub const MOBILE: Who = Who::MobileApp("Register devices from the mobile app.");
pub const IPHONE: Who = Who::IphoneApp("Register Live Activities from the iPhone app.");

pub const INFRA: Who = Who::Platform("platform:infra");
