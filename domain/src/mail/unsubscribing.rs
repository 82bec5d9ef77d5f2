//! How a message says that its list is left: at once over HTTP (RFC 8058), or by a message (RFC 2369 3.2).

use super::{Outcome, Verdict, fields};
use crate::{Email, Error, Result};

/// For a message of no list.
pub const NO_UNSUBSCRIBING: &str = "This message says no way to unsubscribe.";
/// For a message whose list is only left by hand.
pub const UNSUBSCRIBE_BY_HAND: &str = "This sender's list is only left by following the link in the message.";
/// For a message that nobody vouches for.
pub const UNSUBSCRIBE_UNVERIFIED: &str = "Nobody vouches for what this message says about unsubscribing.";
/// For a list's server that is away, or refuses.
pub const UNSUBSCRIBE_FAILED: &str = "The sender's server didn't take it. Try again later.";

/// Characters of what is asked or written.
const URI_LEN_MAX: usize = 2_000;

/// How a list is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsubscribing {
    /// By one request to this address.
    OneClick(String),
    /// By a message.
    Mail {
        /// To whom.
        to: Email,
        /// What it is about.
        subject: String,
        /// What it says.
        text: String,
    },
}

/// How the list of a message is left: at once where it can be.
///
/// 400 for a message of no list; 409 where nobody vouches for what it says, and where only a page takes people off.
pub fn unsubscribing(raw: &[u8], verdict: &Verdict) -> Result<Unsubscribing> {
    let values = |name: &str| -> Vec<String> {
        let found = fields(raw).filter(|field| field.is(name));
        found.map(|field| String::from_utf8_lossy(field.value).replace(['\r', '\n'], "")).collect()
    };
    let (lists, posts) = (values("List-Unsubscribe"), values("List-Unsubscribe-Post"));
    let Some(list) = lists.first() else { return Err(Error::bad_request("no_list", NO_UNSUBSCRIBING)) };
    let uris: Vec<&str> = uris(list).collect();
    if uris.is_empty() {
        return Err(Error::bad_request("no_list", NO_UNSUBSCRIBING));
    }
    let unverified = || Error::conflict("unsubscribe_unverified", UNSUBSCRIBE_UNVERIFIED);
    // A field more than was signed, or one that nobody signed, may be anybody's.
    let is_vouched_for = verdict.dkim == Outcome::Pass && verdict.dmarc != Outcome::Fail && lists.len() == 1;
    if !is_vouched_for || !are_signed(&values("DKIM-Signature"), &["list-unsubscribe"]) {
        return Err(unverified());
    }
    let is_one_click =
        matches!(posts.as_slice(), [post] if post.trim().eq_ignore_ascii_case("List-Unsubscribe=One-Click"));
    let page = uris.iter().find(|uri| has_scheme(uri, "https:"));
    if let Some(page) = page.filter(|_| is_one_click)
        && are_signed(&values("DKIM-Signature"), &["list-unsubscribe-post"])
    {
        return Ok(Unsubscribing::OneClick((*page).to_owned()));
    }
    let by_mail = uris.iter().find_map(|uri| mail(uri));
    by_mail.ok_or_else(|| Error::conflict("unsubscribe_by_hand", UNSUBSCRIBE_BY_HAND))
}

/// What stands between `<` and `>`.
fn uris(value: &str) -> impl Iterator<Item = &str> {
    value
        .split('<')
        .skip(1)
        .filter_map(|rest| rest.split_once('>'))
        .map(|(uri, _)| uri.trim())
        .filter(|uri| !uri.is_empty() && uri.len() <= URI_LEN_MAX && uri.bytes().all(|byte| byte.is_ascii_graphic()))
}

fn has_scheme(uri: &str, scheme: &str) -> bool {
    uri.get(..scheme.len()).is_some_and(|it| it.eq_ignore_ascii_case(scheme))
}

/// Whether each signature, of which one holds, is over these fields.
fn are_signed(signatures: &[String], names: &[&str]) -> bool {
    let covers = |signature: &String| {
        let tag = signature.split(';').filter_map(|tag| tag.split_once('=')).find(|(name, _)| name.trim() == "h");
        let signed: Vec<String> = tag
            .into_iter()
            .flat_map(|(_, list)| list.split(':'))
            .map(|name| name.trim().to_ascii_lowercase())
            .collect();
        names.iter().all(|name| signed.iter().any(|it| it == name))
    };
    !signatures.is_empty() && signatures.iter().all(covers)
}

/// The message that a `mailto:` asks for (RFC 6068), to its first recipient alone.
fn mail(uri: &str) -> Option<Unsubscribing> {
    let rest = uri.get("mailto:".len()..).filter(|_| has_scheme(uri, "mailto:"))?;
    let (to, query) = rest.split_once('?').unwrap_or((rest, ""));
    let to: Email = decoded(to.split(',').next()?)?.parse().ok()?;
    let said = |name: &str| {
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let value = pairs.into_iter().find(|(it, _)| it.eq_ignore_ascii_case(name))?.1;
        let value: String = decoded(value)?.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
        Some(value)
    };
    let subject = said("subject").filter(|it| !it.trim().is_empty()).unwrap_or_else(|| "unsubscribe".to_owned());
    let text = said("body").filter(|it| !it.trim().is_empty()).unwrap_or_else(|| "unsubscribe".to_owned());
    Some(Unsubscribing::Mail { to, subject, text })
}

