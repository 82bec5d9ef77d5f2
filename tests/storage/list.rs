//! `GET /v1/orgs/:orgId/storage/:resourceId/objects` and `…/deleted`

use serde_json::json;

use super::{Files, keys, query};

#[tokio::test]
async fn a_folder_has_files_and_folders_in_the_order_of_their_bytes() {
    let files = Files::new().await;
    for key in ["b/x", "a", "b/y/z", "é", "b", "b/", "Z", "c//d"] {
        files.put(key, if key == "b/" { "" } else { key }).await;
    }
    let all = files.list("").await.expect(200);
    assert_eq!((all.str("/prefix"), keys(all.list("/files"))), ("", vec!["Z", "a", "b", "é"]));
    assert_eq!(all.json["folders"], json!(["b/", "c/"]));
    assert_eq!(all.json.get("cursor"), None);
    let file = &all.list("/files")[1];
    let now = files.server.clock.now().0;
    let expected = json!({
        "key": "a", "size": 1, "lastModified": now, "etag": "0cc175b9c0f1b6a831c399e269772661", "storageClass": "STANDARD"
    });
    assert_eq!(*file, expected);
    let folder = files.list("prefix=b/").await.expect(200);
    assert_eq!((keys(folder.list("/files")), &folder.json["folders"]), (vec!["b/x"], &json!(["b/y/"])));
    let empty = files.list("prefix=none/").await.expect(200);
    assert_eq!(empty.json, json!({ "prefix": "none/", "folders": [], "files": [] }));
    files.list("prefix=b").await.expect_error(400, "invalid_folder", "Folder paths end with /.");
    files.deleted("prefix=b").await.expect_error(400, "invalid_folder", "Folder paths end with /.");
    let (longest, longer) = (format!("{}/", "a".repeat(1_023)), format!("{}/", "a".repeat(1_024)));
    files.list(&format!("prefix={longest}")).await.expect(200);
    let refused = files.list(&format!("prefix={longer}")).await;
    refused.expect_error(400, "invalid_key", "Keys have at most 1,024 bytes.");
}

#[tokio::test]
async fn pages_follow_one_another_without_a_gap() {
    let files = Files::new().await;
    for at in 0..30 {
        files.put(&format!("f{at:02}"), "").await;
        files.put(&format!("d{at:02}/a"), "").await;
        files.put(&format!("d{at:02}/b"), "").await;
    }
    for limit in [1, 7, 30, 59, 60, 61, 5_000] {
        let (mut found, mut about) = (Vec::new(), format!("limit={limit}"));
        loop {
            let page = files.list(&about).await.expect(200);
            let on_page = page.list("/folders").iter().map(|it| it.as_str().unwrap().to_owned());
            let on_page: Vec<_> = on_page.chain(keys(page.list("/files")).into_iter().map(str::to_owned)).collect();
            assert!(on_page.len() <= limit, "{on_page:?}");
            found.extend(on_page);
            let Some(cursor) = page.json["cursor"].as_str() else { break };
            about = format!("limit={limit}&cursor={cursor}");
        }
        let expected: Vec<_> =
            (0..30).map(|at| format!("d{at:02}/")).chain((0..30).map(|at| format!("f{at:02}"))).collect();
        assert_eq!(found, expected, "{limit}");
    }
    files.list("limit=0").await.expect_problems(&["limit"]);
    files.list("limit=x").await.expect_problems(&["limit"]);
}

#[tokio::test]
async fn a_page_has_100_entries_where_the_request_does_not_say_and_1000_at_most() {
    let files = Files::new().await;
    for start in (0..1_002).step_by(32) {
        let puts = (start..(start + 32).min(1_002)).map(|at| files.put_at(at));
        futures::future::join_all(puts).await;
    }
    assert_eq!(files.list("").await.list("/files").len(), 100);
    assert_eq!(files.list("limit=1000").await.list("/files").len(), 1_000);
    let page = files.list("limit=100000").await;
    assert_eq!(page.list("/files").len(), 1_000);
    let rest = files.list(&format!("cursor={}", page.str("/cursor"))).await;
    assert_eq!((rest.list("/files").len(), rest.json.get("cursor")), (2, None));
}

#[tokio::test]
async fn a_cursor_goes_on_with_its_own_list_only() {
    let files = Files::versioned().await;
    for key in ["a", "b", "f/a", "f/b"] {
        files.put(key, "").await;
    }
    for key in ["a", "b"] {
        files.delete(key).await;
        files.put(key, "").await;
        files.delete(key).await;
    }
    let cursor = files.list("prefix=f/&limit=1").await.str("/cursor").to_owned();
    let deleted = files.deleted("limit=1").await.str("/cursor").to_owned();
    files.list(&format!("prefix=f/&cursor={cursor}")).await.expect(200);
    files.deleted(&format!("cursor={deleted}")).await.expect(200);
    let mut damaged = cursor.clone().into_bytes();
    damaged[3] = if damaged[3] == b'A' { b'B' } else { b'A' };
    let damaged = String::from_utf8(damaged).unwrap();
    for about in [
        format!("cursor={cursor}"),
        format!("prefix=f/&cursor={damaged}"),
        format!("cursor={deleted}"),
        "cursor=".to_owned(),
        "cursor=nonsense".to_owned(),
        format!("cursor={}", "a".repeat(2_049)),
        format!("cursor={}", query("\0")),
    ] {
        files.list(&about).await.expect_error(400, "invalid_cursor", "Invalid cursor.");
    }
    for about in [format!("cursor={cursor}"), format!("cursor={}", "a".repeat(4_097))] {
        files.deleted(&about).await.expect_error(400, "invalid_cursor", "Invalid cursor.");
    }
}

#[tokio::test]
async fn deleted_files_are_listed_until_they_are_there_again() {
    let files = Files::versioned().await;
    for key in ["b", "a/x", "a/y", "c"] {
        files.put(key, "").await;
        files.delete(key).await;
    }
    files.put("c", "again").await;
    files.put("kept", "").await;
    let all = files.deleted("").await.expect(200);
    assert_eq!(keys(all.list("/files")), ["a/x", "a/y", "b"]);
    assert_eq!(all.list("/files")[0]["deletedAt"], files.server.clock.now().0);
    let marker = all.list("/files")[0]["versionId"].as_str().unwrap().to_owned();
    assert_eq!(keys(files.deleted("prefix=a/").await.list("/files")), ["a/x", "a/y"]);
    let first = files.deleted("limit=2").await;
    assert_eq!(keys(first.list("/files")), ["a/x", "a/y"]);
    let rest = files.deleted(&format!("limit=2&cursor={}", first.str("/cursor"))).await;
    assert_eq!((keys(rest.list("/files")), rest.json.get("cursor")), (vec!["b"], None));
    assert_eq!(keys(files.list("").await.list("/files")), ["c", "kept"]);
    files.restore("a/x", &marker).await.expect(200);
    assert_eq!(keys(files.deleted("").await.list("/files")), ["a/y", "b"]);
    files.deleted("limit=0").await.expect_problems(&["limit"]);
}
