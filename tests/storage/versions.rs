//! `GET …/object/versions`, `POST …/object/restore` and `POST …/object/versions/delete`

use serde_json::{Value, json};

use super::{Files, query};

/// Each version: its id, whether it is the newest, whether it is a delete marker.
fn shown(versions: &[Value]) -> Vec<(&str, bool, bool)> {
    let one = |it: &Value| (it["isLatest"].as_bool().unwrap(), it["deleteMarker"].as_bool().unwrap());
    versions.iter().map(|it| (it["versionId"].as_str().unwrap(), one(it).0, one(it).1)).collect()
}

#[tokio::test]
async fn a_versioned_file_keeps_what_it_was() {
    let files = Files::versioned().await;
    let first = files.put("a", "one").await;
    files.server.clock.advance(std::time::Duration::from_secs(1));
    let second = files.put("a", "two!").await;
    assert_eq!(first.len(), 26);
    files.delete("a").await;
    let versions = files.versions("a").await.expect(200);
    let marker = versions.list("/versions")[0]["versionId"].as_str().unwrap();
    let expected = vec![(marker, true, true), (second.as_str(), false, false), (first.as_str(), false, false)];
    assert_eq!(shown(versions.list("/versions")), expected);
    let now = files.server.clock.now().0;
    let newest = json!({ "versionId": marker, "isLatest": true, "deleteMarker": true, "lastModified": now });
    assert_eq!(versions.list("/versions")[0], newest);
    let second_one = json!({
        "versionId": second, "isLatest": false, "deleteMarker": false, "lastModified": now, "size": 4,
        "etag": "c41975d1dae1cc69b16ad8892b8c77e8"
    });
    let listed = &versions.list("/versions")[1];
    assert_eq!((&listed["size"], &listed["lastModified"]), (&second_one["size"], &second_one["lastModified"]));
    assert_eq!((versions.str("/key"), &versions.json["truncated"]), ("a", &json!(false)));
    files.get("a").await.expect_error(404, "not_found", "File not found.");
    files.versions("b").await.expect_error(404, "not_found", "File not found.");
    assert_eq!(files.usage().await, (0, 3, 7));
}

#[tokio::test]
async fn a_deleted_file_is_there_again_when_its_marker_is_restored() {
    let files = Files::versioned().await;
    files.put("a", "one").await;
    files.delete("a").await;
    files.delete("a").await;
    let versions = files.versions("a").await;
    let ids: Vec<_> = shown(versions.list("/versions")).into_iter().map(|it| it.0.to_owned()).collect();
    let refused = files.restore("a", &ids[1]).await;
    refused.expect_error(400, "no_content", "Pick a version with content to restore.");
    assert_eq!(files.restore("a", &ids[0]).await.expect(200).json, json!({ "restored": "undeleted" }));
    assert_eq!(files.text("a").await, "one");
    assert_eq!((files.versions("a").await.list("/versions").len(), files.usage().await), (1, (1, 0, 3)));
    // A marker with nothing below.
    files.delete("b").await;
    let marker = files.versions("b").await.str("/versions/0/versionId").to_owned();
    let refused = files.restore("b", &marker).await;
    refused.expect_error(400, "no_content", "Pick a version with content to restore.");
}

#[tokio::test]
async fn an_earlier_version_comes_on_top_once_more() {
    let files = Files::versioned().await;
    let first = files.put("a", "one").await;
    let second = files.put("a", "two").await;
    let refused = files.restore("a", &second).await;
    refused.expect_error(409, "version_is_current", "This is already the current version.");
    assert_eq!(files.restore("a", &first).await.expect(200).json, json!({ "restored": "copied" }));
    assert_eq!(files.text("a").await, "one");
    let versions = files.versions("a").await;
    assert_eq!(versions.list("/versions").len(), 3);
    assert_eq!(files.usage().await, (1, 2, 9));
    // Both share one content, which stays until the last of them goes.
    files.delete_version("a", &first).await.expect(204);
    assert_eq!((files.text("a").await.as_str(), files.usage().await), ("one", (1, 1, 6)));
    for version in ["null", "01jd7rt4m5e9fv2w8x3c6k0hqz", "nonsense", &first, &"a".repeat(1_024)] {
        files.restore("a", version).await.expect_error(404, "not_found", "Version not found.");
        files.delete_version("a", version).await.expect_error(404, "not_found", "Version not found.");
    }
    files.restore("none", &second).await.expect_error(404, "not_found", "Version not found.");
    for version in ["", &"a".repeat(1_025)] {
        files.restore("a", version).await.expect_problems(&["versionId"]);
        files.delete_version("a", version).await.expect_problems(&["versionId"]);
    }
}

