//! Aliases, catch-all, and which domains mailboxes may have.

use serde_json::{Value, json};

use super::domains::Desk;
use crate::{accounts::org, harness::Answer};

const IN_USE: &str = "This address is already in use.";

impl Desk {
    async fn mailbox(&self, name: &str, domain: &str) -> Answer {
        let body = json!({ "localPart": name, "domain": domain, "members": [self.ada.user_id] });
        self.ada.client.post(&self.path("admin/mailboxes")).json(&body).send().await
    }

    async fn alias(&self, mailbox: &Answer, address: &str) -> Answer {
        let path = self.path(&format!("admin/mailboxes/{}/aliases", mailbox.str("/mailbox/mailboxId")));
        self.ada.client.post(&path).json(&json!({ "address": address })).send().await
    }

    async fn unalias(&self, address: &str) -> Answer {
        self.ada.client.delete(&self.path(&format!("admin/aliases/{address}"))).send().await
    }

    async fn catch_all(&self, domain: &str, body: Value) -> Answer {
        self.ada.client.patch(&self.path(&format!("domains/{domain}"))).json(&body).send().await
    }
}

#[tokio::test]
async fn a_mailbox_has_other_addresses() {
    let desk = Desk::new().await;
    desk.add("example.org").await.expect(201);
    desk.add("example.com").await.expect(201);
    let made = desk.mailbox("ada", "example.org").await.expect(201);
    let aliased = desk.alias(&made, " Sales@Example.com ").await.expect(201);
    assert_eq!(aliased.json["mailbox"]["aliases"], json!(["sales@example.com"]));
    desk.server.clock.advance(std::time::Duration::from_millis(1));
    let both = desk.alias(&made, "a.l@example.org").await.expect(201);
    assert_eq!(both.json["mailbox"]["aliases"], json!(["sales@example.com", "a.l@example.org"]));
    let list = desk.ada.client.get(&desk.path("admin/mailboxes")).send().await.expect(200);
    assert_eq!(list.json["mailboxes"][0], both.json["mailbox"]);
    let mine = desk.ada.client.get(&desk.path("mailboxes")).send().await.expect(200);
    assert_eq!(mine.json["mailboxes"][0]["aliases"], both.json["mailbox"]["aliases"]);
    for address in ["ada@example.org", "sales@example.com"] {
        desk.alias(&made, address).await.expect_error(409, "address_in_use", IN_USE);
    }
    desk.mailbox("sales", "example.com").await.expect_error(409, "address_in_use", IN_USE);
    for address in ["", "ada", "@example.org", "a b@example.org", "-a@example.org", "a@b@example.org", "a@"] {
        desk.alias(&made, address).await.expect_error(400, "address_invalid", "Enter a valid address.");
    }
    desk.alias(&made, "ada@example.net").await.expect_error(404, "not_found", "Domain not found");
    let path = desk.path("admin/mailboxes/mbx_01jd7rt4m5e9fv2w8x3c6k0hqz/aliases");
    let nobodys = desk.ada.client.post(&path).json(&json!({"address": "b@example.org"})).send().await;
    nobodys.expect_error(404, "not_found", "Mailbox not found");
    let left = desk.unalias("SALES%40example.com").await.expect(200);
    assert_eq!(left.json["mailbox"]["aliases"], json!(["a.l@example.org"]));
    for address in ["sales@example.com", "ada@example.org", "nobody", "%00"] {
        desk.unalias(address).await.expect_error(404, "not_found", "Alias not found");
    }
    desk.mailbox("sales", "example.com").await.expect(201);
}

#[tokio::test]
async fn a_mailbox_has_a_hundred_aliases_at_most() {
    let desk = Desk::new().await;
    desk.add("example.org").await.expect(201);
    let made = desk.mailbox("ada", "example.org").await.expect(201);
    for number in 0..100 {
        desk.alias(&made, &format!("a{number}@example.org")).await.expect(201);
    }
    let refused = desk.alias(&made, "one@example.org").await;
    refused.expect_error(400, "limit_reached", "A mailbox has at most 100 aliases.");
}

#[tokio::test]
async fn a_domain_goes_with_its_aliases_and_not_with_its_mailboxes() {
    let desk = Desk::new().await;
    desk.add("example.org").await.expect(201);
    desk.add("example.com").await.expect(201);
    let made = desk.mailbox("ada", "example.org").await.expect(201);
    desk.alias(&made, "ada@example.com").await.expect(201);
    let refused = "Delete this domain's mailboxes first.";
    desk.delete("example.org").await.expect_error(409, "domain_has_mailboxes", refused);
    desk.delete("example.com").await.expect(204);
    let list = desk.ada.client.get(&desk.path("admin/mailboxes")).send().await.expect(200);
    assert_eq!(list.json["mailboxes"][0]["aliases"], json!([]));
    let path = desk.path(&format!("admin/mailboxes/{}", made.str("/mailbox/mailboxId")));
    desk.ada.client.delete(&path).send().await.expect(204);
    desk.delete("example.org").await.expect(204);
}

