//! What providers of texts and calls say at the addresses that they were given, where none is configured.

use serde_json::json;

use super::reachable::{Reachable, reachable};
use crate::harness::{Answer, Client};

const FORM: &str = "application/x-www-form-urlencoded";

async fn post(client: &Client, path: &str, form: &str) -> Answer {
    client.nobody().post(path).body(FORM, form.to_owned()).send().await
}

#[tokio::test]
async fn an_address_that_this_server_did_not_make_is_404() {
    let Reachable { server, .. } = reachable().await;
    for what in ["voice", "status"] {
        for (id, token) in [("dlv_01jd7rt4m5e9fv2w8x3c6k0hqz", "made-up"), ("nonsense", "made-up")] {
            let path = format!("/v1/hooks/notify/{what}/{id}/{token}");
            post(&server.client(), &path, "Digits=1").await.expect_error(404, "not_found", "Delivery not found.");
        }
    }
}

#[tokio::test]
async fn a_text_is_404_as_nobody_could_have_signed_it() {
    let Reachable { server, phone, .. } = reachable().await;
    let form = format!("From={}&Body=ACK+7F3K", phone.replace('+', "%2B"));
    let answer = post(&server.client(), "/v1/hooks/notify/sms", &form).await;
    answer.expect_error(404, "not_found", "Delivery not found.");
}

#[tokio::test]
async fn a_callback_that_is_no_form_is_415() {
    let Reachable { server, .. } = reachable().await;
    let answer = server.client().post("/v1/hooks/notify/sms").json(&json!({ "From": "+491701234567" })).send().await;
    assert_eq!(answer.expect(415).json["code"], "unsupported_media_type");
}
