//! What comes by mail about events, from whoever writes it.

use std::time::Duration;

use domain::{
    id::MailArrivalId,
    mail::{Arrival, Outcome, Verdict},
};
use serde_json::{Value, json};
use store::Change;

use super::{meeting, with};
use crate::{harness::Answer, mail::threads::Post};

/// A message with a file about an event.
fn letter(from: &str, method: &str, events: &str) -> String {
    let method = if method.is_empty() { String::new() } else { format!("METHOD:{method}\n") };
    format!(
        "From: {from}\nTo: ada@example.org\nSubject: {}\nMIME-Version: 1.0\nContent-Type: text/calendar; charset=utf-8\n\n\
         BEGIN:VCALENDAR\nVERSION:2.0\n{method}{events}END:VCALENDAR\n",
        from.replace('@', " at ")
    )
}

fn event(uid: &str, lines: &str) -> String {
    format!(
        "BEGIN:VEVENT\nUID:{uid}\nDTSTAMP:20260101T000000Z\nDTSTART:20261123T090000Z\nDTEND:20261123T100000Z\n{lines}END:VEVENT\n"
    )
}

/// Has a message arrive whose sender somebody vouches for, or nobody does; what it is shown as, once it is filed.
async fn bring(post: &Post, message: &str, dmarc: Outcome) -> Value {
    post.server.clock.advance(Duration::from_secs(1));
    let (now, raw) = (post.server.clock.now(), post.written(message).await);
    let id = |path: &str| path.rsplit('/').next().expect("an id").to_owned();
    let arrival = Arrival {
        id: MailArrivalId::new(now),
        org_id: id(&post.org).parse().expect("an organization"),
        mailbox_id: post.mailbox.parse().expect("a mailbox"),
        raw_id: raw.id(),
        envelope_from: "bob@example.com".to_owned(),
        envelope_to: "ada".to_owned(),
        received_at: now,
        head: String::new(),
        verdict: Verdict { dmarc, ..Verdict::default() },
        tries: 0,
    };
    let mut change = Change::new();
    change.mail_arrive(now, &raw, &[arrival]);
    post.store.commit(change).await.expect("a commit");
    post.filed().await;
    newest(post).await
}

async fn newest(post: &Post) -> Value {
    let list = post.get("threads?view=all").await.expect(200);
    let thread = list.str("/threads/0/threadId").to_owned();
    let read = post.get(&format!("threads/{thread}")).await.expect(200);
    read.list("/messages").last().expect("a message").clone()
}

/// What is said of the event once the calendars have looked at it.
async fn looked_at(post: &Post, message: &Value) -> Value {
    let path = format!("messages/{}", message["messageId"].as_str().expect("an id"));
    let settled = async || {
        let read = post.get(&path).await.expect(200).json["message"]["invitation"].clone();
        (read["state"] != "waiting").then_some(read)
    };
    post.server.eventually("a look at the event", settled).await
}

async fn act(post: &Post, message: &Value, action: &str, body: Value) -> Answer {
    let of = |name: &str| message[name].as_str().expect("an id").to_owned();
    let path = format!("threads/{}/messages/{}/invitation/{action}", of("threadId"), of("messageId"));
    post.ada.client.post(&post.at(&path)).json(&body).send().await
}

#[tokio::test]
async fn all_events_of_a_file_are_added_once() {
    let post = Post::new().await;
    let file = [event("one@x", "SUMMARY:One\n"), event("two@x", "SUMMARY:Two\nRRULE:FREQ=DAILY;COUNT=3\n")].concat();
    let message = bring(&post, &letter("shop@example.com", "", &file), Outcome::None).await;
    assert_eq!(
        (&message["invitation"]["method"], &message["invitation"]["state"]),
        (&json!("PUBLISH"), &json!("waiting"))
    );
    let added = act(&post, &message, "add", json!({})).await.expect(201);
    assert_eq!(added.list("/eventIds").len(), 2);
    let again = act(&post, &message, "add", json!({})).await.expect(201);
    assert_eq!(again.json, added.json);
    let shown = post.get(&format!("events/{}", added.str("/eventIds/1"))).await.expect(200);
    assert_eq!((shown.str("/event/summary"), &shown.json["event"]["recurrence"]["count"]), ("Two", &json!(3)));
    let never = json!({"calendarId": "cal_01jd7rt4m5e9fv2w8x3c6k0hqz"});
    act(&post, &message, "add", never).await.expect_error(404, "not_found", "Calendar not found");
    act(&post, &message, "refresh", json!({})).await.expect_error(404, "not_found", "Message not found");
    let accept = act(&post, &message, "counter", json!({"accept": true})).await;
    accept.expect_error(404, "not_found", "Message not found");
}

