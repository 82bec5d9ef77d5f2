//! `Idempotency-Key` repeats an answer to whoever got it, and to nobody else.

use serde_json::json;

use crate::harness::{Dice, Server, VaultDevice};

#[tokio::test]
async fn another_app_is_not_answered_what_the_authenticator_was() {
    let server = Server::start().await;
    let ada = server.person("ada").await;
    let phone = VaultDevice::new(ada.authenticator().await, server.clock.clone(), &mut Dice::new(1));
    let body = phone.creation();
    let request = phone.signed(reqwest::Method::POST, "/v1/me/vault", Some(&body));
    request.header("idempotency-key", "once").send().await.expect(201);
    let again = ada.client.post("/v1/me/vault").raw(body.to_string()).header("idempotency-key", "once").send().await;
    again.expect_error(403, "authenticator_only", "Passwords opens only in the Authenticator app.");
}

#[tokio::test]
async fn nobody_holds_no_key() {
    let server = Server::start().await;
    let organization = json!({ "name": "Acme" });
    for key in ["mine", &"k".repeat(256)] {
        let answer = server.client().post("/v1/orgs").json(&organization).header("idempotency-key", key).send().await;
        answer.expect_error(401, "unauthenticated", "Sign in to continue.");
    }
}
