//! Branches, tags and commits over HTTP, of what git pushed (contract C 4.3).

use std::time::Duration;

use serde_json::{Value, json};

use super::Workshop;
use crate::harness::Answer;

impl Workshop {
    async fn make_branch(&self, name: &str, from: &str) -> Answer {
        let body = json!({ "name": name, "from": from });
        self.repos.ada.client.post(&self.repos.at("web/branches")).json(&body).send().await
    }

    async fn delete_branch(&self, name: &str) -> Answer {
        self.repos.ada.client.delete(&self.repos.at(&format!("web/branches?name={name}"))).send().await
    }
}

fn names(answer: &Answer, list: &str) -> Vec<String> {
    answer.list(list).iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn branches_are_listed_with_the_default_one_first() {
    let shop = Workshop::pushed(2).await;
    for (at, branch) in ["old", "new"].into_iter().enumerate() {
        shop.git("ada", &["checkout", "--quiet", "-b", branch, "main"]).await;
        let date = format!("2030-01-0{}T00:00:00Z", at + 1);
        let config = format!("user.name={branch}");
        let text = "A subject\n\nAnd a text";
        shop.git("ada", &["-c", &config, "commit", "--quiet", "--allow-empty", "-m", text, "--date", &date]).await;
        shop.git("ada", &["push", "--quiet", "origin", branch]).await;
    }
    let answer = shop.ask("branches").await.expect(200);
    assert_eq!(answer.str("/defaultBranch"), "main");
    assert_eq!(names(&answer, "/branches")[0], "main");
    assert_eq!(answer.list("/branches").len(), 3);
    assert_eq!(answer.json["cursor"], Value::Null);
    let old = answer.list("/branches").iter().find(|it| it["name"] == "old").unwrap();
    assert_eq!(old["commit"]["id"], shop.tip("old").await);
    assert_eq!(old["commit"]["message"], "A subject\n\nAnd a text");
    assert_eq!(
        old["commit"]["author"],
        json!({ "name": "Ada", "email": "ada@example.com", "date": 1_893_456_000_000_i64 })
    );
    assert!(old["commit"]["committedAt"].as_i64().unwrap() > 1_700_000_000_000);
    assert_eq!((&old["isDefault"], &old["protected"], &old["openPull"]), (&json!(false), &json!(false), &Value::Null));
    assert_eq!(names(&shop.ask("branches?q=OL").await, "/branches"), ["old"]);
    shop.ask("branches?cursor=nonsense").await.expect_error(400, "invalid_cursor", "Invalid cursor");
}

#[tokio::test]
async fn an_empty_repository_has_neither_branches_nor_tags() {
    let shop = Workshop::new().await;
    let answer = shop.ask("branches").await.expect(200);
    assert_eq!((&answer.json["defaultBranch"], answer.list("/branches").len()), (&Value::Null, 0));
    assert!(shop.ask("tags").await.expect(200).list("/tags").is_empty());
    assert!(shop.ask("commits").await.expect(200).list("/commits").is_empty());
    let none = shop.ask("branches/divergence?name=main").await.expect(200);
    assert_eq!(none.json, json!({ "base": null, "divergence": {} }));
    shop.make_branch("a", "main").await.expect_error(404, "not_found", "Not found");
    shop.ask("tree").await.expect_error(404, "not_found", "Branch or tag not found");
}

#[tokio::test]
async fn a_thousand_branches_are_listed_and_then_the_others() {
    let shop = Workshop::pushed(1).await;
    let tip = shop.tip("main").await;
    let refs: Vec<String> = (0..1_001).map(|at| format!("{tip}:refs/heads/b{at:04}")).collect();
    let refs: Vec<&str> = refs.iter().map(String::as_str).collect();
    shop.git("ada", &[&["push", "--quiet", "origin"], &refs[..]].concat()).await;
    let first = shop.ask("branches").await.expect(200);
    let cursor = first.str("/cursor").to_owned();
    let second = shop.ask(&format!("branches?cursor={cursor}")).await.expect(200);
    assert_eq!(second.json["cursor"], Value::Null);
    let all = [names(&first, "/branches"), names(&second, "/branches")];
    assert_eq!((all[0].len(), all[1].len(), all[0][0].as_str()), (1_000, 2, "main"));
    let mut all = all.concat();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 1_002);
    shop.ask(&format!("tags?cursor={cursor}")).await.expect_error(400, "invalid_cursor", "Invalid cursor");
}

