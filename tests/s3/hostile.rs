//! Who means no good: bodies, signatures, names and XML.

use std::time::Duration;

use serde_json::json;

use super::{Shop, header, key, refused, signer::sha256};

#[tokio::test]
async fn bodies_that_are_not_what_they_say_are_refused_and_leave_nothing() {
    let shop = Shop::new().await;
    let wrong = shop.put("/files/x").payload(sha256(b"other")).body("body").send().await;
    refused(&wrong, 400, "XAmzContentSHA256Mismatch");
    for (body, code) in [
        ("9\r\n12345678", "IncompleteBody"),
        ("9\r\n123456789\r\n", "IncompleteBody"),
        ("zz\r\n123456789\r\n0\r\n\r\n", "InvalidRequest"),
        ("8\r\n12345678\r\n0\r\n\r\n", "IncompleteBody"),
    ] {
        let sent = shop
            .put("/files/x")
            .payload("STREAMING-UNSIGNED-PAYLOAD-TRAILER")
            .header("x-amz-decoded-content-length", "9")
            .header("x-amz-trailer", "x-amz-checksum-crc32")
            .body(body)
            .send()
            .await;
        assert_eq!(sent.status, 400, "{body:?} {}", sent.text);
        assert!(sent.text.contains("<Code>"), "{code} {}", sent.text);
    }
    refused(&shop.get("/files/x").send().await, 404, "NoSuchKey");
    let usage = shop.ada.client.get(&format!("{}/storage", shop.org)).send().await.expect(200);
    assert_eq!(usage.json["buckets"][0]["usage"]["objects"], 0);
}

#[tokio::test]
async fn signatures_are_checked_whole() {
    let shop = Shop::new().await;
    shop.file("k", "secret").await;
    let mut forged = shop.signer.clone();
    forged.secret.push('x');
    refused(&shop.get("/files/k").by(&forged).send().await, 403, "SignatureDoesNotMatch");
    forged.id = "TRPA0000000000000000".to_owned();
    refused(&shop.get("/files/k").by(&forged).send().await, 403, "InvalidAccessKeyId");
    let late = shop.get("/files/k").ago(Duration::from_secs(16 * 60)).send().await;
    refused(&late, 403, "RequestTimeTooSkewed");
    refused(&shop.get("/files/k").unsigned().send().await, 403, "AccessDenied");
    refused(&shop.get("/nothing/k").unsigned().send().await, 403, "AccessDenied");
    let second = shop.get("/files/k").unsigned().header("authorization", "AWS TRPA:c2ln").send().await;
    refused(&second, 400, "InvalidRequest");
    let query = "/files/k?AWSAccessKeyId=TRPA&Expires=9999999999&Signature=c2ln";
    refused(&shop.get(query).unsigned().send().await, 400, "InvalidRequest");
    for text in ["", "AWS4-HMAC-SHA256", "AWS4-HMAC-SHA256 Credential=a, SignedHeaders=host, Signature=", "Bearer x"] {
        let sent = shop.get("/files/k").unsigned().header("authorization", text).send().await;
        assert!((400..500).contains(&sent.status), "{text} {}", sent.text);
    }
}

#[tokio::test]
async fn a_key_does_what_it_was_given_and_no_more() {
    let shop = Shop::new().await;
    shop.file("a/1", "one").await;
    shop.file("b/1", "two").await;
    let reader = key(&shop.ada, &shop.org, json!({ "name": "reader", "access": "read" })).await;
    shop.get("/files/a/1").by(&reader).send().await.expect(200);
    refused(&shop.put("/files/a/1").by(&reader).body("x").send().await, 403, "AccessDenied");
    refused(&shop.delete("/files/a/1").by(&reader).send().await, 403, "AccessDenied");
    refused(&shop.put("/other").by(&reader).send().await, 403, "AccessDenied");
    let below = key(&shop.ada, &shop.org, json!({ "name": "below", "access": "write", "prefix": "a/" })).await;
    shop.put("/files/a/2").by(&below).body("x").send().await.expect(200);
    refused(&shop.put("/files/b/2").by(&below).body("x").send().await, 403, "AccessDenied");
    refused(&shop.get("/files/b/1").by(&below).send().await, 403, "AccessDenied");
    shop.get("/files?prefix=a%2F").by(&below).send().await.expect(200);
    refused(&shop.get("/files").by(&below).send().await, 403, "AccessDenied");
    refused(
        &shop
            .put("/files?versioning")
            .by(&below)
            .body("<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>")
            .send()
            .await,
        403,
        "AccessDenied",
    );
    let stranger = shop.server.person("eve").await;
    let elsewhere = crate::accounts::org(&stranger, "Evil").await;
    let eve = key(&stranger, &elsewhere, json!({ "name": "eve", "access": "write" })).await;
    refused(&shop.get("/files/a/1").by(&eve).send().await, 404, "NoSuchBucket");
    refused(&shop.put("/files/a/1").by(&eve).body("x").send().await, 404, "NoSuchBucket");
    refused(&shop.delete("/files").by(&eve).send().await, 404, "NoSuchBucket");
    shop.put("/files").by(&eve).send().await.expect(200);
    refused(&shop.put("/files").send().await, 409, "BucketAlreadyOwnedByYou");
}

