//! Machines' keys for git (contract C 4.3).

use std::{ops::RangeInclusive, time::Duration};

use crate::{Authority, Error, Result, Scope, ScopeSet, account::text_check};

/// Characters of a machine's id (contract C 4.3).
pub const MACHINE_ID_LEN: RangeInclusive<usize> = 16..=64;
/// Characters of a machine's name, after trimming (contract C 4.3).
pub const MACHINE_NAME_LEN: RangeInclusive<usize> = 1..=64;
/// How long a machine's key is good (contract C 4.3).
pub const MACHINE_KEY_LASTS: Duration = Duration::from_hours(90 * 24);
/// How long before its end a key's person is told.
pub const ROTATION_NOTICE: Duration = Duration::from_hours(7 * 24);
/// Machines of one person that have keys of one organization.
pub const MACHINES_MAX: u64 = 20;

/// The message of the 403 for who isn't signed in on the command line (contract C 4.3).
pub const COMMAND_LINE_ONLY: &str = "Sign in with the command line to create git credentials.";

/// What a machine calls itself, so that its next key takes the place of its last.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MachineId(String);

impl MachineId {
    /// Reads an id; `path` is where it stands in the request.
    pub fn parse(path: &str, text: &str) -> Result<Self> {
        let is_usual = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        if MACHINE_ID_LEN.contains(&text.len()) && text.bytes().all(is_usual) {
            return Ok(Self(text.to_owned()));
        }
        Err(Error::invalid(path, "Use 16 to 64 letters, digits, '_' and '-'."))
    }

    /// The id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A machine that somebody uses git on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Its id.
    pub id: MachineId,
    /// What it is called, which is its key's name.
    pub name: String,
}

impl Machine {
    /// Reads a machine's name.
    pub fn name_check(path: &str, text: &str) -> Result<String> {
        text_check(path, text, &MACHINE_NAME_LEN)
    }
}

/// The scopes of a key that this caller makes for a machine: `git:read`, and `git:write` where they have it.
pub fn machine_scopes(authority: &Authority) -> Result<ScopeSet> {
    authority.require(Scope::GitRead)?;
    let scopes = [Scope::GitRead, Scope::GitWrite].into_iter().filter(|scope| authority.has(*scope));
    Ok(scopes.collect())
}

/// 403 for who isn't signed in on the command line (contract C 4.3).
pub fn command_line_only() -> Error {
    Error::forbidden("command_line_only", COMMAND_LINE_ONLY)
}

/// 404: the caller has no machine with this key (contract C 4.3).
pub fn machine_key_not_found() -> Error {
    Error::not_found("Key not found")
}

/// 400: the caller has keys for as many machines as they may.
pub fn too_many_machines() -> Error {
    Error::bad_request("limit_reached", format!("One person has keys for at most {MACHINES_MAX} machines."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Role, Timestamp, authority::tests::member, id::UserId};

    #[test]
    fn a_machines_id_has_16_to_64_usual_characters() {
        for good in ["0123456789_-abcd", &"a".repeat(16), &"Z".repeat(64)] {
            assert_eq!(MachineId::parse("machineId", good).unwrap().as_str(), good);
        }
        for bad in ["", &"a".repeat(15), &"a".repeat(65), "0123456789 -abcd", "0123456789.-abcd", "éééééééééééééééé"]
        {
            assert!(MachineId::parse("machineId", bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_key_has_the_git_scopes_of_who_makes_it_and_never_the_admins() {
        let scopes = |role| machine_scopes(&member(UserId::new(Timestamp(0)), role)).unwrap();
        assert_eq!(scopes(Role::Viewer), [Scope::GitRead].into_iter().collect());
        for role in [Role::Developer, Role::Owner] {
            assert_eq!(scopes(role), [Scope::GitRead, Scope::GitWrite].into_iter().collect());
        }
    }
}
