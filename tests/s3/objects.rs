//! Files: writing, reading, their conditions, ranges, checksums and versions.

use std::time::{Duration, SystemTime};

use super::{Shop, element, header, refused};

#[tokio::test]
async fn a_file_reads_back_with_what_was_said_of_it() {
    let shop = Shop::new().await;
    let put = shop
        .put("/files/a/b%20c.txt")
        .header("content-type", "text/plain")
        .header("cache-control", "max-age=60")
        .header("content-language", "de")
        .header("x-amz-meta-color", "red")
        .header("x-amz-storage-class", "STANDARD_IA")
        .body("hello")
        .send()
        .await
        .expect(200);
    assert_eq!(header(&put, "etag"), "\"5d41402abc4b2a76b9719d911017c592\"");
    let got = shop.get("/files/a/b%20c.txt").send().await.expect(200);
    assert_eq!(got.text, "hello");
    for (name, value) in [
        ("content-type", "text/plain"),
        ("cache-control", "max-age=60"),
        ("content-language", "de"),
        ("x-amz-meta-color", "red"),
        ("x-amz-storage-class", "STANDARD_IA"),
        ("content-length", "5"),
        ("accept-ranges", "bytes"),
    ] {
        assert_eq!(header(&got, name), value, "{name}");
    }
    let head = shop.call("HEAD", "/files/a/b%20c.txt").send().await.expect(200);
    assert_eq!((header(&head, "content-length"), head.text.as_str()), ("5", ""));
    let rest = shop.ada.client.get(&format!("{}/storage", shop.org)).send().await.expect(200);
    assert_eq!(rest.json["buckets"][0]["usage"]["objects"], 1);
    shop.delete("/files/a/b%20c.txt").send().await.expect(204);
    refused(&shop.get("/files/a/b%20c.txt").send().await, 404, "NoSuchKey");
    shop.delete("/files/a/b%20c.txt").send().await.expect(204);
}

#[tokio::test]
async fn ranges_of_all_forms_are_answered_as_s3_does() {
    let shop = Shop::new().await;
    shop.file("r", "0123456789").await;
    for (range, status, text) in [
        ("bytes=0-3", 206, "0123"),
        ("bytes=8-", 206, "89"),
        ("bytes=-2", 206, "89"),
        ("bytes=5-99", 206, "56789"),
        ("bytes=3-1", 200, "0123456789"),
        ("bytes=x", 200, "0123456789"),
        ("lines=0-1", 200, "0123456789"),
        ("bytes=0-1,4-5", 200, "0123456789"),
        ("bytes=0-99999999999999999999999", 206, "0123456789"),
    ] {
        let got = shop.get("/files/r").header("range", range).send().await.expect(status);
        assert_eq!(got.text, text, "{range}");
    }
    for range in ["bytes=10-", "bytes=10-11", "bytes=-0", "bytes=99999999999999999999-"] {
        refused(&shop.get("/files/r").header("range", range).send().await, 416, "InvalidRange");
    }
    let part = shop.get("/files/r").header("range", "bytes=2-4").send().await;
    assert_eq!(header(&part, "content-range"), "bytes 2-4/10");
}

#[tokio::test]
async fn reads_and_writes_have_conditions() {
    let shop = Shop::new().await;
    let etag = header(&shop.file("c", "one").await, "etag").to_owned();
    let with = |name: &'static str, value: &str| shop.get("/files/c").header(name, value).send();
    with("if-match", &etag).await.expect(200);
    with("if-match", &format!("\"0\", {etag}")).await.expect(200);
    refused(&with("if-match", "\"0\"").await, 412, "PreconditionFailed");
    let unchanged = with("if-none-match", &format!("W/\"x\", {etag}")).await.expect(304);
    assert_eq!((header(&unchanged, "etag"), unchanged.text.as_str()), (etag.as_str(), ""));
    for past in ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"] {
        refused(&with("if-unmodified-since", past).await, 412, "PreconditionFailed");
        with("if-modified-since", past).await.expect(200);
    }
    with("if-modified-since", "whenever").await.expect(200);
    let put = |name: &'static str, value: &str| shop.put("/files/c").header(name, value).body("two").send();
    refused(&put("if-none-match", "*").await, 412, "PreconditionFailed");
    refused(&put("if-match", "\"00000000000000000000000000000000\"").await, 412, "PreconditionFailed");
    refused(&put("if-none-match", &etag).await, 501, "NotImplemented");
    put("if-match", &etag).await.expect(200);
    refused(&shop.put("/files/none").header("if-match", etag).body("x").send().await, 404, "NoSuchKey");
    shop.put("/files/none").header("if-none-match", "*").body("x").send().await.expect(200);
}

