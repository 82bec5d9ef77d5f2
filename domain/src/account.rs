//! What a person's account is made of, and the rules of each part.

use std::{fmt, time::Duration};

use crate::{
    app::names,
    error::{Error, Result},
    role::Role,
    time::Timestamp,
    token::random_base62,
};

/// Characters of a name of a person, an organization, a team or a key.
pub const NAME_LEN: std::ops::RangeInclusive<usize> = 1..=80;
/// Characters of an e-mail address (RFC 5321, with the erratum that takes the path's brackets off).
pub const EMAIL_LEN_MAX: usize = 254;
/// Characters before the `@` (RFC 5321).
const EMAIL_LOCAL_LEN_MAX: usize = 64;
/// Characters of a password. The upper end bounds the work of hashing, not what people choose.
pub const PASSWORD_LEN: std::ops::RangeInclusive<usize> = 10..=1024;
/// Characters of an app's install id.
pub const INSTALL_ID_LEN: std::ops::RangeInclusive<usize> = 1..=128;
/// Sign-ins of one person; a new one above it ends the one unused for longest.
pub const SIGN_INS_MAX: u64 = 100;
/// How long a shown second factor counts (`POST /v1/auth/step-up`).
pub const STEP_UP_LASTS: Duration = Duration::from_mins(10);
/// A sign-in's last use is written down at most this often.
pub const SEEN_EVERY: Duration = Duration::from_hours(1);

/// 403 unless the second factor was shown within the last ten minutes.
pub fn step_up_check(confirmed_until: Option<Timestamp>, now: Timestamp) -> Result<()> {
    if confirmed_until.is_some_and(|until| until > now) {
        return Ok(());
    }
    Err(Error::forbidden("step_up", "Confirm with your second factor first."))
}

names! {
    /// Why a sign-in was ended by somebody else; whoever shows its token reads it.
    SignInEnd { DeviceRemoved = "device_removed", }
}

impl SignInEnd {
    /// The 401 that says so.
    pub fn error(self) -> Error {
        let message = match self {
            Self::DeviceRemoved => "This device was removed from your vault. Wipe its copy and sign in again.",
        };
        Error::SignedOut { code: self.as_str(), message: message.into() }
    }
}

/// An e-mail address as it is compared and stored: trimmed, in lower case.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Email(String);

impl Email {
    /// Reads an address that somebody typed. ASCII only: an internationalized domain is written in its `xn--` form.
    pub fn parse(path: &str, text: &str) -> Result<Self> {
        let address = text.trim().to_ascii_lowercase();
        if address.len() <= EMAIL_LEN_MAX && is_address(&address) {
            Ok(Self(address))
        } else {
            Err(Error::invalid(path, "This isn't an e-mail address."))
        }
    }

    /// The address.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Email {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::str::FromStr for Email {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse("email", text)
    }
}

fn is_address(address: &str) -> bool {
    let Some((local, domain)) = address.rsplit_once('@') else { return false };
    let is_atom = |atom: &str| {
        !atom.is_empty()
            && atom.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte))
    };
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    local.len() <= EMAIL_LOCAL_LEN_MAX && local.split('.').all(is_atom) && domain.split('.').all(is_label)
}

/// A password that somebody chose. `Debug` does not print it.
#[derive(Clone)]
pub struct Password(String);

impl Password {
    /// Reads a new password. It is taken as it stands, spaces at its ends included.
    pub fn parse(path: &str, text: &str) -> Result<Self> {
        let length = text.chars().count();
        if PASSWORD_LEN.contains(&length) {
            return Ok(Self(text.to_owned()));
        }
        let message =
            if length < *PASSWORD_LEN.start() { "Use at least 10 characters." } else { "Use at most 1024 characters." };
        Err(Error::invalid(path, message))
    }

    /// A password that nobody chose: 20 random letters and digits.
    pub fn generate() -> Result<Self> {
        random_base62(20).map(Self)
    }

    /// The text, for hashing.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(…)")
    }
}

/// A name of 1-80 characters after trimming, without control characters.
pub fn name_check(path: &str, text: &str) -> Result<String> {
    text_check(path, text, &NAME_LEN)
}

