//! What goes between organizers and guests.

use serde_json::{Value, json};

use super::{House, Mailbox, meeting, ten_days, utc, with};
use crate::{accounts::org, harness::Answer};

/// What the mailbox sent, as its own messages: to whom, what it is about, the text.
async fn sent(house: &House) -> Vec<(Vec<String>, String, String)> {
    let mut sent = Vec::new();
    for row in house.mailbox.get("threads?view=sent").await.expect(200).list("/threads") {
        let thread = house.mailbox.get(&format!("threads/{}", row["threadId"].as_str().unwrap())).await.expect(200);
        for message in thread.list("/messages").iter().filter(|it| it["direction"] == "out") {
            let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
            let to = message["to"].as_array().unwrap().iter().map(|it| text(&it["email"])).collect();
            sent.push((to, text(&message["subject"]), text(&message["text"])));
        }
    }
    sent
}

/// The text of a message with this subject to an address, once it was sent.
async fn letter(house: &House, to: &str, subject: &str) -> String {
    let found = async || {
        let is_it = |(people, about, _): &(Vec<String>, String, String)| {
            people.iter().any(|it| it == to) && about.contains(subject)
        };
        sent(house).await.into_iter().find(is_it).map(|(_, _, text)| text)
    };
    house.server.eventually("a message to a guest", found).await
}

fn asking(addresses: &[&str]) -> Value {
    let people: Vec<_> = addresses.iter().map(|email| json!({ "email": email })).collect();
    with(meeting(), "attendees", json!(people))
}

/// What a mailbox has on the day of the meeting, once `holds` of it.
async fn once(house: &House, mailbox: &Mailbox, holds: impl Fn(&[Value]) -> bool) -> Vec<Value> {
    house
        .server
        .eventually("what a guest has", async || {
            let found = mailbox.between(utc("2026-11-23"), utc("2026-11-24")).await;
            holds(&found).then_some(found)
        })
        .await
}

#[tokio::test]
async fn guests_elsewhere_are_sent_an_invitation() {
    let house = House::new().await;
    let people = json!([
        {"email": "Grace@example.net", "name": "Grace"}, {"email": "bob@example.net", "optional": true},
        {"email": "grace@example.net"},
    ]);
    let made = house.mailbox.event(with(with(meeting(), "attendees", people), "location", json!("Vienna"))).await;
    assert_eq!(made.json["event"]["organizer"], json!({"email": house.mailbox.address}));
    assert_eq!(
        made.json["event"]["attendees"],
        json!([
            {
                "email": "grace@example.net", "name": "Grace", "role": "required", "status": "needs-action",
                "rsvp": true, "kind": "individual"
            },
            {
                "email": "bob@example.net", "role": "optional", "status": "needs-action", "rsvp": true,
                "kind": "individual"
            },
        ])
    );
    let text = letter(&house, "grace@example.net", "Invitation: Meeting").await;
    assert!(text.contains("When: 2026-11-23 09:00 to 10:00 (Europe/Vienna)"), "{text}");
    assert!(text.contains("Where: Vienna") && text.contains(&house.mailbox.address), "{text}");
    letter(&house, "bob@example.net", "Invitation: Meeting").await;
    let taken = house.server.eventually("a message that left", async || house.peer.taken().into_iter().next()).await;
    assert_eq!(taken.from, house.mailbox.address);
    assert_eq!(taken.to, ["bob@example.net", "grace@example.net"], "one message for all of them");
    for part in ["text/calendar; method=\"REQUEST\"", "filename=\"invite.ics\"", "Auto-Submitted: auto-generated"] {
        assert!(taken.message.contains(part), "{part}: {}", taken.message);
    }
}

#[tokio::test]
async fn nobody_is_sent_anything_where_that_is_not_wanted() {
    let house = House::new().await;
    let quiet = with(asking(&["quiet@example.net"]), "notify", json!(false));
    house.mailbox.event(quiet).await;
    house.mailbox.event(asking(&["loud@example.net"])).await;
    letter(&house, "loud@example.net", "Invitation").await;
    let quiet = sent(&house).await.into_iter().filter(|(to, _, _)| to.iter().any(|it| it == "quiet@example.net"));
    assert_eq!(quiet.count(), 0);
}

