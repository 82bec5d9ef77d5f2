//! `…/calendars`, `…/calendars/:calendarId`

use serde_json::json;

use super::{House, Mailbox, meeting};
use crate::{
    accounts::{join, org},
    mail::make_mailbox,
};

const NEVER: &str = "cal_01jd7rt4m5e9fv2w8x3c6k0hqz";

#[tokio::test]
async fn the_first_calendar_is_made_on_first_use_and_once() {
    let house = House::new().await;
    let first = house.mailbox.get("calendars").await.expect(200);
    let id = first.str("/calendars/0/calendarId");
    assert_eq!(
        first.json,
        json!({"calendars": [{
            "calendarId": id, "name": "Calendar", "color": "blue", "description": "", "isDefault": true, "version": 1
        }]})
    );
    assert_eq!(house.mailbox.get("calendars").await.expect(200).json, first.json);
}

#[tokio::test]
async fn a_calendar_is_made_changed_and_deleted() {
    let house = House::new().await;
    let made = house.mailbox.post("calendars", json!({"name": " Team ", "description": "Ours"})).await.expect(201);
    let id = made.str("/calendar/calendarId").to_owned();
    assert_eq!(
        made.json["calendar"],
        json!({
            "calendarId": id, "name": "Team", "color": "orange", "description": "Ours", "isDefault": false, "version": 1
        })
    );
    let path = format!("{}/calendars/{id}", house.mailbox.path);
    let update = |body| house.mailbox.client.patch(&path).json(&body).send();
    let changed = update(json!({"color": "gray"})).await.expect(200);
    assert_eq!((changed.str("/calendar/color"), changed.int("/calendar/version")), ("gray", 2));
    assert_eq!(update(json!({"color": "gray"})).await.expect(200).int("/calendar/version"), 2);
    let becomes = update(json!({"isDefault": true})).await.expect(200);
    assert_eq!(becomes.json["calendar"]["isDefault"], true);
    let calendars = house.mailbox.get("calendars").await.expect(200);
    let list = calendars.list("/calendars");
    assert_eq!((list.len(), &list[0]["calendarId"], &list[1]["isDefault"]), (2, &json!(id), &json!(false)));
    let delete = |id: &str| house.mailbox.client.delete(&format!("{}/calendars/{id}", house.mailbox.path)).send();
    delete(&id).await.expect_error(400, "default_calendar", "The default calendar can't be deleted.");
    delete(&house.mailbox.calendar).await.expect(204);
    delete(&house.mailbox.calendar).await.expect_error(404, "not_found", "Calendar not found");
    delete(NEVER).await.expect_error(404, "not_found", "Calendar not found");
    assert_eq!(house.mailbox.get("calendars").await.expect(200).list("/calendars").len(), 1);
    let trail = house.ada.client.get(&format!("{}/audit?action=calendar.deleted", house.org)).send().await.expect(200);
    assert_eq!(trail.list("/events").len(), 1);
}

#[tokio::test]
async fn names_colors_and_descriptions_have_their_limits() {
    let house = House::new().await;
    let make = |body| house.mailbox.post("calendars", body);
    for (name, status) in [("", 400), ("a", 201), (&*"a".repeat(100), 201), (&*"a".repeat(101), 400), ("a\nb", 400)] {
        make(json!({ "name": name })).await.expect(status);
    }
    for (length, status) in [(999, 201), (1_000, 201), (1_001, 400)] {
        make(json!({"name": "a", "description": "a".repeat(length)})).await.expect(status);
    }
    for color in ["blue", "orange", "teal", "amber", "pink", "green", "red", "gray"] {
        assert_eq!(make(json!({"name": "a", "color": color})).await.expect(201).str("/calendar/color"), color);
    }
    make(json!({"name": "", "color": "Blue"})).await.expect_problems(&["name", "color"]);
    make(json!({})).await.expect_problems(&["name"]);
}

#[tokio::test]
async fn a_mailbox_has_fifty_calendars_and_no_more() {
    let house = House::new().await;
    for at in 1..50 {
        house.mailbox.post("calendars", json!({"name": format!("{at}")})).await.expect(201);
    }
    let one_more = house.mailbox.post("calendars", json!({"name": "50"})).await;
    one_more.expect_error(400, "limit_reached", "A mailbox has at most 50 calendars.");
    assert_eq!(house.mailbox.get("calendars").await.expect(200).list("/calendars").len(), 50);
}

#[tokio::test]
async fn a_mailbox_opens_for_its_members_and_for_nobody_else() {
    let house = House::new().await;
    let admin = house.server.person("admin").await;
    join(&house.ada, &house.org, &admin, "admin").await;
    let path = |what: &str| format!("{}/{what}", house.mailbox.path);
    let refused = admin.client.get(&path("calendars")).send().await;
    refused.expect_error(404, "not_found", "Mailbox not found");
    let made = admin.client.post(&path("calendars")).json(&json!({"name": "a"})).send().await;
    made.expect_error(404, "not_found", "Mailbox not found");
    let events = format!("calendars/{}/events", house.mailbox.calendar);
    let made = admin.client.post(&path(&events)).json(&meeting()).send().await;
    made.expect_error(404, "not_found", "Mailbox not found");
    let body = json!({"name": "A program", "kind": "api", "scopes": ["calendar:read", "calendar:write", "mail:read"]});
    let key = house.ada.client.post(&format!("{}/keys", house.org)).json(&body).send().await.expect(201);
    let key = house.ada.client.with_token(key.str("/secret"));
    for what in ["calendars", "events?from=0&to=1", "availability?from=0&to=1&self=1"] {
        let refused = key.get(&path(what)).send().await;
        refused.expect_error(403, "people_only", "Mailboxes are only available to members.");
    }
    let mailboxes = key.get(&format!("{}/mail/mailboxes", house.org)).send().await.expect(200);
    assert_eq!(mailboxes.json, json!({"mailboxes": []}));
}

#[tokio::test]
async fn another_organizations_mailbox_is_not_there() {
    let house = House::new().await;
    let other = org(&house.ada, "Other").await;
    let made = make_mailbox(&house.ada, &other, "ada", &[&house.ada.user_id]).await;
    let id = made.str("/mailbox/mailboxId");
    let elsewhere = house.ada.client.get(&format!("{}/mail/mailboxes/{id}/calendars", house.org)).send().await;
    elsewhere.expect_error(404, "not_found", "Mailbox not found");
    let there = Mailbox::make(&house.ada, &other, "bob", &house.ada).await;
    let crossed = format!("calendars/{}/events", there.calendar);
    house.mailbox.post(&crossed, meeting()).await.expect_error(404, "not_found", "Calendar not found");
}
