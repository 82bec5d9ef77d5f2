//! Secrets and variables: who sets them, which job is given which, and that none is read in a log.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use store::{Change, testing::environments::environment_add};

use super::{Held, Works, step};
use crate::harness::{Answer, Person};

/// A secret that is looked for in whatever the server answers.
const VALUE: &str = "correct/horse battery+staple";

impl Works {
    async fn set(&self, rest: &str, body: &Value) -> Answer {
        self.ada.client.put(&self.pipelines(rest)).json(body).send().await
    }

    async fn set_in_org(&self, rest: &str, body: &Value) -> Answer {
        self.ada.client.put(&format!("{}/pipelines/{rest}", self.org)).json(body).send().await
    }

    /// The job's log, as it is read.
    async fn log_of(&self, run: &Value, held: &Held) -> String {
        let run_id = run["runId"].as_str().unwrap();
        let path = self.pipelines(&format!("runs/{run_id}/jobs/{}/log/raw", held.id));
        self.ada.client.get(&path).send().await.expect(200).text
    }

    /// An environment of the repository.
    async fn environment(&self, name: &str) {
        let store = self.server.store().await;
        let answer = self.ada.client.get(&self.at("")[..self.at("").len() - 1]).send().await.expect(200);
        let (org_id, id) = (self.org.rsplit('/').next().unwrap(), answer.str("/repository/resourceId"));
        let repository = store.repository(org_id.parse().unwrap(), id.parse().unwrap()).await.unwrap().unwrap();
        let mut change = Change::new();
        environment_add(&mut change, repository.no, name, store.now());
        store.commit(change).await.unwrap();
    }
}

fn value(text: &str) -> Value {
    json!({ "value": text })
}

