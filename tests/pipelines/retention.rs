//! What goes with a run, and when.

use std::time::Duration;

use domain::git::RepositoryName;
use serde_json::{Value, json};
use store::{
    Store,
    testing::recount::{self, Depth},
};

use super::{CI, Held, Works};
use crate::harness::Server;

const DAY: Duration = Duration::from_hours(24);

impl Works {
    /// Sends bytes to an address of the server's.
    async fn send(&self, url: &str, bytes: &[u8]) {
        let client = self.server.client();
        let path = url.strip_prefix(client.base()).expect("an address of the server's").to_owned();
        client.put(&path).body("application/octet-stream", bytes.to_vec()).send().await.expect(204);
    }

    /// A run that is over, and left a log, an artifact and a cache.
    async fn run_with_files(&self) -> Value {
        let run = self.run("").await;
        let held: Held = self.runner("box", &[]).await.start().await;
        let line = "x".repeat(900);
        let lines: Vec<_> = (0..100).map(|_| json!({ "t": 0, "m": line })).collect();
        held.say("logs", &json!({ "lines": lines })).await.expect(200);
        let bytes = vec![7; 100_000];
        let artifact = json!({ "name": "app", "size": bytes.len(), "retentionDays": 400 });
        let url = held.say("artifacts/upload", &artifact).await.expect(200).str("/url").to_owned();
        self.send(&url, &bytes).await;
        held.say("artifacts/commit", &json!({ "name": "app", "size": bytes.len() })).await.expect(200);
        let cache = json!({ "key": "npm", "version": "0".repeat(64), "size": bytes.len() });
        let url = held.say("cache/save", &cache).await.expect(200).str("/url").to_owned();
        self.send(&url, &bytes).await;
        let commit = json!({ "key": "npm", "version": "0".repeat(64), "size": bytes.len() });
        held.say("cache/commit", &commit).await.expect(200);
        held.complete("success").await;
        self.ended(&run).await;
        self.server.clock.advance(Duration::from_secs(61));
        run
    }

    async fn keeps_runs(&self) -> bool {
        let (store, org_id) = (self.server.store().await, self.org.rsplit('/').next().unwrap().parse().unwrap());
        let name = RepositoryName::parse("name", "web").unwrap();
        let repository = store.repository_named(org_id, &name).await.unwrap().unwrap();
        store.has_runs(repository.no).await.unwrap()
    }
}

async fn counted(store: &Store) {
    let wrong = recount::storage(store, Depth::Bytes).await.unwrap();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[tokio::test]
async fn a_run_that_is_deleted_takes_its_logs_and_artifacts_and_leaves_caches() {
    let works = Works::with("ci.yml", CI).await;
    let run = works.run_with_files().await;
    let id = run["runId"].as_str().unwrap();
    let listed = works.get(&format!("runs/{id}/artifacts")).await.expect(200);
    let artifact = listed.str("/artifacts/0/artifactId").to_owned();
    works.ada.client.delete(&works.pipelines(&format!("runs/{id}"))).send().await.expect(204);
    works.get(&format!("runs/{id}")).await.expect_error(404, "not_found", "Run not found");
    works.get(&format!("artifacts/{artifact}")).await.expect_error(404, "not_found", "Artifact not found");
    assert_eq!(works.get("caches").await.expect(200).int("/usage/count"), 1);
    counted(&works.server.store().await).await;
}

#[tokio::test]
async fn runs_go_when_they_were_kept_long_enough_with_all_that_is_theirs() {
    let works = Works::with("ci.yml", CI).await;
    works.run_with_files().await;
    works.server.clock.advance(DAY * 399);
    works.server.clock.advance(DAY);
    works.server.clock.advance(DAY);
    let gone = async || (!works.keeps_runs().await).then_some(());
    works.server.in_time("that the run is gone", gone).await;
    counted(&works.server.store().await).await;
}

#[tokio::test]
async fn runs_stay_for_ever_where_operators_say_so() {
    let server = Server::with(&["pipelines.keep=0s"]).await;
    let works = Works::on(server).await;
    works.put("ci.yml", CI).await;
    works.run_with_files().await;
    works.server.clock.advance(DAY * 500);
    works.server.clock.advance(DAY);
    counted(&works.server.store().await).await;
    assert!(works.keeps_runs().await);
}
