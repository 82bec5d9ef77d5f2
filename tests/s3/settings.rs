//! What buckets and files are told beside what they hold: lists of access, policies, and when files expire.

use serde_json::json;

use super::{Shop, element, header, key, refused};

const PUBLIC_BLOCK: &str = "<PublicAccessBlockConfiguration><BlockPublicAcls>true</BlockPublicAcls>\
     <IgnorePublicAcls>true</IgnorePublicAcls><BlockPublicPolicy>true</BlockPublicPolicy>\
     <RestrictPublicBuckets>true</RestrictPublicBuckets></PublicAccessBlockConfiguration>";

fn policy(action: &str) -> String {
    let statement = json!({
        "Sid": "x", "Effect": "Allow", "Principal": { "AWS": "*" }, "Action": action, "Resource": "arn:aws:s3:::files/*",
    });
    json!({ "Version": "2012-10-17", "Statement": [statement] }).to_string()
}

#[tokio::test]
async fn lists_of_access_are_read_and_stay_what_they_are() {
    let shop = Shop::new().await;
    shop.file("k", "x").await;
    for target in ["/files?acl", "/files/k?acl"] {
        let read = shop.get(target).send().await.expect(200);
        assert_eq!(element(&read, "Permission"), "FULL_CONTROL");
        // What s3cmd does after it copied a file.
        shop.put(target).body(read.text.clone()).send().await.expect(200);
        shop.put(target).header("x-amz-acl", "private").send().await.expect(200);
        let others = read.text.replace("FULL_CONTROL", "READ");
        for refusal in [
            shop.put(target).body(others).send().await,
            shop.put(target).header("x-amz-acl", "public-read").send().await,
            shop.put(target)
                .header("x-amz-grant-read", "uri=\"http://acs.amazonaws.com/groups/global/AllUsers\"")
                .send()
                .await,
        ] {
            refused(&refusal, 400, "AccessControlListNotSupported");
        }
        refused(&shop.put(target).send().await, 400, "MissingSecurityHeader");
    }
    refused(&shop.put("/files/none?acl").header("x-amz-acl", "private").send().await, 404, "NoSuchKey");
    let reader = key(&shop.ada, &shop.org, json!({ "name": "reader", "access": "read" })).await;
    refused(&shop.put("/files/k?acl").by(&reader).header("x-amz-acl", "private").send().await, 403, "AccessDenied");
}

#[tokio::test]
async fn a_policy_lets_everybody_read_and_a_block_ends_that() {
    let shop = Shop::with(&["s3.domain=s3.example.com"]).await;
    shop.file("k", "public").await;
    refused(&shop.get("/files?policy").send().await, 404, "NoSuchBucketPolicy");
    assert_eq!(element(&shop.get("/files?publicAccessBlock").send().await.expect(200), "BlockPublicPolicy"), "true");
    let named = shop.ada.client.get(&format!("{}/storage", shop.org)).send().await.expect(200);
    let path = format!("/{}/k", named.json["buckets"][0]["physicalName"].as_str().expect("a name"));
    let stranger = || shop.get(&path).unsigned().header("host", "s3.example.com").send();
    refused(&stranger().await, 403, "AccessDenied");

    shop.delete("/files?publicAccessBlock").send().await.expect(204);
    refused(&stranger().await, 403, "AccessDenied");
    shop.put("/files?policy").body(policy("s3:GetObject")).send().await.expect(204);
    assert_eq!(stranger().await.expect(200).text, "public");
    let read = shop.get("/files?policy").send().await.expect(200);
    assert_eq!(read.json["Statement"][0]["Resource"], "arn:aws:s3:::files/*");
    assert_eq!(element(&shop.get("/files?policyStatus").send().await.expect(200), "IsPublic"), "true");
    let block = shop.get("/files?publicAccessBlock").send().await;
    refused(&block, 404, "NoSuchPublicAccessBlockConfiguration");
    let id = named.json["buckets"][0]["resourceId"].as_str().expect("an id");
    let over_rest = shop.ada.client.get(&format!("{}/storage/{id}", shop.org)).send().await.expect(200);
    assert_eq!(over_rest.json["publicRead"], true);

    shop.put("/files?publicAccessBlock").body(PUBLIC_BLOCK).send().await.expect(200);
    refused(&stranger().await, 403, "AccessDenied");
    shop.put("/files?policy").body(policy("s3:GetObject")).send().await.expect(204);
    shop.delete("/files?policy").send().await.expect(204);
    refused(&stranger().await, 403, "AccessDenied");
}

#[tokio::test]
async fn a_policy_that_says_anything_else_is_refused() {
    let shop = Shop::new().await;
    refused(&shop.put("/files?policy").body("{").send().await, 400, "MalformedPolicy");
    refused(&shop.put("/files?policy").body(policy("s3:*")).send().await, 501, "NotImplemented");
    // Strangers' files would be served from the console's own host.
    refused(&shop.put("/files?policy").body(policy("s3:GetObject")).send().await, 400, "InvalidRequest");
    let half = PUBLIC_BLOCK.replacen("<RestrictPublicBuckets>true", "<RestrictPublicBuckets>false", 1);
    refused(&shop.put("/files?publicAccessBlock").body(half).send().await, 501, "NotImplemented");
    let reader = key(&shop.ada, &shop.org, json!({ "name": "reader", "access": "read" })).await;
    refused(&shop.delete("/files?policy").by(&reader).send().await, 403, "AccessDenied");
}

#[tokio::test]
async fn answers_tell_when_a_file_expires() {
    let shop = Shop::new().await;
    let rule = |status: &str| {
        format!(
            "<LifecycleConfiguration><Rule><ID>old logs</ID><Status>{status}</Status><Filter><Prefix>logs/</Prefix></Filter>\
             <Expiration><Days>30</Days></Expiration></Rule></LifecycleConfiguration>"
        )
    };
    refused(&shop.put("/files?lifecycle").body(rule("On")).send().await, 400, "MalformedXML");
    shop.put("/files?lifecycle").body(rule("Enabled")).send().await.expect(200);
    let told = header(&shop.file("logs/1", "x").await, "x-amz-expiration").to_owned();
    assert!(told.contains("rule-id=\"old%20logs\"") && told.starts_with("expiry-date=\""), "{told}");
    for method in ["GET", "HEAD"] {
        let read = shop.call(method, "/files/logs/1").send().await.expect(200);
        assert_eq!(header(&read, "x-amz-expiration"), told);
    }
    assert!(shop.file("other", "x").await.headers.get("x-amz-expiration").is_none());
    shop.put("/files?lifecycle").body(rule("Disabled")).send().await.expect(200);
    assert!(shop.get("/files/logs/1").send().await.expect(200).headers.get("x-amz-expiration").is_none());
}

#[tokio::test]
async fn a_suspended_bucket_tells_that_its_version_is_null() {
    let shop = Shop::new().await;
    assert!(shop.file("k", "x").await.headers.get("x-amz-version-id").is_none());
    shop.versioning("Suspended").await;
    for answer in [shop.file("k", "y").await, shop.get("/files/k").send().await, shop.delete("/files/k").send().await] {
        assert_eq!(header(&answer, "x-amz-version-id"), "null");
    }
    let body = "<VersioningConfiguration><Status>enabled</Status></VersioningConfiguration>";
    refused(&shop.put("/files?versioning").body(body).send().await, 400, "MalformedXML");
}
