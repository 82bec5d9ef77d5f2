//! Programs that answer programs end, and what isn't meant for a desk makes nothing.

use std::time::Duration;

use domain::mail::{Placed, Verdict};

use super::{
    mail::{Mail, MailDesk, header},
    *,
};

const EVE: &str = "eve@example.org";

#[tokio::test]
async fn two_programs_that_answer_each_other_end_after_one_mail() {
    let it = MailDesk::new("anyone").await;
    it.bring(Mail::default()).await;
    let receipt = it.sent(EVE, 1).await.remove(0).message;
    // One that says what it is.
    let more = format!("Auto-Submitted: auto-replied\nIn-Reply-To: {}\n", header(&receipt, "Message-ID"));
    it.bring(Mail { subject: "Away", more: &more, text: "I am away.", ..Mail::default() }).await;
    // And one that doesn't, which answers each of ours.
    for _ in 0..3 {
        let more = format!("In-Reply-To: {}\n", header(&receipt, "Message-ID"));
        it.bring(Mail { subject: "Away", more: &more, text: "I am away!", ..Mail::default() }).await;
    }
    assert!(!it.has_issue("HELP-2").await);
    let said = it.comments("HELP-1").await;
    assert_eq!((&said[0]["public"], &said[1]["public"], said.len()), (&json!(false), &json!(true), 4));
    // What is said next is the second mail, so nothing went out before it.
    it.desk.say("x/HELP-1", "The second one", true).await;
    let sent = it.sent(EVE, 2).await;
    assert!(sent.len() == 2 && sent[1].message.contains("The second one"), "{sent:?}");
}

#[tokio::test]
async fn what_a_program_or_a_list_sends_begins_nothing_and_opens_nothing_again() {
    let it = MailDesk::new("anyone").await;
    let signs = [
        "Auto-Submitted: auto-generated\n",
        "Precedence: bulk\n",
        "Precedence: list\n",
        "Precedence: junk\n",
        "List-Id: <news.example.org>\n",
        "X-Troupe-Loop: mx.example.org\n",
    ];
    for more in signs {
        it.bring(Mail { more, ..Mail::default() }).await;
    }
    it.bring(Mail { envelope_from: Some(""), ..Mail::default() }).await;
    assert_eq!(it.refused().await, [("automatic".to_owned(), 7)]);
    assert!(!it.has_issue("HELP-1").await);
    it.bring(Mail { more: "Auto-Submitted: no\n", ..Mail::default() }).await;
    it.desk.transition("x/HELP-1", "ask").await;
    let before = it.issue("HELP-1").await["issue"]["statusId"].clone();
    for more in signs {
        it.bring(Mail { subject: "[HELP-1] Fire", more, ..Mail::default() }).await;
    }
    assert_eq!(it.issue("HELP-1").await["issue"]["statusId"], before);
    assert!(it.comments("HELP-1").await.iter().all(|comment| comment["public"] == false));
    it.bring(Mail { subject: "[HELP-1] Fire", ..Mail::default() }).await;
    assert_eq!(it.issue("HELP-1").await["issue"]["statusId"], "waiting_for_support");
}

#[tokio::test]
async fn two_desks_that_write_to_each_other_end_at_once() {
    let it = MailDesk::new("anyone").await;
    it.bring(Mail::default()).await;
    let receipt = it.sent(EVE, 1).await.remove(0).message;
    let loop_mark = format!("X-Troupe-Loop: {}\n", header(&receipt, "X-Troupe-Loop"));
    it.bring(Mail { from: "desk@example.net", more: &loop_mark, ..Mail::default() }).await;
    // Its own address comes from nobody but a forger.
    it.bring(Mail { from: &it.address.clone(), ..Mail::default() }).await;
    assert_eq!(it.refused().await, [("automatic".to_owned(), 1), ("loop".to_owned(), 1)]);
    assert!(!it.has_issue("HELP-2").await);
}

