//! What jobs fetch and hand on: repositories, caches and artifacts, also while the server is killed again and again.
//!
//! `TROUPE_PIPELINE_FILES_KILL_MS` says how long the server lives at first.

use std::{cell::Cell, convert::Infallible, fs, path::Path, time::Duration};

use serde_json::json;
use tokio::time::sleep;

use super::{Works, number};
use crate::runner::git;

/// A job that makes files, and waits for the file `GO_ON` while it does, and one that is given them.
const HANDS_ON: &str = "on: push
jobs:
  makes:
    runs-on: linux
    steps:
      - {uses: actions/checkout@v4}
      - {uses: actions/cache@v4, with: {path: kept, key: noise}}
      - run: mkdir out kept && head -c 2000000 /dev/urandom > out/noise && cp out/noise kept
      - {uses: actions/upload-artifact@v4, with: {name: one, path: out}}
      - run: until [ -e GO_ON ]; do sleep 0.1; done
      - {uses: actions/checkout@v4, with: {path: again, fetch-depth: 0}}
      - {uses: actions/upload-artifact@v4, with: {name: two, path: out}}
      - {uses: actions/download-artifact@v4, with: {name: one, path: in}}
      - {uses: actions/checkout@v4, with: {path: third}}
      - run: cmp out/noise in/noise && test -f third/.service/workflows/ci.yml
  looks:
    needs: makes
    runs-on: linux
    steps:
      - {uses: actions/checkout@v4}
      - {uses: actions/cache@v4, with: {path: kept, key: noise, fail-on-cache-miss: true}}
      - {uses: actions/download-artifact@v4, with: {path: all}}
      - {uses: actions/checkout@v4, with: {path: again}}
      - run: cmp kept/noise all/one/noise && cmp kept/noise all/two/noise && test -f again/.service/workflows/ci.yml
";

/// How much longer the server lives after each kill.
const LIVES_ON: Duration = Duration::from_millis(25);

/// Kills before the first job goes on.
const KILLS_MIN: u32 = 2;

/// Kills the server again and again, each time somewhat later, so that whatever takes long is done at last. Never ends.
async fn kill(works: &mut Works, life: Duration, kills: &Cell<u32>, go_on: &Path) -> Infallible {
    loop {
        sleep(life + kills.get() * LIVES_ON).await;
        works.stage.kill();
        kills.set(kills.get() + 1);
        if kills.get() == KILLS_MIN {
            fs::write(go_on, "").unwrap();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn files_come_whole_however_often_the_server_dies_on_their_way() {
    let life = Duration::from_millis(number("TROUPE_PIPELINE_FILES_KILL_MS", 250));
    let mut works = Works::new().await;
    let repository = works.repository("web").await;
    let _machine = works.machine("", &[]).await;
    let folder = tempfile::tempdir().unwrap();
    let go_on = folder.path().join("go-on");
    let run = repository.start(&HANDS_ON.replace("GO_ON", go_on.to_str().unwrap())).await;
    let kills = Cell::new(0);
    let detail = tokio::select! {
        never = kill(&mut works, life, &kills, &go_on) => match never {},
        detail = repository.ended(&run) => detail,
    };
    for name in ["makes", "looks"] {
        let lines = repository.lines(&run, &repository.job_id(&run, name).await).await;
        let job = detail["jobs"].as_array().unwrap().iter().find(|job| job["name"] == name).unwrap();
        assert_eq!(job["conclusion"], "success", "{name}: {lines:#?}");
    }
    assert!(kills.get() >= KILLS_MIN, "{kills:?}");
    let artifacts = repository.get(&format!("runs/{run}/artifacts")).await;
    let mut names: Vec<&str> = artifacts.list("/artifacts").iter().map(|it| it["name"].as_str().unwrap()).collect();
    names.sort_unstable();
    assert_eq!(names, ["one", "two"]);
    assert_eq!(repository.get("caches").await.list("/caches").len(), 1);
    eprintln!("over {kills:?} kills of the server");
}

/// A job that looks at what `checkout` leaves: of the whole history, of a branch, of a tag.
const LOOKS: &str = r#"on: {push: {branches: [main]}}
jobs:
  a:
    runs-on: linux
    steps:
      - {uses: actions/checkout@v4, with: {fetch-depth: 0}}
      - run: |
          test "$(git symbolic-ref HEAD)" = refs/heads/main
          test "$(git rev-parse --abbrev-ref '@{upstream}')" = origin/main
          git diff --exit-code origin/main
          test "$(git rev-list --count HEAD)" = 2
          test "$(git log --format=%s origin/main..origin/other)" = 'On other'
          test "$(git describe --tags HEAD~1)" = v1
          test "$(git config remote.origin.fetch)" = '+refs/heads/*:refs/remotes/origin/*'
      - {uses: actions/checkout@v4, with: {path: named, ref: other}}
      - working-directory: named
        run: |
          test "$(git symbolic-ref HEAD)" = refs/heads/other
          test "$(git rev-parse --abbrev-ref '@{upstream}')" = origin/other
          test -f OTHER
          test "$(git rev-list --count HEAD)" = 1
      - {uses: actions/checkout@v4, with: {path: tagged, ref: v1}}
      - working-directory: tagged
        run: |
          if git symbolic-ref --quiet HEAD; then exit 1; fi
          test "$(git describe --tags)" = v1
"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_checkout_ends_on_its_branch_and_knows_all_others_where_it_is_asked_to() {
    let works = Works::new().await;
    let repository = works.repository("web").await;
    let folder = tempfile::tempdir().unwrap();
    let work = folder.path();
    git(work, &["init", "--quiet"]);
    git(work, &["commit", "--quiet", "--allow-empty", "-m", "Begin"]);
    git(work, &["tag", "-a", "v1", "-m", "The first"]);
    git(work, &["checkout", "--quiet", "-b", "other"]);
    fs::write(work.join("OTHER"), "x").unwrap();
    git(work, &["add", "OTHER"]);
    git(work, &["commit", "--quiet", "-m", "On other"]);
    let key = json!({ "name": "Git", "kind": "api", "scopes": ["git:read", "git:write"] });
    let key = works.stage.client.post(&format!("{}/keys", works.stage.org)).json(&key).send().await.expect(201);
    let base = works.stage.client.base().replace("http://", &format!("http://ada:{}@", key.str("/secret")));
    let url = format!("{base}/git/{}/web.git", works.stage.org.rsplit('/').next().unwrap());
    // The first branch is the default one.
    for refs in [vec!["main"], vec!["other", "v1"]] {
        git(work, &[vec!["push", "--quiet", url.as_str()], refs].concat());
    }
    let _machine = works.machine("", &[]).await;
    let run = repository.start(LOOKS).await;
    let detail = repository.ended(&run).await;
    let lines = repository.lines(&run, &repository.job_id(&run, "a").await).await;
    assert_eq!(detail["run"]["conclusion"], "success", "{lines:#?}");
}
