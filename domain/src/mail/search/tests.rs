use super::{
    reading::{ASKED_MAX, NESTED_MAX},
    *,
};
use crate::{
    Timestamp,
    mail::{MailBox, MailCategory},
    notify::Zone,
};

const NOW: Timestamp = Timestamp(1_795_780_800_000);

fn question(text: &str) -> MailQuestion {
    MailQuestion::parse(text, &Zone::UTC, NOW).expect("a query").expect("something")
}

/// What a query asks that is joined by nothing but that all of it holds: each, and whether it shall not be so.
fn terms(text: &str) -> Vec<(Asked, bool)> {
    let joined = |how: Joined, parts: Vec<Vec<(Asked, bool)>>| match how {
        Joined::Not => parts.into_iter().flatten().map(|(asked, is_not)| (asked, !is_not)).collect(),
        Joined::All => parts.concat(),
        Joined::Any => panic!("{text}"),
    };
    question(text).worked_off(|it| vec![(it.clone(), false)], joined).unwrap_or_default()
}

fn one(text: &str) -> Asked {
    let terms = terms(text);
    let [(asked, false)] = terms.as_slice() else { panic!("{text}: {terms:?}") };
    asked.clone()
}

/// A query with all that joins its words.
fn shape(text: &str) -> String {
    let asked = |it: &Asked| match it {
        Asked::Words(asked) => match asked.field {
            Some(field) => format!("{field:?}:{}", asked.words.join("+")),
            None => asked.words.join("+"),
        },
        other => format!("{other:?}"),
    };
    let joined = |how: Joined, parts: Vec<String>| match how {
        Joined::Not => format!("!{}", parts.concat()),
        Joined::All => format!("({})", parts.join(" & ")),
        Joined::Any => format!("({})", parts.join(" | ")),
    };
    question(text).worked_off(asked, joined).unwrap_or_default()
}

fn asked(field: Option<MailField>, words: &[&str], goes_on: bool) -> Asked {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    Asked::Words(WordsAsked { field, is_phrase: words.len() > 1, words, goes_on })
}

