//! `/v1/me/notifications/devices`

use serde_json::{Value, json};

use crate::harness::{Answer, Client, Server};

const PATH: &str = "/v1/me/notifications/devices";
const INSTALL: &str = "6F9619FF-8B86-D011-B42D-00C04FC964FF";

fn registration(token: &str) -> Value {
    json!({
        "token": token, "platform": "ios", "name": "Ada's phone", "model": { "any": ["JSON"] }, "osVersion": 26.1,
        "appVersion": null
    })
}

async fn put(client: &Client, device: &str, body: &Value) -> Answer {
    client.put(&format!("{PATH}/{device}")).json(body).send().await
}

async fn delete(client: &Client, device_and_query: &str) -> Answer {
    client.delete(&format!("{PATH}/{device_and_query}")).send().await
}

async fn devices(client: &Client) -> Vec<Value> {
    client.get(PATH).send().await.expect(200).list("/devices").to_vec()
}

#[tokio::test]
async fn a_phone_registers_refreshes_and_leaves() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let phone = ada.sign_in("assistant", "ios").await;
    assert_eq!(put(&phone, INSTALL, &registration("one")).await.expect(200).json, json!({ "ok": true }));
    let start = server.clock.now().as_millis();
    server.clock.advance(std::time::Duration::from_secs(60));
    let mut body = registration("two");
    body["platform"] = json!("android");
    put(&phone, INSTALL, &body).await.expect(200);
    assert_eq!(
        devices(&ada.client).await,
        [json!({
            "deviceId": INSTALL, "appId": "assistant", "platform": "android", "name": "Ada's phone",
            "model": { "any": ["JSON"] }, "osVersion": 26.1, "createdAt": start, "updatedAt": start + 60_000
        })]
    );
    delete(&phone, INSTALL).await.expect(204);
    delete(&phone, INSTALL).await.expect(204);
    delete(&phone, "no%20id%00").await.expect(204);
    assert!(devices(&ada.client).await.is_empty());
}

#[tokio::test]
async fn a_registration_names_the_app_that_is_signed_in() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let phone = ada.sign_in("maps", "ios").await;
    let mut body = registration("one");
    let mismatch = "appId does not match the signed-in app";
    put(&phone, INSTALL, &body).await.expect_error(400, "app_mismatch", mismatch);
    body["appId"] = json!("mail");
    put(&phone, INSTALL, &body).await.expect_error(400, "app_mismatch", mismatch);
    body["appId"] = json!("maps");
    put(&phone, INSTALL, &body).await.expect(200);
    delete(&phone, INSTALL).await.expect(204);
    assert_eq!(devices(&phone).await.len(), 1, "another app's is not meant");
    delete(&phone, &format!("{INSTALL}?appId=maps")).await.expect(204);
    assert!(devices(&phone).await.is_empty());
    delete(&phone, &format!("{INSTALL}?appId=fax")).await.expect_problems(&["appId"]);
}

#[tokio::test]
async fn fields_that_can_not_be_used_are_named() {
    let server = Server::start().await;
    let phone = server.person("ada").await.sign_in("assistant", "ios").await;
    for device in ["no%20id", "%C3%A4", &"x".repeat(129)] {
        let refused = put(&phone, device, &registration("one")).await;
        refused.expect_error(400, "invalid_id", "Invalid device ID");
    }
    put(&phone, &"x".repeat(128), &registration("one")).await.expect(200);
    put(&phone, INSTALL, &json!({})).await.expect_problems(&["token", "platform"]);
    put(&phone, INSTALL, &json!({ "token": "one", "platform": "ios" })).await.expect(200);
    put(&phone, INSTALL, &json!({ "token": "", "platform": "ios" })).await.expect_problems(&["token"]);
    put(&phone, INSTALL, &json!({ "token": "a\u{0}b", "platform": "ios" })).await.expect_problems(&["token"]);
    put(&phone, INSTALL, &registration(&"x".repeat(4_096))).await.expect(200);
    put(&phone, INSTALL, &registration(&"x".repeat(4_097))).await.expect_problems(&["token"]);
    put(&phone, INSTALL, &json!({ "token": "one", "platform": "fax" })).await.expect_problems(&["platform"]);
    put(&phone, INSTALL, &json!({ "token": "one", "platform": "web" })).await.expect_problems(&["platform"]);
    let mut body = registration("one");
    body["name"] = json!("x".repeat(1_022));
    put(&phone, INSTALL, &body).await.expect(200);
    body["name"] = json!("x".repeat(1_023));
    put(&phone, INSTALL, &body).await.expect_problems(&["name"]);
}