#[tokio::test]
async fn ten_mails_about_a_request_go_to_an_address_in_an_hour() {
    let it = MailDesk::new("anyone").await;
    it.bring(Mail::default()).await;
    it.sent(EVE, 1).await;
    for number in 2..=10 {
        it.desk.say("x/HELP-1", &format!("Answer {number}."), true).await;
        it.sent(EVE, number).await;
    }
    it.desk.say("x/HELP-1", "Answer 11.", true).await;
    // Another request has ten of its own, and its receipt leaves after what was said before.
    it.bring(Mail { subject: "Water", ..Mail::default() }).await;
    assert!(it.sent(EVE, 11).await[10].message.contains("HELP-2"));
    it.desk.server.clock.advance(Duration::from_hours(1));
    it.desk.say("x/HELP-1", "Answer 12.", true).await;
    let sent = it.sent(EVE, 12).await;
    assert!(sent[11].message.contains("Answer 12."), "{}", sent[11].message);
    assert!(sent.iter().all(|taken| !taken.message.contains("Answer 11.")));
}

#[tokio::test]
async fn spam_doubles_and_mail_of_nobody_make_nothing() {
    let it = MailDesk::new("anyone").await;
    it.bring(Mail { verdict: Verdict { placed: Placed::Spam, ..Verdict::default() }, ..Mail::default() }).await;
    it.bring(Mail { from: "", ..Mail::default() }).await;
    it.bring(Mail { from: "not an address", ..Mail::default() }).await;
    assert_eq!(it.refused().await, [("no_sender".to_owned(), 2), ("spam".to_owned(), 1)]);
    assert!(!it.has_issue("HELP-1").await);
    it.bring(Mail::default()).await;
    it.bring(Mail { id: Some("4@example.com"), ..Mail::default() }).await;
    assert!(it.has_issue("HELP-1").await && !it.has_issue("HELP-2").await);
    it.desk.ada.client.post(&format!("{}/issues/spaces/HELP/archive", it.desk.org)).send().await.expect(200);
    it.bring(Mail::default()).await;
    assert!(it.refused().await.contains(&("closed".to_owned(), 1)));
}

#[tokio::test]
async fn thirty_requests_of_an_address_begin_in_an_hour() {
    let it = MailDesk::new("anyone").await;
    for _ in 0..31 {
        it.bring(Mail::default()).await;
    }
    assert!(it.has_issue("HELP-30").await && !it.has_issue("HELP-31").await);
    assert_eq!(it.refused().await, [("too_many".to_owned(), 1)]);
    it.desk.server.clock.advance(Duration::from_hours(1));
    it.bring(Mail::default()).await;
    assert!(it.has_issue("HELP-31").await);
}

#[tokio::test]
async fn hostile_messages_are_read_or_refused_and_hold_up_nothing() {
    let it = MailDesk::new("anyone").await;
    let nested: Vec<_> =
        (0..1_000).map(|at| format!("Content-Type: multipart/mixed; boundary=b{at}\n\n--b{at}\n")).collect();
    let nested = nested.concat();
    let crowd = (0..10_000).map(|at| format!("a{at}@example.net")).collect::<Vec<_>>().join(",\n ");
    let crowd = format!("Cc: {crowd}\n");
    for (more, text) in [
        (nested.as_str(), "Hello"),
        (crowd.as_str(), "Hello"),
        ("Content-Type: text/plain; charset=nonsense\n", "H\u{fffd}llo"),
        ("Content-Type: text/plain; charset=utf-16\n", "Hello"),
        ("Subject: =?utf-8?B?AAAA?=\n", "\0\0"),
    ] {
        it.bring(Mail { more, text, ..Mail::default() }).await;
    }
    it.bring(Mail { subject: "The last one", ..Mail::default() }).await;
    assert_eq!(it.issue("HELP-6").await["issue"]["summary"], "The last one");
    let some = it.issue("HELP-2").await["issue"]["emailParticipants"].as_array().map(Vec::len);
    assert_eq!(some, Some(49), "the desk itself is one of fifty");
}