fn names(answer: &Answer, list: &str) -> Vec<String> {
    answer.list(list).iter().map(|it| it["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn secrets_are_set_listed_and_deleted_and_never_answered() {
    let works = Works::new().await;
    works.environment("Production").await;
    let below = ["", "environments/production/", "environments/PRODUCTION/"];
    for place in below {
        let set = works.set(&format!("{place}secrets/B"), &value(VALUE)).await.expect(200);
        assert_eq!((set.str("/secret/name"), set.str("/secret/updatedBy")), ("B", works.ada.user_id.as_str()));
        works.set(&format!("{place}secrets/A"), &value("a")).await.expect(200);
        works.set(&format!("{place}secrets/A"), &value("b")).await.expect(200);
        let list = works.get(&format!("{place}secrets")).await.expect(200);
        assert_eq!(names(&list, "/secrets"), ["A", "B"]);
        let one = works.get(&format!("{place}secrets/B")).await.expect(200);
        assert_eq!(one.json["secret"].as_object().unwrap().len(), 3);
        for answer in [&set, &list, &one] {
            assert!(!answer.text.contains(VALUE), "{}", answer.text);
        }
        works.ada.client.delete(&works.pipelines(&format!("{place}secrets/B"))).send().await.expect(204);
        let gone = works.ada.client.delete(&works.pipelines(&format!("{place}secrets/B"))).send().await;
        gone.expect_error(404, "not_found", "Secret not found");
        works.get(&format!("{place}secrets/B")).await.expect_error(404, "not_found", "Secret not found");
    }
    works.get("environments/staging/secrets").await.expect_error(404, "not_found", "Environment not found");
    works.set("environments/staging/secrets/A", &value("a")).await.expect_error(
        404,
        "not_found",
        "Environment not found",
    );
    works.set_in_org("secrets/ORG", &value(VALUE)).await.expect(200);
    let list = works.ada.client.get(&format!("{}/pipelines/secrets", works.org)).send().await.expect(200);
    assert_eq!(names(&list, "/secrets"), ["ORG"]);
    let audit = works.ada.client.get(&format!("{}/audit?limit=100", works.org)).send().await.expect(200);
    for action in ["pipeline_secret.set", "pipeline_secret.deleted"] {
        assert!(audit.text.contains(action), "{}", audit.text);
    }
    assert!(!audit.text.contains(VALUE));
}

#[tokio::test]
async fn variables_are_set_listed_and_deleted() {
    let works = Works::new().await;
    works.environment("production").await;
    for place in ["", "environments/production/"] {
        let set = works.set(&format!("{place}variables/REGION"), &value("eu")).await.expect(200);
        assert_eq!((set.str("/variable/name"), set.str("/variable/value")), ("REGION", "eu"));
        works.set(&format!("{place}variables/EMPTY"), &value("")).await.expect(200);
        let list = works.get(&format!("{place}variables")).await.expect(200);
        assert_eq!(names(&list, "/variables"), ["EMPTY", "REGION"]);
        assert_eq!(works.get(&format!("{place}variables/REGION")).await.expect(200).str("/variable/value"), "eu");
        let path = works.pipelines(&format!("{place}variables/REGION"));
        works.ada.client.delete(&path).send().await.expect(204);
        works.ada.client.delete(&path).send().await.expect_error(404, "not_found", "Variable not found");
    }
    // A secret is no variable.
    works.get("secrets/EMPTY").await.expect_error(404, "not_found", "Secret not found");
    let set = works.set_in_org("variables/REGION", &value("org")).await.expect(200);
    assert_eq!(set.json["variable"].get("repositories"), None);
}

#[tokio::test]
async fn names_and_values_have_limits() {
    let works = Works::new().await;
    for kind in ["secret", "variable"] {
        for name in ["lower", "1A", "A-B", "A%20B", "%C3%84", "GITHUB_TOKEN", "SERVICE_URL", &"A".repeat(256)] {
            works.set(&format!("{kind}s/{name}"), &value("x")).await.expect_problems(&[kind]);
            assert_eq!(works.get(&format!("{kind}s/{name}")).await.status, 404, "{name}");
            assert_eq!(works.ada.client.delete(&works.pipelines(&format!("{kind}s/{name}"))).send().await.status, 404);
        }
        for name in ["_", "A1", &"A".repeat(255)] {
            works.set(&format!("{kind}s/{name}"), &value("x")).await.expect(200);
        }
        for length in [49_151, 49_152] {
            works.set(&format!("{kind}s/LONG"), &value(&"x".repeat(length))).await.expect(200);
        }
        for bad in ["x".repeat(49_153), "é".repeat(24_577), "a\0b".to_owned()] {
            works.set(&format!("{kind}s/LONG"), &value(&bad)).await.expect_problems(&["value"]);
        }
        works.set(&format!("{kind}s/LONG"), &json!({})).await.expect(400);
        works.set(&format!("{kind}s/LONG"), &json!({ "value": 7 })).await.expect(400);
    }
    works.set("secrets/EMPTY", &value("")).await.expect_problems(&["value"]);
    works.set_in_org("secrets/NEW", &json!({})).await.expect_problems(&["value"]);
}

#[tokio::test]
async fn a_repository_has_a_hundred_of_each() {
    let works = Works::new().await;
    for at in 0..100 {
        works.set(&format!("secrets/S{at}"), &value("x")).await.expect(200);
    }
    let message = "There may be at most 100 secrets here.";
    works.set("secrets/ONE_MORE", &value("x")).await.expect_error(400, "limit_reached", message);
    works.set("secrets/S7", &value("y")).await.expect(200);
    works.set("variables/V", &value("x")).await.expect(200);
    works.set_in_org("secrets/ONE_MORE", &value("x")).await.expect(200);
    works.ada.client.delete(&works.pipelines("secrets/S7")).send().await.expect(204);
    works.set("secrets/ONE_MORE", &value("x")).await.expect(200);
}

async fn refused(person: &Person, path: &str) {
    let read = "This needs the env:read permission.";
    person.client.get(path).send().await.expect_error(403, "missing_scope", read);
    let write = "This needs the env:write permission.";
    person.client.put(path).json(&value("x")).send().await.expect_error(403, "missing_scope", write);
    person.client.delete(path).send().await.expect_error(403, "missing_scope", write);
}

#[tokio::test]
async fn rights_are_those_of_the_organization_and_of_the_repository() {
    let works = Works::new().await;
    works.set("secrets/A", &value("x")).await.expect(200);
    works.set_in_org("secrets/A", &value("x")).await.expect(200);
    let vic = works.member("vic", "viewer").await;
    refused(&vic, &works.pipelines("secrets/A")).await;
    refused(&vic, &works.pipelines("variables/A")).await;
    refused(&vic, &format!("{}/pipelines/secrets/A", works.org)).await;
    let dev = works.member("dev", "developer").await;
    dev.client.put(&works.pipelines("secrets/A")).json(&value("y")).send().await.expect(200);
    let repository = format!("{}/repos/web", works.org);
    works.ada.client.patch(&repository).json(&json!({ "visibility": "restricted" })).send().await.expect(200);
    for path in [works.pipelines("secrets/A"), works.pipelines("variables/A")] {
        dev.client.get(&path).send().await.expect_error(404, "not_found", "Repository not found");
        let put = dev.client.put(&path).json(&value("x")).send().await;
        put.expect_error(404, "not_found", "Repository not found");
    }
    let grant = format!("{repository}/access/{}", dev.user_id);
    works.ada.client.put(&grant).json(&json!({ "level": "read" })).send().await.expect(200);
    dev.client.get(&works.pipelines("secrets/A")).send().await.expect(200);
    assert_eq!(dev.client.put(&works.pipelines("secrets/A")).json(&value("x")).send().await.status, 403);
    assert_eq!(dev.client.delete(&works.pipelines("secrets/A")).send().await.status, 403);
}

const DEPLOY: &str = "name: Deploy
on: push
env:
  TOP: ${{ secrets.TOP }}
jobs:
  test:
    name: ${{ vars.NAME }}
    runs-on: linux
    environment: Production
    outputs:
      leak: ${{ secrets.A }}
    steps:
      - run: echo ${{ secrets.A }} ${{ secrets.b }} ${{ secrets.MISSING }}
";

#[tokio::test]
async fn a_job_is_given_what_its_text_names_and_the_narrowest_of_each() {
    let works = Works::new().await;
    works.environment("production").await;
    for (name, text) in [("TOP", "org"), ("A", "org"), ("B", "org"), ("UNUSED", "org")] {
        works.set_in_org(&format!("secrets/{name}"), &value(text)).await.expect(200);
    }
    works.set("secrets/A", &value("repo")).await.expect(200);
    works.set("secrets/B", &value("repo")).await.expect(200);
    works.set("environments/production/secrets/B", &value("env")).await.expect(200);
    works.set_in_org("variables/NAME", &value("of the organization")).await.expect(200);
    works.set_in_org("variables/KEPT", &value("org")).await.expect(200);
    works.set("variables/NAME", &value("of the repository")).await.expect(200);
    works.set("environments/production/variables/NAME", &value("of the environment")).await.expect(200);
    works.put("deploy.yml", DEPLOY).await;
    let run = works.run("").await;
    let held = works.runner("box", &[]).await.take().await;
    let told = held.plan().await.expect(200);
    assert_eq!(told.json["secrets"], json!({ "TOP": "org", "A": "repo", "B": "env" }));
    assert_eq!(told.json["plan"]["contexts"]["vars"], json!({ "KEPT": "org", "NAME": "of the environment" }));
    assert_eq!(told.str("/plan/job/name"), "of the repository");
    // Whatever becomes of them, the job's stay as they were given.
    works.set("secrets/A", &value("changed")).await.expect(200);
    works.set("environments/production/variables/NAME", &value("changed")).await.expect(200);
    let again = held.plan().await.expect(200);
    assert_eq!(again.json, told.json);
    held.complete("failure").await;
    works.ended(&run).await;
    works.post(&format!("runs/{}/rerun", run["runId"].as_str().unwrap()), json!({ "jobs": "all" })).await.expect(201);
    let held = works.runner("other", &[]).await.take().await;
    assert_eq!(held.plan().await.expect(200).json["secrets"]["A"], "changed");
}

#[tokio::test]
async fn a_job_that_indexes_secrets_as_it_goes_is_given_all() {
    let works = Works::new().await;
    works.set("secrets/A", &value("a")).await.expect(200);
    works.set_in_org("secrets/B", &value("b")).await.expect(200);
    let file = "on: push\njobs:\n  test:\n    runs-on: linux\n    steps:\n      - run: echo '${{ toJSON(secrets) }}'\n";
    works.put("all.yml", file).await;
    works.run("").await;
    let held = works.runner("box", &[]).await.take().await;
    assert_eq!(held.plan().await.expect(200).json["secrets"], json!({ "A": "a", "B": "b" }));
}

#[tokio::test]
async fn what_an_organization_limits_to_repositories_others_are_not_given() {
    let works = Works::new().await;
    let made = works.ada.client.post(&format!("{}/repos", works.org)).json(&json!({ "name": "other" })).send().await;
    let other = made.expect(201).str("/repository/resourceId").to_owned();
    let web = works.ada.client.get(&format!("{}/repos/web", works.org)).send().await.expect(200);
    let web = web.str("/repository/resourceId").to_owned();
    let limited = json!({ "value": "x", "repositories": [other, other] });
    let set = works.set_in_org("secrets/A", &limited).await.expect(200);
    assert_eq!(set.json["secret"]["repositories"], json!([other]));
    works.set_in_org("variables/V", &limited).await.expect(200);
    let file = "on: push\njobs:\n  test:\n    runs-on: linux\n    steps:\n      - run: echo ${{ secrets.A }}\n";
    works.put("one.yml", file).await;
    works.run("").await;
    let held = works.runner("box", &[]).await.take().await;
    let told = held.plan().await.expect(200);
    assert_eq!((&told.json["secrets"], &told.json["plan"]["contexts"]["vars"]), (&json!({}), &json!({})));
    held.complete("success").await;
    // The value stays where only the repositories are said.
    works.set_in_org("secrets/A", &json!({ "repositories": [web] })).await.expect(200);
    works.set_in_org("variables/V", &json!({ "repositories": null })).await.expect(200);
    works.put("one.yml", &format!("{file}# again\n")).await;
    let held = works.runner("two", &[]).await.take().await;
    let told = held.plan().await.expect(200);
    assert_eq!(told.json["secrets"], json!({ "A": "x" }));
    assert_eq!(told.json["plan"]["contexts"]["vars"], json!({ "V": "x" }));
    for bad in [json!(["web"]), json!(["res_01jd7rt4m5e9fv2w8x3c6k0hqz"])] {
        let body = json!({ "value": "x", "repositories": bad });
        works.set_in_org("secrets/A", &body).await.expect_problems(&["repositories[0]"]);
    }
    let many = json!({ "value": "x", "repositories": vec![web; 101] });
    works.set_in_org("secrets/A", &many).await.expect_problems(&["repositories"]);
}

const USES: &str = "on: push
jobs:
  test:
    runs-on: linux
    steps:
      - run: echo ${{ secrets.A }} ${{ secrets.KEY }}
";

/// A job that sees what `test` hands on.
const AFTER: &str = "  after:
    needs: test
    if: always()
    runs-on: linux
    steps:
      - run: echo ${{ needs.test.outputs.fine }}
";

/// A run whose job `test` was given secrets.
async fn given(file: &str) -> (Works, Value, Held) {
    let works = Works::new().await;
    works.set("secrets/A", &value(VALUE)).await.expect(200);
    let key = "-----BEGIN KEY-----\nQUJDREVGR0g\nSUpLTE1O\n-----END KEY-----\n";
    works.set("secrets/KEY", &value(key)).await.expect(200);
    works.put("uses.yml", file).await;
    let run = works.run("").await;
    let held = works.runner("box", &[]).await.start().await;
    (works, run, held)
}

fn lines(texts: &[&str]) -> Value {
    json!({ "lines": texts.iter().map(|m| json!({ "t": 7, "m": m })).collect::<Vec<_>>() })
}

/// The bytes of a text, in digits of base 16.
fn hex(text: &str) -> String {
    text.bytes().fold(String::new(), |digits, byte| digits + &format!("{byte:02x}"))
}

#[tokio::test]
async fn no_form_of_a_secret_is_read_in_a_log() {
    let (works, run, held) = given(USES).await;
    let encoded = STANDARD.encode(VALUE);
    let hex = hex(VALUE);
    let url = "correct%2Fhorse%20battery%2Bstaple";
    let sent: [&str; 9] = [
        &format!("raw {VALUE}!"),
        &format!("base64 {encoded}"),
        &format!("hex {hex}"),
        &format!("url {url} correct%2Fhorse+battery%2Bstaple"),
        "json {\"a\": \"correct\\/horse battery+staple\"}",
        "QUJDREVGR0g",
        "  SUpLTE1O  ",
        "correct/hor\u{1b}[1mse battery+staple",
        "plain",
    ];
    held.say("logs", &lines(&sent)).await.expect(200);
    // What was changed meanwhile is masked as it was given.
    works.set("secrets/A", &value("another")).await.expect(200);
    held.say("logs", &lines(&[VALUE, "another"])).await.expect(200);
    held.complete("success").await;
    works.ended(&run).await;
    held.say("logs", &lines(&[&format!("late {VALUE}")])).await.expect(200);
    let log = works.log_of(&run, &held).await;
    for form in [
        VALUE,
        &encoded[..encoded.len() - 4],
        &hex,
        url,
        "correct%2Fhorse+",
        "correct\\/horse",
        "QUJDREVGR0g",
        "SUpLTE1O",
        "staple",
    ] {
        assert!(!log.contains(form), "{form}: {log}");
    }
    for shown in ["raw ***!", "hex ***\n", "url *** ***", "plain", "another", "late ***"] {
        assert!(log.contains(shown), "{shown}: {log}");
    }
}

#[tokio::test]
async fn reports_are_masked_and_outputs_that_hold_a_secret_are_dropped() {
    let (works, run, held) = given(&format!("{USES}{AFTER}")).await;
    let mut named = step(0, "completed", Some("success"));
    named["name"] = json!(format!("Deploy with {VALUE}"));
    held.say("status", &json!({ "steps": [named] })).await.expect(200);
    let path = works.pipelines(&format!("runs/{}/jobs/{}", run["runId"].as_str().unwrap(), held.id));
    let detail = works.ada.client.get(&path).send().await.expect(200);
    assert_eq!(detail.str("/steps/0/name"), "Deploy with ***");
    let body = json!({
        "conclusion": "failure", "steps": [named], "error": format!("No {VALUE}"), "summary": format!("# A\n{VALUE}\n"),
        "annotations": [{ "level": "error", "message": format!("a {VALUE}"), "title": VALUE, "file": format!("{VALUE}.rs") }],
        "outputs": { "fine": "1", "leak": format!("x{VALUE}"), "encoded": STANDARD.encode(VALUE) }
    });
    held.say("complete", &body).await.expect(200);
    held.say("complete", &body).await.expect(200);
    let detail = works.ada.client.get(&path).send().await.expect(200);
    assert!(!detail.text.contains("battery"), "{}", detail.text);
    assert_eq!(detail.str("/annotations/0/message"), "a ***");
    assert_eq!(detail.str("/summary"), "# A\n***\n");
    let after = works.runner("other", &[]).await.take().await.plan().await.expect(200);
    assert_eq!(after.json["plan"]["contexts"]["needs"]["test"]["outputs"], json!({ "fine": "1" }));
    assert_eq!(after.json["secrets"], json!({}));
}

#[tokio::test]
async fn a_job_is_given_a_mebibyte_of_secrets_at_most() {
    let works = Works::new().await;
    for at in 0..21 {
        works.set(&format!("secrets/S{at}"), &value(&"x".repeat(49_152))).await.expect(200);
    }
    works.set("secrets/LAST", &value(&"x".repeat(16_385))).await.expect(200);
    let file = "on: push\njobs:\n  test:\n    runs-on: linux\n    steps:\n      - run: echo '${{ toJSON(secrets) }}'\n";
    works.put("all.yml", file).await;
    let run = works.run("").await;
    let held = works.runner("box", &[]).await.take().await;
    held.plan().await.expect_error(409, "job_over", "This job is over.");
    assert_eq!(works.ended(&run).await.0, "failure");
    let path = works.pipelines(&format!("runs/{}/jobs/{}", run["runId"].as_str().unwrap(), held.id));
    let detail = works.ada.client.get(&path).send().await.expect(200);
    assert!(detail.str("/annotations/0/message").contains("a job is given at most 1048576"), "{}", detail.text);
    works.set("secrets/LAST", &value(&"x".repeat(16_384))).await.expect(200);
    works.post(&format!("runs/{}/rerun", run["runId"].as_str().unwrap()), json!({ "jobs": "all" })).await.expect(201);
    let held = works.runner("other", &[]).await.take().await;
    assert_eq!(held.plan().await.expect(200).json["secrets"].as_object().unwrap().len(), 22);
    held.say("logs", &lines(&["x", "y"])).await.expect(200);
    assert_eq!(works.log_of(&run, &held).await, "x\ny\n");
}
