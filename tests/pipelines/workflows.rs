//! Which workflows there are, enabling and disabling them, and starting one by hand (contract C 4.2).

use serde_json::{Value, json};

use super::{CI, Works};

const BY_HAND: &str = "name: Deploy
run-name: Deploy to ${{ inputs.to }}
on:
  workflow_dispatch:
    inputs:
      to:
        description: Where to
        required: true
        type: choice
        options: [staging, production]
      count:
        type: number
        default: 2
      dry:
        type: boolean
jobs:
  deploy:
    runs-on: linux
    steps:
      - run: echo ${{ inputs.to }}
";

#[tokio::test]
async fn workflows_are_listed_with_what_starts_them_and_what_is_wrong() {
    let works = Works::new().await;
    let path = |name: &str| format!(".service/workflows/{name}");
    let broken = "on: push\njobs:\n  a:\n    runs-on: linux\n    stepps: []\n    steps:\n      - run: make\n";
    let (ci, deploy, bad) = (path("ci.yml"), path("deploy.yaml"), path("broken.yml"));
    let files = [(ci.as_str(), CI), (&deploy, BY_HAND), (&bad, broken), (".service/workflows/notes.md", "no workflow")];
    let sha = works.commit("main", "Begin", &files).await;
    let answer = works.get("workflows").await.expect(200);
    assert_eq!((answer.str("/ref"), answer.str("/sha")), ("refs/heads/main", sha.as_str()));
    let found = answer.list("/workflows");
    let names: Vec<_> = found.iter().map(|it| (it["file"].as_str().unwrap(), it["name"].as_str().unwrap())).collect();
    assert_eq!(names, [("broken.yml", "broken.yml"), ("ci.yml", "CI"), ("deploy.yaml", "Deploy")]);
    assert_eq!(found[0]["problems"][0]["severity"], "error");
    assert_eq!(found[0]["problems"][0]["line"], 5);
    assert_eq!((&found[0]["triggers"], &found[0]["dispatch"]), (&json!([]), &Value::Null));
    assert_eq!((&found[1]["triggers"], &found[1]["dispatch"]), (&json!(["push"]), &Value::Null));
    assert_eq!((&found[1]["problems"], &found[1]["disabled"]), (&json!([]), &json!(false)));
    assert_eq!(found[2]["triggers"], json!(["workflow_dispatch"]));
    let inputs = json!([
        { "name": "to", "description": "Where to", "type": "choice", "required": true, "options": ["staging", "production"] },
        { "name": "count", "type": "number", "required": false, "default": 2.0 },
        { "name": "dry", "type": "boolean", "required": false },
    ]);
    assert_eq!(found[2]["dispatch"]["inputs"], inputs);
    works.run("?file=ci.yml").await;
    let answer = works.get("workflows?ref=main").await.expect(200);
    assert_eq!(answer.json["workflows"][1]["lastRun"]["number"], 1);
}

#[tokio::test]
async fn a_ref_that_isnt_there_is_404_and_keeps_to_its_limits() {
    let works = Works::new().await;
    works.get("workflows").await.expect_error(404, "not_found", "Branch or tag not found");
    works.put("ci.yml", CI).await;
    works.get("workflows?ref=nowhere").await.expect_error(404, "not_found", "Branch or tag not found");
    let long = "a".repeat(255);
    works.get(&format!("workflows?ref={long}")).await.expect_error(404, "not_found", "Branch or tag not found");
    works.get(&format!("workflows?ref={long}a")).await.expect_problems(&["ref"]);
    works.get("workflows?ref=").await.expect_problems(&["ref"]);
}

#[tokio::test]
async fn no_event_starts_a_disabled_workflow() {
    let works = Works::with("ci.yml", CI).await;
    works.run("").await;
    let path = works.pipelines("workflows/ci.yml");
    for enabled in [false, false, true, false] {
        let set = works.ada.client.put(&path).json(&json!({ "enabled": enabled })).send().await.expect(200);
        assert_eq!(set.json, json!({ "file": "ci.yml", "disabled": !enabled }));
    }
    let text = CI.replace("CI", "Second");
    works.commit("main", "Change", &[(".service/workflows/ci.yml", &text), (".service/workflows/two.yml", CI)]).await;
    works.run("?file=two.yml").await;
    assert_eq!(works.runs("?file=ci.yml").await.len(), 1);
    let other = works.pipelines("workflows/none.yml");
    let answer = works.ada.client.put(&other).json(&json!({ "enabled": true })).send().await;
    answer.expect_error(404, "not_found", "Workflow not found");
    let answer = works.ada.client.put(&path).json(&json!({})).send().await;
    answer.expect_problems(&["enabled"]);
}

