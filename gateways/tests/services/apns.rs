use std::time::{Duration, Instant};

use domain::{Timestamp, notify::PushPlatform};
use gateways::{
    Delivered, PushError, PushMessage, PushOptions, Pusher,
    push::{ApnsOptions, PushOptionsError},
};
use serde_json::{Value, json};

use crate::{
    NOW, PATIENCE, keys, message, retry_after,
    server::{Heard, Reply, Service},
};

const DEVICE: &str = "00fc13adff785122b4ad28809a3420982341241421348097878e577c991de8f0";

fn options(base_url: String, key: String) -> ApnsOptions {
    ApnsOptions {
        base_url,
        team_id: "TEAM123456".to_owned(),
        key_id: "KEY1234567".to_owned(),
        key,
        topic: "org.example.troupe.{app}".to_owned(),
        timeout: PATIENCE,
    }
}

fn pusher(options: ApnsOptions) -> Pusher {
    Pusher::new(&PushOptions { apns: Some(options), ..PushOptions::default() }).expect("a pusher")
}

fn to_phone() -> PushMessage {
    message(PushPlatform::Ios, DEVICE)
}

fn minutes(minutes: u64) -> Timestamp {
    NOW.after(Duration::from_secs(60 * minutes))
}

fn token_of(heard: &Heard) -> &str {
    heard.header("authorization").strip_prefix("Bearer ").expect("a token")
}

fn reason(status: u16, reason: &str) -> Reply {
    Reply::new(status, json!({ "reason": reason }).to_string())
}

async fn refused(reply: Reply) -> PushError {
    let service = Service::replying([reply]).await;
    pusher(options(service.url(), keys::p256().0)).push(&to_phone(), NOW).await.expect_err("a refusal")
}

#[tokio::test]
async fn a_message_goes_over_http2_with_what_apple_asks_for() {
    let service = Service::replying([Reply::new(200, "").with("apns-id", "EC1BF194")]).await;
    let (key, public_key) = keys::p256();
    let sent = pusher(options(service.url(), key)).push(&to_phone(), NOW).await;
    assert_eq!(sent, Ok(Delivered::Sent { response: "EC1BF194".to_owned() }));
    let heard = service.only();
    assert!(heard.is_http2);
    assert_eq!((heard.method.as_str(), &heard.path), ("POST", &format!("/3/device/{DEVICE}")));
    for (name, value) in [
        ("apns-topic", "org.example.troupe.tasks"),
        ("apns-push-type", "alert"),
        ("apns-priority", "10"),
        ("apns-expiration", "1800003600"),
        ("apns-collapse-id", "esc_1"),
    ] {
        assert_eq!(heard.headers[name], value, "{name}");
    }
    let (header, claims) = keys::es256(token_of(&heard), &public_key);
    assert_eq!(header, json!({ "alg": "ES256", "kid": "KEY1234567" }));
    assert_eq!(claims, json!({ "iss": "TEAM123456", "iat": 1_800_000_000 }));
    let payload: Value = serde_json::from_slice(&heard.body).unwrap();
    assert_eq!(payload["aps"]["alert"], json!({ "title": "The disk is full", "body": "On db-1, since 10:32." }));
    assert_eq!(payload["aps"]["interruption-level"], "time-sensitive");
    assert_eq!(payload["url"], "https://troupe.example/alarms/1");
    assert_eq!(payload["data"], json!({ "noticeId": "nte_1" }));
}

#[tokio::test]
async fn tries_of_one_message_carry_one_id() {
    let service = Service::replying([reason(503, "ServiceUnavailable"), Reply::new(200, "")]).await;
    let pusher = pusher(options(service.url(), keys::p256().0));
    pusher.push(&to_phone(), NOW).await.expect_err("a refusal");
    pusher.push(&to_phone(), minutes(1)).await.expect("a push");
    pusher.push(&PushMessage { idempotency_key: "dlv_2".to_owned(), ..to_phone() }, NOW).await.expect("a push");
    let ids: Vec<_> = service.heard().iter().map(|heard| heard.header("apns-id").to_owned()).collect();
    assert_eq!(ids[0], ids[1]);
    assert_ne!(ids[0], ids[2]);
    assert_eq!(ids[0].len(), 36);
}

#[tokio::test]
async fn what_is_not_urgent_spares_the_battery() {
    let service = Service::replying([Reply::new(200, "")]).await;
    let calm = PushMessage { urgent: false, collapse_id: None, ..to_phone() };
    pusher(options(service.url(), keys::p256().0)).push(&calm, NOW).await.expect("a push");
    let heard = service.only();
    assert_eq!(heard.header("apns-priority"), "5");
    assert!(!heard.headers.contains_key("apns-collapse-id"));
    assert_eq!(heard.json()["aps"]["interruption-level"], "active");
}

#[tokio::test]
async fn a_long_body_is_cut_to_what_apple_takes() {
    let service = Service::replying([Reply::new(200, "")]).await;
    let long = PushMessage { body: "ü".repeat(4_000), ..to_phone() };
    pusher(options(service.url(), keys::p256().0)).push(&long, NOW).await.expect("a push");
    let size = service.only().body.len();
    assert!((4_090..=4_096).contains(&size), "{size}");
}

#[tokio::test]
async fn a_token_of_ours_is_used_again_and_renewed_in_time() {
    let service = Service::replying([Reply::new(200, "")]).await;
    let pusher = pusher(options(service.url(), keys::p256().0));
    for at in [0, 44, 45, 46] {
        pusher.push(&to_phone(), minutes(at)).await.expect("a push");
    }
    let heard = service.heard();
    assert_eq!(token_of(&heard[0]), token_of(&heard[1]));
    assert_ne!(token_of(&heard[1]), token_of(&heard[2]));
    assert_eq!(token_of(&heard[2]), token_of(&heard[3]));
}

