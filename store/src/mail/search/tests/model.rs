//! Random messages and random queries: both databases find what a plain look at each message finds.

use std::{collections::BTreeSet, fmt::Write as _};

use domain::mail::{MailBox, MailCategory, MailFile, MailMessage, MailWords, MessageFacts, MessageIdHash};

use super::*;
use crate::{Change, mail::tests::message};

const WORDS: [&str; 7] = ["apple", "pear", "plum", "plumcake", "fig", "figs", "cc"];
const FIELDS: [&str; 8] = ["subject", "from", "to", "cc", "bcc", "list", "deliveredto", "filename"];
const OTHERS: [&str; 14] = [
    "has:attachment",
    "has:invitation",
    "is:unread",
    "is:read",
    "is:starred",
    "in:spam",
    "in:anywhere",
    "category:updates",
    "before:2027-01-20",
    "after:2027-01-20",
    "newer_than:3d",
    "older_than:2d",
    "larger:1k",
    "smaller:1500",
];
const MESSAGES: usize = 40;
const QUERIES: usize = 400;

/// Chance that is the same in each run (`SplitMix64`).
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % end as u64).expect("a number")
    }

    fn word(&mut self) -> &'static str {
        WORDS[self.below(WORDS.len())]
    }

    fn words(&mut self, most: usize) -> String {
        let count = self.below(most + 1);
        (0..count).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }
}

struct Known {
    thread: MailThreadId,
    message: MailMessage,
    words: MailWords,
}

fn known(dice: &mut Dice, number: usize) -> Known {
    let hours = u64::try_from(dice.below(150)).expect("a number");
    let at = START.before(std::time::Duration::from_hours(hours));
    let (has_file, is_spam, is_update) = (dice.below(3) == 0, dice.below(5) == 0, dice.below(4) == 0);
    let [cc, bcc] = [dice.words(2), dice.words(2)];
    let words = MailWords {
        subject: dice.words(3),
        senders: dice.words(2),
        receivers: format!("{} {cc} {bcc}", dice.words(2)).trim().to_owned(),
        cc,
        bcc,
        list: dice.words(2),
        delivered_to: dice.words(2),
        files: if has_file { dice.words(2) } else { String::new() },
        body: dice.words(5),
        message_id: number.is_multiple_of(2).then(|| MessageIdHash::of(&format!("{number}@x"))),
        has_invitation: dice.below(4) == 0,
    };
    let file = MailFile {
        part: 1,
        name: String::new(),
        content_type: String::new(),
        size: 1,
        inline: false,
        content_id: None,
        place: None,
    };
    let mut message = message(RawId::of(b""));
    message.placing.place = if is_spam { MailBox::Spam } else { MailBox::Inbox };
    message.placing.category = if is_update { MailCategory::Updates } else { MailCategory::Primary };
    (message.placing.is_unread, message.placing.is_starred) = (dice.below(2) == 0, dice.below(3) == 0);
    message.placing.at = at;
    message.size = dice.below(3_000) as u64;
    message.files = if has_file { vec![file] } else { Vec::new() };
    Known { thread: MailThreadId::new(START), message, words }
}

impl Known {
    fn holds(&self, question: &MailQuestion) -> bool {
        let placing = &self.message.placing;
        question.holds(&MessageFacts {
            words: &self.words,
            place: placing.place,
            category: placing.category,
            is_unread: placing.is_unread,
            is_starred: placing.is_starred,
            is_snoozed: false,
            has_file: !self.message.files.is_empty(),
            labels: BTreeSet::new(),
            at: placing.at,
            size: self.message.size,
        })
    }
}

fn term(dice: &mut Dice) -> String {
    let not = if dice.below(4) == 0 { "-" } else { "" };
    let term = match dice.below(9) {
        0..3 => dice.word().to_owned(),
        3 => format!("\"{} {}\"", dice.word(), dice.word()),
        4 | 5 => format!("{}:{}", FIELDS[dice.below(FIELDS.len())], dice.word()),
        6 => format!("{}:\"{} {}\"", FIELDS[dice.below(FIELDS.len())], dice.word(), dice.word()),
        7 => format!("rfc822msgid:{}@x", dice.below(MESSAGES)),
        _ => OTHERS[dice.below(OTHERS.len())].to_owned(),
    };
    format!("{not}{term}")
}