/// A text without its percent signs.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |it: Option<u8>| char::from(it?).to_digit(16);
        let (high, low) = (digit(rest.next())?, digit(rest.next())?);
        bytes.push(u8::try_from(high * 16 + low).ok()?);
    }
    String::from_utf8(bytes).ok()
}

/// 502 for a list's server that is away, or refuses.
pub fn unsubscribe_failed() -> Error {
    Error::bad_gateway("unsubscribe_failed", UNSUBSCRIBE_FAILED)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SIGNED: &str =
        "DKIM-Signature: v=1; d=example.org; h=From : List-Unsubscribe:\r\n List-Unsubscribe-Post; b=a=\r\n";
    const POST: &str = "List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n";
    const BOTH: &str =
        "List-Unsubscribe: <mailto:leave@example.org?subject=a%20b&body=c>,\r\n <https://example.org/u?a=b>\r\n";

    fn of(head: &str, dkim: Outcome) -> Result<Unsubscribing> {
        unsubscribing(format!("{head}\r\nHello").as_bytes(), &Verdict { dkim, ..Verdict::default() })
    }

    fn code(head: &str) -> &'static str {
        match of(head, Outcome::Pass) {
            Err(Error::BadRequest { code, .. } | Error::Conflict { code, .. }) => code,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn one_click_is_taken_where_both_fields_are_signed() {
        let one_click = Unsubscribing::OneClick("https://example.org/u?a=b".to_owned());
        assert_eq!(of(&format!("{SIGNED}{POST}{BOTH}"), Outcome::Pass).expect("a way"), one_click);
        let mail = of(&format!("{SIGNED}{BOTH}"), Outcome::Pass).expect("a way");
        let to = "leave@example.org".parse().expect("an address");
        assert_eq!(mail, Unsubscribing::Mail { to, subject: "a b".to_owned(), text: "c".to_owned() });
        let alone = "DKIM-Signature: h=list-unsubscribe; b=a\r\n";
        assert!(matches!(of(&format!("{alone}{POST}{BOTH}"), Outcome::Pass), Ok(Unsubscribing::Mail { .. })));
    }

    #[test]
    fn what_nobody_vouches_for_is_refused() {
        let other = "DKIM-Signature: v=1; d=mallory.example; h=From:Subject; b=a\r\n";
        for head in [
            format!("{POST}{BOTH}"),
            format!("{other}{POST}{BOTH}"),
            format!("{SIGNED}{other}{POST}{BOTH}"),
            format!("{SIGNED}{POST}List-Unsubscribe: <https://mallory.example>\r\n{BOTH}"),
        ] {
            assert_eq!(code(&head), "unsubscribe_unverified", "{head}");
        }
        assert!(of(&format!("{SIGNED}{POST}{BOTH}"), Outcome::Fail).is_err());
        assert!(of(&format!("{SIGNED}{POST}{BOTH}"), Outcome::None).is_err());
    }

    #[test]
    fn what_says_no_way_or_only_a_page_says_so() {
        assert_eq!(code("Subject: a\r\n"), "no_list");
        assert_eq!(code(&format!("{SIGNED}List-Unsubscribe: nothing\r\n")), "no_list");
        for page in
            ["<https://example.org>", "<http://example.org>", "<mailto:>", "<mailto:nobody>", "<mailto:%zz@a.b>"]
        {
            assert_eq!(code(&format!("{SIGNED}List-Unsubscribe: {page}\r\n")), "unsubscribe_by_hand", "{page}");
        }
        assert_eq!(code(&format!("{SIGNED}{POST}List-Unsubscribe: <http://example.org>\r\n")), "unsubscribe_by_hand");
    }

    #[test]
    fn a_message_that_leaves_a_list_has_one_recipient_and_no_more_lines() {
        let Ok(Unsubscribing::Mail { to, subject, text }) = of(
            &format!("{SIGNED}List-Unsubscribe: <mailto:a@example.org,b@example.org?subject=x%0d%0aBcc:%20c@d.e>\r\n"),
            Outcome::Pass,
        ) else {
            panic!("a message")
        };
        assert_eq!((to.as_str(), subject.as_str(), text.as_str()), ("a@example.org", "x  Bcc: c@d.e", "unsubscribe"));
    }

    proptest! {
        #[test]
        fn whatever_a_message_says_what_is_asked_is_an_address_of_the_web_or_of_mail(
            list in "[ -~]{0,60}(<(https?:|mailto:|MAILTO:)?[ -~]{0,40}>,? ?){0,3}[ -~é%]{0,20}",
            post in "(List-Unsubscribe=One-Click)?[ -~]{0,5}",
        ) {
            let head = format!("{SIGNED}List-Unsubscribe: {list}\r\nList-Unsubscribe-Post: {post}\r\n");
            match of(&head, Outcome::Pass) {
                Ok(Unsubscribing::OneClick(url)) => prop_assert!(has_scheme(&url, "https:")),
                Ok(Unsubscribing::Mail { subject, text, .. }) => {
                    let has_control = [&subject, &text].into_iter().any(|it| it.chars().any(char::is_control));
                    prop_assert!(!subject.is_empty() && !has_control);
                }
                Err(error) => {
                    let is_refused = matches!(error, Error::BadRequest { .. } | Error::Conflict { .. });
                    prop_assert!(is_refused);
                }
            }
        }
    }
}
