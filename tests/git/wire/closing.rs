//! Issues that commits and pull requests say they close (`docs/decisions/issues.md`).

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::{Workshop, key};
use crate::harness::{Answer, Client};

impl Workshop {
    /// A shop with `main` pushed, a space `WEB`, and a key that writes issues, too, by whose address it is pushed.
    async fn with_issues() -> Self {
        let shop = Self::pushed(1).await;
        let key = key(&shop.repos, &shop.repos.ada.client, &["git:read", "git:write", "issues:write"]).await;
        shop.space("WEB").await;
        Self { key, ..shop }
    }

    async fn space(&self, key: &str) -> Answer {
        let space = json!({ "key": key, "name": "A space", "template": "basic" });
        self.repos.ada.client.post(&self.issues("spaces")).json(&space).send().await.expect(201)
    }

    fn issues(&self, rest: &str) -> String {
        format!("{}/issues/{rest}", self.repos.org)
    }

    /// Makes an issue; its key.
    async fn issue(&self, space: &str) -> String {
        let body = json!({ "space": space, "summary": "One" });
        let made = self.repos.ada.client.post(self.issues("").trim_end_matches('/')).json(&body).send().await;
        made.expect(201).str("/issue/key").to_owned()
    }

    async fn category(&self, issue: &str) -> String {
        let answer = self.repos.ada.client.get(&self.issues(issue)).send().await.expect(200);
        answer.str("/issue/statusCategory").to_owned()
    }

    /// Waits until the issue is done.
    async fn done(&self, issue: &str) {
        let found = async || (self.category(issue).await == "done").then_some(());
        self.repos.server.eventually("an issue that is done", found).await;
    }

    /// What the issue's history was told of repositories, with what did it.
    async fn told_of_repositories(&self, issue: &str) -> Vec<(String, Value)> {
        let answer = self.repos.ada.client.get(&self.issues(&format!("{issue}/history"))).send().await.expect(200);
        let all = answer.list("/changes").iter().filter(|change| change["field"] == "development");
        all.map(|change| (change["cause"].as_str().unwrap().to_owned(), change["to"].clone())).collect()
    }

    async fn transition(&self, issue: &str, to: &str) {
        let path = self.issues(&format!("{issue}/transitions"));
        self.repos.ada.client.post(&path).json(&json!({ "to": to })).send().await.expect(200);
    }

    /// Makes a commit on the branch that is checked out, which says this; its name.
    async fn say(&self, message: &str) -> String {
        self.git("ada", &["commit", "--quiet", "--allow-empty", "-m", message]).await;
        self.tip("HEAD").await
    }

    async fn push_by(&self, key: &str, refspec: &str) {
        self.git("ada", &["push", "--quiet", "--force", &self.url("web", key), refspec]).await;
    }

    /// A commit on `main` without git.
    async fn put_file(&self, client: &Client, message: &str) -> Answer {
        let parent = self.git("ada", &["ls-remote", &self.web(), "refs/heads/main"]).await;
        let parent = parent.split_whitespace().next().unwrap_or_default().to_owned();
        let change = json!({ "op": "put", "path": message, "content": STANDARD.encode(message) });
        let body = json!({ "branch": "main", "parentCommitId": parent, "message": message, "changes": [change] });
        client.post(&self.repos.at("web/contents")).json(&body).send().await.expect(201)
    }
}

