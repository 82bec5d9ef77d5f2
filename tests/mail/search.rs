//! Messages are found by their words and by what else is asked of them.

use std::{collections::BTreeSet, time::Duration};

use domain::mail::Placed;
use serde_json::json;

use super::threads::{Post, message};
use crate::harness::Dice;

impl Post {
    /// The subjects of what a search finds.
    async fn search(&self, asked: &str) -> Vec<String> {
        self.subjects(&format!("q={}", encoded(asked))).await
    }
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect::<Vec<_>>().concat()
}

const FILE: &str = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\nSee the menu\n--x\n\
                    Content-Type: application/pdf; name=\"Summer prices.pdf\"\nContent-Disposition: attachment\n\n1\n--x--\n";

#[tokio::test]
async fn words_are_found_in_every_part_of_a_message() {
    let post = Post::new().await;
    post.deliver(&message("1", "Bj\u{f6}rn <bob@example.com>", "Lunch on Friday", "")).await;
    post.deliver(&message("2", "Eve <eve@example.net>", "Prices", FILE)).await;
    for (asked, found) in [
        ("lunch", vec!["Lunch on Friday"]),
        ("LUNCH friday", vec!["Lunch on Friday"]),
        ("lun", vec!["Lunch on Friday"]),
        ("lun friday", vec![]),
        ("unch", vec![]),
        ("bjorn", vec!["Lunch on Friday"]),
        ("Bj\u{f6}rn hello", vec!["Lunch on Friday"]),
        ("bob@example.com", vec!["Lunch on Friday"]),
        ("menu", vec!["Prices"]),
        ("summer", vec!["Prices"]),
        ("ada", vec!["Prices", "Lunch on Friday"]),
        ("***", vec![]),
        ("mbx", vec![]),
        ("\"; DROP TABLE mail_words --", vec![]),
        ("') OR (' * : ^ NEAR(", vec![]),
    ] {
        assert_eq!(post.search(asked).await, found, "{asked}");
    }
}

#[tokio::test]
async fn operators_ask_for_parts_states_places_and_days() {
    let post = Post::new().await;
    post.deliver(&message("1", "Bob B <bob@example.com>", "Lunch on Friday", "Cc: kim@example.org\n")).await;
    let lunch = post.only("view=inbox").await;
    post.server.clock.advance(Duration::from_hours(48));
    post.deliver(&message("2", "Eve <eve@example.net>", "Prices for bob", FILE)).await;
    post.deliver_as(&message("3", "Eve <eve@example.net>", "Lunch money", ""), Placed::Spam).await;
    let label = post.label("Food/Good ones").await;
    post.labels(std::slice::from_ref(&lunch), "label", &label).await;
    post.act(json!({"threadIds": [lunch], "action": "star"})).await.expect(200);
    post.act(json!({"threadIds": [lunch], "action": "read"})).await.expect(200);
    let today = post.server.clock.now().0.div_euclid(86_400_000);
    let day = |number: i64| {
        let (year, month, day) = date(number);
        format!("{year}-{month:02}-{day:02}")
    };
    for (asked, found) in [
        ("from:bob".to_owned(), vec!["Lunch on Friday"]),
        ("from:bob@example.com".into(), vec!["Lunch on Friday"]),
        ("from:\"b bob\"".into(), vec!["Lunch on Friday"]),
        ("from:\"bob bob\"".into(), vec![]),
        ("subject:bob".into(), vec!["Prices for bob"]),
        ("to:kim".into(), vec!["Lunch on Friday"]),
        ("to:bob".into(), vec![]),
        ("filename:prices".into(), vec!["Prices for bob"]),
        ("filename:menu".into(), vec![]),
        ("has:attachment".into(), vec!["Prices for bob"]),
        ("-has:attachment".into(), vec!["Lunch on Friday"]),
        ("is:unread".into(), vec!["Prices for bob"]),
        ("is:read".into(), vec!["Lunch on Friday"]),
        ("is:starred".into(), vec!["Lunch on Friday"]),
        ("is:snoozed".into(), vec![]),
        ("label:\"food/good ones\"".into(), vec!["Lunch on Friday"]),
        ("label:none".into(), vec![]),
        ("-label:none".into(), vec!["Prices for bob", "Lunch on Friday"]),
        ("in:inbox".into(), vec!["Prices for bob", "Lunch on Friday"]),
        ("in:spam".into(), vec!["Lunch money"]),
        ("lunch in:anywhere".into(), vec!["Lunch money", "Lunch on Friday"]),
        ("category:primary bob".into(), vec!["Prices for bob", "Lunch on Friday"]),
        (format!("before:{}", day(today)), vec!["Lunch on Friday"]),
        (format!("after:{}", day(today - 1)), vec!["Prices for bob"]),
        (format!("after:{} before:{}", day(today - 9), day(today + 2)), vec!["Prices for bob", "Lunch on Friday"]),
        ("larger:1".into(), vec!["Prices for bob", "Lunch on Friday"]),
        ("smaller:1k larger:1m".into(), vec![]),
        ("bob -lunch".into(), vec!["Prices for bob"]),
        ("bob -\"on friday\"".into(), vec!["Prices for bob"]),
        ("\"lunch on\"".into(), vec!["Lunch on Friday"]),
        ("\"on lunch\"".into(), vec![]),
        ("-bob".into(), vec![]),
        ("foo:bob".into(), vec![]),
    ] {
        assert_eq!(post.search(&asked).await, found, "{asked}");
    }
    for refused in ["is:green", "before:soon", "in:attic", "has:wings", "larger:big"] {
        post.get(&format!("threads?q={}", encoded(refused))).await.expect_problems(&["q"]);
        let all = post.ada.client.get(&format!("{}/mail/threads?q={}", post.org, encoded(refused))).send().await;
        all.expect_problems(&["q"]);
    }
    let all = post.ada.client.get(&format!("{}/mail/threads?q=lunch%20in:anywhere", post.org)).send().await;
    assert_eq!(all.expect(200).list("/threads").len(), 1);
}