#[tokio::test]
async fn tags_are_listed_with_the_commits_that_they_end_at() {
    let shop = Workshop::pushed(2).await;
    shop.git("ada", &["tag", "light", "main~1"]).await;
    shop.git("ada", &["tag", "-a", "v1", "-m", "The first", "main"]).await;
    shop.git("ada", &["tag", "of-a-folder", "main^{tree}"]).await;
    shop.git("ada", &["push", "--quiet", "origin", "--tags"]).await;
    let answer = shop.ask("tags").await.expect(200);
    let told = answer.list("/tags").iter().map(|tag| {
        let text = |pointer| tag.pointer(pointer).unwrap().as_str().unwrap().to_owned();
        (text("/name"), (tag["annotated"].as_bool().unwrap(), text("/object"), text("/commit/id")))
    });
    let told: std::collections::BTreeMap<_, _> = told.collect();
    assert_eq!(told.len(), 2);
    assert_eq!(told["light"], (false, shop.tip("main~1").await, shop.tip("main~1").await));
    assert_eq!(told["v1"], (true, shop.tip("v1").await, shop.tip("main").await));
}

#[tokio::test]
async fn a_branch_begins_at_a_branch_a_tag_or_a_commit() {
    let shop = Workshop::pushed(3).await;
    shop.git("ada", &["tag", "-a", "v1", "-m", "The first", "main~1"]).await;
    shop.git("ada", &["push", "--quiet", "origin", "v1"]).await;
    let (tip, before) = (shop.tip("main").await, shop.tip("main~1").await);
    let first = shop.tip("main~2").await;
    for (name, from, commit) in
        [("a", "main", &tip), (" b ", "v1", &before), ("c/d", &first, &first), ("e", &first[..7], &first)]
    {
        let made = shop.make_branch(name, from).await.expect(201);
        assert_eq!(made.json, json!({ "branch": { "name": name.trim(), "commitId": commit } }));
    }
    let listed = shop.git(".", &["ls-remote", &shop.web(), "refs/heads/c/d"]).await;
    assert_eq!(listed, format!("{first}\trefs/heads/c/d"));
    for (name, from, status, code, message) in [
        ("x", "0123456789012345678901234567890123456789", 400, "commit_not_found", "That commit doesn't exist."),
        ("x", "nothing", 404, "not_found", "Branch or tag not found"),
        ("x", "0123456", 404, "not_found", "Branch or tag not found"),
        ("x", "--all", 404, "not_found", "Branch or tag not found"),
        ("x", "main^{tree}", 404, "not_found", "Branch or tag not found"),
        ("a", "main", 409, "branch_exists", "A branch with this name already exists."),
        ("c", "main", 409, "branch_exists", "A branch with this name already exists."),
        ("a/b", "main", 409, "branch_exists", "A branch with this name already exists."),
        ("v1", "main", 409, "tag_exists", "A tag with this name already exists."),
    ] {
        shop.make_branch(name, from).await.expect_error(status, code, message);
    }
    let long = "x".repeat(257);
    for (name, from, problem) in [
        ("", "main", "name"),
        (&long, "main", "name"),
        ("a..b", "main", "name"),
        ("x", " ", "from"),
        ("x", &long, "from"),
    ] {
        shop.make_branch(name, from).await.expect_problems(&[problem]);
    }
    shop.make_branch(&long[1..], "main").await.expect(201);
    shop.make_branch("x", &"y".repeat(256)).await.expect(404);
}

#[tokio::test]
async fn a_branch_is_deleted_and_can_be_made_again() {
    let shop = Workshop::pushed(1).await;
    let tip = shop.tip("main").await;
    let tick = || shop.repos.server.clock.advance(Duration::from_millis(1));
    tick();
    shop.make_branch("a", "main").await.expect(201);
    tick();
    let gone = shop.delete_branch("a").await.expect(200);
    assert_eq!(gone.json, json!({ "deleted": true, "commitId": tip }));
    shop.delete_branch("a").await.expect_error(404, "not_found", "Branch not found.");
    shop.delete_branch("a..b").await.expect_error(404, "not_found", "Branch not found.");
    shop.delete_branch("main").await.expect_error(400, "default_branch", "The default branch can't be deleted.");
    shop.delete_branch("").await.expect_problems(&["name"]);
    shop.delete_branch(&"x".repeat(257)).await.expect_problems(&["name"]);
    tick();
    shop.make_branch("a", &tip).await.expect(201);
    let pushes = shop.ask("pushes").await.expect(200);
    let verdicts = pushes.list("/pushes").iter().map(|push| push["refs"][0]["verdict"].as_str().unwrap());
    assert_eq!(verdicts.collect::<Vec<_>>(), ["created", "deleted", "created", "created"]);
    assert_eq!(shop.repos.audited("branch.").await, ["branch.deleted"]);
}

