//! What isn't committed, and what is said of it.

use serde_json::{Value, json};

use super::{base64, delete, moved, put};
use crate::git::wire::Workshop;

/// A made-up secret; none stands here.
fn secret() -> String {
    ["sk_", "live_", "4eC39HqLyjWDarjtT1zdp7dc"].concat()
}

#[tokio::test]
async fn what_meets_or_is_not_there_is_400() {
    let shop = Workshop::furnished().await;
    shop.change(json!([put("folder/file", "text\n"), put("run", "x")])).await.expect(201);
    let before = shop.named("main").await;
    for (changes, code, message) in [
        (json!([put("a", "1"), put("a", "2")]), "changed_twice", "A file can only be changed once in a commit."),
        (
            json!([delete("folder"), put("folder/x", "")]),
            "changed_twice",
            "A file can only be changed once in a commit.",
        ),
        (json!([moved("file", "file")]), "same_path", "A file can't be moved onto itself."),
        (json!([moved("none", "x")]), "file_not_found", "There is no file at none."),
        (json!([delete("folder/none")]), "file_not_found", "There is no file at folder/none."),
        (json!([delete("file/x")]), "file_not_found", "There is no file at file/x."),
        (json!([moved("file", "run")]), "path_taken", "There is already a file at run."),
        (json!([moved("file", "folder")]), "path_taken", "There is already a folder at folder."),
        (json!([put("folder", "x")]), "path_taken", "There is already a folder at folder."),
        (json!([put("file/x", "x")]), "path", "file/x can't be used as a path."),
        (json!([moved("run", "file/x")]), "path", "file/x can't be used as a path."),
        (json!([put("../x", "x")]), "path", "../x can't be used as a path."),
        (json!([put("a/.GIT/x", "x")]), "path", "a/.GIT/x can't be used as a path."),
        (json!([put("", "x")]), "path", " can't be used as a path."),
    ] {
        shop.change(changes).await.expect_error(400, code, message);
    }
    let longest = format!("{}/", "a".repeat(200)).repeat(20) + &"b".repeat(76);
    shop.change(json!([put(&(longest.clone() + "c"), "x")])).await.expect(400);
    let module = "[submodule \"x\"]\n\tpath = x\n\turl = -u./payload\n";
    let refused = shop.change(json!([put(".gitmodules", module)])).await.expect(400);
    assert_eq!(refused.str("/code"), "bad_content");
    assert_eq!(shop.named("main").await, before);
    shop.change(json!([put(&longest, "x")])).await.expect(201);
    shop.mirrored("copy").await;
}

#[tokio::test]
async fn folders_that_are_too_deep_for_git_are_no_failure_of_the_server() {
    let shop = Workshop::furnished().await;
    let deep = |name: &str| format!("{name}/").repeat(1_500) + "end";
    shop.change(json!([put(&deep("a"), "x")])).await.expect(201);
    // Programs before 2.43 take them.
    let answer = shop.change(json!([moved("a", &deep("b"))])).await;
    assert!(answer.status == 201 || answer.json["code"] == "bad_content", "{}", answer.text);
    shop.mirrored("copy").await;
}

