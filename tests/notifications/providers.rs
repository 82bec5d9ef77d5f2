//! A provider of texts and calls, and what it and people say at the addresses that it was given.

use domain::{
    id::DeliveryId,
    notify::{Channel, Target},
};
use gateways::SignedCallback;
use serde_json::{Value, json};
use store::{Change, NewDelivery};

use super::{
    alarmed, notices,
    reachable::{Reachable, reachable_on},
    service::{Reply, Service},
};
use crate::harness::{Answer, Client, Server};

const FORM: &str = "application/x-www-form-urlencoded";
const AUTH_TOKEN: &str = "a-secret-of-the-provider";

/// The same, signed by who knows `auth_token`; `url` is the address that the provider was given.
async fn post_signed(client: &Client, path: &str, fields: &[(&str, &str)], auth_token: &str) -> Answer {
    let url = format!("{}{path}", client.base());
    let owned: Vec<_> = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let signature = SignedCallback { url: &url, fields: &owned, signature: "" }.sign(auth_token).expect("a signature");
    let form = form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish();
    client.nobody().post(path).body(FORM, form).header("X-Twilio-Signature", signature).send().await
}

/// A provider that takes everything, and a person on a server that texts and calls over it.
async fn with_provider() -> (Service, Reachable) {
    let provider = Service::replying([Reply::new(201, r#"{"sid": "SM0123", "status": "queued"}"#)]).await;
    let settings = [
        "texts.account_sid=AC1".to_owned(),
        format!("texts.auth_token={AUTH_TOKEN}"),
        format!("texts.base_url={}", provider.url()),
        "texts.from=+15005550006".to_owned(),
    ];
    let settings: Vec<_> = settings.iter().map(String::as_str).collect();
    let server = Server::with(&settings).await;
    let told = reachable_on(server, async |_: &Server| last(&provider, "Body")).await;
    (provider, told)
}

/// A field of the last form that the provider heard, where it has it.
fn last(provider: &Service, field: &str) -> Option<String> {
    provider.heard().last()?.form().remove(field)
}

/// The path of the callback that `field` of the `count`th form names.
async fn address(provider: &Service, told: &Reachable, count: usize, field: &str) -> String {
    let heard = async || provider.heard().get(count - 1).and_then(|heard| heard.form().remove(field));
    let url = told.server.eventually("a request to the provider", heard).await;
    url.strip_prefix(&told.server.url).expect("an address of the server").to_owned()
}

/// Asks for a test over this channel; the id of its notice.
async fn test(told: &Reachable, channel: &str) -> String {
    let made = told.person.client.post("/v1/me/notifications/test").json(&json!({ "channel": channel }));
    made.send().await.expect(201).str("/delivery/noticeId").to_owned()
}

/// The first delivery of a notice, once it is sent.
async fn sent(told: &Reachable, notice_id: &str) -> Value {
    told.server
        .eventually("a delivery that is sent", async || {
            Some(delivery_of(told, notice_id).await).filter(|delivery| delivery["state"] == "sent")
        })
        .await
}

async fn delivery_of(told: &Reachable, notice_id: &str) -> Value {
    let path = format!("/v1/me/notifications/{notice_id}/deliveries");
    told.person.client.get(&path).send().await.expect(200).json["deliveries"][0].clone()
}

/// Texts or calls the person about a notice that asks to be acknowledged, as what happens elsewhere in the server would;
/// the notice's id.
async fn ask(told: &Reachable, channel: Channel) -> String {
    let notice = alarmed(&told.server, &told.person).await;
    let now = told.server.clock.now();
    let mut change = Change::new();
    change.delivery_add(NewDelivery {
        id: DeliveryId::new(now),
        user_id: told.person.user_id.parse().expect("an id"),
        notice_id: Some(notice.parse().expect("an id")),
        escalation_id: None,
        channel,
        target: Target::Phone(told.phone.clone()),
        hold_until: None,
        urgent: true,
        title: "The disk is full".into(),
        body: None,
        url: None,
        created_at: now,
    });
    let store = told.server.store().await;
    store.commit(change).await.expect("commits");
    store.close().await;
    notice
}

async fn is_acknowledged(told: &Reachable, notice_id: &str) -> bool {
    let notices = notices(&told.person.client).await;
    let notice = notices.iter().find(|notice| notice["noticeId"] == notice_id).expect("a notice");
    notice["ackedAt"].is_i64()
}

#[tokio::test]
async fn a_text_goes_out_with_its_id_as_idempotency_key_and_what_the_provider_reports_is_noted() {
    let (provider, told) = with_provider().await;
    for (count, report) in [(2, "delivered"), (3, "undelivered")] {
        let notice = test(&told, "sms").await;
        let delivery = sent(&told, &notice).await;
        assert_eq!(delivery["providerId"], "SM0123");
        let path = address(&provider, &told, count, "StatusCallback").await;
        let heard = provider.heard().remove(count - 1);
        assert_eq!(heard.header("i-twilio-idempotency-token"), delivery["deliveryId"].as_str().expect("an id"));
        for under_way in ["queued", "sent"] {
            post_signed(&told.server.client(), &path, &[("MessageStatus", under_way)], AUTH_TOKEN).await.expect(204);
        }
        let fields = [("MessageStatus", report), ("ErrorCode", "30003")];
        post_signed(&told.server.client(), &path, &fields, AUTH_TOKEN).await.expect(204);
        let delivery = delivery_of(&told, &notice).await;
        if report == "delivered" {
            assert!(delivery["state"] == "sent" && delivery["deliveredAt"].is_i64(), "{delivery}");
        } else {
            assert_eq!((&delivery["state"], &delivery["error"]), (&json!("failed"), &json!("undelivered (30003)")));
        }
    }
}

#[tokio::test]
async fn a_callback_without_the_providers_signature_is_404() {
    let (provider, told) = with_provider().await;
    sent(&told, &test(&told, "sms").await).await;
    let path = address(&provider, &told, 2, "StatusCallback").await;
    let client = told.server.client();
    let fields = [("MessageStatus", "delivered")];
    let reply = [("From", told.phone.as_str()), ("Body", "ACK 7F3K")];
    let refusals = [
        client.post(&path).body(FORM, "MessageStatus=delivered").send().await,
        post_signed(&client, &path, &fields, "another secret").await,
        post_signed(&client, "/v1/hooks/notify/sms", &reply, "another secret").await,
    ];
    for refusal in refusals {
        refusal.expect_error(404, "not_found", "Delivery not found.");
    }
    post_signed(&client, &path, &fields, AUTH_TOKEN).await.expect(204);
}

#[tokio::test]
async fn a_reply_with_the_code_of_the_text_acknowledges_once() {
    let (provider, told) = with_provider().await;
    let notice = ask(&told, Channel::Sms).await;
    sent(&told, &notice).await;
    let text = last(&provider, "Body").expect("a text");
    let code = text.strip_prefix("The disk is full Reply ACK ").unwrap_or_else(|| panic!("{text}"));
    let reply = async |from: &str, body: &str| {
        let fields = [("From", from), ("Body", body)];
        post_signed(&told.server.client(), "/v1/hooks/notify/sms", &fields, AUTH_TOKEN).await.expect(200).text
    };
    let elsewhere = reply("+491709999999", &format!("ACK {code}")).await;
    assert!(elsewhere.contains("That code isn't known."), "{elsewhere}");
    assert!(!is_acknowledged(&told, &notice).await);
    let answer = reply(&told.phone, &format!("ack {}", code.to_lowercase())).await;
    assert!(answer.contains("<Message>Acknowledged: The disk is full</Message>"), "{answer}");
    assert!(is_acknowledged(&told, &notice).await);
    let again = reply(&told.phone, &format!("ACK {code}")).await;
    assert!(again.contains("<Message>Acknowledged already: The disk is full</Message>"), "{again}");
}

#[tokio::test]
async fn the_key_1_in_a_call_acknowledges_and_another_is_asked_for_the_right_one() {
    let (provider, told) = with_provider().await;
    let notice = ask(&told, Channel::Voice).await;
    sent(&told, &notice).await;
    let spoken = last(&provider, "Twiml").expect("what is read out");
    assert!(spoken.contains("The disk is full. Press 1 to acknowledge."), "{spoken}");
    let (_, after) = spoken.split_once("action=\"").expect("a gather");
    let url = after.split('"').next().expect("an address");
    let path = url.strip_prefix(&told.server.url).expect("an address of the server");
    let client = told.server.client();
    let other = post_signed(&client, path, &[("Digits", "2")], AUTH_TOKEN).await.expect(200);
    let gather = "<Gather numDigits=\"1\"><Say>Press 1 to acknowledge.</Say></Gather>";
    assert!(other.text.contains(gather), "{}", other.text);
    assert!(!is_acknowledged(&told, &notice).await);
    let answer = post_signed(&client, path, &[("Digits", "1")], AUTH_TOKEN).await.expect(200);
    assert!(answer.text.contains("<Say>Acknowledged. Thank you.</Say>"), "{}", answer.text);
    assert!(is_acknowledged(&told, &notice).await);
    let again = post_signed(&client, path, &[("Digits", "1")], AUTH_TOKEN).await.expect(200);
    assert!(again.text.contains("<Say>This was acknowledged already.</Say>"), "{}", again.text);
}

#[tokio::test]
async fn a_call_that_nobody_answers_is_a_delivery_that_failed() {
    let (provider, told) = with_provider().await;
    let notice = test(&told, "voice").await;
    sent(&told, &notice).await;
    let path = address(&provider, &told, 2, "StatusCallback").await;
    post_signed(&told.server.client(), &path, &[("CallStatus", "no-answer")], AUTH_TOKEN).await.expect(204);
    let delivery = delivery_of(&told, &notice).await;
    assert_eq!((&delivery["state"], &delivery["error"]), (&json!("failed"), &json!("no-answer")));
}

#[tokio::test]
async fn a_text_with_a_code_that_nobody_was_sent_is_told_so_and_any_other_text_nothing() {
    let (_provider, told) = with_provider().await;
    let text = async |body: &str| {
        let fields = [("From", told.phone.as_str()), ("Body", body)];
        post_signed(&told.server.client(), "/v1/hooks/notify/sms", &fields, AUTH_TOKEN).await.expect(200)
    };
    let answer = text("ACK 7F3K").await;
    assert!(answer.header("content-type").is_some_and(|kind| kind.starts_with("text/xml")));
    assert!(answer.text.contains("<Message>That code isn't known."), "{}", answer.text);
    for body in ["STOP", "", "thanks"] {
        assert_eq!(text(body).await.text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?><Response></Response>");
    }
}

#[tokio::test]
async fn codes_are_not_guessed_one_after_the_other() {
    let (_provider, told) = with_provider().await;
    let text = async |from: &str| {
        let fields = [("From", from), ("Body", "ACK 7F3K")];
        post_signed(&told.server.client(), "/v1/hooks/notify/sms", &fields, AUTH_TOKEN).await
    };
    for _ in 0..60 {
        text(&told.phone).await.expect(200);
    }
    text(&told.phone).await.expect(429);
    text("+491709999998").await.expect(200);
}
