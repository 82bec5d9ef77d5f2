//! A person whom every channel reaches.

use serde_json::json;

use crate::harness::{Person, Server};

/// A person whom every channel reaches.
pub struct Reachable {
    pub server: Server,
    pub person: Person,
    pub phone: String,
    pub device: String,
}

/// A person on a server without gateways: what they are told is kept.
pub async fn reachable() -> Reachable {
    reachable_on(Server::start().await, async |server: &Server| {
        let kept = kept(server, "sms").await;
        kept.first().cloned()
    })
    .await
}

/// A person on `server`; `texted` answers the last text that was sent.
pub async fn reachable_on(server: Server, texted: impl AsyncFn(&Server) -> Option<String>) -> Reachable {
    let person = server.person("ada").await;
    let (phone, device) = ("+491701234567".to_owned(), "6F9619FF-8B86-D011-B42D-00C04FC964FF".to_owned());
    person.client.post("/v1/me/phone").json(&json!({ "phone": phone })).send().await.expect(202);
    let text = server.eventually("a code", async || texted(&server).await).await;
    let code: String = text.chars().filter(char::is_ascii_digit).collect();
    person.client.post("/v1/me/phone/confirm").json(&json!({ "code": code })).send().await.expect(200);
    let phone_app = person.sign_in("assistant", "ios").await;
    let registration = json!({
        "token": "a".repeat(64), "platform": "ios", "appId": "assistant", "name": "Ada's", "model": "iPhone",
        "osVersion": "26", "appVersion": "1",
    });
    let path = format!("/v1/me/notifications/devices/{device}");
    phone_app.put(&path).json(&registration).send().await.expect(200);
    Reachable { server, person, phone, device }
}

/// The texts of what was kept of a channel, newest first.
pub async fn kept(server: &Server, channel: &str) -> Vec<String> {
    let kept = server.operator().get("/kept").send().await.expect(200);
    let of_channel = kept.list("/messages").iter().filter(|message| message["channel"] == channel);
    of_channel.map(|message| message["body"].as_str().expect("a text").to_owned()).collect()
}