fn refusal(text: &str) -> String {
    match MailQuestion::parse(text, &Zone::UTC, NOW) {
        Err(crate::Error::Invalid { problems }) => problems[0].message.clone(),
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn words_stand_each_for_itself_and_the_last_may_go_on() {
    let found: Vec<Asked> = terms("Lünch bob@example.com fri").into_iter().map(|term| term.0).collect();
    let expected = [("lunch", false), ("bob", false), ("example", false), ("com", false), ("fri", true)];
    assert_eq!(found, expected.map(|(word, goes_on)| asked(None, &[word], goes_on)));
    assert_eq!(one("a"), asked(None, &["a"], false));
    assert_eq!(one("ab"), asked(None, &["ab"], true));
    assert_eq!(one("***  ab"), asked(None, &["ab"], true));
    assert_eq!(MailQuestion::parse("  ", &Zone::UTC, NOW).expect("a query"), None);
    assert_eq!(terms("***"), []);
}

#[test]
fn quotes_hold_words_together_and_a_minus_turns_a_term_round() {
    assert_eq!(one("\"See you There\""), asked(None, &["see", "you", "there"], false));
    assert_eq!(one("\"see"), asked(None, &["see"], false));
    let negated = terms("-lunch -from:bob -\"see you\" - x-y");
    assert_eq!(negated.iter().map(|term| term.1).collect::<Vec<_>>(), [true, true, true, false, false]);
    assert_eq!(negated[0].0, asked(None, &["lunch"], false));
    assert_eq!(negated[2].0, asked(None, &["see", "you"], false));
    assert_eq!(negated[4].0, asked(None, &["y"], false));
}

#[test]
fn operators_ask_parts_of_a_message() {
    assert_eq!(one("From:Bob@Example.com"), asked(Some(MailField::Senders), &["bob", "example", "com"], true));
    assert_eq!(one("to:\"Ada L\""), asked(Some(MailField::Receivers), &["ada", "l"], false));
    assert_eq!(terms("subject:lunch x")[0].0, asked(Some(MailField::Subject), &["lunch"], false));
    assert_eq!(one("filename:a.pdf"), asked(Some(MailField::Files), &["a", "pdf"], true));
    assert_eq!(one("cc:kim"), asked(Some(MailField::Cc), &["kim"], true));
    assert_eq!(one("bcc:\"kim\""), asked(Some(MailField::Bcc), &["kim"], false));
    assert_eq!(one("list:news.example.com"), asked(Some(MailField::List), &["news", "example", "com"], true));
    assert_eq!(one("deliveredto:ada@b"), asked(Some(MailField::DeliveredTo), &["ada", "b"], false));
    assert_eq!(one("rfc822msgid:<A1@b>"), Asked::MessageId(MessageIdHash::of("A1@b")));
    assert_eq!(one("has:invitation"), Asked::HasInvitation);
    assert_eq!(one("has:attachment"), Asked::HasFile);
    assert_eq!([one("is:unread"), one("is:Read")], [Asked::Unread(true), Asked::Unread(false)]);
    assert_eq!([one("is:starred"), one("is:snoozed")], [Asked::Starred, Asked::Snoozed]);
    assert_eq!(one("label:\"Work/My Bills\""), Asked::Label("work/my bills".to_owned()));
    assert_eq!([one("in:trash"), one("in:anywhere")], [Asked::In(MailBox::Trash), Asked::Anywhere]);
    assert_eq!(one("category:updates"), Asked::Category(MailCategory::Updates));
    assert_eq!([one("larger:10"), one("larger:2K")], [Asked::Larger(10), Asked::Larger(2_048)]);
    assert_eq!(one("smaller:3m"), Asked::Smaller(3 * 1_048_576));
}

#[test]
fn days_begin_where_the_caller_is() {
    let midnight = 1_795_737_600_000;
    assert_eq!(one("before:2026-11-27"), Asked::Before(Timestamp(midnight)));
    assert_eq!(one("after:2026/11/27"), Asked::Since(Timestamp(midnight)));
    let vienna = Zone::find("Europe/Vienna").expect("a zone");
    let there = MailQuestion::parse("after:2026-11-27", &vienna, NOW).expect("a query").expect("something");
    let then = Asked::Since(Timestamp(midnight - 3_600_000));
    assert_eq!(there.steps().collect::<Vec<_>>(), [&Step::Asked(then)]);
}

#[test]
fn times_that_are_past_are_counted_from_now() {
    let day = 86_400_000;
    assert_eq!(one("newer_than:2d"), Asked::Since(Timestamp(NOW.0 - 2 * day)));
    assert_eq!(one("older_than:2D"), Asked::Before(Timestamp(NOW.0 - 2 * day)));
    // Noon of the 27th of October, and of the same day a year before.
    assert_eq!(one("older_than:1m"), Asked::Before(Timestamp(NOW.0 - 31 * day)));
    assert_eq!(one("newer_than:1y"), Asked::Since(Timestamp(NOW.0 - 365 * day)));
    let last_of_march = Timestamp(1_774_958_400_000);
    let then = MailQuestion::parse("newer_than:1m", &Zone::UTC, last_of_march).expect("a query").expect("something");
    let last_of_february = Asked::Since(Timestamp(last_of_march.0 - 31 * day));
    assert_eq!(then.steps().collect::<Vec<_>>(), [&Step::Asked(last_of_february)]);
}

#[test]
fn what_stands_around_an_or_is_joined_before_what_stands_beside_it() {
    for (text, expected) in [
        ("a b OR c d", "(a & (b | c) & d)"),
        ("a OR b OR -c", "(a | b | !c)"),
        ("a or b", "(a & or & b)"),
        ("(a b) OR c", "((a & b) | c)"),
        ("(a OR b)(c OR (d e))", "((a | b) & (c | (d & e)))"),
        ("-(a OR b) c", "(!(a | b) & c)"),
        ("-(a -b)", "!(a & !b)"),
        ("x@y OR z", "((x & y) | z)"),
        ("subject:(a OR b) c", "((Subject:a | Subject:b) & c)"),
        ("from:(a subject:b (c))", "(Senders:a & Subject:b & Senders:c)"),
        ("is:(unread OR starred)", "(Unread(true) | Starred)"),
        ("foo:(a OR b)", "(foo & (a | b))"),
        ("-from:(a b)", "!(Senders:a & Senders:b)"),
        ("from:(\"a b\")", "Senders:a+b"),
        // What an `OR` or a parenthesis lacks is passed over, or it is a word or a sign.
        ("OR a", "(or & a)"),
        ("a OR", "(a & or)"),
        ("a OR OR b", "(a & (or | b))"),
        ("(a OR) b", "((a & or) & b)"),
        ("a OR () b", "(a & b)"),
        ("a) b", "(a & b)"),
        ("((a b", "(a & b)"),
        ("() (-) (\"\") from:(\"\")", ""),
        ("f(x) OR g(y)", "((f & x) | (g & y))"),
        ("(f(x) y)", "((f & x) & y)"),
        ("(a \"b", "(a & b)"),
        (":) :-(", ""),
    ] {
        assert_eq!(shape(text), expected, "{text}");
    }
}

#[test]
fn the_last_word_goes_on_only_where_it_is_asked_for() {
    let goes_on = |text: &str| {
        let asked = |it: &Asked| matches!(it, Asked::Words(asked) if asked.goes_on);
        question(text).worked_off(asked, |_, parts| parts.contains(&true)).expect("something")
    };
    assert!(goes_on("a OR bc") && goes_on("(a bc") && goes_on("subject:(bc"));
    assert!(!goes_on("(a bc)") && !goes_on("-(bc") && !goes_on("a -(x OR (bc") && !goes_on("bc x"));
}

#[test]
fn a_query_is_as_deep_and_as_long_as_it_may_be() {
    let deep = |count: usize| format!("{}a{}", "-(b ".repeat(count), ")".repeat(count));
    assert!(shape(&deep(NESTED_MAX)).starts_with("!(b & !(b & "));
    let column = NESTED_MAX * 4 + 1;
    assert_eq!(
        refusal(&deep(NESTED_MAX + 1)),
        format!("At character {column}: parentheses stand in each other at most 8 deep.")
    );
    assert!(refusal(&"(".repeat(100_000)).starts_with("At character 9: "));
    let long = |count: usize| "a ".repeat(count);
    assert_eq!(terms(&long(ASKED_MAX)).len(), ASKED_MAX);
    assert_eq!(refusal(&long(ASKED_MAX + 1)), "Use at most 100 words and operators.");
    assert_eq!(terms(&"a.".repeat(ASKED_MAX)).len(), ASKED_MAX);
}

#[test]
fn what_is_no_operator_is_words_and_a_value_that_cannot_be_is_refused() {
    let of = |text: &str| terms(text).into_iter().map(|term| term.0).collect::<Vec<_>>();
    assert_eq!(of("foo:bar"), [asked(None, &["foo"], false), asked(None, &["bar"], true)]);
    assert_eq!(of("https://a.example")[0], asked(None, &["https"], false));
    assert_eq!(of("from:"), [asked(None, &["from"], true)]);
    assert_eq!(of("before: x"), [asked(None, &["before"], false), asked(None, &["x"], false)]);
    assert_eq!(refusal("lunch is:green"), "At character 7: is: takes unread, read, starred or snoozed.");
    for text in [
        "has:wings",
        "in:attic",
        "category:other",
        "before:yesterday",
        "after:2026-13-01",
        "after:2026-02-30",
        "after:2026-1",
        "larger:big",
        "smaller:-1",
        "larger:99999999999999999999",
        "larger:18446744073709551615k",
        "older_than:2",
        "older_than:d",
        "older_than:0d",
        "newer_than:2w",
        "newer_than:-1d",
        "newer_than:1001y",
        "newer_than:99999999999999999999d",
    ] {
        assert!(refusal(text).starts_with("At character 1: "), "{text}");
    }
}

#[test]
fn where_a_query_looks_is_said_by_itself_or_not() {
    let says = |text: &str| question(text).says_where();
    assert!(says("in:spam x") && says("in:anywhere") && says("a OR in:spam") && says("-(b -in:spam)"));
    assert!(!says("-in:spam") && !says("spam") && !says("-(a OR in:spam)"));
}

#[test]
fn the_words_of_a_message_stand_by_their_parts() {
    let message = "From: Bj\u{f6}rn <b@example.org>\r\nTo: Ada <ada@example.org>\r\nCc: c@example.org\r\nSubject: Lunch?\r\n\
                   MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\n\r\nSee YOU\r\n--x\r\n\
                   Content-Type: a/b; name=\"menu one.pdf\"\r\nContent-Disposition: attachment\r\n\r\n1\r\n--x--\r\n";
    let words = MailWords::of(&MailContent::read(message.as_bytes()));
    assert_eq!((words.subject.as_str(), words.body.as_str()), ("lunch", "see you"));
    assert_eq!(words.senders, "bjorn b example org");
    assert_eq!(words.receivers, "ada ada example org c example org");
    assert_eq!(words.files, "menu one pdf");
    assert_eq!((words.cc.as_str(), words.bcc.as_str()), ("c example org", ""));
    assert!(!words.has_invitation && words.list.is_empty() && words.message_id.is_none());
}

#[test]
fn a_message_tells_its_way_and_what_it_brings() {
    let message = "From: a@b.c\r\nBcc: Eve <eve@d.e>\r\nMessage-ID: <A1@b.c>\r\nDelivered-To: ada@example.org\r\n\
                   List-Id: \"Daily news\" <news.example.org>\r\nContent-Type: Text/Calendar; method=REQUEST\r\n\r\nBEGIN\r\n";
    let words = MailWords::of(&MailContent::read(message.as_bytes())).brought_to("info+x@example.org");
    assert_eq!(words.list, "daily news news example org");
    assert_eq!(words.delivered_to, "info x example org ada example org");
    assert_eq!((words.bcc.as_str(), words.has_invitation), ("eve eve d e", true));
    assert_eq!(words.message_id, Some(MessageIdHash::of("A1@b.c")));
    assert_eq!(words.parts(Some(MailField::Bcc)), ["eve eve d e"]);
}

#[test]
fn an_index_takes_the_words_of_any_message() {
    let text: String = (0..200_000_u32).map(|number| format!("{number:x} ")).collect::<Vec<_>>().concat();
    let words = MailWords::of(&MailContent::unparsed(text.as_bytes()));
    let distinct: BTreeSet<&str> = words.body.split(' ').collect();
    let bytes: usize = distinct.iter().map(|word| word.len() + ENTRY_BYTES).sum();
    assert!(bytes <= INDEX_BYTES_MAX && words.body.len() <= WORDS_BYTES_MAX, "{bytes}");
    assert!(bytes > INDEX_BYTES_MAX / 2, "{bytes}");
}