#[tokio::test]
async fn checksums_are_verified_kept_and_answered() {
    let shop = Shop::new().await;
    for (name, value) in [
        ("x-amz-checksum-crc32", "y/Q5Jg=="),
        ("x-amz-checksum-crc32c", "4waSgw=="),
        ("x-amz-checksum-crc64nvme", "rosUhgp5mIg="),
        ("x-amz-checksum-sha1", "98O8HYCOBHMq32eZZczDTKeuNEE="),
        ("x-amz-checksum-sha256", "FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU="),
    ] {
        let put = shop.put("/files/sum").header(name, value).body("123456789").send().await.expect(200);
        assert_eq!(header(&put, name), value);
        let got = shop.get("/files/sum").header("x-amz-checksum-mode", "ENABLED").send().await.expect(200);
        assert_eq!((header(&got, name), header(&got, "x-amz-checksum-type")), (value, "FULL_OBJECT"));
        assert!(shop.get("/files/sum").send().await.headers.get(name).is_none());
        refused(&shop.put("/files/bad").header(name, value).body("12345678").send().await, 400, "BadDigest");
        refused(&shop.put("/files/bad").header(name, "AA==").body("x").send().await, 400, "InvalidRequest");
    }
    refused(&shop.get("/files/bad").send().await, 404, "NoSuchKey");
    let md5 = "XUFAKrxLKna5cZ2REBfFkg==";
    shop.put("/files/md5").header("content-md5", md5).body("hello").send().await.expect(200);
    refused(&shop.put("/files/md5").header("content-md5", md5).body("hullo").send().await, 400, "BadDigest");
    refused(&shop.put("/files/md5").header("content-md5", "x").body("hello").send().await, 400, "InvalidDigest");
}

#[tokio::test]
async fn a_checksum_behind_the_bytes_is_verified_too() {
    let shop = Shop::new().await;
    let send = |key: &str, sum: &str| {
        shop.put(format!("/files/{key}"))
            .payload("STREAMING-UNSIGNED-PAYLOAD-TRAILER")
            .header("content-encoding", "aws-chunked")
            .header("x-amz-decoded-content-length", "9")
            .header("x-amz-trailer", "x-amz-checksum-crc32")
            .body(format!("9\r\n123456789\r\n0\r\nx-amz-checksum-crc32:{sum}\r\n\r\n"))
            .send()
    };
    send("t", "y/Q5Jg==").await.expect(200);
    let got = shop.get("/files/t").header("x-amz-checksum-mode", "ENABLED").send().await.expect(200);
    assert_eq!((got.text.as_str(), header(&got, "x-amz-checksum-crc32")), ("123456789", "y/Q5Jg=="));
    assert!(got.headers.get("content-encoding").is_none());
    refused(&send("lies", "AAAAAA==").await, 400, "BadDigest");
    refused(&shop.get("/files/lies").send().await, 404, "NoSuchKey");
}

#[tokio::test]
async fn a_versioned_bucket_keeps_what_was_overwritten_and_deleted() {
    let shop = Shop::new().await;
    shop.file("v", "null").await;
    shop.versioning("Enabled").await;
    let one = header(&shop.file("v", "one").await, "x-amz-version-id").to_owned();
    let gone = shop.delete("/files/v").send().await.expect(204);
    let marker = header(&gone, "x-amz-version-id").to_owned();
    assert_eq!(header(&gone, "x-amz-delete-marker"), "true");
    let missing = shop.get("/files/v").send().await;
    refused(&missing, 404, "NoSuchKey");
    assert_eq!(header(&missing, "x-amz-delete-marker"), "true");
    assert_eq!(shop.get(format!("/files/v?versionId={one}")).send().await.expect(200).text, "one");
    assert_eq!(shop.get("/files/v?versionId=null").send().await.expect(200).text, "null");
    refused(&shop.get(format!("/files/v?versionId={marker}")).send().await, 405, "MethodNotAllowed");
    refused(&shop.get("/files/v?versionId=nothing").send().await, 400, "InvalidArgument");
    let unmarked = shop.delete(format!("/files/v?versionId={marker}")).send().await.expect(204);
    assert_eq!(header(&unmarked, "x-amz-delete-marker"), "true");
    assert_eq!(shop.get("/files/v").send().await.expect(200).text, "one");
    shop.delete(format!("/files/v?versionId={marker}")).send().await.expect(204);
    let listed = shop.get("/files?versions").send().await.expect(200);
    assert_eq!(super::elements(&listed, "VersionId"), [one, "null".to_owned()]);
}

#[tokio::test]
async fn an_address_that_is_signed_in_advance_works_until_it_expires() {
    let shop = Shop::new().await;
    let now = SystemTime::now();
    let put = shop.presigned("PUT", "/files/p", 60, now);
    shop.put(put).unsigned().body("signed").send().await.expect(200);
    let target = "/files/p?response-content-type=text%2Fhtml&response-content-disposition=attachment";
    let got = shop.get(shop.presigned("GET", target, 60, now)).unsigned().send().await.expect(200);
    assert_eq!((got.text.as_str(), header(&got, "content-type")), ("signed", "text/html"));
    assert_eq!(header(&got, "content-disposition"), "attachment");
    let old = shop.presigned("GET", "/files/p", 60, now - Duration::from_secs(120));
    refused(&shop.get(old).unsigned().send().await, 403, "AccessDenied");
    let changed = shop.presigned("GET", "/files/p", 60, now).replace("/files/p", "/files/q");
    refused(&shop.get(changed).unsigned().send().await, 403, "SignatureDoesNotMatch");
    let long = shop.presigned("GET", "/files/p", 604_801, now);
    refused(&shop.get(long).unsigned().send().await, 400, "AuthorizationQueryParametersError");
}

