//! Why workflows ran, or didn't: what is told is held against what the trigger did.

use std::time::Duration;

use serde_json::{Value, json};

use super::{CI, Works};

/// Files, by their names, with what starts each.
const OF_PUSHES: [(&str, &str); 9] = [
    ("all.yml", "on: push"),
    ("hand.yml", "on: workflow_dispatch"),
    ("main.yml", "on:\n  push:\n    branches: [main]"),
    ("not-docs.yml", "on:\n  push:\n    paths-ignore: ['docs/**']"),
    ("not-main.yml", "on:\n  push:\n    branches-ignore: [main]"),
    ("off.yml", "on: push"),
    ("pulls.yml", "on: pull_request"),
    ("src.yml", "on:\n  push:\n    paths: ['src/**']"),
    ("tags.yml", "on:\n  push:\n    tags: ['v*']"),
];
const OF_PULLS: [(&str, &str); 6] = [
    ("all.yml", "on: pull_request"),
    ("closed.yml", "on:\n  pull_request:\n    types: [closed]"),
    ("dev.yml", "on:\n  pull_request:\n    branches: [dev]"),
    ("push.yml", "on: push"),
    ("src.yml", "on:\n  pull_request:\n    paths: ['src/**']"),
    ("sync.yml", "on:\n  pull_request:\n    types: [synchronize]"),
];
const BROKEN: &str = "on: push\njobs:\n  a:\n    runs-on: linux\n    stepps: []\n    steps:\n      - run: make\n";

impl Works {
    async fn with_files(files: &[(&str, &str)]) -> Self {
        let works = Self::new().await;
        let files: Vec<_> =
            files.iter().map(|(name, on)| (format!(".service/workflows/{name}"), CI.replace("on: push", on))).collect();
        let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        works.commit("main", "Begin", &files).await;
        works
    }

    /// A branch at what `main` names.
    async fn branch(&self, name: &str) {
        // Ids of one moment have no order.
        self.server.clock.advance(Duration::from_millis(1));
        let body = json!({ "name": name, "from": self.tip("main").await.unwrap() });
        self.ada.client.post(&self.at("branches")).json(&body).send().await.expect(201);
    }

    /// A pull request of `feature` into `main`; its number.
    async fn open(&self) -> i64 {
        let body = json!({ "title": "Add it", "head": "feature", "base": "main" });
        let made = self.ada.client.post(&self.at("pulls")).json(&body).send().await.expect(201);
        made.json["pull"]["number"].as_i64().unwrap()
    }

    /// Waits until a file has a run of this on a commit.
    async fn ran(&self, (file, event): (&str, &str), (full_ref, sha): (&str, &str)) {
        let query = format!("?file={file}&event={event}&limit=100");
        let is_it = |run: &Value| run["sha"] == sha && run["ref"] == full_ref;
        self.server.eventually("a run", async || self.runs(&query).await.into_iter().find(&is_it)).await;
    }

    /// What is told of each file, after it was held against the runs that there are.
    async fn agreed(&self, query: &str, event: &str, (full_ref, sha): (&str, &str)) -> Vec<String> {
        let why = self.get(&format!("why?event={event}&{query}")).await.expect(200);
        assert_eq!((why.str("/event"), why.str("/ref"), why.str("/sha")), (event, full_ref, sha), "{query}");
        let runs = self.runs(&format!("?event={event}&limit=100")).await;
        let of_it: Vec<_> = runs.iter().filter(|run| run["sha"] == sha && run["ref"] == full_ref).collect();
        let told = why.list("/workflows").iter().map(|it| {
            let here: Vec<_> =
                of_it.iter().filter(|run| run["workflowFile"] == it["file"]).map(|run| &run["runId"]).collect();
            let named: Vec<_> = it["runs"].as_array().unwrap().iter().map(|run| &run["runId"]).collect();
            assert_eq!(named, here, "{query}: {it}");
            assert_eq!(it["starts"], json!(!here.is_empty()), "{query}: {it}");
            assert_eq!(it["starts"], json!(it["code"].is_null() && it["reason"].is_null()), "{query}: {it}");
            it["code"].as_str().unwrap_or("run").to_owned()
        });
        told.collect()
    }
}

