//! `/v1/me/notifications/live-activities`

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    accounts::{join, org},
    harness::{Answer, Client, Server},
};

const PATH: &str = "/v1/me/notifications/live-activities";
const MISMATCH: &str = "appId does not match the signed-in app";

fn start() -> Value {
    json!({
        "token": "80a1b2c3", "appId": "maps", "environment": "production", "bundleId": "com.example.maps",
        "running": ["3c6444", "~A1b2c3"], "cars": true
    })
}

fn activity(org_id: &str) -> Value {
    json!({
        "token": "80a1b2c3", "appId": "maps", "environment": "development", "bundleId": "com.example.maps",
        "installId": "phone", "orgId": org_id, "hex": "3c6444"
    })
}

async fn put(client: &Client, path: &str, body: &Value) -> Answer {
    client.put(&format!("{PATH}/{path}")).json(body).send().await
}

async fn delete(client: &Client, path: &str) -> Answer {
    client.delete(&format!("{PATH}/{path}")).send().await
}

async fn list(client: &Client) -> Vec<Value> {
    client.get(PATH).send().await.expect(200).list("/liveActivities").to_vec()
}

/// The value with one field changed, or taken away by null.
fn with(mut body: Value, field: &str, value: Value) -> Value {
    let fields = body.as_object_mut().expect("an object");
    if value.is_null() {
        fields.remove(field)
    } else {
        fields.insert(field.to_owned(), value)
    };
    body
}

#[tokio::test]
async fn an_iphone_registers_what_starts_and_what_updates_activities() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let phone = ada.sign_in("maps", "ios").await;
    let org_id = ada.client.org("Acme").await;
    let now = server.clock.now().as_millis();
    assert_eq!(put(&phone, "start/phone", &start()).await.expect(200).json, json!({ "ok": true }));
    server.clock.advance(Duration::from_secs(1));
    let body = with(with(activity(&org_id), "local", json!(true)), "watchId", json!("watch"));
    assert_eq!(put(&phone, "flight-1", &body).await.expect(200).json, json!({ "ok": true, "current": true }));
    assert_eq!(
        list(&ada.client).await,
        [
            json!({
                "kind": "activity", "installId": "phone", "appId": "maps", "activityId": "flight-1",
                "environment": "development", "orgId": org_id, "hex": "3c6444", "watchId": "watch", "local": true,
                "createdAt": now + 1_000, "updatedAt": now + 1_000
            }),
            json!({
                "kind": "start", "installId": "phone", "appId": "maps", "activityId": "start",
                "environment": "production", "running": ["3c6444", "~A1b2c3"], "createdAt": now, "updatedAt": now
            }),
        ]
    );
    delete(&phone, "flight-1?installId=phone&appId=maps").await.expect(204);
    delete(&phone, "flight-1?installId=phone&appId=maps").await.expect(204);
    delete(&phone, "start/phone?appId=maps").await.expect(204);
    assert!(list(&ada.client).await.is_empty());
}

#[tokio::test]
async fn an_activity_that_was_replaced_is_current_no_more() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let phone = ada.sign_in("maps", "ios").await;
    let org_id = ada.client.org("Acme").await;
    assert_eq!(put(&phone, "plain", &activity(&org_id)).await.expect(200).json, json!({ "ok": true }));
    let body = with(activity(&org_id), "watchId", json!("watch"));
    let is_current = async |id: &str| put(&phone, id, &body).await.expect(200).json["current"].clone();
    assert_eq!(is_current("one").await, true);
    server.clock.advance(Duration::from_secs(1));
    assert_eq!(is_current("two").await, true);
    assert_eq!(is_current("one").await, false);
    assert_eq!(is_current("two").await, true);
}

#[tokio::test]
async fn people_then_the_mobile_app_then_the_iphone_app_then_the_body() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let key = super::key(&ada).await;
    let (web, android) = (ada.sign_in("maps", "web").await, ada.sign_in("maps", "android").await);
    for (client, code, message) in [
        (&key, "people_only", "Notifications belong to people."),
        (&web, "mobile_app_only", "Register devices from the mobile app."),
        (&android, "iphone_app_only", "Register Live Activities from the iPhone app."),
    ] {
        for path in ["start/no%20id", "no%20id"] {
            client.put(&format!("{PATH}/{path}")).raw("{").send().await.expect_error(403, code, message);
            delete(client, path).await.expect_error(403, code, message);
        }
    }
}