#[tokio::test]
async fn operators_of_a_message_s_way_and_of_its_past_hold_and_are_joined() {
    let post = Post::new().await;
    let invitation = "Cc: Kim <kim@example.org>\nContent-Type: text/calendar; method=REQUEST\n\nBEGIN:VCALENDAR\n";
    post.deliver(&message("1", "Bob <bob@example.com>", "Lunch", invitation)).await;
    post.server.clock.advance(Duration::from_hours(48));
    let list = "Bcc: kim@example.org\nList-Id: \"Kim news\" <kim.news.example>\nDelivered-To: info@example.org\n";
    post.deliver(&message("2", "Eve <eve@example.net>", "Dinner", list)).await;
    post.deliver_as(&message("3", "Eve <eve@example.net>", "Supper", ""), Placed::Spam).await;
    for (asked, found) in [
        ("cc:kim", vec!["Lunch"]),
        ("cc:kim@example.org", vec!["Lunch"]),
        ("cc:org.kim", vec![]),
        ("cc:ki", vec!["Lunch"]),
        ("bcc:kim", vec!["Dinner"]),
        ("to:kim", vec!["Dinner", "Lunch"]),
        ("-cc:kim", vec!["Dinner"]),
        ("list:kim.news.example", vec!["Dinner"]),
        ("list:\"kim news\"", vec!["Dinner"]),
        ("deliveredto:info@example.org", vec!["Dinner"]),
        ("deliveredto:ada", vec!["Dinner", "Lunch"]),
        ("has:invitation", vec!["Lunch"]),
        ("-has:invitation", vec!["Dinner"]),
        ("rfc822msgid:<2@example.com>", vec!["Dinner"]),
        ("rfc822msgid:2", vec![]),
        ("older_than:1d", vec!["Lunch"]),
        ("newer_than:1d", vec!["Dinner"]),
        ("newer_than:1m", vec!["Dinner", "Lunch"]),
        ("older_than:1y", vec![]),
        // The names of these fields are no words of a message.
        ("cc", vec![]),
        ("has invitation", vec![]),
        ("lunch OR dinner", vec!["Dinner", "Lunch"]),
        ("lunch OR dinner from:bob", vec!["Lunch"]),
        ("(subject:lunch from:eve) OR cc:kim", vec!["Lunch"]),
        ("-(lunch OR breakfast) newer_than:1y", vec!["Dinner"]),
        ("subject:(lunch OR din", vec!["Dinner", "Lunch"]),
        ("in:spam OR lunch", vec!["Supper", "Lunch"]),
        ("-(in:spam)", vec!["Dinner", "Lunch"]),
    ] {
        assert_eq!(post.search(asked).await, found, "{asked}");
    }
    for refused in ["older_than:soon", "newer_than:0d", "has:wings", &"(".repeat(9)] {
        post.get(&format!("threads?q={}", encoded(refused))).await.expect_problems(&["q"]);
    }
    post.get(&format!("threads?q={}", encoded(&"(".repeat(8)))).await.expect(200);
    post.get(&format!("threads?q={}", encoded(&"a.".repeat(100)))).await.expect(200);
    post.get(&format!("threads?q={}", encoded(&"-(".repeat(100)))).await.expect_problems(&["q"]);
}