#[tokio::test]
async fn a_mailbox_gets_what_no_address_matches() {
    let desk = Desk::new().await;
    desk.add("example.org").await.expect(201);
    let made = desk.mailbox("ada", "example.org").await.expect(201);
    let id = made.str("/mailbox/mailboxId");
    let lent = super::lent_domain(&desk.ada, &desk.org).await;
    for domain in ["example.org", lent.as_str()] {
        let changed = desk.catch_all(domain, json!({ "catchAllMailboxId": id })).await.expect(200);
        assert_eq!(changed.str("/domain/catchAllMailboxId"), id);
        assert_eq!(desk.get(domain).await.expect(200).json, changed.json);
        desk.catch_all(domain, json!({})).await.expect_problems(&["catchAllMailboxId"]);
        let long = json!({ "catchAllMailboxId": "m".repeat(41) });
        desk.catch_all(domain, long).await.expect_problems(&["catchAllMailboxId"]);
        for unknown in ["", "nobody", &"m".repeat(40), "mbx_01jd7rt4m5e9fv2w8x3c6k0hqz"] {
            let refused = desk.catch_all(domain, json!({ "catchAllMailboxId": unknown })).await;
            refused.expect_error(404, "not_found", "Mailbox not found");
        }
        let taken = desk.catch_all(domain, json!({ "catchAllMailboxId": null })).await.expect(200);
        assert_eq!(taken.json["domain"].get("catchAllMailboxId"), None);
        desk.catch_all(domain, json!({ "catchAllMailboxId": id })).await.expect(200);
    }
    for unknown in [json!({ "catchAllMailboxId": id }), json!({ "catchAllMailboxId": "nobody" })] {
        desk.catch_all("example.net", unknown).await.expect_error(404, "not_found", "Domain not found");
    }
    desk.ada.client.delete(&desk.path(&format!("admin/mailboxes/{id}"))).send().await.expect(204);
    for domain in ["example.org", lent.as_str()] {
        assert_eq!(desk.get(domain).await.expect(200).json["domain"].get("catchAllMailboxId"), None);
    }
}

#[tokio::test]
async fn who_merely_claims_a_domain_keeps_nobody_out() {
    let desk = Desk::new().await;
    let bob = desk.server.person("bob").await;
    let others = org(&bob, "Others").await;
    let body = json!({"domain": "example.org"});
    bob.client.post(&format!("{others}/mail/domains")).json(&body).send().await.expect(201);
    let body = json!({"localPart": "ada", "domain": "example.org", "members": [bob.user_id]});
    bob.client.post(&format!("{others}/mail/admin/mailboxes")).json(&body).send().await.expect(201);
    desk.add_active("example.org").await;
    let mine = desk.mailbox("ada", "example.org").await.expect(201);
    // An event for the address comes to the mailbox of who owns the domain.
    desk.mailbox("eve", "example.org").await.expect(201);
    let mailboxes = desk.ada.client.get(&desk.path("mailboxes")).send().await.expect(200);
    let eve = mailboxes.json["mailboxes"][1]["mailboxId"].as_str().expect("an id").to_owned();
    let calendars = desk.ada.client.get(&desk.path(&format!("mailboxes/{eve}/calendars"))).send().await.expect(200);
    let calendar = calendars.str("/calendars/0/calendarId");
    let event = json!({
        "summary": "Lunch", "start": "2027-02-01T12:00", "end": "2027-02-01T13:00", "timeZone": "UTC",
        "attendees": [{"email": "ada@example.org"}]
    });
    let path = desk.path(&format!("mailboxes/{eve}/calendars/{calendar}/events"));
    desk.ada.client.post(&path).json(&event).send().await.expect(201);
    let window = "from=1801440000000&to=1801526400000";
    let id = mine.str("/mailbox/mailboxId");
    let path = desk.path(&format!("mailboxes/{id}/events?{window}"));
    let found = async || {
        let events = desk.ada.client.get(&path).send().await.expect(200);
        events.list("/occurrences").first().cloned()
    };
    assert_eq!(desk.server.eventually("the event", found).await["summary"], "Lunch");
}

#[tokio::test]
async fn what_has_no_key_that_receivers_find_is_not_sent() {
    let desk = Desk::new().await;
    desk.add("example.org").await.expect(201);
    let made = desk.mailbox("ada", "example.org").await.expect(201);
    let mailbox = desk.path(&format!("mailboxes/{}", made.str("/mailbox/mailboxId")));
    let calendars = desk.ada.client.get(&format!("{mailbox}/calendars")).send().await.expect(200);
    let path = format!("{mailbox}/calendars/{}/events", calendars.str("/calendars/0/calendarId"));
    let event = json!({
        "summary": "Lunch", "start": "2027-02-01T12:00", "end": "2027-02-01T13:00", "timeZone": "UTC",
        "attendees": [{"email": "guest@example.net"}]
    });
    let refused = desk.ada.client.post(&path).json(&event).send().await;
    refused.expect_error(409, "domain_not_verified", "This mailbox's domain isn't verified for sending yet.");
}

#[tokio::test]
async fn whoever_may_be_a_member_is_listed() {
    let desk = Desk::new().await;
    desk.server.clock.advance(std::time::Duration::from_millis(1));
    let bob = desk.server.person("bob").await;
    crate::accounts::join(&desk.ada, &desk.org, &bob, "viewer").await;
    let members = desk.ada.client.get(&desk.path("members")).send().await.expect(200);
    let member = |person: &crate::harness::Person, name: &str| json!({"userId": person.user_id, "email": person.email, "name": name});
    assert_eq!(members.json, json!({"members": [member(&desk.ada, "ada"), member(&bob, "bob")]}));
    let refused = bob.client.get(&desk.path("members")).send().await;
    refused.expect_error(403, "missing_scope", "This needs the mail:admin permission.");
}
