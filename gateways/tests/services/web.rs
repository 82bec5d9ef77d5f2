use std::time::{Duration, Instant};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::notify::PushPlatform;
use gateways::{
    Delivered, PushError, PushMessage, PushOptions, Pusher,
    push::{PushOptionsError, Reachable, WebPushOptions},
};
use ring::{
    aead::{AES_128_GCM, Aad, LessSafeKey, Nonce, UnboundKey},
    agreement::{ECDH_P256, EphemeralPrivateKey, UnparsedPublicKey, agree_ephemeral},
    hkdf::{HKDF_SHA256, KeyType, Salt},
    rand::SystemRandom,
};
use serde_json::{Value, json};

use crate::{
    NOW, PATIENCE, keys, message, retry_after,
    server::{Reply, Service},
};

const AUTH: [u8; 16] = [9; 16];

/// A browser that can read one message.
struct Browser {
    key: EphemeralPrivateKey,
    public_key: Vec<u8>,
}

impl Browser {
    fn new() -> Self {
        let key = EphemeralPrivateKey::generate(&ECDH_P256, &SystemRandom::new()).expect("a key");
        let public_key = key.compute_public_key().expect("a public key").as_ref().to_vec();
        Self { key, public_key }
    }

    fn subscription(&self, endpoint: &str) -> String {
        let (p256dh, auth) = (URL_SAFE_NO_PAD.encode(&self.public_key), URL_SAFE_NO_PAD.encode(AUTH));
        json!({ "endpoint": endpoint, "p256dh": p256dh, "auth": auth }).to_string()
    }

    /// Decrypts as RFC 8291 says that a browser does.
    fn read(self, sealed: &[u8]) -> Value {
        struct Length(usize);
        impl KeyType for Length {
            fn len(&self) -> usize {
                self.0
            }
        }
        let (salt, sender, record) = (&sealed[..16], &sealed[21..86], &sealed[86..]);
        assert_eq!((&sealed[16..20], sealed[20]), (&[0, 0, 16, 0][..], 65));
        let mut input = [0; 32];
        let sender_key = UnparsedPublicKey::new(&ECDH_P256, sender);
        agree_ephemeral(self.key, &sender_key, |secret| {
            let info: [&[u8]; 3] = [b"WebPush: info\0", &self.public_key, sender];
            Salt::new(HKDF_SHA256, &AUTH)
                .extract(secret)
                .expand(&info, Length(32))
                .expect("bytes")
                .fill(&mut input)
                .expect("bytes");
        })
        .expect("a shared secret");
        let secret = Salt::new(HKDF_SHA256, salt).extract(&input);
        let key = UnboundKey::from(secret.expand(&[b"Content-Encoding: aes128gcm\0"], &AES_128_GCM).expect("bytes"));
        let mut nonce = [0; 12];
        secret.expand(&[b"Content-Encoding: nonce\0"], Length(12)).expect("bytes").fill(&mut nonce).expect("bytes");
        let mut record = record.to_vec();
        let nonce = Nonce::assume_unique_for_key(nonce);
        let plain = LessSafeKey::new(key).open_in_place(nonce, Aad::empty(), &mut record).expect("our own message");
        let (delimiter, plain) = plain.split_last().expect("a delimiter");
        assert_eq!(*delimiter, 2);
        serde_json::from_slice(plain).expect("JSON")
    }
}

fn options(reachable: Reachable) -> WebPushOptions {
    WebPushOptions { key: keys::p256().0, contact: "mailto:ops@example.org".to_owned(), reachable, timeout: PATIENCE }
}

fn pusher(options: WebPushOptions) -> Pusher {
    Pusher::new(&PushOptions { web: Some(options), ..PushOptions::default() }).expect("a pusher")
}

fn to(endpoint: &str) -> PushMessage {
    message(PushPlatform::Web, &Browser::new().subscription(endpoint))
}

async fn refused(reply: Reply) -> PushError {
    let service = Service::replying([reply]).await;
    pusher(options(Reachable::Anything)).push(&to(&service.url()), NOW).await.expect_err("a refusal")
}

#[tokio::test]
async fn a_message_reaches_the_browser_and_nobody_else_reads_it() {
    let service = Service::replying([Reply::new(201, "").with("location", "https://push.example/m/1")]).await;
    let (key, public_key) = keys::p256();
    let pusher = pusher(WebPushOptions { key, ..options(Reachable::Anything) });
    let browser = Browser::new();
    let subscription = browser.subscription(&format!("{}/push/abc", service.url()));
    let sent = pusher.push(&message(PushPlatform::Web, &subscription), NOW).await;
    assert_eq!(sent, Ok(Delivered::Sent { response: "https://push.example/m/1".to_owned() }));
    let heard = service.only();
    assert_eq!((heard.method.as_str(), heard.path.as_str()), ("POST", "/push/abc"));
    assert_eq!(heard.header("content-encoding"), "aes128gcm");
    assert_eq!(heard.header("ttl"), "3600");
    assert_eq!(heard.header("urgency"), "high");
    assert_eq!(heard.header("topic").len(), 32);
    assert_eq!(
        browser.read(&heard.body),
        json!({
            "title": "The disk is full", "body": "On db-1, since 10:32.", "app": "tasks", "tag": "esc_1",
            "url": "https://troupe.example/alarms/1", "data": { "noticeId": "nte_1" },
        })
    );

    let authorization = heard.header("authorization");
    let (token, own_key) = authorization.strip_prefix("vapid t=").unwrap().split_once(", k=").unwrap();
    assert_eq!(own_key, URL_SAFE_NO_PAD.encode(&public_key));
    assert_eq!(pusher.web_public_key().as_deref(), Some(own_key));
    let (header, claims) = keys::es256(token, &public_key);
    assert_eq!(header, json!({ "alg": "ES256", "typ": "JWT" }));
    assert_eq!(claims, json!({ "aud": service.url(), "exp": 1_800_043_200, "sub": "mailto:ops@example.org" }));
}

