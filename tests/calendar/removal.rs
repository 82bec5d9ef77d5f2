//! What is left of calendars and mailboxes that are gone.

use domain::id::MailboxId;
use serde_json::json;
use store::{Purge, Store};

use super::{House, Mailbox, meeting, ten_days};

/// How many rows a mailbox has left.
async fn rows(store: &Store, id: MailboxId) -> usize {
    let batch = store.purge_next(&Purge::mailbox_calendars(id), 1_000).await.unwrap();
    batch.rows.iter().map(|(_, count)| usize::try_from(*count).unwrap()).sum()
}

fn id_of(mailbox: &Mailbox) -> MailboxId {
    mailbox.path.rsplit('/').next().unwrap().parse().unwrap()
}

#[tokio::test]
async fn the_events_of_a_deleted_calendar_are_gone_at_once_and_then_for_good() {
    let house = House::new().await;
    let store = house.server.store().await;
    let id = id_of(&house.mailbox);
    let before = rows(&store, id).await;
    let made = house.mailbox.post("calendars", json!({"name": "Doomed"})).await.expect(201);
    let calendar = made.str("/calendar/calendarId");
    let event = house.mailbox.post(&format!("calendars/{calendar}/events"), ten_days()).await.expect(201);
    let event = event.str("/event/eventId");
    let one = json!({"version": 1, "summary": "Other"});
    house.mailbox.patch(event, "scope=one&recurrenceId=2026-11-25T09:00:00", one).await.expect(200);
    assert_eq!(rows(&store, id).await, before + 3);
    house.mailbox.client.delete(&format!("{}/calendars/{calendar}", house.mailbox.path)).send().await.expect(204);
    assert_eq!(house.mailbox.starts("2026-11-20", "2026-12-20").await.len(), 0);
    house.mailbox.show(event).await.expect_error(404, "not_found", "Event not found");
    house.server.eventually("an empty calendar", async || (rows(&store, id).await == before).then_some(())).await;
}

#[tokio::test]
async fn what_lies_in_a_deleted_mailbox_is_deleted() {
    let house = House::new().await;
    let store = house.server.store().await;
    house.mailbox.event(meeting()).await;
    let (_, bob) = house.colleague("bob").await;
    let path = |mailbox: &Mailbox| format!("{}/mail/admin/mailboxes/{}", house.org, id_of(mailbox));
    let deleted = house.ada.client.delete(&path(&house.mailbox)).send().await.expect(202);
    assert_eq!(deleted.json, json!({"background": true}));
    house.ada.client.delete(&path(&bob)).send().await.expect(204);
    house.mailbox.get("calendars").await.expect_error(404, "not_found", "Mailbox not found");
    for mailbox in [&house.mailbox, &bob] {
        let id = id_of(mailbox);
        house.server.eventually("an empty mailbox", async || (rows(&store, id).await == 0).then_some(())).await;
    }
}

#[tokio::test]
async fn a_deleted_organization_leaves_no_event() {
    let house = House::new().await;
    let store = house.server.store().await;
    house.mailbox.event(meeting()).await;
    house.ada.client.delete(&house.org).send().await.expect_success();
    let id = id_of(&house.mailbox);
    house.server.eventually("nothing", async || (rows(&store, id).await == 0).then_some(())).await;
}
