//! Who asks, as an argument. Holding one proves it.

use std::marker::PhantomData;

use actix_web::http::header;
use domain::{
    Caller, Context, Error, PersonCaller,
    id::{SignInId, UserId},
};

use crate::{argument::Argument, call::Call, error::Result, facts::Facts};

/// Whom an area lets in among people, and what the rest read.
///
/// ```text
/// /// The authenticator backup opens in the authenticator app only (contract A 4.1).
/// pub struct BackupDoor;
///
/// impl Door for BackupDoor {
///     const WHO: &'static str = "the Authenticator app";
///     const REFUSAL: &'static str = "The authenticator backup opens only in the Authenticator app.";
///
///     fn admits(person: &PersonCaller) -> bool {
///         person.app == App::Authenticator && person.platform.is_mobile()
///     }
/// }
/// ```
pub trait Door: 'static {
    /// The stable slug of the refusal.
    const CODE: &'static str = "people_only";
    /// Whom it lets in, for the table of endpoints.
    const WHO: &'static str;
    /// The message of the 403 that a key, or a person who is not admitted, reads.
    const REFUSAL: &'static str;

    /// Whether this person, through this sign-in, may come in.
    fn admits(person: &PersonCaller) -> bool {
        let _ = person;
        true
    }
}

/// The door that every person may pass and no key.
pub struct People;

impl Door for People {
    const WHO: &'static str = "people";
    const REFUSAL: &'static str = "This belongs to people.";
}

/// A person who has passed the door `D`.
pub struct Person<D: Door = People> {
    context: Context,
    caller: PersonCaller,
    host: Option<String>,
    door: PhantomData<D>,
}

impl<D: Door> Person<D> {
    /// The person.
    pub const fn user_id(&self) -> UserId {
        self.caller.user_id
    }

    /// The sign-in whose token was shown.
    pub const fn sign_in_id(&self) -> SignInId {
        self.caller.sign_in_id
    }

    /// All that is known of the caller.
    pub const fn caller(&self) -> &PersonCaller {
        &self.caller
    }

    /// The context to ask an owner with.
    pub fn context(&self) -> Context {
        self.context.clone()
    }

    /// What the request calls this server.
    pub fn host(&self) -> Option<&str> {
        self.host.as_deref()
    }
}

impl<D: Door> Argument for Person<D> {
    fn describe(facts: &mut Facts) {
        facts.signed_in();
        facts.door(D::WHO, D::REFUSAL);
    }

    async fn take(call: &mut Call) -> Result<Self> {
        match &call.context.caller {
            Caller::Person(person) if D::admits(person) => Ok(Self {
                context: call.context.clone(),
                caller: person.clone(),
                host: call.header(header::HOST).map(str::to_owned),
                door: PhantomData,
            }),
            Caller::Nobody => Err(Error::Unauthenticated.into()),
            _ => Err(Error::forbidden(D::CODE, D::REFUSAL).into()),
        }
    }
}

/// Anyone with a valid credential.
pub struct AnyCaller {
    context: Context,
}

impl AnyCaller {
    /// Who it is.
    pub const fn caller(&self) -> &Caller {
        &self.context.caller
    }

    /// The context to ask an owner with.
    pub fn context(&self) -> Context {
        self.context.clone()
    }
}

impl Argument for AnyCaller {
    fn describe(facts: &mut Facts) {
        facts.signed_in();
    }

    async fn take(call: &mut Call) -> Result<Self> {
        match call.context.caller {
            Caller::Nobody => Err(Error::Unauthenticated.into()),
            _ => Ok(Self { context: call.context.clone() }),
        }
    }
}

/// Anyone at all, signed in or not.
pub struct Anyone {
    context: Context,
}

impl Anyone {
    /// Who it is, where a valid credential says so.
    pub const fn caller(&self) -> &Caller {
        &self.context.caller
    }

    /// The context to ask an owner with.
    pub fn context(&self) -> Context {
        self.context.clone()
    }
}

impl Argument for Anyone {
    fn describe(facts: &mut Facts) {
        facts.open();
    }

    async fn take(call: &mut Call) -> Result<Self> {
        Ok(Self { context: call.context.clone() })
    }
}
