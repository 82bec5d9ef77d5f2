//! Who asks for the same pack as another one: one run of git for all, the same objects for each.

mod watched;

use std::path::{Path, PathBuf};

use serde_json::json;
use store::testing::Scratch;

use super::{Ran, git_in};
use crate::harness::{Client, Launch, Process};

/// A program of its own, since metrics are a process's, with a repository `web` and somebody who works on it.
struct Bench {
    process: Process,
    client: Client,
    org: String,
    key: String,
    scratch: Scratch,
}

/// What the program counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counts {
    runs: u64,
    hits: u64,
    misses: u64,
    bytes: u64,
}

impl Bench {
    async fn with(settings: &[&str]) -> Self {
        let scratch = Scratch::new().await.unwrap();
        let launch = Launch::in_folder(scratch.folder()).set(format!("database.url={}", scratch.url()));
        let process = settings.iter().fold(launch, |launch, setting| launch.set(*setting)).start();
        let client = process.client().with_authenticator("ada").await;
        let org = format!("/v1/orgs/{}", client.org("Acme").await);
        client.post(&format!("{org}/repos")).json(&json!({ "name": "web" })).send().await.expect(201);
        let key = json!({ "name": "Git", "kind": "api", "scopes": ["git:read", "git:write"] });
        let key = client.post(&format!("{org}/keys")).json(&key).send().await.expect(201).str("/secret").to_owned();
        let bench = Self { process, client, org, key, scratch };
        bench.git(".", &["init", "--quiet", "--initial-branch=main", "ada"]).await;
        for at in 0..4 {
            bench.commit(&format!("file-{at}")).await;
        }
        bench.push(&["main"]).await;
        bench
    }

    fn at(&self, name: &str) -> PathBuf {
        self.scratch.folder().join(name)
    }

    fn url(&self, key: &str) -> String {
        let base = self.process.url.replace("http://", &format!("http://anyone:{key}@"));
        format!("{base}/git/{}/web.git", self.org.rsplit('/').next().unwrap())
    }

    async fn try_git(&self, folder: &str, arguments: &[&str]) -> Ran {
        try_git(&self.at(folder), self.scratch.folder(), arguments).await
    }

    async fn git(&self, folder: &str, arguments: &[&str]) -> String {
        let ran = self.try_git(folder, arguments).await;
        assert!(ran.is_ok, "git {arguments:?}: {}{}", ran.out, ran.err);
        ran.out.trim_end().to_owned()
    }

    async fn push(&self, refs: &[&str]) {
        self.git("ada", &[&["push", "--quiet", &self.url(&self.key)], refs].concat()).await;
    }

    /// A commit with a file that doesn't get smaller.
    async fn commit(&self, name: &str) {
        let mut noise = name.bytes().fold(7_u64, |noise, byte| noise * 31 + u64::from(byte));
        let bytes = std::iter::repeat_with(|| {
            noise = noise.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (noise >> 56).to_le_bytes()[0]
        });
        std::fs::write(self.at("ada").join(name), bytes.take(600_000).collect::<Vec<_>>()).unwrap();
        self.git("ada", &["add", "."]).await;
        self.git("ada", &["commit", "--quiet", "-m", name]).await;
    }

    /// Clones, and checks that all of the objects are there.
    async fn clone(&self, folder: &str, options: &[&str]) {
        let url = self.url(&self.key);
        self.git(".", &[&["clone", "--quiet"], options, &[&url, folder]].concat()).await;
        self.git(folder, &["fsck", "--full", "--strict"]).await;
        assert_eq!(self.git(folder, &["rev-parse", "HEAD"]).await, self.git("ada", &["rev-parse", "main"]).await);
    }

    async fn counts(&self) -> Counts {
        let text = Client::new(&self.process.operators_url).get("/metrics").send().await.expect(200).text;
        let of = |name: &str| {
            let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            value.map_or(0, |value| value.parse::<u64>().expect("a whole number"))
        };
        Counts {
            runs: of("troupe_git_runs_total{command=\"upload-pack\"}"),
            hits: of("troupe_git_pack_cache_hits_total"),
            misses: of("troupe_git_pack_cache_misses_total"),
            bytes: of("troupe_git_pack_cache_bytes"),
        }
    }
}