#[tokio::test]
async fn names_and_keys_are_what_s3_takes() {
    let shop = Shop::new().await;
    for name in ["ab", "UPPER", "a_b", "-abc", "192.168.1.1"] {
        let made = shop.put(format!("/{name}")).send().await;
        refused(&made, 400, "InvalidBucketName");
    }
    let longest = "k".repeat(1_024);
    shop.file(&longest, "x").await;
    refused(&shop.put(format!("/files/{longest}k")).body("x").send().await, 400, "KeyTooLongError");
    for (path, key) in
        [("..%2f..%2fetc", "../../etc"), ("/x", "/x"), ("a//b", "a//b"), ("%01", "\u{1}"), ("a%20%2B", "a +")]
    {
        shop.file(path, key).await;
        assert_eq!(shop.get(format!("/files/{path}")).send().await.expect(200).text, key);
    }
    refused(&shop.put("/files/%ff").body("x").send().await, 400, "InvalidURI");
    let large = "m".repeat(2_100);
    let sent = shop.put("/files/m").header("x-amz-meta-large", large).body("x").send().await;
    refused(&sent, 400, "MetadataTooLarge");
    refused(
        &shop.put("/files/a").header("x-amz-acl", "public-read").body("x").send().await,
        400,
        "AccessControlListNotSupported",
    );
    refused(
        &shop.put("/files/a").header("x-amz-server-side-encryption", "AES256").body("x").send().await,
        501,
        "NotImplemented",
    );
    refused(
        &shop.put("/files/a").header("x-amz-storage-class", "GLACIER").body("x").send().await,
        400,
        "InvalidStorageClass",
    );
    let eleven = (0..11).map(|at| format!("{at}=x")).collect::<Vec<_>>().join("&");
    refused(&shop.put("/files/a").header("x-amz-tagging", eleven).body("x").send().await, 400, "BadRequest");
}

#[tokio::test]
async fn xml_is_read_within_limits() {
    let shop = Shop::new().await;
    let delete = |body: String| shop.post("/files?delete").body(body).summed().send();
    let object = |at: usize| format!("<Object><Key>k{at}</Key></Object>");
    let objects = |count: usize| format!("<Delete>{}</Delete>", (0..count).map(object).collect::<String>());
    delete(objects(1_000)).await.expect(200);
    refused(&delete(objects(1_001)).await, 400, "MalformedXML");
    refused(&delete("<Delete>".to_owned()).await, 400, "MalformedXML");
    let bomb = "<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]>\
                <Delete><Object><Key>&b;</Key></Object></Delete>";
    refused(&delete(bomb.to_owned()).await, 400, "MalformedXML");
}

#[tokio::test]
async fn a_text_is_what_its_headers_say_or_nothing_is_done() {
    let shop = Shop::new().await;
    shop.file("k", "kept").await;
    let body = "<Delete><Object><Key>k</Key></Object></Delete>";
    let delete = || shop.post("/files?delete").body(body);
    refused(&delete().send().await, 400, "InvalidRequest");
    let wrong = sha256(b"other");
    refused(&delete().summed().payload(&wrong).send().await, 400, "XAmzContentSHA256Mismatch");
    for (name, value, code) in [
        ("content-md5", "AAAAAAAAAAAAAAAAAAAAAA==", "BadDigest"),
        ("content-md5", "x", "InvalidDigest"),
        ("x-amz-checksum-crc32", "AAAAAA==", "BadDigest"),
        ("x-amz-checksum-crc32", "AA==", "InvalidRequest"),
    ] {
        refused(&delete().header(name, value).send().await, 400, code);
    }
    let chunked = delete().summed().payload("STREAMING-UNSIGNED-PAYLOAD-TRAILER").send().await;
    refused(&chunked, 400, "InvalidRequest");
    shop.get("/files/k").send().await.expect(200);
    delete().summed().send().await.expect(200);
    refused(&shop.get("/files/k").send().await, 404, "NoSuchKey");
}

#[tokio::test]
async fn what_only_a_part_of_a_file_is_named_of_is_not_written_or_deleted_whole() {
    let shop = Shop::new().await;
    shop.file("k", "kept").await;
    for (method, target) in [
        ("DELETE", "/files/k?uploads"),
        ("DELETE", "/files/k?acl"),
        ("DELETE", "/files?logging"),
        ("PUT", "/files/k?policy"),
        ("PUT", "/files/k?uploads"),
    ] {
        refused(&shop.call(method, target).send().await, 405, "MethodNotAllowed");
    }
    assert_eq!(shop.get("/files/k").send().await.expect(200).text, "kept");
}

#[tokio::test]
async fn who_signs_wrongly_too_often_is_told_to_slow_down() {
    let shop = Shop::with(&["server.anonymous_requests_per_minute=5"]).await;
    shop.file("k", "kept").await;
    let mut forged = shop.signer.clone();
    forged.secret.push('x');
    let mut last = shop.get("/files/k").by(&forged).send().await;
    refused(&last, 403, "SignatureDoesNotMatch");
    for _ in 0..5 {
        last = shop.get("/files/k").by(&forged).send().await;
    }
    refused(&last, 503, "SlowDown");
    header(&last, "retry-after").parse::<u64>().expect("seconds");
    // Whoever signs as they should is served all the same.
    shop.get("/files/k").send().await.expect(200);
}

#[tokio::test]
async fn what_is_not_served_says_so() {
    let shop = Shop::new().await;
    for target in
        ["/files?website", "/files?logging", "/files?replication", "/files?inventory&id=1", "/files?object-lock"]
    {
        refused(&shop.get(target).send().await, 501, "NotImplemented");
    }
}

#[tokio::test]
async fn operators_see_requests_by_operation() {
    let shop = Shop::new().await;
    shop.file("m", "12345").await;
    let got = shop.get("/files/m").send().await.expect(200);
    assert_eq!(header(&got, "x-amz-request-id").len(), 16);
    let text = shop.server.operator().get("/metrics").send().await.expect(200).text;
    for part in [
        "troupe_s3_requests_total{operation=\"PutObject\",status=\"200\"}",
        "troupe_s3_sent_bytes_total{operation=\"GetObject\"}",
    ] {
        assert!(text.contains(part), "{part}");
    }
}
