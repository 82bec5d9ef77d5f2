//! Test merges of pull requests, on which their runs are.

use serde_json::{Value, json};
use store::git::StoredRepository;

use super::{CI, Works};

impl Works {
    async fn stored_repository(&self) -> StoredRepository {
        let found = self.ada.client.get(self.at("").trim_end_matches('/')).send().await.expect(200);
        let id = found.str("/repository/resourceId").parse().unwrap();
        let org_id = self.org.rsplit('/').next().unwrap().parse().unwrap();
        self.server.store().await.repository(org_id, id).await.unwrap().unwrap()
    }

    /// What the ref of a pull request's test merge names.
    async fn merge_ref(&self, number: u32) -> Option<String> {
        let (store, stored) = (self.server.store().await, self.stored_repository().await);
        let refs = store.repository_refs(stored.no).await.unwrap();
        let name = format!("refs/pull/{number}/merge");
        refs.iter().find(|it| it.name.to_string() == name).map(|it| it.oid.to_string())
    }

    /// Waits until a pull request has no test merge.
    pub async fn without_merge(&self, number: u32) {
        let gone = async || self.merge_ref(number).await.is_none().then_some(());
        self.server.eventually("no test merge", gone).await;
    }

    /// The test merge of a pull request, once it merges these two.
    async fn merged(&self, number: u32, (base, head): (&str, &str)) -> Value {
        let made = async || {
            let oid = self.merge_ref(number).await?;
            let commit = self.ada.client.get(&self.at(&format!("commits/{oid}"))).send().await.expect(200);
            let commit = commit.json["commit"].clone();
            (commit["parents"] == json!([base, head])).then_some(commit)
        };
        self.server.eventually("a test merge", made).await
    }

    /// With a workflow of pull requests, and one that is open: what `main` names, and `feature`.
    async fn pulled() -> (Self, String, String) {
        let works = Self::with("pr.yml", &CI.replace("on: push", "on: pull_request")).await;
        let base = works.tip("main").await.unwrap();
        let branch = json!({ "name": "feature", "from": base });
        works.ada.client.post(&works.at("branches")).json(&branch).send().await.expect(201);
        let head = works.commit("feature", "One", &[("one", "1")]).await;
        let pull = json!({ "title": "Add one", "head": "feature", "base": "main" });
        works.ada.client.post(&works.at("pulls")).json(&pull).send().await.expect(201);
        (works, base, head)
    }
}

#[tokio::test]
async fn a_run_of_a_pull_request_is_of_its_test_merge_and_its_status_is_the_heads() {
    let (works, base, head) = Works::pulled().await;
    let run = works.run("?event=pull_request").await;
    assert_eq!((&run["sha"], &run["ref"]), (&json!(head), &json!("refs/pull/1/merge")));
    let merge = works.merged(1, (&base, &head)).await;
    let job = works.runner("box", &[]).await.take().await;
    let plan = job.plan().await.expect(200);
    let github = &plan.json["plan"]["contexts"]["github"];
    assert_eq!((&github["sha"], &github["ref"]), (&merge["id"], &json!("refs/pull/1/merge")));
    assert_eq!((&github["ref_name"], &github["head_ref"]), (&json!("1/merge"), &json!("feature")));
    let pull = &github["event"]["pull_request"];
    assert_eq!((&pull["merge_commit_sha"], &pull["head"]["sha"]), (&merge["id"], &json!(head)));
    assert_eq!(pull["base"]["sha"], json!(base));
    let source = job.say("checkout", &json!({})).await.expect(200);
    assert_eq!((&source.json["sha"], &source.json["ref"]), (&merge["id"], &json!("refs/pull/1/merge")));
    // Who made it, and when, follows from the two commits.
    assert_eq!((&merge["author"]["name"], &merge["committer"]["name"]), (&json!("Troupe"), &json!("Troupe")));
    assert_eq!(merge["message"], format!("Merge {head} into {base}"));
    let statuses = |id: &str| works.ada.client.get(&works.at(&format!("commits/{id}/statuses"))).send();
    assert_eq!(statuses(&head).await.expect(200).str("/statuses/0/context"), "CI (pull_request)");
    assert_eq!(statuses(merge["id"].as_str().unwrap()).await.expect(200).list("/statuses"), [] as [Value; 0]);
}

#[tokio::test]
async fn a_test_merge_follows_its_branches_and_starts_nothing_by_itself() {
    let (works, base, head) = Works::pulled().await;
    let first = works.merged(1, (&base, &head)).await;
    works.run("?event=pull_request").await;
    // The base goes on.
    let base = works.commit("main", "Two", &[("two", "2")]).await;
    let second = works.merged(1, (&base, &head)).await;
    assert_ne!(first["id"], second["id"]);
    assert_eq!(works.runs("?event=pull_request").await.len(), 1);
    // So does the head.
    let head = works.commit("feature", "Three", &[("three", "3")]).await;
    works.merged(1, (&base, &head)).await;
    let is_it = async || works.runs("?event=pull_request").await.into_iter().find(|run| run["sha"] == json!(head));
    works.server.eventually("a run of the new head", is_it).await;
    // What both change is nobody's to merge but people's; what is decided on there is merged again.
    let base = works.commit("main", "Ours", &[("same", "ours")]).await;
    let head = works.commit("feature", "Theirs", &[("same", "theirs")]).await;
    works.without_merge(1).await;
    let resolved = works.commit("feature", "As it is there", &[("same", "ours")]).await;
    works.merged(1, (&base, &resolved)).await;
    let runs = works.server.eventually("a run once it is decided", async || {
        let runs = works.runs("?event=pull_request").await;
        runs.iter().any(|run| run["sha"] == json!(resolved)).then_some(runs)
    });
    assert!(runs.await.iter().all(|run| run["sha"] != json!(head)), "a conflict has no merge to run on");
    // The ref is there as long as the pull request is open.
    works.ada.client.patch(&works.at("pulls/1")).json(&json!({ "state": "closed" })).send().await.expect(200);
    works.without_merge(1).await;
    works.ada.client.patch(&works.at("pulls/1")).json(&json!({ "state": "open" })).send().await.expect(200);
    works.merged(1, (&base, &resolved)).await;
    let body = json!({ "method": "merge", "head": resolved });
    works.ada.client.post(&works.at("pulls/1/merge")).json(&body).send().await.expect(200);
    works.without_merge(1).await;
}

#[tokio::test]
async fn the_files_of_the_test_merge_say_what_starts() {
    let (works, base, head) = Works::pulled().await;
    works.merged(1, (&base, &head)).await;
    works.run("?event=pull_request").await;
    // What only the base has is in the merge, too.
    works.put("more.yml", &CI.replace("on: push", "on: pull_request")).await;
    let base = works.tip("main").await.unwrap();
    works.merged(1, (&base, &head)).await;
    let why = works.get("why?event=pull_request&pull=1").await.expect(200);
    let files: Vec<_> = why.list("/workflows").iter().map(|it| it["file"].as_str().unwrap()).collect();
    assert_eq!(files, ["more.yml", "pr.yml"]);
    let head = works.commit("feature", "Two", &[("two", "2")]).await;
    let run = works.run("?file=more.yml").await;
    assert_eq!((&run["sha"], &run["pullNumber"]), (&json!(head), &json!(1)));
}