#[tokio::test]
async fn a_commit_that_comes_to_the_default_branch_closes_what_it_names() {
    let shop = Workshop::with_issues().await;
    let (one, two, three, four) =
        (shop.issue("WEB").await, shop.issue("WEB").await, shop.issue("WEB").await, shop.issue("WEB").await);
    let first = shop.say(&format!("Begin\n\nFixes {one}, {}", two.to_lowercase())).await;
    shop.say(&format!("closes {one} once more\n\n    `closes {three}`\n```\ncloses {three}\n```\nsee {three}")).await;
    shop.push_by(&shop.key, "main:other").await;
    shop.push_by(&shop.key, "main").await;
    shop.done(&two).await;
    assert_eq!(shop.category(&one).await, "done");
    assert_eq!(shop.told_of_repositories(&one).await, [("commit".to_owned(), json!(["web", first]))]);
    let history = shop.repos.ada.client.get(&shop.issues(&format!("{one}/history"))).send().await.expect(200);
    let status = history.list("/changes").iter().find(|change| change["field"] == "status").unwrap().clone();
    assert_eq!((&status["cause"], &status["by"]), (&json!("commit"), &json!(shop.repos.ada.user_id)));
    // What is code says nothing, and neither does another branch.
    shop.say(&format!("resolves: {four}")).await;
    shop.push_by(&shop.key, "main:other").await;
    shop.put_file(&shop.repos.ada.client, "Nothing to see").await;
    let last = shop.issue("WEB").await;
    shop.put_file(&shop.repos.ada.client, &format!("closes {last}")).await;
    shop.done(&last).await;
    assert_eq!((shop.category(&three).await, shop.category(&four).await), ("todo".to_owned(), "todo".to_owned()));
}

#[tokio::test]
async fn what_closed_an_issue_once_does_not_close_it_again() {
    let shop = Workshop::with_issues().await;
    let (one, two) = (shop.issue("WEB").await, shop.issue("WEB").await);
    let before = shop.tip("main").await;
    let commit = shop.say(&format!("closes {one}")).await;
    shop.push_by(&shop.key, "main").await;
    shop.done(&one).await;
    shop.transition(&one, "todo").await;
    shop.push_by(&shop.key, &format!("{before}:main")).await;
    shop.say(&format!("closes {two}")).await;
    shop.push_by(&shop.key, "main").await;
    shop.done(&two).await;
    assert_eq!(shop.category(&one).await, "todo");
    assert_eq!(shop.told_of_repositories(&one).await, [("commit".to_owned(), json!(["web", commit]))]);
    // Another commit does.
    let again = shop.say(&format!("closes {one}")).await;
    shop.push_by(&shop.key, "main").await;
    shop.done(&one).await;
    assert_eq!(shop.told_of_repositories(&one).await[0], ("commit".to_owned(), json!(["web", again])));
}

#[tokio::test]
async fn a_pull_request_closes_what_it_names_once_it_is_merged() {
    let shop = Workshop::with_issues().await;
    let (one, two) = (shop.issue("WEB").await, shop.issue("WEB").await);
    shop.git("ada", &["checkout", "--quiet", "-b", "feature"]).await;
    let commit = shop.say(&format!("closes {two}")).await;
    shop.git("ada", &["push", "--quiet", "origin", "feature", "main:other"]).await;
    let body = json!({ "title": format!("Resolve {one}"), "head": "feature", "base": "main", "body": format!("Fixes `{two}`") });
    shop.repos.ada.client.post(&shop.repos.at("web/pulls")).json(&body).send().await.expect(201);
    shop.open("feature", "other").await.expect(201);
    shop.merge(2, "merge").await.expect(200);
    shop.merge(1, "merge").await.expect(200);
    shop.done(&two).await;
    assert_eq!(shop.category(&one).await, "done");
    assert_eq!(shop.told_of_repositories(&one).await, [("pull".to_owned(), json!(["web", "#1"]))]);
    assert_eq!(shop.told_of_repositories(&two).await, [("commit".to_owned(), json!(["web", commit]))]);
}