fn query(dice: &mut Dice, depth: usize) -> String {
    let mut text = String::new();
    let between = if dice.below(2) == 0 { " " } else { " OR " };
    for place in 0..=dice.below(3) {
        let not = if dice.below(4) == 0 { "-" } else { "" };
        let part =
            if depth > 0 && dice.below(2) == 0 { format!("{not}({})", query(dice, depth - 1)) } else { term(dice) };
        write!(text, "{}{part}", if place > 0 { between } else { "" }).expect("a text");
    }
    text
}

async fn finds(store: &Store, mailbox: MailboxId, question: &MailQuestion) -> BTreeSet<String> {
    let mut bound = Bound(vec![mailbox.to_string().into()]);
    let text = found(store.parts.connections.backend(), mailbox, question, &mut bound);
    let rows: Vec<FoundRow> = store.reader().rows_of_many(&Sql::new(text, bound.0)).await.expect("a search");
    rows.into_iter().map(|row| row.thread_id).collect()
}

#[tokio::test]
async fn random_queries_of_any_shape_find_what_a_look_at_each_message_finds() {
    for scratch in testing::backends().await {
        let store = Store::connect(&scratch.options(), Clock::manual(START)).await.expect("a store");
        let (mailbox, other, mut dice) = (MailboxId::new(START), MailboxId::new(START), Dice(7));
        let all: Vec<Known> = (0..MESSAGES).map(|number| known(&mut dice, number)).collect();
        for it in &all {
            let mut change = Change::new();
            change.mail_message_add(mailbox, it.thread, &it.message, &it.words, 1);
            store.commit(change).await.expect("a message");
        }
        let mut some = 0;
        for number in 0..QUERIES {
            let text = query(&mut dice, number % 4);
            // Some are too long.
            let Ok(Some(question)) = MailQuestion::parse(&text, &Zone::UTC, START) else { continue };
            let expected: BTreeSet<String> =
                all.iter().filter(|it| it.holds(&question)).map(|it| it.thread.to_string()).collect();
            some += usize::from(!expected.is_empty() && expected.len() < MESSAGES);
            assert_eq!(finds(&store, mailbox, &question).await, expected, "{text}");
            assert!(finds(&store, other, &question).await.is_empty(), "{text}");
        }
        assert!(some > QUERIES / 2, "{some} queries told messages apart");
    }
}

#[tokio::test]
async fn a_query_as_deep_and_as_long_as_it_may_be_is_answered() {
    for scratch in testing::backends().await {
        let store = Store::connect(&scratch.options(), Clock::manual(START)).await.expect("a store");
        let (mailbox, mut dice) = (MailboxId::new(START), Dice(1));
        let one = known(&mut dice, 0);
        let mut change = Change::new();
        change.mail_message_add(mailbox, one.thread, &one.message, &one.words, 1);
        store.commit(change).await.expect("a message");
        let nested = |start: &str, end: &str| format!("{}no{}", start.repeat(8), end.repeat(8));
        let some = |count: usize, between: &str, term: &str| vec![term; count].join(between);
        let many = |between: &str, term: &str| some(100, between, term);
        for text in [
            nested("-(yes OR ", ")"),
            nested("-(-yes ", ")"),
            nested("(is:read OR -yes OR ", ")"),
            nested("(no \"a b\" OR ", ")"),
            many(" ", "-no"),
            many(" OR ", "no"),
            many(" OR ", "-\"no no\""),
            many(" OR ", "rfc822msgid:0@x"),
            some(50, " OR ", "(is:read no)"),
        ] {
            let question = MailQuestion::parse(&text, &Zone::UTC, START).expect(&text).expect("something");
            let found = finds(&store, mailbox, &question).await;
            assert_eq!(!found.is_empty(), one.holds(&question), "{text}");
        }
    }
}