#[tokio::test]
async fn under_the_newest_version_the_next_one_appears() {
    let files = Files::versioned().await;
    let first = files.put("a", "one").await;
    let second = files.put("a", "two").await;
    files.delete_version("a", &second).await.expect(204);
    assert_eq!((files.text("a").await.as_str(), files.usage().await), ("one", (1, 0, 3)));
    let path = format!("{}/object?key=a&versionId={first}", files.path);
    files.client().delete(&path).send().await.expect(204);
    files.get("a").await.expect(404);
    files.versions("a").await.expect(404);
    assert_eq!(files.usage().await, (0, 0, 0));
    // A marker on top of content.
    files.put("b", "one").await;
    files.delete("b").await;
    let marker = files.versions("b").await.str("/versions/0/versionId").to_owned();
    files.delete_version("b", &marker).await.expect(204);
    assert_eq!(files.text("b").await, "one");
}

#[tokio::test]
async fn suspended_versioning_replaces_the_version_null() {
    let files = Files::new().await;
    assert_eq!(files.put("a", "0").await, "null");
    files.switch("Enabled").await;
    let kept = files.put("a", "1").await;
    files.switch("Suspended").await;
    assert_eq!(files.put("a", "22").await, "null");
    let ids = |versions: &[Value]| shown(versions).into_iter().map(|it| it.0.to_owned()).collect::<Vec<_>>();
    assert_eq!(ids(files.versions("a").await.list("/versions")), ["null", kept.as_str()]);
    assert_eq!(files.usage().await, (1, 1, 3));
    files.put("a", "333").await;
    assert_eq!((files.text("a").await.as_str(), files.usage().await), ("333", (1, 1, 4)));
    files.delete("a").await;
    assert_eq!(ids(files.versions("a").await.list("/versions")), ["null", kept.as_str()]);
    assert_eq!(files.usage().await, (0, 2, 1));
    assert_eq!(files.restore("a", &kept).await.expect(200).json, json!({ "restored": "copied" }));
    assert_eq!(files.text("a").await, "1");
    files.delete_version("a", "null").await.expect(204);
    assert_eq!((files.text("a").await.as_str(), files.usage().await), ("1", (1, 0, 1)));
}

#[tokio::test]
async fn a_thousand_versions_are_a_page() {
    let files = Files::versioned().await;
    for _ in 0..1_001 {
        files.put("a", "").await;
    }
    let first = files.versions("a").await.expect(200);
    assert_eq!((first.list("/versions").len(), &first.json["truncated"]), (1_000, &json!(true)));
    let path = format!("{}/object/versions?key=a&cursor={}", files.path, first.str("/cursor"));
    let rest = files.client().get(&path).send().await.expect(200);
    assert_eq!((rest.list("/versions").len(), &rest.json["truncated"]), (1, &json!(false)));
    assert_eq!(rest.list("/versions")[0]["isLatest"], false);
    let other = format!("{}/object/versions?key=b&cursor={}", files.path, first.str("/cursor"));
    files.client().get(&other).send().await.expect_error(400, "invalid_cursor", "Invalid cursor.");
    let nothing = format!("{}/object/versions?key=a&cursor={}", files.path, query("x"));
    files.client().get(&nothing).send().await.expect_error(400, "invalid_cursor", "Invalid cursor.");
}