#[tokio::test]
async fn guests_hear_of_what_they_see_and_of_nothing_else() {
    let house = House::new().await;
    let made = house.mailbox.event(asking(&["a@example.net", "b@example.net"])).await;
    let id = made.str("/event/eventId");
    let reminders = json!({"version": 1, "reminders": [5]});
    let changed = house.mailbox.patch(id, "", reminders).await.expect(200);
    assert_eq!(changed.int("/notified/sent"), 0);
    let moved = json!({"version": 2, "start": "2026-11-23T11:00", "end": "2026-11-23T12:00"});
    assert_eq!(house.mailbox.patch(id, "notify=0", moved).await.expect(200).int("/notified/sent"), 0);
    let fewer = json!({"version": 3, "attendees": [{"email": "a@example.net"}]});
    assert_eq!(house.mailbox.patch(id, "", fewer).await.expect(200).int("/notified/sent"), 2);
    letter(&house, "a@example.net", "Updated invitation: Meeting").await;
    letter(&house, "b@example.net", "Cancelled: Meeting").await;
    let deleted = house.mailbox.delete(id, "").await.expect(200);
    assert_eq!(deleted.int("/notified/sent"), 1);
    letter(&house, "a@example.net", "Cancelled: Meeting").await;
}

#[tokio::test]
async fn a_colleague_has_the_event_in_their_calendar_and_their_answer_comes_back() {
    let house = House::new().await;
    let (_, bob) = house.colleague("bob").await;
    let made = house.mailbox.event(asking(&[&bob.address])).await;
    let id = made.str("/event/eventId");
    let theirs = once(&house, &bob, |found| found.len() == 1).await;
    assert_eq!((&theirs[0]["myStatus"], &theirs[0]["isOrganizer"]), (&json!("needs-action"), &json!(false)));
    let copy = theirs[0]["eventId"].as_str().unwrap().to_owned();
    assert_ne!(copy, id);
    let path = format!("events/{copy}/respond");
    let answer = |status: &str| bob.post(&path, json!({ "status": status }));
    answer("needs-action").await.expect_problems(&["status"]);
    answer("perhaps").await.expect_problems(&["status"]);
    let accepted = answer("accepted").await.expect(200);
    assert_eq!(accepted.str("/event/myStatus"), "accepted");
    house
        .server
        .eventually("an answer", async || {
            let shown = house.mailbox.show(id).await.expect(200);
            (shown.str("/event/attendees/0/status") == "accepted").then_some(())
        })
        .await;
    let refused = bob.patch(&copy, "", json!({"version": 2, "summary": "Mine"})).await;
    refused.expect_error(403, "organizer_only", "Only the organizer can change this event.");
    bob.patch(&copy, "", json!({"version": 2, "reminders": [5]})).await.expect(200);
    assert_eq!(sent(&house).await.len(), 0, "nobody needs an e-mail");
    let own = house.mailbox.post(&format!("events/{id}/respond"), json!({"status": "accepted"})).await;
    own.expect_error(400, "not_invited", "You weren't asked to this event.");
}

#[tokio::test]
async fn a_colleague_sees_what_becomes_of_the_event() {
    let house = House::new().await;
    let (_, bob) = house.colleague("bob").await;
    let made = house.mailbox.event(asking(&[&bob.address])).await;
    let id = made.str("/event/eventId");
    once(&house, &bob, |found| found.len() == 1).await;
    let moved = json!({"version": 1, "start": "2026-11-23T15:00", "end": "2026-11-23T16:00"});
    house.mailbox.patch(id, "", moved).await.expect(200);
    once(&house, &bob, |found| found[0]["start"] == json!(utc("2026-11-23T14:00"))).await;
    house.mailbox.delete(id, "").await.expect(200);
    once(&house, &bob, |found| found[0]["status"] == json!("cancelled")).await;
}

#[tokio::test]
async fn a_guest_who_deletes_the_event_declines() {
    let house = House::new().await;
    let (_, bob) = house.colleague("bob").await;
    let made = house.mailbox.event(with(asking(&[&bob.address]), "recurrence", ten_days()["recurrence"].clone())).await;
    let theirs = once(&house, &bob, |found| found.len() == 1).await;
    let copy = theirs[0]["eventId"].as_str().unwrap();
    let one = bob.delete(copy, "scope=one&recurrenceId=2026-11-23T09:00:00").await;
    one.expect_error(403, "organizer_only", "Only the organizer can change this event.");
    bob.delete(copy, "").await.expect(200);
    house
        .server
        .eventually("an answer", async || {
            let shown = house.mailbox.show(made.str("/event/eventId")).await.expect(200);
            (shown.str("/event/attendees/0/status") == "declined").then_some(())
        })
        .await;
    assert_eq!(bob.between(utc("2026-11-23"), utc("2026-11-24")).await.len(), 0);
}

async fn act(mailbox: &Mailbox, message: &Value, action: &str, body: Value) -> Answer {
    let of = |name: &str| message[name].as_str().unwrap().to_owned();
    let path = format!("threads/{}/messages/{}/invitation/{action}", of("threadId"), of("messageId"));
    mailbox.post(&path, body).await
}

