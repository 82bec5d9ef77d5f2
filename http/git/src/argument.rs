//! Keys of machines, and whoever has just shown their second factor, as arguments.

use domain::{Caller, Error, account::step_up_check, git::COMMAND_LINE_ONLY, id::KeyId};
use http_shell::{
    argument::Argument,
    call::Call,
    caller::Door,
    error::Result,
    facts::Facts,
    path::{PathParameter, concat_example},
};

/// The id of a machine's key.
pub(crate) struct MachineKeyId(pub KeyId);

impl PathParameter for MachineKeyId {
    const NAME: &'static str = "keyId";
    const DESCRIPTION: &'static str = "The key of one of your machines.";
    const EXAMPLE: &'static str = concat_example(KeyId::PREFIX);
    const NOT_FOUND: &'static str = "Key not found";

    fn read(text: &str) -> Option<Self> {
        text.parse().ok().map(Self)
    }
}

/// Git credentials are for people on the command line (contract C 4.3).
pub(crate) struct CommandLine;

impl Door for CommandLine {
    const CODE: &'static str = "command_line_only";
    const WHO: &'static str = "the command line";
    const REFUSAL: &'static str = COMMAND_LINE_ONLY;

    fn admits(person: &domain::PersonCaller) -> bool {
        person.platform == domain::Platform::Cli
    }
}

/// Proves that the person showed their second factor within the last ten minutes.
pub(crate) struct FreshFactor;

impl Argument for FreshFactor {
    fn describe(facts: &mut Facts) {
        facts.error(403, "Confirm with your second factor first.");
    }

    async fn take(call: &mut Call) -> Result<Self> {
        let Caller::Person(person) = &call.context.caller else { return Err(Error::Unauthenticated.into()) };
        let (store, now) = (&call.state.store, call.state.store.now());
        if step_up_check(person.confirmed_until, now).is_ok() {
            return Ok(Self);
        }
        // What is remembered of the sign-in may be a moment old.
        let found = store.person(person.user_id).await?.ok_or(Error::Unauthenticated)?;
        if found.otp_secret.is_none() {
            // Enrolling one shows it, too.
            step_up_check(None, now).map_err(|refusal| refusal.adding("enrol", true))?;
        }
        let sign_in = store.sign_in(person.user_id, person.sign_in_id).await?.ok_or(Error::Unauthenticated)?;
        step_up_check(sign_in.confirmed_until, now)?;
        Ok(Self)
    }
}