#[tokio::test]
async fn a_workflow_is_started_by_hand() {
    let works = Works::with("deploy.yml", BY_HAND).await;
    let body = json!({ "ref": " main ", "inputs": { "to": "staging", "dry": "true" } });
    let made = works.post("workflows/deploy.yml/dispatches", body).await.expect(201);
    let run = &made.json["run"];
    assert_eq!((&run["event"], &run["status"]), (&json!("workflow_dispatch"), &json!("queued")));
    assert_eq!((&run["title"], &run["number"]), (&json!("Deploy to staging"), &json!(1)));
    assert_eq!((&run["ref"], &run["branch"]), (&json!("refs/heads/main"), &json!("main")));
    assert_eq!((&run["actor"]["id"], &run["actor"]["label"]), (&json!(works.ada.user_id), &json!("ada")));
    assert_eq!((&run["attempt"], &run["conclusion"]), (&json!(1), &Value::Null));
    let runner = works.runner("box", &[]).await;
    let plan = runner.take().await.plan().await.expect(200);
    let inputs = json!({ "to": "staging", "count": 2, "dry": true });
    assert_eq!(plan.json["plan"]["contexts"]["inputs"], inputs);
}

#[tokio::test]
async fn what_cant_be_started_by_hand_says_why() {
    let works = Works::new().await;
    let broken =
        "on: workflow_dispatch\njobs:\n  a:\n    runs-on: linux\n    stepps: []\n    steps:\n      - run: make\n";
    let path = |name: &str| format!(".service/workflows/{name}");
    let (ci, deploy, bad) = (path("ci.yml"), path("deploy.yml"), path("broken.yml"));
    works.commit("main", "Begin", &[(ci.as_str(), CI), (&deploy, BY_HAND), (&bad, broken)]).await;
    let main = json!({ "ref": "main" });
    let answer = works.post("workflows/none.yml/dispatches", main.clone()).await;
    answer.expect_error(404, "not_found", "Workflow not found");
    let answer = works.post("workflows/deploy.yml/dispatches", json!({ "ref": "nowhere" })).await;
    answer.expect_error(404, "not_found", "Branch or tag not found");
    let answer = works.post("workflows/ci.yml/dispatches", main.clone()).await;
    answer.expect_error(400, "no_dispatch", "This workflow has no workflow_dispatch trigger.");
    let answer = works.post("workflows/broken.yml/dispatches", main.clone()).await.expect(400);
    assert_eq!(answer.json["code"], "workflow_invalid");
    works.post("workflows/deploy.yml/dispatches", main).await.expect_problems(&["inputs.to"]);
    let body = json!({ "ref": "main", "inputs": { "to": "mars", "count": "many", "more": 1 } });
    let answer = works.post("workflows/deploy.yml/dispatches", body).await;
    answer.expect_problems(&["inputs.to", "inputs.count", "inputs.more"]);
    let long = json!({ "ref": "main", "inputs": { "to": "a".repeat(10_001) } });
    works.post("workflows/deploy.yml/dispatches", long).await.expect_problems(&["inputs.to"]);
    for text in [" ".to_owned(), "a".repeat(256)] {
        works.post("workflows/deploy.yml/dispatches", json!({ "ref": text })).await.expect_problems(&["ref"]);
    }
    let disabled = works.ada.client.put(&works.pipelines("workflows/deploy.yml")).json(&json!({ "enabled": false }));
    disabled.send().await.expect(200);
    let body = json!({ "ref": "main", "inputs": { "to": "staging" } });
    let answer = works.post("workflows/deploy.yml/dispatches", body).await;
    answer.expect_error(409, "workflow_disabled", "This workflow is disabled.");
}

#[tokio::test]
async fn a_text_is_checked_and_a_file_is_shown() {
    let works = Works::with("ci.yml", CI).await;
    let shown = works.get("workflows/ci.yml").await.expect(200);
    assert_eq!((shown.str("/text"), &shown.json["jobs"]), (CI, &json!(["test"])));
    works.get("workflows/none.yml").await.expect_error(404, "not_found", "Workflow not found");
    works.get("workflows/none.txt").await.expect_error(404, "not_found", "Workflow not found");
    let fine = works.post("check", json!({ "text": CI })).await.expect(200);
    assert_eq!((&fine.json["problems"], &fine.json["jobs"]), (&json!([]), &json!(["test"])));
    let wrong = works.post("check", json!({ "text": "on: push\nname: [" })).await.expect(200);
    assert_eq!(wrong.json["problems"][0]["severity"], "error");
    assert!(wrong.json["problems"][0]["line"].is_u64(), "{}", wrong.text);
}

