//! `/v1/orgs/:orgId/mail/preferences`, and what mailboxes may send.

use serde_json::{Value, json};

use super::make_mailbox;
use crate::{
    accounts::{join, org},
    harness::Server,
};

#[tokio::test]
async fn a_person_chooses_of_which_messages_they_are_told() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let bob = server.person("bob").await;
    let org = org(&ada, "Acme").await;
    join(&ada, &org, &bob, "viewer").await;
    let path = format!("{org}/mail/preferences");
    let preferences = async || ada.client.get(&path).send().await.expect(200).json;
    assert_eq!(preferences().await, json!({"preferences": {"categories": true, "push": {}}}));
    let mine = make_mailbox(&ada, &org, "ada", &[&ada.user_id]).await.str("/mailbox/mailboxId").to_owned();
    let ours = make_mailbox(&ada, &org, "team", &[&ada.user_id, &bob.user_id]).await;
    let ours = ours.str("/mailbox/mailboxId").to_owned();
    let theirs = make_mailbox(&ada, &org, "bob", &[&bob.user_id]).await.str("/mailbox/mailboxId").to_owned();
    assert_eq!(preferences().await["preferences"]["push"], json!({&mine: "primary", &ours: "primary"}));
    let choose = async |body: Value| ada.client.patch(&path).json(&body).send().await;
    let chosen = choose(json!({"categories": false, "push": {&ours: "off"}})).await.expect(200);
    let expected = json!({"preferences": {"categories": false, "push": {&mine: "primary", &ours: "off"}}});
    assert_eq!(chosen.json, expected);
    let chosen = choose(json!({"push": {&mine: "all"}})).await.expect(200);
    assert_eq!(chosen.json["preferences"], json!({"categories": false, "push": {&mine: "all", &ours: "off"}}));
    assert_eq!(choose(json!({})).await.expect(200).json, chosen.json);
    for unknown in ["nobody", &"m".repeat(100), &theirs] {
        let refused = choose(json!({"categories": true, "push": {&mine: "off", unknown: "all"}})).await;
        refused.expect_error(404, "not_found", "Mailbox not found");
    }
    choose(json!({"push": {"m".repeat(101): "all"}})).await.expect_problems(&["push"]);
    choose(json!({"push": {&mine: "some"}})).await.expect(400);
    assert_eq!(preferences().await, chosen.json);
    let bobs = bob.client.get(&path).send().await.expect(200);
    assert_eq!(bobs.json["preferences"], json!({"categories": true, "push": {&ours: "primary", &theirs: "primary"}}));
}

#[tokio::test]
async fn members_read_what_a_mailbox_may_send() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let org = org(&ada, "Acme").await;
    let path = async |members: &[&str], name: &str| {
        let made = make_mailbox(&ada, &org, name, members).await;
        format!("{org}/mail/mailboxes/{}/limits", made.str("/mailbox/mailboxId"))
    };
    let limits = ada.client.get(&path(&[&ada.user_id], "ada").await).send().await.expect(200);
    assert_eq!(limits.json, json!({"limits": {"sendPerDay": 2_000, "maxMessageMb": 25, "maxRecipients": 500}}));
    let nobodys = ada.client.get(&path(&[], "nobody").await).send().await;
    nobodys.expect_error(404, "not_found", "Mailbox not found");
}