#[tokio::test]
async fn tags_are_written_and_read() {
    let shop = Shop::new().await;
    shop.put("/files/t").header("x-amz-tagging", "a=1&b=%20x").body("x").send().await.expect(200);
    let got = shop.get("/files/t").send().await;
    assert_eq!(header(&got, "x-amz-tagging-count"), "2");
    let tags = shop.get("/files/t?tagging").send().await.expect(200);
    assert_eq!(super::elements(&tags, "Value"), ["1", " x"]);
    let body = "<Tagging><TagSet><Tag><Key>c</Key><Value>3</Value></Tag></TagSet></Tagging>";
    shop.put("/files/t?tagging").body(body).send().await.expect(200);
    assert_eq!(element(&shop.get("/files/t?tagging").send().await, "Key"), "c");
    shop.delete("/files/t?tagging").send().await.expect(204);
    assert!(shop.get("/files/t").send().await.headers.get("x-amz-tagging-count").is_none());
}

#[tokio::test]
async fn a_copy_has_the_checksum_that_is_asked_for() {
    let shop = Shop::new().await;
    shop.put("/files/sum").header("x-amz-checksum-crc32", "y/Q5Jg==").body("123456789").send().await.expect(200);
    let copy = |to: &str| shop.put(format!("/files/{to}")).header("x-amz-copy-source", "/files/sum");
    assert_eq!(element(&copy("same").send().await.expect(200), "ChecksumCRC32"), "y/Q5Jg==");
    let other = copy("other").header("x-amz-checksum-algorithm", "SHA1").send().await.expect(200);
    assert_eq!(element(&other, "ChecksumSHA1"), "98O8HYCOBHMq32eZZczDTKeuNEE=");
    let head = shop.call("HEAD", "/files/other").header("x-amz-checksum-mode", "ENABLED").send().await.expect(200);
    assert_eq!(header(&head, "x-amz-checksum-sha1"), "98O8HYCOBHMq32eZZczDTKeuNEE=");
    assert!(head.headers.get("x-amz-checksum-crc32").is_none());
    refused(&copy("sum").send().await, 400, "InvalidRequest");
    let itself = copy("sum").header("x-amz-checksum-algorithm", "CRC32C").send().await.expect(200);
    assert_eq!(element(&itself, "ChecksumCRC32C"), "4waSgw==");
    refused(&copy("x").header("x-amz-checksum-algorithm", "MD4").send().await, 400, "InvalidRequest");
    for source in ["", "/", "files", "/files/"] {
        let copied = shop.put("/files/x").header("x-amz-copy-source", source).send().await;
        refused(&copied, 400, "InvalidArgument");
    }
}

#[tokio::test]
async fn a_delete_marker_is_not_copied() {
    let shop = Shop::new().await;
    shop.versioning("Enabled").await;
    shop.file("k", "x").await;
    let gone = shop.delete("/files/k").send().await.expect(204);
    let named = format!("/files/k?versionId={}", header(&gone, "x-amz-version-id"));
    let copy = |source: String| shop.put("/files/copy").header("x-amz-copy-source", source).send();
    refused(&copy(named).await, 400, "InvalidRequest");
    refused(&copy("/files/k".to_owned()).await, 404, "NoSuchKey");
}

#[tokio::test]
async fn errors_name_what_is_missing_and_attributes_a_tag_without_quotes() {
    let shop = Shop::new().await;
    assert_eq!(element(&shop.get("/files/a%26b").send().await, "Key"), "a&amp;b");
    assert!(!shop.get("/files/%01").send().await.text.contains("<Key>"));
    assert_eq!(element(&shop.get("/nothing/k").send().await, "BucketName"), "nothing");
    shop.file("k", "hello").await;
    let attributes = shop.get("/files/k?attributes").header("x-amz-object-attributes", "ETag").send().await.expect(200);
    assert_eq!(element(&attributes, "ETag"), "5d41402abc4b2a76b9719d911017c592");
}

#[tokio::test]
async fn a_file_in_chunks_of_http_says_its_length_otherwise() {
    let shop = Shop::new().await;
    let sent = shop
        .put("/files/t")
        .payload("STREAMING-UNSIGNED-PAYLOAD-TRAILER")
        .header("x-amz-decoded-content-length", "9")
        .header("x-amz-trailer", "x-amz-checksum-crc32")
        .body("9\r\n123456789\r\n0\r\nx-amz-checksum-crc32:y/Q5Jg==\r\n\r\n")
        .streamed()
        .send()
        .await;
    sent.expect(200);
    assert_eq!(shop.get("/files/t").send().await.expect(200).text, "123456789");
}
