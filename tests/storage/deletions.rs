//! `POST …/objects/delete` and `POST …/folders`

use serde_json::{Value, json};

use super::{Files, keys};
use crate::harness::Answer;

async fn delete(files: &Files, body: Value) -> Answer {
    files.client().post(&format!("{}/objects/delete", files.path)).json(&body).send().await
}

async fn folder(files: &Files, path: &str) -> Answer {
    files.client().post(&format!("{}/folders", files.path)).json(&json!({ "path": path })).send().await
}

#[tokio::test]
async fn files_and_folders_are_deleted_and_asking_again_deletes_nothing_more() {
    for files in [Files::new().await, Files::versioned().await] {
        for key in ["a", "b", "f/x", "f/y/z", "g/x", "fa"] {
            files.put(key, key).await;
        }
        let body = json!({ "keys": ["a", "f/x", "missing"], "folders": ["f/", "g/", "none/"] });
        assert_eq!(delete(&files, body.clone()).await.expect(200).json, json!({ "deleted": 4, "done": true }));
        let left = files.list("").await.expect(200);
        assert_eq!(keys(left.list("/files")), ["b", "fa"]);
        let before = files.usage().await;
        let mut again = body;
        again["resume"] = json!(true);
        assert_eq!(delete(&files, again).await.expect(200).json, json!({ "deleted": 0, "done": true }));
        assert_eq!(files.usage().await, before);
    }
}

#[tokio::test]
async fn names_that_can_not_be_are_refused_before_anything_is_deleted() {
    let files = Files::new().await;
    files.put("a", "a").await;
    for (folder, code, message) in [
        ("", "invalid_move", "Pick a folder, not the whole bucket."),
        ("f", "invalid_folder", "Folder paths end with /."),
    ] {
        let body = json!({ "keys": ["a"], "folders": [folder] });
        delete(&files, body).await.expect_error(400, code, message);
    }
    delete(&files, json!({ "keys": vec!["a"; 1_001] })).await.expect_problems(&["keys"]);
    files.get("a").await.expect(200);
    assert_eq!(delete(&files, json!({ "keys": vec!["a"; 1_000] })).await.expect(200).int("/deleted"), 1);
}

#[tokio::test]
async fn a_folder_is_there_while_nothing_lies_in_it() {
    let files = Files::new().await;
    assert_eq!(folder(&files, "f/g/").await.expect(201).json, json!({ "path": "f/g/" }));
    let exists = "A folder with this name already exists.";
    folder(&files, "f/g/").await.expect_error(409, "folder_exists", exists);
    folder(&files, "f/").await.expect_error(409, "folder_exists", exists);
    folder(&files, "f").await.expect_error(400, "invalid_folder", "Folder paths end with /.");
    folder(&files, "").await.expect_error(400, "invalid_move", "Pick a folder, not the whole bucket.");
    assert_eq!(files.list("prefix=f/").await.expect(200).json["folders"], json!(["f/g/"]));
    assert_eq!(files.get("f/g/").await.expect(200).int("/object/size"), 0);
}