#[tokio::test]
async fn what_is_told_of_a_push_is_what_the_push_did() {
    let works = Works::with_files(&OF_PUSHES).await;
    works.put("broken.yml", BROKEN).await;
    let off = works.pipelines("workflows/off.yml");
    works.ada.client.put(&off).json(&json!({ "enabled": false })).send().await.expect(200);
    let (main, feature) = ("refs/heads/main", "refs/heads/feature");
    // In the order of the names: all, broken, hand, main, not-docs, not-main, off, pulls, src, tags.
    let of_main = |paths: [&'static str; 2]| {
        let [not_docs, src] = paths;
        ["run", "run", "event", "run", not_docs, "branch", "disabled", "event", src, "branch"]
    };
    let of_feature = |paths: [&'static str; 2]| {
        let [not_docs, src] = paths;
        ["run", "run", "event", "branch", not_docs, "run", "disabled", "event", src, "branch"]
    };
    let docs = works.commit("main", "Docs", &[("docs/a.md", "a")]).await;
    works.branch("feature").await;
    let src = works.commit("main", "Code", &[("src/a.rs", "a")]).await;
    let first = works.commit("feature", "Code of its own", &[("src/b.rs", "b")]).await;
    let second = works.commit("feature", "Docs of its own", &[("docs/b.md", "b")]).await;
    // Two commits come to `main` by one push, of which the last one alone changes no code.
    works.open().await;
    let body = json!({ "method": "rebase", "head": second });
    let merged = works.ada.client.post(&works.at("pulls/1/merge")).json(&body).send().await.expect(200);
    let merged = merged.str("/commitId").to_owned();
    let skipped = works.commit("main", "Words [skip ci]", &[("src/c.rs", "c")]).await;
    let last = works.commit("main", "The end", &[("src/d.rs", "d"), ("docs/d.md", "d")]).await;
    let skip =
        ["skip_ci", "skip_ci", "skip_ci", "skip_ci", "skip_ci", "skip_ci", "disabled", "skip_ci", "skip_ci", "skip_ci"];
    let cases = [
        ("ref=main", (main, docs.as_str()), of_main(["paths", "paths"])),
        ("ref=feature", (feature, &docs), of_feature(["paths", "paths"])),
        ("ref=main", (main, &src), of_main(["run", "run"])),
        ("", (feature, &first), of_feature(["run", "run"])),
        ("", (feature, &second), of_feature(["paths", "paths"])),
        ("", (main, &merged), of_main(["run", "run"])),
        ("", (main, &last), of_main(["run", "run"])),
        ("", (main, &skipped), skip),
    ];
    for (_, (full_ref, sha), expected) in &cases {
        if expected[0] == "run" {
            works.ran(("all.yml", "push"), (full_ref, sha)).await;
        }
    }
    for (named, at, expected) in &cases {
        let told = works.agreed(&format!("{named}&sha={}", at.1), "push", *at).await;
        assert_eq!(told, expected, "{named} {at:?}");
    }
    // A ref alone is asked about where it is now.
    let told = works.agreed("ref=main", "push", (main, &last)).await;
    assert_eq!(told, of_main(["run", "run"]));
    let broken = works.get("why").await.expect(200);
    assert_eq!(
        (broken.str("/workflows/1/file"), broken.str("/workflows/1/problems/0/severity")),
        ("broken.yml", "error")
    );
    assert_eq!(broken.json["workflows"][0].get("problems"), None);
    // No push ended at the first of the two.
    let commits = works.ada.client.get(&works.at("commits?ref=main")).send().await.expect(200);
    let inner = commits.list("/commits").iter().position(|it| it["id"] == json!(merged)).unwrap() + 1;
    let inner = commits.str(&format!("/commits/{inner}/id")).to_owned();
    let why = works.get(&format!("why?sha={inner}")).await.expect(200);
    assert_eq!((&why.json["ref"], why.str("/workflows/0/code")), (&Value::Null, "within_push"));
    assert_eq!((why.str("/push/ref"), why.str("/push/sha")), (main, merged.as_str()));
    let reason = format!(
        "The commit came by a push that ended at {merged}, and a push starts runs on the commit at which it ends."
    );
    assert_eq!(why.str("/workflows/0/reason"), reason);
    // It came to the other branch by no push at all.
    let why = works.get(&format!("why?ref=feature&sha={inner}")).await.expect(200);
    assert_eq!((&why.json["push"], why.str("/workflows/0/code")), (&Value::Null, "not_pushed"));
    assert_eq!(why.str("/workflows/0/reason"), "No push of a branch or a tag ended at this commit.");
    let ended = works.get(&format!("why?sha={merged}")).await.expect(200);
    let pushes = works.ada.client.get(&works.at("pushes?ref=refs/heads/main")).send().await.expect(200);
    assert!(pushes.list("/pushes").iter().any(|it| it["pushId"] == ended.json["push"]["pushId"]), "{}", ended.json);
}