/// A text of so many characters after trimming, without control characters.
pub fn text_check(path: &str, text: &str, length: &std::ops::RangeInclusive<usize>) -> Result<String> {
    let text = text.trim();
    if !length.contains(&text.chars().count()) {
        return Err(Error::invalid(path, format!("Use {} to {} characters.", length.start(), length.end())));
    }
    if text.chars().any(char::is_control) {
        return Err(Error::invalid(path, "Use no control characters."));
    }
    Ok(text.to_owned())
}

/// A language tag such as `en`, `de-AT` or `zh-Hant-TW` (BCP 47).
pub fn locale_check(path: &str, text: &str) -> Result<String> {
    let mut subtags = text.split('-');
    let language = subtags.next().unwrap_or_default();
    let fits = text.len() <= 35
        && (2..=8).contains(&language.len())
        && language.bytes().all(|byte| byte.is_ascii_alphabetic())
        && subtags.all(|tag| (1..=8).contains(&tag.len()) && tag.bytes().all(|byte| byte.is_ascii_alphanumeric()));
    if fits { Ok(text.to_owned()) } else { Err(Error::invalid(path, "This isn't a language tag such as en or de-AT.")) }
}

/// A time zone's name such as `Europe/Vienna` or `UTC`.
pub fn time_zone_check(path: &str, text: &str) -> Result<String> {
    let is_part = |part: &str| {
        part.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic())
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_+-".contains(&byte))
    };
    if text.len() <= 64 && text.split('/').all(is_part) {
        Ok(text.to_owned())
    } else {
        Err(Error::invalid(path, "This isn't a time zone such as Europe/Vienna."))
    }
}

/// A telephone number as E.164 writes it: `+` and 7 to 15 digits; spaces, hyphens, dots and brackets are taken out.
pub fn phone_check(path: &str, text: &str) -> Result<String> {
    let number: String = text.trim().chars().filter(|character| !" -.()".contains(*character)).collect();
    let digits = number.strip_prefix('+').unwrap_or_default();
    let fits = (7..=15).contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_digit())
        && !digits.starts_with('0');
    if fits {
        Ok(number)
    } else {
        Err(Error::invalid(path, "Write the number with its country code, as in +43 1 234567."))
    }
}

names! {
    /// Who may register: anybody, whoever holds an invitation, or nobody (operators make accounts).
    Registration { Open = "open", Invite = "invite", Closed = "closed", }
}

/// An invitation as far as accepting it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invitation {
    /// Whom it was sent to.
    pub email: Email,
    /// What it makes of them.
    pub role: Role,
    /// When it can no longer be accepted.
    pub expires_at: Timestamp,
}

impl Invitation {
    /// Whether the person with this address may accept it at `now`. An expired invitation is as gone as a cancelled one.
    pub fn accept_check(&self, email: &Email, now: Timestamp) -> Result<()> {
        if self.expires_at <= now {
            return Err(invitation_gone());
        }
        if self.email != *email {
            return Err(Error::forbidden("other_email", "This invitation was sent to another e-mail address."));
        }
        Ok(())
    }
}

