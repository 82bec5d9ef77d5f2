//! Commits that are made without git, as git sees them afterwards (contract C 4.3).

mod refused;
mod uploads;

use std::os::unix::fs::{PermissionsExt, symlink};

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::Workshop;
use crate::harness::{Answer, Client};

impl Workshop {
    async fn web_commit_as(&self, client: &Client, body: &Value) -> Answer {
        client.post(&self.repos.at("web/contents")).json(body).send().await
    }

    async fn web_commit(&self, body: &Value) -> Answer {
        self.web_commit_as(&self.repos.ada.client, body).await
    }

    /// The commit that a branch names on the server.
    async fn named(&self, branch: &str) -> String {
        let listed = self.git(".", &["ls-remote", &self.web(), &format!("refs/heads/{branch}")]).await;
        listed.split_whitespace().next().unwrap_or_default().to_owned()
    }

    /// A commit of these changes on `main`, where it is now.
    async fn change(&self, changes: Value) -> Answer {
        let parent = self.named("main").await;
        let body = json!({ "branch": "main", "parentCommitId": parent, "message": "Change it", "changes": changes });
        self.web_commit(&body).await
    }

    /// With a file on `main`, pushed.
    async fn furnished() -> Self {
        let shop = Self::new().await;
        shop.begin("ada", 0).await;
        shop.commit("ada", "file", "text\n").await;
        shop.git("ada", &["push", "--quiet", "origin", "main"]).await;
        shop
    }

    /// The folder that the server's `main` has, in a fresh clone that was checked.
    async fn tree_there(&self, folder: &str) -> String {
        self.git(".", &["clone", "--quiet", &self.web(), folder]).await;
        self.git(folder, &["fsck", "--full", "--strict"]).await;
        self.git(folder, &["rev-parse", "origin/main^{tree}"]).await
    }
}

fn base64(bytes: impl AsRef<[u8]>) -> String {
    STANDARD.encode(bytes)
}

fn put(path: &str, text: &str) -> Value {
    json!({ "op": "put", "path": path, "content": base64(text) })
}

fn moved(from: &str, to: &str) -> Value {
    json!({ "op": "move", "from": from, "to": to })
}

fn delete(path: &str) -> Value {
    json!({ "op": "delete", "path": path })
}

#[tokio::test]
async fn the_first_commit_of_an_empty_repository_needs_no_parent_and_has_its_makers_name() {
    let shop = Workshop::new().await;
    let odd = "a b/é \"q\" \\.txt";
    let run = json!({ "op": "put", "path": "run", "content": "", "executable": true });
    let body = json!({
        "branch": "trunk", "message": " Begin ", "description": "All\r\nof it", "changes": [put(odd, "hello\n"), run]
    });
    let made = shop.web_commit(&body).await.expect(201);
    assert_eq!(made.json, json!({ "commitId": shop.named("trunk").await, "branch": "trunk" }));
    shop.git(".", &["clone", "--quiet", &shop.web(), "copy"]).await;
    shop.git("copy", &["fsck", "--full", "--strict"]).await;
    assert_eq!(std::fs::read_to_string(shop.at("copy").join(odd)).unwrap(), "hello\n");
    assert!(shop.git("copy", &["ls-tree", "HEAD", "run"]).await.starts_with("100755 blob"));
    let me = shop.repos.ada.client.get("/v1/me").send().await.expect(200);
    let who = format!("{} <{}>", me.str("/user/name"), me.str("/user/email"));
    let said = shop.git("copy", &["log", "-1", "--format=%an <%ae>|%cn <%ce>|%B"]).await;
    assert_eq!(said, format!("{who}|{who}|Begin\n\nAll\nof it"));
    let branches = shop.repos.ada.client.get(&shop.repos.at("web/branches")).send().await.expect(200);
    assert_eq!(branches.str("/defaultBranch"), "trunk");
    let pushes = shop.repos.ada.client.get(&shop.repos.at("web/pushes")).send().await.expect(200);
    assert_eq!(pushes.str("/pushes/0/refs/0/verdict"), "created");
}