#[tokio::test]
async fn a_long_body_is_cut_to_what_push_services_must_take() {
    let service = Service::replying([Reply::new(201, "")]).await;
    let browser = Browser::new();
    let token = browser.subscription(&service.url());
    let long = PushMessage { body: "x".repeat(10_000), ..message(PushPlatform::Web, &token) };
    pusher(options(Reachable::Anything)).push(&long, NOW).await.expect("a push");
    let sealed = service.only().body;
    assert_eq!(sealed.len(), 4_096);
    assert!(browser.read(&sealed)["body"].as_str().unwrap().ends_with("x…"));
}

#[tokio::test]
async fn what_is_not_urgent_says_so() {
    let service = Service::replying([Reply::new(201, "")]).await;
    let calm = PushMessage { urgent: false, collapse_id: None, ..to(&service.url()) };
    pusher(options(Reachable::Anything)).push(&calm, NOW).await.expect("a push");
    let heard = service.only();
    assert_eq!(heard.header("urgency"), "normal");
    assert!(!heard.headers.contains_key("topic"));
}

#[tokio::test]
async fn a_browser_that_is_gone_is_a_dead_token() {
    for status in [404, 410] {
        let gone = refused(Reply::new(status, "push subscription has unsubscribed or expired")).await;
        assert_eq!(gone, PushError::DeadToken(format!("the browser's push service answered {status}")));
    }
}

#[tokio::test]
async fn a_busy_service_says_when_to_come_back() {
    for status in [429, 503] {
        let busy = refused(Reply::new(status, "").with("retry-after", "120")).await;
        assert_eq!(retry_after(&busy), Some(Duration::from_secs(120)));
    }
    assert_eq!(retry_after(&refused(Reply::new(500, "")).await), None);
}

#[tokio::test]
async fn what_a_service_refuses_it_refuses_for_good() {
    for status in [400, 401, 403, 413] {
        assert!(matches!(refused(Reply::new(status, "")).await, PushError::Permanent(_)), "{status}");
    }
}

#[tokio::test]
async fn a_service_can_not_send_us_elsewhere_or_put_words_into_our_mouth() {
    let inner = Service::replying([Reply::new(201, "secret")]).await;
    let error = refused(Reply::new(307, "secret").with("location", inner.url())).await;
    assert!(matches!(&error, PushError::Permanent(reason) if !reason.contains("secret")), "{error}");
    assert!(inner.heard().is_empty());
    assert!(!refused(Reply::new(400, "<script>")).await.to_string().contains("script"));
}

#[tokio::test]
async fn a_service_beside_the_server_is_not_asked() {
    let service = Service::replying([Reply::new(201, "")]).await;
    let pusher = pusher(options(Reachable::Public));
    let port = service.address.port();
    for endpoint in [service.url(), format!("https://127.0.0.1:{port}"), format!("https://[::ffff:127.0.0.1]:{port}")] {
        let error = pusher.push(&to(&endpoint), NOW).await.expect_err("a refusal");
        let reason = "the registration's endpoint is no https address of the internet";
        assert_eq!(error, PushError::DeadToken(reason.to_owned()), "{endpoint}");
    }
    let error = pusher.push(&to(&format!("https://localhost:{port}/")), NOW).await.expect_err("a refusal");
    assert!(error.to_string().contains("the name has no public address"), "{error}");
    assert!(service.heard().is_empty());
}

#[tokio::test]
async fn a_registration_that_can_not_be_read_is_a_dead_token() {
    let pusher = pusher(options(Reachable::Anything));
    let broken_key = to("http://127.0.0.1:9/").token.replace("p256dh\":\"B", "p256dh\":\"A");
    for token in ["{}", "abc", &broken_key] {
        let error = pusher.push(&message(PushPlatform::Web, token), NOW).await.expect_err("a refusal");
        assert!(matches!(error, PushError::DeadToken(_)), "{token}: {error}");
    }
}

#[tokio::test]
async fn a_silent_service_is_waited_for_no_longer_than_said() {
    let service = Service::replying([Reply::never()]).await;
    let hasty = WebPushOptions { timeout: Duration::from_millis(200), ..options(Reachable::Anything) };
    let begun = Instant::now();
    let error = pusher(hasty).push(&to(&service.url()), NOW).await.expect_err("a time-out");
    assert!(begun.elapsed() < PATIENCE && error.is_temporary(), "{error}");
}

#[tokio::test]
async fn a_console_keeps_what_nothing_is_configured_for() {
    let pusher = pusher(options(Reachable::Public));
    for (platform, kept) in [(PushPlatform::Ios, true), (PushPlatform::Android, true), (PushPlatform::Web, false)] {
        assert_eq!(pusher.is_console(platform), kept);
    }
    assert_eq!(pusher.push(&message(PushPlatform::Ios, "aa"), NOW).await, Ok(Delivered::Keep));
    assert_eq!(Pusher::console().web_public_key(), None);
    assert_eq!(format!("{pusher:?}"), "{Web}");
}

#[test]
fn a_key_or_contact_that_is_none_is_refused_at_the_start() {
    let start = |web| Pusher::new(&PushOptions { web: Some(web), ..PushOptions::default() });
    let keyless = WebPushOptions { key: String::new(), ..options(Reachable::Public) };
    assert!(matches!(start(keyless), Err(PushOptionsError::Key(..))));
    let anonymous = WebPushOptions { contact: "ops@example.org".to_owned(), ..options(Reachable::Public) };
    assert!(matches!(start(anonymous), Err(PushOptionsError::Contact(_))));
}
