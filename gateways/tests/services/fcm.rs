use std::{
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
    time::{Duration, Instant},
};

use domain::notify::PushPlatform;
use gateways::{
    Delivered, PushError, PushMessage, PushOptions, Pusher,
    push::{FcmOptions, PushOptionsError},
};
use serde_json::{Value, json};

use crate::{
    NOW, PATIENCE, keys, message, retry_after,
    server::{Heard, Reply, Service},
};

const SENT: &str = r#"{"name": "projects/acme/messages/0:15"}"#;

fn service_account(url: &str, key: &str) -> String {
    json!({
        "type": "service_account",
        "project_id": "acme",
        "private_key_id": "key1",
        "private_key": key,
        "client_email": "troupe@acme.iam.gserviceaccount.com",
        "token_uri": format!("{url}/token"),
    })
    .to_string()
}

fn options(service: &Service) -> FcmOptions {
    let service_account = service_account(&service.url(), keys::RSA_PEM);
    FcmOptions { base_url: service.url(), service_account, timeout: PATIENCE }
}

fn pusher(options: FcmOptions) -> Pusher {
    Pusher::new(&PushOptions { fcm: Some(options), ..PushOptions::default() }).expect("a pusher")
}

fn to_phone() -> PushMessage {
    message(PushPlatform::Android, "fcm:token")
}

/// Google: it signs in whoever asks, with another access token each time, and answers messages with each of `replies` in
/// turn.
async fn google(replies: Vec<Reply>) -> Service {
    let (signed_in, sent) = (AtomicUsize::new(0), AtomicUsize::new(0));
    Service::new(move |heard| {
        if heard.path == "/token" {
            let token = format!("token-{}", signed_in.fetch_add(1, SeqCst));
            Reply::new(200, json!({ "access_token": token, "expires_in": 3_599, "token_type": "Bearer" }).to_string())
        } else {
            replies[sent.fetch_add(1, SeqCst).min(replies.len() - 1)].clone()
        }
    })
    .await
}

fn error(code: u16, status: &str, details: &Value) -> Reply {
    let error = json!({ "code": code, "message": "No.", "status": status, "details": details });
    Reply::new(code, json!({ "error": error }).to_string())
}

fn fcm_error(code: u16, status: &str, name: &str) -> Reply {
    let kind = "type.googleapis.com/google.firebase.fcm.v1.FcmError";
    error(code, status, &json!([{ "@type": kind, "errorCode": name }]))
}

async fn refused(reply: Reply) -> PushError {
    let service = google(vec![reply]).await;
    pusher(options(&service)).push(&to_phone(), NOW).await.expect_err("a refusal")
}

fn messages(service: &Service) -> Vec<Heard> {
    service.heard().into_iter().filter(|heard| heard.path != "/token").collect()
}

fn sign_ins(service: &Service) -> usize {
    service.heard().iter().filter(|heard| heard.path == "/token").count()
}

#[tokio::test]
async fn a_message_is_sent_with_a_service_accounts_access_token() {
    let service = google(vec![Reply::new(200, SENT)]).await;
    let sent = pusher(options(&service)).push(&to_phone(), NOW).await;
    assert_eq!(sent, Ok(Delivered::Sent { response: "projects/acme/messages/0:15".to_owned() }));
    let [sign_in, push] = service.heard().try_into().expect("two requests");
    let form = sign_in.form();
    assert_eq!(form["grant_type"], "urn:ietf:params:oauth:grant-type:jwt-bearer");
    let (header, claims) = keys::rs256(&form["assertion"]);
    assert_eq!(header, json!({ "alg": "RS256", "typ": "JWT", "kid": "key1" }));
    assert_eq!(
        claims,
        json!({
            "iss": "troupe@acme.iam.gserviceaccount.com",
            "scope": "https://www.googleapis.com/auth/firebase.messaging",
            "aud": format!("{}/token", service.url()),
            "iat": 1_800_000_000,
            "exp": 1_800_003_600,
        })
    );
    assert_eq!(push.path, "/v1/projects/acme/messages:send");
    assert_eq!(push.header("authorization"), "Bearer token-0");
    assert_eq!(
        push.json(),
        json!({ "message": {
            "token": "fcm:token",
            "notification": { "title": "The disk is full", "body": "On db-1, since 10:32." },
            "data": { "app": "tasks", "noticeId": "nte_1", "url": "https://troupe.example/alarms/1" },
            "android": {
                "priority": "HIGH", "ttl": "3600s", "collapse_key": "esc_1", "notification": { "tag": "esc_1" },
            },
        } })
    );
}

#[tokio::test]
async fn keys_that_google_keeps_for_itself_do_not_stop_a_message() {
    let service = google(vec![Reply::new(200, SENT)]).await;
    let mut message = PushMessage { urgent: false, collapse_id: None, url: None, ..to_phone() };
    message.data.extend(["from", "google.x", "gcm", "message_type"].map(|key| (key.to_owned(), "x".to_owned())));
    pusher(options(&service)).push(&message, NOW).await.expect("a push");
    let sent = messages(&service)[0].json();
    assert_eq!(sent["message"]["data"], json!({ "app": "tasks", "noticeId": "nte_1" }));
    assert_eq!(sent["message"]["android"], json!({ "priority": "NORMAL", "ttl": "3600s" }));
}