#[tokio::test]
async fn only_what_whoever_pushes_could_close_is_closed() {
    let shop = Workshop::with_issues().await;
    let bob = shop.repos.member("bob", "developer").await;
    for (key, members) in
        [("SEEN", json!([{ "type": "user", "id": bob.user_id, "role": "viewer" }])), ("HIDDEN", json!([]))]
    {
        let mut config = shop.space(key).await.json["space"]["config"].clone();
        config["access"] = json!({ "visibility": "private", "members": members });
        let path = shop.issues(&format!("spaces/{key}"));
        shop.repos.ada.client.patch(&path).json(&json!({ "config": config })).send().await.expect(200);
    }
    let (seen, hidden, own) = (shop.issue("SEEN").await, shop.issue("HIDDEN").await, shop.issue("WEB").await);
    let message = format!("closes {hidden}, {seen}, WEB-999, NONE-1 and {own}");
    let commit = shop.put_file(&bob.client, &message).await.str("/commitId").to_owned();
    shop.done(&own).await;
    assert_eq!((shop.category(&hidden).await, shop.category(&seen).await), ("todo".to_owned(), "todo".to_owned()));
    assert!(shop.told_of_repositories(&hidden).await.is_empty());
    let reason = "The status of issues in this space is for others to change.";
    assert_eq!(shop.told_of_repositories(&seen).await, [("commit".to_owned(), json!(["web", commit, reason]))]);
}

#[tokio::test]
async fn a_key_that_writes_no_issues_closes_none_and_nobody_those_of_others() {
    let shop = Workshop::with_issues().await;
    let (one, two) = (shop.issue("WEB").await, shop.issue("WEB").await);
    let git_only = key(&shop.repos, &shop.repos.ada.client, &["git:read", "git:write"]).await;
    shop.say(&format!("closes {one}")).await;
    shop.push_by(&git_only, "main").await;
    // Another organization has an issue of the same key.
    let eve = shop.repos.server.person("eve").await;
    let theirs = format!("{}/issues", crate::accounts::org(&eve, "Other").await);
    let space = json!({ "key": "WEB", "name": "A space", "template": "basic" });
    eve.client.post(&format!("{theirs}/spaces")).json(&space).send().await.expect(201);
    for _ in 0..2 {
        eve.client.post(&theirs).json(&json!({ "summary": "Theirs" })).send().await.expect(201);
    }
    shop.say(&format!("closes {two}")).await;
    shop.push_by(&shop.key, "main").await;
    shop.done(&two).await;
    assert_eq!(shop.category(&one).await, "todo");
    let other = eve.client.get(&format!("{theirs}/{two}")).send().await.expect(200);
    assert_eq!(other.str("/issue/statusCategory"), "todo");
}

#[tokio::test]
async fn a_push_of_many_commits_is_read_to_its_oldest() {
    let shop = Workshop::with_issues().await;
    let (first, last) = (shop.issue("WEB").await, shop.issue("WEB").await);
    let oldest = shop.say(&format!("closes {first}")).await;
    for at in 0..100 {
        shop.say(&format!("Step {at}")).await;
    }
    let newest = shop.say(&format!("closes {last}, {first}")).await;
    shop.push_by(&shop.key, "main").await;
    shop.done(&last).await;
    assert_eq!(shop.told_of_repositories(&first).await, [("commit".to_owned(), json!(["web", oldest]))]);
    assert_eq!(shop.told_of_repositories(&last).await, [("commit".to_owned(), json!(["web", newest]))]);
}

#[tokio::test]
async fn where_no_transition_leads_to_an_end_the_history_says_so() {
    let shop = Workshop::with_issues().await;
    let (one, client) = (shop.issue("WEB").await, &shop.repos.ada.client);
    let path = shop.issues("config/settings");
    let known = client.get(&path).send().await.expect(200);
    let mut settings = known.json["settings"].clone();
    let statuses = settings["statuses"].as_array_mut().unwrap();
    statuses.iter_mut().find(|status| status["id"] == "done").unwrap()["category"] = json!("inprogress");
    let body = json!({ "settings": settings, "baseVersion": known.int("/version") });
    client.put(&path).json(&body).send().await.expect(200);
    let commit = shop.say(&format!("closes {one}")).await;
    shop.push_by(&shop.key, "main").await;
    let told = async || Some(shop.told_of_repositories(&one).await).filter(|told| !told.is_empty());
    let told = shop.repos.server.eventually("what the history says", told).await;
    let why = "No transition leads from its status to one that is done.";
    assert_eq!(told, [("commit".to_owned(), json!(["web", commit, why]))]);
    assert_eq!(shop.category(&one).await, "todo");
}
