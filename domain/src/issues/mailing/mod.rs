//! Service desks and mail: who may write to a desk, what of a message counts, and by what an answer finds its request.

mod letter;
mod tag;

use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use self::{
    letter::{Letter, keys_in, message_id_of},
    tag::{SEAL_LEN, seal_text, tag_of, tagged},
};
use super::portal::{ServiceDesk, Visitor, is_let_in};
use crate::{Email, Error, Result, mail::alias_address, problems::Problems};

/// What stands above the text of each mail of a desk; what an answer has below it was said before.
pub const MARKER: &str = "-- Please write above this line --";
/// The header by which a server knows its own mails.
pub const LOOP_HEADER: &str = "X-Troupe-Loop";
/// Mails to an address about one request in [`MAILS_COUNTED_FOR`].
pub const MAILS_MAX: u64 = 10;
/// The time in which mails to an address are counted.
pub const MAILS_COUNTED_FOR: Duration = Duration::from_hours(1);
/// Bytes of a message that comes in by a hook.
pub const HOOK_BYTES_MAX: usize = 25 * 1024 * 1024;
/// What is said of a larger one.
pub const HOOK_TOO_LARGE: &str = "Messages can be up to 25 MB.";
/// Messages that a hook takes a minute.
pub const HOOK_POSTS_PER_MINUTE: u32 = 600;
/// Hooks of a space.
pub const MAIL_HOOKS_MAX: usize = 20;
/// The message of the 404 for a hook.
pub const MAIL_HOOK_NOT_FOUND: &str = "Hook not found.";
/// How long it is remembered which messages came in by hooks.
pub const HOOKED_KEPT: Duration = Duration::from_hours(30 * 24);
/// Characters before the `@` of a desk's address: a tag has to stand behind them.
const LOCAL_LEN_MAX: usize = 40;

/// How a desk takes mail.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeskEmail {
    /// The desk's own address; without one, mail comes in by hooks only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// What a message asks for.
    pub request_type_id: String,
    /// From whom it is taken.
    pub from: MailFrom,
}

/// From whom a desk takes mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MailFrom {
    /// From whoever the help center lets in, and whoever takes part in the request.
    Customers,
    /// From anybody.
    Anyone,
}

impl DeskEmail {
    /// The address; 400 for what can't be one.
    pub fn address(&self) -> Result<Option<Email>> {
        self.address.as_deref().map(alias_address).transpose()
    }

    /// Says everything that is wrong.
    pub(super) fn check(&self, problems: &mut Problems, desk: &ServiceDesk) {
        let path = "config.servicedesk.email";
        let is_there = desk.request_type(&self.request_type_id).is_some();
        problems.require(is_there, format!("{path}.requestTypeId"), "There is no such request type.");
        let fits = |email: &Email| email.as_str().split('@').next().is_some_and(|local| local.len() <= LOCAL_LEN_MAX);
        let is_right = self.address().is_ok_and(|address| address.as_ref().is_none_or(fits));
        problems.require(
            is_right,
            format!("{path}.address"),
            "Enter a valid address, with at most 40 characters before the @.",
        );
    }
}

impl ServiceDesk {
    /// Whether somebody with this address may write to the desk and begin something there. Whoever takes part in a request may in any
    /// case answer.
    pub fn takes_mail_of(&self, address: &str, visitor: Option<&Visitor>) -> bool {
        let Some(email) = &self.email else { return false };
        let is_listed = || self.portal.customers.iter().any(|listed| listed.eq_ignore_ascii_case(address));
        email.from == MailFrom::Anyone || visitor.is_some_and(|visitor| is_let_in(self, visitor)) || is_listed()
    }
}

/// Why a message came to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailRefusal {
    /// The space is archived, or its desk takes no mail any more.
    Closed,
    /// Nothing says who wrote it, or it can't be an address.
    NoSender,
    /// It is spam by its verdict.
    Spam,
    /// The desk wrote it itself.
    Loop,
    /// A program wrote it, and it answers nothing.
    Automatic,
    /// The desk takes mail of customers only, and this is nobody it knows.
    Stranger,
    /// Its sender wrote too often.
    TooMany,
    /// The request has as many comments as it can.
    Full,
}

impl MailRefusal {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::NoSender => "no_sender",
            Self::Spam => "spam",
            Self::Loop => "loop",
            Self::Automatic => "automatic",
            Self::Stranger => "stranger",
            Self::TooMany => "too_many",
            Self::Full => "full",
        }
    }
}

/// 404 for a hook.
pub fn no_mail_hook() -> Error {
    Error::not_found(MAIL_HOOK_NOT_FOUND)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Timestamp, id::UserId};

    fn desk(from: MailFrom) -> ServiceDesk {
        let mut desk = ServiceDesk::default();
        desk.portal.customers = vec!["Eve@example.org".to_owned()];
        desk.email = Some(DeskEmail { address: None, request_type_id: "get_help".to_owned(), from });
        desk
    }

    fn problems(email: &DeskEmail) -> usize {
        let mut problems = Problems::new();
        email.check(&mut problems, &ServiceDesk::default());
        problems.count()
    }

    #[test]
    fn a_desk_of_customers_knows_members_and_who_is_listed() {
        let of = |is_member| Visitor { user_id: UserId::new(Timestamp(0)), is_member, confirmed_email: None };
        let desk = desk(MailFrom::Customers);
        assert!(desk.takes_mail_of("eve@example.org", None) && desk.takes_mail_of("a@example.org", Some(&of(true))));
        assert!(!desk.takes_mail_of("a@example.org", None) && !desk.takes_mail_of("a@example.org", Some(&of(false))));
        assert!(self::desk(MailFrom::Anyone).takes_mail_of("a@example.org", None));
        assert!(!ServiceDesk::default().takes_mail_of("eve@example.org", Some(&of(true))));
    }

    #[test]
    fn an_address_leaves_room_for_a_tag() {
        let of = |address: &str, kind: &str| {
            let (address, request_type_id) = (Some(address.to_owned()), kind.to_owned());
            problems(&DeskEmail { address, request_type_id, from: MailFrom::Anyone })
        };
        assert_eq!(
            (of("help@example.org", "get_help"), of("help@example.org", "nothing"), of("help", "nothing")),
            (0, 1, 2)
        );
        let long = |length: usize| of(&format!("{}@example.org", "a".repeat(length)), "get_help");
        assert_eq!((long(40), long(41)), (0, 1));
    }
}