#[tokio::test]
async fn an_access_token_is_used_until_shortly_before_its_end() {
    let service = google(vec![Reply::new(200, SENT)]).await;
    let pusher = pusher(options(&service));
    let at = |seconds| NOW.after(Duration::from_secs(seconds));
    for (moment, fetched) in [(NOW, 1), (at(3_298), 1), (at(3_299), 2), (at(3_300), 2)] {
        pusher.push(&to_phone(), moment).await.expect("a push");
        assert_eq!(sign_ins(&service), fetched, "{moment:?}");
    }
    assert_eq!(messages(&service)[3].header("authorization"), "Bearer token-1");
}

#[tokio::test]
async fn messages_at_once_sign_in_once() {
    let service = google(vec![Reply::new(200, SENT)]).await;
    let pusher = pusher(options(&service));
    let message = to_phone();
    let sent = futures::future::join_all((0..20).map(|_| pusher.push(&message, NOW))).await;
    assert!(sent.iter().all(Result::is_ok));
    assert_eq!((sign_ins(&service), messages(&service).len()), (1, 20));
}

#[tokio::test]
async fn an_access_token_that_google_refuses_is_renewed_once() {
    let refusal = error(401, "UNAUTHENTICATED", &json!([]));
    let service = google(vec![refusal.clone(), Reply::new(200, SENT), refusal]).await;
    let pusher = pusher(options(&service));
    pusher.push(&to_phone(), NOW).await.expect("a push");
    assert_eq!((sign_ins(&service), messages(&service).len()), (2, 2));
    assert!(pusher.push(&to_phone(), NOW).await.expect_err("a refusal").is_temporary());
    assert_eq!((sign_ins(&service), messages(&service).len()), (3, 4));
}

#[tokio::test]
async fn a_device_that_is_gone_is_a_dead_token() {
    let gone = refused(fcm_error(404, "NOT_FOUND", "UNREGISTERED")).await;
    assert_eq!(gone, PushError::DeadToken("Google's push service answered 404: UNREGISTERED No.".to_owned()));
    let violation = json!([
        { "@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": "INVALID_ARGUMENT" },
        { "@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [{ "field": "message.token" }] },
    ]);
    assert!(matches!(refused(error(400, "INVALID_ARGUMENT", &violation)).await, PushError::DeadToken(_)));
}

#[tokio::test]
async fn a_project_that_is_not_there_costs_no_device_its_registration() {
    assert!(refused(error(404, "NOT_FOUND", &json!([]))).await.is_temporary());
    assert!(refused(fcm_error(403, "PERMISSION_DENIED", "SENDER_ID_MISMATCH")).await.is_temporary());
}

#[tokio::test]
async fn a_busy_service_says_when_to_come_back() {
    let quota = fcm_error(429, "RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED").with("retry-after", "60");
    assert_eq!(retry_after(&refused(quota).await), Some(Duration::from_secs(60)));
    let away = fcm_error(503, "UNAVAILABLE", "UNAVAILABLE").with("retry-after", "5");
    assert_eq!(retry_after(&refused(away).await), Some(Duration::from_secs(5)));
    assert_eq!(retry_after(&refused(Reply::new(502, "<html>")).await), None);
}

#[tokio::test]
async fn a_wrong_message_is_refused_for_good() {
    let error = refused(fcm_error(400, "INVALID_ARGUMENT", "INVALID_ARGUMENT")).await;
    assert!(matches!(error, PushError::Permanent(_)), "{error}");
}

#[tokio::test]
async fn a_refused_sign_in_is_an_operators_to_mend_and_waits() {
    let body = r#"{"error": "invalid_grant", "error_description": "Invalid JWT Signature."}"#;
    let service = Service::replying([Reply::new(400, body)]).await;
    let pusher = pusher(options(&service));
    let error = pusher.push(&to_phone(), NOW).await.expect_err("a refusal");
    assert_eq!(error.to_string(), "Google's sign-in answered 400: invalid_grant");
    assert!(error.is_temporary());
    assert_eq!(pusher.check(PushPlatform::Android, NOW).await, Err(error));
    assert_eq!(messages(&service).len(), 0);
}

#[tokio::test]
async fn a_silent_service_is_waited_for_no_longer_than_said() {
    let service = google(vec![Reply::never()]).await;
    let hasty = FcmOptions { timeout: Duration::from_millis(300), ..options(&service) };
    let begun = Instant::now();
    let error = pusher(hasty).push(&to_phone(), NOW).await.expect_err("a time-out");
    assert!(begun.elapsed() < PATIENCE);
    assert!(error.is_temporary() && error.to_string() == "the service did not answer in time", "{error}");
}

#[tokio::test]
async fn the_sign_in_can_be_checked() {
    let service = google(vec![Reply::new(200, SENT)]).await;
    assert_eq!(pusher(options(&service)).check(PushPlatform::Android, NOW).await, Ok(()));
    assert!(messages(&service).is_empty());
}

#[test]
fn a_service_account_that_is_none_is_refused_at_the_start() {
    let start = |service_account: String| {
        let fcm = FcmOptions { base_url: String::new(), service_account, timeout: PATIENCE };
        Pusher::new(&PushOptions { fcm: Some(fcm), ..PushOptions::default() })
    };
    for file in ["", "{}", "[]"] {
        assert!(matches!(start(file.to_owned()), Err(PushOptionsError::ServiceAccount(_))), "{file}");
    }
    for key in ["", "abc", &keys::p256().0] {
        assert!(matches!(start(service_account("", key)), Err(PushOptionsError::Key(..))), "{key}");
    }
}
