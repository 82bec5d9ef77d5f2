//! Mails of what filters find.

use std::time::Duration;

use super::*;
use crate::accounts::{letter, letters};

const DAY: Duration = Duration::from_hours(24);
/// From the start of the tests' clock, a Friday noon, to behind the next morning's mails.
const TO_THE_MORNING: Duration = Duration::from_mins(21 * 60 + 6);

async fn filter(desk: &Desk, name: &str, jql: &str) -> String {
    let path = format!("{}/filters", desk.path);
    let sharing = json!({ "org": true, "teams": [], "users": [] });
    let body = json!({ "name": name, "jql": jql, "sharing": sharing });
    let made = desk.ada.client.post(&path).json(&body).send().await.expect(201);
    format!("{path}/{}", made.str("/filter/filterId"))
}

async fn subscribe(person: &Person, filter: &str, subscription: Value) -> Answer {
    let body = json!({ "subscription": subscription });
    person.client.put(&format!("{filter}/subscription")).json(&body).send().await.expect(200)
}

fn daily() -> Value {
    json!({ "frequency": "daily", "hour": 9 })
}

#[tokio::test]
async fn a_subscriber_is_mailed_once_a_day_what_they_may_see() {
    let desk = Desk::new().await;
    sight::hide(&desk, "SECRET").await;
    let one = desk.issue(json!({ "summary": "Seen by all", "dueDate": "2027-02-01" })).await;
    desk.issue(json!({ "space": "SECRET", "summary": "Hidden" })).await;
    let bob = desk.member("bob", "developer").await;
    let filter = filter(&desk, "Everything", "").await;
    subscribe(&bob, &filter, daily()).await;
    subscribe(&desk.ada, &filter, daily()).await;
    assert_eq!(letters(&desk.server, &bob.email, "Everything").await, 0);
    desk.server.clock.advance(TO_THE_MORNING);
    let mail = letter(&desk.server, &bob.email, "Everything: 1 issue").await;
    assert!(mail.contains(&format!("{one}  Seen by all\n  Status: To do · Due: 2027-02-01\n")), "{mail}");
    assert!(mail.contains(&format!("/issues/{one}\n")) && mail.contains("\"subscription\": null"), "{mail}");
    assert!(!mail.contains("Hidden"), "{mail}");
    letter(&desk.server, &desk.ada.email, "Everything: 2 issues").await;
    let told = desk.server.eventually("a time", async || {
        let seen = bob.client.get(&filter).send().await.expect(200);
        seen.json.pointer("/filter/subscriptions/0/lastSentAt").and_then(Value::as_i64)
    });
    assert!(told.await > 0);
    desk.server.clock.advance(DAY * 3);
    desk.server
        .in_time("one more mail", async || (letters(&desk.server, &bob.email, "Everything").await == 2).then_some(()))
        .await;
}

#[tokio::test]
async fn nobody_is_mailed_nothing_nor_what_they_no_longer_want_or_may_read() {
    let desk = Desk::new().await;
    desk.issue(json!({ "summary": "One" })).await;
    let (bob, cem) = (desk.member("bob", "developer").await, desk.member("cem", "developer").await);
    let empty = filter(&desk, "Empty", "summary ~ nothing").await;
    let all = filter(&desk, "All", "").await;
    let private = filter(&desk, "Private", "").await;
    for (person, filter) in [(&bob, &empty), (&bob, &all), (&bob, &private), (&cem, &all)] {
        subscribe(person, filter, daily()).await;
    }
    subscribe(&bob, &all, Value::Null).await;
    let sharing = json!({ "sharing": { "org": false, "teams": [], "users": [] } });
    desk.ada.client.patch(&private).json(&sharing).send().await.expect(200);
    subscribe(&desk.ada, &all, daily()).await;
    desk.ada.client.delete(&format!("{}/members/{}", desk.org(), cem.user_id)).send().await.expect_success();
    desk.server.clock.advance(TO_THE_MORNING);
    letter(&desk.server, &desk.ada.email, "All: 1 issue").await;
    for (person, subject) in [(&bob, "Empty"), (&bob, "All"), (&bob, "Private"), (&cem, "All")] {
        assert_eq!(letters(&desk.server, &person.email, subject).await, 0, "{subject}");
    }
}

#[tokio::test]
async fn a_weekly_mail_comes_on_its_day() {
    let desk = Desk::new().await;
    desk.issue(json!({ "summary": "One" })).await;
    let all = filter(&desk, "All", "").await;
    subscribe(&desk.ada, &all, json!({ "frequency": "weekly", "hour": 9, "weekday": 0 })).await;
    let other = filter(&desk, "Daily", "").await;
    subscribe(&desk.ada, &other, daily()).await;
    desk.server.clock.advance(TO_THE_MORNING);
    letter(&desk.server, &desk.ada.email, "Daily: 1 issue").await;
    assert_eq!(letters(&desk.server, &desk.ada.email, "All").await, 0);
    desk.server.clock.advance(DAY);
    letter(&desk.server, &desk.ada.email, "All: 1 issue").await;
}

#[tokio::test]
async fn a_query_that_cant_be_asked_any_more_is_told() {
    let desk = Desk::new().await;
    let broken = filter(&desk, "Broken", "status = nowhere").await;
    subscribe(&desk.ada, &broken, daily()).await;
    desk.server.clock.advance(TO_THE_MORNING);
    let mail = letter(&desk.server, &desk.ada.email, "Broken: the query can't be asked").await;
    assert!(mail.contains("The value 'nowhere' does not exist for the field 'status'."), "{mail}");
}
