//! Lists of buckets, files and versions.

use super::{Shop, element, elements, header, refused};

async fn keys(shop: &Shop, about: &str) -> (Vec<String>, Vec<String>) {
    let listed = shop.get(format!("/files?{about}")).send().await.expect(200);
    let prefixes = listed.text.split("<CommonPrefixes>").skip(1);
    let prefixes = prefixes.map(|rest| rest.split("<Prefix>").nth(1).unwrap().split('<').next().unwrap().to_owned());
    (elements(&listed, "Key"), prefixes.collect())
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[tokio::test]
async fn buckets_are_listed_made_and_deleted() {
    let shop = Shop::new().await;
    shop.put("/another").send().await.expect(200);
    let listed = shop.get("/").send().await.expect(200);
    assert_eq!(elements(&listed, "Name"), ["another", "files"]);
    let first = shop.get("/?max-buckets=1").send().await.expect(200);
    let token = element(&first, "ContinuationToken");
    let second = shop.get(format!("/?max-buckets=1&continuation-token={token}")).send().await.expect(200);
    assert_eq!((elements(&first, "Name"), elements(&second, "Name")), (texts(&["another"]), texts(&["files"])));
    shop.call("HEAD", "/files").send().await.expect(200);
    assert_eq!(shop.call("HEAD", "/none").send().await.status, 404);
    shop.get("/files?location").send().await.expect(200);
    shop.file("a", "x").await;
    refused(&shop.delete("/files").send().await, 409, "BucketNotEmpty");
    shop.delete("/files/a").send().await.expect(204);
    shop.delete("/files").send().await.expect(204);
    refused(&shop.get("/files").send().await, 404, "NoSuchBucket");
}

#[tokio::test]
async fn files_are_listed_in_pages_with_what_they_have_in_common() {
    let shop = Shop::new().await;
    for key in ["a", "b/1", "b/2", "c/1", "d"] {
        shop.file(key, "x").await;
    }
    assert_eq!(keys(&shop, "").await.0, ["a", "b/1", "b/2", "c/1", "d"]);
    assert_eq!(keys(&shop, "delimiter=/").await, (texts(&["a", "d"]), texts(&["b/", "c/"])));
    assert_eq!(keys(&shop, "prefix=b%2F&delimiter=/").await.0, ["b/1", "b/2"]);
    assert_eq!(keys(&shop, "marker=b%2F1").await.0, ["b/2", "c/1", "d"]);
    assert_eq!(keys(&shop, "delimiter=/&marker=b%2F").await, (texts(&["d"]), texts(&["c/"])));
    assert_eq!(keys(&shop, "list-type=2&start-after=c").await.0, ["c/1", "d"]);
    let page = shop.get("/files?max-keys=2&delimiter=/").send().await.expect(200);
    assert_eq!((element(&page, "IsTruncated"), element(&page, "NextMarker")), ("true", "b/"));
    let page = shop.get("/files?max-keys=2").send().await.expect(200);
    assert!(!page.text.contains("NextMarker"));
    let (mut found, mut token) = (Vec::new(), String::new());
    loop {
        let page = shop.get(format!("/files?list-type=2&max-keys=2{token}")).send().await.expect(200);
        found.extend(elements(&page, "Key"));
        if element(&page, "IsTruncated") == "false" {
            break;
        }
        token = format!("&continuation-token={}", element(&page, "NextContinuationToken"));
    }
    assert_eq!(found, ["a", "b/1", "b/2", "c/1", "d"]);
    let none = shop.get("/files?list-type=2&max-keys=0").send().await.expect(200);
    assert_eq!((element(&none, "KeyCount"), element(&none, "IsTruncated")), ("0", "false"));
    refused(&shop.get("/files?max-keys=-1").send().await, 400, "InvalidArgument");
    refused(&shop.get("/files?list-type=2&continuation-token=x").send().await, 400, "InvalidArgument");
    refused(&shop.get("/files?encoding-type=x").send().await, 400, "InvalidArgument");
}

#[tokio::test]
async fn keys_that_xml_cannot_have_are_written_as_addresses_are() {
    let shop = Shop::new().await;
    for key in ["%01", "a%20b", "a%2Bb", "%3C%26"] {
        shop.file(key, "x").await;
    }
    assert_eq!(keys(&shop, "encoding-type=url").await.0, ["%01", "%3C%26", "a%20b", "a%2Bb"]);
    shop.delete("/files/%01").send().await.expect(204);
    assert_eq!(keys(&shop, "").await.0, ["&lt;&amp;", "a b", "a+b"]);
}

#[tokio::test]
async fn versions_are_listed_newest_first_and_in_pages() {
    let shop = Shop::new().await;
    shop.versioning("Enabled").await;
    for key in ["a", "b/1", "a", "b/2", "c"] {
        shop.file(key, key).await;
    }
    shop.delete("/files/a").send().await.expect(204);
    let whole = shop.get("/files?versions").send().await.expect(200);
    assert_eq!(elements(&whole, "VersionId").len(), 6);
    assert_eq!(elements(&whole, "IsLatest").iter().filter(|it| *it == "true").count(), 4);
    let folders = shop.get("/files?versions&delimiter=/").send().await.expect(200);
    assert_eq!(elements(&folders, "VersionId").len(), 4);
    assert!(folders.text.contains("<Prefix>b/</Prefix>"));
    let (mut found, mut after) = (Vec::new(), String::new());
    loop {
        let page = shop.get(format!("/files?versions&max-keys=1{after}")).send().await.expect(200);
        found.extend(elements(&page, "VersionId"));
        if element(&page, "IsTruncated") == "false" {
            break;
        }
        let (key, id) = (element(&page, "NextKeyMarker"), element(&page, "NextVersionIdMarker"));
        after = format!("&key-marker={}&version-id-marker={id}", key.replace('/', "%2F"));
    }
    let (mut one, mut all) = (found.clone(), elements(&whole, "VersionId"));
    one.sort();
    all.sort();
    assert_eq!((found.len(), one), (6, all));
    refused(&shop.get("/files?versions&version-id-marker=null").send().await, 400, "InvalidArgument");
}

#[tokio::test]
async fn many_files_are_deleted_at_once() {
    let shop = Shop::new().await;
    shop.file("a", "x").await;
    shop.file("b", "x").await;
    let body = "<Delete><Object><Key>a</Key></Object><Object><Key>none</Key></Object></Delete>";
    let deleted = shop.post("/files?delete").body(body).summed().send().await.expect(200);
    assert_eq!(elements(&deleted, "Key"), ["a", "none"]);
    let quiet = "<Delete><Quiet>true</Quiet><Object><Key>b</Key></Object></Delete>";
    let deleted = shop.post("/files?delete").body(quiet).summed().send().await.expect(200);
    assert!(elements(&deleted, "Key").is_empty());
    assert_eq!(keys(&shop, "").await.0, texts(&[]));
    assert_eq!(header(&deleted, "content-type"), "application/xml");
}
