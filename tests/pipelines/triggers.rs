//! What pushes and pull requests start.

use std::time::Duration;

use serde_json::{Value, json};

use super::{CI, Works};

#[tokio::test]
async fn a_push_starts_what_names_it_and_says_so_of_the_commit() {
    let works = Works::new().await;
    let sha = works.put("ci.yml", CI).await;
    let run = works.run("").await;
    let wanted = json!({
        "number": 1, "attempt": 1, "workflowFile": "ci.yml", "workflowName": "CI", "event": "push",
        "ref": "refs/heads/main", "branch": "main", "sha": sha, "title": "Change ci.yml", "status": "queued",
        "conclusion": null, "pullNumber": null, "cancelRequested": false, "waitingForConcurrency": false,
        "problems": null, "startedAt": null, "completedAt": null,
        "actor": { "id": works.ada.user_id, "label": "ada" },
        "runId": run["runId"], "createdAt": run["createdAt"],
    });
    assert_eq!(run, wanted);
    let statuses = works.ada.client.get(&works.at(&format!("commits/{sha}/statuses"))).send().await.expect(200);
    assert_eq!((statuses.str("/statuses/0/context"), statuses.str("/statuses/0/state")), ("CI (push)", "pending"));
    works.commit("main", "Another [skip ci]", &[("file", "1")]).await;
    works.commit("main", "A third", &[("file", "2")]).await;
    let third =
        works.server.eventually("a run", async || Some(works.run("").await).filter(|it| it["number"] == 2)).await;
    assert_eq!(third["title"], "A third");
}

#[tokio::test]
async fn a_broken_file_makes_a_run_that_says_what_is_wrong() {
    let works = Works::with(
        "ci.yml",
        "on: push\njobs:\n  a:\n    runs-on: linux\n    stepps: []\n    steps:\n      - run: make\n",
    )
    .await;
    let run = works.run("").await;
    assert_eq!((&run["status"], &run["conclusion"]), (&json!("completed"), &json!("startup_failure")));
    assert_eq!((&run["workflowName"], &run["problems"][0]["line"]), (&json!("ci.yml"), &json!(5)));
    let detail = works.detail(&run).await;
    assert_eq!(detail["jobs"], json!([]));
    let statuses = works.at(&format!("commits/{}/statuses", run["sha"].as_str().unwrap()));
    let statuses = works.ada.client.get(&statuses).send().await.expect(200);
    assert_eq!(statuses.str("/statuses/0/state"), "error");
    let path = works.pipelines(&format!("runs/{}", run["runId"].as_str().unwrap()));
    works.ada.client.delete(&path).send().await.expect(204);
    works.ada.client.get(&path).send().await.expect_error(404, "not_found", "Run not found");
}

#[tokio::test]
async fn branches_and_paths_are_filtered() {
    let text = CI.replace("on: push", "on:\n  push:\n    branches: [main]\n    paths: ['src/**']");
    let works = Works::with("ci.yml", &text).await;
    // A branch that is new has nothing to be compared with.
    assert_eq!(works.run("").await["number"], 1);
    works.commit("main", "Words", &[("docs/a.md", "a")]).await;
    works.commit("main", "Code", &[("src/a.rs", "a")]).await;
    let run = works.server.eventually("a run", async || Some(works.run("").await).filter(|it| it["number"] == 2)).await;
    assert_eq!(run["title"], "Code");
}

#[tokio::test]
async fn a_pull_request_starts_what_names_it_when_it_is_opened_and_when_its_head_moves() {
    let works = Works::with("pr.yml", &CI.replace("on: push", "on: pull_request")).await;
    let tip = works.tip("main").await.unwrap();
    let branch = json!({ "name": "feature", "from": tip });
    works.ada.client.post(&works.at("branches")).json(&branch).send().await.expect(201);
    let first = works.commit("feature", "One", &[("one", "1")]).await;
    let pull = json!({ "title": "Add one", "head": "feature", "base": "main" });
    works.ada.client.post(&works.at("pulls")).json(&pull).send().await.expect(201);
    let run = works.run("?event=pull_request").await;
    assert_eq!((&run["sha"], &run["title"], &run["pullNumber"]), (&json!(first), &json!("Add one"), &json!(1)));
    assert_eq!((&run["ref"], &run["branch"]), (&json!("refs/pull/1/merge"), &json!("feature")));
    let second = works.commit("feature", "Two", &[("two", "2")]).await;
    let moved = async || Some(works.run("?pull=1").await).filter(|run| run["sha"] == json!(second));
    let run = works.server.eventually("a run of the second commit", moved).await;
    assert_eq!(run["number"], 2);
    let runner = works.runner("box", &[]).await;
    let plan = runner.take().await.plan().await.expect(200);
    let github = &plan.json["plan"]["contexts"]["github"];
    assert_eq!((&github["head_ref"], &github["base_ref"]), (&json!("feature"), &json!("main")));
    assert_eq!(github["event"]["action"], "opened");
    assert_eq!(works.runs("?event=push").await, Vec::<Value>::new());
}