#[tokio::test]
async fn an_invitation_is_put_into_the_calendar_that_is_named() {
    let house = House::new().await;
    let (_, bob) = house.colleague("bob").await;
    house.mailbox.event(asking(&[&bob.address])).await;
    let theirs = once(&house, &bob, |found| found.len() == 1).await;
    let copy = theirs[0]["eventId"].as_str().unwrap().to_owned();
    let message = bob.show(&copy).await.expect(200).json["messages"][0].clone();
    assert_eq!((&message["method"], &message["sender"]), (&json!("REQUEST"), &json!(house.mailbox.address)));
    let added = act(&bob, &message, "add", json!({})).await.expect(200);
    assert_eq!(added.json, json!({"notified": {"sent": 0}, "eventId": copy}));
    let other = bob.post("calendars", json!({"name": "Other"})).await.expect(201);
    let other = other.str("/calendar/calendarId");
    act(&bob, &message, "add", json!({ "calendarId": other })).await.expect(200);
    assert_eq!(bob.show(&copy).await.expect(200).str("/event/calendarId"), other);
    bob.delete(&copy, "notify=0").await.expect(200);
    let again = act(&bob, &message, "add", json!({})).await.expect(200);
    assert_ne!(again.str("/eventId"), copy);
    assert_eq!(act(&bob, &message, "refresh", json!({})).await.expect(200).json, json!({"notified": {"sent": 1}}));
    let never = json!({"calendarId": "cal_01jd7rt4m5e9fv2w8x3c6k0hqz"});
    act(&bob, &message, "add", never).await.expect_error(404, "not_found", "Calendar not found");
    let unanswered = act(&bob, &message, "counter", json!({})).await;
    unanswered.expect_error(400, "proposal_unanswered", "Say whether to accept the proposal.");
    let none = act(&bob, &message, "counter", json!({"accept": true})).await;
    none.expect_error(404, "not_found", "Message not found");
    act(&bob, &message, "forward", json!({})).await.expect_error(404, "not_found", "Message not found");
    act(&house.mailbox, &message, "add", json!({})).await.expect_error(404, "not_found", "Message not found");
}

#[tokio::test]
async fn another_organization_puts_nothing_into_a_calendar() {
    let house = House::new().await;
    let eve = house.server.person("eve").await;
    let elsewhere = org(&eve, "Elsewhere").await;
    let theirs = Mailbox::make(&eve, &elsewhere, "eve", &eve).await;
    let (_, bob) = house.colleague("bob").await;
    theirs.event(asking(&[&house.mailbox.address])).await;
    house.mailbox.event(asking(&[&bob.address])).await;
    once(&house, &bob, |found| found.len() == 1).await;
    house
        .server
        .eventually("an invitation that waits", async || {
            let store = house.server.store().await;
            let id = house.mailbox.path.rsplit('/').next().unwrap().parse().unwrap();
            let event = theirs.between(utc("2026-11-23"), utc("2026-11-24")).await;
            let shown = theirs.show(event[0]["eventId"].as_str().unwrap()).await.expect(200);
            let waiting = store.calendar_messages(id, shown.str("/event/uid"), 10).await.unwrap();
            (waiting.len() == 1).then_some(())
        })
        .await;
    assert_eq!(house.mailbox.between(utc("2026-11-23"), utc("2026-11-24")).await.len(), 1, "their own");
}

#[tokio::test]
async fn a_mailbox_sends_to_two_thousand_a_day_and_no_more() {
    let house = House::new().await;
    let people = |count: usize| (0..count).map(|at| json!({"email": format!("p{at}@example.net")})).collect::<Vec<_>>();
    let ask = |count: usize| house.mailbox.try_make(with(meeting(), "attendees", json!(people(count))));
    for _ in 0..9 {
        ask(200).await.expect(201);
    }
    ask(199).await.expect(201);
    let text = "This mailbox has sent to 2,000 recipients in the last day.";
    let refused = ask(2).await.expect(429);
    assert_eq!(refused.json["error"], text);
    assert!(refused.header("retry-after").is_some());
    ask(1).await.expect(201);
    ask(1).await.expect(429);
    house.mailbox.event(with(asking(&["a@example.net"]), "notify", json!(false))).await;
    house.server.clock.advance(std::time::Duration::from_hours(12));
    ask(1).await.expect(201);
}

#[tokio::test]
async fn nothing_is_sent_from_a_domain_that_is_not_lent_any_more() {
    let house = House::new().await;
    let body = json!({"slug": "acme-and-sons"});
    house.ada.client.patch(&house.org).json(&body).send().await.expect(200);
    let text = "This mailbox's domain was removed.";
    let refused = house.mailbox.try_make(asking(&["a@example.net"])).await;
    refused.expect_error(409, "domain_removed", text);
    assert_eq!(house.mailbox.starts("2026-11-23", "2026-11-24").await.len(), 0, "and nothing is stored");
    house.mailbox.event(meeting()).await;
    house.mailbox.event(with(asking(&["a@example.net"]), "notify", json!(false))).await;
}