#[tokio::test]
async fn only_the_mobile_app_registers_phones() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let key = super::key(&ada).await;
    let refusal = "Register devices from the mobile app.";
    for client in [ada.sign_in("assistant", "web").await, ada.sign_in("assistant", "cli").await] {
        put(&client, INSTALL, &registration("one")).await.expect_error(403, "mobile_app_only", refusal);
        delete(&client, INSTALL).await.expect_error(403, "mobile_app_only", refusal);
    }
    let refusal = "Notifications belong to people.";
    put(&key, INSTALL, &registration("one")).await.expect_error(403, "people_only", refusal);
    delete(&key, INSTALL).await.expect_error(403, "people_only", refusal);
}

#[tokio::test]
async fn a_browser_registers_itself() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let (browser, phone) = (ada.sign_in("assistant", "web").await, ada.sign_in("assistant", "ios").await);
    let key = format!("BA{}", "A".repeat(85));
    let token = |endpoint: &str, auth: &str| {
        json!({ "endpoint": endpoint, "p256dh": key, "auth": auth, "expirationTime": null }).to_string()
    };
    let web = |token: &str| json!({ "token": token, "platform": "web", "name": "A browser" });
    let good = token("https://push.example.com/send/1", "AAAAAAAAAAAAAAAAAAAAAA");
    put(&browser, "browser", &web(&good)).await.expect(200);
    put(&phone, "phone", &registration("one")).await.expect(200);
    let found = devices(&ada.client).await;
    assert_eq!(found.iter().filter(|device| device["platform"] == "web").count(), 1);
    assert!(!found.iter().any(|device| device.to_string().contains("push.example.com")), "tokens are never shown");
    for wrong in
        ["nonsense".to_owned(), token("http://push.example.com/", "AAAAAAAAAAAAAAAAAAAAAA"), token("https://p/", "AA")]
    {
        put(&browser, "browser", &web(&wrong)).await.expect_problems(&["token"]);
    }
    let cli = ada.sign_in("assistant", "cli").await;
    put(&cli, "browser", &web(&good)).await.expect(403);
    delete(&browser, "phone").await.expect(403);
    delete(&browser, "browser").await.expect(204);
    delete(&phone, "phone").await.expect(204);
    assert!(devices(&ada.client).await.is_empty());
}

#[tokio::test]
async fn signing_out_takes_the_registration_along() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let (phone, tablet) = (ada.sign_in("assistant", "ios").await, ada.sign_in("assistant", "android").await);
    put(&phone, "phone", &registration("one")).await.expect(200);
    put(&tablet, "tablet", &registration("two")).await.expect(200);
    phone.post("/v1/auth/sign-out").send().await.expect(200);
    let left = devices(&ada.client).await;
    assert_eq!(left.iter().map(|device| device["deviceId"].as_str()).collect::<Vec<_>>(), [Some("tablet")]);
    let sign_ins = ada.client.get("/v1/me/sign-ins").send().await.expect(200);
    let tablets = sign_ins.list("/signIns").iter().find(|sign_in| sign_in["platform"] == "android").expect("it");
    let path = format!("/v1/me/sign-ins/{}", tablets["signInId"].as_str().expect("an id"));
    ada.client.delete(&path).send().await.expect(200);
    assert!(devices(&ada.client).await.is_empty());
}

#[tokio::test]
async fn a_token_goes_to_who_registers_it_last() {
    let server = Server::start().await;
    let (ada, bob) = (server.person("ada").await, server.person("bob").await);
    put(&ada.sign_in("assistant", "ios").await, INSTALL, &registration("one")).await.expect(200);
    put(&bob.sign_in("assistant", "ios").await, INSTALL, &registration("one")).await.expect(200);
    assert!(devices(&ada.client).await.is_empty());
    assert_eq!(devices(&bob.client).await.len(), 1);
}

#[tokio::test]
async fn the_fifty_first_takes_the_place_of_the_one_that_registered_longest_ago() {
    let server = Server::start().await;
    let phone = server.person("ada").await.sign_in("assistant", "ios").await;
    for number in 0..50 {
        put(&phone, &format!("device-{number}"), &registration(&format!("token {number}"))).await.expect(200);
        server.clock.advance(std::time::Duration::from_secs(1));
    }
    put(&phone, "device-0", &registration("token 0")).await.expect(200);
    assert_eq!(devices(&phone).await.len(), 50);
    put(&phone, "device-50", &registration("token 50")).await.expect(200);
    let found = devices(&phone).await;
    assert_eq!(found.len(), 50);
    assert!(!found.iter().any(|device| device["deviceId"] == "device-1"));
}