/// The date of a day since 1970.
fn date(days: i64) -> (i64, i64, i64) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let (day, month) = (day_of_year - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[tokio::test]
async fn what_is_deleted_is_found_no_more_and_pages_go_on() {
    let post = Post::new().await;
    for number in 0..60 {
        let text = message(&number.to_string(), "bob@example.com", &format!("Plan {number}"), "");
        post.bring(&post.mailbox, &text, Placed::Inbox).await;
    }
    post.filed().await;
    let page = post.get("threads?q=plan").await.expect(200);
    let next = post.get(&format!("threads?q=plan&cursor={}", page.str("/cursor"))).await.expect(200);
    let rows = page.list("/threads").iter().chain(next.list("/threads"));
    let ids: BTreeSet<_> = rows.map(|row| row["threadId"].as_str().expect("an id").to_owned()).collect();
    assert_eq!((page.list("/threads").len(), ids.len(), &next.json["cursor"]), (50, 60, &json!(null)));
    let gone: Vec<_> = ids.into_iter().take(59).collect();
    for action in ["trash", "delete"] {
        post.act(json!({"threadIds": gone, "action": action})).await.expect(200);
    }
    assert_eq!(post.search("plan").await.len(), 1);
    assert_eq!(post.search("plan in:anywhere").await.len(), 1);
}

/// A message as the evaluator knows it.
struct Known {
    subject: String,
    from: &'static str,
    words: Vec<&'static str>,
    has_file: bool,
    is_unread: bool,
    is_starred: bool,
    place: &'static str,
}

const WORDS: [&str; 8] = ["apple", "pear", "plum", "plumcake", "fig", "date", "cherry", "figs"];
const SENDERS: [&str; 3] = ["bob@example.com", "eve@example.net", "apple@fruit.example"];

/// A term of a query: as it is written, and whether it holds of a message.
type Fits = Box<dyn Fn(&Known) -> bool>;

fn term(dice: &mut Dice, is_last: bool) -> (String, Fits) {
    let word = *dice.pick(&WORDS);
    let (text, fits): (String, Fits) = match dice.below(9) {
        0 => {
            let sender = *dice.pick(&SENDERS);
            let name = sender.split('@').next().expect("a name");
            (format!("from:\"{name}\""), Box::new(move |it| it.from.starts_with(name)))
        }
        1 => (format!("subject:\"{word}\""), Box::new(move |it| it.subject.split(' ').any(|its| its == word))),
        2 => ("has:attachment".to_owned(), Box::new(|it| it.has_file)),
        3 => ("is:unread".to_owned(), Box::new(|it| it.is_unread)),
        4 => ("is:starred".to_owned(), Box::new(|it| it.is_starred)),
        5 => {
            let other = *dice.pick(&WORDS);
            let fits = move |it: &Known| {
                let subject: Vec<&str> = it.subject.split(' ').collect();
                [subject, it.words.clone()].iter().any(|words| words.windows(2).any(|two| two == [word, other]))
            };
            (format!("\"{word} {other}\""), Box::new(fits))
        }
        _ => {
            let goes_on = is_last;
            let fits = move |its: &str| its == word || goes_on && its.starts_with(word);
            let fits = move |it: &Known| {
                it.words.iter().copied().any(fits)
                    || it.subject.split(' ').any(fits)
                    || it.from.split(['@', '.']).any(fits)
            };
            (word.to_owned(), Box::new(fits))
        }
    };
    if dice.percent(25) {
        // What is negated doesn't go on.
        let is_word = WORDS.contains(&text.as_str());
        let fits: Fits = if is_word { Box::new(move |it| !has_word(it, word)) } else { Box::new(move |it| !fits(it)) };
        return (format!("-{text}"), fits);
    }
    (text, fits)
}

fn has_word(it: &Known, word: &str) -> bool {
    it.words.contains(&word)
        || it.subject.split(' ').any(|its| its == word)
        || it.from.split(['@', '.']).any(|its| its == word)
}

#[tokio::test]
async fn random_queries_over_random_messages_find_what_an_evaluator_finds() {
    let post = Post::new().await;
    let mut dice = Dice::from_environment("TROUPE_MAIL_SEARCH_SEED");
    let mut known: Vec<Known> = Vec::new();
    for number in 0..40 {
        let count = 1 + dice.below(4);
        let subject: Vec<&str> = (0..count).map(|_| *dice.pick(&WORDS)).collect();
        // The number makes each a conversation of its own.
        let subject = format!("{} n{number}", subject.join(" "));
        let count = 1 + dice.below(5);
        let words: Vec<&str> = (0..count).map(|_| *dice.pick(&WORDS)).collect();
        let (from, has_file) = (*dice.pick(&SENDERS), dice.percent(30));
        let place = if dice.percent(20) { "spam" } else { "inbox" };
        let file = if has_file {
            "--x\nContent-Type: a/b; name=paper.bin\nContent-Disposition: attachment\n\n1\n"
        } else {
            ""
        };
        let text = format!(
            "From: {from}\nTo: who@nobody.example\nSubject: {subject}\nMessage-ID: <{number}@x>\nMIME-Version: 1.0\n\
             Content-Type: multipart/mixed; boundary=x\n\n--x\n\n{}\n{file}--x--\n",
            words.join(" ")
        );
        let placed = if place == "spam" { Placed::Spam } else { Placed::Inbox };
        post.server.clock.advance(Duration::from_secs(1));
        post.bring(&post.mailbox, &text, placed).await;
        known.push(Known { subject, from, words, has_file, is_unread: true, is_starred: false, place });
    }
    post.filed().await;
    for view in ["inbox", "spam"] {
        let list = post.get(&format!("threads?view={view}")).await.expect(200);
        for row in list.list("/threads") {
            let it = known.iter_mut().find(|it| row["subject"] == it.subject.as_str()).expect("a message");
            (it.is_unread, it.is_starred) = (dice.percent(50), dice.percent(30));
            for (action, acts) in [("read", !it.is_unread), ("star", it.is_starred)] {
                if acts {
                    post.act(json!({"threadIds": [row["threadId"]], "action": action})).await.expect(200);
                }
            }
        }
    }
    for _ in 0..150 {
        let count = 1 + dice.below(3);
        let mut terms: Vec<(String, Fits)> = (0..count).map(|at| term(&mut dice, at + 1 == count)).collect();
        let place = *dice.pick(&["", "in:spam", "in:anywhere"]);
        // A place stands first, so that a last word still goes on.
        terms.insert(
            0,
            (
                place.to_owned(),
                Box::new(move |it| match place {
                    "" => it.place != "spam",
                    "in:spam" => it.place == "spam",
                    _ => true,
                }),
            ),
        );
        let asked: Vec<&str> = terms.iter().map(|(text, _)| text.as_str()).filter(|text| !text.is_empty()).collect();
        let asked = asked.join(" ");
        let expected: BTreeSet<&str> =
            known.iter().filter(|it| terms.iter().all(|(_, fits)| fits(it))).map(|it| it.subject.as_str()).collect();
        let found = post.search(&asked).await;
        assert_eq!(found.iter().map(String::as_str).collect::<BTreeSet<_>>(), expected, "{asked}");
        assert_eq!(found.len(), expected.len(), "{asked}");
    }
}