#[tokio::test]
async fn why_a_workflow_ran_or_didnt_is_told() {
    let works = Works::new().await;
    let filtered = CI.replace("on: push", "on:\n  push:\n    branches: [release]");
    let files = [(".service/workflows/ci.yml", CI), (".service/workflows/release.yml", filtered.as_str())];
    let sha = works.commit("main", "Begin", &files).await;
    let run = works.run("").await;
    let why = works.get("why").await.expect(200);
    assert_eq!(why.str("/sha"), sha);
    assert_eq!((&why.json["workflows"][0]["starts"], &why.json["workflows"][0]["runs"][0]), (&json!(true), &run));
    let other = json!({
        "file": "release.yml", "starts": false, "code": "branch", "runs": [],
        "reason": "The filter of branches doesn't let 'main' pass.",
    });
    assert_eq!(why.json["workflows"][1], other);
    let why = works.get("why?event=workflow_dispatch").await.expect(200);
    assert_eq!(why.str("/workflows/0/reason"), "The file isn't started by workflow_dispatch.");
    works.get("why?event=rain").await.expect_problems(&["event"]);
    works.get("why?ref=nowhere").await.expect_error(404, "not_found", "Branch or tag not found");
}

#[tokio::test]
async fn a_new_branch_is_compared_with_where_it_left_the_default_branch() {
    let works = Works::with("ci.yml", &CI.replace("on: push", "on:\n  push:\n    paths: ['src/**']")).await;
    works.run("").await;
    let branch = json!({ "name": "docs", "from": works.tip("main").await.unwrap() });
    works.ada.client.post(&works.at("branches")).json(&branch).send().await.expect(201);
    works.commit("docs", "Code", &[("src/a.rs", "a")]).await;
    let run = works.run("?branch=docs").await;
    assert_eq!((&run["number"], &run["title"]), (&json!(2), &json!("Code")));
}

#[tokio::test]
async fn an_event_names_the_repository_and_who_did_it() {
    let works = Works::with("ci.yml", &CI.replace("on: push", "on: [push, pull_request]")).await;
    let runner = works.runner("box", &[]).await;
    let plan = runner.start().await.plan().await.expect(200);
    let github = &plan.json["plan"]["contexts"]["github"];
    let (event, whole) = (&github["event"], github["repository"].as_str().unwrap());
    assert_eq!((&event["repository"]["full_name"], &event["repository"]["name"]), (&json!(whole), &json!("web")));
    assert_eq!((&event["sender"]["login"], &event["pusher"]["name"]), (&json!("ada"), &json!("ada")));
    assert_eq!(event["commits"].as_array().unwrap().len(), 1);
    assert_eq!(event["commits"][0]["message"], event["head_commit"]["message"]);
    assert_eq!(github["workflow_ref"], format!("{whole}/.service/workflows/ci.yml@refs/heads/main"));
    let branch = json!({ "name": "feature", "from": works.tip("main").await.unwrap() });
    works.ada.client.post(&works.at("branches")).json(&branch).send().await.expect(201);
    runner.start().await;
    works.commit("feature", "One", &[("one", "1")]).await;
    runner.start().await;
    let pull = json!({ "title": "Add one", "head": "feature", "base": "main" });
    works.ada.client.post(&works.at("pulls")).json(&pull).send().await.expect(201);
    let plan = runner.start().await.plan().await.expect(200);
    let event = &plan.json["plan"]["contexts"]["github"]["event"];
    let pull = &event["pull_request"];
    assert_eq!((&pull["user"]["login"], &pull["head"]["repo"]["full_name"]), (&json!("ada"), &json!(whole)));
    assert_eq!((&pull["base"]["repo"], &event["repository"]["full_name"]), (&event["repository"], &json!(whole)));
}

#[tokio::test]
async fn what_becomes_of_a_pull_request_starts_what_names_it() {
    let types = "on:\n  pull_request:\n    types: [closed, edited, ready_for_review, converted_to_draft]";
    let works = Works::with("pr.yml", &CI.replace("on: push", types)).await;
    let branch = json!({ "name": "feature", "from": works.tip("main").await.unwrap() });
    works.ada.client.post(&works.at("branches")).json(&branch).send().await.expect(201);
    works.commit("feature", "One", &[("one", "1")]).await;
    let pull = json!({ "title": "Add one", "head": "feature", "base": "main", "draft": true });
    works.ada.client.post(&works.at("pulls")).json(&pull).send().await.expect(201);
    let runner = works.runner("box", &[]).await;
    for (patch, activity) in [
        (json!({ "draft": false }), "ready_for_review"),
        (json!({ "draft": true }), "converted_to_draft"),
        (json!({ "title": "Add 1" }), "edited"),
        (json!({ "state": "closed" }), "closed"),
    ] {
        works.server.clock.advance(Duration::from_millis(1));
        works.ada.client.patch(&works.at("pulls/1")).json(&patch).send().await.expect(200);
        let held = runner.start().await;
        let plan = held.plan().await.expect(200);
        assert_eq!(plan.json["plan"]["contexts"]["github"]["event"]["action"], activity);
        held.complete("success").await;
    }
    assert_eq!(works.runs("").await.len(), 4);
    let text = CI.replace("on: push", "on:\n  pull_request:\n    types: [opened, labeled]");
    let checked = works.post("check", json!({ "text": text })).await.expect(200);
    assert_eq!(checked.list("/problems").len(), 1);
    assert_eq!(checked.str("/problems/0/message"), "The type 'labeled' starts nothing here");
}