#[tokio::test]
async fn ids_and_apps_that_do_not_fit_have_messages_of_their_own() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let phone = ada.sign_in("maps", "ios").await;
    let org_id = ada.client.org("Acme").await;
    let invalid = |answer: Answer, message: &str| drop(answer.expect_error(400, "invalid_id", message));
    invalid(put(&phone, "start/no%20id", &start()).await, "Invalid install ID");
    invalid(delete(&phone, "start/no%20id?appId=maps").await, "Invalid install ID");
    invalid(put(&phone, "no%20id", &activity(&org_id)).await, "Invalid activity ID");
    invalid(delete(&phone, "no%20id?appId=maps&installId=phone").await, "Invalid activity ID");
    let body = with(activity(&org_id), "installId", json!("no id"));
    invalid(put(&phone, "flight", &body).await, "Invalid install ID");
    invalid(delete(&phone, "flight?appId=maps&installId=no%20id").await, "Invalid install ID");

    let other = |answer: Answer| drop(answer.expect_error(400, "app_mismatch", MISMATCH));
    other(put(&phone, "start/phone", &with(start(), "appId", json!("home"))).await);
    other(delete(&phone, "start/phone?appId=vehicles").await);
    other(put(&phone, "flight", &with(activity(&org_id), "appId", json!("home"))).await);
    other(delete(&phone, "flight?appId=home&installId=phone").await);
}

#[tokio::test]
async fn fields_that_can_not_be_used_are_named() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let phone = ada.sign_in("maps", "ios").await;
    let org_id = ada.client.org("Acme").await;
    let missing = put(&phone, "start/phone", &json!({})).await;
    missing.expect_problems(&["token", "appId", "environment", "bundleId"]);
    for (field, value) in [
        ("token", json!("")),
        ("token", json!("x".repeat(4_097))),
        ("appId", json!("mail")),
        ("environment", json!("staging")),
        ("bundleId", json!("com example")),
        ("bundleId", json!("x".repeat(156))),
        ("running", json!(vec!["3c6444"; 21])),
        ("cars", json!("yes")),
    ] {
        put(&phone, "start/phone", &with(start(), field, value)).await.expect_problems(&[field]);
    }
    put(&phone, "start/phone", &with(start(), "running", json!(["3c6444", "3c644"])))
        .await
        .expect_problems(&["running[1]"]);
    put(&phone, "start/phone", &with(start(), "running", json!(vec!["3c6444"; 20]))).await.expect(200);
    let least = with(with(start(), "running", json!(null)), "cars", json!(null));
    put(&phone, "start/phone", &least).await.expect(200);

    for (field, value) in [
        ("hex", json!("3c644")),
        ("hex", json!("~~3c644")),
        ("hex", json!(null)),
        ("orgId", json!("")),
        ("orgId", json!("x".repeat(65))),
        ("orgId", json!(null)),
        ("watchId", json!("")),
        ("watchId", json!("x".repeat(65))),
        ("local", json!(1)),
        ("installId", json!(null)),
    ] {
        put(&phone, "flight", &with(activity(&org_id), field, value)).await.expect_problems(&[field]);
    }
    put(&phone, "flight", &with(activity(&org_id), "watchId", json!("x".repeat(64)))).await.expect(200);
    delete(&phone, "start/phone").await.expect_problems(&["appId"]);
    delete(&phone, "start/phone?appId=mail").await.expect_problems(&["appId"]);
    delete(&phone, "flight?appId=maps").await.expect_problems(&["installId"]);
}

#[tokio::test]
async fn an_activity_belongs_to_an_organization_in_which_the_person_may_see_maps() {
    let server = Server::start().await;
    let (ada, bob) = (server.person("ada").await, server.person("bob").await);
    let phone = bob.sign_in("maps", "ios").await;
    let acme = org(&ada, "Acme").await;
    let org_id = acme.rsplit('/').next().expect("an id");
    let elsewhere = |answer: Answer| drop(answer.expect_error(404, "not_found", "Vehicles isn't available here."));
    elsewhere(put(&phone, "flight", &activity(org_id)).await);
    elsewhere(put(&phone, "flight", &activity("made-up")).await);
    join(&ada, &acme, &bob, "viewer").await;
    put(&phone, "flight", &activity(org_id)).await.expect(200);
}

#[tokio::test]
async fn signing_out_takes_live_activities_along() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let phone = ada.sign_in("maps", "ios").await;
    put(&phone, "start/phone", &start()).await.expect(200);
    phone.post("/v1/auth/sign-out").send().await.expect(200);
    assert!(list(&ada.client).await.is_empty());
}
