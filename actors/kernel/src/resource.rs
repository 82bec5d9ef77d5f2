//! What an actor's author writes.

use std::{
    fmt::{self, Display},
    hash::Hash,
    str::FromStr,
};

use domain::{Error, Result};
use store::Change;

use super::{policy::Policy, turn::Turn};

/// What stands for a key that tells who somebody is.
const KEPT_TO_ITSELF: &str = "-";

/// Something that people write to at the same time, and that one actor therefore owns.
pub trait Resource: Sized + Send + 'static {
    /// What names one of its kind; its text is what timers remember it by.
    type Key: Clone + Eq + Hash + Display + FromStr + Send + Sync + 'static;
    /// What it works with: the store, gateways, settings.
    type Services: Clone + Send + Sync + 'static;

    /// The stable name of the kind: in timers, metrics, the log and the operators' console.
    const KIND: &'static str;

    /// Whether keys tell who somebody is, so that they stay in the process: the log and traces go without.
    const KEY_IS_PRIVATE: bool = false;

    /// The limits of the kind.
    fn policy() -> Policy {
        Policy::default()
    }

    /// Reads the resource from the store.
    ///
    /// An error answers the command that needed the load, and only that one.
    fn load(key: &Self::Key, services: &Self::Services) -> impl Future<Output = Result<Self>> + Send;

    /// Whether it stays in memory although nobody asks anything of it: people have it open. Asked after every turn.
    fn is_in_use(&self) -> bool {
        false
    }

    /// Whether what is loaded is what the store has, as far as decisions rest on it that need no commit; what others need is
    /// checked by their commit.
    fn is_current(&self, services: &Self::Services) -> impl Future<Output = Result<bool>> + Send {
        let _ = services;
        async { Ok(true) }
    }

    /// Forgets what commands decided that are not known to be committed ([`Handle::decide`]).
    fn forget_decided(&mut self) {}
}

/// Something that a resource can be asked to do.
pub trait Command: Send + Sync + 'static {
    /// What it answers.
    type Reply: Send + 'static;

    /// The stable name of the command: in metrics, the log and the operators' console.
    const NAME: &'static str;
}

/// What a command came to, before its commit.
#[derive(Debug)]
pub struct Decided<T> {
    /// What it answers once the change is durable.
    pub reply: T,
    /// What has to be committed for it; nothing where it changes nothing.
    pub change: Option<Change>,
}

/// How a resource does a command.
pub trait Handle<C: Command>: Resource {
    /// Decides, commits ([`Turn::commit`]), then applies to memory; in that order, so that memory never holds what the
    /// store doesn't.
    ///
    /// It may run more than once for one command: on [`domain::Error::Stale`] the kernel loads the resource again and
    /// starts over. `Stale`, `Busy` and `Internal` errors and a panic drop the loaded resource; other errors keep it.
    fn handle(&mut self, command: &C, turn: &mut Turn<'_, Self>) -> impl Future<Output = Result<C::Reply>> + Send;

    /// Whether commands of this kind that wait for one key are decided in one turn by [`decide`](Self::decide), and committed
    /// together.
    const IS_GATHERED: bool = false;

    /// Decides as [`handle`](Self::handle) does, without a commit; the change may be committed with those of other commands.
    /// It sees what was decided since [`Resource::forget_decided`], as if that were committed, and adds to it.
    fn decide(&mut self, command: &C, turn: &Turn<'_, Self>) -> impl Future<Output = Result<Decided<C::Reply>>> + Send {
        let _ = (command, turn);
        async { Err(Error::internal(format_args!("{} is not decided together with others", C::NAME))) }
    }
}

/// A key as the log and traces may show it.
pub(super) struct Shown<'a, R: Resource>(pub(super) &'a R::Key);

impl<R: Resource> Display for Shown<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if R::KEY_IS_PRIVATE { f.write_str(KEPT_TO_ITSELF) } else { self.0.fmt(f) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Thing<const PRIVATE: bool>;

    impl<const PRIVATE: bool> Resource for Thing<PRIVATE> {
        type Key = String;
        type Services = ();

        const KIND: &'static str = "thing";
        const KEY_IS_PRIVATE: bool = PRIVATE;

        async fn load(_: &String, (): &()) -> Result<Self> {
            Ok(Self)
        }
    }

    #[test]
    fn a_key_that_tells_who_somebody_is_is_not_shown() {
        let key = "ada@example.org".to_owned();
        assert_eq!(Shown::<Thing<true>>(&key).to_string(), "-");
        assert_eq!(Shown::<Thing<false>>(&key).to_string(), key);
    }
}
