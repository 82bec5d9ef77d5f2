//! Times that start workflows of the default branch.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use domain::git::RepositoryName;
use serde_json::{Value, json};
use store::{
    Change, Store,
    git::RepositoryNo,
    pipelines::{PIPELINE_TRIGGERS, StoredSchedule},
};

use super::{Held, Works};
use crate::harness::{Answer, Client};

/// A file that runs every hour, at half past.
const HOURLY: &str = "name: Hourly
on:
  schedule:
    - cron: '30 * * * *'
jobs:
  test:
    runs-on: linux
    steps:
      - run: make test
";
const MINUTE: u64 = 60;

/// [`HOURLY`], whose jobs may push.
fn writing() -> String {
    HOURLY.replace("jobs:", "permissions: {contents: write}\njobs:")
}

impl Works {
    /// The next times of a workflow.
    async fn next_runs(&self, file: &str) -> Vec<i64> {
        let found = self.get(&format!("workflows/{file}")).await.expect(200);
        found.list("/nextRuns").iter().map(|it| it.as_i64().unwrap()).collect()
    }

    /// Its first times, once they are planned.
    pub(super) async fn planned(&self, file: &str) -> Vec<i64> {
        let looked = async || Some(self.next_runs(file).await).filter(|times| !times.is_empty());
        self.server.eventually("a plan", looked).await
    }

    /// The first schedule, as the store has it.
    async fn schedule(&self, store: &Store) -> (RepositoryNo, StoredSchedule) {
        let org_id = self.org.rsplit('/').next().unwrap().parse().unwrap();
        let name = RepositoryName::parse("name", "web").unwrap();
        let repository = store.repository_named(org_id, &name).await.unwrap().unwrap();
        (repository.no, store.schedules(repository.no).await.unwrap().remove(0))
    }

    /// When the first schedule comes next, also while it starts nothing.
    async fn next_start(&self) -> i64 {
        self.schedule(&self.server.store().await).await.1.next_at.as_millis()
    }

    /// Writes the file of schedules as this person.
    async fn hourly(&self, client: &Client, text: &str) {
        let file = json!({ "op": "put", "path": ".service/workflows/hourly.yml", "content": STANDARD.encode(text) });
        let mut body = json!({ "branch": "main", "message": "Hourly", "changes": [file] });
        if let Some(tip) = self.tip("main").await {
            body["parentCommitId"] = json!(tip);
        }
        client.post(&self.at("contents")).json(&body).send().await.expect(201);
    }

    /// Begins a push with a credential of the job.
    async fn pushing(&self, held: &Held) -> Answer {
        let checkout = held.say("checkout", &json!({})).await.expect(200);
        let value = checkout.str("/authorization").strip_prefix("Authorization: ").unwrap();
        let base = checkout.str("/url").strip_prefix(self.ada.client.base()).unwrap();
        let refs = format!("{base}/info/refs?service=git-receive-pack");
        self.server.client().get(&refs).header("authorization", value).send().await
    }

    /// What the commit of a run says of it.
    async fn statuses(&self, run: &Value) -> Vec<Value> {
        let path = self.at(&format!("commits/{}/statuses", run["sha"].as_str().unwrap()));
        self.ada.client.get(&path).send().await.expect(200).list("/statuses").to_vec()
    }

    /// Moves the clock to this moment.
    pub(super) fn move_to(&self, millis: i64) {
        let ahead = millis - self.server.clock.now().as_millis();
        self.server.clock.advance(Duration::from_millis(u64::try_from(ahead).unwrap()));
    }

    pub(super) async fn numbered(&self, number: i64) -> Value {
        let looked = async || self.runs("").await.into_iter().find(|run| run["number"] == number);
        self.server.eventually("a run", looked).await
    }
}

