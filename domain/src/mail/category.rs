//! Which category of the inbox a message is of: a table of rules, the first that holds decides, and is noted.

use serde::{Deserialize, Serialize};

/// A category of the inbox (contract B 2.7).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MailCategory {
    /// From people.
    #[default]
    Primary,
    /// Orders, invoices, tickets.
    Transactions,
    /// Lists, notices, what programs send.
    Updates,
    /// What is sent to many to sell.
    Promotions,
}

impl MailCategory {
    /// All of them, in the contract's order.
    pub const ALL: [Self; 4] = [Self::Primary, Self::Transactions, Self::Updates, Self::Promotions];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::Transactions => "transactions",
            Self::Updates => "updates",
            Self::Promotions => "promotions",
        }
    }

    /// The category with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|category| category.as_str() == name)
    }
}

/// What of a message decides on its category.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a mark of its own, which one rule asks for")]
pub struct Traits {
    /// What the mailbox chose for the sender.
    pub chosen: Option<MailCategory>,
    /// Whether it answers something that the mailbox sent.
    pub answers_us: bool,
    /// The sender's address, in small letters.
    pub sender: String,
    /// What it is about.
    pub subject: String,
    /// Whether its HTML has schema.org's markup of an order, an invoice or a ticket.
    pub has_order_markup: bool,
    /// Whether it can be unsubscribed from.
    pub unsubscribes: bool,
    /// Whether it has the marks of a campaign: `Precedence: bulk`, `Feedback-ID`, headers of campaigns.
    pub is_bulk: bool,
    /// Whether it is of a list: `List-Id`.
    pub is_list: bool,
    /// Whether a program sent it: `Auto-Submitted` other than `no`.
    pub is_automatic: bool,
}

/// Words of a subject that tell an order, an invoice or a ticket.
const TRANSACTION_WORDS: [&str; 14] = [
    "order",
    "invoice",
    "receipt",
    "payment",
    "booking",
    "reservation",
    "ticket",
    "shipped",
    "delivery",
    "refund",
    "rechnung",
    "bestellung",
    "buchung",
    "quittung",
];
/// How addresses begin that nobody reads.
const NO_REPLY: [&str; 5] = ["noreply", "no-reply", "no_reply", "donotreply", "do-not-reply"];

impl Traits {
    /// Whether nobody reads what is sent to the sender.
    fn is_no_reply(&self) -> bool {
        NO_REPLY.iter().any(|start| self.sender.starts_with(start))
    }

    fn names_a_transaction(&self) -> bool {
        let subject = self.subject.to_lowercase();
        subject.split(|it: char| !it.is_alphanumeric()).any(|word| TRANSACTION_WORDS.contains(&word))
    }
}

/// A rule: its id, which stands in a message's `why`, when it holds, and what follows.
type Rule = (&'static str, fn(&Traits) -> bool, MailCategory);

const RULES: [Rule; 6] = [
    ("answers_us", |it| it.answers_us, MailCategory::Primary),
    ("order_markup", |it| it.has_order_markup, MailCategory::Transactions),
    ("transaction_words", |it| it.is_no_reply() && it.names_a_transaction(), MailCategory::Transactions),
    ("campaign", |it| it.unsubscribes && it.is_bulk, MailCategory::Promotions),
    ("list_or_program", |it| it.is_list || it.is_automatic || it.is_no_reply(), MailCategory::Updates),
    ("from_people", |_| true, MailCategory::Primary),
];

/// A category, and the id of the rule that it follows from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Categorized {
    /// The category.
    pub category: MailCategory,
    /// The rule.
    pub rule: &'static str,
}

/// The category of a message.
pub fn categorize(traits: &Traits) -> Categorized {
    if let Some(category) = traits.chosen {
        return Categorized { category, rule: "chosen_for_sender" };
    }
    let found = RULES.iter().find(|(_, holds, _)| holds(traits));
    let (rule, category) = found.map_or(("from_people", MailCategory::Primary), |(id, _, category)| (*id, *category));
    Categorized { category, rule }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(sender: &str, subject: &str) -> Traits {
        Traits { sender: sender.into(), subject: subject.into(), ..Traits::default() }
    }

    fn rule(traits: &Traits) -> (&'static str, MailCategory) {
        let Categorized { category, rule } = categorize(traits);
        (rule, category)
    }

    #[test]
    fn each_rule_gives_its_category() {
        use MailCategory::{Primary, Promotions, Transactions, Updates};
        let shop = from("noreply@shop.example", "Your order 17");
        assert_eq!(rule(&from("bob@example.org", "Your order")), ("from_people", Primary));
        assert_eq!(rule(&shop), ("transaction_words", Transactions));
        assert_eq!(rule(&Traits { answers_us: true, ..shop.clone() }), ("answers_us", Primary));
        assert_eq!(rule(&Traits { chosen: Some(Updates), answers_us: true, ..shop }), ("chosen_for_sender", Updates));
        let news = from("news@shop.example", "Sale");
        assert_eq!(rule(&Traits { has_order_markup: true, ..news.clone() }), ("order_markup", Transactions));
        let campaign = Traits { unsubscribes: true, is_bulk: true, is_list: true, ..news.clone() };
        assert_eq!(rule(&campaign), ("campaign", Promotions));
        assert_eq!(rule(&Traits { is_bulk: false, ..campaign }), ("list_or_program", Updates));
        assert_eq!(rule(&Traits { is_automatic: true, ..news }), ("list_or_program", Updates));
        assert_eq!(rule(&from("no-reply@example.org", "Reordered")), ("list_or_program", Updates));
    }

    #[test]
    fn names_read_back() {
        for category in MailCategory::ALL {
            assert_eq!(MailCategory::from_name(category.as_str()), Some(category));
        }
        assert_eq!(MailCategory::from_name("Primary"), None);
    }
}
