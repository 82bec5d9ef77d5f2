//! Files that browsers send by forms.

use std::time::{Duration, SystemTime};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{
    Shop, element, header, refused,
    signer::{Signer, stamp},
};
use crate::harness::Answer;

const BOUNDARY: &str = "a-form";
const HOUR: Duration = Duration::from_secs(60 * 60);

/// A form under way to being sent.
struct Form<'f> {
    shop: &'f Shop,
    fields: Vec<(&'f str, String)>,
    /// Conditions beside those that each policy has.
    conditions: Vec<Value>,
    expiration: &'f str,
    signed_at: SystemTime,
    signer: Signer,
    file: Vec<u8>,
}

impl<'f> Form<'f> {
    fn new(shop: &'f Shop, file: impl Into<Vec<u8>>) -> Self {
        let (fields, conditions) =
            (vec![("key", "up/${filename}".to_owned())], vec![json!(["starts-with", "$key", "up/"])]);
        let (expiration, signed_at) = ("2999-01-01T00:00:00Z", SystemTime::now());
        Self { shop, fields, conditions, expiration, signed_at, signer: shop.signer.clone(), file: file.into() }
    }

    /// A field that the policy names.
    fn field(mut self, name: &'f str, value: &str) -> Self {
        self.fields.push((name, value.to_owned()));
        self.conditions.push(json!({ name: value }));
        self
    }

    fn condition(mut self, condition: Value) -> Self {
        self.conditions.push(condition);
        self
    }

    async fn send(self) -> Answer {
        let Self { shop, mut fields, mut conditions, expiration, signed_at, signer, file } = self;
        let (credential, date) = (signer.credential(signed_at), stamp(signed_at));
        let algorithm = "AWS4-HMAC-SHA256";
        conditions.extend([
            json!({ "bucket": "files" }),
            json!({ "x-amz-algorithm": algorithm }),
            json!({ "x-amz-credential": credential }),
            json!({ "x-amz-date": date }),
        ]);
        let policy = STANDARD.encode(json!({ "expiration": expiration, "conditions": conditions }).to_string());
        let signature = signer.policy_signature(signed_at, &policy);
        fields.extend([
            ("x-amz-algorithm", algorithm.to_owned()),
            ("x-amz-credential", credential),
            ("x-amz-date", date),
            ("policy", policy),
            ("x-amz-signature", signature),
        ]);
        let mut body = Vec::new();
        for (name, value) in fields {
            let part = format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
            body.extend_from_slice(part.as_bytes());
        }
        let last =
            format!("--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a name\"\r\n\r\n");
        body.extend_from_slice(last.as_bytes());
        body.extend_from_slice(&file);
        body.extend_from_slice(format!("\r\n--{BOUNDARY}--\r\n").as_bytes());
        let content_type = format!("multipart/form-data; boundary={BOUNDARY}");
        shop.post("/files").unsigned().header("content-type", content_type).body(body).send().await
    }
}

#[tokio::test]
async fn a_form_writes_a_file_where_its_policy_says() {
    let shop = Shop::new().await;
    let sent = Form::new(&shop, "hello").field("content-type", "text/x").field("x-amz-meta-n", "1").send().await;
    assert_eq!(header(&sent.expect(204), "etag"), "\"5d41402abc4b2a76b9719d911017c592\"");
    let got = shop.get("/files/up/a%20name").send().await.expect(200);
    assert_eq!(
        (got.text.as_str(), header(&got, "content-type"), header(&got, "x-amz-meta-n")),
        ("hello", "text/x", "1")
    );
    let told = Form::new(&shop, "hello").field("success_action_status", "201").send().await.expect(201);
    assert_eq!(element(&told, "Key"), "up/a name");
}

#[tokio::test]
async fn a_form_is_good_until_its_policy_is_over_however_long_ago_it_was_signed() {
    let shop = Shop::new().await;
    let now = SystemTime::now();
    for ago in [HOUR, 6 * 24 * HOUR] {
        Form { signed_at: now - ago, ..Form::new(&shop, "x") }.send().await.expect(204);
    }
    let late = Form { signed_at: now - 8 * 24 * HOUR, ..Form::new(&shop, "x") }.send().await;
    assert_eq!(late.status, 403, "{}", late.text);
    let over = Form { expiration: "2020-01-01T00:00:00Z", ..Form::new(&shop, "x") }.send().await;
    refused(&over, 403, "AccessDenied");
}

#[tokio::test]
async fn a_form_that_its_policy_does_not_allow_is_refused() {
    let shop = Shop::new().await;
    let sized =
        |bytes: usize| Form::new(&shop, vec![b'x'; bytes]).condition(json!(["content-length-range", 2, 4])).send();
    for (bytes, status) in [(1, 400), (2, 204), (4, 204), (5, 400)] {
        assert_eq!(sized(bytes).await.status, status, "{bytes}");
    }
    refused(&sized(1).await, 400, "EntityTooSmall");
    refused(&sized(5).await, 400, "EntityTooLarge");
    let mut elsewhere = Form::new(&shop, "x");
    elsewhere.fields[0].1 = "down/k".to_owned();
    refused(&elsewhere.send().await, 403, "AccessDenied");
    let mut unnamed = Form::new(&shop, "x");
    unnamed.fields.push(("x-amz-meta-n", "1".to_owned()));
    refused(&unnamed.send().await, 403, "AccessDenied");
    let mut forged = shop.signer.clone();
    forged.secret.push('x');
    refused(&Form { signer: forged, ..Form::new(&shop, "x") }.send().await, 403, "SignatureDoesNotMatch");
    let large = vec![b'x'; 16 * 1_024 * 1_024 + 1];
    refused(&Form::new(&shop, large).send().await, 400, "EntityTooLarge");
    let listed = shop.get("/files?prefix=down").send().await.expect(200);
    assert!(!listed.text.contains("<Key>"), "{}", listed.text);
}