/// 404: unknown, accepted, cancelled or expired.
pub fn invitation_gone() -> Error {
    Error::not_found("This invitation doesn't exist or has expired.")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn email(text: &str) -> Option<String> {
        Email::parse("email", text).ok().map(|email| email.to_string())
    }

    #[test]
    fn addresses_are_trimmed_and_compared_in_lower_case() {
        assert_eq!(email("  Ada.Lovelace+Notes@Example.COM "), Some("ada.lovelace+notes@example.com".into()));
        assert_eq!(email("root@localhost"), Some("root@localhost".into()));
    }

    #[test]
    fn other_texts_are_no_addresses() {
        for text in [
            "",
            "@",
            "ada",
            "ada@",
            "@example.com",
            "a da@example.com",
            "ada@exa mple.com",
            "ada@@example.com",
            ".ada@example.com",
            "ada.@example.com",
            "a..da@example.com",
            "ada@example..com",
            "ada@-example.com",
            "ada@example-.com",
            "ada@example.com.",
            "ada@exämple.com",
            "ada@example.com\r\nBcc: eve@example.com",
            "\"ada\"@example.com",
            "ada:x@example.com",
        ] {
            assert_eq!(email(text), None, "{text:?}");
        }
    }

    #[test]
    fn an_address_has_254_characters_and_no_more() {
        let domain = ["d".repeat(63), "d".repeat(63), "d".repeat(61)].join(".");
        let longest = format!("{}@{domain}", "l".repeat(64));
        assert_eq!(longest.len(), EMAIL_LEN_MAX);
        assert!(email(&longest).is_some());
        assert!(email(&format!("{longest}d")).is_none());
        assert!(email(&format!("{}@example.com", "l".repeat(65))).is_none());
    }

    #[test]
    fn passwords_have_10_to_1024_characters_and_keep_their_spaces() {
        let parse = |length: usize| Password::parse("password", &"é".repeat(length)).is_ok();
        assert_eq!([9, 10, 1024, 1025].map(parse), [false, true, true, false]);
        assert_eq!(Password::parse("password", "  ten chars ").unwrap().reveal(), "  ten chars ");
        assert_eq!(format!("{:?}", Password::parse("password", "correct horse").unwrap()), "Password(…)");
    }

    #[test]
    fn names_have_1_to_80_characters_after_trimming() {
        assert_eq!(name_check("name", "  Ada  ").unwrap(), "Ada");
        let check = |length: usize| name_check("name", &"ä".repeat(length)).is_ok();
        assert_eq!([0, 1, 80, 81].map(check), [false, true, true, false]);
        assert!(name_check("name", "   ").is_err());
        assert!(name_check("name", "Ada\nLovelace").is_err());
    }

    #[test]
    fn locales_time_zones_and_phones_have_their_forms() {
        for (text, fits) in
            [("en", true), ("de-AT", true), ("zh-Hant-TW", true), ("e", false), ("en_US", false), ("", false)]
        {
            assert_eq!(locale_check("locale", text).is_ok(), fits, "{text}");
        }
        for (text, fits) in [
            ("UTC", true),
            ("Europe/Vienna", true),
            ("America/Argentina/Buenos_Aires", true),
            ("Etc/GMT+5", true),
            ("", false),
            ("/", false),
            ("Europe/", false),
            ("../etc/passwd", false),
            ("Europe Vienna", false),
        ] {
            assert_eq!(time_zone_check("timeZone", text).is_ok(), fits, "{text}");
        }
        assert_eq!(phone_check("phone", " +43 (1) 234-567 ").unwrap(), "+431234567");
        for text in ["", "431234567", "+123456", "+0123456789", "+1234567890123456", "+43 1 CALL-ME"] {
            assert!(phone_check("phone", text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_invitation_is_for_its_address_and_its_time() {
        let ada: Email = "ada@example.com".parse().unwrap();
        let invitation = Invitation { email: ada.clone(), role: Role::Viewer, expires_at: Timestamp(1_000) };
        assert!(invitation.accept_check(&ada, Timestamp(999)).is_ok());
        assert_eq!(invitation.accept_check(&ada, Timestamp(1_000)).unwrap_err().status(), 404);
        let eve = "eve@example.com".parse().unwrap();
        assert_eq!(invitation.accept_check(&eve, Timestamp(999)).unwrap_err().code(), "other_email");
    }

    proptest! {
        #[test]
        fn reading_an_address_never_fails_badly_and_what_is_read_reads_again(text in ".{0,80}(@.{0,40})?") {
            if let Some(address) = email(&text) {
                prop_assert_eq!(email(&address), Some(address.clone()));
                prop_assert!(address.len() <= EMAIL_LEN_MAX && address.is_ascii() && !address.contains(char::is_whitespace));
            }
        }

        #[test]
        fn a_checked_phone_number_checks_again(text in "\\+?[0-9 ().-]{0,24}") {
            if let Ok(number) = phone_check("phone", &text) {
                prop_assert_eq!(phone_check("phone", &number).ok(), Some(number.clone()));
            }
        }
    }
}