#[tokio::test]
async fn divergence_is_what_git_counts() {
    let shop = Workshop::pushed(4).await;
    for (branch, from, commits) in [("a", "main~2", 3), ("b", "main", 1), ("c", "main~1", 0)] {
        shop.git("ada", &["checkout", "--quiet", "-b", branch, from]).await;
        for at in 0..commits {
            shop.commit("ada", &format!("{branch}-{at}"), "text\n").await;
        }
    }
    shop.git("ada", &["checkout", "--quiet", "-b", "d", "a"]).await;
    shop.git("ada", &["merge", "--quiet", "--no-edit", "main"]).await;
    shop.git("ada", &["checkout", "--quiet", "--orphan", "other"]).await;
    shop.commit("ada", "alone", "text\n").await;
    shop.git("ada", &["push", "--quiet", "origin", "--all"]).await;
    let answer = shop.ask("branches/divergence?name=a&name=b&name=c&name=d&name=other&name=main&name=none").await;
    let answer = answer.expect(200);
    assert_eq!(answer.str("/base"), "main");
    assert_eq!(answer.json["divergence"]["none"], Value::Null);
    for branch in ["a", "b", "c", "d", "other", "main"] {
        let range = format!("{branch}...main");
        let counted = shop.git("ada", &["rev-list", "--left-right", "--count", &range]).await;
        let counted: Vec<u64> = counted.split_whitespace().map(|count| count.parse().unwrap()).collect();
        let expected = json!({ "ahead": counted[0], "behind": counted[1], "exact": true });
        assert_eq!(answer.json["divergence"][branch], expected, "{branch}");
    }
    let many = |count: usize| format!("branches/divergence?{}", vec!["name=a"; count].join("&"));
    shop.ask(&many(100)).await.expect(200);
    shop.ask(&many(101)).await.expect_problems(&["name"]);
    assert_eq!(shop.ask("branches/divergence").await.expect(200).json["divergence"], json!({}));
    shop.repos
        .ada
        .client
        .patch(&shop.repos.at("web"))
        .json(&json!({ "defaultBranch": "gone" }))
        .send()
        .await
        .expect(200);
    shop.ask("branches/divergence?name=a").await.expect_error(404, "not_found", "Not found");
}

#[tokio::test]
async fn commits_are_listed_page_by_page_and_found() {
    let shop = Workshop::pushed(5).await;
    shop.commit("ada", "folder/deep", "text\n").await;
    shop.git("ada", &["push", "--quiet", "origin", "main"]).await;
    let expected = shop.git("ada", &["rev-list", "main"]).await;
    let first = shop.ask("commits?limit=4").await.expect(200);
    let rest = shop.ask(&format!("commits?limit=4&cursor={}", first.str("/cursor"))).await.expect(200);
    assert_eq!(rest.json["cursor"], Value::Null);
    let listed = [first.list("/commits"), rest.list("/commits")].concat();
    let ids: Vec<_> = listed.iter().map(|it| it["id"].as_str().unwrap()).collect();
    assert_eq!(ids, expected.lines().collect::<Vec<_>>());
    assert_eq!(listed[0]["parents"], json!([ids[1]]));
    let found = async |query: &str| {
        let answer = shop.ask(&format!("commits?{query}")).await.expect(200);
        answer.list("/commits").iter().map(|it| it["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(found("path=folder").await, ids[..1]);
    assert_eq!(found("q=ADD%20file-4").await, ids[1..2]);
    assert_eq!(found("author=ADA%40").await.len(), 6);
    assert!(found("author=.*").await.is_empty());
    assert!(found("since=4102444800000").await.is_empty());
    assert_eq!(found("until=4102444800000").await.len(), 6);
    assert!(found("until=0").await.is_empty());
    assert_eq!(found(&format!("ref={}", &ids[5][..8])).await, ids[5..]);
    shop.ask("commits?ref=--all").await.expect_error(404, "not_found", "Branch or tag not found");
    shop.ask("commits?limit=101").await.expect_problems(&["limit"]);

    let commit = shop.ask(&format!("commits/{}", &ids[0][..7])).await.expect(200);
    assert_eq!(commit.str("/commit/id"), ids[0]);
    assert_eq!(commit.str("/commit/text"), "Add folder/deep\n");
    assert_eq!(commit.str("/commit/tree"), shop.tip("main^{tree}").await);
    for missing in ["0123456", "main", "--all", "x"] {
        shop.ask(&format!("commits/{missing}")).await.expect_error(404, "not_found", "Commit not found");
    }
}

#[tokio::test]
async fn who_may_only_read_makes_and_deletes_no_branch() {
    let shop = Workshop::pushed(1).await;
    let viewer = shop.repos.member("vic", "viewer").await;
    let at = shop.repos.at("web/branches");
    let body = json!({ "name": "a", "from": "main" });
    viewer.client.get(&at).send().await.expect(200);
    viewer.client.post(&at).json(&body).send().await.expect(403);
    viewer.client.delete(&format!("{at}?name=main")).send().await.expect(403);
    let stranger = shop.repos.server.person("sam").await;
    stranger.client.get(&at).send().await.expect(404);
    shop.repos.ada.client.delete(&shop.repos.at("web")).send().await.expect(202);
    let message = "This repository is deleted. Restore it first.";
    shop.make_branch("a", "main").await.expect_error(409, "repository_deleted", message);
}