#[tokio::test]
async fn a_text_is_checked_as_the_file_that_it_would_be() {
    let works = Works::new().await;
    let text = |name: &str| CI.replace("name: CI", &format!("name: {name}"));
    let check = async |file: &str, text: &str| works.post("check", json!({ "text": text, "file": file })).await;
    // There is nothing beside it yet.
    assert_eq!(
        check("ci.yml", CI).await.expect(200).json,
        json!({ "file": "ci.yml", "problems": [], "jobs": ["test"] })
    );
    let path = |name: &str| format!(".service/workflows/{name}");
    let (ci, inner) = (path("ci.yml"), path("folder.yml/notes"));
    works.commit("main", "Begin", &[(ci.as_str(), CI), (&inner, "notes")]).await;
    let broken = "on: push\njobs:\n  a:\n    runs-on: linux\n    stepps: []\n";
    let found = check(&path("ci.yml"), broken).await.expect(200);
    assert_eq!((found.str("/file"), found.str("/problems/0/file")), ("ci.yml", "ci.yml"));
    assert_eq!(found.json["problems"][0]["line"], 5);
    let same = "'ci.yml' is called 'CI', too, so that one hides the status of the other on commits";
    for (file, name, expected) in [
        ("ci.yml", "CI", None),
        ("other.yml", "Other", None),
        ("other.yml", "CI", Some((same, "warning"))),
        ("CI.yml", "Other", Some(("'ci.yml' differs from 'CI.yml' in capitals only", "warning"))),
        ("folder.yml", "Other", Some(("'.service/workflows/folder.yml' is a folder", "error"))),
    ] {
        let found = check(file, &text(name)).await.expect(200);
        let problem = |(message, severity)| json!({ "file": file, "message": message, "severity": severity });
        let expected: Vec<Value> = expected.into_iter().map(problem).collect();
        assert_eq!(found.list("/problems"), expected, "{file} {name}");
    }
    for file in ["", "ci", "ci.txt", "sub/ci.yml", ".yml", "../ci.yml", ".github/workflows/ci.yml"] {
        check(file, CI).await.expect_problems(&["file"]);
    }
    let long = "a".repeat(251);
    check(&format!("{long}.yml"), &text("Other")).await.expect(200);
    check(&format!("{long}a.yml"), &text("Other")).await.expect_problems(&["file"]);
    works.post("check", json!({ "text": CI, "file": 1 })).await.expect_problems(&["file"]);
}

#[tokio::test]
async fn a_file_that_would_be_one_too_many_is_told() {
    let works = Works::new().await;
    let files: Vec<_> = (0..200).map(|at| format!(".service/workflows/{at:03}.yml")).collect();
    let text = "on: workflow_dispatch\njobs: {a: {runs-on: x}}\n";
    let all: Vec<_> = files.iter().map(|path| (path.as_str(), text)).collect();
    works.commit("main", "Begin", &all[1..]).await;
    let new = async |file: &str| works.post("check", json!({ "text": CI, "file": file })).await.expect(200);
    assert_eq!(new("new.yml").await.json["problems"], json!([]));
    works.commit("main", "One more", &all[..1]).await;
    let found = new("new.yml").await;
    assert_eq!((found.list("/problems").len(), found.str("/problems/0/severity")), (1, "error"));
    let message = "There are 200 workflow files already; of more, only the first by their names start anything";
    assert_eq!(found.str("/problems/0/message"), message);
    assert_eq!(new("000.yml").await.json["problems"], json!([]));
}

#[tokio::test]
async fn nul_is_no_part_of_a_file_nor_of_a_title() {
    let works = Works::with("nul.yml", &CI.replace("name: CI", "name: \"a\\0b\"")).await;
    let run = works.run("?file=nul.yml").await;
    assert_eq!((&run["conclusion"], &run["workflowName"]), (&json!("startup_failure"), &json!("nul.yml")));
    assert_eq!(run["problems"][0]["message"], "A workflow file is a text, without NUL");
    works.put("raw.yml", &format!("{CI}# \0\n")).await;
    assert_eq!(works.run("?file=raw.yml").await["conclusion"], "startup_failure");
    let titled = "on:
  workflow_dispatch:
    inputs:
      to: {}
run-name: Deploy ${{ inputs.to }}
concurrency: ${{ inputs.to }}
jobs:
  a:
    name: To ${{ inputs.to }}
    runs-on: linux
    environment: ${{ inputs.to }}
    steps:
      - run: make
";
    works.put("deploy.yml", titled).await;
    let body = json!({ "ref": "main", "inputs": { "to": "x\0y" } });
    let made = works.post("workflows/deploy.yml/dispatches", body).await.expect(201);
    assert_eq!(made.str("/run/title"), "Deploy xy");
    let run = works.run("?file=deploy.yml").await;
    assert_eq!(works.detail(&run).await["jobs"][0]["name"], "To xy");
}
