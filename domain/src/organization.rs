//! Organizations, their members, teams and invitations.

use crate::{
    app::names,
    error::{Error, Result},
    role::Role,
};

/// Organizations that one person may own.
pub const OWNED_MAX: u64 = 50;
/// Members of one organization.
pub const MEMBERS_MAX: u64 = 5_000;
/// Invitations of one organization that wait for an answer.
pub const INVITES_MAX: u64 = 200;
/// Teams of one organization.
pub const TEAMS_MAX: u64 = 200;
/// Members of one team.
pub const TEAM_MEMBERS_MAX: u64 = 1_000;
/// Characters of a slug.
pub const SLUG_LEN: std::ops::RangeInclusive<usize> = 2..=40;
/// Characters of a team's description.
pub const DESCRIPTION_LEN_MAX: usize = 256;

names! {
    /// What an organization is to the platform (contract A 4.5, `kind`).
    OrgKind { Platform = "platform", Customer = "customer", }
}

/// The last part of an organization's addresses: lower-case letters, digits and single hyphens between them, unique.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Slug(String);

impl Slug {
    /// Reads a slug that somebody chose.
    pub fn parse(text: &str) -> Result<Self> {
        let fits = SLUG_LEN.contains(&text.len())
            && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
            && !text.starts_with('-')
            && !text.ends_with('-')
            && !text.contains("--");
        if fits {
            return Ok(Self(text.to_owned()));
        }
        Err(Error::invalid("slug", "Use 2 to 40 lower-case letters and digits, with single hyphens between them."))
    }

    /// A slug for an organization of this name. `suffix`, of letters and digits, makes it unlikely to be taken; it
    /// stands alone where the name has nothing that a slug can hold.
    pub fn from_name(name: &str, suffix: &str) -> Self {
        let room = SLUG_LEN.end() - suffix.len() - 1;
        let mut slug = String::with_capacity(*SLUG_LEN.end());
        for character in name.chars().flat_map(char::to_lowercase) {
            if slug.len() == room {
                break;
            }
            if character.is_ascii_alphanumeric() {
                slug.push(character);
            } else if !slug.is_empty() && !slug.ends_with('-') {
                slug.push('-');
            }
        }
        if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        slug.extend(suffix.chars().map(|character| character.to_ascii_lowercase()));
        Self(slug)
    }

    /// A suffix for [`Slug::from_name`]: four random characters.
    pub fn random_suffix() -> Result<String> {
        crate::token::random_base62(4).map(|suffix| suffix.to_ascii_lowercase())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for Slug {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a member's role may become `to`, or end where there is none, so that the organization keeps an owner (409
/// `last_owner`). `owners` is how many it has now.
pub fn last_owner_check(from: Role, to: Option<Role>, owners: u64) -> Result<()> {
    if from == Role::Owner && to != Some(Role::Owner) && owners <= 1 {
        return Err(Error::conflict(
            "last_owner",
            "An organization always keeps an owner. Make somebody else an owner first.",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_lower_case_words_with_hyphens() {
        for text in ["ab", "a1", "acme", "acme-2", "a-b-c", &"a".repeat(40)] {
            assert_eq!(Slug::parse(text).unwrap().as_str(), text);
        }
        for text in ["", "a", "Acme", "-acme", "acme-", "a--b", "a b", "a_b", "é1", &"a".repeat(41)] {
            assert!(Slug::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_slug_made_of_a_name_is_a_slug() {
        for (name, slug) in [
            ("Acme", "acme-x7k2"),
            ("  Acme & Sons, Ltd.  ", "acme-sons-ltd-x7k2"),
            ("東京", "x7k2"),
            (&"long ".repeat(20), "long-long-long-long-long-long-long-x7k2"),
        ] {
            let made = Slug::from_name(name, "X7k2");
            assert_eq!(made.as_str(), slug);
            assert!(Slug::parse(made.as_str()).is_ok(), "{name}");
        }
    }

    #[test]
    fn an_organization_keeps_an_owner() {
        for (from, to, owners, may) in [
            (Role::Owner, None, 1, false),
            (Role::Owner, Some(Role::Admin), 1, false),
            (Role::Owner, Some(Role::Owner), 1, true),
            (Role::Owner, None, 2, true),
            (Role::Admin, None, 1, true),
            (Role::Viewer, Some(Role::Owner), 1, true),
        ] {
            let code = last_owner_check(from, to, owners).err().map(|error| error.code());
            assert_eq!(code, (!may).then_some("last_owner"), "{from} {to:?} {owners}");
        }
    }
}