#[tokio::test]
async fn what_is_asked_for_is_checked_field_by_field() {
    let shop = Workshop::furnished().await;
    let parent = shop.named("main").await;
    let good =
        json!({ "branch": "main", "parentCommitId": parent, "message": "Change it", "changes": [put("x", "y")] });
    let with = |field: &str, value: Value| {
        let mut body = good.clone();
        body[field] = value;
        body
    };
    let change = |change: Value| with("changes", json!([change]));
    for (body, problem) in [
        (with("branch", json!("")), "branch"),
        (with("branch", json!("b".repeat(257))), "branch"),
        (with("message", json!(" ")), "message"),
        (with("message", json!("m".repeat(1_001))), "message"),
        (with("description", json!("d".repeat(20_001))), "description"),
        (with("newBranch", json!("n".repeat(257))), "newBranch"),
        (with("parentCommitId", json!("main")), "parentCommitId"),
        (with("changes", json!([])), "changes"),
        (change(json!({ "op": "paint", "path": "x" })), "changes[0].op"),
        (change(json!({ "op": "put", "content": "" })), "changes[0].path"),
        (change(json!({ "op": "put", "path": "x" })), "changes[0].content"),
        (change(json!({ "op": "put", "path": "x", "content": "", "upload": 0 })), "changes[0].content"),
        (change(json!({ "op": "put", "path": "x", "content": "?" })), "changes[0].content"),
        (change(json!({ "op": "move", "to": "x" })), "changes[0].from"),
        (change(json!({ "op": "move", "from": "file" })), "changes[0].to"),
        (change(json!({ "op": "delete" })), "changes[0].path"),
        (change(json!({ "op": "delete", "path": "a/../b" })), "changes[0].path"),
    ] {
        shop.web_commit(&body).await.expect_problems(&[problem]);
    }
    let uploaded = change(json!({ "op": "put", "path": "x", "upload": 0 }));
    for (body, status, code, message) in [
        (with("parentCommitId", Value::Null), 400, "parent_required", "parentCommitId is required."),
        (with("uploadId", json!("x")), 400, "invalid_upload", "Invalid upload id."),
        (with("uploadId", json!("A".repeat(32))), 400, "invalid_upload", "Invalid upload id."),
        (uploaded, 400, "upload_required", "uploadId is required for uploaded files."),
        (with("branch", json!("none")), 404, "not_found", "Branch none not found."),
    ] {
        shop.web_commit(&body).await.expect_error(status, code, message);
    }
    let longest = json!({
        "branch": "main", "parentCommitId": parent, "message": "m".repeat(1_000), "description": "d".repeat(20_000),
        "changes": [put("x", "y")]
    });
    shop.web_commit(&longest).await.expect(201);
}

#[tokio::test]
async fn a_deleted_repository_takes_no_commits() {
    let shop = Workshop::furnished().await;
    shop.repos.ada.client.delete(&shop.repos.at("web")).send().await.expect(202);
    let body = json!({ "branch": "main", "message": "Change it", "changes": [put("x", "y")] });
    let message = "This repository is deleted. Restore it first.";
    shop.web_commit(&body).await.expect_error(409, "repository_deleted", message);
    let path = shop.repos.at("web/contents/uploads");
    let files = json!({ "files": [{ "size": 1 }] });
    let answer = shop.repos.ada.client.post(&path).json(&files).send().await;
    answer.expect_error(409, "repository_deleted", message);
}

#[tokio::test]
async fn a_commit_with_a_secret_is_422_until_somebody_allows_it() {
    let shop = Workshop::furnished().await;
    let before = shop.named("main").await;
    let changes = json!([put("config/prod.env", &format!("# Keys\nKEY={}\n", secret()))]);
    let refused = shop.change(changes.clone()).await;
    let message = "There are secrets in this commit. Take them out, or allow them.";
    let refused = refused.expect_error(422, "secret_detected", message);
    assert!(!refused.text.contains(&secret()));
    let findings = refused.list("/findings");
    let fingerprint = findings[0]["fingerprint"].as_str().unwrap();
    let expected = json!([{
        "line": 2, "fingerprint": fingerprint, "preview": "sk_l…p7dc", "path": "config/prod.env",
        "rule": "stripe_key", "label": "Stripe live key"
    }]);
    assert_eq!(refused.json["findings"], expected);
    assert_eq!(shop.named("main").await, before);
    let known = shop.repos.ada.client.get(&shop.repos.at("web/secret-findings")).send().await.expect(200);
    assert!(known.text.contains(fingerprint), "{}", known.text);
    let allow = shop.repos.at(&format!("web/secret-findings/{fingerprint}/allow"));
    shop.repos.ada.client.post(&allow).json(&json!({ "reason": "test" })).send().await.expect_success();
    shop.change(changes).await.expect(201);
    shop.mirrored("copy").await;
    // Bytes that nobody takes for text aren't scanned.
    let bytes = format!("\0{}", secret().replace("4eC3", "9zX3"));
    shop.change(json!([{ "op": "put", "path": "bytes", "content": base64(bytes) }])).await.expect(201);
}

#[tokio::test]
async fn who_may_only_read_commits_nothing() {
    let shop = Workshop::furnished().await;
    let viewer = shop.repos.member("viewer", "viewer").await;
    let body = json!({ "branch": "main", "message": "Change it", "changes": [put("x", "y")] });
    let refused = shop.web_commit_as(&viewer.client, &body).await.expect(403);
    assert_eq!(refused.str("/code"), "missing_scope");
    let stranger = shop.repos.server.person("stranger").await;
    shop.web_commit_as(&stranger.client, &body).await.expect(404);
}
