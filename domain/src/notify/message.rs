//! How what people are told reads over each channel.

use super::delivery::AckCode;

/// Characters of a text message: what goes out as one, as long as it stays within GSM's alphabet.
pub const TEXT_LEN_MAX: usize = 160;
/// Characters of a link that still goes into a text; a longer one would leave no room for what happened.
const TEXT_LINK_LEN_MAX: usize = 90;
/// Things that a summary names; the rest is counted.
const SUMMARY_NAMED_MAX: usize = 5;
/// Stands where a text was cut. GSM's alphabet has no ellipsis.
const CUT: &str = "...";

/// Something that a person is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// The headline.
    pub title: &'a str,
    /// What happened.
    pub body: Option<&'a str>,
    /// The whole address where to look.
    pub link: Option<&'a str>,
    /// The code to acknowledge with, where that is asked for.
    pub code: Option<&'a AckCode>,
}

impl Message<'_> {
    /// The subject of an e-mail: the headline on one line.
    pub fn subject(&self) -> String {
        one_line(self.title)
    }

    /// The text of an e-mail.
    pub fn email(&self) -> String {
        let parts = [Some(self.title), self.body, self.link];
        let parts: Vec<_> = parts.into_iter().flatten().map(str::trim).filter(|part| !part.is_empty()).collect();
        format!("{}\n", parts.join("\n\n"))
    }

    /// A text message: what happened, as far as there is room, then the link, then how to acknowledge.
    pub fn text(&self) -> String {
        let link = self.link.filter(|link| link.chars().count() <= TEXT_LINK_LEN_MAX);
        let ask = self.code.map(|code| format!("Reply ACK {code}"));
        let tail: Vec<_> = link.into_iter().chain(ask.as_deref()).collect();
        let tail = tail.join(" ");
        let room = TEXT_LEN_MAX - if tail.is_empty() { 0 } else { tail.chars().count() + 1 };
        let head = match self.body.map(one_line) {
            Some(body) if !body.is_empty() => format!("{}: {body}", one_line(self.title)),
            _ => one_line(self.title),
        };
        [cut(&head, room), tail].join(" ").trim_end().to_owned()
    }

    /// What a voice says: the headline, then how to acknowledge.
    pub fn speech(&self) -> String {
        let title = one_line(self.title);
        let sentence = if title.ends_with(['.', '!', '?']) { title } else { format!("{title}.") };
        let ask = if self.code.is_some() { " Press 1 to acknowledge." } else { "" };
        format!("{sentence}{ask}")
    }
}

/// The headline and the text of a summary of what happened while somebody was not to be interrupted, oldest first.
pub fn summary(titles: &[&str]) -> (String, String) {
    let named: Vec<_> = titles.iter().take(SUMMARY_NAMED_MAX).map(|title| one_line(title)).collect();
    let mut text = named.join("; ");
    let unnamed = titles.len().saturating_sub(SUMMARY_NAMED_MAX);
    if unnamed > 0 {
        text = format!("{text}; and {unnamed} more");
    }
    (format!("{} things happened while you were away", titles.len()), text)
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn cut(text: &str, len_max: usize) -> String {
    if text.chars().count() <= len_max {
        return text.to_owned();
    }
    let kept: String = text.chars().take(len_max.saturating_sub(CUT.len())).collect();
    format!("{}{CUT}", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Timestamp, id::DeliveryId};

    fn code() -> AckCode {
        AckCode::of(DeliveryId::new(Timestamp(1_700_000_000_000)))
    }

    fn message(title: &str) -> Message<'_> {
        Message { title, body: None, link: None, code: None }
    }

    #[test]
    fn an_email_has_the_headline_what_happened_and_the_link() {
        let message =
            Message { body: Some("On db-1."), link: Some("https://t.example/a"), ..message("The disk\nis full") };
        assert_eq!(message.subject(), "The disk is full");
        assert_eq!(message.email(), "The disk\nis full\n\nOn db-1.\n\nhttps://t.example/a\n");
        assert_eq!(Message { body: Some(" "), link: None, ..message }.email(), "The disk\nis full\n");
    }

    #[test]
    fn a_text_says_what_happened_where_to_look_and_how_to_acknowledge() {
        let code = code();
        let full = Message {
            body: Some("On db-1."),
            link: Some("https://t.example/a"),
            code: Some(&code),
            ..message("The disk is full")
        };
        assert_eq!(full.text(), format!("The disk is full: On db-1. https://t.example/a Reply ACK {code}"));
        assert_eq!(Message { body: None, code: None, ..full }.text(), "The disk is full https://t.example/a");
        assert_eq!(message("The disk is full").text(), "The disk is full");
    }

    #[test]
    fn a_long_text_is_cut_before_its_link_and_a_long_link_is_left_out() {
        let long = "a".repeat(200);
        assert_eq!(message(&long).text().len(), TEXT_LEN_MAX);
        let at_limit = "l".repeat(TEXT_LINK_LEN_MAX);
        let text = Message { link: Some(&at_limit), ..message(&long) }.text();
        assert!(text.ends_with(&format!("aaa... {at_limit}")) && text.len() == TEXT_LEN_MAX, "{text}");
        let above = "l".repeat(TEXT_LINK_LEN_MAX + 1);
        assert_eq!(Message { link: Some(&above), ..message("Full") }.text(), "Full");
    }

    #[test]
    fn a_voice_says_the_headline_and_which_key_to_press() {
        let code = code();
        assert_eq!(message("The disk is full").speech(), "The disk is full.");
        let asking = Message { code: Some(&code), ..message("Fire!") };
        assert_eq!(asking.speech(), "Fire! Press 1 to acknowledge.");
    }

    #[test]
    fn a_summary_names_five_and_counts_the_rest() {
        let titles = ["a", "b", "c", "d", "e", "f", "g"];
        let (title, text) = summary(&titles);
        assert_eq!(
            (title.as_str(), text.as_str()),
            ("7 things happened while you were away", "a; b; c; d; e; and 2 more")
        );
        assert_eq!(summary(&titles[..5]).1, "a; b; c; d; e");
        assert_eq!(summary(&titles[..2]).0, "2 things happened while you were away");
    }

    proptest! {
        #[test]
        fn no_text_is_longer_than_one_message(title in "\\PC{0,300}", body in "\\PC{0,300}", link in "[a-z]{0,120}") {
            let code = code();
            let message = Message { title: &title, body: Some(&body), link: Some(&link), code: Some(&code) };
            let text = message.text();
            prop_assert!(text.chars().count() <= TEXT_LEN_MAX);
            let ask = format!("Reply ACK {code}");
            prop_assert!(text.ends_with(&ask));
        }
    }
}
