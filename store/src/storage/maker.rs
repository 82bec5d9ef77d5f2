//! Who made a signed address: what is written with it is written with their credential, as long as that is good.

use std::{fmt, str::FromStr};

use domain::{
    Caller, KeyCaller, PersonCaller,
    id::{KeyId, OrgId, SignInId, UserId},
};

use crate::{Store, StoreError};

/// The credential with which an address was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressMaker {
    /// A person, through a sign-in.
    SignIn(UserId, SignInId),
    /// An organization's API key.
    Key(KeyId),
}

/// The text names no maker of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a maker of an address")]
pub struct NotAMaker;

impl AddressMaker {
    /// The maker of what this caller asks for; none where that is no credential of REST's.
    pub const fn of(caller: &Caller) -> Option<Self> {
        match caller {
            Caller::Person(person) => Some(Self::SignIn(person.user_id, person.sign_in_id)),
            Caller::Key(key) => Some(Self::Key(key.key_id)),
            Caller::AccessKey(_) | Caller::Job(_) | Caller::AppPassword(_) | Caller::Nobody | Caller::System => None,
        }
    }
}

impl fmt::Display for AddressMaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SignIn(user_id, sign_in_id) => write!(f, "{user_id}/{sign_in_id}"),
            Self::Key(key_id) => write!(f, "{key_id}"),
        }
    }
}

impl FromStr for AddressMaker {
    type Err = NotAMaker;

    fn from_str(text: &str) -> Result<Self, NotAMaker> {
        match text.split_once('/') {
            Some((user_id, sign_in_id)) => {
                Ok(Self::SignIn(user_id.parse().map_err(|_| NotAMaker)?, sign_in_id.parse().map_err(|_| NotAMaker)?))
            }
            None => text.parse().map(Self::Key).map_err(|_| NotAMaker),
        }
    }
}

impl Store {
    /// Who asks with an address to a bucket of the organization that this maker made; none where the sign-in has ended, or the
    /// key is gone or has expired.
    pub async fn address_maker(&self, org_id: OrgId, maker: AddressMaker) -> Result<Option<Caller>, StoreError> {
        let now = self.now();
        match maker {
            AddressMaker::SignIn(user_id, sign_in_id) => {
                let found = self.sign_in(user_id, sign_in_id).await?.filter(|sign_in| sign_in.expires_at > now);
                Ok(found.map(|sign_in| {
                    Caller::Person(PersonCaller {
                        user_id,
                        sign_in_id,
                        app: sign_in.app,
                        platform: sign_in.platform,
                        confirmed_until: sign_in.confirmed_until,
                    })
                }))
            }
            AddressMaker::Key(key_id) => {
                let found = self.key(org_id, key_id).await?.filter(|key| key.expires_at.is_none_or(|at| at > now));
                Ok(found.map(|key| {
                    Caller::Key(KeyCaller {
                        key_id,
                        org_id,
                        maker: key.maker,
                        kind: key.kind,
                        scopes: key.scopes,
                        is_machine: key.machine_id.is_some(),
                    })
                }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::Timestamp;

    use super::*;

    #[test]
    fn a_maker_reads_back_from_its_text() {
        let now = Timestamp(1_700_000_000_000);
        let (person, key) =
            (AddressMaker::SignIn(UserId::new(now), SignInId::new(now)), AddressMaker::Key(KeyId::new(now)));
        for maker in [person, key] {
            assert_eq!(maker.to_string().parse(), Ok(maker));
        }
        let swapped = format!("{}/{}", SignInId::new(now), UserId::new(now));
        for text in ["", "/", swapped.as_str(), "usr_x/y"] {
            assert_eq!(text.parse::<AddressMaker>(), Err(NotAMaker), "{text}");
        }
    }
}