#[tokio::test]
async fn what_is_told_of_a_pull_request_is_what_it_did() {
    let works = Works::with_files(&OF_PULLS).await;
    works.branch("feature").await;
    let first = works.commit("feature", "Code", &[("src/a.rs", "a")]).await;
    assert_eq!(works.open().await, 1);
    let merge = "refs/pull/1/merge";
    works.ran(("all.yml", "pull_request"), (merge, &first)).await;
    // In the order of the names: all, closed, dev, push, src, sync.
    let told = works.agreed("pull=1", "pull_request", (merge, &first)).await;
    assert_eq!(told, ["run", "type", "branch", "event", "run", "type"]);
    // All that the pull request changes counts, not only what its newest commit does.
    let second = works.commit("feature", "Docs", &[("docs/a.md", "a")]).await;
    works.ran(("all.yml", "pull_request"), (merge, &second)).await;
    let told = works.agreed("pull=1", "pull_request", (merge, &second)).await;
    assert_eq!(told, ["run", "type", "branch", "event", "run", "run"]);
    let old = works.get(&format!("why?event=pull_request&pull=1&activity=synchronize&sha={first}")).await.expect(200);
    assert_eq!((old.str("/activity"), old.str("/workflows/0/code")), ("synchronize", "head_moved"));
    assert_eq!(old.str("/workflows/0/runs/0/sha"), first);
    // Both change the same.
    works.commit("main", "Ours", &[("same", "ours")]).await;
    let third = works.commit("feature", "Theirs", &[("same", "theirs")]).await;
    works.without_merge(1).await;
    let told = works.agreed("pull=1", "pull_request", ("refs/pull/1/head", &third)).await;
    assert_eq!(told, ["conflict", "conflict", "conflict", "event", "conflict", "conflict"]);
    works.ada.client.patch(&works.at("pulls/1")).json(&json!({ "state": "closed" })).send().await.expect(200);
    works.ran(("closed.yml", "pull_request"), ("refs/pull/1/head", &third)).await;
    let told = works.agreed("pull=1", "pull_request", ("refs/pull/1/head", &third)).await;
    assert_eq!(told, ["type", "run", "type", "event", "type", "type"]);
    let why = works.get("why?event=pull_request&pull=1&activity=opened").await.expect(200);
    assert_eq!(why.str("/workflows/0/reason"), "The pull request isn't open.");
}

#[tokio::test]
async fn schedules_are_those_of_the_default_branch_and_people_start_what_says_so() {
    let schedule = "on:\n  schedule:\n    - cron: '0 5 * * *'\n    - cron: '0 6 * * *'\n      timezone: Europe/Berlin";
    let works = Works::with_files(&[("at.yml", schedule), ("hand.yml", "on: workflow_dispatch")]).await;
    works.branch("feature").await;
    let elsewhere = works.commit("feature", "Words", &[("words", "1")]).await;
    let codes = async |query: &str| {
        let why = works.get(&format!("why?{query}")).await.expect(200);
        why.list("/workflows").iter().map(|it| it["code"].as_str().unwrap_or("-").to_owned()).collect::<Vec<_>>()
    };
    for (query, expected) in [
        ("event=schedule", ["-", "event"]),
        ("event=schedule&ref=main", ["-", "event"]),
        ("event=schedule&cron=0+6+*+*+*", ["-", "event"]),
        ("event=schedule&cron=0+7+*+*+*", ["schedule", "event"]),
        ("event=schedule&ref=feature", ["not_default", "event"]),
        (&format!("event=schedule&sha={elsewhere}"), ["not_default", "event"]),
        ("event=workflow_dispatch", ["event", "-"]),
        ("event=workflow_dispatch&ref=feature", ["event", "-"]),
        ("event=push", ["event", "event"]),
        ("event=push&ref=feature", ["event", "event"]),
    ] {
        assert_eq!(codes(query).await, expected, "{query}");
    }
    let hand = works.pipelines("workflows/hand.yml");
    works.ada.client.put(&hand).json(&json!({ "enabled": false })).send().await.expect(200);
    assert_eq!(codes("event=workflow_dispatch").await, ["event", "disabled"]);
    let dispatched = works.post("workflows/hand.yml/dispatches", json!({ "ref": "main" })).await;
    dispatched.expect_error(409, "workflow_disabled", "This workflow is disabled.");
}

#[tokio::test]
async fn a_question_that_means_nothing_says_what_is_wrong() {
    let works = Works::with("ci.yml", CI).await;
    let long = "a".repeat(255);
    for (query, fields) in [
        ("event=rain".to_owned(), vec!["event"]),
        ("sha=abc".to_owned(), vec!["sha"]),
        (format!("sha={}", "g".repeat(40)), vec!["sha"]),
        ("ref=".to_owned(), vec!["ref"]),
        (format!("ref={long}a"), vec!["ref"]),
        ("event=pull_request".to_owned(), vec!["pull"]),
        ("event=pull_request&pull=1&ref=main".to_owned(), vec!["ref"]),
        ("event=pull_request&pull=1&activity=labeled".to_owned(), vec!["activity"]),
        ("pull=1&activity=opened".to_owned(), vec!["pull", "activity"]),
        ("cron=0+5+*+*+*".to_owned(), vec!["cron"]),
        (format!("event=schedule&cron={long}a"), vec!["cron"]),
        ("event=pull_request&pull=x".to_owned(), vec!["pull"]),
    ] {
        works.get(&format!("why?{query}")).await.expect_problems(&fields);
    }
    let missing = "Branch or tag not found";
    works.get(&format!("why?ref={long}")).await.expect_error(404, "not_found", missing);
    works.get(&format!("why?event=schedule&cron={long}")).await.expect(200);
    let unknown = format!("why?sha={}", "1".repeat(40));
    works.get(&unknown).await.expect_error(404, "not_found", "Commit not found");
    for number in [0, 1] {
        let asked = works.get(&format!("why?event=pull_request&pull={number}")).await;
        asked.expect_error(404, "not_found", "Pull request not found");
    }
}