#[tokio::test]
async fn a_token_that_apple_calls_expired_is_renewed_once() {
    let service = Service::replying([
        Reply::new(200, ""),
        reason(403, "ExpiredProviderToken"),
        Reply::new(200, "").with("apns-id", "A1"),
    ])
    .await;
    let pusher = pusher(options(service.url(), keys::p256().0));
    pusher.push(&to_phone(), NOW).await.expect("a push");
    let sent = pusher.push(&to_phone(), minutes(20)).await;
    assert_eq!(sent, Ok(Delivered::Sent { response: "A1".to_owned() }));
    let heard = service.heard();
    assert_eq!(heard.len(), 3);
    assert_eq!(token_of(&heard[0]), token_of(&heard[1]));
    assert_ne!(token_of(&heard[1]), token_of(&heard[2]));
    assert_eq!(heard[1].body, heard[2].body);
}

#[tokio::test]
async fn a_fresh_token_that_apple_calls_expired_waits_instead_of_being_renewed_too_often() {
    let service = Service::replying([reason(403, "ExpiredProviderToken")]).await;
    let pusher = pusher(options(service.url(), keys::p256().0));
    assert!(pusher.push(&to_phone(), NOW).await.expect_err("a refusal").is_temporary());
    assert!(pusher.push(&to_phone(), minutes(19)).await.expect_err("a refusal").is_temporary());
    assert_eq!(service.heard().len(), 2);
    assert!(pusher.push(&to_phone(), minutes(20)).await.expect_err("a refusal").is_temporary());
    assert_eq!(service.heard().len(), 4);
}

#[tokio::test]
async fn a_device_that_is_gone_is_a_dead_token() {
    let gone = refused(Reply::new(410, r#"{"reason": "Unregistered", "timestamp": 1800000000000}"#)).await;
    assert_eq!(gone, PushError::DeadToken("Apple's push service answered 410: Unregistered".to_owned()));
    assert!(matches!(refused(reason(400, "BadDeviceToken")).await, PushError::DeadToken(_)));
}

#[tokio::test]
async fn a_token_that_is_none_is_not_sent_anywhere() {
    let service = Service::replying([Reply::new(200, "")]).await;
    let pusher = pusher(options(service.url(), keys::p256().0));
    for token in ["", "../../secret", "not hexadecimal"] {
        let error = pusher.push(&message(PushPlatform::Ios, token), NOW).await.expect_err("a refusal");
        assert!(matches!(error, PushError::DeadToken(_)), "{token}");
    }
    assert!(service.heard().is_empty());
}

#[tokio::test]
async fn a_busy_service_says_when_to_come_back() {
    let busy = refused(reason(429, "TooManyRequests").with("retry-after", "11")).await;
    assert_eq!(retry_after(&busy), Some(Duration::from_secs(11)));
    let down = refused(reason(503, "Shutdown").with("retry-after", "3")).await;
    assert_eq!(retry_after(&down), Some(Duration::from_secs(3)));
    assert_eq!(retry_after(&refused(reason(500, "InternalServerError")).await), None);
}

#[tokio::test]
async fn a_wrong_key_or_topic_is_tried_again_and_a_wrong_message_is_not() {
    for (status, why) in [(403, "InvalidProviderToken"), (400, "TopicDisallowed"), (400, "DeviceTokenNotForTopic")] {
        assert!(refused(reason(status, why)).await.is_temporary(), "{why}");
    }
    for (status, why) in [(413, "PayloadTooLarge"), (400, "BadPriority"), (404, "BadPath")] {
        assert!(matches!(refused(reason(status, why)).await, PushError::Permanent(_)), "{why}");
    }
}

#[tokio::test]
async fn a_silent_or_absent_service_is_waited_for_no_longer_than_said() {
    let service = Service::replying([Reply::never()]).await;
    let hasty = ApnsOptions { timeout: Duration::from_millis(200), ..options(service.url(), keys::p256().0) };
    let begun = Instant::now();
    let error = pusher(hasty).push(&to_phone(), NOW).await.expect_err("a time-out");
    assert!(begun.elapsed() < PATIENCE);
    assert_eq!(error.to_string(), "the service did not answer in time");
    assert!(error.is_temporary());
    let url = service.url();
    drop(service);
    let error = pusher(options(url, keys::p256().0)).push(&to_phone(), NOW).await.expect_err("nobody there");
    assert!(error.is_temporary() && !error.to_string().contains(DEVICE), "{error}");
}

#[tokio::test]
async fn the_sign_in_can_be_checked_without_a_device() {
    let service = Service::replying([reason(400, "BadDeviceToken"), reason(403, "InvalidProviderToken")]).await;
    let pusher = pusher(options(service.url(), keys::p256().0));
    assert_eq!(pusher.check(PushPlatform::Ios, NOW).await, Ok(()));
    let error = pusher.check(PushPlatform::Ios, NOW).await.expect_err("a refusal");
    assert_eq!(error.to_string(), "Apple's push service answered 403: InvalidProviderToken");
}

#[test]
fn a_key_that_is_none_is_refused_at_the_start() {
    for key in ["", "abc", keys::RSA_PEM] {
        let options = PushOptions { apns: Some(options(String::new(), key.to_owned())), ..PushOptions::default() };
        assert!(matches!(Pusher::new(&options), Err(PushOptionsError::Key(..))), "{key}");
    }
}
