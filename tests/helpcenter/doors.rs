//! Who comes in.

use super::*;
use crate::accounts::letter;

#[tokio::test]
async fn keys_are_refused_before_everything() {
    let desk = Desk::new().await;
    let body = json!({ "name": "A program", "kind": "api", "scopes": ["issues:read", "issues:write", "issues:admin"] });
    let key = desk.ada.client.post(&format!("{}/keys", desk.org)).json(&body).send().await.expect(201);
    let key = desk.ada.client.with_token(key.str("/secret"));
    for path in [desk.portal.clone(), "/v1/portal/issues/nowhere".to_owned(), format!("{}/requests/x", desk.portal)] {
        let refused = key.get(&path).send().await;
        refused.expect_error(403, "people_only", "Help centers are for people.");
    }
    let refused = key.post(&format!("{}/requests", desk.portal)).raw("{").send().await;
    refused.expect_error(403, "people_only", "Help centers are for people.");
}

#[tokio::test]
async fn what_is_no_help_center_for_somebody_is_not_there() {
    let desk = Desk::new().await;
    let slug = desk.portal.trim_end_matches("/HELP");
    let get = async |client: &Client, path: String| client.get(&path).send().await;
    no_help_center(get(&desk.eve.client, "/v1/portal/issues/nowhere".to_owned()).await);
    no_help_center(get(&desk.eve.client, "/v1/portal/issues/%20".to_owned()).await);
    no_help_center(get(&desk.eve.client, format!("{slug}/NONE")).await);
    let basic = json!({ "key": "WEB", "name": "Web", "template": "basic" });
    desk.ada.client.post(&format!("{}/issues/spaces", desk.org)).json(&basic).send().await.expect(201);
    no_help_center(get(&desk.ada.client, format!("{slug}/WEB")).await);
    desk.configure(|config| config["portal"]["enabled"] = json!(false)).await;
    no_help_center(get(&desk.ada.client, desk.portal.clone()).await);
    no_help_center(get(&desk.ada.client, slug.to_owned()).await);
    desk.configure(|config| config["portal"]["enabled"] = json!(true)).await;
    desk.ada.client.post(&format!("{}/issues/spaces/HELP/archive", desk.org)).send().await.expect(200);
    no_help_center(get(&desk.eve.client, desk.portal.clone()).await);
}

#[tokio::test]
async fn a_help_center_of_the_organization_is_its_members_and_even_of_private_spaces() {
    let desk = Desk::new().await;
    let path = desk.request(&desk.eve.client, "Fire").await;
    desk.configure(|config| config["portal"]["access"] = json!("org")).await;
    no_help_center(desk.eve.client.get(&desk.portal).send().await);
    no_help_center(desk.eve.client.get(&path).send().await);
    let said = desk.eve.client.post(&format!("{path}/comments")).json(&json!({ "body": "x" })).send().await;
    no_help_center(said);
    let bob = desk.member("bob", "viewer").await;
    bob.client.get(&desk.portal).send().await.expect(200);
    let space = format!("{}/issues/spaces/HELP", desk.org);
    let mut config = desk.ada.client.get(&space).send().await.expect(200).json["space"]["config"].clone();
    config["access"]["visibility"] = json!("private");
    desk.ada.client.patch(&space).json(&json!({ "config": config })).send().await.expect(200);
    bob.client.get(&space).send().await.expect(404);
    desk.request(&bob.client, "Water").await;
}

#[tokio::test]
async fn listed_customers_come_in_once_their_address_is_confirmed() {
    let desk = Desk::new().await;
    desk.configure(|config| {
        config["portal"]["access"] = json!("listed");
        config["portal"]["customers"] = json!(["Eve@Example.org"]);
    })
    .await;
    no_help_center(desk.eve.client.get(&desk.portal).send().await);
    desk.eve.client.post("/v1/me/email/code").send().await.expect(202);
    let mail = letter(&desk.server, &desk.eve.email, "Confirm your address").await;
    let code = mail.split(' ').next().expect("a code").to_owned();
    let wrong = if code == "000000" { "000001" } else { "000000" };
    let confirm =
        async |code: &str| desk.eve.client.post("/v1/me/email/confirm").json(&json!({ "code": code })).send().await;
    confirm(wrong).await.expect_error(403, "wrong_code", "That code is wrong.");
    no_help_center(desk.eve.client.get(&desk.portal).send().await);
    assert_eq!(confirm(&code).await.expect(200).json, json!({ "email": desk.eve.email, "confirmed": true }));
    confirm(&code).await.expect_error(409, "no_code", "That code has expired. Ask for a new one.");
    desk.eve.client.get(&desk.portal).send().await.expect(200);
    let bob = desk.server.person("bob").await;
    no_help_center(bob.client.get(&desk.portal).send().await);
}

#[tokio::test]
async fn a_code_counts_five_tries_and_ten_minutes_and_five_come_an_hour() {
    let desk = Desk::new().await;
    for _ in 0..5 {
        desk.eve.client.post("/v1/me/email/code").send().await.expect(202);
    }
    let sixth = desk.eve.client.post("/v1/me/email/code").send().await.expect(429);
    assert!(sixth.header("retry-after").is_some());
    for code in 0..5 {
        let body = json!({ "code": format!("00000{code}") });
        let answer = desk.eve.client.post("/v1/me/email/confirm").json(&body).send().await;
        assert!(answer.status == 403 || answer.status == 200, "{}", answer.text);
    }
    let body = json!({ "code": "123456" });
    desk.eve.client.post("/v1/me/email/confirm").json(&body).send().await.expect(409);
    desk.eve.client.post("/v1/me/email/confirm").json(&json!({ "code": "12" })).send().await.expect(400);
}

#[tokio::test]
async fn a_configuration_of_a_desk_names_what_is_wrong() {
    let desk = Desk::new().await;
    let path = format!("{}/issues/spaces/HELP", desk.org);
    let mut config = desk.ada.client.get(&path).send().await.expect(200).json["space"]["config"].clone();
    config["servicedesk"]["waiting"] = json!(["nowhere"]);
    config["servicedesk"]["portal"]["customers"] = json!(["nobody"]);
    let refused = desk.ada.client.patch(&path).json(&json!({ "config": config })).send().await;
    refused.expect_problems(&["config.servicedesk.waiting[0]", "config.servicedesk.portal.customers[0]"]);
    let bob = desk.member("bob", "developer").await;
    let refused = bob.client.patch(&path).json(&json!({ "description": "x" })).send().await;
    refused.expect_error(403, "space_admin", "Only admins of the space can do this.");
}
