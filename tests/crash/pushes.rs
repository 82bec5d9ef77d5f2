//! Pushes while the program is killed at random moments, by real gits.
//!
//! Whoever was told that a ref is moved finds it moved; a ref that is moved was noted, and so was nothing else; it starts one run,
//! and nothing else does; every object of it can be fetched. In the end no content is left over that nothing names.
//!
//! `TROUPE_CRASH_KILLS` sets how often the program is killed; `TROUPE_CRASH_SEED` repeats a run's choices.

use std::{path::Path, process::Command, time::Duration};

use serde_json::json;
use store::testing::recount::{self, Depth};

use super::stage::Stage;
use crate::harness::{Client, Dice, number};

const KILLS: usize = 6;
/// How long a push may be under way before the program is killed, at most, in milliseconds.
const LIFE_MAX_MS: u64 = 250;

/// Git in a folder, with nothing of this machine's configuration: whether it ended well, and what it said.
pub async fn git(folder: &Path, arguments: &[&str]) -> (bool, String) {
    let mut command = Command::new("git");
    command.current_dir(folder).env("HOME", folder).env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_TERMINAL_PROMPT", "0");
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "Ada").env(format!("GIT_{role}_EMAIL"), "ada@example.com");
    }
    command.args(arguments);
    let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().expect("git");
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The same, which must not fail; what it said.
pub async fn well(folder: &Path, arguments: &[&str]) -> String {
    let (is_ok, said) = git(folder, arguments).await;
    assert!(is_ok, "git {arguments:?}: {said}");
    said.trim_end().to_owned()
}

/// The address of the repository `web`, with a key in it.
pub fn address(client: &Client, org: &str, key: &str) -> String {
    let base = client.base().replace("http://", &format!("http://ada:{key}@"));
    format!("{base}/git/{}/web.git", org.rsplit('/').next().unwrap())
}

/// Makes the repository `web`; a key with git's permissions.
pub async fn repository(stage: &Stage) -> String {
    let made = json!({ "name": "web" });
    stage.client.post(&format!("{}/repos", stage.org)).json(&made).send().await.expect(201);
    let key = json!({ "name": "Git", "kind": "api", "scopes": ["git:read", "git:write"] });
    let key = stage.client.post(&format!("{}/keys", stage.org)).json(&key).send().await.expect(201);
    key.str("/secret").to_owned()
}

/// What was pushed, as pairs of what the ref was to name and what became of it.
pub async fn noted(stage: &Stage) -> Vec<(String, String)> {
    let path = format!("{}/repos/web/pushes?limit=100", stage.org);
    let answer = stage.client.get(&path).send().await.expect(200);
    let refs = answer.list("/pushes").iter().flat_map(|push| push["refs"].as_array().unwrap().clone());
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    refs.map(|it| (text(&it["new"]), text(&it["verdict"]))).collect()
}

/// A workflow that each push starts, of which nobody does the job.
const WORKFLOW: &str = "on: push\njobs:\n  test:\n    runs-on: linux\n    steps:\n      - run: make test\n";

/// The commits of all runs.
async fn runs(stage: &Stage) -> Vec<String> {
    let (mut commits, mut cursor) = (Vec::new(), String::new());
    loop {
        let path = format!("{}/repos/web/pipelines/runs?limit=100{cursor}", stage.org);
        let page = stage.client.get(&path).send().await.expect(200);
        commits.extend(page.list("/runs").iter().map(|run| run["sha"].as_str().unwrap().to_owned()));
        match page.json["cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return commits,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_that_was_acknowledged_is_there_and_was_noted() {
    let kills = number("TROUPE_CRASH_KILLS", KILLS);
    let mut dice = Dice::from_environment("TROUPE_CRASH_SEED");
    let mut stage = Stage::new().await;
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path();
    let key = repository(&stage).await;
    well(work, &["init", "--quiet", "--initial-branch=main", "."]).await;
    std::fs::create_dir_all(work.join(".service/workflows")).unwrap();
    std::fs::write(work.join(".service/workflows/ci.yml"), WORKFLOW).unwrap();
    let (mut acknowledged, mut survived, mut pushed) = (0, 0, Vec::new());
    for round in 0..kills {
        // Small packs are in the commit itself, large ones are blobs.
        let size = if round % 2 == 0 { 100 } else { 60_000 };
        let text: String = (0..size).map(|_| char::from(b'a' + u8::try_from(dice.below(26)).unwrap())).collect();
        std::fs::write(work.join(format!("file-{round}")), text).unwrap();
        well(work, &["add", "."]).await;
        well(work, &["commit", "--quiet", "-m", "Another one"]).await;
        let head = well(work, &["rev-parse", "HEAD"]).await;
        let url = address(&stage.client, &stage.org, &key);
        let arguments = ["push", "--porcelain", url.as_str(), "main"];
        let killed = async {
            tokio::time::sleep(Duration::from_millis(dice.below(LIFE_MAX_MS))).await;
            stage.kill();
        };
        let ((was_told, said), ()) = tokio::join!(git(work, &arguments), killed);
        let url = address(&stage.client, &stage.org, &key);
        let is_there = well(work, &["ls-remote", &url, "refs/heads/main"]).await.starts_with(&head);
        assert!(is_there || !was_told, "an acknowledged push is gone: {said}");
        let was_noted = noted(&stage).await.iter().any(|(new, verdict)| *new == head && verdict != "refused");
        assert_eq!(is_there, was_noted, "a ref and what is noted of it");
        acknowledged += usize::from(was_told);
        survived += usize::from(is_there && !was_told);
        if is_there {
            pushed.push(head);
            let clone = format!("clone-{round}");
            well(work, &["clone", "--quiet", "--bare", &url, &clone]).await;
            well(&work.join(&clone), &["fsck", "--full", "--strict"]).await;
            std::fs::remove_dir_all(work.join(clone)).unwrap();
        }
    }
    let url = address(&stage.client, &stage.org, &key);
    let head = well(work, &["rev-parse", "HEAD"]).await;
    well(work, &["push", "--quiet", &url, "main"]).await;
    if pushed.last() != Some(&head) {
        pushed.push(head);
    }
    // Runs follow pushes over the work queue, which has whatever a dead program left.
    let all = async || Some(runs(&stage).await).filter(|runs| runs.len() >= pushed.len());
    let mut started = stage.eventually("a run of each push", all).await;
    started.sort_unstable();
    pushed.sort_unstable();
    assert_eq!(started, pushed, "one run of each push, and no other");
    eprintln!("{kills} kills: {acknowledged} pushes were acknowledged, {survived} more were done");
    let wrong = recount::storage(&stage.store, Depth::Bytes).await.unwrap();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