#[tokio::test]
async fn files_and_folders_are_written_moved_and_deleted_as_git_does_it() {
    let shop = Workshop::new().await;
    shop.begin("ada", 0).await;
    let place = |name: &str| shop.at("ada").join(name);
    for folder in ["a/deep", "gone/deep"] {
        std::fs::create_dir_all(place(folder)).unwrap();
    }
    for name in ["a/x", "a/deep/y", "a-b", "gone/deep/z", "plain", "run.sh"] {
        std::fs::write(place(name), format!("{name}\n")).unwrap();
    }
    std::fs::set_permissions(place("run.sh"), PermissionsExt::from_mode(0o755)).unwrap();
    symlink("plain", place("link")).unwrap();
    shop.git("ada", &["add", "."]).await;
    shop.git("ada", &["commit", "--quiet", "-m", "Files"]).await;
    shop.git("ada", &["push", "--quiet", "origin", "main"]).await;
    let changes = json!([
        put("run.sh", "new\n"),
        put("new/deep/file", "made\n"),
        moved("a", "b/c"),
        moved("link", "links/one"),
        delete("gone"),
        json!({ "op": "put", "path": "plain", "content": base64("plain\n"), "executable": true }),
    ]);
    let made = shop.change(changes).await.expect(201);
    assert_eq!(made.str("/commitId"), shop.named("main").await);
    std::fs::write(place("run.sh"), "new\n").unwrap();
    for folder in ["new/deep", "b", "links"] {
        std::fs::create_dir_all(place(folder)).unwrap();
    }
    std::fs::write(place("new/deep/file"), "made\n").unwrap();
    std::fs::rename(place("a"), place("b/c")).unwrap();
    std::fs::rename(place("link"), place("links/one")).unwrap();
    std::fs::remove_dir_all(place("gone")).unwrap();
    std::fs::set_permissions(place("plain"), PermissionsExt::from_mode(0o755)).unwrap();
    shop.git("ada", &["add", "--all"]).await;
    let expected = shop.git("ada", &["write-tree"]).await;
    assert_eq!(shop.tree_there("copy").await, expected);
    let parents = shop.git("copy", &["log", "--format=%s"]).await;
    assert_eq!(parents, "Change it\nFiles");
    // What is there already makes nothing.
    let before = shop.named("main").await;
    let same = shop.change(json!([put("run.sh", "new\n")])).await.expect(201);
    assert_eq!((same.json, shop.named("main").await), (json!({ "branch": "main" }), before));
    // All may go.
    let all = ["a-b", "b", "links", "new", "plain", "run.sh"].map(delete);
    shop.change(json!(all)).await.expect(201);
    assert_eq!(shop.tree_there("empty").await, "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
    shop.change(json!([put("again", "text\n")])).await.expect(201);
}

#[tokio::test]
async fn of_commits_at_the_same_time_one_lands_and_the_others_read_where_the_branch_is() {
    let shop = Workshop::furnished().await;
    let parent = shop.named("main").await;
    let bodies: Vec<_> = (0..6)
        .map(|at| {
            let changes = [put(&format!("file-{at}"), "text\n")];
            json!({ "branch": "main", "parentCommitId": parent, "message": format!("The {at}."), "changes": changes })
        })
        .collect();
    let answers = futures::future::join_all(bodies.iter().map(|body| shop.web_commit(body))).await;
    let there = shop.named("main").await;
    let (landed, moved): (Vec<_>, Vec<_>) = answers.into_iter().partition(|answer| answer.status == 201);
    assert_eq!((landed.len(), landed[0].str("/commitId")), (1, there.as_str()));
    for answer in moved {
        let answer = answer.expect_error(409, "branch_moved", "The branch changed since you opened it.");
        assert_eq!(answer.str("/commitId"), there);
    }
    shop.mirrored("copy").await;
    assert_eq!(shop.git("copy", &["rev-list", "--count", "main"]).await, "2");
}

#[tokio::test]
async fn a_commit_that_is_repeated_with_its_key_is_made_once() {
    let shop = Workshop::furnished().await;
    let parent = shop.named("main").await;
    let changes = [put("other", "text\n")];
    let body = json!({ "branch": "main", "parentCommitId": parent, "message": "Once", "changes": changes });
    let send = async || {
        let request = shop.repos.ada.client.post(&shop.repos.at("web/contents"));
        request.header("idempotency-key", "one").json(&body).send().await.expect(201)
    };
    let (first, second) = (send().await, send().await);
    assert_eq!(first.json, second.json);
    assert_eq!(second.header("idempotency-replayed"), Some("true"));
}

#[tokio::test]
async fn a_new_branch_begins_at_the_parent() {
    let shop = Workshop::furnished().await;
    let first = shop.named("main").await;
    shop.change(json!([put("other", "text\n")])).await.expect(201);
    shop.git("ada", &["tag", "v1"]).await;
    shop.git("ada", &["push", "--quiet", "origin", "v1"]).await;
    let on = |name: &str| {
        let changes = [put("third", "text\n")];
        json!({ "branch": "main", "parentCommitId": first, "message": "Try", "newBranch": name, "changes": changes })
    };
    let made = shop.web_commit(&on(" try/it ")).await.expect(201);
    assert_eq!(made.json, json!({ "commitId": shop.named("try/it").await, "branch": "try/it" }));
    shop.mirrored("copy").await;
    assert_eq!(shop.git("copy", &["rev-parse", "try/it^"]).await, first);
    for name in ["try/it", "try", "main", "try/it/too"] {
        let answer = shop.web_commit(&on(name)).await;
        answer.expect_error(409, "branch_exists", "A branch with this name already exists.");
    }
    let answer = shop.web_commit(&on("v1")).await;
    answer.expect_error(409, "tag_exists", "A tag with this name already exists.");
    let mut unknown = on("more");
    unknown["parentCommitId"] = json!("0123456789012345678901234567890123456789");
    shop.web_commit(&unknown).await.expect_error(400, "commit_not_found", "That commit doesn't exist.");
    shop.web_commit(&on("a..b")).await.expect_problems(&["newBranch"]);
    // An empty name is none.
    shop.web_commit(&on(" ")).await.expect_error(409, "branch_moved", "The branch changed since you opened it.");
}

#[tokio::test]
async fn a_branch_that_needs_a_pull_request_takes_no_commits_but_of_who_may_bypass() {
    let shop = Workshop::furnished().await;
    let dev = shop.repos.member("dev", "developer").await;
    let rule = json!({
        "name": "Reviewed", "patterns": ["main"], "requirePull": { "approvals": 1 }, "bypass": { "roles": ["admin"] }
    });
    let made = shop.repos.ada.client.post(&shop.repos.at("web/rules")).json(&rule).send().await.expect(201);
    let parent = shop.named("main").await;
    let changes = [put("other", "text\n")];
    let mut body = json!({ "branch": "main", "parentCommitId": parent, "message": "Change it", "changes": changes });
    let refused = shop.web_commit_as(&dev.client, &body).await;
    let refused = refused.expect_error(403, "branch_rule", "This branch needs a pull request.");
    assert_eq!(refused.str("/rule"), made.str("/rule/ruleId"));
    assert_eq!(shop.named("main").await, parent);
    assert!(shop.repos.audited("push.").await.is_empty());
    shop.web_commit(&body).await.expect(201);
    assert_eq!(shop.repos.audited("push.").await, ["push.bypassed"]);
    body["newBranch"] = json!("mine");
    shop.web_commit_as(&dev.client, &body).await.expect(201);
}