#[tokio::test]
async fn a_schedule_starts_a_run_of_the_default_branch_at_its_times() {
    let works = Works::with("hourly.yml", HOURLY).await;
    let times = works.planned("hourly.yml").await;
    assert_eq!(times.len(), 5);
    assert!(times.iter().all(|at| at % 3_600_000 == 30 * 60_000), "{times:?}");
    assert!(times.windows(2).all(|two| two[1] - two[0] == 3_600_000), "{times:?}");
    works.move_to(times[0] - 60_000);
    assert!(works.runs("").await.is_empty());
    let tip = works.commit("main", "Another", &[("file", "1")]).await;
    works.move_to(times[0]);
    let run = works.numbered(1).await;
    assert_eq!((&run["event"], &run["ref"], &run["sha"]), (&json!("schedule"), &json!("refs/heads/main"), &json!(tip)));
    assert_eq!((&run["title"], &run["actor"]), (&json!("Hourly"), &json!({ "id": null, "label": null })));
    assert_eq!(works.next_runs("hourly.yml").await[0], times[1]);
    works.move_to(times[1]);
    works.numbered(2).await;
}

#[tokio::test]
async fn schedules_follow_the_default_branch() {
    let works = Works::with("hourly.yml", HOURLY).await;
    let times = works.planned("hourly.yml").await;
    let branch = json!({ "name": "next", "from": "main" });
    works.ada.client.post(&works.at("branches")).json(&branch).send().await.expect(201);
    let daily = HOURLY.replace("30 * * * *", "0 5 * * *");
    works.commit("next", "Daily", &[(".service/workflows/hourly.yml", &daily)]).await;
    assert_eq!(works.next_runs("hourly.yml").await, times);
    let body = json!({ "defaultBranch": "next" });
    works.ada.client.patch(works.at("").trim_end_matches('/')).json(&body).send().await.expect(200);
    let looked = async || Some(works.next_runs("hourly.yml").await).filter(|found| *found != times);
    let daily = works.server.eventually("another plan", looked).await;
    assert!(daily.iter().all(|at| at % 86_400_000 == 5 * 3_600_000), "{daily:?}");
    works.move_to(times[0]);
    let none = HOURLY.replace("  schedule:\n    - cron: '30 * * * *'\n", "  workflow_dispatch:\n");
    works.commit("next", "None", &[(".service/workflows/hourly.yml", &none)]).await;
    let looked = async || works.next_runs("hourly.yml").await.is_empty().then_some(());
    works.server.eventually("no plan", looked).await;
    works.move_to(daily[0]);
    assert!(works.runs("").await.is_empty());
}

#[tokio::test]
async fn a_schedules_run_acts_for_who_brought_the_schedule_as_far_as_that_person_may_then() {
    let works = Works::new().await;
    let dev = works.member("dev", "developer").await;
    works.hourly(&dev.client, &writing()).await;
    works.move_to(works.planned("hourly.yml").await[0]);
    let run = works.numbered(1).await;
    assert_eq!(run["actor"], json!({ "id": null, "label": null }));

    let said = works.statuses(&run).await.remove(0);
    assert_eq!((&said["context"], &said["state"]), (&json!("Hourly (schedule)"), &json!("pending")));
    assert_eq!(said["setBy"], json!(dev.user_id));
    let url = said["url"].as_str().unwrap().strip_prefix(works.ada.client.base()).expect("an address of the server's");
    assert_eq!(works.ada.client.get(url).send().await.expect(200).json["run"]["runId"], run["runId"]);

    let held = works.runner("box", &[]).await.start().await;
    works.pushing(&held).await.expect(200);
    let member = format!("{}/members/{}", works.org, dev.user_id);
    works.ada.client.patch(&member).json(&json!({ "role": "viewer" })).send().await.expect_success();
    works.pushing(&held).await.expect(403);
    works.ada.client.delete(&member).send().await.expect_success();
    works.pushing(&held).await.expect(404);
    held.complete("success").await;
    works.ended(&run).await;
    assert_eq!(works.statuses(&run).await[0]["state"], "success");
}