#[tokio::test]
async fn an_answer_counts_where_somebody_vouches_for_who_gives_it() {
    let post = Post::new().await;
    let calendars = post.get("calendars").await.expect(200);
    let path = format!("calendars/{}/events", calendars.str("/calendars/0/calendarId"));
    let asking = with(with(meeting(), "attendees", json!([{"email": "bob@example.com"}])), "notify", json!(false));
    let made = post.ada.client.post(&post.at(&path)).json(&asking).send().await.expect(201);
    let (id, uid) = (made.str("/event/eventId").to_owned(), made.str("/event/uid").to_owned());
    let status =
        async || post.get(&format!("events/{id}")).await.expect(200).str("/event/attendees/0/status").to_owned();
    let reply = |from: &str, status: &str| {
        letter(from, "REPLY", &event(&uid, &format!("ATTENDEE;PARTSTAT={status}:mailto:bob@example.com\n")))
    };
    let forged = bring(&post, &reply("bob@example.com", "ACCEPTED"), Outcome::Fail).await;
    assert_eq!(forged["invitation"]["state"], "refused");
    assert!(forged["invitation"]["why"].as_str().expect("a reason").contains("DMARC"), "{forged}");
    let others = bring(&post, &reply("eve@example.com", "ACCEPTED"), Outcome::Pass).await;
    assert_eq!(looked_at(&post, &others).await["state"], "refused");
    assert_eq!(status().await, "needs-action");
    // Some leave out who asks.
    let own = bring(&post, &reply("Bob <BOB@example.com>", "ACCEPTED"), Outcome::Pass).await;
    let known = looked_at(&post, &own).await;
    assert_eq!((&known["state"], &known["eventId"]), (&json!("applied"), &json!(id)));
    assert_eq!(status().await, "accepted");
    let cancel = event(&uid, "ORGANIZER:mailto:bob@example.com\nSTATUS:CANCELLED\n");
    let cancel = bring(&post, &letter("bob@example.com", "CANCEL", &cancel), Outcome::Pass).await;
    assert_eq!(looked_at(&post, &cancel).await["state"], "refused");
    let shown = post.get(&format!("events/{id}")).await.expect(200);
    assert_eq!(shown.str("/event/status"), "confirmed");
}

#[tokio::test]
async fn what_is_too_much_or_broken_is_kept_as_mail_and_nothing_else() {
    let post = Post::new().await;
    let guests: Vec<_> = (0..501).map(|at| format!("ATTENDEE:mailto:g{at}@example.com\n")).collect();
    let crowd = event("crowd@x", &format!("ORGANIZER:mailto:bob@example.com\n{}", guests.concat()));
    let crowd = bring(&post, &letter("bob@example.com", "REQUEST", &crowd), Outcome::Pass).await;
    assert_eq!(crowd["invitation"]["state"], "refused");
    assert!(crowd["invitation"]["why"].as_str().expect("a reason").contains("500"), "{crowd}");
    act(&post, &crowd, "add", json!({})).await.expect_error(404, "not_found", "Message not found");
    let broken = letter("carl@example.com", "REQUEST", "BEGIN:VEVENT\nUID:b\nDTSTART:never\nEND:VEVENT\n");
    let broken = bring(&post, &broken, Outcome::Pass).await;
    assert_eq!(broken["invitation"]["state"], "refused");
    let others = event("other@x", "ORGANIZER:mailto:dan@example.com\nATTENDEE:mailto:eve@example.com\n");
    let others = bring(&post, &letter("dan@example.com", "REQUEST", &others), Outcome::Pass).await;
    assert_eq!(others["invitation"]["state"], "waiting");
    let added = act(&post, &others, "add", json!({})).await.expect(200);
    let path = format!("events/{}", added.str("/eventId"));
    assert_eq!(post.get(&path).await.expect(200).json["event"]["isOrganizer"], json!(false));
    post.act(json!({"threadIds": [others["threadId"]], "action": "trash"})).await.expect(200);
    post.act(json!({"threadIds": [others["threadId"]], "action": "delete"})).await.expect(200);
    act(&post, &others, "add", json!({})).await.expect_error(404, "not_found", "Message not found");
}
