//! The agenda, and time that is booked for issues.

use super::*;
use crate::mail::make_mailbox;

impl Desk {
    async fn agenda(&self, person: &Person, query: &str) -> Answer {
        person.client.get(&format!("{}/calendar/agenda?{query}", self.path)).send().await
    }

    async fn book(&self, key: &str, body: &Value) -> Answer {
        self.ada.client.post(&format!("{}/calendar/schedule/{key}", self.path)).json(body).send().await
    }

    /// The id of a mailbox of the owner's.
    async fn mailbox(&self) -> String {
        make_mailbox(&self.ada, self.org(), "ada", &[&self.ada.user_id]).await.str("/mailbox/mailboxId").to_owned()
    }
}

#[tokio::test]
async fn days_list_what_begins_and_what_is_due() {
    let desk = Desk::new().await;
    let one = desk.issue(json!({ "summary": "One", "startDate": "2026-05-01", "dueDate": "2026-05-03" })).await;
    let two = desk.issue(json!({ "summary": "Two", "dueDate": "2026-05-01" })).await;
    desk.issue(json!({ "summary": "Three", "dueDate": "2026-05-04" })).await;
    desk.ada
        .client
        .post(&format!("{}/{two}/transitions", desk.path))
        .json(&json!({ "to": "done" }))
        .send()
        .await
        .expect(200);
    let answer = desk.agenda(&desk.ada, "from=2026-05-01&to=2026-05-03").await.expect(200);
    let entries: Vec<_> =
        answer.list("/entries").iter().map(|it| json!([it["date"], it["kind"], it["key"], it["done"]])).collect();
    assert_eq!(
        entries,
        [
            json!(["2026-05-01", "start", one, false]),
            json!(["2026-05-01", "due", two, true]),
            json!(["2026-05-03", "due", one, false]),
        ]
    );
    let entry = &answer.json["entries"][1];
    assert_eq!((entry["title"].clone(), entry["spaceKey"].clone()), (json!("Two"), json!("WEB")));
    let url = entry["url"].as_str().unwrap();
    assert_eq!(url, format!("{}{}/issues/{two}", desk.server.url, desk.org().trim_start_matches("/v1")));
    let page = desk.server.client().get(url.trim_start_matches(&desk.server.url)).send().await.expect(200);
    assert!(page.text.contains("Issue") && page.text.contains(&two) && !page.text.contains("Two"), "{}", page.text);
    assert!(answer.json.get("truncated").is_none());
    desk.ada.client.post(&format!("{}/spaces/WEB/archive", desk.path)).send().await.expect(200);
    assert_eq!(desk.agenda(&desk.ada, "from=2026-05-01&to=2026-05-03").await.expect(200).list("/entries").len(), 0);
}

#[tokio::test]
async fn days_list_releases_and_sprints() {
    let desk = Desk::new().await;
    let path = format!("{}/spaces/WEB", desk.path);
    let version = json!({ "name": "2.0", "releaseDate": "2026-05-02" });
    desk.ada.client.post(&format!("{path}/versions")).json(&version).send().await.expect(201);
    // 2026-05-01T23:00:00Z and 2026-05-03T12:00:00Z.
    let sprint = json!({ "name": "Sprint 1", "startAt": 1_777_676_400_000_i64, "endAt": 1_777_809_600_000_i64 });
    desk.ada.client.post(&format!("{path}/sprints")).json(&sprint).send().await.expect(201);
    let listed = async |query: &str| {
        let answer = desk.agenda(&desk.ada, &format!("from=2026-05-02&to=2026-05-03{query}")).await.expect(200);
        let entries = answer.list("/entries").iter().map(|it| json!([it["date"], it["kind"], it["title"], it["done"]]));
        json!(entries.collect::<Vec<_>>())
    };
    let (release, end) =
        (json!(["2026-05-02", "release", "2.0", false]), json!(["2026-05-03", "sprintEnd", "Sprint 1", false]));
    assert_eq!(listed("").await, json!([release, end]), "the sprint begins the day before in universal time");
    let start = json!(["2026-05-02", "sprintStart", "Sprint 1", false]);
    assert_eq!(listed("&tzOffset=60").await, json!([start, release, end]));
}

#[tokio::test]
async fn a_window_has_at_most_a_hundred_days() {
    let desk = Desk::new().await;
    for (to, status) in [("2026-04-10", 200), ("2026-04-11", 200), ("2026-04-12", 400), ("2025-12-31", 400)] {
        let answer = desk.agenda(&desk.ada, &format!("from=2026-01-01&to={to}")).await;
        assert_eq!(answer.status, status, "{to}");
        if status == 400 {
            assert!(answer.expect_problems(&["to"]).text.contains("Choose a window of at most 100 days."));
        }
    }
    for (offset, status) in
        [("-841", 400), ("-840", 200), ("0", 200), ("840", 200), ("841", 400), ("x", 400), ("1.5", 400)]
    {
        let answer = desk.agenda(&desk.ada, &format!("from=2026-01-01&to=2026-01-02&tzOffset={offset}")).await;
        assert_eq!(answer.status, status, "{offset}");
    }
    desk.agenda(&desk.ada, "from=2026-01-01").await.expect_problems(&["to"]);
    desk.agenda(&desk.ada, "from=1.1.2026&to=2026-01-02").await.expect_problems(&["from"]);
}