async fn try_git(folder: &Path, home: &Path, arguments: &[&str]) -> Ran {
    let mut command = git_in(folder, home);
    command.args(arguments);
    let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().expect("git");
    Ran::of(&output)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_asked_twice_is_one_run_of_git_and_whatever_changes_is_another() {
    let bench = Bench::with(&[]).await;
    for (round, protocol) in ["protocol.version=2", "protocol.version=0"].iter().enumerate() {
        let before = bench.counts().await;
        for at in ["a", "b", "c"] {
            bench.clone(&format!("{at}-{round}"), &["-c", protocol]).await;
        }
        let after = bench.counts().await;
        assert_eq!((after.runs - before.runs, after.hits - before.hits, after.misses - before.misses), (1, 2, 1));
        assert!(after.bytes > before.bytes + 2_000_000, "{after:?}");
    }
    let before = bench.counts().await;
    bench.clone("shallow", &["--depth=1", "--no-local"]).await;
    bench.commit("more").await;
    bench.push(&["main"]).await;
    bench.clone("newer", &[]).await;
    bench.git("a-0", &["pull", "--quiet", "--ff-only"]).await;
    assert_eq!(bench.git("a-0", &["rev-parse", "HEAD"]).await, bench.git("ada", &["rev-parse", "main"]).await);
    // A tag that comes with the commits, which are the same.
    bench.git("ada", &["tag", "-a", "v1", "-m", "The first"]).await;
    bench.push(&["v1"]).await;
    bench.clone("tagged", &["--single-branch"]).await;
    assert_eq!(bench.git("tagged", &["tag"]).await, "v1");
    bench.push(&[":refs/tags/v1", "main:refs/heads/other"]).await;
    bench.clone("untagged", &["--single-branch"]).await;
    assert_eq!(bench.git("untagged", &["tag"]).await, "");
    assert!(bench.counts().await.misses >= before.misses + 3);
    // Whoever has no part in it is sent nothing of what is kept.
    let ran = bench.try_git(".", &["clone", "--quiet", &bench.url("nobody"), "nothing"]).await;
    assert!(!ran.is_ok && !bench.at("nothing").exists(), "{}", ran.err);
    let path = format!("{}/repos/web", bench.org);
    bench.client.delete(&path).send().await.expect(202);
    let ran = bench.try_git(".", &["clone", "--quiet", &bench.url(&bench.key), "nothing"]).await;
    assert!(!ran.is_ok, "a deleted repository is cloned");
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_who_clone_at_once_cost_one_run_and_one_who_goes_away_takes_nothing_along() {
    let bench = Bench::with(&[]).await;
    let names: Vec<_> = (0..8).map(|at| format!("clone-{at}")).collect();
    futures::future::join_all(names.iter().map(|name| bench.clone(name, &[]))).await;
    let counts = bench.counts().await;
    assert_eq!((counts.runs, counts.hits, counts.misses), (1, 7, 1));

    bench.commit("more").await;
    bench.push(&["main"]).await;
    let url = bench.url(&bench.key);
    let mut impatient = git_in(bench.scratch.folder(), bench.scratch.folder());
    let mut child = impatient.args(["clone", "--quiet", &url, "impatient"]).spawn().unwrap();
    let rest: Vec<_> = (0..4).map(|at| format!("patient-{at}")).collect();
    let cloning = futures::future::join_all(rest.iter().map(|name| bench.clone(name, &[])));
    let leaving = async {
        let is_asking = async || bench.counts().await.misses > counts.misses;
        while !is_asking().await {
            tokio::task::yield_now().await;
        }
        child.kill().unwrap();
        child.wait().unwrap();
    };
    tokio::join!(cloning, leaving);
    assert!(bench.counts().await.runs <= 3, "those who stayed were sent what was begun, or one began anew");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_cache_each_asks_git_and_a_small_one_forgets() {
    let bench = Bench::with(&["git.pack_cache_max=0"]).await;
    bench.clone("a", &[]).await;
    bench.clone("b", &[]).await;
    let counts = bench.counts().await;
    assert_eq!((counts.runs, counts.hits, counts.bytes), (2, 0, 0));
    let bench = Bench::with(&["git.pack_cache_max=4000000"]).await;
    bench.clone("a", &[]).await;
    bench.clone("shallow", &["--depth=1"]).await;
    bench.clone("b", &[]).await;
    let counts = bench.counts().await;
    assert_eq!((counts.runs, counts.hits), (3, 0));
    assert!(counts.bytes < 4_000_000, "{counts:?}");
}
