//! What a query asks, asked of one message at hand: what filters go by while a message is filed. It says of a message what the index
//! says of all of them.

use std::collections::BTreeSet;

use super::{Asked, Joined, MailQuestion, MailWords, WordsAsked};
use crate::{
    Timestamp,
    mail::{MailBox, MailCategory},
};

/// What a query may ask about a message.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is what an operator of its own asks for")]
pub struct MessageFacts<'m> {
    /// Its words.
    pub words: &'m MailWords,
    /// Where it lies.
    pub place: MailBox,
    /// Its category.
    pub category: MailCategory,
    /// Whether nobody has read it.
    pub is_unread: bool,
    /// Whether it has a star.
    pub is_starred: bool,
    /// Whether its conversation comes back later.
    pub is_snoozed: bool,
    /// Whether it has a file that isn't shown in its text.
    pub has_file: bool,
    /// The labels of its conversation, in small letters.
    pub labels: BTreeSet<String>,
    /// When it came.
    pub at: Timestamp,
    /// How many bytes it has.
    pub size: u64,
}

impl MailQuestion {
    /// Whether a message is one that the query finds.
    pub fn holds(&self, facts: &MessageFacts<'_>) -> bool {
        let joined = |how: Joined, parts: Vec<bool>| match how {
            Joined::Not => !parts.contains(&true),
            Joined::All => !parts.contains(&false),
            Joined::Any => parts.contains(&true),
        };
        self.worked_off(|asked| facts.has(asked), joined).unwrap_or(false)
    }
}

impl MessageFacts<'_> {
    fn has(&self, asked: &Asked) -> bool {
        match asked {
            Asked::Words(asked) => self.has_words(asked),
            Asked::HasFile => self.has_file,
            Asked::HasInvitation => self.words.has_invitation,
            Asked::MessageId(hash) => self.words.message_id.as_ref() == Some(hash),
            Asked::Unread(is_unread) => self.is_unread == *is_unread,
            Asked::Starred => self.is_starred,
            Asked::Snoozed => self.is_snoozed,
            Asked::Label(name) => self.labels.contains(name),
            Asked::In(place) => self.place == *place,
            Asked::Anywhere => true,
            Asked::Category(category) => self.category == *category,
            Asked::Before(at) => self.at < *at,
            Asked::Since(at) => self.at >= *at,
            Asked::Larger(bytes) => self.size > *bytes,
            Asked::Smaller(bytes) => self.size < *bytes,
        }
    }

    /// Whether a part has the words one behind the other. Several words that aren't a phrase may stand in several parts.
    fn has_words(&self, asked: &WordsAsked) -> bool {
        let parts = self.words.parts(asked.field);
        if asked.is_phrase {
            return parts.iter().any(|part| has_phrase(part, &asked.words, asked.goes_on));
        }
        let last = asked.words.len().saturating_sub(1);
        let mut words = asked.words.iter().enumerate();
        words.all(|(place, word)| {
            let goes_on = asked.goes_on && place == last;
            parts.iter().any(|part| has_phrase(part, std::slice::from_ref(word), goes_on))
        })
    }
}

/// Whether a text of words has these, one behind the other; the last one may go on.
fn has_phrase(text: &str, asked: &[String], goes_on: bool) -> bool {
    let Some((last, first)) = asked.split_last() else { return false };
    // Few texts have a word, and most of those that don't are seen to have none without being cut.
    if !asked.iter().all(|word| text.contains(word.as_str())) {
        return false;
    }
    let words: Vec<&str> = text.split(' ').collect();
    words.windows(asked.len()).any(|some| {
        let Some((end, begin)) = some.split_last() else { return false };
        let ends = if goes_on { end.starts_with(last.as_str()) } else { end == last };
        ends && begin.iter().zip(first).all(|(word, asked)| word == asked)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notify::Zone;

    fn words() -> MailWords {
        MailWords {
            subject: "lunch on friday".to_owned(),
            senders: "bob bob example com".to_owned(),
            receivers: "ada ada example org".to_owned(),
            files: "menu pdf".to_owned(),
            body: "see you there at noon".to_owned(),
            cc: "carol example net".to_owned(),
            has_invitation: true,
            ..MailWords::default()
        }
    }

    fn holds(query: &str, change: impl Fn(&mut MessageFacts<'_>)) -> bool {
        let words = words();
        let mut facts = MessageFacts {
            words: &words,
            place: MailBox::Inbox,
            category: MailCategory::Primary,
            is_unread: true,
            is_starred: false,
            is_snoozed: false,
            has_file: true,
            labels: BTreeSet::from(["work/bills".to_owned()]),
            at: Timestamp(1_800_000_000_000),
            size: 4_096,
        };
        change(&mut facts);
        MailQuestion::parse(query, &Zone::UTC, Timestamp(1_800_000_000_000))
            .expect("a query")
            .is_some_and(|question| question.holds(&facts))
    }

    #[test]
    fn what_a_query_asks_is_found_in_a_message() {
        for query in [
            "lunch",
            "lun",
            "\"see you there\"",
            "from:bob",
            "from:\"bob example\"",
            "to:ada",
            "subject:friday",
            "filename:menu",
            "friday noon",
            "has:attachment",
            "is:unread",
            "label:Work/Bills",
            "in:inbox",
            "in:anywhere",
            "category:primary",
            "after:2027-01-15",
            "before:2027-01-16",
            "larger:4095",
            "smaller:4097",
            "-from:carol",
            "-\"you see\"",
            "lunch -is:read",
            "dinner OR lunch",
            "(dinner OR lunch) from:bob",
            "-(dinner lunch)",
            "cc:carol",
            "has:invitation",
            "newer_than:1d",
        ] {
            assert!(holds(query, |_| ()), "{query}");
        }
        for query in [
            "dinner",
            "nch",
            "\"you see\"",
            "from:ada",
            "to:bob",
            "subject:noon",
            "filename:friday",
            "lun friday",
            "is:read",
            "is:starred",
            "is:snoozed",
            "label:work",
            "in:archive",
            "category:updates",
            "after:2027-01-16",
            "before:2027-01-15",
            "larger:4096",
            "smaller:4096",
            "-lunch",
            "lunch is:read",
            "***",
            "",
        ] {
            assert!(!holds(query, |_| ()), "{query}");
        }
    }

    #[test]
    fn what_people_did_with_a_message_is_asked_of_it() {
        assert!(holds("is:starred", |it| it.is_starred = true));
        assert!(holds("is:snoozed", |it| it.is_snoozed = true));
        assert!(holds("is:read in:trash", |it| (it.is_unread, it.place) = (false, MailBox::Trash)));
        assert!(!holds("has:attachment", |it| it.has_file = false));
    }
}