#[tokio::test]
async fn what_is_hidden_is_in_nobodys_agenda() {
    let desk = Desk::new().await;
    sight::hide(&desk, "SECRET").await;
    desk.issue(json!({ "space": "SECRET", "summary": "Hidden", "dueDate": "2026-05-01" })).await;
    let bob = desk.member("bob", "developer").await;
    assert_eq!(desk.agenda(&bob, "from=2026-05-01&to=2026-05-01").await.expect(200).list("/entries").len(), 0);
    assert_eq!(desk.agenda(&desk.ada, "from=2026-05-01&to=2026-05-01").await.expect(200).list("/entries").len(), 1);
}

#[tokio::test]
async fn booked_time_is_an_event_that_links_back() {
    let desk = Desk::new().await;
    let key = desk.issue(json!({ "summary": "Fire" })).await;
    let mailbox = desk.mailbox().await;
    let mut body = json!({ "mailboxId": mailbox, "start": "2026-11-23T09:00", "end": "2026-11-23T11:00", "timeZone": "Europe/Vienna" });
    let booked = desk.book(&key.to_lowercase(), &body).await.expect(201);
    let url = format!("{}{}/issues/{key}", desk.server.url, desk.org().trim_start_matches("/v1"));
    assert_eq!((booked.str("/url"), booked.str("/event/url")), (url.as_str(), url.as_str()));
    assert_eq!((booked.str("/event/summary"), booked.str("/event/startLocal")), ("WEB-1 Fire", "2026-11-23T09:00:00"));
    assert_eq!(booked.json["event"]["attendees"], json!([]));
    assert!(booked.str("/linkId").starts_with("ibk_"));
    let path = format!("{}/mail/mailboxes/{mailbox}/events/{}", desk.org(), booked.str("/event/eventId"));
    let event = desk.ada.client.get(&path).send().await.expect(200);
    assert_eq!(event.json["event"], booked.json["event"]);
    body["title"] = json!(" Put it out ");
    body["calendarId"] = event.json["event"]["calendarId"].clone();
    body["allDay"] = json!(true);
    (body["start"], body["end"]) = (json!("2026-11-24"), json!("2026-11-25"));
    let whole = desk.book(&key, &body).await.expect(201);
    assert_eq!((whole.str("/event/summary"), whole.json["event"]["allDay"].clone()), ("Put it out", json!(true)));
}

#[tokio::test]
async fn who_cant_book_is_told_why() {
    let desk = Desk::new().await;
    let key = desk.issue(json!({ "summary": "Fire" })).await;
    let mailbox = desk.mailbox().await;
    let body =
        json!({ "mailboxId": mailbox, "start": "2026-11-23T09:00", "end": "2026-11-23T11:00", "timeZone": "UTC" });
    let with = |name: &str, value: Value| {
        let mut body = body.clone();
        body[name] = value;
        body
    };
    let scopes =
        json!({ "name": "A program", "kind": "api", "scopes": ["issues:read", "issues:write", "calendar:write"] });
    let made = desk.ada.client.post(&format!("{}/keys", desk.org())).json(&scopes).send().await.expect(201);
    let program = desk.ada.client.with_token(made.str("/secret"));
    let path = format!("{}/calendar/schedule/{key}", desk.path);
    let refused = program.post(&path).json(&body).send().await;
    refused.expect_error(403, "people_only", "Calendars are for people.");
    desk.book("WEB-9", &body).await.expect_error(404, "not_found", "Issue not found.");
    for other in ["mbx_01jd7rt4m5e9fv2w8x3c6k0hqz", "x"] {
        desk.book(&key, &with("mailboxId", json!(other))).await.expect_error(404, "not_found", "Mailbox not found");
    }
    for other in ["cal_01jd7rt4m5e9fv2w8x3c6k0hqz", "x"] {
        desk.book(&key, &with("calendarId", json!(other))).await.expect_error(404, "not_found", "Calendar not found");
    }
    for (name, value) in [
        ("mailboxId", json!("x".repeat(65))),
        ("calendarId", json!("x".repeat(65))),
        ("timeZone", json!("")),
        ("timeZone", json!("x".repeat(65))),
        ("timeZone", json!("Nowhere/Land")),
        ("start", json!("2026-11-23T09:00:00")),
        ("end", json!("soon")),
        ("title", json!("x".repeat(501))),
    ] {
        desk.book(&key, &with(name, value)).await.expect_problems(&[name]);
    }
    for length in [499, 500] {
        desk.book(&key, &with("title", json!("é".repeat(length)))).await.expect(201);
    }
    for missing in ["mailboxId", "start", "end", "timeZone"] {
        let mut short = body.clone();
        short.as_object_mut().unwrap().remove(missing);
        desk.book(&key, &short).await.expect_problems(&[missing]);
    }
    let viewer = desk.member("vic", "viewer").await;
    let refused = viewer.client.post(&path).json(&body).send().await;
    refused.expect_error(403, "missing_scope", "This needs the issues:write permission.");
}
