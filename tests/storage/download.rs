//! `GET /v1/orgs/:orgId/storage/:resourceId/download` and `GET /v1/storage/files/:resourceId`

use std::time::Duration;

use serde_json::json;

use super::Files;

const TEXT: &str = "0123456789";

#[tokio::test]
async fn a_download_has_an_address_for_five_minutes() {
    let files = Files::new().await;
    files.put("folder/a é.txt", TEXT).await;
    let path = format!("{}/download?key=folder/a%20%C3%A9.txt", files.path);
    let answer = files.client().get(&path).send().await.expect(200);
    assert_eq!(answer.json["expiresIn"], 300);
    let address = answer.str("/url").to_owned();
    let sent = files.fetch(&address, &[]).await.expect(200);
    assert_eq!(sent.text, TEXT);
    for (name, value) in [
        ("content-type", "text/plain"),
        ("content-disposition", "attachment; filename*=UTF-8''a%20%C3%A9.txt"),
        ("x-content-type-options", "nosniff"),
        ("content-security-policy", "sandbox; default-src 'none'"),
        ("etag", "\"781e5e245d69b566979b86e28d23f2c7\""),
        ("accept-ranges", "bytes"),
        ("content-length", "10"),
    ] {
        assert_eq!(sent.header(name), Some(value), "{name}");
    }
    files.server.clock.advance(Duration::from_secs(299));
    files.fetch(&address, &[]).await.expect(200);
    files.server.clock.advance(Duration::from_secs(1));
    files.fetch(&address, &[]).await.expect_error(403, "file_address", "This address has expired.");
}

#[tokio::test]
async fn an_address_permits_one_version_of_one_file() {
    let files = Files::versioned().await;
    let first = files.put("a", "one").await;
    let address = files.address("a").await;
    files.put("a", "two").await;
    files.put("b", "other").await;
    assert_eq!(files.fetch(&address, &[]).await.expect(200).text, "one");
    let forged = "This address was not signed here.";
    for changed in [
        address.replace("key=a", "key=b"),
        address.replace(&first, "null"),
        address.replace("expires=1", "expires=2"),
        address.replace("signature=", "signature=A"),
        address.replace(files.path.rsplit('/').next().unwrap(), super::NEVER),
        address.replace("/res_", "/prj_"),
    ] {
        assert_ne!(changed, address);
        files.fetch(&changed, &[]).await.expect_error(403, "file_address", forged);
    }
    files.delete_version("a", &first).await.expect(204);
    files.fetch(&address, &[]).await.expect_error(404, "not_found", "Version not found.");
}

#[tokio::test]
async fn a_version_is_downloaded_by_its_id() {
    let files = Files::versioned().await;
    let first = files.put("a", "one").await;
    files.put("a", "two").await;
    files.delete("a").await;
    let marker = files.versions("a").await.str("/versions/0/versionId").to_owned();
    let ask = async |about: &str| files.client().get(&format!("{}/download?{about}", files.path)).send().await;
    let address = ask(&format!("key=a&versionId={first}")).await.expect(200).str("/url").to_owned();
    assert_eq!(files.fetch(&address, &[]).await.text, "one");
    ask("key=a").await.expect_error(404, "not_found", "File not found.");
    for version in [marker.as_str(), "null", "nonsense"] {
        let refused = ask(&format!("key=a&versionId={version}")).await;
        refused.expect_error(404, "not_found", "Version not found.");
    }
    ask("key=a/").await.expect_error(400, "invalid_key", "Folders can't be downloaded.");
    ask("key=a&versionId=").await.expect_problems(&["versionId"]);
    ask("versionId=null").await.expect_problems(&["key"]);
}

#[tokio::test]
async fn a_range_of_a_file_is_answered() {
    let files = Files::new().await;
    files.put("a", TEXT).await;
    files.put("empty", "").await;
    let address = files.address("a").await;
    for (range, status, text, shown) in [
        ("bytes=0-3", 206, "0123", Some("bytes 0-3/10")),
        ("bytes=5-", 206, "56789", Some("bytes 5-9/10")),
        ("bytes=-2", 206, "89", Some("bytes 8-9/10")),
        ("bytes=9-99", 206, "9", Some("bytes 9-9/10")),
        ("bytes=10-", 416, "", Some("bytes */10")),
        ("bytes=-0", 416, "", Some("bytes */10")),
        ("bytes=3-1", 200, TEXT, None),
        ("bytes=0-1,3-4", 200, TEXT, None),
        ("lines=1-2", 200, TEXT, None),
    ] {
        let sent = files.fetch(&address, &[("range", range)]).await.expect(status);
        assert_eq!((sent.text.as_str(), sent.header("content-range")), (text, shown), "{range}");
    }
    let etag = files.get("a").await.str("/object/etag").to_owned();
    let with = async |tag: &str| files.fetch(&address, &[("range", "bytes=0-0"), ("if-range", tag)]).await.status;
    assert_eq!((with(&format!("\"{etag}\"")).await, with("\"other\"").await), (206, 200));
    let empty = files.address("empty").await;
    assert_eq!(files.fetch(&empty, &[]).await.expect(200).text, "");
    files.fetch(&empty, &[("range", "bytes=0-")]).await.expect(416);
}

#[tokio::test]
async fn a_download_is_made_where_its_conditions_hold() {
    let files = Files::new().await;
    files.put("a", TEXT).await;
    let address = files.address("a").await;
    let sent = files.fetch(&address, &[]).await;
    let (etag, date) = (sent.header("etag").unwrap().to_owned(), sent.header("last-modified").unwrap().to_owned());
    for (name, value, status) in [
        ("if-none-match", etag.as_str(), 304),
        ("if-none-match", "\"x\"", 200),
        ("if-match", etag.as_str(), 200),
        ("if-match", "\"x\"", 412),
        ("if-modified-since", date.as_str(), 304),
        ("if-unmodified-since", date.as_str(), 200),
        ("if-modified-since", "nonsense", 200),
    ] {
        let answer = files.fetch(&address, &[(name, value)]).await.expect(status);
        assert_eq!(answer.text, if status == 200 { TEXT } else { "" }, "{name}: {value}");
    }
}

#[tokio::test]
async fn what_a_file_says_of_itself_does_not_have_it_shown() {
    let files = Files::new().await;
    files.put("a.html", "<script>alert(1)</script>").await;
    let path = format!("{}/object?key=a.html", files.path);
    let body = json!({ "contentType": "text/html", "contentDisposition": "inline", "cacheControl": "max-age=60" });
    files.client().patch(&path).json(&body).send().await.expect(200);
    let sent = files.fetch(&files.address("a.html").await, &[]).await.expect(200);
    assert_eq!(sent.header("content-disposition"), Some("attachment; filename*=UTF-8''a.html"));
    assert_eq!(sent.header("content-type"), Some("text/html"));
    assert_eq!(sent.header("cache-control"), Some("max-age=60"));
}