#[tokio::test]
async fn a_schedules_run_acts_for_who_changed_the_file_last() {
    let works = Works::new().await;
    let dev = works.member("dev", "developer").await;
    works.put("hourly.yml", &writing()).await;
    let times = works.planned("hourly.yml").await;
    let store = works.server.store().await;
    assert_eq!(works.schedule(&store).await.1.set_by.as_ref(), Some(&works.ada.user_id));
    works.hourly(&dev.client, &writing().replace("make test", "make other")).await;
    let set_by_dev = async || (works.schedule(&store).await.1.set_by.as_ref() == Some(&dev.user_id)).then_some(());
    works.server.eventually("another plan", set_by_dev).await;
    assert_eq!(works.next_runs("hourly.yml").await, times);
    works.move_to(times[0]);
    let run = works.numbered(1).await;
    assert_eq!(works.statuses(&run).await[0]["setBy"], json!(dev.user_id));
    let held = works.runner("box", &[]).await.start().await;
    works.pushing(&held).await.expect(200);
    let member = format!("{}/members/{}", works.org, dev.user_id);
    works.ada.client.patch(&member).json(&json!({ "role": "viewer" })).send().await.expect_success();
    works.pushing(&held).await.expect(403);
}

#[tokio::test]
async fn a_schedules_run_acts_for_nobody_where_its_file_is_not_the_text_that_was_planned() {
    let works = Works::with("hourly.yml", &writing()).await;
    let times = works.planned("hourly.yml").await;
    let store = works.server.store().await;
    for (at, file_hash) in [None, Some("another text".to_owned())].into_iter().enumerate() {
        let is_planned = async || store.work_next(PIPELINE_TRIGGERS).await.unwrap().is_none().then_some(());
        works.server.eventually("the plan of all that was pushed", is_planned).await;
        let (no, planned) = works.schedule(&store).await;
        let mut change = Change::new();
        change.schedule_put(no, &StoredSchedule { file_hash, ..planned });
        store.commit(change).await.unwrap();
        works.move_to(times[at]);
        let run = works.numbered(i64::try_from(at).unwrap() + 1).await;
        assert_eq!(works.statuses(&run).await, Vec::<Value>::new());
        let held = works.runner(&format!("box{at}"), &[]).await.start().await;
        let refused = works.pushing(&held).await.expect(403);
        assert!(refused.text.contains("for reading only"), "{}", refused.text);
        held.complete("success").await;
        works.ended(&run).await;
        // The branch's next move plans it anew.
        if at == 0 {
            works.commit("main", "Another", &[("file", "1")]).await;
            let again = async || works.schedule(&store).await.1.file_hash.map(drop);
            works.server.eventually("another plan", again).await;
        }
    }
}

#[tokio::test]
async fn a_disabled_workflow_has_no_times_and_goes_on_with_the_next_once_it_is_enabled() {
    let works = Works::with("hourly.yml", HOURLY).await;
    let times = works.planned("hourly.yml").await;
    let path = works.pipelines("workflows/hourly.yml");
    let set = async |enabled: bool| {
        works.ada.client.put(&path).json(&json!({ "enabled": enabled })).send().await.expect(200);
    };
    set(false).await;
    assert!(works.next_runs("hourly.yml").await.is_empty());
    works.move_to(times[0]);
    let looked = async || Some(works.next_start().await).filter(|next| *next == times[1]);
    works.server.eventually("the next time", looked).await;
    set(true).await;
    assert_eq!(works.next_runs("hourly.yml").await[0], times[1]);
    works.move_to(times[1]);
    works.numbered(1).await;
    assert_eq!(works.runs("").await.len(), 1);
}

#[tokio::test]
async fn what_was_missed_runs_once_if_it_is_an_hour_late_at_most() {
    let often = HOURLY.replace("30 * * * *", "* * * * *");
    let works = Works::with("often.yml", &often).await;
    let times = works.planned("often.yml").await;
    assert!(times.windows(2).all(|two| two[1] - two[0] == 5 * 60_000), "{times:?}");
    // The clock jumps over ten of them.
    works.server.clock.advance(Duration::from_secs(50 * MINUTE));
    let run = works.numbered(1).await;
    let looked = async || Some(works.next_runs("often.yml").await).filter(|found| found[0] > times[4]);
    let next = works.server.eventually("another plan", looked).await;
    assert_eq!(works.runs("").await.len(), 1);
    works.runner("box", &[]).await.start().await.complete("success").await;
    works.ended(&run).await;
    // And then over more than an hour.
    works.server.clock.advance(Duration::from_secs(62 * MINUTE + 2 * 3600));
    let looked = async || Some(works.next_runs("often.yml").await).filter(|found| found[0] > next[4]);
    works.server.eventually("another plan", looked).await;
    assert_eq!(works.runs("").await.len(), 1);
}
