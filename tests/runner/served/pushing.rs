//! What a job's credential for git opens, and what it doesn't.

use std::time::Duration;

use serde_json::json;

use super::{Works, until};

/// A job that pushes a commit, and one that may not.
const PUSHES: &str = "on: push
permissions: {contents: read}
jobs:
  writes:
    runs-on: linux
    permissions: {contents: write}
    steps:
      - {uses: actions/checkout@v4, with: {persist-credentials: true}}
      - run: |
          git config user.name Bot && git config user.email bot@example.com
          echo made > MADE && git add MADE && git commit --quiet -m 'Make a file'
          git push --quiet origin HEAD:refs/heads/made
  reads:
    needs: writes
    if: always()
    runs-on: linux
    steps:
      - {uses: actions/checkout@v4, with: {persist-credentials: true}}
      - run: git push origin HEAD:refs/heads/never
";

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_may_write_pushes_and_what_it_pushes_starts_nothing() {
    let works = Works::new().await;
    let repository = works.repository("web").await;
    let _machine = works.machine("", &[]).await;
    let run = repository.start(PUSHES).await;
    let detail = repository.ended(&run).await;
    let written = repository.lines(&run, &repository.job_id(&run, "writes").await).await;
    assert_eq!(detail["jobs"][0]["conclusion"], "success", "{written:#?}");
    let refused = repository.lines(&run, &repository.job_id(&run, "reads").await).await;
    assert_eq!(detail["jobs"][1]["conclusion"], "failure", "{refused:#?}");
    assert!(refused.iter().any(|line| line.contains("403")), "{refused:#?}");
    let branches = works.stage.client.get(&format!("{}/branches", repository.path)).send().await.expect(200);
    let names: Vec<&str> = branches.list("/branches").iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["main", "made"]);
    // A later push of a person's starts a run, and that one is the second: the job's started none.
    let later = repository.start("on: push\njobs:\n  a: {runs-on: linux, steps: [{run: 'true'}]}\n").await;
    repository.ended(&later).await;
    assert_eq!(repository.runs().await.len(), 2);
    let pushes = works.stage.client.get(&format!("{}/pushes", repository.path)).send().await.expect(200);
    let by_job = pushes.list("/pushes").iter().find(|push| push["refs"][0]["ref"] == "refs/heads/made").unwrap();
    assert_eq!(by_job["keyId"], json!(null), "{by_job}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_of_a_schedule_pushes_for_who_brought_the_schedule() {
    let mut works = Works::new().await;
    let repository = works.repository("web").await;
    let _machine = works.machine("", &[]).await;
    let writes = PUSHES.split("  reads:").next().unwrap();
    let nightly = writes.replace("on: push\n", "on:\n  schedule: [{cron: '* * * * *'}]\n");
    repository.commit("Change ci.yml", &[(".service/workflows/ci.yml", &nightly)]).await;
    let planned = async || repository.get("workflows/ci.yml").await.list("/nextRuns").first()?.as_i64();
    let ahead = until("a plan", planned).await - works.stage.now_ms();
    works.stage.jump(Duration::from_secs(u64::try_from(ahead / 1_000 + 1).unwrap_or_default()), "").await;
    let run = until("a run", async || repository.runs().await.into_iter().next()).await;
    let (run, event) = (run["runId"].as_str().unwrap().to_owned(), run["event"].clone());
    let detail = repository.ended(&run).await;
    let written = repository.lines(&run, &repository.job_id(&run, "writes").await).await;
    assert_eq!((&event, &detail["run"]["conclusion"]), (&json!("schedule"), &json!("success")), "{written:#?}");
    let branches = works.stage.client.get(&format!("{}/branches", repository.path)).send().await.expect(200);
    let names: Vec<&str> = branches.list("/branches").iter().map(|it| it["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["main", "made"]);
}
