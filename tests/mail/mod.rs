//! Mail (contract B 2.7, 4.7, 4.8).

mod addresses;
pub mod dns;
mod domains;
mod drafts;
mod exports;
mod filters;
mod folders;
mod import_kills;
pub mod imports;
mod keeping;
mod kills;
mod labels;
mod message_actions;
mod messages;
pub mod peer;
mod policies;
mod preferences;
mod reports;
mod search;
mod senders;
mod sending;
mod thread_actions;
pub mod threads;
mod vacation;
mod ways;

use serde_json::{Value, json};

use crate::{
    accounts::{join, org},
    harness::{Answer, Person, Server},
};

/// The domain that the platform lends an organization.
pub async fn lent_domain(admin: &Person, org: &str) -> String {
    let organization = admin.client.get(org).send().await.expect(200);
    format!("{}.localhost.localdomain", organization.str("/org/slug"))
}

/// Makes a mailbox below the organization's domain.
pub async fn make_mailbox(admin: &Person, org: &str, name: &str, members: &[&str]) -> Answer {
    let body = json!({ "localPart": name, "domain": lent_domain(admin, org).await, "members": members });
    admin.client.post(&format!("{org}/mail/admin/mailboxes")).json(&body).send().await.expect(201)
}

/// An organization.
struct House {
    server: Server,
    ada: Person,
    org: String,
    domain: String,
}

impl House {
    async fn new() -> Self {
        let server = Server::start().await;
        let ada = server.person("ada").await;
        let org = org(&ada, "Acme").await;
        let domain = lent_domain(&ada, &org).await;
        Self { server, ada, org, domain }
    }

    async fn make(&self, body: Value) -> Answer {
        self.ada.client.post(&format!("{}/mail/admin/mailboxes", self.org)).json(&body).send().await
    }

    fn path(&self, made: &Answer) -> String {
        format!("{}/mail/admin/mailboxes/{}", self.org, made.str("/mailbox/mailboxId"))
    }
}

#[tokio::test]
async fn a_mailbox_is_made_listed_and_changed() {
    let house = House::new().await;
    let body = json!({"localPart": " Ada ", "domain": house.domain.to_uppercase(), "displayName": " Ada L. "});
    let made = house.make(body).await.expect(201);
    let now = house.server.clock.now().0;
    let expected = json!({
        "mailboxId": made.str("/mailbox/mailboxId"), "address": format!("ada@{}", house.domain), "domain": house.domain,
        "displayName": "Ada L.", "members": [], "aliases": [], "createdAt": now
    });
    assert_eq!(made.json["mailbox"], expected);
    let list = house.ada.client.get(&format!("{}/mail/admin/mailboxes", house.org)).send().await.expect(200);
    assert_eq!(list.json, json!({"mailboxes": [expected]}));
    let mine = || house.ada.client.get(&format!("{}/mail/mailboxes", house.org)).send();
    assert_eq!(mine().await.expect(200).list("/mailboxes").len(), 0);
    let members = json!({"members": [house.ada.user_id, house.ada.user_id]});
    let changed = house.ada.client.patch(&house.path(&made)).json(&members).send().await.expect(200);
    assert_eq!(changed.json["mailbox"]["members"], json!([house.ada.user_id]));
    assert_eq!(changed.str("/mailbox/displayName"), "Ada L.");
    assert_eq!(
        mine().await.expect(200).json["mailboxes"],
        json!([{
            "mailboxId": made.str("/mailbox/mailboxId"), "address": format!("ada@{}", house.domain),
            "domain": house.domain, "displayName": "Ada L.", "signature": "", "reminderMail": false, "aliases": []
        }])
    );
}

#[tokio::test]
async fn addresses_are_checked_and_nobodys_twice() {
    let house = House::new().await;
    let body = |local: &str| json!({ "localPart": local, "domain": house.domain });
    for local in ["", ".a", "a-", "a b", "a@b", &"a".repeat(65)] {
        house.make(body(local)).await.expect_error(400, "address_invalid", "Enter a valid address.");
    }
    house.make(body(&"a".repeat(64))).await.expect(201);
    let made = house.make(body("ada")).await.expect(201);
    house.make(body("ADA")).await.expect_error(409, "address_in_use", "This address is already in use.");
    house.ada.client.delete(&house.path(&made)).send().await.expect(204);
    house.ada.client.delete(&house.path(&made)).send().await.expect_error(404, "not_found", "Mailbox not found");
    house.make(body("ada")).await.expect(201);
    for domain in ["example.org", "localhost.localdomain", ""] {
        let refused = house.make(json!({"localPart": "b", "domain": domain})).await;
        refused.expect_error(404, "not_found", "Domain not found");
    }
}

#[tokio::test]
async fn members_belong_to_the_organization_and_are_a_hundred_at_most() {
    let house = House::new().await;
    let bob = house.server.person("bob").await;
    let body = |name: &str, members: Value| json!({"localPart": name, "domain": house.domain, "members": members});
    let text = "Mailbox members must belong to the organization.";
    for members in [json!([bob.user_id]), json!(["nobody"]), json!([house.ada.user_id, bob.user_id])] {
        house.make(body("a", members)).await.expect_error(400, "not_members", text);
    }
    house.make(body("a", json!(vec![house.ada.user_id.clone(); 100]))).await.expect(201);
    house.make(body("b", json!(vec![house.ada.user_id.clone(); 101]))).await.expect_problems(&["members"]);
    for (length, status) in [(200, 201), (201, 400)] {
        let name = format!("n{length}");
        let named = json!({"localPart": name, "domain": house.domain, "displayName": "a".repeat(length)});
        house.make(named).await.expect(status);
    }
}

#[tokio::test]
async fn who_leaves_the_organization_leaves_its_mailboxes() {
    let house = House::new().await;
    let bob = house.server.person("bob").await;
    join(&house.ada, &house.org, &bob, "viewer").await;
    let made = make_mailbox(&house.ada, &house.org, "team", &[&bob.user_id]).await;
    let calendars = format!("{}/mail/mailboxes/{}/calendars", house.org, made.str("/mailbox/mailboxId"));
    bob.client.get(&calendars).send().await.expect(200);
    let member = format!("{}/members/{}", house.org, bob.user_id);
    house.ada.client.delete(&member).send().await.expect_success();
    join(&house.ada, &house.org, &bob, "viewer").await;
    bob.client.get(&calendars).send().await.expect_error(404, "not_found", "Mailbox not found");
    let list = house.ada.client.get(&format!("{}/mail/admin/mailboxes", house.org)).send().await.expect(200);
    assert_eq!(list.json["mailboxes"][0]["members"], json!([]));
}
